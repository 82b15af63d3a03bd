"""The noisy experiment: its worlds, its tests against other formulas, its worked examples, and that options matter."""

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

import karatage as kt
from karatage.correction.precision import compare_shared
from karatage.errors import OptionError
from karatage.experiments.engine import Execution
from karatage.experiments.noisy import cells
from karatage.experiments.noisy.cells import (
    INDEPENDENT,
    NAIVE,
    ONE,
    PAIRED,
    SHARED,
    SHARED_PAIRED,
    TESTS,
    TWO,
    Rates,
    join_degrees,
    judge_topics,
    list_batches,
    rate_intervals,
    run_tests,
    sample_gold,
    spread_topics,
)
from karatage.experiments.noisy.plan import World
from karatage.experiments.plans import list_presets, make_plan
from tests.notes import gives, has_note, list_facts

SMALL = kt.experiments.NoisyPlan(simulations=400, seed=5)
BOTH = replace(SMALL, studies=("intervals", "tests"), differences=(0.0, 0.1), gold_sizes=(50, 250))


@pytest.fixture(scope="module")
def found():
    return kt.experiments.experiment_noisy(BOTH)


@pytest.fixture(scope="module")
def worked():
    return kt.experiments.experiment_noisy(kt.experiments.NoisyPlan(studies=("ebay", "trec", "dcg")))


def figure(worked, quantity, of):
    return worked.worked.filter(quantity=quantity, of=of)["value"].item()


# The worlds


def test_ranks_are_those_of_the_paper():
    """m_G = .49, .47, ... .31 by rank: found again from what perfect judges say."""

    class Recorder:
        def __init__(self):
            self.limits = np.arange(0, 1, 0.001, dtype=np.float32)

        def random(self, out, dtype):
            out[:] = self.limits

    counts = judge_topics(np.full((1, 1000), 0.4), (1.0, 1.0), 10, Recorder()) * 10
    steps = np.flatnonzero(np.diff(counts[0])) / 1000  # uniform draws just below each rank's probability
    np.testing.assert_allclose(np.sort(steps)[::-1], np.arange(0.49, 0.30, -0.02), atol=0.0011)


def test_perfect_judges_say_the_truth_and_inverted_ones_the_opposite():
    rng = np.random.default_rng(0)
    quality = np.array([[0.0, 1.0, 1.0]])
    assert judge_topics(quality, (1.0, 1.0), 5, rng).tolist() == [[0.0, 1.0, 1.0]]
    assert judge_topics(quality, (0.0, 0.0), 5, rng).tolist() == [[1.0, 0.0, 0.0]]
    assert judge_topics(quality, (0.0, 1.0), 5, rng).tolist() == [[0.0, 0.0, 0.0]]


def test_topics_spread_around_the_mean_without_leaving_0_to_1():
    luck = np.array([[-1.0, 0.0, 1.0]])
    np.testing.assert_allclose(spread_topics(0.4, luck, 0.3), [[0.1, 0.4, 0.7]])
    np.testing.assert_allclose(spread_topics(0.9, luck, 0.3), [[0.8, 0.9, 1.0]])


def test_gold_samples_and_when_they_cannot_tell_judges_from_a_coin():
    world = World(0.9, 0.6, 40, 50, 0.4)
    rates = sample_gold(world, (0.9, 0.6), 4000, np.random.default_rng(0))
    assert rates.m_r.mean() == pytest.approx(0.9, abs=0.004)
    assert rates.m_n.mean() == pytest.approx(0.6, abs=0.006)
    assert set(np.round(rates.m_r * 40, 9) % 1) == {0.0}
    # D = .2 with standard error sqrt(.24 / 50 + .24 / 50) = .098: clear by a hair; D = .18 is not
    m_r, m_n = np.array([0.6, 0.6, 0.5, 1.0]), np.array([0.6, 0.58, 0.5, 1.0])
    assert Rates(m_r, m_n, 50).clear.tolist() == [True, False, False, True]


def test_batches_hold_all_simulations():
    plan = replace(SMALL, simulations=12_345)
    assert sum(list_batches(plan, 100)) == 12_345
    assert max(list_batches(plan, 100)) == 500
    assert list(list_batches(replace(plan, simulations=3 + 10), 10**9)) == [1] * 13


