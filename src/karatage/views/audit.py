"""An audit of the judges: one by one, two by two, as a panel, and against their merges."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from karatage.data.audit import Audit
from karatage.text import counted, shorten
from karatage.views.audit_charts import draw_agreement, draw_confusion, draw_judges, draw_votes
from karatage.views.page import Figure, Page, Section, list_facts
from karatage.views.showing import shows
from karatage.views.table import Table
from karatage.views.text import fits

if TYPE_CHECKING:
    from collections.abc import Iterator

DIGITS = 3
FEWEST_FOR_PANEL = 2
MOST_SUSPICIONS = 20
MOST_IN_SQUARE = 60
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
    "kappa": "mean kappa with the other judges",
    "gold_leniency": "mean grade less gold's",
    "leniency": "mean grade less the others' on the same items",
    "accuracy": "share of gold items graded as gold did",
    "gold_weighted_kappa": "kappa with gold, quadratic weights",
    "reliability": "accuracy as estimated by the model ds, without gold",
    "self_agreement": "share of its own repeated grades that are alike",
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
CONFUSION = "Grades given to items with each grade of gold; intervals count items"
RIGHT = "How often each judge is right about gold's items, and how much higher than gold it grades"
VOTES = """Judges that err on the same documents repeat each other. Effective votes: how many judges with independent
errors would be worth as much as these. An error is any grade other than gold's, one too high or three too low."""


@shows(Audit)
def view_audit(audit: Audit) -> Page:
    """Judges one by one, and as a panel."""
    title = f"Audit of {counted(len(audit.judges), 'judge')}"
    return Page(title, audit.sentence, list(view_judges(audit)), audit.notes, list_facts(audit))


def view_pairs(audit: Audit) -> Page:
    """The same for the terminal, with pairs of judges instead of single ones: a square if it fits, else a list."""
    if audit.pairs.is_empty():
        pairs = Section("Pairs", "No two judges share an item.")
    else:
        table = _tabulate_all_pairs(audit)
        pairs = Section("Pairs", tables=[table if fits(table) else tabulate_pairs(audit)])
    page = view_audit(audit)
    return Page(page.title, page.sentence, [pairs, *page.sections[1:]], page.notes, page.facts)


def view_judges(audit: Audit) -> Iterator[Section]:
    """Sections on single judges, and on the panel."""
    text = explain_suspicions(audit, MOST_SUSPICIONS)
    single = []
    if audit.gold_items:
        said = "What judges say, by what gold says"
        single = [
            Figure(partial(draw_judges, audit), RIGHT, "judges"),
            Figure(partial(draw_confusion, audit), said, "confusion", tabulate_confusion(audit)),
        ]
    else:
        text.append("Without gold it is not known which judges are right, so there is no confusion to show.")
    together = [tabulate_panel(audit)] if len(audit.panel) else []
    together += [tabulate_families(audit)] if len(audit.families) else []
    together += [tabulate_merges(audit)] if len(audit.merges) else []
    alone = len(audit.judges) < FEWEST_FOR_PANEL
    yield Section("Judges", "\n\n".join(text), [tabulate_judges(audit), *(together if alone else [])], single)
    if not alone:
        yield _view_panel(audit, together)


def _view_panel(audit: Audit, panel: list[Table]) -> Section:
    charts = []
    if audit.statistic("effective_votes") is not None:
        charts.append(Figure(partial(draw_votes, audit), "Judges, and their number of effective votes", "votes"))
    sampled = audit.statistic("pairs_compared") is not None  # few of those of any judges that a chart could show
    if len(audit.pairs) and not sampled:
        caption = "Agreement of judges two by two"
        charts.append(Figure(partial(draw_agreement, audit), caption, "agreement", _tabulate_all_pairs(audit)))
    return Section("The panel", "", panel, charts, background=VOTES if charts else "")


