"""Intervals of calibration hold what they promise, when items of a topic share their luck."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr, ndtri

import karatage as kt
from karatage.agreement.calibration import BINS, Forecasts, compare_items, measure_calibration, tabulate_bins
from karatage.data.estimate import Bounded
from karatage.decisions.calibrate import calibrate
from karatage.simulation.collection import simulate_story
from tests.notes import has_note

TOPICS, ITEMS, WORLDS = 40, 30, 200
SHARED = 0.15  # of an item's luck, with the others of its topic


def say(chance: np.ndarray, habit: str) -> np.ndarray:
    """What a judge calls an item that is relevant with this chance."""
    return {"plain": chance, "generous": np.sqrt(chance), "bold": ndtr(2 * ndtri(chance))}[habit]


def draw(rng: np.random.Generator, habit: str, topics: int = TOPICS, items: int = ITEMS) -> Forecasts:
    """Items relevant with known chances, of which those of a topic share a part of their luck."""
    group = np.repeat(np.arange(topics), items)
    chance = np.clip(rng.beta(0.7, 1.3, len(group)), 1e-6, 1 - 1e-6)
    luck = np.sqrt(SHARED) * rng.normal(size=topics)[group] + np.sqrt(1 - SHARED) * rng.normal(size=len(group))
    relevant = (luck < ndtri(chance)).astype(float)
    return Forecasts(probability=say(chance, habit), relevant=relevant, weight=np.ones(len(group)), group=group)


def measure(found: Forecasts, rng: np.random.Generator) -> dict[str, Bounded]:
    """With the mean of what is called too probable."""
    return measure_calibration(found, {"bias": found.excess}, rng)


def find_truth(habit: str) -> dict[str, float]:
    """In endless topics."""
    chance = np.clip(np.random.default_rng(1).beta(0.7, 1.3, 2_000_000), 1e-6, 1 - 1e-6)
    said = say(chance, habit)
    gap = np.bincount(np.minimum((said * BINS).astype(int), BINS - 1), said - chance, BINS) / len(said)
    brier = float((chance * (1 - said) ** 2 + (1 - chance) * said**2).mean())
    return {"ece": float(np.abs(gap).sum()), "bias": float((said - chance).mean()), "brier": brier}


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """Enough for a quantile, and fast."""
    monkeypatch.setattr("karatage.agreement.calibration.DRAWS", 500)
    monkeypatch.setattr("karatage.agreement.calibration.SHIFT_DRAWS", 200)


def within_tolerance(share: float, expected: float) -> bool:
    """Three standard errors of a share of so many worlds."""
    return abs(share - expected) < 3 * np.sqrt(expected * (1 - expected) / WORLDS)


@pytest.mark.parametrize(("habit", "topics"), [("plain", 40), ("generous", 40), ("bold", 15)])
def test_intervals_hold_the_truth_as_often_as_they_say(habit: str, topics: int):
    truth, rng = find_truth(habit), np.random.default_rng(7)
    found = [measure(draw(rng, habit, topics), rng) for _ in range(WORLDS)]
    held = {
        name: np.mean([one[name].low - 1e-12 <= truth[name] <= one[name].high + 1e-12 for one in found])
        for name in truth
    }
    assert within_tolerance(held["bias"], 0.95)
    assert within_tolerance(held["brier"], 0.95)
    assert held["ece"] > 0.95 - 3 * np.sqrt(0.95 * 0.05 / WORLDS)  # at least, as bounds by the sum over bins are safe
    off = np.mean([one["ece"].low > 0 for one in found])
    if habit == "plain":
        assert within_tolerance(off, 0.05)
    else:
        assert off > (0.99 if topics == TOPICS else 0.6)


def test_counting_items_would_promise_too_much():
    rng = np.random.default_rng(7)
    worlds = [draw(rng, "plain", 20, 60) for _ in range(60)]
    alone = [Forecasts(**{**vars(one), "group": rng.permutation(len(one.group)) % 200}) for one in worlds]
    held = [measure(one, rng)["bias"] for one in alone]
    assert np.mean([low <= 0 <= high for _, low, high in held]) < 0.8


def test_intervals_of_bins_hold_the_share():
    rng = np.random.default_rng(3)
    held = []
    for _ in range(60):
        bins = tabulate_bins(draw(rng, "plain"))
        held += list((bins["low"] <= bins["probability"]) & (bins["probability"] <= bins["high"]))
    assert np.mean(held) == pytest.approx(0.95, abs=0.03)


def read_votes(rng: np.random.Generator, lift: float) -> tuple[kt.Judgments, kt.Judgments]:
    """Ten judges, of whom k call an item relevant that is so with chance k/10, or with another if they are lifted."""
    topics, items, judges = 30, 40, 10
    votes = rng.integers(0, judges + 1, (topics, items))
    chance = np.clip(votes / judges - lift, 0, 1)
    gold = {f"t{t}": {f"d{i}": int(rng.random() < chance[t, i]) for i in range(items)} for t in range(topics)}
    said = {
        f"j{j}": {f"t{t}": {f"d{i}": int(j < votes[t, i]) for i in range(items)} for t in range(topics)}
        for j in range(judges)
    }
    return kt.read_judgments(said), kt.read_gold(gold)


def test_calibrated_judges_are_found_so_and_generous_ones_are_not():
    rng = np.random.default_rng(5)
    honest = [calibrate(*read_votes(rng, 0.0), rng=1) for _ in range(8)]
    assert sum(found.ece.low == 0 for found in honest) >= 7
    assert np.mean([found.ece.value for found in honest]) < 0.035
    generous = calibrate(*read_votes(rng, 0.3), rng=1)
    assert generous.ece.low > 0.15
    assert generous.bias.low > 0.15


def test_weights_undo_a_lopsided_draw():
    """Gold drawn where judges say relevant makes them look otherwise than they are; 1/pi puts that right."""
    rng = np.random.default_rng(11)
    biased, plain, weighed = [], [], []
    for _ in range(WORLDS // 3):
        world = draw(rng, "bold", 30, 60)
        pi = np.where(world.probability > 0.5, 0.6, 0.1)
        kept = rng.random(len(pi)) < pi
        part = {name: value[kept] for name, value in vars(world).items() if name != "weight"}
        part["group"] = np.unique(part["group"], return_inverse=True)[1]
        plain.append(measure(Forecasts(**part, weight=np.ones(kept.sum())), rng)["bias"].value)
        weighed.append(measure(Forecasts(**part, weight=1 / pi[kept]), rng)["bias"].value)
        biased.append(float(world.excess.mean()))
    assert np.mean(weighed) == pytest.approx(np.mean(biased), abs=0.008)
    assert abs(np.mean(plain) - np.mean(biased)) > 0.03


def test_like_items_are_called_unlike_as_often_as_chance_has_it():
    rng = np.random.default_rng(2)
    p_values = {"within topics": [], "between topics": []}
    for _ in range(WORLDS):
        topic = np.repeat(np.arange(20), 15)
        level = np.clip(rng.normal(0.4, 0.15, 20), 0.05, 0.95)[topic]
        said = np.stack([1 - level, level], axis=1) + rng.normal(0, 0.1, (300, 1)) * [[-1, 1]]
        part = rng.random(300) < 0.3
        found, *_ = compare_items(said, part, topic, rng)
        p_values[found.way].append(found.p_value)
        (found,) = compare_items(said, topic < 8, topic, rng)
        p_values[found.way].append(found.p_value)
        told = compare_items(said, (level > 0.5) & part, topic, rng)
    for found in p_values.values():
        assert len(found) == WORLDS
        assert within_tolerance(np.mean(np.array(found) <= 0.05), 0.05)
    assert told[-1].way == "between topics"
    assert told[-1].p_value < 0.05


def test_chosen_items_are_unlike_the_others():
    rng = np.random.default_rng(4)
    topic = np.repeat(np.arange(20), 30)
    relevant = rng.random(600) < 0.4
    said = np.stack([~relevant, relevant], axis=1).astype(float)
    picked = rng.random(600) < np.where(relevant, 0.5, 0.2)
    (found,) = compare_items(said, picked, topic, rng)
    assert found.p_value < 0.01


def test_gold_that_a_plan_drew_is_never_called_unlike_what_it_stands_for():
    """Documents on which systems differ are unlike the others; a lopsided sample without chances still is told."""
    alarms = 0
    for seed in range(4):
        world = simulate_story(seed)
        graded = world.pool.to_frame().drop("judge")
        queue = kt.plan(world.runs, world.judgments, "P@10", budget=150).queue.drop("grade")
        drawn = calibrate(world.judgments, kt.read_gold(queue.join(graded, on=["topic", "document"])), rng=seed)
        assert drawn.shifted is None
        assert not has_note(drawn, "decisions.gold-unlike")
        lopsided = kt.read_gold(graded.filter(pl.col("grade") > 0).sample(150, seed=seed))
        alarms += calibrate(world.judgments, lopsided, rng=seed).shifted
    assert alarms == 4
