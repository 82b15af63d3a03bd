"""The collaborative experiment: orders of judging, mixes of experts and crowd, and how crowds are merged."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from karatage.errors import OptionError
from karatage.experiments.collaborative.findings import ABOVE, BELOW, OPEN, CollaborativeFindings
from karatage.experiments.collaborative.lesson import Predicted
from karatage.text import counted, shorten
from karatage.views.marks import (
    CORRECTED,
    JUDGES,
    PLAIN,
    WHOLE,
    Axis,
    Key,
    cycle,
    lay_panel,
    lay_panels,
    mark,
    mark_diagonal,
    mark_lines,
    tell_apart,
)
from karatage.views.page import Figure, Page, Section, shows
from karatage.views.queue import chart_topic_rates
from karatage.views.table import Table, label_columns

if TYPE_CHECKING:
    import altair as alt

ALONE = "#777777"
INK = "#1A1A1A"  # text on cells that are light or bright on any page
NAME = 24
PANEL = (300, 230)
# From light to dark: a darker line for a larger share of the crowd.
SHADES = ("#B5DE2B", "#6DCD59", "#35B779", "#1F9E89", "#26828E", "#31688E", "#3E4989", "#440154")
DECIDED = (ABOVE, BELOW)
NUMBERS = {"labelExpr": "format(datum.value, '~g')"}  # 2, not 2.0
COST = Axis("cost:Q", "cost, share of full expert judging", axis={"format": "%"})
NEARNESS = Axis("tau_ap:Q", "tau_ap with full judging", {"zero": False, "nice": True})
ORDERS = """Experts judge the first part of the pool, {items:,} documents of {topics}, and the leaderboard of
{systems} by {measure} is compared with the one after judging the whole pool, [COLLAB14] figure 3.4. The order decides
which documents come first; move-to-front and thompson learn from the answers given so far.

Gaps are differences from depth pooling. Intervals are over topics, drawn with replacement {resamples:,} times. No
crowd is used here, and only the order thompson is random."""
PREDICTED = """The order by disagreement needs a model, [COLLAB14] section 3.3: for each topic with enough judges, a
regression on {features}, tried on {splits}. A topic of this pool is predicted by the model of another topic: the one
whose predictions are most like a prior. TPR is the share of disagreements that are flagged, PPV the share of flags
that are right; TNR and NPV are the same for agreement.

TPR is not informative if judges often disagree: then nearly everything is flagged. AUC needs no threshold."""
LEARNED = {"mean": "mean over topics", "over_topics": "± over topics", "over_splits": "± over splits"}
FINDING = """How early each order finds the relevant documents. Area: 1 if they all come first, .5 in a random order.
Ahead and behind: number of topics in which they come earlier or later than by depth, on average."""
CONSENSUS = """[COLLAB14] figure 3.6: experts judge the first part of the queue, a crowd the next {fixed:g}%,
{judges} for each document, and each approach merges the crowd's judgments alone. Lead: difference
from {first} for the same crowds."""
QUALITY = """[COLLAB14] tables 3.2 and 3.3: each crowd judges the whole pool; recall (R) and precision (P) of its
merged judgments, in %, means over {samples}. {relevant:.1%} of this pool are relevant: if few are,
a crowd that rejects too few of the others has low precision with any merge."""
SHARES = """[COLLAB14] figures 3.7 and 3.8: shares of experts and crowd are varied, the crowd merged by {approach}.
Cost is a share of what experts on the whole pool would cost; ratios are prices of an expert's judgment to that of a
merged one.

