"""Verdicts on the paper's findings: their numbers from single k-tuples, and findings that are trivial."""

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

import karatage as kt
from karatage.experiments.aware.verdicts import PAPER
from karatage.views.reading import restore
from tests.notes import gives

from .aware_worlds import make_findings

JUDGES, SIZES, SAMPLES = 9, (2, 4, 5), 12
LEADS = "uniform is better than mv"


@pytest.fixture(scope="module")
def world():
    return kt.simulation.simulate_collection(systems=9, topics=6, rng=4)


@pytest.fixture(scope="module")
def run(world, tmp_path_factory):
    """The findings of a public experiment, and every k-tuple of it."""
    home = tmp_path_factory.mktemp("aware")
    found = experiment(world, output=home)
    cells = pl.concat(pl.read_parquet(path) for path in (home / "cells").glob("*size*.parquet"))
    return found, cells


def experiment(world, samples=SAMPLES, measures=("AP", "P@5"), output=None, judges=JUDGES):
    panel = kt.simulation.simulate_panel(world.gold, judges=judges, rng=5)
    systems = {"all": world.runs, "some": world.runs.only(world.runs.systems[:7])}
    collection = kt.experiments.Collection.of(systems, {"given": panel}, world.gold)
    plan = kt.experiments.AwarePlan(
        measures=measures,
        approaches=("uniform", "sgl_tau_msd", "mv", "emmv"),
        sizes=SIZES,
        samples=samples,
        replicates=8,
    )
    return kt.experiments.experiment_aware(collection, plan, output=output)


def find(found, claim, outcome="tau_ap"):
    (row,) = found.tables["verdicts"].filter(claim=claim, outcome=outcome).iter_rows(named=True)
    return row


def shrink(sizes, variance):
    """Of a mean over sizes: its variance from k-tuples drawn without replacement, and Satterthwaite's freedom."""
    every = np.array([math.comb(JUDGES, size) for size in sizes])
    part = np.array(variance) * (1 - SAMPLES / every) / SAMPLES / len(sizes) ** 2
    return part.sum(), part.sum() ** 2 / (part**2 / (SAMPLES - 1)).sum()


@pytest.mark.parametrize("outcome", ["tau_ap", "rmse"])
def test_an_interval_follows_from_the_single_k_tuples(run, outcome):
    found, cells = run
    here = cells.filter(outcome=outcome)
    if outcome == "rmse":
        means = found.frame.filter(outcome="rmse").group_by("measure").agg(pl.col("mean").max().alias("scale"))
        names = pl.col("uniform", "mv")
        here = here.join(means, on="measure").with_columns(-names / pl.col("scale"))
    each = here.group_by("size", "sample").agg((pl.col("uniform") - pl.col("mv")).mean().alias("lead")).sort("size")
    lead = {size: part["lead"].to_numpy() for (size,), part in each.group_by("size")}
    assert {len(part) for part in lead.values()} == {SAMPLES}
    middle = np.mean([part.mean() for part in lead.values()])
    variance, freedom = shrink(list(lead), [part.var(ddof=1) for part in lead.values()])
    half = stats.t.ppf(0.975, freedom) * np.sqrt(variance)
    row = find(found, LEADS, outcome)
    assert [row["difference"], row["low"], row["high"]] == pytest.approx([middle, middle - half, middle + half])


def test_larger_k_tuples_are_compared_between_sizes(run):
    found, cells = run
    names = ["uniform", "sgl_tau_msd", "mv", "emmv"]
    each = cells.filter(outcome="tau_ap").with_columns(value=pl.mean_horizontal(names))
    each = each.group_by("size", "sample").agg(pl.col("value").mean())
    small, large = (each.filter(size=size)["value"].to_numpy() for size in (SIZES[0], SIZES[-1]))
    fpc = [1 - SAMPLES / math.comb(JUDGES, size) for size in (SIZES[0], SIZES[-1])]
    part = np.array([small.var(ddof=1) * fpc[0], large.var(ddof=1) * fpc[1]]) / SAMPLES
    half = stats.t.ppf(0.975, part.sum() ** 2 / (part**2 / (SAMPLES - 1)).sum()) * np.sqrt(part.sum())
    row = find(found, "larger k-tuples are better")
    gap = large.mean() - small.mean()
    assert [row["difference"], row["low"], row["high"]] == pytest.approx([gap, gap - half, gap + half])


