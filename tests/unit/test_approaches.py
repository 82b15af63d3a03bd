"""Unit tests of the registry and of `evaluate`."""

import json

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.errors import DataError, OptionError, UnknownNameError
from tests.notes import gives, has_note

RUNS = {
    "good": {"t1": {"a": 3.0, "b": 2.0, "c": 1.0}, "t2": {"a": 3.0, "b": 2.0}},
    "bad": {"t1": {"c": 3.0, "b": 2.0, "a": 1.0}, "t2": {"b": 3.0, "a": 2.0}},
}
JUDGES = {
    "ann": {"t1": {"a": 1, "b": 0, "c": 0}, "t2": {"a": 1, "b": 0}},
    "bob": {"t1": {"a": 1, "b": 1, "c": 0}},
    "cat": {"t1": {"a": 0, "b": 0, "c": 1}, "t2": {"a": 1, "b": 0}},
}
GOLD = {"t1": {"a": 1, "b": 0, "c": 0}, "t2": {"a": 1, "b": 0}}


@pytest.fixture
def runs():
    return kt.read_runs(RUNS)


@pytest.fixture
def judgments():
    return kt.read_judgments(JUDGES)


def scores_of(evaluation, approach, measure="AP"):
    scores = evaluation.scores[measure]
    return scores.value[scores.judges.index(approach)]


def test_uniform_is_the_mean_over_the_judges_present_in_a_topic(runs, judgments):
    value = scores_of(kt.evaluate(runs, judgments, "AP"), "uniform")
    # systems are sorted: bad, good. t1: ann 1/3 and 1, bob 7/12 and 1, cat 1 and 1/3; t2: ann and cat only
    np.testing.assert_allclose(value[0], [(1 / 3 + (1 / 2 + 2 / 3) / 2 + 1) / 3, (1 + 1 + 1 / 3) / 3])
    np.testing.assert_allclose(value[1], [1 / 2, 1])


def test_mv_measures_with_the_most_frequent_grade(runs, judgments):
    value = scores_of(kt.evaluate(runs, judgments, "AP", approach="mv", rng=1), "mv")
    np.testing.assert_allclose(value, [[1 / 3, 1], [1 / 2, 1]])


def test_a_judge_alone_counts_only_where_it_judged(runs, judgments):
    evaluation = kt.evaluate(runs, judgments, "AP", approach="judge:bob", gold=kt.read_gold(GOLD))
    value = scores_of(evaluation, "judge:bob")
    np.testing.assert_allclose(value[0], [7 / 12, 1])
    assert np.isnan(value[1]).all()
    np.testing.assert_allclose(evaluation.scores["AP"].mean[0], [7 / 12, 1])
    assert evaluation.fidelity[0].topics == 1


def test_judge_star_is_every_judge_in_turn(runs, judgments):
    evaluation = kt.evaluate(runs, judgments, "AP", approach=["uniform", "judge:*"])
    assert evaluation.approaches == ("uniform", "judge:ann", "judge:bob", "judge:cat")


def test_fidelity_to_gold(runs, judgments):
    evaluation = kt.evaluate(runs, judgments, "AP", approach=["judge:ann", "judge:cat"], gold=kt.read_gold(GOLD))
    ann, cat = evaluation.fidelity
    assert (ann.tau, ann.tau_ap, ann.rmse) == (1.0, 1.0, 0.0)
    # cat: bad (1 + 1/2)/2 = .75, good (1/3 + 1)/2 = .6667; gold: bad (1/3 + 1/2)/2 = .4167, good 1
    assert cat.tau == cat.tau_ap == -1.0
    assert cat.rmse == pytest.approx(1 / 3)


def test_gold_is_the_reference_of_tau_ap():
    world = kt.simulation.simulate_collection(systems=8, topics=5, depth=20, rng=1)
    board = kt.evaluate(world.runs, world.judgments, "AP", approach="judge:crowd-3", gold=world.gold)
    own, gold = board.scores["AP"].mean[0], kt.score(world.runs, world.gold, "AP").mean[0]
    assert board.fidelity[0].tau_ap == kt.stats.tau_ap(gold, own)
    assert board.fidelity[0].tau_ap != kt.stats.tau_ap(own, gold)


def test_topics_in_no_run_are_left_out_and_told(judgments):
    runs = kt.read_runs({name: {"t1": topics["t1"]} for name, topics in RUNS.items()})
    evaluation = kt.evaluate(runs, judgments, "AP")
    assert evaluation.scores["AP"].topics == ("t1",)
    assert has_note(evaluation, "data.topics-in-no-run", topics=("t2",))


