"""The best guess as users see it: what must hold for boards and pairs, and when there is none."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t

import karatage as kt
from karatage.correction.gathering import gather_corrections, gather_topics, spread_topics
from karatage.correction.shrinkage import KURTOSIS, find_halves, shrink, spread_pairs
from karatage.data.board import BestGuess
from karatage.decisions.bias import find_usual_bias
from karatage.decisions.case import Case, make_case
from karatage.decisions.correct import Choice, correct
from karatage.decisions.estimators.contract import Doubt, Guessed
from karatage.decisions.estimators.guess import _center
from karatage.decisions.question import Question

MEASURE = "P(rel=2)@10"
JUDGES = [kt.simulation.JudgeProfile("one", noise=0.6, leniency=0.4)]
SYSTEMS, LABELS = 9, 150


@cache
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(systems=SYSTEMS - 1, topics=30, depth=15, judges=JUDGES, rng=4)


@cache
def runs() -> kt.Runs:
    """One system occurs twice."""
    frame = world().runs.to_frame().with_columns(score=-pl.col("rank").cast(pl.Float64))
    twin = frame.filter(pl.col("system") == "system-03").with_columns(system=pl.lit("twin"))
    return kt.read_runs(pl.concat([frame, twin]))


def answer(frame: pl.DataFrame) -> kt.Judgments:
    """Gold's answers to a queue."""
    truth = world().gold.to_frame().drop("judge")
    return kt.read_gold(frame.drop("grade").join(truth, on=["topic", "document"], how="left"))


@cache
def drawn(measure: str = MEASURE) -> kt.Judgments:
    return answer(kt.plan(runs(), world().judgments, measure, budget=LABELS).queue)


def ask(**options: object) -> kt.Board:
    return kt.compare_all(runs(), world().judgments, drawn(), MEASURE, claim="these", **options)


def guess(claim: str = "these", measure: str = MEASURE) -> tuple[Guessed, Case]:
    question = Question.of(measure, claim=claim)
    case = make_case(runs(), world().judgments, drawn(measure), question, systems=list(runs().systems), seed=0)
    fitted = correct(case).corrected
    assert fitted is not None
    found = fitted.guess(case)
    assert found is not None
    return found, case


def of(board: kt.Board) -> BestGuess:
    assert board.guess is not None
    return board.guess


def table(board: kt.Board) -> dict[tuple[str, str], float]:
    pairs = zip(board.a, board.b, of(board).pairs.value, strict=True)
    return {(board.systems[a], board.systems[b]): float(value) for a, b, value in pairs}


def test_an_identical_pair_has_no_difference_and_no_claim() -> None:
    board = ask()
    names = {"system-03", "twin"}
    pairs = zip(board.a, board.b, strict=True)
    (at,) = (k for k, (a, b) in enumerate(pairs) if {board.systems[a], board.systems[b]} == names)
    for pairs in (of(board).pairs, of(board).usual):
        assert pairs.value[at] == pairs.standard_error[at] == pairs.low[at] == pairs.high[at] == 0
        assert not pairs.claimed[at]
        assert pairs.p_value[at] == 1
        assert (np.delete(pairs.standard_error, at) > 0).all()


def test_claims_are_intervals_without_0() -> None:
    board = ask()
    for pairs in (of(board).pairs, of(board).usual):
        assert (pairs.claimed == ((pairs.low > 0) | (pairs.high < 0))).all()
        assert 0 < pairs.claimed.sum() < len(pairs.claimed)
    assert (of(board).usual.value == of(board).pairs.value).all()


def test_the_order_of_systems_does_not_matter() -> None:
    mixed = np.random.default_rng(0).permutation(list(runs().systems)).tolist()
    one, other = table(ask()), table(ask(systems=mixed))
    for (a, b), value in one.items():
        back = other[(a, b)] if (a, b) in other else -other[(b, a)]
        assert back == pytest.approx(value, abs=1e-7)


def test_the_guess_lies_between_judges_and_gold_over_all_pairs() -> None:
    board = ask()
    judges, gold, best = board.naive_pairs.value, board.corrected_pairs.value, of(board).pairs.value
    assert ((best - judges) ** 2).mean() < ((gold - judges) ** 2).mean()
    assert ((best - gold) ** 2).mean() < ((judges - gold) ** 2).mean()


