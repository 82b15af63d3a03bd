"""The benchmark's tables as text, 80 columns wide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.cli.output import render, show_table, split_columns
from karatage.text import counted, list_names

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karatage.experiments.square.findings import Benchmark


def render_benchmark(result: Benchmark, *, per_data_set: bool = False) -> str:
    """Averages, scores without gold by data set, who leads where; and the closing sentence."""
    from karatage.views.benchmark import (
        explain_leaders,
        tabulate_leaders,
        tabulate_settings,
        tabulate_without_gold,
    )

    parts: list[RenderableType] = []
    names = result.common_sets
    if names:
        title = f"Mean over {counted(len(names), 'data set')}" if len(names) > 1 else names[0]
        parts += [show_table(table, star=True) for table in tabulate_settings(result.averages(), title)]
        if len(names) > 1:
            parts += [f"Data sets that every approach could do: {list_names(names, 12)}.", ""]
    several = [facts.name for facts in result.data_sets]
    if per_data_set:
        for name in several:
            parts += [show_table(table, star=True) for table in tabulate_settings(result.table((name,)), name)]
    elif len(several) > 1:
        accuracy = tabulate_without_gold(result, several)
        parts += [show_table(part, star=True) for part in split_columns(accuracy, star=True)]
    parts += [show_table(tabulate_leaders(result), wrap=("leaders", "approaches")), explain_leaders(result)]
    return render(*parts, "", result.sentence)
