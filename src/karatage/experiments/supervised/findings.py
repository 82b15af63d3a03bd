"""Findings of the s-AWARE experiment: how close approaches with and without gold are to gold's leaderboard."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.data.axes import FloatArray, LongArray
from karatage.data.checks import AMOUNT, COUNT, NUMBER, TEXT, Column, maybe
from karatage.data.codec import Columns
from karatage.data.estimate import t_quantile
from karatage.data.note import Note
from karatage.data.options import CONFIDENCE
from karatage.data.result import Result
from karatage.errors import DataError, UnknownNameError
from karatage.experiments.collection import Collection
from karatage.experiments.engine import (
    Execution,
    Experiment,
    Findings,
    Results,
    TableRule,
    frame_rows,
    run_experiment,
    stack_cells,
)
from karatage.experiments.notes import tell
from karatage.experiments.supervised.cells import CELL, OUTCOMES, PLACES, SAMPLES, Settings, list_cells, prepare
from karatage.experiments.supervised.plan import UNIFORM, Place, SupervisedPlan, find_family
from karatage.experiments.tuples import check_outcome
from karatage.io.files import PathLike
from karatage.merging.estimators import SupervisedEstimator
from karatage.text import list_ranges, tell_difference

LOWER_IS_BETTER = frozenset({"rmse"})
PLACE = Place._fields
NUMBERS = ("mean", "standard_error", "low", "high", "gap", "gap_low", "gap_high")
MEANS = {**dict.fromkeys((*PLACE, "measure"), TEXT), "size": maybe(COUNT)}
MEANS |= {**dict.fromkeys(("approach", "family", "outcome"), TEXT), "samples": COUNT}
MEANS |= dict.fromkeys(NUMBERS, maybe(NUMBER))
ABOUT = {**dict.fromkeys((*PLACE, "measure"), TEXT), "size": maybe(COUNT), "approach": TEXT}
TOPIC_ERRORS = TableRule({**ABOUT, "topics": Column("int64", 2), "error": AMOUNT}, tuple(ABOUT))
GAINS = {**ABOUT, **dict.fromkeys(("gap", "gap_low", "gap_high", "new_low", "new_high"), NUMBER)}
MOST_PLACES = 6  # in the sentence
INTERVAL = "95% interval"


class Mean(NamedTuple):
    """A mean over samples with its 95% interval; NaN if there is only one sample."""

    value: float
    low: float
    high: float


class TopicError(NamedTuple):
    """The standard error of a mean difference from the baseline in tau_ap that is due to the choice of topics."""

    systems: str
    panel: str
    configuration: str
    measure: str
    size: int | None  # None: all sizes, with equal weights
    approach: str
    topics: int
    error: float


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SupervisedFindings(Findings, Result, kind="supervised"):
    """tau_ap, tau and RMSE of leaderboards against gold's, over samples.

    A sample is a k-tuple of judges and a split of gold. Intervals describe other such samples of the same collection,
    not other judges, topics or systems. Those in `gains` are for other topics, too.
    """

    derived = ("sentence", "baseline", "summary", "overall")
    optional = ("topic_errors",)

    plan: SupervisedPlan
    collection: str
    frame: Columns  # a row for each place, size, sample, measure and approach
    topic_errors: tuple[TopicError, ...] = ()  # of differences from the baseline in tau_ap

    def __post_init__(self) -> None:
        """Refuse a table with other columns, and rows that are not ordered by sample, then by approach."""
        known = {"measure": self.plan.measures, "configuration": self.plan.configurations}
        self.check_table("frame", SAMPLES, known)
        names, width = self.plan.names, len(self.plan.names)
        if self.frame.is_empty() or self.frame["approach"].to_list() != list(names) * (len(self.frame) // width):
            raise DataError("frame: the approaches of each sample are not those of the plan, in its order")
        keys = (*PLACE, "measure", "size", "sample")
        if (self.frame.select(keys).unique(maintain_order=True).height * width) != len(self.frame):
            raise DataError("frame: a sample does not have one row for each approach")
        self.check_table("errors_of_topics", TOPIC_ERRORS, {**known, "approach": names})

    @cached_property
    def errors_of_topics(self) -> pl.DataFrame:
        """The same as `topic_errors`."""
        return frame_rows(self.topic_errors, TOPIC_ERRORS.columns)

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Systems, panels and configurations, in order."""
        return tuple(Place(*row) for row in self.frame.select(PLACE).unique(maintain_order=True).iter_rows())

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Of the k-tuples."""
        return tuple(self.frame["size"].unique().sort())

    @property
    def baseline(self) -> str:
        """The approach with which others are compared: uniform, or else the first one."""
        return UNIFORM if UNIFORM in self.plan.names else self.plan.names[0]

    @cached_property
    def summary(self) -> pl.DataFrame:
        """One row per place, measure, size, approach and outcome.

        The mean over samples with its standard error and 95% interval, and its difference from the baseline in the
        same samples, with a 95% interval.
        """
        return self._summarise([(size,) for size in self.sizes])

    @cached_property
    def overall(self) -> pl.DataFrame:
        """The same over all sizes with equal weights; `size` is null."""
        return self._summarise([self.sizes])

    def _summarise(self, groups: Sequence[tuple[int, ...]]) -> pl.DataFrame:
        rows: list[tuple[object, ...]] = []
        for place in self.places:
            for measure in self.plan.measures:
                for sizes in groups:
                    for outcome in OUTCOMES:
                        rows += self._summarise_group(place, measure, sizes, outcome)
        return frame_rows(rows, MEANS).with_columns(pl.col(NUMBERS).fill_nan(None))

    def _summarise_group(
        self, place: Place, measure: str, sizes: tuple[int, ...], outcome: str
    ) -> Iterator[tuple[object, ...]]:
        tables = [found for size in sizes if len(found := self._look_up(place, measure, size, outcome))]
        if not tables:
            return
        base = self.plan.names.index(self.baseline)
        for n, name in enumerate(self.plan.names):
            mean = find_mean([table[:, n] for table in tables])
            gap = find_mean([table[:, n] - table[:, base] for table in tables])
            error = _find_error([table[:, n] for table in tables])
            size = sizes[0] if len(sizes) == 1 else None
            about = (*place, measure, size, name, find_family(name), outcome, sum(map(len, tables)))
            yield *about, mean.value, error, mean.low, mean.high, *gap

    @cached_property
    def gains(self) -> pl.DataFrame:
        """Differences in tau_ap from the baseline, over all sizes (`size` is null) and at each size.

        Each has two 95% intervals: `gap_low` to `gap_high` for other samples of this collection, `new_low` to
        `new_high` for samples of a collection with other topics like these, judged by the same people.
        """
        rows: list[tuple[object, ...]] = []
        for error in self.topic_errors:
            sizes = self.sizes if error.size is None else (error.size,)
            gaps = self._list_gaps(error.approach, self.baseline, Place(*error[:3]), error.measure, sizes)
            mean = find_mean(gaps)
            freedom = min(error.topics - 1, _count_freedom(gaps))
            half = t_quantile((1 + CONFIDENCE) / 2, freedom) * math.hypot(_find_error(gaps), error.error)
            rows.append((*error[:6], *mean, mean.value - half, mean.value + half))
        return frame_rows(rows, GAINS)

    def _look_up(self, place: Place, measure: str, size: int, outcome: str) -> FloatArray:
        """Values (sample, approach)."""
        found = self._values.get((*place, measure, size))
        if found is None:
            return np.empty((0, len(self.plan.names)))
        return found[outcome]

    @cached_property
    def _values(self) -> dict[tuple[object, ...], dict[str, FloatArray]]:
        keys, width = (*PLACE, "measure", "size"), len(self.plan.names)
        groups = self.frame.group_by(keys, maintain_order=True)
        # Rows are ordered by sample, then by approach.
        return {key: {name: part[name].to_numpy().reshape(-1, width) for name in OUTCOMES} for key, part in groups}

    def compare(
        self, first: str, second: str, place: Place, *, measure: str | None = None, outcome: str = "tau_ap"
    ) -> Mean:
        """The mean difference of two approaches over the same samples of all sizes, first minus second."""
        asked = measure or self.plan.measures[0]
        return find_mean(self._list_gaps(first, second, place, asked, self.sizes, outcome))

    def _list_gaps(
        self, first: str, second: str, place: Place, measure: str, sizes: Sequence[int], outcome: str = OUTCOMES[0]
    ) -> list[FloatArray]:
        """The differences of two approaches in the samples of each size."""
        a, b = (self._find(name) for name in (first, second))
        tables = [self._look_up(place, measure, size, check_outcome(outcome, OUTCOMES)) for size in sizes]
        return [table[:, a] - table[:, b] for table in tables if len(table)]

    def table(self, *, measure: str | None = None, outcome: str = "tau_ap") -> pl.DataFrame:
        """[SAWARE20] table 1: a row for each place and size of k-tuple, a column for each approach."""
        asked = measure or self.plan.measures[0]
        chosen = self.summary.filter(measure=asked, outcome=check_outcome(outcome, OUTCOMES))
        return chosen.pivot("approach", index=[*PLACE, "size"], values="mean", maintain_order=True)

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables, by the names of their files."""
        several = len(self.plan.measures) > 1
        found = {}
        for n, measure in enumerate(self.plan.measures, 1):
            for outcome in OUTCOMES:
                name = "table1" if outcome == OUTCOMES[0] else f"table1-{outcome}"
                found[name + f"-{n}" * several] = self.table(measure=measure, outcome=outcome)
        return {**found, "means": self.summary, "overall": self.overall, "gains": self.gains}

    @property
    def sentence(self) -> str:
        """The conclusion."""
        return conclude(self)

    def _find(self, name: str) -> int:
        if name not in self.plan.names:
            raise UnknownNameError("approach", name, self.plan.names)
        return self.plan.names.index(name)


