"""An audit of the judges: one by one, two by two, as a panel, and against their merges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.data.audit import Audit
from karatage.data.gold_errors import Disputed, GoldErrors
from karatage.errors import DataError
from karatage.text import counted, shorten
from karatage.views.choosing import (
    LETTER,
    WIDEST,
    cut_names,
    let_choose,
    measure_names,
    name_by_number,
    place_values,
    tell,
    tell_columns,
    tell_shown,
)
from karatage.views.marks import (
    CORRECTED,
    GAP,
    GREY_TOP,
    JUDGES,
    PLAIN,
    Axis,
    Key,
    Rows,
    chart_map,
    entitle,
    lay_panel,
    mark,
)
from karatage.views.page import Figure, Page, Section, list_facts, shows
from karatage.views.table import Table
from karatage.views.text import fits

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair as alt

    from karatage.data.axes import FloatArray

DIGITS = 3
FEWEST_FOR_PANEL = 2
MOST_SUSPICIONS = 20
MOST_IN_SQUARE = 60
# Columns of the table of judges, the most important first; those that an audit lacks are left out.
COLUMNS = {
    "items": "items",
    "kappa": "kappa others",
    "gold_leniency": "above gold",
    "leniency": "above others",
    "accuracy": "right",
    "tpr": "TPR",
    "tnr": "TNR",
    "ppv": "PPV",
    "gold_weighted_kappa": "qkappa",
    "reliability": "ds",
    "self_agreement": "steady",
}
MEANINGS = {
    "kappa": "mean kappa with the other judges",
    "gold_leniency": "mean grade minus gold's",
    "leniency": "mean grade minus the others' on the same items",
    "accuracy": "share of gold items given gold's grade",
    "ppv": "share of its grades 1 that gold has too",
    "gold_weighted_kappa": "kappa with gold, quadratic weights",
    "reliability": "accuracy as estimated by the model ds, without gold",
    "self_agreement": "share of its repeated grades that are equal",
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
COUNTS = {"judges": "judges", "items": "items", "agree": "all agree", "differ": "not all agree"}
DISPUTES = {"kind": "opinions: judges keep to their grades when asked again; changed: a judge gave another grade"}
REMEMBERED = {
    **dict.fromkeys(("judge", "measure"), pl.String),
    **dict.fromkeys(("studies", "labels"), pl.Int64),
    **dict.fromkeys(("first", "last"), pl.String),
    **dict.fromkeys(("accuracy", "accuracy_now", "unexplained", "bias"), pl.Float64),
    "change": pl.String,
}
RECORD = {
    "judge": "judge",
    "studies": "studies",
    "labels": "labels",
    "accuracy": "right then",
    "accuracy_now": "now",
    "bias": "bias",
    "change": "stale",
    "unexplained": "unexplained",
    "measure": "measure",
    "last": "last",
}
RECALLED = {
    "labels": "gold labels in these studies",
    "accuracy": "share of gold items given gold's grade in these studies",
    "unexplained": "share of the variance of gold's gains that the judge's grades left",
    "bias": "of a difference, for a unit of weight on different documents, in standard deviations of gold's gains",
    "change": "whether the judge or the collection has changed, so that these studies are not used",
}
CONFUSION = "Grades given to items with each grade of gold; intervals are over items"
GRADED = "Share of gold items that each judge grades correctly, and its mean grade minus gold's"
VOTES = """Judges who make errors on the same documents add little to each other. Effective votes: the number of judges
with independent errors that would be as accurate together as these. Any grade other than gold's is an error."""
MOST, PANELS = 60, 30  # judges in a chart, and confusion matrices
FLAGGED, UNSUSPECTED = "suspect", "no suspicion"
FLAGS = Key("flagged", {UNSUSPECTED: "circle", FLAGGED: "cross"}, legend=GREY_TOP)
RIGHT = {"accuracy": "share of gold items graded correctly", "gold_leniency": "mean grade minus gold's"}
AGREEING = {"kappa": "mean kappa with the other judges", "leniency": "mean grade minus the others'"}
ROOM = 530  # pixels for matrices side by side
CELLS = {2: 44, 6: 26, PANELS: 15}  # pixels of a cell, for so many panels
WORDY = 26  # pixels from which a cell has room for a number
NARROWEST = 84  # pixels of a panel with its heading
SIDE = 430  # pixels of a heat map
NAME, FEW = 26, 40  # characters of a name, and how many judges leave room for large ones


