"""Which documents to send to gold, and what their grades should buy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from karatage.data.checks import SHARE, TEXT, Column, maybe, require_names, require_numbers, require_table
from karatage.data.estimate import check_confidence, require_intervals
from karatage.data.note import Note
from karatage.data.result import Result
from karatage.errors import DataError
from karatage.text import counted, shorten

ITEMS = {"topic": TEXT, "document": TEXT, "said": maybe(Column("int8", 0)), "pi": SHARE, "batch": Column("int32", 1)}


class Forecast(NamedTuple):
    """How well a difference should be known; for a leaderboard the median over its pairs."""

    standard_error: float
    half_width: float  # of the interval


@dataclass(frozen=True, eq=False, kw_only=True)
class GoldPlan(Result, kind="gold-plan"):
    """Items drawn for gold with known chances, in batches to be judged in turn."""

    derived = ("sentence", "labels", "census", "factor", "batches")

    measure: str
    systems: tuple[str, ...]  # two are a pair, more a leaderboard
    approach: str  # how judges became one
    confidence: float
    topics: int
    items: pl.DataFrame  # topic, document, said (null: by nobody), pi, batch
    earlier: int  # labels read back
    frame_size: int  # items that could be drawn
    frame: str  # their fingerprint
    pairs: int  # that can differ
    undecided: int  # of them
    even: float  # labels drawn evenly from what is left that would give the same standard error
    these: Forecast | None = None  # over these topics
    new: Forecast | None = None  # over topics like them
    informed: bool = False  # whether gold has shown how far the judges can be relied on
    same: str | None = None  # what the systems have in common, where they cannot differ
    seed: int
    versions: Mapping[str, str]
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse chances and counts that are none."""
        require_names("systems", self.systems, least=2)
        check_confidence(self.confidence)
        require_table("items", self.items, ITEMS)
        if (self.items["pi"] <= 0).any() or self.items.select("topic", "document").is_duplicated().any():
            raise DataError("items: a chance pi is not above 0, or a document is to be judged twice")
        require_numbers("topics", self.topics, 1)
        require_numbers("earlier", self.earlier, 0)
        require_numbers("frame_size", self.frame_size, self.labels)
        require_numbers("labels and earlier together", self.labels + self.earlier, 0, self.frame_size)
        require_numbers("pairs", self.pairs, 0, math.comb(len(self.systems), 2))
        require_numbers("undecided", self.undecided, 0, self.pairs)
        require_numbers("even", self.even, 0, endless=True)
        if (self.these is None) != (not self.labels):
            raise DataError("these_topics says what is bought where something is drawn, and only there")
        for name, found in (("these_topics", self.these), ("new_topics", self.new)):
            if found is not None:
                require_numbers(f"{name}.standard_error", found.standard_error, 0, unknown=True, endless=True)
                error, half = found.standard_error, (-found.half_width, found.half_width)
                require_intervals(f"{name}.half_width", 0.0, error, half, self.confidence, cut=False)

    @property
    def labels(self) -> int:
        """How many grades to ask gold for."""
        return len(self.items)

    @property
    def census(self) -> bool:
        """Whether, with these, gold will have graded all that matters."""
        return 0 < self.frame_size == self.labels + self.earlier

    @property
    def factor(self) -> float | None:
        """Labels that even drawing would take for the same standard error, as a multiple; None for a census."""
        return None if self.census or not self.labels else self.even / self.labels

    @property
    def batches(self) -> pl.DataFrame:
        """One row per batch: batch, labels, topics touched, and the range of chances."""
        return (
            self.items.group_by("batch")
            .agg(
                labels=pl.len(),
                topics=pl.col("topic").n_unique(),
                lowest_pi=pl.col("pi").min(),
                median_pi=pl.col("pi").median(),
                certain=(pl.col("pi") == 1).sum(),
            )
            .sort("batch")
        )

    @property
    def queue(self) -> pl.DataFrame:
        """The table that goes to the gold judges: grade is empty, and what the cheap judges said is left out."""
        return self.items.select(
            "topic",
            "document",
            pl.lit(None, pl.Int8).alias("grade"),
            "pi",
            "batch",
            pl.len().over("batch").cast(pl.Int32).alias("batch_size"),
            pl.lit(self.measure).alias("measure"),
            pl.lit(self.frame).alias("frame"),
            pl.lit(self.seed, pl.Int64).alias("seed"),
        )

    @property
    def sentence(self) -> str:
        """What to take away."""
        if self.same is not None:
            return f"No difference between {self._who}: {self.same}, so there is nothing to judge."
        if not self.labels:
            return self._say_done()
        part = "all " if self.census else ""
        rest = "" if self.census and not self.earlier else f" (of {self.frame_size:,} on which they differ)"
        more = "further " if self.earlier else ""
        said = f"Send {part}{counted(self.labels, f'{more}document')}{rest} to gold"
        batches = self.items["batch"].n_unique()
        if batches > 1:
            said += f", in {batches} batches"
        return f"{said}: {self._say_forecast()}"

    @property
    def _who(self) -> str:
        pair = len(self.systems) == 2
        return " and ".join(map(shorten, self.systems)) if pair else f"these {len(self.systems):,} systems"

    def _say_done(self) -> str:
        gold = counted(self.earlier, "gold label")
        if self.earlier >= self.frame_size:
            return f"All {counted(self.frame_size, 'document')} on which {self._who} differ have gold: nothing is left."
        if len(self.systems) == 2:
            return f"{gold[0].upper()}{gold[1:]} leave nothing open between {self._who}: nothing is left to judge."
        return (
            f"All {self.pairs:,} pairs of {self._who} are already decided by {gold} (Holm): nothing more is drawn, "
            "but who stops because of that claims too often."
        )

    def _say_forecast(self) -> str:
        pair = len(self.systems) == 2
        if self.census:
            all_of = "their difference" if pair else "every difference"
            known = f"{all_of} on these {counted(self.topics, 'topic')} will be known exactly"
            return (
                f"{known}{'' if self.new is None else f', and to ± {self.new.half_width:.3g} over topics like them'}."
            )
        assert self.these is not None
        of = f"{self.measure}" if pair else f"{self.measure} for the median of {self._name_pairs()}"
        width = f"± {self.these.half_width:.3g} on {of}"
        said = f"that should give {width} over these topics{self._say_new()}"
        if not self.informed:
            said += ", less where judges are good"
        left, even = self.frame_size - self.earlier, math.ceil(self.even - 1e-9)
        return f"{said}. Drawn evenly from the {left:,}, it would take {even:,}."

    def _name_pairs(self) -> str:
        return counted(self.pairs, "pair") if self.undecided == self.pairs else f"{self.undecided:,} undecided pairs"

    def _say_new(self) -> str:
        return "" if self.new is None else f" and ± {self.new.half_width:.3g} over topics like them"

    def to_frame(self) -> pl.DataFrame:
        """One row per item to judge: topic, document, said (what the judges said), pi, batch."""
        return self.items