def test_without_pooled_covariances_intervals_are_wider(run):
    found, _ = run
    wide = replace(found, pooled=None).tables["verdicts"]
    exact = found.tables["verdicts"]
    assert wide["difference"].to_list() == exact["difference"].to_list()
    assert (wide["low"] <= exact["low"] + 1e-12).all()
    assert (wide["high"] >= exact["high"] - 1e-12).all()
    assert (wide["high"] - wide["low"] > exact["high"] - exact["low"]).any()


def test_pooled_covariances_are_saved(run):
    found, _ = run
    again = restore(json.loads(found.to_json())).result
    np.testing.assert_allclose(again.pooled, found.pooled)
    assert again.tables["verdicts"].equals(found.tables["verdicts"])


def test_all_k_tuples_leave_no_doubt_and_one_leaves_all(world):
    every = experiment(world, samples=math.comb(JUDGES, 5)).tables["verdicts"]
    assert every["low"].to_list() == every["difference"].to_list() == every["high"].to_list()
    assert [row["verdict"] in ("yes", "all") for row in every.iter_rows(named=True)] == (
        every["difference"] > 0
    ).to_list()
    one = experiment(world, samples=1).tables["verdicts"]
    assert set(one["verdict"]) == {"open"}
    assert one["low"].null_count() == len(one)


GRANULARITIES = "the best granularity is sgl or tpc"


def value(better, *, default=0.1, noise=0.0):
    """Approaches by name; RMSE is 1 minus this."""

    def of(_, __, ___, size, outcome, approach):
        found = better.get(approach, default) + noise * ((size * 7 + len(approach) * 5) % 11)
        return 1 - found if outcome == "rmse" else found

    return of


def test_yes_no_and_open_by_the_interval():
    good = make_findings(
        value=value({"sgl_tau_msd": 0.3, "tpc_apc_msd": 0.3, "mv": 0.2, "uniform": 0.201}), spread=0.05
    )
    claim = "the best approach is sgl_tau_msd, sgl_apc_msd, tpc_apc_msd or sgl_tau_md"
    assert find(good, claim)["verdict"] == "yes"
    assert find(good, LEADS)["verdict"] == "open"
    assert find(good, "mv is better than emmv and emneu")["verdict"] == "yes"
    bad = make_findings(value=value({"tpc_fro_md": 0.3, "emmv": 0.2}))
    assert find(bad, claim)["verdict"] == "no"
    assert gives(find(bad, claim)["here"], "best of these", "best of the others tpc_fro_md .300")
    one, others = find(bad, "mv is better than emmv and emneu")["here"].split(", ")
    assert one == "mv .100"  # one level is not the best of some
    assert others == "best of the others emmv .200"
    assert find(bad, "mv is better than emmv and emneu")["verdict"] == "no"
    assert find(bad, "mv is better than emmv and emneu")["difference"] == pytest.approx(-0.1)


def test_two_of_the_others_that_are_alike_do_not_hide_that_both_are_better():
    found = make_findings(value=value({"tpc_fro_md": 0.3, "tpc_fro_med": 0.3}), spread=0.02)
    row = find(found, "the best approach is sgl_tau_msd, sgl_apc_msd, tpc_apc_msd or sgl_tau_md")
    assert row["verdict"] == "no"


def test_where_nothing_differs_findings_are_open_and_say_so():
    found = make_findings(value=value({}), spread=0.05)
    verdicts = found.tables["verdicts"]
    assert set(verdicts.filter(~pl.col("claim").str.contains("granularity is sgl or tpc"))["verdict"]) == {"open"}
    row = find(found, "the best gap is apc or tau")
    assert gives(row["here"], 5, "differ")


