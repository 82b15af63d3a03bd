"""Which documents to judge next, by whom, and whether that is still needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import polars as pl

from karatage.data.checks import (
    SHARE,
    TEXT,
    Column,
    maybe,
    require_equal,
    require_known,
    require_numbers,
    require_table,
)
from karatage.data.prices import JudgingPrices, parse_money
from karatage.data.result import Result
from karatage.data.settling import Settling
from karatage.errors import DataError
from karatage.text import counted

EXPERT, CROWD = "expert", "crowd"
ITEMS = {**dict.fromkeys(("topic", "document", "to"), TEXT), "pi": maybe(SHARE)}
ITEMS |= dict.fromkeys(("judgments", "priority"), Column("int32", 1))


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgingQueue(Result, kind="queue"):
    """A batch of documents to judge, bought within a budget; empty where judging may stop."""

    derived = ("sentence", "stop", "settled", "cost")

    order: str
    approach: str  # how the crowd's grades so far were merged
    depth: int  # of the pool
    pool: int  # items
    by_experts: int  # of these, judged so far
    by_crowd: int  # judged by the crowd alone
    items: pl.DataFrame  # topic, document, to, judgments, priority, pi, cost
    batch: int
    frame: str | None = None  # fingerprint of what was drawn from, where items were drawn
    prices: JudgingPrices
    budget: Decimal
    settling: Settling
    seed: int
    versions: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse chances, counts and costs that are none."""
        parse_money(self.budget, "the budget")
        require_table("items", self.items, ITEMS)
        require_known("items: to", self.items["to"].unique(), (EXPERT, CROWD), "kinds of judges")
        if (self.items["pi"] <= 0).any() or self.items.select("topic", "document", "to").is_duplicated().any():
            raise DataError("items: a chance pi is not above 0, or a document goes to the same judges twice")
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
        """Of the whole batch."""
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
        """The table that goes to the judges: grade is empty; those that were drawn say from what."""
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
        """What to do next."""
        found = self.settling.sentence
        if self.settled:
            return f"Stop judging. {found}"
        if self.stop:
            return f"Stop judging, or give experts a share: the crowd has judged all that can matter. {found}"
        experts = len(self.items.filter(to=EXPERT))
        parts = [
            f"{counted(count, 'document')} to {who}" for count, who in
            ((experts, "experts"), (len(self.items) - experts, "the crowd")) if count
        ]  # fmt: skip
        return f"Send {' and '.join(parts)}, for {self.cost:f} of {self.budget:f}. {found}"

    def to_frame(self) -> pl.DataFrame:
        """One row per document: topic, document, to, judgments, priority, pi, cost."""
        return self.items

    def __repr__(self) -> str:
        return f"JudgingQueue({self.sentence})"