@shows(Audit)
def view_audit(audit: Audit) -> Page:
    """Judges one by one, and all together."""
    title = f"Audit of {counted(len(audit.judges), 'judge')}"
    return Page(title, audit.sentence, list(view_judges(audit)), audit.notes, list_facts(audit))


def view_pairs(audit: Audit) -> Page:
    """The page for the terminal with pairs of judges in place of single ones: a square if it fits, else a list."""
    if audit.pairs.is_empty():
        pairs = Section("Pairs", "No two judges share an item.")
    else:
        table = _tabulate_all_pairs(audit)
        pairs = Section("Pairs", tables=[table if fits(table) else tabulate_pairs(audit)])
    page = view_audit(audit)
    return Page(page.title, page.sentence, [pairs, *page.sections[1:]], page.notes, page.facts)


def view_judges(audit: Audit) -> Iterator[Section]:
    """Sections on single judges, and on the panel."""
    text = explain_suspicions(audit)
    single = []
    if audit.gold_items:
        said = "Judges' grades by gold's grade"
        single = [
            Figure(partial(chart_judges, audit), GRADED, "judges"),
            Figure(partial(chart_confusion, audit), said, "confusion", tabulate_confusion(audit)),
        ]
    else:
        text.append("Without gold it is unknown which judges are right, so there is no confusion matrix.")
    together = [tabulate_panel(audit)] if len(audit.panel) else []
    together += [tabulate_counts(audit)] if audit.counts else []
    together += [tabulate_families(audit)] if len(audit.families) else []
    together += [tabulate_merges(audit)] if len(audit.merges) else []
    alone = len(audit.judges) < FEWEST_FOR_PANEL
    yield Section("Judges", "\n\n".join(text), [tabulate_judges(audit), *(together if alone else [])], single)
    if not alone:
        yield _view_panel(audit, together)
    if audit.gold_errors is not None:
        yield view_gold_errors(audit.gold_errors)
    if audit.record:
        yield Section("Record", "", [tabulate_record(audit)])


def view_gold_errors(found: GoldErrors) -> Section:
    """How often gold is wrong, and the items that its judges grade most differently."""
    text = f"{found.sentence[0].upper()}{found.sentence[1:]}."
    frame = pl.DataFrame(found.disputed, schema=dict.fromkeys(Disputed._fields, pl.String), orient="row")
    columns = {name: name for name in ("topic", "document", "grades")} | {"kind": "why"}
    table = Table(
        frame, "Gold items with different grades", name="disputed", noun="item", columns=columns, meanings=DISPUTES
    )
    return Section("Gold", text, [table] if len(frame) else [])


def tabulate_record(audit: Audit) -> Table:
    """Earlier studies of the judges, and whether they are still like that."""
    frame = pl.DataFrame(audit.record, schema=REMEMBERED, orient="row")
    changed = pl.when(pl.col("change").is_null()).then(pl.lit("")).otherwise(pl.lit("yes"))
    return Table(
        frame.with_columns(change=changed),
        "Earlier studies of the judges",
        DIGITS,
        name="record",
        about="judge",
        columns=RECORD,
        meanings=RECALLED,
    )


def _view_panel(audit: Audit, panel: list[Table]) -> Section:
    charts = []
    if audit.statistic("effective_votes") is not None:
        charts.append(Figure(partial(chart_votes, audit), "Number of judges and of their effective votes", "votes"))
    sampled = audit.statistic("pairs_compared") is not None  # few of those of any judges that a chart could show
    if len(audit.pairs) and not sampled:
        caption = "Agreement of each pair of judges"
        charts.append(Figure(partial(chart_agreement, audit), caption, "agreement", _tabulate_all_pairs(audit)))
    return Section("The panel", "", panel, charts, background=VOTES if charts else "")


