"""The AWARE experiment, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

import polars as pl

from karatage.experiments.aware.analysis import RESPONSES, label_measures
from karatage.experiments.aware.cells import OUTCOMES
from karatage.experiments.aware.families import choose_sizes, frame_by_size, frame_families, list_families
from karatage.views.tables import Table

if TYPE_CHECKING:
    from karatage.experiments.aware.findings import AwareFindings

DIGITS = 3
VERDICTS = {True: "yes", False: "NO", None: "open"}
OUTCOME_NAMES = {"tau": "tau", "tau_ap": "tau_ap", "rmse": "RMSE"}
ANOVA = {"source": "source", "ss": "SS", "df": "DF", "ms": "MS", "f": "F", "p_value": "p", "omega_squared": "omega²"}
DESIGNS = {"whole": "", "parts": " by parts of the 30 estimators"}


def tabulate_families(findings: AwareFindings, panels: Sequence[str]) -> Iterator[Table]:
    """The best member of each family at some sizes, and which that is at the largest."""
    frame = frame_families(findings)
    sizes = choose_sizes(findings.sizes, 6)
    order = pl.DataFrame({"family": list_families(findings)})
    for systems, panel, measure in _list_places(findings, panels):
        here = frame.filter(systems=systems, panel=panel, measure=measure)
        wide = here.pivot("size", index="family", values="best", maintain_order=True)
        last = here.filter(size=sizes[-1]).select("family", pl.col("best_approach").alias(f"best of {sizes[-1]}"))
        shown = order.join(wide, on="family", how="left", maintain_order="left")
        shown = shown.select("family", *map(str, sizes)).join(last, on="family", how="left", maintain_order="left")
        where = _tell_place(findings, systems=systems, panel=panel, measure=measure)
        yield Table(shown, f"tau_ap of each family's best, by judges in the k-tuple: {where}", DIGITS)


def tabulate_approaches(findings: AwareFindings, most: int) -> Iterator[Table]:
    """All approaches at up to `most` sizes, best first by the mean over these."""
    sizes = choose_sizes(findings.sizes, most)
    frame = frame_by_size(findings, sizes)
    columns = [str(size) for size in sizes]
    for systems, panel, measure in _list_places(findings, findings.panels):
        for outcome in OUTCOMES:
            here = frame.filter(systems=systems, panel=panel, measure=measure, outcome=outcome)
            ordered = here.sort(pl.mean_horizontal(columns), descending=outcome != "rmse", maintain_order=True)
            where = _tell_place(findings, systems=systems, panel=panel, measure=measure)
            caption = f"{OUTCOME_NAMES[outcome]} to gold by judges in the k-tuple: {where}"
            yield Table(ordered.select("approach", *columns), caption, DIGITS)


def tabulate_analyses(findings: AwareFindings, panel: str) -> Iterator[Table]:
    """[AWARE17] tables 1 to 4: what explains differences between approaches."""
    for design, about in DESIGNS.items():
        for analysis in findings.analyses.found:
            table = getattr(analysis, design)
            if analysis.panel == panel and table is not None:
                caption = f"Analysis of variance of {RESPONSES[analysis.outcome]}{about}"
                shown = table.to_frame().select(list(ANOVA)).rename(ANOVA)
                yield Table(shown, _add_place(caption, findings, panel), digits={"F": 2})


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
    caption = "Top groups: the best, and what cannot be told from it (Tukey, 5 %)"
    headers = {"mean tau_ap": "mean", "mean RMSE": "mean"}
    yield Table(shown, _add_place(caption, findings, panel), DIGITS, headers=headers)


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
    yield Table(shown, _add_place("Does the paper's order hold here?", findings, panel, mark=""))


def tabulate_contests(findings: AwareFindings, most: int) -> Iterator[Table]:
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
            shown = here.select(
                _join_places(findings, here),
                pl.col("size").alias("judges"),
                "difference",
                pl.col("low").alias("95% from"),
                pl.col("high").alias("to"),
            )
            signed = ("difference", "95% from", "to")
            yield Table(shown, caption, DIGITS, signed=signed, name=name, headers={"where": ""})


def tabulate_leads(findings: AwareFindings) -> Iterator[Table]:
    """Sizes at which scores or grades win for sure."""
    frame = findings.tables.get("leads")
    if frame is None:
        return
    shown = frame.select(
        _join_places(findings, frame),
        pl.col("scores_lead").alias("scores"),
        pl.col("grades_lead").alias("grades"),
        pl.col("undecided").alias("open"),
    )
    caption = "Sizes at which one or the other has the higher tau_ap (95 %)"
    headers = {"where": "", "grades": str(findings.contest["second"][0])}
    yield Table(shown, caption, name="leads", headers=headers)


def tabulate_crossings(findings: AwareFindings) -> Iterator[Table]:
    """Where errors are so much alike that merging scores overtakes merging grades."""
    frame = findings.crossings
    if frame.is_empty():
        return
    known = pl.col("crossing").is_not_null()
    shown = frame.select(
        _join_places(findings, frame.with_columns(panel=pl.lit(""))),
        pl.col("size").alias("judges"),
        pl.col("verdict").alias("as errors get more alike"),
        pl.col("crossing").alias("at"),
        pl.when(known).then("low").alias("95% from"),
        pl.when(known).then("high").alias("to"),
    )
    caption = "Error correlation at which merging scores overtakes merging grades (tau_ap)"
    yield Table(shown, caption, DIGITS, name="crossings", headers={"where": ""})


def _list_places(findings: AwareFindings, panels: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    for systems in findings.systems:
        for panel in panels:
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
