"""What `karatage experiment noisy` prints: tables of 80 columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from karatage.cli.output import make_table, render
from karatage.experiments.noisy.findings import SOUND
from karatage.experiments.noisy.testing import GOLD_SAMPLES, ONE, TESTS

if TYPE_CHECKING:
    from rich.table import Table

    from karatage.experiments.noisy.findings import NoisyFindings

FEW_WORLDS = 12  # of which each has a line of its own with all figures
SHORT = dict(zip(TESTS, ("naive", "naive p", "(10)", "shared", "shared p"), strict=True))
TITLES = {"ebay": "eBay [NOISY18] 7", "trec": "TREC [NOISY18] 8, table 4", "dcg": "Graded judgments [NOISY18] 4.2"}
KEY = (
    "naive: Welch's t (9); p: paired over topics; (10): corrected as if judges were\n"
    "independent; shared: corrected with one gold sample for both; level .05"
)


def list_tables(found: NoisyFindings) -> dict[str, pl.DataFrame]:
    """Tables for the output folder, by the names of their files."""
    tables = {name: getattr(found, name) for name in ("intervals", "histogram", "tests", "worked")}
    return {name: table for name, table in tables.items() if len(table)}


def render_noisy(found: NoisyFindings) -> str:
    """All tables as text, 80 columns wide, and the closing sentence."""
    parts: list[Table | str] = []
    if len(found.intervals):
        parts += _intervals(found)
    if len(found.tests):
        parts += _tests(found)
    for example in found.worked["example"].unique(maintain_order=True):
        parts += [TITLES[example], lay_out_example(found.worked.filter(example=example))]
    return render(*parts, found.sentence)


def _intervals(found: NoisyFindings) -> Iterator[Table | str]:
    chance = f"{found.plan.simulations:,} simulations, ± {found.tolerance * 100:.1f}"
    for (topics,), here in found.intervals.group_by("topics", maintain_order=True):
        title = f"{topics} topics: % of 95 % intervals{{}} that cover {found.measure} ({chance})"
        if len(found.intervals) <= FEW_WORLDS:
            yield title.format("")
            yield _list_worlds(here, found.measure)
        else:
            for which, name in (("z", "covered"), ("t", "covered_t")):
                yield title.format(f" ({which})")
                yield _cross(here, name)


def _list_worlds(here: pl.DataFrame, measure: str) -> Table:
    names = ["right", "gold", measure, "naive", "covers", "corrected", "covers", "(t)", "refused"]
    rows = [
        [
            _right(row),
            str(row["gold_size"]),
            f"{row['precision']:g}",
            f"{row['naive']:.4f}",
            _share(row["naive_covered"]),
            "–" if row["corrected"] is None else f"{row['corrected']:.4f}",
            _share(row["covered"]),
            _share(row["covered_t"]),
            _share(row["refused"]),
        ]
        for row in here.iter_rows(named=True)
    ]
    return make_table("", names, rows, text_columns=1)


def _cross(here: pl.DataFrame, name: str) -> Table:
    """Coverage by rates and gold, a column for each P@k; what is refused hangs on rates and gold only, but for luck."""
    values = list(here["precision"].unique(maintain_order=True))
    rows = []
    for _, group in here.group_by("right_relevant", "right_other", "gold_size", maintain_order=True):
        first = group.row(0, named=True)
        covered = [_share(group.filter(precision=value)[name][0]) for value in values]
        refused = float(group["refused"].to_numpy().mean())
        rows.append([_right(first), str(first["gold_size"]), _share(refused), *covered])
    return make_table("", ["right", "gold", "refused", *(f"at {value:g}" for value in values)], rows, text_columns=1)


def _tests(found: NoisyFindings) -> Iterator[Table | str]:
    for samples in GOLD_SAMPLES:
        who = "One gold sample" if samples == ONE else "Judges and gold of their own"
        table = found.pivot_tests(samples)
        for (topics,), here in table.filter(difference=0.0).group_by("topics", maintain_order=True):
            yield f"{who}, {topics} topics, no difference: % rejected"
            yield _list_tests(here, found.measure, told=False)
        for (topics,), here in found.compare_power(samples).group_by("topics", maintain_order=True):
            yield f"{who}, {topics} topics: % rejected, where '{SHORT[SOUND[samples]]}' is nearest 80"
            yield _list_tests(here, found.measure, told=True)
    yield KEY


def _list_tests(here: pl.DataFrame, measure: str, *, told: bool) -> Table:
    names = ["right", "gold", measure, *(["b - a"] if told else []), *SHORT.values()]
    rows = [
        [
            _right(row),
            str(row["gold_size"]),
            f"{row['precision']:g}",
            *([f"{row['difference']:g}"] if told else []),
            *(_share(row[test]) for test in TESTS),
        ]
        for row in here.iter_rows(named=True)
    ]
    return make_table("", names, rows, text_columns=1)


def lay_out_example(figures: pl.DataFrame) -> Table:
    """A row for each quantity, a column for each of what it is of."""
    owners = list(figures["of"].unique(maintain_order=True))
    rows = []
    for (quantity, by), group in figures.group_by("quantity", "by", maintain_order=True):
        shown = {row["of"]: row["text"] or _number(row["value"], row["digits"]) for row in group.iter_rows(named=True)}
        rows.append([str(quantity), str(by), *(shown.get(owner, "") for owner in owners)])
    return make_table("", ["", "by", *owners], rows, text_columns=2)


def _right(row: dict[str, float]) -> str:
    """`.9/.8`: of relevant and of other documents."""
    return "/".join(f"{row[name]:g}".removeprefix("0") for name in ("right_relevant", "right_other"))


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value * 100:.1f}"


def _number(value: float, digits: int) -> str:
    return "infinite" if math.isinf(value) else f"{value:.{digits}f}"
