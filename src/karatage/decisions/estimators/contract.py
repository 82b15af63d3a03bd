"""The interface of estimators and of their results, for all systems and pairs at once."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from karatage.correction.planning import gold_needed
from karatage.correction.shrinkage import Spread
from karatage.correction.topics import TopicEstimated
from karatage.data.axes import BoolArray, FloatArray, LongArray
from karatage.data.comparison import Opinion
from karatage.data.estimate import JUDGES, Accuracy, Estimate, Estimated, JudgeAccuracy, Method
from karatage.data.note import Note
from karatage.data.records import Study
from karatage.decisions.notes import tell
from karatage.text import counted

if TYPE_CHECKING:
    from karatage.decisions.case import Case

ALARM = 2.0  # standard errors
EXPECTED_APART = 0.05  # of pairs, about the share that differs by more than two standard errors by chance
ROUNDING = 1e-9
POWER = 0.8  # of tests, for which gold and differences are sized
LEAST_TOPICS = 10  # for a claim about new topics
FEWEST_TOPICS = 5  # with gold, below which their variance is unknown
LEAST_ITEMS = 10
CLAIM_THESE = "claim these topics only (--claim these)"
RATES_INSTEAD = ", or use --correction rates, which assumes the same error rates on all documents"
WEIGHTED_SUMS = "nDCG@k, P@k, DCG@k or RBP"
BY_DOCUMENT = f"AP, ERR, {WEIGHTED_SUMS}"
SAME = 1e-12


@dataclass(frozen=True, kw_only=True)
class Estimator(ABC):
    """A way to correct the judges' errors. Other code uses only what is declared here and in `Fitted`."""

    method: Method  # name, label and texts, which are stored in results
    phrase: str  # after "with judges' errors corrected"
    premise: str = ""  # the assumption, for the checks of `doctor`
    needs_chances: bool = False  # whether it uses the sampling probabilities of gold
    corrects_gold: bool = False  # whether it uses gold's gains, which may be corrected for gold's own errors
    one_process: bool = False  # with one set of error rates: figures are enough, and systems may have separate judges

    @property
    def name(self) -> str:
        """The value of `--correction`."""
        return self.method.name

    @abstractmethod
    def suits(self, case: Case) -> bool:
        """Whether it is the default for gold of this design."""

    def explain_choice(self, case: Case) -> tuple[Note, ...]:  # noqa: ARG002 subclasses use the case
        """Why it is the default, if users may expect another one."""
        return ()

    @abstractmethod
    def fit(self, case: Case) -> Fitted:
        """Correct the judges' errors; a `DataError` says why that is impossible and what is possible instead."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SystemPairs:
    """Differences of all pairs of systems; [a, b] is b - a."""

    value: FloatArray  # (system, system)
    variance: FloatArray  # (system, system)
    degrees: FloatArray  # (system, system) of freedom
    least_p: float = 0.0  # of a difference that is the same in every topic

    @staticmethod
    def of(found: Estimated | TopicEstimated) -> SystemPairs:
        """Estimates of (system, system)."""
        value = np.asarray(found.value)
        degrees = np.array(np.broadcast_to(found.degrees, value.shape))
        return SystemPairs(value=value, variance=np.asarray(found.variance), degrees=degrees)

    @property
    def p_value(self) -> FloatArray:
        """Two-sided, against no difference; 1 where two systems cannot differ, NaN where the variance is unknown."""
        from scipy.special import stdtr

        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(self.value) / np.sqrt(self.variance)
            chance = 2 * stdtr(np.minimum(self.degrees, 1e9), -t)
        known = np.where(self.value == 0, 1.0, self.least_p)
        return np.where(self.variance == 0, known, chance)


@dataclass(frozen=True, eq=False)
class Levels:
    """Scores of all systems, (system,) each."""

    value: FloatArray
    variance: FloatArray
    degrees: FloatArray  # of freedom

    @staticmethod
    def of(found: Estimated | TopicEstimated) -> Levels:
        """Estimates of (system,)."""
        return Levels(*(np.asarray(part) for part in (found.value, found.variance, found.degrees)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """Differences, and scores if there are any, with judge errors corrected.

    The methods are valid for estimates that are means over topics; subclasses replace them for others.
    """

    method: Method
    pairs: SystemPairs
    levels: Levels | None  # None where the estimator gives only differences
    gold_variance: FloatArray  # (system, system) the part of the pairs' variance that more gold would reduce
    gold_items: int
    erring_variance: FloatArray | float = 0.0  # (system, system) the part that is due to gold's own errors
    within: tuple[float, float] = (-np.inf, np.inf)  # bounds of intervals of scores
    possible: tuple[float, float] = (-np.inf, np.inf)  # the range of the measure: scores outside are not shown
    accuracy: Accuracy | None = None
    by_judge: tuple[JudgeAccuracy, ...] = ()  # where each judge has error rates
    per_topic: FloatArray | None = None  # (topic, system) with the scores as means, where gold is a sample of items
    assumed: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    keeps_order: ClassVar[bool] = False  # whether tau is near 1 for any judges

    @property
    def standing(self) -> FloatArray:
        """The order of systems (system,): by scores, or without scores by the mean difference from all systems."""
        return self.pairs.value.mean(axis=0) if self.levels is None else self.levels.value

    @property
    def shown(self) -> BoolArray:
        """Systems (system,) with a known and possible score."""
        low, high = self.possible
        return (self.standing >= low - ROUNDING) & (self.standing <= high + ROUNDING) & (self.levels is not None)

    def estimate(self, system: int, confidence: float) -> Estimate | None:
        """One system's score; None where it is unknown or impossible."""
        if self.levels is None or not self.shown[system]:
            return None
        return Estimate.of(
            float(self.levels.value[system]),
            float(self.levels.variance[system]),
            degrees=float(self.levels.degrees[system]),
            confidence=confidence,
            within=self.within,
        )

    def compare(self, a: int, b: int, confidence: float) -> Opinion:
        """The difference of two systems."""
        width = self.within[1] - self.within[0]
        found = Estimate.of(
            float(self.pairs.value[a, b]),
            float(self.pairs.variance[a, b]),
            degrees=float(self.pairs.degrees[a, b]),
            confidence=confidence,
            within=(-width, width),
        )
        one, other = self.estimate(a, confidence), self.estimate(b, confidence)
        return Opinion(method=self.method, a=one, b=other, difference=found)

    def second_opinion(
        self,
        case: Case,  # noqa: ARG002 subclasses use the case
        fit: Callable[[Estimator, Case], Fitted],  # noqa: ARG002 and fit another estimator
    ) -> SecondOpinion | Objection | None:
        """Another estimator's answer from the same gold, by other assumptions; `fit` applies the same guards."""
        return None

    def guess(self, case: Case) -> Guessed | None:  # noqa: ARG002 subclasses do
        """The best guess of all systems, where gold allows one."""
        return None

    def list_more(self, case: Case, a: int, b: int) -> tuple[Opinion, ...]:  # noqa: ARG002 subclasses do
        """Other estimates for one pair, such as a bootstrap."""
        return ()

    def take_board(self, case: Case, naive: FloatArray) -> Boards:
        """The board of these data; `naive` (system,) are the judges' scores."""
        boards = (naive[None], self.standing[None])
        return Boards(*boards, *boards, np.array([self._noise]), len(case.topics))

    def resample(self, case: Case, draws: int, rng: np.random.Generator) -> Boards | None:
        """Boards with topics resampled; None where that is not informative."""
        if self.per_topic is None or len(self.per_topic) < 2:
            return None
        times = draw_topics(len(case.topics), draws, rng)
        boards = average_topics(times, case.scores), average_topics(times, self.per_topic)
        noise = self._noise * (times**2).sum(axis=1) / len(case.topics)
        return Boards(*boards, *boards, noise, len(case.topics))

    @property
    def _noise(self) -> float:
        """The variance due to gold over all pairs, for scores that are means over topics."""
        seen = np.isfinite(self.gold_variance)
        return 0.0 if self.per_topic is None else float(self.gold_variance[seen].sum()) / 2

    def count_more_gold(self, case: Case, naive: Estimate, power: float) -> float:
        """Gold needed to show the judges' difference of the first pair: infinite if none is enough, NaN if unknown."""
        gold, target = float(self.gold_variance[0, 1]), abs(naive.value)
        if gold <= 0:
            return math.inf
        rest = self._find_rest(case, naive)
        return float(gold_needed(rest, gold, self.gold_items, target, level=case.question.level, power=power))

    def _find_rest(self, case: Case, naive: Estimate) -> float:  # noqa: ARG002 subclasses use both
        """The variance of the first pair that more gold does not reduce."""
        return max(float(self.pairs.variance[0, 1]) - float(self.gold_variance[0, 1]), 0.0)

    def name_more_gold(self, case: Case, more: int) -> str | None:  # noqa: ARG002 subclasses use the case
        """The amount of gold in words; None where there cannot be that much."""
        return f"About {counted(more, 'more gold label')}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Guessed:
    """The best guess of all systems; its intervals hold on average over pairs."""

    by_gold: Fitted  # with intervals by gold alone
    usual: Fitted  # the same guess, with intervals for judges who are biased as usual
    mass: FloatArray  # (system, system) the most that an error of 1 in gains can move a difference
    unit: float  # standard deviation of gold's gains
    unexplained: float  # share of the gains' variance that the judges' grades leave
    spread: Spread  # of the judges' bias, as usual judges have it
    spread_by_gold: Spread
    study: Study  # for the judge's record
    notes: tuple[Note, ...] = ()  # on the judge's record


