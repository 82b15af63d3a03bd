"""Options that several stages share, with their checks."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from decimal import Decimal, InvalidOperation
from functools import wraps
from numbers import Integral, Real
from typing import Literal, TypeVar, cast, get_args

from karatage.errors import DataError, OptionError, UnknownNameError, UnknownOptionError
from karatage.text import counted, shorten

CONFIDENCE = 0.95


def check_confidence(confidence: float) -> float:
    """The confidence level, unless it is outside (0, 1)."""
    if not (isinstance(confidence, Real) and 0 < confidence < 1):
        raise OptionError(f"confidence must be a number between 0 and 1, such as 0.95, not {shorten(repr(confidence))}")
    return confidence


NEW_TOPICS = "topics like these"
Repeats = Literal["last", "first", "majority", "all", "error"]
Adjust = Literal["holm", "bh", "none"]
Supervision = Literal["none", "light", "full"]
Teams = Literal["kept", "redrawn"]  # of people, from topic to topic
TEAMS: tuple[Teams, ...] = get_args(Teams)


@dataclass(frozen=True)
class Figures:
    """A system's scores in figures: number of topics, mean and standard deviation.

    >>> Figures(topics=10278, mean=0.6260, deviation=0.414).variance_of_mean
    1.6676...e-05
    """

    topics: int
    mean: float
    deviation: float

    def __post_init__(self) -> None:
        """Refuse figures that no scores have."""
        if not (self.topics >= 2 and self.topics == int(self.topics)):
            raise DataError(f"{self.topics} topics: a standard deviation needs at least 2, and a whole number of them")
        if not math.isfinite(self.mean):
            raise DataError(f"a mean score of {self.mean} is not a number: give the mean over topics, such as 0.626")
        if not (math.isfinite(self.deviation) and self.deviation >= 0):
            raise DataError(
                f"a standard deviation of {self.deviation} is impossible: give that of the scores over topics, "
                "which is at least 0"
            )

    @property
    def variance_of_mean(self) -> float:
        """The variance of the mean over topics."""
        return self.deviation**2 / self.topics


@dataclass(frozen=True)
class RateCounts:
    """How many gold-relevant items, and how many others, judges graded correctly.

    >>> rates = RateCounts(43, 59, 67, 84)
    >>> round(rates.m_r, 3), round(rates.m_n, 3), round(rates.d, 3)
    (0.729, 0.798, 0.526)
    """

    right_relevant: int
    relevant: int
    right_other: int
    others: int

    def __post_init__(self) -> None:
        """Refuse impossible counts, and kinds without gold."""
        for right, size, kind in (
            (self.right_relevant, self.relevant, "relevant"),
            (self.right_other, self.others, "not relevant"),
        ):
            if size < 1:
                raise DataError(
                    f"no gold item is {kind}, so the judges' error rate on such items is unknown: grade some of them"
                )
            if not 0 <= right <= size:
                raise DataError(
                    f"judges cannot be right about {right} of {size} gold items that are {kind}: "
                    "give the number of correct grades first, then the number of such items"
                )

    @property
    def m_r(self) -> float:
        """Share of gold-relevant items that judges call relevant."""
        return self.right_relevant / self.relevant

    @property
    def m_n(self) -> float:
        """Share of the other gold items that judges call not relevant."""
        return self.right_other / self.others

    @property
    def d(self) -> float:
        """[NOISY18]'s denominator: 1 for perfect judges, 0 for random ones."""
        return self.m_r + self.m_n - 1


