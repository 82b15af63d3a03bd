"""Results that the first schema wrote, one file for each maker of saved results: they are read as the same results."""

import copy
import gzip
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import karatage as kt
from karatage.errors import KaratageError
from karatage.io.schema1 import CHANGES
from karatage.views.reading import list_kinds, restore
from tests.contracts.fuzzing import Subject, check_message, edit_anything, is_number, look_up
from tests.unit.views.saved_results import MAKERS, make, supervised

HOME = Path(__file__).parent / "schema1"
EDITS = 8
NEWER = "_double_gold", "_guess", "_of_differences"
WRITTEN = [name for name in MAKERS if not name.endswith(NEWER)]  # by the first schema
LATER = {"kind", "counts", "specificity", "npv", "judges", "topic_errors"}  # of checks, audits, crowds and experiments
# Where a default has changed: what it was.
ONCE = {"supervised": lambda _: supervised(teams="redrawn")}
EARLIER = 1e-6  # relative; numbers may differ in the last digits from machine to machine


def find(name: str) -> Path:
    (path,) = HOME.glob(f"{name}.json*")
    return path


def load(name: str) -> Any:
    content = find(name).read_bytes()
    return json.loads(gzip.decompress(content) if find(name).suffix == ".gz" else content)


def list_different(found: Any, expected: Any, place: str = "") -> Iterator[str]:
    """Places at which two results differ; words may have changed since, and notes were text only."""
    if isinstance(found, str) and isinstance(expected, dict) and expected.keys() == {"kind", "facts", "text"}:
        return
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in {**found, **expected}.keys() - (LATER - found.keys()):
            yield from list_different(found.get(name), expected.get(name), f"{place}.{name}")
    elif isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        for k, (one, other) in enumerate(zip(found, expected, strict=True)):
            yield from list_different(one, other, f"{place}[{k}]")
    elif is_number(found) and is_number(expected):
        if found != pytest.approx(expected, rel=EARLIER, abs=1e-9):
            yield f"{place}: {found} {expected}"
    elif found != expected and not (isinstance(found, str) and isinstance(expected, str)):
        yield f"{place}: {found} {expected}"


@pytest.mark.parametrize("name", WRITTEN)
def test_a_file_of_the_first_schema_is_the_same_result(name):
    found, expected = kt.read_result(find(name)).result, ONCE.get(name, make)(name)
    assert type(found) is type(expected)
    assert list(list_different(json.loads(found.to_json()), json.loads(expected.to_json()))) == []


def test_every_kind_has_a_file():
    assert {load(name)["kind"] for name in WRITTEN} == list_kinds().keys() >= CHANGES.keys()
    assert all("schema" not in load(name) for name in WRITTEN)


@pytest.mark.parametrize("name", WRITTEN)
def test_an_edited_file_is_refused_or_read(name):
    subject, rng = Subject(name, json.dumps(load(name))), random.Random(f"schema 1 {name}")
    for _ in range(EDITS):
        try:
            restore(edit_anything(subject, rng))
        except KaratageError as problem:
            check_message(problem)
            subject.counts["refused"] += 1
    assert subject.counts["refused"]


@pytest.mark.parametrize(
    ("name", "place", "value", "told"),
    [
        ("board", ("systems", 0, "naive_score"), 0.9, r"score.*\b0\.9\b"),
        ("board", ("pairs", 0, "corrected_p_bh"), 1e-9, r"corrected_p_bh.*\b09\b"),
        ("pair", ("p_value",), 0.9, r"p_value.*\b0\.9\b"),
        ("posterior", ("items", 0, "p0"), 0.5, "probabilities"),
        ("crowd", ("tpr",), 0.9, r"tpr.*\b0\.9\b"),
        ("benchmark", ("averages", 0, "none"), 0.9, r"none.*\b0\.9\b"),
        ("queue", ("settling", "undecided"), 99, r"settling\.undecided.*\b99\b"),
    ],
)
def test_numbers_that_do_not_follow_are_refused(name, place, value, told):
    facts = copy.deepcopy(load(name))
    look_up(facts, place[:-1])[place[-1]] = value
    with pytest.raises(KaratageError, match=told):
        restore(facts)


def test_an_audit_of_very_many_judges_came_without_their_pairs():
    facts = load("audit")
    del facts["pairs"], facts["types"]["pairs"]
    assert restore(facts).result.pairs.is_empty()


def forget_words(facts: Any) -> Any:
    """A file as it was before results said what the ways of finding scores are."""
    if isinstance(facts, dict):
        return {name: forget_words(fact) for name, fact in facts.items() if name not in ("method", "label")}
    return [forget_words(fact) for fact in facts] if isinstance(facts, list) else facts


@pytest.mark.parametrize("name", ["board", "by_figures", "diagnosis", "pair", "survey"])
def test_ways_without_words_are_read_and_unknown_ones_refused(name):
    facts = forget_words(load(name))
    ways = re.sub(r'"(even|drawn)"', '"sampled"', json.dumps(facts))  # ways that had words from the first
    assert restore(json.loads(ways)).result.to_json()
    with pytest.raises(KaratageError, match="'by the moon'"):
        restore(json.loads(re.sub(r'("(?:way|correction)": )"\w[^"]*"', r'\1"by the moon"', ways)))
