"""Agreement against slow and obvious computations, other libraries, and worked examples."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from karatage.agreement.coefficients import (
    Level,
    Profiles,
    _alpha,
    _fleiss,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
    profile,
)
from karatage.agreement.independence import measure_independence
from karatage.agreement.intervals import adjust, t_quantile
from karatage.agreement.pairs import agreement_matrix, cohen_kappa
from karatage.agreement.suspicion import _test_chance
from karatage.data.estimate import wilson_interval
from karatage.data.judgments import Judgments
from karatage.kernels.agreement import binomial_upper, hypergeometric_upper

LEVELS = ("nominal", "ordinal", "interval")
# [KRI11]'s example: four judges, twelve items, grades missing.
CANONICAL = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
# Fleiss' form as in textbooks: ten items, fourteen judges, five grades.
FOURTEEN = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
tables = hnp.arrays(np.int8, st.tuples(st.integers(2, 5), st.integers(2, 9)), elements=st.integers(-1, 3))


def judge(table):
    """Judgments from a table (judge, item), -1 = no grade."""
    judge, item = np.nonzero(np.asarray(table) >= 0)
    return Judgments.from_codes(
        judge=judge.astype(np.int32), item=item.astype(np.int32), grade=np.asarray(table, np.int8)[judge, item]
    )


def canonical():
    rows = [line.split() for line in CANONICAL.split("\n") if line]
    return judge([[-1 if cell == "." else int(cell) for cell in row] for row in rows])


def alpha_by_definition(table, level):
    """Krippendorff's own steps: values by units, coincidences, observed and expected disagreement."""
    units = [[int(g) for g in column if g >= 0] for column in np.asarray(table).T]
    units = [unit for unit in units if len(unit) > 1]
    size = 1 + max((g for unit in units for g in unit), default=0)
    coincidence = np.zeros((size, size))
    for unit in units:
        for (i, c), (j, k) in itertools.product(enumerate(unit), repeat=2):
            if i != j:
                coincidence[c, k] += 1 / (len(unit) - 1)
    total = coincidence.sum(axis=1)
    n = total.sum()

    def distance(c, k):
        if level == "nominal":
            return float(c != k)
        if level == "interval":
            return float(c - k) ** 2
        low, high = min(c, k), max(c, k)
        return float(total[low : high + 1].sum() - (total[c] + total[k]) / 2) ** 2 if c != k else 0.0

    pairs = list(itertools.product(range(size), repeat=2))
    observed = sum(coincidence[c, k] * distance(c, k) for c, k in pairs)
    expected = sum(total[c] * total[k] * distance(c, k) for c, k in pairs) / (n - 1) if n else 0.0
    return 1 - observed / expected if expected > 0 else np.nan


def kappa_by_definition(a, b, weight):
    """One minus observed over expected disagreement, cell by cell."""
    items = [(x, y) for x, y in zip(a, b, strict=True) if x >= 0 and y >= 0]
    observed = sum(weight(x, y) for x, y in items) / len(items)
    expected = sum(weight(x, y) for (x, _), (_, y) in itertools.product(items, repeat=2)) / len(items) ** 2
    return 1 - observed / expected if expected > 0 else np.nan


WEIGHTS = {None: lambda x, y: float(x != y), "linear": lambda x, y: abs(x - y), "quadratic": lambda x, y: (x - y) ** 2}


