"""What the collaborative experiment found, in the layout of [COLLAB14]'s figures and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from karatage.data.checks import COUNT, SHARE, TEXT, require_known, require_numbers, require_table
from karatage.data.codec import Columns
from karatage.data.result import Result, list_versions
from karatage.errors import DataError
from karatage.experiments.collaborative.cells import FINDING, MIXES, ORDERS, QUALITY
from karatage.experiments.collaborative.plan import CollaborativePlan
from karatage.experiments.collaborative.summing import ABOVE, BELOW, OPEN, decide, find_interval, summarise
from karatage.experiments.collaborative.telling import TARGET, conclude

PLACE = ("order", "crowd", "ratio")
_WHO = {"order": TEXT, "sample": COUNT}
STUDIES = {
    "orders": {**_WHO, **ORDERS},
    "finding": {**_WHO, **FINDING},
    "mixes": {"order": TEXT, "crowd": TEXT, "sample": COUNT, **MIXES},
    "quality": {"crowd": TEXT, "sample": COUNT, **QUALITY},
}
AREAS = {**_WHO, "area": SHARE, "topics_above": COUNT, "topics_below": COUNT}
KEYS = {
    "orders": ("order", "sample", "experts"),
    "finding": ("order", "sample", "judged"),
    "mixes": ("order", "crowd", "sample", "experts", "crowd_share", "approach", "ratio"),
    "quality": ("crowd", "sample", "approach"),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class CollaborativeFindings(Result, kind="collaborative"):
    """How near experts and crowds come to experts who judge the whole pool, and what that costs.

    `orders` has a row for each order, sample and share of experts alone; `finding` the same in steps of 1 %, and
    `areas` the area under the curve of relevant documents found; `mixes` a row for each order, crowd, sample, mix,
    approach and ratio, beside experts alone at the same cost; `quality` one for each crowd, sample and approach on the
    whole pool. A sample is a crowd, and the luck of an order that draws. Costs are shares of what full expert judging
    costs.
    """

    derived = ("sentence", "tables")
    unsaved = ("log",)

    plan: CollaborativePlan
    items: int
    relevant: float  # share of them
    topics: int
    systems: int
    orders: Columns
    finding: Columns
    areas: Columns
    mixes: Columns
    quality: Columns
    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=list_versions)
    log: tuple[str, ...] = ()  # about this run, not about what was found

    def __post_init__(self) -> None:
        """Refuse tables that are none, and names that are not the plan's."""
        for study, columns in STUDIES.items():
            require_table(study, getattr(self, study), columns)
        if "finding" in self.plan.studies:
            require_table("areas", self.areas, AREAS)
        for name in ("items", "topics", "systems"):
            require_numbers(name, getattr(self, name), 1)
        require_numbers("relevant", self.relevant, 0, 1)
        known = {
            "order": self.plan.orders,
            "crowd": (*self.plan.crowds, *self.plan.tabled),
            "approach": (self.plan.approach, *self.plan.approaches),
            "ratio": self.plan.ratios,
        }
        for study in (*STUDIES, "areas"):
            table: pl.DataFrame = getattr(self, study)
            for column, names in known.items():
                if column in table.columns:
                    require_known(f"{study}: {column}", table[column].unique(), names, f"plan's {column}s")
            keys = [name for name in KEYS.get(study, ("order", "sample")) if name in table.columns]
            if keys and table.select(keys).is_duplicated().any():
                raise DataError(f"{study}: a row is there twice")

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Everything, in long form."""
        parts = []
        for study, keys in KEYS.items():
            table: pl.DataFrame = getattr(self, study)
            numbers = [name for name in table.columns if name not in keys]
            long = table.unpivot(numbers, index=keys, variable_name="quantity", value_name="value")
            parts.append(long.select(pl.lit(study).alias("study"), *keys, "quantity", pl.col("value").cast(pl.Float64)))
        return pl.concat(parts, how="diagonal")

    @cached_property
    def order_means(self) -> pl.DataFrame:
        """[COLLAB14] figure 3.4: experts alone, by order and share; `gap` is the lead over depth in tau_ap."""
        wanted = {"judged": None, "found": None, "tau": None, "tau_ap": "error", "gap": "gap_error"}
        return summarise(self.orders, ("order", "experts"), wanted, self.topics)

    @cached_property
    def finding_means(self) -> pl.DataFrame:
        """How soon relevant documents are found, by order: the area under the curve, 1 would be at once.

        `topics_above` and `topics_below` count topics whose relevant documents come earlier, or later, than by depth.
        """
        if "finding" not in self.plan.studies:
            return pl.DataFrame(schema={"order": pl.String, "area": pl.Float64})
        means = [pl.col(name).mean() for name in ("area", "topics_above", "topics_below")]
        spans = [pl.col("area").min().alias("area_least"), pl.col("area").max().alias("area_most")]
        return self.areas.group_by("order", maintain_order=True).agg(*means, *spans)

    @cached_property
    def mix_means(self) -> pl.DataFrame:
        """Every mix and ratio: cost, tau_ap, experts `alone` at the same cost, and the `gap` between the two.

        `verdict` is above or below where the 95 % interval over samples excludes 0, `topics_verdict` by that over
        topics.
        """
        keys = ("order", "crowd", "approach", "ratio", "experts", "crowd_share")
        wanted = {"cost": None, "tau": None, "tau_ap": "error", "alone": None, "gap": "gap_error"}
        found = summarise(self.mixes, keys, wanted, self.topics)
        told = [[decide(low, high) for low, high in found.select(*ends).rows()] for ends in _ENDS]
        names = ("verdict", "topics_verdict")
        return found.with_columns(
            pl.Series(name, words, dtype=pl.String) for name, words in zip(names, told, strict=True)
        )

    @cached_property
    def shares(self) -> pl.DataFrame:
        """[COLLAB14] figures 3.7 and 3.8: expert and crowd shares varied, the crowd merged by one approach."""
        asked = self.plan.crowd_shares if "shares" in self.plan.studies else ()
        return self.mix_means.filter(pl.col("approach") == self.plan.approach, pl.col("crowd_share").is_in(asked))

    @cached_property
    def consensus(self) -> pl.DataFrame:
        """[COLLAB14] figure 3.6: approaches compared, the crowd's share fixed.

        `lead` is how far tau_ap is above that of the first approach, for the same crowds, with its interval over
        samples.
        """
        asked = self.plan.approaches if "consensus" in self.plan.studies else ()
        chosen = [pl.col("crowd_share") == self.plan.fixed_share, pl.col("approach").is_in(asked)]
        keys = ["order", "crowd", "ratio", "experts"]
        every = self.mixes.filter(*chosen)
        first = every.filter(pl.col("approach") == self.plan.approaches[0])
        paired = every.join(first.select(*keys, "sample", first="tau_ap"), on=[*keys, "sample"])
        rows = [
            (*key, float(lead.mean()), *find_interval(lead))
            for key, group in paired.group_by(*keys, "approach", maintain_order=True)
            for lead in [(group["tau_ap"] - group["first"]).to_numpy()]
        ]
        schema = pl.Schema({key: self.mixes.schema[key] for key in (*keys, "approach")})
        schema |= dict.fromkeys(("lead", "lead_low", "lead_high"), pl.Float64())
        leads = pl.DataFrame(rows, schema=schema, orient="row")
        means = self.mix_means.filter(*chosen)
        return means.join(leads, on=[*keys, "approach"], maintain_order="left")

    @cached_property
    def quality_means(self) -> pl.DataFrame:
        """Recall, precision and accuracy of each crowd's merged grades on the whole pool: means over samples."""
        numbers = [pl.col(name).mean() for name in ("recall", "precision", "accuracy")]
        spread = [pl.col(name).std().alias(f"{name}_spread") for name in ("recall", "precision")]
        return self.quality.group_by("crowd", "approach", maintain_order=True).agg(*numbers, *spread)

    @cached_property
    def table33(self) -> pl.DataFrame:
        """[COLLAB14] table 3.3: recall (R) and precision (P) in %, a column for each approach."""
        long = self.quality_means.unpivot(["recall", "precision"], index=["crowd", "approach"], variable_name="rate")
        wide = long.with_columns(pl.col("value") * 100).pivot(
            "approach", index=["crowd", "rate"], values="value", maintain_order=True
        )
        place = pl.col("crowd").replace_strict({name: k for k, name in enumerate(self.plan.tabled)}, default=0)
        return wide.sort(place, maintain_order=True).with_columns(
            pl.col("rate").replace({"recall": "R", "precision": "P"})
        )

    @cached_property
    def wins(self) -> pl.DataFrame:
        """For each order, crowd and ratio, how many mixes beat experts alone at the same cost, or fall short.

        `gap` is the mean over mixes; costs are of those that beat, or fall short.
        """
        counts = [
            (pl.col(column) == word).sum().cast(pl.Int64).alias(f"{prefix}{word}")
            for column, prefix in (("verdict", ""), ("topics_verdict", "topics_"))
            for word in (ABOVE, BELOW, OPEN)
        ]
        spans = [
            getattr(pl.col("cost").filter(pl.col("verdict") == word), end)().alias(f"{word}_{end}")
            for word in (ABOVE, BELOW)
            for end in ("min", "max")
        ]
        grouped = self.shares.group_by(PLACE, maintain_order=True)
        return grouped.agg(pl.len().cast(pl.Int64).alias("mixes"), *counts, pl.col("gap").mean(), *spans)

    @cached_property
    def alone_means(self) -> pl.DataFrame:
        """Experts alone in steps of 1 % of the pool: relevant documents found, tau and tau_ap, means over samples."""
        numbers = [pl.col(name).mean() for name in ("found", "tau", "tau_ap")]
        return self.finding.group_by("order", "judged", maintain_order=True).agg(*numbers)

    def reach(self, target: float = TARGET) -> pl.DataFrame:
        """The least cost at which tau_ap is `target` or more on average: by a mix, and by experts alone in whole %.

        Null where nothing that was tried gets there. The least of many noisy costs is a little too low.
        """
        rows = []
        for place, here in self.shares.group_by(PLACE, maintain_order=True):
            mixes = here.filter(pl.col("tau_ap") >= target).sort("cost", maintain_order=True)
            alone = self.alone_means.filter(pl.col("order") == place[0], pl.col("tau_ap") >= target)["judged"]
            first = mixes.row(0, named=True) if len(mixes) else {}
            mix = [first.get(name) for name in ("cost", "experts", "crowd_share")]
            rows.append((*place, *mix, min(alone.to_list(), default=None)))
        numbers = dict.fromkeys(("cost", "experts", "crowd_share", "alone"), pl.Float64)
        return pl.DataFrame(rows, schema={**dict.fromkeys(PLACE, pl.String), **numbers}, orient="row")

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables, by the names of their files."""
        found = {
            "orders": self.order_means,
            "finding": self.finding_means,
            "curves": self.alone_means,
            "shares": self.shares,
            "wins": self.wins,
            "reach": self.reach(),
            "consensus": self.consensus,
            "table33": self.table33,
        }
        return {name: table for name, table in found.items() if len(table)}

    @property
    def sentence(self) -> str:
        """What to take away."""
        return conclude(self)

    def __repr__(self) -> str:
        return f"CollaborativeFindings({self.sentence})"

    def to_frame(self) -> pl.DataFrame:
        """The same as `frame`."""
        return self.frame


_ENDS = (("gap_low", "gap_high"), ("gap_topics_low", "gap_topics_high"))