def test_doubts_about_the_data_are_counted(runs):
    judgments = kt.read_judgments({"ann": {"t1": {"a": 2}, "t2": {"b": 0}}, "bob": {"t1": {"a": 5}}})
    found = kt.evaluate(runs, judgments, "P@2", gold=kt.read_gold({"t1": {"a": 2}, "t9": {"a": 1}}))
    assert has_note(found, "approaches.few-items", least=10, judges=("ann", "bob"))
    assert has_note(found, "approaches.some-topics", topics=2, judges=("bob",))
    assert has_note(found, "data.scales-differ", judges=5, gold=2, beyond=" (1 grade above that)")
    assert not has_note(found, "data.scales-short")  # a few low grades make no other scale
    assert has_note(found, "measures.unjudged", missing=5, shown=8, where="the first 2 ranks", systems=2, share=0.625)
    assert has_note(found, "approaches.gold-topics-missing", topics=("t2",))
    assert has_note(found, "approaches.gold-topics-unjudged", topics=("t9",))


def test_judges_of_little_are_told_whatever_they_graded_in_topics_of_no_run():
    world = kt.simulation.simulate_collection(systems=4, topics=8, rng=2)
    frame = world.judgments.to_frame()
    first = world.judgments.topics[0]
    one = frame.filter(pl.col("topic") == first, pl.col("judge") == "careful-1")["document"][0]
    little = frame.filter(
        (pl.col("judge") != "careful-1") | (pl.col("topic") != first) | (pl.col("document") == one)
    )  # of that topic a single grade, of others all
    seen = sorted(set(frame.filter(topic=first)["document"]))
    orders = {"a": seen, "b": seen[::-1]}
    runs = kt.read_runs({name: {first: {d: -float(k) for k, d in enumerate(orders[name])}} for name in orders})
    found = kt.evaluate(runs, kt.read_judgments(little), "P@5", approach="sgl_rmse_msd", rng=1)
    assert has_note(found, "approaches.less-than-half", judges=("careful-1",))


def test_gold_is_not_said_to_lack_what_judges_lack_too():
    runs = kt.read_runs({"a": {"t": {"d1": 2.0, "x": 1.0}}, "b": {"t": {"d2": 2.0, "d1": 1.0}}})
    said = kt.read_judgments({"j": {"t": {"d1": 1, "d2": 0}}})
    same = kt.evaluate(runs, said, "P@2", gold=kt.read_gold({"t": {"d1": 1, "d2": 0}}))
    assert [note.kind for note in same.notes].count("measures.unjudged") == 1
    fewer = kt.evaluate(runs, said, "P@2", gold=kt.read_gold({"t": {"d1": 1}}))
    assert has_note(fewer, "measures.unjudged", about="gold", missing=2, shown=4)


def test_judges_with_ten_items_are_not_few(runs):
    said = {judge: {"t1": {f"d{k}": 1 for k in range(items)}} for judge, items in (("ann", 9), ("bob", 10))}
    assert has_note(kt.evaluate(runs, kt.read_judgments(said), "P@2"), "approaches.few-items", judges=("ann",))


def test_the_seed_decides_ties_and_is_recorded(runs):
    grades = {f"d{k}": 0 for k in range(40)}
    tied = kt.read_judgments({"x": {"t1": grades}, "y": {"t1": dict.fromkeys(grades, 1)}})
    ranked = kt.read_runs({"s": {"t1": {d: float(-k) for k, d in enumerate(grades)}}})
    values = [
        scores_of(kt.evaluate(ranked, tied, "P@20", approach="mv", rng=s), "mv", "P@20")[0, 0] for s in (1, 1, 2, 3)
    ]
    assert values[0] == values[1]
    assert len(set(values)) > 1
    assert kt.evaluate(runs, tied, "AP", rng=5).seed == 5
    assert isinstance(kt.evaluate(runs, tied, "AP").seed, int)


def test_every_approach_has_coins_of_its_own():
    grades = {f"d{k}": 0 for k in range(40)}
    tied = kt.read_judgments({"x": {"t1": grades}, "y": {"t1": dict.fromkeys(grades, 1)}})
    ranked = kt.read_runs({"s": {"t1": {d: float(-k) for k, d in enumerate(grades)}}})
    found = kt.evaluate(ranked, tied, "AP", approach=["mv", "mv(ties=random)"], rng=1)
    assert (found.posteriors["mv"].grades != found.posteriors["mv(ties=random)"].grades).any()


def test_sentence_without_gold_counts_winners(runs, judgments):
    sentence = kt.evaluate(runs, judgments, "AP").sentence
    assert gives(sentence, "uniform", "good", "AP", 0.889, 0.319, "bad", "standard error", 3, 2)


