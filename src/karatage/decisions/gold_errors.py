"""Gold's own errors: learned from items that its judges graded more than once, and what they do to a measure.

Slips are errors. Differences of opinion remain when each judge is asked again, so repeats by the same judge separate
the two. Slips shrink differences between systems, which is corrected. Differences of opinion do not: the target is the
mean opinion of gold's judges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karatage.correction.slips import Slips, learn_slips
from karatage.data.axes import BoolArray, FloatArray, GradeArray, IntArray, LongArray
from karatage.data.estimate import Bounded
from karatage.data.gold_errors import Dispute, Disputed, GoldErrors
from karatage.data.judgments import Judgments

LEAST_DOUBLES = 50  # items graded more than once, from which gold is corrected
MOST_KINDS = 10  # of grades with different gains, for which slips are estimated
LEAST_SLOPE = 0.3  # of gold's grades on true ones, below which they say too little
MOST_SLIPS = 0.02  # of gold's grades, from which measures that cannot be corrected for them are refused
MOST_DISPUTED = 20  # items that an audit lists
NORMAL = 1.96
EM_ROUNDS = 50
AXES = 1e-4  # share of the variance below which a direction of uncertainty is left out


class Doubles(NamedTuple):
    """Gold's repeated answers."""

    judges: int
    by_item: LongArray  # (item, kind) answers of items with several
    by_judge: LongArray  # (judge and item, kind) answers of judges who were asked again
    apart: LongArray  # (item, kind) one answer of each judge, of items with several judges

    def count_items(self) -> tuple[int, int]:
        """Items with several answers, and those with different ones."""
        return len(self.by_item), _count_split(self.by_item)


@dataclass(frozen=True, eq=False, kw_only=True)
class LearnedErrors:
    """Gold's errors, and the gains that correct them."""

    doubles: Doubles
    slips: Slips
    told_apart: bool  # whether repeats of the same judge tell slips from opinions
    kind: LongArray  # (grade,)
    opinion: float  # variance of a judge's opinion, in gains

    @property
    def assumption(self) -> str:
        """What the correction depends on."""
        whose = "a judge of gold who grades an item again" if self.told_apart else "different judges of gold"
        return f"slips of {whose} are independent, and slips up and down are about equally likely"

    @property
    def gain(self) -> FloatArray:
        """The gain of an answer (grade,), without the effect of slips on its mean."""
        return self.slips.gain[self.kind]

    @property
    def noise(self) -> FloatArray:
        """The variance of an answer's gain around the target, (grade,)."""
        likely = self.slips.prevalence[:, None] * self.slips.confusion
        likely /= np.maximum(likely.sum(axis=0), 1e-12)
        noise: FloatArray = (self.slips.noise @ likely + self.opinion)[self.kind]
        return noise

    def list_shifts(self) -> list[FloatArray]:
        """Shifts of the gain (grade,) whose squared effects add up to the variance due to the estimated slips."""
        size, axis = np.linalg.eigh(self.slips.covariance)
        kept = size > AXES * max(size.max(), 1e-300)
        shifts: list[FloatArray] = [
            np.sqrt(s) * column[self.kind] for s, column in zip(size[kept], axis.T[kept], strict=True)
        ]
        return shifts

    def weigh_kinds(self, gold: Judgments, rows: BoolArray, said: GradeArray, raised: FloatArray) -> FloatArray:
        """The chances of true kinds (row, kind), given gold's answers and the judge's grade `said` of these `rows`.

        By EM, with a kind's share for each grade `said`, shrunk to its share overall as if by one more item.
        """
        assert gold.answers is not None
        log = np.log(np.maximum(self.slips.confusion, 1e-12))[:, self.kind[gold.answers.grade]]  # (kind, answer)
        size = len(gold.item_topic)
        likely = np.stack([np.bincount(gold.answers.item, own, size) for own in log], axis=1)[gold.item[rows]]
        likely = np.exp(likely - likely.max(axis=1, keepdims=True))
        group = np.unique(said, return_inverse=True)[1]
        weight = raised / raised.mean()
        chance = np.tile(self.slips.prevalence, (int(group.max()) + 1, 1))
        joint = likely
        for _ in range(EM_ROUNDS):
            joint = chance[group] * likely
            joint /= joint.sum(axis=1, keepdims=True)
            overall = weight @ joint / weight.sum()
            chance = np.tile(overall, (len(chance), 1))
            np.add.at(chance, group, weight[:, None] * joint)
            chance /= chance.sum(axis=1, keepdims=True)
        found: FloatArray = joint
        return found

    def draw_grades(self, likely: FloatArray, rng: np.random.Generator) -> LongArray:
        """A likely true grade of each row."""
        kind = (np.cumsum(likely, axis=1) < rng.random((len(likely), 1))).sum(axis=1).clip(0, likely.shape[1] - 1)
        grade = np.array([np.flatnonzero(self.kind == k)[0] for k in range(likely.shape[1])])
        found: LongArray = grade[kind]
        return found

    def tell(self, *, corrected: bool, share: float | None = None, disputed: tuple[Disputed, ...] = ()) -> GoldErrors:
        """As results show it."""
        slips, doubles = self.slips, self.doubles
        opinions = None
        if self.told_apart and len(doubles.apart):
            opinions = _compare_opinions(doubles.apart, doubles.by_judge)
        return GoldErrors(
            judges=doubles.judges,
            doubles=doubles.count_items()[0],
            split=doubles.count_items()[1],
            repeated=len(doubles.by_judge),
            wavered=_count_split(doubles.by_judge),
            slips=_bound_share(slips.rate, slips.rate_error),
            opinions=opinions,
            shrinks=Bounded(
                slips.factor,
                max(slips.factor - NORMAL * slips.factor_error, 0.0),
                min(slips.factor + NORMAL * slips.factor_error, 1.0),
            ),
            corrected=corrected,
            share=share,
            disputed=disputed,
        )


