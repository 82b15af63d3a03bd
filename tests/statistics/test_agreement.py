"""Intervals cover as often as they promise, and judges are suspected when, and only when, they should be."""

import numpy as np
import pytest
from scipy import stats

from karatage.agreement.coefficients import agreement_intervals
from karatage.agreement.habits import Panel
from karatage.agreement.independence import group_items, measure_independence
from karatage.agreement.intervals import share_intervals
from karatage.agreement.suspicion import compare_copies, compare_with_chance, find_suspects
from karatage.data.estimate import wilson_interval
from karatage.data.judgments import Judgments


def judge(table):
    """Judgments from a table (judge, item), -1 = no grade."""
    judge, item = np.nonzero(np.asarray(table) >= 0)
    return Judgments.from_codes(
        judge=judge.astype(np.int32), item=item.astype(np.int32), grade=np.asarray(table, np.int8)[judge, item]
    )


def simulate(source, judges, items, accuracy, grades=2):
    """True grades, and what judges with the given accuracies say, independently given the truth."""
    truth = source.integers(0, grades, items)
    right = source.random((judges, items)) < np.broadcast_to(accuracy, judges)[:, None]
    wrong = (truth + source.integers(1, grades, (judges, items))) % grades
    return truth.astype(np.int8), np.where(right, truth, wrong)


def suspects(table, gold=None):
    known = np.full(table.shape[1], -1, np.int8) if gold is None else gold
    found: dict[str, set[int]] = {"constant": set(), "random": set(), "inverted": set(), "copied": set()}
    for flag in find_suspects(Panel.of(judge(table), known)):
        found[flag.kind].add(flag.judge)
    return found


def tolerance(share, trials):
    """Four standard errors of a share."""
    return 4 * np.sqrt(share * (1 - share) / trials)


@pytest.mark.parametrize("name", ["percent", "fleiss", "alpha_nominal", "alpha_ordinal", "alpha_interval"])
def test_bootstrap_intervals_cover(name):
    source = np.random.default_rng(11)
    _, large = simulate(source, 4, 60_000, 0.7, grades=3)
    truth = agreement_intervals(judge(large), resamples=1, rng=0)[name].value
    trials, hits = 200, 0
    for _ in range(trials):
        _, table = simulate(source, 4, 120, 0.7, grades=3)
        found = agreement_intervals(judge(table), resamples=300, rng=source)[name]
        hits += found.low <= truth <= found.high
    assert hits / trials == pytest.approx(0.95, abs=tolerance(0.95, trials) + 0.015)  # percentiles are a little short


def test_error_correlation_covers_what_the_simulation_put_in():
    """Each item is hard for all or for nobody: errors correlate by a known amount."""
    source = np.random.default_rng(12)
    easy, hard = 0.05, 0.55
    mean = (easy + hard) / 2
    expected = ((hard - easy) / 2) ** 2 / (mean * (1 - mean))
    trials, hits = 120, 0
    for _ in range(trials):
        chance = np.where(source.random(200) < 0.5, hard, easy)
        table = source.random((5, 200)) < chance
        crowd = judge(table.astype(int))
        found = measure_independence(crowd, np.zeros(200, np.int8), group_items(crowd, 20, source)).correlation
        hits += found.low <= expected <= found.high
    assert hits / trials == pytest.approx(0.95, abs=tolerance(0.95, trials))


@pytest.mark.parametrize(("topics", "mean"), [(6, 0.7), (20, 0.7), (50, 0.95)])
def test_shares_cover_where_topics_differ(topics, mean):
    """Each topic has its own share; who counts items promises far too much."""
    source = np.random.default_rng(26)
    trials, each = 1000, 40
    chance = source.beta(5 * mean, 5 * (1 - mean), (trials, topics, 1))
    right = (source.random((trials, topics, each)) < chance).astype(float)
    group = np.repeat(np.arange(trials), topics * each).astype(np.int32)
    topic = np.tile(np.repeat(np.arange(topics), each), trials).astype(np.int32)
    _, low, high = share_intervals(group, right.ravel(), trials, topic)
    assert ((low <= mean) & (mean <= high)).mean() == pytest.approx(0.95, abs=tolerance(0.95, trials) + 0.01)
    low, high = wilson_interval(right.sum(axis=(1, 2)), topics * each)
    assert ((low <= mean) & (mean <= high)).mean() < 0.75


@pytest.mark.parametrize("grades", [2, 4])
def test_better_than_chance_has_the_stated_size(grades):
    """A random judge looks better than chance in at most 5 % of trials at 5 %, before adjusting for many."""
    source = np.random.default_rng(13)
    trials = 400
    tables = np.zeros((trials, grades, grades), np.int64)
    for t in range(trials):
        reference, said = source.integers(0, grades, (2, 60))
        np.add.at(tables[t], (reference, said), 1)
    found = compare_with_chance(tables)
    assert (found.above <= 0.05).mean() <= 0.05 + tolerance(0.05, trials)
    assert (found.below <= 0.05).mean() <= 0.05 + tolerance(0.05, trials)
    assert stats.kstest(found.below, "uniform").statistic < 0.15


