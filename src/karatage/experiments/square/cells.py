"""The SQUARE benchmark [SQUARE13]: data sets x consensus models x supervision, cross-validated against gold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl

from karatage.aggregation.majority import ADVERSARY
from karatage.aggregation.registry import NamedModel, parse_model
from karatage.comparison.classification import accuracy, credit_winners, f1
from karatage.data.axes import FloatArray, LongArray
from karatage.data.note import Note
from karatage.data.options import Supervision
from karatage.data.posterior import Posterior
from karatage.errors import OptionError
from karatage.experiments.engine import Cell, Execution, Finding, run_cells, tell_kept, tell_outcomes
from karatage.experiments.notes import tell
from karatage.experiments.plans import make_plan
from karatage.experiments.square.data_sets import (
    DataSet,
    DataSets,
    check_names,
    count_parts,
    make_folds,
    read_data_sets,
)
from karatage.experiments.square.findings import Benchmark, CellResult, DataSetFacts, JudgeFacts, Setting
from karatage.experiments.square.plan import KIND, Folds, SquarePlan
from karatage.io.files import PathLike
from karatage.random_streams import settle_seed, stream
from karatage.text import shorten

# Supervision of models that do not have all three kinds.
USES = {"mv": ("none",), "nb": ("full",)}
NO_USE = {"mv": "does not learn from gold", "nb": "learns only from gold, and is tried only in full supervision"}
DECIDING = frozenset({"lowest", "highest", "prior"})  # tie rules that are not random


def benchmark(
    data: PathLike | Iterable[PathLike] | DataSets | Iterable[DataSet],
    *,
    approach: str | Sequence[str] = (),
    amounts: Sequence[int] | None = None,
    preset: str | None = None,
    gold_items_only: bool = False,
    folds: Folds | None = None,
    output: PathLike | None = None,
    execution: Execution | None = None,
    rng: int | np.random.Generator | None = 0,
) -> Benchmark:
    """Try models on data sets with gold: without gold, and with part of it in light and in full supervision.

    Args:
        data: Folders, as `read_data_sets` takes them, or data sets.
        approach: Models by name, with options; default: those of the thesis.
        amounts: Percentages of gold to train on, over folds, default 10 to 90; none: no training.
        preset: A plan that comes with karatage, such as `square`; other options override it.
        gold_items_only: Leave out the judgments of items without gold, as SQUARE does.
        folds: `pooled` (default): each item has one prediction, of a fold that was not trained on it. `averaged`: each
            fold is scored on all items that it was not trained on, and without gold ten folds see nine tenths of the
            items each.
        output: A folder in which each cell's result is stored as Parquet, for the next run.
        execution: How many processes, whether to ignore stored results, and a callback for progress.
        rng: Seed of folds and random choices.
    """
    sets = _gather(data)
    asked = (approach,) if isinstance(approach, str) else tuple(approach)
    given = {
        "approach": asked or None,
        "amounts": None if amounts is None else tuple(amounts),
        "gold_items_only": gold_items_only or None,
        "folds": folds,
    }
    chosen = make_plan(SquarePlan, KIND, preset=preset, given=given).options
    if chosen.gold_items_only:
        sets = DataSets(tuple(member.only_gold_items() for member in sets), sets.notes)
    seed = settle_seed(rng)
    models = list({named.name: named for named in map(parse_model, chosen.approach)}.values())
    settings = list_settings(chosen.amounts)
    plan = [(member, named, setting) for member in sets for named in models for setting in settings]
    cells = [_make_cell(*where, chosen.folds, seed) for where in plan]
    home = None if output is None else Path(output) / "cells"
    outcomes = run_cells(cells, folder=home, execution=execution, context={member.name: member for member in sets})
    facts = tuple(_describe(member) for member in sets)
    results = tuple(
        CellResult(member.name, named.name, setting.supervision, setting.amount, outcome)
        for (member, named, setting), outcome in zip(plan, outcomes, strict=True)
    )
    about_data = [note.about(member.name) for member in facts for note in member.notes]
    notes = (*sets.notes, *about_data, *tell_cells(results), *tell_kept(outcomes), *tell_outcomes(outcomes))
    judges = tuple(JudgeFacts(member.name, *row) for member in sets for row in member.judges.iter_rows())
    return Benchmark(cells=results, data_sets=facts, judges=judges, seed=seed, notes=notes)


def list_settings(amounts: Sequence[int]) -> list[Setting]:
    """No gold; then light and full supervision with each amount."""
    for amount in amounts:
        count_parts(amount)
    return [Setting("none", 0), *(Setting(how, a) for how in ("light", "full") for a in sorted(set(amounts)))]


def _gather(data: PathLike | Iterable[PathLike] | DataSets | Iterable[DataSet]) -> DataSets:
    if isinstance(data, DataSets):
        return data
    if isinstance(data, str | Path):
        return read_data_sets(data)
    given = list(data) if isinstance(data, Iterable) else [data]
    members = [member for member in given if isinstance(member, DataSet)]
    paths = [path for path in given if not isinstance(path, DataSet)]
    if members and paths:
        raise OptionError("give either folders or data sets, not both")
    if not given:
        raise OptionError("no data sets were given; name folders with labels and gold")
    check_names([member.name for member in members])
    return DataSets(tuple(members)) if members else read_data_sets(paths)


def _describe(member: DataSet) -> DataSetFacts:
    return DataSetFacts(
        name=member.name,
        judgments=len(member.judgments.grade),
        judges=len(member.judgments.judges),
        items=len(member.judgments.item_topic),
        gold=len(member.items),
        scale=member.scale,
        notes=member.notes,
    )


def _make_cell(member: DataSet, named: NamedModel, setting: Setting, folds: Folds, seed: int) -> Cell:
    return Cell(
        name=f"{member.name}/{named.name}/{setting.name.replace(' ', '-')}",
        key={
            "experiment": "square",
            "data": member.digest,
            "model": repr(named.model),
            "supervision": setting.supervision,
            "amount": setting.amount,
            "folds": folds,
            "seed": seed,
        },
        work=partial(run_setting, name=member.name, named=named, setting=setting, folds=folds, seed=seed),
    )


def run_setting(
    sets: Mapping[str, DataSet], *, name: str, named: NamedModel, setting: Setting, folds: Folds, seed: int
) -> Finding:
    """Fit a model to a data set once, or once for each fold, and score the predictions for items with gold."""
    member = sets[name]
    _check_use(named, setting.supervision)
    predictions = _Predictions(member, folds)
    source = stream(seed, f"square/folds/{member.name}")
    for number, fold in enumerate(make_folds(member.items, setting.amount, source, folds)):
        seen = np.ones(len(member.gold), bool)
        seen[fold.hidden] = False
        posterior = named.model.fit(
            member.judgments.only_items(seen) if len(fold.hidden) else member.judgments,
            gold=member.training_gold(fold.training) if len(fold.training) else None,
            supervision=cast("Supervision", setting.supervision),
            rng=stream(seed, f"square/{member.name}/{named.name}/{setting.name}/{number}"),
        )
        random = getattr(named.model, "ties", "random") not in DECIDING
        predictions.keep(posterior, np.flatnonzero(seen), fold.kept, random=random)
    return predictions.finding()


def _check_use(named: NamedModel, supervision: str) -> None:
    """Refuse a supervision that the model does not have, or that is not the one in its name."""
    base = named.name.partition("(")[0]
    if named.supervision not in {None, supervision}:
        raise OptionError(f"its name asks for supervision {named.supervision} only")
    if supervision not in USES.get(base, ("none", "light", "full")) and not getattr(named.model, "learns", False):
        raise OptionError(f"{base} {NO_USE[base]}")


@dataclass(eq=False)
class _Predictions:
    """Predictions of several folds for the items with gold: one for each item, or one for each fold that keeps it."""

    member: DataSet
    folds: Folds

    def __post_init__(self) -> None:
        shape = len(self.member.gold), self.member.grades
        self.fits = np.zeros(shape[0], np.int64)
        self.fold = np.full(shape[0], -1, np.int16)
        self.probability, self.credit = np.zeros(shape), np.zeros(shape)
        self.grade = np.zeros(shape[0], np.int8)
        self.quality: list[tuple[float, float]] = []  # of each fold: accuracy and F1
        self.loose = 0
        self.adversaries: list[float] = []  # of each fold, if the model looks for them

    def keep(self, posterior: Posterior, seen: LongArray, kept: LongArray, *, random: bool) -> None:
        """Add the kept items, of those that the model has seen; if ties are broken at random, all tied grades win."""
        at = np.searchsorted(seen, kept)
        decided = posterior.grades[at, None] == np.arange(self.member.grades)
        credit = credit_winners(posterior.winners[at] if random else decided)
        gold = self.member.gold[kept]
        self.quality.append((accuracy(credit, gold), f1(credit, gold)))
        self.fold[kept] = len(self.quality) - 1
        self.fits[kept] += 1
        self.probability[kept] += posterior.probability[at]
        self.credit[kept] += credit
        self.grade[kept] = posterior.grades[at]
        self.loose += not posterior.converged
        if ADVERSARY in posterior.parameters:
            self.adversaries.append(float(posterior.parameters[ADVERSARY].sum()))

    def finding(self) -> Finding:
        """A row for each item, with grades as they were given, and the quality over all items or the mean of folds."""
        member, items = self.member, self.member.items
        fits = self.fits[items]
        assert fits.min() > 0
        scale = np.array(member.scale, np.int64)
        credit, gold = self.credit[items] / fits[:, None], member.gold[items]
        table = member.training_gold(items).to_frame().drop("judge", "grade")
        pooled = self.folds == "pooled"
        assert not pooled or fits.max() == 1
        grade = self.grade[items] if pooled else credit.argmax(axis=1)
        table = table.with_columns(
            pl.Series("gold", scale[gold]),
            pl.Series("grade", scale[grade]),
            _list_winners(self.credit[items], scale),
            pl.Series("fold", self.fold[items]) if pooled else pl.Series("fits", fits),
            *(pl.Series(f"p{g}", self.probability[items, k] / fits) for k, g in enumerate(member.scale)),
        )
        known = [value for _, value in self.quality if value == value]
        means = float(np.mean([right for right, _ in self.quality])), float(np.mean(known)) if known else math.nan
        values = (accuracy(credit, gold), f1(credit, gold)) if pooled else means
        facts = {
            "accuracy": values[0],
            "f1": values[1],
            "items": len(items),
            "tied": int((credit.max(axis=1) < 1).sum()),
            "folds": len(self.quality),
            "not_converged": self.loose,
        }
        if self.adversaries:
            facts["adversaries"] = float(np.mean(self.adversaries))
        return Finding(table, {name: value if value == value else None for name, value in facts.items()})


def _list_winners(credit: FloatArray, scale: LongArray) -> pl.Series:
    """The best grades of each item, as a column of lists in which a grade stands as often as its share requires."""
    parts = math.lcm(*range(1, credit.shape[1] + 1))  # of a credit, where that many grades can tie
    copies = np.round(credit * parts).astype(np.int64)
    copies //= np.gcd.reduce(copies, axis=1, keepdims=True)
    item, grade = np.nonzero(copies)
    times = copies[item, grade]
    pairs = pl.DataFrame({"item": np.repeat(item, times), "winners": np.repeat(scale[grade], times)})
    return pairs.group_by("item", maintain_order=True).agg("winners")["winners"]


def tell_cells(cells: Sequence[CellResult]) -> Iterator[Note]:
    """Cells that were skipped, and why, and models that did not converge."""
    skipped: dict[tuple[str, str], list[CellResult]] = {}
    for cell in cells:
        if cell.outcome.status == "skipped":
            skipped.setdefault((cell.approach, cell.outcome.reason), []).append(cell)
    everywhere = len({cell.data_set for cell in cells})
    for (approach, reason), found in skipped.items():
        sets = tuple(dict.fromkeys(cell.data_set for cell in found))
        *others, last = dict.fromkeys(cell.supervision for cell in found)
        how = f"{', '.join(others)} and {last}" if others else last
        if len(sets) == everywhere:
            yield tell("skipped", approach=approach, supervision=how, reason=reason)
        else:
            yield tell("skipped-on", approach=approach, data_sets=sets, supervision=how, reason=reason)
    for approach in dict.fromkeys(cell.approach for cell in cells):
        done = [cell.outcome.facts for cell in cells if cell.approach == approach and cell.outcome.status == "done"]
        fits, loose = (sum(int(facts.get(name) or 0) for facts in done) for name in ("folds", "not_converged"))
        yield from tell.when(loose, "loose", approach=approach, loose=loose, fits=fits)
        found = [cell for cell in cells if cell.approach == approach and "adversaries" in cell.outcome.facts]
        some = [cell.data_set for cell in found if cell.outcome.facts["adversaries"]]
        told = "; ".join(_count_adversaries(name, found) for name in dict.fromkeys(some))
        yield from tell.when(found, "adversaries", approach=approach, judges=told or "none")


def _count_adversaries(name: str, cells: Sequence[CellResult]) -> str:
    """On one data set: how many judges without gold, and with the least and the most of it."""
    number = {cell.setting: float(cell.outcome.facts["adversaries"] or 0) for cell in cells if cell.data_set == name}
    trained = [many for setting, many in number.items() if setting != "none"]
    parts = [f"{number['none']:.1f} without gold"] if "none" in number else []
    if trained:
        least, most = f"{min(trained):.1f}", f"{max(trained):.1f}"
        parts.append(f"{least if least == most else f'{least} to {most}'} with it")
    return f"{shorten(name)} {', '.join(parts)}"
