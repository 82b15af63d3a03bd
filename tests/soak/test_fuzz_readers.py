"""Files of every format that is read, damaged at random for as long as KARATAGE_SOAK_SECONDS says, 600 by default.

`pytest -m soak tests/soak/test_fuzz_readers.py -s` prints how many of each were read, and how many were refused.
"""

import os
import random
import sys
import time
import warnings
from collections import Counter

import pytest

from tests.contracts.damaging import SEEDS, check, mutate

SECONDS = float(os.environ.get("KARATAGE_SOAK_SECONDS", "600"))
SEED = os.environ.get("KARATAGE_SOAK_SEED", "karatage")


@pytest.mark.soak
def test_damaged_files_are_read_or_refused(tmp_path):
    read, tried = Counter(), Counter()
    rng, end = random.Random(SEED), time.monotonic() + SECONDS
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        while time.monotonic() < end:
            for name, (content, reader) in SEEDS.items():
                damaged = mutate(content, rng)
                try:
                    read[name] += check(reader, tmp_path / f"file.{name}", damaged)
                except Exception as problem:
                    problem.add_note(f"{name}: {damaged[:2000]!r}")
                    raise
                tried[name] += 1
    for name, count in tried.items():
        sys.stdout.write(f"{name}: {read[name]:,} of {count:,} read, {count - read[name]:,} refused\n")
    sys.stdout.write(f"{tried.total():,} damaged files in {SECONDS:g} s\n")
    assert all(read[name] < count for name, count in tried.items())  # the accidents do harm
