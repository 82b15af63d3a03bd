"""The SQUARE benchmark [SQUARE13]: data sets x consensus models x supervision, cross-validated against gold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl

from karatage.aggregation.registry import MODELS, NamedModel, parse_model
from karatage.comparison.classification import accuracy, credit_winners, f1
from karatage.data.axes import BoolArray, LongArray
from karatage.data.note import Note
from karatage.data.options import Supervision
from karatage.data.posterior import Posterior
from karatage.errors import OptionError
from karatage.experiments.engine import Cell, Execution, Finding, run_cells, tell_kept, tell_outcomes
from karatage.experiments.notes import tell
from karatage.experiments.square.data_sets import (
    DataSet,
    DataSets,
    check_names,
    count_parts,
    make_folds,
    read_data_sets,
)
from karatage.experiments.square.findings import Benchmark, CellResult, DataSetFacts, Setting
from karatage.io.files import PathLike
from karatage.random_streams import settle_seed, stream

APPROACHES = ("mv", "zc", "glad", "nb", "ds", "ry", "cubam")  # numbered as in [COLLAB14], table 2.3
AMOUNTS = (10, 20, 50, 80, 90)
# Supervision of models that do not have all three kinds.
USES = {"mv": ("none",), "nb": ("full",)}
NO_USE = {"mv": "does not learn from gold", "nb": "learns only from gold, and is tried only in full supervision"}
DECIDING = frozenset({"lowest", "highest", "prior"})  # tie rules that are not random


def benchmark(
    data: PathLike | Iterable[PathLike] | DataSets | Iterable[DataSet],
    *,
    approach: str | Sequence[str] = (),
    amounts: Sequence[int] = AMOUNTS,
    output: PathLike | None = None,
    execution: Execution | None = None,
    rng: int | np.random.Generator | None = 0,
) -> Benchmark:
    """Try models on data sets with gold: without gold, and with part of it in light and in full supervision.

    Args:
        data: Folders, as `read_data_sets` takes them, or data sets.
        approach: Models by name, with options; default: those of the thesis.
        amounts: Percentages of gold to train on, over folds; none for unsupervised runs only.
        output: A folder in which each cell's result is stored as Parquet, for the next run.
        execution: How many processes, whether to ignore stored results, and a callback for progress.
        rng: Seed of folds and random choices.
    """
    sets = _gather(data)
    seed = settle_seed(rng)
    asked = (approach,) if isinstance(approach, str) else tuple(approach)
    models = _parse_models(asked or [a for a in APPROACHES if a in MODELS])
    settings = list_settings(amounts)
    plan = [(member, named, setting) for member in sets for named in models for setting in settings]
    cells = [_make_cell(*where, seed) for where in plan]
    home = None if output is None else Path(output) / "cells"
    outcomes = run_cells(cells, folder=home, execution=execution, context={member.name: member for member in sets})
    facts = tuple(_describe(member) for member in sets)
    results = tuple(
        CellResult(member.name, named.name, setting.supervision, setting.amount, outcome)
        for (member, named, setting), outcome in zip(plan, outcomes, strict=True)
    )
    about_data = [note.about(member.name) for member in facts for note in member.notes]
    notes = (*sets.notes, *about_data, *tell_cells(results), *tell_kept(outcomes), *tell_outcomes(outcomes))
    return Benchmark(cells=results, data_sets=facts, seed=seed, notes=notes)


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


def _parse_models(names: Sequence[str]) -> list[NamedModel]:
    models = list({named.name: named for named in map(parse_model, names)}.values())
    fixed = next((named.name for named in models if named.supervision is not None), None)
    if fixed is not None:
        raise OptionError(f"approach '{fixed}': the benchmark tries every supervision; leave it out of the name")
    return models


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


def _make_cell(member: DataSet, named: NamedModel, setting: Setting, seed: int) -> Cell:
    return Cell(
        name=f"{member.name}/{named.name}/{setting.name.replace(' ', '-')}",
        key={
            "experiment": "square",
            "data": member.digest,
            "model": repr(named.model),
            "supervision": setting.supervision,
            "amount": setting.amount,
            "seed": seed,
        },
        work=partial(run_setting, name=member.name, named=named, setting=setting, seed=seed),
    )


def run_setting(sets: Mapping[str, DataSet], *, name: str, named: NamedModel, setting: Setting, seed: int) -> Finding:
    """Fit a model to a data set once, or once for each fold, and keep one prediction for every item with gold."""
    member = sets[name]
    base = named.name.partition("(")[0]
    learns = getattr(named.model, "ties", None) == "prior"
    if setting.supervision not in USES.get(base, ("none", "light", "full")) and not learns:
        raise OptionError(f"{base} {NO_USE[base]}")
    predictions = _Predictions(member)
    for number, (training, kept) in enumerate(_split(member, setting, seed)):
        posterior = named.model.fit(
            member.judgments,
            gold=member.training_gold(training) if len(training) else None,
            supervision=cast("Supervision", setting.supervision),
            rng=stream(seed, f"square/{member.name}/{named.name}/{setting.name}/{number}"),
        )
        predictions.keep(posterior, kept, number, random=getattr(named.model, "ties", "random") not in DECIDING)
    return predictions.finding()


def _split(member: DataSet, setting: Setting, seed: int) -> Iterator[tuple[LongArray, LongArray]]:
    """Training items and kept items of each fold; the same folds for all models."""
    if setting.supervision == "none":
        yield np.empty(0, np.int64), member.items
        return
    for fold in make_folds(member.items, setting.amount, stream(seed, f"square/folds/{member.name}")):
        yield fold.training, fold.kept


@dataclass(eq=False)
class _Predictions:
    """Predictions of several folds, pooled."""

    member: DataSet

    def __post_init__(self) -> None:
        items = len(self.member.gold)
        self.fold = np.full(items, -1, np.int16)
        self.probability = np.zeros((items, self.member.grades))
        self.winners: BoolArray = np.zeros((items, self.member.grades), bool)
        self.grade = np.zeros(items, np.int8)
        self.loose = 0

    def keep(self, posterior: Posterior, kept: LongArray, number: int, *, random: bool) -> None:
        """Add the kept items; if ties are broken at random, all tied grades win."""
        assert (self.fold[kept] < 0).all()
        self.fold[kept] = number
        self.probability[kept] = posterior.probability[kept]
        self.grade[kept] = posterior.grades[kept]
        decided = posterior.grades[kept, None] == np.arange(self.member.grades)
        self.winners[kept] = posterior.winners[kept] if random else decided
        self.loose += not posterior.converged

    def finding(self) -> Finding:
        """A row for each item, with grades as they were given, and the quality over all items."""
        member, items = self.member, self.member.items
        assert (self.fold[items] >= 0).all()
        scale = np.array(member.scale, np.int64)
        credit, gold = credit_winners(self.winners[items]), member.gold[items]
        tied = self.winners[items]
        table = member.training_gold(items).to_frame().drop("judge", "grade")
        table = table.with_columns(
            pl.Series("gold", scale[gold]),
            pl.Series("grade", scale[self.grade[items]]),
            _list_winners(tied, scale),
            pl.Series("fold", self.fold[items]),
            *(pl.Series(f"p{g}", self.probability[items, k]) for k, g in enumerate(member.scale)),
        )
        facts = {
            "accuracy": accuracy(credit, gold),
            "f1": f1(credit, gold),
            "items": len(items),
            "tied": int((tied.sum(axis=1) > 1).sum()),
            "folds": int(self.fold.max()) + 1,
            "not_converged": self.loose,
        }
        return Finding(table, {name: value if value == value else None for name, value in facts.items()})


def _list_winners(winners: BoolArray, scale: LongArray) -> pl.Series:
    """The tied best grades of each item, as a column of lists."""
    item, grade = np.nonzero(winners)
    pairs = pl.DataFrame({"item": item, "winners": scale[grade]})
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
        how = " and ".join(dict.fromkeys(cell.supervision for cell in found))
        if len(sets) == everywhere:
            yield tell("skipped", approach=approach, supervision=how, reason=reason)
        else:
            yield tell("skipped-on", approach=approach, data_sets=sets, supervision=how, reason=reason)
    for approach in dict.fromkeys(cell.approach for cell in cells):
        done = [cell.outcome.facts for cell in cells if cell.approach == approach and cell.outcome.status == "done"]
        fits, loose = (sum(int(facts.get(name) or 0) for facts in done) for name in ("folds", "not_converged"))
        yield from tell.when(loose, "loose", approach=approach, loose=loose, fits=fits)
