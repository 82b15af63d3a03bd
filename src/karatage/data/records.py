"""Judges' records: what earlier studies with gold showed about a judge's errors and bias."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Final, NamedTuple

import numpy as np

from karatage.data.axes import FloatArray, LongArray, freeze
from karatage.data.checks import require_numbers, require_ordered
from karatage.errors import DataError
from karatage.text import shorten

GRID: Final[FloatArray] = np.geomspace(0.002, 1.5, 67)  # of spreads, as shares of the standard deviation of gains
freeze(GRID)
MOST: Final = 10**12  # labels, so that sums over studies are exact
GRADES: Final = 5  # from 0, whose gains tell measures apart


@dataclass(frozen=True, kw_only=True)
class Study:
    """What one study with gold showed about a judge, or about judges merged in one way."""

    judge: str  # judge:NAME, or a merge with the number of judges and a hash of their names
    collection: str  # a hash of its judged topics and of the documents that systems ranked first
    measure: str
    gains: tuple[float, ...]  # of the first grades: the bias is known for measures with these gains
    date: str  # YYYY-MM-DD
    labels: int  # of gold
    topics: int
    systems: int
    unexplained: float  # share of the variance of gold's gains that the judge's grades leave
    confusion: tuple[tuple[int, ...], ...]  # (gold, said) numbers of gold items that the judge graded
    likelihood: tuple[float, ...]  # log-likelihood of the spreads of `GRID`, 0 at its maximum

    def __post_init__(self) -> None:
        """Refuse entries that are impossible or contradict each other."""
        for name in ("judge", "collection", "measure"):
            if not getattr(self, name):
                raise DataError(f"{name} is empty")
        try:
            date.fromisoformat(self.date)
        except ValueError:
            raise DataError(f"date is '{shorten(self.date)}', not a day such as 2026-01-31") from None
        if len(self.gains) != GRADES:
            raise DataError(f"gains has {len(self.gains)} entries, not {GRADES}")
        require_numbers("gains", self.gains)
        require_ordered("gains", self.gains[:-1], self.gains[1:], self.gains[1:])
        require_numbers("labels, topics or systems", (self.labels, self.topics, self.systems), 1, MOST)
        require_numbers("unexplained", self.unexplained, 0, 1)
        if len({len(self.confusion), *map(len, self.confusion)}) != 1 or not self.confusion:
            raise DataError("confusion does not have one row and one column for each grade")
        items = sum(map(sum, self.confusion))
        if items > self.labels:
            raise DataError(f"confusion has {items:,} items, and there are {self.labels:,} labels")
        if len(self.likelihood) != len(GRID):
            raise DataError(f"likelihood has {len(self.likelihood)} entries, not {len(GRID)}")
        require_numbers("likelihood", self.likelihood, high=0)
        require_numbers("the maximum of likelihood", max(self.likelihood), 0, 0)

    @property
    def counts(self) -> LongArray:
        """The confusion as an array (gold, said)."""
        return np.array(self.confusion, np.int64)

    @property
    def key(self) -> tuple[str, str, tuple[float, ...]]:
        """Of several studies with the same key, only one counts."""
        return self.judge, self.collection, self.gains

    @property
    def order(self) -> tuple[object, ...]:
        """Of several studies with the same key, the last in this order counts: more gold, then a later date."""
        rest = (self.measure, self.topics, self.systems, self.unexplained, self.confusion, self.likelihood)
        return (self.labels, self.date, *rest)


@dataclass(frozen=True, kw_only=True)
class StudyRecord:
    """Studies of any number of judges, each collection once."""

    studies: tuple[Study, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a study that is there twice, and sort the others."""
        seen: set[object] = set()
        for number, study in enumerate(self.studies, 1):
            if study.key in seen:
                raise DataError(f"study {number} is of a judge, collection and gains that an earlier study has")
            seen.add(study.key)
        object.__setattr__(self, "studies", tuple(sorted(self.studies, key=lambda study: (study.key, study.order))))

    def merge(self, studies: Iterable[Study]) -> StudyRecord:
        """The same with more studies; the result does not depend on the order in which studies are added."""
        found: dict[object, Study] = {}
        for study in sorted((*self.studies, *studies), key=lambda study: study.order):
            found[study.key] = study
        return StudyRecord(studies=tuple(found.values()))

    def select(self, judge: str) -> tuple[Study, ...]:
        """The studies of a judge."""
        return tuple(study for study in self.studies if study.judge == judge)


class Remembered(NamedTuple):
    """A judge's earlier studies by measures with the same gains, and what gold shows now."""

    judge: str
    measure: str  # of the last study
    studies: int
    labels: int
    first: str  # date
    last: str
    accuracy: float | None  # share of gold items given gold's grade then
    accuracy_now: float | None
    unexplained: float
    bias: float  # standard deviation for a unit of weight on different documents, as a share of that of gains
    change: str | None  # how the judge or the collection differs now

    def check(self) -> None:
        """Refuse impossible numbers."""
        require_numbers("record: studies, labels", (self.studies, self.labels), 1)
        shares = [x for x in (self.accuracy, self.accuracy_now, self.unexplained) if x is not None]
        require_numbers("record: shares", shares, 0, 1)
        require_numbers("record: bias", self.bias, 0)
