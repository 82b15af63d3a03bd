"""What all tests share: hypothesis profiles and the real data, where it is there."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

SLOW = [HealthCheck.too_slow]  # by the clock, and a machine may be busy
settings.register_profile(
    "ci", derandomize=True, deadline=None, database=None, max_examples=60, suppress_health_check=SLOW
)
settings.register_profile("explore", deadline=None, max_examples=2000)
# Otherwise constants found in loaded modules become examples: each edit changes them, and each worker parses all.
providers._get_local_constants = lambda: providers._local_constants
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


def pytest_collection_finish() -> None:
    """What is loaded by now stays: no search for garbage need go through it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real collections."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"no real data at {SHARED_DATA}")
    return SHARED_DATA
