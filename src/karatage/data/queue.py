"""Queues of documents to judge, queue files, and whether the order of systems is settled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import polars as pl

from karatage.data.axes import BoolArray, FloatArray, IntArray, freeze
from karatage.data.checks import (
    SHARE,
    TEXT,
    Column,
    maybe,
    require_equal,
    require_known,
    require_names,
    require_numbers,
    require_shape,
    require_table,
)
from karatage.data.note import Note, tell
from karatage.data.options import JudgingPrices, parse_money
from karatage.data.result import Result
from karatage.errors import DataError
from karatage.text import counted, percent


@dataclass(frozen=True, eq=False, kw_only=True)
class Settling(Result, kind="settling"):
    """For each pair of systems, the probability that the stated order is wrong by more than the indifference.

    It is about these topics, and about the effect of more judging; other topics may order systems differently.
    """

    derived = ("sentence", "notes", "settled", "rule", "pairs", "undecided", "expected_wrong", "worst", "rows")

    measure: str
    systems: tuple[str, ...]
    score: FloatArray  # (system,) expected
    spread: FloatArray  # (system,) standard deviation over draws
    wrong: FloatArray  # (system, system) P(the column is better than the row by more than the indifference)
    counts: BoolArray  # (system, system) pairs that matter: by the stated order the row is not worse than the column
    indifference: float
    risk: float
    draws: int

    def __post_init__(self) -> None:
        """Refuse wrong probabilities, and protect the arrays."""
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
            raise DataError("counts: a pair is not in the order of scores, or has one system twice")
        freeze(self.score, self.spread, self.wrong, self.counts)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Warnings; the queue that this is part of has more."""
        return (tell("these-topics"),)

    @property
    def pairs(self) -> int:
        """The number of pairs that matter."""
        return int(self.counts.sum())

    @property
    def open(self) -> BoolArray:
        """Pairs that matter whose order is wrong with a higher probability than the risk, (system, system)."""
        undecided: BoolArray = self.counts & (self.wrong > self.risk)
        return undecided

    @property
    def undecided(self) -> int:
        """The number of open pairs."""
        return int(self.open.sum())

    @property
    def settled(self) -> bool:
        """Whether judging may stop: no pair that matters is open."""
        return not self.undecided

    @property
    def expected_wrong(self) -> float:
        """The expected number of pairs in the wrong order."""
        return float(self.wrong[self.counts].sum())

    @property
    def worst(self) -> tuple[str, str, float]:
        """The least certain pair, the better system first, and the probability that its order is wrong."""
        at = np.where(self.counts, self.wrong, -1.0)
        a, b = np.unravel_index(int(np.argmax(at)), at.shape)
        return self.systems[a], self.systems[b], float(self.wrong[a, b])

    @property
    def rule(self) -> str:
        """When judging may stop."""
        return (
            f"stop when no pair that matters is in the wrong order by more than {self.indifference:g} {self.measure} "
            f"with a probability above {percent(self.risk)}"
        )

    @property
    def sentence(self) -> str:
        """What to take away."""
        if not self.pairs:
            return "There are no two systems to order."
        a, b, chance = self.worst
        pairs = counted(self.pairs, "pair")
        beyond = f"by more than {self.indifference:g} {self.measure}"
        doubt = f"the least certain is {a} above {b}, wrong {beyond} with probability {chance:.2f}"
        if self.settled:
            return f"Settled: of {pairs} none is in the wrong order {beyond} with probability above {self.risk:g}."
        return f"Not settled: {self.undecided:,} of {pairs} may be in the wrong order; {doubt}."

    def to_frame(self) -> pl.DataFrame:
        """One row per system, best first: expected score, its spread, and the least certain of its pairs."""
        at = np.where(self.counts, self.wrong, 0.0)
        doubt = np.maximum(at.max(axis=1), at.max(axis=0))
        frame = pl.DataFrame({"system": self.systems, "score": self.score, "spread": self.spread, "doubt": doubt})
        return frame.sort("score", "system", descending=[True, False])


@dataclass(frozen=True, eq=False, kw_only=True)
class AskedQueue:
    """Rows of a queue file, in the file's order and under its own column names."""

    source: str  # as shown in messages
    frame: pl.DataFrame
    topic: pl.Series
    document: pl.Series
    expert: BoolArray  # (row,) for an expert; the others are for the crowd
    judgments: IntArray  # (row,) how many by the crowd; 0 where the file has no number
    batch: int | None  # the first for the crowd; None where the file has no batches
    grade: str  # the column for the grade; it need not be there yet

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.expert, self.judgments)


