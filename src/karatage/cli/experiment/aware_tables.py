"""The AWARE experiment's tables as text, 80 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from karatage.cli.output import GAP, WIDTH, make_table, render

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from karatage.experiments.aware.findings import AwareFindings

VERDICTS = {True: "yes", False: "NO", None: "open"}
SHOWN_LEVELS = 8  # of a top group, where not everything is shown
OUTCOME_NAMES = {"tau": "tau", "tau_ap": "tau_ap", "rmse": "RMSE"}
ANOVA_HEADERS = ("source", "SS", "DF", "MS", "F", "p", "omega²")


def render_aware(findings: AwareFindings, *, everything: bool = False) -> str:
    """Families by size, the paper's tables 1 to 5, what of its order holds, where regimes cross; and the sentence.

    With `everything`, also every approach by size and outcome, and what lies between the first and the last panel.
    """
    panels = findings.panels if everything else findings.ends
    parts: list[Table | str] = [*_families(findings, panels)]
    if everything:
        parts += _approaches(findings)
    for panel in panels:
        most = None if everything else SHOWN_LEVELS
        parts += [*_anova(findings, panel), *_top_groups(findings, panel, most), *_claims(findings, panel)]
    parts += [*_contests(findings), *_leads(findings), *_crossings(findings), findings.sentence]
    return render(*parts)


def _head(findings: AwareFindings, *, systems: str = "", panel: str = "", measure: str = "") -> str:
    """What a table is about, as far as there is a choice."""
    from karatage.experiments.aware.analysis import label_measures

    shown = [label_measures(findings.measures)[measure]] if measure else []
    shown += [systems] if systems and len(findings.systems) > 1 else []
    shown += [panel] if panel and len(findings.panels) > 1 else []
    return ", ".join(shown)


def _places(findings: AwareFindings, panels: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    for systems in findings.systems:
        for panel in panels:
            yield from ((systems, panel, measure) for measure in findings.measures)


def _families(findings: AwareFindings, panels: Sequence[str]) -> Iterator[Table | str]:
    """The best member of each family at some sizes, and which that is at the largest."""
    from karatage.experiments.aware.families import choose_sizes, frame_families, list_families

    frame = frame_families(findings)
    sizes = choose_sizes(findings.sizes, 6)
    for systems, panel, measure in _places(findings, panels):
        here = frame.filter(systems=systems, panel=panel, measure=measure)
        value = {(family, size): best for family, size, best in here.select("family", "size", "best").iter_rows()}
        last = dict(here.filter(size=sizes[-1]).select("family", "best_approach").iter_rows())
        rows = [
            [family, *(_number(value[family, size]) for size in sizes), last[family]]
            for family in list_families(findings)
        ]
        where = _head(findings, systems=systems, panel=panel, measure=measure)
        headers = ["family", *map(str, sizes), f"best of {sizes[-1]}"]
        yield f"tau_ap of each family's best, by judges in the k-tuple: {where}"
        yield _table(headers, rows, text=(0, len(headers) - 1))


def _approaches(findings: AwareFindings) -> Iterator[Table | str]:
    """All approaches, best first by the mean over sizes."""
    from karatage.experiments.aware.cells import OUTCOMES
    from karatage.experiments.aware.families import choose_sizes, frame_by_size

    sizes = choose_sizes(findings.sizes, 7)
    frame = frame_by_size(findings, sizes)
    columns = [str(size) for size in sizes]
    for systems, panel, measure in _places(findings, findings.panels):
        for outcome in OUTCOMES:
            here = frame.filter(systems=systems, panel=panel, measure=measure, outcome=outcome)
            ordered = here.sort(_mean(columns), descending=outcome != "rmse", maintain_order=True)
            rows = [
                [row["approach"], *(_number(row[name]) for name in columns)] for row in ordered.iter_rows(named=True)
            ]
            where = _head(findings, systems=systems, panel=panel, measure=measure)
            yield f"{OUTCOME_NAMES[outcome]} to gold by judges in the k-tuple: {where}"
            yield make_table("", ["approach", *columns], rows, text_columns=1)


def _mean(columns: Sequence[str]) -> pl.Expr:
    import polars as pl

    return pl.mean_horizontal(columns)


def _anova(findings: AwareFindings, panel: str) -> Iterator[Table | str]:
    from karatage.experiments.aware.analysis import RESPONSES

    for design, about in ("whole", ""), ("parts", " by parts of the 30"):
        for analysis in findings.analyses.found:
            table = getattr(analysis, design)
            if analysis.panel != panel or table is None:
                continue
            rows = [_anova_row(row) for row in table.to_frame().iter_rows(named=True)]
            where = _head(findings, panel=panel)
            yield f"Analysis of variance of {RESPONSES[analysis.outcome]}{about}{': ' if where else ''}{where}"
            yield make_table("", ANOVA_HEADERS, rows, text_columns=1)


def _anova_row(row: dict[str, float | str | None]) -> list[str]:
    def number(name: str, digits: int) -> str:
        value = row[name]
        return "" if value is None else f"{value:,.{digits}f}"

    p = row["p_value"]
    assert p is None or isinstance(p, float)
    chance = "" if p is None else "<.0001" if p < 0.0001 else f"{p:.4f}".removeprefix("0")
    numbers = number("ss", 4), f"{row['df']:,}", number("ms", 4), number("f", 2)
    return [str(row["source"]), *numbers, chance, number("omega_squared", 4)]


def _top_groups(findings: AwareFindings, panel: str, most: int | None) -> Iterator[Table | str]:
    """[AWARE17] table 5: a column for each outcome."""
    frame = findings.tables.get("top-groups")
    if frame is None or frame.filter(panel=panel).is_empty():
        return
    here = frame.filter(panel=panel)
    rows: list[list[str]] = []
    for factor in here["factor"].unique(maintain_order=True):
        groups = [_cut(here.filter(factor=factor, outcome=outcome), most) for outcome in ("tau_ap", "rmse")]
        for n, pair in enumerate(zip_longest(*groups, fillvalue=("", ""))):
            rows.append([factor if n == 0 else "", *(text for cell in pair for text in cell)])
    where = _head(findings, panel=panel)
    yield f"Top groups: the best, and what cannot be told from it (Tukey, 5 %){': ' if where else ''}{where}"
    yield _table(["factor", "by tau_ap", "mean", "by RMSE", "mean"], rows, text=(0, 1, 3))


def _cut(group: pl.DataFrame, most: int | None) -> list[tuple[str, str]]:
    """Levels with their means; of many the first few, and how many more there are."""
    found = [(level, _number(mean)) for level, mean in group.select("level", "mean").iter_rows()]
    if most is None or len(found) <= most:
        return found
    return [*found[: most - 1], (f"and {len(found) - most + 1} more", "")]


def _claims(findings: AwareFindings, panel: str) -> Iterator[Table | str]:
    """What the paper found, and below it what was found here."""
    frame = findings.tables.get("claims")
    if frame is None or frame.filter(panel=panel).is_empty():
        return
    rows = []
    for row in frame.filter(panel=panel).iter_rows(named=True):
        first = [OUTCOME_NAMES[row["outcome"]], VERDICTS[row["holds"]], row["claim"]]
        here = textwrap.wrap(row["here"], WIDTH - 3 * GAP - len("tau_ap") - len("yes") - 2)
        rows += [first, *(["", "", f"  {line}"] for line in here)]
    where = _head(findings, panel=panel)
    yield f"Does the paper's order hold here?{' ' if where else ''}{where}"
    yield make_table("", ["", "", "in the paper, and here"], rows, text_columns=3)


def _contests(findings: AwareFindings) -> Iterator[Table | str]:
    """Differences of the best of two groups at some sizes, with the half-width of their 95 % intervals."""
    from karatage.experiments.aware.families import choose_sizes

    baseline = "" if findings.contest.is_empty() else findings.contest["second"][0]
    titles = {
        "contest": f"Best merge of scores less {baseline}, tau_ap, by judges in the k-tuple",
        "own": "Best by the judge's own chance less best of the paper's, tau_ap",
    }
    for name, title in titles.items():
        frame = findings.tables.get(name)
        if frame is None:
            continue
        places = list(_places(findings, findings.panels))
        labels = [_head(findings, systems=s, panel=p, measure=m) for s, p, m in places]
        room = (WIDTH - max(map(len, labels)) - GAP) // (len("+.000 ± .000") + GAP)
        sizes = choose_sizes(findings.sizes, max(room, 1))
        rows = []
        for label, (systems, panel, measure) in zip(labels, places, strict=True):
            here = frame.filter(systems=systems, panel=panel, measure=measure)
            cells = {row["size"]: _signed(row["difference"], row["high"]) for row in here.iter_rows(named=True)}
            rows.append([label, *(cells[size] for size in sizes)])
        yield title
        yield make_table("", ["", *map(str, sizes)], rows, text_columns=1)


def _signed(value: float, high: float | None) -> str:
    sign = "+" if value >= 0 else "-"
    return f"{sign}{_number(abs(value))}" + ("" if high is None else f" ± {_number(high - value)}")


def _leads(findings: AwareFindings) -> Iterator[Table | str]:
    """Sizes at which scores or grades win for sure."""
    frame = findings.tables.get("leads")
    if frame is None:
        return
    rows: list[list[str]] = []
    for row in frame.iter_rows(named=True):
        where = _head(findings, systems=row["systems"], panel=row["panel"], measure=row["measure"])
        lists = [textwrap.wrap(row[name], 15) for name in ("scores_lead", "grades_lead", "undecided")]
        for n, cells in enumerate(zip_longest(*lists, fillvalue="")):
            rows.append([where if n == 0 else "", *cells])
    yield "Sizes at which one or the other has the higher tau_ap (95 %)"
    yield make_table("", ["", "scores", findings.contest["second"][0], "open"], rows, text_columns=4)


def _crossings(findings: AwareFindings) -> Iterator[Table | str]:
    frame = findings.crossings
    if frame.is_empty():
        return
    rows = []
    for row in frame.iter_rows(named=True):
        where = _head(findings, systems=row["systems"], measure=row["measure"])
        interval = f"{_number(row['low'])} to {_number(row['high'])}" if row["crossing"] is not None else ""
        rows.append([where, str(row["size"]), row["verdict"], _number(row["crossing"]), interval])
    yield "Error correlation at which merging scores overtakes merging grades (tau_ap)"
    yield _table(["", "judges", "as errors get more alike", "at", "95 %"], rows, text=(0, 2))


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, text: Sequence[int]) -> Table:
    """A table whose names do not all stand first."""
    table = make_table("", headers, rows, text_columns=1)
    for place in text:
        table.columns[place].justify = "left"
    return table


def _number(value: float | None) -> str:
    from karatage.experiments.square.telling import short

    return "-" if value is None else short(value)
