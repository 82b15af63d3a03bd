"""Data sets of the SQUARE benchmark: many judges' grades, gold for some of the items, and folds of these."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from karatage.data.axes import BoolArray, GradeArray, IntArray, LongArray, freeze
from karatage.data.judgments import Judgments, match_gold
from karatage.data.note import Note
from karatage.data.options import Repeats
from karatage.errors import DataError, InputFileError, KaratageError, OptionError, UnknownNameError
from karatage.experiments.notes import tell
from karatage.experiments.square.plan import Folds
from karatage.io.files import PathLike
from karatage.io.judgments import GOLD, GradeMap, read_gold, read_judgments
from karatage.text import counted, list_names, shorten

# How the names of tables in a folder begin; `responses` is SQUARE's name.
JUDGMENT_FILES = ("labels", "judgments", "responses")
GOLD_FILES = ("gold",)
UNSUPERVISED_PARTS = 10
# A name in brackets, alone between commas. It may have a comma itself, but then no =, as grades have.
BRACKETED = re.compile(r"(?:^|,)\s*\[([^,]*|[^=]*?)\]\s*(?=,|$)")


@dataclass(frozen=True, eq=False, kw_only=True)
class DataSet:
    """Judgments, and gold for some of their items. Grades are numbered from 0 without gaps, in order of size."""

    name: str
    judgments: Judgments
    gold: GradeArray  # (item,) -1 where there is none
    scale: tuple[int, ...]  # the grade, as given, of each number
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.gold)

    @staticmethod
    def of(name: str, judgments: Judgments, gold: Judgments) -> DataSet:
        """Align judgments and gold, on the grades that occur in either."""
        told, judgments = judgments.notes, judgments.every
        known = match_gold(judgments, gold)
        if not (known >= 0).any():
            raise DataError("judgments and gold share no item: check that items have the same names in both")
        scale: LongArray = np.union1d(judgments.grade, known[known >= 0]).astype(np.int64)
        if len(scale) < 2:
            scale = np.array([0, max(int(scale[0]), 1)])
        number = np.full(max(int(scale[-1]), judgments.top_grade) + 2, -1, np.int8)
        number[scale] = np.arange(len(scale))
        recoded = replace(judgments, grade=number[judgments.grade], top_grade=len(scale) - 1, notes=())
        return DataSet(
            name=name,
            judgments=recoded,
            gold=number[known],
            scale=tuple(scale.tolist()),
            notes=(*told, *(note.about(GOLD) for note in gold.notes), *_tell_limits(gold, known, scale)),
        )

    @cached_property
    def items(self) -> LongArray:
        """The items that have gold."""
        return np.flatnonzero(self.gold >= 0)

    @property
    def grades(self) -> int:
        """The number of grades."""
        return len(self.scale)

    def only_items(self, kept: BoolArray) -> DataSet:
        """Some items only, and the judges who graded them; on the same scale."""
        return replace(self, judgments=self.judgments.only_items(kept), gold=self.gold[kept])

    def only_gold_items(self) -> DataSet:
        """The items with gold only, as in [SQUARE13]."""
        kept = self.gold >= 0
        made = self.only_items(kept)
        notes = [note for note in self.notes if note.kind != "experiments.gold-partial"]
        left = tell(
            "only-gold-items",
            items=int((~kept).sum()),
            grades=len(self.judgments.grade) - len(made.judgments.grade),
            judges=len(self.judgments.judges) - len(made.judgments.judges),
        )
        return replace(made, notes=(*notes, *([] if kept.all() else [left])))

    @cached_property
    def judges(self) -> pl.DataFrame:
        """One row per judge: items graded, those with gold, and the share of the latter graded as gold says.

        Of repeated grades, each counts an equal part of its item.
        """
        source, names = self.judgments, pl.Series("judge", self.judgments.judges, dtype=pl.String)
        rows = pl.DataFrame({"judge": source.judge, "item": source.item, "gold": self.gold[source.item]})
        right = pl.when(pl.col("gold") >= 0).then(pl.col("gold") == pl.Series(source.grade))
        pairs = rows.with_columns(right=right).group_by("judge", "item").agg(pl.col("right").mean())
        found = (
            pairs.sort("judge", "item")
            .group_by("judge", maintain_order=True)
            .agg(
                pl.len().cast(pl.Int64).alias("items"),
                pl.col("right").count().cast(pl.Int64).alias("gold"),
                pl.col("right").mean().alias("accuracy"),
            )
        )
        return found.with_columns(names.gather(found["judge"]))

    def training_gold(self, items: LongArray) -> Judgments:
        """Gold of some items, for training."""
        return replace(
            self.judgments,
            judges=(GOLD,),
            item_topic=self.judgments.item_topic[items],
            item_document=self.judgments.item_document[items],
            judge=np.zeros(len(items), np.int32),
            item=np.arange(len(items), dtype=np.int32),
            grade=self.gold[items],
            draw=None,
        )

    @cached_property
    def digest(self) -> str:
        """Identifies the content."""
        found, source = hashlib.sha256(), self.judgments
        for names in (source.judges, source.topics, source.documents.to_list(), map(str, self.scale)):
            found.update("\n".join(names).encode() + b"\0")
        arrays: tuple[IntArray | GradeArray, ...] = (source.item_topic, source.item_document, source.judge, source.item)
        for array in (*arrays, source.grade, self.gold):
            found.update(np.ascontiguousarray(array).tobytes() + b"\0")
        return found.hexdigest()


@dataclass(frozen=True, eq=False)
class DataSets:
    """Several data sets, with notes on folders that were left out."""

    members: tuple[DataSet, ...]
    notes: tuple[Note, ...] = ()

    def __iter__(self) -> Iterator[DataSet]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)


@dataclass(frozen=True)
class Scales:
    """What judges' labels and gold's mean: in all data sets, under the name '', and in single ones."""

    judged: Mapping[str, str | GradeMap | None]
    gold: Mapping[str, str | GradeMap | None]

    @staticmethod
    def of(grades: str | GradeMap | None, gold_grades: str | GradeMap | None) -> Scales:
        """As options tell them."""
        return Scales(split_grades(grades), split_grades(gold_grades))

    def find(self, name: str) -> tuple[str | GradeMap | None, str | GradeMap | None]:
        """Those of one data set; where gold has none, judges' are its own."""
        judged = self.judged.get(name, self.judged[""])
        gold = self.gold.get(name, self.gold[""])
        return judged, judged if gold is None else gold

    def check(self, names: Collection[str]) -> None:
        """Refuse names that are not those of data sets."""
        unknown = next((name for name in (*self.judged, *self.gold) if name and name not in names), None)
        if unknown is not None:
            raise UnknownNameError("data set in the grades", unknown, names)


