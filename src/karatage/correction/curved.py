"""Measures that are not weighted sums, such as AP: expanded around the gains to expect, and corrected by drawn gold.

An item that was drawn with chance pi and has the residual e counts e / pi more than expected. AP times the number of
relevant documents is a sum over pairs of documents, and a product of two such gains is unbiased for the product of the
true ones, since items are drawn independently. So that sum is computed from these gains as if they were grades, as
[STATAP] does without expectations. Only the division by the number of relevant documents is linearised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karatage.data.axes import FloatArray, IntArray, LongArray

TINY = 1e-12


class Expanded(NamedTuple):
    """A measure at some gains."""

    term: FloatArray  # (topic, system) scores
    weight: FloatArray  # (item, system) derivatives in the gains
    flat: FloatArray  # (item, system) derivatives in the known gains, without the curvature


@dataclass(frozen=True, eq=False)
class Ranked:
    """The systems' rankings of items, and a measure of them."""

    climb: Callable[[IntArray, FloatArray, FloatArray, FloatArray], None]  # a kernel: scores and derivatives
    ratio: bool  # whether a topic's score is divided by the sum of all its gains
    ranked: IntArray  # (topic, system, rank) items, negative = none
    topic: LongArray  # (item,)

    def expand(self, gain: FloatArray, known: FloatArray, shift: FloatArray | None = None) -> Expanded:
        """Scores by `gain` (item,), in which drawn items count for others; `known` has gold's and expected gains.

        `shift` (item,) is added to expected gains in the sum by which a ratio is divided.
        """
        score, weight = self._climb(gain)
        base, flat = self._climb(known)
        if not self.ratio:
            return Expanded(score, weight, flat)
        topics = len(self.ranked)
        divided = known if shift is None else known + shift
        relevant = np.maximum(np.bincount(self.topic, divided, topics), 1.0)[:, None]
        more = np.bincount(self.topic, gain - divided, topics)[:, None]
        mean = base / relevant
        term = (score - mean * more) / relevant
        return Expanded(term, *(((x - mean[self.topic]) / relevant[self.topic]) for x in (weight, flat)))

    def _climb(self, gain: FloatArray) -> tuple[FloatArray, FloatArray]:
        score, slope = np.zeros(self.ranked.shape[:2]), np.zeros((len(gain), self.ranked.shape[1]))
        self.climb(self.ranked, gain, score, slope)
        return score, slope


def shift_topics(residual: FloatArray, topic: LongArray, raised: FloatArray, topics: int) -> FloatArray:
    """How far the gains of a topic are from what is expected (topic,), by the residuals of drawn items (draw,).

    A topic's mean, weighted by inverse chances `raised`, is shrunk to 0 as its variance over topics suggests: gold is
    stricter in some topics than the judge, who may know little of how many documents are relevant.
    """
    weight, square = np.bincount(topic, raised, topics), np.bincount(topic, raised**2, topics)
    seen = weight > 0
    draws = np.where(seen, weight**2 / np.where(seen, square, 1.0), 0.0)
    mean = np.bincount(topic, raised * residual, topics) / np.where(seen, weight, 1.0)
    within = np.average(residual**2, weights=raised)
    noise = within / np.where(seen, draws, 1.0)
    between = max(float(((mean**2 - noise) * draws).sum() / draws.sum()), 0.0)
    shift: FloatArray = np.where(
        seen & (between > 0), between / np.where(seen, between + noise + TINY, 1.0) * mean, 0.0
    )
    return shift
