"""Do judges err on the same items? Then many judges are worth few."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from karatage.agreement.intervals import Interval, PairSample, Rows
from karatage.agreement.pairs import Pairs, jackknife, meet_all
from karatage.data.axes import GradeArray, IntArray, LongArray
from karatage.data.judgments import Judgments
from karatage.kernels.agreement import sum_correlations

LEAST_SHARED = 10  # gold items that both judges of a pair must have graded
GROUPS = 20
BETWEEN = "(one of each family)"
FEW = 0.5  # of the judges, for those of an item to be a draw of them


@dataclass(frozen=True)
class FamilyVotes:
    """How much the judges of a family repeat each other."""

    family: str
    judges: int
    correlation: float  # NaN where no pair shares enough gold items
    effective_votes: float


@dataclass(frozen=True, eq=False)
class Independence:
    """Correlation of errors over pairs of judges, and what the panel is worth."""

    pairs: Pairs  # of judges, value = correlation of their errors on shared gold items
    within: Pairs  # the same among items of the same gold grade
    pooled: Interval  # correlation of the errors of two judges of an item, over all items at once
    judges: int  # judges in at least one pair that counts
    votes: float  # grades that an item has, on average over gold items
    families: tuple[FamilyVotes, ...]

    @property
    def correlation(self) -> Interval:
        """Mean over pairs with enough shared gold items, weighted by how many."""
        return self.pairs.mean

    @property
    def correlation_within(self) -> Interval:
        """The same among items of equal gold grade: 0 where judges differ in habits but not in what they find hard."""
        return self.within.mean

    @property
    def effective_votes(self) -> Interval:
        """What all judges together are worth, if each graded every item."""
        return _worth(self.judges, self.correlation)

    @property
    def effective_votes_per_item(self) -> Interval:
        """What the grades that an item really has are worth."""
        return _worth(self.votes, self.pooled if self.sparse else self.correlation)

    @property
    def sparse(self) -> bool:
        """Whether an item's judges are a few of many.

        The variance of their vote then comes from how errors of any two of them go together, good judges or bad, also
        of those who never share another item. Where nearly all judges grade each item, they are the same ones.
        """
        return not self.judges or self.votes < self.judges * FEW


def effective_votes(judges: float, correlation: float) -> float:
    """Independent judges that `judges` with correlated errors are worth: m / (1 + (m - 1) r), never more than m.

    >>> round(effective_votes(33, 0.4375), 1)
    2.2
    """
    return judges / (1 + max(judges - 1, 0.0) * max(correlation, 0.0)) if correlation == correlation else np.nan


def measure_independence(
    judgments: Judgments,
    known: GradeArray,
    group: IntArray,
    families: Mapping[str, str] | None = None,
    sample: PairSample | None = None,
) -> Independence:
    """Correlate errors: 1 where a judge's grade is not gold's (`known`, (item,), -1 = no gold), else 0.

    `group` (item,) puts items into groups, for the interval. Without gold there is nothing to say: errors that judges
    share look like agreement, and the panel's own consensus shares them too. With a sample only its pairs count.
    """
    settled = judgments.settle()
    kept = known[settled.item] >= 0
    item = settled.item[kept]
    error = (settled.grade[kept] != known[item]).astype(np.int8)
    start = np.searchsorted(item, np.arange(len(known) + 1)).astype(np.int64)
    rows = Rows(settled.judge[kept], item, error, start, len(judgments.judges), 2)
    grades = int(known.max(initial=0)) + 1
    pairs = _correlate(rows, group, sample)
    within = _correlate(rows, group, sample, grades, np.maximum(known, 0))
    counts = np.isfinite(pairs.value) & (pairs.shared >= LEAST_SHARED)
    judges = len(np.union1d(pairs.first[counts], pairs.second[counts]))
    graded = np.diff(start)
    votes = float(graded[graded > 0].mean()) if item.size else np.nan
    by_family = _by_family(judgments.judges, families or {}, pairs)
    return Independence(pairs, within, _pool(rows, group), judges, votes, by_family)


def _pool(rows: Rows, group: IntArray) -> Interval:
    """Covariance over variance of two judges' errors on an item, each such pair counting alike, for any judges.

    Where items have m grades, errors of share p, the share of wrong grades of an item then has exactly the variance
    p (1 - p) / m (1 + (m - 1) r).
    """
    votes = np.diff(rows.start).astype(float)
    wrong = np.bincount(rows.item, rows.grade, len(votes))
    groups = int(group.max()) + 1
    columns = (votes * (votes - 1), wrong * (votes - 1), wrong * (wrong - 1))  # ordered pairs; one errs; both do
    sums = np.stack([np.bincount(group, column, groups) for column in columns])
    total = sums.sum(axis=1, keepdims=True)
    pairs, one, both = np.concatenate([total, total - sums], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = one / pairs
        return jackknife(np.stack([both / pairs - mean**2, mean * (1 - mean)], axis=1), groups)


def _correlate(
    rows: Rows, group: IntArray, sample: PairSample | None, strata: int = 1, stratum: GradeArray | None = None
) -> Pairs:
    belongs = group * np.int32(strata) + (0 if stratum is None else stratum.astype(np.int32))
    return meet_all(
        rows,
        belongs.astype(np.int32),
        lambda table, factor, out, share: sum_correlations(table, strata, LEAST_SHARED, factor, out, share),
        strata=strata,
        least=LEAST_SHARED,
        sample=sample,
    )


def _by_family(judges: tuple[str, ...], family_of: Mapping[str, str], pairs: Pairs) -> tuple[FamilyVotes, ...]:
    """Each family alone, then one judge of each; a judge without a family is a family by itself."""
    if not family_of:
        return ()
    names = [family_of.get(judge, judge) for judge in judges]
    distinct = sorted(set(names))
    place = {name: f for f, name in enumerate(distinct)}
    code = np.array([place[name] for name in names])
    size = np.bincount(code, minlength=len(distinct))
    counts = np.flatnonzero(np.isfinite(pairs.value) & (pairs.shared >= LEAST_SHARED))
    left, right = code[pairs.first[counts]], code[pairs.second[counts]]
    inside = np.flatnonzero(left == right)
    inside = inside[np.argsort(left[inside], kind="stable")]
    start = np.searchsorted(left[inside], np.arange(len(distinct) + 1))
    given = set(family_of.values())
    found = [
        _family(name, int(size[f]), pairs, counts[inside[start[f] : start[f + 1]]])
        for f, name in enumerate(distinct)
        if name in given
    ]
    return (*found, _family(BETWEEN, len(distinct), pairs, counts[left != right]))


def _family(name: str, judges: int, pairs: Pairs, chosen: LongArray) -> FamilyVotes:
    if judges == 1:
        return FamilyVotes(name, 1, np.nan, 1.0)
    weight = pairs.weight[chosen]
    mean = float((pairs.value[chosen] * weight).sum() / weight.sum()) if weight.size else np.nan
    return FamilyVotes(name, judges, mean, effective_votes(judges, mean))


def _worth(judges: float, correlation: Interval) -> Interval:
    value, low, high = (effective_votes(judges, r) for r in correlation)
    return Interval(value, high, low)  # the more correlated, the fewer


def group_items(judgments: Judgments, groups: int, source: np.random.Generator) -> IntArray:
    """Items in `groups` groups drawn at random, a topic's items together where there are enough topics, (item,)."""
    topics = len(judgments.topics)
    if topics >= groups:
        of_topic = source.permutation(topics) % groups
        return of_topic[judgments.item_topic].astype(np.int32)
    return (source.permutation(len(judgments.item_topic)) % groups).astype(np.int32)
