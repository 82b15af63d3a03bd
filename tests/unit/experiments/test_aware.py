"""The AWARE experiment's plan, k-tuples, cells and refusals."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.experiments.aware import cells as aware
from karatage.experiments.plans import make_plan
from karatage.experiments.tuples import draw_tuples
from tests.notes import has_note, list_facts

PLAN = kt.experiments.AwarePlan(
    measures=("AP", "P@5"), approaches=("uniform", "tpc_rmse_own4", "mv"), sizes=(2, 4), samples=7, replicates=8, seed=1
)


@pytest.fixture(scope="module")
def collection():
    return kt.experiments.read_collection("simulated", "simulated:6", correlations=[0.0, 0.8], rng=2)


@pytest.fixture(scope="module")
def found(collection):
    return kt.experiments.experiment_aware(collection, PLAN)


def test_the_frame_has_every_combination_once(found):
    keys = ["systems", "panel", "measure", "size", "approach", "outcome"]
    assert len(found.frame) == 1 * 2 * 2 * 2 * 3 * 3
    assert len(found.frame.unique(keys)) == len(found.frame)
    assert found.frame["samples"].unique().to_list() == [7]
    assert found.frame["mean"].is_finite().all()
    assert (found.frame["low"] <= found.frame["mean"]).all()


@pytest.mark.parametrize("change", [{"seed": 2}, {"samples": 6}, {"sizes": (2, 3)}])
def test_other_plans_find_other_numbers(collection, found, change):
    other = kt.experiments.experiment_aware(collection, replace(PLAN, **change))
    assert not other.frame.equals(found.frame)


def test_replicates_matter_to_weights_only(collection, found):
    other = kt.experiments.experiment_aware(collection, replace(PLAN, replicates=9))
    same = [a.filter(pl.col("approach") != "tpc_rmse_own4") for a in (found.frame, other.frame)]
    assert same[0].equals(same[1])
    assert not other.frame.equals(found.frame)


def test_workers_change_nothing(collection, found):
    other = kt.experiments.experiment_aware(collection, PLAN, execution=kt.experiments.Execution(workers=2))
    assert other.frame.equals(found.frame)
    assert other.to_json() == found.to_json()


def test_k_tuples_are_the_same_for_all_panels_and_do_not_depend_on_other_sizes():
    drawn = draw_tuples(9, PLAN.sizes, PLAN.samples, PLAN.seed)
    again = draw_tuples(9, (4,), PLAN.samples, PLAN.seed)
    assert list(drawn) == [2, 4]
    np.testing.assert_array_equal(drawn[4], again[4])
    assert drawn[4].shape == (7, 4)


def test_a_run_goes_on_where_it_was(collection, found, tmp_path):
    kt.experiments.experiment_aware(collection, replace(PLAN, sizes=(2,)), output=tmp_path)
    told = []
    how = kt.experiments.Execution(progress=lambda done, total, _: told.append((done, total)))
    other = kt.experiments.experiment_aware(collection, PLAN, output=tmp_path, execution=how)
    assert other.frame.equals(found.frame)
    assert list_facts(other.log) == {"experiments.cells-kept": {"kept": 4, "cells": 6}}
    assert told == [(2, 6), (4, 6), (5, 6), (6, 6)]


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 2},
        {"samples": 12},
        {"replicates": 9},
        {"measures": ("AP", "P@6")},
        {"approaches": ("uniform", "tpc_rmse_own2", "mv")},
    ],
)
def test_another_plan_takes_nothing_from_the_cells_of_this_one(collection, monkeypatch, tmp_path, change):
    monkeypatch.setattr(aware, "BLOCK", 7)
    plan = replace(PLAN, sizes=(4,))
    kt.experiments.experiment_aware(collection, plan, output=tmp_path)
    other = kt.experiments.experiment_aware(collection, replace(plan, **change), output=tmp_path)
    weights = 2 if "samples" in change else 0  # those do not depend on the k-tuples
    assert list_facts(other.log) == ({"experiments.cells-kept": {"kept": weights, "cells": 6}} if weights else {})
    assert other.frame.equals(kt.experiments.experiment_aware(collection, replace(plan, **change)).frame)


def test_blocks_do_not_change_what_is_found(collection, found, monkeypatch):
    monkeypatch.setattr(aware, "BLOCK", 3)
    assert kt.experiments.experiment_aware(collection, PLAN).frame["mean"].to_numpy() == pytest.approx(
        found.frame["mean"].to_numpy(), abs=1e-12
    )


def test_every_k_tuple_has_a_number_of_its_own_in_the_files(collection, monkeypatch, tmp_path):
    monkeypatch.setattr(aware, "BLOCK", 3)
    kt.experiments.experiment_aware(collection, replace(PLAN, sizes=(2,)), output=tmp_path)
    kept = [pl.read_parquet(path) for path in (tmp_path / "cells").glob("correlation*")]
    table = pl.concat(kept)
    assert len(kept) == 2 * 3
    assert sorted(table["sample"].unique()) == [1, 2, 3, 4, 5, 6, 7]
    assert len(table.unique(["panel", "systems", "measure", "outcome", "sample"])) == len(table)


def test_a_broken_cell_is_told(collection, monkeypatch):
    def crash(*_):
        raise RuntimeError("no memory for this")

    monkeypatch.setattr(aware, "try_block", crash)
    with pytest.raises(DataError, match=r"\b4\b.*memory"):
        kt.experiments.experiment_aware(collection, PLAN)


def test_sizes_are_those_a_panel_can_have():
    plan = kt.experiments.AwarePlan()
    assert plan.find_sizes(31) == tuple(range(2, 31))
    assert plan.find_sizes(60) == tuple(range(2, 31))
    assert plan.find_sizes(4) == (2, 3)
    assert kt.experiments.AwarePlan(sizes=(5, 3)).find_sizes(5) == (3, 5)
    assert kt.experiments.AwarePlan(sizes=(3, 6)).find_sizes(5) == (3,)
    with pytest.raises(OptionError, match=r"\b6\b.*\b5\b"):
        kt.experiments.AwarePlan(sizes=(6, 7)).find_sizes(5)
    with pytest.raises(OptionError, match=r"\b2\b.*panel"):
        plan.find_sizes(2)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"measures": ()}, OptionError, "measure"),
        ({"measures": ("AP", "AP")}, OptionError, "measure"),
        ({"measures": ("APP",)}, UnknownNameError, "'AP'"),
        ({"approaches": ("mw",)}, UnknownNameError, "'mv'"),
        ({"sizes": (2, 2)}, OptionError, None),
        ({"sizes": (0,)}, OptionError, "sizes.*from 1"),
        ({"samples": 0}, OptionError, "replicates"),
        ({"replicates": 0}, OptionError, "replicates"),
        ({"seed": -1}, OptionError, "seed"),
    ],
)
def test_plans_that_cannot_be_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        kt.experiments.AwarePlan(**options)


def test_presets_are_the_papers_and_a_small_one():
    paper = make_plan(kt.experiments.AwarePlan, "aware", preset="paper").options
    assert (paper.samples, paper.replicates, len(paper.find_contenders())) == (1000, 1000, 34)
    assert paper.find_sizes(31) == tuple(range(2, 31))
    assert paper.measures == kt.experiments.AwarePlan().measures
    assert make_plan(kt.experiments.AwarePlan, "aware", preset="small").options.samples < 50


def test_one_system_has_no_ranking():
    world = kt.simulation.simulate_collection(systems=1, topics=3, depth=10, rng=1)
    alone = kt.experiments.Collection.of({"one": world.runs}, {"p": world.judgments}, world.gold)
    with pytest.raises(DataError, match="'one'"):
        kt.experiments.experiment_aware(alone, PLAN)


def test_judges_of_some_topics_only_are_refused():
    world = kt.simulation.simulate_collection(systems=3, topics=4, depth=20, rng=1)
    judgments = world.judgments
    partial = judgments.keep_rows((judgments.judge != 0) | (judgments.item < judgments.item_start[2]))
    rules = kt.experiments.PanelRules(whole_only=False)
    with pytest.raises(DataError, match=r"\b1\b.*'careful-1'"):
        kt.experiments.experiment_aware(
            kt.experiments.Collection.of({"r": world.runs}, {"p": partial}, world.gold, rules=rules), PLAN
        )


def test_all_k_tuples_have_no_sampling_error(collection):
    whole = kt.experiments.experiment_aware(collection, replace(PLAN, sizes=(2, 5), samples=15))
    assert whole.samples.tolist() == [15, 6]
    assert (whole.frame["low"] == whole.frame["high"]).all()
    assert has_note(whole, "experiments.every-tuple", sizes="2, 5")
    one = kt.experiments.experiment_aware(collection, replace(PLAN, samples=1))
    assert one.frame["sd"].null_count() == one.frame["low"].null_count() == len(one.frame)


def test_a_topic_that_no_run_has_changes_nothing():
    world = kt.simulation.simulate_collection(systems=5, topics=4, depth=20, rng=1)
    found = []
    for extra in (False, True):
        frames = [given.to_frame() for given in (world.judgments, world.gold)]
        if extra:
            more = [
                frame.filter(topic=world.gold.topics[0]).with_columns(topic=pl.lit("unheard of")) for frame in frames
            ]
            frames = [pl.concat(pair) for pair in zip(frames, more, strict=True)]
        judgments, gold = kt.read_judgments(frames[0]), kt.read_gold(frames[1])
        collection = kt.experiments.Collection.of({"r": world.runs}, {"p": judgments}, gold)
        assert ("unheard of" in collection.gold.topics) == extra
        found.append(kt.experiments.experiment_aware(collection, replace(PLAN, approaches=("uniform",))))
    assert found[0].frame.equals(found[1].frame)
