"""How far the judges' leaderboard is from the corrected one, with topics drawn anew for intervals.

Chance between topics and in gold pulls two orders apart, and resampled boards have that chance twice: their tau is too
low to be taken as it is. So the interval of tau has their spread, but around the tau that was found. It is about topics
and gold as many as there are; without number they would give a higher tau, by at least what resampling loses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karatage.comparison.rankings import kendall_tau, tau_ap
from karatage.correction import graded
from karatage.correction.topics import estimate_topics
from karatage.data.axes import BoolArray, FloatArray, LongArray
from karatage.data.scores import settle_ties
from karatage.data.standing import Bounded
from karatage.deciding.answers import gather_answers
from karatage.deciding.case import Case
from karatage.deciding.corrected import Corrected
from karatage.seeding import stream
from karatage.watching import follow

RESAMPLES = 1000
BLOCK = 2_000_000  # numbers held at once
MUCH = 0.02  # of tau, lost to chance, that is worth telling
STEEP = math.pi / 2 - 1e-9  # of a slope without bound


class Boards(NamedTuple):
    """Leaderboards (board, system) by judges and corrected, and the scores that tell the slope."""

    naive: FloatArray
    corrected: FloatArray
    judge: FloatArray  # on the topics that gold knows
    gold: FloatArray  # the same by gold, or corrected
    noise: FloatArray  # (board,) what gold's chance adds to the sum of squares of all pairs' differences in `gold`


@dataclass(frozen=True, kw_only=True)
class Nearness:
    """How the judges' board relates to the corrected one."""

    tau: Bounded
    tau_ap: Bounded
    slope: Bounded | None
    notes: tuple[str, ...]


def compare_boards(case: Case, naive: FloatArray, found: Corrected) -> Nearness:
    """Tau, tau_ap and slope of the judges' scores (system,) against the corrected ones."""
    known = case.gold_topics if found.way == "topics" else np.ones(len(case.topics), bool)
    seen = np.isfinite(found.gold_variance)
    noise = float(found.gold_variance[seen].sum()) / 2 if found.per_topic is not None else 0.0
    value = _relate(_take(case, naive, found, known, noise), seen)[0]
    low, high, lost = np.full((3, 3), np.nan)
    topics = int(known.sum())
    if not case.disjoint and topics > 1:
        drawn = _relate(_resample(case, found, known, noise), seen)
        ends = [graded.percentile_interval(x, topics=topics, confidence=case.question.confidence) for x in drawn.T]
        lost = value - drawn.mean(axis=0)
        low, high = (np.array([end[k] for end in ends]) + lost for k in (0, 1))
        # Chance in gold is accounted for in the slope, which is hardly off but lopsided: as drawn, or turned round.
        low[2], high[2] = min(ends[2][0], 2 * value[2] - ends[2][1]), max(ends[2][1], 2 * value[2] - ends[2][0])
    least, most = np.clip(low, -1.0, 1.0), np.clip(high, -1.0, 1.0)
    tau, order = (Bounded(float(value[k]), float(least[k]), float(most[k])) for k in (0, 1))
    slope = Bounded(*(_steepness(float(angle)) for angle in (value[2], low[2], high[2])))
    steep = not math.isfinite(slope.value)
    notes = tuple(_tell(case, found, lost=float(lost[0]), steep=steep))
    return Nearness(tau=tau, tau_ap=order, slope=None if steep else slope, notes=notes)


def _take(case: Case, naive: FloatArray, found: Corrected, known: BoolArray, noise: float) -> Boards:
    """The one board that there is."""
    judge, gold = naive, found.value
    if found.way == "topics":
        judge, gold = case.scores[known].mean(axis=0), case.gold_scores[known].mean(axis=0)
    elif found.way == "rates":  # before scores were brought within bounds, which would flatter the judges
        answers = gather_answers(case)
        gains = graded.judge_gains(answers.accuracy.share, answers.gain)
        each = [graded.correct_topics(answers.mass[s, case.topics_of(s)], gains) for s in range(len(gold))]
        gold = np.array([scores.mean() for scores in each])
    return Boards(naive[None], found.value[None], judge[None], gold[None], np.array([noise]))


def _relate(boards: Boards, seen: BoolArray) -> FloatArray:
    """(board, 3): tau, tau_ap, and the angle of the slope over the pairs of systems that gold has `seen`.

    An angle, since gold may turn out to have no spread beyond its chance: then it is upright or beyond, and the slope
    without bound. Chance is in gold's differences only, so the sum of their squares has its variance too much, and the
    sum of products is right.
    """
    naive, corrected = settle_ties(boards.naive), settle_ties(boards.corrected)
    out = np.empty((len(naive), 3))
    boards_by_two = enumerate(zip(naive, corrected, strict=True))
    for i, (said, right) in follow(boards_by_two, len(naive), "resampled leaderboards"):
        out[i, 0] = kendall_tau(said, right)
        out[i, 1] = tau_ap(right, said)
    laplacian = np.diag(seen.sum(axis=1)) - seen.astype(float)
    spread = np.einsum("ds,st->dt", boards.gold, laplacian)  # no BLAS: its sums depend on threads
    product = (spread * boards.judge).sum(axis=1)
    square = (spread * boards.gold).sum(axis=1) - boards.noise
    out[:, 2] = np.arctan2(product, square)
    return out