def tabulate_judges(result: Audit) -> Table:
    """Suspects first, then the best."""
    frame = _sort_judges(result)
    columns = {"judge": "judge", "flags": "suspicion"}
    columns |= {k: v for k, v in COLUMNS.items() if k in frame.columns and frame[k].null_count() < len(frame)}
    if "gold_leniency" in columns:
        columns.pop("leniency", None)
        if "tpr" in columns:  # it follows from the rates, which a narrow terminal has room for instead
            columns["gold_leniency"] = columns.pop("gold_leniency")
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


def explain_suspicions(result: Audit) -> list[str]:
    """Why judges are suspected: a line for each suspect among the first rows of the table."""
    shown = _sort_judges(result).head(MOST_SUSPICIONS)
    return [f"{shorten(judge)}: {why}" for judge, why in shown.select("judge", "why").iter_rows() if why]


def _sort_judges(result: Audit) -> pl.DataFrame:
    frame = result.to_frame()
    best = "accuracy" if "accuracy" in frame.columns else "reliability"
    return frame.sort(pl.col("flags") == "", best, descending=[False, True], nulls_last=True, maintain_order=True)


def _tabulate_all_pairs(result: Audit) -> Table:
    square = len(result.judges) <= MOST_IN_SQUARE
    return tabulate_agreement(result) if square else tabulate_pairs(result)


def tabulate_pairs(result: Audit) -> Table:
    """Pairs of judges, those that agree most first."""
    ordered = result.pairs.sort("kappa", descending=True, nulls_last=True, maintain_order=True)
    headers = {"judge": "judge", "other": "other", "shared": "shared", "percent": "equal", "kappa": "kappa"}
    headers["error_correlation"] = "errors"
    columns = {name: header for name, header in headers.items() if name in ordered.columns}
    return Table(ordered, "Pairs", DIGITS, name="pairs", about="judge", noun="pair", columns=columns)


def tabulate_agreement(result: Audit) -> Table:
    """Cohen's kappa of all pairs as a square."""
    return Table(result.matrix(), "Cohen's kappa", DIGITS, name="agreement", about="judge", keys=1)


def tabulate_panel(result: Audit) -> Table:
    """Statistics of all judges together."""
    frame = result.panel.filter(pl.col("statistic").is_in(list(STATISTICS)))
    columns = {"statistic": "statistic", "value": "value", "low": "95% from", "high": "to"}
    frame = frame.with_columns(pl.col("statistic").replace(STATISTICS))
    return Table(frame, "The panel", DIGITS, name="panel", columns=columns)


def tabulate_counts(result: Audit) -> Table:
    """Items by the number of their judges, and whether all of these agree."""
    frame = pl.DataFrame(result.counts, schema=list(COUNTS)[:3], orient="row")
    frame = frame.with_columns(differ=pl.col("items") - pl.col("agree"))
    return Table(frame, "Items by number of judges", name="counts", columns=COUNTS)


def tabulate_families(result: Audit) -> Table:
    """Families of judges, who may share errors."""
    columns = {name: name.replace("_", " ") for name in result.families.columns}
    return Table(result.families, "Families", DIGITS, name="families", columns=columns)


def tabulate_merges(result: Audit) -> Table:
    """Each merge against gold, and its gain over the best judge on the items that this judge graded."""
    chosen = pl.format("{}, chosen on other items ({})", "name", "picked")
    picked = pl.when(pl.col("picked").fill_null("") != "").then(chosen)
    frame = result.merges.with_columns(merge=picked.otherwise("name"))
    columns = {"merge": "merge", "items": "items", "accuracy": "right", "low": "from", "high": "to"}
    if frame["gain"].null_count() < len(frame):
        columns |= {"gain": "gain", "gain_low": "from", "gain_high": "to"}
    graded = frame["weighted_kappa"].null_count() < len(frame)
    columns |= {"weighted_kappa": "qkappa"} if graded else {"kappa": "kappa"}
    unit = "over topics if there are five or more" if result.has_topics else "over items"
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
    """How often each judge gave each grade to items of each gold grade; 95% intervals are over items."""
    columns = {name: name for name in result.confusion.columns} | {"share_low": "95% from", "share_high": "to"}
    return Table(result.confusion, CONFUSION, DIGITS, name="confusion", about="judge", columns=columns)


