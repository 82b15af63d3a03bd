"""A leaderboard and all its pairs: what the judges say, and what is left once their errors are undone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np
import polars as pl

from karatage.data.accuracy import Accuracy
from karatage.data.axes import BoolArray, LongArray, freeze
from karatage.data.checks import require_names, require_numbers
from karatage.data.choices import Adjust
from karatage.data.estimate import check_confidence
from karatage.data.note import Note
from karatage.data.result import Result
from karatage.data.scores import settle_ties
from karatage.data.standing import Bounded, Differences, Standing, find_flips
from karatage.errors import DataError, UnknownNameError
from karatage.kernels.multiplicity import find_groups, letters
from karatage.text import counted, end_sentence, list_names, shorten

NEW_TOPICS = "topics like these"
ADJUSTMENTS = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": "each pair on its own"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Board(Result, kind="board"):
    """What `compare_all` found; systems stand best first, corrected where that was possible."""

    derived = ("sentence", "significant", "top", "groups", "count_flips", "rows", "pairs")

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
    tau: Bounded | None = None  # between the judges' order and the corrected one
    tau_ap: Bounded | None = None  # the same with the corrected order for reference
    slope: Bounded | None = None  # of the judges' differences on gold's: above 1 they exaggerate
    refusal: str | None = None  # why nothing was corrected
    gold: str | None = None  # what the gold sample is
    accuracy: Accuracy | None = None
    alarm: str | None = None  # why nothing is claimed, though there is a correction; what to do
    assumed: tuple[str, ...] = ()
    seed: int
    versions: Mapping[str, str]
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no comparison of systems finds."""
        require_names("systems", self.systems, least=2)
        require_numbers("topics", self.topics, 0)
        check_confidence(self.confidence)
        if self.adjust not in get_args(Adjust):
            raise UnknownNameError("adjustment", self.adjust, get_args(Adjust))
        if (self.corrected is None) != (self.corrected_pairs is None):
            raise DataError("scores are corrected and differences are not, or the other way round")
        if self.corrected is None and self.gold is not None and self.refusal is None:
            raise DataError("nothing is corrected, and refusal does not say why")
        self.naive.check(len(self.systems), self.confidence, cut=False)
        if self.corrected is not None:
            self.corrected.check(len(self.systems), self.confidence, cut=True)
        for found in (self.naive_pairs, self.corrected_pairs):
            if found is not None:
                found.check(len(self.a), self.confidence, self.adjust)
        steps = settle_ties((self.corrected or self.naive).value)
        if (np.diff(steps) > 0).any():
            raise DataError("systems are not in the order of their scores")
        for name, bounded, most in (("tau", self.tau, 1), ("tau_ap", self.tau_ap, 1), ("slope", self.slope, np.inf)):
            if bounded is not None:
                bounded.check(name, -most, most)

    @property
    def a(self) -> LongArray:
        """The system of each pair that stands lower."""
        return self._pairs[1]

    @property
    def b(self) -> LongArray:
        """The system of each pair that stands higher."""
        return self._pairs[0]

    @cached_property
    def _pairs(self) -> tuple[LongArray, LongArray]:
        higher, lower = np.triu_indices(len(self.systems), 1)
        freeze(higher, lower)
        return higher, lower

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Groups of systems no two of which can be told apart."""
        return find_groups(self._apart)

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """For each system; two share a letter where they cannot be told apart."""
        return letters(self._apart)

    @property
    def _apart(self) -> BoolArray:
        """Who can be told apart, (system, system)."""
        apart = np.zeros((len(self.systems), len(self.systems)), bool)
        apart[self.a, self.b] = apart[self.b, self.a] = (self.corrected_pairs or self.naive_pairs).claimed
        return apart

    @property
    def doubted(self) -> bool:
        """Whether gold itself speaks against the correction, so that nothing is claimed with it."""
        return self.alarm is not None and self.corrected is not None

    @property
    def decisive(self) -> Differences | None:
        """The pairs to go by: corrected, or the judges' where there is no gold; None where correction was refused."""
        return self.naive_pairs if self.gold is None else self.corrected_pairs

    @property
    def significant(self) -> bool:
        """Whether a difference may be claimed for any pair; never without gold, as judge errors are then not undone."""
        return self.corrected_pairs is not None and self.decisive is not None and self.decisive.count > 0

    @property
    def top(self) -> tuple[str, ...]:
        """The best system and all that are not told from it, be it that nothing is said of the two."""
        found = self.corrected_pairs or self.naive_pairs
        worse = set(self.a[(self.b == 0) & found.claimed].tolist())
        return tuple(name for s, name in enumerate(self.systems) if s not in worse)

    @property
    def comparable(self) -> bool:
        """Whether judges' and corrected verdicts are about the same topics; the judges' are always about new ones."""
        return self.corrected_pairs is not None and self.claim == NEW_TOPICS

    def count_flips(self) -> dict[str, int]:
        """How many verdicts of the judges fall, how many arise, and how many turn around; nothing if not comparable."""
        if self.corrected_pairs is None or not self.comparable:
            return {}
        return {kind: int(found.sum()) for kind, found in find_flips(self.naive_pairs, self.corrected_pairs).items()}

    def to_frame(self) -> pl.DataFrame:
        """The leaderboard."""
        names, letters = (pl.Series(texts, dtype=pl.String) for texts in (self.systems, self.letters))
        columns = {"system": names, "letters": letters} | self.naive.columns("naive")
        if self.corrected is not None:
            columns |= self.corrected.columns("corrected")
        return pl.DataFrame(columns)

    def pairs(self) -> pl.DataFrame:
        """One row per pair, differences being b - a: the judges' verdict, the corrected one, and how it flips."""
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
        return pl.DataFrame(columns)

    def flips(self) -> pl.DataFrame:
        """The pairs whose verdict flips: turned ones first, then by how sure the judges were."""
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
        text = (
            f"Judges tell {self.naive_pairs.count:,} of {counted(len(self.a), 'pair')} of systems apart on "
            f"{self.measure} ({level})"
        )
        if self.gold is None:
            return f"{text}. Without gold judge errors are not corrected: claim nothing yet."
        if self.corrected_pairs is None:
            return f"{text}. Corrected: refused, {end_sentence(str(self.refusal))}"
        if self.doubted:
            return f"{text}. Corrected, no difference can be claimed. Alarm: {end_sentence(str(self.alarm))}"
        parts = [f"{text}; {self._say_verdicts(self.corrected_pairs)}."]
        doubted = int(self.corrected_pairs.doubted.sum())
        if doubted:
            parts.append(f"Of {counted(doubted, 'pair')} no result is given, because gold contradicts the correction.")
        return " ".join([*parts, self._say_top()])

    def _say_verdicts(self, found: Differences) -> str:
        if not self.comparable:
            return f"that is about topics like these, while on these topics gold tells {found.count:,} apart"
        flips = self.count_flips()
        told = (
            f"significant only without correction: {flips['falls']:,}, only with it: {flips['arises']:,}, "
            f"reversed: {flips['turns']:,}"
        )
        assert self.corrected is not None
        return f"{self.corrected.method.undone} it is {found.count:,} ({told})"

    def _say_top(self) -> str:
        found = self.corrected_pairs or self.naive_pairs
        doubted = int(found.doubted[self.b == 0].sum())
        if doubted:
            rest = len(self.top) - 1 - doubted
            return (
                f"From {shorten(self.systems[0])}, the first, {len(self.systems) - len(self.top):,} can be told and "
                f"{rest:,} cannot; of {doubted:,} nothing is said."
            )
        if len(self.top) == 1:
            return f"{shorten(self.top[0])} leads alone, on {self.claim}."
        if len(self.top) == len(self.systems):
            return f"No system differs significantly from the best one, on {self.claim}."
        return f"{len(self.top):,} systems share the top: {list_names(self.top)}."
