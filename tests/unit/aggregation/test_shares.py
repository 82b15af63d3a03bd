"""Shares of judges as probabilities: binmv and qbinmv, plain and weighed by quality."""

import math
from typing import get_args

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.aggregation.majority import agree_beyond_chance
from karatage.aggregation.registry import MODELS, BinomialVote, Quality, QuantisedBinomialVote, parse_model
from karatage.errors import OptionError
from tests.notes import has_note

GRADED = {"ann": {"1": {"a": 2, "b": 0}}, "bob": {"1": {"a": 1, "b": 0}}, "cid": {"1": {"a": 2}}}


def crowd(seed=0, *, items=60, skill=(0.95, 0.9, 0.9, 0.5, 0.5)):
    """Judges of mixed skill on two grades who grade all items, and the true grades."""
    source = np.random.default_rng(seed)
    truth = source.integers(0, 2, items)
    said = np.where(source.random((len(skill), items)) < np.array(skill)[:, None], truth, 1 - truth)
    judge, item = np.indices(said.shape).reshape(2, -1)
    names = {"judge": [f"j{j}" for j in judge], "item": [f"i{i:02d}" for i in item]}
    return kt.read_judgments(pl.DataFrame({**names, "grade": said.ravel()})), truth


def sigmoid(p, slope=15.0):
    return 1 / (1 + math.exp(-slope * (p - 0.5)))


def test_the_share_is_among_those_who_graded_the_item():
    posterior = kt.aggregate(kt.read_judgments(GRADED), "binmv")
    np.testing.assert_allclose(posterior.probability, [[0, 1 / 3, 2 / 3], [1, 0, 0]])
    assert posterior.grades.tolist() == [2, 0]
    assert posterior.converged
    assert posterior.iterations == 0
    assert posterior.judges.columns == ["judge", "grades"]


def test_the_sigmoid_bends_every_tail():
    posterior = kt.aggregate(kt.read_judgments(GRADED), "qbinmv")
    first, second = sigmoid(1), sigmoid(2 / 3)
    sure = sigmoid(0)
    expected = [[1 - first, first - second, second], [1 - sure, 0, sure]]
    np.testing.assert_allclose(posterior.probability, expected, rtol=1e-12)
    assert posterior.probability[0, 0] == pytest.approx(0.000552778637)


@pytest.mark.parametrize("slope", [1.0, 15.0, 1e8])
def test_the_slope_matters(slope):
    judgments = kt.read_judgments({"judge": list("abc"), "item": list("xxx"), "grade": [1, 1, 0]})
    p = kt.aggregate(judgments, f"qbinmv(slope={slope})").probability[0, 1]
    assert p == pytest.approx(1.0 if slope > 1e6 else sigmoid(2 / 3, slope))


@pytest.mark.parametrize("slope", [0.0, -1.0, math.inf, math.nan])
def test_slopes_that_do_not_rise_are_refused(slope):
    with pytest.raises(OptionError, match=r"number.*\b0\b"):
        QuantisedBinomialVote(slope=slope)


def test_they_are_meant_for_expected_measures():
    assert [name for name in MODELS if parse_model(name).expected] == ["binmv", "qbinmv"]
    assert parse_model("qbinmv(quality=ds, slope=20)").name == "qbinmv(quality=ds,slope=20)"


def test_options_that_mean_nothing():
    with pytest.raises(OptionError, match="'mv'"):
        BinomialVote(quality="mv")
    with pytest.raises(OptionError, match="glad"):
        parse_model("binmv(quality=nb)")


def test_a_judge_has_one_vote_for_an_item_the_last():
    table = {"judge": ["a", "a", "a", "b"], "item": ["x"] * 4, "grade": [1, 1, 0, 1]}
    for repeats in None, "all":
        posterior = kt.aggregate(kt.read_judgments(table, repeats=repeats), "binmv")
        assert posterior.probability.tolist() == [[0.5, 0.5]]
        assert has_note(posterior, "aggregation.earlier-aside", grades=2)
    assert kt.aggregate(kt.read_judgments(table), "mv").probability.tolist() == [[0.25, 0.75]]


def test_an_item_that_nobody_graded_is_not_relevant():
    judgments = kt.Judgments.from_codes(judge=np.array([0, 1]), item=np.array([0, 2]), grade=np.array([1, 2]))
    assert kt.aggregate(judgments, "binmv").probability[1].tolist() == [1, 0, 0]


def test_gold_is_kept():
    judgments, gold = kt.read_judgments(GRADED), kt.read_gold({"1": {"a": 0}})
    for name in "binmv", "qbinmv", "binmv(quality=ds)":
        for supervision in "light", "full":
            posterior = kt.aggregate(judgments, name, gold=gold, supervision=supervision)
            assert posterior.probability[0].tolist() == [1, 0, 0]