EXPERT, CROWD = "expert", "crowd"
ITEMS = {
    **dict.fromkeys(("topic", "document", "to"), TEXT),
    "pi": maybe(SHARE),
    **dict.fromkeys(("judgments", "priority"), Column("int32", 1)),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgingQueue(Result, kind="queue"):
    """A batch of documents to judge within a budget; empty where judging may stop."""

    derived = ("sentence", "stop", "settled", "cost")

    order: str
    approach: str  # how the crowd's grades so far were merged
    depth: int  # of the pool
    pool: int  # items
    by_experts: int  # of these, judged so far
    by_crowd: int  # judged by the crowd alone
    items: pl.DataFrame  # topic, document, to, judgments, priority, pi, cost
    batch: int
    frame: str | None = None  # fingerprint of the items that could be drawn, where items were drawn
    prices: JudgingPrices
    budget: Decimal
    settling: Settling
    seed: int
    versions: Mapping[str, str]
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse wrong probabilities, counts and costs."""
        parse_money(self.budget, "the budget")
        require_table("items", self.items, ITEMS)
        require_known("items: to", self.items["to"].unique(), (EXPERT, CROWD), "kinds of judges")
        if (self.items["pi"] <= 0).any() or self.items.select("topic", "document", "to").is_duplicated().any():
            raise DataError("items: a probability pi is not above 0, or a document goes to the same judges twice")
        require_equal("items: priority", self.items["priority"].to_numpy(), np.arange(1, len(self.items) + 1))
        require_numbers("depth", self.depth, 1)
        require_numbers("batch", self.batch, 1)
        for name, count in (("pool", self.pool), ("judged.experts", self.by_experts), ("judged.crowd", self.by_crowd)):
            require_numbers(name, count, 0, self.pool)
        require_numbers("judged by experts and crowd", self.by_experts + self.by_crowd, 0, self.pool)
        expert = (self.items["to"] == EXPERT).to_list()
        if "cost" not in self.items.columns or self.items["cost"].to_list() != [
            self.prices.expert if one else self.prices.label for one in expert
        ]:
            raise DataError("items: cost does not follow from the prices")
        judgments = [1 if one else self.prices.judgments for one in expert]
        require_equal("items: judgments", self.items["judgments"].to_numpy(), np.array(judgments, np.int32))
        if self.cost > self.budget:
            raise DataError(f"the items cost {self.cost:f}, more than the budget of {self.budget:f}")

    @property
    def cost(self) -> Decimal:
        """The cost of the batch."""
        experts = len(self.items.filter(to=EXPERT))
        return experts * self.prices.expert + (len(self.items) - experts) * self.prices.label

    @property
    def settled(self) -> bool:
        """Whether judging may stop."""
        return self.settling.settled

    @property
    def stop(self) -> bool:
        """Whether there is nothing to judge: the leaderboard is settled, or nothing is left."""
        return not len(self.items)

    @property
    def queue(self) -> pl.DataFrame:
        """The table for the judges, with empty grades; where items were drawn, with the fingerprint of the frame."""
        items = self.items.select(
            "topic",
            "document",
            pl.lit(None, pl.Int8).alias("grade"),
            "to",
            "judgments",
            "priority",
            "pi",
            "cost",
            pl.lit(self.batch, pl.Int32).alias("batch"),
            pl.lit(self.order).alias("order"),
            pl.lit(self.seed, pl.Int64).alias("seed"),
        )
        if self.frame is None:
            return items
        return items.with_columns(
            pl.len().over("to").cast(pl.Int32).alias("batch_size"),
            pl.lit(self.settling.measure).alias("measure"),
            pl.lit(self.frame).alias("frame"),
        )

    @property
    def sentence(self) -> str:
        """What to take away: what to do next."""
        found = self.settling.sentence
        if self.settled:
            return f"Stop judging. {found}"
        if self.stop:
            return f"Stop judging, or give experts a share: the crowd has judged all documents that matter. {found}"
        experts = len(self.items.filter(to=EXPERT))
        parts = [
            f"{counted(count, 'document')} to {who}" for count, who in
            ((experts, "experts"), (len(self.items) - experts, "the crowd")) if count
        ]  # fmt: skip
        return f"Send {' and '.join(parts)}, for {self.cost:f} of {self.budget:f}. {found}"

    def to_frame(self) -> pl.DataFrame:
        """One row per document: topic, document, to, judgments, priority, pi, cost."""
        return self.items
