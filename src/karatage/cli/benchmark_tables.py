"""The benchmark's tables as text, 80 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from karatage.cli.output import GAP, WIDTH, fits, make_table, render
from karatage.wording import counted, list_names, shorten

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from karatage.experiments.square.findings import Benchmark

WIDEST_NAME, WIDEST_SET, WIDEST_RANGE = 12, 20, 14
WORDS = {"accuracy": "acc", "f1": "F1"}
BEST = "*"


def render_benchmark(result: Benchmark, *, per_data_set: bool = False) -> str:
    """Averages, scores without gold by data set, who leads where; and the closing sentence."""
    parts: list[Table | str] = []
    names = result.common_sets
    if names:
        title = f"Mean over {counted(len(names), 'data set')}" if len(names) > 1 else names[0]
        parts += _by_setting(result.averages(), title)
        if len(names) > 1:
            parts += [f"Data sets that every approach could do: {list_names(names, 12)}.", ""]
    several = [facts.name for facts in result.data_sets]
    if per_data_set:
        for name in several:
            parts += _by_setting(result.table((name,)), name)
    elif len(several) > 1:
        parts += _without_gold(result, several)
    parts += [*_leaders(result), "", result.sentence]
    return render(*parts)


def _by_setting(frame: pl.DataFrame, title: str) -> Iterator[Table | str]:
    """[COLLAB14] table 2.2, light and full supervision one below the other."""
    settings = [name for name in frame.columns if name not in {"approach", "quality", "maxima"}]
    light = [name for name in settings if not name.startswith("full")]
    full = [name for name in settings if name.startswith("full")]
    for kind, columns in ("light", light), ("full", full):
        if not columns:
            continue
        last = columns[-1] == settings[-1]
        headers = ["approach", "", *(name.removeprefix(f"{kind} ") for name in columns), *(["maxima"] if last else [])]
        marked = [_mark(frame, name) for name in columns]
        rows = [
            [
                row["approach"] if k == 0 or frame["approach"][k - 1] != row["approach"] else "",
                WORDS[row["quality"]],
                *(column[k] for column in marked),
                *([str(row["maxima"])] if last else []),
            ]
            for k, row in enumerate(frame.iter_rows(named=True))
        ]
        told = f", {kind} supervision, % of gold" if len(columns) > 1 or kind == "full" else ""
        yield f"{title}{told}"
        yield make_table("", headers, rows, text_columns=2)


def _mark(frame: pl.DataFrame, name: str) -> list[str]:
    """A column of numbers, the largest of each quality with a star."""
    from karatage.experiments.square.findings import EQUAL

    pairs: list[tuple[str, float | None]] = frame.select("quality", name).rows()
    top = {word: max((v for q, v in pairs if q == word and v is not None), default=0.0) for word in WORDS}
    return [_number(value, value is not None and value >= top[quality] - EQUAL) for quality, value in pairs]


def _number(value: float | None, best: bool) -> str:
    from karatage.experiments.square.telling import short

    return "- " if value is None else f"{short(value)}{BEST if best else ' '}"


def _without_gold(result: Benchmark, names: Sequence[str]) -> Iterator[Table | str]:
    """Accuracy by data set, as many approaches side by side as fit."""
    scores: dict[tuple[str, str], float | None] = {}
    for name in names:
        accuracy = result.table((name,)).filter(quality="accuracy").select("approach", "none")
        scores |= {(name, approach): value for approach, value in accuracy.iter_rows()}
    waiting = list(result.approaches)
    top = {name: max((v for a in waiting if (v := scores[name, a]) is not None), default=None) for name in names}
    while waiting:
        shown = [waiting.pop(0)]
        while waiting and fits(["data set", *(shorten(a, WIDEST_NAME) for a in (*shown, waiting[0]))]):
            shown.append(waiting.pop(0))
        rows = [
            [name, *(_number(v, v is not None and v == top[name]) for v in (scores[name, a] for a in shown))]
            for name in names
        ]
        headers = ["data set", *(shorten(a, WIDEST_NAME) for a in shown)]
        yield "Accuracy without gold"
        yield make_table("", headers, rows, text_columns=1)


def _leaders(result: Benchmark) -> Iterator[Table | str]:
    """[COLLAB14] table 2.3; names are cut, lists go on in the next row."""
    found = result.leaders()
    name_width = max((min(len(name), WIDEST_SET) for name in found["data_set"]), default=0)
    wide = max((min(len(text), WIDEST_RANGE) for text in found["approaches"]), default=0)
    wide = max(wide, len("approaches"))
    list_width = WIDTH - 5 * GAP - name_width - wide - len("acc") - len("1.000")
    rows: list[list[str]] = []
    before = None
    for name, quality, best, leaders, approaches in found.iter_rows():
        lists = textwrap.wrap(leaders, list_width), textwrap.wrap(approaches, wide)
        for k, (line, numbers) in enumerate(zip_longest(*lists, fillvalue="")):
            first = [shorten(name, WIDEST_SET) if name != before else "", WORDS[quality]] if k == 0 else ["", ""]
            rows.append([*first, line, numbers, _number(best, False).strip() if k == 0 else ""])
            before = name
    gold = f", with {result.usual_amount} % of gold" if result.usual_amount else ""
    yield f"Not significantly worse than the best{gold}"
    yield make_table("", ["data set", "", "best first", "approaches", "best"], rows, text_columns=4)
    numbered = ", ".join(f"{k} {name}" for k, name in enumerate(result.approaches, 1))
    yield f"{numbered}; u without gold, l light, f full supervision."