def test_agreement_beyond_chance_by_hand():
    """Beliefs .9, .8, .3 in grade 1; a says 1, 1, 0; b says 0, 1 of the last two; c always 1; d nothing."""
    judgments = kt.Judgments.from_codes(
        judge=np.array([0, 0, 0, 1, 1, 2, 2, 2, 4]),
        item=np.array([0, 1, 2, 1, 2, 0, 1, 2, 3]),
        grade=np.array([1, 1, 0, 0, 1, 1, 1, 1, 0]),
    )
    belief = np.array([0.9, 0.8, 0.3, 0.0])
    found = agree_beyond_chance(judgments, np.stack([1 - belief, belief], axis=1))
    observed, chance = (0.9 + 0.8 + 0.7) / 3, 2 / 3 * 2 / 3 + 1 / 3 * 1 / 3
    # b agrees less than chance, c only by chance, d has no grades, and for the last chance is certain.
    np.testing.assert_allclose(found, [(observed - chance) / (1 - chance), 0, 0, 0, 0], atol=1e-15)


def test_with_certain_beliefs_it_is_cohens_kappa():
    judgments, truth = crowd(1)
    other = kt.read_judgments({"item": [f"i{k:02d}" for k in range(60)], "judge": ["x"] * 60, "grade": truth.tolist()})
    both = kt.read_judgments(pl.concat([judgments.to_frame(), other.to_frame()]))
    kappa = [kt.stats.cohen_kappa(both, f"j{j}", "x") for j in range(5)]
    assert min(kappa) > 0
    np.testing.assert_allclose(agree_beyond_chance(judgments, np.eye(2)[truth]), kappa, rtol=1e-12)


def test_quality_weighs_the_shares():
    judgments, truth = crowd()
    plain, weighed = (kt.aggregate(judgments, name) for name in ("binmv", "binmv(quality=ds)"))
    quality = weighed.parameters["quality"]
    assert weighed.judges.columns == ["judge", "grades", "quality"]
    assert quality[:3].min() > 3 * quality[3:].max()
    said = np.zeros((5, 60))
    said[judgments.judge, judgments.item] = judgments.grade
    np.testing.assert_allclose(weighed.probability[:, 1], quality @ said / quality.sum(), rtol=1e-12)
    brier = [float(((posterior.probability[:, 1] - truth) ** 2).mean()) for posterior in (plain, weighed)]
    assert brier[1] < 0.5 * brier[0]


@pytest.mark.parametrize("quality", get_args(Quality))
def test_every_consensus_finds_who_guesses(quality):
    assert set(get_args(Quality)) < set(MODELS)
    judgments, _ = crowd(2, items=200)
    for name in "binmv", "qbinmv":
        found = kt.aggregate(judgments, f"{name}(quality={quality})", rng=0).parameters["quality"]
        assert found[:3].min() > 2 * found[3:].max()


def test_judges_whom_no_consensus_confirms_weigh_the_same():
    """Every judge always gives the same grade, so that agreement is chance."""
    table = {"judge": list("aabb"), "item": list("xyxy"), "grade": [0, 0, 1, 1]}
    posterior = kt.aggregate(kt.read_judgments(table), "binmv(quality=ds)")
    assert posterior.parameters["quality"].tolist() == [0, 0]
    assert posterior.probability.tolist() == [[0.5, 0.5]] * 2
    assert has_note(posterior, "aggregation.no-quality")


def test_items_graded_by_judges_without_quality_only_are_told():
    judgments, _ = crowd()
    late = pl.DataFrame({"judge": ["k", "l"], "item": ["z", "z"], "grade": [1, 0]}, schema=judgments.to_frame().schema)
    merged = kt.aggregate(kt.read_judgments(pl.concat([judgments.to_frame(), late])), "binmv(quality=ds)")
    assert merged.probability[-1].tolist() == [0.5, 0.5]
    assert has_note(merged, "aggregation.unheard", items=1)


def test_items_that_nobody_graded_are_not_counted_among_them():
    judgments, _ = crowd()
    silent = judgments.keep_rows(judgments.item > 4)
    merged = kt.aggregate(silent, "binmv(quality=ds)")
    assert merged.probability[:5].tolist() == [[1, 0]] * 5
    assert not has_note(merged, "aggregation.unheard")


def test_judges_who_never_meet_weigh_the_same():
    table = {"judge": list("aabb"), "item": list("wxyz"), "grade": [0, 1, 1, 0]}
    posterior = kt.aggregate(kt.read_judgments(table), "binmv(quality=ds)")
    assert posterior.probability[:, 1].tolist() == [0, 1, 1, 0]
    assert has_note(posterior, "aggregation.alone-weighted")
    assert not posterior.parameters


def test_doubts_about_the_consensus_are_passed_on():
    judgments = kt.simulation.simulate_collection(topics=3, depth=5, rng=1).judgments
    assert has_note(kt.aggregate(judgments, "binmv(quality=ds)"), "aggregation.prior-decides", model="ds")
    heard = []
    parse_model("binmv(quality=ds)").model.fit(judgments, progress=lambda step, _: heard.append(step))
    assert heard[:2] == [1, 2]
