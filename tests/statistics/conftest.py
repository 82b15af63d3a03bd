"""Slow simulations run with fewer draws in the gate and in full under `make soak`."""

from collections.abc import Callable

import pytest


@pytest.fixture(
    scope="module", params=[pytest.param(1, id="in-full", marks=pytest.mark.soak), pytest.param(5, id="short")]
)
def thin(request: pytest.FixtureRequest) -> Callable[[int], int]:
    """How many of so many draws to make; tolerances must follow from that number."""
    return lambda draws: draws // request.param
