"""Made-up crowds for the models with a latent scale."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from karatage.data.judgments import Judgments

Row = tuple[int, int, int]  # judge, item, grade


def rows(top_grade: int, judges: int = 5, items: int = 6, least: int = 1) -> st.SearchStrategy[list[Row]]:
    """Some judge may have graded an item several times, some item may have no grade."""
    row = st.tuples(st.integers(0, judges - 1), st.integers(0, items - 1), st.integers(0, top_grade))
    return st.lists(row, min_size=least, max_size=40)


def crowd(given: list[Row] | np.ndarray, top_grade: int | None = None) -> Judgments:
    judge, item, grade = np.array(given, dtype=np.int64).T
    return Judgments.from_codes(judge=judge, item=item, grade=grade, top_grade=top_grade)


def gold_of(grades: dict[int, int]) -> Judgments:
    """Gold by item number."""
    return crowd([(0, item, grade) for item, grade in grades.items()])


def pairs(judges: int, items: int, per_item: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """`per_item` different judges for every item."""
    judge = np.argsort(rng.random((items, judges)), axis=1)[:, :per_item]
    return judge.ravel(), np.repeat(np.arange(items), per_item)


def assert_never_falls(trace: np.ndarray) -> None:
    assert (np.diff(trace) >= -1e-9 * (1 + np.abs(trace[1:]))).all(), trace


def slopes(function, at: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Central differences of a function of a vector, or of the vector that it returns (then the diagonal)."""
    out = np.empty(len(at))
    for k in range(len(at)):
        up, down = at.copy(), at.copy()
        up[k] += step
        down[k] -= step
        change = np.asarray(function(up)) - np.asarray(function(down))
        out[k] = (change if change.ndim == 0 else change[k]) / (2 * step)
    return out
