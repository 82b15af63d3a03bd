"""What judgments and gold tell about a crowd: counts by gold grade, confusion matrices, and shared errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from karatage.data.axes import FloatArray, GradeArray, IntArray, LongArray
from karatage.data.crowd import Correlation
from karatage.data.judgments import Judgments, match_gold
from karatage.data.note import Note
from karatage.errors import DataError
from karatage.kernels.ordering import sum_pair_products
from karatage.simulation.notes import tell

_LEAST: Final = 1.0  # concentrations
_MOST: Final = 10_000.0
_KNOWN: Final = 2.0  # judges' worth of the crowd's own spread in that of a kind
_NODES = (np.arange(100) + 0.5) / 100  # rates
_TERMS: Final = 60
_STEPS: Final = 50
_FEW: Final = 10  # judges
_SMOOTH: Final = 0.01  # of an even spread, so that no judge is impossible
_HALVINGS: Final = 50
_HIGHEST: Final = 0.95  # a series in powers of the correlation has to converge


@dataclass(frozen=True, eq=False)
class GoldRows:
    """Judges with gold, renumbered, and their rows on items with gold."""

    judge: IntArray  # (row,)
    item: IntArray  # (row,)
    topic: IntArray  # (row,)
    gold: GradeArray  # (row,)
    said: GradeArray  # (row,)
    grades: int
    has_topics: bool
    names: tuple[str, ...]  # (judge,)
    contribution: FloatArray  # (judge,) share of the items of the topics worked on, with gold or not
    unknown: int  # judges without any item that has gold

    @staticmethod
    def of(judgments: Judgments, gold: Judgments) -> GoldRows:
        """Meet judgments and gold."""
        settled = judgments.settle()
        known = match_gold(settled, gold)
        rows = np.flatnonzero(known[settled.item] >= 0)
        if not rows.size:
            raise DataError("judgments and gold share no item: check that items are written the same way in both")
        truth = known[settled.item[rows]]
        for relevant, what in (True, "relevant"), (False, "not relevant"):
            if not ((truth > 0) == relevant).any():
                raise DataError(
                    f"no judged item is {what} by gold, so one of the two rates of judges cannot be learned; "
                    "add gold items of that kind"
                )
        present, judge = np.unique(settled.judge[rows], return_inverse=True)
        return GoldRows(
            judge=judge.astype(np.int32),
            item=settled.item[rows],
            topic=settled.item_topic[settled.item[rows]],
            gold=truth,
            said=settled.grade[rows],
            grades=max(settled.top_grade, gold.top_grade, 1) + 1,
            has_topics=settled.has_topics,
            names=tuple(settled.judges[k] for k in present),
            contribution=_find_contributions(settled)[present],
            unknown=len(settled.judges) - len(present),
        )

    @property
    def judges(self) -> int:
        """How many."""
        return len(self.names)

    @cached_property
    def relevant(self) -> LongArray:
        """Whether gold says so, (row,) 0 or 1."""
        return (self.gold > 0).astype(np.int64)

    @cached_property
    def right(self) -> LongArray:
        """Whether the judge agrees with gold on relevance, (row,) 0 or 1."""
        found: LongArray = ((self.said > 0) == (self.gold > 0)).astype(np.int64)
        return found

    @cached_property
    def seen(self) -> LongArray:
        """Items that are not relevant and that are, (judge, 2)."""
        return _count(self.judge * 2 + self.relevant, self.judges * 2).reshape(-1, 2)

    @cached_property
    def agreed(self) -> LongArray:
        """Of these, the ones where the judge agrees with gold, (judge, 2)."""
        return _count((self.judge * 2 + self.relevant)[self.right > 0], self.judges * 2).reshape(-1, 2)


def _count(key: LongArray, size: int) -> LongArray:
    return np.bincount(key, minlength=size).astype(np.int64)


def _find_contributions(judgments: Judgments) -> FloatArray:
    """Items that each judge graded, over the items of the topics it worked on."""
    topic = judgments.item_topic[judgments.item].astype(np.int64)
    graded = np.unique(judgments.item)
    size = _count(judgments.item_topic[graded].astype(np.int64), len(judgments.topics))
    pair = np.unique(judgments.judge * np.int64(len(judgments.topics)) + topic)
    offered = np.bincount(pair // len(judgments.topics), weights=size[pair % len(judgments.topics)])
    done = _count(judgments.judge.astype(np.int64), len(offered))
    found: FloatArray = done / np.maximum(offered, 1)
    return np.pad(found, (0, len(judgments.judges) - len(found)))


def learn_confusion(evidence: GoldRows, judge: LongArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean confusion (archetype, gold, said), and the concentration (archetype,) of the Dirichlet around its rows.

    A judge's rows are shrunk to the crowd's by one judgment each. The concentration follows from how far judges' rows
    are
    from the mean beyond what chance explains: the variances of a Dirichlet are m (1 - m) / (1 + concentration).

    Args:
        evidence: Who said what.
        judge: The judges that count.
        weight: How far each belongs to each archetype, (judge, archetype).
    """
    size = evidence.grades
    key = (evidence.judge.astype(np.int64) * size + evidence.gold) * size + evidence.said
    count = np.bincount(key, minlength=evidence.judges * size * size).reshape(-1, size, size).astype(float)
    crowd = count.sum(axis=0) + np.eye(size) * 0.5 + 0.5 / size
    crowd /= crowd.sum(axis=1, keepdims=True)
    count = count[judge]
    number = count.sum(axis=2)
    row = (count + crowd) / (number[:, :, None] + 1)
    whole = weight.sum(axis=0)
    mean = np.stack([(weight[:, [k]] * row.reshape(len(row), -1)).sum(axis=0) / whole[k] for k in range(len(whole))])
    mean = mean.reshape(-1, size, size)
    excess, room = np.empty(len(whole)), np.empty(len(whole))
    for k in range(len(whole)):
        seen = weight[:, k, None] * (number > 1)  # (judge, gold)
        free = np.clip(1 - (weight[:, k] ** 2).sum() / whole[k] ** 2, 0, 1)  # the mean is the judges' own
        spread = ((row - mean[k]) ** 2).sum(axis=2)
        chance = (row * (1 - row)).sum(axis=2) / np.maximum(number - 1, 1)
        excess[k] = (seen * (spread - free * chance)).sum()
        room[k] = free * (seen * (mean[k] * (1 - mean[k])).sum(axis=1)).sum()
    overall = max(float(excess.sum()) / max(float(room.sum()), 1e-9), 1 / (1 + _MOST))
    known = _KNOWN * float((mean * (1 - mean)).sum(axis=2).mean()) * size
    share = np.clip((excess + known * overall) / (room + known), 1 / (1 + _MOST), 1 / (1 + _LEAST))
    return mean, 1 / share - 1