def count_doubles(gold: Judgments, kind: LongArray) -> Doubles | None:
    """The repeated answers of gold's judges by `kind` (grade,); None where there are none."""
    answers = gold.answers
    if answers is None:
        return None
    said, kinds = kind[answers.grade], int(kind.max()) + 1
    by_item = _tabulate(answers.item, said, kinds)
    pair = answers.item.astype(np.int64) * len(answers.judges) + answers.judge
    _, first, place = np.unique(pair, return_index=True, return_inverse=True)
    by_judge = _tabulate(place, said, kinds)
    apart = _tabulate(answers.item[first], said[first], kinds)
    return Doubles(
        len(np.unique(answers.judge)), *(counts[counts.sum(axis=1) > 1] for counts in (by_item, by_judge, apart))
    )


def learn_errors(gold: Judgments, gain: FloatArray, *, least: int = LEAST_DOUBLES) -> LearnedErrors | None:
    """Gold's errors in a measure with this `gain` (grade,); None where too few items were graded more than once."""
    used = np.unique(gain[np.unique((gold.answers or gold).grade)])
    kind = np.searchsorted(used, gain).clip(0, len(used) - 1)
    doubles = count_doubles(gold, kind)
    if doubles is None or not 2 <= len(used) <= MOST_KINDS or len(doubles.by_item) < least:
        return None
    told_apart = doubles.judges > 1 and len(doubles.by_judge) >= LEAST_DOUBLES
    slips = learn_slips(doubles.by_judge if told_apart else doubles.by_item, used)
    opinion = 0.0
    if told_apart and len(doubles.apart):
        between = _measure_spread(doubles.apart, slips.gain)
        opinion = max(between - float(slips.prevalence @ slips.noise), 0.0)
    return LearnedErrors(doubles=doubles, slips=slips, told_apart=told_apart, kind=kind, opinion=opinion)


def audit_gold(gold: Judgments | None) -> GoldErrors | None:
    """Gold's own errors by grade, with the most disputed items; None without items that were graded more than once."""
    errors = None if gold is None else learn_errors(gold, np.arange(gold.top_grade + 1.0), least=1)
    if gold is None or errors is None:
        return None
    return errors.tell(corrected=False, disputed=tuple(_list_disputed(gold)))


