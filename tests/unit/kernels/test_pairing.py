"""Sums over pairs against loops over pairs."""

from itertools import combinations

import numpy as np

from karatage.kernels.ordering import sum_pair_products


def test_sums_are_those_over_all_pairs_of_a_group():
    rng = np.random.default_rng(1)
    group, kind, factor = rng.integers(0, 6, 40), rng.integers(0, 9, 40), rng.random((9, 3))
    order = np.argsort(group, kind="stable")
    start = np.searchsorted(group[order], np.arange(7)).astype(np.int64)
    out = np.ones(3)
    sum_pair_products(order, start, kind, factor, out)
    pairs = [(a, b) for a, b in combinations(range(40), 2) if group[a] == group[b]]
    np.testing.assert_allclose(out, 1 + sum(factor[kind[a]] * factor[kind[b]] for a, b in pairs))
