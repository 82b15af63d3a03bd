"""ANOVA and Tukey's test against the paper's tables, least squares from scratch, statsmodels and scipy."""

import itertools
import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from karatage.comparison.anova import anova, omega_squared
from karatage.comparison.tukey import quantile, survival, tukey

# [AWARE17] tables 1 and 2: source, sum of squares, degrees of freedom, F, omega squared.
TABLE_1 = [
    ("k", 3.5161, 28, 580.7705, None),
    ("approach", 1.2264, 33, 171.8716, 0.4880),
    ("measure", 13.0727, 2, 30230.1290, 0.9109),
    ("systems", 1.9857, 1, 9183.9134, 0.6082),
    ("approach*measure", 2.0701, 66, 145.0584, 0.6164),
    ("approach*systems", 0.3008, 33, 42.1620, 0.1867),
    ("measure*systems", 5.3240, 2, 12311.4096, 0.8063),
]
TABLE_2 = [
    ("k", 20.6579, 28, 272.9961, None),
    ("approach", 32.2530, 33, 361.6465, 0.6680),
    ("measure", 56.7010, 2, 10490.3151, 0.7800),
    ("systems", 3.7700, 1, 1394.9723, 0.1907),
    ("approach*measure", 45.4675, 66, 254.9091, 0.7391),
    ("approach*systems", 2.4886, 33, 27.9039, 0.1305),
    ("measure*systems", 0.6374, 2, 117.9227, 0.0380),
]
ERROR = {"table 1": (1.2433, 28.7391), "table 2": (15.5396, 177.5149)}  # sums of squares of error and total
TABLES = [
    pytest.param(TABLE_1, *ERROR["table 1"], id="table 1"),
    pytest.param(TABLE_2, *ERROR["table 2"], id="table 2"),
]
ERROR_DF, ROWS = 5750, 5916
LEVELS = {"k": 29, "approach": 34, "measure": 3, "systems": 2}
CROSSED = [("approach", "measure"), ("approach", "systems"), ("measure", "systems")]
HALF = 5e-5  # of the last printed digit


@pytest.mark.parametrize(("table", "error", "total"), TABLES)
def test_printed_effect_sizes_follow_from_printed_f(table, error, total):
    for _, _, df, f, omega in table:
        if omega is not None:
            assert omega_squared(df, f, ROWS) == pytest.approx(omega, abs=HALF)


@pytest.mark.parametrize(("table", "error", "total"), TABLES)
def test_printed_f_follow_from_printed_sums_of_squares(table, error, total):
    """Within what rounding leaves open."""
    for _, ss, df, f, _ in table:
        low = (ss - HALF) / df / ((error + HALF) / ERROR_DF)
        high = (ss + HALF) / df / ((error - HALF) / ERROR_DF)
        assert low <= f <= high
    assert sum(ss for _, ss, *_ in table) + error == pytest.approx(total, abs=9 * HALF)


def effect_of(rng, codes, levels):
    """A random effect of one or two factors, orthogonal to its margins, one value per row."""
    value = rng.normal(size=levels)
    for axis in range(value.ndim):
        value -= value.mean(axis=axis, keepdims=True)
    return value[tuple(codes)]


def make_table(rng, table, error):
    """Data of the paper's design that have the table's sums of squares."""
    codes = dict(zip(LEVELS, np.indices(tuple(LEVELS.values())).reshape(4, -1), strict=True))
    response, noise = np.full(ROWS, 0.6), rng.normal(size=ROWS)
    for source, ss, *_ in table:
        names = source.split("*")
        own = [codes[name] for name in names]
        effect = effect_of(rng, own, [LEVELS[name] for name in names])
        response += effect * math.sqrt(ss / (effect**2).sum())
        noise -= project(noise, own)
    noise -= noise.mean()
    response += noise * math.sqrt(error / (noise**2).sum())
    return pl.DataFrame({**codes, "score": response}).sample(fraction=1, shuffle=True, seed=1)


def project(value, codes):
    """The part of `value` that one factor, or the interaction of two, explains."""
    cell = np.unique(np.stack(codes), axis=1, return_inverse=True)[1].ravel()
    mean = (np.bincount(cell, value) / np.bincount(cell))[cell]
    if len(codes) == 1:
        return mean - value.mean()
    return mean - project(value, codes[:1]) - project(value, codes[1:]) - value.mean()