def test_seen_is_equation_3():
    assert World(0.9, 0.8, 250, 50, 0.4).seen == pytest.approx(0.48)


# Intervals


def test_perfect_judges_need_no_correction():
    """[NOISY18] 3.1: both estimates and their intervals are the same."""
    facts = rate_intervals(World(1.0, 1.0, 20, 30, 0.4), replace(SMALL, simulations=1000)).facts
    assert facts["naive"] == pytest.approx(facts["corrected"], rel=1e-12)
    assert facts["naive_covered"] == facts["covered"]
    assert facts["covered_t"] > facts["covered"] > 0.9
    assert facts["refused"] == facts["bias"] == 0


def test_histograms_hold_all_simulations_in_bins_of_whole_steps(found):
    total = found.histogram.group_by("gold_size", "estimate").agg(pl.sum("simulations"))
    assert set(total["simulations"]) == {400}
    assert len(total) == 4
    steps = (found.histogram["high"] - found.histogram["low"]).to_numpy() * 500  # of 50 topics x 10 ranks
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-6)


def test_coins_are_refused():
    facts = rate_intervals(World(0.51, 0.5, 30, 20, 0.4), SMALL).facts
    assert facts["refused"] > 0.9
    plan = replace(SMALL, right_relevant=(0.5,), right_other=(0.501,), gold_sizes=(30,), simulations=10)
    alone, several = (
        kt.experiments.experiment_noisy(plan),
        kt.experiments.experiment_noisy(replace(plan, topics=(21, 22))),
    )
    assert alone.intervals.select("refused", "corrected", "covered").row(0) == (1.0, None, None)
    assert several.intervals["refused"].to_list() == [1.0, 1.0]
    assert gives(several.sentence, 10)


def test_notes_tell_where_much_is_refused():
    plan = replace(SMALL, right_relevant=(0.9, 0.55), right_other=(0.8, 0.55))
    assert has_note(kt.experiments.experiment_noisy(plan), "experiments.often-refused", refused=1, worlds=2, share=0.05)
    assert kt.experiments.experiment_noisy(SMALL).notes == ()


# Tests


def test_tests_are_those_of_scipy_and_of_the_equations():
    rng = np.random.default_rng(3)
    a, b = rng.random((2, 4, 12))
    gold = Rates(np.full(4, 0.9), np.full(4, 0.7), 60)
    other = Rates(np.full(4, 0.75), np.full(4, 0.85), 60)
    one, two = cells.run_tests(a, b, gold, gold), cells.run_tests(a, b, gold, other)
    for k in range(4):
        welch, paired = stats.ttest_ind(b[k], a[k], equal_var=False), stats.ttest_rel(b[k], a[k])
        for name, expected in ((NAIVE, welch), (PAIRED, paired)):
            value, variance, degrees = (np.broadcast_to(part, 4)[k] for part in one[name][0])
            assert value / math.sqrt(variance) == pytest.approx(expected.statistic)
            assert degrees == pytest.approx(expected.df)
        j = a[k].mean(), b[k].mean()
        v = a[k].var(ddof=1) / 12, b[k].var(ddof=1) / 12
        for tests, (m_r, m_n) in ((one, (0.9, 0.7)), (two, (0.75, 0.85))):
            first, second = _correct_by_hand(j[0], v[0], 0.9, 0.7), _correct_by_hand(j[1], v[1], m_r, m_n)
            found = tests[INDEPENDENT][0]
            assert found.value[k] == pytest.approx(second[0] - first[0])
            assert found.variance[k] == pytest.approx(first[1] + second[1])
            assert found.degrees == math.inf
        gap = j[1] - j[0]
        spread = (b[k] - a[k]).var(ddof=1) / 12
        for name, topics in ((SHARED, v[0] + v[1]), (SHARED_PAIRED, spread)):
            found = one[name][0]
            rates = gap**2 * (0.9 * 0.1 + 0.7 * 0.3) / 60 / 0.6**4
            assert found.value[k] == pytest.approx(gap / 0.6)
            assert found.variance[k] == pytest.approx(topics / 0.36 + rates)
        pooled = two[SHARED][0]
        assert pooled.value[k] == pytest.approx(gap / (0.825 + 0.775 - 1))


