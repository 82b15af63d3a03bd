"""A number with its uncertainty: intervals, p-values, and what is known exactly."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from karatage.data.codec import unstructure
from karatage.data.estimate import Estimate, t_outside, t_quantile, wilson_interval
from karatage.data.options import check_confidence
from karatage.errors import OptionError


@pytest.mark.parametrize("degrees", [1, 4.5, 49, 1e7, math.inf])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_intervals_and_p_values_are_scipys(degrees: float, confidence: float) -> None:
    found = Estimate.of(0.3, 0.04, degrees=degrees, confidence=confidence)
    spread = stats.norm(0.3, 0.2) if math.isinf(degrees) else stats.t(degrees, 0.3, 0.2)
    assert (found.low, found.high) == pytest.approx(spread.interval(confidence), abs=1e-6)
    assert found.p_value == pytest.approx(2 * spread.cdf(0.0), abs=1e-6)
    assert found.standard_error == pytest.approx(0.2)
    assert not found.exact


def test_the_interval_and_the_p_value_agree() -> None:
    """Significant if and only if 0 is outside of the interval, also at the very edge."""
    edge = t_quantile(0.975, 20) * 0.1
    for value in (edge * 0.999, -edge * 0.999, edge * 1.001, -edge * 1.001):
        found = Estimate.of(value, 0.01, degrees=20)
        assert found.significant == (not found.low <= 0 <= found.high)


def test_intervals_are_cut_where_the_quantity_cannot_be() -> None:
    found = Estimate.of(0.97, 0.01, within=(0, 1))
    free = Estimate.of(0.97, 0.01)
    assert (found.low, found.high) == (free.low, 1)
    assert free.high > 1
    assert found.p_value == free.p_value


@pytest.mark.parametrize(("value", "p_value"), [(0.0, 1.0), (0.1, 0.0)])
def test_known_for_sure(value: float, p_value: float) -> None:
    found = Estimate.of(value, 0.0)
    assert found.exact
    assert (found.low, found.high, found.p_value) == (value, value, p_value)
    assert found.significant == (value != 0)


@pytest.mark.parametrize(
    ("variance", "written"),
    [(math.nan, (None, None, None)), (math.inf, ("infinite", "-infinite", "infinite"))],
)
def test_unknown_and_endless_variances_claim_nothing_and_stay_apart_in_json(
    variance: float, written: tuple[str | None, ...]
) -> None:
    found = Estimate.of(0.4, variance, degrees=9)
    assert not found.significant
    assert not found.exact
    told = unstructure(found)
    assert told["value"] == 0.4
    assert (told["standard_error"], told["low"], told["high"]) == written
    json.dumps(told, allow_nan=False)


def test_degrees_of_the_normal_distribution_are_infinite_in_json() -> None:
    assert unstructure(Estimate.of(0.4, 0.01))["degrees"] == "infinite"
    assert unstructure(Estimate.of(0.4, 0.01, degrees=7))["degrees"] == 7


@pytest.mark.parametrize("confidence", [0, 1, 2, -0.5, math.nan])
def test_levels_that_are_none(confidence: float) -> None:
    with pytest.raises(OptionError, match=r"\b0\b.*\b1\b"):
        check_confidence(confidence)
    with pytest.raises(OptionError):
        Estimate.of(0.1, 0.1, confidence=confidence)


@pytest.mark.parametrize(("hits", "size"), [(0, 10), (10, 10), (43, 59), (1, 2)])
def test_wilsons_interval_is_statsmodels(hits: int, size: int) -> None:
    low, high = wilson_interval(hits, size, confidence=0.9)
    assert (float(low), float(high)) == pytest.approx(proportion_confint(hits, size, 0.1, "wilson"), abs=1e-12)


@pytest.mark.parametrize("size", [3, 7, 10, 59, 341, 10_828])
def test_wilsons_interval_ends_where_there_is_nothing_beyond(size: int) -> None:
    assert wilson_interval(0, size)[0] == 0.0
    assert wilson_interval(size, size)[1] == 1.0
    assert (wilson_interval(1, size)[0] > 0) & (wilson_interval(size - 1, size)[1] < 1)


def test_wilsons_interval_of_nothing_is_unknown() -> None:
    low, high = wilson_interval([0, 3], [0, 4])
    assert np.isnan(low[0])
    assert np.isnan(high[0])
    assert low[1] < 0.75 < high[1]


@pytest.mark.parametrize("t", [-3.0, 0.0, 0.7, 40.0])
def test_tails_are_two_sided(t: float) -> None:
    assert t_outside(t, 12) == pytest.approx(2 * stats.t(12).sf(abs(t)), rel=1e-9)
    assert t_outside(t, math.inf) == pytest.approx(2 * stats.norm.sf(abs(t)), rel=1e-9)
