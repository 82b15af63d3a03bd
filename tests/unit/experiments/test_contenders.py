"""Approaches for experiments: names, groups, families, and what is refused."""

import pytest

from karatage.errors import OptionError, UnknownNameError
from karatage.experiments.aware.plan import MERGED_GRADES, OWN_CHANCE, SEVERAL_MEASURES, find_contenders
from karatage.merging.estimators import ESTIMATORS, OWN


def test_groups_are_taken_apart_and_nothing_comes_twice():
    found = find_contenders(["tpc_tau_md", "all30", "own", "uniform", "mv", "mv"], replicates=20)
    names = [contender.name for contender in found]
    assert names[0] == "tpc_tau_md"
    assert len(names) == len(set(names)) == 30 + 30 + 2
    assert set(names) == {*ESTIMATORS, *OWN, "uniform", "mv"}


@pytest.mark.parametrize(
    ("name", "family", "scores"),
    [
        ("mv", MERGED_GRADES, False),
        ("ds(prior=none,scope=topic)", MERGED_GRADES, False),
        ("uniform", "uniform", True),
        ("sgl_kld_med", "sgl kld", True),
        ("tpc_apc_msd", "tpc apc", True),
        ("tpc_apc_own2", OWN_CHANCE, True),
        ("multi(AP,P@5):sgl_tau_msd", SEVERAL_MEASURES, True),
    ],
)
def test_contenders_have_their_family(name, family, scores):
    (found,) = find_contenders([name], replicates=20)
    assert (found.name, found.family, found.merges_scores) == (name, family, scores)


def test_replicates_are_the_plans_unless_the_name_says_otherwise():
    names = ["sgl_tau_md", "sgl_tau_own", "sgl_tau_md(replicates=7)", "sgl_tau_own(replicates=300)"]
    found = find_contenders(names, replicates=250)
    assert [contender.estimator.replicates for contender in found] == [250, 100, 7, 300]
    assert [c.estimator.replicates for c in find_contenders(names[:2], replicates=8)] == [8, 8]
    (multi,) = find_contenders(["multi(AP,P@5):sgl_tau_md"], replicates=9)
    assert multi.estimator.replicates == 9
    assert multi.measures == ("AP", "P@5")


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("sup_tau", OptionError, "'sup_tau'"),
        ("binmv", OptionError, "'binmv'"),
        ("expected:ds", OptionError, "'expected:ds'"),
        ("judge:x", OptionError, "'judge:x'"),
        ("nb", OptionError, "nb"),
        ("ds(supervision=full)", OptionError, r"ds\(supervision=full\).*gold"),
        ("al30", UnknownNameError, "'all30'"),
        ("sgl_tau_mds", UnknownNameError, "'sgl_tau_md'"),
    ],
)
def test_contenders_that_cannot_be_are_refused(name, error, message):
    with pytest.raises(error, match=message):
        find_contenders([name], replicates=8)


def test_a_benchmark_needs_an_approach():
    with pytest.raises(OptionError, match="no approach"):
        find_contenders([], replicates=8)