def _correct_by_hand(j, v, m_r, m_n, size=60):
    d = m_r + m_n - 1
    known = m_r * (1 - m_r) * (j - 1 + m_n) ** 2 / size + m_n * (1 - m_n) * (j - m_r) ** 2 / size
    return (j - 1 + m_n) / d, v / d**2 + known / d**4


def test_degrees_of_freedom_of_a_sum():
    found = join_degrees(np.array([3.0, 0.0]), (np.array([1.0, 0.0]), 9), (np.array([2.0, 0.0]), 4))
    assert found.tolist() == [pytest.approx(9 / (1 / 9 + 4 / 4)), math.inf]


def test_shares_are_counted_as_told():
    value, variance = np.array([0.5, -0.5, 0.05, 0.2]), np.array([0.01, 0.01, 0.01, 0.01])
    allowed = np.array([True, True, True, False])
    rejected, wrong, covered, estimate, refused = cells._rate(
        [(cells.Estimated(value, variance), allowed)], difference=0.1
    )
    assert rejected == pytest.approx(2 / 3)
    assert wrong == pytest.approx(1 / 3)
    assert covered == pytest.approx(1 / 3)  # 0.05 only, of what was not refused
    assert estimate == pytest.approx(0.05 / 3)
    assert refused == 0.25
    nothing = cells._rate([(cells.Estimated(value, variance), ~np.ones(4, bool))], difference=0.0)
    assert nothing == (None, None, None, None, 1.0)


def test_scores_that_never_vary_are_no_difference():
    same = np.full((3, 5), 0.4)
    gold = Rates(np.full(3, 0.9), np.full(3, 0.8), 50)
    for name, (estimated, clear) in cells.run_tests(same, same, gold, gold).items():
        rejected, *_ = cells._rate([(estimated, clear)], difference=0.0)
        assert rejected == 0, name


def test_power_is_compared_where_a_sound_test_has_80_percent(found):
    one, two = found.compare_power(ONE), found.compare_power(TWO)
    assert one["gold_size"].to_list() == two["gold_size"].to_list() == [50, 250]
    assert set(one["difference"]) == {0.1}
    assert (one[SHARED_PAIRED] - one[PAIRED]).abs().max() < 0.05
    assert (two[INDEPENDENT] > 0.1).all()
    assert found.pivot_tests(ONE).columns[-5:] == list(TESTS)


def test_topics_that_differ_make_pairing_worth_it():
    plan = replace(SMALL, studies=("tests",), differences=(0.1,), topic_spread=0.3, simulations=1000)
    row = kt.experiments.experiment_noisy(plan).pivot_tests(ONE).row(0, named=True)
    assert row[SHARED_PAIRED] > row[SHARED] + 0.1
    assert row[PAIRED] > row[NAIVE] + 0.1


# The whole


def test_the_sentence_tells_what_was_found(found):
    row = found.pivot_tests(TWO).filter(difference=0.0, gold_size=250).row(0, named=True)
    assert f"{row[SHARED_PAIRED] * 100:.1f}" in found.sentence
    assert gives(found.sentence, 'judges="independent"')
    assert gives(found.sentence, "94 to 96%", 400, "95.0 ± 2.1%")
    assert repr(found).startswith(f"NoisyFindings({found.sentence[:60]}")
    alone = kt.experiments.experiment_noisy(SMALL)
    told = alone.intervals.row(0, named=True)
    assert gives(alone.sentence, f"{told['naive_covered']:.1%}", 400, f"{told['covered']:.1%}", "95.0 ± 2.1%")


def test_figure_1_names_the_confusion_matrix_that_corrects_it(worked):
    assert gives(worked.sentence, "gold 0: 0.8, 0.15, 0.05", "gold 0.5: 0.1, 0.8, 0.1", "gold 1: 0.05, 0.15, 0.8")


def test_findings_as_json_and_in_long_form(found, worked):
    told = json.loads(found.to_json())
    assert told["plan"]["gold_sizes"] == [50, 250]
    assert len(told["tests"]) == 2 * 2 * 2 * 5
    assert told["intervals"] == found.intervals.to_dicts()
    assert found.frame.filter(study="intervals", quantity="covered")["value"].to_list() == list(
        found.intervals["covered"]
    )
    assert len(found.frame.filter(study="tests", quantity="rejected")) == 40
    values = {(row["quantity"], row["of"]): row["value"] for row in json.loads(worked.to_json())["worked"]}
    assert values["topics", "both"] == "infinite"
    assert worked.frame.filter(study="dcg")["of"].unique().len() == 3
    assert "<b>" in found._repr_html_()


