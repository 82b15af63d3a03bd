"""Unit tests of pairs of judges that are drawn or hashed, against all pairs."""

import numpy as np
import pytest

from karatage.agreement import intervals as sampling
from karatage.agreement import pairs as pairs_module
from karatage.agreement.habits import Panel, share_alike
from karatage.agreement.independence import group_items, measure_independence
from karatage.agreement.intervals import PairSample, Rows, draw_pairs, find_equal
from karatage.agreement.pairs import agreement_matrix, choose_pairs, compare_pairs
from karatage.agreement.suspicion import choose_likely, compare_copies, find_suspects
from karatage.data.judgments import Judgments


def judge(table):
    """Judgments from a table (judge, item), -1 = no grade."""
    judge, item = np.nonzero(np.asarray(table) >= 0)
    return Judgments.from_codes(
        judge=judge.astype(np.int32), item=item.astype(np.int32), grade=np.asarray(table, np.int8)[judge, item]
    )


def crowd(judges=30, items=120, grades=3, seed=1):
    """Judges of unequal skill, of whom some graded everything and others a few items."""
    source = np.random.default_rng(seed)
    truth = source.integers(0, grades, items)
    right = source.random((judges, items)) < source.uniform(0.3, 0.95, judges)[:, None]
    said = np.where(right, truth, source.integers(0, grades, (judges, items)))
    return truth, np.where(source.random((judges, items)) < source.uniform(0.05, 1.0, judges)[:, None], said, -1)


def every_pair(rows):
    """All pairs that share an item, each standing for itself."""
    one, two = np.triu_indices(rows.judges, 1)
    there = np.zeros((rows.judges, rows.items), bool)
    there[rows.judge, rows.item] = True
    shared = (there[one] & there[two]).any(axis=1)
    return sampling._arrange(rows, one[shared], two[shared])


def by_name(found):
    """{pair: shared, alike, value}."""
    columns = zip(found.first, found.second, found.shared, found.alike, found.value, strict=True)
    return {(int(a), int(b)): (int(s), int(k), round(float(v), 12)) for a, b, s, k, v in columns if v == v}


def test_the_share_of_equal_grades_needs_no_pairs():
    _, table = crowd()
    judgments = judge(table)
    percent, shared = (agreement_matrix(judgments, name) for name in ("percent", "shared"))
    np.fill_diagonal(shared, 0)
    brute = np.nansum(np.where(shared > 0, percent, 0) * shared, axis=1) / shared.sum(axis=1)
    np.testing.assert_allclose(share_alike(Panel.of(judgments, np.full(120, -1, np.int8))), brute, rtol=1e-14)


@pytest.mark.parametrize("weights", [None, "quadratic"])
def test_chosen_pairs_are_compared_as_all_are(weights):
    rows = Rows.of(judge(crowd()[1]))
    group = np.arange(rows.items, dtype=np.int32) % 7
    every = compare_pairs(rows, weights, group=group)
    chosen = compare_pairs(rows, weights, group=group, sample=every_pair(rows))
    assert by_name(chosen) == by_name(every)
    np.testing.assert_allclose(chosen.average(rows.judges), every.average(rows.judges))
    assert chosen.mean.value == pytest.approx(every.mean.value)
    assert chosen.mean.high - chosen.mean.low >= every.mean.high - every.mean.low


def test_errors_of_chosen_pairs_are_correlated_as_those_of_all_are():
    truth, table = crowd()
    judgments, known = judge(table), np.where(np.arange(120) % 3 > 0, truth, -1).astype(np.int8)
    group = group_items(judgments, 10, np.random.default_rng(1))
    families = {str(j): f"f{j % 4}" for j in range(20)}
    every = measure_independence(judgments, known, group, families)
    chosen = measure_independence(judgments, known, group, families, every_pair(Rows.of(judgments)))
    assert by_name(chosen.pairs) == by_name(every.pairs)
    assert by_name(chosen.within) == by_name(every.within)
    assert chosen.judges == every.judges
    for one, other in zip(chosen.families, every.families, strict=True):
        assert one.correlation == pytest.approx(other.correlation, nan_ok=True)


def test_copies_among_chosen_pairs_are_those_among_all():
    truth, table = crowd(judges=12, items=200)
    table = np.where(table < 0, 0, table)
    table[5], table[9, :195] = table[4], table[8, :195]
    for known in (np.full(200, -1, np.int8), truth.astype(np.int8)):
        panel = Panel.of(judge(table), known)
        every, chosen = compare_copies(panel), compare_copies(panel, every_pair(Rows.of(panel.judgments)))
        assert {pair[:2] for pair in every} == {(4, 5), (8, 9)}
        assert sorted(chosen) == sorted(every)


def test_draws_are_unbiased_and_their_error_is_told(monkeypatch):
    monkeypatch.setattr(sampling, "DRAWS", 90)  # three partners for each of 30 judges
    rows = Rows.of(judge(crowd()[1]))
    every = compare_pairs(rows)
    has = np.isfinite(every.value)
    exact = np.array([len(every.first), every.shared[has].sum(), (every.value * every.shared)[has].sum()])
    own = every.average(rows.judges)
    sums, means, errors, judges = [], [], [], []
    for seed in range(600):
        sample = draw_pairs(rows, 1, np.random.default_rng(seed))
        found = compare_pairs(rows, sample=sample)
        has = np.isfinite(found.value)
        sums.append((sample.pairs, found.weight[has].sum(), (found.value * found.weight)[has].sum()))
        means.append(found.mean.value)
        errors.append(found.error)
        judges.append(found.average(rows.judges))
    deviation = np.std(sums, axis=0) / np.sqrt(len(sums))
    assert (np.abs(np.mean(sums, axis=0) - exact) < 4 * deviation).all()
    assert abs(np.mean(means) - every.mean.value) < 4 * np.std(means) / np.sqrt(len(means)) + 0.003  # of a ratio
    assert 0.8 < np.sqrt(np.mean(np.square(errors))) / np.std(means) < 1.4
    assert np.nanmax(np.abs(np.nanmean(judges, axis=0) - own)) < 0.06


