"""Known judges are found, and ever better with more grades."""

import numpy as np
import pytest

import karatage as kt

JUDGES = 12


def simulate(seed, grades, items):
    """Every judge grades every item by a known matrix."""
    rng = np.random.default_rng(seed)
    confusion = 0.55 * np.eye(grades) + 0.45 * rng.dirichlet(np.ones(grades), (JUDGES, grades))
    truth = rng.integers(grades, size=items)
    bound = confusion.cumsum(axis=2)[:, truth]  # (judge, item, grade)
    said = (rng.random((JUDGES, items, 1)) > bound).sum(axis=2).clip(max=grades - 1)
    judge, item = np.divmod(np.arange(JUDGES * items), items)
    return kt.Judgments.from_codes(judge=judge, item=item, grade=said.ravel(), top_grade=grades - 1), confusion


def error(model, grades, items):
    """Root mean square error of the matrices over some crowds."""
    squares = []
    for seed in range(4):
        judgments, confusion = simulate(seed, grades, items)
        squares.append((kt.aggregate(judgments, model, rng=0).parameters["confusion"] - confusion) ** 2)
    return float(np.sqrt(np.mean(squares)))


@pytest.mark.parametrize("grades", [2, 4])
@pytest.mark.parametrize("model", ["ds", "ry", "ibcc"])
def test_the_error_falls_with_the_root_of_the_number_of_items(model, grades):
    errors = np.array([error(model, grades, items) for items in (400, 1600, 6400)])
    slope = np.polyfit(np.log([400, 1600, 6400]), np.log(errors), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.08)
    ideal = np.sqrt(0.16 / (6400 / grades))  # were all grades known, and every cell far from 0 and 1
    assert errors[-1] < 2 * ideal


def test_competence_and_reliability_are_recovered():
    rng = np.random.default_rng(5)
    right = rng.uniform(0.4, 0.95, 40)
    truth = rng.integers(3, size=3000)
    judge, item = np.divmod(np.arange(40 * 3000), 3000)
    knows = rng.random(len(judge)) < right[judge]
    grade = np.where(knows, truth[item], rng.integers(3, size=len(judge)))
    judgments = kt.Judgments.from_codes(judge=judge, item=item, grade=grade)
    accuracy = right + (1 - right) / 3
    np.testing.assert_allclose(kt.aggregate(judgments, "mace", rng=0).parameters["competence"], right, atol=0.05)
    for model in "zc", "onecoin", "wawa", "ds", "emgz":
        np.testing.assert_allclose(kt.aggregate(judgments, model).parameters["accuracy"], accuracy, atol=0.04)
