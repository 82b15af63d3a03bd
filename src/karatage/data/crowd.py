"""Crowds: models from which judges can be drawn, and summaries of crowds compared with gold."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple, TypeVar, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karatage.data.axes import FloatArray, IntArray, freeze
from karatage.data.checks import (
    COUNT,
    SHARE,
    TEXT,
    maybe,
    require_equal,
    require_known,
    require_names,
    require_numbers,
    require_shape,
    require_table,
)
from karatage.data.codec import structure, unstructure
from karatage.data.display import Shown
from karatage.data.note import Note
from karatage.data.result import Result, list_versions
from karatage.errors import DataError
from karatage.text import counted, percent, shorten

Noise = Literal["removed", "kept"]
T = TypeVar("T", bound=np.generic)
RATE_LEVELS: Final = 10  # of the true positive and of the true negative rate
CONTRIBUTION_LEVELS: Final = 4
GRID: Final = (RATE_LEVELS, RATE_LEVELS, CONTRIBUTION_LEVELS)
FORMAT: Final = "karatage crowd 1"
_DIGITS = 6


class Correlation(NamedTuple):
    """The parts of a judge's error that are shared: with all judges of an item, within a family, over a topic."""

    item: float = 0.0
    family: float = 0.0
    topic: float = 0.0


NOTHING_SHARED: Final = Correlation()


class Contribution(NamedTuple):
    """The distribution of judges' shares of the items: P(share > x) falls as x^(1 - exponent) from `tail` on."""

    least: float  # the smallest share
    exponent: float  # NaN where all shares are equal
    tail: float


@dataclass(frozen=True, eq=False)
class _Archetype:
    """A kind of judge in a file."""

    optional = ("confusion", "concentration")

    voxel: IntArray
    share: float
    mean: FloatArray
    covariance: FloatArray
    confusion: FloatArray | None = None
    concentration: float | None = None


class _CrowdFile(NamedTuple):
    """A crowd model in a file."""

    format: str
    name: str
    source: str
    noise: Noise
    judges: int
    judgments: int
    balance: FloatArray
    correlation: Correlation
    families: Mapping[str, float]
    contribution: Contribution
    notes: tuple[Note, ...]
    archetypes: tuple[_Archetype, ...]


_WHOLE = [name for name in _CrowdFile._fields if name not in ("format", "archetypes")]  # in the model, too