def test_sentence_with_gold_names_the_nearest_approach(runs, judgments):
    evaluation = kt.evaluate(runs, judgments, "AP", approach=["judge:cat", "judge:ann"], gold=kt.read_gold(GOLD))
    assert gives(evaluation.sentence, "good", 2, "judge:ann", "tau 1.00", "tau_ap 1.00")


def test_one_system_or_one_topic_promises_nothing():
    judgments = kt.read_judgments({"ann": {"t1": {"a": 1, "b": 0}}})
    alone = kt.evaluate(kt.read_runs({"s": {"t1": {"a": 1.0}}}), judgments, "AP", gold=kt.read_gold({"t1": {"a": 1}}))
    assert alone.fidelity[0].tau is None
    two = kt.evaluate(kt.read_runs({"s": {"t1": {"a": 1.0}}, "r": {"t1": {"b": 1.0}}}), judgments, "AP")
    assert two.leaderboard("AP", "uniform")["standard_error"].null_count() == 2


def test_level_systems_have_no_winner():
    judgments = kt.read_judgments({"ann": {"t1": {"a": 1, "b": 0}}})
    runs = kt.read_runs({"s": {"t1": {"a": 1.0}}, "r": {"t1": {"a": 1.0}}})
    evaluation = kt.evaluate(runs, judgments, "AP")
    assert evaluation.leaderboard("AP", "uniform")["rank"].to_list() == [1, 1]


def test_frames_and_json_hold_the_same_numbers(runs, judgments):
    evaluation = kt.evaluate(runs, judgments, ["AP", "P@1"], approach=["uniform", "mv"], gold=kt.read_gold(GOLD), rng=0)
    frame = evaluation.to_frame()
    assert frame.columns[:6] == ["measure", "approach", "rank", "system", "score", "standard_error"]
    assert frame.shape == (2 * 2 * 2, 11)
    loaded = json.loads(evaluation.to_json(per_topic=True))
    assert loaded["rows"][0]["score"] == frame["score"][0]
    assert loaded["fidelity"][0]["tau"] == frame["tau"][0]
    assert len(loaded["per_topic"]) == 2 * (2 + 1) * 2 * 2
    assert loaded["sentence"] == evaluation.sentence
    assert loaded["seed"] == 0


def test_a_judge_who_saw_no_topic_with_gold_is_not_compared(runs, judgments):
    gold = kt.read_gold({"t2": {"a": 1, "b": 0}, "t3": {"a": 1}})
    evaluation = kt.evaluate(runs, judgments, "AP", approach=["judge:bob", "judge:ann"], gold=gold)
    bob, ann = evaluation.fidelity
    assert (bob.tau, bob.tau_ap, bob.rmse, bob.topics) == (None, None, None, 0)
    assert (ann.tau, ann.topics) == (1.0, 1)
    assert gives(evaluation.sentence, "judge:ann", "tau 1.00")


def test_a_judge_who_saw_no_topic_of_the_runs_has_no_score(judgments):
    runs = kt.read_runs({name: {"t2": topics["t2"]} for name, topics in RUNS.items()})
    evaluation = kt.evaluate(runs, judgments, "AP", approach=["judge:bob", "uniform"], gold=kt.read_gold(GOLD))
    assert gives(evaluation.sentence, "judge:bob", "AP")
    assert evaluation.leaderboard("AP", "judge:bob")["score"].null_count() == 2
    assert evaluation.leaderboard("AP", "judge:bob")["rank"].null_count() == 2


def test_gold_topics_in_no_run_do_not_count(runs, judgments):
    gold = kt.read_gold({**GOLD, "t3": {"a": 1}})
    board = kt.evaluate(runs, judgments, "AP", gold=gold).leaderboard("AP", "uniform")
    assert dict(board.select("system", "gold_score").iter_rows()) == {"good": 1.0, "bad": pytest.approx(5 / 12)}


def test_unknown_approach_or_judge_suggests_the_nearest(runs, judgments):
    with pytest.raises(UnknownNameError, match=r"'unifrom'.*'uniform'"):
        kt.evaluate(runs, judgments, "AP", approach="unifrom")
    with pytest.raises(UnknownNameError, match=r"'anne'.*'ann'"):
        kt.evaluate(runs, judgments, "AP", approach="judge:anne")


def test_requests_that_make_no_sense(runs, judgments):
    with pytest.raises(DataError, match="measure"):
        kt.evaluate(runs, judgments, [])
    with pytest.raises(DataError, match="share"):
        kt.evaluate(runs, kt.read_judgments({"ann": {"t1": {"a": 1}}}), "AP", gold=kt.read_gold({"t2": {"a": 1}}))
    with pytest.raises(OptionError, match=r"seed.*\b0\b"):
        kt.evaluate(runs, judgments, "AP", rng=-1)
