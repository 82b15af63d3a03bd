"""Where judges disagree, in the collaborative experiment: what is learned from whom, and what is not looked at."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.errors import DataError, OptionError
from karatage.experiments.collaborative.findings import experiment_collaborative
from karatage.experiments.collaborative.lesson import Lesson, OtherJudges, join_gold, rate_topics, simulate_lesson
from karatage.experiments.collection import binarise
from karatage.orders.disagreement import find_disagreement, rate_chances, tabulate, transfer
from karatage.random_streams import stream
from karatage.views.collaborative import chart_predicted, view_collaborative
from karatage.views.queue import chart_topic_rates
from karatage.views.reading import restore
from tests.notes import has_note, list_facts

PLAN = kt.experiments.CollaborativePlan(
    studies=("orders",), orders=("disagreement", "average-rank"), expert_shares=(20,), samples=1, resamples=0, splits=3
)


def make(seed):
    world = kt.simulation.simulate_collection(systems=6, topics=8, depth=40, rng=seed)
    others = np.isin(world.judgments.judge, [0, 2])  # of sorted names: careful-1 and careful-3
    return Lesson(world.runs, world.gold, world.judgments.keep_rows(others))


@pytest.fixture(scope="module")
def pool():
    return make(1)


@pytest.fixture(scope="module")
def lesson():
    return make(2)


@pytest.fixture(scope="module")
def found(pool, lesson):
    return experiment_collaborative(pool.runs, pool.gold, PLAN, others=OtherJudges(pool.judgments, lesson))


@pytest.fixture(scope="module")
def own(pool):
    return experiment_collaborative(pool.runs, pool.gold, PLAN, others=OtherJudges(pool.judgments))


def change(judgments, chosen):
    """The same judges with other grades where `chosen`."""
    return replace(judgments, grade=np.where(chosen, 3 - judgments.grade, judgments.grade).astype(np.int8))


def test_gold_is_one_of_the_judges(pool):
    gold = binarise(pool.gold, 2)
    kept = pool.judgments.item % 3 > 0
    joined = join_gold(pool.judgments.keep_rows(kept), gold, 2)
    expected = {(int(i), "gold", int(g)) for i, g in zip(gold.item, gold.grade, strict=True)}
    rows = zip(pool.judgments.item[kept], pool.judgments.judge[kept], pool.judgments.grade[kept], strict=True)
    expected |= {(int(i), pool.judgments.judges[j], int(g >= 2)) for i, j, g in rows}
    names = ("gold", *pool.judgments.judges)
    rows = zip(joined.item, joined.judge, joined.grade, strict=True)
    assert {(int(i), names[j], int(g)) for i, j, g in rows} == expected
    assert len(joined.item) == len(expected)
    assert (find_disagreement(joined).known == (np.arange(len(gold.item)) % 3 > 0)).all()


def test_a_topic_is_predicted_by_another_topics_model(pool):
    model = pool.learn(level=1, splits=3, seed=0)
    table, judged = tabulate("runs", pool.runs, pool.gold), pool.join(1)
    rates = rate_topics(model, kt.stats.align(pool.runs, judged), judged)
    assert rates["topic"].to_list() == list(pool.gold.topics)
    assert set(rates["model"]) <= {topic.topic for topic in model.topics}
    outcome = find_disagreement(judged)
    for t, row in enumerate(rates.iter_rows(named=True)):
        others = replace(model, topics=tuple(one for one in model.topics if one.topic != row["topic"]))
        rows = table.item_topic == t
        alone = transfer(others, table)
        assert row["model"] == others.topics[alone.chosen[t]].topic != row["topic"]
        expected = rate_chances(alone.chance[rows], outcome.disagree[rows], 0.3)
        assert [row[name] for name in expected._fields] == pytest.approx(list(expected))
        assert (row["items"], row["disagreed"]) == (rows.sum(), outcome.disagree[rows].sum())


def test_what_is_tried_on_is_not_learned_from(pool, lesson, found):
    told = change(pool.judgments, pool.judgments.item % 2 == 0)
    other = experiment_collaborative(pool.runs, pool.gold, PLAN, others=OtherJudges(told, lesson))
    assert other.predicted.model.to_json() == found.predicted.model.to_json()
    assert other.orders.equals(found.orders)
    assert not other.predicted.rates.equals(found.predicted.rates)
    assert found.predicted.model.to_json() == lesson.learn(level=1, splits=3, seed=0).to_json()


def test_no_topics_own_judges_change_its_order(pool):
    """With judges of the same pool only: if a topic's judges change, its own model does, but not its prediction."""
    alignment = kt.stats.align(pool.runs, pool.join(1))

    def predict(judgments):
        lesson = pool._replace(judgments=judgments)
        model = lesson.learn(level=1, splits=3, seed=0)
        return model, rate_topics(model, alignment, lesson.join(1)).select("topic", "model", "disagreed").rows()

    model, before = predict(pool.judgments)
    for t, topic in enumerate(pool.gold.topics):
        changed = pool.judgments.item_topic[pool.judgments.item] == t
        other, after = predict(change(pool.judgments, changed))
        own = [[one.coefficients for one in found.topics if one.topic == topic] for found in (model, other)]
        assert own[0] != own[1]
        assert before[t][:2] == after[t][:2] != (topic, topic)
        assert before[t][2] != after[t][2]


def test_the_thesis_order_is_in_the_figures(found):
    assert found.order_means["order"].to_list() == ["disagreement", "average-rank"]
    assert [name for name, _ in view_collaborative(found).figures][:2] == [
        "disagreement-learned",
        "disagreement-predicted",
    ]
    assert not has_note(found, "experiments.no-model")


