"""Estimators by name."""

import numpy as np
import pytest

from karatage.errors import OptionError
from karatage.merging.estimators import ESTIMATORS, OWN, SUPERVISED, Estimator, SupervisedEstimator, parse_estimator


def test_there_are_as_many_as_the_papers_and_we_have():
    assert (len(ESTIMATORS), len(OWN), len(SUPERVISED)) == (30, 30, 15)
    assert {e.replicates for e in ESTIMATORS.values()} == {1000}
    assert [name for name in SUPERVISED if "tau" in name] == ["sup_tau", "sup_tau_squared", "sup_tau_cubed"]


@pytest.mark.parametrize(
    ("weighting", "expected"),
    [("md", [0.2, 0.0]), ("msd", [0.04, 0.0]), ("med", [1.2, 1.5]), ("own", [0.2, 0]), ("own4", [0.0016, 0])],
)
def test_weights_from_three_distances(weighting, expected):
    distance = np.array([[0.2, 0.4, 0.6], [1.0, 0.0, 0.5]])
    estimator = Estimator("sgl", "tau", weighting, 10)
    np.testing.assert_allclose(estimator.weigh(distance), expected, rtol=1e-12)


def test_options_are_part_of_the_name():
    assert parse_estimator("tpc_kld_own2( replicates = 7 )") == (
        "tpc_kld_own2(replicates=7)",
        Estimator("tpc", "kld", "own2", 7),
    )
    assert parse_estimator("sup_apc_cubed(sub=True)") == (
        "sup_apc_cubed(sub=True)",
        SupervisedEstimator("apc", 3, sub=True),
    )
    assert parse_estimator("sup_rmse") == ("sup_rmse", SupervisedEstimator("rmse", 1))
    assert parse_estimator("mv") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sgl_tau_md(replicates=0)", r"\b1\b.*\b10,000\b"),
        ("sgl_tau_md(replicates=2.5)", "replicates"),
        ("sgl_tau_md(replicates=True)", "replicates"),
        ("sgl_tau_md(sub=True)", "replicates"),
        ("sup_tau(replicates=3)", "option"),
        ("sup_tau(sub=3)", "sub must be True or False, not 3"),
        ("sup_tau(sub=True)@10", "depth"),
        ("sgl_tau_md(", "approach"),
    ],
)
def test_wrong_options_are_refused(text, message):
    with pytest.raises(OptionError, match=message):
        parse_estimator(text)
