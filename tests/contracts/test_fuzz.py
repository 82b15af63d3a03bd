"""Readers meet damaged files: they return, or raise a KaratageError with a short message, and nothing else.

Mutations are drawn from fixed seeds; tests/soak/test_fuzz_readers.py searches further.
"""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
import zstandard

from tests.contracts.damaging import SEEDS, check, mutate

ROUNDS = 60


@pytest.mark.parametrize("name", SEEDS)
def test_a_damaged_file_is_read_or_refused(name: str, tmp_path: Path) -> None:
    content, read = SEEDS[name]
    path = tmp_path / f"file.{name}"
    assert check(read, path, content)
    rng = random.Random(f"karatage {name}")
    read_well = sum(check(read, path, mutate(content, rng)) for _ in range(ROUNDS))
    assert read_well < ROUNDS  # the accidents do harm


@pytest.mark.parametrize("name", ["csv", "jsonl", "qrels", "run", "square.txt"])
def test_packing_does_not_change_what_is_refused(name: str, tmp_path: Path) -> None:
    """Damage before packing, so that it reaches the parser, behind every kind of packing."""
    content, read = SEEDS[name]
    rng = random.Random(f"karatage packed {name}")
    for n in range(ROUNDS // 3):
        damaged = mutate(content, rng)
        packed = gzip.compress(damaged, 1) if n % 2 else zstandard.compress(damaged)
        plain = check(read, tmp_path / f"file.{name}", damaged)
        assert check(read, tmp_path / f"file.{name}{'.gz' if n % 2 else '.zst'}", packed) == plain
