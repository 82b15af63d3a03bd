"""Runs and judgments together: topics in common, and how much of what each system shows was judged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from karatage.data.alignment import Alignment
from karatage.data.axes import FloatArray
from karatage.data.checks import find_schema
from karatage.data.diagnosis import SYSTEMS, Check
from karatage.decisions.diagnosis.evidence import Evidence
from karatage.decisions.diagnosis.rankings import find_lengths
from karatage.text import count_names, list_names, shorten

ABOUT = "pool"
ENOUGH_JUDGED = 0.95  # of the documents that count
UNEVEN = 0.05  # by which systems' judged shares may differ


def check_pool(evidence: Evidence) -> Iterator[Check]:
    """Whether judgments are about what the systems show."""
    runs, judgments = evidence.runs, evidence.judgments
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
            about=ABOUT,
            state="warning",
            finding=f"topics of the runs without judgments, which count for nothing: {count_names(alone)}",
            advice="have them judged, or leave them out",
        )
    unused = [topic for topic in judgments.topics if topic not in both]
    if unused:
        yield Check(about=ABOUT, state="ok", finding=f"judged topics that no run has, ignored: {count_names(unused)}")
    if not evidence.meets:
        yield _wrong(
            f"no retrieved document was judged: runs have {list_names(runs.documents.head(2).to_list())}, judgments "
            f"{list_names(judgments.documents.head(2).to_list())}",
            "write documents alike in both",
        )
        return
    assert evidence.alignment is not None
    yield _check_judged(evidence.alignment, evidence.depth)


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
        return Check(about=ABOUT, state="ok", finding=found)
    uneven = share[most] - share[least] > UNEVEN
    verdict = "which holds some systems down more than others" if uneven else "which holds scores down"
    return Check(
        about=ABOUT,
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


def tabulate_systems(evidence: Evidence) -> pl.DataFrame:
    """One row per system; the share is of what was judged among the documents that count."""
    runs = evidence.runs
    if runs is None:
        return pl.DataFrame(schema=find_schema(SYSTEMS))
    length = find_lengths(runs)
    short = (length > 0) & (length < (evidence.depth or 0))
    share = np.full(len(runs.systems), np.nan)
    if evidence.alignment is not None:
        share = find_judged(evidence.alignment, evidence.depth)
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
    return Check(about=ABOUT, state="wrong", finding=finding, advice=advice)
