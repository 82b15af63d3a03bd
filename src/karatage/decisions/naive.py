"""What the judges' grades say, taken at their word."""

from __future__ import annotations

import numpy as np

from karatage.comparison.paired import paired_test
from karatage.data.axes import FloatArray
from karatage.data.comparison import Opinion
from karatage.data.estimate import Estimate
from karatage.data.method import JUDGES
from karatage.decisions.case import Case
from karatage.decisions.estimators.contract import Pairs
from karatage.errors import OptionError
from karatage.random_streams import stream

ROUNDING = 1e-12


def compare_all(scores: FloatArray, case: Case) -> tuple[FloatArray, FloatArray, Pairs]:
    """Means (system,), their variances, and all pairs' differences, from `scores` (topic, system)."""
    systems = range(scores.shape[1])
    own = [scores[case.topics_of(s), s] for s in systems]
    size = np.array([len(x) for x in own])
    value = np.array([x.mean() for x in own])
    variance = np.array([spread(x) for x in own])
    shape = (len(size), len(size))
    if case.paired:
        each = np.stack([spread(scores - scores[:, [a]]) for a in systems])
        degrees = np.full(shape, max(len(scores) - 1.0, 1.0))
    else:
        each = variance[:, None] + variance[None, :]
        parts = variance**2 / np.maximum(size - 1, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            degrees = np.where(each > 0, each**2 / (parts[:, None] + parts[None, :]), np.inf)
        np.fill_diagonal(each, 0.0)
    pairs = Pairs(
        value=value[None, :] - value[:, None], variance=each, degrees=degrees, least_p=flip_signs(int(size.min()))
    )
    return value, variance, pairs


def flip_signs(topics: int) -> float:
    """The p-value of a difference that is the same in every topic: all signs alike, by chance."""
    return 2.0 ** (1 - topics)


def spread(value: FloatArray) -> FloatArray:
    """The variance of a mean over topics, the first axis; NaN for a single one."""
    topics = len(value)
    if topics < 2:
        return np.full(value.shape[1:], np.nan)
    found: FloatArray = value.var(axis=0, ddof=1) / topics
    return np.where(found > (ROUNDING * np.abs(value).max(axis=0)) ** 2, found, 0.0)  # the same in every topic


def trust_judges(case: Case) -> Opinion:
    """The judges' own difference of two systems, with the test that was asked for."""
    question = case.question
    value, variance, pairs = compare_all(case.scores, case)
    p_value = None
    if pairs.variance[0, 1] == 0:
        p_value = float(pairs.p_value[0, 1])
    if question.test != "t":
        if not case.paired:
            raise OptionError(f"the {question.test} test is for paired topics; unpaired ones take the t test")
        rng = stream(case.seed, "test")
        p_value = paired_test(*case.scores.T, test=question.test, confidence=question.confidence, rng=rng).p_value
    singles = [
        Estimate.of(
            float(value[s]),
            float(variance[s]),
            degrees=max(len(case.topics_of(s)) - 1.0, 1.0),
            confidence=question.confidence,
        )
        for s in (0, 1)
    ]
    found = Estimate.of(
        float(pairs.value[0, 1]),
        float(pairs.variance[0, 1]),
        degrees=float(pairs.degrees[0, 1]),
        confidence=question.confidence,
    )
    return Opinion(method=JUDGES, a=singles[0], b=singles[1], difference=found, test_p_value=p_value)
