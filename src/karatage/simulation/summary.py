"""What a crowd was like: its judges and its majority against gold."""

from __future__ import annotations

import numpy as np
import polars as pl

from karatage.data.alignment import match_gold
from karatage.data.axes import BoolArray, FloatArray, IntArray
from karatage.data.crowd_summary import CrowdSummary
from karatage.data.judgments import Judgments
from karatage.errors import DataError
from karatage.text import counted


def summarise_crowd(judgments: Judgments, gold: Judgments, *, name: str = "crowd") -> CrowdSummary:
    """Hold a crowd, simulated or real, against gold: rates of its judges, its majority, its shared errors.

    A grade above 0 is relevant. The majority says relevant where more than half of an item's judgments do; where they
    are even, the item counts half. Items without gold are left aside.
    """
    known = match_gold(judgments, gold)
    kept = known[judgments.item] >= 0
    if not kept.any():
        raise DataError("judgments and gold share no item, so this crowd cannot be described")
    judge, item = judgments.judge[kept], judgments.item[kept]
    positive, said = known[item] > 0, judgments.grade[kept] > 0
    votes = np.bincount(item, minlength=len(known))
    yes = np.bincount(item[said], minlength=len(known))
    seen = votes > 0
    called = np.where(2 * yes == votes, 0.5, 2 * yes > votes)[seen]
    relevant = known[seen] > 0
    hits, alarms = float(called[relevant].sum()), float(called[~relevant].sum())
    return CrowdSummary(
        name=name,
        judges=_rate_judges(judgments.judges, judge, positive, said),
        items=int(seen.sum()),
        relevant=int(relevant.sum()),
        recall=hits / float(relevant.sum()) if relevant.any() else None,
        precision=hits / (hits + alarms) if hits + alarms else None,
        tied=int((called == 0.5).sum()),
        correlation=_correlate(known > 0, item, said != positive),
        pairs=int((votes * (votes - 1)).sum()) // 2,
        notes=_tell_left_aside(int((~kept).sum())),
    )


def _rate_judges(names: tuple[str, ...], judge: IntArray, positive: BoolArray, said: BoolArray) -> pl.DataFrame:
    """Judges who gave a grade, and how often they were right."""
    columns: dict[str, pl.Series] = {"judge": pl.Series(names, dtype=pl.String)}
    columns["grades"] = pl.Series(np.bincount(judge, minlength=len(names)))
    for rate, group in ("tpr", positive), ("tnr", ~positive):
        among = np.bincount(judge[group], minlength=len(names))
        right = np.bincount(judge[group & (said == positive)], minlength=len(names))
        columns[rate] = pl.Series(right / np.maximum(among, 1)).set(pl.Series(among == 0), None)
    return pl.DataFrame(columns).filter(pl.col("grades") > 0)


def _correlate(relevant: BoolArray, item: IntArray, wrong: BoolArray) -> float | None:
    """Correlation of the errors of two judges of an item: over all pairs, within relevant and within other items."""
    votes = np.bincount(item, minlength=len(relevant)).astype(np.float64)
    errors = np.bincount(item[wrong], minlength=len(relevant)).astype(np.float64)
    parts = [_covary(votes[group], errors[group]) for group in (relevant, ~relevant)]
    covariance, variance = (float(sum(part)) for part in zip(*parts, strict=True))
    return covariance / variance if variance > 0 else None


def _covary(votes: FloatArray, errors: FloatArray) -> tuple[float, float]:
    """Sums over ordered pairs of judges of an item: of the products of their errors, less the mean, and of squares."""
    pairs = float((votes * (votes - 1)).sum())
    if not pairs:
        return 0.0, 0.0
    mean = float((errors * (votes - 1)).sum()) / pairs
    both = float((errors * (errors - 1)).sum())
    return both - pairs * mean**2, pairs * mean * (1 - mean)


def _tell_left_aside(rows: int) -> tuple[str, ...]:
    return (f"{counted(rows, 'judgment')} of items without gold left aside",) if rows else ()
