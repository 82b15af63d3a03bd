"""What a draw of gold should buy, before it is judged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karatage.correction.sampled import Drawn, learn_gains
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.estimate import t_quantile
from karatage.data.plan import Forecast
from karatage.decisions.case import Case
from karatage.decisions.naive import compare_all
from karatage.kernels.sampling import count_gaps, sum_square_gaps


class Batch(NamedTuple):
    """Chances of items (item,) in one batch; 0 for those that earlier batches had drawn."""

    pi: FloatArray
    drawn: BoolArray


def measure_residuals(case: Case) -> float:
    """The variance of gold's gains around what the judges led to expect, from the gold there is."""
    inside = case.topic >= 0
    place = np.cumsum(inside) - 1
    drawn = Drawn(place[case.drawn.item], case.drawn.gain, case.drawn.pi, case.drawn.batch)
    learned = learn_gains(case.said[inside].astype(np.int64), case.topic[inside], drawn)[drawn.item]
    return float(np.average((drawn.gain - learned) ** 2, weights=1 / drawn.pi))


def guess_residuals(case: Case, items: BoolArray) -> float:
    """The same without gold, for judges that tell nothing: as much as their own gains vary.

    Where even those do not vary, as much as gains can.
    """
    assert case.linear is not None
    gain = case.linear.gain
    said = case.said[items & (case.said >= 0)]
    guess = float(gain[said].var()) if len(said) else 0.0
    return guess or float(np.ptp(gain)) ** 2 / 4


def find_variance(weight: FloatArray, batches: list[Batch], residual: float, known: FloatArray | None) -> FloatArray:
    """Of all pairs' differences (system, system), summed over topics, after these batches.

    Each batch gives an unbiased estimate, and all are averaged by their precision; `known` is the variance that earlier
    gold has left, infinite where it tells nothing.
    """
    shape = (weight.shape[1], weight.shape[1])
    with np.errstate(divide="ignore"):
        precision = np.zeros(shape) if known is None else 1 / known
        for batch in batches:
            left = batch.pi > 0
            noise = np.sqrt(residual * (1 - batch.pi[left]) / batch.pi[left])[:, None] * weight[left]
            variance = np.zeros(shape)
            sum_square_gaps(noise, variance)
            precision = precision + 1 / variance
        return np.asarray(1 / precision)


def count_told(weight: FloatArray, chance: BoolArray) -> FloatArray:
    """Draws left to chance that tell two systems apart (system, system)."""
    told = np.zeros((weight.shape[1] + 1, weight.shape[1] + 1), np.int64)
    count_gaps(weight, chance, told)
    return told[:-1, :-1].astype(float)


def forecast(case: Case, variance: FloatArray, told: FloatArray, pairs: BoolArray) -> tuple[Forecast, Forecast]:
    """Over these topics and over topics like them; the median over `pairs` (system, system).

    Topics differ, for all we know, as much as the judges' scores do.
    """
    point = (1 + case.question.confidence) / 2
    gold, told = variance[pairs], told[pairs]
    topics = compare_all(case.scores, case)[2].variance[pairs]
    width = np.array([t_quantile(point, max(n - 1, 1.0)) for n in told])
    these = Forecast(float(np.median(np.sqrt(gold))), float(np.median(width * np.sqrt(gold))))
    error = float(np.median(np.sqrt(gold + topics)))
    return these, Forecast(error, t_quantile(point, max(len(case.topics) - 1.0, 1.0)) * error)
