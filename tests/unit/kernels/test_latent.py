from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import norm

from karatage.kernels.latent import log_below, log_between


def test_far_into_both_tails() -> None:
    z = np.r_[np.linspace(-60, 9, 700), -1e3, -1e7]
    np.testing.assert_allclose([log_below(point) for point in z], log_ndtr(z), rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize(("low", "high"), [(-0.3, 1.2), (-3.0, -2.5), (2.5, 3.0), (-np.inf, 0.4), (-1.0, np.inf)])
def test_mass_between(low: float, high: float) -> None:
    assert log_between(low, high) == pytest.approx(np.log(norm.cdf(high) - norm.cdf(low)), rel=1e-10)


def test_mass_between_in_the_tails_is_symmetric_and_finite() -> None:
    assert log_between(40.0, 41.0) == pytest.approx(log_ndtr(-40.0), rel=1e-12)
    assert log_between(-41.0, -40.0) == log_between(40.0, 41.0)
    assert log_between(1e4, np.inf) == pytest.approx(log_ndtr(-1e4))
