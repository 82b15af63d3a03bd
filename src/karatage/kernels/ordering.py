"""Sorting and grouping by counting; pairs within groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import FloatArray, IntArray, LongArray, kernel

LONG = 64  # rows of one item beyond which insertion is too slow to sort them


@kernel
def fill_slots(order: LongArray, start: LongArray, item: IntArray, limit: LongArray, items: int) -> IntArray:
    """The slot of each row, so that no item is twice in a slot.

    Groups of rows `order[start[g]:start[g+1]]`, whose items differ, are placed one after the other. Each goes to the
    slot below `limit[g]` that is free for most of its items, the first of equals. Its rows whose place is taken are
    placed likewise. An item must not have more rows than its groups have slots.
    """
    taken = np.zeros((items, limit.max()), np.bool_)
    slot = np.full(item.size, -1, np.int32)
    for g in range(start.size - 1):
        left = start[g + 1] - start[g]
        while left > 0:
            best, most = 0, 0
            for s in range(limit[g]):
                free = 0
                for at in range(start[g], start[g + 1]):
                    row = order[at]
                    free += slot[row] < 0 and not taken[item[row], s]
                if free > most:
                    best, most = s, free
                if free == left:
                    break
            for at in range(start[g], start[g + 1]):
                row = order[at]
                if slot[row] < 0 and not taken[item[row], best]:
                    slot[row] = best
                    taken[item[row], best] = True
            left -= most
    return slot


@kernel
def sum_pair_products(order: LongArray, start: LongArray, kind: LongArray, factor: FloatArray, out: FloatArray) -> None:
    """Add to `out` (term,) the products of two rows' factors, over all pairs of rows in the same group.

    Rows of group g are `order[start[g]:start[g+1]]`, and row r has the factors `factor[kind[r]]` (kind, term).
    """
    terms = factor.shape[1]
    for g in range(len(start) - 1):
        for t in range(terms):
            whole, square = 0.0, 0.0
            for k in range(start[g], start[g + 1]):
                value = factor[kind[order[k]], t]
                whole += value
                square += value * value
            out[t] += (whole * whole - square) / 2


@kernel
def group_rows(group: LongArray, groups: int) -> tuple[LongArray, LongArray]:
    """Counting sort: `order` lists rows by group, stable; group g stands at `start[g]:start[g+1]`."""
    start = np.zeros(groups + 1, np.int64)
    for row in range(group.size):
        start[group[row] + 1] += 1
    for g in range(groups):
        start[g + 1] += start[g]
    at = start[:-1].copy()
    order = np.empty(group.size, np.int64)
    for row in range(group.size):
        order[at[group[row]]] = row
        at[group[row]] += 1
    return order, start


def sort_rows(
    judge: IntArray, item: IntArray, grade: NDArray[np.int8], items: int
) -> tuple[LongArray, IntArray, NDArray[np.int8]]:
    """Rows by item, then judge, stable: where each item's rows start, and the other two columns in that order."""
    start, judge, grade = _group_by_item(judge, item, grade, items)
    for i in np.flatnonzero(np.diff(start) > LONG):
        rows = slice(start[i], start[i + 1])
        order = np.argsort(judge[rows], kind="stable")
        judge[rows], grade[rows] = judge[rows][order], grade[rows][order]
    _sort_short(start, judge, grade)
    return start, judge, grade


@kernel
def count_starts(item: IntArray, items: int) -> LongArray:
    """Where each item's rows start once they are sorted by item; the last entry is their number."""
    start = np.zeros(items + 1, np.int64)
    for row in range(item.size):
        start[item[row] + 1] += 1
    for i in range(items):
        start[i + 1] += start[i]
    return start


@kernel
def _group_by_item(
    judge: IntArray, item: IntArray, grade: NDArray[np.int8], items: int
) -> tuple[LongArray, IntArray, NDArray[np.int8]]:
    start = count_starts(item, items)
    own_judge = np.empty_like(judge)
    own_grade = np.empty_like(grade)
    for row in range(item.size):
        at = start[item[row]]
        own_judge[at] = judge[row]
        own_grade[at] = grade[row]
        start[item[row]] += 1
    for i in range(items, 0, -1):
        start[i] = start[i - 1]
    start[0] = 0
    return start, own_judge, own_grade


@kernel
def _sort_short(start: LongArray, judge: IntArray, grade: NDArray[np.int8]) -> None:
    """Insertion sort by judge of the items with few rows."""
    for i in range(start.size - 1):
        if start[i + 1] - start[i] > LONG:
            continue
        for at in range(start[i] + 1, start[i + 1]):
            who, said = judge[at], grade[at]
            to = at
            while to > start[i] and judge[to - 1] > who:
                judge[to], grade[to] = judge[to - 1], grade[to - 1]
                to -= 1
            judge[to], grade[to] = who, said


@kernel
def find_repeat(order: LongArray, start: LongArray, code: IntArray, codes: int) -> int:
    """The first row whose `code` occurs earlier in its group, or -1."""
    seen = np.full(codes, -1, np.int64)
    first = -1
    for g in range(start.size - 1):
        for at in range(start[g], start[g + 1]):
            row = order[at]
            if seen[code[row]] == g and (first < 0 or row < first):
                first = row
            seen[code[row]] = g
    return first


@kernel
def sort_nearly(
    order: LongArray, start: LongArray, score: NDArray[np.float32], code: IntArray, left: NDArray[np.bool_]
) -> None:
    """Order each group by score descending, ties by code descending, by insertion, as runs are nearly sorted.

    A group that needs more than a few moves per row is marked in `left`, to be sorted otherwise.
    """
    for g in range(start.size - 1):
        moves = 8 * (start[g + 1] - start[g])
        for at in range(start[g] + 1, start[g + 1]):
            row = order[at]
            to = at
            while to > start[g]:
                above = order[to - 1]
                if score[above] > score[row] or (score[above] == score[row] and code[above] > code[row]):
                    break
                order[to] = above
                to -= 1
            order[to] = row
            moves -= at - to
            if moves < 0:
                left[g] = True
                break


@kernel
def place_items(
    list_start: LongArray,
    listed: IntArray,
    document_of_run: IntArray,
    item_start: LongArray,
    item_document: IntArray,
    documents: int,
    ranked: IntArray,
) -> None:
    """Fill `ranked` (topic, system, rank) with item numbers, -1 where a document was not judged.

    `list_start` (topic, system, 2) bounds a ranking in `listed`; `document_of_run` translates its documents
    to those of the items (-1 = unknown); items of topic t are `item_start[t]:item_start[t+1]`.
    """
    item_of = np.full(documents, -1, np.int32)
    for t in range(ranked.shape[0]):
        for i in range(item_start[t], item_start[t + 1]):
            item_of[item_document[i]] = i
        for s in range(ranked.shape[1]):
            low = list_start[t, s, 0]
            for n in range(list_start[t, s, 1] - low):
                document = document_of_run[listed[low + n]]
                ranked[t, s, n] = item_of[document] if document >= 0 else -1
        for i in range(item_start[t], item_start[t + 1]):
            item_of[item_document[i]] = -1
