"""A leaderboard and all pairs of its systems: by the judges, and with their errors corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np
import polars as pl

from karatage.data.axes import BoolArray, FloatArray, LongArray, freeze, settle_ties
from karatage.data.checks import require_equal, require_names, require_numbers, require_shape
from karatage.data.estimate import (
    Accuracy,
    Bounded,
    JudgeAccuracy,
    Method,
    find_cuts,
    require_intervals,
    require_p_values,
)
from karatage.data.gold_errors import GoldErrors
from karatage.data.note import Note
from karatage.data.options import NEW_TOPICS, Adjust, check_confidence
from karatage.data.records import Study
from karatage.data.result import Result
from karatage.errors import DataError, UnknownNameError
from karatage.kernels.multiplicity import benjamini_hochberg, find_groups, holm, letters
from karatage.text import counted, end_sentence, list_names, shorten


@dataclass(frozen=True, eq=False, kw_only=True)
class Standing:
    """Every system's score by one method, in arrays (system,). Systems whose score is not shown (NaN) are in order."""

    derived = ("way",)

    method: Method
    value: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.value, self.standard_error, self.low, self.high)

    @property
    def way(self) -> str:
        """The method's name."""
        return self.method.name

    def check(self, systems: int, confidence: float, *, cut: bool) -> None:
        """Refuse arrays of another length, and intervals that do not follow from the standard errors.

        Intervals may be `cut` at the limits of scores.
        """
        for array in (self.value, self.standard_error, self.low, self.high):
            require_shape(f"the scores by {self.way}", array, systems)
        require_intervals("score", self.value, self.standard_error, (self.low, self.high), confidence)
        cuts = find_cuts(self.value, self.low, self.high)
        ends = (cuts == 0) | (cuts == np.max(self.high, initial=0, where=~np.isnan(self.high)))
        if not (ends & cut).all():
            raise DataError(f"an interval of a score by {self.way} is longer on one side than on the other")

    @cached_property
    def rank(self) -> LongArray:
        """From 1 = best; equal scores share the best of their ranks."""
        hidden = np.isnan(self.value)
        steps = settle_ties(np.where(hidden, 0.0, self.value))
        if hidden.any():  # outside the measure's range: above or below all scores that are shown
            above = np.cumsum(~hidden) == 0
            place = np.arange(len(steps))
            span = 1 + np.abs(steps).max() + len(steps)
            steps = np.where(hidden, np.where(above, span, -span) - place, steps)
        rank: LongArray = 1 + (steps[None, :] > steps[:, None]).sum(axis=1)
        return rank

    def columns(self, name: str) -> dict[str, pl.Series]:
        """For a table, under names that begin with `name`."""
        numbers = {"score": self.value, "standard_error": self.standard_error, "low": self.low, "high": self.high}
        return {f"{name}_rank": pl.Series(self.rank)} | _name_columns(numbers, name)


@dataclass(frozen=True, eq=False, kw_only=True)
class Differences:
    """Every pair's difference, b - a, by one method, in arrays (pair,). Intervals are for a single pair."""

    derived = ("count",)

    value: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray  # two-sided, against no difference
    claimed: BoolArray  # whether the difference is significant after the adjustment
    doubted: BoolArray  # where gold contradicts the correction, so that there is no result

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.value, self.standard_error, self.low, self.high, self.p_value, self.claimed, self.doubted)

    def check(self, pairs: int, confidence: float, adjust: Adjust) -> None:
        """Refuse arrays of another length, and intervals, p-values and claims that do not follow."""
        for array in (self.value, self.standard_error, self.low, self.high, self.p_value, self.claimed, self.doubted):
            require_shape("the differences of pairs", array, pairs)
        bounds = self.low, self.high
        require_intervals("difference", self.value, self.standard_error, bounds, confidence)
        cuts = find_cuts(self.value, *bounds)
        if (np.abs(cuts) != max(np.abs(self.low).max(initial=0), np.abs(self.high).max(initial=0))).any():
            raise DataError("an interval of a difference is longer on one side than on the other")
        require_p_values("p_value", self.p_value, self.value, self.standard_error, bounds, confidence)
        follows = find_claims(self.p_value, adjust, confidence) & ~self.doubted
        if (follows != self.claimed).any():
            raise DataError("the pairs that are claimed to differ do not follow from their p-values")

    @cached_property
    def holm(self) -> FloatArray:
        """The p-values, adjusted for the number of pairs."""
        return holm(self.p_value)

    @cached_property
    def bh(self) -> FloatArray:
        """The same by Benjamini and Hochberg."""
        return benjamini_hochberg(self.p_value)

    @property
    def sign(self) -> FloatArray:
        """1 where b is significantly better, -1 where a is, 0 elsewhere."""
        return np.where(self.claimed, np.sign(self.value), 0.0)

    @property
    def count(self) -> int:
        """The number of significant differences."""
        return int(self.claimed.sum())

    def columns(self, name: str) -> dict[str, pl.Series]:
        """For a table, under names that begin with `name`."""
        numbers = {
            "difference": self.value,
            "standard_error": self.standard_error,
            "low": self.low,
            "high": self.high,
            "p_value": self.p_value,
            "p_holm": self.holm,
            "p_bh": self.bh,
        }
        return _name_columns(numbers, name)


