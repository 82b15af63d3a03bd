"""The best guess of all systems' differences: the judges' differences, moved towards gold's corrections.

Centred scores of systems are modelled as judges' scores times a slope near 1, plus a worth of each grade that gold may
change, plus the errors of single documents, plus a bias. The bias of two systems has the standard deviation `spread`
times the most that an error of 1 in gains could move their difference. This is small-area estimation [FH79]: the
guess is the best linear prediction. The spread has a distribution, from gold and possibly from other judges.

Intervals hold on average over the pairs of a board, for any distribution of the bias whose mean square is the model's
[AKP22]. They use critical values that grow with the ratio of squared bias to variance, and grow less where the kurtosis
of the bias is bounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from karatage.data.axes import FloatArray, freeze
from karatage.data.records import GRID as GRID

FIRM, LOOSE = (0.3, 0.25), (0.5, 0.5)  # doubts of slope and of steps, where judges use gold's grades, and elsewhere
CAUTION = 0.5  # standard deviations of the log spread by which the guess trusts the judges more than its mean says
ENOUGH = 20.0  # labels for a typical pair, below which the guess trusts the judges more
ALLOWED = 0.5  # standard errors by which the board's bias may exceed that of the model
CLEAR = 2.0  # standard errors by which a corrected difference may be off the guess before the pair's own bias counts
KURTOSIS = 8.0  # of usual judges' biases over the pairs of a board; of 21 judges about 3, and 8.6 at most
RIDGE = 1e-12
TOUCHING = np.linspace(-1.5, 4.5, 300)  # how far biases are above a critical value
QUANTILES, LARGEST = 1000, 1e4
HALVINGS = 40


@dataclass(frozen=True, eq=False, kw_only=True)
class Corrections:
    """What judges and gold show about all systems; only differences between systems matter."""

    judged: FloatArray  # (system,) scores by the judges' grades
    corrected: FloatArray  # (system,) unbiased scores by gold
    noise: FloatArray  # (system, system) covariance of corrected scores, by the draw of gold
    mass: FloatArray  # (system, system) the most that an error of 1 in gains can move a difference
    items: FloatArray  # (system, system) covariance of scores by the errors of single documents
    steps: FloatArray  # (step, system) weight of documents with at least this judge's grade
    scatter: float  # standard deviation of gold's gains
    unexplained: float  # share of gains' variance that the judges' grades leave
    same_grades: bool  # whether judges use gold's grades

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.judged, self.corrected, self.noise, self.mass, self.items, self.steps)


@dataclass(frozen=True, kw_only=True)
class UsualBias:
    """The bias of other judges: log(spread / scatter) is `level` + `slope` log(unexplained), give or take `doubt`.

    The distribution is Student's t with few degrees of freedom, since other judges may be unlike those seen.
    """

    level: float
    slope: float
    doubt: float
    degrees: float
    record: tuple[float, ...] = ()  # log-likelihood of spreads in earlier studies of this judge, on `GRID`
    alone_level: float = math.nan  # of log(error of judges' own differences / range of gains), without any gold
    alone_doubt: float = math.nan

    def weigh(self, unexplained: float) -> FloatArray:
        """Log-density of each spread of `GRID`."""
        off = (np.log(GRID) - self.level - self.slope * math.log(unexplained)) / self.doubt
        density: FloatArray = -(self.degrees + 1) / 2 * np.log1p(off**2 / self.degrees)
        return density + np.array(self.record, float) if self.record else density

    def bound_error(self, confidence: float) -> float:
        """The error of a judge's own difference that is not exceeded with this probability, without any gold.

        It is for gains from 0 to 1 and a mass of 1: normal, with a standard deviation that varies over judges.
        """
        from scipy.optimize import brentq
        from scipy.special import ndtr, stdtrit

        share = (np.arange(QUANTILES) + 0.5) / QUANTILES
        level = self.alone_level + self.alone_doubt * stdtrit(self.degrees, share)

        def exceed(bound: float) -> float:
            return float(2 * ndtr(-np.exp(bound - level)).mean()) - (1 - confidence)

        return math.exp(brentq(exceed, level[0] - 10, level[-1] + 10))


@dataclass(frozen=True, eq=False, kw_only=True)
class Spread:
    """The distribution of a spread on `GRID`, times `scatter`."""

    chance: FloatArray  # (spread,)
    scatter: float

    @property
    def log_mean(self) -> float:
        """The mean of its logarithm."""
        return float((self.chance * np.log(GRID)).sum()) + math.log(self.scatter)

    @property
    def log_deviation(self) -> float:
        """The standard deviation of its logarithm."""
        off = np.log(GRID) + math.log(self.scatter) - self.log_mean
        return math.sqrt(float((self.chance * off**2).sum()))

    @property
    def square(self) -> float:
        """The mean of its square."""
        return float((self.chance * GRID**2).sum()) * self.scatter**2

    def quantile(self, share: float) -> float:
        """Interpolated in its logarithm."""
        below = np.cumsum(self.chance) - self.chance / 2
        return math.exp(float(np.interp(share, below, np.log(GRID)))) * self.scatter


@dataclass(frozen=True, eq=False, kw_only=True)
class Shrunk:
    """The best guess of all systems."""

    value: FloatArray  # (system,) with the mean of the corrected scores
    pull: FloatArray  # (system, system) what a correction of one system moves the others
    noise: FloatArray  # (system, system) covariance by the draw of gold
    bias: FloatArray  # (system, system) mean product of biases, as usual judges have them
    bias_by_gold: FloatArray  # (system, system) the same by gold alone
    shown: FloatArray  # (system, system) squared bias that gold shows of the pair itself; below 0 where it shows none
    spread: Spread
    spread_by_gold: Spread
    likelihood: FloatArray  # (spread,) log-likelihood of the spreads of `GRID`

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.value, self.pull, self.noise, self.bias, self.bias_by_gold, self.shown, self.likelihood)


def shrink(found: Corrections, usual: UsualBias) -> Shrunk:
    """Guess all systems' scores, with the bias of usual judges as the prior of the spread."""
    contrasts = _contrast_all(found)
    basis, gap, fixed, items, noise, shape = contrasts
    likelihood = _weigh_spreads(contrasts, found.scatter)
    spread = _weigh(likelihood + usual.weigh(found.unexplained), found.scatter)
    by_gold = _weigh(likelihood + np.log(GRID), found.scatter)  # no spread is likelier than another beforehand
    informed = min(1.0, count_labels(found) / ENOUGH)
    chosen = math.exp(spread.log_mean - (CAUTION + 1 - informed) * spread.log_deviation)
    prior = items + informed**2 * (fixed - items) + chosen**2 * shape
    pull = np.asarray(np.linalg.solve(_add_ridge(prior + noise), prior).T, float)
    left = np.eye(len(pull)) - pull
    moved = _multiply(_multiply(pull, noise), pull.T)
    biases = [
        _bound_bias(left, fixed + square * shape, noise, gap) for square in (spread.square, by_gold.quantile(0.5) ** 2)
    ]
    value = found.judged + _multiply(basis.T, _multiply(pull, gap[:, None]))[:, 0]
    off, unsure = found.corrected - value, _multiply(_multiply(left, noise), left.T)
    return Shrunk(
        value=value - value.mean() + found.corrected.mean(),
        pull=_multiply(_multiply(basis.T, pull), basis),
        noise=_multiply(_multiply(basis.T, moved), basis),
        bias=_multiply(_multiply(basis.T, biases[0]), basis),
        bias_by_gold=_multiply(_multiply(basis.T, biases[1]), basis),
        shown=(off[:, None] - off) ** 2 - CLEAR**2 * spread_pairs(_multiply(_multiply(basis.T, unsure), basis)),
        spread=spread,
        spread_by_gold=by_gold,
        likelihood=likelihood,
    )


