"""How far the judges' leaderboard is from the corrected one, with topics drawn anew for intervals.

Chance between topics and in gold pulls two orders apart, and resampled boards have that chance twice: their tau is too
low to be taken as it is. So the interval of tau has their spread, but around the tau that was found. It is about topics
and gold as many as there are; without number they would give a higher tau, by at least what resampling loses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from karatage.comparison.rankings import kendall_tau, tau_ap
from karatage.correction import graded
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.scores import settle_ties
from karatage.data.standing import Bounded
from karatage.decisions.case import Case
from karatage.decisions.estimators.boards import Boards
from karatage.decisions.estimators.contract import Fitted
from karatage.progress import follow
from karatage.random_streams import stream

RESAMPLES = 1000
MUCH = 0.02  # of tau, lost to chance, that is worth telling
STEEP = math.pi / 2 - 1e-9  # of a slope without bound


@dataclass(frozen=True, kw_only=True)
class Nearness:
    """How the judges' board relates to the corrected one."""

    tau: Bounded
    tau_ap: Bounded
    slope: Bounded | None
    notes: tuple[str, ...]


def compare_boards(case: Case, naive: FloatArray, found: Fitted) -> Nearness:
    """Tau, tau_ap and slope of the judges' scores (system,) against the corrected ones."""
    seen = np.isfinite(found.gold_variance)
    value = _relate(found.take_board(case, naive), seen)[0]
    low, high, lost = np.full((3, 3), np.nan)
    draws = case.question.resamples or RESAMPLES
    boards = None if case.disjoint else found.resample(case, draws, stream(case.seed, "boards"))
    if boards is not None:
        drawn, confidence = _relate(boards, seen), case.question.confidence
        ends = [graded.percentile_interval(x, topics=boards.topics, confidence=confidence) for x in drawn.T]
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


def _tell(case: Case, found: Fitted, *, lost: float, steep: bool) -> Iterator[str]:
    if found.order_note:
        yield found.order_note
    elif lost > MUCH:
        yield (
            f"chance between topics and in gold pulls orders apart: without it tau would be higher, by {lost:.2f} at "
            "least"
        )
    if steep:
        yield "gold shows no differences between systems beyond its own chance, so there is no attenuation slope"
    if case.question.claim == "these":
        yield "intervals of tau, tau_ap and slope are about topics like these, not these only"
    if case.disjoint:
        yield "the systems answered different topics, so tau, tau_ap and slope have no intervals"
