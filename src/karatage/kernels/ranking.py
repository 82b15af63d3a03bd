"""Measures as loops over ranks: of grades, and of their probabilities."""

from __future__ import annotations

import numpy as np

from karatage.kernels.compiling import FloatArray, GradeArray, IntArray, kernel

NEGLIGIBLE = 1e-20  # chances below this are left out; their sum is less than rounding


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
    """The result of `sum_gains` for the best possible ranking; `count` (level, judge) counts items from that level on.

    The order of the additions is the same, so that a perfect ranking scores exactly 1.
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
    """Relevant documents among the first R, where R = `count` differs between judges."""
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


@kernel
def sum_items(chance: FloatArray, out: FloatArray) -> None:
    """Sum over items, for each set; in the same order however many sets there are."""
    for i in range(chance.shape[0]):
        for j in range(chance.shape[1]):
            out[j] += chance[i, j]


@kernel
def sum_expected_gains(ranked: IntArray, gain: FloatArray, weight: FloatArray, out: FloatArray) -> None:
    """Sum of weight x expected gain along ranks."""
    depth = min(ranked.shape[1], weight.size)
    for s in range(ranked.shape[0]):
        total = out[s]
        for n in range(depth):
            i = ranked[s, n]
            if i < 0:
                continue
            row = gain[i]
            share = weight[n]
            for j in range(total.size):
                total[j] += share * row[j]


@kernel
def sum_expected_precisions(ranked: IntArray, chance: FloatArray, depth: int, out: FloatArray) -> None:
    """Expected sum of the precisions at the ranks of relevant documents: p_n (1 + sum of p above) / n."""
    sets = chance.shape[1]
    hits = np.empty(sets)
    for s in range(ranked.shape[0]):
        hits[:] = 1.0
        total = out[s]
        for n in range(min(ranked.shape[1], depth)):
            i = ranked[s, n]
            if i < 0:
                continue
            row = chance[i]
            share = 1.0 / (n + 1)
            for j in range(sets):
                total[j] += row[j] * hits[j] * share
                hits[j] += row[j]


@kernel
def sum_expected_cascade(ranked: IntArray, stop: FloatArray, depth: int, out: FloatArray) -> None:
    """Expected reciprocal of the rank at which a reader stops, who stops at an item with chance `stop` (item, set)."""
    sets = stop.shape[1]
    going = np.empty(sets)
    for s in range(ranked.shape[0]):
        going[:] = 1.0
        total = out[s]
        for n in range(min(ranked.shape[1], depth)):
            i = ranked[s, n]
            if i < 0:
                continue
            row = stop[i]
            share = 1.0 / (n + 1)
            for j in range(sets):
                stops = going[j] * row[j]
                total[j] += stops * share
                going[j] -= stops


@kernel
def add_ideal_gains(chance: FloatArray, step: float, weight: FloatArray, out: FloatArray) -> None:
    """Add step x the sum over ranks n of weight x P(at least n items of the pool count), for each set.

    `chance` (item, set) is that of an item to count. One more item that counts with chance p
    changes P(at least n) to (1 - p) P(at least n) + p P(at least n - 1). Nothing beyond the last rank is needed.
    """
    depth = weight.size
    at_least = np.empty(depth + 1)
    for j in range(chance.shape[1]):
        at_least[:] = 0.0
        at_least[0] = 1.0
        high = 0
        for i in range(chance.shape[0]):
            p = chance[i, j]
            # Chances that become ever smaller would underflow, and such numbers are slow.
            if high < depth and (high == 0 or p * at_least[high] > NEGLIGIBLE):
                high += 1
            for n in range(high, 0, -1):
                at_least[n] += p * (at_least[n - 1] - at_least[n])
        for n in range(high):
            out[j] += step * weight[n] * at_least[n + 1]


@kernel
def climb_precisions(ranked: IntArray, gain: FloatArray, value: FloatArray, slope: FloatArray) -> None:
    """Sum of precisions (topic, system) for gains that need not be 0 or 1, and its derivatives (item, system).

    A gain counts 1/rank times itself and the gains above. `ranked` (topic, system, rank) are items, negative = none.
    """
    for t in range(ranked.shape[0]):
        for s in range(ranked.shape[1]):
            above = 0.0
            for n in range(ranked.shape[2]):
                i = ranked[t, s, n]
                if i >= 0:
                    slope[i, s] = (1.0 + above) / (n + 1)
                    value[t, s] += gain[i] * slope[i, s]
                    above += gain[i]
            below = 0.0
            for n in range(ranked.shape[2] - 1, -1, -1):
                i = ranked[t, s, n]
                if i >= 0:
                    slope[i, s] += below
                    below += gain[i] / (n + 1)


@kernel
def climb_cascade(ranked: IntArray, gain: FloatArray, value: FloatArray, slope: FloatArray) -> None:
    """The mean reciprocal rank (topic, system) at which a reader stops, with chance `gain`, and its derivatives."""
    for t in range(ranked.shape[0]):
        for s in range(ranked.shape[1]):
            rest = 0.0  # what is to come, for a reader who gets there
            for n in range(ranked.shape[2] - 1, -1, -1):
                i = ranked[t, s, n]
                if i >= 0:
                    slope[i, s] = 1.0 / (n + 1) - rest
                    rest += gain[i] * slope[i, s]
            value[t, s] = rest
            going = 1.0
            for n in range(ranked.shape[2]):
                i = ranked[t, s, n]
                if i >= 0:
                    slope[i, s] *= going
                    going *= 1.0 - gain[i]