@dataclass(frozen=True, eq=False, kw_only=True)
class CrowdModel(Shown):
    """Kinds of judges on a grid of true positive rate, true negative rate and contribution [COLLAB14].

    A kind is a voxel with a share of the judges. The two rates and the log of the contribution have a Gaussian
    distribution, truncated at the voxel's walls. With more than two grades a kind also has a mean confusion matrix,
    and a concentration, which is large where its judges differ little from that.
    """

    name: str
    source: str  # the judgments it was learned from
    noise: Noise = "removed"  # whether sampling noise in observed rates was removed
    judges: int
    judgments: int  # of items with gold
    balance: FloatArray  # (grade,) share of each in gold
    voxel: IntArray  # (archetype, 3) level of true positive rate, true negative rate and contribution
    share: FloatArray  # (archetype,)
    mean: FloatArray  # (archetype, 3) of the rates and the log of the contribution
    covariance: FloatArray  # (archetype, 3, 3)
    confusion: FloatArray | None = None  # (archetype, gold, said), where there are more than two grades
    concentration: FloatArray | None = None  # (archetype,) of the Dirichlet that rows are drawn from
    correlation: Correlation = NOTHING_SHARED
    families: Mapping[str, float] = field(default_factory=dict)  # share of the judges in each
    contribution: Contribution
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse wrong shares, counts and distributions, and protect the arrays."""
        kinds, grades = len(self.share), len(self.balance)
        require_known("noise", (self.noise,), get_args(Noise), "ways to treat it")
        require_numbers("the number of grades in balance", grades, 2)
        require_numbers("the number of archetypes", kinds, 1)
        require_numbers("judges", self.judges, 0)
        require_numbers("judgments", self.judgments, 0)
        for name, array, shape in (
            ("voxel", self.voxel, (3,)),
            ("mean", self.mean, (3,)),
            ("covariance", self.covariance, (3, 3)),
            *((("confusion", self.confusion, (grades, grades)),) if self.confusion is not None else ()),
            *((("concentration", self.concentration, ()),) if self.concentration is not None else ()),
        ):
            require_shape(f"archetypes: {name}", array, kinds, *shape)
            require_numbers(f"archetypes: {name}", array, 0 if name in {"voxel", "concentration"} else -np.inf)
        if (self.confusion is None) != (grades == 2) or (self.concentration is None) != (grades == 2):
            raise DataError("archetypes: confusion and concentration are for more than two grades, and only then")
        _require_shares("balance", self.balance)
        _require_shares("the shares of archetypes", self.share)
        if self.confusion is not None:
            _require_shares("a row of archetypes: confusion", self.confusion)
        if (self.voxel >= np.array(GRID)).any():
            raise DataError(f"archetypes: a voxel has levels beyond {', '.join(str(n - 1) for n in GRID)}")
        require_numbers("correlation", self.correlation, 0, 1)
        if sum(self.correlation) >= 1:
            raise DataError(f"correlation adds up to {sum(self.correlation):g}; the sum must be below 1")
        require_numbers("families", list(self.families.values()), 0, 1)
        require_numbers("contribution.least", self.contribution.least, 0, 1)
        require_numbers("contribution.exponent", self.contribution.exponent, 1, unknown=True)
        require_numbers("contribution.tail", self.contribution.tail, 0, 1, unknown=True)
        _check_means(self)
        freeze(self.balance, self.voxel, self.share, self.mean, self.covariance)
        if self.confusion is not None and self.concentration is not None:
            freeze(self.confusion, self.concentration)

    @property
    def grades(self) -> int:
        """How many grades judges give."""
        return len(self.balance)

    @property
    def shares(self) -> FloatArray:
        """Share of the judges in each voxel, (true positive rate, true negative rate, contribution) level."""
        found = np.zeros(GRID)
        found[tuple(self.voxel.T)] = self.share
        return found

    @property
    def rates(self) -> FloatArray:
        """Mean true positive and true negative rate of a judge."""
        found: FloatArray = (self.share[:, None] * self.mean[:, :2]).sum(axis=0)
        return found

    @property
    def sentence(self) -> str:
        """What to take away."""
        hit, rejection = self.rates
        shared = ", ".join(f"{name} {value:.2g}" for name, value in self.correlation._asdict().items() if value)
        return (
            f"A judge like {self.name} finds {percent(round(hit, 3))} of relevant items and rejects "
            f"{percent(round(rejection, 3))} of the others; {counted(len(self.share), 'kind')} of judges, from "
            f"{self.source}; errors {f'are shared ({shared})' if shared else 'are independent'}."
        )

    def independent(self) -> CrowdModel:
        """The same judges with independent errors."""
        return replace(self, correlation=NOTHING_SHARED)

    def to_frame(self) -> pl.DataFrame:
        """One row per kind of judge: its voxel's lower walls, its share, means and standard deviations."""
        spread = np.sqrt(np.diagonal(self.covariance, axis1=1, axis2=2))
        return pl.DataFrame(
            {
                "true_positive_from": self.voxel[:, 0] / RATE_LEVELS,
                "true_negative_from": self.voxel[:, 1] / RATE_LEVELS,
                "contribution_from": self.voxel[:, 2] / CONTRIBUTION_LEVELS,
                "share": self.share,
                "true_positive": self.mean[:, 0],
                "true_positive_spread": spread[:, 0],
                "true_negative": self.mean[:, 1],
                "true_negative_spread": spread[:, 1],
                "contribution": np.exp(self.mean[:, 2]),
                "log_contribution_spread": spread[:, 2],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """All facts for JSON, numbers to six digits."""
        parts = {name: unstructure(getattr(self, name)) for name in _Archetype.__annotations__}
        known = {name: part for name, part in parts.items() if part is not None}
        kinds = [{name: part[k] for name, part in known.items()} for k in range(len(self.share))]
        facts = {name: unstructure(getattr(self, name)) for name in _WHOLE}
        told: dict[str, Any] = _round({"format": FORMAT, **facts, "sentence": self.sentence, "archetypes": kinds})
        return told

    def to_json(self) -> str:
        """The same as JSON text, with one line for each kind of judge."""
        whole = self.to_dict()
        kinds = whole.pop("archetypes")
        head = json.dumps(whole, ensure_ascii=False, indent=1).removesuffix("\n}")
        lines = ",\n".join(f"  {json.dumps(kind)}" for kind in kinds)
        return f'{head},\n "archetypes": [\n{lines}\n ]\n}}\n'

    @staticmethod
    def from_dict(found: object) -> CrowdModel:
        """The model from a dict or JSON file; wrong entries are refused by name."""
        written = found.get("format") if isinstance(found, dict) else FORMAT
        if written != FORMAT:
            raise DataError(f"format is '{shorten(str(written))}', not '{FORMAT}'")
        told = structure(found, _CrowdFile)
        if not told.archetypes:
            raise DataError("archetypes is empty: no kind of judge to draw from")
        of = [name for name in _Archetype.__annotations__ if len(told.balance) > 2 or name not in _Archetype.optional]
        parts = {name: _stack(name, [getattr(kind, name) for kind in told.archetypes]) for name in of}
        whole: dict[str, Any] = {name: getattr(told, name) for name in _WHOLE} | parts
        for name in ("balance", "share", "confusion"):
            whole |= {name: _scale(whole[name])} if name in whole else {}
        return CrowdModel(**whole)


def voxel_walls(voxel: IntArray, least: float) -> tuple[FloatArray, FloatArray]:
    """Lower and upper walls (archetype, 3) of voxels, the contribution's as logs, of `least` or more."""
    low, high = voxel / np.array(GRID), (voxel + 1) / np.array(GRID)
    low[:, 2] = np.log(np.clip(low[:, 2], min(least, 0.5 / CONTRIBUTION_LEVELS), None))
    high[:, 2] = np.log(high[:, 2])
    return low, high


def _round(fact: Any) -> Any:
    """Numbers to six digits."""
    if isinstance(fact, dict):
        return {name: _round(one) for name, one in fact.items()}
    if isinstance(fact, list | tuple):
        return [_round(one) for one in fact]
    return float(f"{fact:.{_DIGITS}g}") if isinstance(fact, float) else fact


def _stack(name: str, parts: Sequence[NDArray[T] | float | None]) -> NDArray[T]:
    """An array over all kinds of judges, whose parts must have one shape."""
    shapes = {np.shape(part) for part in parts if part is not None}
    if len(shapes) != 1 or any(part is None for part in parts):
        raise DataError(f"archetypes: {name} is missing somewhere, or has several shapes")
    return np.array(parts)


def _scale(shares: FloatArray) -> FloatArray:
    """Shares scaled to add up to 1 along the last axis, where rounding in a file misses that by a little."""
    total = shares.sum(axis=-1, keepdims=True)
    found: FloatArray = np.where(np.abs(total - 1) <= 1e-3, shares / np.where(total == 0, 1, total), shares)
    return found


def _require_shares(what: str, shares: FloatArray) -> None:
    total = shares.sum(axis=-1)
    if not (np.isfinite(shares).all() and (shares >= 0).all() and np.allclose(total, 1)):
        raise DataError(f"{what} must be shares that add up to 1; they add up to {np.ravel(total)[0]:g}")


def _check_means(model: CrowdModel) -> None:
    """Refuse means outside their voxel, and matrices that are not covariances."""
    low, high = voxel_walls(model.voxel, model.contribution.least)
    slack = 1e-4
    for k in range(len(model.share)):
        outside = (model.mean[k] < low[k] - slack) | (model.mean[k] > high[k] + slack)
        if outside.any():
            raise DataError(f"archetypes[{k}].mean {model.mean[k].tolist()} lies outside its voxel")
        if np.linalg.eigvalsh(model.covariance[k]).min() < -1e-6 or not np.allclose(
            model.covariance[k], model.covariance[k].T, atol=1e-6
        ):
            raise DataError(f"archetypes[{k}].covariance must be symmetric, without negative variances")


# Lowest TPR + TNR - 1 of judges, which is 1 for a judge without errors and 0 for a random one.
BANDS = {"reliable": 0.8, "fair": 0.4, "poor": 0.1, "random": -0.1, "inverted": -1.0}
UNTOLD = "saw one kind only"  # of items, relevant ones or others
JUDGES = {"judge": TEXT, "grades": COUNT, "tpr": maybe(SHARE), "tnr": maybe(SHARE)}
TOGETHER = 0.05  # correlation from which errors are called shared


@dataclass(frozen=True, eq=False, kw_only=True)
class CrowdSummary(Result, kind="crowd"):
    """A crowd's judges and its majority vote, compared with gold; grades above 0 are relevant."""

    derived = ("sentence", "grades", "tpr", "tnr", "bands")
    optional = ("specificity", "npv")

    name: str
    judges: pl.DataFrame  # one row per judge: judge, grades, tpr and tnr (null where there are no such items)
    items: int
    relevant: int
    recall: float | None  # of the majority; None where gold has no relevant item
    precision: float | None  # None where the majority calls nothing relevant
    tied: int  # items whose votes are even: they count half
    correlation: float | None  # of two judges' errors on an item, given gold
    pairs: int  # of judges of an item, from which the correlation is computed
    specificity: float | None = None  # of the majority; None where all items are relevant, or in older files
    npv: float | None = None  # of items that the majority calls not relevant, the share that are not; likewise
    notes: tuple[Note, ...] = ()
    versions: Mapping[str, str] = field(default_factory=list_versions)

    def __post_init__(self) -> None:
        """Refuse wrong shares and counts."""
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
            raise DataError("majority_recall must be given if gold has relevant items, and only then")
        self._check_rejection()
        if self.correlation is not None:
            require_numbers("error_correlation", self.correlation, -1, 1)
            require_numbers("pairs", self.pairs, 1)
        if self.tpr is None and self.tnr is None:
            raise DataError("judges: no judge has a tpr or a tnr")

    def _check_rejection(self) -> None:
        """Refuse a specificity or NPV that does not follow from recall and precision, where these tell it."""
        for name, share in (("specificity", self.specificity), ("npv", self.npv)):
            if share is not None:
                require_numbers(name, share, 0, 1)
        hits = (self.recall or 0.0) * self.relevant
        if self.precision == 0:  # any number of false alarms
            return
        alarms = 0.0 if self.precision is None else hits / self.precision - hits
        others, missed = self.items - self.relevant, self.relevant - hits
        rejected = others - alarms
        if self.specificity is not None:
            require_equal("specificity", self.specificity, rejected / others if others else math.nan)
        if self.npv is not None:
            require_equal("npv", self.npv, rejected / (rejected + missed) if rejected + missed else math.nan)

    @property
    def grades(self) -> int:
        """The number of judgments."""
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
            return "Whether judges share errors is unknown: this needs items with several judges, and errors."
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
    """The name of the quality of judges with these rates."""
    quality: pl.Expr = pl.lit(UNTOLD)
    for name, low in reversed(BANDS.items()):
        quality = pl.when(tpr + tnr - 1 >= low - 1e-12).then(pl.lit(name)).otherwise(quality)
    return quality


def _mean(column: pl.Series) -> float | None:
    known = column.drop_nulls()
    return None if known.is_empty() else float(known.to_numpy().mean())


def _share(rate: float) -> str:
    return f"{100 * rate:.1f}%"
