"""The audit's tables of judges and of the panel, and its warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from karatage.agreement.habits import (
    GoldAccuracy,
    Panel,
    find_below_gold,
    grade_shares,
    leniency,
    self_agreement,
    share_alike,
)
from karatage.agreement.independence import LEAST_SHARED, Independence
from karatage.agreement.intervals import ENOUGH_TOPICS, SKETCHED, Interval, PairSample
from karatage.agreement.pairs import Pairs
from karatage.agreement.suspicion import Flag, count_tests
from karatage.data.alignment import count_short_scales
from karatage.data.axes import BoolArray, FloatArray, LongArray
from karatage.data.estimate import wilson_interval
from karatage.data.note import Note, Texts

tell = Texts(
    "agreement",
    {
        "below-gold": "{below:,} of {judges:count judge} never give gold's highest grades, up to {top} ({counts}). "
        "Items above a judge's scale count as errors, which judges of the same scale share. So accuracy, error "
        "correlation and effective votes also depend on the scales; map all grades to one scale with --grades and "
        "--gold-grades",
        "few-gold": "judges with few gold items, less than {least:.0%} of them: {judges:names}; their figures are "
        "very uncertain",
        "few-topics": "judges with gold in fewer than {least} topics: {judges:names}; their intervals treat items as "
        "independent, so they are too narrow if errors within a topic are correlated",
        "no-gold": "judges without gold items: {judges:names}",
        "pairs-drawn": "{judges:,} judges have about {pairs:,.0f} pairs that share items; {drawn:,} of these pairs, "
        "drawn at random with the seed, were compared. Kappa, error correlation and effective votes are estimated "
        "from them, and only these pairs are listed. Sampling adds a standard error of {error:.2g} to the mean kappa, "
        "which its interval includes, and of {typical:.2g} to the kappa of a typical judge",
    },
)

HARDLY = 0.05  # of the gold items


def tell_below_gold(panel: Panel) -> Iterator[Note]:
    """Judges whose grades end below gold's, and what that does to all error figures."""
    below = find_below_gold(panel)
    if below:
        counts, top = count_short_scales(below), int(panel.known.max())
        yield tell("below-gold", below=len(below), judges=panel.judges, top=top, counts=counts)


def tell_coverage(panel: Panel) -> Iterator[Note]:
    """Judges without gold items, and those with very few where the typical judge has more."""
    judges = panel.judgments.judge[panel.gold >= 0]
    items = np.bincount(judges, minlength=panel.judges)
    yield from tell.when(not items.all(), "no-gold", judges=_name(panel, items == 0))
    wanted = HARDLY * panel.gold_items
    hardly = (items > 0) & (items < wanted)
    if hardly.any() and np.median(items) >= wanted:
        yield tell("few-gold", least=HARDLY, judges=_name(panel, hardly))


def tell_topics(panel: Panel) -> Iterator[Note]:
    """Judges whose intervals count items, though these lie in topics."""
    topics = len(panel.judgments.topics)
    seen = np.unique((panel.judgments.judge * np.int64(topics) + panel.topic)[panel.gold >= 0])
    count = np.bincount(seen // topics, minlength=panel.judges)
    few = (count > 0) & (count < ENOUGH_TOPICS)
    if panel.judgments.has_topics and few.any():
        yield tell("few-topics", least=ENOUGH_TOPICS, judges=_name(panel, few))


def tell_sample(judges: int, sample: PairSample, kappa: Pairs) -> Note:
    """That not all pairs of judges were compared, and how much that adds to the standard error."""
    typical = float(np.nanmedian(np.r_[kappa.average_error(judges), np.nan]))
    facts = {"judges": judges, "pairs": float(sample.pairs), "drawn": len(sample)}
    return tell("pairs-drawn", **facts, error=kappa.error, typical=typical)


def tell_likely(panel: Panel, chosen: PairSample) -> str:
    """That not all pairs of judges were tested for copies, and which were."""
    return (
        f"{len(chosen):,} of up to {count_tests(panel):,} pairs of judges were tested for copies: pairs drawn at "
        f"random, and judges with equal grades for all or {SKETCHED} of their items; other copies may be missed"
    )


def _name(panel: Panel, chosen: BoolArray) -> tuple[str, ...]:
    return tuple(panel.judgments.judges[j] for j in np.flatnonzero(chosen))


AT_ONCE = 10_000  # judges whose confusion is worked out at once
ORDER = ("percent", "cohen", "fleiss", "alpha_nominal", "alpha_ordinal", "alpha_interval")


def tabulate_judges(
    panel: Panel, pairs: Pairs, weighted: Pairs | None, reliability: FloatArray, flags: Sequence[Flag]
) -> pl.DataFrame:
    """One row per judge; `weighted` only where there are more than two grades."""
    names = panel.judgments.judges
    items = np.bincount(panel.judgments.judge, minlength=len(names))
    repeated, steady = self_agreement(panel.judgments)
    columns: dict[str, object] = {"judge": pl.Series(names, dtype=pl.String)}
    columns |= {"items": items, "coverage": items / len(panel.known)}
    columns |= {f"share_{g}": share for g, share in enumerate(grade_shares(panel).T)}
    columns |= {"repeats": repeated, "self_agreement": steady}
    columns |= _bounds("leniency", *leniency(panel))
    columns["kappa"], columns["percent"] = pairs.average(len(names)), share_alike(panel)
    if weighted is not None:
        columns["weighted_kappa"] = weighted.average(len(names))
    columns["reliability"] = reliability
    if panel.has_gold:
        columns |= _against_gold(panel)
    own: dict[int, list[Flag]] = {}
    for flag in flags:
        own.setdefault(flag.judge, []).append(flag)
    columns["flags"] = pl.Series([", ".join(f.kind for f in own.get(j, [])) for j in range(len(names))])
    columns["why"] = pl.Series(["; ".join(f.why for f in own.get(j, [])) for j in range(len(names))])
    return _frame(columns)


def _against_gold(panel: Panel) -> dict[str, object]:
    accuracy = GoldAccuracy.of(panel)
    columns: dict[str, object] = {"gold_items": accuracy.items}
    columns |= _bounds("accuracy", accuracy.share, *accuracy.interval())
    columns["gold_kappa"] = accuracy.kappa()
    if panel.graded:
        columns["gold_weighted_kappa"] = accuracy.kappa(weighted=True)
    else:
        columns |= _bounds("tpr", *accuracy.recall(1)) | _bounds("tnr", *accuracy.recall(0))
        columns |= _bounds("ppv", *accuracy.precision())
    return columns | _bounds("gold_leniency", *leniency(panel, gold=True))


def tabulate_panel(found: Mapping[str, Interval]) -> pl.DataFrame:
    """One row per coefficient."""
    rows = [(name, *found[name]) for name in dict.fromkeys([*ORDER, *found]) if name in found]
    schema = {"statistic": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))