@pytest.mark.parametrize("claim", ["these", "new"])
@pytest.mark.parametrize("measure", [MEASURE, "DCG@10", "nDCG@10"])
def test_topics_have_the_guess_as_their_mean(claim: str, measure: str) -> None:
    found, _ = guess(claim, measure)
    for fitted in (found.by_gold, found.usual):
        assert fitted.per_topic is not None
        mean = fitted.per_topic.mean(axis=0)
        assert_allclose(mean - mean.mean(), fitted.standing - fitted.standing.mean(), atol=1e-9)
        if fitted.levels is not None:
            assert_allclose(mean, fitted.levels.value, atol=1e-9)


@pytest.mark.parametrize("measure", [MEASURE, "DCG@10"])
def test_new_topics_add_the_variance_that_gold_has_between_topics(measure: str) -> None:
    """Estimated from drawn gold; the truth is all of gold."""
    found, case = guess("new", measure)
    these, _ = guess("these", measure)
    assert_allclose(these.by_gold.pairs.value, found.by_gold.pairs.value)
    assert (found.by_gold.pairs.variance >= these.by_gold.pairs.variance - 1e-12).all()
    fitted = correct(case).corrected
    sample, gain = fitted.sample, case.linear.gain
    corrections = gather_corrections(sample, gain, same_grades=True)
    topics = gather_topics(sample, corrections, gain)
    count = len(case.topics)
    between = spread_topics(topics.calibrated) / (count * (count - 1)) + spread_pairs(corrections.items)
    scores = kt.score(runs(), world().gold, measure).value[0]
    truth = (scores[:, :, None] - scores[:, None, :]).var(axis=0, ddof=1) / count
    assert 0.9 <= topics.ratio * between.sum() / truth.sum() <= 1.9
    shrunk = shrink(corrections, find_usual_bias(case))
    for opinion, bias, tails in ((found.by_gold, shrunk.bias_by_gold, np.inf), (found.usual, shrunk.bias, KURTOSIS)):
        square, noise = np.maximum(spread_pairs(bias), shrunk.shown), spread_pairs(shrunk.noise)
        wider = find_halves(noise + topics.ratio * between, square, 0.95, tails) * t.ppf(0.975, count - 1) / 1.959964
        half = np.maximum(find_halves(noise, square, 0.95, tails), wider)
        assert_allclose(opinion.pairs.variance, (half / 1.959964) ** 2, rtol=1e-4, atol=1e-12)


def test_intervals_contain_the_bias_that_a_pair_shows() -> None:
    """All documents of one system are graded too high."""
    own = runs().to_frame().filter(pl.col("system") == "system-05").select("topic", "document")
    grades = world().judgments.to_frame()
    high = grades.join(own, on=["topic", "document"], how="semi").with_columns(grade=pl.lit(3, grades["grade"].dtype))
    judges = kt.read_judgments(pl.concat([high, grades.join(own, on=["topic", "document"], how="anti")]))
    gold = answer(kt.plan(runs(), judges, MEASURE, budget=400).queue)
    question = Question.of(MEASURE, claim="these")
    case = make_case(runs(), judges, gold, question, systems=list(runs().systems), seed=0)
    fitted = correct(case).corrected
    found, at = fitted.guess(case), runs().systems.index("system-05")
    shrunk = shrink(gather_corrections(fitted.sample, case.linear.gain, same_grades=True), find_usual_bias(case))
    for opinion, bias, tails in ((found.by_gold, shrunk.bias_by_gold, np.inf), (found.usual, shrunk.bias, KURTOSIS)):
        square = np.maximum(spread_pairs(bias), shrunk.shown)
        assert (shrunk.shown > spread_pairs(bias))[at].sum() > 2
        half = find_halves(spread_pairs(shrunk.noise), square, 0.95, tails)
        assert_allclose(opinion.pairs.variance, (half / 1.959964) ** 2, rtol=1e-4, atol=1e-12)


def test_usual_judges_have_narrower_intervals_only_if_they_are_usual() -> None:
    found, _ = guess()
    first, second = found.by_gold.pairs.variance, found.usual.pairs.variance
    assert np.median(second) < np.median(first)


def test_gold_on_everything_gives_no_guess() -> None:
    board = kt.compare_all(runs(), world().judgments, world().gold, MEASURE)
    assert board.guess is None
    assert board.corrected is not None


