"""Draws from posteriors, scored."""

from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from karatage.errors import OptionError
from karatage.measures.expected import score_expected
from tests.notes import gives, has_note


@pytest.fixture(scope="module")
def world():
    return kt.simulation.simulate_collection(systems=4, topics=5, depth=10, rng=2)


def uncertain(world, probability):
    crowd = world.judgments
    return kt.Posterior(
        model="m", judgments=crowd, probability=probability, grades=probability.argmax(axis=1).astype(np.int8)
    )


@pytest.mark.parametrize("measure", ["AP", "ERR@10"])
def test_certain_grades_give_the_ordinary_scores(world, measure):
    merged = kt.aggregate(world.judgments, "mv(ties=lowest)")
    sure = uncertain(world, np.eye(4)[merged.grades])
    drawn = kt.stats.draw_scores(world.runs, sure, measure, draws=3, rng=0)
    expected = kt.score(world.runs, merged.as_judgments(), measure).mean[0]
    np.testing.assert_allclose(drawn.value, np.tile(expected, (3, 1)))
    np.testing.assert_allclose(drawn.interval, np.stack([expected, expected], axis=1))
    assert set(drawn.first.tolist()) == {0.0, 1.0}


def test_the_mean_of_a_linear_measure_is_its_expectation(world):
    merged = kt.aggregate(world.judgments, "ds")
    drawn = kt.stats.draw_scores(world.runs, merged, "P@5", draws=2000, rng=1)
    relevant = merged.probability[:, 1:].sum(axis=1)
    alignment = kt.stats.align(world.runs, world.judgments)
    top = alignment.ranked[:, :, :5]
    expected = np.where(top >= 0, relevant[np.maximum(top, 0)], 0.0).mean(axis=2).mean(axis=0)
    error = drawn.value.std(axis=0) / np.sqrt(2000)
    assert (np.abs(drawn.mean - expected) < 4 * error + 1e-12).all()


def test_every_block_of_draws_is_drawn_anew(world, monkeypatch):
    monkeypatch.setattr("karatage.decisions.evaluate.AT_ONCE", 4)
    merged = kt.aggregate(world.judgments, "mv")
    drawn, again, other = (
        kt.stats.draw_scores(world.runs, merged, "AP", draws=10, rng=seed).value for seed in (1, 1, 2)
    )
    assert drawn.shape == (10, 4)
    assert len(np.unique(drawn, axis=0)) == 10
    assert (drawn == again).all()
    assert (drawn != other).any()


def test_topics_in_no_run_are_left_out():
    crowd = kt.read_judgments({"x": {"1": {"a": 1, "b": 0}, "2": {"a": 1}}})
    drawn = kt.stats.draw_scores(
        kt.read_runs({"s": {"1": {"a": 1.0}}}), kt.aggregate(crowd, "mv"), "P@1", draws=2, rng=0
    )
    assert drawn.mean.tolist() == [1.0]
    assert drawn.topics == 1


def test_draws_by_hand():
    """In 21 draws `a` goes from 0 to 1 by twentieths; `b` stays at .1, so that it is level with `a` once."""
    value = np.stack([np.linspace(0, 1, 21), np.full(21, 0.1)], axis=1)
    drawn = kt.stats.Draws(measure="AP", approach="ds", systems=("b", "a"), value=value[:, ::-1], topics=7, seed=0)
    np.testing.assert_allclose(drawn.interval, [[0.1, 0.1], [0.025, 0.975]])
    np.testing.assert_allclose(drawn.beats, [[0.5, 2.5 / 21], [18.5 / 21, 0.5]])
    np.testing.assert_allclose(drawn.first, [2.5 / 21, 18.5 / 21])
    assert gives(drawn.sentence, 21, "ds", "a", "b", "AP", 7)
    assert ".88" in drawn.sentence  # 18.5 of 21


def test_probabilities_of_pairs_add_up(world):
    drawn = kt.stats.draw_scores(world.runs, kt.aggregate(world.judgments, "mv"), "AP", draws=50, rng=1)
    np.testing.assert_allclose(drawn.beats + drawn.beats.T, 1)
    assert drawn.first.sum() == pytest.approx(1)
    pairs = drawn.pairs()
    assert len(pairs) == 12
    a, b = drawn.systems[0], drawn.systems[1]
    by_hand = (drawn.value[:, 0] > drawn.value[:, 1]).mean() + (drawn.value[:, 0] == drawn.value[:, 1]).mean() / 2
    assert pairs.filter((pairs["a"] == a) & (pairs["b"] == b))["p_beats"][0] == pytest.approx(by_hand)
    frame = drawn.to_frame()
    assert (frame["rank_low"] <= frame["rank_high"]).all()
    assert frame["draw_mean"].is_sorted(descending=True)


