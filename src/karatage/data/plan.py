"""Plans: which items to have graded as gold, and how many topics and gold items are needed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from karatage.data.checks import (
    SHARE,
    TEXT,
    Column,
    maybe,
    require_equal,
    require_known,
    require_names,
    require_numbers,
    require_table,
)
from karatage.data.estimate import require_intervals, t_quantile
from karatage.data.note import Note
from karatage.data.options import check_confidence
from karatage.data.result import Result, list_versions
from karatage.errors import DataError
from karatage.text import counted, shorten

ITEMS = {"topic": TEXT, "document": TEXT, "said": maybe(Column("int8", 0)), "pi": SHARE, "batch": Column("int32", 1)}


class Forecast(NamedTuple):
    """The expected precision of a difference; for a leaderboard, the median over its pairs."""

    standard_error: float
    half_width: float  # of the interval


@dataclass(frozen=True, eq=False, kw_only=True)
class GoldPlan(Result, kind="gold-plan"):
    """Items drawn for gold with known probabilities, in batches to be judged in turn."""

    derived = ("sentence", "labels", "census", "factor", "batches")

    measure: str
    systems: tuple[str, ...]  # two are a pair, more a leaderboard
    approach: str  # how judges became one
    confidence: float
    topics: int
    items: pl.DataFrame  # topic, document, said (null: unjudged), pi, batch
    earlier: int  # gold labels from earlier plans
    frame_size: int  # items that could be drawn
    frame: str  # their fingerprint
    pairs: int  # that can differ
    undecided: int  # of them
    even: float  # labels of a simple random sample with the same standard error
    these: Forecast | None = None  # over these topics
    new: Forecast | None = None  # over topics like them
    informed: bool = False  # whether the forecast uses gold
    same: str | None = None  # what the systems have in common, where they cannot differ
    seed: int
    versions: Mapping[str, str]
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse wrong probabilities and counts."""
        require_names("systems", self.systems, least=2)
        check_confidence(self.confidence)
        require_table("items", self.items, ITEMS)
        if (self.items["pi"] <= 0).any() or self.items.select("topic", "document").is_duplicated().any():
            raise DataError("items: a probability pi is not above 0, or a document is there twice")
        require_numbers("topics", self.topics, 1)
        require_numbers("earlier", self.earlier, 0)
        require_numbers("frame_size", self.frame_size, self.labels)
        require_numbers("labels and earlier together", self.labels + self.earlier, 0, self.frame_size)
        require_numbers("pairs", self.pairs, 0, math.comb(len(self.systems), 2))
        require_numbers("undecided", self.undecided, 0, self.pairs)
        require_numbers("even", self.even, 0, endless=True)
        if (self.these is None) != (not self.labels):
            raise DataError("these_topics must be given if items are drawn, and only then")
        for name, found in (("these_topics", self.these), ("new_topics", self.new)):
            if found is not None:
                require_numbers(f"{name}.standard_error", found.standard_error, 0, unknown=True, endless=True)
                error, half = found.standard_error, (-found.half_width, found.half_width)
                require_intervals(f"{name}.half_width", 0.0, error, half, self.confidence, cut=False)

    @property
    def labels(self) -> int:
        """The number of gold labels to ask for."""
        return len(self.items)

    @property
    def census(self) -> bool:
        """Whether gold will then include all items on which systems differ."""
        return 0 < self.frame_size == self.labels + self.earlier

    @property
    def factor(self) -> float | None:
        """The size of a simple random sample with the same standard error, as a multiple; None for a census."""
        return None if self.census or not self.labels else self.even / self.labels

    @property
    def batches(self) -> pl.DataFrame:
        """One row per batch: batch, labels, topics, and the range of probabilities."""
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
        """The table for the gold judges, with empty grades and without the cheap judges' grades."""
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
        said = f"Have {part}{counted(self.labels, f'{more}document')}{rest} graded as gold"
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
            return f"All {counted(self.frame_size, 'document')} on which {self._who} differ have gold."
        if len(self.systems) == 2:
            return f"{gold[0].upper()}{gold[1:]} decide the comparison of {self._who}: no document is left to judge."
        return (
            f"All {self.pairs:,} pairs of {self._who} are already decided by {gold} (Holm): nothing more is drawn, "
            "but stopping for that reason leads to too many false claims."
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
        said = f"the expected interval is {width} over these topics{self._say_new()}"
        if not self.informed:
            said += ", narrower if judges are accurate"
        left, even = self.frame_size - self.earlier, math.ceil(self.even - 1e-9)
        return f"{said}. A simple random sample of the {left:,} would need {even:,} for the same interval."

    def _name_pairs(self) -> str:
        return counted(self.pairs, "pair") if self.undecided == self.pairs else f"{self.undecided:,} undecided pairs"

    def _say_new(self) -> str:
        return "" if self.new is None else f" and ± {self.new.half_width:.3g} over topics like them"

    def to_frame(self) -> pl.DataFrame:
        """One row per item to judge: topic, document, said (what the judges said), pi, batch."""
        return self.items


KINDS = ("topics", "gold relevant", "gold not relevant")


@dataclass(frozen=True)
class Need:
    """A number of topics or gold items."""

    derived = ("cost",)

    kind: str  # topics, gold relevant, gold not relevant
    judges: str  # the system whose judges they are, where each has its own
    size: float  # whole, or infinite
    have: int
    share: float  # of the error allowed
    price: float | None  # of one

    @property
    def cost(self) -> float | None:
        """The cost of all, including those already there."""
        return None if self.price is None else self.size * self.price


@dataclass(frozen=True, kw_only=True)
class SizePlan(Result, kind="size-plan"):
    """Numbers of topics and gold items, and the difference that they can show."""

    derived = ("sentence", "cost", "rows")

    judges: str  # shared or independent
    paired: bool  # whether both systems have the same topics
    level: float
    power: float | None  # None: not asked for, as in [NOISY18]
    estimates: tuple[float, float]  # corrected means; NaN where judges are no better than chance
    difference: float  # to be shown, by gold, second less first
    needs: tuple[Need, ...]
    topics_without_errors: float  # with perfect judges, [NOISY18] (26)
    standard_error: float  # of the difference with these numbers
    half_width: float  # of its interval
    detectable: float  # the smallest difference that these numbers can show
    budget: float | None
    refusal: str | None  # why there is no plan, and what to do
    notes: tuple[Note, ...]
    versions: Mapping[str, str] = field(default_factory=list_versions, compare=False)

    def __post_init__(self) -> None:
        """Refuse entries that contradict each other."""
        require_known("judges", (self.judges,), ("shared", "independent"), "ways to judge two systems")
        require_numbers("level", self.level, 0, 1)
        if self.power is not None:
            require_numbers("power", self.power, 0.5, 1)
        if self.budget is not None:
            require_numbers("budget", self.budget, 0)
        require_numbers("estimates", self.estimates, 0, 1, unknown=True)
        require_numbers("difference", self.difference, unknown=True)
        for name in ("topics_without_errors", "standard_error", "half_width", "detectable"):
            require_numbers(name, getattr(self, name), 0, unknown=True, endless=True)
        require_equal("half_width", self.half_width, t_quantile(1 - self.level / 2, math.inf) * self.standard_error)
        kinds = [need.kind for need in self.needs]
        samples = 1 if self.judges == "shared" else 2
        if kinds != [KINDS[0], *KINDS[1:] * samples]:
            raise DataError(f"needs are not those of {', '.join(KINDS)}")
        require_numbers("needs: size", [need.size for need in self.needs], 0, endless=True)
        require_numbers("needs: have", [need.have for need in self.needs], 0)
        require_numbers("needs: share", [need.share for need in self.needs], 0, 1)
        require_equal("the sum of needs: share", sum(self.split), 1.0)
        require_numbers("needs: price", [need.price for need in self.needs if need.price is not None], 0)

    @property
    def topics(self) -> float:
        """Topics for each system."""
        return self.needs[0].size

    @property
    def gold_relevant(self) -> tuple[float, ...]:
        """Gold-relevant items to grade, per sample."""
        return tuple(need.size for need in self.needs if need.kind == "gold relevant")

    @property
    def gold_other(self) -> tuple[float, ...]:
        """Other gold items to grade, per sample."""
        return tuple(need.size for need in self.needs if need.kind == "gold not relevant")

    @property
    def split(self) -> tuple[float, float, float]:
        """[NOISY18]'s f1, f2, f3."""
        share = {need.kind: need.share for need in self.needs}
        return share["topics"], share["gold relevant"], share["gold not relevant"]

    @property
    def cost(self) -> float | None:
        """The cost of everything, where prices are known."""
        costs = [need.cost for need in self.needs]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    @property
    def sentence(self) -> str:
        """What to take away."""
        free = f"with perfect judges, {_number(self.topics_without_errors)} topics are enough"
        if self.refusal is not None:
            ending = f"; {free}" if math.isfinite(self.topics_without_errors) else ""
            return f"No number of topics or gold items can be given: {self.refusal}{ending}."
        power = f" with {self.power:.0%} power" if self.power is not None else ""
        gold = f"{_number(sum(self.gold_relevant))} relevant and {_number(sum(self.gold_other))} other gold items"
        if self.budget is not None:
            shows = "no difference" if math.isinf(self.detectable) else f"a difference of {self.detectable:.3g}"
            return (
                f"A budget of {self.budget:,g} buys {_number(self.topics)} topics, {gold}: an interval of ± "
                f"{self.half_width:.3g}, which shows {shows}{power} at level {self.level:g}."
            )
        return (
            f"To show a difference of {self.difference:+.3g} at level {self.level:g}{power} needs "
            f"{_number(self.topics)} topics, {gold}; {free}."
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per kind: need, judges, size (null: no number is enough), have, more, share of the error, cost."""
        sizes = [int(need.size) if math.isfinite(need.size) else None for need in self.needs]
        haves = [need.have for need in self.needs]
        return pl.DataFrame(
            {
                "need": [need.kind for need in self.needs],
                "judges": [need.judges for need in self.needs],
                "size": pl.Series(sizes, dtype=pl.Int64),
                "have": pl.Series(haves, dtype=pl.Int64),
                "more": pl.Series(
                    [None if size is None else max(size - have, 0) for size, have in zip(sizes, haves, strict=True)],
                    dtype=pl.Int64,
                ),
                "share": pl.Series([need.share for need in self.needs], dtype=pl.Float64),
                "cost": pl.Series([_finite(need.cost) for need in self.needs], dtype=pl.Float64),
            }
        )


def _number(size: float) -> str:
    return f"{int(size):,}" if math.isfinite(size) else "infinitely many"


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