def find_claims(p_value: FloatArray, adjust: Adjust, confidence: float) -> BoolArray:
    """The pairs (pair,) that differ significantly."""
    adjusted = {"none": p_value, "holm": holm(p_value), "bh": benjamini_hochberg(p_value)}
    claims: BoolArray = adjusted[adjust] < 1 - confidence + 1e-12
    return claims


def find_flips(before: Differences, after: Differences) -> dict[str, BoolArray]:
    """The pairs (pair,) that are reversed, or significant only without or only with correction; none is doubted."""
    old, new = np.where(after.doubted, 0.0, before.sign), after.sign
    return {"turns": old * new < 0, "falls": (old != 0) & (new == 0), "arises": (old == 0) & (new != 0)}


def _name_columns(numbers: dict[str, FloatArray], name: str) -> dict[str, pl.Series]:
    return {f"{name}_{column}": pl.Series(value).fill_nan(None) for column, value in numbers.items()}


ADJUSTMENTS = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": "each pair on its own"}


@dataclass(frozen=True, eq=False, kw_only=True)
class BestGuess:
    """The best guess of a board: judges' differences, moved towards corrected ones by as much as judges are biased.

    Both intervals hold on average over the pairs. Those of `pairs` depend on gold alone; those of `usual` assume that
    the judges are about as biased as judges of the same accuracy elsewhere.
    """

    derived = ("sentence",)

    standing: Standing
    pairs: Differences
    usual: Differences
    unexplained: float  # share of the variance of gold's gains that the judges' grades leave
    spread: float  # bias of a difference, for a unit of weight on different documents, as usual judges have it
    spread_by_gold: float  # the same by gold alone
    mass: float  # weight on different documents of a pair: the median of all pairs that differ

    def check(self, systems: int, confidence: float) -> None:
        """Refuse arrays of another length, different guesses, and intervals that do not follow."""
        self.standing.check(systems, confidence, cut=True)
        for found in (self.pairs, self.usual):
            found.check(systems * (systems - 1) // 2, confidence, "none")
        require_equal("the best guess of differences", self.usual.value, self.pairs.value)
        require_equal("the pairs that gold contradicts", self.usual.doubted, self.pairs.doubted)
        require_numbers("unexplained", self.unexplained, 0, 1)
        require_numbers("spread and mass", (self.spread, self.spread_by_gold, self.mass), 0)

    @property
    def sentence(self) -> str:
        """How good the judges are."""
        by_gold, usual = (f"{spread * self.mass:.3f}" for spread in (self.spread_by_gold, self.spread))
        return (
            f"the judges' grades explain {1 - self.unexplained:.0%} of the variance of gold's gains; the standard "
            f"deviation of their bias in the difference of two typical systems is {by_gold} by gold alone, and {usual} "
            f"if they are biased as usual judges are"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Board(Result, kind="board"):
    """The result of `compare_all`; systems are sorted by score, corrected where that was possible."""

    derived = ("sentence", "significant", "top", "groups", "count_flips", "rows", "pairs")
    optional = ("by_judge", "gold_errors", "guess")
    unsaved = ("study",)

    measure: str
    approach: str  # how judges became one
    claim: str
    topics: int
    adjust: Adjust
    confidence: float
    systems: tuple[str, ...]
    naive: Standing
    naive_pairs: Differences
    corrected: Standing | None
    corrected_pairs: Differences | None
    guess: BestGuess | None = None
    tau: Bounded | None = None  # between the judges' order and the corrected one
    tau_ap: Bounded | None = None  # the same with the corrected order for reference
    slope: Bounded | None = None  # of the judges' differences on gold's: above 1 they exaggerate
    refusal: str | None = None  # why nothing was corrected
    gold: str | None = None  # what the gold sample is
    accuracy: Accuracy | None = None
    by_judge: tuple[JudgeAccuracy, ...] = ()  # where each judge has error rates
    gold_errors: GoldErrors | None = None  # gold's own, where items were graded more than once
    alarm: str | None = None  # why nothing is claimed, though there is a correction; what to do
    assumed: tuple[str, ...] = ()
    seed: int
    versions: Mapping[str, str]
    study: Study | None = None  # for the judge's record
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse entries that contradict each other."""
        require_names("systems", self.systems, least=2)
        require_numbers("topics", self.topics, 0)
        check_confidence(self.confidence)
        if self.adjust not in get_args(Adjust):
            raise UnknownNameError("adjustment", self.adjust, get_args(Adjust))
        if (self.corrected is None) != (self.corrected_pairs is None):
            raise DataError("only one of scores and differences is corrected")
        if self.corrected is None and self.gold is not None and self.refusal is None:
            raise DataError("nothing is corrected, and there is no refusal")
        self.naive.check(len(self.systems), self.confidence, cut=False)
        if self.corrected is not None:
            self.corrected.check(len(self.systems), self.confidence, cut=True)
        for found in (self.naive_pairs, self.corrected_pairs):
            if found is not None:
                found.check(len(self.a), self.confidence, self.adjust)
        if self.guess is not None:
            if self.corrected_pairs is None:
                raise DataError("there is a best guess, and nothing is corrected")
            self.guess.check(len(self.systems), self.confidence)
        steps = settle_ties(self._first.value)
        if (np.diff(steps) > 0).any():
            raise DataError("systems are not in the order of their scores")
        for name, bounded, most in (("tau", self.tau, 1), ("tau_ap", self.tau_ap, 1), ("slope", self.slope, np.inf)):
            if bounded is not None:
                bounded.check(name, -most, most)

    @property
    def _first(self) -> Standing:
        """The scores that give the order."""
        if self.guess is not None:
            return self.guess.standing
        return self.corrected or self.naive

    @property
    def a(self) -> LongArray:
        """The lower system of each pair."""
        return self._pairs[1]

    @property
    def b(self) -> LongArray:
        """The higher system of each pair."""
        return self._pairs[0]

    @cached_property
    def _pairs(self) -> tuple[LongArray, LongArray]:
        higher, lower = np.triu_indices(len(self.systems), 1)
        freeze(higher, lower)
        return higher, lower

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Groups of systems without a significant difference between any two."""
        return find_groups(self._apart)

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """Letters of each system; two systems that share one do not differ significantly."""
        return letters(self._apart)

    @property
    def _apart(self) -> BoolArray:
        """Which systems differ significantly, (system, system)."""
        apart = np.zeros((len(self.systems), len(self.systems)), bool)
        apart[self.a, self.b] = apart[self.b, self.a] = (self.corrected_pairs or self.naive_pairs).claimed
        return apart

    @property
    def doubted(self) -> bool:
        """Whether gold contradicts the correction, so that no difference is claimed."""
        return self.alarm is not None and self.corrected is not None

    @property
    def decisive(self) -> Differences | None:
        """The pairs that decide: corrected, or the judges' if there is no gold; None if correction was refused."""
        return self.naive_pairs if self.gold is None else self.corrected_pairs

    @property
    def significant(self) -> bool:
        """Whether a difference may be claimed for any pair; never without gold, as errors are then not corrected."""
        return self.corrected_pairs is not None and self.decisive is not None and self.decisive.count > 0

    @property
    def top(self) -> tuple[str, ...]:
        """The best system, and all that are not significantly worse or have no result."""
        found = self.corrected_pairs or self.naive_pairs
        worse = set(
            self.a[(self.b == 0) & (found.sign > 0)].tolist()
        )  # others may be better, by the order of the guess
        return tuple(name for s, name in enumerate(self.systems) if s not in worse)

    @property
    def comparable(self) -> bool:
        """Whether judges' and corrected results are about the same topics; the judges' are always about new ones."""
        return self.corrected_pairs is not None and self.claim == NEW_TOPICS

    def count_flips(self) -> dict[str, int]:
        """Pairs that are reversed, or significant only without or only with correction; empty if not comparable."""
        if self.corrected_pairs is None or not self.comparable:
            return {}
        return {kind: int(found.sum()) for kind, found in find_flips(self.naive_pairs, self.corrected_pairs).items()}

    def to_frame(self) -> pl.DataFrame:
        """The leaderboard."""
        names, letters = (pl.Series(texts, dtype=pl.String) for texts in (self.systems, self.letters))
        columns = {"system": names, "letters": letters} | self.naive.columns("naive")
        if self.corrected is not None:
            columns |= self.corrected.columns("corrected")
        if self.guess is not None:
            columns["corrected_rank"] = pl.Series(self._rank_by_differences())
            columns |= self.guess.standing.columns("guess")
        return pl.DataFrame(columns)

    def _rank_by_differences(self) -> LongArray:
        """The order of corrected scores, some of which may not be shown, from their differences to the first system."""
        assert self.corrected_pairs is not None
        gaps = settle_ties(np.r_[0.0, -self.corrected_pairs.value[self.b == 0]])
        rank: LongArray = 1 + (gaps[None, :] > gaps[:, None]).sum(axis=1)
        return rank

    def pairs(self) -> pl.DataFrame:
        """One row per pair with differences b - a: the judges' result, the corrected one, and the kind of change."""
        names = pl.Series(self.systems, dtype=pl.String)
        columns = {"a": names.gather(self.a), "b": names.gather(self.b)}
        columns |= self.naive_pairs.columns("naive")
        columns["naive_better"] = self._winner(self.naive_pairs)
        if self.corrected_pairs is not None:
            columns |= self.corrected_pairs.columns("corrected")
            columns["corrected_better"] = self._winner(self.corrected_pairs)
            columns["doubted"] = pl.Series(self.corrected_pairs.doubted)
        if self.corrected_pairs is not None and self.comparable:
            flips = find_flips(self.naive_pairs, self.corrected_pairs)
            kind = np.select(list(flips.values()), list(flips), default="")
            columns["flip"] = pl.Series(kind.tolist(), dtype=pl.String).replace({"": None})
        if self.guess is not None:
            found = self.guess.pairs, self.guess.usual
            guess, usual = (pairs.columns(name) for pairs, name in zip(found, ("guess", "usual"), strict=True))
            columns |= {name: guess[name] for name in ("guess_difference", "guess_low", "guess_high")}
            columns["guess_better"] = self._winner(self.guess.pairs)
            columns |= {name: usual[name] for name in ("usual_low", "usual_high")}
        return pl.DataFrame(columns)

    def flips(self) -> pl.DataFrame:
        """The pairs whose result changes: reversed ones first, then by the judges' p-value."""
        pairs = self.pairs()
        if not self.comparable:
            return pairs.clear()
        kind = pl.col("flip").replace_strict({"turns": 0, "falls": 1, "arises": 2}, return_dtype=pl.Int8)
        return pairs.drop_nulls("flip").sort(kind, "naive_p_value", maintain_order=True)

    def _winner(self, found: Differences) -> pl.Series:
        names = pl.Series(self.systems, dtype=pl.String).gather(np.where(found.value > 0, self.b, self.a))
        return pl.select(pl.when(pl.Series(found.claimed)).then(names)).to_series()

    @property
    def sentence(self) -> str:
        """What to take away."""
        level = f"{ADJUSTMENTS[self.adjust]}, {100 * (1 - self.confidence):.3g}%"
        pairs = counted(len(self.a), "pair")
        text = f"By the judges, {self.naive_pairs.count:,} of {pairs} of systems differ significantly "
        text += f"on {self.measure} ({level})"
        if self.gold is None:
            return f"{text}. Without gold, the judges' errors are not corrected: claim nothing yet."
        if self.corrected_pairs is None:
            return f"{text}. No corrected result: {end_sentence(str(self.refusal))}"
        if self.doubted:
            return f"{text}. After correction, no difference can be claimed. Warning: {end_sentence(str(self.alarm))}"
        parts = [f"{text}; {self._say_verdicts(self.corrected_pairs)}."]
        doubted = int(self.corrected_pairs.doubted.sum())
        if doubted:
            parts.append(
                f"For {counted(doubted, 'pair')}, no result is given, because gold contradicts the correction."
            )
        if self.guess is not None:
            parts.append(
                f"By the best guess, {self.guess.pairs.count:,} differ, on average over the board's pairs "
                f"({self.guess.usual.count:,} if the judges are biased as usual judges are)."
            )
        return " ".join([*parts, self._say_top()])

    def _say_verdicts(self, found: Differences) -> str:
        if not self.comparable:
            return f"this claim is for topics like these; by gold, {found.count:,} differ on these topics"
        flips = self.count_flips()
        told = (
            f"significant only without correction: {flips['falls']:,}, only with it: {flips['arises']:,}, "
            f"reversed: {flips['turns']:,}"
        )
        assert self.corrected is not None
        return f"{self.corrected.method.undone}, {found.count:,} do ({told})"

    def _say_top(self) -> str:
        found = self.corrected_pairs or self.naive_pairs
        doubted = int(found.doubted[self.b == 0].sum())
        if doubted:
            rest = len(self.top) - 1 - doubted
            return (
                f"{len(self.systems) - len(self.top):,} systems are significantly worse than "
                f"{shorten(self.systems[0])}, the first, and {rest:,} are not; {doubted:,} have no result."
            )
        if len(self.top) == 1:
            return f"{shorten(self.top[0])} is significantly better than all others, on {self.claim}."
        if len(self.top) == len(self.systems) and not (found.claimed & (self.b == 0)).any():
            return f"No system differs significantly from the best one, on {self.claim}."
        return (
            f"{len(self.top):,} systems are in the top group, in which none is significantly worse than the first: "
            f"{list_names(self.top)}."
        )
