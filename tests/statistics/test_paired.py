"""Where two systems are equal, paired tests reject as often as they say; where not, they find it."""

import numpy as np
import pytest
from scipy import stats

import karatage as kt

TESTS = ("t", "wilcoxon", "permutation", "bootstrap")
DRAWS, TOPICS, RESAMPLES = 600, 14, 499


def simulate(seed, *, lead=0.0, steps=None):
    """Two systems on separate topics difficulty; P@k where `steps` is k."""
    rng = np.random.default_rng(seed)
    topic = rng.beta(2, 3, TOPICS)
    x, y = (np.clip(topic + rng.normal(shift, 0.15, TOPICS), -1, 2) for shift in (0.0, lead))
    return (x, y) if steps is None else (np.round(x * steps) / steps, np.round(y * steps) / steps)


def find(test, draws, **options):
    return [
        kt.stats.paired_test(*simulate(seed, **options), test=test, resamples=RESAMPLES, rng=seed)
        for seed in range(draws)
    ]


def allowed(draws, share):
    """Counts that one of a thousand sound programs would leave."""
    return stats.binom.interval(0.999, draws, share)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("steps", [None, 10])
def test_size_and_coverage_under_the_null(test, steps, thin):
    draws = thin(DRAWS)
    found = find(test, draws, steps=steps)
    rejected = sum(result.p_value <= 0.05 for result in found)
    covered = sum(result.low <= 0 <= result.high for result in found)
    low, high = allowed(draws, 0.05)
    # Signs of tied differences leave p-values with gaps, so that exact tests may reject less often.
    assert (low if steps is None else 0.5 * low) <= rejected <= high
    assert covered >= draws - high if test != "wilcoxon" or steps is None else covered >= 0.9 * draws


@pytest.mark.parametrize("test", TESTS)
def test_intervals_cover_a_real_difference_and_exclude_none(test, thin):
    draws = thin(DRAWS)
    found = find(test, draws, lead=0.2)
    covered = sum(result.low <= 0.2 <= result.high for result in found)
    low, high = allowed(draws, 0.95)
    assert low <= covered <= high
    assert sum(result.significant for result in found) > 0.75 * draws
    assert all(result.difference > 0 for result in found if result.significant)


def test_the_plain_bootstrap_rejects_too_often_on_few_topics():
    """Why the bootstrap is studentised: [SAC07]'s shifted means, without a standard error of their own."""
    rng, plain, ours, draws = np.random.default_rng(1), 0, 0, 1500
    for _ in range(draws):
        gap = rng.normal(size=10)
        means = gap[rng.integers(10, size=(RESAMPLES, 10))].mean(axis=1) - gap.mean()
        plain += (1 + (np.abs(means) >= abs(gap.mean())).sum()) / (1 + RESAMPLES) <= 0.05
        ours += kt.stats.paired_test(np.zeros(10), gap, test="bootstrap", resamples=RESAMPLES, rng=rng).p_value <= 0.05
    assert ours <= stats.binom.ppf(0.999, draws, 0.05)
    assert plain > stats.binom.ppf(0.999, draws, 0.07)