def test_in_a_full_panel_the_number_of_pairs_is_exact(monkeypatch):
    monkeypatch.setattr(sampling, "DRAWS", 100)
    sample = draw_pairs(Rows.of(judge(np.random.default_rng(2).integers(0, 2, (50, 30)))), 1, np.random.default_rng(1))
    assert sample.pairs == pytest.approx(50 * 49 / 2)
    assert set(sample.first) | set(sample.second) == set(range(50))
    assert sample.draws.sum() == 100


def test_every_judge_who_meets_another_is_drawn_even_if_that_is_much_work(monkeypatch):
    monkeypatch.setattr(sampling, "MOST_WORK", 1)
    _, table = crowd()
    table[7] = -1
    table[7, 119] = 1
    table[:7, 119] = table[8:, 119] = -1  # nobody else has this item
    sample = draw_pairs(Rows.of(judge(table)), 1, np.random.default_rng(1))
    assert set(sample.first) | set(sample.second) == set(range(30)) - {7}
    assert sample.draws.sum() == 29


def test_a_seed_draws_the_same_pairs():
    rows = Rows.of(judge(crowd()[1]))
    one, same, other = (draw_pairs(rows, 1000, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one.factor, same.factor)
    assert not np.array_equal(one.factor, other.factor)


@pytest.mark.parametrize(("limit", "value"), [("MOST_PAIRS", 434), ("MOST_MEETINGS", 1000)])
def test_pairs_are_drawn_beyond_a_limit_only(monkeypatch, limit, value):
    rows = Rows.of(judge(np.random.default_rng(2).integers(0, 2, (30, 20))))
    assert choose_pairs(rows, 1, np.random.default_rng(1)) is None
    monkeypatch.setattr(sampling, limit, value)
    assert choose_pairs(rows, 1, np.random.default_rng(1)) is not None


def test_tables_held_at_once_are_few(monkeypatch):
    held, meet = [], pairs_module.meet_chosen

    def spy(*arguments):
        held.append(arguments[-1].size)
        meet(*arguments)

    monkeypatch.setattr(pairs_module, "meet_chosen", spy)
    monkeypatch.setattr(sampling, "HELD_CELLS", 5_000)
    monkeypatch.setattr(sampling, "MOST_PAIRS", 1_000)
    monkeypatch.setattr(sampling, "DRAWS", 600)
    rows = Rows.of(judge(np.random.default_rng(2).integers(0, 3, (200, 40))))
    sample = choose_pairs(rows, 1, np.random.default_rng(1))
    group = np.arange(40, dtype=np.int32) % 20
    found = compare_pairs(rows, group=group, sample=sample)
    assert 500 < len(found.value) == len(sample) <= 600  # of 19,900
    assert len(held) > 1
    assert max(held) <= 5_000
    whole = compare_pairs(rows, sample=sample)
    np.testing.assert_array_equal(found.value, whole.value)
    assert PairSample.thin(sample, 100).first.size <= 100


def test_judges_with_equal_grades_are_found_among_any_number():
    source = np.random.default_rng(5)
    table = source.integers(0, 2, (2_000, 60))
    table[100], table[900], table[1500] = table[0], table[0], table[1]
    table[1999] = table[2]
    table[1999, [3, 30]] ^= 1  # two grades differ
    found = find_equal(Rows.of(judge(table)), 20, np.random.default_rng(1))
    near = {frozenset(pair) for pair in zip(found.first.tolist(), found.second.tolist(), strict=True)}
    assert {frozenset((0, 100)), frozenset((100, 900)), frozenset((1, 1500)), frozenset((2, 1999))} <= near
    assert len(near) < 200  # of two million


def test_judges_with_few_items_are_not_hashed():
    table = np.zeros((4, 30), int)
    table[:2, 19:] = -1
    found = find_equal(Rows.of(judge(table)), 20, np.random.default_rng(1))
    assert {*found.first.tolist(), *found.second.tolist()} == {2, 3}


def test_copies_are_still_found_if_not_all_pairs_are_tested(monkeypatch):
    source = np.random.default_rng(6)
    truth = source.integers(0, 2, 300)
    table = np.where(source.random((80, 300)) < 0.8, truth, 1 - truth)
    table[70], table[33] = table[3], np.where(source.random(300) < 0.03, 1 - table[60], table[60])
    panel = Panel.of(judge(table), np.full(300, -1, np.int8))
    assert choose_likely(panel, 1) is None
    every = {flag.judge: flag.other for flag in find_suspects(panel)}
    monkeypatch.setattr(sampling, "MOST_PAIRS", 100)
    monkeypatch.setattr(sampling, "DRAWS", 80)
    chosen = choose_likely(panel, 1)
    assert chosen is not None
    assert len(chosen) < 300  # of 3,160
    assert {flag.judge: flag.other for flag in find_suspects(panel, chosen)} == every == {3: 70, 70: 3, 33: 60, 60: 33}


def test_pairs_that_are_not_tested_count_as_tests():
    table = np.random.default_rng(8).integers(0, 2, (200, 30))
    table[1] = table[0]
    for judges, copies in (6, [(0, 1)]), (200, []):  # alike by chance somewhere among 19,900 pairs
        panel = Panel.of(judge(table[:judges]), np.zeros(30, np.int8))
        one = sampling._arrange(Rows.of(panel.judgments), np.array([0]), np.array([1]))
        assert [pair[:2] for pair in compare_copies(panel, one)] == copies
