"""Tables of `benchmarks.decisions`: what comparisons add up to, and whether that is good enough."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from benchmarks.decision_cells import SPOILED, Cell

RESAMPLES = 200
WIDTH = 250  # more than a table needs: figures cut off would be worse than lines that wrap
ROUNDING = 1e-6
FLOOR, LEAST, LEVEL = 0.93, 0.91, 0.05  # of coverage: not significantly below, not below at all; level of that test
SLOPES, MOST_WRONG, LEAST_WORST = (0.9, 1.1), 0.01, 0.90
LEAST_CAUGHT = 0.95  # of gold that is not a random sample
MANY = 400  # gold labels from which levels must be better than the judges' own
SETTINGS = ("judge", "measure", "gold", "size", "claim", "correction")
FIGURES = {  # as in the head of the table
    "cover": "covers",
    "worst": "worst 10th",
    "slope": "slope",
    "rmse": "RMSE",
    "rmse_judges": "judges'",
    "half": "half-width",
    "claims": "claims",
    "wrong": "wrong sign",
    "level": "levels' RMSE",
    "level_judges": "judges'",
    "alarms": "alarms",
    "refused": "refused",
}

FloatArray = NDArray[np.float64]


class Figure(NamedTuple):
    """A figure and its Monte Carlo standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        """Three decimals; the error in units of the last: .951(7)."""
        if np.isnan(self.value):
            return "-"
        shown = f"{self.value:.3f}".replace("0.", ".", 1) if abs(self.value) < 1 else f"{self.value:.3f}"
        return f"{shown}({self.error * 1000:.0f})"


@dataclass(frozen=True, eq=False)
class Line:
    """A cell of the design, which is a line of the table."""

    cell: Cell
    count: int  # comparisons
    intervals: int  # of them with an answer
    covered: int  # of these
    pairs: int
    left_out: int
    seconds: float  # CPU of a comparison, gold's plan included
    refusal: str | None  # the most frequent one
    figures: dict[str, Figure]

    @property
    def settings(self) -> dict[str, str]:
        """What the line is about."""
        cell = self.cell
        gold = f"even, {cell.frame}" if cell.design == "even" else cell.design
        topics = f"{cell.claim}, resampled" if cell.resampled else cell.claim
        shown = cell.judge, cell.measure, gold, f"{cell.size:,}", topics, cell.correction
        return dict(zip(SETTINGS, shown, strict=True))

    def __str__(self) -> str:
        return ", ".join(self.settings.values())


def summarise(cell: Cell, rows: pl.DataFrame, *, pairs: int, left_out: int) -> Line:
    """All figures of a cell; standard errors by resampling its comparisons."""
    held = (rows["low"] - ROUNDING <= rows["truth"]) & (rows["truth"] <= rows["high"] + ROUNDING)
    worst = rows["miss"] >= _cut_tenth(rows)
    columns = {
        **{name: rows[name].cast(pl.Float64).to_numpy() for name in rows.columns if rows[name].dtype != pl.String},
        "held": held.cast(pl.Float64).to_numpy(),  # NaN where there is no interval
        "worst": worst.to_numpy(),
        "refused": rows["value"].is_null().cast(pl.Float64).to_numpy(),
        "alarm": rows["alarm"].is_not_null().cast(pl.Float64).to_numpy(),
    }
    value = measure(columns)
    rng = np.random.default_rng(0)
    again = [rng.integers(len(rows), size=len(rows)) for _ in range(RESAMPLES)]
    draws = [measure({name: column[chosen] for name, column in columns.items()}) for chosen in again]
    texts = Counter(rows.filter(pl.col("value").is_null())["refusal"].drop_nulls().to_list())
    return Line(
        cell=cell,
        count=len(rows),
        intervals=int(held.is_not_null().sum()),
        covered=int(held.sum()),
        pairs=pairs,
        left_out=left_out,
        seconds=float(columns["seconds"].mean()),
        refusal=texts.most_common(1)[0][0] if texts else None,
        figures={name: Figure(value[name], _spread([draw[name] for draw in draws])) for name in FIGURES},
    )