def _steepness(angle: float) -> float:
    if math.isnan(angle) or abs(angle) < STEEP:
        return math.tan(angle)
    return math.copysign(math.inf, angle)


def _resample(case: Case, found: Corrected, known: BoolArray, noise: float) -> Boards:
    draws = case.question.resamples or RESAMPLES
    rng = stream(case.seed, "boards")
    if found.way == "topics":
        return _resample_gold_topics(case, known, draws, rng)
    times = rng.multinomial(len(case.topics), np.full(len(case.topics), 1 / len(case.topics)), size=draws)
    naive = _mean_of(times, case.scores)
    if found.way == "rates":
        return _undo_rates(case, found.within, times, naive, rng)
    assert found.per_topic is not None
    corrected = _mean_of(times, found.per_topic)
    return Boards(naive, corrected, naive, corrected, noise * (times**2).sum(axis=1) / len(case.topics))


def _undo_rates(
    case: Case, within: tuple[float, float], times: LongArray, naive: FloatArray, rng: np.random.Generator
) -> Boards:
    """With gold items drawn anew as well; resamples whose rates cannot be undone are left out."""
    answers = gather_answers(case)
    items = answers.accuracy.share * answers.accuracy.size[:, None] / case.design.variance_factor
    drawn = rng.multinomial(round(items.sum()), items.ravel() / items.sum(), size=len(times)).astype(float)
    counts = drawn.reshape(len(times), *items.shape)
    rows = counts / np.maximum(counts.sum(axis=2, keepdims=True), 1)
    sizes = np.linalg.svd(rows, compute_uv=False)
    kept = (counts.sum(axis=2) > 0).all(axis=1) & (sizes[:, -1] > graded.SINGULAR * sizes[:, 0])
    gains = graded.judge_gains(rows[kept], answers.gain)
    corrected = np.zeros((int(kept.sum()), len(case.systems)))
    for kind in range(len(answers.gain)):
        corrected += _mean_of(times[kept], answers.mass[:, :, kind].T) * gains[:, [kind]]
    return Boards(naive[kept], np.clip(corrected, *within), naive[kept], corrected, np.zeros(len(corrected)))


def _resample_gold_topics(case: Case, known: BoolArray, draws: int, rng: np.random.Generator) -> Boards:
    """Topics with gold and others drawn apart, since as many would get gold again."""
    gold, judge, rest = case.gold_scores[known].T, case.scores[known].T, case.scores[~known].T
    inside = rng.integers(0, gold.shape[1], (draws, gold.shape[1]))
    outside = rng.integers(0, max(rest.shape[1], 1), (draws, rest.shape[1]))
    naive, corrected, known_judge, known_gold = np.empty((4, draws, len(case.systems)))
    block = max(1, BLOCK // case.scores.size)
    for part in (slice(start, start + block) for start in range(0, draws, block)):
        y, f, r = gold[:, inside[part]], judge[:, inside[part]], rest[:, outside[part]]
        corrected[part] = np.asarray(estimate_topics(y, f, r, claim=case.question.topics).value).T
        naive[part] = (f.sum(axis=2) + r.sum(axis=2)).T / len(case.topics)
        known_judge[part], known_gold[part] = f.mean(axis=2).T, y.mean(axis=2).T
    return Boards(naive, corrected, known_judge, known_gold, np.zeros(draws))


def _mean_of(times: LongArray, scores: FloatArray) -> FloatArray:
    """Means over topics that count so many `times` (draw, topic), of scores (topic, system)."""
    mean: FloatArray = np.einsum("dt,ts->ds", times.astype(float), scores) / len(scores)  # no BLAS, as above
    return mean


def _tell(case: Case, found: Corrected, *, lost: float, steep: bool) -> Iterator[str]:
    if found.way == "rates":
        yield (
            "error rates are taken to be the same for all systems, so undoing them stretches scores and hardly changes "
            "their order: tau and tau_ap are near 1, and the slope below it, by assumption"
        )
    elif lost > MUCH:
        yield (
            f"chance between topics and in gold pulls orders apart: without it tau would be higher, by {lost:.2f} at "
            "least"
        )
    if steep:
        yield "gold shows no differences between systems beyond its own chance, so there is no attenuation slope"
    if case.question.topics == "these":
        yield "intervals of tau, tau_ap and slope are about topics like these, not these only"
    if case.disjoint:
        yield "the systems answered different topics, so tau, tau_ap and slope have no intervals"
