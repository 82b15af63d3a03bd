"""Charts of plans, queues, posteriors, scores and tests show the numbers of the results."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.data.queue import Settling
from karatage.errors import OptionError
from karatage.views.calibration import chart_accuracy
from karatage.views.comparison import chart_test
from karatage.views.crowd import chart_summary
from karatage.views.marks import tick_counts
from karatage.views.plan import chart_plan, chart_sizes, frame_topics
from karatage.views.posterior import MANY_JUDGES, chart_judges, chart_sureness, frame_judges, frame_sureness
from karatage.views.queue import OPEN, SETTLED, chart_disagreement, chart_queue, chart_settling
from karatage.views.scores import chart_draws, chart_score_map, chart_systems, frame_systems
from karatage.views.variance import chart_sources


def read(chart, column):
    """The rows of a chart's data that have a column, from whichever table."""
    tables = json.loads(chart.to_json())["datasets"].values()
    return [row for table in tables for row in table if column in row]


@pytest.fixture(scope="module")
def world():
    return kt.simulation.simulate_collection(systems=5, topics=4, depth=12, rng=3)


@pytest.fixture(scope="module")
def merged(world):
    return kt.aggregate(world.judgments, "ds", rng=1)


def test_sureness_counts_every_item_once_and_certainty_is_in_the_last_bin(merged):
    frame = frame_sureness(merged)
    assert frame["items"].sum() == len(merged.grades)
    sure = merged.probability.max(axis=1)
    assert frame.filter(pl.col("from") >= 0.9 - 1e-9)["items"].sum() == (sure >= 0.9 - 1e-9).sum()
    assert frame["to"].max() == 1.0
    assert {row["grade"] for row in read(chart_sureness(merged), "items")} == set(merged.grades.tolist())


def test_judges_are_drawn_by_the_accuracy_the_model_gives_them(merged):
    frame = frame_judges(merged)
    expected = dict(merged.judges.select("judge", "accuracy").rows())
    assert dict(frame.select("judge", "value").rows()) == expected
    assert frame["value"].is_sorted(descending=True)
    drawn = read(chart_judges(merged, frame), "judge")
    assert {row["judge"]: row["value"] for row in drawn} == pytest.approx(expected)


def test_many_judges_are_points_over_the_grades_they_gave(merged):
    size = MANY_JUDGES + 1
    many = pl.DataFrame({"judge": [f"j{k}" for k in range(size)], "value": 0.5, "low": 0.5, "high": 0.5, "grades": 3})
    spec = json.loads(chart_judges(merged, many).to_json())
    assert spec["layer"][0]["encoding"]["x"]["field"] == "grades"
    assert len(read(chart_judges(merged, many), "judge")) == size


def test_judges_of_several_topics_have_a_range(merged):
    twice = replace(
        merged,
        judge_names=("a", "a", "b"),
        judge_topics=("1", "2", "1"),
        parameters={"accuracy": np.array([0.4, 0.8, 0.7])},
    )
    assert frame_judges(twice).rows() == [("b", 0.7, 0.7, 0.7), ("a", pytest.approx(0.6), 0.4, 0.8)]


def test_a_model_without_accuracy_has_no_judges_to_draw(merged):
    assert frame_judges(replace(merged, parameters={"bias": np.zeros(len(merged.judge_names))})) is None


def test_gold_labels_are_counted_by_topic(world):
    plan = kt.plan(world.runs, world.judgments, kt.Question(measure="P@5"), budget=[20])
    frame = frame_topics(plan)
    assert frame["labels"].sum() == 20
    assert frame["labels"].is_sorted(descending=True)
    topic, labels, low, middle, high = frame.row(0)
    chances = plan.items.filter(topic=topic)["pi"]
    assert (labels, low, middle, high) == (len(chances), chances.min(), chances.median(), chances.max())
    assert len(read(chart_plan(plan), "labels")) == len(frame)


