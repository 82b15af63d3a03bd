"""Crowd models against the data they came from, the bivariate normal distribution, and [COLLAB14] table 3.2."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import karatage as kt
from karatage.simulation.counting import _tabulate_terms


@pytest.fixture(scope="module")
def study():
    """The script that makes the models; benchmarks are no package that tests could import."""
    path = Path(__file__).parents[2] / "benchmarks" / "crowds.py"
    spec = spec_from_file_location("study_of_crowds", path)
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize("rho", [0.1, 0.5, 0.9])
def test_the_series_is_the_bivariate_normal_distribution(rho):
    from scipy.stats import multivariate_normal, norm

    table, both = _tabulate_terms(), multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    powers = rho ** np.arange(len(table))
    for a, b in (10, 20), (50, 50), (85, 95), (5, 90):
        expected = both.cdf(norm.ppf([(a + 0.5) / 100, (b + 0.5) / 100]))
        assert (powers * table[:, a] * table[:, b]).sum() == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("name", kt.simulation.list_crowds())
def test_models_that_come_along_are_what_the_data_say(shared_data, study, name):
    made, shipped = study.make_crowd(name, shared_data), kt.simulation.load_crowd(name)
    assert 0.5 * np.abs(made.shares - shipped.shares).sum() < 0.001
    np.testing.assert_allclose(made.rates, shipped.rates, atol=1e-4)
    np.testing.assert_allclose(made.correlation, shipped.correlation, atol=1e-3)
    assert (made.judges, made.judgments, made.source) == (shipped.judges, shipped.judgments, shipped.source)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("bm", (1000, 83, 5000)),
        ("hcb", (3275, 722, 18479)),
        ("rte", (800, 164, 8000)),
        ("temp", (462, 76, 4620)),
        ("bluebird", (108, 39, 4212)),
        ("wvscm", (159, 17, 1221)),
    ],
)
def test_real_crowds_have_the_sizes_of_table_32(shared_data, study, name, sizes):
    """Examples, workers and labels; and all four rates of the real majority, from its counts."""
    folder, read, _ = study.SOURCES[name]
    judgments, gold = read(shared_data / folder)
    found = kt.simulation.summarise_crowd(judgments, gold)
    assert (found.items, len(found.judges), found.grades) == sizes
    recall, specificity, _ = study.rate_votes(judgments, gold)
    assert (found.recall, found.specificity) == (pytest.approx(recall), pytest.approx(specificity))
    right = (1 - found.relevant / found.items) * specificity
    assert found.npv == pytest.approx(right / (right + found.relevant / found.items * (1 - recall)))


def test_hcb_and_rte_come_near_the_paper(shared_data, study):
    """Judges drawn alike for HCB; for RTE the paper lies between that and drawing by contribution. Why: docs."""
    gold = study.make_gold()
    assert gold.grade.mean() == pytest.approx(0.163, abs=0.001)
    recall, precision, specificity, negative = study.THESIS["hcb"]
    found = study.rate_majority(gold, study.equalise(study.make_crowd("hcb", shared_data, "kept").independent()))
    assert 100 * found[0] == pytest.approx(recall, abs=2)
    assert 100 * found[1] == pytest.approx(precision, abs=5)
    assert 100 * found[3] == pytest.approx(negative, abs=1.5)
    recall, precision, specificity, negative = study.THESIS["rte"]
    rte = study.make_crowd("rte", shared_data, "kept").independent()
    alike, by_work = study.rate_majority(gold, study.equalise(rte)), study.rate_majority(gold, rte)
    assert 100 * alike[0] == pytest.approx(recall, abs=3)
    assert by_work[1] < precision / 100 < alike[1]
    assert by_work[2] < specificity / 100 < alike[2]


def test_the_careful_crowd_is_as_careful_as_the_paper_says(study):
    found = study.rate_majority(study.make_gold(), kt.simulation.load_crowd("careful"))
    np.testing.assert_allclose(np.array(found) * 100, study.THESIS["careful"], atol=1)


def test_shared_errors_explain_what_the_real_majority_is_worth(shared_data, study):
    """Recall and specificity on the gold a model was learned from, summed over all eight crowds."""
    missed = {}
    for name, (folder, read, _) in study.SOURCES.items():
        judgments, gold = read(shared_data / folder)
        each, model = study.count_judges(judgments, gold), kt.simulation.load_crowd(name)
        real = study.rate_votes(judgments, gold)
        for way, crowd in ("learned", model), ("independent", model.independent()):
            drawn = [
                kt.simulation.simulate_crowd(gold, crowd, per_item=each, judges=model.judges, rng=k) for k in range(3)
            ]
            found = np.mean([study.rate_votes(judged, gold) for judged in drawn], axis=0)
            missed[name, way] = np.abs(found - real)[:2].sum()
    learned, independent = (sum(v for (_, w), v in missed.items() if w == way) for way in ("learned", "independent"))
    assert learned < 0.6 * independent
    assert missed["llm-dl-2021", "learned"] < 0.07 < 0.25 < missed["llm-dl-2021", "independent"]
