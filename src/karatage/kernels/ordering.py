"""Putting retrieved documents in order, and finding them again among judged items."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import kernel

IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


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


@kernel
def find_repeat(order: LongArray, start: LongArray, code: IntArray, codes: int) -> int:
    """The first row in a group whose `code` already stands earlier in that group, or -1."""
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

    A group that needs more than a few moves per row is left for a proper sort, and marked.
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