Gap: tau_ap of a mix minus that of experts alone who judge as much of the same queue for the same cost. Intervals over
samples are for other crowds ({samples}) on the same documents; those over topics are for one crowd on other topics.
{mixes} comparisons are made for each crowd and ratio, so a few of those above or below are so by chance."""
SIGNS = {ABOVE: "+", BELOW: "-"}
SIGNS_TEXT = "+ above, - below experts alone at the same cost, by 95% intervals over samples"
PLACE = ("order", "crowd", "ratio")


def chart_orders(findings: CollaborativeFindings) -> alt.ConcatChart:
    """[COLLAB14] figure 3.4: experts alone, tau and tau_ap over the share judged, a line for each order."""
    frame = findings.order_means
    if not len(frame):
        raise OptionError("there is no chart of orders, because they were not studied")
    looks = tell_apart("order", findings.plan.orders, {})
    across = Axis("experts:O", "% of the pool judged", axis={"labelAngle": 0, **NUMBERS})
    told = ["order", "experts", "tau", "tau_ap", "tau_ap_topics_low", "tau_ap_topics_high", "found"]
    panels = []
    for outcome in ("tau", "tau_ap"):
        up = Axis(f"{outcome}:Q", f"{outcome} with full judging", NEARNESS.scale)
        panels.append(lay_panel(mark_lines(frame, across, up, looks, told=told, points=40), PANEL, outcome))
    return lay_panels(panels, f"Experts alone, by {findings.plan.measure}: which documents to judge first", 2)


def chart_predicted(predicted: Predicted) -> alt.LayerChart:
    """[COLLAB14] figure 3.3: a box for each rate over the topics of the pool, with a tick for each topic."""
    rates = predicted.summary["rate"].to_list()
    frame = predicted.rates.unpivot(rates, index=["topic", "items"], variable_name="rate", value_name="value")
    frame = frame.drop_nulls().with_columns(_name_rates())
    means = predicted.summary.with_columns(_name_rates())
    axes = Axis("value:Q", "rate on the topics of the pool", WHOLE), Axis("rate:N", sort=[n.upper() for n in rates])
    median = {"color": CORRECTED, "opacity": 1, "thickness": 2.5}
    box = {"extent": "min-max", "size": 16, "color": CORRECTED, "opacity": 0.45, "median": median}
    ticks = {"color": PLAIN, "thickness": 1.2, "opacity": 0.7, "height": 8}
    dots = {"color": JUDGES, "shape": "diamond", "filled": True, "size": 70, "opacity": 1}
    layers = [
        mark(frame, "boxplot", *axes, style=box),
        mark(frame, "tick", *axes, told=["topic:N", "rate:N", "value:Q", "items:Q"], style=ticks),
        mark(means, "point", axes[0].of("mean:Q"), axes[1], told=["rate:N", "mean:Q", "topics:Q"], style=dots),
    ]
    said = ["box: half of the topics, with their median; a tick for each topic; diamond: mean"]
    return lay_panel(layers, (540, 34 * len(rates)), "Predicted disagreement on this pool", said)


def _name_rates() -> pl.Expr:
    return pl.col("rate").str.to_uppercase()


def chart_finding(findings: CollaborativeFindings) -> alt.ConcatChart:
    """The share of the relevant documents found over the share judged, a line for each order."""
    if not len(findings.finding_means):
        raise OptionError("there is no chart of finding, because it was not studied")
    start = pl.DataFrame({"order": list(findings.plan.orders), "judged": 0.0, "found": 0.0})
    curves = pl.concat([start, findings.alone_means.select(start.columns)])
    across = Axis("judged:Q", "share of the pool judged", axis={"format": "%"})
    up = Axis("found:Q", "share of the relevant documents found", axis={"format": "%"})
    colours = {"color": cycle("order", findings.plan.orders, title="order", legend={})}
    layers = [
        mark_diagonal(across, up, (0.0, 1.0)),
        *mark_lines(curves, across, up, colours, told=["order", "judged", "found"]),
    ]
    panel = lay_panel(layers, (420, 300), "dashed: any order at random")
    return lay_panels([panel], "How early relevant documents are found", 1)


def chart_consensus(findings: CollaborativeFindings, order: str) -> alt.ConcatChart:
    """[COLLAB14] figure 3.6: tau_ap over cost, the crowd's share fixed, a line for each approach."""
    ratio = findings.plan.ratios[0]
    found = findings.consensus.filter(order=order, ratio=ratio)
    if not len(found):
        raise OptionError(f"there is no result for approaches by the order '{shorten(order)}'")
    looks = tell_apart("approach", findings.plan.approaches, {})
    told = ["approach", "experts", "crowd_share", "cost", "tau_ap", "tau_ap_low", "tau_ap_high", "lead"]
    alone = _chart_alone(findings, order, found)
    panels = []
    for (crowd,), here in found.group_by(["crowd"], maintain_order=True):
        lines = mark_lines(here, COST, NEARNESS, looks, told=told, points=40, encodings={"order": "experts:Q"})
        panels.append(lay_panel([*alone, *lines], PANEL, f"crowd {shorten(str(crowd), NAME)}"))
    fixed = f"{findings.plan.fixed_share:g}% by the crowd, ratio {ratio}"
    return lay_panels(panels, f"{order}, {fixed}; markers: % by experts; grey: experts alone", 2)


