"""Judges who look suspicious: copies, constant or random grades."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from karatage.agreement.habits import GoldAccuracy, Panel
from karatage.agreement.intervals import PairSample, Rows, adjust, are_few, draw_pairs, find_equal, join, normal_upper
from karatage.agreement.pairs import MOST_FILLED, fits, kappas_of, make_table
from karatage.data.axes import FloatArray, GradeArray, IntArray, LongArray
from karatage.kernels.agreement import (
    LEVELS,
    binomial_upper,
    binomial_uppers,
    hypergeometric_upper,
    meet_beside,
    meet_chosen_beside,
    sum_likeness,
)
from karatage.kernels.ordering import group_rows
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
    accuracy = GoldAccuracy.of(panel)
    by_gold = accuracy.items >= REPEATED
    items, mean = _hear_others(panel, rows.grade)
    items, mean = np.where(by_gold, accuracy.items, items), np.where(by_gold, accuracy.share, mean)
    excused = by_gold & (accuracy.share >= _hear_others(panel, panel.gold)[1] - ROUNDING)
    suspect = (most == least) & ~excused
    p_value = np.where(items >= REPEATED, np.where(suspect, mean**items, 1.0), np.nan)
    for j in np.flatnonzero(adjust(p_value) <= LEVEL):
        text = f"gave grade {most[j]} to all {items[j]:,} items, where the others gave it {mean[j]:.0%} of the time"
        if by_gold[j]:
            text = (
                f"gave grade {most[j]} to all {items[j]:,} gold items, and gold has it for {accuracy.right[j]:,} "
                f"of them"
            )
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
            text += f", worse than chance (p = {chance.below[j]:.2g}): are the grades inverted?"
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
        more = f"; similar to {len(found) - 1} more" if len(found) > 1 else ""
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
    return f"; same grade, unlike the rest, on {same:,} of {odd.sum():,} items where one differs" if same else ""