def split_grades(grades: str | GradeMap | None) -> dict[str, str | GradeMap | None]:
    """What follows a name in brackets is for the data set of this name; what precedes the first one, for the others.

    >>> split_grades("0-3,[spam],no=0,yes=1")
    {'': '0-3', 'spam': 'no=0,yes=1'}
    >>> split_grades("[one, two],0-1,[[three]],0-2")
    {'': None, 'one, two': '0-1', '[three]': '0-2'}
    """
    if not isinstance(grades, str):
        return {"": grades}
    everywhere, *rest = BRACKETED.split(grades)
    parts: dict[str, str | GradeMap | None] = {"": everywhere if everywhere or not rest else None}
    for name, found in zip(map(str.strip, rest[::2]), rest[1::2], strict=True):
        told = f"[{shorten(name)}]"
        if name in parts:
            raise OptionError(f"grades: a name in brackets is empty or there twice: '{told}'")
        if found in {"", ","}:
            raise OptionError(f"grades: nothing follows {told}; write e.g. {told},no=0,yes=1")
        parts[name] = found.removeprefix(",")
    return parts


def read_data_sets(
    folders: PathLike | Iterable[PathLike],
    *,
    grades: str | GradeMap | None = None,
    gold_grades: str | GradeMap | None = None,
    columns: Mapping[str, str] | None = None,
    gold_columns: Mapping[str, str] | None = None,
    repeats: Repeats | None = None,
) -> DataSets:
    """Read data sets from folders, each with a table of labels and one of gold.

    Args:
        folders: Folders with a table `labels*`, `judgments*` or `responses*` and a table `gold*`, in any format of
            `read_judgments` and `read_gold`; or folders of such folders, of which unreadable ones are skipped.
        grades: What labels mean: a scale `0-3`, a mapping `no=0,yes=1,broken=drop`, or both. What follows a name in
            brackets, `0-3,[spam],no=0,yes=1`, is for the data set of this name, and replaces what is before it.
        gold_grades: The same for gold; default: as `grades`.
        columns: The columns, if their names are not the usual ones.
        gold_columns: The same for gold.
        repeats: Which grade is used when a judge graded an item more than once; default: every one.
    """
    asked = [folders] if isinstance(folders, str | os.PathLike) else list(folders)
    return read_folders(asked, Scales.of(grades, gold_grades), columns, gold_columns, repeats)


