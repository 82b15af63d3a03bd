"""Agreement of judges: loops over grades of the same items."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import FloatArray, GradeArray, IntArray, LongArray, kernel

KeyArray = NDArray[np.uint64]
OFFSET, PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)  # of the hash FNV-1a
LEVELS = 4  # of agreement among the other judges of an item


@kernel
def meet_chosen(
    first: IntArray,
    second: IntArray,
    start: LongArray,
    item: IntArray,
    grade: GradeArray,
    group: IntArray,
    held: GradeArray,
    table: IntArray,
) -> None:
    """Count the grades that two judges gave to the same items, for each pair of `first` and `second`.

    `table` (pair, group of the item, first's grade, second's grade). Rows of judge j are `start[j]:start[j+1]`. `held`
    (item,) is a work array, -1 before and after the call. Order the pairs by `first`: each judge fills it once.
    """
    table[:] = 0
    for n in range(first.size):
        if n == 0 or first[n] != first[n - 1]:
            for row in range(start[first[n]], start[first[n] + 1]):
                held[item[row]] = grade[row]
        for row in range(start[second[n]], start[second[n] + 1]):
            own = held[item[row]]
            if own >= 0:
                table[n, group[item[row]], own, grade[row]] += 1
        if n + 1 == first.size or first[n] != first[n + 1]:
            for row in range(start[first[n]], start[first[n] + 1]):
                held[item[row]] = -1


@kernel
def meet_chosen_beside(
    first: IntArray,
    second: IntArray,
    start: LongArray,
    item: IntArray,
    grade: GradeArray,
    count: IntArray,
    gold: GradeArray,
    held: GradeArray,
    table: IntArray,
) -> None:
    """As `meet_chosen`, in strata by the grades of the other judges, as in `meet_beside`."""
    table[:] = 0
    for n in range(first.size):
        if n == 0 or first[n] != first[n - 1]:
            for row in range(start[first[n]], start[first[n] + 1]):
                held[item[row]] = grade[row]
        for row in range(start[second[n]], start[second[n] + 1]):
            i, own = item[row], held[item[row]]
            if own >= 0:
                stratum = find_stratum(count[i], gold[i], own, grade[row])
                if stratum >= 0:
                    table[n, stratum, own, grade[row]] += 1
        if n + 1 == first.size or first[n] != first[n + 1]:
            for row in range(start[first[n]], start[first[n] + 1]):
                held[item[row]] = -1


@kernel
def sketch_judges(
    order: LongArray, start: LongArray, judge: IntArray, grade: GradeArray, most: int, key: KeyArray, taken: LongArray
) -> None:
    """Hash the first `most` grades of each judge, items in `order`: equal keys are equal grades for the same items.

    Rows of item i are `start[i]:start[i+1]`. `key` and `taken` (judge,): the hash, and how many grades it has.
    """
    key[:], taken[:] = OFFSET, 0
    for i in order:
        for row in range(start[i], start[i + 1]):
            j = judge[row]
            if taken[j] < most:
                key[j] = ((key[j] ^ np.uint64(i)) * PRIME ^ np.uint64(grade[row])) * PRIME
                taken[j] += 1


@kernel
def hear_others(start: LongArray, grade: GradeArray, grades: int, choice: GradeArray, mean: FloatArray) -> None:
    """For each row, the other rows of its item: their most frequent grade (-1 = tied, or none) and their mean.

    Rows of item i are `start[i]:start[i+1]`.
    """
    count = np.zeros(grades, np.int64)
    for i in range(start.size - 1):
        size = start[i + 1] - start[i]
        total = 0
        for row in range(start[i], start[i + 1]):
            count[grade[row]] += 1
            total += grade[row]
        for row in range(start[i], start[i + 1]):
            own = grade[row]
            best, tied = np.int64(0), True
            choice[row] = -1
            for g in range(grades):
                votes = count[g] - (g == own)
                if votes > best:
                    best, tied = votes, False
                    choice[row] = g
                elif votes == best:
                    tied = True
            if tied:
                choice[row] = -1
            mean[row] = (total - own) / (size - 1) if size > 1 else np.nan
        for row in range(start[i], start[i + 1]):
            count[grade[row]] = 0


@kernel
def meet_judges(
    rows: LongArray,
    start: LongArray,
    item: IntArray,
    judge: IntArray,
    grade: GradeArray,
    group: IntArray,
    slot: IntArray,
    partner: IntArray,
    table: IntArray,
) -> int:
    """Count the grades that one judge, whose rows are `rows`, and each later judge gave to the same items.

    `table` (slot, group of the item, own grade, other's grade); `partner[slot]` is the other judge. Returns the number
    of partners. `slot` (judge,) is a work array, -1 before and after the call.
    """
    found = 0
    for n in range(rows.size):
        i = item[rows[n]]
        for other in range(rows[n] + 1, start[i + 1]):
            at = slot[judge[other]]
            if at < 0:
                at = found
                slot[judge[other]] = at
                partner[at] = judge[other]
                table[at] = 0
                found += 1
            table[at, group[i], grade[rows[n]], grade[other]] += 1
    for at in range(found):
        slot[partner[at]] = -1
    return found


@kernel
def meet_beside(
    rows: LongArray,
    start: LongArray,
    item: IntArray,
    judge: IntArray,
    grade: GradeArray,
    count: IntArray,
    gold: GradeArray,
    slot: IntArray,
    partner: IntArray,
    table: IntArray,
) -> int:
    """As `meet_judges`, in strata by the grades of the other judges: `table` (slot, stratum, own grade, other's grade).

    Stratum 4 r + u: r is gold's grade, else the most frequent grade of the other judges; u is how many of them gave r,
    in thirds, 3 if all did. Items with neither gold nor a most frequent grade are left out. `count` (item, grade)
    counts the grades of all judges.
    """
    found = 0
    for n in range(rows.size):
        i, own = item[rows[n]], grade[rows[n]]
        for other in range(rows[n] + 1, start[i + 1]):
            stratum = find_stratum(count[i], gold[i], own, grade[other])
            if stratum < 0:
                continue
            at = slot[judge[other]]
            if at < 0:
                at = found
                slot[judge[other]] = at
                partner[at] = judge[other]
                table[at] = 0
                found += 1
            table[at, stratum, own, grade[other]] += 1
    for at in range(found):
        slot[partner[at]] = -1
    return found


@kernel
def find_stratum(count: IntArray, gold: int, own: int, other: int) -> int:
    """The stratum of an item for two judges who gave it `own` and `other`, as in `meet_beside`; -1 = left out."""
    best, reference, rest = 0, -1, 0
    for g in range(count.size):
        votes = count[g] - (g == own) - (g == other)
        rest += votes
        if votes > best:
            best, reference = votes, g
        elif votes == best:
            reference = -1
    if gold >= 0:
        reference = int(gold)
        best = count[reference] - (reference == own) - (reference == other)
    if reference < 0:
        return -1
    level = 3 * best // rest if rest > 0 else 3
    return LEVELS * reference + level


@kernel
def sum_kappas(table: IntArray, weight: FloatArray, factor: FloatArray, out: FloatArray, share: FloatArray) -> None:
    """Cohen's kappa of each table (slot, group, grade, grade), with disagreement weights (grade, grade).

    `out` (slot, 3): shared items, agreements, kappa. `share` (group + 1, 2) sums kappa times
    items, and items, over all groups and then without each group in turn. Both are multiplied by `factor` (slot,), the
    number of pairs that a pair represents.
    """
    groups, grades = table.shape[1], table.shape[2]
    joint, column = np.empty((grades, grades), np.int64), np.empty(grades)
    for at in range(table.shape[0]):
        joint[:] = 0
        for g in range(groups):
            for a in range(grades):
                for b in range(grades):
                    joint[a, b] += table[at, g, a, b]
        items, full = weigh_table(joint, weight, column)
        out[at, 0], out[at, 1], out[at, 2] = items, 0, full
        for a in range(grades):
            out[at, 1] += joint[a, a]
        _add(share, 0, full, items * factor[at])
        for g in range(groups):
            gone = 0
            for a in range(grades):
                for b in range(grades):
                    gone += table[at, g, a, b]
                    joint[a, b] -= table[at, g, a, b]
            left = weigh_table(joint, weight, column)[1] if gone > 0 else full
            _add(share, g + 1, left, (items - gone) * factor[at])
            if gone > 0:
                for a in range(grades):
                    for b in range(grades):
                        joint[a, b] += table[at, g, a, b]


@kernel
def _add(share: FloatArray, row: int, value: float, weight: float) -> None:
    if value == value:
        share[row, 0] += value * weight
        share[row, 1] += weight


@kernel
def weigh_table(joint: LongArray, weight: FloatArray, column: FloatArray) -> tuple[int, float]:
    """Items, and one minus observed over expected disagreement; NaN where no disagreement can be expected.

    `column` (grade,) is a work array.
    """
    grades = joint.shape[0]
    observed, expected, items = 0.0, 0.0, 0
    column[:] = 0
    for a in range(grades):
        for b in range(grades):
            column[b] += joint[a, b]
            observed += weight[a, b] * joint[a, b]
    for a in range(grades):
        own = 0
        for b in range(grades):
            own += joint[a, b]
        items += own
        if own > 0:
            for b in range(grades):
                expected += weight[a, b] * own * column[b]
    return items, 1 - items * observed / expected if expected > 0 else np.nan


@kernel
def weigh_tables(table: LongArray, weight: FloatArray, out: FloatArray) -> None:
    """The second result of `weigh_table` for many tables, (table, grade, grade)."""
    column = np.empty(table.shape[1])
    for n in range(table.shape[0]):
        out[n] = weigh_table(table[n], weight, column)[1]


@kernel
def sum_correlations(
    table: IntArray, strata: int, least: int, factor: FloatArray, out: FloatArray, share: FloatArray
) -> None:
    """As `sum_kappas`, but Pearson's correlation of yes/no tables, for pairs with at least `least` shared items.

    Group g times `strata` plus s has the items of group g in stratum s. Deviations are from the mean of the stratum.
    """
    groups = table.shape[1] // strata
    full = np.empty((strata, 2, 2), np.int64)
    for at in range(table.shape[0]):
        full[:] = 0
        for g in range(table.shape[1]):
            for a in range(2):
                for b in range(2):
                    full[g % strata, a, b] += table[at, g, a, b]
        for left in range(-1, groups):
            together, one, two, items = 0.0, 0.0, 0.0, 0.0
            for s in range(strata):
                neither, second, first, both = full[s, 0, 0], full[s, 0, 1], full[s, 1, 0], full[s, 1, 1]
                if left >= 0:
                    cell = table[at, left * strata + s]
                    neither, second = neither - cell[0, 0], second - cell[0, 1]
                    first, both = first - cell[1, 0], both - cell[1, 1]
                size = neither + second + first + both
                if size > 0:
                    own, other = float(first + both), float(second + both)
                    together += both - own * other / size
                    one += own * (size - own) / size
                    two += other * (size - other) / size
                    items += size
            value = together / math.sqrt(one * two) if one > 0 and two > 0 else np.nan
            if left < 0:
                out[at, 0], out[at, 1], out[at, 2] = items, 0, value
            if out[at, 0] < least:
                break
            _add(share, left + 1, value, items * factor[at])


@kernel
def sum_likeness(table: IntArray, out: FloatArray) -> None:
    """How often two judges agree, beyond what their separate habits explain, for tables of `meet_beside`.

    `out` (slot, 3): items, agreements, agreements expected if the two were independent within each stratum.
    """
    grades = table.shape[2]
    for at in range(table.shape[0]):
        out[at] = 0
        for s in range(table.shape[1]):
            joint = table[at, s]
            items = joint.sum()
            if items == 0:
                continue
            own, other = joint.sum(axis=1), joint.sum(axis=0)
            out[at, 0] += items
            for g in range(grades):
                out[at, 1] += joint[g, g]
                out[at, 2] += own[g] * other[g] / items


@kernel
def binomial_upper(hits: int, size: int, chance: float) -> float:
    """P(at least `hits` of `size`)."""
    if hits <= 0 or chance >= 1:
        return 1.0
    if chance <= 0:
        return 0.0
    odds = math.log(chance) - math.log1p(-chance)
    first = math.lgamma(size + 1) - math.lgamma(hits + 1) - math.lgamma(size - hits + 1)
    first += hits * odds + size * math.log1p(-chance)
    total, term = 0.0, 1.0
    for x in range(hits, size + 1):
        total += term
        term *= (size - x) / (x + 1) * math.exp(odds)
        if term < 1e-18 * total:
            break
    return min(1.0, math.exp(first + math.log(total)))


@kernel
def binomial_uppers(hits: LongArray, size: LongArray, chance: FloatArray, out: FloatArray) -> None:
    """`binomial_upper` for many."""
    for n in range(hits.size):
        out[n] = binomial_upper(hits[n], size[n], chance[n])


@kernel
def hypergeometric_upper(hits: int, size: int, marked: int, drawn: int) -> float:
    """P(at least `hits` marked) when `drawn` of `size` are drawn and `marked` of `size` are marked."""
    low, high = max(0, drawn + marked - size), min(drawn, marked)
    if hits <= low:
        return 1.0
    if hits > high:
        return 0.0
    first = math.lgamma(marked + 1) - math.lgamma(hits + 1) - math.lgamma(marked - hits + 1)
    first += math.lgamma(size - marked + 1) - math.lgamma(drawn - hits + 1)
    first -= math.lgamma(size - marked - drawn + hits + 1)
    first += math.lgamma(drawn + 1) + math.lgamma(size - drawn + 1) - math.lgamma(size + 1)
    total, term = 0.0, 1.0
    for x in range(hits, high + 1):
        total += term
        term *= (marked - x) * (drawn - x) / ((x + 1) * (size - marked - drawn + x + 1))
    return min(1.0, math.exp(first + math.log(total)))
