"""Sensitivity, specificity and prevalence with priors."""

import numpy as np
import pytest

import karatage as kt
from karatage.aggregation.reliability import Raykar
from tests.unit.aggregation.crowds import coin, gold_of, simulate

LEANING = [[[0.95, 0.05], [0.4, 0.6]], [[0.9, 0.1], [0.45, 0.55]], [[0.6, 0.4], [0.05, 0.95]], [[0.8, 0.2], [0.2, 0.8]]]


def test_sensitivity_and_specificity_are_found_apart():
    judgments, truth = simulate(LEANING * 2, items=3000)
    posterior = Raykar().fit(judgments)
    confusion = np.array(LEANING * 2)
    np.testing.assert_allclose(posterior.parameters["sensitivity"], confusion[:, 1, 1], atol=0.06)
    np.testing.assert_allclose(posterior.parameters["specificity"], confusion[:, 0, 0], atol=0.06)
    assert (posterior.grades == truth).mean() > 0.9


@pytest.mark.parametrize(("grades", "beside"), [(2, 0.5), (3, 0.25)])
def test_it_is_ds_with_other_counts(grades, beside):
    """With more grades the wrong ones share what the Beta prior holds against the right one."""
    judgments, _ = simulate(LEANING if grades == 2 else coin([0.8, 0.7, 0.6, 0.9], grades), items=300)
    ours = Raykar(prior=(3.0, 1.5), classes=1.0, tolerance=1e-10).fit(judgments)
    theirs = kt.stats.DawidSkene(prior=(beside, 2.0), tolerance=1e-10).fit(judgments)
    np.testing.assert_allclose(ours.probability, theirs.probability, atol=1e-8)


def test_the_prior_matters_more_the_heavier_it_is():
    judgments, _ = simulate(LEANING, items=30)
    light, heavy = (Raykar(prior=p).fit(judgments).parameters["sensitivity"] for p in ((1.7, 1.3), (701, 301)))
    np.testing.assert_allclose(heavy, 0.7, atol=0.02)
    assert np.ptp(light) > np.ptp(heavy)


def test_more_grades_have_matrices_but_no_sensitivity():
    posterior = Raykar().fit(simulate(np.stack([np.full((3, 3), 0.1) + 0.7 * np.eye(3)] * 4))[0])
    assert set(posterior.parameters) == {"accuracy", "confusion"}
    np.testing.assert_allclose(posterior.parameters["confusion"].sum(axis=2), 1)


def test_the_dialect_takes_precision_for_sensitivity():
    """Its priors from gold count by what the judge said, ours by what the grade was."""
    judgments, truth = simulate(LEANING, items=400, shares=[0.9, 0.1])
    gold = gold_of(truth, 200)
    ours = Raykar().fit(judgments, gold=gold, supervision="light").parameters
    theirs = Raykar(dialect="square").fit(judgments, gold=gold, supervision="light").parameters
    assert theirs["sensitivity"].mean() < ours["sensitivity"].mean() - 0.05
    assert len(theirs["sensitivity"]) == 4


def test_the_dialect_takes_fifty_steps_and_tells_of_each():
    told = []
    posterior = Raykar(dialect="square").fit(simulate(LEANING)[0], progress=lambda *step: told.append(step[0]))
    assert told == list(range(1, 51))
    assert posterior.iterations == 50
    assert pytest.approx(1.0) == posterior.probability.sum(axis=1).min()
