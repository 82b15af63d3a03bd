"""What judgments cost, to the last digit."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from numbers import Integral

from karatage.errors import OptionError, UnknownNameError
from karatage.text import shorten

RATIOS = {"A": "10:1", "B": "5:2"}  # expert : crowd label, [COLLAB14] section 3.5
MOST = Decimal(10) ** 9  # so that a count times a price keeps all its digits
DIGITS = 6  # behind the point
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
        """Refuse prices that nobody asks; take numbers as they are written."""
        object.__setattr__(self, "expert", parse_money(self.expert, "the price of an expert judgment"))
        object.__setattr__(self, "label", parse_money(self.label, "the price of a crowd label"))
        check_judgments(self.judgments)

    @property
    def crowd(self) -> Decimal | None:
        """Of one crowd judgment; None where a label's price cannot be divided without a rest."""
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
        raise OptionError(f"prices '{shorten(text)}': that of {lacking} is missing; {WAYS}")
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
    """A sum of money above 0, as written: 0.1 is a tenth, whatever the computer makes of it."""
    try:
        money = value if isinstance(value, Decimal) else Decimal(str(value).strip())
    except InvalidOperation:
        raise OptionError(
            f"{what} is '{shorten(str(value))}', which is not a number; write it like 4 or 0.05, without a currency"
        ) from None
    if not money.is_finite():
        raise OptionError(f"{what} is {value}, which is no amount; write it like 4 or 0.05")
    if money <= 0:
        raise OptionError(f"{what} is {money}; give more than 0")
    if money > MOST or money != round(money, DIGITS):
        raise OptionError(
            f"{what} is {shorten(str(money))}; give at most {MOST:,} with at most {DIGITS} digits behind the point"
        )
    return money


def check_judgments(judgments: int) -> None:
    """How many crowd judgments make a label."""
    if not isinstance(judgments, Integral) or judgments < 1:
        raise OptionError(f"{judgments} crowd judgments per document: give a whole number from 1 on")


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
