"""The judge's record in a decision: the study of today, and what earlier studies say about the judges' bias."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from karatage.approaches.registry import JUDGE
from karatage.correction.records import CHANCE, find_change, find_median, judge_spread, predict_spread
from karatage.correction.shrinkage import UsualBias
from karatage.data.axes import FloatArray, LongArray
from karatage.data.note import Note
from karatage.data.records import GRADES, Remembered, Study, StudyRecord
from karatage.data.runs import Runs
from karatage.decisions.bias import load_usual_biases, name_family
from karatage.decisions.notes import tell
from karatage.errors import OptionError
from karatage.measures.registry import as_weighted_sum
from karatage.text import nearest, shorten

if TYPE_CHECKING:
    from karatage.decisions.case import Case

DIGITS = 16  # of a fingerprint
FIRST = 10  # ranks whose documents are in a fingerprint
DECIMALS = 4


class Recalled(NamedTuple):
    """Usual judges, with earlier studies of this judge."""

    usual: UsualBias
    used: tuple[Study, ...] = ()
    notes: tuple[Note, ...] = ()


def name_judge(merge: str, judges: Sequence[str]) -> str:
    """Who gives the grades that gold corrects: a judge by name, or a merge of judges."""
    return merge if merge.startswith(JUDGE) else f"{merge}{name_panel(judges)}"


def name_panel(judges: Sequence[str]) -> str:
    """The judges that are merged, by their number and a hash of their names."""
    names = json.dumps(sorted(judges)).encode()
    return f" of {len(judges)} judges {hashlib.sha256(names).hexdigest()[:DIGITS]}"


def name_collection(runs: Runs, topics: Collection[str]) -> str:
    """A hash of these topics and of the documents that any system ranked first; names of systems do not count."""
    lines: list[str] = []
    for t, topic in enumerate(runs.topics):
        if topic in topics:
            first = [runs.listed[low : min(high, low + FIRST)] for low, high in runs.bounds[t]]
            documents = runs.documents.gather(np.unique(np.concatenate(first))).to_list()
            lines += (json.dumps([topic, document]) for document in documents)
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:DIGITS]


def make_study(case: Case, unexplained: float, likelihood: FloatArray) -> Study:
    """What this case shows about the judges."""
    assert case.gold is not None
    return Study(
        judge=name_judge(case.merge, case.material.judgments.judges),
        collection=_name_collection(case),
        measure=str(case.question.parsed),
        gains=_list_gains(case),
        date=datetime.now(UTC).date().isoformat(),
        labels=len(case.drawn.item),
        topics=len(case.topics),
        systems=len(case.systems),
        unexplained=round(unexplained, DECIMALS),
        confusion=tuple(tuple(row) for row in _count_errors(case).tolist()),
        likelihood=tuple(np.minimum(np.round(likelihood - likelihood.max(), DECIMALS), 0.0).tolist()),
    )


def recall_judge(case: Case, usual: UsualBias) -> Recalled:
    """Earlier studies of the judges, as far as the judges and the collection are still like them."""
    record = case.material.record
    if record is None:
        return Recalled(usual)
    name = name_judge(case.merge, case.material.judgments.judges)
    own = record.select(name)
    if not own:
        return Recalled(usual, notes=(_tell_unknown(record, name),))
    gains, collection = _list_gains(case), _name_collection(case)
    alike = [study for study in own if study.gains == gains and study.collection != collection]
    if not alike:
        return Recalled(usual, notes=(tell("record-other", judge=shorten(name), measure=str(case.question.parsed)),))
    kept, changes = choose_studies(alike, _count_errors(case))
    counts = {"stale": len(alike) - len(kept), "studies": len(alike)}
    stale = tell.when(changes, "record-stale", judge=shorten(name), **counts, reason=_name_most(changes))
    if not kept:
        return Recalled(usual, notes=stale)
    found = predict_spread(np.array([study.likelihood for study in kept]), usual)
    return Recalled(replace(usual, record=tuple(found.tolist())), tuple(kept), stale)


def choose_studies(studies: Sequence[Study], now: LongArray) -> tuple[list[Study], list[str]]:
    """The studies that the judge and the collection of today are like, and how they differ from the others.

    Each study is compared with today, at a level for all of them, and then those that are left together, which shows
    smaller changes.
    """
    chance = CHANCE / len(studies)
    reason = {study.key: find_change(study.counts, now, chance) for study in studies}
    kept = [study for study in studies if reason[study.key] is None]
    changes = [told for told in reason.values() if told is not None]
    if len(kept) > 1:
        together = find_change(pool_studies(kept), now)
        if together is not None:
            return [], [*changes, *[together] * len(kept)]
    return kept, changes


def pool_studies(studies: Sequence[Study]) -> LongArray:
    """The (gold, said) numbers of gold items of all studies."""
    size = max(len(study.confusion) for study in studies)
    counts: LongArray = np.zeros((size, size), np.int64)
    for study in studies:
        counts[: len(study.confusion), : len(study.confusion)] += study.counts
    return counts


def review_judges(
    record: StudyRecord, judges: Sequence[str], confusion: Mapping[str, LongArray], merged: Mapping[str, float]
) -> tuple[Remembered, ...]:
    """The studies of these judges, and of merges of all of them.

    Args:
        record: All studies.
        judges: The judges of today.
        confusion: Of each judge, (gold, said) numbers of gold items.
        merged: The accuracy of merges of all judges.
    """
    panel = name_panel(judges)
    names = {f"{JUDGE}{name}": name for name in judges}
    names |= {s.judge: s.judge.removesuffix(panel) for s in record.studies if s.judge.endswith(panel)}
    found = []
    for process, name in names.items():
        own = record.select(process)
        for gains in dict.fromkeys(study.gains for study in own):
            alike = [study for study in own if study.gains == gains]
            accuracy = merged.get(name)
            change = None
            if name in confusion and process.startswith(JUDGE) and confusion[name].sum():
                accuracy = _share_right(confusion[name])
                kept, changes = choose_studies(alike, confusion[name])
                change = None if kept else _name_most(changes)
            found.append(_review(process, alike, accuracy, change))
    return tuple(found)


def _review(process: str, studies: Sequence[Study], accuracy: float | None, change: str | None) -> Remembered:
    usual = load_usual_biases()[name_family(np.array(studies[0].gains))]
    dates, labels = sorted(study.date for study in studies), [study.labels for study in studies]
    return Remembered(
        judge=process,
        measure=max(studies, key=lambda study: study.date).measure,
        studies=len(studies),
        labels=sum(labels),
        first=dates[0],
        last=dates[-1],
        accuracy=_share_right(pool_studies(studies)),
        accuracy_now=accuracy,
        unexplained=float(np.average([study.unexplained for study in studies], weights=labels)),
        bias=find_median(judge_spread(np.array([study.likelihood for study in studies]), usual)),
        change=change,
    )


def tell_change(remembered: Remembered) -> tuple[Note, ...]:
    """A note if the judge or the collection has changed."""
    judge, studies, change = shorten(remembered.judge), remembered.studies, remembered.change
    return tell.when(change, "record-stale", judge=judge, studies=studies, stale=studies, reason=str(change))


def _share_right(counts: LongArray) -> float | None:
    return float(np.trace(counts) / counts.sum()) if counts.sum() else None


def tell_use(recalled: Recalled, judge: str, change: float) -> tuple[Note, ...]:
    """What the record adds: the `change` of the width of intervals for usual judges."""
    if not recalled.used:
        return recalled.notes
    dates = sorted(study.date for study in recalled.used)
    told = tell(
        "record-used",
        judge=shorten(judge),
        studies=len(recalled.used),
        labels=sum(study.labels for study in recalled.used),
        first=dates[0],
        last=dates[-1],
        change=change,
    )
    return (*recalled.notes, told)


def _tell_unknown(record: StudyRecord, name: str) -> Note:
    names = {study.judge.removeprefix(JUDGE): study.judge for study in record.studies}
    near = nearest(name.removeprefix(JUDGE), names)
    if near is None:
        return tell("record-none", judge=shorten(name))
    return tell("record-near", judge=shorten(name), near=shorten(names[near]))


def _name_most(changes: Sequence[str]) -> str:
    """The most frequent reason, or the first of them."""
    return Counter(changes).most_common(1)[0][0] if changes else ""


def _name_collection(case: Case) -> str:
    topics = frozenset(case.topic_names)
    return case.material.kept.once(("collection", topics), lambda: name_collection(case.material.runs, topics))


def _list_gains(case: Case) -> tuple[float, ...]:
    """The gain of each grade that there can be; the highest where a measure has gains for lower grades only."""
    assert case.linear is not None
    try:
        found = as_weighted_sum(case.question.parsed, case.depth, GRADES - 1)
    except OptionError:
        found = None
    gain = (found or case.linear).gain[:GRADES]
    return tuple(np.pad(gain, (0, GRADES - len(gain)), "edge").tolist())


def _count_errors(case: Case) -> LongArray:
    """Gold items that the judges graded, (gold, said)."""
    items = case.judged & (case.gold_grade >= 0)
    counts = np.zeros((case.top_grade + 1, case.top_grade + 1), np.int64)
    np.add.at(counts, (case.gold_grade[items], case.said[items]), 1)
    return counts
