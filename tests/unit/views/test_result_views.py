"""Tables of evaluations, audits, merges, plans, queues and crowds: numbers of the result, under readers' names."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from functools import cache

import polars as pl
import pytest

import karatage as kt
from karatage.views import audit as audits
from karatage.views import calibration as calibrations
from karatage.views import crowd as crowds
from karatage.views import evaluation as evaluations
from karatage.views import plan as plans
from karatage.views import posterior as posteriors
from karatage.views import queue as queues
from karatage.views import scores
from karatage.views.table import Table, lay_out_table, write_caption
from karatage.views.text import print_lines, show_table


@cache
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(systems=5, topics=12, depth=20, rng=3)


@cache
def evaluation() -> kt.Evaluation:
    found = kt.evaluate(
        world().runs,
        world().judgments,
        ["AP", "P@5"],
        approach=["mv", "sgl_tau_msd", "uniform"],
        gold=world().gold,
        rng=0,
    )
    return kt.stats.draw_evaluation(world().runs, found, draws=50)


@cache
def audit() -> kt.Audit:
    return kt.audit(world().judgments, gold=world().gold, rng=0, approach=["mv", "wawa"])


def check_shown(table: Table) -> None:
    """Fits a terminal, and its names are unique where they are looked up."""
    assert max(map(len, print_lines(show_table(table)).splitlines())) <= 80
    lay_out_table(table)


def test_all_approaches_stand_beside_gold() -> None:
    found = evaluation()
    table = evaluations.tabulate_measure(found, "P@5")
    assert list(table.columns.values()) == ["system", "#", "mv", "± s.e.", "gold", "sgl_tau_msd", "uniform"]
    for approach in ("sgl_tau_msd", "uniform"):
        scores = dict(found.leaderboard("P@5", approach).select("system", "score").iter_rows())
        assert table.frame[approach].to_list() == [scores[name] for name in table.frame["system"]]
    assert table.frame["system"].to_list() == found.leaderboard("P@5", "mv")["system"].to_list()
    assert [evaluations.tabulate_measure(found, name).name for name in found.measures] == ["scores", "scores-2"]
    check_shown(table)


def test_the_nearest_to_gold_is_marked() -> None:
    table = evaluations.tabulate_fidelity(evaluation())
    assert len(table.frame) == 6
    for column, best in (("tau_ap", max), ("rmse", min)):
        for measure in ("AP", "P@5"):
            rows = [k for k, name in enumerate(table.frame["measure"]) if name == measure]
            top = best(table.frame[column][k] for k in rows)
            assert [table.mark[column][k] for k in rows] == [table.frame[column][k] == top for k in rows]
    check_shown(table)


def test_intervals_of_ranks_are_rounded_outwards() -> None:
    (drawn, *_) = evaluation().draws
    table = scores.tabulate_draws(drawn)
    whole = drawn.to_frame()
    assert table.frame["system"].to_list() == whole["system"].to_list()
    assert table.frame["rank_from"].to_list() == [math.floor(rank) for rank in whole["rank_low"]]
    assert table.frame["rank_to"].to_list() == [math.ceil(rank) for rank in whole["rank_high"]]
    one, other = (drawn.systems.index(name) for name in whole["system"][:2])
    assert table.frame["p_next"][0] == drawn.beats[one, other]
    assert table.frame["p_next"][-1] is None
    check_shown(table)


def test_weights_come_with_their_distances() -> None:
    (found, *_) = evaluation().weights
    table = scores.tabulate_weights(found)
    assert list(table.columns.values()) == ["judge", "weight", "lowest", "highest", "tau und", "tau uni", "tau ovr"]
    assert table.frame["weight"].to_list() == found.to_frame()["weight"].to_list()
    check_shown(table)


def test_suspects_come_first_and_reasons_follow_the_table() -> None:
    found = audit()
    table = audits.tabulate_judges(found)
    suspected = [flag != "" for flag in table.frame["flags"]]
    assert suspected == sorted(suspected, reverse=True)
    assert any(suspected)
    right = table.frame.filter(pl.col("flags") == "")["accuracy"].to_list()
    assert right == sorted(right, reverse=True)
    said = audits.explain_suspicions(found)
    assert len(said) == sum(suspected)
    assert said[0].startswith(f"{table.frame['judge'][0]}: ")


def test_leniency_says_against_whom() -> None:
    table = audits.tabulate_judges(audit())
    assert table.columns["gold_leniency"] == "above gold"
    assert "leniency" not in table.columns
    assert {"kappa others", "ds"} <= set(table.columns.values())
    assert "kappa others: mean kappa with the other judges" in write_caption(table)
    assert "ds: accuracy as estimated by the model ds, without gold" in write_caption(table)
    without = audits.tabulate_judges(kt.audit(world().judgments, approach=["mv"]))
    assert without.columns["leniency"] == "above others"
    assert "above others: mean grade minus the others' on the same items" in write_caption(without)


def test_recall_and_precision_have_room_on_a_terminal() -> None:
    judged, gold = world().judgments, world().gold
    binary = replace(judged, grade=(judged.grade > 0).astype("int8"), top_grade=1)
    found = kt.audit(binary, gold=replace(gold, grade=(gold.grade > 0).astype("int8"), top_grade=1), approach=["mv"])
    table = audits.tabulate_judges(found)
    heading = next(line.split() for line in print_lines(show_table(table)).splitlines() if "judge " in line)
    assert heading[-4:] == ["right", "TPR", "TNR", "PPV"]
    assert list(table.columns)[-1] == "gold_leniency"


def test_the_panel_its_pairs_and_its_merges() -> None:
    found = audit()
    panel = audits.tabulate_panel(found)
    values = dict(panel.frame.select("statistic", "value").iter_rows())
    assert values["Fleiss' kappa"] == found.statistic("fleiss")
    pairs = audits.tabulate_pairs(found).frame
    assert pairs["kappa"].to_list() == sorted(found.pairs["kappa"], reverse=True)
    square = audits.tabulate_agreement(found).frame
    assert square.columns[0] == "judge"
    assert square.columns[1:] == found.judges["judge"].to_list()
    merges = audits.tabulate_merges(found)
    assert any(name.startswith("best judge alone, chosen on other items (") for name in merges.frame["merge"])
    assert any(name.startswith("best merge, chosen on other items (") for name in merges.frame["merge"])
    assert merges.columns["accuracy"] == "right"
    assert "gain: over the best judge alone" in write_caption(merges)
    without = replace(found, merges=found.merges.with_columns(pl.lit(None, pl.Float64).alias("gain")))
    assert not {"gain", "gain_low", "gain_high"} & set(audits.tabulate_merges(without).columns)
    assert "gain:" not in write_caption(audits.tabulate_merges(without))
    confusion = audits.tabulate_confusion(found).frame
    assert confusion["items"].sum() == found.confusion["items"].sum()
    for table in (panel, merges, audits.tabulate_pairs(found)):
        check_shown(table)


def test_merged_grades_and_the_record_of_judges() -> None:
    merged = kt.aggregate(world().judgments, "ds", rng=0)
    grades = posteriors.tabulate_grades(merged)
    assert list(grades.columns)[:4] == ["topic", "document", "grade", "expected"]
    assert len(grades.frame) == len(merged.to_frame())
    record = posteriors.tabulate_record(merged)
    assert next(iter(record.columns)) == "judge"
    assert record.about == "judge"


def test_a_plan_says_what_it_buys() -> None:
    found = kt.plan(world().runs, world().judgments, "P@5", budget=30)
    assert plans.tabulate_batches(found).frame["labels"].sum() == 30
    forecasts = plans.tabulate_forecasts(found).frame
    assert forecasts["± s.e."][0] == found.these.standard_error
    assert plans.entitle_plan(found).endswith("5 systems, 10 pairs")
    assert plans.explain_forecasts(found).startswith("Of differences")


def test_sizes_without_end_are_no_numbers() -> None:
    rates = kt.RateCounts(17, 38, 216, 262)
    one, other = kt.Figures(50, 0.527, 0.24), kt.Figures(50, 0.513, 0.26)
    refused = kt.plan_sizes(one, other, rates)
    assert set(plans.tabulate_sizes(refused).frame["needed"]) == {None}
    assert "cost" not in plans.tabulate_sizes(refused).columns
    found = kt.plan_sizes(
        kt.Figures(1000, 0.6, 0.4),
        kt.Figures(1000, 0.65, 0.4),
        kt.RateCounts(90, 100, 90, 100),
        prices=kt.Prices(0.1, 2, 2),
    )
    table = plans.tabulate_sizes(found)
    assert table.frame["needed"].to_list() == [need.size for need in found.needs]
    assert table.frame["cost"].sum() == pytest.approx(found.cost)
    assert f"Cost {found.cost:,.2f}." in list(plans.explain_sizes(found))
    check_shown(table)


def test_a_queue_says_who_judges_how_much_for_what() -> None:
    rules = kt.QueueRules(prices=kt.parse_prices("expert=4,crowd=0.05", 5), measure="AP", depth=10)
    found = kt.queue(world().runs, None, None, rules, budget="50.5")
    batch = queues.tabulate_batch(found)
    assert dict(batch.frame.select("to", "documents").iter_rows()) == dict(found.items.group_by("to").len().iter_rows())
    assert sum(batch.frame["cost"], Decimal(0)) == found.cost
    settling = queues.tabulate_settling(found.settling)
    assert settling.frame["score"].to_list() == found.settling.to_frame()["score"].to_list()
    assert settling.frame["doubt"].to_list() == found.settling.to_frame()["doubt"].to_list()
    for table in (batch, settling):
        check_shown(table)


def test_crowds_and_what_they_were_learned_from() -> None:
    model = kt.simulation.load_crowd("hcb")
    counts, rates = crowds.tabulate_model(model)
    assert counts.frame["number"].to_list()[:2] == [model.judges, model.judgments]
    assert rates.frame["value"].to_list()[:2] == pytest.approx([float(rate) for rate in model.rates])
    listed = crowds.tabulate_models([model, kt.simulation.load_crowd("careful")])
    assert listed.frame["judges"].to_list() == [722, None]
    inside = crowds.tabulate_collection(world())
    assert inside.frame["number"].to_list()[:2] == [5, 12]
    for table in (counts, rates, listed, inside):
        check_shown(table)


def test_what_is_off_is_said_in_words():
    some = kt.read_gold(world().gold.to_frame().drop("judge").sample(60, seed=1))
    within = some.only_topics(some.topics[:8])
    shown = calibrations.tabulate_shift(kt.calibrate(world().judgments, within, rng=1)).frame
    assert shown["statistic"].to_list()[3:] == [
        "mean grade minus gold's",
        "grades of gold's items against others, within topics",
        "grades in gold's topics against others, between topics",
    ]
    few = kt.calibrate(world().judgments.only_topics(some.topics[:2]), some.only_topics(some.topics[:2]), rng=1)
    assert calibrations.tabulate_shift(few).frame["statistic"].to_list()[4:] == [
        "grades of gold's items against others"
    ]
