"""What a crowd was like, held against gold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from karatage.data.checks import COUNT, SHARE, TEXT, maybe, require_names, require_numbers, require_table
from karatage.data.note import Note
from karatage.data.result import Result, list_versions
from karatage.errors import DataError
from karatage.text import counted

# Of judges, by TPR + TNR - 1, which is 1 for a judge who never errs and 0 for a random one; the lowest value of each.
BANDS = {"reliable": 0.8, "fair": 0.4, "poor": 0.1, "like a coin": -0.1, "inverted": -1.0}
UNTOLD = "saw one kind only"  # of items, relevant ones or others
JUDGES = {"judge": TEXT, "grades": COUNT, "tpr": maybe(SHARE), "tnr": maybe(SHARE)}
TOGETHER = 0.05  # a correlation of errors from which on they are said to err together


@dataclass(frozen=True, eq=False, kw_only=True)
class CrowdSummary(Result, kind="crowd"):
    """A crowd's judges one by one and its majority, on the items of gold; relevant is any grade above 0."""

    derived = ("sentence", "grades", "tpr", "tnr", "bands")

    name: str
    judges: pl.DataFrame  # one row per judge: judge, grades, tpr and tnr (null where gold cannot tell)
    items: int
    relevant: int
    recall: float | None  # of the majority; None where gold has no relevant item
    precision: float | None  # None where the majority calls nothing relevant
    tied: int  # items whose votes are even: they count half
    correlation: float | None  # of two judges' errors on an item, among items that gold calls relevant, or not
    pairs: int  # of judges of an item, that the correlation is from
    notes: tuple[Note, ...] = ()
    versions: Mapping[str, str] = field(default_factory=list_versions)

    def __post_init__(self) -> None:
        """Refuse shares and counts that are none."""
        require_table("judges", self.judges, JUDGES)
        require_names("judges", self.judges["judge"].to_list())
        require_numbers("items", self.items, 1, self.grades)
        require_numbers("relevant", self.relevant, 0, self.items)
        require_numbers("majority_ties", self.tied, 0, self.items)
        require_numbers("pairs", self.pairs, 0)
        shares = {"majority_recall": self.recall, "majority_precision": self.precision}
        for name, share in shares.items():
            if share is not None:
                require_numbers(name, share, 0, 1)
        if (self.recall is None) != (self.relevant == 0):
            raise DataError("majority_recall is known where gold has relevant items, and only there")
        if self.correlation is not None:
            require_numbers("error_correlation", self.correlation, -1, 1)
            require_numbers("pairs", self.pairs, 1)
        if self.tpr is None and self.tnr is None:
            raise DataError("judges: no judge has a tpr or a tnr")

    @property
    def grades(self) -> int:
        """How many judgments there are."""
        return int(self.judges["grades"].sum())

    @property
    def tpr(self) -> float | None:
        """Mean over judges of the share of relevant items that they call so."""
        return _mean(self.judges["tpr"])

    @property
    def tnr(self) -> float | None:
        """Mean over judges of the share of other items that they call not relevant."""
        return _mean(self.judges["tnr"])

    @property
    def bands(self) -> pl.DataFrame:
        """How many judges are how good, and how many grades they give: quality, from, judges, grades."""
        found = (
            self.judges.with_columns(quality=name_bands(pl.col("tpr"), pl.col("tnr")))
            .group_by("quality")
            .agg(judges=pl.len(), grades=pl.col("grades").sum())
        )
        order = pl.DataFrame({"quality": [*BANDS, UNTOLD], "from": [*BANDS.values(), None]})
        return order.join(found, on="quality", how="left", maintain_order="left").with_columns(
            pl.col("judges", "grades").fill_null(0).cast(pl.Int64)
        )

    @property
    def sentence(self) -> str:
        """What to take away."""
        who = f"{counted(len(self.judges), 'judge')} gave {counted(self.grades, 'grade')} to {self.items:,} items"
        hit = None if self.tpr is None else f"finds {_share(self.tpr)} of relevant items (TPR)"
        others = "items that are not" if self.tpr is None else "the others"
        rejection = None if self.tnr is None else f"rejects {_share(self.tnr)} of {others} (TNR)"
        rates = " and ".join(said for said in (hit, rejection) if said)
        return (
            f"{who}, {self.relevant:,} of them relevant. On average a judge {rates}; {self._say_majority()}. "
            f"{self._say_shared()}"
        )

    def _say_majority(self) -> str:
        if self.precision is None:
            return "the majority vote calls nothing relevant"
        recall = "" if self.recall is None else f"recall {_share(self.recall)} and "
        return f"the majority vote has {recall}precision {_share(self.precision)}"

    def _say_shared(self) -> str:
        if self.correlation is None:
            return "Whether judges share errors is unknown: that needs items with several judges, and errors."
        value = f"{round(self.correlation, 2) + 0.0:.2f}"  # no negative zero
        found = f"(error correlation {value}, pooled over items of equal gold)"
        chance = 2 / math.sqrt(self.pairs)
        if (abs(self.correlation) <= TOGETHER and chance <= TOGETHER) or self.correlation < -chance:
            return f"Judges have independent errors {found}."
        if self.correlation <= chance:
            return f"Judges share errors no more than by chance {found}."
        return f"Judges share errors {found}."

    def to_frame(self) -> pl.DataFrame:
        """One row per judge."""
        return self.judges


def name_bands(tpr: pl.Expr, tnr: pl.Expr) -> pl.Expr:
    """How good judges with these rates are, in words."""
    quality: pl.Expr = pl.lit(UNTOLD)
    for name, low in reversed(BANDS.items()):
        quality = pl.when(tpr + tnr - 1 >= low - 1e-12).then(pl.lit(name)).otherwise(quality)
    return quality


def _mean(column: pl.Series) -> float | None:
    known = column.drop_nulls()
    return None if known.is_empty() else float(known.to_numpy().mean())


def _share(rate: float) -> str:
    return f"{100 * rate:.1f}%"