def measure(columns: dict[str, FloatArray]) -> dict[str, float]:
    """The figures of comparisons; NaN stands for what was refused or is not shown."""
    truth, value = columns["truth"], columns["value"]
    known = ~np.isnan(value)
    claimed = columns["claim"] > 0
    wrong = claimed & (np.sign(value) != np.sign(truth))
    square = np.sum(truth[known] ** 2)
    levels, own = (
        np.r_[columns[f"{who}_a"] - columns["truth_a"], columns[f"{who}_b"] - columns["truth_b"]]
        for who in ("value", "judges")
    )
    return {
        "cover": _mean(columns["held"]),
        "worst": _mean(columns["held"][columns["worst"].astype(bool)]),
        # Through the origin: which system is called b is arbitrary, so that no intercept has a meaning.
        "slope": float(np.sum(truth[known] * value[known]) / square) if square else np.nan,
        "rmse": _mean((value - truth) ** 2) ** 0.5,
        "rmse_judges": _mean((columns["judges"] - truth) ** 2) ** 0.5,
        "half": float(np.median((columns["high"] - columns["low"])[known])) / 2 if known.any() else np.nan,
        "claims": float(claimed.mean()),
        "wrong": float(wrong.mean()),
        "level": _mean(levels**2) ** 0.5,
        "level_judges": _mean(own**2) ** 0.5,
        "alarms": float(columns["alarm"].mean()),
        "refused": float(columns["refused"].mean()),
    }


def to_cells(lines: Sequence[Line]) -> tuple[list[str], list[list[str]], dict[str, str]]:
    """Head and lines of the table, and the settings that are the same in all lines."""
    settings = [line.settings for line in lines]
    varied = [name for name in SETTINGS if len({row[name] for row in settings}) > 1]
    same = {name: settings[0][name] for name in SETTINGS if name not in varied}
    body = [
        [row[name] for name in varied] + [str(line.figures[name]) for name in FIGURES]
        for row, line in zip(settings, lines, strict=True)
    ]
    return [*varied, *FIGURES.values()], body, same


