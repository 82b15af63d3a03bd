"""What the random relevance experiment found, in the layout of [RANDREL19]'s tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from karatage.approaches.registry import JUDGE
from karatage.data.axes import LongArray
from karatage.data.checks import (
    AMOUNT,
    CORRELATION,
    FLAG,
    NUMBER,
    TEXT,
    Column,
    maybe,
    require_known,
    require_names,
    require_table,
)
from karatage.data.codec import Columns
from karatage.data.options import CONFIDENCE
from karatage.data.result import Result
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.experiments.collection import Collection
from karatage.experiments.engine import Execution, Experiment, Findings, Results, count_loose, run_experiment
from karatage.experiments.random_relevance.cells import BLANK, DGS, GOLD, RGS, Ground, list_cells
from karatage.experiments.random_relevance.plan import RandomRelevancePlan
from karatage.experiments.tuples import check_outcome
from karatage.io.files import PathLike
from karatage.measures.registry import parse_measure
from karatage.text import counted, shorten

OUTCOMES = ("tau", "tau_ap")
EQUAL = 1e-12
PLACE = ["systems", "panel", "measure"]
RESULTS = {**dict.fromkeys((*PLACE, "gold", "approach"), TEXT), "expected": FLAG, "size": Column("int32", 0)}
RESULTS |= {"sample": Column("int32", 1), **dict.fromkeys(OUTCOMES, maybe(CORRELATION))}
CHECK = {**dict.fromkeys((*PLACE, "of"), TEXT), "difference": NUMBER, "standard_error": AMOUNT, "tau_ap": CORRELATION}
TUPLES = {"size": Column("int32", 1), "sample": Column("int32", 1), "judge": TEXT}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RandomRelevanceFindings(Findings, Result, kind="random-relevance"):
    """tau and tau_ap of leaderboards against deterministic gold (DGS) and randomised gold (RGS).

    `frame` has one row per systems, panel, measure, gold, approach and k-tuple; `judge:NAME` is one judge alone;
    rows of size 0 are `controls`. Intervals over k-tuples are about all k-tuples of these judges.
    """

    derived = ("sentence", "tables")

    plan: RandomRelevancePlan
    collection: str
    judges: tuple[str, ...]
    frame: pl.DataFrame
    check: pl.DataFrame  # expected measures against simulation
    tuples: Columns  # who is in which k-tuple

    def __post_init__(self) -> None:
        """Refuse tables that are none, and names that are not the plan's."""
        require_names("judges", self.judges)
        require_table("results", self.frame, RESULTS)
        require_table("tuples", self.tuples, TUPLES)
        if self.plan.draws:
            require_table("check", self.check, CHECK)
        known = (*self.approaches, *(f"{JUDGE}{name}" for name in self.judges), BLANK, GOLD)
        require_known("results: approach", self.frame["approach"].unique(), known, "approaches")
        require_known("results: measure", self.frame["measure"].unique(), self.labels, "measures")
        require_known("results: gold", self.frame["gold"].unique(), (DGS, RGS), "kinds of gold")
        require_known("tuples: judge", self.tuples["judge"].unique(), self.judges, "judges")
        if self.tuples.is_empty() or self.tuples.is_duplicated().any():
            raise DataError("tuples: there is none, or a judge is in one twice")
        members = self.tuples.group_by("size", "sample").len()
        if (members["len"] != members["size"]).any():
            raise DataError("tuples: one does not have as many judges as its size says")
        merged = self.frame.filter(pl.col("approach").is_in(list(self.approaches))).select("size", "sample").unique()
        if len(merged.join(members, on=["size", "sample"], how="anti")):
            raise DataError("results: a row is about a k-tuple that is not among the tuples")
        if self.frame.select(*PLACE, "gold", "approach", "size", "sample", "expected").is_duplicated().any():
            raise DataError("results: a row is there twice")

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Of the k-tuples."""
        return tuple(sorted(self.tuples["size"].unique()))

    @cached_property
    def places(self) -> tuple[tuple[str, str], ...]:
        """Sets of systems and panels of judges."""
        return tuple(self.frame.select("systems", "panel").unique(maintain_order=True).rows())

    @cached_property
    def approaches(self) -> Mapping[str, bool]:
        """All that merges, and whether its measures are expected ones; in the order of the paper's rows."""
        merges = self.plan.find_merges()
        return {m.name: m.expected for m in sorted(merges, key=lambda merge: merge.expected)}

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """Short names of the measures: without their options, where that tells them apart."""
        names = [str(parse_measure(name)) for name in self.plan.measures]
        short = {name: _shorten(name) for name in names}
        return {name: short[name] if list(short.values()).count(short[name]) == 1 else name for name in names}

    @cached_property
    def table1(self) -> pl.DataFrame:
        """[RANDREL19] table 1: mean tau and tau_ap of judges alone, with the half-widths of 95 % intervals.

        `gain` is the mean difference from the certain measure against DGS, over the same judges.
        """
        alone = self.frame.filter(pl.col("approach").str.starts_with(JUDGE))
        rows = []
        for systems, panel in self.places:
            for measure in self.labels:
                here = alone.filter(systems=systems, panel=panel, measure=measure).sort("sample")
                certain = here.filter(~pl.col("expected"))
                for expected, gold in ((False, DGS), (True, DGS), (True, RGS)):
                    group = here.filter(expected=expected, gold=gold)
                    name = self.name_measure(measure, expected=expected)
                    row: dict[str, object] = {"systems": systems, "panel": panel, "gold": gold, "measure": name}
                    for outcome in OUTCOMES:
                        row[outcome], row[f"{outcome} ±"] = _estimate(group[outcome].to_numpy())
                        gain = _estimate((group[outcome] - certain[outcome]).to_numpy())
                        row[f"{outcome} gain"], row[f"{outcome} gain ±"] = gain if expected else (None, None)
                    rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None)

    @cached_property
    def controls(self) -> pl.DataFrame:
        """What random grades do by themselves: tau_ap of two judges that the paper does not have.

        `blank` calls nothing relevant, so whatever agreement it reaches the pool alone gives; the last column says how
        near randomised gold is to gold.
        """
        value = {
            row[:-1]: row[-1] for row in self.frame.select("systems", "measure", "approach", "gold", "tau_ap").rows()
        }
        rows = [
            {
                "systems": systems,
                "measure": self.name_measure(measure, expected=True),
                "blank, DGS": value[systems, measure, BLANK, DGS],
                "blank, RGS": value[systems, measure, BLANK, RGS],
                "RGS, DGS": value[systems, measure, GOLD, DGS],
            }
            for systems in self.frame["systems"].unique(maintain_order=True)
            for measure in self.labels
        ]
        return pl.DataFrame(rows)

    @cached_property
    def summary(self) -> pl.DataFrame:
        """One row per systems, panel, measure, gold, approach and size: k-tuples, means, half-widths of intervals."""
        merged = self.frame.filter(pl.col("size") > 0, pl.col("approach").is_in(list(self.approaches)))
        rows = []
        for key, group in merged.group_by([*PLACE, "gold", "expected", "approach", "size"], maintain_order=True):
            row: dict[str, object] = dict(zip([*PLACE, "gold", "expected", "approach", "size"], key, strict=True))
            row["samples"] = len(group)
            for outcome in OUTCOMES:
                row[outcome], row[f"{outcome} ±"] = _estimate(group[outcome].to_numpy(), self._count(group["size"][0]))
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None)

    def table2(self, outcome: str = "tau_ap") -> pl.DataFrame:
        """[RANDREL19] table 2: mean tau_ap (or tau) over k-tuples; a row per gold and approach, a column per size."""
        check_outcome(outcome, OUTCOMES)
        value = {row[:-1]: row[-1] for row in self.summary.select(*PLACE, "gold", "approach", "size", outcome).rows()}
        kinds = [(DGS, name) for name in self.approaches] + [
            (RGS, n) for n, random in self.approaches.items() if random
        ]
        rows = [
            {
                "systems": systems,
                "panel": panel,
                "gold": gold,
                "approach": approach,
                "measure": self.name_measure(measure, expected=self.approaches[approach]),
                **{f"M = {n}": value[systems, panel, measure, gold, approach, n] for n in self.sizes},
            }
            for systems, panel in self.places
            for measure in self.labels
            for gold, approach in kinds
        ]
        return pl.DataFrame(rows)

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables, by the names of their files."""
        more = {"table2": self.table2(), "table2-tau": self.table2("tau"), "controls": self.controls}
        return {"table1": self.table1, **more}

    def compare(self, first: str, second: str, *, outcome: str = "tau_ap", gold: str = DGS) -> pl.DataFrame:
        """The mean difference of two approaches over the same k-tuples, first less second, with 95 % intervals.

        Both against DGS; with `gold` RGS the first, which must be an expected one, is held against RGS.
        """
        check_outcome(outcome, OUTCOMES)
        for name in (first, second):
            if name not in self.approaches:
                raise UnknownNameError("approach", name, self.approaches)
        if gold not in (DGS, RGS) or (gold == RGS and not self.approaches[first]):
            raise OptionError(f"gold is DGS, or RGS for expected measures; not '{gold}' for {first}")
        keys = [*PLACE, "size", "sample"]
        left = self.frame.filter(approach=first, gold=gold).select(*keys, pl.col(outcome))
        right = self.frame.filter(approach=second, gold=DGS).select(*keys, pl.col(outcome).alias("other"))
        rows = []
        both = left.join(right, on=keys, maintain_order="left")
        for key, group in both.group_by([*PLACE, "size"], maintain_order=True):
            gap, half = _estimate((group[outcome] - group["other"]).to_numpy(), self._count(int(group["size"][0])))
            low, high = (None, None) if half is None else (gap - half, gap + half)
            rows.append((*key, first, second, gap, low, high))
        names = (*PLACE, "size", "first", "second", "difference", "low", "high")
        kinds = [*[pl.String] * 3, pl.Int32, *[pl.String] * 2, *[pl.Float64] * 3]
        return pl.DataFrame(rows, schema=dict(zip(names, kinds, strict=True)), orient="row")

    def name_measure(self, measure: str, *, expected: bool) -> str:
        """What a table calls a measure: `AP`, or `eRAP` when it is the expected one."""
        return ("eR" if expected else "") + self.labels[measure]

    def _count(self, size: int) -> int:
        """How many k-tuples of a size there are."""
        return math.comb(len(self.judges), size)

    @property
    def sentence(self) -> str:
        """What to take away."""
        return " ".join(self._tell())

    def _tell(self) -> Iterator[str]:
        for systems, panel in self.places:
            alone = self.table1.filter(pl.col("tau_ap gain").is_not_null(), systems=systems, panel=panel)
            gains = {
                gold: ", ".join(
                    f"{_sign(row['tau_ap gain'])} ({row['measure'].removeprefix('eR')})"
                    for row in alone.filter(gold=gold).iter_rows(named=True)
                )
                for gold in (DGS, RGS)
            }
            best = "; ".join(f"of {n} judges {self._find_best(systems, panel, n)}" for n in self._ends)
            yield (
                f"{systems}, {panel}: grades of {self.plan.certainty:.0%} certainty change the mean tau_ap of a judge "
                f"alone by {gains[DGS]} against gold as it is, by {gains[RGS]} against gold made as uncertain. "
                f"Nearest to gold as it is, {best}."
            )

    @property
    def _ends(self) -> tuple[int, ...]:
        """The smallest and the largest size."""
        return tuple(dict.fromkeys((self.sizes[0], self.sizes[-1])))

    def _find_best(self, systems: str, panel: str, size: int) -> str:
        """Approaches with the highest tau_ap against DGS, and the measures by which they have it."""
        found: dict[str, list[str]] = {}
        for measure, label in self.labels.items():
            there = self.summary.filter(systems=systems, panel=panel, measure=measure, gold=DGS, size=size)
            names = there.filter(pl.col("tau_ap") > pl.col("tau_ap").max() - EQUAL)["approach"]
            found.setdefault(" and ".join(names), []).append(label)
        return ", ".join(f"{names} ({', '.join(measures)})" for names, measures in found.items())


def _estimate(value: Sequence[float] | np.ndarray, every: int | None = None) -> tuple[float, float | None]:
    """Mean, and half-width of a 95 % interval by Student's t; None for a single value.

    Out of `every` ones there are, drawn without replacement; where all were drawn the mean is certain.
    """
    from scipy.special import stdtrit

    found = np.asarray(value, float)
    count = len(found)
    if not count:
        raise DataError("results: there is nothing about a measure and gold that others have something about")
    if count == every:
        return float(found.mean()), 0.0
    if count < 2:
        return float(found.mean()), None
    left = 1.0 if every is None else 1 - count / every
    half = stdtrit(count - 1, (1 + CONFIDENCE) / 2) * found.std(ddof=1) * math.sqrt(left / count)
    return float(found.mean()), float(half)


def _sign(value: float) -> str:
    """With a sign, unless it rounds to nothing."""
    return f"{value:+.3f}" if abs(value) >= 0.0005 else "0.000"


def _shorten(name: str) -> str:
    measure = parse_measure(name)
    return measure.name + ("" if measure.cutoff is None else f"@{measure.cutoff}")


def experiment_random_relevance(
    collection: Collection,
    plan: RandomRelevancePlan | None = None,
    *,
    output: PathLike | None = None,
    execution: Execution | None = None,
) -> RandomRelevanceFindings:
    """Hold judges alone, and k-tuples merged by grades, by scores and by probabilities, against gold.

    Args:
        collection: Systems, panels of judges and gold, as `read_collection` returns them.
        plan: What is tried; default: the paper's design.
        output: A folder in which each cell's result is kept as Parquet, and found again by the next run.
        execution: How many processes, whether to begin afresh, and a callback for progress.
    """
    return run_experiment(RANDOM_RELEVANCE, collection, plan=plan, output=output, execution=execution)


def _sum_up(ground: Ground, results: Results) -> RandomRelevanceFindings:
    checked = [outcome.table for cell, outcome in results if "draws" in cell.key]
    return RandomRelevanceFindings(
        plan=ground.plan,
        collection=ground.collection,
        judges=ground.judges,
        frame=pl.concat([outcome.table for cell, outcome in results if "draws" not in cell.key]),
        check=pl.concat(checked) if checked else pl.DataFrame(),
        tuples=_list_tuples(ground.tuples, ground.judges),
        notes=tuple(dict.fromkeys([*ground.notes, *_tell_doubts(ground, results)])),
    )


def _list_tuples(tuples: Mapping[int, LongArray], judges: tuple[str, ...]) -> pl.DataFrame:
    rows = [
        (size, sample, judges[k])
        for size, members in tuples.items()
        for sample, panel in enumerate(members, 1)
        for k in panel
    ]
    schema = {"size": pl.Int32, "sample": pl.Int32, "judge": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _tell_doubts(ground: Ground, results: Results) -> Iterator[str]:
    plan = ground.plan
    judges = len(ground.judges)
    large = [str(size) for size in sorted(plan.sizes) if size not in ground.tuples]
    if large:
        yield f"sizes that include all of {counted(judges, 'judge')}, not tried: {', '.join(large)}"
    few = [f"{len(members)} of {size}" for size, members in ground.tuples.items() if len(members) < plan.samples]
    if few:
        yield f"there are fewer k-tuples than the {plan.samples} asked for, and all were tried: {', '.join(few)}"
    for panel, judgments in ground.panels.items():
        missing = judges * len(judgments.item_topic) - len(judgments.grade)
        if missing:
            yield (
                f"panel '{shorten(panel)}': {counted(missing, 'grade')} missing, so binmv, the share among those who "
                "graded a document, is not exactly uniform, in which it counts as not relevant to those who did not"
            )
    loose = count_loose(outcome for _, outcome in results)
    total = len(ground.panels) * sum(map(len, ground.tuples.values()))
    yield from (f"{name} did not converge on {count:,} of {counted(total, 'k-tuple')}" for name, count in loose.items())


RANDOM_RELEVANCE = Experiment(
    kind="random relevance", plan=RandomRelevancePlan, prepare=Ground.of, list_cells=list_cells, sum_up=_sum_up
)