@pytest.mark.parametrize(("table", "error", "total"), TABLES)
def test_the_paper_s_tables_come_out_of_data_with_their_sums_of_squares(table, error, total):
    frame = make_table(np.random.default_rng(5), table, error)
    result = anova(frame, "score", factors=list(LEVELS), interactions=CROSSED)
    found = result.to_frame()
    assert result.balanced
    assert found["source"].to_list() == [*(row[0] for row in table), "error", "total"]
    assert found["df"].to_list() == [28, 33, 2, 1, 66, 33, 2, 5750, 5915]
    np.testing.assert_allclose(found["ss"], [*(row[1] for row in table), error, total], rtol=1e-9, atol=4 * HALF)
    for row, (_, ss, df, f, omega) in zip(found.iter_rows(named=True), table, strict=False):
        assert row["ms"] == pytest.approx(ss / df)
        assert row["f"] == pytest.approx(f, rel=HALF / min(ss, error) * 2)
        assert row["p_value"] < 1e-4
        if omega is not None:
            assert row["omega_squared"] == pytest.approx(omega, abs=1e-4)


def random_frame(rng, levels, repeats, *, dropped=0):
    """Rows of a design with noise, effects and interactions; without some rows when it is to be unbalanced."""
    codes = np.indices((*levels, repeats)).reshape(len(levels) + 1, -1)[:-1]
    response = rng.normal(size=codes.shape[1]) * 0.3 + 5.0
    for size in (1, 2):
        for chosen in itertools.combinations(range(len(levels)), size):
            response += rng.normal(size=[levels[c] for c in chosen])[tuple(codes[list(chosen)])]
    names = {f"f{i}": [f"v{c}" for c in code] for i, code in enumerate(codes)}
    frame = pl.DataFrame({**names, "y": response})
    return frame.sample(len(frame) - dropped, shuffle=True, seed=7)


def residual(frame, factors, interactions, left_out=None):
    """Residual sum of squares of least squares with effects that sum to zero, without one of the sources."""
    blocks = {}
    for name in factors:
        level, code = np.unique(frame[name].to_numpy(), return_inverse=True)
        blocks[name,] = np.vstack([np.eye(len(level) - 1), -np.ones(len(level) - 1)])[code]
    for a, b in interactions:
        blocks[a, b] = np.einsum("ri,rj->rij", blocks[a,], blocks[b,]).reshape(len(frame), -1)
    columns = [np.ones((len(frame), 1)), *(block for term, block in blocks.items() if term != left_out)]
    matrix = np.hstack(columns)
    y = frame["y"].to_numpy()
    rest = y - matrix @ np.linalg.lstsq(matrix, y, rcond=None)[0]
    return float((rest**2).sum())


DESIGNS = [((3, 4), 2), ((2, 3, 4), 1), ((3, 2, 2), 3), ((2, 3, 2, 2), 2), ((2, 2, 3, 2, 2), 1)]


@pytest.mark.parametrize("dropped", [0, 3])
@pytest.mark.parametrize(("levels", "repeats"), DESIGNS)
def test_sums_of_squares_are_what_leaving_a_source_out_costs(levels, repeats, dropped):
    frame = random_frame(np.random.default_rng(11), levels, repeats, dropped=dropped)
    factors = [f"f{i}" for i in range(len(levels))]
    crossed = list(itertools.combinations(factors, 2))[:3]
    result = anova(frame, "y", factors=factors, interactions=crossed)
    assert result.balanced == (dropped == 0)
    whole = residual(frame, factors, crossed)
    assert result.fit.error_ss == pytest.approx(whole, rel=1e-9)
    for ss, term in zip(result.fit.ss, [*((name,) for name in factors), *crossed], strict=True):
        assert ss == pytest.approx(residual(frame, factors, crossed, term) - whole, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("dropped", [0, 3])
@pytest.mark.parametrize(("levels", "repeats"), DESIGNS)
def test_the_table_is_statsmodels(levels, repeats, dropped):
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    frame = random_frame(np.random.default_rng(13), levels, repeats, dropped=dropped)
    factors = [f"f{i}" for i in range(len(levels))]
    crossed = list(itertools.combinations(factors, 2))[:3]
    terms = {name: f"C({name}, Sum)" for name in factors}
    formula = " + ".join([*terms.values(), *(f"{terms[a]}:{terms[b]}" for a, b in crossed)])
    other = anova_lm(ols(f"y ~ {formula}", frame.to_pandas()).fit(), typ=3).drop(index="Intercept")
    found = anova(frame, "y", factors=factors, interactions=crossed).to_frame().head(-1)
    assert len(other) == len(found)
    for column, name in (("ss", "sum_sq"), ("df", "df"), ("f", "F"), ("p_value", "PR(>F)")):
        np.testing.assert_allclose(found[column].to_numpy(), other[name], rtol=1e-7, atol=1e-12)


def test_unbalanced_marginal_means_are_the_model_s_means_over_all_combinations():
    """Predict every combination of levels, then average over the other factors, each level alike."""
    from statsmodels.formula.api import ols

    frame = random_frame(np.random.default_rng(17), (3, 4, 2), 2, dropped=9)
    result = anova(frame, "y", factors=["f0", "f1", "f2"], interactions=[("f0", "f1")])
    fitted = ols("y ~ f0 * f1 + f2", frame.to_pandas()).fit()
    grid = [(f"v{a}", f"v{b}", f"v{c}") for a, b, c in itertools.product(range(3), range(4), range(2))]
    every = pl.DataFrame(grid, schema=["f0", "f1", "f2"], orient="row")
    every = every.with_columns(y=pl.Series(fitted.predict(every.to_pandas()).to_numpy()))
    for name in "f0", "f1", "f2":
        expected = every.group_by(name).agg(pl.col("y").mean()).sort(name)["y"]
        np.testing.assert_allclose(result.means(name)["mean"], expected, rtol=1e-10)
        raw = frame.group_by(name).agg(pl.col("y").mean()).sort(name)["y"]
        assert np.abs(result.means(name)["mean"] - raw).max() > 0.01
    contrast = fitted.t_test("f2[T.v1] = 0")
    gap = np.diff(result.means("f2")["mean"])[0]
    assert gap == pytest.approx(float(contrast.effect[0]))
    covariance = result.effect("f2").covariance
    variance = (covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]) * result.error_ms
    assert math.sqrt(variance) == pytest.approx(float(contrast.sd[0, 0]))
    test = tukey(result, "f2")  # of two levels it is the t test
    assert test.p_value[0, 1] == pytest.approx(float(contrast.pvalue), rel=1e-9)


