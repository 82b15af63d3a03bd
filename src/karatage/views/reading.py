"""Results of any kind, read back from JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

import polars as pl

from karatage.data.checks import NEAR, SLACK
from karatage.data.codec import structure, unstructure
from karatage.data.plain import INFINITE, MOST, TableRows, is_number, show
from karatage.data.result import KINDS, SCHEMA, Result
from karatage.errors import DataError, InputFileError, KaratageError, UnknownNameError
from karatage.io.files import PathLike
from karatage.io.models import find_document, load_document
from karatage.io.schema1 import drop_claims, upgrade
from karatage.measures.registry import parse_measure
from karatage.text import shorten
from karatage.views.showing import import_view, list_views

WHAT: Final = "a result of karatage"
FIGURES: Final = "P@k"  # what figures from a paper are about
# Entries that commands add to a result, some on request.
ASIDE: Final = frozenset({"added", "command", "per_topic", "schema", "seed", "weight_rows", "written"})
# Wording, which is not read back: it changes more often than the version. Notes are told again from their facts.
PROSE: Final = frozenset({"claim", "here", "rule", "sentence", "text"})
# Errors of polars, numpy and Python for values that are valid one by one, but do not fit together.
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
        The result, with the same numbers, text and charts as the one that was written, and the command that wrote it.
        An entry that is missing, damaged or contradicts others is refused by name.
    """
    source = find_document(path, WHAT)
    found = load_document(source, WHAT)
    try:
        return restore(found)
    except KaratageError as problem:
        raise InputFileError(source.name, None, f"cannot be read as {WHAT}: {problem}") from None


def restore(found: object) -> Saved:
    """A result from the content of its JSON."""
    if not isinstance(found, dict):
        raise DataError(f"the whole is {show(found)}, not an object")
    kind, written = _find_kind(found), _find_version(found)
    command = found.get("command")
    if not (command is None or isinstance(command, str)):
        raise DataError(f"command is {show(command)}, not text")
    again = "" if command is None else f": {shorten(command, 80)}"
    advice = f"the file was edited or damaged; make it again with the command that wrote it{again}"
    earlier = "schema" not in found
    try:
        facts: dict[str, Any] = upgrade(found) if earlier else drop_claims(found)
        check = _Check(worded=written == version("karatage") and not earlier, whole=facts is found)
        result = structure(facts, KINDS[kind])
        expected = unstructure(result)
        check.compare({name: fact for name, fact in facts.items() if name in expected or name not in ASIDE}, expected)
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
        for one in part if isinstance(part, list | tuple | TableRows) else (part,):
            if isinstance(one, Mapping) and ("kind" in one or part is several):
                yield from _list_measures(one)


def _find_kind(found: Mapping[str, object]) -> str:
    if "kind" not in found:
        raise DataError("its kind is missing; commands write results with --format json")
    kind, written, schema = found["kind"], _find_version(found), found.get("schema", 1)
    if not isinstance(kind, str):
        raise DataError(f"kind is {show(kind)}, not text")
    own = version("karatage")
    if _count(written) > _count(own) or (is_number(schema) and schema > SCHEMA):
        by = f"karatage {shorten(written)}" if written else "a later version of karatage"
        raise DataError(f"it was written by {by}, and this is {own}; update with pip install -U")
    if schema not in (1, SCHEMA) or isinstance(schema, bool):
        raise DataError(f"schema is {show(schema)}, not {SCHEMA}")
    import_view(kind)
    if kind not in KINDS:
        raise UnknownNameError("kind of result", kind, list_kinds())
    return kind


def list_kinds() -> Mapping[str, type[Result]]:
    """All kinds of results; their classes take seconds to import."""
    list_views()
    return KINDS


def _find_version(found: Mapping[str, object]) -> str:
    """The version that wrote it; not all kinds have it."""
    versions = found.get("versions", {"karatage": ""})
    if not isinstance(versions, dict):
        raise DataError(f"versions is {show(versions)}, not an object")
    written = versions.get("karatage")
    if not isinstance(written, str):
        raise DataError(f"versions.karatage is {show(written)}, not text")
    return written


def _count(written: str) -> tuple[int, ...]:
    """The first two numbers of a version; the content of files may change with these."""
    return tuple(int(number) for number in re.findall(r"\d{1,9}", written)[:2])


@dataclass(frozen=True)
class _Check:
    """Checks that entries which follow from others are there and agree; otherwise the file was damaged or changed.

    Numbers may differ in the last digits from machine to machine, and words from version to version, unless they are
    `worded`. Where the file is not `whole`, as in an earlier schema, such entries may be missing.
    """

    worded: bool
    whole: bool

    def compare(self, found: object, expected: object, place: str = "", *, prose: bool = False) -> None:
        """Refuse the first entry that is not as expected, by its place."""
        if isinstance(expected, Mapping):
            self._compare_objects(found, expected, place)
        elif isinstance(expected, list | tuple | TableRows):
            if not isinstance(found, list):
                raise DataError(f"{place} is {show(found)}, not a list")
            if len(found) != len(expected):
                raise DataError(f"{place} has {len(found):,} entries, where {len(expected):,} follow from the others")
            for k, value in enumerate(expected):
                if found[k] != value:
                    self.compare(found[k], value, f"{place}[{k}]")
        elif not _is_same(found, expected, worded=self.worded and not prose):
            raise DataError(f"{place} is {show(found)}, where {show(expected)} follows from the other entries")

    def _compare_objects(self, found: object, expected: Mapping[str, object], place: str) -> None:
        if not isinstance(found, dict):
            raise DataError(f"{place} is {show(found)}, not an object")
        lead = f"{place}." if place else ""
        for name, value in expected.items():
            if name in found:
                self.compare(found[name], value, f"{lead}{shorten(name)}", prose=name in PROSE)
            elif self.whole:
                raise DataError(f"{lead}{shorten(name)} is missing")
        stray = next((name for name in found if name not in expected), None)
        if stray is not None:
            raise DataError(f"{lead}{shorten(stray)} does not follow from the other entries")


def _is_same(found: object, expected: object, *, worded: bool) -> bool:
    if isinstance(expected, float) and is_number(found):
        return abs(found) <= MOST and math.isclose(found, expected, rel_tol=NEAR, abs_tol=SLACK)
    if isinstance(expected, str) and expected not in INFINITE and not worded:
        return isinstance(found, str)
    return type(found) is type(expected) and found == expected