def test_sizes_are_at_hand_or_still_needed():
    rates = kt.RateCounts(170, 200, 216, 262)
    plan = kt.plan_sizes(kt.Figures(50, 0.427, 0.240), kt.Figures(50, 0.313, 0.260), rates)
    rows = {(row["need"], row["mark"]): row["items"] for row in read(chart_sizes(plan), "mark")}
    for need in plan.needs:
        assert rows[need.kind, "available"] == min(need.have, need.size)
        assert rows[need.kind, "available"] + rows[need.kind, "still needed"] == need.size
    refused = kt.plan_sizes(kt.Figures(50, 0.9, 0.2), kt.Figures(50, 0.8, 0.2), rates)
    with pytest.raises(OptionError, match="shown"):
        chart_sizes(refused)


def test_a_leaderboard_is_settled_where_no_doubt_is_above_the_risk():
    wrong = np.array([[0, 0.2, 0.01], [0, 0, 0.04], [0, 0, 0]])
    settling = Settling(
        measure="P@5",
        systems=("a", "b", "c"),
        score=np.array([0.5, 0.4, 0.1]),
        spread=np.array([0.1, 0.1, 0.2]),
        wrong=wrong,
        counts=np.triu(np.ones((3, 3), bool), 1),
        indifference=0.01,
        risk=0.05,
        draws=100,
    )
    rows = {row["system"]: row for row in read(chart_settling(settling), "doubt")}
    assert {name: row["mark"] for name, row in rows.items()} == {"a": OPEN, "b": OPEN, "c": SETTLED}
    assert (rows["a"]["low"], rows["a"]["high"]) == pytest.approx((0.4, 0.6))
    assert rows["c"]["low"] == 0  # no score is below


def test_documents_of_a_queue_are_counted_by_topic_and_by_who_judges(world):
    rules = kt.QueueRules(prices=kt.parse_prices("A"), measure="P@5")
    queue = kt.queue(world.runs, None, None, rules, budget="60")
    rows = read(chart_queue(queue), "documents")
    found = {(row["topic"], row["mark"]): row["documents"] for row in rows}
    assert found == dict.fromkeys(found, 0) | {
        (topic, to): count for topic, to, count in queue.items.group_by("topic", "to").len().rows()
    }
    assert {to for _, to in found} == {"expert", "crowd"}


def test_scores_span_from_the_lowest_judge_to_the_highest(world):
    scores = kt.score(world.runs, world.judgments, "P@5")
    frame = frame_systems(scores)
    mean = pl.DataFrame(scores.mean, schema=scores.systems)
    for system, value, low, high, _ in frame.rows():
        assert (value, low, high) == (mean[system].median(), mean[system].min(), mean[system].max())
    assert frame["best"].sum() >= len(scores.judges)
    assert len(read(chart_systems(scores), "best")) == 5
    cells = read(chart_score_map(scores), "score")
    assert len(cells) == 5 * len(scores.judges)
    cell = cells[7]
    at = scores.judges.index(cell["judge"]), scores.systems.index(cell["system"])
    assert cell["score"] == scores.mean[at]
    assert cells[0]["system"] == frame["system"][0]


def test_a_judge_alone_has_standard_errors(world):
    scores = kt.score(world.runs, world.gold, "P@5")
    rows = {name: (low, high) for name, _, low, high, _ in frame_systems(scores).rows()}
    for s, name in enumerate(scores.systems):
        mean, error = scores.mean[0, s], scores.standard_error[0, s]
        assert rows[name] == pytest.approx((mean - error, mean + error))


def test_a_system_that_nobody_scores_comes_last(world):
    scores = kt.score(world.runs, world.judgments, "P@5")
    value = scores.value.copy()
    value[:, :, 2] = np.nan
    frame = frame_systems(replace(scores, value=value))
    assert frame.row(-1) == (scores.systems[2], None, None, None, 0)


def test_draws_show_means_intervals_and_who_may_be_best(world, merged):
    draws = kt.stats.draw_scores(world.runs, merged, "P@5", draws=40, rng=1)
    rows = read(chart_draws(draws), "p_best")
    expected = {name: (mean, best) for name, mean, _, _, _, _, best in draws.to_frame().rows()}
    assert {row["system"]: (row["value"], row["p_best"]) for row in rows} == expected
    assert all((row["mark"] == "probably not the best") == (row["p_best"] < 0.025) for row in rows)


