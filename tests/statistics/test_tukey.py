"""Under the null, analysis of variance and Tukey's test are wrong as often as they say; levels that lead are found."""

import itertools

import numpy as np
import polars as pl
import pytest
from scipy import stats

from karatage.comparison.anova import anova
from karatage.comparison.tukey import quantile, survival, tukey

LEVELS, BLOCKS, REPEATS = 4, 3, 3
CELLS = list(itertools.product(range(LEVELS), range(BLOCKS), range(REPEATS)))
LEVEL, BLOCK = (np.array([cell[axis] for cell in CELLS]) for axis in (0, 1))
DRAWS = 500


def simulate(seed, *, lead=0.0, kept=None):
    """Noise, a strong effect of the block, and a level 0 that may be ahead of the others, which are equal."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=len(CELLS)) + 5.0 * BLOCK + lead * (LEVEL == 0)
    frame = pl.DataFrame({"level": LEVEL, "block": BLOCK, "score": score})
    frame = frame if kept is None else frame[kept]
    return anova(frame, "score", factors=["level", "block"], interactions=[("level", "block")])


def assert_share(hits, draws, share):
    """Within what would happen to one of a thousand sound programs."""
    low, high = stats.binom.interval(0.999, draws, share)
    assert low <= hits <= high, f"{hits} of {draws}, expected {share:.1%}"


@pytest.fixture(scope="module")
def null(thin):
    """ANOVA p-values (draw, source), least p-value of all pairs (draw,) and what the top group left out (draw,)."""
    tables, least, left_out, covered = [], [], [], []
    for seed in range(thin(DRAWS)):
        result = simulate(seed)
        test = tukey(result, "level")
        tables.append(result.p_value)
        least.append(test.p_value.min())
        left_out.append(LEVELS - len(test.top_group))
        means = result.means("level")
        truth = 5.0 * BLOCK.mean()
        covered.append(means.filter(pl.col("low") < truth, pl.col("high") > truth).height)
    return np.array(tables), np.array(least), np.array(left_out), np.array(covered)


def test_p_values_of_the_table_are_uniform(null):
    for source in (0, 2):  # the block has an effect
        assert stats.kstest(null[0][:, source], "uniform").pvalue > 0.001
    assert (null[0][:, 1] < 1e-6).all()


@pytest.mark.parametrize("level", [0.05, 0.2, 0.5])
def test_any_false_difference_is_as_likely_as_the_level(null, level):
    assert_share(int((null[1] < level).sum()), len(null[1]), level)


def test_the_top_group_loses_an_equal_level_as_often_as_it_may(null):
    assert_share(int((null[2] > 0).sum()), len(null[2]), 0.05)


def test_intervals_cover_the_mean(null):
    assert_share(int(null[3].sum()), len(null[3]) * LEVELS, 0.95)


def test_a_level_that_leads_is_found_and_the_others_are_rarely_split(thin):
    draws, alone, split = thin(200), 0, 0
    for seed in range(draws):
        test = tukey(simulate(seed, lead=4.0), "level")
        alone += test.top_group == ("0",)
        split += bool(test.differs[1:, 1:].any())
    assert alone > 0.95 * draws
    assert split <= stats.binom.ppf(0.999, draws, 0.05)


def test_levels_of_unequal_size_err_no_more_than_they_may(thin):
    """Tukey and Kramer's margins are a little too wide, never too narrow."""
    kept = [i for i, (level, _, repeat) in enumerate(CELLS) if level < 2 or repeat == 0]
    draws, hits = thin(200), 0
    for seed in range(draws):
        result = simulate(seed, kept=kept)
        assert not result.balanced
        hits += tukey(result, "level", level=0.2).p_value.min() < 0.2
    low, high = stats.binom.interval(0.999, draws, 0.2)
    assert 0.6 * low <= hits <= high


def test_the_paper_s_degrees_of_freedom_err_more_often_than_they_say():
    """[AWARE17] (30) takes N less the levels: here 32, where the error has 24; of 5,750 nobody would notice."""
    result = simulate(0)
    paper = tukey(result, "level", freedom="paper")
    assert (result.error_df, paper.df) == (24, 32)
    real = float(survival(quantile(0.05, LEVELS, paper.df), LEVELS, result.error_df))
    assert real == pytest.approx(0.0555, abs=1e-4)
    assert float(survival(quantile(0.05, 34, 5916 - 34), 34, 5750)) == pytest.approx(0.05, abs=1e-4)