def learn_correlation(evidence: GoldRows, families: Mapping[str, str]) -> tuple[Correlation, list[Note]]:
    """Correlations whose expected number of agreeing errors is the observed one, and what there is to say about them.

    Two judges with rates p and q both call an item relevant with probability Phi_2(z_p, z_q; rho). Written as a series
    in rho, a term is a product of one factor for each judge, so sums over all pairs come from sums over judges. A
    judge's rate is not known. It is estimated from the other topics (from the other items, where there is one topic
    only), so that an error has no influence on its own expectation.
    """
    several = evidence.has_topics and len(np.unique(evidence.topic)) > 1
    factors = _expand(evidence, (evidence.topic if several else evidence.item).astype(np.int64))
    item = evidence.item.astype(np.int64)
    same, kin = factors.pair(item), factors.pair(item * evidence.judges + _find_kin(evidence, families))
    notes = []
    topic = 0.0
    if several:
        place = evidence.topic.astype(np.int64) * evidence.grades + evidence.gold
        own = factors.pair(place * evidence.judges + evidence.judge)
        topic = factors.pair(place).minus(same).minus(own).solve()
    else:
        notes.append(tell("no-topics"))
    if not same.number:
        notes.append(tell("judged-alone"))
        return Correlation(topic=topic), notes
    apart = same.minus(kin)
    shared = (apart if apart.number else same).solve()
    inside = kin.solve() if kin.number and apart.number else shared
    parts = np.array([max(shared - topic, 0.0), max(inside - max(shared, topic), 0.0), topic])
    parts *= min(1.0, _HIGHEST / max(float(parts.sum()), 1e-9))
    return Correlation(*(float(f"{part:.4f}") for part in parts)), notes


def _find_kin(evidence: GoldRows, families: Mapping[str, str]) -> LongArray:
    """The number of each row's family; judges without one are their own."""
    names = [families.get(name, f"\0{name}") for name in evidence.names]
    _, code = np.unique(np.array(names), return_inverse=True)
    return code.astype(np.int64)[evidence.judge]


class _Pairs(NamedTuple):
    """Pairs of rows: their number, how many of them both say relevant, and that as a series in the correlation."""

    number: float
    both: float
    series: FloatArray

    def minus(self, other: _Pairs) -> _Pairs:
        """Without pairs that are counted in `other`."""
        return _Pairs(self.number - other.number, self.both - other.both, self.series - other.series)

    def solve(self) -> float:
        """The correlation from 0 on that makes the series what was observed."""
        low, high = 0.0, _HIGHEST
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            expected = float((self.series * middle ** np.arange(len(self.series))).sum())
            low, high = (middle, high) if expected < self.both else (low, middle)
        return low


class _Factors(NamedTuple):
    """What each row adds to pairs."""

    kind: LongArray  # (row,)
    factor: FloatArray  # (kind, 2 + term): 1, whether relevant was said, and the terms of the series

    def pair(self, group: LongArray) -> _Pairs:
        """All pairs of rows in the same group."""
        order = np.argsort(group, kind="stable")
        ordered = group[order]
        start = np.r_[0, np.flatnonzero(np.diff(ordered)) + 1, len(ordered)].astype(np.int64)
        out = np.zeros(self.factor.shape[1])
        sum_pair_products(order.astype(np.int64), start, self.kind, self.factor, out)
        return _Pairs(float(out[0]), float(out[1]), out[2:])