def chart_shares(findings: CollaborativeFindings, order: str) -> alt.ConcatChart:
    """[COLLAB14] figures 3.7 and 3.8: tau_ap over cost, a line for each share of the crowd."""
    found = _find_shares(findings, order)
    names = [f"{share:g}%" for share in sorted(found["crowd_share"].unique())]
    step = (len(SHADES) - 1) / max(len(names) - 1, 1)
    shades = {name: SHADES[int(k * step)] for k, name in enumerate(names)}
    looks = {"color": Key("share", shades, "by the crowd", {})}
    told = ["share", "experts", "cost", "tau_ap", "tau_ap_low", "tau_ap_high", "alone", "gap", "verdict"]
    alone = _chart_alone(findings, order, found)
    panels = []
    for key, here in found.group_by(["crowd", "ratio"], maintain_order=True):
        frame = here.with_columns(share=pl.col("crowd_share").map_elements("{:g}%".format, return_dtype=pl.String))
        encodings = {"order": "experts:Q"}
        lines = mark_lines(frame, COST, NEARNESS, looks, told=told, points=34, width=1.4, encodings=encodings)
        panels.append(lay_panel([*alone, *lines], PANEL, _name_mix(key)))
    title = f"{order}, crowd merged by {findings.plan.approach}; markers: % by experts; grey: experts alone"
    return lay_panels(panels, title, len(findings.plan.ratios))


def chart_gaps(findings: CollaborativeFindings, order: str) -> alt.ConcatChart:
    """Where a mix is above or below experts alone at the same cost; bold where intervals over samples exclude 0."""
    found = _find_shares(findings, order)
    reach = max(float(found["gap"].abs().to_numpy().max()), 0.01)
    scale = {"domain": [-reach, 0, reach], "range": ["#D55E00", "#FFFFFF", "#0072B2"], "interpolate": "rgb"}
    shade = Key("gap:Q", title="gap in tau_ap", legend={}, scale=scale)
    axes = (
        Axis("experts:O", "% by experts", axis={"labelAngle": 0, **NUMBERS}),
        Axis("crowd_share:O", "% by the crowd", axis=NUMBERS, sort="descending"),
    )
    told = ["experts", "crowd_share", "cost", "tau_ap", "alone", "gap", "gap_low", "gap_high", "verdict"]
    text = pl.col("gap").map_elements(_write_gap, return_dtype=pl.String)
    table = found.with_columns(text=text, decided=pl.col("verdict").is_in(DECIDED).fill_null(False))
    panels = []
    for key, here in table.group_by(["crowd", "ratio"], maintain_order=True):
        layers = [mark(here, "rect", *axes, told=told, looks={"color": shade})]
        for weight, test in (("bold", "datum.decided"), ("normal", "!datum.decided")):
            style = {"color": INK, "fontSize": 10, "fontWeight": weight}
            words = mark(here, "text", *axes, told=told, encodings={"text": "text:N"}, style=style)
            layers.append(words.transform_filter(test))
        panels.append(lay_panel(layers, (340, 210), _name_mix(key)))
    title = f"{order}: mixes minus experts alone at the same cost; bold: 95% interval over samples excludes 0"
    return lay_panels(panels, title, len(findings.plan.ratios))


def _write_gap(gap: float) -> str:
    """In hundredths, where .00 has no sign."""
    text = f"{gap:+.2f}"
    return ".00" if float(text) == 0 else text.replace("0.", ".").replace("-", "−")


def _find_shares(findings: CollaborativeFindings, order: str) -> pl.DataFrame:
    found = findings.shares.filter(order=order)
    if not len(found):
        raise OptionError(f"there is no result for shares by the order '{shorten(order)}'")
    return found


def _name_mix(key: tuple[object, ...]) -> str:
    crowd, ratio = (shorten(str(part), NAME) for part in key)
    return f"crowd {crowd}, ratio {ratio}"


