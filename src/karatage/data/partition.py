"""Pseudo-judges, each combined from several people."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from karatage.data.alignment import require_data
from karatage.data.axes import IntArray, LongArray, freeze
from karatage.data.judgments import Judgments
from karatage.data.note import Note, tell
from karatage.errors import DataError
from karatage.kernels.ordering import fill_slots


@dataclass(frozen=True, eq=False, kw_only=True)
class Partition:
    """Judgments by pseudo-judges, and the person who gave each grade."""

    judgments: Judgments
    people: tuple[str, ...]
    person: IntArray  # (row,) of the judgments

    def __post_init__(self) -> None:
        """Protect the array."""
        if self.person.shape != self.judgments.judge.shape:
            raise DataError(f"{len(self.judgments.judge):,} grades have {len(self.person):,} people; give one for each")
        freeze(self.person)

    def to_frame(self) -> pl.DataFrame:
        """One row per judge, topic and person: how many of the grades are the person's, and their share."""
        given = self.judgments
        people = np.int64(len(self.people))
        place = given.judge.astype(np.int64) * len(given.topics) + given.item_topic[given.item]
        key, grades = np.unique(place * people + self.person, return_counts=True)
        place, person = key // people, key % people
        _, piece, total = np.unique(place, return_inverse=True, return_counts=True)
        all_of_place = np.bincount(piece, weights=grades, minlength=len(total))
        return pl.DataFrame(
            {
                "judge": pl.Series(given.judges, dtype=pl.String).gather(place // len(given.topics)),
                "topic": pl.Series(given.topics, dtype=pl.String).gather(place % len(given.topics)),
                "person": pl.Series(self.people, dtype=pl.String).gather(person),
                "grades": grades,
                "share": grades / all_of_place[piece],
            }
        )


def name_pseudo_judges(judges: int) -> tuple[str, ...]:
    """Names of pseudo-judges.

    >>> name_pseudo_judges(2)
    ('pseudo-01', 'pseudo-02')
    """
    width = max(2, len(str(judges)))
    return tuple(f"pseudo-{k + 1:0{width}d}" for k in range(judges))


def assemble_judges(judgments: Judgments) -> Partition:
    """Combine people who each graded some items into as few pseudo-judges as an item has grades.

    In each topic, people are placed in turn: those with most grades in all topics first, and equals in the order of
    their names. Each is placed with the pseudo-judge who lacks most of the items that the person graded in the topic,
    the first of equals. Items that this one already has go to the next best. So a person may be split, but no
    pseudo-judge grades an item twice. A topic has as many pseudo-judges as its most-graded item has grades. If every
    person would be a pseudo-judge alone, as with whole judges, the judgments are not changed.
    """
    require_data(judgments=judgments)
    settled = judgments.settle()
    people, topics = len(settled.judges), len(settled.topics)
    topic = settled.item_topic[settled.item]
    total = np.bincount(settled.judge, minlength=people)
    place_in_line = np.empty(people, np.int64)
    place_in_line[np.argsort(-total, kind="stable")] = np.arange(people)
    turn = place_in_line[settled.judge] * topics + topic
    order = np.argsort(turn, kind="stable")
    first = np.flatnonzero(np.r_[True, np.diff(turn[order]) > 0])
    graded = np.diff(settled.row_start)
    most = np.zeros(topics, np.int64)
    np.maximum.at(most, settled.item_topic, graded)
    start = np.r_[first, len(order)].astype(np.int64)
    slot = fill_slots(order, start, settled.item, most[topic[order[first]]], len(graded))
    slots = int(most.max())
    pairs = np.unique(slot.astype(np.int64) * people + settled.judge)
    if len(pairs) == slots == len(np.unique(settled.judge)):
        return Partition(judgments=settled, people=settled.judges, person=settled.judge)
    order = np.lexsort((slot, settled.item))
    return Partition(
        judgments=replace(
            settled,
            judges=name_pseudo_judges(slots),
            judge=slot[order],
            grade=settled.grade[order],
            draw=None if settled.draw is None else settled.draw.take(order),
            notes=(*settled.notes, *_tell(settled, slot, turn)),
            with_repeats=None,
        ),
        people=settled.judges,
        person=settled.judge[order],
    )


def _tell(settled: Judgments, slot: IntArray, turn: LongArray) -> tuple[Note, ...]:
    slots, places = int(slot.max()) + 1, len(np.unique(turn))
    pieces = np.unique(turn * slots + slot)
    split = int((np.unique(pieces // slots, return_counts=True)[1] > 1).sum())
    return (
        tell("pseudo-judges", people=len(settled.judges), judges=slots, pairs=places, split=split),
        *tell.when(settled.with_repeats is not None, "last-kept"),
    )