def test_same_seed_same_result_whatever_the_workers(found, tmp_path):
    again = kt.experiments.experiment_noisy(BOTH, execution=Execution(workers=2), output=tmp_path)
    assert again.to_json() == found.to_json()
    kept = kt.experiments.experiment_noisy(BOTH, output=tmp_path)
    assert kept.to_json() == found.to_json()
    assert list_facts(kept.log) == {"experiments.cells-kept": {"kept": 6, "cells": 6}}
    other = kt.experiments.experiment_noisy(replace(BOTH, seed=6))
    assert not other.intervals.equals(found.intervals)
    assert not other.tests.equals(found.tests)


@pytest.mark.parametrize(
    "change",
    [
        {"right_relevant": (0.95,)},
        {"right_other": (0.95,)},
        {"gold_sizes": (30,)},
        {"topics": (20,)},
        {"precision": (0.3,)},
        {"topic_spread": 0.3},
        {"depth": 5},
        {"simulations": 300},
    ],
)
def test_every_option_matters(change):
    plan = replace(SMALL, studies=("intervals", "tests"), differences=(0.0,))
    found, other = (kt.experiments.experiment_noisy(replace(plan, **options)) for options in ({}, change))
    names = ["naive_covered", "corrected", "spread"]
    assert not found.intervals.select(names).equals(other.intervals.select(names))
    assert not found.tests.select("rejected", "estimate").equals(other.tests.select("rejected", "estimate"))


def test_worlds_do_not_change_each_other(found):
    """Each has a stream of its own."""
    alone = kt.experiments.experiment_noisy(replace(BOTH, gold_sizes=(250,), studies=("intervals",)))
    assert alone.intervals.equals(found.intervals.filter(gold_size=250))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"studies": ()}, "study"),
        ({"topics": (5, 5)}, None),
        ({"right_relevant": (0.9, 0.8)}, None),
        ({"right_relevant": (), "right_other": ()}, "pair"),
        ({"right_relevant": (0.4,), "right_other": (0.6,)}, "chance"),
        ({"right_relevant": (1.2,)}, r"\b1\.2\b.*\b0\b.*\b1\b"),
        ({"precision": (1.5,)}, r"\b1\.5\b"),
        ({"precision": (math.nan,)}, "nan"),
        ({"topic_spread": -0.1}, r"topic spread -0\.1"),
        ({"gold_sizes": (0,)}, "from 1"),
        ({"depth": 0}, "from 1"),
        ({"topics": (1,)}, "variance"),
        ({"differences": (-0.1,)}, "below 0"),
        ({"studies": ("tests",), "precision": (0.9,)}, r"\b0\.9\b.*\b0\.15\b.*\b1\b"),
        ({"simulations": 5}, r"\b10\b"),
        ({"seed": -1}, "seed"),
    ],
)
def test_plans_that_cannot_be_are_refused(change, message):
    with pytest.raises(OptionError, match=message):
        replace(SMALL, **change)


def test_presets_are_plans_and_paper_is_the_default():
    assert list_presets("noisy") == ["coverage", "dcg", "ebay", "paper", "power", "small", "trec"]
    plans = {name: make_plan(kt.experiments.NoisyPlan, "noisy", preset=name).options for name in list_presets("noisy")}
    assert plans["paper"] == kt.experiments.NoisyPlan()
    assert len(list(plans["coverage"].list_worlds())) == 300
    assert plans["power"].gold_sizes == (50, 100, 250, 1000)


# The paper's examples


