"""Reading files that may be broken, and the input of a diagnosis; work for several checks is done once."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from karatage.agreement.habits import Panel
from karatage.data.alignment import Alignment
from karatage.data.axes import BoolArray, GradeArray
from karatage.data.judgments import Judgments, match_gold
from karatage.data.options import Repeats
from karatage.data.runs import Runs
from karatage.data.survey import Check
from karatage.decisions.case import Case
from karatage.decisions.material import Material
from karatage.decisions.question import Question
from karatage.errors import DataError, InputFileError, KaratageError
from karatage.io.files import STREAM
from karatage.io.judgments import parse_scale, read_gold, read_judgments
from karatage.io.runs import Listing, read_listing, read_runs
from karatage.io.sources import Source, expand
from karatage.text import counted

Read = TypeVar("Read")
GO_ON = "the rest is checked without it"
STAND_INS = {"runs": "runs", "judgments": "judgments.csv", "gold": "gold.qrels"}
_BE = {"runs": "are", "judgments": "are", "gold": "is"}


def ok(kind: str, finding: str) -> Check:
    """A check that found nothing wrong."""
    return Check(kind=kind, about=kind.partition(".")[0], state="ok", finding=finding)


def warn(kind: str, finding: str, advice: str = "") -> Check:
    """A check that found what limits the conclusions."""
    return Check(kind=kind, about=kind.partition(".")[0], state="warning", finding=finding, advice=advice)


def fail(kind: str, finding: str, advice: str = "") -> Check:
    """A check that found what has to be corrected first."""
    return Check(kind=kind, about=kind.partition(".")[0], state="wrong", finding=finding, advice=advice)


@dataclass(frozen=True, eq=False, kw_only=True)
class Sources:
    """The files to check, and how to read their labels and columns."""

    runs: object = None
    judgments: object = None
    gold: object = None
    grades: tuple[str | None, str | None] = (None, None)  # of judgments, of gold
    columns: tuple[Mapping[str, str] | None, Mapping[str, str] | None] = (None, None)
    repeats: Repeats | None = None

    def __post_init__(self) -> None:
        """Refuse invalid options before files are read."""
        for scale in self.grades:
            parse_scale(scale)


@dataclass(frozen=True, eq=False, kw_only=True)
class Files:
    """The files that could be read, and the problems of the others."""

    runs: Runs | None
    judgments: Judgments | None
    gold: Judgments | None
    listings: tuple[Listing, ...]
    checks: tuple[Check, ...]
    unread: frozenset[str]  # kinds without a readable file


def read_files(sources: Sources, depth: int | None) -> Files:
    """Read all that can be read."""
    scale = sources.grades[0] if sources.grades[1] is None else sources.grades[1]
    runs = _read(sources.runs, Runs, read_runs)
    judgments = _read(
        sources.judgments,
        Judgments,
        lambda given: read_judgments(
            given, grades=sources.grades[0], columns=sources.columns[0], repeats=sources.repeats
        ),
    )
    gold = _read(
        sources.gold,
        Judgments,
        lambda given: read_gold(given, grades=scale, columns=sources.columns[1], repeats=sources.repeats),
    )
    found: dict[str, _Part[Runs] | _Part[Judgments]] = {"runs": runs, "judgments": judgments, "gold": gold}
    problems = [problem for part in found.values() for problem in part.problems]
    rest = GO_ON if any(part.value is not None for part in found.values()) else ""
    checks = [fail("files.unread", problem, rest) for problem in problems]
    read = [
        f"{name} ({counted(len(part.names), 'file')})" if part.names else name
        for name, part in found.items()
        if part.value is not None
    ]
    if read:
        checks.insert(0, ok("files.read", f"read: {', '.join(read)}"))
    return Files(
        runs=runs.value,
        judgments=judgments.value,
        gold=gold.value,
        listings=tuple(read_listing(Source(name), depth) for name in runs.names if name != STREAM),
        checks=tuple(checks),
        unread=frozenset(name for name, part in found.items() if part.value is None and part.problems),
    )


@dataclass(frozen=True, eq=False)
class _Part(Generic[Read]):
    """One kind of input: its value, its files, and the problems of other files."""

    value: Read | None = None
    names: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def _read(given: object, kind: type[Read], read: Callable[..., Read]) -> _Part[Read]:
    if given is None or isinstance(given, kind):
        return _Part(given)
    if not _are_paths(given):
        try:
            return _Part(read(given))
        except KaratageError as problem:
            return _Part(problems=(f"{problem}",))
    names, problems = _expand(given)
    try:
        return _Part(read(names) if names else None, tuple(names), tuple(problems))
    except KaratageError as problem:
        if len(names) == 1:
            return _Part(problems=(*problems, f"{problem}"))
    good = []
    for name in names:
        try:
            if name == STREAM:
                raise InputFileError("standard input", None, "can be read only once; save it to a file to check it")
            read([name])
        except KaratageError as problem:
            problems.append(f"{problem}")
        else:
            good.append(name)
    return _join(good, problems, read)


def _are_paths(given: object) -> bool:
    parts = given if isinstance(given, list | tuple) else [given]
    return all(isinstance(path, str | os.PathLike) for path in parts)


def _expand(given: object) -> tuple[list[str], list[str]]:
    """The files of paths, and the problems of paths without files."""
    names, problems = [], []
    for path in given if isinstance(given, list | tuple) else [given]:
        try:
            names += [source.path for source in expand(path)]
        except KaratageError as problem:
            problems.append(f"{problem}")
    return list(dict.fromkeys(names)), problems


def _join(names: list[str], problems: list[str], read: Callable[[list[str]], Read]) -> _Part[Read]:
    """Valid files may contradict each other: the first one that contradicts those before it is left out."""
    while names:
        try:
            return _Part(read(names), tuple(names), tuple(problems))
        except KaratageError as problem:
            problems = [*problems, f"{problem}"]
        fine, bad = 1, len(names)
        while bad - fine > 1:
            middle = (fine + bad) // 2
            fine, bad = (middle, bad) if _reads(names[:middle], read) else (fine, middle)
        names = names[: bad - 1] + names[bad:]
    return _Part(problems=tuple(problems))


def _reads(names: list[str], read: Callable[[list[str]], object]) -> bool:
    try:
        read(names)
    except KaratageError:
        return False
    return True


@dataclass(frozen=True, eq=False, kw_only=True)
class Checkup(Files):
    """The data that could be read, and the question."""

    material: Material | None  # all three, if there are runs and judgments
    question: Question
    pair: tuple[str, str] | None
    cases: dict[str, Case] = field(default_factory=dict)  # by measure

    def lack(self, kind: str) -> str:
        """Why a kind of data is missing."""
        return f"no {kind} could be read" if kind in self.unread else f"there {_BE[kind]} no {kind}"

    @property
    def depth(self) -> int | None:
        """Ranks that count; None: all of them."""
        return self.question.parsed.cutoff

    @cached_property
    def alignment(self) -> Alignment | None:
        """Runs over judged topics; None where one of both is missing, or they have no topic in common."""
        if self.material is None:
            return None
        try:
            return self.material.alignment
        except DataError:
            return None

    @cached_property
    def meets(self) -> bool:
        """Whether some retrieved document was judged."""
        return self.alignment is not None and bool((self.alignment.ranked >= 0).any())

    @cached_property
    def known(self) -> GradeArray:
        """Gold's grade of each judged item, -1 = none."""
        assert self.judgments is not None
        if self.gold is None or self.gold.has_topics != self.judgments.has_topics:
            return np.full(len(self.judgments.item_topic), -1, np.int8)
        if self.material is not None:
            return self.material.known
        return match_gold(self.judgments, self.gold)

    @cached_property
    def panel(self) -> Panel:
        """The judges and gold, item by item."""
        assert self.judgments is not None
        return Panel.of(self.judgments, self.known)

    @property
    def shared(self) -> BoolArray:
        """Judged items with gold."""
        assert self.judgments is not None
        return np.asarray((self.known >= 0) & (np.diff(self.judgments.row_start) > 0))