def tabulate_judges(result: Audit) -> Table:
    """Suspects first, then the best."""
    frame = _sort_judges(result)
    columns = {"judge": "judge", "flags": "suspicion"}
    columns |= {k: v for k, v in COLUMNS.items() if k in frame.columns and frame[k].null_count() < len(frame)}
    if "gold_leniency" in columns:
        columns.pop("leniency", None)
    return Table(
        frame,
        "Judges",
        DIGITS,
        signed=("gold_leniency", "leniency"),
        name="judges",
        about="judge",
        columns=columns,
        meanings=MEANINGS,
    )


def explain_suspicions(result: Audit, top: int | None = None) -> list[str]:
    """Why judges are suspected, a line for each of the first of the table that is."""
    frame = _sort_judges(result)
    shown = frame.head(top) if top else frame
    return [f"{shorten(judge)}: {why}" for judge, why in shown.select("judge", "why").iter_rows() if why]


def _sort_judges(result: Audit) -> pl.DataFrame:
    frame = result.to_frame()
    best = "accuracy" if "accuracy" in frame.columns else "reliability"
    return frame.sort(pl.col("flags") == "", best, descending=[False, True], nulls_last=True, maintain_order=True)


def _tabulate_all_pairs(result: Audit) -> Table:
    square = len(result.judges) <= MOST_IN_SQUARE
    return tabulate_agreement(result) if square else tabulate_pairs(result)


def tabulate_pairs(result: Audit) -> Table:
    """Judges two by two, those that agree most first."""
    ordered = result.pairs.sort("kappa", descending=True, nulls_last=True, maintain_order=True)
    headers = {"judge": "judge", "other": "other", "shared": "shared", "percent": "alike", "kappa": "kappa"}
    headers["error_correlation"] = "errors"
    columns = {name: header for name, header in headers.items() if name in ordered.columns}
    return Table(ordered, "Pairs", DIGITS, name="pairs", about="judge", noun="pair", columns=columns)


def tabulate_agreement(result: Audit) -> Table:
    """Cohen's kappa of all pairs as a square."""
    return Table(result.matrix(), "Cohen's kappa", DIGITS, name="agreement", about="judge", keys=1)


def tabulate_panel(result: Audit) -> Table:
    """What holds for all judges together."""
    frame = result.panel.filter(pl.col("statistic").is_in(list(STATISTICS)))
    columns = {"statistic": "statistic", "value": "value", "low": "95% from", "high": "to"}
    frame = frame.with_columns(pl.col("statistic").replace(STATISTICS))
    return Table(frame, "The panel", DIGITS, name="panel", columns=columns)


def tabulate_families(result: Audit) -> Table:
    """Judges that may err alike."""
    columns = {name: name.replace("_", " ") for name in result.families.columns}
    return Table(result.families, "Families", DIGITS, name="families", columns=columns)


def tabulate_merges(result: Audit) -> Table:
    """Each merge against gold, and what it gains over the best judge on the items that this one graded."""
    chosen = pl.format("{}, chosen on other items ({})", "name", "picked")
    picked = pl.when(pl.col("picked").fill_null("") != "").then(chosen)
    frame = result.merges.with_columns(merge=picked.otherwise("name"))
    columns = {"merge": "merge", "items": "items", "accuracy": "right", "low": "from", "high": "to"}
    if frame["gain"].null_count() < len(frame):
        columns |= {"gain": "gain", "gain_low": "from", "gain_high": "to"}
    graded = frame["weighted_kappa"].null_count() < len(frame)
    columns |= {"weighted_kappa": "qkappa"} if graded else {"kappa": "kappa"}
    unit = "by topic where there are five or more" if result.has_topics else "counting items"
    return Table(
        frame,
        f"Against gold; from, to: 95% intervals, {unit}",
        DIGITS,
        signed=("gain", "gain_low", "gain_high"),
        name="merges",
        columns=columns,
        meanings={"gain": "over the best judge alone"},
        wrap=("merge",),
    )


def tabulate_confusion(result: Audit) -> Table:
    """What each judge said of items of each gold grade, as shares of these with 95 % intervals that count items."""
    columns = {name: name for name in result.confusion.columns} | {"share_low": "95% from", "share_high": "to"}
    return Table(result.confusion, CONFUSION, DIGITS, name="confusion", about="judge", columns=columns)
