"""Findings of the SQUARE benchmark, in the layout of [COLLAB14]'s tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from karatage.comparison.classification import Quality, permutation_test
from karatage.data.axes import FloatArray, GradeArray
from karatage.data.checks import (
    AMOUNT,
    COUNT,
    FLAG,
    NUMBER,
    SHARE,
    TEXT,
    Column,
    maybe,
    require_known,
    require_names,
    require_numbers,
    require_table,
)
from karatage.data.note import Note
from karatage.data.result import Result, list_versions
from karatage.errors import DataError, OptionError
from karatage.experiments.engine import Outcome, frame_rows
from karatage.random_streams import stream
from karatage.text import counted, list_ranges, short

QUALITIES: tuple[Quality, ...] = ("accuracy", "f1")
LETTERS = {"none": "u", "light": "l", "full": "f"}
USUAL_AMOUNT = 50
LEVEL = 0.05
EQUAL = 1e-12
RACE = {**dict.fromkeys(("data_set", "quality", "approach", "supervision"), TEXT), "amount": Column("int64", 0, 100)}
RACE |= {"value": SHARE, "p_value": SHARE, "best": FLAG, "leader": FLAG}
LEADERS = {"data_set": TEXT, "quality": TEXT, "best": SHARE, "leaders": TEXT, "approaches": TEXT}
JUDGES = {"data_set": TEXT, "judge": TEXT, "items": COUNT, "gold": COUNT, "accuracy": maybe(SHARE)}
CROWDS = {"data_set": TEXT, **dict.fromkeys(("grades", "items", "gold", "judges", "labels"), COUNT)}
CROWDS |= {"per_item": maybe(AMOUNT), "per_judge": maybe(AMOUNT), "accuracy": maybe(SHARE), "below": COUNT}
RELATIVE = {**dict.fromkeys(("data_set", "approach", "supervision"), TEXT), "amount": Column("int64", 0, 100)}
RELATIVE |= {"quality": TEXT, "value": SHARE, "gap": NUMBER}


class Setting(NamedTuple):
    """How gold is used, and the percentage of it; 0 without."""

    supervision: str
    amount: int

    @property
    def name(self) -> str:
        """Its column in tables."""
        return f"{self.supervision} {self.amount}" if self.amount else self.supervision


class CellResult(NamedTuple):
    """One data set, model and supervision, and how it ended."""

    data_set: str
    approach: str
    supervision: str
    amount: int  # percent of gold
    outcome: Outcome

    @property
    def setting(self) -> str:
        """Its column in tables."""
        return Setting(self.supervision, self.amount).name

    def value(self, quality: Quality) -> float | None:
        """Its accuracy or F1, if it has one."""
        found = self.outcome.facts.get(quality)
        return found if isinstance(found, float) else None


class DataSetFacts(NamedTuple):
    """The size of a data set."""

    name: str
    judgments: int
    judges: int
    items: int
    gold: int
    scale: tuple[int, ...]
    notes: tuple[Note, ...]


class JudgeFacts(NamedTuple):
    """The items of a data set that a judge graded, those of them with gold, and the share of these graded as gold."""

    data_set: str
    judge: str
    items: int
    gold: int
    accuracy: float | None


@dataclass(frozen=True, eq=False)
class Race:
    """All results without gold or with an `amount` of it, compared with the best on each data set."""

    amount: int
    level: float
    table: pl.DataFrame


@dataclass(frozen=True, eq=False, kw_only=True)
class Benchmark(Result, kind="benchmark"):
    """Accuracy and F1 of models on data sets, by supervision and amount of gold."""

    derived = ("sentence", "approaches", "common_sets", "rows", "averages", "leaders")
    optional = ("judges",)

    cells: tuple[CellResult, ...]
    data_sets: tuple[DataSetFacts, ...]
    seed: int
    judges: tuple[JudgeFacts, ...] = ()  # files of earlier versions have none
    notes: tuple[Note, ...] = ()
    versions: Mapping[str, str] = field(default_factory=list_versions)
    races: list[Race] = field(default_factory=list)  # computed so far

    def __post_init__(self) -> None:
        """Refuse impossible cells, and comparisons that do not agree with them."""
        if not self.cells:
            raise DataError("cells is empty: there are no results")
        sets = [facts.name for facts in self.data_sets]
        require_names("data_sets", sets)
        require_names("cells", ["/".join((c.data_set, c.approach, c.setting)) for c in self.cells])
        require_known("cells: data_set", [cell.data_set for cell in self.cells], sets, "data_sets")
        require_known("cells: supervision", [cell.supervision for cell in self.cells], LETTERS, "kinds of supervision")
        require_numbers("cells: amount", [cell.amount for cell in self.cells], 0, 100)
        require_numbers("cells: seconds", [cell.outcome.seconds for cell in self.cells], 0)
        values = [cell.value(quality) for cell in self.cells for quality in QUALITIES]
        require_numbers("cells: accuracy or f1", [value for value in values if value is not None], 0, 1)
        self._check_judges()
        for race in self.races:
            self._check_race(race.table, race.amount, race.level)

    def _check_judges(self) -> None:
        """Each judge of a data set once, who is right in a share of the items with gold."""
        judges = self.frame_judges()
        require_table("judges", judges, JUDGES)
        names = [facts.name for facts in self.data_sets]
        require_known("judges: data_set", judges["data_set"].to_list(), names, "data_sets")
        for facts in self.data_sets:
            found = judges.filter(data_set=facts.name)
            require_names(f"judges of {facts.name}", found["judge"].to_list(), least=0)
            if len(found) > facts.judges or found["items"].sum() > facts.judgments:
                raise DataError(f"judges of {facts.name}: more judges or grades than the data set has")
        if (judges["gold"] > judges["items"]).any():
            raise DataError("judges: more items with gold than items")
        if (judges["accuracy"].is_null() != (judges["gold"] == 0)).any():
            raise DataError("judges: an accuracy is there if and only if there are items with gold")

    def _check_race(self, race: pl.DataFrame, amount: int, level: float) -> None:
        """Every cell that ran has its value; leaders are not significantly worse than the best."""
        require_table("comparison", race, RACE)
        keys = ["data_set", "quality"]
        ran = {
            (cell.data_set, quality, *cell[1:4]): value
            for cell in self.cells
            if cell.amount in {0, amount}
            for quality in QUALITIES
            if (value := cell.value(quality)) is not None
        }
        found = {row[:5]: row[5] for row in race.select(*RACE).iter_rows()}
        if found != ran or len(found) != len(race):
            raise DataError("comparison: the cells and values are not those that were done")
        most = race.select(pl.col("value").max().over(keys)).to_series()
        if ((race["p_value"] > level) | (race["value"] >= most)).to_list() != race["leader"].to_list():
            raise DataError("comparison: the leaders do not follow from the p-values")
        gap = (pl.col("value") - pl.col("value").max()).filter("best").min()
        first = race.group_by(keys).agg(pl.col("best").sum(), gap)
        if (first["best"] != 1).any() or (first["value"] < 0).any():
            raise DataError("comparison: the best is not the one with the highest value")

    @cached_property
    def approaches(self) -> tuple[str, ...]:
        """The models, in the given order; tables number them from 1."""
        return tuple(dict.fromkeys(cell.approach for cell in self.cells))

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """The columns: none, light 10, ..., full 90."""
        return tuple(dict.fromkeys(cell.setting for cell in self.cells))

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """Cells that failed."""
        return tuple(cell.outcome for cell in self.cells if cell.outcome.status == "failed")

    @cached_property
    def _done(self) -> dict[tuple[str, str, str], CellResult]:
        done = (cell for cell in self.cells if cell.outcome.status == "done")
        return {(cell.data_set, cell.approach, cell.setting): cell for cell in done}

    @cached_property
    def common_sets(self) -> tuple[str, ...]:
        """Data sets on which all approaches have all settings that they have on any."""
        wanted = {(approach, setting) for _, approach, setting in self._done}
        names = [facts.name for facts in self.data_sets]
        return tuple(name for name in names if all((name, *pair) in self._done for pair in wanted)) if wanted else ()

    def to_frame(self) -> pl.DataFrame:
        """One row per cell: accuracy, F1, and how the cell ended."""
        rows = [
            {
                "data_set": cell.data_set,
                "approach": cell.approach,
                "supervision": cell.supervision,
                "amount": cell.amount,
                "accuracy": cell.value("accuracy"),
                "f1": cell.value("f1"),
                **{name: cell.outcome.facts.get(name) for name in ("items", "tied", "folds", "not_converged")},
                "seconds": cell.outcome.seconds,
                "status": cell.outcome.status,
                "reason": cell.outcome.reason,
            }
            for cell in self.cells
        ]
        whole = dict.fromkeys(("amount", "items", "tied", "folds", "not_converged"), pl.Int64)
        numbers = dict.fromkeys(("accuracy", "f1", "seconds"), pl.Float64)
        return pl.DataFrame(rows, schema_overrides={**whole, **numbers})

    def predictions(self, data_set: str, approach: str, setting: str = "none") -> pl.DataFrame:
        """One row per item with gold: gold, the decided grade, all tied ones, the fold, and probabilities."""
        cell = self._done.get((data_set, approach, setting))
        if cell is None:
            raise OptionError(f"there is no result for data set '{data_set}', approach '{approach}', '{setting}'")
        return _require_predictions(cell)

    def averages(self) -> pl.DataFrame:
        """[COLLAB14] table 2.2: mean accuracy and F1 over the common data sets, and how often they are a maximum."""
        return self.table(self.common_sets)

    def table(self, data_sets: tuple[str, ...]) -> pl.DataFrame:
        """The same over some data sets: a row per approach and quality, a column per setting; null if not done."""
        rows: list[dict[str, object]] = [
            {
                "approach": approach,
                "quality": quality,
                **{setting: self._mean(data_sets, approach, setting, quality) for setting in self.settings},
            }
            for approach in self.approaches
            for quality in QUALITIES
        ]
        schema = {"approach": pl.String, "quality": pl.String, **dict.fromkeys(self.settings, pl.Float64)}
        frame = pl.DataFrame(rows, schema=schema)
        wins = [(pl.col(s) >= pl.col(s).max().over("quality") - EQUAL).fill_null(False) for s in self.settings]
        return frame.with_columns(pl.sum_horizontal(wins).cast(pl.Int64).alias("maxima"))

    def _mean(self, data_sets: tuple[str, ...], approach: str, setting: str, quality: Quality) -> float | None:
        """Over data sets that have a value: without positive grades in gold there is no F1."""
        cells = [self._done.get((name, approach, setting)) for name in data_sets]
        values = [cell.value(quality) for cell in cells if cell is not None]
        known = [value for value in values if value is not None]
        return float(np.mean(known)) if known and len(values) == len(data_sets) else None

    def race(self, *, amount: int | None = None, level: float = LEVEL) -> pl.DataFrame:
        """Every approach without gold and with `amount` percent, compared with the best of them on each data set.

        The test is the two-tailed paired permutation test; `leader` means not significantly worse than the best.
        """
        chosen = self._usual(amount)
        known = next((race for race in self.races if (race.amount, race.level) == (chosen, level)), None)
        if known is None:
            known = Race(chosen, level, self._run_race(chosen, level))
            self.races.append(known)
        return known.table

    def tell_facts(self) -> dict[str, Any]:
        """Everything except for single predictions, ready for JSON, with the comparison that needs the predictions."""
        self.race()
        return super().tell_facts()

    def _run_race(self, amount: int, level: float) -> pl.DataFrame:
        rows = [
            candidate
            for facts in self.data_sets
            for quality in QUALITIES
            for candidate in self._race(facts, quality, amount, level)
        ]
        return frame_rows(rows, RACE)

    @property
    def usual_amount(self) -> int:
        """The amount of gold for which significance is shown: 50%, or else the largest; 0 without gold."""
        return self._usual(None)

    def _usual(self, amount: int | None) -> int:
        offered = sorted({cell.amount for cell in self.cells if cell.amount})
        if amount is not None and amount not in offered:
            raise OptionError(f"amount {amount}% was not tried; tried: {', '.join(map(str, offered)) or 'none'}")
        return amount or (USUAL_AMOUNT if USUAL_AMOUNT in offered else max(offered, default=0))

    def _race(self, facts: DataSetFacts, quality: Quality, amount: int, level: float) -> Iterator[tuple[object, ...]]:
        cells = [
            (cell, value)
            for cell in self.cells
            if cell.data_set == facts.name and cell.amount in {0, amount}
            if (value := cell.value(quality)) is not None
        ]
        if not cells:
            return
        best, best_value = max(cells, key=lambda pair: pair[1])
        best_credit, gold = read_credits(_require_predictions(best), facts.scale)
        for cell, value in sorted(cells, key=lambda pair: -pair[1]):
            credit, _ = read_credits(_require_predictions(cell), facts.scale)
            source = stream(self.seed, f"square/test/{facts.name}/{quality}/{cell.approach}/{cell.setting}")
            p_value = 1.0 if cell is best else permutation_test(best_credit, credit, gold, quality=quality, rng=source)
            leads = p_value > level or value >= best_value
            yield facts.name, quality, *cell[1:4], value, p_value, cell is best, leads

    def leaders(self, *, amount: int | None = None, level: float = LEVEL) -> pl.DataFrame:
        """[COLLAB14] table 2.3: by data set and quality, all results that are not significantly worse than the best.

        Approaches are numbers, supervision a letter (u none, l light, f full); the best is first.
        """
        rows = []
        race = self.race(amount=amount, level=level).filter("leader")
        for (name, quality), group in race.group_by(["data_set", "quality"], maintain_order=True):
            number = {approach: self.approaches.index(approach) + 1 for approach in group["approach"].unique()}
            best, *others = group.sort("best", descending=True, maintain_order=True).iter_rows(named=True)
            told = [f"{number[best['approach']]}{LETTERS[best['supervision']]}"]
            for approach in sorted({row["approach"] for row in others}, key=lambda a: number[a]):
                letters = {LETTERS[row["supervision"]] for row in others if row["approach"] == approach}
                told.append(f"{number[approach]}{''.join(letter for letter in 'ulf' if letter in letters)}")
            rows.append((name, quality, best["value"], ", ".join(told), list_ranges(sorted(number.values()))))
        return frame_rows(rows, LEADERS)

    def frame_judges(self) -> pl.DataFrame:
        """One row per data set and judge: items graded, those with gold, and accuracy on the latter."""
        return frame_rows(self.judges, JUDGES)

    def crowds(self) -> pl.DataFrame:
        """[COLLAB14] table 2.1: the size of each data set, and how good its judges are.

        Grades are those that occur, and `labels` counts a judge's repeated grades of an item once. `accuracy` is the
        mean over judges with gold, and `below` how many of them are right less often than by choosing a grade blindly.
        """
        rows, judges = [], self.frame_judges()
        for facts in self.data_sets:
            found = judges.filter(data_set=facts.name)
            labels, right = int(found["items"].sum()), found["accuracy"].drop_nulls()
            means = (labels / facts.items, labels / len(found), right.mean()) if len(found) else (None, None, None)
            below = int((right < 1 / len(facts.scale)).sum())
            rows.append((facts.name, len(facts.scale), facts.items, facts.gold, facts.judges, labels, *means, below))
        return frame_rows(rows, CROWDS)

    @property
    def baseline(self) -> str:
        """The approach with which others are compared: mv, or else the first one."""
        return next((name for name in self.approaches if name.partition("(")[0] == "mv"), self.approaches[0])

    def relative(self) -> pl.DataFrame:
        """One row per finished cell: its difference from the baseline without gold, on the same data set."""
        rows = []
        for cell in self._done.values():
            base = self._done.get((cell.data_set, self.baseline, "none"))
            for quality in QUALITIES:
                value, other = cell.value(quality), None if base is None else base.value(quality)
                if value is not None and other is not None:
                    rows.append((*cell[:4], quality, value, value - other))
        return frame_rows(rows, RELATIVE)

    @property
    def sentence(self) -> str:
        """The conclusion."""
        return conclude(self.averages(), self.common_sets, self.baseline, self.race())


def _require_predictions(cell: CellResult) -> pl.DataFrame:
    if cell.outcome.table.is_empty():
        raise DataError("predictions of single items are not in the JSON; run the benchmark again to see them")
    return cell.outcome.table


def read_credits(table: pl.DataFrame, scale: Sequence[int]) -> tuple[FloatArray, GradeArray]:
    """Credits (item, grade) and gold from a table of predictions, with grades numbered along `scale`."""
    winners = table["winners"].explode().to_numpy()
    count = table["winners"].list.len().to_numpy()
    credit = np.zeros((len(table), len(scale)))
    np.add.at(credit, (np.repeat(np.arange(len(table)), count), np.searchsorted(scale, winners)), 1.0)
    credit /= count[:, None]
    return credit, np.searchsorted(scale, table["gold"].to_numpy()).astype(np.int8)


def conclude(averages: pl.DataFrame, sets: Sequence[str], baseline: str, race: pl.DataFrame) -> str:
    """Which approach is best on average, without gold and with it, and how often."""
    if not sets:
        return "No data set has results of every approach, so there is no average; see the table of each data set."
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
        return f"gold does not help: with {amount}% of it in {supervision} supervision, {approach} has {short(value)}"
    return f"with {amount}% of gold in {supervision} supervision, {approach} has {short(value)}"


def _best(scores: pl.DataFrame, column: str) -> tuple[str, float]:
    row = scores.sort(column, descending=True, nulls_last=True, maintain_order=True).row(0, named=True)
    return str(row["approach"]), float(row[column])


def _say_best(scores: pl.DataFrame, column: str, baseline: str, several: bool) -> str:
    approach, value = _best(scores, column)
    base = scores.filter(pl.col("approach") == baseline)[column][0]
    average = " on average" if several else ""
    if scores[column].count() == 1:
        return f"only {approach} was tried: accuracy {short(value)}{average}"
    if base is not None and base >= value:
        return f"nothing is better{average} than {baseline}: accuracy {short(value)}"
    text = f"{approach} is best{average}: accuracy {short(value)}"
    return text if base is None else f"{text} ({baseline} {short(float(base))})"


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
    ending = ": no approach is the best for all data" if most < sets else ""
    return f" {listed} {verb} among the best on {most} of {sets}{ending}."