@pytest.mark.parametrize(("level", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_the_canonical_example(level, expected):
    assert krippendorff_alpha(canonical(), level) == pytest.approx(expected, abs=5e-4)


def test_fleiss_of_the_textbook_example():
    grades = [np.repeat(np.arange(5), row) for row in FOURTEEN]
    table = judge(np.array(grades).T)
    assert fleiss_kappa(table) == pytest.approx(0.210, abs=5e-4)
    assert percent_agreement(table) == pytest.approx(0.378, abs=5e-4)


@given(tables, st.sampled_from(LEVELS))
def test_alpha_is_as_defined(table, level):
    assume(((table >= 0).sum(axis=0) > 1).any())
    np.testing.assert_allclose(krippendorff_alpha(judge(table), level), alpha_by_definition(table, level), atol=1e-12)


@given(tables, st.integers(0, 1000))
def test_a_resample_is_the_table_with_items_repeated(table, seed):
    """Marginals, and so the ordinal metric, are those of the resample."""
    assume(((table >= 0).sum(axis=0) > 1).any())
    kept = table[:, (table >= 0).sum(axis=0) > 1]
    profiles = profile(judge(kept))
    weight = next(iter(profiles.resample(1, np.random.default_rng(seed))))
    assert weight.sum() == kept.shape[1]
    shown = [[np.repeat(g, n) for g, n in zip(profiles.grade, row, strict=True)] for row in profiles.count]
    items = [np.concatenate(row).astype(int) for row, n in zip(shown, weight[0], strict=True) for _ in range(int(n))]
    again = np.full((max(map(len, items)), len(items)), -1)
    for column, item in enumerate(items):
        again[: len(item), column] = item
    for level in LEVELS:
        expected = alpha_by_definition(again, level)
        np.testing.assert_allclose(_alpha(level)(profiles, weight)[0], expected, atol=1e-12)
    np.testing.assert_allclose(_fleiss(profiles, weight)[0], fleiss_kappa(judge(again)), atol=1e-12)


def test_both_ways_to_resample_have_the_same_distribution():
    """Few profiles are drawn by a multinomial, many one by one."""
    few = Profiles(np.arange(2.0), np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([30, 70]))
    many = Profiles(np.arange(2.0), np.repeat(few.count, [30, 70], axis=0), np.ones(100, np.int64))
    drawn = np.concatenate(list(few.resample(4000, np.random.default_rng(1))))[:, 0]
    single = np.concatenate(list(many.resample(4000, np.random.default_rng(1))))[:, :30].sum(axis=1)
    for sample in (drawn, single):
        assert sample.mean() == pytest.approx(30, abs=4 * np.sqrt(21 / 4000))
        assert sample.var() == pytest.approx(21, rel=4 * np.sqrt(2 / 4000))


@given(tables, st.sampled_from([None, "linear", "quadratic"]))
def test_kappa_is_as_defined_alone_and_in_the_matrix(table, weights):
    assume(((table[0] >= 0) & (table[1] >= 0)).any())
    expected = kappa_by_definition(table[0].astype(int), table[1].astype(int), WEIGHTS[weights])
    crowd = judge(table)
    np.testing.assert_allclose(cohen_kappa(crowd, "0", "1", weights=weights), expected, atol=1e-12)
    matrix = agreement_matrix(crowd, weights or "kappa")
    np.testing.assert_allclose(matrix[[0, 1], [1, 0]], expected, atol=1e-12)
    shared, percent = agreement_matrix(crowd, "shared"), agreement_matrix(crowd, "percent")
    both = (table[0] >= 0) & (table[1] >= 0)
    assert shared[0, 1] == both.sum()
    assert percent[1, 0] == pytest.approx((table[0] == table[1])[both].mean())


def test_error_correlation_is_pearsons():
    source = np.random.default_rng(3)
    gold = source.integers(0, 3, 60).astype(np.int8)
    table = np.where(source.random((4, 60)) < 0.6, gold, source.integers(0, 3, (4, 60)))
    table[0, :20] = -1
    found = measure_independence(judge(table), gold, np.arange(60, dtype=np.int32) % 7)
    errors = (table != gold).astype(float)
    plain, within, weight = [], [], []
    for a, b in itertools.combinations(range(4), 2):
        both = (table[a] >= 0) & (table[b] >= 0)
        plain.append(np.corrcoef(errors[a, both], errors[b, both])[0, 1])
        left, right = errors[a, both].copy(), errors[b, both].copy()
        for g in range(3):
            left[gold[both] == g] -= left[gold[both] == g].mean()
            right[gold[both] == g] -= right[gold[both] == g].mean()
        within.append((left @ right) / np.sqrt((left @ left) * (right @ right)))
        weight.append(both.sum())
    order = np.lexsort((found.pairs.second, found.pairs.first))
    np.testing.assert_allclose(found.pairs.value[order], plain, atol=1e-12)
    np.testing.assert_allclose(found.within.value[order], within, atol=1e-12)
    assert found.correlation.value == pytest.approx(np.average(plain, weights=weight))
    assert found.correlation_within.value == pytest.approx(np.average(within, weights=weight))


def test_the_jackknife_leaves_out_one_group_at_a_time():
    source = np.random.default_rng(5)
    gold = np.zeros(40, np.int8)
    table = source.integers(0, 2, (2, 40))
    group = (np.arange(40) % 4).astype(np.int32)
    found = measure_independence(judge(table), gold, group).correlation
    left = [np.corrcoef(table[:, group != g])[0, 1] for g in range(4)]
    error = np.sqrt(3 / 4 * ((left - np.mean(left)) ** 2).sum())
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, 3) * error, rel=0.02)


