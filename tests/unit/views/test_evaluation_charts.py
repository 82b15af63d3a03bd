"""Approaches side by side: what charts show, and that they can be drawn."""

from __future__ import annotations

from dataclasses import replace

import pytest

import karatage as kt
from karatage.errors import DataError, UnknownNameError
from karatage.views.evaluation import chart_fidelity, chart_scores, tabulate_measure
from tests.notes import gives


def test_every_system_has_its_score_by_every_approach_and_gold(hostile, read_chart):
    found = hostile.evaluation
    for measure in found.measures:
        drawn = read_chart(chart_scores(found, measure))
        rows = {(row["by"], row["system"]): row for row in drawn.rows("score")}
        assert len(rows) == 4 * len(found.systems)
        for approach in found.approaches:
            for row in found.leaderboard(measure, approach).to_dicts():
                shown = rows[approach, row["system"]]
                assert (shown["score"], shown["rank"]) == (row["score"], row["rank"])
                trusted = rows["gold", row["system"]]
                assert (trusted["score"], trusted["rank"]) == (row["gold_score"], row["gold_rank"])
        assert drawn.size[0] <= 640


def test_systems_stand_by_gold_and_by_any_approach(hostile, read_chart):
    found = hostile.evaluation
    drawn = read_chart(chart_scores(found))
    assert drawn.params["sorted_by"]["bind"]["options"] == ["gold", "mv", "uniform", "sgl_tau_msd", "name"]
    rows = [row for row in drawn.rows("score") if row["by"] == "uniform"]
    by_uniform = [row["system"] for row in sorted(rows, key=lambda row: row["at_1"])]
    assert by_uniform == found.leaderboard(hostile.measure, "uniform")["system"].to_list()
    ranks = {row["system"]: row["rank"] for row in drawn.rows("score") if row["by"] == "gold"}
    by_gold = [ranks[row["system"]] for row in sorted(rows, key=lambda row: row["row"])]
    assert by_gold == sorted(by_gold)


def test_without_gold_the_first_approach_leads(hostile, read_chart):
    bare = replace(hostile.evaluation, gold=None)
    drawn = read_chart(chart_scores(bare))
    assert drawn.params["sorted_by"]["bind"]["options"] == ["mv", "uniform", "sgl_tau_msd", "name"]
    assert any(gives(text, "mv") for text in drawn.texts)
    with pytest.raises(DataError, match="gold"):
        chart_fidelity(bare)


def test_many_approaches_and_systems_fit(hostile, read_chart):
    world = kt.simulation.simulate_collection(systems=129, topics=4, rng=1)
    found = kt.evaluate(world.runs, world.judgments, "P@10", approach="judge:*", gold=world.gold, rng=1)
    drawn = read_chart(chart_scores(found))
    nearest = sorted(found.fidelity, key=lambda near: near.tau_ap, reverse=True)
    kept = {found.approaches[0], *[near.approach for near in nearest if near.approach != found.approaches[0]][:6]}
    assert {row["by"] for row in drawn.rows("score")} == {*kept, "gold"}
    assert "7 of 9 approaches: the judges closest to gold by tau_ap" in drawn.texts
    assert drawn.size[0] <= 640
    assert 129 * 13 < drawn.size[1] < 129 * 13 + 200


def test_merges_are_shown_before_judges(hostile, read_chart):
    world = kt.simulation.simulate_collection(systems=5, topics=6, rng=1)
    ways = ["mv", "judge:*", "uniform", "wawa", "sgl_rmse_own4"]
    found = kt.evaluate(world.runs, world.judgments, "P@10", approach=ways, gold=world.gold, rng=1)
    shown = {row["by"] for row in read_chart(chart_scores(found)).rows("score")}
    assert {"mv", "uniform", "wawa", "sgl_rmse_own4"} < shown
    judges = {near.approach: near.tau_ap for near in found.fidelity if near.approach.startswith("judge:")}
    assert min(judges[name] for name in shown & set(judges)) >= max(judges[name] for name in set(judges) - shown)
    bare = read_chart(chart_scores(replace(found, gold=None)))
    assert "7 of 13 approaches: merges, and the first judges" in bare.texts


def test_gold_of_other_topics_is_told(hostile, read_chart):
    world = kt.simulation.simulate_collection(systems=5, topics=9, rng=1)
    gold = world.gold.only_topics(world.gold.topics[:4])
    found = kt.evaluate(world.runs, world.judgments, "P@10", approach=["mv", "uniform"], gold=gold, rng=1)
    drawn = read_chart(chart_scores(found))
    assert {row["by"] for row in drawn.rows("score")} == {"mv", "uniform", "gold (4 topics)"}
    assert drawn.params["sorted_by"]["bind"]["options"][0] == "gold (4 topics)"
    assert any(gives(text, "gold", 4, 4, 9) for text in drawn.texts)
    table = tabulate_measure(found, "P@10")
    assert table.columns["gold"] == "gold (4 topics)"
    assert gives(table.caption, "P@10", 4, 9)
    whole = tabulate_measure(hostile.evaluation, hostile.measure)
    assert (whole.columns["gold"], whole.caption) == ("gold", hostile.measure)


def test_fidelity_on_different_topics_is_told(hostile, read_chart):
    found = hostile.evaluation
    most = max(one.topics for one in found.fidelity)
    scores = found.scores[hostile.measure]
    judged = scores.judged.copy()
    judged[1, :3] = False
    unseen = replace(found, scores={**found.scores, hostile.measure: replace(scores, judged=judged)})
    drawn = read_chart(chart_fidelity(unseen))
    assert any(gives(text, most - 3, most, "RMSE") for text in drawn.texts)
    assert any(gives(text, most, "RMSE") for text in read_chart(chart_fidelity(found)).texts)


def test_one_system_can_be_drawn(hostile, read_chart):
    world = hostile.world
    one = world.runs.only(world.runs.systems[:1])
    alone = kt.evaluate(one, world.judgments, "P@10", approach="uniform", gold=world.gold, rng=1)
    assert len(read_chart(chart_scores(alone)).rows("score")) == 2
    assert len(read_chart(chart_fidelity(alone)).rows("rmse")) == 1


def test_an_unknown_measure_is_told(hostile):
    with pytest.raises(UnknownNameError, match="'P@7'"):
        chart_scores(hostile.evaluation, "P@7")


def test_fidelity_is_that_of_the_evaluation(hostile, read_chart):
    found = hostile.evaluation
    drawn = read_chart(chart_fidelity(found))
    rows = {(row["measure"], row["approach"]): row for row in drawn.rows("tau")}
    for near in found.fidelity:
        shown = rows[near.measure, near.approach]
        assert (shown["tau"], shown["tau_ap"], shown["rmse"]) == (near.tau, near.tau_ap, near.rmse)
    first = sorted((row for row in rows.values() if row["measure"] == hostile.measure), key=lambda row: row["row"])
    assert [row["tau"] for row in first] == sorted((row["tau"] for row in first), reverse=True)
    by_rmse = sorted(first, key=lambda row: row["at_rmse"])
    assert [row["rmse"] for row in by_rmse] == sorted(row["rmse"] for row in first)
    assert drawn.size[0] <= 640