def find_mean(groups: Sequence[FloatArray]) -> Mean:
    """The mean of the groups' means; groups have independent samples, so that their variances are summed."""
    value, freedom = float(np.mean([group.mean() for group in groups])), _count_freedom(groups)
    half = t_quantile((1 + CONFIDENCE) / 2, freedom) * _find_error(groups) if freedom > 0 else math.nan
    return Mean(value, value - half, value + half)


def _count_freedom(groups: Sequence[FloatArray]) -> int:
    return sum(len(group) - 1 for group in groups)


def _find_error(groups: Sequence[FloatArray]) -> float:
    if min(len(group) for group in groups) < 2:
        return math.nan
    return float(np.sqrt(sum(group.var(ddof=1) / len(group) for group in groups)) / len(groups))


def tell_samples(frame: pl.DataFrame, plan: SupervisedPlan) -> Iterator[Note]:
    """Warnings about samples, with the number of samples."""
    every = frame.filter(pl.col("measure") == plan.measures[0])
    first = every.filter(pl.col("approach") == plan.names[0])
    for who, sub in ("judges", False), ("people", True):
        names = [n for n, way in plan.ways.items() if isinstance(way, SupervisedEstimator) and way.sub == sub]
        unseen = every.filter(pl.col("approach").is_in(names[:1]), pl.col("unseen") > 0)["unseen"].to_list()
        if unseen:
            about = names[0] + " and similar approaches" * (len(names) > 1)
            yield tell("unseen", unseen=len(unseen), samples=len(first), most=max(unseen), who=who).about(about)
    tried = first.select(*PLACE).unique().join(pl.DataFrame({"size": first["size"].unique()}), how="cross")
    lost = len(tried) * plan.samples - len(first)
    yield from tell.when(lost, "samples-lost", samples=lost)
    short = first.filter(pl.col("topics") < pl.col("topics").max().over(PLACE))
    yield from tell.when(len(short), "topics-lost", samples=len(short))


