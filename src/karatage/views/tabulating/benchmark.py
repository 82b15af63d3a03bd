"""A benchmark of merges, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from karatage.experiments.square.findings import EQUAL
from karatage.views.tables import Table

if TYPE_CHECKING:
    from karatage.experiments.square.findings import Benchmark

DIGITS = 3
WORDS = {"accuracy": "acc", "f1": "F1"}


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
        headers = {"quality": ""} | {name: name.removeprefix(f"{kind} ") for name in names}
        mark = {name: _mark_top(frame, name) for name in names}
        yield Table(shown, f"{title}{told}", DIGITS, mark=mark, name=f"settings-{kind}", headers=headers)


def _mark_top(frame: pl.DataFrame, name: str) -> list[bool]:
    best = pl.col(name) >= pl.col(name).max().over("quality") - EQUAL
    return frame.select(best.fill_null(False)).to_series().to_list()


def tabulate_without_gold(result: Benchmark, names: Sequence[str]) -> Table:
    """Accuracy by data set, an approach in each column; the best of each row is bold."""
    rows = []
    for name in names:
        accuracy = result.table((name,)).filter(quality="accuracy").select("approach", "none")
        rows.append({"data set": name, **dict(accuracy.iter_rows())})
    schema = {"data set": pl.String} | dict.fromkeys(result.approaches, pl.Float64)
    frame = pl.DataFrame(rows, schema=schema)
    top = pl.max_horizontal(result.approaches)
    mark = {name: frame.select((pl.col(name) == top).fill_null(False))[name].to_list() for name in result.approaches}
    return Table(frame, "Accuracy without gold", DIGITS, mark=mark, name="without-gold")


def tabulate_leaders(result: Benchmark) -> Table:
    """[COLLAB14] table 2.3."""
    shown = result.leaders().select(
        pl.col("data_set").alias("data set"),
        pl.col("quality").replace(WORDS),
        pl.col("leaders").alias("best first"),
        "approaches",
        "best",
    )
    gold = f", with {result.usual_amount} % of gold" if result.usual_amount else ""
    caption = f"Not significantly worse than the best{gold}"
    return Table(shown, caption, DIGITS, name="leaders", headers={"quality": ""})


def explain_leaders(result: Benchmark) -> str:
    """What numbers and letters of the table of leaders stand for."""
    numbered = ", ".join(f"{k} {name}" for k, name in enumerate(result.approaches, 1))
    return f"{numbered}; u without gold, l light, f full supervision."
