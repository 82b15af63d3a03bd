"""The results as one table, and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.measuring import Measurement
    from benchmarks.races import Result

WIDTH = 100
Justify = Literal["left", "right"]


def show(results: Sequence[Result], title: str, notes: Sequence[str]) -> None:
    """Print the table; a task's own figures stand on its first row only."""
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("task", "CPU s", "wall s", "MB", "rival", "CPU s", "MB", "ratio", "target"):
        justify: Justify = "left" if name in {"task", "rival", "target"} else "right"
        table.add_column(name, justify=justify, no_wrap=True)
    previous = None
    for result in results:
        own = [result.task, *_costs(result.karatage)] if result.task != previous else [""] * 4
        table.add_row(*own, *_rival_cells(result), _verdict_cell(result))
        previous = result.task
    console = Console(width=WIDTH, highlight=False)
    console.print(table)
    for note in notes:
        console.print(note)
    console.print(_closing_sentence(results))


def to_json(results: Sequence[Result], title: str) -> str:
    """All figures, rival costs as measured."""
    rows = [
        {
            "task": result.task,
            "karatage": _fields(result.karatage),
            "rival": result.rival_name,
            "rival_costs": _fields(result.rival),
            "cpu_ratio": result.ratio("cpu"),
            "wall_ratio": result.ratio("wall"),
            "targets": [vars(verdict) for verdict in result.verdicts],
        }
        for result in results
    ]
    return json.dumps({"title": title, "rows": rows}, indent=2)


def _fields(measurement: Measurement | None) -> dict[str, float] | None:
    if measurement is None:
        return None
    return {name: getattr(measurement, name) for name in ("cpu", "wall", "peak", "units")}


def _costs(measurement: Measurement) -> list[str]:
    return [f"{measurement.cpu:.3f}", f"{measurement.wall:.3f}", f"{measurement.peak:,.0f}"]


def _rival_cells(result: Result) -> list[str]:
    if result.rival is None or result.rival_name is None:
        return [""] * 4
    seconds = result.rival.cpu / result.share
    cpu = f"{seconds:,.2f}" if result.share == 1 else f"~{seconds:,.0f}"
    return [result.rival_name, cpu, f"{result.rival.peak:,.0f}", f"{_three_digits(result.ratio('cpu'))}x"]


def _verdict_cell(result: Result) -> str:
    return "\n".join(
        f"{verdict.target} {'yes' if verdict.met else 'NO'}" + _found_elsewhere(verdict.target, verdict.found)
        for verdict in result.verdicts
    )


def _found_elsewhere(target: str, found: float) -> str:
    """The one figure that has no column of its own."""
    return f" ({_three_digits(found)}x)" if target.startswith("wall") and target.endswith("x") else ""


def _three_digits(number: float | None) -> str:
    return "" if number is None else f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _closing_sentence(results: Sequence[Result]) -> str:
    verdicts = [(result.task, verdict) for result in results for verdict in result.verdicts]
    missed = [
        f"{task}: {verdict.target}, found {verdict.found:.4g}"
        for task, verdict in verdicts
        if not verdict.met
    ]
    if missed:
        return f"{len(missed)} of {len(verdicts)} targets missed: {'; '.join(missed)}."
    return f"All {len(verdicts)} targets met; karatage and every rival gave the same figures."
