"""The s-AWARE experiment [SAWARE20]: does gold on a few topics tell which judges to trust on the others?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from karatage.data.alignment import align
from karatage.data.axes import LongArray
from karatage.data.judgments import Judgments
from karatage.data.partition import Partition, assemble_judges
from karatage.errors import DataError, OptionError
from karatage.experiments.collection import Collection, fingerprint, sample_tuples
from karatage.experiments.engine import Cell, Execution, Fact, Finding, require_done, run_cells, tell_run
from karatage.experiments.panels import WHOLE
from karatage.experiments.supervised.findings import Place, SupervisedFindings
from karatage.experiments.supervised.judges import Ground, Judges
from karatage.experiments.supervised.plan import Configuration, SupervisedPlan
from karatage.experiments.supervised.samples import Sample, draw_splits, rate_samples
from karatage.experiments.supervised.telling import tell_samples
from karatage.io.files import PathLike
from karatage.random_streams import stream
from karatage.simulation.panel import partition_judges
from karatage.text import counted

BLOCK = 25  # samples to a cell, which then takes seconds


@dataclass(frozen=True, eq=False)
class Setting:
    """A place as cells need it; without judges, each sample puts its own together from the panel."""

    ground: Ground
    panel: Judgments
    judges: Judges | None
    sizes: tuple[int, ...]


Settings = Mapping[Place, Setting]


def experiment_supervised(
    collection: Collection,
    plan: SupervisedPlan | None = None,
    *,
    output: PathLike | None = None,
    execution: Execution | None = None,
) -> SupervisedFindings:
    """Try approaches with and without gold on k-tuples of a collection's judges, the same ones for all approaches.

    Judges who all graded (nearly) everything are tried whole, and partitioned: each topic's grades come from several of
    them. Where some graded less, they are people who are put together into judges, and only partitioned ones are tried.

    Args:
        collection: Systems, panels of judges and gold, as `read_collection` returns them.
        plan: What is tried; default: the paper's design in full.
        output: A folder in which each cell's result is kept as Parquet, and found again by the next run.
        execution: How many processes, whether to begin afresh, and a callback for progress.
    """
    asked = plan or SupervisedPlan()
    notes = dict.fromkeys(collection.notes)
    settings = dict(_prepare(collection, asked, notes))
    cells = list(_list_cells(settings, fingerprint(collection), asked))
    home = None if output is None else Path(output) / "cells"
    outcomes = run_cells([cell for _, cell in cells], folder=home, execution=execution, context=settings)
    require_done(outcomes)
    frame = pl.concat(
        [
            outcome.table.select(*(pl.lit(v).alias(k) for k, v in {**place._asdict(), "size": size}.items()), pl.all())
            for ((place, size), _), outcome in zip(cells, outcomes, strict=True)
        ]
    ).with_columns(pl.col("size").cast(pl.Int64))
    if not len(frame):
        raise DataError("no k-tuple graded a document that is evaluated; ask for larger sizes")
    notes |= dict.fromkeys(tell_samples(frame, asked))
    return SupervisedFindings(
        plan=asked,
        collection=collection.name,
        frame=frame,
        notes=tuple(notes),
        log=tell_run(outcomes),
    )


def _prepare(collection: Collection, plan: SupervisedPlan, notes: dict[str, None]) -> Iterator[tuple[Place, Setting]]:
    """Every place with its judges, as far as they are the same for all samples; what cannot be tried is noted."""
    for systems, runs in collection.runs.items():
        alignment = align(runs, collection.gold)
        if len(alignment.systems) < 2:
            raise DataError(f"'{systems}' has one system only, and a ranking takes two")
        notes |= dict.fromkeys(map(str, alignment.notes))
        ground = None
        for name, panel in collection.panels.items():
            ground = Ground.of(alignment, collection.gold, panel, plan, like=ground)
            left = len(collection.gold.grade) - len(ground.gold.grade)
            if left:
                notes[f"panel '{name}': {counted(left, 'document')} of gold's that no judge graded, left out"] = None
            for configuration in _find_configurations(name, panel, plan, notes):
                place = Place(systems, name, configuration)
                yield place, _make_setting(place, ground, panel, plan, notes)


def _find_configurations(
    name: str, panel: Judgments, plan: SupervisedPlan, notes: dict[str, None]
) -> Iterator[Configuration]:
    for configuration in plan.configurations:
        if configuration == "partitioned" or _is_whole(panel):
            yield configuration
        elif "partitioned" in plan.configurations:
            notes[f"panel '{name}': judges graded parts only, so there are no whole ones to try"] = None
        else:
            raise OptionError(f"panel '{name}': judges graded parts only; ask for the partitioned configuration")


def _is_whole(panel: Judgments) -> bool:
    graded = np.bincount(panel.judge, minlength=len(panel.judges))
    return bool((graded >= WHOLE * len(panel.item_topic)).all())


def _make_setting(
    place: Place, ground: Ground, panel: Judgments, plan: SupervisedPlan, notes: dict[str, None]
) -> Setting:
    if place.configuration == "whole":
        part = Partition(judgments=panel, people=panel.judges, person=panel.judge)
    elif _is_whole(panel):
        return Setting(ground, panel, None, _find_sizes(place, len(panel.judges), plan, notes))
    else:
        part = assemble_judges(panel)
        notes |= dict.fromkeys(str(note) for note in part.judgments.notes if note not in panel.notes)
    sizes = _find_sizes(place, len(part.judgments.judges), plan, notes)
    return Setting(ground, panel, Judges.of(ground, [part], plan), sizes)


def _find_sizes(place: Place, judges: int, plan: SupervisedPlan, notes: dict[str, None]) -> tuple[int, ...]:
    sizes = tuple(size for size in plan.sizes if size <= judges)
    lost = ", ".join(str(size) for size in plan.sizes if size > judges)
    told = f"{', '.join(place)}: k-tuples of {lost} cannot be drawn from {counted(judges, 'judge')}"
    if not sizes:
        raise OptionError(f"{told}; give smaller sizes")
    if lost:
        notes[f"{told}, left out"] = None
    return sizes


def _draw_tuples(judges: int, size: int, plan: SupervisedPlan) -> LongArray:
    """A k-tuple for each sample; where there are fewer, they come again, with other splits of gold."""
    found = sample_tuples(judges, size, plan.samples, stream(plan.seed, f"k-tuples of {size}"))
    chosen: LongArray = found[np.arange(plan.samples) % len(found)].astype(np.int64)
    return chosen


def _list_cells(settings: Settings, digest: str, plan: SupervisedPlan) -> Iterator[tuple[tuple[Place, int], Cell]]:
    """Blocks of samples; what they find depends on the seed and their numbers, not on how they are cut."""
    decides = ("measures", "samples", "replicates", "training", "people", "seed")
    about: dict[str, Fact] = {name: repr(getattr(plan, name)) for name in (*decides, "ways")}
    for place, setting in settings.items():
        for size in setting.sizes:
            for first in range(0, plan.samples, BLOCK):
                last = min(first + BLOCK, plan.samples)
                here: dict[str, Fact] = {**place._asdict(), "size": size, "first": first, "last": last}
                yield (
                    (place, size),
                    Cell(
                        name=f"{'-'.join(place)} size={size} {first + 1}-{last}",
                        key={"experiment": "supervised", "collection": digest, **about, **here},
                        work=partial(try_block, place, size, range(first, last), plan),
                    ),
                )


def try_block(place: Place, size: int, numbers: Sequence[int], plan: SupervisedPlan, settings: Settings) -> Finding:
    """How near every approach comes to gold in some samples of a place and size."""
    setting = settings[place]
    ground, judges = setting.ground, setting.judges
    if judges is None:
        judges = Judges.of(ground, [_put_together(setting.panel, size, number, plan) for number in numbers], plan)
        chosen = np.arange(len(numbers) * size).reshape(-1, size)
    else:
        chosen = _draw_tuples(judges.said.shape[1], size, plan)[list(numbers)]
    splits = draw_splits(ground, size, numbers, plan)
    samples = [Sample(number, *drawn) for number, drawn in zip(numbers, zip(chosen, splits, strict=True), strict=True)]
    return Finding(rate_samples(ground, judges, samples, plan))


def _put_together(panel: Judgments, size: int, number: int, plan: SupervisedPlan) -> Partition:
    """The judges of a sample, each of them several people in every topic."""
    rng = stream(plan.seed, f"supervised people {size} {number}")
    return partition_judges(panel, judges=size, people=plan.people, rng=rng)
