"""What is asked: the measure, the topics of the claim, and the assumptions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypedDict, Unpack, get_args

from karatage.data.board import NEW_TOPICS
from karatage.data.estimate import CONFIDENCE, check_confidence
from karatage.data.runs import Runs
from karatage.decisions.estimators.registry import list_names
from karatage.errors import OptionError
from karatage.measures.registry import parse_measure
from karatage.measures.spec import Measure

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
    documents that matter. Two are used on request only: `gold-topics` leaves out the judges, and `rates` corrects their
    error rates, whose small bias can be subtracted ([NOISY18] 3.8). With gold on whole topics, `approach` can be any
    approach of `evaluate`.

    Args:
        measure: E.g. P@10, DCG@10, nDCG@20, AP, RBP(p=0.8).
        approach: How judges are merged: mv, ds, judge:NAME; default: the only judge, or mv.
        claim: A claim about new topics like these, or about these topics only.
        judges: One gold sample for the judges of both systems, or separate judges and gold.
        correction: How errors are corrected; auto: chosen by the design of the gold.
        paired: Whether both systems answered the same topics.
        test: Test on the judges' own scores.
        undo_bias: Subtract the small bias of corrected error rates.
        resamples: Bootstrap draws for a second opinion; 0: none.
        confidence: Confidence level of intervals; tests use alpha = 1 - level.
        seed: Seed of everything that is drawn at random.
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
        parse_measure(self.measure)
        check_confidence(self.confidence)
        offered = {name: get_args(choices) for name, choices in CHOICES.items()} | {"correction": list_names()}
        for name, choices in offered.items():
            if getattr(self, name) not in choices:
                raise OptionError(f"{name} '{getattr(self, name)}' is none of {', '.join(choices)}")
        if self.resamples and self.resamples < LEAST_RESAMPLES:
            raise OptionError(
                f"resamples {self.resamples} are too few for percentiles; give at least {LEAST_RESAMPLES}, "
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


def name_both(a: str | None, b: str | None) -> tuple[str, str] | None:
    """Both systems, or None where none is named."""
    if a is None and b is None:
        return None
    if a is None or b is None:
        raise OptionError("one of a and b is missing; name both systems, or none for a leaderboard of all")
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
    raise OptionError("one of a and b is missing; name both systems, or none to compare all with each other")


def check_pair(a: str, b: str) -> None:
    """Refuse a system that is to be compared with itself."""
    if a == b:
        raise OptionError(f"a and b are the same system, '{a}'; name two")