def _chart_alone(findings: CollaborativeFindings, order: str, found: pl.DataFrame) -> list[alt.Chart]:
    """Experts alone: a grey line as far as mixes go, with markers at the shares that mixes have."""
    most = max(findings.plan.expert_shares) / 100
    edge = max(float(found["cost"].to_numpy().max()), most)
    line = findings.alone_means.filter(pl.col("order") == order, pl.col("judged") <= edge).rename({"judged": "cost"})
    own = findings.order_means.filter(pl.col("order") == order).with_columns(cost=pl.col("judged") / findings.items)
    thin, dots = {"color": ALONE, "strokeWidth": 1.2}, {"color": ALONE, "size": 34, "filled": True, "opacity": 1}
    return [
        mark(frame, what, COST, NEARNESS, told=["cost", "tau_ap"], style=style)
        for what, frame, style in (("line", line, thin), ("point", own, dots))
        if len(frame)
    ]


@shows(CollaborativeFindings)
def view_collaborative(findings: CollaborativeFindings) -> Page:
    """A section for each study; the terminal has the crossed tables of the first order."""
    return Page("Experts and crowd", findings.sentence, list(_view(findings)), findings.notes)


def _view(findings: CollaborativeFindings) -> Iterator[Section]:
    if findings.predicted is not None:
        yield _view_predicted(findings.predicted)
    if len(findings.order_means):
        yield _view_orders(findings)
    if len(findings.finding_means):
        figure = Figure(partial(chart_finding, findings), "Relevant documents found", "finding")
        columns = {"order": "order", "area": "area", "topics_above": "ahead", "topics_below": "behind"}
        caption = "Relevant documents found: area under the curve, topics ahead of and behind depth"
        digits = {"topics_above": 1, "topics_below": 1}
        table = Table(findings.finding_means, caption, digits, name="finding", columns=columns)
        yield Section("Finding", "", [table], [figure], background=FINDING)
    if len(findings.consensus):
        yield _view_consensus(findings)
    if len(findings.shares):
        yield _view_shares(findings)
    if len(findings.table33):
        yield _view_crowds(findings)


def _view_predicted(predicted: Predicted) -> Section:
    model = predicted.model
    text = PREDICTED.format(features=" and ".join(model.features), splits=counted(model.trials, "split"))
    figures = []
    if model.topics:
        caption = "Figure 3.2: rates on held-out items of each topic learned from"
        figures.append(Figure(partial(chart_topic_rates, model), caption, "disagreement-learned"))
    rates, found = (frame.with_columns(_name_rates()) for frame in (model.rates, predicted.summary))
    columns = label_columns(rates, **LEARNED)
    tables = [
        Table(rates, "Model of disagreement: rates on held-out items", 3, columns=columns, name="disagreement-learned")
    ]
    if len(found):
        behind = Table(predicted.rates, "Predicted: rates on each topic of this pool", 3, name="disagreement-topics")
        caption = "Figure 3.3: rates on this pool; a box for half of the topics, whiskers to the lowest and the highest"
        figures.append(Figure(partial(chart_predicted, predicted), caption, "disagreement-predicted", behind))
        columns = label_columns(found, low="from", high="to")
        caption = "Predicted on this pool, against other judges; from, to: half of the topics"
        tables.append(Table(found, caption, 3, columns=columns, name="disagreement-predicted"))
    return Section("Disagreement", model.sentence, tables, figures, background=text)


def _view_orders(findings: CollaborativeFindings) -> Section:
    plan = findings.plan
    text = ORDERS.format(
        items=findings.items,
        topics=counted(findings.topics, "topic"),
        systems=counted(findings.systems, "system"),
        measure=plan.measure,
        resamples=plan.resamples,
    )
    names = ["order", "experts", "judged", "found", "tau", "tau_ap", *_ends("tau_ap"), "gap", *_ends("gap")]
    whole = _tabulate_all(findings.order_means, names, "Experts alone; low and high over topics")
    figure = Figure(partial(chart_orders, findings), "tau and tau_ap by order and share judged", "orders")
    return Section("Orders", "", [*tabulate_orders(findings), whole], [figure], background=text)


def _view_consensus(findings: CollaborativeFindings) -> Section:
    plan = findings.plan
    text = CONSENSUS.format(fixed=plan.fixed_share, judges=counted(plan.per_item, "judge"), first=plan.approaches[0])
    figures = [
        Figure(partial(chart_consensus, findings, name), f"tau_ap over cost, by approach: {name}", f"consensus-{name}")
        for name in plan.orders
    ]
    names = ["order", "crowd", "approach", "experts", *_low_high("tau_ap"), *_low_high("lead")]
    here = findings.consensus.filter(ratio=plan.ratios[0])
    whole = _tabulate_all(here, names, "Approaches; low and high over samples")
    crossed = [table for order in plan.orders for table in tabulate_consensus(findings, order)]
    return Section("Consensus", "", [*crossed, whole], figures, background=text)


