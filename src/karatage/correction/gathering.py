"""What the best guess needs of drawn gold: corrections of all systems, their noise, and what the judges' grades leave.

The noise is that of the design, not of this draw: where few drawn documents tell some systems apart, the squared
residuals of the draw would show almost no noise, and the judges would seem to be right there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karatage.correction.sampled import Drawn, Sampled, choose_sizes, learn_gains
from karatage.correction.shrinkage import Corrections, spread_pairs
from karatage.data.axes import FloatArray, LongArray
from karatage.kernels.sampling import add_items, share_weights, sum_square_gaps

FEW = 5.0  # residuals of the average size that are added to those of each judge's grade
SAME = 1e-12  # mass of two systems with the same documents
LEAST_UNEXPLAINED = 0.2
MOST_TOPICS = 4.0  # times the judges' variance between topics


class Sample(NamedTuple):
    """Systems' documents, and the gold that was drawn from them."""

    weight: FloatArray  # (item, system)
    said: LongArray  # (item,) the judges' grade, -1 = not judged
    topic: LongArray  # (item,)
    drawn: Drawn
    found: Sampled


class TopicTerms(NamedTuple):
    """Scores of topics (topic, system), and how much more gold's differences vary over topics than calibrated ones."""

    corrected: FloatArray
    judged: FloatArray  # by the judges' grades
    calibrated: FloatArray  # by gold's mean gain of each judges' grade
    ratio: float


def gather_corrections(sample: Sample, gain: FloatArray, *, same_grades: bool) -> Corrections | None:
    """The corrections of all systems; None where no gold was left to chance. `gain` (grade,) is that of judges' grades.

    Unjudged documents count as a grade below the lowest, with gain 0.
    """
    weight, said, drawn, found = sample.weight, sample.said, sample.drawn, sample.found
    random = drawn.pi < 1
    if random.sum() < 2 or not np.ptp(drawn.gain) or not found.residual.any():
        return None
    scatter = _estimate_scatter(found.residual, said[drawn.item[random]], said)
    chance = _predict_chances(choose_sizes(weight), drawn)
    differs = weight.max(axis=1) > weight.min(axis=1)
    noise, seen = np.zeros((2, weight.shape[1], weight.shape[1]))
    share_weights(weight, np.where(differs, scatter * (1 - chance) / chance, 0.0), np.zeros_like(noise), noise)
    sum_square_gaps(found.noise[:, :-1] * found.residual[:, None], seen)
    expected = spread_pairs(noise).sum()
    noise *= seen.sum() / expected if expected > 0 else 0.0
    gold = _Seen(drawn.gain[random], found.residual, scatter, noise)
    return _gather(sample, gain, gold, same_grades=same_grades)


def gather_complete(sample: Sample, gain: FloatArray, *, same_grades: bool) -> Corrections | None:
    """The same where gold has all documents, so that corrections have no noise; None if all gains are alike."""
    weight, said, drawn = sample.weight, sample.said, sample.drawn
    differs = weight.max(axis=1) > weight.min(axis=1)
    counted = differs[drawn.item]
    residual = (drawn.gain - learn_gains(said, sample.topic, drawn)[drawn.item])[counted]
    if not np.ptp(drawn.gain[counted]) or not residual.any():
        return None
    scatter = _estimate_scatter(residual, said[drawn.item[counted]], said)
    gold = _Seen(drawn.gain[counted], residual, scatter, np.zeros((weight.shape[1], weight.shape[1])))
    return _gather(sample, gain, gold, same_grades=same_grades)


class _Seen(NamedTuple):
    """What gold shows."""

    gain: FloatArray  # (draw,)
    residual: FloatArray  # (draw,) from what the judges' grades lead to expect
    scatter: FloatArray  # (item,) mean squared residual
    noise: FloatArray  # (system, system) covariance of corrected scores


def _gather(sample: Sample, gain: FloatArray, gold: _Seen, *, same_grades: bool) -> Corrections:
    weight, said, topics = sample.weight, sample.said, len(sample.found.term)
    least, items = np.zeros((2, weight.shape[1], weight.shape[1]))
    share_weights(weight, gold.scatter, least, items)
    total = float(gold.gain.var(ddof=1)) * (1 + 1 / len(gold.gain))
    steps = [weight[said >= step].sum(axis=0) / topics for step in range(1, int(said.max()) + 1)]
    return Corrections(
        judged=np.einsum("is,i->s", weight, _read_gains(said, gain)) / topics,
        corrected=sample.found.term[:, :-1].mean(axis=0),
        noise=gold.noise,
        mass=_add_differences(weight, least) / topics,
        items=items / topics**2,
        steps=np.array(steps).reshape(len(steps), weight.shape[1]),
        scatter=total**0.5,
        unexplained=float(np.clip((gold.residual**2).mean() / total, LEAST_UNEXPLAINED, 1.0)),
        same_grades=same_grades,
    )


