"""`calibrate` and `judge_accuracy`: the accuracy of judges on gold, and how typical gold's items are."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from karatage.aggregation.registry import fit_across_topics, merge, parse_model
from karatage.agreement.calibration import (
    NOT_COMPARED,
    Forecasts,
    Separation,
    compare_items,
    deal_groups,
    measure_calibration,
    tabulate_bins,
)
from karatage.approaches.registry import JUDGE
from karatage.correction.precision import measure_accuracy
from karatage.data.alignment import require_data, tell_scales
from karatage.data.axes import BoolArray, FloatArray, GradeArray, LongArray
from karatage.data.calibration import Calibration
from karatage.data.estimate import Accuracy, Bounded
from karatage.data.judgments import Judgments, find_items, match_gold
from karatage.data.note import Note
from karatage.data.options import show_options
from karatage.data.posterior import Posterior
from karatage.data.result import list_versions
from karatage.decisions.material import gives_grades, judge_items, name_process
from karatage.decisions.notes import tell
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.random_streams import settle_seed, stream

FEW_TOPICS = 10
SHIFT = {"statistic": pl.String, **dict.fromkeys(("value", "low", "high", "p_value"), pl.Float64), "way": pl.String}


@dataclass(frozen=True, eq=False, kw_only=True)
class _Case:
    """Judged items; (item,) each."""

    probability: FloatArray  # (item, grade)
    decided: GradeArray
    notes: tuple[Note, ...]  # of the merge
    grade: GradeArray  # gold's, -1 = none
    weight: FloatArray | None  # how many items each gold item represents; None without sampling probabilities
    topic: LongArray
    has_topics: bool

    @property
    def known(self) -> BoolArray:
        return self.grade >= 0

    @property
    def topics(self) -> int:
        return len(np.unique(self.topic[self.known])) if self.has_topics else 0

    @property
    def given(self) -> FloatArray:
        """1 at the merged grade, over all grades of judges or gold, (item, grade)."""
        grades = max(self.probability.shape[1], int(self.grade.max()) + 1)
        given: FloatArray = np.eye(grades)[self.decided]
        return given


@show_options()
def calibrate(
    judgments: Judgments,
    gold: Judgments,
    *,
    approach: str = "mv",
    relevant: int = 1,
    topics: Collection[str] | None = None,
    rng: int | np.random.Generator | None = None,
) -> Calibration:
    """Measure the calibration and leniency of merged judges against gold, and whether gold's items are typical.

    Shares called relevant, leniency and grades are those of the merged grades, from which systems get their scores.
    Calibration is that of the probabilities of these grades: shares of votes, or a model's probabilities.

    Args:
        judgments: The judges' grades.
        gold: Trusted grades; items drawn with known probabilities (`pi`) are weighted by their inverse.
        approach: How judges are merged: `mv`, `ds`, `judge:NAME`. One that learns from gold uses, in each topic, only
            the gold of other topics.
        relevant: The lowest grade that counts as relevant.
        topics: Topics whose items count; default: all. Judges are merged with their grades in all topics.
        rng: Seed of ties, resampling and permutations.
    """
    require_data(judgments=judgments, gold=gold)
    if relevant < 1:
        raise OptionError(f"relevant is a grade from 1, not {relevant}")
    seed = settle_seed(rng)
    return calibrate_fitted({}, judgments, gold, approach.strip(), relevant=relevant, topics=topics, seed=seed)


def calibrate_fitted(
    fitted: Mapping[str, Posterior],
    judgments: Judgments,
    gold: Judgments,
    approach: str,
    *,
    relevant: int,
    topics: Collection[str] | None,
    seed: int,
) -> Calibration:
    """The same where some merges were `fitted` to the same judgments before, with the same seed."""
    case = _meet(fitted.get(approach) or _merge(judgments, gold, approach, seed), gold, topics)
    at = np.flatnonzero(case.known)
    grade = case.grade[at].astype(float)
    decided = case.decided[at]
    found = Forecasts(
        probability=np.clip(case.probability[at, relevant:].sum(axis=1), 0.0, 1.0),
        relevant=(grade >= relevant).astype(float),
        weight=np.ones(len(at)) if case.weight is None else case.weight[at],
        group=_group(case, at, seed),
    )
    off = {"bias": (decided >= relevant) - found.relevant, "leniency": decided - grade}
    source = stream(seed, "topics drawn anew")
    measured = measure_calibration(found, off, source)
    distances = _compare(case, seed)
    return Calibration(
        approach=approach,
        relevant=relevant,
        items=len(at),
        topics=case.topics,
        weighed=bool((found.weight != 1).any()),
        bins=tabulate_bins(found),
        grades=_tabulate_grades(case, found.weight),
        shift=_tabulate_shift(measured["leniency"], distances),
        brier=measured["brier"],
        ece=measured["ece"],
        bias=measured["bias"],
        seed=seed,
        versions=list_versions(),
        notes=tuple(dict.fromkeys((*_tell(case, judgments, gold, distances), *_tell_mute(judgments, relevant)))),
    )


def _meet(posterior: Posterior, gold: Judgments, topics: Collection[str] | None) -> _Case:
    """Find gold's grades of what the judges graded, in topics that count."""
    merged = posterior.judgments
    counts = np.array([topics is None or topic in topics for topic in merged.topics])
    graded = np.flatnonzero((np.diff(merged.row_start) > 0) & counts[merged.item_topic])
    known = match_gold(merged, gold)[graded]
    if not (known >= 0).any():
        raise DataError(
            "the judges graded no gold item, so their errors are unknown; are items written in the same way?"
        )
    weight = None
    if gold.draw is not None:
        stands_for = np.ones(len(gold.item_topic) + 1)
        stands_for[gold.item] = 1 / gold.draw.pi
        weight = stands_for[find_items(merged, gold)[graded]]
    return _Case(
        probability=posterior.probability[graded],
        decided=posterior.grades[graded],
        notes=posterior.notes,
        grade=known,
        weight=weight,
        topic=merged.item_topic[graded].astype(np.int64),
        has_topics=merged.has_topics,
    )


