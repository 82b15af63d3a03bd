"""Saved results that were edited: they are refused, or can be used like any other; nothing else than a KaratageError.

A seeded, short form; tests/soak/test_fuzz_results.py searches for as long as one likes.
"""

import random

import pytest

from tests.contracts.free_numbers import is_free
from tests.contracts.fuzzing import Subject, change_numbers, fuzz, list_models
from tests.unit.views.saved_results import MAKERS, make

EDITS = 3
NUMBERS = 10


@pytest.mark.parametrize("name", MAKERS)
def test_an_edited_result_is_refused_or_can_be_used(name, tmp_path):
    subject, rng = Subject(name, make(name).to_json()), random.Random(f"karatage {name}")
    for _ in range(EDITS):
        fuzz(subject, rng, tmp_path)
    assert sum(subject.counts.values()) == EDITS


def test_an_edited_model_is_refused_or_can_be_used(tmp_path):
    rng = random.Random("karatage models")
    for subject in list_models(tmp_path):
        for _ in range(5 * EDITS):
            fuzz(subject, rng, tmp_path)
        assert subject.counts["refused"] > EDITS


@pytest.mark.parametrize("name", MAKERS)
def test_a_number_that_was_changed_is_refused_unless_it_may_be_anything(name):
    subject = Subject(name, make(name).to_json())
    accepted = [place for place, _, refused in change_numbers(subject, NUMBERS, random.Random(name)) if not refused]
    assert [place for place in accepted if not is_free(subject.facts["kind"], place)] == []