class Doubt(NamedTuple):
    """What may not be claimed, and why."""

    apart: BoolArray  # (system, system) pairs without a claim
    alarm: str | None = None  # why there is no claim at all
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Objection:
    """A reason against an answer, without a second answer."""

    reason: str
    apart: BoolArray  # (system, system) pairs without a claim
    second: None = None

    def doubt_pair(self, a: int, b: int) -> Doubt:
        """What may not be claimed about two systems."""
        return Doubt(self.apart, alarm=self.reason if self.apart[a, b] else None)

    def doubt_board(self) -> Doubt:
        """What may not be claimed about all pairs."""
        upper = self.apart[np.triu_indices(len(self.apart), 1)]
        if upper.all():
            return Doubt(self.apart, alarm=self.reason)
        told = tell("nothing-claimed", apart=int(upper.sum()), pairs=len(upper), reason=self.reason)
        return Doubt(self.apart, notes=(told,))


@dataclass(frozen=True, eq=False, kw_only=True)
class SecondOpinion:
    """Two answers from the same gold, and what it means if they differ by more than chance explains."""

    first: Fitted  # the answer that is given
    second: Fitted
    error: FloatArray  # (system, system) standard error of the gap between the two
    vetoes: bool  # whether pairs with a wide gap are not claimed, or there is only a note
    names: tuple[str, str]  # of both
    on_pair: str  # what it means, and what to do
    on_board: str

    @property
    def wide(self) -> BoolArray:
        """Pairs (system, system) with a wider gap than chance explains."""
        apart: BoolArray = np.abs(self.first.pairs.value - self.second.pairs.value) > ALARM * self.error
        return apart

    def doubt_pair(self, a: int, b: int) -> Doubt:
        """What may not be claimed about two systems."""
        if not self.wide[a, b]:
            return Doubt(np.zeros_like(self.wide))
        one, other = self.first.pairs.value[a, b], self.second.pairs.value[a, b]
        values = {"one": float(one), "other": float(other), "errors": float(abs(one - other) / self.error[a, b])}
        told = tell("apart", first=self.names[0], second=self.names[1], **values, reason=self.on_pair)
        return Doubt(self.wide, alarm=str(told)) if self.vetoes else Doubt(np.zeros_like(self.wide), notes=(told,))

    def doubt_board(self) -> Doubt:
        """What may not be claimed about all pairs; no pair is claimed where most have a wide gap."""
        apart = self.wide & self.vetoes
        upper = self.wide[np.triu_indices(len(apart), 1)]
        if upper.mean() <= EXPECTED_APART:
            return Doubt(apart)
        names = {"first": self.names[0], "second": self.names[1]}
        counts = {"errors": ALARM, "apart": int(upper.sum()), "pairs": len(upper)}
        if self.vetoes and upper.mean() <= 0.5:
            return Doubt(apart, notes=(tell("apart-pairs-unclaimed", **names, **counts),))
        told = tell("apart-pairs", **names, **counts, reason=self.on_board)
        return Doubt(apart, alarm=str(told)) if self.vetoes else Doubt(apart, notes=(told,))


