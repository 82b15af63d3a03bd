"""Findings of the random relevance experiment, in the layout of [RANDREL19]'s tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from karatage.approaches.registry import JUDGE
from karatage.data.checks import NUMBER, TEXT, Column, maybe, require_names, require_table
from karatage.data.codec import Columns
from karatage.data.estimate import t_quantile
from karatage.data.note import Note
from karatage.data.options import CONFIDENCE
from karatage.data.result import Result
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.experiments.collection import Collection
from karatage.experiments.engine import (
    Execution,
    Experiment,
    Findings,
    Results,
    TableRule,
    count_loose,
    frame_rows,
    run_experiment,
)
from karatage.experiments.notes import tell
from karatage.experiments.random_relevance.cells import (
    BLANK,
    CHECK,
    DGS,
    GOLD,
    OUTCOMES,
    PLACE,
    RESULTS,
    RGS,
    RandomGround,
    list_cells,
)
from karatage.experiments.random_relevance.plan import RandomRelevancePlan
from karatage.experiments.tuples import check_outcome
from karatage.io.files import PathLike
from karatage.measures.registry import parse_measure
from karatage.text import shorten

EQUAL = 1e-12
TUPLES = TableRule(
    {"size": Column("int32", 1), "sample": Column("int32", 1), "judge": TEXT}, ("size", "sample", "judge")
)
GAPS = {**dict.fromkeys(PLACE, TEXT), "size": Column("int32", 1), "first": TEXT, "second": TEXT}
GAPS |= {"difference": NUMBER, "low": maybe(NUMBER), "high": maybe(NUMBER)}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RandomRelevanceFindings(Findings, Result, kind="random-relevance"):
    """tau and tau_ap of leaderboards against deterministic gold (DGS) and randomised gold (RGS).

    `frame` has one row per systems, panel, measure, gold, approach and k-tuple; `judge:NAME` is one judge alone;
    rows of size 0 are `controls`. Intervals over k-tuples describe the mean over all k-tuples of these judges.
    """

    derived = ("sentence", "tables")

    plan: RandomRelevancePlan
    collection: str
    judges: tuple[str, ...]
    frame: pl.DataFrame
    check: pl.DataFrame  # expected measures against simulation
    tuples: Columns  # who is in which k-tuple

    def __post_init__(self) -> None:
        """Refuse tables with other columns or values, and names that are not the plan's."""
        require_names("judges", self.judges)
        approaches = (*self.approaches, *(f"{JUDGE}{name}" for name in self.judges), BLANK, GOLD)
        known = {"approach": approaches, "measure": self.labels, "gold": (DGS, RGS), "judge": self.judges}
        self.check_table("frame", RESULTS, known)
        self.check_table("tuples", TUPLES, known)
        if self.plan.draws:
            require_table("check", self.check, CHECK)
        if self.tuples.is_empty():
            raise DataError("tuples is empty: nothing was merged")
        members = self.tuples.group_by("size", "sample").len()
        if (members["len"] != members["size"]).any():
            raise DataError("tuples: the number of judges of a k-tuple is not its size")
        merged = self.frame.filter(pl.col("approach").is_in(list(self.approaches))).select("size", "sample").unique()
        if len(merged.join(members, on=["size", "sample"], how="anti")):
            raise DataError("frame: a row is about a k-tuple that is not among the tuples")

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
        """The approaches that merge, and whether their measures are expected ones; in the order of the paper's rows."""
        merges = self.plan.find_merges()
        return {m.name: m.expected for m in sorted(merges, key=lambda merge: merge.expected)}

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """Short names of the measures: without their options, where these names are unique."""
        names = [str(parse_measure(name)) for name in self.plan.measures]
        short = {name: _shorten(name) for name in names}
        return {name: short[name] if list(short.values()).count(short[name]) == 1 else name for name in names}

    @cached_property
    def table1(self) -> pl.DataFrame:
        """[RANDREL19] table 1: mean tau and tau_ap of judges alone, with the half-widths of 95% intervals.

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
        """The effect of random grades alone: tau_ap of two judges that are not in the paper.

        `blank` grades nothing as relevant, so that its agreement with gold depends on the pool alone. The last column
        compares randomised gold with gold.
        """
        value = {
            row[:-1]: row[-1] for row in self.frame.select("systems", "measure", "approach", "gold", "tau_ap").rows()
        }
        rows = [
            (
                systems,
                self.name_measure(measure, expected=True),
                *(value[systems, measure, *pair] for pair in ((BLANK, DGS), (BLANK, RGS), (GOLD, DGS))),
            )
            for systems in self.frame["systems"].unique(maintain_order=True)
            for measure in self.labels
        ]
        return pl.DataFrame(rows, schema=["systems", "measure", "blank, DGS", "blank, RGS", "RGS, DGS"], orient="row")

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
        against_random = [(RGS, name) for name, expected in self.approaches.items() if expected]
        kinds = [*((DGS, name) for name in self.approaches), *against_random]
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
        """The mean difference of two approaches over the same k-tuples, first minus second, with 95% intervals.

        Both are compared with DGS; with `gold` RGS the first, which must be an expected one, is compared with RGS.
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
        return frame_rows(rows, GAPS)

    def name_measure(self, measure: str, *, expected: bool) -> str:
        """The name of a measure in tables: `AP`, or `eRAP` if it is the expected one."""
        return ("eR" if expected else "") + self.labels[measure]

    def _count(self, size: int) -> int:
        """The number of k-tuples of a size."""
        return math.comb(len(self.judges), size)

    @property
    def sentence(self) -> str:
        """The conclusion."""
        return " ".join(self._tell())

    def _tell(self) -> Iterator[str]:
        ends = dict.fromkeys((self.sizes[0], self.sizes[-1]))
        for systems, panel in self.places:
            alone = self.table1.filter(pl.col("tau_ap gain").is_not_null(), systems=systems, panel=panel)
            gains = {
                gold: ", ".join(
                    f"{_sign(row['tau_ap gain'])} ({row['measure'].removeprefix('eR')})"
                    for row in alone.filter(gold=gold).iter_rows(named=True)
                )
                for gold in (DGS, RGS)
            }
            best = "; ".join(f"{self._find_best(systems, panel, size)} with {size} judges" for size in ends)
            yield (
                f"{systems}, {panel}: grades of {self.plan.certainty:.0%} certainty change the mean tau_ap of a judge "
                f"alone by {gains[DGS]} against gold as it is, by {gains[RGS]} against gold of the same uncertainty. "
                f"Closest to gold as it is: {best}."
            )

    def _find_best(self, systems: str, panel: str, size: int) -> str:
        """Approaches with the highest tau_ap against DGS, by measure."""
        found: dict[str, list[str]] = {}
        for measure, label in self.labels.items():
            there = self.summary.filter(systems=systems, panel=panel, measure=measure, gold=DGS, size=size)
            names = there.filter(pl.col("tau_ap") > pl.col("tau_ap").max() - EQUAL)["approach"]
            found.setdefault(" and ".join(names), []).append(label)
        return ", ".join(f"{names} ({', '.join(measures)})" for names, measures in found.items())


