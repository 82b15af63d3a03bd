"""Estimators by name."""

import numpy as np
import pytest

from karatage.errors import KaratageError, OptionError, UnknownNameError
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


CROWDS = ("crowd-2011", "hcb", "llm-dl-2021")


@pytest.mark.parametrize(
    ("options", "printed", "random"),
    [
        ("random=0.3", "random=0.3", ("0.3",)),
        ("random=.9/0.10/.5", "random=0.1/0.5/0.9", ("0.1", "0.5", "0.9")),
        ("random='0.3'", "random=0.3", ("0.3",)),
        ("random=1e-5/0.3", "random=1e-05/0.3", ("1e-05", "0.3")),
        ("random=hcb", "random=hcb", ("hcb",)),
        ("random=llm-dl-2021/0.3/hcb", "random=0.3/hcb/llm-dl-2021", ("0.3", "hcb", "llm-dl-2021")),
        ("random=0.3/crowd-2011", "random=0.3/crowd-2011", ("0.3", "crowd-2011")),
        ("random=0.95/0.5/0.05", "random=0.05/0.5/0.95", ("und", "uni", "ovr")),
        ("random=0.3,closeness=True,replicates=7", "replicates=7,closeness=True,random=0.3", ("0.3",)),
    ],
)
def test_classes_of_random_judges_are_printed_as_they_are_read(options, printed, random):
    name, estimator = parse_estimator(f"sgl_tau_msd({options})", CROWDS)
    assert name == f"sgl_tau_msd({printed})"
    assert (estimator.random, estimator.classes) == (random, random)
    assert parse_estimator(name, CROWDS) == (name, estimator)


@pytest.mark.parametrize("word", ["0", "1", "-0.3", "1.5", "nan", "1e999", "0.3/0", "1/2", "True", "30"])
def test_rates_outside_0_and_1_are_refused(word):
    with pytest.raises((OptionError, UnknownNameError), match=r"above 0 and below 1|'True'"):
        parse_estimator(f"tpc_kld_md(random={word})", CROWDS)


@pytest.mark.parametrize("word", ["hbc", "0.3/hbc", "''", "0.3/", "None", "und", "(0.1,0.5)", "[0.3]", "x" * 500])
def test_unknown_crowds_are_refused_with_those_known(word):
    with pytest.raises(KaratageError, match=r"crowd-2011, hcb, llm-dl-2021|write it like"):
        parse_estimator(f"tpc_kld_md(random={word})", CROWDS)


def test_own_shuffles_have_no_classes():
    assert OWN["sgl_tau_own"].classes == ("own",)
    assert ESTIMATORS["sgl_tau_md"].classes == ("und", "uni", "ovr")


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
        ("sgl_tau_md(closeness=1)", "closeness must be True or False, not 1"),
        ("sgl_tau_own(closeness=True)", "only option is replicates"),
        ("sgl_tau_own(random=0.3)", "only option is replicates"),
        ("sup_tau(random=0.3)", "only option is sub"),
        ("sgl_tau_md(random=0.3/0.30)", "twice"),
        ("sgl_tau_md(random=hcb/hcb)", "twice"),
    ],
)
def test_wrong_options_are_refused(text, message):
    with pytest.raises(OptionError, match=message):
        parse_estimator(text, CROWDS)
