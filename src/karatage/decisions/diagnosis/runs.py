"""Runs looked at: topics, lengths, twins, ties, ranks that contradict scores, and how much was judged."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import polars as pl

from karatage.data.alignment import Alignment
from karatage.data.axes import FloatArray, LongArray
from karatage.data.checks import find_schema
from karatage.data.diagnosis import SYSTEMS, Check
from karatage.data.runs import Runs
from karatage.decisions.diagnosis.reading import Checkup
from karatage.text import count_names, counted, list_names, shorten

MANY_TIES = 0.05  # of the documents that count
RUNS = "runs"
POOL = "pool"
ENOUGH_JUDGED = 0.95  # of the documents that count
UNEVEN = 0.05  # by which systems' judged shares may differ


def check_runs(checkup: Checkup) -> Iterator[Check]:
    """All that can be seen without judgments."""
    runs = checkup.runs
    if runs is None:
        return
    size = f"{counted(len(runs.systems), 'system')}, {counted(len(runs.topics), 'topic')}, "
    yield Check(about=RUNS, state="ok", finding=f"{size}rankings of up to {counted(runs.depth, 'document')}")
    if len(runs.systems) == 1:
        yield _warn("there is one system only, so nothing to compare it with", "add another system's run")
    yield from _check_lengths(runs, checkup.depth)
    yield from _check_twins(runs, checkup.depth)
    yield from _check_ties(checkup)
    yield from _check_ranks(checkup)


def find_lengths(runs: Runs) -> LongArray:
    """Documents in each ranking, (topic, system)."""
    return np.asarray(runs.bounds[..., 1] - runs.bounds[..., 0])


def _check_lengths(runs: Runs, depth: int | None) -> Iterator[Check]:
    length = find_lengths(runs)
    lacking = (length == 0).sum(axis=0)
    if lacking.any():
        names = [runs.systems[s] for s in np.argsort(-lacking, kind="stable")[: (lacking > 0).sum()]]
        most = f"'{shorten(names[0], 24)}' lacks {lacking.max():,} of {len(runs.topics):,}"
        yield _warn(
            f"systems that lack topics which others have, and score 0 there: {count_names(names)}; {most}",
            "run them on all topics, or leave the topics out that not all answered",
        )
    if depth is None:
        return
    short = (length > 0) & (length < depth)
    if short.any():
        names = [runs.systems[s] for s in np.flatnonzero(short.any(axis=0))]
        yield _warn(
            f"rankings that end before rank {depth}, where they gain nothing: {short.sum():,} of "
            f"{(length > 0).sum():,}; systems: {count_names(names)}",
            "ask those systems for more documents, or for a measure of a smaller depth",
        )


def _check_twins(runs: Runs, depth: int | None) -> Iterator[Check]:
    """Systems that no measure of this depth can tell apart."""
    groups: dict[bytes, list[str]] = {}
    for s, name in enumerate(runs.systems):
        seen = hashlib.sha256()
        for start, end in runs.bounds[:, s]:
            stop = end if depth is None else min(end, start + depth)
            seen.update(runs.listed[start:stop].tobytes() + b"|")
        groups.setdefault(seen.digest(), []).append(name)
    where = "" if depth is None else f" to rank {depth}"
    for names in groups.values():
        if len(names) > 1:
            yield _warn(
                f"identical rankings{where}: {list_names(names)}",
                "keep one of them: no measure of this depth tells them apart",
            )


def _check_ties(checkup: Checkup) -> Iterator[Check]:
    tied = [found for found in checkup.listings if found.shown and found.tied > MANY_TIES * found.shown]
    if not tied:
        return
    worst = max(tied, key=lambda found: found.tied / found.shown)
    yield _warn(
        f"tied scores, whose order is by document id: {count_names([found.system for found in tied])}; in "
        f"{worst.source} {worst.tied / worst.shown:.0%} of the documents that count",
        "write scores with more digits, or scores that fall with the rank",
    )


def _check_ranks(checkup: Checkup) -> Iterator[Check]:
    wrong = [found for found in checkup.listings if found.rises]
    if wrong:
        first = wrong[0]
        places = counted(sum(found.rises for found in wrong), "place")
        yield _warn(
            f"ranks contradict scores, which count alone, as in trec_eval: {counted(len(wrong), 'file')}, {places}, "
            f"the first at {first.source}:{first.line}",
            "if the ranks are right, write scores that fall with them",
        )


def _warn(finding: str, advice: str) -> Check:
    return Check(about=RUNS, state="warning", finding=finding, advice=advice)


def check_pool(checkup: Checkup) -> Iterator[Check]:
    """Whether judgments are about what the systems show."""
    runs, judgments = checkup.runs, checkup.judgments
    if runs is None or judgments is None:
        return
    if not judgments.has_topics:
        yield _wrong(
            "judgments name items but no topics, so that they cannot meet runs",
            "give them a topic and a document column",
        )
        return
    both = set(runs.topics) & set(judgments.topics)
    if not both:
        found = f"runs have {list_names(runs.topics)}, judgments {list_names(judgments.topics)}"
        yield _wrong(f"runs and judgments share no topic: {found}", "write topics alike in both")
        return
    alone = [topic for topic in runs.topics if topic not in both]
    if alone:
        yield Check(
            about=POOL,
            state="warning",
            finding=f"topics of the runs without judgments, which count for nothing: {count_names(alone)}",
            advice="have them judged, or leave them out",
        )
    unused = [topic for topic in judgments.topics if topic not in both]
    if unused:
        yield Check(about=POOL, state="ok", finding=f"judged topics that no run has, ignored: {count_names(unused)}")
    if not checkup.meets:
        yield _wrong(
            f"no retrieved document was judged: runs have {list_names(runs.documents.head(2).to_list())}, judgments "
            f"{list_names(judgments.documents.head(2).to_list())}",
            "write documents alike in both",
        )
        return
    assert checkup.alignment is not None
    yield _check_judged(checkup.alignment, checkup.depth)


def _check_judged(alignment: Alignment, depth: int | None) -> Check:
    share = find_judged(alignment, depth)
    seen = np.flatnonzero(np.isfinite(share))
    least, most = seen[np.argmin(share[seen])], seen[np.argmax(share[seen])]
    where = "of what systems retrieved" if depth is None else f"of the documents in the first {depth} ranks"
    if share[least] == share[most]:
        found = f"{_percent(share[least])} {where} were judged, for all systems alike"
    else:
        low, high = (shorten(alignment.systems[s], 24) for s in (least, most))
        found = f"{_percent(share[least])} ('{low}') to {_percent(share[most])} ('{high}') {where} were judged"
    if share[least] >= ENOUGH_JUDGED and share[most] - share[least] <= UNEVEN:
        return Check(about=POOL, state="ok", finding=found)
    uneven = share[most] - share[least] > UNEVEN
    verdict = "which holds some systems down more than others" if uneven else "which holds scores down"
    return Check(
        about=POOL,
        state="warning",
        finding=f"{found}; the rest counts as not relevant, {verdict}",
        advice="have what is missing judged: karatage queue lists it",
    )


def find_judged(alignment: Alignment, depth: int | None) -> FloatArray:
    """The share of each system's first ranks that some judge has graded, (system,); NaN where it shows nothing."""
    length = alignment.length if depth is None else np.minimum(alignment.length, depth)
    ranked = alignment.ranked if depth is None else alignment.ranked[:, :, :depth]
    with np.errstate(invalid="ignore"):
        return np.asarray((ranked >= 0).sum(axis=(0, 2)) / length.sum(axis=0))


def tabulate_systems(checkup: Checkup) -> pl.DataFrame:
    """One row per system; the share is of what was judged among the documents that count."""
    runs = checkup.runs
    if runs is None:
        return pl.DataFrame(schema=find_schema(SYSTEMS))
    length = find_lengths(runs)
    short = (length > 0) & (length < (checkup.depth or 0))
    share = np.full(len(runs.systems), np.nan)
    if checkup.alignment is not None:
        share = find_judged(checkup.alignment, checkup.depth)
    columns = {
        "system": runs.systems,
        "topics": (length > 0).sum(axis=0),
        "short": short.sum(axis=0),
        "judged": share,
    }
    return pl.DataFrame(columns, schema=find_schema(SYSTEMS)).with_columns(pl.col("judged").fill_nan(None))


def _percent(share: float) -> str:
    """Rounded down, so that only all of it is 100%."""
    return f"{np.floor(100 * share):.0f}%"


def _wrong(finding: str, advice: str) -> Check:
    return Check(about=POOL, state="wrong", finding=finding, advice=advice)
