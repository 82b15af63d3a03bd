"""The best guess against linear programs, joint normal distributions and closed forms, and what must hold for it."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from scipy.stats import multivariate_normal, norm
from scipy.stats import t as student

from karatage.correction.shrinkage import (
    ALLOWED,
    CAUTION,
    ENOUGH,
    FIRM,
    GRID,
    LOOSE,
    Corrections,
    Shrunk,
    UsualBias,
    count_labels,
    find_halves,
    find_quantiles,
    shrink,
    spread_pairs,
)
from karatage.data.axes import FloatArray

USUAL = UsualBias(level=-2.163, slope=3.2, doubt=0.5, degrees=4)


def make(systems: int = 7, seed: int = 0, noisy: float = 1.0, bias: float = 1.0, same: bool = True) -> Corrections:
    """Judges and gold of systems that each show ten of 40 documents."""
    rng = np.random.default_rng(seed)
    weight = np.array([rng.permutation(np.r_[np.full(10, 0.1), np.zeros(30)]) for _ in range(systems)]).T
    grade, truth = rng.integers(0, 3, 40), rng.normal(0, 0.5, 40)
    mass = np.abs(weight[:, :, None] - weight[:, None, :]).sum(axis=0)
    noise = noisy * np.einsum("is,it,i->st", weight, weight, rng.uniform(0.5, 3, 40)) * 0.1
    judged = weight.T @ grade / 2
    error = noisy**0.5 * rng.multivariate_normal(np.zeros(systems), noise / max(noisy, 1e-300), method="eigh")
    return Corrections(
        judged=judged,
        corrected=judged + bias * weight.T @ truth + error + 0.3,
        noise=noise,
        mass=mass,
        items=np.einsum("is,it->st", weight, weight) * 0.005,
        steps=np.array([weight[grade >= step].sum(axis=0) for step in (1, 2)]),
        scatter=0.6,
        unexplained=0.4,
        same_grades=same,
    )


def exceed(bias: FloatArray, c: float) -> FloatArray:
    return norm.sf(c - bias) + norm.cdf(-c - bias)


# Critical values


def test_critical_values_are_those_of_the_specification() -> None:
    found = find_quantiles(np.array([0, 0.1, 0.25, 0.5, 1, 4]), 0.95)
    assert_allclose(found, [1.960, 2.065, 2.227, 2.524, 3.259, 7.216], atol=6e-4)


def find_worst(square: float, confidence: float) -> float:
    """How often intervals miss under the worst distribution of the bias with this mean square, a linear program."""
    c = float(find_quantiles(np.array([square]), confidence)[0])
    bias = np.linspace(0, 4 * c, 4001)
    found = linprog(-exceed(bias, c), A_ub=[bias**2], b_ub=[square], A_eq=[np.ones_like(bias)], b_eq=[1.0])
    return -float(found.fun)


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("square", [0.0, 0.03, 0.5, 1.7, 9.0, 60.0])
def test_no_distribution_of_the_bias_exceeds_more(square: float, confidence: float) -> None:
    assert find_worst(square, confidence) == pytest.approx(1 - confidence, rel=3e-3)


@pytest.mark.parametrize(
    ("confidence", "kurtosis", "most"), [(0.95, 8, 1.02), (0.8, 8, 1.02), (0.99, 8, 1.11), (0.95, 4, 1.13)]
)
@pytest.mark.parametrize("square", [0.03, 0.5, 1.7, 9.0, 60.0])
def test_a_bounded_kurtosis_needs_smaller_critical_values(
    square: float, confidence: float, kurtosis: float, most: float
) -> None:
    """A linear program over distributions of the bias with this mean square and at most this kurtosis."""
    c, free = (float(find_quantiles(np.array([square]), confidence, k)[0]) for k in (kurtosis, math.inf))
    assert c <= free
    bias = np.linspace(0, 6 * c, 4001)
    bounds = {"A_ub": [bias**2, bias**4], "b_ub": [square, kurtosis * square**2]}
    worst = -linprog(-exceed(bias, c), A_eq=[np.ones_like(bias)], b_eq=[1.0], **bounds).fun
    assert 0.9 * (1 - confidence) <= worst <= most * (1 - confidence)


@pytest.mark.parametrize("confidence", [0.5, 0.8])
@pytest.mark.parametrize("square", [0.0, 0.03, 0.4, 1.7, 9.0])
def test_low_confidences_are_reached(square: float, confidence: float) -> None:
    assert 0.85 * (1 - confidence) <= find_worst(square, confidence) <= 1.004 * (1 - confidence)


def test_critical_values_beyond_the_table_grow_with_the_bias() -> None:
    """Chebyshev's inequality is the limit."""
    huge = np.array([1e4, 1e6, 1e8, 1e10])
    found = find_quantiles(huge, 0.95)
    assert_allclose(found, np.sqrt(huge / 0.05), rtol=0.02)
    assert_allclose(found[1:], np.sqrt(huge[1:] / 0.05), rtol=2e-3)