def _view_shares(findings: CollaborativeFindings) -> Section:
    plan = findings.plan
    mixes = f"{findings.wins['mixes'][0]:,}"
    text = SHARES.format(approach=plan.approach, samples=counted(plan.samples, "crowd"), mixes=mixes)
    figures = []
    for order in plan.orders:
        caption = f"tau_ap over cost, by shares of experts and crowd: {order}"
        figures.append(Figure(partial(chart_shares, findings, order), caption, f"shares-{order}"))
        caption = f"Differences from experts alone at the same cost: {order}"
        figures.append(Figure(partial(chart_gaps, findings, order), caption, f"gaps-{order}"))
    names = [*PLACE, "experts", "crowd_share", "cost", "tau_ap", "alone", *_low_high("gap"), *_ends("gap")]
    whole = _tabulate_all(findings.shares.with_columns(pl.col("cost") * 100), names, "All mixes")
    crossed = [table for order in plan.orders for table in tabulate_shares(findings, order)]
    signs = f"{SIGNS_TEXT}." if plan.samples > 1 else ""
    tables = [*crossed, tabulate_wins(findings), tabulate_reach(findings), whole]
    return Section("Shares", signs, tables, figures, background=text)


def _view_crowds(findings: CollaborativeFindings) -> Section:
    text = QUALITY.format(samples=counted(findings.plan.samples, "crowd"), relevant=findings.relevant)
    columns = label_columns(findings.table33, rate="")
    caption = "Table 3.3: recall (R) and precision (P) of the crowd's merged grades, %"
    tables = [Table(findings.table33, caption, 2, name="quality", columns=columns, keys=2)]
    if len(findings.table32):
        caption = "Table 3.2: the crowd's majority vote: recall, precision, specificity, negative predictive value, %"
        tables.insert(0, Table(findings.table32, caption, 2, name="majority"))
    return Section("Crowds", "", tables, background=text)


def _tabulate_all(frame: pl.DataFrame, names: list[str], caption: str) -> Table:
    """All rows of a study, too many for the terminal."""
    plain = {"experts": "experts %", "crowd_share": "crowd %", "cost": "cost %"}
    columns = {name: plain.get(name, name.replace("_", " ")) for name in names}
    digits = {"experts": 0, "judged": 0, "crowd_share": 0, "cost": 1}
    return Table(frame, caption, digits, columns=columns, detail=True)


def _low_high(name: str) -> list[str]:
    return [name, f"{name}_low", f"{name}_high"]


def _ends(name: str) -> list[str]:
    return [f"{name}_topics_low", f"{name}_topics_high"]


def tabulate_orders(findings: CollaborativeFindings) -> Iterator[Table]:
    """Experts alone by share of the pool judged: tau_ap, and its difference from depth."""
    caption = f"Experts alone: tau_ap by {findings.plan.measure} with full judging, by % of the pool judged"
    means = findings.order_means
    yield Table(_cross(means, "order", "tau_ap"), caption, 3, name="orders")
    if len(findings.plan.orders) > 1:
        half = (pl.col("gap_topics_high") - pl.col("gap_topics_low")) / 2
        gaps = means.filter(pl.col("order") != "depth").with_columns(half=half)
        told = pl.struct("gap", "half").map_elements(_tell_gap, return_dtype=pl.String)
        frame = _cross(gaps.with_columns(told=told), "order", "told")
        caption = "Difference from depth; ± half of the 95% interval over topics"
        yield Table(frame, caption, name="orders-above-depth", right=frame.columns[1:])


def _tell_gap(row: dict[str, float | None]) -> str:
    """Short, so that six of these fit on a line of a terminal."""
    if row["half"] is None:
        return f"{row['gap']:+.3f}"
    return f"{row['gap']:+.2f}±{row['half']:.2f}".replace("0.", ".")