@pytest.mark.parametrize("grades", [2, 4])
def test_a_random_judge_is_found_and_good_ones_are_left_alone(grades):
    source = np.random.default_rng(14)
    trials, found, wrong = 40, 0, 0
    for _ in range(trials):
        _, table = simulate(source, 7, 300, 0.8, grades)
        table[6] = source.integers(0, grades, 300)
        kinds = suspects(table)
        found += 6 in kinds["random"]
        wrong += bool(set().union(*kinds.values()) - {6})
    assert found / trials >= 0.85
    assert wrong / trials <= 0.05 + tolerance(0.05, trials)


def test_a_weak_but_useful_judge_is_rarely_called_random():
    """Its kappa is two thirds of the others'; the promise is about half."""
    source = np.random.default_rng(15)
    trials, wrong = 60, 0
    for _ in range(trials):
        _, table = simulate(source, 8, 200, [0.8] * 7 + [0.7])
        wrong += 7 in suspects(table)["random"]
    assert wrong / trials <= 0.05 + tolerance(0.05, trials)


def test_a_good_judge_with_few_items_is_rarely_called_random():
    """It may well fail to beat chance; that alone is no ground."""
    source = np.random.default_rng(22)
    trials, wrong, unproven = 80, 0, 0
    for _ in range(trials):
        truth, table = simulate(source, 8, 300, [0.8] * 7 + [0.72])
        table[7, 24:] = -1
        crowd = Panel.of(judge(table), truth)
        unproven += compare_with_chance(crowd.count_against(crowd.gold)).above[7] > 0.05
        wrong += 7 in suspects(table, truth)["random"]
    assert unproven / trials > 0.2
    assert wrong / trials <= 0.05 + tolerance(0.05, trials)


def test_an_inverted_judge_is_found():
    source = np.random.default_rng(16)
    for _ in range(20):
        _, table = simulate(source, 6, 100, [0.8] * 5 + [0.2])
        assert suspects(table)["inverted"] == {5}
    _, graded = simulate(source, 6, 100, 0.8, grades=4)
    graded[5] = 3 - graded[5]
    assert suspects(graded)["inverted"] == {5}


def test_a_lenient_judge_is_not_random():
    source = np.random.default_rng(17)
    truth, table = simulate(source, 6, 200, 0.85, grades=4)
    table[5] = np.minimum(truth + 1, 3)
    assert not set().union(*suspects(table).values())


def test_a_judge_right_against_all_others_is_cleared_by_gold():
    source = np.random.default_rng(18)
    truth, table = simulate(source, 4, 150, [0.25, 0.25, 0.25, 0.9])
    assert suspects(table)["inverted"] == {3}
    assert suspects(table, truth)["inverted"] == {0, 1, 2}


def test_a_constant_judge_is_found_where_others_differ():
    source = np.random.default_rng(19)
    _, table = simulate(source, 5, 40, 0.8)
    table[4] = 1
    assert suspects(table)["constant"] == {4}
    assert not suspects(np.zeros((5, 40), int))["constant"]


@pytest.mark.parametrize("by_gold", [False, True])
def test_a_copier_is_found_and_independent_judges_are_not(by_gold):
    source = np.random.default_rng(20)
    trials, wrong = 40, 0
    for _ in range(trials):
        truth, table = simulate(source, 8, 150, [0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.8, 0.8])
        gold = truth if by_gold else None
        wrong += bool(suspects(table, gold)["copied"])
        copied = source.random(150) < 0.95
        table[7] = np.where(copied, table[5], table[7])
        assert suspects(table, gold)["copied"] == {5, 7}
    assert wrong / trials <= 0.05 + tolerance(0.05, trials)


def test_hard_items_that_all_share_make_no_copies():
    source = np.random.default_rng(21)
    trials, wrong = 30, 0
    for _ in range(trials):
        truth = source.integers(0, 2, 200)
        chance = np.where(source.random(200) < 0.3, 0.4, 0.95)
        table = np.where(source.random((8, 200)) < chance, truth, 1 - truth)
        wrong += bool(list(compare_copies(Panel.of(judge(table), np.full(200, -1, np.int8)))))
    assert wrong / trials <= 0.05 + tolerance(0.05, trials)


def test_judges_half_alike_are_no_copies_however_many_items_show_it():
    source = np.random.default_rng(23)
    truth, table = simulate(source, 6, 6000, 0.75)
    for share, expected in ((0.58, set()), (0.8, {4, 5})):
        copy = np.where(source.random(6000) < share, table[4], table[5])
        assert suspects(np.vstack([table[:5], copy]), truth)["copied"] == expected


def test_among_many_pairs_some_agree_by_luck_and_none_is_a_copy():
    source = np.random.default_rng(24)
    trials, wrong = 20, 0
    for _ in range(trials):
        truth, table = simulate(source, 30, 24, 0.8)
        wrong += bool(suspects(table, truth)["copied"])
    assert wrong / trials <= 0.05 + tolerance(0.05, trials)


def test_items_that_everybody_gets_wrong_make_no_copies():
    source = np.random.default_rng(25)
    truth, table = simulate(source, 8, 400, 0.97)
    table[:, :80] = 1 - truth[:80]
    assert not suspects(table, truth)["copied"]
