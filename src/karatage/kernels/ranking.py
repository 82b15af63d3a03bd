"""Measures of rankings under a block of judges at once.

All kernels share one layout. `ranked` (system, rank) holds item numbers, negative = outside the pool;
`grade` (item, judge) holds int8 grades with judges contiguous, -1 = not judged, so that the innermost loop
runs over judges and vectorises; `out` (system, judge) receives the sums. Ranks beyond an array's end count
nothing. `count` (judge,) is a number of items of the judge's own pool.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import kernel

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
GradeArray = NDArray[np.int8]


@kernel
def scatter_grades(item: IntArray, column: IntArray, grade: GradeArray, low: int, high: int, out: GradeArray) -> None:
    """Write sparse grades of the judges in columns `low` to `high` into the dense `out` (item, judge)."""
    for row in range(item.size):
        at = column[row]
        if low <= at < high:
            out[item[row], at - low] = grade[row]


@kernel
def count_at_least(grade: GradeArray, level: int, out: FloatArray) -> None:
    """Number of items with a grade of at least `level`, per judge."""
    for i in range(grade.shape[0]):
        for j in range(grade.shape[1]):
            if grade[i, j] >= level:
                out[j] += 1.0


@kernel
def sum_gains(
    ranked: IntArray,
    grade: GradeArray,
    level: IntArray,
    step: FloatArray,
    weight: FloatArray,
    out: FloatArray,
) -> None:
    """Sum of weight x gain along ranks, where gain = sum of the `step`s whose `level` the grade reaches."""
    depth = min(ranked.shape[1], weight.size)
    for s in range(ranked.shape[0]):
        total = out[s]
        for n in range(depth):
            i = ranked[s, n]
            if i < 0:
                continue
            row = grade[i]
            for k in range(level.size):
                reached = level[k]
                gain = weight[n] * step[k]
                for j in range(total.size):
                    total[j] += gain if row[j] >= reached else 0.0


@kernel
def sum_ideal_gains(count: FloatArray, step: FloatArray, weight: FloatArray, out: FloatArray) -> None:
    """What `sum_gains` gives for the best possible ranking; `count` (level, judge) holds items at least so good.

    The additions run in the same order as there, so that a perfect ranking scores exactly 1.
    """
    for n in range(weight.size):
        found = False
        for k in range(step.size):
            gain = weight[n] * step[k]
            for j in range(out.size):
                if n < count[k, j]:
                    out[j] += gain
                    found = True
        if not found:
            return


@kernel
def sum_precisions(ranked: IntArray, grade: GradeArray, level: int, depth: int, out: FloatArray) -> None:
    """Sum of the precisions at the ranks of relevant documents."""
    judges = grade.shape[1]
    hits = np.empty(judges)
    for s in range(ranked.shape[0]):
        hits[:] = 0.0
        total = out[s]
        for n in range(min(ranked.shape[1], depth)):
            i = ranked[s, n]
            if i < 0:
                continue
            row = grade[i]
            share = 1.0 / (n + 1)
            for j in range(judges):
                hit = 1.0 if row[j] >= level else 0.0
                hits[j] += hit
                total[j] += hit * hits[j] * share


@kernel
def sum_r_precision_hits(ranked: IntArray, grade: GradeArray, level: int, count: FloatArray, out: FloatArray) -> None:
    """Relevant documents among the first R, where R = `count` is each judge's own."""
    deepest = min(ranked.shape[1], int(count.max()))
    for s in range(ranked.shape[0]):
        total = out[s]
        for n in range(deepest):
            i = ranked[s, n]
            if i < 0:
                continue
            row = grade[i]
            for j in range(total.size):
                if row[j] >= level and n < count[j]:
                    total[j] += 1.0


@kernel
def find_first_relevant(ranked: IntArray, grade: GradeArray, level: int, depth: int, out: FloatArray) -> None:
    """Reciprocal of the first relevant document's rank, 0 when there is none."""
    for s in range(ranked.shape[0]):
        first = out[s]
        for n in range(min(ranked.shape[1], depth)):
            i = ranked[s, n]
            if i < 0:
                continue
            row = grade[i]
            share = 1.0 / (n + 1)
            for j in range(first.size):
                if row[j] >= level and first[j] == 0.0:
                    first[j] = share


@kernel
def sum_cascade(ranked: IntArray, grade: GradeArray, stop: FloatArray, depth: int, out: FloatArray) -> None:
    """Expected reciprocal rank at which a reader stops; `stop` (grade + 1,) starts with the unjudged."""
    judges = grade.shape[1]
    going = np.empty(judges)
    for s in range(ranked.shape[0]):
        going[:] = 1.0
        total = out[s]
        for n in range(min(ranked.shape[1], depth)):
            i = ranked[s, n]
            if i < 0:
                continue
            row = grade[i]
            share = 1.0 / (n + 1)
            for j in range(judges):
                stops = going[j] * stop[row[j] + 1]
                total[j] += stops * share
                going[j] -= stops


@kernel
def sum_preferences(
    ranked: IntArray, grade: GradeArray, level: int, relevant: FloatArray, bound: FloatArray, out: FloatArray
) -> None:
    """trec_eval's Bpref before division by R; `bound` = min(R, N), at least 1.

    A relevant document counts 1 - min(judged non-relevant above it, R) / bound.
    """
    judges = grade.shape[1]
    above = np.empty(judges)
    share = 1.0 / bound
    for s in range(ranked.shape[0]):
        above[:] = 0.0
        total = out[s]
        for n in range(ranked.shape[1]):
            i = ranked[s, n]
            if i < 0:
                continue
            row = grade[i]
            for j in range(judges):
                credit = 1.0 - min(above[j], relevant[j]) * share[j]
                total[j] += credit if row[j] >= level else 0.0
                above[j] += 1.0 if (row[j] >= 0) & (row[j] < level) else 0.0
