from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from karatage.kernels.ordering import find_repeat, group_rows, place_items, sort_nearly

GROUPS = 4
ROWS = st.lists(st.tuples(st.integers(0, GROUPS - 1), st.integers(0, 5), st.integers(0, 2)), max_size=12)


def grouped(rows: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return group_rows(np.array([group for group, _, _ in rows], np.int64), GROUPS)


@given(rows=ROWS)
def test_rows_are_grouped_in_their_order(rows: list[tuple[int, int, int]]) -> None:
    order, start = grouped(rows)
    found = [order[start[g] : start[g + 1]].tolist() for g in range(GROUPS)]
    assert found == [[r for r, row in enumerate(rows) if row[0] == g] for g in range(GROUPS)]


@given(rows=ROWS)
def test_the_first_repeat_is_found(rows: list[tuple[int, int, int]]) -> None:
    pairs = [(group, code) for group, code, _ in rows]
    expected = next((r for r, pair in enumerate(pairs) if pair in pairs[:r]), -1)
    assert find_repeat(*grouped(rows), np.array([code for _, code in pairs], np.int32), 6) == expected


@given(rows=ROWS)
def test_groups_are_sorted_or_left(rows: list[tuple[int, int, int]]) -> None:
    order, start = grouped(rows)
    score = np.array([score for _, _, score in rows], np.float32)
    code = np.array([code for _, code, _ in rows], np.int32)
    left = np.zeros(GROUPS, bool)
    sort_nearly(order, start, score, code, left)
    for g in range(GROUPS):
        keys = [(score[r], code[r]) for r in order[start[g] : start[g + 1]]]
        assert left[g] or keys == sorted(keys, reverse=True)


def test_a_reversed_group_is_left_complete_for_a_proper_sort() -> None:
    size = 100
    order, start = np.arange(size), np.array([0, size])
    left = np.zeros(1, bool)
    sort_nearly(order, start, np.arange(size, dtype=np.float32), np.zeros(size, np.int32), left)
    assert left[0]
    assert sorted(order) == list(range(size))


def test_items_are_placed_by_topic_and_document() -> None:
    """Documents x y z of the runs are 2, unknown and 0 to the judgments; topic 1 has no item for document 2."""
    list_start = np.array([[[0, 3], [3, 4]], [[4, 6], [6, 6]]], np.int64)
    listed = np.array([0, 1, 2, 2, 2, 0], np.int32)
    ranked = np.full((2, 2, 3), -1, np.int32)
    place_items(
        list_start,
        listed,
        np.array([2, -1, 0], np.int32),
        np.array([0, 2, 4], np.int64),
        np.array([0, 2, 0, 1], np.int32),
        3,
        ranked,
    )
    assert ranked.tolist() == [[[1, -1, 0], [0, -1, -1]], [[2, -1, -1], [-1, -1, -1]]]
