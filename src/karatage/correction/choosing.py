"""Which items to send to gold, with what chance, and what that buys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from karatage.data.axes import FloatArray, LongArray
from karatage.errors import DataError
from karatage.kernels.sampling import FLOOR, draw_items, find_chances, mean_positive, sum_gaps


class Chosen(NamedTuple):
    """Items to send to gold, in batches."""

    item: LongArray  # (draw,)
    pi: FloatArray  # (draw,) chance to be drawn in its batch, given the earlier ones
    batch: LongArray  # (draw,) from 1


def choose_sizes(weight: FloatArray, pairs: Sequence[tuple[int, int]] | None = None) -> FloatArray:
    """How much each item matters (item,): the root mean square difference of its weights (item, system) over pairs.

    For two systems that is |w_a - w_b|, for one its weight. `pairs` are those still to be decided (default: all). Items
    on which only other pairs differ keep `FLOOR` of the mean size: without a chance to be drawn, they would bias those.
    """
    if weight.shape[1] == 1:
        return np.abs(weight[:, 0])
    if pairs is None:
        square = 2 * weight.var(axis=1, ddof=1)
    else:
        square = np.zeros(len(weight))
        sum_gaps(weight, np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs]), square)
        square /= max(len(pairs), 1)
    differs = weight.max(axis=1) > weight.min(axis=1)
    size: FloatArray = np.where(differs, np.sqrt(square), 0.0)
    size[differs & (size == 0)] = FLOOR * mean_positive(size)
    return size


def draw_batches(
    size: FloatArray, counts: Sequence[int], rng: np.random.Generator, *, taken: LongArray | None = None
) -> Chosen:
    """Draw `counts` items in turn, each batch from what earlier ones, and the items `taken` before, have left.

    A batch is short, and later ones are empty, where items run out.
    """
    left = size.copy()
    if taken is not None:
        left[taken] = 0.0
    drawn: list[tuple[LongArray, FloatArray, LongArray]] = []
    for number, count in enumerate(counts, start=1):
        pi = find_chances(left, count)
        item = np.flatnonzero(draw_items(pi, rng))
        drawn.append((item, pi[item], np.full(len(item), number)))
        left[item] = 0.0
    item, pi, batch = (np.concatenate(column) for column in zip(*drawn, strict=True))
    return Chosen(item, pi, batch)


def expected_variance(gap: FloatArray, pi: FloatArray, residual_variance: FloatArray | float, topics: int) -> float:
    """The variance of a difference over these topics that a draw with chances `pi` (item,) would have.

    `gap` (item,) is the difference of the two systems' weights, `residual_variance` how far gold's gain scatters
    around what the judge leads one to expect.
    """
    matters = gap != 0
    if (pi[matters] <= 0).any():
        raise DataError("an item on which the systems differ has no chance to be drawn; give it one (find_chances)")
    spread = gap[matters] ** 2 * (1 - pi[matters]) / pi[matters]
    residual = np.broadcast_to(np.asarray(residual_variance, float), gap.shape)[matters]
    return float((spread * residual).sum()) / topics**2


def match_uniform(gap: FloatArray, pi: FloatArray) -> float:
    """How many items drawn alike, of those that matter, would give the same variance as chances `pi`."""
    matters = int((gap != 0).sum())
    if not matters:
        return 0.0
    return matters / (1 + expected_variance(gap, pi, 1.0, 1) / float((gap**2).sum()))