def test_halves() -> None:
    halves = find_halves(np.array([0.04, 0.04, 0.0, 0.0]), np.array([0.0, 0.04, 0.04, 0.0]), 0.95)
    assert_allclose(halves, [0.2 * 1.960, 0.2 * 3.259, 0.2 / math.sqrt(0.05), 0], atol=1e-3)


# The posterior and the guess


def trust(found: Corrections) -> float:
    """Labels for a pair, over 20: the noise of as many labels drawn for it alone, with the noise that pairs have."""
    pairs = [(a, b) for a in range(len(found.judged)) for b in range(a)]
    noise = sum(found.noise[a, a] + found.noise[b, b] - 2 * found.noise[a, b] for a, b in pairs)
    alone = sum(found.unexplained * (found.scatter * found.mass[a, b]) ** 2 for a, b in pairs)
    return float(min(1, alone / noise / 20))


def choose(found: Corrections, shrunk: Shrunk) -> float:
    """The spread of the guess, as a share of the scatter."""
    caution = CAUTION + 1 - trust(found)
    return math.exp(shrunk.spread.log_mean - caution * shrunk.spread.log_deviation) / found.scatter


def explain(found: Corrections, spread: float, trusted: float = 1.0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Covariances of true scores and of corrected ones, and of biases alone, as differences from the first system.

    The model is written with one variable for everything that is unknown.
    """
    systems = len(found.judged)
    away = np.c_[-np.ones(systems - 1), np.eye(systems - 1)]
    slope, step = (doubt * trusted for doubt in (FIRM if found.same_grades else LOOSE))
    centre = np.eye(systems) - 1 / systems
    value, axis = np.linalg.eigh(-0.5 * centre @ found.mass**2 @ centre)
    effect = [
        slope * found.judged[:, None],
        2 * step * found.scatter * found.steps.T,
        np.linalg.cholesky(found.items + 1e-15 * np.eye(systems)),
        spread * found.scatter * axis * np.sqrt(value.clip(0)),
    ]
    true = away @ np.concatenate(effect, axis=1)
    return true @ true.T, true @ true.T + away @ found.noise @ away.T, away


def weigh(found: Corrections, log_prior: FloatArray) -> FloatArray:
    gap = found.corrected - found.judged
    density = []
    for spread in GRID:
        _, seen, away = explain(found, spread)
        density.append(multivariate_normal(np.zeros(len(gap) - 1), seen).logpdf(away @ gap))
    chance = np.exp(np.array(density) + log_prior - max(density))
    return chance / chance.sum()


@pytest.mark.parametrize("same", [True, False], ids=["gold's grades", "other grades"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_posterior_is_that_of_the_joint_distribution(same: bool, seed: int) -> None:
    found = make(seed=seed, same=same)
    shrunk = shrink(found, USUAL)
    log = np.log(GRID)
    prior = student(4, loc=-2.163 + 3.2 * math.log(0.4), scale=0.5).logpdf(log)
    assert_allclose(shrunk.spread.chance, weigh(found, prior), atol=1e-9)
    assert_allclose(shrunk.spread_by_gold.chance, weigh(found, log), atol=1e-9)
    chance = shrunk.spread.chance
    mean = (chance * log).sum() + math.log(0.6)
    assert shrunk.spread.log_mean == pytest.approx(mean)
    assert shrunk.spread.log_deviation == pytest.approx(((chance * log**2).sum() - (chance * log).sum() ** 2) ** 0.5)
    assert shrunk.spread.square == pytest.approx((chance * (0.6 * GRID) ** 2).sum())
    median = shrunk.spread.quantile(0.5)
    assert chance[median > 0.6 * GRID].sum() == pytest.approx(0.5, abs=chance.max() / 2)


@pytest.mark.parametrize("same", [True, False], ids=["gold's grades", "other grades"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_guess_is_the_conditional_mean(same: bool, seed: int) -> None:
    found = make(seed=seed, same=same)
    shrunk = shrink(found, USUAL)
    true, seen, away = explain(found, choose(found, shrunk), trust(found))
    pull = true @ np.linalg.inv(seen)
    guess = away @ found.judged + pull @ away @ (found.corrected - found.judged)
    assert_allclose(away @ shrunk.value, guess, atol=1e-9)
    assert shrunk.value.mean() == pytest.approx(found.corrected.mean())
    moved = pull @ away @ found.noise @ away.T @ pull.T
    assert_allclose(away @ shrunk.noise @ away.T, moved, atol=1e-12)
    expected = shrunk.value - found.judged - shrunk.pull @ (found.corrected - found.judged)
    assert_allclose(np.ptp(expected), 0, atol=1e-12)


@pytest.mark.parametrize("bias", [1.0, 15.0], ids=["usual bias", "more bias than usual"])
def test_the_bias_left_is_the_models_or_what_the_board_shows(bias: float) -> None:
    """Sums over all pairs, one pair at a time."""
    found = make(bias=bias)
    shrunk, systems = shrink(found, USUAL), 7
    true, seen, away = explain(found, choose(found, shrunk), trust(found))
    left = np.eye(systems - 1) - true @ np.linalg.inv(seen)
    gap = np.r_[0, left @ away @ (found.corrected - found.judged)]
    grown = []
    squares = shrunk.spread.square, shrunk.spread_by_gold.quantile(0.5) ** 2
    for square, bounded in zip(squares, (shrunk.bias, shrunk.bias_by_gold), strict=True):
        prior, _, _ = explain(found, math.sqrt(square) / found.scatter)
        biased, noisy = np.zeros((2, systems, systems))
        biased[1:, 1:] = left @ prior @ left.T
        noisy[1:, 1:] = left @ away @ found.noise @ away.T @ left.T
        pairs = [(a, b) for a in range(systems) for b in range(a)]
        shown = sum((gap[a] - gap[b]) ** 2 - noisy[a, a] - noisy[b, b] + 2 * noisy[a, b] for a, b in pairs)
        model = sum(biased[a, a] + biased[b, b] - 2 * biased[a, b] for a, b in pairs)
        centre = np.eye(systems) - 1 / systems
        whole = systems * centre @ (biased + noisy) @ centre
        error = math.sqrt(2 * np.trace(whole @ whole))
        ratio = max(1, (shown - ALLOWED * error) / model)
        assert_allclose(spread_pairs(bounded), spread_pairs(biased) * ratio, rtol=1e-6, atol=1e-12)
        grown.append(ratio)
    assert (grown[0] > 1) == (bias > 1)


def test_a_pair_shows_its_own_bias() -> None:
    """The corrected difference minus the guess, squared, beyond two standard errors."""
    found = make()
    shrunk = shrink(found, USUAL)
    true, seen, away = explain(found, choose(found, shrunk), trust(found))
    left = np.eye(6) - true @ np.linalg.inv(seen)
    noisy = left @ away @ found.noise @ away.T @ left.T
    gap = left @ away @ (found.corrected - found.judged)
    assert_allclose(shrunk.shown[0, 1:], gap**2 - 4 * np.diag(noisy), atol=1e-9)
    assert_allclose(shrunk.shown, shrunk.shown.T)
    away_from_first = replace(found, corrected=found.corrected + np.r_[2.0, np.zeros(6)])
    favoured = shrink(away_from_first, USUAL)
    own, others = favoured.shown[0, 1:], favoured.shown[1:, 1:]
    assert own.min() > 0
    assert own.min() > others.max()
    assert (own > spread_pairs(favoured.bias)[0, 1:]).all()


def test_two_systems_in_closed_form() -> None:
    whole = make(systems=2)
    found = replace(whole, corrected=whole.judged + np.array([0.0, 0.4]))
    shrunk = shrink(found, USUAL)

    def vary(matrix: FloatArray) -> float:
        return float(matrix[0, 0] + matrix[1, 1] - 2 * matrix[0, 1])

    judged, (slope, step) = found.judged[1] - found.judged[0], FIRM
    steps = ((found.steps[:, 1] - found.steps[:, 0]) ** 2).sum() * (2 * step * found.scatter) ** 2
    fixed = vary(found.items) + steps + slope**2 * judged**2
    noise, mass = vary(found.noise), found.mass[0, 1]
    variance = fixed + noise + (GRID * found.scatter * mass) ** 2
    chance = norm(scale=np.sqrt(variance)).pdf(0.4) * np.exp(USUAL.weigh(0.4))
    assert_allclose(shrunk.spread.chance, chance / chance.sum(), atol=1e-9)
    trusted = trust(found)
    guessed = trusted**2 * (fixed - vary(found.items)) + vary(found.items)
    prior = guessed + (choose(found, shrunk) * found.scatter * mass) ** 2
    pull = prior / (prior + noise)
    assert shrunk.value[1] - shrunk.value[0] == pytest.approx(judged + 0.4 * pull)
    assert spread_pairs(shrunk.noise)[0, 1] == pytest.approx(pull**2 * noise)
    bias, shaken = (1 - pull) ** 2 * (fixed + shrunk.spread.square * mass**2), (1 - pull) ** 2 * noise
    shown = (1 - pull) ** 2 * 0.4**2 - shaken - ALLOWED * math.sqrt(2) * (bias + shaken)
    assert spread_pairs(shrunk.bias)[0, 1] == pytest.approx(max(bias, shown))


def test_with_few_labels_the_guess_trusts_the_judges_more() -> None:
    """Some of these worlds have enough labels for a pair, and others too few."""
    worlds = [make(noisy=noisy) for noisy in (0.02, 1.0, 5.0)]
    trusted = [trust(found) for found in worlds]
    assert trusted == sorted(trusted, reverse=True)
    assert trusted[0] == 1 > trusted[1] > trusted[2]
    for found, share in zip(worlds, trusted, strict=True):
        assert min(1, count_labels(found) / ENOUGH) == pytest.approx(share)
    assert count_labels(change(worlds[0], noise=0.0)) == math.inf


# What must hold


def change(found: Corrections, **scale: float) -> Corrections:
    return replace(found, **{name: getattr(found, name) * times for name, times in scale.items()})


def require_alike(one: Shrunk, other: Shrunk, times: float = 1.0) -> None:
    assert_allclose(one.value - one.value.mean(), (other.value - other.value.mean()) * times, atol=1e-8)
    for name in ("noise", "bias", "bias_by_gold"):
        first, second = spread_pairs(getattr(one, name)), spread_pairs(getattr(other, name))
        assert_allclose(first, second * times**2, rtol=1e-6, atol=1e-12, err_msg=name)
    assert_allclose(one.likelihood, other.likelihood, atol=1e-6)


def test_the_order_of_systems_does_not_matter() -> None:
    found, order = make(), np.random.default_rng(5).permutation(7)
    square = np.ix_(order, order)
    mixed = replace(
        found,
        judged=found.judged[order],
        corrected=found.corrected[order],
        noise=found.noise[square],
        mass=found.mass[square],
        items=found.items[square],
        steps=found.steps[:, order],
    )
    one, other = shrink(mixed, USUAL), shrink(found, USUAL)
    assert_allclose(one.value, other.value[order])
    for name in ("noise", "bias", "bias_by_gold"):
        assert_allclose(spread_pairs(getattr(one, name)), spread_pairs(getattr(other, name))[square], rtol=1e-6)


def test_only_differences_matter() -> None:
    found = make()
    moved = replace(
        found, judged=found.judged + 3, corrected=found.corrected - 2, noise=found.noise + 0.5, items=found.items + 0.1
    )
    require_alike(shrink(moved, USUAL), shrink(found, USUAL))


def test_gains_may_be_scaled() -> None:
    found = make()
    doubled = change(found, judged=2, corrected=2, noise=4, items=4, scatter=2)
    require_alike(shrink(doubled, USUAL), shrink(found, USUAL), times=2)


def test_a_system_may_occur_twice() -> None:
    found, twice = make(), [0, 1, 2, 3, 4, 5, 6, 6]
    square = np.ix_(twice, twice)
    shrunk = shrink(
        replace(
            found,
            judged=found.judged[twice],
            corrected=found.corrected[twice],
            noise=found.noise[square],
            mass=found.mass[square],
            items=found.items[square],
            steps=found.steps[:, twice],
        ),
        USUAL,
    )
    assert shrunk.value[6] == pytest.approx(shrunk.value[7], abs=1e-9)
    for covariance in (shrunk.noise, shrunk.bias, shrunk.bias_by_gold):
        assert spread_pairs(covariance)[6, 7] == pytest.approx(0, abs=1e-9)
    alone = shrink(found, USUAL)
    assert_allclose(shrunk.value[:7] - shrunk.value[0], alone.value - alone.value[0], atol=0.01)


def test_much_gold_gives_its_differences_and_little_those_of_the_judges() -> None:
    found = make()
    much, little = (shrink(change(found, noise=times), USUAL) for times in (1e-9, 1e9))
    assert_allclose(much.value, found.corrected, atol=1e-5)
    assert_allclose(spread_pairs(much.noise), spread_pairs(found.noise) * 1e-9, rtol=1e-4, atol=1e-14)
    assert spread_pairs(much.bias_by_gold).max() < 1e-9
    assert_allclose(np.ptp(little.value - found.judged), 0, atol=1e-5)
    assert spread_pairs(little.noise).max() < 1e-6
    prior = USUAL.weigh(found.unexplained)
    assert_allclose(little.spread.chance, np.exp(prior) / np.exp(prior).sum(), atol=1e-6)


def test_earlier_studies_sharpen_the_prior() -> None:
    record = tuple(-0.5 * ((np.log(GRID) - math.log(0.5)) / 0.1) ** 2)
    kept = replace(USUAL, record=record)
    assert_allclose(kept.weigh(0.4) - USUAL.weigh(0.4), record)
    noisy = change(make(), noise=1e9)
    assert shrink(noisy, kept).spread.quantile(0.5) == pytest.approx(0.5 * noisy.scatter, rel=0.1)


def test_better_judges_are_expected_to_be_less_biased() -> None:
    """The most likely spread is level + slope log(unexplained)."""
    for unexplained in (0.3, 0.8):
        expected = math.exp(-2.163) * unexplained**3.2
        assert GRID[USUAL.weigh(unexplained).argmax()] == pytest.approx(expected, rel=0.06)


def test_results_are_protected() -> None:
    shrunk = shrink(make(), USUAL)
    arrays = [getattr(shrunk, field.name) for field in fields(shrunk) if field.name != "spread"]
    assert not any(array.flags.writeable for array in arrays if isinstance(array, np.ndarray))
