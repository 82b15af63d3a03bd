"""Gold's own errors, as results show them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from karatage.data.checks import require_numbers
from karatage.data.estimate import Bounded
from karatage.errors import DataError
from karatage.text import counted

Dispute = Literal["opinions", "changed", "not asked again"]


class Disputed(NamedTuple):
    """An item to which gold's judges gave different grades."""

    topic: str
    document: str
    grades: str  # by judge
    kind: Dispute  # judges keep to different grades; a judge changed his; or neither is known


@dataclass(frozen=True, kw_only=True)
class GoldErrors:
    """How often gold is wrong, from items that its judges graded more than once; bounds are 95 % intervals."""

    derived = ("sentence",)
    optional = ("disputed",)

    judges: int
    doubles: int  # items with several grades
    split: int  # of these, with different grades
    repeated: int  # (judge, item) pairs with several grades
    wavered: int  # of these, with different grades
    slips: Bounded  # share of gold's grades that are errors
    opinions: Bounded | None = None  # share of pairs of judges with different opinions of an item, if repeats show it
    shrinks: Bounded  # what slips multiply differences by
    corrected: bool  # whether differences are corrected for slips
    share: float | None = None  # of the interval's width that is due to gold's errors
    disputed: tuple[Disputed, ...] = ()  # the items with the most different grades, in an audit

    def __post_init__(self) -> None:
        """Refuse impossible numbers."""
        for name in ("judges", "doubles", "split", "repeated", "wavered"):
            require_numbers(name, getattr(self, name), 0)
        if self.split > self.doubles or self.wavered > self.repeated:
            raise DataError("more items have different grades than have several")
        for name, bounded in (("slips", self.slips), ("opinions", self.opinions)):
            if bounded is not None:
                bounded.check(name, 0, 1)
        if len(self.disputed) > self.split:
            raise DataError("more items are disputed than have different grades")
        unknown = {item.kind for item in self.disputed} - set(get_args(Dispute))
        if unknown:
            raise DataError(f"an item is disputed in an unknown way: {min(unknown)}")
        self.shrinks.check("shrinks", 0, math.inf)
        if self.share is not None:
            require_numbers("share", self.share, 0, 1)

    @property
    def sentence(self) -> str:
        """What to know about gold's errors."""
        said = f"gold's own errors: {counted(self.doubles, 'item')} graded more than once, {self.split:,} differently"
        said += f"; {_say(self.slips)} of gold's grades are slips"
        if self.opinions is not None:
            said += f"; the opinions of two judges of gold differ on {_say(self.opinions)} of items"
        if not self.corrected:
            return said
        said += f". Slips shrink differences to {self.shrinks.value:.0%} of their size, which is corrected"
        if self.share is not None:
            said += f"; gold's errors make up {self.share:.0%} of the interval's width"
        return said


def _say(found: Bounded) -> str:
    return f"{100 * found.value:.1f}% [{100 * found.low:.1f}%, {100 * found.high:.1f}%]"
