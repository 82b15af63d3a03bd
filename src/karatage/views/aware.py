"""The AWARE experiment: families of approaches by size, analyses of variance, scores against grades, every approach."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import zip_longest
from typing import TYPE_CHECKING

import polars as pl

from karatage.experiments.aware.analysis import (
    APPROACH,
    RESPONSES,
    choose_sizes,
    frame_by_size,
    frame_families,
    label_measures,
    list_families,
)
from karatage.experiments.aware.cells import OUTCOMES
from karatage.experiments.aware.findings import AwareFindings
from karatage.text import counted, list_ranges
from karatage.views.aware_charts import Part, draw_all, draw_crossing, draw_families, name_panel
from karatage.views.page import Figure, Page, Section
from karatage.views.showing import shows
from karatage.views.table import Table, label_columns

if TYPE_CHECKING:
    import altair as alt

    from karatage.experiments.aware.analysis import Analysis

DIGITS = 3
VERDICTS = {True: "yes", False: "NO", None: "open"}
OUTCOME_NAMES = {"tau": "tau", "tau_ap": "tau_ap", "rmse": "RMSE"}
ANOVA = {"source": "source", "ss": "SS", "df": "DF", "ms": "MS", "f": "F", "p_value": "p", "omega_squared": "omega²"}
PARTS: dict[Part, str] = {"best": "Best member", "family_mean": "Mean"}
DESIGNS = {"whole": "", "parts": " by parts of the 30 estimators"}
MANY_SIZES = 10
CAPTIONS = {
    "main-effects": "Marginal means by factor, with 95 % intervals",
    "approaches": "Marginal means of approaches, with 95 % intervals",
    "tukey": "Approaches, best first; where intervals do not overlap, they differ (Tukey, 5 %)",
    "size-by-approach": "Approaches by size of the k-tuple",
    "measure-by-approach": "Approaches by measure",
    "systems-by-approach": "Approaches by systems",
    "parts": "Marginal means of granularities, gaps and weights",
    "granularity-by-gap": "Granularities and gaps",
    "granularity-by-weight": "Granularities and weights",
    "gap-by-weight": "Gaps and weights",
}
CROSSING = """Whether merging scores or merging grades is better depends on how often judges err on the same documents.
Below the crossing merged grades are better, above it the best merge of scores is. The best merge is chosen on the same
k-tuples, which favours it a little."""


@shows(AwareFindings)
def view_aware(findings: AwareFindings) -> Page:
    """Families, analyses of each panel, crossings, and every approach by size.

    The terminal has the first and the last panel only.
    """
    drawn = cache(partial(draw_all, findings))
    return Page(
        title=f"Merging judges on {findings.collection}: the AWARE experiment",
        sentence=findings.sentence,
        sections=[
            _view_families(findings),
            *_view_crossings(findings),
            *(_view_analyses(findings, panel, drawn) for panel in findings.panels),
            Section("Every approach by size of the k-tuple", "", list(tabulate_approaches(findings)), detail=True),
        ],
        notes=findings.notes,
    )


def _view_families(findings: AwareFindings) -> Section:
    tried = f"{counted(int(findings.samples.max()), 'k-tuple')} of each size ({list_ranges(findings.sizes)})"
    text = (
        f"From {counted(len(findings.judges), 'judge')}, {tried} were drawn, the same for all approaches; where there "
        "are fewer, all of them. Each approach merges a k-tuple's judges, and its leaderboard is compared with gold's. "
        "Intervals are about all k-tuples of these judges, not about other judges or topics."
    )
    figures = [
        Figure(
            partial(draw_families, findings, systems, outcome=outcome, part=part), f"{who} of each family: {outcome}"
        )
        for systems in findings.systems
        for outcome in RESPONSES
        for part, who in PARTS.items()
    ]
    tables = [*tabulate_families(findings), *tabulate_leads(findings), *tabulate_contests(findings)]
    return Section("Families by size of the k-tuple", "", tables, figures, background=text)


def _view_crossings(findings: AwareFindings) -> Iterator[Section]:
    if not findings.crossings.is_empty():
        figure = Figure(partial(draw_crossing, findings), "Scores less grades, tau_ap")
        tables = list(tabulate_crossings(findings))
        yield Section("Where the regimes cross", "", tables, [figure], background=CROSSING)


def _view_analyses(
    findings: AwareFindings, panel: str, drawn: Callable[[], Mapping[str, alt.TopLevelMixin]]
) -> Section:
    at_end = panel in findings.ends
    figures = [
        Figure(partial(_pick, drawn, f"{name_panel(panel, findings)}{found.outcome}-{name}"), caption)
        for found in findings.analyses.found
        if found.panel == panel and at_end
        for name, caption in _list_captions(found)
    ]
    tables = [
        *tabulate_analyses(findings, panel),
        *tabulate_top_groups(findings, panel),
        *tabulate_claims(findings, panel),
    ]
    title = "Analyses of variance" if len(findings.panels) == 1 else f"Analyses of variance, {panel}"
    text = "" if figures else "Effects are drawn for the first and the last panel only."
    return Section(title, "", tables, figures, background=text, detail=not at_end)


def _pick(drawn: Callable[[], Mapping[str, alt.TopLevelMixin]], name: str) -> alt.TopLevelMixin:
    return drawn()[name]


def _list_captions(found: Analysis) -> Iterator[tuple[str, str]]:
    """The charts of an analysis, by the names that `draw_all` gives them, and their captions."""
    factors = {factor.rpartition(" ")[2] for factor in found.whole.design.factors}
    for name, caption in CAPTIONS.items():
        if name == "main-effects":
            there = bool(factors - {APPROACH})
        elif name in {"approaches", "tukey"}:
            there = APPROACH in factors
        elif name.endswith("-by-approach"):
            there = {APPROACH, name.removesuffix("-by-approach")} <= factors
        else:
            there = found.parts is not None
        if there:
            yield name, f"{caption}: {RESPONSES[found.outcome]}"


def tabulate_families(findings: AwareFindings) -> Iterator[Table]:
    """The best member of each family at some sizes, and which that is at the largest."""
    frame = frame_families(findings)
    sizes = choose_sizes(findings.sizes, 6)
    order = pl.DataFrame({"family": list_families(findings)})
    for systems, panel, measure in _list_places(findings):
        here = frame.filter(systems=systems, panel=panel, measure=measure)
        wide = here.pivot("size", index="family", values="best", maintain_order=True)
        last = here.filter(size=sizes[-1]).select("family", pl.col("best_approach").alias(f"best of {sizes[-1]}"))
        shown = order.join(wide, on="family", how="left", maintain_order="left")
        shown = shown.select("family", *map(str, sizes)).join(last, on="family", how="left", maintain_order="left")
        where = _tell_place(findings, systems=systems, panel=panel, measure=measure)
        caption = f"tau_ap of each family's best, by judges in the k-tuple: {where}"
        yield Table(shown, caption, DIGITS, detail=panel not in findings.ends)


def tabulate_approaches(findings: AwareFindings, most: int = MANY_SIZES) -> Iterator[Table]:
    """All approaches at up to `most` sizes, best first by the mean over these."""
    sizes = choose_sizes(findings.sizes, most)
    frame = frame_by_size(findings, sizes)
    columns = [str(size) for size in sizes]
    for systems, panel, measure in _list_places(findings):
        for outcome in OUTCOMES:
            here = frame.filter(systems=systems, panel=panel, measure=measure, outcome=outcome)
            ordered = here.sort(pl.mean_horizontal(columns), descending=outcome != "rmse", maintain_order=True)
            where = _tell_place(findings, systems=systems, panel=panel, measure=measure)
            caption = f"{OUTCOME_NAMES[outcome]} to gold by judges in the k-tuple: {where}"
            yield Table(ordered.select("approach", *columns), caption, DIGITS, keys=1)


def tabulate_analyses(findings: AwareFindings, panel: str) -> Iterator[Table]:
    """[AWARE17] tables 1 to 4: what explains differences between approaches."""
    for design, about in DESIGNS.items():
        for analysis in findings.analyses.found:
            table = getattr(analysis, design)
            if analysis.panel == panel and table is not None:
                caption = f"Analysis of variance of {RESPONSES[analysis.outcome]}{about}"
                yield Table(table.to_frame(), _add_place(caption, findings, panel), digits={"f": 2}, columns=ANOVA)


def tabulate_top_groups(findings: AwareFindings, panel: str, *, most: int | None = None) -> Iterator[Table]:
    """[AWARE17] table 5, the outcomes side by side; of many levels only the first, and how many more there are."""
    frame = findings.tables.get("top-groups")
    if frame is None or frame.filter(panel=panel).is_empty():
        return
    here = frame.filter(panel=panel)
    rows: list[tuple[str | float | None, ...]] = []
    for factor in here["factor"].unique(maintain_order=True):
        groups = [_cut(here.filter(factor=factor, outcome=outcome), most) for outcome in ("tau_ap", "rmse")]
        rows += [(factor, *one, *other) for one, other in zip_longest(*groups, fillvalue=("", None))]
    text, number = pl.String(), pl.Float64()
    names = ("factor", "by tau_ap", "mean tau_ap", "by RMSE", "mean RMSE")
    shown = pl.DataFrame(rows, dict(zip(names, (text, text, number, text, number), strict=True)), orient="row")
    caption = "Top groups: the best, and those not significantly worse (Tukey, 5 %)"
    columns = label_columns(shown, **{"mean tau_ap": "mean", "mean RMSE": "mean"})
    yield Table(shown, _add_place(caption, findings, panel), DIGITS, columns=columns)


def _cut(group: pl.DataFrame, most: int | None) -> list[tuple[str, float | None]]:
    found: list[tuple[str, float | None]] = list(group.select("level", "mean").iter_rows())
    if most is None or len(found) <= most:
        return found
    return [*found[: most - 1], (f"and {len(found) - most + 1} more", None)]


def tabulate_claims(findings: AwareFindings, panel: str) -> Iterator[Table]:
    """What the paper found, and what was found here."""
    frame = findings.tables.get("claims")
    if frame is None or frame.filter(panel=panel).is_empty():
        return
    here = frame.filter(panel=panel)
    shown = here.select(
        pl.col("outcome").replace(OUTCOME_NAMES).alias("by"),
        pl.Series("holds", [VERDICTS[holds] for holds in here["holds"]], dtype=pl.String),
        pl.col("claim").alias("in the paper"),
        "here",
    )
    caption = _add_place("Does the paper's order hold here?", findings, panel, mark="")
    yield Table(shown, caption, wrap=("in the paper", "here"))


def tabulate_contests(findings: AwareFindings, most: int = MANY_SIZES) -> Iterator[Table]:
    """Differences of the best of two groups at up to `most` sizes, with their 95 % intervals."""
    baseline = "" if findings.contest.is_empty() else findings.contest["second"][0]
    captions = {
        "contest": f"Best merge of scores less {baseline}, tau_ap, by judges in the k-tuple",
        "own": "Best by the judge's own chance less best of the paper's, tau_ap",
    }
    sizes = choose_sizes(findings.sizes, most)
    for name, caption in captions.items():
        frame = findings.tables.get(name)
        if frame is not None:
            here = frame.filter(pl.col("size").is_in(sizes))
            shown = here.with_columns(_join_places(findings, here))
            columns = {"where": "", "size": "judges", "difference": "difference", "low": "95% from", "high": "to"}
            signed = ("difference", "low", "high")
            yield Table(shown, caption, DIGITS, signed=signed, name=name, columns=columns)


def tabulate_leads(findings: AwareFindings) -> Iterator[Table]:
    """Sizes at which scores or grades win for sure."""
    frame = findings.tables.get("leads")
    if frame is None:
        return
    shown = frame.with_columns(_join_places(findings, frame))
    caption = "Sizes at which one or the other has the higher tau_ap (95 %)"
    grades = str(findings.contest["second"][0])
    columns = {"where": "", "scores_lead": "scores", "grades_lead": grades, "undecided": "open"}
    wrap = ("scores_lead", "grades_lead", "undecided")
    yield Table(shown, caption, name="leads", columns=columns, wrap=wrap)


def tabulate_crossings(findings: AwareFindings) -> Iterator[Table]:
    """Where errors are so much alike that merging scores overtakes merging grades."""
    frame = findings.crossings
    if frame.is_empty():
        return
    known = pl.col("crossing").is_not_null()
    shown = frame.with_columns(
        _join_places(findings, frame.with_columns(panel=pl.lit(""))), pl.when(known).then(pl.col("low", "high"))
    )
    caption = "Error correlation at which merging scores overtakes merging grades (tau_ap)"
    columns = {"where": "", "size": "judges", "verdict": "as errors get more alike", "crossing": "at"}
    columns |= {"low": "95% from", "high": "to"}
    yield Table(shown, caption, DIGITS, name="crossings", columns=columns)


def _list_places(findings: AwareFindings) -> Iterator[tuple[str, str, str]]:
    for systems in findings.systems:
        for panel in findings.panels:
            yield from ((systems, panel, measure) for measure in findings.measures)


def _tell_place(findings: AwareFindings, *, systems: str = "", panel: str = "", measure: str = "") -> str:
    """What a table is about, as far as there is a choice."""
    shown = [label_measures(findings.measures)[measure]] if measure else []
    shown += [systems] if systems and len(findings.systems) > 1 else []
    shown += [panel] if panel and len(findings.panels) > 1 else []
    return ", ".join(shown)


def _join_places(findings: AwareFindings, frame: pl.DataFrame) -> pl.Series:
    """The same for each row."""
    places = frame.select("systems", "panel", "measure").iter_rows()
    texts = [_tell_place(findings, systems=s, panel=p, measure=m) for s, p, m in places]
    return pl.Series("where", texts, dtype=pl.String)


def _add_place(caption: str, findings: AwareFindings, panel: str, mark: str = ":") -> str:
    where = _tell_place(findings, panel=panel)
    return f"{caption}{mark} {where}" if where else caption
