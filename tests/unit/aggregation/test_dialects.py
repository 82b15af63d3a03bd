"""What the reference programs do with repeated grades, and what their names admit."""

import numpy as np
import pytest

import karatage as kt
from karatage.aggregation.registry import MODELS, parse_model
from karatage.aggregation.reliability import slipped_beta
from karatage.aggregation.votes import Votes, distinct_grades, first_grades
from karatage.errors import OptionError, UnknownNameError
from tests.unit.aggregation.crowds import coin, simulate

ROWS = {
    "judge": ["a", "a", "a", "b", "a", "b", "b"],
    "item": ["x", "x", "x", "x", "y", "y", "y"],
    "grade": [1, 0, 1, 0, 1, 0, 0],
}


def test_repeats_count_once_as_the_first_or_as_each_distinct_grade():
    rows = Votes.prepare(kt.read_judgments(ROWS)).rows
    first, distinct = first_grades(rows), distinct_grades(rows)
    assert first.start.tolist() == [0, 2, 4]
    assert first.said.tolist() == [1, 0, 1, 0]
    assert distinct.start.tolist() == [0, 3, 5]
    assert distinct.said.tolist() == [1, 0, 0, 1, 0]
    assert distinct.answered.sum() == 5


@pytest.mark.parametrize(
    ("mean", "deviation", "expected"),
    [(0.7, 0.3, (8.5556, 3.6667)), (0.7, 0.2, (20.125, 8.625)), (0.6, 0.3, (5.8, 3.8667))],
)
def test_priors_are_what_the_original_program_makes_of_them(mean, deviation, expected):
    assert slipped_beta(mean, deviation) == pytest.approx(expected, abs=1e-4)


def test_naive_bayes_of_square_by_hand():
    """One judge, right on three items of grade 1; its share of votes on the fourth counts as .99."""
    judgments = kt.Judgments.from_codes(judge=np.zeros(4, int), item=np.arange(4), grade=np.ones(4, int))
    gold = kt.read_gold({"item": list("012"), "grade": [1, 1, 1]})
    posterior = parse_model("nb(dialect=square)").model.fit(judgments, gold=gold, supervision="full")
    odds = (0.99 / 0.01) ** 2 * (4 / 5) / (1 / 5)
    np.testing.assert_allclose(posterior.probability[3], [1 / (1 + odds), odds / (1 + odds)])


def test_gal_leaves_a_judge_out_of_what_the_judge_is_measured_by():
    """Judge c contradicts two who agree: heard with the others, c would still get some credit; left out, none."""
    judge = np.tile(np.arange(3), 30)
    item = np.repeat(np.arange(30), 3)
    truth = np.arange(30) % 2
    grade = np.where(judge == 2, 1 - truth[item], truth[item])
    posterior = kt.stats.DawidSkene(dialect="gal").fit(kt.Judgments.from_codes(judge=judge, item=item, grade=grade))
    np.testing.assert_allclose(posterior.parameters["confusion"][2], [[0, 1], [1, 0]], atol=1e-4)
    assert posterior.grades.tolist() == truth.tolist()


def test_gal_rounds_beliefs_to_five_decimals():
    judgments, _ = simulate(coin([0.9, 0.7, 0.6, 0.6]), items=50)
    scaled = kt.stats.DawidSkene(dialect="gal").fit(judgments).probability * 1e5
    np.testing.assert_allclose(scaled, np.round(scaled), atol=1e-6)
    assert ((scaled > 0) & (scaled < 1e5)).any()


def test_gal_takes_no_other_option():
    with pytest.raises(OptionError, match=r"'gal'.*scope"):
        kt.stats.DawidSkene(dialect="gal", scope="topic")
    with pytest.raises(OptionError, match="gal"):
        parse_model("ds(dialect=square)")


@pytest.mark.parametrize("name", sorted(MODELS))
def test_names_read_back(name):
    assert parse_model(name).name == name
    assert parse_model(f"{name}(supervision=light)").supervision == "light"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("zc(prior=(9, 1.5))", "zc(prior=(9,1.5))"),
        ("ry(dialect='square')", "ry(dialect=square)"),
        ("onecoin(prior=none)", "onecoin(prior=none)"),
        ("mace(restarts=3, habit=1)", "mace(restarts=3,habit=1)"),
        ("mv(min=2,ties=fractional)", "mv(min=2,ties=fractional)"),
    ],
)
def test_options_in_names(text, printed):
    named = parse_model(text)
    assert named.name == printed
    assert parse_model(printed) == named


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("zc(prior=7)", None),
        ("zc(classes=many)", "number"),
        ("mace(restarts=2.5)", r"\b2\.5\b"),
        ("mace(restarts=True)", "number"),
        ("zc(history=1)", "'history'"),
        ("emgz(history=1)", "'history'"),
    ],
)
def test_bad_options_in_names(text, message):
    with pytest.raises(OptionError, match=message):
        parse_model(text)


def test_unknown_names_suggest():
    with pytest.raises(UnknownNameError, match="'mace'"):
        parse_model("mac")
