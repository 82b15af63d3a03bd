"""How likely a leaderboard is in the wrong order, as far as judging can still change it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from karatage.data.axes import BoolArray, FloatArray, freeze
from karatage.data.checks import require_names, require_numbers, require_shape
from karatage.data.result import Result
from karatage.errors import DataError
from karatage.text import counted, percent


@dataclass(frozen=True, eq=False, kw_only=True)
class Settling(Result, kind="settling"):
    """For each pair of systems the probability that the order stated is wrong by more than an indifference.

    It is about these topics, and about what more judging could show; other topics may order systems otherwise.
    """

    derived = ("sentence", "notes", "settled", "rule", "pairs", "undecided", "expected_wrong", "worst", "rows")

    measure: str
    systems: tuple[str, ...]
    score: FloatArray  # (system,) expected
    spread: FloatArray  # (system,) standard deviation over draws
    wrong: FloatArray  # (system, system) chance that the column beats the row by more than the indifference
    counts: BoolArray  # (system, system) pairs that matter: the row is stated to be no worse than the column
    indifference: float
    risk: float
    draws: int

    def __post_init__(self) -> None:
        """Refuse chances that are none, and protect the arrays."""
        size = len(self.systems)
        require_names("columns", self.systems)
        for name in ("score", "spread"):
            require_shape(name, getattr(self, name), size)
        for name in ("wrong", "counts"):
            require_shape(name, getattr(self, name), size, size)
        require_numbers("score", self.score, 0)
        require_numbers("spread", self.spread, 0)
        require_numbers("wrong", self.wrong, 0, 1)
        require_numbers("indifference", self.indifference, 0)
        require_numbers("risk", self.risk, 0, 1)
        require_numbers("draws", self.draws, 1)
        if (self.counts & ((self.score[:, None] < self.score[None, :]) | np.eye(size, dtype=bool))).any():
            raise DataError("counts: a system is said to be no worse than one with a higher score, or than itself")
        freeze(self.score, self.spread, self.wrong, self.counts)

    @property
    def notes(self) -> tuple[str, ...]:
        """Doubts, of which the queue that this is part of has more."""
        return ("about these topics, and what more judging could show; other topics may order systems otherwise",)

    @property
    def pairs(self) -> int:
        """How many pairs matter."""
        return int(self.counts.sum())

    @property
    def open(self) -> BoolArray:
        """Pairs that matter whose order may well be wrong, (system, system)."""
        undecided: BoolArray = self.counts & (self.wrong > self.risk)
        return undecided

    @property
    def undecided(self) -> int:
        """How many pairs are open."""
        return int(self.open.sum())

    @property
    def settled(self) -> bool:
        """The rule to stop by: no pair that matters is wrong by more than the indifference with more than this risk."""
        return not self.undecided

    @property
    def expected_wrong(self) -> float:
        """Pairs in the wrong order to be expected."""
        return float(self.wrong[self.counts].sum())

    @property
    def worst(self) -> tuple[str, str, float]:
        """The most doubtful pair, the one stated to be better first, and the probability that it is wrong."""
        at = np.where(self.counts, self.wrong, -1.0)
        a, b = np.unravel_index(int(np.argmax(at)), at.shape)
        return self.systems[a], self.systems[b], float(self.wrong[a, b])

    @property
    def rule(self) -> str:
        """When to stop."""
        return (
            f"stop when no pair that matters is in the wrong order by more than {self.indifference:g} {self.measure} "
            f"with a probability above {percent(self.risk)}"
        )

    @property
    def sentence(self) -> str:
        """What to take away."""
        if not self.pairs:
            return "There is no pair of systems to order."
        a, b, chance = self.worst
        pairs = counted(self.pairs, "pair")
        beyond = f"by more than {self.indifference:g} {self.measure}"
        doubt = f"the most doubtful is {a} above {b}, wrong {beyond} with probability {chance:.2f}"
        if self.settled:
            return f"Settled: of {pairs} none is in the wrong order {beyond} with probability above {self.risk:g}."
        return f"Not settled: {self.undecided:,} of {pairs} may be in the wrong order; {doubt}."

    def to_frame(self) -> pl.DataFrame:
        """One row per system, best first: expected score, its spread, and the most doubtful of its pairs."""
        at = np.where(self.counts, self.wrong, 0.0)
        doubt = np.maximum(at.max(axis=1), at.max(axis=0))
        frame = pl.DataFrame({"system": self.systems, "score": self.score, "spread": self.spread, "doubt": doubt})
        return frame.sort("score", "system", descending=[True, False])