def one_way(rng, sizes):
    level = np.repeat(np.arange(len(sizes)), sizes)
    return level, rng.normal(size=len(level)) + rng.normal(0, 0.8, len(sizes))[level]


@pytest.mark.parametrize("sizes", [[6] * 5, [4, 9, 7, 12, 5, 6]])
def test_tukey_is_scipy_s_and_statsmodels(sizes):
    from statsmodels.sandbox.stats.multicomp import simultaneous_ci
    from statsmodels.stats.multicomp import pairwise_tukeyhsd

    level, y = one_way(np.random.default_rng(2), sizes)
    result = anova(pl.DataFrame({"level": level, "y": y}), "y", factors=["level"])
    test = tukey(result, "level")
    order = [int(name) for name in test.levels]
    back = np.argsort(order)
    other = stats.tukey_hsd(*(y[level == k] for k in range(len(sizes))))
    np.testing.assert_allclose(test.p_value[np.ix_(back, back)], other.pvalue, atol=1e-9)
    interval = other.confidence_interval()
    high = (np.subtract.outer(test.mean, test.mean) + test.margin)[np.ix_(back, back)]
    apart = ~np.eye(len(sizes), dtype=bool)
    np.testing.assert_allclose(high[apart], interval.high[apart], atol=1e-7)
    second = pairwise_tukeyhsd(y, level)
    np.testing.assert_array_equal(test.differs[np.ix_(back, back)][np.triu_indices(len(sizes), 1)], second.reject)
    half = simultaneous_ci(quantile(0.05, len(sizes), result.error_df), result.error_ms, np.array(sizes))
    np.testing.assert_allclose(test.half_width[back], half, rtol=1e-9)
    table = result.to_frame().row(0, named=True)
    f = stats.f_oneway(*(y[level == k] for k in range(len(sizes))))
    assert (table["f"], table["p_value"]) == pytest.approx((f.statistic, f.pvalue), rel=1e-9)


@pytest.mark.parametrize(
    ("q", "groups", "df"),
    [
        (3.0, 3, 2),
        (40.0, 200, 2),
        (2.0, 100, 3),
        (4.0, 10, 5),
        (5.0, 50, 20),
        (5.5, 129, 100),
        (5.0, 34, 5750),
        (5.8, 200, 99_999),  # from 100,000 on scipy takes it for infinite
        (5.5, 200, math.inf),
        (0.7, 5, 12),
    ],
)
def test_the_studentised_range_is_scipy_s(q, groups, df):
    assert float(survival(q, groups, df)) == pytest.approx(stats.studentized_range.sf(q, groups, df), abs=1e-9)


@pytest.mark.parametrize(("groups", "df"), [(4, 6), (34, 5750)])
def test_quantiles_are_scipy_s(groups, df):
    assert quantile(0.05, groups, df) == pytest.approx(stats.studentized_range.isf(0.05, groups, df), abs=1e-6)