def _estimate(value: Sequence[float] | np.ndarray, every: int | None = None) -> tuple[float, float | None]:
    """The mean, and the half-width of its 95% interval by Student's t; None for a single value.

    Values are drawn without replacement out of `every` (default: infinitely many); if all are there, the half-width
    is 0.
    """
    found = np.asarray(value, float)
    count = len(found)
    if not count:
        raise DataError("frame: there are no rows for a combination of measure and gold")
    if count == every:
        return float(found.mean()), 0.0
    if count < 2:
        return float(found.mean()), None
    left = 1.0 if every is None else 1 - count / every
    half = t_quantile((1 + CONFIDENCE) / 2, count - 1) * found.std(ddof=1) * math.sqrt(left / count)
    return float(found.mean()), float(half)


def _sign(value: float) -> str:
    """With a sign, unless it rounds to 0."""
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
    """Compare judges alone, and k-tuples merged by grades, by scores and by probabilities, with gold.

    Args:
        collection: Systems, panels of judges and gold, as `read_collection` returns them.
        plan: The design; default: the paper's.
        output: A folder in which each cell's result is stored as Parquet, for the next run.
        execution: How many processes, whether to ignore stored results, and a callback for progress.
    """
    return run_experiment(RANDOM_RELEVANCE, collection, plan=plan, output=output, execution=execution)


def _sum_up(ground: RandomGround, results: Results) -> RandomRelevanceFindings:
    checked = [outcome.table for cell, outcome in results if "draws" in cell.key]
    members = (
        (size, sample, ground.judges[k])
        for size, tuples in ground.tuples.items()
        for sample, members in enumerate(tuples, 1)
        for k in members
    )
    return RandomRelevanceFindings(
        plan=ground.plan,
        collection=ground.collection,
        judges=ground.judges,
        frame=pl.concat([outcome.table for cell, outcome in results if "draws" not in cell.key]),
        check=pl.concat(checked) if checked else pl.DataFrame(),
        tuples=frame_rows(members, TUPLES.columns),
        notes=tuple(dict.fromkeys([*ground.notes, *_tell_limits(ground, results)])),
    )


def _tell_limits(ground: RandomGround, results: Results) -> Iterator[Note]:
    plan = ground.plan
    judges = len(ground.judges)
    large = [str(size) for size in sorted(plan.sizes) if size not in ground.tuples]
    yield from tell.when(large, "sizes-whole", judges=judges, sizes=", ".join(large))
    few = [f"{len(members)} of {size}" for size, members in ground.tuples.items() if len(members) < plan.samples]
    yield from tell.when(few, "few-tuples", asked=plan.samples, sizes=", ".join(few))
    for panel, judgments in ground.panels.items():
        missing = judges * len(judgments.item_topic) - len(judgments.grade)
        yield from tell.when(missing, "grades-missing", panel=shorten(panel), grades=missing)
    total = len(ground.panels) * sum(map(len, ground.tuples.values()))
    for approach, loose in count_loose(outcome for _, outcome in results).items():
        yield tell("loose-tuples", approach=approach, loose=loose, tuples=total)


RANDOM_RELEVANCE = Experiment(
    kind="random relevance", plan=RandomRelevancePlan, prepare=RandomGround.of, list_cells=list_cells, sum_up=_sum_up
)