@dataclass(frozen=True)
class Prices:
    """Costs of judgments in any currency, and the budget.

    The price of gold is per item of a kind. If relevant items cannot be selected beforehand, finding one takes
    1 / prevalence judgments, which the price must include.
    """

    judgment: float  # of one document of one system by the cheap judges
    gold_relevant: float  # of one gold-relevant item
    gold_other: float
    depth: int = 1  # documents judged per topic and system
    budget: float | None = None  # None: without limit

    def __post_init__(self) -> None:
        """Refuse prices of 0 or less, and other impossible numbers."""
        for name, price in (
            ("judgment", self.judgment),
            ("gold_relevant", self.gold_relevant),
            ("gold_other", self.gold_other),
        ):
            if not (math.isfinite(price) and price > 0):
                raise DataError(
                    f"the price {name} is {price}: give more than 0, because for free judgments no number is the best"
                )
        if self.depth < 1:
            raise DataError(f"a depth of {self.depth}: give at least 1 document per topic")
        if self.budget is not None and not (math.isfinite(self.budget) and self.budget > 0):
            raise DataError(f"a budget of {self.budget} is too small: give more than 0, or None for no limit")

    @property
    def topic(self) -> float:
        """The price of judging one topic for one system."""
        return self.judgment * self.depth


@dataclass(frozen=True)
class Goal:
    """The difference to be shown, and the errors allowed.

    Args:
        level: Level of the test, two-sided.
        power: Probability of detecting the difference, e.g. 0.8; default: 0.5, as in [NOISY18].
        difference: Difference by gold to detect; default: that of the figures.
        split: Shares of the allowed error: topics, gold-relevant, other gold items; sums to 1.
    """

    level: float = 0.05
    power: float | None = None
    difference: float | None = None
    split: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        """Refuse impossible probabilities and shares."""
        if not 0 < self.level < 1:
            raise DataError(f"a level of {self.level}: give one between 0 and 1, such as 0.05")
        if self.power is not None and not 0.5 <= self.power < 1:
            raise DataError(f"a power of {self.power}: give a probability from 0.5 to below 1, such as 0.8")
        if self.difference is not None and not (math.isfinite(self.difference) and self.difference != 0):
            raise DataError(f"a difference of {self.difference} cannot be shown: give a number other than 0")
        if self.split is not None and not (min(self.split) > 0 and math.isclose(sum(self.split), 1, abs_tol=1e-9)):
            raise DataError(
                f"a split of {self.split}: give three shares above 0 that sum to 1, such as 0.5, 0.25, 0.25"
            )


RATIOS = {"A": "10:1", "B": "5:2"}  # expert : crowd label, [COLLAB14] section 3.5
MOST = Decimal(10) ** 9  # so that a count times a price keeps all its digits
DIGITS = 6  # after the decimal point
WAYS = "write A (10:1), B (5:2), a ratio such as 10:1, or expert=4,crowd=0.05"
Money = Decimal | int | float | str


@dataclass(frozen=True)
class JudgingPrices:
    """The price of an expert's judgment, and of a crowd label: `judgments` crowd judgments of a document together.

    >>> JudgingPrices(Decimal(10), Decimal(1)).crowd
    Decimal('0.2')
    """

    expert: Decimal
    label: Decimal
    judgments: int = 5

    def __post_init__(self) -> None:
        """Refuse impossible prices; numbers are exact as written."""
        object.__setattr__(self, "expert", parse_money(self.expert, "the price of an expert judgment"))
        object.__setattr__(self, "label", parse_money(self.label, "the price of a crowd label"))
        check_judgments(self.judgments)

    @property
    def crowd(self) -> Decimal | None:
        """The price of one crowd judgment; None where a label's price cannot be divided exactly."""
        each = self.label / self.judgments
        return each if each * self.judgments == self.label else None

    def __str__(self) -> str:
        return f"expert={self.expert},label={self.label}"


