"""A benchmark of merges as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.experiments.square.findings import QUALITIES
from karatage.text import counted, list_names
from karatage.views.benchmark_charts import draw_benchmark
from karatage.views.layout.facts import list_facts
from karatage.views.page import Figure, Page, Section
from karatage.views.tables import Table
from karatage.views.tabulating.benchmark import (
    explain_leaders,
    tabulate_leaders,
    tabulate_settings,
    tabulate_without_gold,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karatage.experiments.square.findings import Benchmark

WORDS = {"accuracy": "Accuracy", "f1": "F1"}


def lay_out_benchmark(result: Benchmark) -> Page:
    """Approaches against the baseline, their averages, and who leads where."""
    sets = [facts.name for facts in result.data_sets]
    text = ""
    tables: list[Table] = []
    if result.common_sets:
        text = f"Means are over what every approach could do: {list_names(result.common_sets, 12)}."
        tables += tabulate_settings(result.averages(), f"Mean over {counted(len(result.common_sets), 'data set')}")
    if len(sets) > 1:
        tables.append(tabulate_without_gold(result, sets))
    sections = [
        Section("Approaches", text, tables, list(_draw(result))),
        Section("Who leads where", explain_leaders(result), [tabulate_leaders(result)]),
    ]
    failed = f"{len(result.failed):,}" if result.failed else None
    facts = list_facts(result, approaches=", ".join(result.approaches), data_sets=len(sets), failed=failed)
    title = f"{counted(len(result.approaches), 'approach')} on {counted(len(sets), 'data set')}"
    return Page(title, result.sentence, sections, result.notes, facts)


def _draw(result: Benchmark) -> Iterator[Figure]:
    """A chart for each supervision and quality in which there is something to compare with the baseline."""
    relative = result.relative()
    for supervision in relative["supervision"].unique(maintain_order=True):
        for quality in QUALITIES:
            found = relative.filter(supervision=supervision, quality=quality)
            if set(found["approach"]) <= {result.baseline}:
                continue
            gold = "without gold" if supervision == "none" else f"with gold in {supervision} supervision"
            chart = draw_benchmark(result, supervision=supervision, quality=quality)
            caption = f"{WORDS[quality]} {gold}, in points above {result.baseline}"
            yield Figure(chart, caption, f"{quality}-{supervision}", _tabulate(found))


def _tabulate(found: pl.DataFrame) -> Table:
    shown = found.select(pl.col("data_set").alias("data set"), "approach", "amount", "value", "gap")
    return Table(shown, "Against the baseline", digits=3, signed=("gap",), name="relative")