@pytest.mark.parametrize(
    ("quantity", "of", "value", "digits"),
    [
        ("naive: t", "a - b", -2.524, 3),
        ("naive: p", "a - b", 0.0116, 4),
        ("corrected P@3", "a", 0.8047, 4),
        ("corrected P@3", "b", 0.8284, 4),
        ("standard error", "a", 0.0903, 4),
        ("standard error", "b", 0.0923, 4),
        ("independent judges: p", "a - b", 0.854, 3),
        ("shared judges: z", "a - b", -2.384, 3),
        ("shared judges: p", "a - b", 0.017, 3),
        ("right about relevant", "DocRun02", 0.447, 3),
        ("right about relevant", "york07ed4", 0.280, 3),
        ("estimate that keeps (17)", "DocRun02", 1.0, 6),
        ("estimate that keeps (17)", "york07ed4", 1.0, 6),
        ("topics, judges never wrong", "both", 2454, 0),
        ("topics", "both", math.inf, 0),
        ("gold items, relevant", "york07ed4", math.inf, 0),
        ("DCG@2 by the judges", "mean", 0.565465, 6),
        ("corrected DCG@2", "mean", 0.482132, 6),
    ],
)
def test_worked_examples_to_the_digit(worked, quantity, of, value, digits):
    assert round(figure(worked, quantity, of), digits) == value


def test_bootstrap_is_near_the_formula(worked):
    for name in "ab":
        drawn = figure(worked, "standard error, bootstrap", name)
        assert figure(worked, "standard error", name) < drawn < 0.105  # the ratio's tail, which (7) leaves out


def test_examples_in_words(worked):
    for facts in (["p = 0.0116"], ["0.527 > 0.447", "0.513 > 0.280"], [2454]):
        assert gives(worked.sentence, *facts), facts
    assert worked.notes == ()


def test_two_gold_samples_thrown_together_are_twice_as_many_items():
    rng = np.random.default_rng(0)
    scores = [rng.integers(0, 11, (3, 20)) / 10 for _ in range(2)]
    first, second = (Rates(np.full(3, m_r), np.full(3, m_n), 50) for m_r, m_n in ((0.9, 0.8), (0.8, 0.9)))
    found, _ = run_tests(*scores, first, second)["shared, paired"]
    gap = scores[1] - scores[0]
    expected = compare_shared(gap.mean(axis=1), gap.var(axis=1, ddof=1) / 20, 0.85, 0.85, 100, 100)
    np.testing.assert_allclose(found.value, expected.value)
    np.testing.assert_allclose(found.variance, expected.variance)


def test_equal_systems_have_no_worse_one():
    plan = kt.experiments.NoisyPlan(studies=("tests",), differences=(0.0, 0.1), simulations=50)
    found = kt.experiments.experiment_noisy(plan).tests
    assert found.filter(difference=0.0)["wrong"].null_count() == len(found.filter(difference=0.0))
    better = found.filter(difference=0.1, gold_samples=ONE)
    assert better["wrong"].max() < 0.1 < better["rejected"].max()


def test_bins_lie_around_what_judges_can_say():
    """Where a bin holds one possible P@k, it is the bin's middle."""
    finding = rate_intervals(
        World(0.9, 0.8, 250, 2, 0.4), kt.experiments.NoisyPlan(topics=(2,), depth=2, simulations=500)
    )
    bins = finding.table.filter(estimate="naive")
    middle, count = (bins["low"] + bins["high"]).to_numpy() / 2, bins["simulations"].to_numpy()
    assert count.sum() == 500
    assert (middle * count).sum() / 500 == pytest.approx(finding.facts["naive"])
    assert set(middle[count > 0].round(9)) <= {0, 0.25, 0.5, 0.75, 1}


@pytest.mark.parametrize(("samples", "sound"), [(ONE, PAIRED), (TWO, INDEPENDENT)])
def test_power_is_compared_where_the_sound_test_has_about_80_percent(samples, sound):
    plan = kt.experiments.NoisyPlan(studies=("tests",), differences=(0.0, 0.02, 0.1, 0.3), simulations=200)
    found = kt.experiments.experiment_noisy(plan)
    power = found.tests.filter(gold_samples=samples, test=sound).filter(pl.col("difference") > 0)
    nearest = power.sort((pl.col("rejected") - 0.8).abs())["difference"][0]
    assert found.compare_power(samples)["difference"].to_list() == [nearest]
    assert nearest != 0.02


def test_other_differences_are_worked_out_anew(tmp_path):
    for differences in ((0.0,), (0.0, 0.1)):
        plan = kt.experiments.NoisyPlan(studies=("tests",), differences=differences, simulations=20)
        found = kt.experiments.experiment_noisy(plan, output=tmp_path).tests
        assert found["difference"].unique(maintain_order=True).to_list() == list(differences)
