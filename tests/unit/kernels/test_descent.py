from __future__ import annotations

import numpy as np

from karatage.kernels.logistic import minimise


def _rosenbrock(x: np.ndarray, slope: np.ndarray) -> float:
    bend = x[1:] - x[:-1] ** 2
    slope[:] = 0.0
    slope[:-1] = -400 * x[:-1] * bend - 2 * (1 - x[:-1])
    slope[1:] += 200 * bend
    return float((100 * bend**2 + (1 - x[:-1]) ** 2).sum())


def test_the_bottom_of_a_bent_valley() -> None:
    start = np.tile([-1.2, 1.0], 4)
    found = minimise(_rosenbrock, start, np.full(8, 1e-3), max_steps=500, tolerance=1e-16)
    np.testing.assert_allclose(found.at, 1.0, atol=1e-5)
    assert start[0] == -1.2


def test_a_known_scale_makes_a_bowl_one_step() -> None:
    bend = np.array([1.0, 1e3, 1e6])

    def bowl(x: np.ndarray, slope: np.ndarray) -> float:
        slope[:] = bend * (x - 1)
        return float(0.5 * (bend * (x - 1) ** 2).sum())

    found = minimise(bowl, np.zeros(3), 1 / bend, max_steps=1, tolerance=0.0)
    np.testing.assert_allclose(found.at, 1.0)
    assert found.steps == 1


def test_each_step_goes_down_and_walls_are_respected() -> None:
    """Beyond x = 1 the function is not a number."""
    values = []

    def walled(x: np.ndarray, slope: np.ndarray) -> float:
        slope[:] = -1 / (1 - x) ** 2 + 100 * x
        return float((-1 / (1 - x) + 50 * x**2).sum()) if x[0] < 1 else np.nan

    at = np.array([-3.0])
    for _ in range(6):
        found = minimise(walled, at, np.ones(1), max_steps=1, tolerance=0.0)
        values.append(found.value)
        at = found.at
    assert (np.diff(values) <= 0).all()
    assert values[-1] < values[0]
    assert at[0] < 1


def test_nothing_to_gain() -> None:
    def flat(x: np.ndarray, slope: np.ndarray) -> float:
        slope[:] = 0.0
        return 5.0

    found = minimise(flat, np.zeros(2), np.ones(2), max_steps=9, tolerance=1e-9)
    assert found.value == 5.0
    assert found.at.tolist() == [0.0, 0.0]
