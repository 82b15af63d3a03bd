"""Judges whose grades look like no judging: constant, random, inverted, or copied.

Every finding is a test with a stated error rate, adjusted for the number of judges (or pairs) by [BH95], and says in
words what was seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from karatage.agreement.habits import Accuracy, Panel
from karatage.agreement.intervals import adjust, normal_upper
from karatage.agreement.likeness import ENOUGH, LEVEL, Likeness, compare_copies
from karatage.agreement.pairs import kappas_of
from karatage.agreement.sampling import PairSample
from karatage.data.axes import FloatArray, GradeArray, LongArray
from karatage.kernels.agreement import binomial_upper, hypergeometric_upper
from karatage.kernels.ordering import group_rows

LEAST_KAPPA = 0.1  # what the least useful judge reaches, where the panel's typical kappa says no more
REPEATED = 10  # items, for a judge to be called constant
ROUNDING = 1e-12


class Flag(NamedTuple):
    """A suspicion, and why."""

    judge: int
    kind: str  # constant, random, inverted or copied
    why: str
    other: int = -1  # the judge it is a copy of


class Chance(NamedTuple):
    """How each judge compares with a judge who draws grades at random, (judge,)."""

    items: LongArray
    kappa: FloatArray
    above: FloatArray  # p-value of better than chance
    below: FloatArray  # p-value of worse than chance
    short: FloatArray  # p-value of less than half the panel's typical kappa


def find_suspects(panel: Panel, chosen: PairSample | None = None) -> list[Flag]:
    """All suspicions, by kind; copies among all pairs of judges, or among those chosen."""
    reference, by_gold = choose_reference(panel)
    table = panel.count_against(reference)
    return [*find_constant(panel), *find_chance(table, by_gold), *find_copies(panel, chosen)]


def choose_reference(panel: Panel) -> tuple[GradeArray, np.ndarray]:
    """What a judge's grades are held against, (row,): gold where the judge graded enough of it, else the others.

    A judge at odds with its fellows but not with gold is right, so gold comes first.
    """
    judge = panel.judgments.judge
    by_gold = np.bincount(judge[panel.gold >= 0], minlength=panel.judges) >= ENOUGH
    return np.where(by_gold[judge], panel.gold, panel.choice), by_gold


def find_constant(panel: Panel) -> Iterator[Flag]:
    """One grade throughout, where gold or else the others differ: their share of that grade to the power of the items.

    Gold counts where a judge graded enough of it. Who is then right as often as the others is left alone: where nearly
    everything has one grade, saying so is right.
    """
    rows, judge = panel.judgments, panel.judgments.judge
    most, least = np.full(panel.judges, -1), np.full(panel.judges, 127)
    np.maximum.at(most, judge, rows.grade)
    np.minimum.at(least, judge, rows.grade)
    accuracy = Accuracy.of(panel)
    by_gold = accuracy.items >= REPEATED
    items, mean = _hear_others(panel, rows.grade)
    items, mean = np.where(by_gold, accuracy.items, items), np.where(by_gold, accuracy.share, mean)
    excused = by_gold & (accuracy.share >= _hear_others(panel, panel.gold)[1] - ROUNDING)
    suspect = (most == least) & ~excused
    p_value = np.where(items >= REPEATED, np.where(suspect, mean**items, 1.0), np.nan)
    for j in np.flatnonzero(adjust(p_value) <= LEVEL):
        text = f"gave grade {most[j]} to all {items[j]:,} items, where the others gave it {mean[j]:.0%} of the time"
        if by_gold[j]:
            text = f"gave grade {most[j]} to all {items[j]:,} gold items, gold to {accuracy.right[j]:,} of them"
        yield Flag(int(j), "constant", text)


def _hear_others(panel: Panel, said: GradeArray) -> tuple[LongArray, FloatArray]:
    """For each judge its items that others graded, where `said` (row,) is a grade, and how often they gave that one."""
    rows = panel.judgments
    size = np.diff(rows.row_start)[rows.item] - 1
    at = np.flatnonzero((size > 0) & (said >= 0))
    alike = panel.count_grades()[rows.item[at], said[at]] - (rows.grade[at] == said[at])
    items = np.bincount(rows.judge[at], minlength=panel.judges)
    with np.errstate(invalid="ignore"):
        return items, np.bincount(rows.judge[at], alike / size[at], panel.judges) / items


def find_chance(table: LongArray, by_gold: np.ndarray) -> Iterator[Flag]:
    """Random: not better than chance, though a judge half as good as the typical one would be seen to be.

    Inverted: worse than chance. `table` (judge, reference's grade, said).
    """
    chance = compare_with_chance(table)
    above, below, short = (adjust(p) for p in (chance.above, chance.below, chance.short))
    for j in np.flatnonzero(np.isfinite(chance.above)):
        name = "gold" if by_gold[j] else "the other judges"
        text = f"kappa with {name} is {chance.kappa[j]:.2f} over {chance.items[j]:,} items"
        if below[j] <= LEVEL:
            text += f", worse than chance (p = {chance.below[j]:.2g}): are grades turned round?"
            yield Flag(int(j), "inverted", text)
        elif above[j] > LEVEL and short[j] <= LEVEL:
            yield Flag(int(j), "random", f"{text}, no better than chance (p = {chance.above[j]:.2g})")


def compare_with_chance(table: LongArray) -> Chance:
    """Test each judge with enough items, and more than one grade on either side, (judge, reference's grade, said)."""
    judges = len(table)
    items = table.sum(axis=(1, 2))
    kappa = kappas_of(table)
    tested = (items >= ENOUGH) & np.isfinite(kappa)
    tested &= ((table.sum(axis=1) > 0).sum(axis=1) > 1) & ((table.sum(axis=2) > 0).sum(axis=1) > 1)
    above, below, short = np.full((3, judges), np.nan)
    typical = float(np.median(kappa[tested])) if tested.any() else 0.0
    useful = max(typical / 2, LEAST_KAPPA)
    found: dict[bytes, tuple[float, float, float]] = {}  # of many judges with few items most tables are the same
    for j in np.flatnonzero(tested):
        key = table[j].tobytes()
        if key not in found:
            found[key] = (*_test_chance(table[j]), _test_useful(table[j], useful))
        above[j], below[j], short[j] = found[key]
    return Chance(items, kappa, above, below, short)


def _test_useful(joint: LongArray, useful: float) -> float:
    """The p-value of less agreement than a judge has whose kappa is just useful, (reference's grade, said)."""
    n, right = int(joint.sum()), int(np.trace(joint))
    expected = float(joint.sum(axis=0) @ joint.sum(axis=1)) / n**2
    return float(binomial_upper(n - right, n, (1 - expected) * (1 - useful)))


def _test_chance(joint: LongArray) -> tuple[float, float]:
    """P-values of better and of worse than chance, given both margins, (reference's grade, said).

    Two grades: exact, by the hypergeometric distribution. More: by the exact mean and variance over permutations of
    agreement, and of correlation, since a judge who is always one grade too high is lenient but not random.
    """
    used = (joint.sum(axis=0) > 0) | (joint.sum(axis=1) > 0)
    joint = joint[np.ix_(used, used)]
    n, own, other = int(joint.sum()), joint.sum(axis=1), joint.sum(axis=0)
    if len(joint) == 2:
        hits, marked, drawn = int(joint[1, 1]), int(own[1]), int(other[1])
        upper = hypergeometric_upper(hits, n, marked, drawn)
        return upper, hypergeometric_upper(int(joint[1, 0]), n, marked, n - drawn)
    grade = np.flatnonzero(used).astype(float)
    share = own @ other / n**2
    gap = np.eye(len(joint)) - (own / n)[None, :] - (other / n)[:, None] + share
    spread = np.sqrt((own[:, None] * other[None, :] * gap**2).sum() / (n - 1))
    x, y = grade - own @ grade / n, grade - other @ grade / n
    correlation = (x @ joint @ y) / np.sqrt((own @ x**2) * (other @ y**2))
    agreement = (np.trace(joint) - 0.5 - n * share) / max(spread, 1e-12)
    z = np.array([agreement, correlation * np.sqrt(n - 1), -correlation * np.sqrt(n - 1)])
    p = normal_upper(z)
    return min(1.0, 2 * float(p[:2].min())), float(p[2])


def find_copies(panel: Panel, chosen: PairSample | None = None) -> Iterator[Flag]:
    """Copied: most of the disagreements that two such judges would have are missing, significantly more than half.

    What they would have: each keeps its own habits (what it says when gold, or everybody else, says so and so) and is
    independent of the other. Half is allowed for, since judges also share what makes an item hard.
    """
    names, pairs, count = panel.judgments.judges, compare_copies(panel, chosen), panel.count_grades()
    own = group_rows(panel.judgments.judge.astype(np.int64), panel.judges)
    partners: dict[int, list[Likeness]] = {}
    for pair in sorted(pairs, key=lambda pair: (-pair.missing, pair[:2])):
        for judge in pair[:2]:
            partners.setdefault(judge, []).append(pair)
    for judge, found in sorted(partners.items()):
        best = found[0]
        other = best.second if best.first == judge else best.first
        more = f"; much like {len(found) - 1} more" if len(found) > 1 else ""
        text = f"same grade as {names[other]} on {best.alike:,} of {best.items:,} items, {best.expected:,.0f} expected"
        yield Flag(judge, "copied", text + _say_odd(panel, best, count, own) + more, other)


def _say_odd(panel: Panel, pair: Likeness, count: LongArray, own: tuple[LongArray, LongArray]) -> str:
    """What the two have in common against gold or, where gold finds no fault with either, against the rest."""
    rows, (order, start) = panel.judgments, own
    one, two = (order[start[judge] : start[judge + 1]] for judge in pair[:2])
    item, at, beside = np.intersect1d(rows.item[one], rows.item[two], assume_unique=True, return_indices=True)
    said, other, gold = rows.grade[one[at]], rows.grade[two[beside]], panel.known[item]
    wrong = (gold >= 0) & ((said != gold) | (other != gold))
    same = int((wrong & (said == other)).sum())
    if wrong.any():
        return f"; same mistake on {same:,} of {wrong.sum():,} gold items that either got wrong" if same else ""
    votes, row = count[item], np.arange(len(item))
    votes[row, said] -= 1
    votes[row, other] -= 1
    rest, most = votes.argmax(axis=1), votes.max(axis=1)
    clear = (gold < 0) & (most > 0) & ((votes == most[:, None]).sum(axis=1) == 1)
    odd = clear & ((said != rest) | (other != rest))
    same = int((odd & (said == other)).sum())
    return f"; same grade, unlike the rest, on {same:,} of {odd.sum():,} items where either is alone" if same else ""
