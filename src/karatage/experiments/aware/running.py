"""The AWARE experiment [AWARE17]: which approach comes nearest to gold's leaderboard with k judges out of many?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from karatage.data.axes import FloatArray, LongArray
from karatage.experiments.aware.analysis import label_measures
from karatage.experiments.aware.cells import OUTCOMES, Ground, try_block, weigh_panel
from karatage.experiments.aware.findings import AwareFindings
from karatage.experiments.aware.plan import AwarePlan
from karatage.experiments.collection import Collection, draw_tuples, fingerprint
from karatage.experiments.engine import Cell, Execution, Fact, Outcome, require_done, run_cells, tell_run
from karatage.experiments.square.telling import list_ranges
from karatage.io.files import PathLike
from karatage.measures.registry import parse_measure
from karatage.text import counted

BLOCK = 100  # k-tuples to a cell, which then takes seconds
Place = tuple[str, int, tuple[int, int]]  # panel, size, first and last k-tuple


def experiment_aware(
    collection: Collection,
    plan: AwarePlan | None = None,
    *,
    output: PathLike | None = None,
    execution: Execution | None = None,
) -> AwareFindings:
    """Try approaches on k-tuples of a collection's judges, the same ones for all approaches.

    Args:
        collection: Systems, panels of judges and gold, as `read_collection` returns them.
        plan: What is tried; default: the paper's design with fewer samples.
        output: A folder in which each cell's result is kept as Parquet, and found again by the next run.
        execution: How many processes, whether to begin afresh, and a callback for progress.
    """
    asked, how = plan or AwarePlan(), execution or Execution()
    contenders = asked.find_contenders()
    measures = tuple(str(parse_measure(name)) for name in asked.measures)
    tuples = draw_tuples(len(collection.judges), asked.find_sizes(len(collection.judges)), asked.samples, asked.seed)
    ground = Ground.of(collection, contenders, measures, tuples, asked.seed)
    home = None if output is None else Path(output) / "cells"
    about: dict[str, Fact] = {
        "experiment": "aware",
        "collection": fingerprint(collection),
        "measures": repr(measures),
        "contenders": repr(contenders),
        "seed": asked.seed,
    }
    pairs = [(systems, panel) for systems in ground.alignments for panel in ground.panels]
    weighing = [
        Cell(
            name=f"weights {systems} {panel}",
            key={**about, "systems": systems, "panel": panel},
            work=partial(weigh_panel, systems, panel),
        )
        for systems, panel in pairs
    ]
    places = [
        (panel, size, (first, min(first + BLOCK, len(members))))
        for panel in ground.panels
        for size, members in tuples.items()
        for first in range(0, len(members), BLOCK)
    ]
    trying = [
        Cell(
            name=f"{panel} size={size} {rows[0] + 1}-{rows[1]}",
            key={**about, "panel": panel, "size": size, "first": rows[0], "last": rows[1], "samples": asked.samples},
            work=partial(try_block, panel, size, rows),
        )
        for panel, size, rows in places
    ]
    total = len(weighing) + len(trying)
    weighed = run_cells(weighing, folder=home, execution=_shift(how, 0, total), context=ground)
    require_done(weighed)
    tables = {pair: outcome.table for pair, outcome in zip(pairs, weighed, strict=True)}
    ground = ground.with_weights(tables)
    tried = run_cells(trying, folder=home, execution=_shift(how, len(weighing), total), context=ground)
    require_done(tried)
    mean, covariance = _summarise(places, tried, ground)
    findings = AwareFindings(
        plan=asked,
        collection=collection.name,
        judges=collection.judges,
        systems=tuple(ground.alignments),
        panels=tuple(ground.panels),
        measures=measures,
        sizes=tuple(tuples),
        samples=np.array([len(members) for members in tuples.values()]),
        mean=mean,
        covariance=covariance,
        notes=(
            *collection.notes,
            *_tell_labels(measures),
            *_tell_sizes(asked, len(collection.judges)),
            *_tell_ground(ground, weighed),
            *_tell_tuples(tuples, len(collection.judges)),
        ),
        log=tell_run([*weighed, *tried]),
    )
    return replace(findings, notes=(*findings.notes, *findings.analyses.notes))


def _shift(how: Execution, before: int, total: int) -> Execution:
    """Progress that counts other cells, too."""
    told = how.progress
    if told is None:
        return how
    return replace(how, progress=lambda done, _, name: told(before + done, total, name))


def _summarise(places: Sequence[Place], tried: Sequence[Outcome], ground: Ground) -> tuple[FloatArray, FloatArray]:
    """Means over k-tuples (systems, panel, measure, size, outcome, approach), and covariances (..., approach)."""
    panels, sizes = list(ground.panels), list(ground.tuples)
    names = [contender.name for contender in ground.contenders]
    lead = len(ground.alignments), len(panels), len(ground.measures), len(sizes), len(OUTCOMES)
    mean = np.empty((*lead, len(names)))
    covariance = np.full((*lead, len(names), len(names)), np.nan)
    parts: dict[tuple[str, int], list[FloatArray]] = {}
    for (panel, size, (first, last)), outcome in zip(places, tried, strict=True):
        shape = lead[0], lead[2], lead[4], last - first, len(names)
        parts.setdefault((panel, size), []).append(outcome.table.select(names).to_numpy().reshape(shape))
    for (panel, size), found in parts.items():
        value = np.concatenate(found, axis=3)  # (systems, measure, outcome, sample, approach)
        p, k, count = panels.index(panel), sizes.index(size), value.shape[3]
        centre = value.mean(axis=3)
        mean[:, p, :, k] = centre
        if count > 1:
            rest = value - centre[:, :, :, None]
            covariance[:, p, :, k] = np.einsum("smonx,smony->smoxy", rest, rest) / (count - 1)
    return mean, covariance


def _tell_ground(ground: Ground, weighed: Sequence[Outcome]) -> list[str]:
    told = dict.fromkeys(str(note) for alignment in ground.alignments.values() for note in alignment.notes)
    dull = sum(int(outcome.facts.get("dull") or 0) for outcome in weighed)
    if dull:
        told[
            f"{counted(dull, 'time')} all systems score the same under a judge, who then has no weight in that topic "
            "under tpc estimators"
        ] = None
    return list(told)


def _tell_labels(measures: Sequence[str]) -> list[str]:
    """Names in tables and charts are short, which may be those of other measures."""
    return [f"{label} stands for {name}" for name, label in label_measures(measures).items() if label != name]


def _tell_sizes(plan: AwarePlan, judges: int) -> list[str]:
    large = [size for size in plan.sizes if size > judges]
    return [f"k-tuples of {list_ranges(large)} cannot be drawn from {judges} judges, left out"] if large else []


def _tell_tuples(tuples: Mapping[int, LongArray], judges: int) -> list[str]:
    every = [size for size, members in tuples.items() if len(members) == math.comb(judges, size)]
    what = "every k-tuple of these judges was tried, so that intervals have no width"
    return (
        [f"with {list_ranges(every)} judges {what}; other judges or topics would give other numbers"] if every else []
    )