def _expand(evidence: GoldRows, place: LongArray) -> _Factors:
    """Factors of the series, expected under what the judge does in other places."""
    said = (evidence.said > 0).astype(np.int64)
    table = _tabulate_terms()
    kind, factors, known = np.empty(len(said), np.int64), [], 0
    for grade in np.unique(evidence.gold):
        rows = np.flatnonzero(evidence.gold == grade)
        judge = evidence.judge[rows].astype(np.int64)
        whole = _count_said(judge, said[rows])
        prior = _spread_rates(whole.astype(float))
        place_of = int(place.max()) + 1
        cells, cell = np.unique(judge * place_of + place[rows], return_inverse=True)
        elsewhere = whole[cells // place_of] - _count_said(cell, said[rows])
        width = int(whole.max()) + 1
        key = (prior.group[cells // place_of] * width + elsewhere[:, 0]) * width + elsewhere[:, 1]
        keys, at = np.unique(key, return_inverse=True)
        weight = prior.share[keys // width**2] * _likelihood(np.stack([keys // width % width, keys % width], axis=1))
        weight /= weight.sum(axis=1, keepdims=True)
        terms = np.stack([(weight * column).sum(axis=1) for column in table], axis=1)
        one = np.ones((len(keys), 1))
        factors += [np.hstack([one, answer * one, terms]) for answer in (0.0, 1.0)]
        kind[rows] = known + said[rows] * len(keys) + at[cell]
        known += 2 * len(keys)
    return _Factors(kind, np.concatenate(factors))


def _count_said(group: LongArray, said: LongArray) -> LongArray:
    """Rows of each group, and those that say relevant, (group, 2)."""
    return np.stack([np.bincount(group), np.bincount(group, weights=said).astype(np.int64)], axis=1)


def _tabulate_terms() -> FloatArray:
    """Factors (power, node) of the tetrachoric series: the rate, then Hermite polynomials times the density."""
    from scipy.special import ndtri

    z = np.asarray(ndtri(_NODES))
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    table = np.empty((_TERMS, len(z)))
    table[0], table[1] = _NODES, density
    before, polynomial = np.zeros(len(z)), np.ones(len(z))  # each over the root of its factorial
    for n in range(2, _TERMS):
        before, polynomial = polynomial, (z * polynomial - np.sqrt(n - 2) * before) / np.sqrt(n - 1)
        table[n] = polynomial * density / np.sqrt(n)
    return table


def _likelihood(counts: FloatArray | LongArray) -> FloatArray:
    """Of (number, said relevant) at each rate, up to a factor, (row, node)."""
    number, hits = counts[:, :1], counts[:, 1:]
    power = hits * np.log(_NODES) + (number - hits) * np.log1p(-_NODES)
    found: FloatArray = np.exp(power - power.max(axis=1, keepdims=True))
    return found


class _Prior(NamedTuple):
    """How rates are spread among judges who do about as much."""

    group: LongArray  # (judge,)
    share: FloatArray  # (group, node)


def _spread_rates(counts: FloatArray) -> _Prior:
    """Some steps of expectation maximisation on (number, said relevant) of judges, those with 1, 2-3, 4-7 ... apart.

    Judges with many judgments may be of another kind. Where nothing else is known about a judge, all expectations
    follow from the mean, which is therefore kept exactly.
    """
    number = counts[:, 0]
    group = np.log2(np.maximum(number, 1)).astype(np.int64)
    for g in range(int(group.max()), 0, -1):  # groups too small to tell anything join the next
        if (group == g).sum() < _FEW:
            group[group == g] = g - 1
    names, group = np.unique(group, return_inverse=True)
    share = np.empty((len(names), len(_NODES)))
    start = np.ones(len(_NODES))
    for g in reversed(range(len(names))):  # those who do less begin with what is known of those who do more
        own = counts[(group == g) & (number > 0)]
        mean = float((own[:, 1].sum() + 0.5) / (own[:, 0].sum() + 1))
        likelihood, heed = _likelihood(own), own[:, :1] / own[:, 0].sum()
        share[g] = _move_mean(start + _SMOOTH * start.mean(), mean)
        for _ in range(_STEPS):
            weight = likelihood * share[g]
            share[g] = (heed * weight / weight.sum(axis=1, keepdims=True)).sum(axis=0)
        share[g] = start = _move_mean(share[g], mean)
    return _Prior(group, share)


def _move_mean(share: FloatArray, mean: float) -> FloatArray:
    """Tilted so that the mean rate is `mean`."""
    low, high = -60.0, 60.0
    for _ in range(_HALVINGS):
        slope = (low + high) / 2
        tilted = share * np.exp(slope * (_NODES - mean))
        tilted /= tilted.sum()
        low, high = (slope, high) if (tilted * _NODES).sum() < mean else (low, slope)
    return tilted