def chart_judges(audit: Audit) -> alt.HConcatChart:
    """The share of gold items that each judge grades correctly, and its mean grade minus gold's, with 95% intervals.

    Without gold: the mean kappa with the other judges, and the mean grade minus theirs.
    """
    known = "accuracy" in audit.judges.columns
    titles = RIGHT if known else AGREEING
    frame = _frame_judges(audit, list(titles))
    orders = {"lenient": "at_lenient"} | ({"family": "at_family"} if "family" in frame.columns else {})
    told = tell_columns(frame.drop(*orders.values(), "flagged"))
    natural = "right" if known else "agreeing"
    rows = Rows(frame, "judge", told, {"shape": FLAGS}, natural=natural, orders=orders)
    panels = [
        rows.chart_dots(
            Axis(f"{field}:Q", title, axis={"tickCount": 6}),
            (rows.width - GAP) // 2,
            span=(f"{field}_low", f"{field}_high") if f"{field}_low" in frame.columns else None,
            line=None if field == "accuracy" else 0.0,
            colour=colour,
            size=46,
            named=colour == CORRECTED,
        )
        for (field, title), colour in zip(titles.items(), (CORRECTED, JUDGES), strict=True)
    ]
    return rows.put_together(panels, "Each judge", tell_shown(len(frame), len(audit.judges), "graded most"))


def _frame_judges(audit: Audit, fields: Sequence[str]) -> pl.DataFrame:
    """A row for each judge that is shown: those with most items, best first by the first field."""
    wanted = [column for field in fields for column in (field, f"{field}_low", f"{field}_high")]
    have = [column for column in wanted if column in audit.judges.columns]
    if fields[0] not in have:
        raise DataError("no two judges share an item, and there is no gold, so their quality is unknown")
    frame = _find_busiest(audit, MOST)
    flags = pl.when(pl.col("flags") == "").then(pl.lit(UNSUSPECTED)).otherwise(pl.lit(FLAGGED)).alias("flagged")
    family = [name for name in ("family",) if name in frame.columns]
    frame = frame.select("judge", *family, "items", *have, "flags", flags)
    frame = frame.with_columns(at_lenient=pl.Series(place_values(frame[fields[1]])))
    frame = frame.sort(fields[0], descending=True, nulls_last=True, maintain_order=True)
    if family:
        frame = frame.with_columns(at_family=pl.struct("family", pl.int_range(pl.len())).rank("ordinal") - 1)
    return frame


def _find_busiest(audit: Audit, most: int, *, among: Sequence[str] | None = None) -> pl.DataFrame:
    """The judges (or those `among` them) that graded most, in the order of the audit."""
    by = "gold_items" if "gold_items" in audit.judges.columns else "items"
    numbered = audit.judges.with_row_index("place")
    if among is not None:
        numbered = numbered.filter(pl.col("judge").is_in(list(among)))
    return numbered.sort(by, "place", descending=[True, False]).head(most).sort("place").drop("place")


def chart_votes(audit: Audit) -> alt.LayerChart:
    """The number of judges (pale) and of independent judges as accurate as these (full), with a 95% interval."""
    frame = _frame_votes(audit)
    names, most = frame["who"].to_list(), max(frame["longest"].to_list())
    scale = {"domain": [0, 1.45 * most], "nice": False}  # room for the text beside the bars
    ticks = {"grid": False, "tickMinStep": 1, "labelExpr": f"datum.value <= {most} ? datum.label : ''"}
    across = Axis("votes:Q", "votes", scale, ticks)
    down = Axis("who:N", sort=names, axis={"labelLimit": 200, "ticks": False})
    told = tell("who:N", "judges:Q", "votes:Q", "low:Q", "high:Q")
    pale = {"color": PLAIN, "opacity": 0.3, "height": {"band": 0.8}}
    full = {"color": CORRECTED, "height": {"band": 0.45}}
    thick, beside = {"color": JUDGES, "strokeWidth": 2.5}, {"align": "left", "dx": 6}
    layers = [
        mark(frame, "bar", across.of("judges:Q"), down, told=told, style=pale),
        mark(frame, "bar", across, down, told=told, style=full),
        mark(frame, "rule", across.of("low:Q"), down, to=("high:Q", None), told=told, style=thick),
        mark(frame, "text", across.of("longest:Q"), down, told=told, encodings={"text": "said:N"}, style=beside),
    ]
    row = frame.row(0, named=True)
    interval = "" if row["low"] is None else f" ({row['low']:.1f} to {row['high']:.1f})"
    said = f"{counted(int(row['judges']), 'judge')} have {row['votes']:.1f} effective votes{interval}"
    size = WIDEST - measure_names([shorten(name, 30) for name in names]), 36 * len(frame)
    return lay_panel(layers, size, "Effective votes of the judges", [said])


