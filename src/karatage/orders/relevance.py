"""How likely a document is relevant, from what is known of it, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karatage.data.axes import FloatArray, GradeArray, IntArray, LongArray
from karatage.errors import DataError
from karatage.kernels.logistic import add_logistic, draw_relevant, find_odds

STEPS = 50
CLOSE = 1e-8  # of the largest change, where Newton's steps end


class Predictors(NamedTuple):
    """What is known of items: numbers, of which the first is 1, and the systems that retrieve them.

    An item's systems are in rows start[i] to start[i + 1], in rising order; `load` says how much each has to do with
    it.
    """

    x: FloatArray  # (item, feature)
    start: LongArray  # (item + 1,)
    system: IntArray  # (row,)
    load: FloatArray  # (row,)
    topic: IntArray  # (item,)

    def take(self, items: LongArray) -> Predictors:
        """The same for some of the items."""
        length = np.diff(self.start)[items]
        start = np.r_[0, np.cumsum(length)]
        row = np.repeat(self.start[items] - start[:-1], length) + np.arange(start[-1])
        return Predictors(self.x[items], start, self.system[row], self.load[row], self.topic[items])


@dataclass(frozen=True, kw_only=True)
class Prior:
    """Priors of the effects: normal and independent."""

    mean: tuple[float, ...]  # of the features' coefficients
    spread: tuple[float, ...]  # their standard deviations
    topics: float  # standard deviation of topics' own intercepts
    slopes: float  # of topics' own share in the features' coefficients
    systems: float = 1.0  # of systems' effects
    within: float = 1.0  # of a system's separate effect in each topic


@dataclass(frozen=True, eq=False, kw_only=True)
class Relevance:
    """Effects at their likeliest, and the curvature there, which says how far others are possible.

    Features and systems have common effects, to which each topic adds its own.
    """

    common: FloatArray  # (effect,)
    own: FloatArray  # (topic, effect) in addition
    root: FloatArray  # (effect, effect) of the covariance of the common ones
    pull: FloatArray  # (topic, effect, effect): how far own effects give way to common ones
    own_root: FloatArray  # (topic, effect, effect) of their covariance given the common ones

    def chance(self, evidence: Predictors) -> FloatArray:
        """Of being relevant, at the likeliest effects, (item,)."""
        odds = np.empty(len(evidence.x))
        find_odds(*evidence, self.common + self.own, odds)
        with np.errstate(over="ignore"):
            chance: FloatArray = 1 / (1 + np.exp(-odds))
        return chance

    def draw_effects(self, draws: int, rng: np.random.Generator) -> FloatArray:
        """Effects that the data leave possible, (topic, effect, draw)."""
        apart = np.einsum("fg,gd->fd", self.root, rng.standard_normal((len(self.common), draws)))
        effect = np.empty((len(self.own), len(self.common), draws))
        for t in range(len(effect)):
            luck = rng.standard_normal((len(self.common), draws))
            effect[t] = (self.common + self.own[t])[:, None] + apart
            effect[t] += np.einsum("fg,gd->fd", self.own_root[t], luck)
            effect[t] -= np.einsum("fg,gd->fd", self.pull[t], apart)
        return effect

    def draw(self, evidence: Predictors, draws: int, rng: np.random.Generator) -> GradeArray:
        """Which items are relevant, (item, draw) 0 or 1, each column by other effects that are possible."""
        effect = self.draw_effects(draws, rng)
        luck = rng.random((len(evidence.x), draws), np.float32)
        relevant = np.empty(luck.shape, np.int8)
        draw_relevant(*evidence, effect, luck, relevant)
        return relevant


def fit_relevance(evidence: Predictors, grade: GradeArray, prior: Prior, *, systems: int, topics: int) -> Relevance:
    """Fit by Newton's steps; without any item the prior is what is left.

    Args:
        evidence: Of the judged items.
        grade: Of each; above 0 is relevant.
        prior: Of the effects.
        systems: How many there are; 0 leaves systems out.
        topics: How many there are, judged or not.
    """
    if not np.isfinite(evidence.x).all():
        raise DataError("a feature is not a finite number, so nothing can be learnt from it")
    plain = evidence.x.shape[1]
    mean = np.r_[prior.mean, np.zeros(systems)]
    precise = np.r_[prior.spread, np.full(systems, prior.systems)] ** -2
    own_precise = np.r_[prior.topics, np.full(plain - 1, prior.slopes), np.full(systems, prior.within)] ** -2
    common, own = mean.copy(), np.zeros((topics, len(mean)))
    for _ in range(STEPS):
        effect = common + own
        slope, curve = np.zeros((topics, len(mean))), np.zeros((topics, len(mean), len(mean)))
        add_logistic(*evidence, grade, effect, slope, curve)
        curve += np.tril(curve, -1).transpose(0, 2, 1)
        own_slope = slope - own * own_precise
        inverse = np.asarray(np.linalg.inv(curve + np.diag(own_precise)), np.float64)
        pull = inverse @ curve
        reduced = curve.sum(axis=0) + np.diag(precise) - (curve @ pull).sum(axis=0)
        aim = slope.sum(axis=0) - (common - mean) * precise - np.einsum("tof,to->f", pull, own_slope)
        step = np.linalg.solve(reduced, aim)
        own_step = np.einsum("top,tp->to", inverse, own_slope) - np.einsum("tof,f->to", pull, step)
        largest = max(float(np.abs(step).max()), float(np.abs(own_step).max()))
        calm = min(1.0, 3.0 / largest) if largest else 1.0  # a step too far would overshoot where odds are extreme
        common, own = common + calm * step, own + calm * own_step
        if largest < CLOSE:
            break
    return Relevance(
        common=common,
        own=own,
        root=_root(np.asarray(np.linalg.inv(reduced), np.float64)),
        pull=pull,
        own_root=_root(inverse),
    )


def _root(covariance: FloatArray) -> FloatArray:
    """Of one or several; rounding must not make them lopsided."""
    even = (covariance + np.swapaxes(covariance, -1, -2)) / 2
    return np.asarray(np.linalg.cholesky(even), np.float64)
