"""The AWARE experiment against `evaluate` on each k-tuple's judgments alone, and against plain arithmetic."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.experiments.tuples import draw_tuples
from karatage.simulation.panel import PanelQuality, simulate_panel

REPLICATES, SEED = 12, 5
MEASURES = ("AP", "nDCG(dcg=jk,base=2)@20", "ERR(gain=5,max=5)@20")
SCORE_MERGES = (
    "uniform",
    "sgl_tau_msd",
    "tpc_apc_md",
    "tpc_kld_med",
    "sgl_fro_own4",
    "tpc_rmse_own",
    "multi(AP,P@10):tpc_tau_msd",
)
DULL = 0  # a judge who in the first topic finds only what no system retrieved


@pytest.fixture(scope="module")
def collection():
    world = kt.simulation.simulate_collection(systems=7, topics=5, depth=30, rng=3)
    other = kt.simulation.simulate_collection(systems=5, topics=5, depth=12, rng=3)
    panel = simulate_panel(
        world.gold, judges=6, quality=PanelQuality(true_positive=(0.5, 0.9), true_negative=(0.7, 0.9), random=1), rng=3
    )
    runs = {"first": world.runs, "second": other.runs}
    seen = set().union(*(kt.stats.align(found, world.gold).ranked[0].ravel().tolist() for found in runs.values()))
    hidden = next(item for item in range(panel.item_start[1]) if item not in seen)
    grade = panel.grade.copy()
    rows = (panel.judge == DULL) & (panel.item < panel.item_start[1])
    grade[rows] = panel.item[rows] == hidden
    return kt.experiments.Collection.of(runs, {"panel": replace(panel, grade=grade)}, world.gold)


@pytest.fixture(scope="module")
def plan():
    approaches = (*SCORE_MERGES, "mv", "emmv")
    return kt.experiments.AwarePlan(
        measures=MEASURES, approaches=approaches, sizes=(3, 5), samples=4, replicates=REPLICATES, seed=SEED
    )


@pytest.fixture(scope="module")
def done(collection, plan, tmp_path_factory):
    """What was found, and the table of single k-tuples."""
    folder = tmp_path_factory.mktemp("aware")
    found = kt.experiments.experiment_aware(collection, plan, output=folder)
    frames = [pl.read_parquet(path) for path in (folder / "cells").glob("panel*.parquet")]
    return found, pl.concat(frames)


def choose(judgments, members):
    """A k-tuple's judgments, with no trace of other judges."""
    rows = judgments.keep_rows(np.isin(judgments.judge, members))
    code = np.full(len(judgments.judges), -1, np.int32)
    code[members] = np.arange(len(members))
    return replace(rows, judges=tuple(judgments.judges[k] for k in members), judge=code[rows.judge])


def list_tuples(collection, plan):
    for size, members in draw_tuples(len(collection.judges), plan.sizes, plan.samples, plan.seed).items():
        for sample, chosen in enumerate(members, 1):
            yield size, sample, chosen


def look_up(table, near, approach, **where):
    rows = table.filter(measure=near.measure, **where)
    assert rows["outcome"].to_list() == ["tau", "tau_ap", "rmse"]
    return rows[approach].to_list()


@pytest.mark.parametrize("systems", ["first", "second"])
def test_score_merges_equal_evaluate(collection, plan, done, systems):
    asked = [a if a == "uniform" else f"{a}(replicates={REPLICATES})" for a in SCORE_MERGES]
    panel, dull, checked = collection.panels["panel"], 0, 0
    for size, sample, chosen in list_tuples(collection, plan):
        board = kt.evaluate(
            collection.runs[systems],
            choose(panel, chosen),
            MEASURES,
            approach=asked,
            gold=collection.gold,
            rng=SEED,
        )
        for near in board.fidelity:
            approach = near.approach.removesuffix(f"(replicates={REPLICATES})")
            found = look_up(done[1], near, approach, systems=systems, size=size, sample=sample)
            assert found == pytest.approx([near.tau, near.tau_ap, near.rmse], abs=1e-12)
            checked += 1
        dull += DULL in chosen
    assert dull
    assert checked == 2 * 4 * len(MEASURES) * len(SCORE_MERGES)


@pytest.mark.parametrize("approach", ["mv", "emmv"])
def test_grade_merges_equal_evaluate_where_no_coin_is_tossed(collection, plan, done, approach):
    """Three or five votes of two grades cannot tie."""
    for size, sample, chosen in list_tuples(collection, plan):
        for systems, runs in collection.runs.items():
            alone = choose(collection.panels["panel"], chosen)
            board = kt.evaluate(runs, alone, MEASURES, approach=approach, gold=collection.gold, rng=99)
            for near in board.fidelity:
                found = look_up(done[1], near, approach, systems=systems, size=size, sample=sample)
                assert found == pytest.approx([near.tau, near.tau_ap, near.rmse], abs=1e-12)


def test_means_and_intervals_are_those_of_the_single_k_tuples(done):
    """Of 6 judges there are 20 triples, of which 4 were drawn without replacement; of 5 judges, 4 of 6."""
    found, table = done
    for row in found.frame.filter(pl.col("approach").is_in(["sgl_tau_msd", "mv"])).iter_rows(named=True):
        keys = ("systems", "measure", "size", "outcome")
        value = table.filter(**{key: row[key] for key in keys})[row["approach"]].to_numpy()
        assert row["samples"] == len(value) == 4
        assert row["mean"] == pytest.approx(value.mean(), abs=1e-12)
        assert row["sd"] == pytest.approx(value.std(ddof=1), abs=1e-12)
        left = 1 - 4 / {3: 20, 5: 6}[row["size"]]
        half = 3.182446305284263 * np.sqrt(left * value.var(ddof=1) / 4)  # t with 3 degrees of freedom
        assert row["high"] - row["mean"] == pytest.approx(half, abs=1e-12)
        assert row["mean"] - row["low"] == pytest.approx(half, abs=1e-12)


def test_differences_are_paired(done):
    found, table = done
    frame = found.compare("sgl_tau_msd", "mv", outcome="rmse")
    for row in frame.iter_rows(named=True):
        rows = table.filter(outcome="rmse", **{key: row[key] for key in ("systems", "measure", "size")})
        value = (rows["sgl_tau_msd"] - rows["mv"]).to_numpy()
        left = 1 - 4 / {3: 20, 5: 6}[row["size"]]
        assert row["difference"] == pytest.approx(value.mean(), abs=1e-12)
        assert row["high"] - row["difference"] == pytest.approx(
            3.182446305284263 * np.sqrt(left * value.var(ddof=1) / 4), abs=1e-9
        )
    assert len(frame) == 2 * 3 * 2
