"""Saved results of every kind, edited at random for as long as KARATAGE_SOAK_SECONDS says, 600 by default.

`pytest -m soak tests/soak/test_fuzz_results.py -s` prints how many edits of each kind were refused, and how many used.
"""

import os
import random
import sys
import time

import pytest

from tests.contracts.free_numbers import is_free
from tests.contracts.fuzzing import Subject, change_names, change_numbers, fuzz, list_models
from tests.unit.views.saved_results import MAKERS, make

SECONDS = float(os.environ.get("KARATAGE_SOAK_SECONDS", "600"))
SEED = os.environ.get("KARATAGE_SOAK_SEED", "karatage")
NUMBERS = 400  # changed numbers of each result


@pytest.mark.soak
def test_edited_results_are_refused_or_can_be_used(tmp_path):
    subjects = [*(Subject(name, make(name).to_json()) for name in MAKERS), *list_models(tmp_path)]
    rng, end, turn = random.Random(SEED), time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        fuzz(subjects[turn % len(subjects)], rng, tmp_path)
        turn += 1
    for subject in subjects:
        sys.stdout.write(
            f"{subject.name}: {subject.counts['refused']:,} refused, {subject.counts['used']:,} used" + "\n"
        )
    sys.stdout.write(f"{turn:,} edits in {SECONDS:g} s" + "\n")
    assert all(subject.counts["used"] and subject.counts["refused"] for subject in subjects) or turn < 100 * len(
        subjects
    )


@pytest.mark.soak
def test_changed_names_are_refused_or_can_be_used(tmp_path):
    rng = random.Random(SEED)
    for subject in [*(Subject(name, make(name).to_json()) for name in MAKERS), *list_models(tmp_path)]:
        accepted = change_names(subject, tmp_path, rng)
        sys.stdout.write(f"{subject.name}: {accepted:,} changed names accepted and used" + "\n")
        assert accepted  # a title or a note may be anything


@pytest.mark.soak
def test_changed_numbers_are_refused_unless_they_may_be_anything():
    stray, whole, sum_refused = {}, 0, 0
    for name in MAKERS:
        subject = Subject(name, make(name).to_json())
        found = list(change_numbers(subject, NUMBERS, random.Random(f"{SEED} {name}")))
        refused = sum(one.refused for one in found)
        sys.stdout.write(
            f"{name}: {refused:,} of {len(found):,} changed numbers refused ({refused / len(found):.0%})" + "\n"
        )
        whole, sum_refused = whole + len(found), sum_refused + refused
        accepted, kind = [one for one in found if not one.refused], subject.facts["kind"]
        stray |= {(name, one.place): one.change for one in accepted if not is_free(kind, one.place)}
    sys.stdout.write(f"in all {sum_refused:,} of {whole:,} ({sum_refused / whole:.1%})" + "\n")
    assert stray == {}