def test_charts_have_all_topics(found):
    def rows(chart):
        return [row for table in json.loads(chart.to_json())["datasets"].values() for row in table]

    drawn = [row for row in rows(chart_predicted(found.predicted)) if row.get("rate") == "TNR" and "value" in row]
    assert {row["topic"]: row["value"] for row in drawn} == dict(found.predicted.rates.select("topic", "tnr").rows())
    model = found.predicted.model
    drawn = {row["topic"]: row for row in rows(chart_topic_rates(model)) if "tpr" in row}
    assert list(drawn) == [topic.topic for topic in model.topics]
    for topic in model.topics:
        assert drawn[topic.topic]["tpr"] == pytest.approx(topic.mean.tpr)
        assert drawn[topic.topic]["tpr_low"] == pytest.approx(max(topic.mean.tpr - topic.spread.tpr, 0))


def test_quartiles_are_over_topics(found):
    values = found.predicted.rates["tnr"].to_numpy()
    row = found.predicted.summary.filter(rate="tnr").row(0)
    assert row[1:] == pytest.approx((values.mean(), *np.quantile(values, [0.5, 0.25, 0.75]), len(values)))


def told_topic(told):
    """The second topic's name."""
    return told["predicted"]["rates"]["topic"]["values"][1]


def test_a_file_of_it_is_read_and_one_without_it_too(found):
    told = json.loads(found.to_json())
    again = restore(told).result
    assert again.predicted.model.to_json() == found.predicted.model.to_json()
    assert again.predicted.rates.equals(found.predicted.rates)
    assert restore({name: fact for name, fact in told.items() if name != "predicted"}).result.predicted is None
    for column, value in ("tnr", 1.5), ("model", "nobody"), ("disagreed", 10**6), ("topic", told_topic(told)):
        edited = json.loads(found.to_json())
        edited["predicted"]["rates"][column]["values"][0] = value
        with pytest.raises(DataError, match=str(value) if column in ("model", "topic") else column[:8]):
            restore(edited)


def test_a_model_is_learned_once(pool, lesson, tmp_path):
    def run(lesson):
        others = OtherJudges(pool.judgments, lesson)
        return experiment_collaborative(pool.runs, pool.gold, PLAN, others=others, output=tmp_path)

    first, again = run(lesson), run(lesson)
    assert list_facts(again.log) == {"experiments.cells-kept": {"kept": 3, "cells": 3}}
    assert again.to_json() == first.to_json()
    other = run(None)
    assert list_facts(other.log) == {"experiments.cells-kept": {"kept": 1, "cells": 3}}  # that of average-rank
    assert not other.orders.equals(first.orders)


def test_a_loaded_model_is_tried_too(pool, lesson, found, tmp_path):
    kt.experiments.write_disagreement(found.predicted.model, tmp_path / "model.json")
    plan = replace(PLAN, disagreement=str(tmp_path / "model.json"))
    loaded = experiment_collaborative(pool.runs, pool.gold, plan, others=OtherJudges(pool.judgments))
    assert loaded.orders.equals(found.orders)
    assert loaded.predicted.rates.equals(found.predicted.rates)
    without = experiment_collaborative(pool.runs, pool.gold, plan)
    assert len(without.predicted.rates) == 0
    assert [name for name, _ in view_collaborative(without).figures] == ["disagreement-learned", "orders"]
    with pytest.raises(OptionError, match="read from a file and learned"):
        experiment_collaborative(pool.runs, pool.gold, plan, others=OtherJudges(lesson=lesson))


def test_what_cannot_be_learned_is_refused(pool, own):
    other = OtherJudges(pool.judgments)
    with pytest.raises(OptionError, match="'disagreement'"):
        experiment_collaborative(pool.runs, pool.gold, replace(PLAN, orders=("depth",)), others=other)
    strange = kt.read_judgments({"judge": ["a"], "topic": ["x"], "document": ["y"], "grade": [1]})
    with pytest.raises(DataError, match="no document in common"):
        experiment_collaborative(pool.runs, pool.gold, PLAN, others=OtherJudges(strange))
    kept = own.predicted.model.topics[0].topic
    with pytest.raises(DataError, match=rf"{kept}.* only one"):
        experiment_collaborative(pool.runs, pool.gold, PLAN, others=OtherJudges(pool.judgments.only_topics([kept])))


def test_the_simulated_lesson_has_other_documents_and_judges_like_the_thesis():
    """Precision and recall of the other judges, table 3.1: .81 and .53, .82 and .62 (TREC 4); .65 and .43 (TREC 6)."""
    lesson, world = simulate_lesson(0), kt.simulation.simulate_collection(rng=stream(0, "collection"))
    table = kt.audit(binarise(lesson.judgments), gold=binarise(lesson.gold), approach="mv").judges
    table = table.drop_nulls("accuracy")
    assert table["judge"].to_list() == ["careful-1", "careful-3"]
    assert table["ppv"].is_between(0.65, 0.82).all()
    assert table["tpr"].is_between(0.62, 0.83).all()
    assert lesson.gold.to_frame().equals(simulate_lesson(0).gold.to_frame())
    assert not lesson.gold.to_frame().equals(world.gold.to_frame())


def test_disagreement_at_random_is_not_predicted(pool, lesson):
    rng = np.random.default_rng(3)
    random = replace(pool.judgments, grade=rng.integers(0, 2, len(pool.judgments.grade)).astype(np.int8))
    found = experiment_collaborative(pool.runs, pool.gold, PLAN, others=OtherJudges(random, lesson))
    there = experiment_collaborative(pool.runs, pool.gold, PLAN, others=OtherJudges(pool.judgments, lesson))
    auc = [one.predicted.summary.filter(pl.col("rate") == "auc")["mean"].item() for one in (found, there)]
    assert auc[0] == pytest.approx(0.5, abs=0.07)
    assert auc[1] > 0.65
