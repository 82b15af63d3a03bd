"""What is asked: by which measure, about which topics, under which assumptions; and the rules of a queue.

The command line makes options and help of these classes, so slow imports are inside functions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack, get_args

from karatage.data.options import CONFIDENCE, NEW_TOPICS, JudgingPrices, check_confidence, parse_prices
from karatage.decisions.estimators.registry import list_names
from karatage.errors import OptionError

if TYPE_CHECKING:
    from karatage.data.disagreement import DisagreementModel
    from karatage.data.runs import Runs
    from karatage.measures.spec import Measure
    from karatage.orders.orders import Order

Claim = Literal["new", "these"]
Judges = Literal["shared", "independent"]
Test = Literal["t", "wilcoxon", "permutation", "bootstrap"]
CHOICES = {"claim": Claim, "judges": Judges, "test": Test}
LEAST_RESAMPLES = 100


class OtherOptions(TypedDict, total=False):
    """The fields of a question that functions take by name, without measure and approach."""

    claim: Claim
    judges: Judges
    correction: str
    paired: bool
    test: Test
    undo_bias: bool
    resamples: int
    confidence: float
    seed: int


class QuestionOptions(OtherOptions, total=False):
    """The same with the approach."""

    approach: str | None


@dataclass(frozen=True, kw_only=True)
class Question:
    """A measure, the claim that is made with it, and its assumptions.

    A decision to ship needs a claim about `new` topics. With independent judges, each system has a separate gold
    sample, [NOISY18] (10). `auto` chooses the correction by the design of the gold. `sampled` is for gold with sampling
    probabilities, `even` for a simple random sample, `topics` for gold on whole topics, and `census` for gold on all
    documents that matter. Four are used on request only: `gold-topics` leaves out the judges, `rates` corrects the
    error rates of the merged judges, and `judge-rates` those of each judge ([NOISY18] 3.9). Their small bias can be
    subtracted (3.8). `guess` ranks a leaderboard by the best guess alone, which is elsewhere shown beside the
    correction. With gold on whole topics, `approach` can be any approach of `evaluate`.

    Args:
        measure: E.g. P@10, DCG@10, nDCG@20, AP, RBP(p=0.8).
        approach: How judges are merged: mv, ds, judge:NAME; default: the only judge, or mv.
        claim: About new topics like these (new), or about these topics only (these).
        judges: One gold sample for both systems (shared), or separate judges and gold for each (independent).
        correction: How errors are corrected; auto: chosen by the design of the gold.
        paired: Whether both systems answered the same topics.
        test: Test of the judges' uncorrected scores.
        undo_bias: Subtract the small bias of corrected error rates.
        resamples: Bootstrap samples for a second opinion; 0: none.
        confidence: Confidence level of intervals; tests use alpha = 1 - level.
        seed: Seed of all random numbers.
    """

    measure: str | Measure = "P@10"
    approach: str | None = None
    claim: Claim = "new"
    judges: Judges = "shared"
    correction: str = "auto"
    paired: bool = True
    test: Test = "t"
    undo_bias: bool = False
    resamples: int = 0
    confidence: float = CONFIDENCE
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the options."""
        from karatage.measures.registry import parse_measure

        parse_measure(self.measure)
        check_confidence(self.confidence)
        offered = {name: get_args(choices) for name, choices in CHOICES.items()} | {"correction": list_names()}
        for name, choices in offered.items():
            if getattr(self, name) not in choices:
                raise OptionError(f"{name} '{getattr(self, name)}' is not one of {', '.join(choices)}")
        if self.resamples and self.resamples < LEAST_RESAMPLES:
            raise OptionError(
                f"{self.resamples} resamples are too few for percentiles; give at least {LEAST_RESAMPLES}, "
                "or 0 for none"
            )

    @staticmethod
    def of(measure: str | Measure | Question, **options: Unpack[QuestionOptions]) -> Question:
        """The question of a measure, or a question with other options."""
        if isinstance(measure, Question):
            return replace(measure, **options)
        return Question(measure=measure, **options)

    @cached_property
    def parsed(self) -> Measure:
        """The measure."""
        from karatage.measures.registry import parse_measure

        return parse_measure(self.measure)

    @property
    def level(self) -> float:
        """The significance level of tests."""
        return 1 - self.confidence

    @property
    def sameness(self) -> str:
        """What two systems have in common if they cannot differ by the measure."""
        cutoff = self.parsed.cutoff
        return f"the same documents in the top {cutoff}" if cutoff else "the same documents in the same order"

    @property
    def about(self) -> str:
        """The topics of the claim."""
        return NEW_TOPICS if self.claim == "new" else "these topics only"


class QueueOptions(TypedDict, total=False):
    """The fields of rules that functions take by name."""

    order: str | None
    expert_share: float
    depth: int
    approach: str
    disagreement: DisagreementModel | None
    indifference: float
    risk: float
    best: int | None
    seed: int


