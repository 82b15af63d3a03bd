"""What the noisy experiment found."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from karatage.data.checks import (
    AMOUNT,
    COUNT,
    NUMBER,
    SHARE,
    TEXT,
    Column,
    find_schema,
    maybe,
    require_known,
    require_table,
)
from karatage.data.options import CONFIDENCE
from karatage.data.result import Result
from karatage.errors import DataError
from karatage.experiments.engine import Execution, Experiment, Findings, Results, run_experiment
from karatage.experiments.noisy.cells import (
    INDEPENDENT,
    ONE,
    PAIRED,
    SHARED_PAIRED,
    TWO,
    WORKED,
    Z,
    list_cells,
    tell_example,
)
from karatage.experiments.noisy.plan import NoisyPlan, World
from karatage.io.files import PathLike

MANY_REFUSED = 0.05
TABLES = ("intervals", "histogram", "tests", "worked")
WORLD = ("right_relevant", "right_other", "gold_size", "topics", "precision")
_WORLD = {**dict.fromkeys(("right_relevant", "right_other", "precision"), SHARE), "gold_size": COUNT, "topics": COUNT}
_RATES = ("naive_covered", "refused")
_KNOWN = ("covered", "covered_t", "outside")
STUDIES: dict[str, dict[str, Column]] = {
    "intervals": {
        **_WORLD,
        **dict.fromkeys(("naive", *_RATES), SHARE),
        **dict.fromkeys(_KNOWN, maybe(SHARE)),
        **dict.fromkeys(("corrected", "bias"), maybe(NUMBER)),
        **dict.fromkeys(("spread", "standard_error"), maybe(AMOUNT)),
    },
    "histogram": {**_WORLD, "estimate": TEXT, "low": NUMBER, "high": NUMBER, "simulations": COUNT},
    "tests": {
        **_WORLD,
        **dict.fromkeys(("gold_samples", "test"), TEXT),
        **dict.fromkeys(("rejected", "wrong", "covered"), maybe(SHARE)),
        "refused": SHARE,
        "difference": NUMBER,
        "estimate": maybe(NUMBER),
    },
    "worked": WORKED,
}
POWER = 0.8  # at which tests are compared
SOUND = {ONE: PAIRED, TWO: INDEPENDENT}  # by which power is told
BAND = 0.01  # what coverage and size may be off, as the project demands


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class NoisyFindings(Findings, Result, kind="noisy"):
    """How often intervals cover and tests reject, in simulated worlds, and the paper's worked examples.

    `intervals` has a row for each world, `histogram` the estimates behind it, `tests` a row for each world, number of
    gold samples, true difference and test, `worked` one for each figure of an example.
    """

    derived = ("sentence", "tolerance")

    plan: NoisyPlan
    intervals: pl.DataFrame
    histogram: pl.DataFrame
    tests: pl.DataFrame
    worked: pl.DataFrame

    def __post_init__(self) -> None:
        """Refuse tables that are none; a study that was not asked for has one without columns."""
        asked = {"intervals": "intervals", "histogram": "intervals", "tests": "tests"}
        for table, columns in STUDIES.items():
            if asked.get(table, table) in (*self.plan.studies, "worked"):
                require_table(table, getattr(self, table), columns)
            elif len(getattr(self, table)):
                raise DataError(f"{table} is there, though it was not asked for")
        if not any(len(getattr(self, table)) for table in ("intervals", "tests", "worked")):
            raise DataError("intervals, tests and worked are empty: nothing was found")
        worlds = set(self.plan.list_worlds())
        for name in ("intervals", "histogram", "tests"):
            found: pl.DataFrame = getattr(self, name)
            if len(found) and not set(found.select(WORLD).unique().rows()) <= worlds:
                raise DataError(f"{name}: a row is about a world that is not in the plan")
        if len(self.tests):
            require_known("tests: gold_samples", self.tests["gold_samples"].unique(), (ONE, TWO), "numbers of samples")
            if not set(self.tests["difference"].unique()) <= set(self.plan.differences):
                raise DataError("tests: a difference is not in the plan")
        keys = {
            "intervals": WORLD,
            "histogram": (*WORLD, "estimate", "low"),
            "tests": (*WORLD, "gold_samples", "difference", "test"),
            "worked": ("example", "quantity", "of"),
        }
        for name, key in keys.items():
            if len(getattr(self, name)) and getattr(self, name).select(key).is_duplicated().any():
                raise DataError(f"{name}: a row is there twice")
        require_known("worked: example", self.worked["example"].unique(), self.plan.studies, "studies")

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Everything, in long form: what was found about each world, and each figure of an example."""
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
        """How far chance takes a share that is truly 95 % (or 5 %) from it, in 95 of 100 cells."""
        return Z * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / self.plan.simulations)

    @property
    def measure(self) -> str:
        """The measure that is simulated."""
        return f"P@{self.plan.depth}"

    def compare_power(self, samples: str) -> pl.DataFrame:
        """For each world, the difference at which a sound test has a power nearest 80 %, and all tests there.

        Sound are the naive paired test with one gold sample, the independent form with two.
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
        """What to take away."""
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
        chance = f"95.0 ± {self.tolerance * 100:.1f} % would be chance"
        if len(self.intervals) == 1:
            row = self.intervals.row(0, named=True)
            seen = (
                f"Judges who are right about {row['right_relevant']:.0%} of relevant and {row['right_other']:.0%} of "
                f"other documents put {self.measure} at {row['naive']:.3f}, where it is {row['precision']:.3f}: the "
                f"naive 95 % interval covers it in {row['naive_covered']:.1%} of {count}"
            )
            if row["corrected"] is None:
                return f"{seen}, and correction is always refused."
            return (
                f"{seen}, the corrected one, around {row['corrected']:.3f} on average, in {row['covered']:.1%} "
                f"({chance})."
            )
        done = self.intervals.drop_nulls("covered")
        if not len(done):
            return f"Correction is refused in all of {count}."
        within = [len(done.filter((pl.col(name) - CONFIDENCE).abs() <= BAND)) for name in ("covered", "covered_t")]
        low = done.sort("covered_t", "naive").row(0, named=True)
        naive = float(self.intervals["naive_covered"].to_numpy().mean())
        return (
            f"The corrected 95 % interval covers in 94 to 96 % of {count} ({chance}) in {within[0]} of "
            f"{len(self.intervals)} worlds, with t instead of z in {within[1]}, the naive one on average in "
            f"{naive:.0%}; the lowest with t is {low['covered_t']:.1%}, for rates "
            f"{low['right_relevant']:g} and {low['right_other']:g}, {low['gold_size']} gold items of each kind, "
            f"{low['topics']} topics and {self.measure} = {low['precision']:g}, where {low['refused']:.1%} of "
            "simulations are refused."
        )

    def _tell_tests(self) -> Iterator[str]:
        for samples in (ONE, TWO):
            size = self.pivot_tests(samples).filter(difference=0.0)
            told = []
            if len(size):
                told.append(
                    f"two equal systems are called different in {_range(size, SHARED_PAIRED)} of simulations by the "
                    f"shared form (paired), in {_range(size, INDEPENDENT)} by the independent one (10), where 5.0 ± "
                    f"{self.tolerance * 100:.1f} % would be chance"
                )
            power = self.compare_power(samples) if samples == ONE else size.clear()
            if len(power):
                told.append(
                    f"where the naive paired test has a power of {_range(power, PAIRED)}, the shared form has "
                    f"{_range(power, SHARED_PAIRED)}, the independent one {_range(power, INDEPENDENT)}"
                )
            if told:
                start = "One gold sample for both systems" if samples == ONE else "Separate judges and gold"
                end = "" if samples == ONE else ': say judges="independent" there'
                yield f"{start}: {'; '.join(told)}{end}."


def _melt(table: pl.DataFrame, study: str) -> pl.DataFrame:
    if study == "worked":
        return table.select(study="example", quantity="quantity", of="of", value="value")
    keys = [name for name in (*WORLD, "gold_samples", "difference", "test") if name in table.columns]
    long = table.unpivot(index=keys, variable_name="quantity", value_name="value")
    return long.select(pl.lit(study).alias("study"), *keys, "quantity", "value")


def _range(table: pl.DataFrame, test: str) -> str:
    """From the lowest to the highest share, or the one there is."""
    found = table[test].drop_nulls().to_list()
    if not found:
        return "none (all refused)"
    low, high = (f"{share * 100:.1f}" for share in (min(found), max(found)))
    return f"{low} %" if low == high else f"{low}–{high} %"


def experiment_noisy(
    plan: NoisyPlan | None = None, *, output: PathLike | None = None, execution: Execution | None = None
) -> NoisyFindings:
    """Simulate noisy judges and a little gold, or work out the paper's examples.

    Args:
        plan: Which studies, in which worlds; default: the paper's simulation.
        output: A folder in which each cell's result is kept as Parquet, and found again by the next run.
        execution: How many processes, whether to begin afresh, and a callback for progress.
    """
    return run_experiment(NOISY, plan=plan, output=output, execution=execution)


def _sum_up(plan: NoisyPlan, results: Results) -> NoisyFindings:
    intervals, histogram, tests, worked = [], [], [], []
    for cell, outcome in results:
        about = pl.DataFrame({name: [cell.key[name]] for name in (*World._fields, "gold_samples") if name in cell.key})
        if cell.key["study"] == "intervals":
            facts = pl.DataFrame({name: [value] for name, value in outcome.facts.items()})
            intervals.append(about.hstack(facts.cast(pl.Float64)))
            histogram.append(about.join(outcome.table, how="cross"))
        elif cell.key["study"] == "tests":
            tests.append(about.join(outcome.table, how="cross"))
        else:
            worked.append(outcome.table)
    found = _stack(intervals)
    return NoisyFindings(
        plan=plan,
        intervals=found,
        histogram=_stack(histogram),
        tests=_stack(tests),
        worked=_stack(worked) if worked else pl.DataFrame(schema=find_schema(WORKED)),
        notes=tuple(_tell(plan, found)),
    )


def _stack(tables: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(tables) if tables else pl.DataFrame()


def _tell(plan: NoisyPlan, intervals: pl.DataFrame) -> Iterator[str]:
    if len(intervals):
        doubtful = intervals.filter(pl.col("refused") > MANY_REFUSED)
        if len(doubtful):
            yield (
                f"in {len(doubtful)} of {len(intervals)} worlds more than {MANY_REFUSED:.0%} of gold samples could not "
                "tell judges from a coin, and correction was refused; shares there are of the luckier samples"
            )
    if "tests" in plan.studies:
        yield (
            f"with {TWO} gold samples the second system's judges have the first's two rates exchanged, and the shared "
            "form takes rates from both samples thrown together"
        )
        if 0.0 not in plan.differences:
            yield "without a difference of 0 nothing is said about how often equal systems are called different"


NOISY = Experiment(kind="noisy", plan=NoisyPlan, prepare=lambda plan: plan, list_cells=list_cells, sum_up=_sum_up)
