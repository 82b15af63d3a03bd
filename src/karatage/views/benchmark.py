"""A benchmark of merges: accuracy and F1 by approach, by data set without gold, and which approaches are best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.data.checks import COUNT, NUMBER, TEXT
from karatage.errors import OptionError
from karatage.experiments.engine import frame_rows
from karatage.experiments.square.findings import EQUAL, LETTERS, QUALITIES, Benchmark
from karatage.text import counted, list_names, shorten
from karatage.views.marks import CORRECTED, Axis, lay_panel, lay_panels, mark, mark_level, mark_lines, tell_apart
from karatage.views.page import Figure, Page, Section, list_facts, shows
from karatage.views.table import Table, label_columns, mark_rows

if TYPE_CHECKING:
    import altair as alt

    from karatage.comparison.classification import Quality

BINS = 10
BINNED = {"data_set": TEXT, "low": NUMBER, "high": NUMBER, "judges": COUNT}
OF_JUDGES = {"accuracy": "accuracy, on items with gold", "items": "number of items graded"}
TOLD = ("data_set", "approach", "amount", "value", "gap")
LEAST_SPAN = 1.0  # points
ACROSS, PANEL = 4, (150, 120)
DIGITS = 3
SIZES = (
    "Labels count a judge's repeated grades of an item once; the next columns are their mean numbers for an item and a "
    "judge. Accuracy is the mean over judges; below is the number of judges who are right less often than by chance, "
    "if they chose a grade blindly."
)
WORDS = {"accuracy": "acc", "f1": "F1"}


def chart_benchmark(result: Benchmark, *, supervision: str = "none", quality: Quality = "accuracy") -> alt.ConcatChart:
    """[COLLAB14] figures 2.2 to 2.4: how far each approach is above the baseline, on each data set and on average.

    Bars without gold; with light or full supervision, lines over the amount of gold. Each panel has a separate scale.
    """
    if supervision not in LETTERS or quality not in QUALITIES:
        asked = f"{supervision}, {quality}"
        raise OptionError(f"a chart is of none, light or full supervision and of accuracy or f1, not {asked}")
    bars = supervision == "none"
    found = result.relative().filter((pl.col("supervision") == supervision) & (pl.col("quality") == quality))
    found = found.filter((pl.col("approach") != result.baseline) | (not bars))
    if not len(found):
        raise OptionError(f"there is no result with supervision {supervision} to compare with {result.baseline}")
    frame = pl.concat([found, _average(found, result)]).with_columns(points=pl.col("gap") * 100)
    seen = [name for name in result.approaches if name in set(found["approach"])]
    keys = tell_apart("approach", result.approaches, None if bars else {})
    looks = {name: key.only(seen) for name, key in keys.items()}
    panels = []
    for (name,), panel in frame.group_by(["data_set"], maintain_order=True):
        up = _make_height(panel)
        if bars:
            across = Axis("approach:N", sort=seen, axis={"labelAngle": -45, "labelLimit": 90})
            layers = [mark(panel, "bar", across, up, looks={"color": looks["color"]}, told=TOLD)]
        else:
            ticks = {"values": sorted(panel["amount"].unique()), "grid": False}
            across = Axis("amount:Q", "% of gold", {"domain": [0, 100]}, ticks)
            layers = mark_lines(panel, across, up, looks, told=TOLD, points=40, width=2)
        panels.append(lay_panel([mark_level(0.0), *layers], PANEL, shorten(str(name), 24)))
    what = "F1" if quality == "f1" else "Accuracy"
    gold = "without gold" if bars else f"with gold in {supervision} supervision"
    return lay_panels(panels, f"{what} {gold}, in percentage points above {shorten(result.baseline, 30)}", ACROSS)


def chart_judges(result: Benchmark, *, of: str = "accuracy") -> alt.ConcatChart:
    """[COLLAB14] figure 2.1: on each data set, how many judges have which accuracy, or graded how many items.

    Args:
        result: A benchmark.
        of: `accuracy`, of judges who graded an item with gold, or `items`.
    """
    if of not in OF_JUDGES:
        raise OptionError(f"a chart of judges is of accuracy or items, not {of}")
    panels = []
    for (name,), panel in count_judges(result, of).group_by(["data_set"], maintain_order=True):
        across = Axis("low:Q", None, {"nice": False}, {"tickCount": 5, "grid": False})
        up = Axis("judges:Q", None, {}, {"tickCount": 4, "format": "d"})
        told = ("data_set", "low", "high", "judges")
        bars = mark(panel, "bar", across, up, to=("high:Q", 0), looks={"color": CORRECTED}, told=told)
        panels.append(lay_panel([bars], PANEL, shorten(str(name), 24)))
    if not panels:
        raise OptionError("the result has no judges; run the benchmark again to see them")
    return lay_panels(panels, f"Number of judges by {OF_JUDGES[of]}", ACROSS)


def count_judges(result: Benchmark, of: str) -> pl.DataFrame:
    """The number of judges in each of ten parts: of 0 to 1, or of the most items that a judge of the set graded."""
    frames = []
    for (name,), found in result.frame_judges().drop_nulls(of).group_by(["data_set"], maintain_order=True):
        values = found[of].cast(pl.Float64).to_numpy()
        edges = np.linspace(0, 1 if of == "accuracy" else values.max(), BINS + 1)
        counts = pl.DataFrame({"low": edges[:-1], "high": edges[1:], "judges": np.histogram(values, edges)[0]})
        frames.append(counts.select(pl.lit(name).alias("data_set"), pl.all()))
    return pl.concat([frame_rows([], BINNED), *frames])


def _make_height(panel: pl.DataFrame) -> Axis:
    """A scale that includes zero and spans at least a point, so that tiny differences look small."""
    low, high = (float(edge) for edge in panel.select(pl.min("points"), pl.col("points").max().alias("top")).row(0))
    ends = [min(low, -LEAST_SPAN / 2), max(high, LEAST_SPAN / 2)]
    return Axis("points:Q", None, {"domain": ends, "nice": 4}, {"tickCount": 5})


def _average(found: pl.DataFrame, result: Benchmark) -> pl.DataFrame:
    """A last panel with the means over the data sets on which all approaches have a result."""
    common = found.filter(pl.col("data_set").is_in(result.common_sets))
    keys = ["approach", "supervision", "amount", "quality"]
    mean = common.group_by(keys, maintain_order=True).agg(pl.col("value", "gap").mean())
    name = f"mean of {counted(len(result.common_sets), 'data set')}"
    return mean.with_columns(pl.lit(name).alias("data_set")).select(found.columns)


@shows(Benchmark)
def view_benchmark(result: Benchmark, *, per_data_set: bool = False) -> Page:
    """Approaches on average, on each data set, and which are not significantly worse than the best."""
    sets = [facts.name for facts in result.data_sets]
    common, text = result.common_sets, ""
    tables: list[Table] = []
    if common:
        text = f"Means are over the data sets on which every approach has a result: {list_names(common, 12)}."
        caption = f"Mean over {counted(len(common), 'data set')}" if len(common) > 1 else common[0]
        tables += tabulate_settings(result.averages(), caption)
    if per_data_set:
        tables += [table for name in sets for table in tabulate_settings(result.table((name,)), name)]
    elif len(sets) > 1:
        tables.append(tabulate_without_gold(result, sets))
    numbered = ", ".join(f"{k} {name}" for k, name in enumerate(result.approaches, 1))
    last = result.approaches[-1]
    legend = (
        f"Numbers are approaches: {numbered}. Letters are the use of gold: u without gold, l light supervision, f full "
        f"supervision. For example, {len(result.approaches)}u is {last} without gold."
    )
    sections = [
        Section("Approaches", text if len(common) > 1 else "", tables, list(_list_figures(result))),
        Section("Best approaches by data set", legend, [tabulate_leaders(result)]),
        *list_crowds(result),
    ]
    failed = f"{len(result.failed):,}" if result.failed else None
    facts = list_facts(result, approaches=", ".join(result.approaches), data_sets=len(sets), failed=failed)
    title = f"{counted(len(result.approaches), 'approach')} on {counted(len(sets), 'data set')}"
    return Page(title, result.sentence, sections, result.notes, facts)


def list_crowds(result: Benchmark) -> Iterator[Section]:
    """The sizes of data sets, and how good their judges are; files of earlier versions have none."""
    if not result.judges:
        return
    figures = []
    for of, what in OF_JUDGES.items():
        caption, columns = f"Number of judges by {what}", {"data_set": "data set", "low": "from", "high": "to"}
        columns["judges"] = "judges"
        table = Table(count_judges(result, of), caption, DIGITS, name=f"judges-{of}", columns=columns)
        figures.append(Figure(partial(chart_judges, result, of=of), caption, f"judges-{of}", table))
    yield Section("Data sets", SIZES, [tabulate_crowds(result)], figures)


def tabulate_crowds(result: Benchmark) -> Table:
    """[COLLAB14] table 2.1."""
    frame = result.crowds()
    columns = {name: name for name in frame.columns}
    columns |= {"data_set": "data set", "per_item": "an item", "per_judge": "a judge"}
    digits = {"per_item": 1, "per_judge": 1, "accuracy": DIGITS}
    return Table(frame, "Sizes, and accuracy of judges", digits, name="crowds", columns=columns, keys=1)


def _list_figures(result: Benchmark) -> Iterator[Figure]:
    """A chart for each supervision and quality in which there is something to compare with the baseline."""
    relative = result.relative()
    for supervision in relative["supervision"].unique(maintain_order=True):
        for quality in QUALITIES:
            found = relative.filter(supervision=supervision, quality=quality)
            if set(found["approach"]) <= {result.baseline}:
                continue
            gold = "without gold" if supervision == "none" else f"with gold in {supervision} supervision"
            caption = f"{quality.capitalize()} {gold}, in percentage points above {result.baseline} without gold"
            columns = {"data_set": "data set", "approach": "approach", "amount": "amount", "value": "value"}
            columns["gap"] = "gap"
            behind = Table(found, "Against the baseline", DIGITS, signed=("gap",), name="relative", columns=columns)
            make = partial(chart_benchmark, result, supervision=supervision, quality=quality)
            yield Figure(make, caption, f"{quality}-{supervision}", behind)


def tabulate_settings(frame: pl.DataFrame, title: str) -> Iterator[Table]:
    """[COLLAB14] table 2.2, light and full supervision one below the other; the best of each column is bold."""
    settings = [name for name in frame.columns if name not in {"approach", "quality", "maxima"}]
    full = [name for name in settings if name.startswith("full")]
    light = [name for name in settings if name not in full]
    for kind, names in ("light", light), ("full", full):
        if not names:
            continue
        told = f", {kind} supervision, % of gold" if len(names) > 1 or kind == "full" else ""
        last = ["maxima"] if names[-1] == settings[-1] else []
        shown = frame.select("approach", pl.col("quality").replace(WORDS), *names, *last)
        columns = label_columns(shown, quality="", **{name: name.removeprefix(f"{kind} ") for name in names})
        best = frame.select((pl.col(n) >= pl.col(n).max().over("quality") - EQUAL).fill_null(False) for n in names)
        mark = {name: best[name].to_list() for name in names}
        yield Table(shown, f"{title}{told}", DIGITS, mark=mark, name=f"settings-{kind}", columns=columns, keys=2)


def tabulate_without_gold(result: Benchmark, names: Sequence[str]) -> Table:
    """Accuracy by data set, an approach in each column; the best of each row is bold."""
    rows = []
    for name in names:
        accuracy = result.table((name,)).filter(quality="accuracy").select("approach", "none")
        rows.append({"data set": name, **dict(accuracy.iter_rows())})
    schema = {"data set": pl.String} | dict.fromkeys(result.approaches, pl.Float64)
    frame = pl.DataFrame(rows, schema=schema)
    mark = mark_rows(frame.select(result.approaches))
    return Table(frame, "Accuracy without gold", DIGITS, mark=mark, name="without-gold", keys=1)


def tabulate_leaders(result: Benchmark) -> Table:
    """[COLLAB14] table 2.3."""
    frame = result.leaders().with_columns(pl.col("quality").replace(WORDS))
    columns = {"data_set": "data set", "quality": "", "leaders": "best first", "approaches": "approaches"}
    columns["best"] = "best"
    gold = f", with {result.usual_amount}% of gold" if result.usual_amount else ""
    caption = f"The best, and those not significantly worse{gold}"
    return Table(frame, caption, DIGITS, name="leaders", columns=columns, wrap=("leaders", "approaches"))