def test_a_finding_that_every_level_fulfils_is_not_a_confirmation():
    found = make_findings(value=value({"mv": 0.05}))
    for claim, count in ((LEADS, 33), (GRANULARITIES, None)):
        assert find(found, claim)["verdict"] == "all"
        assert count is None or gives(find(found, claim)["here"], count, "mv")
    assert gives(find(found, GRANULARITIES)["here"], "sgl .100, tpc .100", "sgl minus tpc", "no significant")
    apart = find(make_findings(value=value({n: 0.3 for n in PAPER if n.startswith("tpc")}), spread=0.02), GRANULARITIES)
    assert gives(apart["here"], "sgl .100, tpc .300", "sgl minus tpc", "-0.2000", "a significant")
    assert apart["difference"] is None  # which the finding says nothing about
    alone = make_findings(("sgl_tau_msd", "own"), value=value({}))
    row = find(alone, "the best approach is sgl_tau_msd")
    assert (row["verdict"], row["difference"]) == ("all", None)
    better = make_findings(("all30", "uniform", "mv"), value=value({"mv": 0.05}))
    assert find(better, "the best merge of scores is better than mv")["verdict"] == "all"


def test_the_papers_findings_are_about_the_papers_approaches():
    found = make_findings(
        ("all30", "own", "uniform", "mv", "emmv", "emneu"), value=value({"sgl_tau_msd": 0.3, "tpc_tau_own4": 0.9})
    )
    assert len(PAPER) == 34
    row = find(found, "the best approach is sgl_tau_msd, sgl_apc_msd, tpc_apc_msd or sgl_tau_md")
    assert row["verdict"] == "yes"
    assert gives(find(found, "larger k-tuples are better")["here"], ".106", 2, ".106", 30)  # 33 of .1 and one of .3


def test_parts_are_means_of_their_estimators():
    better = {name: 0.2 for name in PAPER if name.endswith("_med")} | {name: 0.3 for name in PAPER if "_kld_" in name}
    found = make_findings(value=value(better))
    weights, gaps = find(found, "the best weight is med or md"), find(found, "the best gap is kld or fro", "rmse")
    assert (weights["verdict"], gaps["verdict"]) == ("yes", "yes")
    # med: 0.2 but for the two of kld; md and msd: 0.1 but for these.
    assert weights["difference"] == pytest.approx(0.8 * 0.1)
    assert find(found, "the best gap is apc or tau")["verdict"] == "no"
    assert find(found, "the best weight is med", "rmse")["verdict"] == "yes"


@pytest.mark.parametrize(
    ("few", "many", "verdict", "sizes"),
    [(0.05, -0.05, "yes", ("2-16", "17-30")), (0.05, 0.05, "no", ("2-30",)), (0.05, 0.0, "open", ("2-16",))],
)
def test_few_and_many_judges(few, many, verdict, sizes):
    def lead(_, __, ___, size, ____, approach):
        return 0.5 + (few if size < 17 else many) * (approach == "uniform")

    found = make_findings(("uniform", "mv"), value=lead)
    row = find(found, "uniform is better for small k-tuples, mv for large ones")
    assert row["verdict"] == verdict
    assert gives(row["here"], *sizes)


@pytest.mark.parametrize(("ahead", "decisive"), [("uniform", 1), ("mv", 0)])
def test_both_ends_of_few_and_many_judges(ahead, decisive):
    """A yes needs both differences; either can give a no, so that test has half the level."""

    def lead(_, __, ___, ____, _____, approach):
        return 0.55 if approach == ahead else 0.5

    found = make_findings(("uniform", "mv"), sizes=(5, 10), systems=("T08",), measures=("AP",), value=lead)
    row = find(found, "uniform is better for small k-tuples, mv for large ones")
    error = [math.sqrt(2) * 0.01 * math.sqrt((1 - 50 / math.comb(31, size)) / 50) for size in (5, 10)]
    low, high = (stats.t.ppf(1 - tail, 49) for tail in (0.025, 0.0125))
    assert row["difference"] == pytest.approx(-0.05)
    assert row["low"] == pytest.approx(-0.05 - low * error[decisive])
    assert row["high"] == pytest.approx(-0.05 + high * error[decisive])


def test_there_are_verdicts_without_an_analysis_of_variance():
    found = make_findings(("uniform", "mv"), sizes=(3,), systems=("T08",), measures=("AP",), value=value({"mv": 0.3}))
    assert find(found, LEADS)["verdict"] == "no"