def _merge(judgments: Judgments, gold: Judgments, approach: str, seed: int) -> Posterior:
    if approach.startswith(JUDGE):
        name = approach.removeprefix(JUDGE)
        if name not in judgments.judges:
            raise UnknownNameError("judge", name, judgments.judges)
        alone = judgments.keep_rows(judgments.judge == judgments.judges.index(name))
        return merge(parse_model("mv"), alone, rng=stream(seed, approach))
    named = parse_model(approach)
    supervision = named.supervision or ("full" if named.needs_gold else "none")
    if supervision == "none":
        return merge(named, judgments, rng=stream(seed, named.name))
    return fit_across_topics(named, judgments, gold, supervision, seed=seed)


def _group(case: _Case, at: LongArray, seed: int) -> LongArray:
    """Groups for resampling: the topics of gold items; without topics random groups."""
    if not case.has_topics:
        return deal_groups(len(at), stream(seed, "groups of items"))
    return np.unique(case.topic[at], return_inverse=True)[1].astype(np.int64)


def _compare(case: _Case, seed: int) -> tuple[Separation, ...]:
    """Compare gold's items with the others, unless they were drawn with unequal probabilities."""
    if case.weight is not None:
        return ()
    return compare_items(case.given, case.known, case.topic, stream(seed, "permutations"))


def _tabulate_grades(case: _Case, weight: FloatArray) -> pl.DataFrame:
    """Shares of every grade: merged and gold's on the same items, and merged on items without gold."""
    given, known = case.given, case.known
    grades = given.shape[1]
    gold = np.bincount(case.grade[known], weight, grades) / weight.sum()
    elsewhere = given[~known].mean(axis=0) if not known.all() else np.full(grades, np.nan)
    columns = {"judges": np.average(given[known], axis=0, weights=weight), "gold": gold, "elsewhere": elsewhere}
    return pl.DataFrame({"grade": np.arange(grades), **columns}).with_columns(pl.col(pl.Float64).fill_nan(None))


