"""Which judge gets which items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karatage.data.axes import FloatArray, IntArray, LongArray
from karatage.data.crowd import CONTRIBUTION_LEVELS

_HALVINGS = 60


class Assignment(NamedTuple):
    """A judge and an item in each row."""

    judge: IntArray
    item: LongArray
    stretched: bool  # whether contributions had to leave their levels


def assign_items(
    topics: list[LongArray],
    contribution: FloatArray,
    level: IntArray,
    per_item: int,
    source: np.random.Generator,
) -> Assignment:
    """Give each item `per_item` different judges, who do their contribution of a topic before they begin another.

    Judges form a circle, in the order given. A topic takes as many of them in a row that their contributions add up
    to `per_item`, and the next topic goes on from there. Where the judges together do less than one topic needs, all
    work on every topic and do more of it; where they do more than all topics need, each does less.

    Args:
        topics: The items of each topic.
        contribution: Share of a topic's items that each judge does, (judge,).
        level: The level of that share, which a judge keeps if at all possible, (judge,).
        per_item: Judges of an item; no more than there are judges.
        source: Where chance comes from.
    """
    size = np.array([len(items) for items in topics])
    width = np.clip(contribution, 1 / size.mean(), 1.0)
    width *= np.clip(1.0, per_item / width.sum(), per_item * len(topics) / width.sum())
    end = np.cumsum(width)
    lap = float(end[-1])
    middle = end - width / 2
    order = source.permutation(len(topics))
    judges, items, stretched = [], [], False
    for place, t in enumerate(order):
        start = place * per_item % lap
        turn = (middle - start) % lap
        chosen = np.flatnonzero(turn < per_item) if per_item < lap * (1 - 1e-9) else np.arange(len(width))
        chosen = chosen[np.argsort(turn[chosen], kind="stable")]
        quota, left = _find_quotas(contribution[chosen], level[chosen], per_item, int(size[t]), source)
        stretched |= left
        judges.append(np.repeat(chosen, quota).astype(np.int32))
        items.append(topics[t][_deal_items(quota, per_item, int(size[t]), source)])
    return Assignment(np.concatenate(judges), np.concatenate(items), stretched)


def _find_quotas(
    contribution: FloatArray, level: IntArray, per_item: int, items: int, source: np.random.Generator
) -> tuple[LongArray, bool]:
    """How many items each judge does, from 0 to all, `per_item * items` together; and whether levels had to give."""
    work = per_item * items
    low = np.maximum(-(-level * items // CONTRIBUTION_LEVELS), 1).astype(np.int64)
    high = np.minimum(-(-(level + 1) * items // CONTRIBUTION_LEVELS) - (level + 1 < CONTRIBUTION_LEVELS), items)
    high = np.maximum(high, low)
    stretched = not low.sum() <= work <= high.sum()
    if stretched:
        low, high = np.minimum(1, low), np.full(len(level), items)
    if len(level) >= work:  # not everybody gets even one
        quota = np.zeros(len(level), np.int64)
        quota[source.permutation(len(level))[:work]] = 1
        return quota, True
    least, most = -60.0, 60.0
    for _ in range(_HALVINGS):
        middle = (least + most) / 2
        small = np.clip(contribution * items * np.exp(middle), low, high).sum() < work
        least, most = (middle, most) if small else (least, middle)
    wanted = np.clip(contribution * items * np.exp(most), low, high)
    quota = np.floor(wanted).astype(np.int64)
    short = work - int(quota.sum())
    # the rest goes to those who lack most of one, as far as their walls allow
    for _ in range(2):
        lacking = np.where(quota < high, wanted - quota, -1.0) + 1e-9 * source.random(len(quota))
        best = np.argsort(-lacking, kind="stable")[: max(short, 0)]
        best = best[quota[best] < high[best]]
        quota[best] += 1
        short = work - int(quota.sum())
    return quota, stretched


def _deal_items(quota: LongArray, per_item: int, items: int, source: np.random.Generator) -> LongArray:
    """Items (row,) for judges who take `quota` each in turn: every item `per_item` times, to a judge only once.

    The items are dealt out in rounds, each in a random order. A judge who began in one round and goes on in the next
    must not get the same again: what it has goes to the end of that round.
    """
    end = np.cumsum(quota)
    out = np.empty(per_item * items, np.int64)
    for round_ in range(per_item):
        start = round_ * items
        order = source.permutation(items)
        before = int(np.searchsorted(end, start, side="right"))  # who holds the first card of this round
        begun = int(end[before] - quota[before])
        if begun < start:
            had = np.zeros(items, bool)
            had[out[begun:start]] = True
            order = np.concatenate([order[~had[order]], order[had[order]]])
        out[start : start + items] = order
    return out