def _frame_votes(audit: Audit) -> pl.DataFrame:
    """All judges, the grades of one item where not everybody grades everything, and each family."""
    votes, judges = audit.statistic("effective_votes"), audit.statistic("judges_compared")
    if votes is None or judges is None:
        raise DataError("effective votes need items with gold that at least two judges graded; there are none")
    bounds = {row["statistic"]: row for row in audit.panel.to_dicts()}
    rows = [("all judges", judges, votes, bounds["effective_votes"]["low"], bounds["effective_votes"]["high"])]
    grades, per_item = audit.statistic("grades_per_item"), bounds.get("effective_votes_per_item")
    if grades is not None and grades < judges and per_item is not None:
        rows.append(("judges of one item", grades, per_item["value"], per_item["low"], per_item["high"]))
    rows += [
        (shorten(str(row["family"]), 30), float(row["judges"]), row["effective_votes"], None, None)
        for row in audit.families.to_dicts()
    ]
    schema = {"who": pl.String} | dict.fromkeys(("judges", "votes", "low", "high"), pl.Float64)
    frame = pl.DataFrame(rows, schema=schema, orient="row").drop_nulls("votes")
    said = [f"{_count(j)}, {v:.1f} votes" for j, v in frame.select("judges", "votes").iter_rows()]
    return frame.with_columns(longest=pl.max_horizontal("judges", "high"), said=pl.Series(said))


def _count(judges: float) -> str:
    return counted(int(judges), "judge") if judges == int(judges) else f"{judges:.1f} grades"