class _Contrasts(NamedTuple):
    """What is known of differences, in orthonormal contrasts of systems."""

    basis: FloatArray  # (contrast, system)
    gap: FloatArray  # (contrast,) from the judges' scores to corrected ones
    fixed: FloatArray  # (contrast, contrast) covariance of the gap that is no bias of systems
    items: FloatArray  # (contrast, contrast) the part of it that is due to errors of single documents
    noise: FloatArray  # (contrast, contrast) its covariance by the draw of gold
    shape: FloatArray  # (contrast, contrast) its covariance by biases with a spread of 1


def _contrast_all(found: Corrections) -> _Contrasts:
    basis = _contrast(len(found.judged))

    def project(covariance: FloatArray) -> FloatArray:
        return _multiply(_multiply(basis, covariance), basis.T)

    slope_doubt, step_doubt = FIRM if found.same_grades else LOOSE
    judged = _multiply(basis, found.judged[:, None])[:, 0]
    steps = _multiply(basis, found.steps.T) * (2 * step_doubt * found.scatter)
    items = project(found.items)
    fixed = items + _multiply(steps, steps.T) + slope_doubt**2 * np.outer(judged, judged)
    gap = _multiply(basis, (found.corrected - found.judged)[:, None])[:, 0]
    return _Contrasts(basis, gap, fixed, items, project(found.noise), _keep_positive(project(-0.5 * found.mass**2)))