def test_evaluations_carry_draws(world):
    result = kt.evaluate(world.runs, world.judgments, ["AP", "P@5"], approach=["ds", "uniform"], rng=3)
    drawn = kt.stats.draw_evaluation(world.runs, result, draws=20)
    assert [(d.measure, d.approach) for d in drawn.draws] == [("AP", "ds"), ("P@5", "ds")]
    frame = drawn.to_frame()
    assert frame.filter(approach="uniform")["draw_low"].null_count() == 8
    assert frame.filter(approach="ds")["draw_low"].null_count() == 0
    assert gives(drawn.sentence, 20, "ds")
    assert len(drawn.to_dict()["draws"][0]["value"]) == 20


def test_draws_need_a_posterior(world):
    result = kt.evaluate(world.runs, world.judgments, "AP", approach="uniform", rng=3)
    with pytest.raises(OptionError, match="grades"):
        kt.stats.draw_evaluation(world.runs, result)
    with pytest.raises(OptionError, match=r"draws.*\b2\b.*\b1\b"):
        kt.stats.draw_scores(world.runs, kt.aggregate(world.judgments, "mv"), "AP", draws=1)


def expecting(world, approach, model, measures):
    """An evaluation by expected measures, made by hand."""
    posterior = kt.aggregate(world.judgments, model)
    scored = score_expected(
        kt.stats.align(world.runs, world.judgments), posterior.probability[None], measures, names=[approach]
    )
    plain = kt.evaluate(world.runs, world.judgments, measures, approach="uniform", rng=3)
    return replace(plain, scores=scored, posteriors={approach: posterior})


@pytest.mark.parametrize(("approach", "model"), [("binmv", "binmv"), ("expected:ds", "ds")])
def test_ratios_of_expectations_stand_beside_the_mean_over_draws(world, approach, model):
    result = expecting(world, approach, model, ["AP", "P@5", "nDCG@5"])
    drawn = kt.stats.draw_evaluation(world.runs, result, draws=400)
    told = [note.facts for note in drawn.notes if note.kind == "decisions.draws-ratio"]
    assert len(told) == 2
    for facts, measure in zip(told, ["AP", "nDCG@5"], strict=True):
        frame = drawn.to_frame().filter(measure=measure)
        widest = (frame["score"] - frame["draw_mean"]).abs().max()
        (found,) = (d for d in drawn.draws if d.measure == measure)
        assert (facts["measure"], facts["approach"], facts["draws"]) == (measure, approach, 400)
        assert facts["gap"] == pytest.approx(widest)
        assert 0 < facts["error"] < 0.1
        assert 0 < widest < 0.05
        assert found.approach == approach


def test_approaches_that_decide_have_no_such_note(world):
    result = kt.evaluate(world.runs, world.judgments, "AP", approach=["mv", "ds(prior=none)"], rng=3)
    assert not has_note(kt.stats.draw_evaluation(world.runs, result, draws=2), "decisions.draws-ratio")


def test_draws_are_on_the_topics_that_were_scored(world):
    result = kt.evaluate(world.runs, world.judgments, "P@5", approach="mv", rng=3)
    probability = result.posteriors["mv"].probability[None]
    (expected,) = score_expected(kt.stats.align(world.runs, world.judgments), probability, ["P@5"]).values()
    best = int(expected.value[0].mean(axis=1).argmax())
    alone = {"P@5": result.scores["P@5"].on_topics(np.array([best]))}
    (drawn,) = kt.stats.draw_evaluation(world.runs, replace(result, scores=alone), draws=500).draws
    assert drawn.topics == 1
    error = 4 * drawn.value.std(axis=0) / np.sqrt(500)
    assert (np.abs(drawn.mean - expected.value[0, best]) < error).all()
    assert (np.abs(drawn.mean - expected.mean[0]) > error).any()


def test_gold_that_ranks_another_system_first_is_told():
    runs = kt.read_runs({"a": {"1": {"x": 1.0}, "2": {"x": 1.0}}, "b": {"1": {"y": 1.0}, "2": {"y": 1.0}}})
    judgments = kt.read_judgments({"ann": {topic: {"x": 1, "y": 0} for topic in "12"}})
    gold = kt.read_gold({topic: {"x": 0, "y": 1} for topic in "12"})
    assert gives(kt.evaluate(runs, judgments, "P@1", approach="mv", gold=gold).sentence, "a", "Gold", "b")
