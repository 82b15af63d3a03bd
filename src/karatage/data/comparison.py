"""Comparisons of two systems: by the judges, and with their errors corrected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from karatage.data.checks import require_names, require_numbers
from karatage.data.estimate import Accuracy, Estimate, JudgeAccuracy, Method, find_cuts
from karatage.data.gold_errors import GoldErrors
from karatage.data.note import Note
from karatage.data.records import Study
from karatage.data.result import Result
from karatage.errors import DataError
from karatage.text import counted, end_sentence, percent, shorten


@dataclass(frozen=True, kw_only=True)
class Opinion:
    """Both systems' scores and their difference, b - a, by one method."""

    derived = ("way", "p_value", "significant")

    method: Method
    a: Estimate | None  # None where it is outside the measure's range
    b: Estimate | None
    difference: Estimate
    test_p_value: float | None = None  # of another test than the interval's

    def __post_init__(self) -> None:
        """Refuse wrong p-values, and estimates with different levels of confidence."""
        if self.test_p_value is not None:
            require_numbers("p_value", self.test_p_value, 0, 1, unknown=True)
        for score in (self.a, self.b):
            if score is not None and score.confidence != self.difference.confidence:
                raise DataError(f"the intervals by {self.way} have different levels of confidence")

    @property
    def way(self) -> str:
        """The method's name."""
        return self.method.name

    @property
    def p_value(self) -> float:
        """Two-sided, against no difference."""
        return self.difference.p_value if self.test_p_value is None else self.test_p_value

    @property
    def significant(self) -> bool:
        """Whether the difference is significant."""
        return self.p_value < 1 - self.difference.confidence + 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison(Result, kind="comparison"):
    """The result of `compare`; differences are b - a."""

    derived = ("sentence", "p_value", "significant")
    optional = ("by_judge", "gold_errors")
    unsaved = ("study",)

    measure: str
    a: str
    b: str
    approach: str  # how judges became one
    claim: str
    topics: int
    naive: Opinion
    corrected: Opinion | None
    others: tuple[Opinion, ...] = ()  # second opinions
    refusal: str | None = None  # why nothing was corrected
    same: str | None = None  # what both systems have in common, where they cannot differ
    gold: str | None = None  # what the gold sample is, in words
    accuracy: Accuracy | None = None
    by_judge: tuple[JudgeAccuracy, ...] = ()  # where each judge has error rates
    gold_errors: GoldErrors | None = None  # gold's own, where items were graded more than once
    alarm: str | None = None  # why nothing is claimed, though there is a correction; what to do
    needed: str | None = None  # how much more gold would do
    assumed: tuple[str, ...] = ()
    seed: int
    versions: Mapping[str, str]
    study: Study | None = None  # for the judge's record
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse entries that contradict each other."""
        require_names("systems", (self.a, self.b))
        require_numbers("topics", self.topics, 0)
        if self.corrected is None and self.gold is not None and self.refusal is None and self.same is None:
            raise DataError("nothing is corrected, and there is no refusal")
        for name, found in (("a", self.naive.a), ("b", self.naive.b), ("difference", self.naive.difference)):
            if found is not None and find_cuts(*(np.array([n]) for n in (found.value, found.low, found.high))).size:
                raise DataError(f"the interval of naive.{name} is longer on one side than on the other")
        if self.corrected is not None and self.corrected.test_p_value is not None:
            raise DataError("corrected.p_value does not follow from the difference and its standard error")
        if len({opinion.difference.confidence for opinion in self.opinions}) > 1:
            raise DataError("the opinions have different levels of confidence")

    @property
    def p_value(self) -> float | None:
        """Of the corrected difference, or of the judges' where there is no gold; None where it was refused."""
        opinion = self._decisive
        return None if opinion is None else _plain(opinion.p_value)

    @property
    def significant(self) -> bool:
        """Whether a difference may be claimed; never without gold, since errors are then not corrected."""
        opinion = self.corrected
        return opinion is not None and self.same is None and opinion.significant and not self.doubted

    @property
    def doubted(self) -> bool:
        """Whether gold contradicts the correction, so that no difference is claimed."""
        return self.alarm is not None and self.corrected is not None

    @property
    def _decisive(self) -> Opinion | None:
        return self.naive if self.gold is None else self.corrected

    @property
    def opinions(self) -> tuple[Opinion, ...]:
        """All opinions, the judges' first."""
        return tuple(o for o in (self.naive, self.corrected, *self.others) if o is not None)

    def to_frame(self) -> pl.DataFrame:
        """One row per opinion."""
        rows = [
            {
                "measure": self.measure,
                "a": self.a,
                "b": self.b,
                "opinion": opinion.way,
                "score_a": None if opinion.a is None else opinion.a.value,
                "score_b": None if opinion.b is None else opinion.b.value,
                "difference": opinion.difference.value,
                "standard_error": _plain(opinion.difference.standard_error),
                "low": _plain(opinion.difference.low),
                "high": _plain(opinion.difference.high),
                "p_value": _plain(opinion.p_value),
                "decisive": opinion is self._decisive,
            }
            for opinion in self.opinions
        ]
        return pl.DataFrame(rows)

    @property
    def sentence(self) -> str:
        """What to take away."""
        if self.same is not None:
            return f"No difference between {shorten(self.a)} and {shorten(self.b)}: {self.same}."
        judges = self.naive.difference
        said = f"{judges.value:+.{find_digits(judges)}f} {self.measure}"
        parts = [f"By the judges, {shorten(self.b)} minus {shorten(self.a)} is {said}{_p(self.naive.p_value)}."]
        if self.gold is None:
            parts.append(self._say_naive())
        elif self.corrected is None:
            parts.append(f"No corrected result: {end_sentence(str(self.refusal))}")
        else:
            parts.append(self._say_corrected(self.corrected))
        return " ".join(parts)

    def _say_naive(self) -> str:
        topics = counted(self.topics, "topic")
        if math.isnan(self.naive.p_value):
            return f"{topics} are too few for a test, and without gold the judges' errors are not corrected."
        verdict, but = ("significant", "but") if self.naive.significant else ("not significant", "and")
        return (
            f"This is {verdict} over {topics}, {but} without gold the judges' errors are not corrected: claim "
            f"nothing yet."
        )

    def _say_corrected(self, opinion: Opinion) -> str:
        found = opinion.difference
        digits = find_digits(found)
        text = f"Corrected: {found.value:+.{digits}f}"
        if found.exact:
            text += ", known exactly" if self.claim.startswith("these") else ", the same in every topic"
        else:
            interval = f"[{found.low:+.{digits}f}, {found.high:+.{digits}f}]"
            text += f", {percent(found.confidence)} CI {interval}{_p(opinion.p_value, ', ')}"
        if self.significant:
            better = self.b if found.value > 0 else self.a
            return f"{text}: {shorten(better)} is better, on {self.claim}."
        text += ": no difference can be claimed."
        if self.doubted:
            return f"{text} Warning: {end_sentence(str(self.alarm))}"
        return text if self.needed is None else f"{text} {self.needed}"


def find_digits(found: Estimate) -> int:
    """Decimals of a value that show two digits of its standard error."""
    error = found.standard_error if found.standard_error > 0 else abs(found.value)
    if not math.isfinite(error) or error == 0:
        return 3
    return min(max(1 - math.floor(math.log10(error)), 2), 6)


def _p(p_value: float, lead: str = " (") -> str:
    if math.isnan(p_value):
        return ""
    return f"{lead}p {say_p(p_value)}" + (")" if lead == " (" else "")


def say_p(p_value: float) -> str:
    """A p-value in a sentence: `= 0.017`, `< 0.001`."""
    if p_value < 0.001:
        return "< 0.001"
    return f"= {p_value:.3f}" if p_value < 0.0995 else f"= {p_value:.2f}"


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