@given(st.integers(0, 60), st.integers(1, 60), st.floats(0.01, 0.99))
def test_tails_of_the_binomial(hits, size, chance):
    assume(hits <= size)
    assert binomial_upper(hits, size, chance) == pytest.approx(stats.binom.sf(hits - 1, size, chance), rel=1e-9)


@given(st.integers(1, 60), st.data())
def test_tails_of_the_hypergeometric(size, data):
    marked, drawn, hits = (data.draw(st.integers(0, size)) for _ in range(3))
    expected = stats.hypergeom.sf(hits - 1, size, marked, drawn)
    assert hypergeometric_upper(hits, size, marked, drawn) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_chance_with_two_grades_is_fishers_exact_test():
    joint = np.array([[12, 5], [4, 14]])
    above, below = _test_chance(joint)
    assert above == pytest.approx(stats.fisher_exact(joint, alternative="greater").pvalue)
    assert below == pytest.approx(stats.fisher_exact(joint, alternative="less").pvalue)


def test_chance_with_three_grades_is_near_a_permutation_test():
    source = np.random.default_rng(1)
    reference = source.integers(0, 3, 80)
    said = np.where(source.random(80) < 0.2, reference, source.integers(0, 3, 80))
    joint = np.bincount(reference * 3 + said, minlength=9).reshape(3, 3)
    shuffled = np.array([source.permutation(said) for _ in range(20_000)])
    by_agreement = ((shuffled == reference).sum(axis=1) >= np.trace(joint)).mean()
    centred = reference - reference.mean()
    slope = shuffled @ centred <= said @ centred + 1e-9
    above, below = _test_chance(joint)
    by_slope = 1 - slope.mean()
    assert above == pytest.approx(min(1.0, 2 * min(by_agreement, by_slope)), abs=0.02)
    assert below == pytest.approx(slope.mean(), abs=0.02)


def test_chance_with_three_grades_sees_agreement_without_correlation():
    joint = np.array([[10, 5, 9], [8, 13, 8], [9, 5, 10]])
    reference, said = np.repeat(np.indices((3, 3)).reshape(2, -1), joint.ravel(), axis=1)
    source = np.random.default_rng(2)
    hits = np.array([(source.permutation(said) == reference).sum() for _ in range(20_000)])
    assert _test_chance(joint)[0] == pytest.approx(2 * (hits >= np.trace(joint)).mean(), abs=0.015)


@pytest.mark.parametrize(("hits", "size"), [(0, 5), (5, 5), (8, 10), (50, 400)])
def test_wilson_bounds(hits, size):
    expected = stats.binomtest(hits, size).proportion_ci(method="wilson")
    np.testing.assert_allclose(wilson_interval(hits, size), expected, atol=1e-12)


def test_quantiles_of_t():
    freedom = np.array([4, 9, 19, 100])
    np.testing.assert_allclose(t_quantile(0.975, freedom), stats.t.ppf(0.975, freedom), rtol=0.01)


@given(hnp.arrays(float, st.integers(1, 20), elements=st.floats(0, 1)))
def test_adjusted_p_values(p_value):
    np.testing.assert_allclose(adjust(p_value), stats.false_discovery_control(p_value))
    padded = np.r_[p_value, np.ones(5)]
    np.testing.assert_allclose(adjust(p_value, len(padded)), stats.false_discovery_control(padded)[: len(p_value)])


def test_levels_are_all_covered():
    assert set(LEVELS) == set(Level.__args__)