def test_a_test_is_drawn_with_its_interval_where_it_has_one():
    found = kt.stats.paired_test([0.2, 0.5, 0.3, 0.4], [0.4, 0.6, 0.6, 0.8])
    (row,) = read(chart_test(found), "p_value")
    assert (row["value"], row["low"], row["high"]) == (found.difference, found.low, found.high)
    unbounded = kt.stats.paired_test([0.2, 0.5], [0.4, 0.6], test="permutation")
    (row,) = read(chart_test(unbounded), "p_value")
    assert row["low"] is row["high"] is None


def test_answers_are_right_where_said_is_gold(world):
    accuracy = kt.stats.judge_accuracy(world.judgments, world.gold)
    rows = read(chart_accuracy(accuracy), "share")
    assert {row["name"]: row["mark"] for row in rows} == {
        "not relevant → not relevant": "right",
        "not relevant → relevant": "wrong",
        "relevant → not relevant": "wrong",
        "relevant → relevant": "right",
    }
    assert rows[0]["share"] == accuracy.m_n


def test_foretold_disagreement_has_a_tick_for_each_topic(world):
    model = kt.experiments.learn_disagreement(world.runs, world.judgments, trials=10, rng=0)
    rows = read(chart_disagreement(model), "about")
    expected = {topic.topic: topic.mean.auc for topic in model.topics if not np.isnan(topic.mean.auc)}
    assert {row["topic"]: row["value"] for row in rows if row["rate"] == "AUC"} == expected


def test_sources_come_from_the_largest_effect_on(world):
    frame = kt.score(world.runs, world.judgments, "P@5").to_frame()
    result = kt.stats.anova(frame, "score", factors=["judge", "system"])
    rows = read(chart_sources(result), "omega_squared")
    table = result.to_frame()
    assert {row["name"]: row["omega_squared"] for row in rows} == dict(
        table.select("source", "omega_squared").rows()[:2]
    )
    assert rows[0]["omega_squared"] >= rows[1]["omega_squared"]


def test_a_tooltip_says_of_no_p_value_that_it_is_0():
    noise = [0.1, -0.1, 0.2] * 200
    levels = [f"{k % 2}" for k in range(600)]
    frame = pl.DataFrame({"level": levels, "score": [1e6 * float(level) for level in levels]})
    frame = frame.with_columns(pl.col("score") + pl.Series(noise))
    result = kt.stats.anova(frame, "score", factors=["level"])
    assert result.to_frame()["p_value"][0] == 0
    chart = chart_sources(result)
    assert [row["p"] for row in read(chart, "omega_squared")] == ["< 2.2e-308"]
    assert '"field": "p"' in chart.to_json()


@pytest.mark.parametrize(
    ("sizes", "ticks"), [((2, 3, 4), {"values": [2, 3, 4]}), ((2, 5, 30), {"tickMinStep": 1}), ((7,), {"values": [7]})]
)
def test_counts_have_ticks_at_whole_numbers(sizes, ticks):
    assert tick_counts(sizes) == {"format": "d", **ticks}


def test_judges_of_a_crowd_are_points_and_those_with_one_rate_are_left_out(world):
    summary = kt.simulation.summarise_crowd(world.judgments, world.pool, name="crowd")
    judges = summary.judges.with_columns(tnr=pl.when(pl.col("judge") != "spammer").then("tnr"))
    drawn = chart_summary(replace(summary, judges=judges))
    assert {row["judge"] for row in read(drawn, "judge")} == set(world.judgments.judges) - {"spammer"}
    assert "1 judge not shown" in str(json.loads(drawn.to_json())["title"])
    with pytest.raises(OptionError, match="judge"):
        chart_summary(replace(summary, judges=judges.with_columns(tpr=pl.lit(None, pl.Float64))))