def _tabulate_shift(leniency: Bounded, distances: Sequence[Separation]) -> pl.DataFrame:
    rows = [("leniency", *leniency, np.nan, "topics resampled")]
    rows += [("total_variation", found.value, np.nan, np.nan, found.p_value, found.way) for found in distances]
    return pl.DataFrame(rows, schema=SHIFT, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))


def _tell(case: _Case, judgments: Judgments, gold: Judgments, distances: Sequence[Separation]) -> Iterator[Note]:
    yield from judgments.notes
    yield from (note.about("gold") for note in gold.notes)
    yield from case.notes
    items = int(case.known.sum())
    yield from tell.when(items < len(gold.item_topic), "gold-graded", items=items, gold=len(gold.item_topic))
    yield from tell_scales(judgments, gold)
    yield from tell.when(not case.has_topics, "items-alone")
    few = case.has_topics and case.topics < FEW_TOPICS
    yield from tell.when(few, "few-topics-calibrated", topics=case.topics)
    yield from tell.when(gold.draw is not None and len(np.unique(gold.draw.batch)) > 1, "batches-weighted")
    yield from tell.when(any(found.way == NOT_COMPARED for found in distances), "typical-unknown")
    yield from tell.when(case.weight is not None and not case.known.all(), "gold-drawn")
    yield from tell.when(case.weight is None and not case.known.all() and case.topics, "gold-unlike")


def _tell_mute(judgments: Judgments, relevant: int) -> Iterator[Note]:
    top = np.full(len(judgments.judges), -1)
    np.maximum.at(top, judgments.judge, judgments.grade)
    mute = tuple(name for name, highest in zip(judgments.judges, top, strict=True) if 0 <= highest < relevant)
    yield from tell.when(mute, "mute", relevant=relevant, judges=mute)


def judge_accuracy(
    judgments: Judgments,
    gold: Judgments,
    *,
    approach: str | None = None,
    relevant: int | None = 1,
    rng: int | np.random.Generator | None = None,
) -> Accuracy:
    """The judges' grades of gold items, by gold's grade: error rates or a confusion matrix, with intervals.

    Args:
        judgments: The judges' grades.
        gold: Trusted grades; items drawn with known probabilities (`pi`) are weighted by their inverse.
        approach: How judges are merged: `mv(min=2)`, `ds`, `judge:NAME`. Default: the only judge, or `mv`.
        relevant: The lowest grade that counts as relevant; None: each grade separately.
        rng: Seed of tied votes.
    """
    require_data(judgments=judgments, gold=gold)
    process = name_process(approach, judgments)
    if not gives_grades(process):
        raise OptionError(f"{process} gives scores, not grades; choose mv, ds or judge:NAME")
    judged = judge_items(process, judgments, settle_seed(rng))
    said = np.full(len(judged.item_topic) + 1, -1, np.int64)
    said[judged.item] = judged.grade
    heard = said[find_items(gold, judged)[gold.item]]
    both = heard >= 0
    if not both.any():
        raise DataError(
            "the judges graded no gold item, so their errors are unknown; are items written in the same way?"
        )
    weight = None if gold.draw is None else 1 / gold.draw.pi[both]
    trusted, heard = gold.grade[both].astype(np.int64), heard[both]
    if relevant is None:
        kinds = [f"grade {g}" for g in range(max(gold.top_grade, judged.top_grade) + 1)]
        return measure_accuracy(trusted, heard, kinds=kinds, weight=weight)
    if relevant < 1:
        raise OptionError(f"relevant is a grade from 1, not {relevant}")
    kinds = ["not relevant", "relevant"]
    return measure_accuracy(
        (trusted >= relevant).astype(np.int64), (heard >= relevant).astype(np.int64), kinds=kinds, weight=weight
    )