def tabulate_consensus(findings: CollaborativeFindings, order: str) -> Iterator[Table]:
    """For each crowd, tau_ap by approach and share of experts."""
    here = findings.consensus.filter(order=order, ratio=findings.plan.ratios[0])
    for (crowd,), table in here.group_by(["crowd"], maintain_order=True):
        name = shorten(str(crowd), NAME)
        caption = f"{order}, {findings.plan.fixed_share:g}% by crowd {name}: tau_ap, by % by experts"
        yield Table(_cross(table, "approach", "tau_ap"), caption, 3, detail=_is_later(findings, order))


def tabulate_shares(findings: CollaborativeFindings, order: str) -> Iterator[Table]:
    """For each crowd tau_ap by shares of crowd and experts; for each ratio, the gap to experts alone."""
    sign = pl.col("verdict").replace_strict(SIGNS, default="")
    shown = findings.shares.filter(order=order).with_columns(
        crowd_part=pl.col("crowd_share").map_elements("{:g}%".format, return_dtype=pl.String),
        told=pl.col("gap").map_elements("{:+.3f}".format, return_dtype=pl.String) + sign,
    )
    for (crowd, ratio), table in shown.group_by(["crowd", "ratio"], maintain_order=True):
        name = f"{shorten(str(crowd), NAME)} ({findings.plan.approach})"
        by_share = table.sort("crowd_share")
        if ratio == findings.plan.ratios[0]:
            caption = f"{order}, crowd {name}: tau_ap, by % by the crowd (down) and experts"
            frame = _cross(by_share, "crowd_part", "tau_ap")
            columns = label_columns(frame, crowd_part="crowd")
            yield Table(frame, caption, 3, columns=columns, detail=_is_later(findings, order))
        caption = f"{order}, crowd {name} at {shorten(str(ratio), NAME)}: gap from experts alone at the same cost"
        gaps = _cross(by_share, "crowd_part", "told")
        columns, right = label_columns(gaps, crowd_part="crowd"), gaps.columns[1:]
        yield Table(gaps, caption, columns=columns, right=right, detail=_is_later(findings, order))


def _is_later(findings: CollaborativeFindings, order: str) -> bool:
    """The terminal shows tables of the first order only."""
    return order != findings.plan.orders[0]


def _cross(table: pl.DataFrame, down: str, value: str) -> pl.DataFrame:
    """A row for each of `down`, a column for each share of experts."""
    wide = table.pivot("experts", index=down, values=value, maintain_order=True)
    shares = table["experts"].unique().sort().to_list()
    return wide.select(down, *(pl.col(str(share)).alias(f"{share:g}%") for share in shares))


def tabulate_wins(findings: CollaborativeFindings) -> Table:
    """How many mixes are better or worse than experts alone at the same cost; over samples, and over topics."""
    tried, on_topics = (
        pl.sum_horizontal(f"{prefix}{word}" for word in (ABOVE, BELOW, OPEN)) > 0 for prefix in ("", "topics_")
    )  # without intervals nothing is known: neither that there are such mixes nor that there are none
    samples = [pl.when(tried).then(pl.col(word)).alias(word) for word in (ABOVE, BELOW)]
    topics = pl.when(on_topics).then(pl.format("{} / {}", f"topics_{ABOVE}", f"topics_{BELOW}"))
    shown = findings.wins.select(
        *PLACE, "mixes", *samples, topics.alias("over topics"), pl.col("gap").alias("mean gap")
    )
    caption = "Mixes against experts alone at the same cost"
    right = ("over topics",)
    return Table(shown, caption, 3, signed=("mean gap",), name="wins", right=right, group="order", keys=2)


def tabulate_reach(findings: CollaborativeFindings) -> Table:
    """The least cost for tau_ap 0.9, by a mix and by experts alone."""
    reach = findings.reach()
    mixes = [
        None if experts is None else f"{experts:g} + {crowd:g}"
        for experts, crowd in reach.select("experts", "crowd_share").iter_rows()
    ]
    shown = reach.select(
        *PLACE,
        pl.col("cost").alias("mix"),
        pl.Series("experts + crowd", mixes, dtype=pl.String),
        pl.col("alone").alias("experts alone"),
    )
    return Table(
        shown,
        "Lowest cost for tau_ap 0.9, as a share of full expert judging",
        digits=1,
        shares=("mix", "experts alone"),
        name="reach",
        right=("experts + crowd",),
        group="order",
        keys=2,
    )