def chart_confusion(audit: Audit) -> alt.FacetChart:
    """The confusion matrix of each judge: gold's grades in rows, the judge's in columns."""
    import altair as alt

    frame = _frame_confusion(audit)
    names = frame.unique("panel", maintain_order=True)["judge"].to_list()
    cell = next(size for panels, size in CELLS.items() if len(names) <= panels)
    axes = Axis("grade:O", axis={"labelAngle": 0}), Axis("gold:O", sort="descending")
    told = tell("judge:N", "gold:O", "grade:O", "share:Q", "share_low:Q", "share_high:Q", "items:Q")
    shade = Key("share:Q", title="share", legend={}, scale={"scheme": "viridis", "domain": [0, 1]})
    cells = mark(alt.Chart(), "rect", *axes, told=told, follow="judge", looks={"color": shade})
    layers = [cells.properties(name="cells")]
    if cell >= WORDY:
        ink = alt.condition("datum.share > 0.55", alt.value("#222222"), alt.value("#F2F2F2"))
        text = {"text": alt.Text("share:Q", format=".0%"), "color": ink}
        layers.append(mark(alt.Chart(), "text", *axes, told=told, encodings=text, style={"fontSize": 10}))
    width, height = (cell * frame[side].n_unique() for side in ("grade", "gold"))
    column = max(width, NARROWEST)
    titles = name_by_number(cut_names(names, int(column / LETTER)))
    header = alt.Header(labelExpr=titles, labelFontSize=10, labelLimit=column, labelPadding=2)
    left = tell_shown(len(names), audit.confusion["judge"].n_unique(), "have most gold items")
    title = entitle("Grades of the judges by gold's grade", ["rows: gold's grade; columns: the judge's grade", *left])
    panel = alt.layer(*layers, data=frame).properties(width=width, height=height)
    facet = alt.Facet("panel:O", title=None, header=header)
    chart: alt.FacetChart = panel.facet(facet, columns=max(ROOM // (column + GAP), 1), spacing=GAP, title=title)
    return let_choose(chart, "judge")


def _frame_confusion(audit: Audit) -> pl.DataFrame:
    """The judges with most gold items, families together, in each those that are right most often first."""
    if audit.confusion.is_empty():
        raise DataError("confusion matrices need items with gold that judges graded; there are none")
    shown = _find_busiest(audit, PANELS, among=audit.confusion["judge"].unique().to_list())
    family = [name for name in ("family",) if name in shown.columns]
    order = shown.sort(*family, "accuracy", descending=[*([False] * len(family)), True], nulls_last=True)
    place = order.select("judge", panel=pl.int_range(pl.len()))
    return audit.confusion.join(place, on="judge", how="inner").sort("panel", "gold", "grade")


def chart_agreement(audit: Audit) -> alt.LayerChart:
    """Cohen's kappa of each pair of judges. Families, and in them judges that agree most, are neighbours."""
    names = order_judges(audit)
    frame = _frame_agreement(audit, names)
    if frame["kappa"].null_count() == len(frame):
        raise DataError(
            f"the {len(names):,} judges who graded most have no kappa among them: their pairs were not drawn"
        )
    least = min(0.0, *frame["kappa"].drop_nulls().to_list())
    scale = {"scheme": "viridis", "domain": [least, 1.0]}
    shade = Key("kappa:Q", title="kappa", legend={}, scale=scale)
    side = min(SIDE, max(26 * len(names), 90))
    told = tell("judge:N", "other:N", "kappa:Q", "shared:Q")
    labels = {"labelExpr": name_by_number(cut_names(names, NAME)), "labelLimit": 160, "domain": False}
    labels["labelFontSize"] = 9 if len(names) <= FEW else 7
    chart = chart_map(frame, names, names, shade, told=told, follow="judge", size=(side, side), **labels)
    chart.title = entitle("Agreement of each pair of judges", tell_shown(len(names), len(audit.judges), "graded most"))
    return let_choose(chart, "judge")


def _frame_agreement(audit: Audit, names: list[str]) -> pl.DataFrame:
    """Each pair of these judges twice, so that the map is a square."""
    pairs = audit.pairs.select("judge", "other", "shared", "kappa")
    both = pl.concat([pairs, pairs.select(judge="other", other="judge", shared="shared", kappa="kappa")])
    place = pl.DataFrame({"judge": pl.Series(names, dtype=pl.String), "row": range(len(names))})
    both = both.join(place, on="judge").join(place.rename({"judge": "other", "row": "column"}), on="other")
    return both.sort("row", "column")


def order_judges(audit: Audit) -> list[str]:
    """The judges that there is room for: those that agree near each other, and families together."""
    if audit.pairs.is_empty():
        raise DataError("there are no pairs of judges: no two share an item, or pairs were not written to the file")
    met = pl.concat([audit.pairs["judge"], audit.pairs["other"].alias("judge")]).unique().to_list()
    shown = _find_busiest(audit, MOST, among=met)
    names = shown["judge"].to_list()
    place = {name: k for k, name in enumerate(names)}
    nearness = np.zeros((len(names), len(names)))
    for one, other, found in audit.pairs.select("judge", "other", "kappa").iter_rows():
        if one in place and other in place and found is not None:
            nearness[place[one], place[other]] = nearness[place[other], place[one]] = found
    at = {name: k for k, name in enumerate(names[j] for j in _order_leaves(nearness))}
    if "family" not in shown.columns:
        return sorted(names, key=lambda name: at[name])
    family = dict(shown.select("judge", pl.col("family").fill_null("")).iter_rows())
    means = {home: np.mean([at[name] for name in names if family[name] == home]) for home in family.values()}
    return sorted(names, key=lambda name: (means[family[name]], family[name], at[name]))


def _order_leaves(nearness: FloatArray) -> list[int]:
    """An order in which neighbours agree: the leaves of a tree that joins the nearest first."""
    if len(nearness) < 3:
        return list(range(len(nearness)))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distance = 1 - nearness
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average", optimal_ordering=True)
    return [int(leaf) for leaf in leaves_list(tree)]
