"""Verdicts of `experiment aware` in worlds where the answer is known: yes where true, no where false, else open."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import karatage as kt
from karatage.experiments.aware.verdicts import frame_verdicts
from tests.unit.experiments.aware_worlds import make_findings

WORLDS = 100
SURE = 0.9  # of the worlds
# Good judges err independently, so that votes cancel errors. If most judges invert their scale, most votes do, but
# scores under inverted grades hardly differ between systems, and their mean follows the other judges.
GOOD = {"true_positive": (0.7, 0.9), "true_negative": (0.95, 0.99)}
INVERTED = {**GOOD, "inverted": 5}
LEADS = "uniform is better than mv"


def find_verdicts(seed, quality, *, approaches=("uniform", "mv"), sizes=(7,), samples=16, judges=9):
    """By claim, in a world with its own systems, topics, judges and k-tuples."""
    world = kt.simulation.simulate_collection(systems=12, topics=10, depth=20, rng=seed)
    panel = kt.simulation.simulate_panel(
        world.gold, judges=judges, quality=kt.simulation.PanelQuality(**quality), rng=seed
    )
    collection = kt.experiments.Collection.of({"made": world.runs}, {"given": panel}, world.gold)
    plan = kt.experiments.AwarePlan(
        measures=("AP",), approaches=approaches, sizes=sizes, samples=samples, replicates=8, seed=seed
    )
    found = kt.experiments.experiment_aware(collection, plan).tables["verdicts"].filter(outcome="tau_ap")
    return {row["claim"]: row for row in found.iter_rows(named=True)}


@pytest.mark.parametrize(
    ("expected", "quality", "options"),
    [
        pytest.param("yes", INVERTED, {}, id="true"),
        pytest.param("no", GOOD, {}, id="false"),
        pytest.param("open", GOOD, {"sizes": (3,), "samples": 2}, id="little"),
        pytest.param("all", INVERTED, {"approaches": ("uniform", "sgl_tau_msd", "mv")}, id="all"),
    ],
)
def test_a_finding_whose_truth_is_made_has_its_verdict(expected, quality, options, thin):
    worlds = thin(WORLDS)
    verdicts = Counter(find_verdicts(seed, quality, **options)[LEADS]["verdict"] for seed in range(worlds))
    assert verdicts[expected] >= SURE * worlds, verdicts


def test_intervals_seldom_miss_the_difference_over_all_k_tuples(thin):
    worlds, missed, wrong, told = thin(WORLDS), 0, 0, 0
    for seed in range(worlds):
        some, every = (find_verdicts(seed, GOOD, sizes=(3,), samples=n, judges=7)[LEADS] for n in (16, 35))
        assert every["low"] == every["high"]
        missed += not some["low"] <= every["difference"] <= some["high"]
        told += some["verdict"] != "open"
        wrong += some["verdict"] not in ("open", every["verdict"])
    assert stats.binomtest(missed, worlds, 0.05).pvalue > 0.01, missed
    assert wrong <= missed
    assert told > 0


# Of 34 approaches one lead, by hand: claims about sets of approaches, gaps and weights.
SETS = (
    "the best approach is sgl_tau_msd, sgl_apc_msd, tpc_apc_msd or sgl_tau_md",
    "the best gap is apc or tau",
    "the best merge of scores is better than mv, emmv and emneu",
)


def draw_findings(source, bare, lead):
    """Results with k-tuples of three sizes, which raise and lower all approaches, and noise of each approach."""
    samples = bare.plan.samples
    middle = np.array([lead(name) for name in bare.approaches])
    mean, covariance = bare.mean.copy(), bare.covariance.copy()
    for at in np.ndindex(mean.shape[:5]):
        common = source.exponential(0.1, (samples, 1))  # skewed, as tau_ap is
        value = middle - common + source.normal(0, 0.02, (samples, len(middle)))
        mean[at], covariance[at] = value.mean(axis=0), np.cov(value.T)
    return replace(bare, mean=mean, covariance=covariance)


@pytest.mark.parametrize(
    ("expected", "step", "samples"), [("yes", 0.02, 40), ("no", -0.02, 40), ("open", 0.004, 2), ("open", 0.0, 40)]
)
def test_the_best_of_several_has_its_verdict(expected, step, samples, thin):
    def lead(name):
        return 0.7 + step * (name in SETS[0]) + step * ("_tau_" in name) - step * (name in ("mv", "emmv", "emneu"))

    worlds, source, found = thin(WORLDS), np.random.default_rng(5), Counter()
    bare = make_findings(sizes=(5, 10, 15), systems=("T08",), measures=("AP",), samples=samples)
    for _ in range(worlds):
        verdicts = frame_verdicts(draw_findings(source, bare, lead)).filter(outcome="tau_ap")
        found.update(verdicts.select("claim", "verdict").iter_rows())
    for claim in SETS:
        right = found[claim, expected] + (found[claim, "all"] if expected == "yes" else 0)
        assert right >= SURE * worlds, found