def count_labels(found: Corrections) -> float:
    """How many labels, drawn for a pair alone, would leave it the noise that pairs have on average."""
    noise = float(spread_pairs(found.noise).sum())
    if noise <= 0:
        return math.inf
    return found.unexplained * found.scatter**2 * float((found.mass**2).sum()) / noise


def measure_likelihood(found: Corrections) -> FloatArray:
    """Log-likelihood of each spread of `GRID`; the largest is 0."""
    return _weigh_spreads(_contrast_all(found), found.scatter)


def _weigh_spreads(found: _Contrasts, scatter: float) -> FloatArray:
    _, gap, fixed, _, noise, shape = found
    factor = np.linalg.cholesky(_add_ridge(fixed + noise))
    half = np.linalg.solve(factor, shape)
    ratio, axis = np.linalg.eigh(np.linalg.solve(factor, half.T))
    seen = _multiply(np.asarray(axis.T), np.asarray(np.linalg.solve(factor, gap[:, None])))[:, 0]
    grown = 1 + (GRID * scatter)[:, None] ** 2 * ratio.clip(0.0)
    likelihood = -0.5 * (seen**2 / grown + np.log(grown)).sum(axis=1)
    return np.asarray(likelihood - likelihood.max(), float)


def _weigh(density: FloatArray, scatter: float) -> Spread:
    chance = np.exp(density - density.max())
    return Spread(chance=chance / chance.sum(), scatter=scatter)


def _bound_bias(left: FloatArray, prior: FloatArray, noise: FloatArray, gap: FloatArray) -> FloatArray:
    """The mean product of biases that the pull leaves: the model's, or more if the board shows more.

    The sum of squared biases over all pairs is estimated without bias by the squared gaps that are left, minus their
    noise. `ALLOWED` standard errors of it are taken as chance.
    """
    biased = _multiply(_multiply(left, prior), left.T)
    noisy = _multiply(_multiply(left, noise), left.T)
    shown = float((_multiply(left, gap[:, None]) ** 2).sum()) - float(np.trace(noisy))
    error = math.sqrt(2 * float(((biased + noisy) ** 2).sum()))
    model = float(np.trace(biased))
    grown: FloatArray = biased * max(1.0, (shown - ALLOWED * error) / model if model > 0 else 1.0)
    return grown


def spread_pairs(covariance: FloatArray) -> FloatArray:
    """The variance of each difference (system, system)."""
    own = np.diag(covariance)
    pairs: FloatArray = np.maximum(own[:, None] + own[None, :] - covariance - covariance.T, 0.0)
    return pairs


def find_halves(
    variance: FloatArray, square_bias: FloatArray, confidence: float, kurtosis: float = math.inf
) -> FloatArray:
    """Half the width of intervals of estimates with these variances and mean squares of bias."""
    sure = variance > 0
    ratio = np.where(sure, square_bias / np.where(sure, variance, 1.0), 0.0)
    most = np.sqrt(square_bias / (1 - confidence))  # Chebyshev's inequality, for estimates without noise
    halves: FloatArray = np.where(sure, find_quantiles(ratio, confidence, kurtosis) * np.sqrt(variance), most)
    return halves


def find_quantiles(square: FloatArray, confidence: float, kurtosis: float = math.inf) -> FloatArray:
    """The smallest c that |Z + b| exceeds with probability 1 - confidence at most, for any b with this mean square.

    With a `kurtosis`, for any b whose mean fourth power is at most that times the square of its mean square.

    >>> [round(float(c), 3) for c in find_quantiles(np.array([0, 0.5, 4]), 0.95)]
    [1.96, 2.523, 7.216]
    """
    free = _read_quantiles(square, *_tabulate_quantiles(confidence))
    if math.isinf(kurtosis):
        return free
    return np.minimum(free, _read_quantiles(square, *_tabulate_bounded(confidence, kurtosis)))