@dataclass(frozen=True, kw_only=True)
class QueueRules:
    """The measure, the order of documents, the prices of judgments, and when to stop.

    The pool contains the documents in the first `depth` ranks of any system. Judging may stop when, for each pair that
    matters, the probability of a wrong order by more than `indifference` is at most `risk`.

    Args:
        prices: Costs of a judgment by an expert and by the crowd.
        measure: E.g. P@10, DCG@10, nDCG@20, AP, RBP(p=0.8).
        order: effect, meta-ap, average-rank, depth, disagreement, move-to-front, thompson; default: effect for measures
            that are weighted sums of grades, else thompson.
        expert_share: Share of the budget for experts; the rest goes to the crowd.
        depth: Depth of the pool.
        approach: How the crowd's grades are merged: mv, ds, ...
        disagreement: A model for the order disagreement.
        indifference: Differences in the measure up to this size do not matter.
        risk: Probability of a wrong order at which judging may stop.
        best: Number of best systems: only pairs with one of them matter; default: all pairs.
        systems: Only these two systems matter.
        seed: Seed of all random numbers.
    """

    prices: JudgingPrices
    measure: str | Measure = "P@10"
    order: str | None = None
    expert_share: float = 0.5
    depth: int = 100
    approach: str = "mv"
    disagreement: DisagreementModel | None = None
    indifference: float = 0.01
    risk: float = 0.05
    best: int | None = None
    systems: tuple[str, str] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the options."""
        from karatage.aggregation.registry import parse_model
        from karatage.orders.orders import parse_order

        if not isinstance(self.prices, JudgingPrices):
            raise OptionError("prices must be kt.JudgingPrices, such as kt.parse_prices('A') gives")
        self._check_measure()
        if self.order is not None:
            parse_order(self.order)
        if parse_model(self.approach).needs_gold:
            raise OptionError(f"{self.approach} needs gold on the crowd's documents; choose mv or ds")
        if not 0 <= self.expert_share <= 1:
            raise OptionError(f"the experts' share of the budget is {self.expert_share:g}; give a share from 0 to 1")
        if not (math.isfinite(self.indifference) and self.indifference >= 0):
            raise OptionError(
                f"the indifference is {self.indifference:g}; give the difference that does not matter, 0 or more"
            )
        if not 0 < self.risk < 0.5:
            raise OptionError(f"the risk is {self.risk:g}; give a probability above 0 and below 0.5, such as 0.05")
        if self.best is not None and self.systems is not None:
            raise OptionError(
                "systems and best cannot be combined: give the two systems that matter, or the number of best ones"
            )

    @staticmethod
    def of(
        measure: str | Measure | QueueRules,
        prices: str | JudgingPrices | None,
        per_item: int,
        systems: tuple[str, str] | None,
        **options: Unpack[QueueOptions],
    ) -> QueueRules:
        """The rules of a measure, or rules with other options."""
        paid = parse_prices(prices, per_item) if isinstance(prices, str) else prices
        if isinstance(measure, QueueRules):
            rules = replace(measure, **options)
            return replace(rules, prices=paid or rules.prices, systems=systems or rules.systems)
        if paid is None:
            raise OptionError(
                "the prices of judgments are missing; give A (an expert costs as much as 10 crowd labels), B (5:2), "
                "a ratio such as 8:1, or expert=4,crowd=0.05"
            )
        return QueueRules(measure=measure, prices=paid, systems=systems, **options)

    def _check_measure(self) -> None:
        from karatage.measures.registry import find_family

        if not (isinstance(self.depth, Integral) and self.depth >= 1):
            raise OptionError(f"a pool of depth {self.depth} is empty; give a whole number from 1")
        if not (isinstance(self.seed, Integral) and self.seed >= 0):
            raise OptionError(f"a seed is a whole number from 0, not {self.seed}")
        if not find_family(self.parsed).of_relevance:
            raise OptionError(f"{self.parsed.name} counts judged documents, not relevant ones; use another measure")
        if self.parsed.cutoff is not None and self.depth < self.parsed.cutoff:
            raise OptionError(
                f"a pool of depth {self.depth} leaves out documents that {self.parsed} uses; give a depth of at least "
                f"{self.parsed.cutoff}"
            )

    @cached_property
    def parsed(self) -> Measure:
        """The measure."""
        from karatage.measures.registry import parse_measure

        return parse_measure(self.measure)

    @cached_property
    def parsed_order(self) -> Order:
        """The order: the one asked for, or the default of the measure."""
        from karatage.measures.registry import find_family
        from karatage.orders.orders import parse_order

        return parse_order(self.order or ("effect" if find_family(self.parsed).weights else "thompson"))


def name_both(a: str | None, b: str | None) -> tuple[str, str] | None:
    """Both systems, or None where none is named."""
    if a is None and b is None:
        return None
    if a is None or b is None:
        raise OptionError("one of a and b is missing; name both systems, or neither for a leaderboard of all")
    check_pair(a, b)
    return a, b


def choose_pair(runs: Runs, a: str | None, b: str | None) -> tuple[str, str] | None:
    """The two systems to compare: those named, or the two there are; None: all of them."""
    systems = runs.named or runs.systems
    if a is not None and b is not None:
        return a, b
    if len(systems) == 1:
        raise OptionError(f"'{systems[0]}' is the only system; give runs of at least two")
    if len(systems) == 2:
        first = a if a is not None else next(s for s in systems if s != b)
        return first, next(s for s in systems if s != first) if b is None else b
    if a is None and b is None:
        return None
    raise OptionError("one of a and b is missing; name both systems, or neither to compare all with each other")


def check_pair(a: str, b: str) -> None:
    """Refuse a system that is to be compared with itself."""
    if a == b:
        raise OptionError(f"a and b are the same system, '{a}'; name two different ones")
