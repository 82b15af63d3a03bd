"""Is one system better than another on other topics? Welch's test."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from karatage.comparison.paired import FEW_TOPICS, read_scores
from karatage.comparison.verdicts import say_test
from karatage.data.estimate import check_confidence, t_outside, t_quantile
from karatage.data.figures import Figures
from karatage.data.result import Shown
from karatage.errors import DataError
from karatage.text import counted


@dataclass(frozen=True, kw_only=True)
class UnpairedTest(Shown):
    """How sure it is that the second system is better, or worse, than the first, on other topics."""

    difference: float  # of the means, second less first
    statistic: float  # t
    degrees: float  # of freedom
    p_value: float  # two-sided
    low: float
    high: float
    confidence: float
    topics: tuple[int, int]
    notes: tuple[str, ...]

    @property
    def significant(self) -> bool:
        """Whether equal systems are ruled out at the level of the interval."""
        return self.p_value <= 1 - self.confidence + 1e-12

    @property
    def sentence(self) -> str:
        """What to take away."""
        where = f"on {self.topics[0]:,} and {self.topics[1]:,} separate topics"
        return say_test(self.difference, self.p_value, (self.low, self.high), confidence=self.confidence, where=where)

    def to_dict(self) -> dict[str, object]:
        """Ready for JSON, which has no infinity."""
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in asdict(self).items()}


def welch_test(x: ArrayLike | Figures, y: ArrayLike | Figures, *, confidence: float = 0.95) -> UnpairedTest:
    """Test two means over different topics, [NOISY18] (9), with Welch's degrees of freedom; two-sided.

    Takes scores by topic, NaN where there is none, or figures.

    >>> found = welch_test(Figures(10278, 0.6260, 0.414), Figures(20604, 0.6385, 0.402))
    >>> round(found.statistic, 3), round(found.p_value, 4)
    (2.524, 0.0116)
    """
    check_confidence(confidence)
    notes: list[str] = []
    a, b = _figure(x, notes), _figure(y, notes)
    difference = b.mean - a.mean
    parts = a.variance_of_mean, b.variance_of_mean
    error = math.sqrt(sum(parts))
    topics = (a.topics, b.topics)
    if min(topics) < FEW_TOPICS:
        notes.append(f"only {min(topics)} topics: no test can say much")
    if error <= 1e-12 * max(abs(a.mean), abs(b.mean)):
        notes.append("scores do not vary from topic to topic, so t has nothing to go by")
        same = abs(difference) <= 1e-12 * max(abs(a.mean), abs(b.mean))
        statistic, degrees, p_value = (0.0, math.inf, 1.0) if same else (math.inf, math.inf, 0.0)
        statistic, half = math.copysign(statistic, difference), 0.0
    else:
        degrees = sum(parts) ** 2 / sum(v**2 / (n - 1) for v, n in zip(parts, topics, strict=True))
        statistic, half = difference / error, t_quantile((1 + confidence) / 2, degrees) * error
        p_value = t_outside(statistic, degrees)
    return UnpairedTest(
        difference=difference,
        statistic=statistic,
        degrees=degrees,
        p_value=p_value,
        low=difference - half,
        high=difference + half,
        confidence=confidence,
        topics=topics,
        notes=tuple(notes),
    )


def _figure(scores: ArrayLike | Figures, notes: list[str]) -> Figures:
    if isinstance(scores, Figures):
        return scores
    value = read_scores(scores)
    kept = value[~np.isnan(value)]
    if len(kept) < 2:
        raise DataError(f"{counted(len(kept), 'topic')} with a score: a test needs at least 2 for each system")
    if len(kept) < len(value):
        notes.append(f"{counted(len(value) - len(kept), 'topic')} left out: without a score")
    return Figures(len(kept), float(kept.mean()), float(kept.std(ddof=1)))