@dataclass(frozen=True)
class Words:
    """The parts of suggested commands, with placeholders for data that are not files."""

    runs: tuple[str, ...]
    judgments: tuple[str, ...]
    gold: tuple[str, ...]
    reading: tuple[str, ...]  # options for reading files
    pair: tuple[str, ...]

    @staticmethod
    def of(sources: Sources, pair: tuple[str, str] | None) -> Words:
        """As they were given."""
        grades, columns = sources.grades, sources.columns
        options = {
            "--grades": grades[0],
            "--gold-grades": grades[1],
            "--columns": _write_columns(columns[0]),
            "--gold-columns": _write_columns(columns[1]),
            "--repeats": sources.repeats,
        }
        return Words(
            runs=_name(sources.runs, "runs"),
            judgments=_name(sources.judgments, "judgments"),
            gold=_name(sources.gold, "gold"),
            reading=tuple(part for name, value in options.items() if value for part in (name, value)),
            pair=() if pair is None else ("--a", pair[0], "--b", pair[1]),
        )

    def ask(self, verb: str, *options: str, gold: bool = True) -> str:
        """A command about runs."""
        judgments, trusted = _repeat("-j", self.judgments), _repeat("-g", self.gold) if gold else []
        return shlex.join(["karatage", verb, *self.runs, *judgments, *trusted, *options, *self.reading])

    def audit(self) -> str:
        """The command about judges."""
        return shlex.join(["karatage", "audit", *self.judgments, *_repeat("-g", self.gold), *self.reading])


def _name(given: object, kind: str) -> tuple[str, ...]:
    if given is None:
        return ()
    parts = given if isinstance(given, list | tuple) else [given]
    paths = [os.fspath(part) for part in parts if isinstance(part, str | os.PathLike)]
    return tuple(paths) if len(paths) == len(parts) else (STAND_INS[kind],)


def _write_columns(columns: Mapping[str, str] | None) -> str | None:
    return None if columns is None else ",".join(f"{role}={name}" for role, name in columns.items())


def _repeat(option: str, values: Sequence[str]) -> list[str]:
    return [part for value in values for part in (option, value)]