def read_folders(
    folders: Iterable[PathLike],
    scales: Scales,
    columns: Mapping[str, str] | None,
    gold_columns: Mapping[str, str] | None,
    repeats: Repeats | None,
    others: Iterable[str] = (),
) -> DataSets:
    """The same; `others` are names of data sets read elsewhere, which scales may also have."""
    named = [Path(folder) for folder in folders]
    found, notes = _find_folders(named)
    names = {folder: shorten(folder.resolve().name, 80) for folder in found}
    scales.check((*names.values(), *others))
    members = []
    problems: list[DataError] = []
    for folder, (labels, trusted) in found.items():
        try:
            judged, known = scales.find(names[folder])
            judgments = read_judgments(labels, grades=judged, columns=columns, repeats=repeats)
            gold = read_gold(trusted, grades=known, columns=gold_columns)
            members.append(DataSet.of(names[folder], judgments, gold))
        except KaratageError as problem:
            place = "" if isinstance(problem, InputFileError) else f" in {folder}"
            problems.append(DataError(f"data set '{shorten(folder.name)}'{place}: {problem}"))
            if folder in named or len(problems) == len(found):
                raise problems[0] from None
    check_names([member.name for member in members])
    return DataSets(tuple(members), (*notes, *(tell("data-set-broken", problem=str(problem)) for problem in problems)))