def _read_quantiles(square: FloatArray, squares: FloatArray, quantiles: FloatArray) -> FloatArray:
    """Interpolated; beyond the table, critical values grow with the bias."""
    found = np.interp(square, squares, quantiles)
    return np.where(square > squares[-1], quantiles[-1] * np.sqrt(square / squares[-1]), found)


@lru_cache
def _tabulate_bounded(confidence: float, kurtosis: float) -> tuple[FloatArray, FloatArray]:
    """Mean squares of bias and critical values where the kurtosis of the bias is bounded.

    The worst distribution of b^2 exceeds in at most 2 % more cases than the worst with two values. Such a pair either
    has exactly this kurtosis, or one of its values is 0.
    """
    from scipy.special import ndtr

    alpha = 1 - confidence
    squares = np.r_[0.0, np.geomspace(1e-3, 1e3, 200)]
    mean = squares[1:, None]
    low = mean * np.linspace(0.0, 0.98, 50)
    high = np.c_[mean + (kurtosis - 1) * mean**2 / (mean - low), mean * np.geomspace(1.0, kurtosis, 50)]
    low = np.c_[low, np.zeros_like(low)]
    share = (mean - low) / (high - low)
    small, large = np.sqrt(low), np.sqrt(high)
    least = np.full((len(mean), 1), NormalDist().inv_cdf(1 - alpha / 2))
    most = least + np.sqrt(mean / alpha)
    for _ in range(HALVINGS):
        c = (least + most) / 2
        beyond = share * (ndtr(large - c) + ndtr(-large - c)) + (1 - share) * (ndtr(small - c) + ndtr(-small - c))
        more = beyond.max(axis=1, keepdims=True) > alpha
        least, most = np.where(more, c, least), np.where(more, most, c)
    return squares, np.r_[NormalDist().inv_cdf((1 + confidence) / 2), most[:, 0]]


@lru_cache
def _tabulate_quantiles(confidence: float) -> tuple[FloatArray, FloatArray]:
    """Mean squares of bias and their critical values.

    The chance that |Z + b| exceeds c, as a function of b^2, is convex and then concave. Its least concave majorant
    begins with a line from 0 to where it touches. A confidence of .9 or more is reached on that line. For lower ones
    the value is up to 8 % too large.
    """
    from scipy.special import ndtr

    alpha = 1 - confidence
    quantiles = NormalDist().inv_cdf(1 - alpha / 2) + np.r_[0.0, np.geomspace(1e-3, LARGEST, QUANTILES)]
    never = 2 * ndtr(-quantiles)
    bound = np.maximum(quantiles[:, None] + TOUCHING, 0.3 * quantiles[:, None])
    beyond = ndtr(bound - quantiles[:, None]) + ndtr(-bound - quantiles[:, None])
    squares = (alpha - never) / ((beyond - never[:, None]) / bound**2).max(axis=1)
    squares[0] = 0.0
    return squares, quantiles


def _contrast(systems: int) -> FloatArray:
    """Orthonormal contrasts (contrast, system): each system against the mean of those before it."""
    basis = np.zeros((systems - 1, systems))
    for row in range(systems - 1):
        basis[row, : row + 1] = 1 / math.sqrt((row + 1) * (row + 2))
        basis[row, row + 1] = -math.sqrt((row + 1) / (row + 2))
    return basis


def _keep_positive(matrix: FloatArray) -> FloatArray:
    """The nearest matrix without negative eigenvalues; it has larger variances."""
    value, axis = np.linalg.eigh((matrix + matrix.T) / 2)
    return _multiply(np.asarray(axis * value.clip(0.0)), np.asarray(axis.T))


def _add_ridge(matrix: FloatArray) -> FloatArray:
    return matrix + np.eye(len(matrix)) * (RIDGE * float(np.trace(matrix)) + np.finfo(float).tiny)


def _multiply(a: FloatArray, b: FloatArray) -> FloatArray:
    product: FloatArray = np.einsum("ij,jk->ik", a, b)  # BLAS sums depend on threads
    return product