def _list_disputed(gold: Judgments) -> Iterator[Disputed]:
    """Items with the widest range of grades first, then those with the most grades."""
    assert gold.answers is not None
    answers = gold.answers
    start = answers.row_start
    several = np.flatnonzero(np.diff(start) > 1)
    low, high = (np.array([f(answers.grade[start[i] : start[i + 1]]) for i in several]) for f in (np.min, np.max))
    order = np.lexsort((several, -np.diff(start)[several], low - high))
    for item in several[order][: int((high > low).sum())][:MOST_DISPUTED]:
        said: dict[str, list[int]] = {}
        for row in range(start[item], start[item + 1]):
            said.setdefault(answers.judges[answers.judge[row]], []).append(int(answers.grade[row]))
        grades = ", ".join(f"{judge} {' '.join(map(str, own))}" for judge, own in said.items())
        changed = any(len(set(own)) > 1 for own in said.values())
        asked = sum(len(own) > 1 for own in said.values()) > 1
        kind: Dispute = "changed" if changed else "opinions" if asked else "not asked again"
        document = str(answers.documents[int(answers.item_document[item])])
        yield Disputed(answers.topics[answers.item_topic[item]], document, grades, kind)


def average_answers(gold: Judgments, value: FloatArray) -> FloatArray:
    """The mean `value` (grade,) of an item's answers, over judges and each judge's answers, for rows of gold (row,)."""
    assert gold.answers is not None
    answers = gold.answers
    pair, place, times = np.unique(
        answers.item.astype(np.int64) * len(answers.judges) + answers.judge, return_inverse=True, return_counts=True
    )
    each = np.bincount(place, value[answers.grade]) / times
    item = pair // len(answers.judges)
    size = len(answers.item_topic)
    mean = np.bincount(item, each, size) / np.maximum(np.bincount(item, minlength=size), 1)
    found: FloatArray = mean[gold.item]
    return found


def count_answers(gold: Judgments, *, by_judge: bool) -> FloatArray:
    """How many independent answers each row of gold (row,) has: judges, or all answers."""
    assert gold.answers is not None
    answers, size = gold.answers, len(gold.answers.item_topic)
    item = answers.item.astype(np.int64)
    if by_judge:
        item = np.unique(item * len(answers.judges) + answers.judge) // len(answers.judges)
    return np.bincount(item, minlength=size)[gold.item].astype(float)


def _tabulate(row: LongArray | IntArray, kind: LongArray, kinds: int) -> LongArray:
    table: LongArray = np.bincount(row * kinds + kind, minlength=(int(row.max()) + 1) * kinds).reshape(-1, kinds)
    return table


def _count_split(counts: LongArray) -> int:
    return int(((counts > 0).sum(axis=1) > 1).sum())


def _measure_spread(counts: LongArray, gain: FloatArray) -> float:
    """The mean over items of the variance of their answers."""
    answers = counts.sum(axis=1)
    mean = counts @ gain / answers
    return float(((counts @ gain**2 - answers * mean**2) / (answers - 1)).mean())


def _differ(counts: LongArray) -> FloatArray:
    """The share of pairs of answers that differ, (row,)."""
    answers = counts.sum(axis=1)
    same = (counts * (counts - 1)).sum(axis=1)
    found: FloatArray = 1 - same / (answers * (answers - 1))
    return found


def _compare_opinions(apart: LongArray, again: LongArray) -> Bounded:
    """How often two judges differ beyond what slips explain; with slips as in two grades."""
    between, within = _differ(apart), _differ(again)
    most = 1 - 2 * min(float(within.mean()), 0.45)
    value = (between.mean() - within.mean()) / most
    error = np.sqrt(between.var() / len(between) + (within.var() / len(within)) * (1 - 2 * value) ** 2) / most
    low, high = value - NORMAL * error, value + NORMAL * error
    return Bounded(*(float(np.clip(x, 0.0, 1.0)) for x in (value, low, high)))


def _bound_share(value: float, error: float) -> Bounded:
    """With an interval that is symmetric on the log scale."""
    width = np.exp(min(NORMAL * error / max(value, 1e-12), 50.0))
    return Bounded(value, float(value / width), float(min(value * width, 1.0)))