def tabulate_pairs(
    judges: Sequence[str], pairs: Pairs, weighted: Pairs | None, independence: Independence | None
) -> pl.DataFrame:
    """One row per pair of judges with shared items, all or those of a sample."""
    names = pl.Series(judges, dtype=pl.String)
    columns: dict[str, object] = {
        "judge": names.gather(pairs.first),
        "other": names.gather(pairs.second),
        "shared": pairs.shared,
        "percent": pairs.alike / np.maximum(pairs.shared, 1),
        "kappa": pairs.value,
    }
    if weighted is not None:
        columns["weighted_kappa"] = weighted.value
    if independence is not None:
        shared, correlation = _look_up(pairs, independence.pairs, len(judges))
        columns["gold_shared"] = shared
        columns["error_correlation"] = np.where(shared >= LEAST_SHARED, correlation, np.nan)
    return _frame(columns)


def _look_up(pairs: Pairs, among: Pairs, judges: int) -> tuple[LongArray, FloatArray]:
    """Shared items and value that each of `pairs` has in `among`; 0 and NaN where it is not there."""
    sought, known = (p.first * np.int64(judges) + p.second for p in (pairs, among))
    order = np.argsort(known)
    at = np.searchsorted(known, sought, sorter=order)
    found = at < len(known)
    found[found] = known[order[at[found]]] == sought[found]
    shared, value = np.zeros(len(sought), np.int64), np.full(len(sought), np.nan)
    shared[found], value[found] = among.shared[order[at[found]]], among.value[order[at[found]]]
    return shared, value


def tabulate_confusion(panel: Panel) -> pl.DataFrame:
    """One row per judge, gold's grade and grade said, with Wilson bounds of the share."""
    table, names = panel.count_against(panel.gold), pl.Series(panel.judgments.judges, dtype=pl.String)
    parts = [slice(at, at + AT_ONCE) for at in range(0, panel.judges, AT_ONCE)]
    return pl.concat([_tabulate_shares(names[part], table[part]) for part in parts])


def _tabulate_shares(names: pl.Series, table: LongArray) -> pl.DataFrame:
    rows = table.sum(axis=2)
    judge, gold, said = np.nonzero(np.broadcast_to(rows[:, :, None] > 0, table.shape))
    items, hits = rows[judge, gold], table[judge, gold, said]
    low, high = wilson_interval(hits, items)
    columns = {"judge": names.gather(judge), "gold": gold, "grade": said}
    return _frame({**columns, "items": hits, **_bounds("share", hits / np.maximum(items, 1), low, high)})


def tabulate_families(independence: Independence | None) -> pl.DataFrame:
    """One row per family, then one judge of each."""
    schema = {"family": pl.String, "judges": pl.Int64, "error_correlation": pl.Float64, "effective_votes": pl.Float64}
    rows = [] if independence is None else [tuple(vars(family).values()) for family in independence.families]
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))


def tabulate_flags(judges: Sequence[str], flags: Sequence[Flag]) -> pl.DataFrame:
    """One row per suspicion."""
    rows = [(judges[f.judge], f.kind, judges[f.other] if f.other >= 0 else None, f.why) for f in flags]
    schema = dict.fromkeys(("judge", "flag", "other", "why"), pl.String)
    return pl.DataFrame(rows, schema=schema, orient="row")


def _bounds(name: str, value: FloatArray, low: FloatArray, high: FloatArray) -> dict[str, object]:
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _frame(columns: Mapping[str, object]) -> pl.DataFrame:
    return pl.DataFrame(columns).with_columns(pl.col(pl.Float64).fill_nan(None))
