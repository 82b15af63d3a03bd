"""The results as one table, and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.measuring import Measurement
    from benchmarks.racing import Opponent, Result

WIDTH = 120
HEADERS = ("task", "CPU s", "wall s", "MB", "rival", "CPU s", "MB", "ratio", "(wall)", "target")
Justify = Literal["left", "right"]


def show(results: Sequence[Result], title: str, notes: Sequence[str]) -> None:
    """Print the table; a task's own figures stand on its first row only."""
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", padding=0, show_edge=False)
    for header in HEADERS:
        justify: Justify = "left" if header in {"task", "rival", "target"} else "right"
        table.add_column(header, justify=justify, no_wrap=True)
    previous = None
    for result in results:
        own = [result.task, *_costs(result.karatage)] if result.task != previous else [""] * 4
        table.add_row(*own, *_rival_cells(result.rival), _verdict_cell(result))
        previous = result.task
    console = Console(width=WIDTH, highlight=False)
    console.print(table)
    console.print("", *notes, _closing_sentence(results), sep="\n")


def to_json(results: Sequence[Result], title: str) -> str:
    """All figures as measured, but for the sampled results themselves."""
    return json.dumps({"title": title, "rows": [_without_figures(asdict(r)) for r in results]}, indent=2)


def _without_figures(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _without_figures(value) if isinstance(value, dict) else value
        for name, value in fields.items()
        if name != "figures"
    }


def _costs(measurement: Measurement) -> list[str]:
    return [_short(measurement.cpu), _short(measurement.wall), f"{measurement.peak:,.0f}"]


def _rival_cells(rival: Opponent | None) -> list[str]:
    if rival is None:
        return [""] * 5
    cpu = ("~" if rival.share < 1 else "") + _short(rival.costs.cpu / rival.share)
    return [rival.name, cpu, f"{rival.costs.peak:,.0f}", _short(rival.cpu_ratio), _short(rival.wall_ratio)]


def _verdict_cell(result: Result) -> str:
    return "\n".join(f"{verdict.target} {'ok' if verdict.met else 'NO'}" for verdict in result.verdicts)


def _short(number: float) -> str:
    """Three digits, or all of a whole number."""
    return f"{number:,.0f}" if number >= 100 else f"{number:#.3g}" if number >= 1 else f"{number:.3f}"


def _closing_sentence(results: Sequence[Result]) -> str:
    same = "karatage and its rivals gave the same figures"
    verdicts = [(result.task, verdict) for result in results for verdict in result.verdicts]
    missed = [
        f"{task}: {verdict.target}, found {_short(verdict.found)}" for task, verdict in verdicts if not verdict.met
    ]
    if missed:
        return f"{len(missed)} of {len(verdicts)} targets missed ({'; '.join(missed)}); {same}."
    return f"All {len(verdicts)} targets met; {same}." if verdicts else f"Done; {same}."
