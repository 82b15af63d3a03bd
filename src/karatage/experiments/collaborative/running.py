"""The collaborative experiment [COLLAB14]: when does a crowd beside experts beat experts alone at the same cost?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import polars as pl

from karatage.data.arguments import require_data
from karatage.data.checks import find_schema
from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.errors import OptionError
from karatage.experiments.collaborative.cells import LOOSE, try_crowd, try_finding, try_mixes, try_order
from karatage.experiments.collaborative.findings import STUDIES, CollaborativeFindings
from karatage.experiments.collaborative.ground import Ground
from karatage.experiments.collaborative.plan import CollaborativePlan, find_crowd
from karatage.experiments.collection import Collection, fingerprint
from karatage.experiments.engine import Cell, Execution, Fact, Outcome, require_done, run_cells, tell_run
from karatage.io.files import PathLike
from karatage.io.models import read_disagreement
from karatage.orders.disagreement import predict_disagreement
from karatage.text import counted

DISAGREEMENT = "disagreement"
FEW_TOPICS = 25
SCHEMAS = {study: pl.Schema(find_schema(columns)) for study, columns in STUDIES.items()}


class _Piece(NamedTuple):
    """A cell, the table it adds to, and what tells its rows there from others."""

    kind: str
    about: dict[str, str | int]
    cell: Cell


def experiment_collaborative(
    runs: Runs,
    gold: Judgments,
    plan: CollaborativePlan | None = None,
    *,
    output: PathLike | None = None,
    execution: Execution | None = None,
) -> CollaborativeFindings:
    """Let experts judge the top of a queue and a simulated crowd the next part; compare with experts judging all.

    Gold plays the experts, whose word is final; documents without gold are not in the pool.

    Args:
        runs: The systems.
        gold: What experts say of the pool's documents.
        plan: What is studied; default: the thesis' design.
        output: A folder in which each cell's result is kept as Parquet, and found again by the next run.
        execution: How many processes, whether to begin afresh, and a callback for progress.
    """
    require_data(runs=runs, gold=gold)
    asked = plan or CollaborativePlan()
    ground, notes = _prepare(runs, gold, asked)
    pieces = list(_list_pieces(ground, _describe(ground, runs)))
    home = None if output is None else Path(output) / "cells"
    outcomes = run_cells([piece.cell for piece in pieces], folder=home, execution=execution, context=ground)
    require_done(outcomes)
    areas = [
        {**piece.about, **outcome.facts}
        for piece, outcome in zip(pieces, outcomes, strict=True)
        if piece.kind == "finding"
    ]
    tables = {kind: _stack(kind, pieces, outcomes) for kind in SCHEMAS}
    return CollaborativeFindings(
        plan=ground.plan,
        items=ground.items,
        relevant=float((ground.grade > 0).mean()),
        topics=len(ground.alignment.topics),
        systems=len(ground.alignment.systems),
        orders=tables["orders"],
        finding=tables["finding"],
        mixes=tables["mixes"],
        quality=tables["quality"],
        areas=pl.DataFrame(areas),
        notes=tuple(dict.fromkeys([*notes, *_tell(ground, outcomes)])),
        log=tell_run(outcomes),
    )


def _prepare(runs: Runs, gold: Judgments, plan: CollaborativePlan) -> tuple[Ground, list[str]]:
    notes = []
    if DISAGREEMENT in plan.orders and plan.disagreement is None:
        left = tuple(name for name in plan.orders if name != DISAGREEMENT)
        if not left:
            raise OptionError("the order 'disagreement' needs a model; learn one and give its file")
        plan = replace(plan, orders=left)
        notes.append("the order 'disagreement' is left out, since no model of disagreement was given")
    names = dict.fromkeys([*plan.crowds, *plan.tabled])
    ground = Ground.of(runs, gold, plan, {name: find_crowd(name) for name in names})
    notes += [*ground.gold.notes, *ground.alignment.notes]
    if plan.disagreement is None:
        return ground, notes
    model = read_disagreement(plan.disagreement)
    if model.feature_set == "votes":
        raise OptionError("the model of disagreement looks at judgments so far, and here are none; learn one from runs")
    return replace(ground, disagreement=predict_disagreement(model, runs, ground.gold)), notes


def _describe(ground: Ground, runs: Runs) -> dict[str, Fact]:
    """What decides every cell's result."""
    plan = ground.plan
    content = Collection(name="", runs={"": runs}, panels={}, gold=ground.gold)
    return {
        "experiment": "collaborative",
        "collection": fingerprint(content),
        "measure": plan.measure,
        "resamples": plan.resamples,
        "seed": plan.seed,
    }