def check_names(names: list[str]) -> None:
    """Refuse two data sets of the same name."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise OptionError(f"two data sets are called '{shorten(twice[0])}'; rename a folder")


def _find_folders(asked: list[Path]) -> tuple[dict[Path, tuple[Path, Path]], tuple[Note, ...]]:
    """The tables of each data set; an inner folder without both is skipped, a given one is an error."""
    found: dict[Path, tuple[Path, Path]] = {}
    passed = []
    for folder in asked:
        if not folder.is_dir():
            raise InputFileError(shorten(str(folder), 200), None, "is not a folder; name folders with labels and gold")
        tables = _find_tables(folder)
        if tables is not None:
            found[folder] = tables
            continue
        inner = {child: _find_tables(child) for child in sorted(p for p in folder.iterdir() if p.is_dir())}
        having = {child: tables for child, tables in inner.items() if tables is not None}
        if not having:
            wanted = "a table called labels* (or judgments*, responses*) and one called gold*"
            raise InputFileError(shorten(str(folder), 200), None, f"needs {wanted}, or folders with them")
        found |= having
        passed += [child.name for child in inner if child not in having]
    return found, tell.when(passed, "folders-without-tables", folders=tuple(passed))


def _find_tables(folder: Path) -> tuple[Path, Path] | None:
    judgments, gold = _find_table(folder, JUDGMENT_FILES), _find_table(folder, GOLD_FILES)
    return None if judgments is None or gold is None else (judgments, gold)


def _find_table(folder: Path, names: tuple[str, ...]) -> Path | None:
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as problem:
        raise InputFileError(shorten(str(folder), 200), None, f"cannot be read: {problem.strerror}") from None
    for name in names:
        found = [path for path in files if path.name.lower().startswith(name) and path.suffix != ".md"]
        if len(found) > 1:
            listed = list_names([path.name for path in found])
            raise DataError(f"{folder}: has several tables called {name}*: {listed}; keep one of them there")
        if found:
            return found[0]
    return None


def _tell_limits(gold: Judgments, known: GradeArray, scale: LongArray) -> Iterator[Note]:
    graded, items = int((known >= 0).sum()), len(known)
    lost = len(gold.item_topic) - graded
    yield from tell.when(graded < items, "gold-partial", gold=graded, items=items)
    yield from tell.when(lost, "gold-unjudged", items=lost)
    there = ", ".join(map(str, scale))
    yield from tell.when(scale[-1] != len(scale) - 1, "only-grades", grades=there, count=len(scale))


@dataclass(frozen=True, eq=False)
class Fold:
    """Items for training, items whose prediction is kept, and items that the model does not see."""

    training: LongArray
    kept: LongArray
    hidden: LongArray


def count_parts(amount: int) -> int:
    """The number of parts of gold for which one part, or all except for one, is `amount` percent.

    >>> [count_parts(amount) for amount in (10, 20, 33, 50, 80, 90)]
    [10, 5, 3, 2, 5, 10]
    """
    if not 1 <= amount <= 99:
        raise OptionError(f"an amount of gold is a percentage from 1 to 99, not {amount}")
    share = min(amount, 100 - amount)
    parts = round(100 / share)
    if abs(100 / parts - share) >= 0.5:
        low, high = 100 / (int(100 / share) + 1), 100 / int(100 / share)
        near = " or ".join(f"{round(100 - s if amount > 50 else s)}" for s in (low, high))
        raise OptionError(f"{amount}% is neither one of several equal parts nor all of them except one; use {near}")
    return parts


def make_folds(items: LongArray, amount: int, rng: np.random.Generator, how: Folds = "pooled") -> tuple[Fold, ...]:
    """Folds with `amount` percent of the items for training; 0 for none.

    Pooled, every item is kept by one fold. Up to 50%, each part is the training set of one fold, which keeps the
    predictions for the part before it, as in the files of SQUARE 2.0. Above 50%, each part is kept by the fold that
    trains on all others. Averaged, a fold keeps all items that it does not train on, and without gold each of ten
    folds sees nine of ten parts.
    """
    nothing = np.empty(0, np.int64)
    if not amount and how == "pooled":
        return (Fold(nothing, items, nothing),)
    parts = count_parts(amount) if amount else UNSUPERVISED_PARTS
    if len(items) < parts:
        told = f"{amount}%" if amount else "a mean over folds without gold"
        raise DataError(f"{told} needs {parts} folds, but gold has only {counted(len(items), 'item')}")
    part = [np.sort(piece) for piece in np.array_split(rng.permutation(items), parts)]
    rest = [np.setdiff1d(items, piece) for piece in part]
    if not amount:
        return tuple(Fold(nothing, others, piece) for piece, others in zip(part, rest, strict=True))
    if amount > 50:
        return tuple(Fold(others, piece, nothing) for piece, others in zip(part, rest, strict=True))
    kept = rest if how == "averaged" else [part[k - 1] for k in range(parts)]
    return tuple(Fold(piece, scored, nothing) for piece, scored in zip(part, kept, strict=True))