def conclude(findings: SupervisedFindings) -> str:
    """The best approach of each place, and its differences from the baseline and from the best of another kind."""
    told = [_conclude_place(findings, place) for place in findings.places[:MOST_PLACES]]
    more = len(findings.places) - MOST_PLACES
    if more > 0:
        told.append(f"The tables have {more} more.")
    if any(INTERVAL in text for text in told):
        told.append("These intervals are for other samples of this collection, not for other topics.")
    return " ".join(told)


def name_place(findings: SupervisedFindings, place: Place) -> str:
    """As in the paper, T08-whole; with the panel if there are several."""
    several = len({other.panel for other in findings.places}) > 1
    return f"{place.systems}-{place.configuration}" + (f", {place.panel}" if several else "")


def _conclude_place(findings: SupervisedFindings, place: Place) -> str:
    measure = findings.plan.measures[0]
    same = [pl.col(key) == value for key, value in zip(PLACE, place, strict=True)]
    means = findings.overall.filter(pl.col("outcome") == "tau_ap", pl.col("measure") == measure, *same)
    ordered = means.sort("mean", descending=True, maintain_order=True)["approach"].to_list()
    leader, family = ordered[0], find_family(ordered[0])
    value = means.filter(pl.col("approach") == leader)["mean"].item()
    others = [name for name in ordered if find_family(name) != family]
    compared = dict.fromkeys(name for name in (findings.baseline, *others[:1]) if name != leader)
    sizes = sorted(findings.frame.filter(*same)["size"].unique())
    lead = f"{leader} has the highest mean tau_ap ({value:.3f})"
    text = f"{name_place(findings, place)}: {lead} over k = {list_ranges(sizes)}"
    gaps = [
        _tell_gap(findings.compare(leader, other, place), other, other == others[0] if others else False)
        for other in compared
    ]
    return f"{text}, {' and '.join(gaps)}." if gaps else f"{text}."


def _tell_gap(gap: Mean, name: str, best_of_family: bool) -> str:
    best = f", the best of {find_family(name)}" if best_of_family else ""
    if math.isnan(gap.low):  # a single sample
        return f"{tell_difference(gap.value)} above {name}{best}"
    low, high = map(tell_difference, (gap.low, gap.high))
    verb = "excludes" if float(low) > 0 else "includes"
    return f"{tell_difference(gap.value)} above {name}{best} ({INTERVAL} {low} to {high}, which {verb} 0)"


