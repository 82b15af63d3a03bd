"""The collaborative experiment: queues, crowds, mixes and costs on a small collection."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.data.axes import Coded
from karatage.decisions.belief import combine_judgments
from karatage.errors import DataError, OptionError
from karatage.experiments.collaborative import cells
from karatage.experiments.collaborative.cells import Ground, keep_items
from karatage.experiments.collaborative.findings import experiment_collaborative
from karatage.experiments.collaborative.plan import Mix, find_crowd
from karatage.experiments.engine import Execution
from tests.notes import has_note, list_facts

PLAN = kt.experiments.CollaborativePlan(
    orders=("depth", "thompson"),
    crowds=("careful",),
    approaches=("mv", "ds"),
    expert_shares=(0, 10),
    crowd_shares=(0, 20, 40),
    fixed_share=40,
    samples=2,
    resamples=10,
    seed=4,
)
MIXED = ["tau", "tau_ap", "alone", "gap"]


@pytest.fixture(scope="module")
def world():
    return kt.simulation.simulate_collection(systems=7, topics=6, depth=20, rng=5)


@pytest.fixture(scope="module")
def ground(world):
    return Ground.of(world.runs, world.gold, PLAN, {"careful": find_crowd("careful")})


@pytest.fixture(scope="module")
def found(world):
    return experiment_collaborative(world.runs, world.gold, PLAN)


def agree(gold, model, *, per_item, rng):
    """A crowd that is always right."""
    names = tuple(f"judge-{k}" for k in range(per_item))
    judge = np.tile(np.arange(per_item, dtype=np.int32), len(gold.item))
    return replace(
        gold, judges=names, judge=judge, item=np.repeat(gold.item, per_item), grade=np.repeat(gold.grade, per_item)
    )


def test_the_pool_is_gold_with_binary_grades(world, ground):
    assert ground.items == len(world.gold.item_topic) == 240
    assert (ground.grade == (world.gold.grade >= 1)).all()
    stricter = Ground.of(world.runs, world.gold, replace(PLAN, relevant=2), {})
    assert (stricter.grade.sum(), ground.grade.sum()) == ((world.gold.grade >= 2).sum(), (world.gold.grade >= 1).sum())


def test_a_depth_keeps_what_a_system_has_there(world):
    ground = Ground.of(world.runs, world.gold, replace(PLAN, depth=5), {})
    alignment = kt.stats.align(world.runs, world.gold)
    top = np.unique(alignment.ranked[:, :, :5])
    assert ground.items == len(top[top >= 0])
    assert (ground.alignment.ranked[:, :, :5] >= 0).all()
    few = keep_items(world.gold, np.arange(240) % 7 > 0)
    partly = Ground.of(world.runs, few, replace(PLAN, depth=5), {})
    assert has_note(partly.gold, "experiments.not-in-pool", depth=5)


def test_some_items_are_numbered_anew_with_their_topics(world):
    kept = np.zeros(240, bool)
    kept[[3, 50, 51, 230]] = True
    some = keep_items(world.gold, kept)
    assert some.topics == tuple(world.gold.topics[t] for t in (0, 1, 5))
    assert some.item_topic.tolist() == [0, 1, 1, 2]
    assert some.item.tolist() == [0, 1, 2, 3]
    assert some.grade.tolist() == world.gold.grade[[3, 50, 51, 230]].tolist()
    assert some.to_frame().equals(world.gold.to_frame()[[3, 50, 51, 230]])


@pytest.mark.parametrize("order", ["depth", "meta-ap", "average-rank", "move-to-front", "thompson"])
def test_a_queue_has_every_item_once_and_unretrieved_ones_last(ground, order):
    queue = ground.list_queue(order, 1)
    assert sorted(queue) == list(range(240))
    assert 0 < ground.missed < 240
    unseen = np.setdiff1d(np.arange(240), ground.alignment.ranked)
    assert len(unseen) == ground.missed
    assert set(queue[-ground.missed :]) == set(unseen)


def test_only_orders_that_draw_hang_on_the_sample(ground):
    for order, same in ("depth", True), ("move-to-front", True), ("thompson", False):
        assert (ground.list_queue(order, 1) == ground.list_queue(order, 2)).all() == same
        assert (ground.list_queue(order, 1) == ground.list_queue(order, 1)).all()


def test_the_crowd_goes_on_where_experts_stop(ground):
    queue = ground.list_queue("depth", 1)
    assert ground.list_rest("depth", 1, queue[:30]).tolist() == queue[30:].tolist()
    dynamic = ground.list_queue("move-to-front", 1)
    rest = ground.list_rest("move-to-front", 1, dynamic[:30])
    assert sorted([*rest, *dynamic[:30]]) == list(range(240))
    assert rest[0] == dynamic[30]  # answers so far count; those within the batch are not known
    assert rest.tolist() != dynamic[30:].tolist()


@pytest.mark.parametrize("order", ["depth", "move-to-front", "thompson"])
def test_a_smaller_batch_is_the_beginning_of_a_larger_one(ground, order):
    """So that a mix does not hang on which others are tried."""
    judged = ground.list_queue(order, 1)[:30]
    grade = ground.reveal(judged)
    state = replace(ground._start(order, 1), grade=grade, open=grade < 0)
    few = kt.experiments.next_items(order, state, 25).item
    assert few.tolist() == ground.list_rest(order, 1, judged)[:25].tolist()


def test_shares_are_counted_to_the_nearest_and_never_to_none(ground):
    assert [ground.count(share) for share in (0, 0.1, 0.5, 1, 50, 100)] == [0, 1, 1, 2, 120, 240]


def test_every_cell_has_its_rows(found):
    assert found.orders.select("order", "sample", "experts").n_unique() == len(found.orders) == 2 * 2
    assert len(found.mixes) == 2 * 2 * 2 * (4 + 2 * 2)
    assert found.mixes.select("order", "sample", "experts", "crowd_share", "approach", "ratio").n_unique() == 64
    assert found.finding.group_by("order", "sample").len()["len"].to_list() == [100] * 4
    assert found.quality.select("sample", "approach").rows() == [(1, "mv"), (1, "ds"), (2, "mv"), (2, "ds")]
    assert found.frame["study"].unique(maintain_order=True).to_list() == ["orders", "finding", "mixes", "quality"]


def test_all_judged_by_experts_is_full_judging(world):
    plan = replace(PLAN, studies=("orders", "finding"), expert_shares=(100,))
    found = experiment_collaborative(world.runs, world.gold, plan)
    assert found.orders.select("judged", "found", "tau", "tau_ap", "error", "gap").unique().rows() == [
        (240, 1.0, 1.0, 1.0, 0.0, 0.0)
    ]
    assert found.finding.filter(judged=1.0).select("found", "tau_ap").unique().rows() == [(1.0, 1.0)]


def test_costs_are_shares_of_full_expert_judging(found):
    told = found.mixes.filter(order="depth", sample=1, approach="ry", experts=10.0)
    costs = {(share, ratio): cost for share, ratio, cost in told.select("crowd_share", "ratio", "cost").rows()}
    assert costs == pytest.approx({(20, "A"): 0.12, (20, "B"): 0.18, (40, "A"): 0.14, (40, "B"): 0.26})


def test_a_perfect_crowd_is_as_good_as_experts_and_cheaper(world, monkeypatch):
    monkeypatch.setattr(cells, "simulate_crowd", agree)
    plan = replace(PLAN, orders=("depth",), expert_shares=(0, 10, 20, 30), crowd_shares=(20,), ratios=("1:1", "A"))
    found = experiment_collaborative(world.runs, world.gold, plan)
    alone = dict(found.order_means.select("experts", "tau_ap").rows())
    for row in found.shares.filter(ratio="1:1").iter_rows(named=True):
        assert row["gap"] == 0
        assert row["alone"] == row["tau_ap"]
        if row["experts"] + 20 in alone:
            assert row["tau_ap"] == alone[row["experts"] + 20]
    assert found.shares.filter(ratio="A")["gap"].to_numpy().mean() > 0
    assert found.quality.select("recall", "precision", "accuracy").unique().rows() == [(1.0, 1.0, 1.0)]


def test_a_crowd_that_is_always_wrong_loses(world, monkeypatch):
    def wrong(gold, model, *, per_item, rng):
        return agree(replace(gold, grade=1 - gold.grade), model, per_item=per_item, rng=rng)

    monkeypatch.setattr(cells, "simulate_crowd", wrong)
    found = experiment_collaborative(world.runs, world.gold, replace(PLAN, orders=("depth",)))
    assert found.quality.select("recall", "precision", "accuracy").unique().rows() == [(0.0, 0.0, 0.0)]
    assert found.shares.filter(experts=0.0)["tau_ap"].to_numpy().max() < 0
    assert set(found.shares.filter(experts=0.0)["verdict"]) == {"below"}


def test_experts_alone_buy_what_the_mix_costs(ground, found):
    """10 % experts and 40 % crowd at 5:2 cost as much as experts on 26 % of the pool, 62.4 documents: 62 of them."""
    queue = ground.list_queue("depth", 2)
    rated = cells.rate_sets(ground, [ground.reveal(queue[:62])])
    row = found.mixes.filter(order="depth", sample=2, experts=10.0, crowd_share=40.0, approach="ry", ratio="B")
    assert row["alone"].item() == rated.tau_ap[0]
    assert row["gap"].item() == row["tau_ap"].item() - rated.tau_ap[0]


def test_a_mix_is_what_combining_experts_and_crowd_gives(ground, found):
    queue, mix = ground.list_queue("thompson", 1), Mix(10.0, 40.0)
    experts, asked = queue[:24], ground.list_rest("thompson", 1, queue[:24])[:96]
    crowd = cells.ask_crowd(ground, "careful", asked, f"careful thompson {mix.name} 1")
    assert (np.bincount(crowd.item, minlength=96) == 5).all()
    known = np.zeros(240, bool)
    known[experts] = True
    rng = cells.stream(4, f"collaborative ds careful thompson {mix.name} 1")
    combined = combine_judgments(ground.gold, crowd, ground.gold.keep_rows(known[ground.gold.item]), "ds", rng=rng)
    assert (combined.grade >= 0).sum() == 120
    rated = cells.rate_sets(ground, [combined.grade])
    row = found.mixes.filter(order="thompson", sample=1, experts=10.0, crowd_share=40.0, approach="ds", ratio="A")
    assert row.select("tau", "tau_ap").row(0) == (rated.tau[0], rated.tau_ap[0])


def test_crowds_are_drawn_anew_for_each_sample_mix_and_order_but_shared_by_approaches(ground):
    items = np.arange(0, 240, 3)
    first, same = (cells.ask_crowd(ground, "careful", items, "careful depth 0+40 1") for _ in range(2))
    other = cells.ask_crowd(ground, "careful", items, "careful depth 0+40 2")
    assert (first.grade == same.grade).all()
    assert len(first.grade) == len(other.grade) == 5 * 80
    assert (first.grade != other.grade).any()


def test_results_depend_neither_on_workers_nor_on_what_else_is_studied(world, found):
    only = replace(PLAN, studies=("shares",), orders=("thompson",))
    apart = experiment_collaborative(world.runs, world.gold, only, execution=Execution(workers=2))
    assert apart.mixes.equals(found.mixes.filter(order="thompson", approach="ry"))
    assert apart.finding.equals(found.finding.filter(order="thompson"))
    dearer = experiment_collaborative(
        world.runs, world.gold, replace(PLAN, studies=("shares",), orders=("depth",), ratios=("1:1", "B"))
    )
    assert dearer.mixes.filter(ratio="B").equals(found.mixes.filter(order="depth", approach="ry", ratio="B"))


def test_a_run_is_taken_up_again(world, tmp_path):
    plan = replace(PLAN, orders=("depth",), samples=1)
    first = experiment_collaborative(world.runs, world.gold, plan, output=tmp_path)
    again = experiment_collaborative(world.runs, world.gold, plan, output=tmp_path)
    assert (first.log, list_facts(again.log)) == ((), {"experiments.cells-kept": {"kept": 4, "cells": 4}})
    assert again.to_json() == first.to_json()
    more = experiment_collaborative(world.runs, world.gold, replace(plan, samples=2), output=tmp_path)
    assert list_facts(more.log) == {"experiments.cells-kept": {"kept": 4, "cells": 8}}


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 5},
        {"measure": "AP"},
        {"per_item": 3},
        {"resamples": 12},
        {"relevant": 2},
        {"depth": 8},
    ],
)
def test_another_plan_takes_nothing_from_the_cells_of_this_one(world, tmp_path, change):
    plan = replace(PLAN, studies=("shares",), orders=("thompson",), samples=1, expert_shares=(10,), crowd_shares=(20,))
    before = experiment_collaborative(world.runs, world.gold, plan, output=tmp_path)
    after = experiment_collaborative(world.runs, world.gold, replace(plan, **change), output=tmp_path)
    kept = 1 if change.keys() == {"per_item"} else 0  # experts alone are the same
    assert list_facts(after.log) == ({"experiments.cells-kept": {"kept": 1, "cells": 2}} if kept else {})
    assert not after.mixes.drop("ratio").equals(before.mixes.drop("ratio"))


def test_shared_errors_matter(world):
    plan = replace(PLAN, studies=("shares",), orders=("depth",), crowds=("hcb", "hcb:independent"), samples=1)
    found = experiment_collaborative(world.runs, world.gold, replace(plan, expert_shares=(10,), crowd_shares=(40,)))
    one, other = (found.mixes.filter(crowd=name)["tau_ap"].to_list() for name in plan.crowds)
    assert (one == other) == (find_crowd("hcb").correlation == (0, 0, 0))


def test_disagreement_takes_a_model(world, tmp_path):
    plan = replace(PLAN, studies=("orders",), orders=("disagreement", "depth"))
    without = experiment_collaborative(world.runs, world.gold, plan)
    assert without.plan.orders == ("depth",)
    assert has_note(without, "experiments.no-model")
    with pytest.raises(OptionError, match="'disagreement'"):
        experiment_collaborative(world.runs, world.gold, replace(plan, orders=("disagreement",)))
    for features in ("runs", "votes"):
        model = kt.experiments.learn_disagreement(world.runs, world.judgments, features=features, trials=3, rng=1)
        kt.experiments.write_disagreement(model, tmp_path / f"{features}.json")
    known = replace(plan, disagreement=str(tmp_path / "runs.json"))
    found = experiment_collaborative(world.runs, world.gold, known)
    assert set(found.orders["order"]) == {"disagreement", "depth"}
    with pytest.raises(OptionError, match="judgments"):
        experiment_collaborative(world.runs, world.gold, replace(plan, disagreement=str(tmp_path / "votes.json")))


def test_what_cannot_be_ranked_is_refused(world):
    one = world.runs.systems[0]
    few = kt.Runs.build(
        system=Coded.of([one]), topic=Coded.of(["101"]), document=Coded.of(["doc-000-001"]), score=np.array([1.0])
    )
    with pytest.raises(DataError, match="one system"):
        experiment_collaborative(few, world.gold, PLAN)
    strange = kt.Runs.build(
        system=Coded.of(["a", "b"]), topic=Coded.of(["101"] * 2), document=Coded.of(["x", "y"]), score=np.ones(2)
    )
    with pytest.raises(DataError, match="no system"):
        experiment_collaborative(strange, world.gold, replace(PLAN, depth=3))


def test_notes_tell_whose_doubt_an_interval_is(found):
    assert has_note(found, "experiments.over-samples-topics", samples=2, topics=6)
    assert has_note(found, "experiments.few-topics", topics=6)
    assert has_note(found, "experiments.never-retrieved")


def test_inputs_are_left_alone(world):
    before = world.gold.to_frame(), pl.Series(world.runs.listed)
    experiment_collaborative(world.runs, world.gold, replace(PLAN, orders=("thompson",), samples=1))
    assert world.gold.to_frame().equals(before[0])
    assert pl.Series(world.runs.listed).equals(before[1])
