"""How far judges share errors: on an item, within a family, over a topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from karatage.data.axes import FloatArray, LongArray
from karatage.data.crowd import Correlation
from karatage.data.note import Note
from karatage.kernels.ordering import sum_pair_products
from karatage.simulation.counting import Evidence
from karatage.simulation.notes import tell

_NODES = (np.arange(100) + 0.5) / 100  # rates
_TERMS: Final = 60
_STEPS: Final = 50
_FEW: Final = 10  # judges
_SMOOTH: Final = 0.01  # of an even spread, so that no judge is impossible
_HALVINGS: Final = 50
_MOST: Final = 0.95  # a series in powers of the correlation has to converge


def learn_correlation(evidence: Evidence, families: Mapping[str, str]) -> tuple[Correlation, list[Note]]:
    """Correlations whose expected number of agreeing errors is the observed one, and what there is to say about them.

    Two judges with rates p and q both call an item relevant with probability Phi_2(z_p, z_q; rho). Written as a series
    in rho, a term is a product of one factor for each judge, so sums over all pairs come from sums over judges. A
    judge's rate is not known but estimated, from the topics other than the one at hand (from the other items, where
    there is one topic only), so that an error does not count in what is expected of it.
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
    parts *= min(1.0, _MOST / max(float(parts.sum()), 1e-9))
    return Correlation(*(float(f"{part:.4f}") for part in parts)), notes


def _find_kin(evidence: Evidence, families: Mapping[str, str]) -> LongArray:
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
        low, high = 0.0, _MOST
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


def _expand(evidence: Evidence, place: LongArray) -> _Factors:
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

    Who does much may well be another kind of judge; and where nothing else is known of a judge, all that is expected
    follows from the mean, which is therefore kept exactly.
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
