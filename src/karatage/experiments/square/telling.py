"""What to say about a benchmark: notes on its cells, and the closing sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import polars as pl

from karatage.experiments.engine import Outcome
from karatage.text import counted, list_names


class _Cell(Protocol):
    """What is told of a cell."""

    @property
    def data_set(self) -> str: ...
    @property
    def approach(self) -> str: ...
    @property
    def supervision(self) -> str: ...
    @property
    def outcome(self) -> Outcome: ...


def tell_cells(cells: Sequence[_Cell]) -> Iterator[str]:
    """What was skipped and why, what did not converge, what was there already."""
    skipped: dict[tuple[str, str], list[_Cell]] = {}
    for cell in cells:
        if cell.outcome.status == "skipped":
            skipped.setdefault((cell.approach, cell.outcome.reason), []).append(cell)
    everywhere = len({cell.data_set for cell in cells})
    for (approach, reason), found in skipped.items():
        sets = list(dict.fromkeys(cell.data_set for cell in found))
        kinds = " and ".join(dict.fromkeys(cell.supervision for cell in found))
        where = "" if len(sets) == everywhere else f" on {list_names(sets)}"
        yield f"{approach} was skipped{where} with supervision {kinds}: {reason}"
    for approach in dict.fromkeys(cell.approach for cell in cells):
        done = [cell.outcome.facts for cell in cells if cell.approach == approach and cell.outcome.status == "done"]
        fits, loose = (sum(int(facts.get(name) or 0) for facts in done) for name in ("folds", "not_converged"))
        if loose:
            yield f"{approach} did not converge in {loose:,} of {counted(fits, 'fit')}"
    kept = sum(cell.outcome.kept for cell in cells)
    if kept:
        yield f"{kept:,} of {counted(len(cells), 'cell')} were found done by an earlier run"


def conclude(averages: pl.DataFrame, sets: Sequence[str], baseline: str, race: pl.DataFrame) -> str:
    """Which approach is best on average, without gold and with it, and how often it leads."""
    if not sets:
        return "No data set could be done by every approach, so there is no average; see the table of each data set."
    where = f"Over {counted(len(sets), 'data set')}" if len(sets) > 1 else f"On {sets[0]}"
    scores = averages.filter(pl.col("quality") == "accuracy")
    columns = [name for name in scores.columns if name not in {"approach", "quality", "maxima"}]
    parts = []
    if scores["none"].count():
        parts.append(f"{where} without gold {_say_best(scores, 'none', baseline, len(sets) > 1)}")
    trained = {name: _best(scores, name)[1] for name in columns if name != "none" and scores[name].count()}
    if trained:
        gold = _say_trained(scores, max(trained, key=lambda name: trained[name]))
        parts.append(gold if parts else f"{where} {gold}")
    return "; ".join(parts) + "." + _say_leaders(race, scores["approach"].to_list())


def _say_trained(scores: pl.DataFrame, column: str) -> str:
    """The best with gold, and whether gold helped at all."""
    approach, value = _best(scores, column)
    supervision, amount = column.split()
    if scores["none"].count() and value <= _best(scores, "none")[1]:
        return f"gold does not help: at best {short(value)}, by {approach} with {amount} % in {supervision} supervision"
    return f"with {amount} % of gold in {supervision} supervision {approach} reaches {short(value)}"


def _best(scores: pl.DataFrame, column: str) -> tuple[str, float]:
    row = scores.sort(column, descending=True, nulls_last=True, maintain_order=True).row(0, named=True)
    return str(row["approach"]), float(row[column])


def _say_best(scores: pl.DataFrame, column: str, baseline: str, several: bool) -> str:
    approach, value = _best(scores, column)
    base = scores.filter(pl.col("approach") == baseline)[column][0]
    average = " on average" if several else ""
    if scores[column].count() == 1:
        return f"{approach} alone was tried: accuracy {short(value)}{average}"
    if base is not None and base >= value:
        return f"nothing is better{average} than {baseline}: accuracy {short(value)}"
    text = f"{approach} is best{average}: accuracy {short(value)}"
    return text if base is None else f"{text} against {baseline}'s {short(float(base))}"


def _say_leaders(race: pl.DataFrame, approaches: Sequence[str]) -> str:
    """On how many data sets the approach that leads most often is among the best."""
    leaders = race.filter((pl.col("quality") == "accuracy") & pl.col("leader"))
    sets = leaders["data_set"].n_unique()
    if sets < 2:
        return ""
    often = {a: leaders.filter(pl.col("approach") == a)["data_set"].n_unique() for a in leaders["approach"].unique()}
    most = max(often.values())
    names = [name for name in approaches if often.get(name) == most]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    verb = "is" if len(names) == 1 else "are each"
    ending = ": there is no best one for all data" if most < sets else ""
    return f" {listed} {verb} among the best on {most} of {sets}{ending}."


def short(value: float) -> str:
    """Three decimals without the zero before the point.

    >>> short(0.8436), short(1.0), short(-0.02)
    ('.844', '1.000', '-.020')
    """
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 0.9995 else f"{value:.3f}"


def list_ranges(numbers: Sequence[int]) -> str:
    """Sorted numbers, three or more in a row as a range.

    >>> list_ranges([1, 2, 3, 5, 6])
    '1-3, 5, 6'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
