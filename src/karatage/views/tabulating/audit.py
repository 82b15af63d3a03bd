"""An audit of the judges, as tables and sentences."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import polars as pl

from karatage.text import shorten
from karatage.views.tables import Table

if TYPE_CHECKING:
    from karatage.data.audit import Audit

DIGITS = 3
# Columns of the table of judges in the order in which they get room; what is not there is passed over.
COLUMNS = {
    "items": "items",
    "kappa": "kappa others",
    "gold_leniency": "above gold",
    "leniency": "above others",
    "accuracy": "right",
    "tpr": "TPR",
    "tnr": "TNR",
    "gold_weighted_kappa": "qkappa",
    "reliability": "ds",
    "self_agreement": "steady",
}
MEANINGS = {
    "kappa others": "mean kappa with the other judges",
    "above gold": "mean grade less gold's",
    "above others": "mean grade less the others' on the same items",
    "right": "share of gold items graded as gold did",
    "qkappa": "kappa with gold, quadratic weights",
    "ds": "accuracy as the model ds sees it, without gold",
    "steady": "share of its own repeated grades that are alike",
}
STATISTICS = {
    "percent": "percent agreement",
    "cohen": "Cohen's kappa, mean over pairs",
    "fleiss": "Fleiss' kappa",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
    "error_correlation": "error correlation, mean over pairs",
    "error_correlation_within": "error correlation within a gold grade",
    "error_correlation_pooled": "error correlation, pooled over items",
    "effective_votes": "effective votes, all judges",
    "effective_votes_per_item": "effective votes, grades of an item",
}
GAINS = ("gain", "gain from", "gain to")
CONFUSION = "Grades said of items with each grade of gold, with intervals that count items"
PAIR_COLUMNS = {
    "judge": "judge",
    "other": "other",
    "shared": "shared",
    "percent": "alike",
    "kappa": "kappa",
    "error_correlation": "errors",
}


def tabulate_judges(result: Audit) -> Table:
    """Suspects first, then the best."""
    frame = _sort_judges(result)
    columns = {"judge": "judge", "flags": "suspicion"}
    columns |= {k: v for k, v in COLUMNS.items() if k in frame.columns and frame[k].null_count() < len(frame)}
    if "gold_leniency" in columns:
        columns.pop("leniency", None)
    shown = frame.select(list(columns)).rename(columns)
    signed = [name for name in ("above gold", "above others") if name in shown.columns]
    return Table(shown, explain_columns(shown.columns), DIGITS, signed=signed, name="judges", about="judge")


def explain_columns(columns: Collection[str]) -> str:
    """What those of the table of judges mean that do not speak for themselves."""
    return "; ".join(["Judges", *(f"{name}: {text}" for name, text in MEANINGS.items() if name in columns)])


def explain_suspicions(result: Audit, top: int | None = None) -> list[str]:
    """Why judges are suspected, a line for each of the first of the table that is."""
    frame = _sort_judges(result)
    shown = frame.head(top) if top else frame
    return [f"{shorten(judge)}: {why}" for judge, why in shown.select("judge", "why").iter_rows() if why]


def _sort_judges(result: Audit) -> pl.DataFrame:
    frame = result.to_frame()
    best = "accuracy" if "accuracy" in frame.columns else "reliability"
    return frame.sort(pl.col("flags") == "", best, descending=[False, True], nulls_last=True, maintain_order=True)


def tabulate_pairs(result: Audit) -> Table:
    """Judges two by two, those that agree most first."""
    ordered = result.pairs.sort("kappa", descending=True, nulls_last=True, maintain_order=True)
    columns = {k: v for k, v in PAIR_COLUMNS.items() if k in ordered.columns}
    return Table(ordered.select(list(columns)).rename(columns), "Pairs", DIGITS, name="pairs", about="judge")


def tabulate_agreement(result: Audit) -> Table:
    """Cohen's kappa of all pairs as a square."""
    return Table(result.matrix(), "Cohen's kappa", DIGITS, name="agreement", about="judge")


def tabulate_panel(result: Audit) -> Table:
    """What holds for all judges together."""
    frame = result.panel.filter(pl.col("statistic").is_in(list(STATISTICS)))
    shown = frame.select(
        pl.col("statistic").replace(STATISTICS), "value", pl.col("low").alias("95% from"), pl.col("high").alias("to")
    )
    return Table(shown, "The panel", DIGITS, name="panel")


def tabulate_families(result: Audit) -> Table:
    """Judges that may err alike."""
    names = {"error_correlation": "error correlation", "effective_votes": "effective votes"}
    return Table(result.families.rename(names), "Families", DIGITS, name="families")


def tabulate_merges(result: Audit) -> Table:
    """Each merge against gold, and what it gains over the best judge on the items that this one graded."""
    frame = result.merges
    graded = frame["weighted_kappa"].null_count() < len(frame)
    chosen = pl.format("{}, chosen on other items ({})", "name", "picked")
    picked = pl.when(pl.col("picked").fill_null("") != "").then(chosen)
    shown = frame.select(
        picked.otherwise("name").alias("merge"),
        "items",
        pl.col("accuracy").alias("right"),
        pl.col("low").alias("right from"),
        pl.col("high").alias("right to"),
        "gain",
        pl.col("gain_low").alias("gain from"),
        pl.col("gain_high").alias("gain to"),
        pl.col("weighted_kappa").alias("qkappa") if graded else "kappa",
    )
    unit = "by topic where there are five or more" if result.has_topics else "counting items"
    caption = f"Against gold; from, to: 95% intervals, {unit}; gain: over the best judge alone"
    if frame["gain"].null_count() == len(frame):
        shown, caption = shown.drop(GAINS), caption.rpartition("; ")[0]
    headers = {name: name.rpartition(" ")[2] for name in ("right from", "right to", *GAINS)}
    signed = [name for name in GAINS if name in shown.columns]
    return Table(shown, caption, DIGITS, signed=signed, name="merges", headers=headers)


def tabulate_confusion(result: Audit) -> Table:
    """What each judge said of items of each gold grade, as shares of these with 95 % intervals that count items."""
    names = {"share_low": "95% from", "share_high": "to"}
    shown = result.confusion.rename(names)
    return Table(shown, CONFUSION, DIGITS, name="confusion", about="judge")