class Boards(NamedTuple):
    """Leaderboards (board, system) by judges and corrected, and the scores that give the slope."""

    naive: FloatArray
    corrected: FloatArray
    judge: FloatArray  # on the topics with gold
    gold: FloatArray  # the same by gold, or corrected
    noise: (
        FloatArray  # (board,) what the variance of gold adds to the sum of squared differences of all pairs in `gold`
    )
    topics: int  # that are resampled


def draw_topics(topics: int, draws: int, rng: np.random.Generator) -> LongArray:
    """How often each topic is drawn (draw, topic)."""
    times: LongArray = rng.multinomial(topics, np.full(topics, 1 / topics), size=draws)
    return times


def average_topics(times: LongArray, scores: FloatArray) -> FloatArray:
    """Means of scores (topic, system) over topics drawn `times` (draw, topic)."""
    mean: FloatArray = np.einsum("dt,ts->ds", times.astype(float), scores) / len(scores)  # BLAS sums depend on threads
    return mean


def find_least_topics(case: Case) -> int:
    """The fewest topics for a claim about new ones: fewer if gold covers every topic completely."""
    return FEWEST_TOPICS if case.gold is not None and case.gold_topics.all() else LEAST_TOPICS


def tell_few_topics(topics: int) -> str:
    """The start of messages about too few topics."""
    return f"{counted(topics, 'topic')} {'is' if topics == 1 else 'are'} too few for a claim about new ones"


def trust_judges(case: Case) -> Fitted:
    """The judges' own means and differences, uncorrected."""
    scores = case.scores
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
    pairs = SystemPairs(
        value=value[None, :] - value[:, None], variance=each, degrees=degrees, least_p=flip_signs(int(size.min()))
    )
    levels = Levels(value, variance, np.maximum(size - 1.0, 1.0))
    return Fitted(method=JUDGES, pairs=pairs, levels=levels, gold_variance=np.zeros(shape), gold_items=0)


def flip_signs(topics: int) -> float:
    """The p-value of a difference that is the same in every topic: the chance of equal signs."""
    return 2.0 ** (1 - topics)


def spread(value: FloatArray) -> FloatArray:
    """The variance of a mean over topics, the first axis; NaN for a single one."""
    topics = len(value)
    if topics < 2:
        return np.full(value.shape[1:], np.nan)
    found: FloatArray = value.var(axis=0, ddof=1) / topics
    return np.where(found > (SAME * np.abs(value).max(axis=0)) ** 2, found, 0.0)  # the same in every topic