def _list_pieces(ground: Ground, about: dict[str, Fact]) -> Iterator[_Piece]:
    plan = ground.plan
    for sample in range(1, plan.samples + 1):
        for order in plan.orders:
            here: dict[str, str | int] = {"order": order, "sample": sample}
            key = {**about, **here, "disagreement": _digest(ground) if order == DISAGREEMENT else None}
            name = f"{order} {sample}"
            if "orders" in plan.studies:
                more: dict[str, Fact] = {"study": "orders", "experts": repr(plan.expert_shares)}
                work = partial(try_order, order, sample)
                yield _Piece("orders", here, Cell(name=f"orders {name}", key={**key, **more}, work=work))
            if {"finding", "shares"} & set(plan.studies):  # mixes are held against that curve, too
                work = partial(try_finding, order, sample)
                yield _Piece("finding", here, Cell(name=f"finding {name}", key={**key, "study": "finding"}, work=work))
            for crowd in plan.crowds if plan.mixes else ():
                mixed: dict[str, Fact] = {
                    "study": "mixes",
                    "mixes": repr(plan.mixes),
                    "prices": repr(plan.label_prices),
                }
                work = partial(try_mixes, order, crowd, sample)
                cell = Cell(name=f"mixes {crowd} {name}", key={**key, **mixed, **_know(ground, crowd)}, work=work)
                yield _Piece("mixes", {"order": order, "crowd": crowd, "sample": sample}, cell)
        for crowd in plan.tabled:
            tried: dict[str, Fact] = {"study": "quality", "approaches": repr(plan.approaches), "sample": sample}
            work = partial(try_crowd, crowd, sample)
            cell = Cell(name=f"quality {crowd} {sample}", key={**about, **tried, **_know(ground, crowd)}, work=work)
            yield _Piece("quality", {"crowd": crowd, "sample": sample}, cell)


def _know(ground: Ground, crowd: str) -> dict[str, Fact]:
    content = ground.crowds[crowd].to_json()
    return {"crowd": crowd, "model": hashlib.sha256(content.encode()).hexdigest(), "per_item": ground.plan.per_item}


def _digest(ground: Ground) -> str | None:
    return None if ground.disagreement is None else hashlib.sha256(ground.disagreement.tobytes()).hexdigest()


def _stack(kind: str, pieces: Sequence[_Piece], outcomes: Sequence[Outcome]) -> pl.DataFrame:
    """The tables of all cells of a kind, with what tells them apart."""
    tables = [
        outcome.table.select(*(pl.lit(value).alias(name) for name, value in piece.about.items()), pl.all())
        for piece, outcome in zip(pieces, outcomes, strict=True)
        if piece.kind == kind
    ]
    return pl.concat([table.cast(SCHEMAS[kind]) for table in tables]) if tables else pl.DataFrame(schema=SCHEMAS[kind])


def _tell(ground: Ground, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Doubts about what was found."""
    plan, topics = ground.plan, len(ground.alignment.topics)
    yield (
        f"intervals over samples are about other crowds (n = {plan.samples}) on the same documents; other topics are "
        "another doubt"
        + (f", which intervals over {topics} topics tell" if plan.resamples > 1 else ", told with resamples above 1")
    )
    if topics < FEW_TOPICS:
        yield f"{counted(topics, 'topic')} are few: on others, orders and mixes may compare otherwise"
    if ground.missed:
        yield f"{counted(ground.missed, 'document')} of the pool are in no ranking and come last in every order"
    fits: dict[str, list[int]] = {}
    for outcome in outcomes:
        for fact, count in outcome.facts.items():
            if fact.startswith(LOOSE):
                fits.setdefault(fact.removeprefix(LOOSE), []).append(int(count or 0))
    for approach, counts in fits.items():
        if any(counts):
            yield f"{approach} did not converge in {counted(sum(counts), 'fit')}"