def parse_prices(text: str, judgments: int = 5) -> JudgingPrices:
    """Read prices: A or B, a ratio of an expert judgment to a crowd label, or both by name.

    `crowd` is the price of one crowd judgment, `label` that of all `judgments` of a document together.

    >>> print(parse_prices("expert=4,crowd=0.05"))
    expert=4,label=0.25
    """
    check_judgments(judgments)
    if not isinstance(text, str):
        raise OptionError(f"prices are text, not {type(text).__name__}; {WAYS}")
    text = RATIOS.get(text.strip().upper(), text.strip())
    if not text:
        raise OptionError(f"the prices are missing; {WAYS}")
    if ":" in text:
        expert, _, label = text.partition(":")
        sides = parse_money(expert, "the ratio's expert side"), parse_money(label, "the ratio's crowd side")
        return JudgingPrices(*sides, judgments)
    given = _split(text)
    if "expert" not in given or not given.keys() & {"crowd", "label"}:
        lacking = "crowd" if "expert" in given else "expert"
        raise OptionError(f"prices '{shorten(text)}': the price of {lacking} is missing; {WAYS}")
    if given.keys() >= {"crowd", "label"}:
        raise OptionError(
            f"prices '{shorten(text)}': crowd is one judgment, label all {judgments} of a document; give one of the two"
        )
    if "crowd" in given:
        label_price = parse_money(given["crowd"], "the price of a crowd judgment") * judgments
    else:
        label_price = parse_money(given["label"], "the price of a crowd label")
    return JudgingPrices(parse_money(given["expert"], "the price of an expert judgment"), label_price, judgments)


def parse_money(value: Money, what: str) -> Decimal:
    """An amount of money above 0, exactly as written."""
    try:
        money = value if isinstance(value, Decimal) else Decimal(str(value).strip())
    except InvalidOperation:
        raise OptionError(
            f"{what} is '{shorten(str(value))}', which is not a number; write it like 4 or 0.05, without a currency"
        ) from None
    if not money.is_finite():
        raise OptionError(f"{what} is {value}, which is not an amount; write it like 4 or 0.05")
    if money <= 0:
        raise OptionError(f"{what} is {money}; give more than 0")
    if money > MOST or money != round(money, DIGITS):
        raise OptionError(f"{what} is {shorten(str(money))}; give at most {MOST:,} with at most {DIGITS} decimals")
    return money


def check_judgments(judgments: int) -> None:
    """Refuse a wrong number of crowd judgments per label."""
    if not isinstance(judgments, Integral) or judgments < 1:
        raise OptionError(f"{judgments} crowd judgments per document: give a whole number from 1")


def _split(text: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise OptionError(f"cannot read the prices '{shorten(text)}'; {WAYS}")
        if name not in {"expert", "crowd", "label"}:
            raise UnknownNameError("price", name, ("expert", "crowd", "label"))
        if name in given:
            raise OptionError(f"prices '{shorten(text)}': {name} is given twice")
        given[name] = value
    return given


Function = TypeVar("Function", bound=Callable[..., object])


RENAMED = {"topics": "claim", "batches": "looks", "margin": "indifference"}  # options of version 0.1


def show_options(schema: type | None = None, *skip: str) -> Callable[[Function], Function]:
    """Show the fields of a dataclass in the signature of a function that takes them as `**options`.

    An option that is neither there nor in the function is refused, with the name that was meant; so are too many
    arguments without names.
    """

    def show(function: Function) -> Function:
        signature = inspect.signature(function)
        named = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        known = {*skip, *(p.name for p in named)}
        options = [
            inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type)
            for f in (() if schema is None else fields(schema))
            if f.name not in known and f.default is not MISSING
        ]
        offered = {p.name for p in (*named, *options)}
        placed = [p.name for p in named if p.kind is p.POSITIONAL_OR_KEYWORD]

        @wraps(function)
        def call(*arguments: object, **given: object) -> object:
            for name in given.keys() - offered:
                if RENAMED.get(name) in offered:
                    raise OptionError(f"{function.__name__}: the option {name} is now called {RENAMED[name]}")
                raise UnknownOptionError(f"option of {function.__name__}", name, offered)
            if len(arguments) > len(placed):
                raise OptionError(
                    f"{function.__name__} takes {counted(len(placed), 'argument')} without a name "
                    f"({', '.join(placed)}), got {len(arguments)}; name the others, as in "
                    f"{next(p.name for p in (*named, *options) if p.kind is p.KEYWORD_ONLY)}=..."
                )
            return function(*arguments, **given)

        call.__signature__ = signature.replace(parameters=[*named, *options])  # type: ignore[attr-defined]
        return cast("Function", call)

    return show
