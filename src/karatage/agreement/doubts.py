"""Warnings when judges are compared with gold: scales that differ, judges with few gold items, too few topics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from karatage.agreement.habits import Panel, find_below_gold
from karatage.agreement.intervals import ENOUGH_TOPICS
from karatage.agreement.likeness import count_tests
from karatage.agreement.pairs import Pairs
from karatage.agreement.sampling import SKETCHED, PairSample
from karatage.data.axes import BoolArray
from karatage.data.scales import count_short_scales
from karatage.text import count_names, counted

HARDLY = 0.05  # of the gold items


def tell_below_gold(panel: Panel) -> Iterator[str]:
    """Judges whose grades end below gold's, and what that does to all error figures."""
    below = find_below_gold(panel)
    if below:
        yield (
            f"{len(below):,} of {counted(panel.judges, 'judge')} never go as high as gold, which goes up to "
            f"{panel.known.max()} ({count_short_scales(below)}): every item above a judge's scale counts as its error, "
            "and as one shared by all on that scale, so that accuracy, error correlation and effective votes depend "
            "on scales as well as on judges; map all grades to one scale with --grades and --gold-grades"
        )


def tell_coverage(panel: Panel) -> Iterator[str]:
    """Judges without gold items, and those with very few where the typical judge has more."""
    judges = panel.judgments.judge[panel.gold >= 0]
    items = np.bincount(judges, minlength=panel.judges)
    if not items.all():
        yield f"judges without gold items: {_name(panel, items == 0)}"
    wanted = HARDLY * panel.gold_items
    hardly = (items > 0) & (items < wanted)
    if hardly.any() and np.median(items) >= wanted:
        yield (
            f"judges with few gold items, less than {HARDLY:.0%} of them: {_name(panel, hardly)}; "
            "their figures are little more than a guess"
        )


def tell_topics(panel: Panel) -> Iterator[str]:
    """Judges whose intervals count items, though these lie in topics."""
    topics = len(panel.judgments.topics)
    seen = np.unique((panel.judgments.judge * np.int64(topics) + panel.topic)[panel.gold >= 0])
    count = np.bincount(seen // topics, minlength=panel.judges)
    few = (count > 0) & (count < ENOUGH_TOPICS)
    if panel.judgments.has_topics and few.any():
        yield (
            f"judges with gold in fewer than {ENOUGH_TOPICS} topics, whose intervals count items as if each stood by "
            f"itself, and are too short where a topic's items are alike: {_name(panel, few)}"
        )


def tell_sample(judges: int, sample: PairSample, kappa: Pairs) -> str:
    """That not all pairs of judges were compared, and how much that adds to the standard error."""
    typical = np.nanmedian(np.r_[kappa.average_error(judges), np.nan])
    return (
        f"{judges:,} judges have about {sample.pairs:,.0f} pairs that share items, of which {len(sample):,}, drawn at "
        "random with the seed, were compared: kappa, error correlation and effective votes are estimates from these; "
        f"the sampling adds a standard error of {kappa.error:.2g} to the mean kappa, which its interval includes, and "
        f"of {typical:.2g} to the kappa of a typical judge; pairs of judges are listed for these only"
    )


def tell_likely(panel: Panel, chosen: PairSample) -> str:
    """That not all pairs of judges were tested for copies, and which were."""
    return (
        f"{len(chosen):,} of up to {count_tests(panel):,} pairs of judges were tested for copies: pairs drawn at "
        f"random, and judges with equal grades for all or {SKETCHED} of their items; other copies may be missed"
    )


def _name(panel: Panel, chosen: BoolArray) -> str:
    return count_names([panel.judgments.judges[j] for j in np.flatnonzero(chosen)])
