"""Prediction-powered differences of all pairs of systems: gold on some topics, a judge on all [PPIPP23].

How far to rely on the judge is estimated, in ways that differ; with a given reliance both must say the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import Figures, Trial
from benchmarks.setting import SEED, Setting
from karatage.correction.topics import TopicEstimated, estimate_topics

if TYPE_CHECKING:
    from collections.abc import Callable

Scores = NDArray[np.float64]
TOPICS, GOLD_TOPICS = 50, 15
GIVEN = 0.5  # reliance on the judge
LEVEL = 0.05


def karatage_ppi(setting: Setting) -> Trial:
    gold, judge, rest = make_scores(setting.size.systems)
    systems = range(len(gold))

    def run(lam: float | None = None) -> list[TopicEstimated]:
        return [estimate_topics(gold - gold[a], judge - judge[a], rest - rest[a], lam=lam) for a in systems]

    return Trial(run, _name_sum(lambda: [np.asarray(row.value) for row in run(GIVEN)]), len(gold))


def ppi_py_ppi(setting: Setting) -> Trial:
    """As many systems at once as it takes; each its own reliance on the judge."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    gold, judge, rest = make_scores(setting.size.systems)

    def differ(a: int) -> tuple[Scores, Scores, Scores]:
        return (gold - gold[a]).T, (judge - judge[a]).T, (rest - rest[a]).T

    def run() -> list[tuple[Scores, Scores]]:
        with np.errstate(invalid="ignore"):  # a system and itself
            return [ppi_mean_ci(*differ(a), alpha=LEVEL, lam_optim_mode="element") for a in range(len(gold))]

    given = _name_sum(lambda: [ppi_mean_pointestimate(*differ(a), lam=GIVEN) for a in range(len(gold))])
    return Trial(run, given, len(gold))


def make_scores(systems: int) -> tuple[Scores, Scores, Scores]:
    """Gold's and the judge's scores on gold's topics, and the judge's on the others, (system, topic)."""
    source = np.random.default_rng(SEED)
    gold = source.normal(0.5, 0.15, TOPICS) + source.normal(0, 0.1, (systems, TOPICS))
    judge = gold + source.normal(0.05, 0.05, gold.shape)
    return gold[:, :GOLD_TOPICS], judge[:, :GOLD_TOPICS], judge[:, GOLD_TOPICS:]


def _name_sum(estimate: Callable[[], list[Scores]]) -> Callable[[object], Figures]:
    """Weighed by row and column, since differences of all pairs add up to nothing."""

    def figures(_: object) -> Figures:
        value = np.array(estimate())
        place = np.arange(len(value))
        return {"differences": float((value * np.outer(place, place**2)).sum() / place.sum() ** 3)}

    return figures
