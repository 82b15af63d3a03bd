"""What `karatage experiment noisy` prints: tables of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill
from typing import TYPE_CHECKING

from karatage.cli.output import WIDTH, render, show_table

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from karatage.experiments.noisy.findings import NoisyFindings
    from karatage.views.table import Table

FEW_WORLDS = 12  # of which each has a line of its own with all figures
TITLES = {"ebay": "eBay [NOISY18] 7", "trec": "TREC [NOISY18] 8, table 4", "dcg": "Graded judgments [NOISY18] 4.2"}


def list_tables(found: NoisyFindings) -> dict[str, pl.DataFrame]:
    """Tables for the output folder, by the names of their files."""
    tables = {name: getattr(found, name) for name in ("intervals", "histogram", "tests", "worked")}
    return {name: table for name, table in tables.items() if len(table)}


def render_noisy(found: NoisyFindings) -> str:
    """All tables as text, 80 columns wide, and the closing sentence."""
    from karatage.views.noisy import TESTS_TEXT, tabulate_example

    parts: list[RenderableType] = []
    if len(found.intervals):
        parts += [show_table(table) for table in _list_intervals(found)]
    if len(found.tests):
        parts += [*(show_table(table) for table in _list_tests(found)), fill(TESTS_TEXT, WIDTH)]
    for example in found.worked["example"].unique(maintain_order=True):
        parts.append(show_table(tabulate_example(found.worked.filter(example=example), TITLES[example])))
    return render(*parts, found.sentence)


def _list_intervals(found: NoisyFindings) -> Iterator[Table]:
    from karatage.views.noisy import tabulate_coverage, tabulate_intervals

    if len(found.intervals) <= FEW_WORLDS:
        yield from tabulate_intervals(found)
        return
    for pair in zip(*(tabulate_coverage(found, column=name) for name in ("covered", "covered_t")), strict=True):
        yield from pair


def _list_tests(found: NoisyFindings) -> Iterator[Table]:
    from karatage.experiments.noisy.cells import GOLD_SAMPLES
    from karatage.views.noisy import tabulate_power, tabulate_sizes_of_tests

    for samples in GOLD_SAMPLES:
        yield from tabulate_sizes_of_tests(found, samples)
        yield from tabulate_power(found, samples)