def experiment_supervised(
    collection: Collection,
    plan: SupervisedPlan | None = None,
    *,
    output: PathLike | None = None,
    execution: Execution | None = None,
) -> SupervisedFindings:
    """Try approaches with and without gold on k-tuples of a collection's judges, the same ones for all approaches.

    Judges who all graded (nearly) everything are used whole, and partitioned: each topic's grades come from several of
    them. If some graded less, they are people who are combined into judges, and only partitioned judges are used.

    Args:
        collection: Systems, panels of judges and gold, as `read_collection` returns them.
        plan: The design; default: the paper's.
        output: A folder in which each cell's result is stored as Parquet, for the next run.
        execution: How many processes, whether to ignore stored results, and a callback for progress.
    """
    return run_experiment(SUPERVISED, collection, plan=plan, output=output, execution=execution)


def _sum_up(settings: Settings, results: Results) -> SupervisedFindings:
    every = stack_cells(results, {**PLACES, **CELL})
    frame = every.filter(pl.col("without").is_null()).select(*SAMPLES.columns)
    if not len(frame):
        raise DataError("no k-tuple graded a document that is evaluated; use larger sizes")
    notes = dict.fromkeys([*settings.notes, *tell_samples(frame, settings.plan)])
    found = SupervisedFindings(plan=settings.plan, collection=settings.collection, frame=frame, notes=tuple(notes))
    less = every.filter(pl.col("without").is_not_null())
    return replace(found, topic_errors=tuple(find_topic_errors(frame, less, found.plan.names, found.baseline)))


SUPERVISED = Experiment(kind="supervised", plan=SupervisedPlan, prepare=prepare, list_cells=list_cells, sum_up=_sum_up)


class _Group(NamedTuple):
    """Differences from the baseline at one size: of samples, and of samples without one of their test topics."""

    gap: FloatArray  # (sample, approach)
    less: FloatArray  # (sample, topic, approach), NaN where the topic is used for training


def find_topic_errors(
    frame: pl.DataFrame, less: pl.DataFrame, names: Sequence[str], baseline: str
) -> Iterator[TopicError]:
    """Errors of all approaches, at every size and for all sizes together; none if a topic is in no test set.

    Args:
        frame: The tau_ap of each sample and approach, in this order.
        less: The same, `without` one test topic.
        names: Approaches, in order.
        baseline: One of them.
    """
    base, keys = list(names).index(baseline), [*Place._fields, "measure"]
    for key, part in frame.group_by(keys, maintain_order=True):
        here = {name: str(value) for name, value in zip(keys, key, strict=True)}
        topics = less.filter(**here)["without"].unique().sort().to_numpy()
        groups = {
            size: _gather(rows, less.filter(size=size, **here), topics, len(names), base)
            for (size,), rows in part.group_by("size", maintain_order=True)
        }
        for size, chosen in [(None, list(groups.values())), *((size, [group]) for size, group in groups.items())]:
            for name, error in zip(names, jackknife(chosen), strict=True):
                if name != baseline and np.isfinite(error):
                    yield TopicError(**here, size=size, approach=name, topics=len(topics), error=float(error))


def _gather(rows: pl.DataFrame, less: pl.DataFrame, topics: LongArray, width: int, base: int) -> _Group:
    value = rows["tau_ap"].to_numpy().reshape(-1, width)
    without = less["tau_ap"].to_numpy().reshape(-1, width)
    grid = np.full((len(value), len(topics), width), np.nan)
    sample = np.searchsorted(rows["sample"].to_numpy()[::width], less["sample"].to_numpy()[::width])
    grid[sample, np.searchsorted(topics, less["without"].to_numpy()[::width])] = without - without[:, [base]]
    return _Group(value - value[:, [base]], grid)


def jackknife(groups: Sequence[_Group]) -> FloatArray:
    """The standard error due to topics of the mean over groups, (approach,).

    The experiment without a topic has the samples that do not train on it, with the topic left out of their tests. The
    variance among these means, over topics, contains noise because the samples are few. The noise is estimated from
    the variance among samples, and subtracted.
    """
    topics = groups[0].less.shape[1]
    moved, noise = np.zeros(groups[0].less.shape[1:]), np.zeros(groups[0].less.shape[2])
    for group in groups:
        samples, seen = len(group.gap), np.isfinite(group.less)
        count = seen.sum(axis=0)
        if samples < 2 or topics < 2 or not count.all():
            return np.full(group.gap.shape[1], np.nan)
        away = np.where(seen, group.less - group.gap.mean(axis=0), 0.0) * (samples / count)
        away -= away.mean(axis=1, keepdims=True)
        moved += away.mean(axis=0) / len(groups)
        noise += away.var(axis=0, ddof=1).sum(axis=0) / samples / len(groups) ** 2
    variance: FloatArray = np.maximum((moved**2).sum(axis=0) - noise, 0.0) * (topics - 1) / topics
    return np.sqrt(variance)
