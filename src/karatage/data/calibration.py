"""How well merged judgments agree with gold: their probabilities, and their shares of relevant items."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from karatage.data.checks import (
    AMOUNT,
    COUNT,
    NUMBER,
    SHARE,
    TEXT,
    maybe,
    require_equal,
    require_numbers,
    require_ordered,
    require_table,
)
from karatage.data.estimate import Bounded, wilson_interval
from karatage.data.note import Note
from karatage.data.result import Result
from karatage.errors import DataError
from karatage.text import counted, shorten

SURE = 0.9
FEW = 10  # items, below which no share is given
LEVEL = 0.05
CLOSE = 0.05  # mean error up to which probabilities can be used as such
JUDGE = "judge:"
VOTES = ("mv", "wawa", "binmv", "qbinmv")  # approaches whose probabilities are shares of votes
WIDTH = 0.1  # of bins
BINS = {"items": COUNT, "worth": AMOUNT, **dict.fromkeys(("from", "to", "weight", "probability"), SHARE)}
BINS |= dict.fromkeys(("share", "low", "high"), SHARE)
GRADES = {"grade": COUNT, "judges": SHARE, "gold": SHARE, "elsewhere": maybe(SHARE)}
SHIFT = {"statistic": TEXT, "way": TEXT, "value": NUMBER, "low": maybe(NUMBER), "high": maybe(NUMBER)}
SHIFT |= {"p_value": maybe(SHARE)}
TYPICAL = ("within topics", "between topics")  # ways to compare gold's items with others


@dataclass(frozen=True, eq=False, kw_only=True)
class Calibration(Result, kind="calibration"):
    """The result of `calibrate`: judges' probabilities and grades against gold's, and gold's items against others."""

    derived = ("sentence", "called")

    approach: str  # how judges became one
    relevant: int  # the lowest grade that counts as relevant
    items: int  # gold items that judges graded
    topics: int  # of these; 0 where items have none
    weighed: bool  # whether gold items represent others, so that shares are estimates
    bins: pl.DataFrame  # from, to, items, worth, weight, probability, share, low, high
    grades: pl.DataFrame  # grade, judges, gold, elsewhere: shares of decided grades, on gold's items and on others
    shift: pl.DataFrame  # statistic, value, low, high, p_value, way
    brier: Bounded  # mean squared distance of probability and truth
    ece: Bounded  # expected calibration error
    bias: Bounded  # share of items decided to be relevant, less gold's
    seed: int
    versions: Mapping[str, str]
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse wrong shares, and figures that do not follow from the bins."""
        require_numbers("relevant", self.relevant, 1)
        require_numbers("items", self.items, 1)
        require_numbers("topics", self.topics, 0, self.items)
        require_table("bins", self.bins, BINS)
        require_table("grades", self.grades, GRADES)
        require_table("shift", self.shift, SHIFT)
        bins = {name: self.bins[name].to_numpy() for name in BINS}
        require_ordered("bins: probability", bins["from"], bins["probability"], bins["to"])
        require_ordered("bins: share", bins["low"], bins["share"], bins["high"])
        require_ordered("bins: worth", 0.0, bins["worth"], bins["items"])
        low, high = wilson_interval(bins["share"] * bins["worth"], bins["worth"])
        require_equal("bins: low", bins["low"], low)
        require_equal("bins: high", bins["high"], high)
        require_equal("bins: to", bins["to"] - bins["from"], np.full(len(self.bins), WIDTH))
        require_equal("items", self.items, int(bins["items"].sum()))
        require_equal("the sum of bins: weight", bins["weight"].sum(), 1.0)
        for name in ("judges", "gold"):
            require_equal(f"the sum of grades: {name}", self.grades[name].to_numpy().sum(), 1.0)
        require_equal("grades: grade", self.grades["grade"].to_numpy(), np.arange(len(self.grades)))
        for name, bounded, least in (("brier", self.brier, 0), ("ece", self.ece, 0), ("bias", self.bias, -1)):
            bounded.check(name, least, 1)
        if len(self.shift.filter(statistic="leniency")) != 1:
            raise DataError("shift does not have one row for leniency")
        excess = np.abs(bins["weight"] * (bins["probability"] - bins["share"])).sum()
        require_equal("ece", self.ece.value, excess)
        require_equal("bias", self.bias.value, self.called - self.found)
        more = (self.grades["grade"] * (self.grades["judges"] - self.grades["gold"])).to_numpy().sum()
        require_equal("shift: leniency", self.leniency.value, more)

    @property
    def called(self) -> float:
        """The share of items that judges call relevant, by the grades decided on."""
        return float(self.grades.filter(pl.col("grade") >= self.relevant)["judges"].sum())

    @property
    def probable(self) -> float:
        """The mean probability that an item is relevant."""
        return float((self.bins["weight"] * self.bins["probability"]).sum())

    @property
    def found(self) -> float:
        """The share that is relevant by gold."""
        return float((self.bins["weight"] * self.bins["share"]).sum())

    @property
    def forecast(self) -> str:
        """What the approach's probabilities are."""
        return "vote shares" if self.approach.partition("(")[0] in VOTES else "probabilities"

    @property
    def calibrated(self) -> bool | None:
        """Whether probabilities are consistent with gold; None where there is no interval."""
        return None if self.ece.low != self.ece.low else self.ece.low == 0

    @property
    def shifted(self) -> bool | None:
        """Whether gold's items are unlike the others; None where that is not known, or shares are estimates."""
        found = self.shift.filter(pl.col("way").is_in(TYPICAL))["p_value"].drop_nulls()
        return None if found.is_empty() else bool((found < LEVEL / len(found)).any())

    @property
    def leniency(self) -> Bounded:
        """By how much judges grade higher than gold on average."""
        value, low, high = (
            self.shift.filter(statistic="leniency").select("value", "low", "high").fill_null(math.nan).row(0)
        )
        return Bounded(value, low, high)

    def to_frame(self) -> pl.DataFrame:
        """One row for each bin of probabilities."""
        return self.bins

    @property
    def sentence(self) -> str:
        """What to take away."""
        parts = [self._say_bias(), self._say_error(), self._say_sure(), self._say_shift()]
        return " ".join(part for part in parts if part)

    def _say_bias(self) -> str:
        items = counted(self.items, "gold item")
        kind = "documents" if self.topics else "items"
        called = f"an estimated {self.called:.0%} of the {kind}" if self.weighed else f"{self.called:.0%} of {items}"
        text = f"{self._who} {called} relevant, gold {self.found:.0%}"
        text += f", from {items}" if self.weighed else ""
        if self.bias.low != self.bias.low:
            return f"{text}; one topic is too few for a test."
        if self.bias.low <= 0 <= self.bias.high:
            return f"{text}: not a significant difference."
        much = "too many" if self.bias.value > 0 else "too few"
        return f"{text}: {much} by {_points(self.bias)}."

    @property
    def _who(self) -> str:
        if self.approach.startswith(JUDGE):
            return f"{shorten(self.approach.removeprefix(JUDGE))} calls"
        return f"Merged by {shorten(self.approach)}, judges call"

    @property
    def _certain(self) -> bool:
        """Whether all probabilities are 0 or 1, as for a single judge."""
        return bool(self.bins["probability"].is_in([0.0, 1.0]).all())

    def _say_error(self) -> str:
        what = "Used as probabilities of 0 and 1, such grades are" if self._certain else self._say_forecast()
        if self.calibrated is None:
            return f"{what} {100 * self.ece.value:.1f} points off on average."
        off = f"{what} {_points(self.ece)} off on average"
        if self.ece.high <= CLOSE:
            return f"{off}, accurate enough to use."
        if self.calibrated:
            return f"{off}, which is not significant with so little gold or so few topics."
        return f"{off}." if self._certain else f"{off}: do not use them as probabilities."

    def _say_forecast(self) -> str:
        """The subject of a sentence, with the mean probability where it differs from the share of decided grades."""
        name = self.forecast.capitalize()
        same = f"{self.called:.0%}" == f"{self.probable:.0%}"
        return f"{name} are" if same else f"{name} of these grades, {self.probable:.0%} on average, are"

    def _say_sure(self) -> str:
        last = self.bins.row(-1, named=True)
        if last["from"] < SURE or last["items"] < FEW:
            return ""
        where = "Of what is called relevant" if self._certain else f"Where they are {SURE:.0%} or more"
        items, bounds = counted(last["items"], "item"), f"({last['low']:.0%} to {last['high']:.0%})"
        if self.weighed:
            return f"{where}, gold agrees on an estimated {last['share']:.0%} {bounds}, from {items}."
        return f"{where}, gold agrees on {last['share']:.0%} of {items} {bounds}."

    def _say_shift(self) -> str:
        if not self.shifted:
            return ""
        return (
            "Judges grade items with gold differently from other items, so this is valid only for items like those "
            "with gold."
        )


def _points(found: Bounded) -> str:
    """A share and its interval, in points without a sign."""
    low, high = sorted((abs(found.low), abs(found.high)))
    return f"{100 * abs(found.value):.1f} points ({100 * low:.1f} to {100 * high:.1f})"
