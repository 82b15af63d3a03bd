"""The random relevance experiment [RANDREL19]: do doubts about single grades, and merging by probabilities, help?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from karatage.data.axes import LongArray
from karatage.experiments.collection import Collection, draw_tuples, fingerprint
from karatage.experiments.engine import Cell, Execution, Fact, Outcome, require_done, run_cells, tell_run
from karatage.experiments.random_relevance.cells import Ground, check_expected, rate_block, rate_judges
from karatage.experiments.random_relevance.findings import RandomRelevanceFindings
from karatage.experiments.random_relevance.plan import RandomRelevancePlan
from karatage.io.files import PathLike
from karatage.text import counted, shorten

BLOCK = 10  # k-tuples to a cell, which then takes seconds


def experiment_random_relevance(
    collection: Collection,
    plan: RandomRelevancePlan | None = None,
    *,
    output: PathLike | None = None,
    execution: Execution | None = None,
) -> RandomRelevanceFindings:
    """Hold judges alone, and k-tuples merged by grades, by scores and by probabilities, against gold.

    Args:
        collection: Systems, panels of judges and gold, as `read_collection` returns them.
        plan: What is tried; default: the paper's design.
        output: A folder in which each cell's result is kept as Parquet, and found again by the next run.
        execution: How many processes, whether to begin afresh, and a callback for progress.
    """
    asked = plan or RandomRelevancePlan()
    tuples = draw_tuples(len(collection.judges), asked.find_sizes(len(collection.judges)), asked.samples, asked.seed)
    ground = Ground.of(collection, asked, tuples)
    kinds = _make_cells(ground, fingerprint(collection))
    cells = [cell for kind in kinds.values() for cell in kind]
    home = None if output is None else Path(output) / "cells"
    outcomes = run_cells(cells, folder=home, execution=execution, context=ground)
    require_done(outcomes)
    by_name = {outcome.name: outcome for outcome in outcomes}
    tables = {kind: [by_name[cell.name].table for cell in members] for kind, members in kinds.items()}
    return RandomRelevanceFindings(
        plan=asked,
        collection=collection.name,
        judges=collection.judges,
        frame=pl.concat([*tables["judges"], *tables["tuples"]]),
        check=pl.concat(tables["check"]) if tables["check"] else pl.DataFrame(),
        tuples=_list_tuples(tuples, collection.judges),
        notes=tuple(dict.fromkeys([*collection.notes, *_tell(ground, outcomes)])),
        log=tell_run(outcomes),
    )


def _make_cells(ground: Ground, digest: str) -> dict[str, list[Cell]]:
    plan = ground.plan
    about: dict[str, Fact] = {
        "experiment": "random relevance",
        "collection": digest,
        "measures": repr(ground.measures),
        "certainty": plan.certainty,
        "seed": plan.seed,
    }
    cells: dict[str, list[Cell]] = {"judges": [], "check": [], "tuples": []}
    for panel in ground.panels:
        here = {**about, "panel": panel}
        cells["judges"].append(Cell(name=f"{panel} judges", key=here, work=partial(rate_judges, panel)))
        if plan.draws:
            key = {**here, "draws": plan.draws, "sizes": repr(tuple(ground.tuples)), "samples": plan.samples}
            cells["check"].append(Cell(name=f"{panel} check", key=key, work=partial(check_expected, panel)))
        for size, members in ground.tuples.items():
            for first in range(0, len(members), BLOCK):
                rows = first, min(first + BLOCK, len(members))
                key = {**here, "approaches": repr(plan.find_merges()), "samples": plan.samples}
                name = f"{panel} size={size} {rows[0] + 1}-{rows[1]}"
                cells["tuples"].append(Cell(name=name, key=key, work=partial(rate_block, panel, size, rows)))
    return cells


def _list_tuples(tuples: Mapping[int, LongArray], judges: tuple[str, ...]) -> pl.DataFrame:
    rows = [
        (size, sample, judges[k])
        for size, members in tuples.items()
        for sample, panel in enumerate(members, 1)
        for k in panel
    ]
    schema = {"size": pl.Int32, "sample": pl.Int32, "judge": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _tell(ground: Ground, outcomes: Sequence[Outcome]) -> Iterator[str]:
    plan = ground.plan
    yield from (str(note) for alignment in ground.alignments.values() for note in alignment.notes)
    judges = len(next(iter(ground.panels.values())).judges)
    large = [str(size) for size in sorted(plan.sizes) if size not in ground.tuples]
    if large:
        yield f"sizes that include all of {counted(judges, 'judge')}, not tried: {', '.join(large)}"
    few = [f"{len(members)} of {size}" for size, members in ground.tuples.items() if len(members) < plan.samples]
    if few:
        yield f"there are fewer k-tuples than the {plan.samples} asked for, and all were tried: {', '.join(few)}"
    for panel, judgments in ground.panels.items():
        missing = judges * len(judgments.item_topic) - len(judgments.grade)
        if missing:
            yield (
                f"panel '{shorten(panel)}': {counted(missing, 'grade')} missing, so binmv, the share among those who "
                "graded a document, is not exactly uniform, in which it counts as not relevant to those who did not"
            )
    loose: dict[str, int] = {}
    for outcome in outcomes:
        for fact, count in outcome.facts.items():
            if fact.startswith("not converged "):
                name = fact.removeprefix("not converged ")
                loose[name] = loose.get(name, 0) + int(count or 0)
    total = len(ground.panels) * sum(map(len, ground.tuples.values()))
    yield from (f"{name} did not converge on {count:,} of {counted(total, 'k-tuple')}" for name, count in loose.items())
