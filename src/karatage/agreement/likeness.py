"""Pairs of judges more alike than their habits explain: all are tested, or the likely ones where there are too many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from karatage.agreement.habits import Panel
from karatage.agreement.intervals import adjust
from karatage.agreement.pairs import MOST_FILLED, fits, make_table
from karatage.agreement.rows import Rows
from karatage.agreement.sampling import PairSample, are_few, draw_pairs, find_equal, join
from karatage.data.axes import GradeArray, IntArray
from karatage.kernels.agreement import LEVELS, binomial_uppers, meet_beside, sum_likeness
from karatage.kernels.meeting import meet_chosen_beside
from karatage.random_streams import stream

LEVEL = 0.05  # false discoveries among findings of one kind
ENOUGH = 20  # items, for a judge to be called random or inverted, or a pair a copy
COPIED = 2 / 3  # of the disagreements that two such judges would have are missing
MOST_GRADES = 20  # beyond which tables grow too large
Meeting = tuple[IntArray, IntArray, IntArray]  # of pairs: who, with whom, and their tables


class Likeness(NamedTuple):
    """A pair of judges much alike."""

    first: int
    second: int
    items: int
    alike: int
    expected: float
    p_value: float

    @property
    def missing(self) -> float:
        """The share of expected disagreements that are not there."""
        return (self.alike - self.expected) / (self.items - self.expected)


def can_find_copies(panel: Panel) -> bool:
    """Whether the tables that it needs are small enough."""
    return panel.grades <= MOST_GRADES


def choose_likely(panel: Panel, seed: int) -> PairSample | None:
    """Pairs to test where there are too many, else None: judges with equal grades, and a sample of all pairs."""
    rows, cells = _rows(panel), LEVELS * panel.grades**3
    if not can_find_copies(panel) or (fits(rows, LEVELS * panel.grades) and are_few(rows)):
        return None
    equal = find_equal(rows, ENOUGH, stream(seed, "sketches"))
    return join([equal, draw_pairs(rows, cells, stream(seed, "pairs"))], rows).thin(int(MOST_FILLED // cells))


def count_tests(panel: Panel) -> int:
    """No fewer than there are pairs with enough shared items: those that are not looked at are tests, too."""
    rows = _rows(panel)
    able = int((rows.size >= ENOUGH).sum())
    return int(min(able * (able - 1) // 2, rows.meetings // ENOUGH))


def _rows(panel: Panel) -> Rows:
    kept = panel.judgments
    return Rows(kept.judge, kept.item, kept.grade, kept.row_start, panel.judges, panel.grades)


def compare_copies(panel: Panel, chosen: PairSample | None = None) -> list[Likeness]:
    """Pairs that pass the test, of all or of those chosen."""
    if not can_find_copies(panel):
        return []
    rows, tests = _rows(panel), 0
    count = panel.count_grades().astype(np.int32)
    found, who = [np.empty((0, 3))], [np.empty((0, 2), np.int32)]
    meetings = _meet_every(rows, count, panel.known) if chosen is None else _meet(chosen, rows, count, panel.known)
    for first, second, table in meetings:
        out = np.empty((len(first), 3))
        sum_likeness(table, out)
        tests += int((out[:, 0] >= ENOUGH).sum())
        near = np.flatnonzero((out[:, 0] >= ENOUGH) & (out[:, 1] > (out[:, 0] + out[:, 2]) / 2))
        found.append(out[near])
        who.append(np.stack([first[near], second[near]], axis=1))
    result, pairs = np.concatenate(found), np.concatenate(who)
    items, alike, expected = result.T
    p_value = np.empty(len(result))
    binomial_uppers(alike.astype(np.int64), items.astype(np.int64), (items + expected) / 2 / items, p_value)
    q_value = adjust(p_value, tests if chosen is None else count_tests(panel))
    likely = [
        Likeness(
            int(pairs[n, 0]), int(pairs[n, 1]), int(items[n]), int(alike[n]), float(expected[n]), float(p_value[n])
        )
        for n in np.flatnonzero(q_value <= LEVEL)
    ]
    return [pair for pair in likely if pair.missing >= COPIED]


def _meet_every(rows: Rows, count: IntArray, known: GradeArray) -> Iterator[Meeting]:
    table = make_table(rows, LEVELS * rows.grades)
    slot, partner = np.full(rows.judges, -1, np.int32), np.empty(rows.judges, np.int32)
    for a, own in rows.by_judge():
        pairs = meet_beside(own, rows.start, rows.item, rows.judge, rows.grade, count, known, slot, partner, table)
        yield np.full(pairs, a, np.int32), partner[:pairs], table[:pairs]


def _meet(chosen: PairSample, rows: Rows, count: IntArray, known: GradeArray) -> Iterator[Meeting]:
    strata = LEVELS * rows.grades
    turned, held = rows.turn(), np.full(rows.items, -1, np.int8)
    for part in chosen.blocks(strata * rows.grades**2):
        table = np.empty((len(part), strata, rows.grades, rows.grades), np.int32)
        meet_chosen_beside(part.first, part.second, *turned, count, known, held, table)
        yield np.minimum(part.first, part.second), np.maximum(part.first, part.second), table
