"""Calibration: numbers by hand, weights, cross-fitting, doubts, and what is said of it all."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.data.calibration import Calibration
from karatage.data.estimate import Bounded, wilson_interval
from karatage.decisions.calibrate import calibrate
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.random_streams import stream
from tests.notes import gives, has_note

SAID = {  # votes of three judges for an item, and gold: one topic a row
    "t1": {"a": ((1, 1, 1), 1), "b": ((1, 1, 0), 0), "c": ((0, 0, 0), 0), "d": ((0, 0, 1), 0)},
    "t2": {"a": ((1, 1, 1), 1), "b": ((1, 1, 0), 1), "c": ((0, 0, 0), 1), "d": ((0, 0, 0), None)},
    "t3": {"a": ((1, 1, 1), 0), "b": ((0, 1, 0), 0)},
}


def judge(said=SAID) -> kt.Judgments:
    return kt.read_judgments(
        {f"j{j}": {t: {d: votes[j] for d, (votes, _) in items.items()} for t, items in said.items()} for j in range(3)}
    )


def trust(said=SAID, **columns: object) -> kt.Judgments:
    rows = [
        {"topic": t, "document": d, "grade": gold, **columns}
        for t, items in said.items()
        for d, (_, gold) in items.items()
        if gold is not None
    ]
    return kt.read_gold(pl.DataFrame(rows))


def world(gold: int | None = None) -> tuple[kt.Judgments, kt.Judgments]:
    found = kt.simulation.simulate_collection(systems=3, topics=14, depth=15, rng=2)
    frame = found.gold.to_frame().drop("judge")
    return found.judgments, found.gold if gold is None else kt.read_gold(frame.sample(gold, seed=1))


def test_bins_by_hand():
    found = calibrate(judge(), trust(), rng=1)
    assert found.bins["from"].to_list() == pytest.approx([0.0, 0.3, 0.6, 0.9])
    assert found.bins["to"].to_list() == pytest.approx([0.1, 0.4, 0.7, 1.0])
    assert found.bins["items"].to_list() == [2, 2, 2, 3]
    assert found.bins["probability"].to_list() == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert found.bins["share"].to_list() == pytest.approx([1 / 2, 0, 1 / 2, 2 / 3])
    assert found.bins["weight"].to_list() == pytest.approx([2 / 9, 2 / 9, 2 / 9, 3 / 9])
    assert (found.items, found.topics, found.relevant, found.approach) == (9, 3, 1, "mv")


def test_errors_by_hand():
    found = calibrate(judge(), trust(), rng=1)
    excess = np.array([0, 2 / 3, 0, 1 / 3, 0, -1 / 3, -1, 1, 1 / 3])
    assert found.brier.value == pytest.approx((excess**2).mean())
    gaps = np.array([0 - 1, 1 / 3 + 1 / 3, 2 / 3 - 1 / 3, 1.0]) / 9  # sums over the bins
    assert found.ece.value == pytest.approx(np.abs(gaps).sum())
    assert found.bias.value == pytest.approx(5 / 9 - 4 / 9)
    assert found.bias.value == pytest.approx(found.called - found.found)
    assert found.leniency.value == pytest.approx(found.bias.value)  # two grades


def test_what_is_called_relevant_are_the_grades_that_systems_are_scored_with():
    lone = {
        f"t{t}": {"a": ((1, 0, 0), 1), "b": ((1, 1, 0), 0), "c": ((2, 0, 0), 2), "d": ((0, 0, 0), 0)} for t in range(12)
    }
    found = calibrate(judge(lone), trust(lone), rng=1)
    assert found.called == pytest.approx(1 / 4)  # of the votes two thirds of one in four, and twice a third
    assert found.probable == pytest.approx(1 / 3)
    assert found.found == pytest.approx(1 / 2)
    assert found.bias == pytest.approx((-1 / 4, -1 / 4, -1 / 4))
    assert found.leniency.value == pytest.approx((0 + 1 + 0 + 0 - 3) / 4)
    assert found.grades["judges"].to_list() == pytest.approx([3 / 4, 1 / 4, 0])
    assert found.grades["gold"].to_list() == pytest.approx([1 / 2, 1 / 4, 1 / 4])
    assert gives(found.sentence, "25%", 48, "50%", "25.0", "33%")
    merged = kt.aggregate(judge(lone), "mv").grades
    assert found.called == pytest.approx((merged >= 1).mean())


def test_only_votes_are_called_vote_shares():
    judgments, gold = world()
    assert calibrate(judgments, gold, approach="mv", rng=1).forecast == "vote shares"
    found = calibrate(judgments, gold, approach="ds(prior=none)", rng=1)
    assert found.forecast == "probabilities"


def test_shares_of_drawn_gold_are_estimates():
    judgments, gold = world(100)
    frame = gold.to_frame().drop("judge")
    found = calibrate(judgments, kt.read_gold(frame.with_columns(pi=pl.Series([0.5, 0.25] * 50))), rng=1)
    assert gives(found.sentence, "estimated", f"{found.called:.0%}", f"{found.found:.0%}", 100)
    alone = kt.read_gold(frame.with_columns(pi=pl.Series([0.5, 0.25] * 50)))
    assert gives(calibrate(judgments, alone, approach="judge:careful-1", rng=1).sentence, "estimated")
    certain = calibrate(judgments, kt.read_gold(frame.with_columns(pi=pl.lit(1.0))), rng=1)
    assert "estimated" not in certain.sentence


def test_a_bin_is_worth_fewer_items_where_topics_differ():
    alike = {
        f"t{t}": {f"d{i}": ((1, 1, 1), int(t % 2 == 0)) for i in range(10)} for t in range(12)
    }  # all or nothing by topic
    found = calibrate(judge(alike), trust(alike), rng=1)
    (row,) = found.bins.to_dicts()
    assert row["share"] == 0.5
    assert row["worth"] == pytest.approx(11)  # not 120: as many as topics, less one
    assert (row["low"], row["high"]) == pytest.approx(tuple(map(float, wilson_interval(5.5, 11))))
    mixed = {f"t{t}": {f"d{i}": ((1, 1, 1), int(i % 2 == 0)) for i in range(10)} for t in range(12)}
    assert calibrate(judge(mixed), trust(mixed), rng=1).bins["worth"].to_list() == [120.0]


def test_weights_are_the_inverse_of_chances():
    gold = trust()
    frame = gold.to_frame().drop("judge").with_columns(pi=pl.Series([1.0, 0.5, 0.25, 1.0, 0.5, 1.0, 0.1, 1.0, 0.2]))
    found = calibrate(judge(), kt.read_gold(frame), rng=1)
    excess = np.array([0, 2 / 3, 0, 1 / 3, 0, -1 / 3, -1, 1, 1 / 3])
    weight = 1 / frame["pi"].to_numpy()
    wrong = np.array([0, 1, 0, 0, 0, 0, -1, 1, 0])  # of the votes by majority
    assert found.bias.value == pytest.approx(np.average(wrong, weights=weight))
    assert found.brier.value == pytest.approx(np.average(excess**2, weights=weight))
    kish = (4 + 10) ** 2 / (4**2 + 10**2)  # the items nobody called relevant
    assert found.bins["worth"][0] <= kish + 1e-9
    assert found.grades["gold"].to_list() == pytest.approx(
        [np.average(frame["grade"].to_numpy() == grade, weights=weight) for grade in (0, 1)]
    )


def test_grades_side_by_side():
    judgments, gold = world(100)
    found = calibrate(judgments, gold, rng=1)
    merged = kt.aggregate(judgments, "mv", rng=stream(1, "mv")).as_judgments()
    votes = merged.to_frame().join(
        gold.to_frame().select("topic", "document", trusted="grade"), on=["topic", "document"], how="left"
    )
    known, unknown = votes.drop_nulls("trusted"), votes.filter(pl.col("trusted").is_null())
    for row in found.grades.to_dicts():
        assert row["judges"] == pytest.approx((known["grade"] == row["grade"]).mean())
        assert row["elsewhere"] == pytest.approx((unknown["grade"] == row["grade"]).mean())
        assert row["gold"] == pytest.approx((gold.grade == row["grade"]).mean())
    assert found.leniency.value == pytest.approx((known["grade"] - known["trusted"]).mean())


def test_relevance_may_begin_higher():
    judgments, gold = world()
    found = calibrate(judgments, gold, relevant=2, rng=1)
    assert found.found == pytest.approx((gold.grade >= 2).mean())
    assert found.probable == pytest.approx((judgments.grade >= 2).mean())
    assert found.called < found.probable  # a majority for 2 is rarer than votes


def test_one_judge_alone_is_taken_at_its_word():
    judgments, gold = world()
    found = calibrate(judgments, gold, approach="judge:careful-1", rng=1)
    assert found.bins["probability"].to_list() == [0.0, 1.0]
    said = judgments.to_frame().filter(judge="careful-1")["grade"].to_numpy() > 0
    assert found.ece.value == pytest.approx((said != (gold.grade > 0)).mean())
    assert gives(found.sentence, "careful-1", f"{found.called:.0%}", len(gold.grade), f"{found.found:.0%}")


def test_what_learns_from_gold_meets_only_that_of_other_topics():
    judgments, gold = world()
    found = calibrate(judgments, gold, approach="ds(supervision=full)", rng=1)
    assert has_note(found, "aggregation.crossfit")
    assert found.brier.value > 0.005  # its own gold would be repeated without a fault
    one = gold.keep_topics(gold.topics[:1])
    with pytest.raises(DataError, match=r"ds\(supervision=full\).*topics"):
        calibrate(judgments, one, approach="ds(supervision=full)", rng=1)


def test_only_items_of_some_topics_count():
    judgments, gold = world()
    some = judgments.topics[:5]
    found = calibrate(judgments, gold, topics=some, rng=1)
    same = calibrate(judgments, gold.keep_topics(some), rng=1)
    assert found.topics == same.topics == 5
    assert found.items == same.items
    assert found.bins.equals(same.bins)
    assert found.shift.height == 1  # gold has all that counts
    assert same.shift.height == 2


def test_one_topic_has_no_interval():
    judgments, gold = world()
    found = calibrate(judgments, gold.keep_topics(gold.topics[:1]), rng=1)
    assert np.isnan([found.ece.low, found.bias.high, found.brier.low]).all()
    assert found.calibrated is None
    assert json.loads(found.to_json())["ece"]["low"] is None
    assert has_note(found, "decisions.few-topics-calibrated", topics=1)


def test_items_without_topics_have_luck_of_their_own():
    rng = np.random.default_rng(1)
    said = pl.DataFrame(
        {"judge": ["a", "b"] * 300, "item": [str(k // 2) for k in range(600)], "grade": rng.integers(0, 2, 600)}
    )
    gold = pl.DataFrame({"item": [str(k) for k in range(300)], "grade": rng.integers(0, 2, 300)})
    found = calibrate(kt.read_judgments(said), kt.read_gold(gold), rng=1)
    assert found.topics == 0
    assert 0 <= found.ece.low < found.ece.value < found.ece.high
    assert has_note(found, "decisions.items-alone")


def test_gold_chosen_by_what_judges_say_is_unlike_the_others():
    judgments, gold = world()
    votes = judgments.to_frame().group_by("topic", "document").agg(pl.col("grade").mean().alias("mean"))
    frame = gold.to_frame().drop("judge").join(votes, on=["topic", "document"])
    chosen = kt.read_gold(frame.filter(pl.col("mean") > 0.6).drop("mean"))
    found = calibrate(judgments, chosen, rng=1)
    assert found.shifted is True
    fair = calibrate(judgments, world(150)[1], rng=1)
    assert fair.shifted is False
    assert calibrate(judgments, gold, rng=1).shifted is None


def test_gold_drawn_with_chances_is_not_held_against_items_that_it_may_not_stand_for():
    judgments, gold = world()
    frame = gold.to_frame().drop("judge").filter(pl.col("grade") > 0)
    found = calibrate(judgments, kt.read_gold(frame.with_columns(pi=pl.lit(0.2))), rng=1)
    assert found.shift["statistic"].to_list() == ["leniency"]
    assert found.shifted is None
    assert has_note(found, "decisions.gold-drawn")
    assert not has_note(calibrate(judgments, kt.read_gold(frame), rng=1), "decisions.gold-drawn")


def test_doubts_are_told():
    judgments, gold = world(100)
    assert has_note(calibrate(judgments, gold, relevant=3, rng=1), "decisions.gold-unlike")
    low = replace(judgments, grade=np.where(judgments.judge == 1, np.minimum(judgments.grade, 1), judgments.grade))
    mute = calibrate(low, gold, relevant=2, rng=1)
    assert has_note(mute, "decisions.mute", relevant=2, judges=("careful-2",))
    few = gold.keep_topics(gold.topics[:3])
    assert has_note(calibrate(judgments, few, rng=1), "decisions.few-topics-calibrated", topics=3)
    batches = gold.to_frame().drop("judge").with_columns(pi=pl.lit(0.5), batch=pl.Series([1, 2] * 50))
    assert has_note(calibrate(judgments, kt.read_gold(batches), rng=1), "decisions.batches-weighted")


def test_the_same_seed_says_the_same():
    judgments, gold = world(100)
    one, same, other = (calibrate(judgments, gold, rng=seed).to_dict() for seed in (3, 3, 4))
    assert one == same
    assert one["ece"] != other["ece"]


@pytest.mark.parametrize(
    ("name", "bounds", "points"),
    [
        ("bias", (0.1, 0.05, 0.15), ("10.0", "5.0", "15.0")),
        ("bias", (-0.1, -0.15, -0.05), ("10.0", "5.0", "15.0")),
        ("bias", (0.01, -0.02, 0.03), None),  # no more than chance explains
        ("ece", (0.1, 0.06, 0.14), ("10.0", "6.0", "14.0")),
        ("ece", (0.02, 0.01, 0.04), ("2.0", "1.0", "4.0")),
        ("ece", (0.1, 0.0, 0.2), ("10.0", "0.0", "20.0")),
    ],
)
def test_sentences_give_the_points_and_their_interval_where_it_is_no_chance(name, bounds, points):
    found = fit(calibrate(judge(), trust(), rng=1), **{name: bounds[0]})
    sentence = replace(found, **{name: Bounded(*bounds)}).sentence
    if points is None:
        assert not gives(sentence, f"{100 * bounds[0]:.1f}")
    else:
        assert gives(sentence, *points)


def fit(found: kt.Calibration, bias: float = 0.0, ece: float = 0.0) -> kt.Calibration:
    """The same with one bin and grades of which such a bias and calibration error follow."""
    share, grades = found.found, len(found.grades)
    chance, called = share - ece, share + bias
    place, (low, high) = int(chance * 10), wilson_interval(share * found.items, found.items)
    cells = {
        "from": place / 10,
        "to": (place + 1) / 10,
        "items": found.items,
        "worth": float(found.items),
        "weight": 1.0,
    }
    cells |= {"probability": chance, "share": share, "low": float(low), "high": float(high)}
    judges = pl.Series([1 - called, called, *[0.0] * (grades - 2)])
    lenient = float((found.grades["grade"] * (judges - found.grades["gold"])).sum())
    value = pl.when(pl.col("statistic") == "leniency").then(lenient).otherwise("value").alias("value")
    return replace(
        found,
        bins=pl.DataFrame([cells]),
        grades=found.grades.with_columns(judges=judges),
        shift=found.shift.with_columns(value),
        ece=Bounded(ece, math.nan, math.nan),
        bias=Bounded(bias, math.nan, math.nan),
    )


def test_what_cannot_be_done_is_refused():
    judgments, gold = world()
    with pytest.raises(OptionError, match=r"\b1\b.*\b0\b"):
        calibrate(judgments, gold, relevant=0)
    with pytest.raises(UnknownNameError, match="'nobody'"):
        calibrate(judgments, gold, approach="judge:nobody")
    with pytest.raises(UnknownNameError, match="'uniform'"):
        calibrate(judgments, gold, approach="uniform")
    other = kt.read_gold({"elsewhere": {"d": 1}})
    with pytest.raises(DataError, match="gold item"):
        calibrate(judgments, other)


def test_a_result_comes_back_from_json(tmp_path):
    judgments, gold = world(100)
    found = calibrate(judgments, gold, rng=1)
    (tmp_path / "found.json").write_text(found.to_json(), encoding="utf-8")
    again = kt.read_result(tmp_path / "found.json").result
    assert isinstance(again, Calibration)
    assert again.to_json() == found.to_json()
    assert again.to_frame().equals(found.to_frame())
