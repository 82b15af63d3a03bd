"""Findings of the noisy experiment."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from karatage.data.note import Note
from karatage.data.options import CONFIDENCE
from karatage.data.result import Result
from karatage.errors import DataError
from karatage.experiments.engine import (
    Execution,
    Experiment,
    Findings,
    Results,
    frame_rows,
    run_experiment,
    stack_cells,
)
from karatage.experiments.noisy.cells import (
    GOLD_SAMPLES,
    INDEPENDENT,
    ONE,
    PAIRED,
    SHARED_PAIRED,
    TABLES,
    TWO,
    WORLD,
    Z,
    list_cells,
)
from karatage.experiments.noisy.examples import WORKED, tell_example
from karatage.experiments.noisy.plan import SIMULATED, NoisyPlan
from karatage.experiments.notes import tell
from karatage.io.files import PathLike

MANY_REFUSED = 0.05
POWER = 0.8  # at which tests are compared
SOUND = {ONE: PAIRED, TWO: INDEPENDENT}  # valid tests, whose power is the reference
BAND = 0.01  # the largest error of coverage and size that the project accepts


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class NoisyFindings(Findings, Result, kind="noisy"):
    """How often intervals cover and tests reject, in simulated worlds, and the paper's worked examples.

    `intervals` has a row for each world, and `histogram` the distribution of its estimates. `tests` has a row for each
    world, number of gold samples, true difference and test. `worked` has one for each figure of an example.
    """

    derived = ("sentence", "tolerance")

    plan: NoisyPlan
    intervals: pl.DataFrame
    histogram: pl.DataFrame
    tests: pl.DataFrame
    worked: pl.DataFrame

    def __post_init__(self) -> None:
        """Refuse tables with other columns or values; only studies of the plan have rows."""
        asked = {"intervals": "intervals", "histogram": "intervals", "tests": "tests"}
        known = {"gold_samples": GOLD_SAMPLES, "example": self.plan.studies}
        worlds = set(self.plan.list_worlds())
        for name, rule in TABLES.items():
            if asked.get(name, name) in (*self.plan.studies, "worked"):
                self.check_table(name, rule, known)
            elif len(getattr(self, name)):
                raise DataError(f"{name} has rows, but is not among the plan's studies")
            found: pl.DataFrame = getattr(self, name)
            if name in asked and len(found) and not set(found.select(WORLD).unique().rows()) <= worlds:
                raise DataError(f"{name}: a row is about a world that is not in the plan")
        if not any(len(getattr(self, name)) for name in ("intervals", "tests", "worked")):
            raise DataError("intervals, tests and worked are empty: there are no results")
        if len(self.tests) and not set(self.tests["difference"].unique()) <= set(self.plan.differences):
            raise DataError("tests: a difference is not in the plan")

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Everything, in long form: quantities of each world, and each figure of an example."""
        parts = []
        for study in ("intervals", "tests", "worked"):
            table: pl.DataFrame = getattr(self, study)
            if len(table):
                parts.append(_melt(table, study))
        return pl.concat(parts, how="diagonal")

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables, by the names of their files; those of other studies are left out."""
        return {name: getattr(self, name) for name in TABLES if len(getattr(self, name))}

    @property
    def tolerance(self) -> float:
        """The largest random error of a share of 95% (or 5%), in 95 of 100 cells."""
        return Z * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / self.plan.simulations)

    @property
    def measure(self) -> str:
        """The measure that is simulated."""
        return f"P@{self.plan.depth}"

    def compare_power(self, samples: str) -> pl.DataFrame:
        """For each world, the difference at which a valid test has a power closest to 80%, and all tests there.

        The valid test is the naive paired test with one gold sample, the independent form with two.
        """
        table = self.pivot_tests(samples).filter(pl.col("difference") > 0)
        distance = (pl.col(SOUND[samples]) - POWER).abs()
        return table.filter(distance == distance.min().over(WORLD)).unique(WORLD, keep="first", maintain_order=True)

    def pivot_tests(self, samples: str, quantity: str = "rejected") -> pl.DataFrame:
        """A row for each world and difference, a column for each test."""
        found = self.tests.filter(gold_samples=samples)
        return found.pivot("test", index=[*WORLD, "difference"], values=quantity, maintain_order=True)

    @property
    def sentence(self) -> str:
        """The conclusion."""
        return " ".join(self._tell())

    def _tell(self) -> Iterator[str]:
        if len(self.intervals):
            yield self._tell_intervals()
        if len(self.tests):
            yield from self._tell_tests()
        for example in self.worked["example"].unique(maintain_order=True):
            yield tell_example(example, self.worked.filter(example=example))

    def _tell_intervals(self) -> str:
        count = f"{self.plan.simulations:,} simulations"
        chance = f"95.0 ± {self.tolerance * 100:.1f}% is expected"
        if len(self.intervals) == 1:
            row = self.intervals.row(0, named=True)
            seen = (
                f"With judges who are right about {row['right_relevant']:.0%} of relevant and {row['right_other']:.0%} "
                f"of other documents, {self.measure} is {row['naive']:.3f} on average; the true value is "
                f"{row['precision']:.3f}. The naive 95% interval covers it in {row['naive_covered']:.1%} of {count}"
            )
            if row["corrected"] is None:
                return f"{seen}. Correction is always refused."
            return (
                f"{seen}, the corrected one in {row['covered']:.1%} ({chance}); the mean of corrected values is "
                f"{row['corrected']:.3f}."
            )
        done = self.intervals.drop_nulls("covered")
        if not len(done):
            return f"Correction is refused in all of {count}."
        within = [len(done.filter((pl.col(name) - CONFIDENCE).abs() <= BAND)) for name in ("covered", "covered_t")]
        low = done.sort("covered_t", "naive").row(0, named=True)
        naive = float(self.intervals["naive_covered"].to_numpy().mean())
        return (
            f"The corrected 95% interval has a coverage of 94 to 96% ({count}, {chance}) in {within[0]} of "
            f"{len(self.intervals)} worlds, and with t instead of z in {within[1]}. The mean coverage of the naive "
            f"interval is {naive:.0%}. The lowest coverage with t is {low['covered_t']:.1%}, for rates "
            f"{low['right_relevant']:g} and {low['right_other']:g}, {low['gold_size']} gold items of each kind, "
            f"{low['topics']} topics and {self.measure} = {low['precision']:g}, where correction is refused in "
            f"{low['refused']:.1%} of simulations."
        )

    def _tell_tests(self) -> Iterator[str]:
        for samples in (ONE, TWO):
            size = self.pivot_tests(samples).filter(difference=0.0)
            told = []
            if len(size):
                told.append(
                    f"two equal systems are significantly different in {_range(size, SHARED_PAIRED)} of simulations by "
                    f"the shared form (paired) and in {_range(size, INDEPENDENT)} by the independent one (10); 5.0 ± "
                    f"{self.tolerance * 100:.1f}% is expected"
                )
            power = self.compare_power(samples) if samples == ONE else size.clear()
            if len(power):
                told.append(
                    f"where the naive paired test has a power of {_range(power, PAIRED)}, that of the shared form is "
                    f"{_range(power, SHARED_PAIRED)}, and of the independent one {_range(power, INDEPENDENT)}"
                )
            if told:
                start = "One gold sample for both systems" if samples == ONE else "Separate judges and gold"
                end = "" if samples == ONE else '; use judges="independent" there'
                yield f"{start}: {'; '.join(told)}{end}."


def _melt(table: pl.DataFrame, study: str) -> pl.DataFrame:
    if study == "worked":
        return table.select(study="example", quantity="quantity", of="of", value="value")
    keys = [name for name in (*WORLD, "gold_samples", "difference", "test") if name in table.columns]
    long = table.unpivot(index=keys, variable_name="quantity", value_name="value")
    return long.select(pl.lit(study).alias("study"), *keys, "quantity", "value")


def _range(table: pl.DataFrame, test: str) -> str:
    """The lowest and the highest share, or the only one."""
    found = table[test].drop_nulls().to_list()
    if not found:
        return "none (all refused)"
    low, high = (f"{share * 100:.1f}" for share in (min(found), max(found)))
    return f"{low}%" if low == high else f"{low}–{high}%"


def experiment_noisy(
    plan: NoisyPlan | None = None, *, output: PathLike | None = None, execution: Execution | None = None
) -> NoisyFindings:
    """Simulate noisy judges and a little gold, or compute the paper's examples.

    Args:
        plan: Which studies, in which worlds; default: the paper's simulation.
        output: A folder in which each cell's result is stored as Parquet, for the next run.
        execution: How many processes, whether to ignore stored results, and a callback for progress.
    """
    return run_experiment(NOISY, plan=plan, output=output, execution=execution)


def _sum_up(plan: NoisyPlan, results: Results) -> NoisyFindings:
    rates = [
        [{**cell.key, **outcome.facts}[name] for name in TABLES["intervals"].columns]
        for cell, outcome in results
        if cell.key["study"] == "intervals"
    ]
    found = frame_rows(rates, TABLES["intervals"].columns) if rates else pl.DataFrame()
    examples = [result for result in results if result[0].key["study"] not in SIMULATED]
    return NoisyFindings(
        plan=plan,
        intervals=found,
        histogram=stack_cells(results, TABLES["histogram"].columns, "intervals") if rates else pl.DataFrame(),
        tests=stack_cells(results, TABLES["tests"].columns, "tests") if "tests" in plan.studies else pl.DataFrame(),
        worked=stack_cells(examples, WORKED),
        notes=tuple(_tell_limits(plan, found)),
    )


def _tell_limits(plan: NoisyPlan, intervals: pl.DataFrame) -> Iterator[Note]:
    refused = intervals.filter(pl.col("refused") > MANY_REFUSED) if len(intervals) else intervals
    if len(refused):
        yield tell("often-refused", refused=len(refused), worlds=len(intervals), share=MANY_REFUSED)
    if "tests" in plan.studies:
        yield tell("rates-exchanged")
        yield from tell.when(0.0 not in plan.differences, "no-difference")


NOISY = Experiment(kind="noisy", plan=NoisyPlan, prepare=lambda plan: plan, list_cells=list_cells, sum_up=_sum_up)