def test_fewer_than_five_systems_have_no_guess_of_the_board() -> None:
    names = [name for name in runs().systems if name != "twin"]
    assert ask(systems=names[:4]).guess is None
    assert ask(systems=names[:5]).guess is not None


def test_where_gold_contradicts_the_correction_the_guess_separates_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    names = list(runs().systems)
    a, b = names.index("system-01"), names.index("system-05")
    apart = np.zeros((SYSTEMS, SYSTEMS), bool)
    apart[a, b] = apart[b, a] = True
    monkeypatch.setattr(Choice, "doubt_board", lambda _: Doubt(apart))
    board = ask()
    for pairs in (of(board).pairs, of(board).usual, board.corrected_pairs):
        (at,) = np.flatnonzero(pairs.doubted)
        assert {board.systems[board.a[at]], board.systems[board.b[at]]} == {"system-01", "system-05"}
        assert not pairs.claimed[at]
    monkeypatch.setattr(Choice, "doubt_board", lambda _: Doubt(apart, alarm="gold is a copy"))
    board = ask()
    assert of(board).pairs.doubted.all()
    assert of(board).pairs.count == of(board).usual.count == 0


def test_copies_of_a_system_do_not_count() -> None:
    """Five systems of which two are the same have only four different ones, and the weight of a pair is of others."""
    names = ["system-01", "system-02", "system-03", "twin", "system-04"]
    assert ask(systems=names).guess is None
    with_twin, without = of(ask(systems=[*names, "system-05"])), of(ask(systems=[*names[:3], "system-04", "system-05"]))
    assert with_twin.mass == pytest.approx(without.mass, rel=0.2)
    weights = guess()[0].mass
    upper = weights[np.triu_indices(SYSTEMS, 1)]
    assert of(ask()).mass == np.median(upper[upper > 0])


def test_a_pair_has_the_guess_of_the_board_of_all_runs() -> None:
    found = kt.compare(runs(), world().judgments, drawn(), MEASURE, a="system-01", b="system-05", claim="these")
    board = table(ask())
    value = board.get(("system-01", "system-05")) or -board["system-05", "system-01"]
    ways = {opinion.method.name: opinion for opinion in found.others if opinion.method.name.startswith("guess")}
    assert set(ways) == {"guess", "guess-usual"}
    for opinion in ways.values():
        assert opinion.difference.value == pytest.approx(abs(value) if opinion.difference.value > 0 else -abs(value))


def test_a_named_pair_is_not_claimed_by_the_guess() -> None:
    found = kt.compare(
        runs(), world().judgments, drawn(), MEASURE, a="system-01", b="system-05", claim="these", correction="guess"
    )
    assert found.alarm is not None


@pytest.mark.parametrize("measure", ["AP(rel=2)", "ERR@10"])
def test_measures_that_are_not_sums_have_no_guess(measure: str) -> None:
    found = kt.compare(runs(), world().judgments, drawn(), measure, a="system-01", b="system-05", correction="guess")
    assert found.corrected is None
    assert not found.others
    board = kt.compare_all(runs(), world().judgments, drawn(), measure)
    assert board.corrected is board.guess is None


def test_uncertain_gold_widens_the_guess() -> None:
    """Where gold's own errors are uncertain, the guess moves less towards gold, and its intervals are wider."""
    plain, case = guess()
    fitted = correct(case).corrected
    assert fitted is not None
    erring = 4 * fitted.gold_variance.mean() * (1 - np.eye(len(case.systems)))
    unsure = replace(fitted, erring_variance=erring).guess(case)
    assert unsure is not None
    assert np.median(unsure.by_gold.pairs.variance) > np.median(plain.by_gold.pairs.variance)
    judged = case.scores.mean(axis=0)
    moved = [np.abs(g.by_gold.pairs.value - (judged - judged[:, None])).mean() for g in (plain, unsure)]
    assert moved[1] < moved[0]


def test_variances_of_differences_give_the_covariance_of_centred_scores() -> None:
    factor = np.random.default_rng(1).normal(size=(5, 7))
    covariance, centre = factor @ factor.T, np.eye(5) - 1 / 5
    np.testing.assert_allclose(_center(spread_pairs(covariance), 5), centre @ covariance @ centre, atol=1e-12)
