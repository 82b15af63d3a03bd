from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karatage.aggregation.glad import Glad
from karatage.aggregation.majority import MajorityVote
from karatage.errors import OptionError
from karatage.kernels.logistic import climb, curve, expect
from tests.notes import has_note
from tests.unit.aggregation.latent_crowds import assert_never_falls, crowd, gold_of, pairs, rows, slopes

ROWS = [(0, 0, 0), (1, 0, 2), (2, 0, 2), (0, 1, 1), (0, 1, 1), (2, 1, 0), (1, 3, 0)]  # item 2 has none
ABILITY = np.array([1.3, -0.4, 2.0])
EASE = np.array([0.2, -1.0, 0.5, 1.1])
SHARES = np.array([0.5, 0.2, 0.3])


def _sigmoid(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


def _simulate(grades: int, rng: np.random.Generator, judges: int = 30, items: int = 600):
    judge, item = pairs(judges, items, 8, rng)
    truth, ability, ease = rng.integers(0, grades, items), rng.normal(1, 1, judges), rng.normal(0, 0.5, items)
    right = rng.random(len(judge)) < _sigmoid(ability[judge] * np.exp(ease[item]))
    wrong = (truth[item] + rng.integers(1, grades, len(judge))) % grades
    return crowd(np.c_[judge, item, np.where(right, truth[item], wrong)]), truth, ability


def test_e_step_matches_enumeration() -> None:
    """Every way to grade the four items, its mass by the definition."""
    judgments = crowd(ROWS)
    known = np.array([-1, -1, -1, 2], np.int8)
    mass = np.zeros((4, 3))
    for grades in product(range(3), repeat=4):
        p = SHARES[list(grades)].prod() * (grades[3] == 2)
        for judge, item, said in ROWS:
            s = _sigmoid(ABILITY[judge] * np.exp(EASE[item]))
            p *= s if said == grades[item] else (1 - s) / 2
        mass[range(4), grades] += p
    probability, right = np.empty((4, 3)), np.empty(len(ROWS))
    start, judge, said = judgments.row_start, judgments.judge, judgments.grade
    found = expect(start, judge, said, known, np.log(SHARES), ABILITY, EASE, probability, right)
    assert found == pytest.approx(np.log(mass[0].sum()), abs=1e-12)
    np.testing.assert_allclose(probability, mass / mass.sum(axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_allclose(right, probability[judgments.item, said])


def test_slopes_match_differences() -> None:
    judgments = crowd(ROWS)
    right = np.random.default_rng(1).random(len(ROWS))
    at = np.r_[ABILITY, EASE]

    def height(at: np.ndarray) -> float:
        return climb(judgments.row_start, judgments.judge, right, np.log(2), at[:3], at[3:], np.empty(3), np.empty(4))

    found = np.empty(7)
    climb(judgments.row_start, judgments.judge, right, np.log(2), at[:3], at[3:], found[:3], found[3:])
    np.testing.assert_allclose(found, slopes(height, at), atol=1e-7)


@pytest.mark.parametrize("grades", [2, 4])
def test_height_is_the_expected_log_likelihood(grades: int) -> None:
    """Also over more rows than are multiplied up at once."""
    others = float(np.log(grades - 1))
    judgments = crowd([(j, 0, j % 2) for j in range(1200)])
    rng = np.random.default_rng(2)
    ability, right = rng.normal(0, 2, 1200), rng.random(1200)
    p = _sigmoid(ability * np.exp(0.3))
    found = climb(
        judgments.row_start, judgments.judge, right, others, ability, np.array([0.3]), np.empty(1200), np.empty(1)
    )
    expected = right * np.log(p) + (1 - right) * (np.log(1 - p) - others)
    assert found == pytest.approx(expected.sum(), rel=1e-12)


def test_curvature_is_that_of_the_expectation() -> None:
    """Where the chance of being right is as the model says, second differences are the expected curvature."""
    judgments = crowd(ROWS)
    right = _sigmoid(ABILITY[judgments.judge] * np.exp(EASE[judgments.item]))

    def slope(at: np.ndarray) -> np.ndarray:
        out = np.empty(7)
        climb(judgments.row_start, judgments.judge, right, 0.0, at[:3], at[3:], out[:3], out[3:])
        return out

    found = np.zeros(7)
    curve(judgments.row_start, judgments.judge, ABILITY, EASE, found)
    np.testing.assert_allclose(found, -slopes(slope, np.r_[ABILITY, EASE]), atol=1e-6)


@given(rows(3), st.dictionaries(st.integers(0, 5), st.integers(0, 3)), st.sampled_from(["paper", "square"]))
def test_the_objective_never_falls(given_rows, known: dict[int, int], dialect) -> None:
    for supervision in ("light", "full") if known else ("none",):
        gold = gold_of(known) if known else None
        posterior = Glad(dialect=dialect).fit(crowd(given_rows), gold=gold, supervision=supervision)
        assert_never_falls(posterior.trace)
        assert posterior.converged
        np.testing.assert_allclose(posterior.probability.sum(axis=1), 1)


@pytest.mark.parametrize("grades", [2, 4])
def test_abilities_are_recovered(grades: int) -> None:
    judgments, truth, ability = _simulate(grades, np.random.default_rng(grades))
    posterior = Glad().fit(judgments)
    assert np.corrcoef(posterior.parameters["ability"], ability)[0, 1] > 0.92
    votes = MajorityVote().fit(judgments, rng=1)
    assert (posterior.grades == truth).mean() > (votes.grades == truth).mean() + 0.005


def test_order_and_names_change_nothing() -> None:
    rng = np.random.default_rng(3)
    judgments, _, _ = _simulate(3, rng, judges=12, items=80)
    table = np.c_[judgments.judge, judgments.item, judgments.grade]
    posterior = Glad().fit(judgments)
    judge, item = rng.permutation(12), rng.permutation(80)
    other = Glad().fit(crowd(rng.permutation(np.c_[judge[table[:, 0]], item[table[:, 1]], table[:, 2]])))
    np.testing.assert_allclose(other.probability[item], posterior.probability, atol=1e-9)
    np.testing.assert_allclose(other.parameters["ability"][judge], posterior.parameters["ability"], atol=1e-9)


def test_a_reversed_judge_is_told_and_used() -> None:
    """Three agree; the fourth says the opposite, and breaks the silence on an item of its own."""
    table = [(j, i, i % 2) for j in range(3) for i in range(40)] + [(3, i, 1 - i % 2) for i in range(40)] + [(3, 40, 1)]
    posterior = Glad().fit(crowd(table))
    assert posterior.parameters["ability"][3] < 0 < posterior.parameters["ability"][:3].min()
    assert posterior.parameters["accuracy"][3] < 0.5 < posterior.parameters["accuracy"][0]
    assert posterior.grades[40] == 0
    assert has_note(posterior, "aggregation.reversed", reversed=1, judges=4)


def test_ten_thousand_grades_of_one_item() -> None:
    table = [(j, 0, int(j % 10 == 0)) for j in range(10_000)] + [(0, 1, 1)]
    posterior = Glad().fit(crowd(table))
    assert np.isfinite(posterior.probability).all()
    assert np.isfinite(posterior.trace).all()
    assert posterior.grades[0] == 0


def test_one_judge_is_believed() -> None:
    posterior = Glad().fit(crowd([(0, 0, 2), (0, 1, 0), (0, 2, 1)]))
    assert posterior.grades.tolist() == [2, 0, 1]
    assert posterior.probability.max() < 1


def test_gold_sets_priors() -> None:
    """Two judges right 3 times of 4 and 1 of 2; one of them is heard only on training items."""
    known = {0: 1, 1: 1, 2: 1, 3: 0}
    table = [(0, 0, 1), (0, 1, 1), (0, 2, 1), (0, 3, 1), (1, 0, 1), (1, 1, 0), (1, 4, 1), (1, 5, 0)]
    light = Glad().fit(crowd(table), gold=gold_of(known), supervision="light")
    assert light.parameters["ability"][0] == pytest.approx((0.75 + 0.5) / 2)
    assert light.grades[:4].tolist() == [1, 1, 1, 0]
    plain = Glad().fit(crowd(table))
    assert light.probability[5, 1] > plain.probability[5, 1]  # most training items are relevant
    square = Glad(dialect="square").fit(crowd(table), gold=gold_of(known), supervision="light")
    assert square.parameters["ability"][0] == 1.0
    own = Glad(ability=0.3).fit(crowd(table), gold=gold_of(known), supervision="light")
    assert own.parameters["ability"][0] == 0.3


def test_clamped_gold_teaches_about_judges() -> None:
    """Two against one: gold says that the one was right, so it is right elsewhere too."""
    table = [(j, i, int(j == 2)) for j in range(3) for i in range(12)]
    assert Glad().fit(crowd(table)).grades[11] == 0
    full = Glad().fit(crowd(table), gold=gold_of(dict.fromkeys(range(10), 1)), supervision="full")
    assert full.grades[11] == 1


def test_squares_dialect_stops_early() -> None:
    judgments, _, _ = _simulate(2, np.random.default_rng(5))
    assert Glad(dialect="square").fit(judgments).iterations < Glad().fit(judgments).iterations


def test_steps_are_reported_and_limited() -> None:
    judgments, _, _ = _simulate(2, np.random.default_rng(6), items=60)
    seen: list[tuple[int, float]] = []
    posterior = Glad(max_steps=2).fit(judgments, progress=lambda step, value: seen.append((step, value)))
    assert seen == list(enumerate(posterior.trace, start=1))
    assert not posterior.converged
    assert has_note(posterior, "aggregation.not-converged", steps=2)


@pytest.mark.parametrize("options", [{"dialect": "matlab"}, {"max_steps": 0}, {"tolerance": float("nan")}])
def test_options_that_cannot_be_are_refused(options: dict) -> None:
    with pytest.raises(OptionError):
        Glad(**options)