def print_table(lines: Sequence[Line], notes: Sequence[str], *, markdown: bool) -> None:
    """For a terminal or for a page."""
    head, body, same = to_cells(lines)
    title = "; ".join(f"{name}: {value}" for name, value in same.items())
    if markdown:
        print(f"{title}\n" if title else "", end="\n" if title else "")
        print("\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *_blank_repeats(head, body))))
        print("", *(f"- {note}" for note in notes), sep="\n")
        return
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", padding=(0, 1, 0, 0), show_edge=False)
    for name in head:
        table.add_column(name, justify="left" if name in SETTINGS and name != "size" else "right", no_wrap=True)
    for row in _blank_repeats(head, body):
        table.add_row(*row)
    Console(highlight=False, markup=False, width=WIDTH).print(table)
    print("", *notes, sep="\n")


def judge_lines(lines: Sequence[Line]) -> list[str]:
    """What holds of all lines together, and what does not."""
    return [
        *_judge_spoiled([line for line in lines if line.cell.design in SPOILED]),
        *_judge_sound([line for line in lines if line.cell.design not in SPOILED]),
    ]


def _judge_spoiled(lines: Sequence[Line]) -> list[str]:
    """Gold that is no random sample must be refused."""
    if not lines:
        return []
    least = min(lines, key=lambda line: line.figures["refused"].value)
    return [
        f"Gold that is not a random sample is refused least often in {least}: {least.figures['refused']} "
        f"({_say(least.figures['refused'].value >= LEAST_CAUGHT)}, {LEAST_CAUGHT:.2f} at least)"
    ]


def _judge_sound(lines: Sequence[Line]) -> list[str]:
    known = [line for line in lines if line.intervals]
    if not known:
        return ["No cell has an interval."] if lines else []
    low = find_low(known)
    least = [line for line in known if line.figures["cover"].value < LEAST]
    slope = average(known, "slope")
    wrong = max(known, key=lambda line: line.figures["wrong"].value)
    worst = min(known, key=lambda line: np.nan_to_num(line.figures["worst"].value, nan=1.0))
    rough = [
        line for line in known if line.cell.design != "topics" and line.cell.size >= MANY and _has_worse_levels(line)
    ]
    return [
        f"{len(known)} cells with intervals of {len(lines)}. Figures in parentheses: Monte Carlo standard error of the "
        "last digits. Coverage, slope, RMSE and half-width are of comparisons with an answer; claims, wrong signs, "
        "alarms and refusals are shares of all comparisons.",
        f"Significantly below {FLOOR:.2f} (one-sided binomial test at {LEVEL:.2f}, Holm over cells): {_list(low)}",
        f"Below {LEAST:.2f}: {_list(least)}",
        f"Mean slope {slope} ({_say(SLOPES[0] <= slope.value <= SLOPES[1])}, {SLOPES[0]:.1f} to {SLOPES[1]:.1f})",
        f"Most claims of the wrong sign: {wrong.figures['wrong']} in {wrong} "
        f"({_say(wrong.figures['wrong'].value <= MOST_WRONG)}, {MOST_WRONG:.2f} at most)",
        f"Least coverage in the tenth of the pairs where the judge is most wrong: {worst.figures['worst']} in {worst} "
        f"({_say(worst.figures['worst'].value >= LEAST_WORST)}, {LEAST_WORST:.2f} at least)",
        f"Levels from {MANY} labels on not better than the judges' own: {_list(rough)}",
        *_compare_designs(known),
        *_list_refusals(lines),
        f"Pairs left out, as gold would be nearly all that they differ in: {_list_left_out(lines)}.",
        f"CPU of a comparison: {1000 * float(np.mean([line.seconds for line in lines])):.0f} ms.",
    ]


def find_low(lines: Sequence[Line]) -> list[Line]:
    """Lines whose coverage is significantly below the floor: one-sided exact tests, Holm over lines."""
    from scipy.stats import binom

    chance = binom.cdf([line.covered for line in lines], [line.intervals for line in lines], FLOOR)
    order = np.argsort(chance, kind="stable")
    passed = chance[order] > LEVEL / (len(lines) - np.arange(len(lines)))
    rejected = order[: int(np.argmax(passed)) if passed.any() else len(lines)]
    return [lines[i] for i in sorted(rejected.tolist())]


def average(lines: Sequence[Line], name: str) -> Figure:
    """The mean of a figure over lines. Lines with the same gold, such as those of two judges, err together."""
    error: dict[tuple[object, ...], float] = {}
    for line in lines:
        cell = line.cell
        gold = (cell.collection, cell.measure, cell.design, cell.frame, cell.size, cell.resampled, cell.seed)
        error[gold] = error.get(gold, 0.0) + line.figures[name].error
    value = np.mean([line.figures[name].value for line in lines])
    return Figure(float(value), float(np.linalg.norm(list(error.values()))) / len(lines))


def _has_worse_levels(line: Line) -> bool:
    """Where levels are shown at all."""
    return line.figures["level"].value >= line.figures["level_judges"].value


def _compare_designs(lines: Sequence[Line]) -> list[str]:
    """How many evenly drawn labels one planned label is worth: the ratio of mean squared errors, by measure."""
    found: dict[str, list[float]] = {}
    by_cell = {line.cell: line for line in lines}
    for cell, line in by_cell.items():
        for frame in ("pool", "top", "pair"):
            twin = by_cell.get(Cell(**{**asdict(cell), "design": "even", "frame": frame}))
            if cell.design == "drawn" and twin is not None:
                ratio = (twin.figures["rmse"].value / line.figures["rmse"].value) ** 2
                found.setdefault(f"{cell.measure} (frame {frame})", []).append(ratio)
    if not found:
        return []
    shown = [f"{name} {np.exp(np.mean(np.log(ratios))):.1f}" for name, ratios in found.items()]
    return [f"Mean squared error of an even sample over that of drawn gold, geometric mean: {', '.join(shown)}"]


def _list_refusals(lines: Sequence[Line]) -> list[str]:
    """The most frequent refusal of each cell, figures left out, so that the same refusal is listed once."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        if line.refusal is not None:
            found.setdefault(re.sub(r"\d[\d,.]*", "#", line.refusal), []).append(line)
    return [
        f"Refused most often in {len(where)} cells (at most {max(shares):.0%} of comparisons): {text}"
        for text, where in found.items()
        for shares in [[line.figures["refused"].value for line in where]]
    ]


def _list_left_out(lines: Sequence[Line]) -> str:
    counts = {
        f"{line.cell.measure} with {line.cell.size:,} {line.left_out:,} of {line.left_out + line.pairs:,}": None
        for line in lines
        if line.left_out
    }
    return ", ".join(counts) or "none"


def _list(lines: Sequence[Line]) -> str:
    return "none (ok)" if not lines else f"{len(lines)} (NO): " + "; ".join(map(str, lines))


def _say(good: bool) -> str:
    return "ok" if good else "NO"


def _blank_repeats(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[list[str]]:
    """A setting stands only where it changes."""
    settings = sum(name in SETTINGS for name in head)
    shown: list[list[str]] = []
    previous: Sequence[str] = [""] * len(head)
    for row in body:
        same = 0
        while same < settings - 1 and row[same] == previous[same]:
            same += 1
        shown.append([""] * same + list(row[same:]))
        previous = row
    return shown


def _cut_tenth(rows: pl.DataFrame) -> float:
    """How wrong the judge is at least in the tenth of the compared pairs where that is most."""
    pair = pl.concat_list(pl.min_horizontal("a", "b"), pl.max_horizontal("a", "b"))
    miss = np.sort(rows.group_by(pair.alias("pair")).agg(pl.col("miss").first())["miss"].to_numpy())
    return float(miss[-max(1, round(len(miss) / 10))])


def _mean(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


def _spread(values: list[float]) -> float:
    known = np.array(values)[~np.isnan(values)]
    return float(known.std()) if len(known) > 1 else np.nan