def measure_mass(weight: FloatArray, topics: int) -> FloatArray:
    """The most that an error of 1 in gains can move a difference (system, system), by weights (item, system)."""
    least, none = np.zeros((2, weight.shape[1], weight.shape[1]))
    share_weights(weight, np.zeros(len(weight)), least, none)
    return _add_differences(weight, least) / topics


def find_typical(mass: FloatArray) -> float:
    """The median mass of two systems that differ; 0 where none do."""
    pairs = mass[np.triu_indices(len(mass), 1)]
    return float(np.median(pairs[pairs > SAME])) if (pairs > SAME).any() else 0.0


def count_distinct(mass: FloatArray) -> int:
    """The number of systems that are not the same as an earlier one."""
    return int((np.tril(mass <= SAME, -1).sum(axis=1) == 0).sum())


def _add_differences(weight: FloatArray, least: FloatArray) -> FloatArray:
    """The sum of absolute differences of weights (system, system), from that of the smaller of both weights."""
    whole = weight.sum(axis=0)
    differences: FloatArray = (whole[:, None] + whole[None, :] - 2 * least).clip(0.0)
    return differences


def gather_topics(sample: Sample, found: Corrections, gain: FloatArray) -> TopicTerms:
    """Scores by topic: corrected, by the judges' grades, and by these grades with gold's mean gain of each.

    The ratio of variances of differences is estimated over all pairs: the noise of gold is subtracted from the
    variance of corrected differences, and the documents' own errors are added to that of calibrated ones.
    """
    corrected = sample.found.term[:, :-1]
    topics = len(corrected)
    judged, calibrated = np.zeros((2, topics, sample.weight.shape[1]))
    topic = sample.topic.astype(np.int64)
    add_items(sample.weight, _read_gains(sample.said, gain), topic, judged)
    add_items(sample.weight, _average_gains(sample), topic, calibrated)
    square = topics * (topics - 1)
    by_gold = spread_topics(corrected).sum() / square - spread_pairs(found.noise).sum()
    by_grades = spread_topics(calibrated).sum() / square + spread_pairs(found.items).sum()
    ratio = float(np.clip(by_gold / by_grades, 1.0, MOST_TOPICS)) if by_grades > 0 else 1.0
    return TopicTerms(corrected, judged, calibrated, ratio)


def spread_topics(scores: FloatArray) -> FloatArray:
    """The sum of squared deviations over topics of each difference, (system, system); `scores` is (topic, system)."""
    out = np.zeros((scores.shape[1], scores.shape[1]))
    sum_square_gaps(scores - scores.mean(axis=0), out)
    return out


def _estimate_scatter(residual: FloatArray, grade: LongArray, said: LongArray) -> FloatArray:
    """The mean squared residual of each document (item,), by the judges' grade."""
    grades = int(said.max()) + 2
    count = np.bincount(grade + 1, minlength=grades)
    square = np.bincount(grade + 1, residual**2, minlength=grades)
    scatter: FloatArray = (square + FEW * (residual**2).mean()) / (count + FEW)
    return scatter[said + 1]


def _predict_chances(size: FloatArray, drawn: Drawn) -> FloatArray:
    """The sampling probability of each document (item,): a power of its size, learned from drawn documents."""
    random = (drawn.pi < 1) & (size[drawn.item] > 0)
    if not random.any():
        return np.full(len(size), float(drawn.pi.mean()))
    x, y = np.log(size[drawn.item[random]]), np.log(drawn.pi[random])
    spread = float(((x - x.mean()) ** 2).sum())
    power = float(np.clip(((x - x.mean()) * (y - y.mean())).sum() / spread, 0.0, 1.0)) if spread > 0 else 0.0
    constant = float((y - power * x).mean())
    chance: FloatArray = np.exp(np.minimum(constant + power * np.log(np.where(size > 0, size, 1.0)), 0.0))
    chance[drawn.item] = drawn.pi
    return chance


def _read_gains(said: LongArray, gain: FloatArray) -> FloatArray:
    """The gain of the judges' grade (item,); 0 for unjudged documents."""
    return np.where(said >= 0, gain[said], 0.0)


def _average_gains(sample: Sample) -> FloatArray:
    """Gold's mean gain of documents with the same judges' grade (item,); the overall mean where there is none."""
    drawn, said = sample.drawn, sample.said
    grades, grade = int(said.max()) + 2, said[drawn.item] + 1
    weight = np.bincount(grade, 1 / drawn.pi, minlength=grades)
    total = np.bincount(grade, drawn.gain / drawn.pi, minlength=grades)
    overall = total.sum() / weight.sum()
    mean: FloatArray = np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), overall)
    return mean[said + 1]
