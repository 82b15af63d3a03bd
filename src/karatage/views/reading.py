"""Results of any kind read back from JSON: one registry, from kinds to the modules that read them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Final

import polars as pl

from karatage.data.as_json import INFINITE
from karatage.data.checks import NEAR, SLACK
from karatage.data.entries import MOST, Entries, Value, is_number, show
from karatage.data.shown import Result
from karatage.errors import DataError, InputFileError, KaratageError, UnknownNameError
from karatage.io.documents import find_document, load_document
from karatage.io.files import PathLike
from karatage.io.results.methods import add_words
from karatage.measures.registry import parse_measure
from karatage.text import shorten

WHAT: Final = "a result of karatage"
# Each module has `read(entries) -> result`, and in CHECKED the entries, if any, whose derived parts only it can check.
# They are loaded when a result of their kind is read.
READERS: Final[Mapping[str, str]] = {
    "audit": "karatage.io.results.audit",
    "aware": "karatage.experiments.aware.reading",
    "benchmark": "karatage.experiments.square.reading",
    "board": "karatage.io.results.board",
    "calibration": "karatage.io.results.calibration",
    "collaborative": "karatage.experiments.collaborative.reading",
    "comparison": "karatage.io.results.comparison",
    "crowd": "karatage.io.results.crowd",
    "diagnosis": "karatage.io.results.diagnosis",
    "draws": "karatage.io.results.draws",
    "evaluation": "karatage.io.results.evaluation",
    "gold-plan": "karatage.io.results.gold_plan",
    "noisy": "karatage.experiments.noisy.reading",
    "posterior": "karatage.io.results.posterior",
    "queue": "karatage.io.results.queue",
    "random-relevance": "karatage.experiments.random_relevance.reading",
    "scores": "karatage.io.results.scores",
    "settling": "karatage.io.results.settling",
    "size-plan": "karatage.io.results.size_plan",
    "supervised": "karatage.experiments.supervised.reading",
    "survey": "karatage.io.results.survey",
    "weights": "karatage.io.results.weights",
}
FIGURES: Final = "P@k"  # what figures from a paper are about
# What commands write beside a result, or on request.
ASIDE: Final = frozenset({"command", "pairs", "per_topic", "seed", "weights", "written"})
PROSE: Final = frozenset({"sentence", "rule"})  # wording, which nobody reads back
# What polars, numpy and Python say of values that are each what they should be, but do not fit together.
CONTRADICTIONS: Final = (pl.exceptions.PolarsError, ArithmeticError, AssertionError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class Saved:
    """A result that was written as JSON, and the command that wrote it; none where Python did."""

    result: Result
    command: str | None


def read_result(path: PathLike) -> Saved:
    """Read a result of any kind back from its JSON, as `to_json` or the command line wrote it.

    Args:
        path: A file, which may be packed (.gz, .zst), or - for standard input.

    Returns:
        The result, which says, shows and draws the same as the one that was written, and the command that wrote it.
        What is missing, damaged or contradicts itself is refused by name.
    """
    source = find_document(path, WHAT)
    found = load_document(source, WHAT)
    try:
        return restore(found)
    except KaratageError as problem:
        raise InputFileError(source.name, None, f"cannot be read as {WHAT}: {problem}") from None


def restore(found: Value) -> Saved:
    """A result from what its JSON says."""
    entries = Entries(add_words(found))
    kind = _find_kind(entries)
    command = entries.text("command") if entries.has("command") else None
    reader = import_module(READERS[kind])
    again = "" if command is None else f": {shorten(command, 80)}"
    advice = f"the file was edited or damaged; make it again with the command that wrote it{again}"
    try:
        result: Result = reader.read(entries)
        expected = result.to_dict()
        same = _find_version(entries) == version("karatage")
        for name in (name for name in expected if name not in getattr(reader, "CHECKED", ())):
            _compare(entries.get(name), expected[name], name, worded=same and name not in PROSE)
        stray = next((name for name in entries.all_names() if name not in {*expected, *ASIDE}), None)
        if same and stray is not None:
            raise DataError(f"{entries.name(stray)} does not follow from the other entries")
        for measure in _list_measures(expected):
            parse_measure(measure)
    except KaratageError as problem:
        raise DataError(f"{problem}; {advice}") from None
    except CONTRADICTIONS as problem:
        told = shorten(str(problem), 120)
        raise DataError(f"its entries do not fit together ({told}); {advice}") from None
    return Saved(result, command)


def _list_measures(facts: Mapping[str, object]) -> Iterator[str]:
    """The measures that a result and its parts are about."""
    several = facts.get("measures")
    for found in (facts.get("measure"), *(several if isinstance(several, list | tuple) else ())):
        if isinstance(found, str) and found != FIGURES:
            yield found
    for part in facts.values():
        for one in part if isinstance(part, list | tuple) else (part,):
            if isinstance(one, Mapping) and ("kind" in one or part is several):
                yield from _list_measures(one)


def _find_kind(entries: Entries) -> str:
    if not entries.has("kind"):
        raise DataError("it does not say of what kind it is; commands write results with --format json")
    kind, written = entries.text("kind"), _find_version(entries)
    own = version("karatage")
    if _count(written) > _count(own):
        raise DataError(f"it was written by karatage {shorten(written)}, and this is {own}; update with pip install -U")
    if kind not in READERS:
        raise UnknownNameError("kind of result", kind, READERS)
    return kind


def _find_version(entries: Entries) -> str:
    """By which it was written; not all kinds say so."""
    if not entries.has("versions"):
        return ""
    return entries.object("versions").text("karatage")


def _count(written: str) -> tuple[int, ...]:
    """The first two numbers of a version: what a file holds may change with these."""
    return tuple(int(number) for number in re.findall(r"\d{1,9}", written)[:2])


def _compare(found: Value, expected: Value, place: str, *, worded: bool) -> None:
    """What follows from other entries has to be there too, or else the file is damaged, or somebody changed it.

    Numbers may differ in the last digits from machine to machine, and words from version to version.
    """
    if isinstance(expected, Mapping):
        entries = Entries(found, place)
        for name, value in expected.items():
            _compare(entries.get(name), value, entries.name(name), worded=worded and name not in PROSE)
        stray = next((name for name in entries.all_names() if name not in expected), None)
        if stray is not None:
            raise DataError(f"{entries.name(stray)} does not follow from the other entries")
    elif isinstance(expected, list | tuple):
        if not isinstance(found, list):
            raise DataError(f"{place} is {show(found)}, not a list")
        if len(found) != len(expected):
            raise DataError(f"{place} has {len(found):,} entries, where {len(expected):,} follow from the others")
        for k, value in enumerate(expected):
            _compare(found[k], value, f"{place}[{k}]", worded=worded)
    elif not _is_same(found, expected, worded=worded):
        raise DataError(f"{place} is {show(found)}, where {show(expected)} follows from the other entries")


def _is_same(found: Value, expected: Value, *, worded: bool) -> bool:
    if isinstance(expected, float) and is_number(found):
        return abs(found) <= MOST and math.isclose(found, expected, rel_tol=NEAR, abs_tol=SLACK)
    if isinstance(expected, str) and expected not in INFINITE and not worded:
        return isinstance(found, str)
    return type(found) is type(expected) and found == expected
