"""The noisy experiment [NOISY18]: do intervals and tests hold what they promise, when judges err and gold is little?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import polars as pl

from karatage.data.checks import find_schema
from karatage.experiments.engine import Cell, Execution, Fact, require_done, run_cells, tell_run
from karatage.experiments.noisy.findings import NoisyFindings
from karatage.experiments.noisy.intervals import rate_intervals
from karatage.experiments.noisy.plan import NoisyPlan, World
from karatage.experiments.noisy.testing import GOLD_SAMPLES, TWO, rate_tests
from karatage.experiments.noisy.worked import WORKED, work_out
from karatage.io.files import PathLike

MANY_REFUSED = 0.05
FEW_TOPICS = 25


def experiment_noisy(
    plan: NoisyPlan | None = None, *, output: PathLike | None = None, execution: Execution | None = None
) -> NoisyFindings:
    """Simulate noisy judges and a little gold, or work out the paper's examples.

    Args:
        plan: Which studies, in which worlds; default: the paper's simulation.
        output: A folder in which each cell's result is kept as Parquet, and found again by the next run.
        execution: How many processes, whether to begin afresh, and a callback for progress.
    """
    asked = plan or NoisyPlan()
    cells = list(_make_cells(asked))
    home = None if output is None else Path(output) / "cells"
    outcomes = run_cells(cells, folder=home, execution=execution, context=asked)
    require_done(outcomes)
    intervals, histogram, tests, worked = [], [], [], []
    for cell, outcome in zip(cells, outcomes, strict=True):
        about = pl.DataFrame({name: [cell.key[name]] for name in (*World._fields, "gold_samples") if name in cell.key})
        if cell.key["study"] == "intervals":
            facts = pl.DataFrame({name: [value] for name, value in outcome.facts.items()})
            intervals.append(about.hstack(facts.cast(pl.Float64)))
            histogram.append(about.join(outcome.table, how="cross"))
        elif cell.key["study"] == "tests":
            tests.append(about.join(outcome.table, how="cross"))
        else:
            worked.append(outcome.table)
    found = _stack(intervals)
    return NoisyFindings(
        plan=asked,
        intervals=found,
        histogram=_stack(histogram),
        tests=_stack(tests),
        worked=_stack(worked) if worked else pl.DataFrame(schema=find_schema(WORKED)),
        notes=tuple(_tell(asked, found)),
        log=tell_run(outcomes),
    )


def _make_cells(plan: NoisyPlan) -> Iterator[Cell]:
    drawn: dict[str, Fact] = {
        "topic_spread": plan.topic_spread,
        "depth": plan.depth,
        "simulations": plan.simulations,
        "seed": plan.seed,
    }
    for study in plan.studies:
        about: dict[str, Fact] = {"experiment": "noisy", "study": study}
        if study not in ("intervals", "tests"):
            key = {**about, "seed": plan.seed}
            yield Cell(name=study, key=key, work=partial(work_out, study))
            continue
        for world in plan.list_worlds():
            here: dict[str, Fact] = {**about, **drawn, **world._asdict()}
            if study == "intervals":
                yield Cell(name=f"intervals {world.name}", key=here, work=partial(rate_intervals, world))
                continue
            for samples in GOLD_SAMPLES:
                key = {**here, "gold_samples": samples, "differences": repr(plan.differences)}
                work = partial(rate_tests, world, samples)
                yield Cell(name=f"tests gold={samples} {world.name}", key=key, work=work)


def _stack(tables: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(tables) if tables else pl.DataFrame()


def _tell(plan: NoisyPlan, intervals: pl.DataFrame) -> Iterator[str]:
    if len(intervals):
        doubtful = intervals.filter(pl.col("refused") > MANY_REFUSED)
        if len(doubtful):
            yield (
                f"in {len(doubtful)} of {len(intervals)} worlds more than {MANY_REFUSED:.0%} of gold samples could not "
                "tell judges from a coin, and correction was refused; shares there are of the luckier samples"
            )
    if "tests" in plan.studies:
        yield (
            f"with {TWO} gold samples the second system's judges have the first's two rates exchanged, and the shared "
            "form takes rates from both samples thrown together"
        )
        if 0.0 not in plan.differences:
            yield "without a difference of 0 nothing is said about how often equal systems are called different"
