"""Runs looked at: topics, lengths, twins, ties, and ranks that contradict scores."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from karatage.data.axes import LongArray
from karatage.data.diagnosis import Check
from karatage.data.runs import Runs
from karatage.decisions.diagnosis.evidence import Evidence
from karatage.text import count_names, counted, list_names, shorten

MANY_TIES = 0.05  # of the documents that count
ABOUT = "runs"


def check_runs(evidence: Evidence) -> Iterator[Check]:
    """All that can be seen without judgments."""
    runs = evidence.runs
    if runs is None:
        return
    size = f"{counted(len(runs.systems), 'system')}, {counted(len(runs.topics), 'topic')}, "
    yield Check(about=ABOUT, state="ok", finding=f"{size}rankings of up to {counted(runs.depth, 'document')}")
    if len(runs.systems) == 1:
        yield _warn("there is one system only, so nothing to compare it with", "add another system's run")
    yield from _check_lengths(runs, evidence.depth)
    yield from _check_twins(runs, evidence.depth)
    yield from _check_ties(evidence)
    yield from _check_ranks(evidence)


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


def _check_ties(evidence: Evidence) -> Iterator[Check]:
    tied = [found for found in evidence.listings if found.shown and found.tied > MANY_TIES * found.shown]
    if not tied:
        return
    worst = max(tied, key=lambda found: found.tied / found.shown)
    yield _warn(
        f"tied scores, whose order is by document id: {count_names([found.system for found in tied])}; in "
        f"{worst.source} {worst.tied / worst.shown:.0%} of the documents that count",
        "write scores with more digits, or scores that fall with the rank",
    )


def _check_ranks(evidence: Evidence) -> Iterator[Check]:
    wrong = [found for found in evidence.listings if found.rises]
    if wrong:
        first = wrong[0]
        places = counted(sum(found.rises for found in wrong), "place")
        yield _warn(
            f"ranks contradict scores, which count alone, as in trec_eval: {counted(len(wrong), 'file')}, {places}, "
            f"the first at {first.source}:{first.line}",
            "if the ranks are right, write scores that fall with them",
        )


def _warn(finding: str, advice: str) -> Check:
    return Check(about=ABOUT, state="warning", finding=finding, advice=advice)
