"""Benchmarks, read back without the predictions of single items."""

from __future__ import annotations

from dataclasses import replace
from typing import cast, get_args

from karatage.data.entries import Entries
from karatage.data.from_json import read_table
from karatage.experiments.engine import Fact, Outcome, Status
from karatage.experiments.square.findings import LEVEL, QUALITIES, Benchmark, CellResult, DataSetFacts

COUNTS = ("items", "tied", "folds", "not_converged")


def read(entries: Entries) -> Benchmark:
    """What `Benchmark.to_dict` says."""
    found = Benchmark(
        cells=tuple(map(_read_cell, entries.objects("cells"))),
        data_sets=tuple(map(_read_facts, entries.objects("data_sets"))),
        seed=entries.whole("seed"),
        notes=entries.texts("notes"),
        versions=entries.object("versions").all_texts(),
    )
    return replace(found, races={(found.usual_amount, LEVEL): read_table(entries, "race")})


def _read_cell(entries: Entries) -> CellResult:
    facts: dict[str, Fact] = {name: entries.number_or_none(name) for name in QUALITIES}
    for name in COUNTS:
        facts[name] = None if entries.get(name) is None else entries.whole(name)
    outcome = Outcome(
        name=f"{entries.text('data_set')}/{entries.text('approach')}",
        status=cast("Status", entries.choice("status", get_args(Status))),
        reason=entries.text("reason"),
        seconds=entries.number("seconds"),
        facts=facts,
    )
    return CellResult(
        data_set=entries.text("data_set"),
        approach=entries.text("approach"),
        supervision=entries.text("supervision"),
        amount=entries.whole("amount"),
        outcome=outcome,
    )


def _read_facts(entries: Entries) -> DataSetFacts:
    scale = entries.numbers("scale", len(entries.several("scale")))
    return DataSetFacts(
        name=entries.text("name"),
        judgments=entries.whole("judgments"),
        judges=entries.whole("judges"),
        items=entries.whole("items"),
        gold=entries.whole("gold"),
        scale=tuple(map(int, scale)),
        notes=entries.texts("notes"),
    )
