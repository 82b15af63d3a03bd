"""Does a plain sample look like an even draw from its frame?

Sample and frame are compared by topic, by the judges' grade, and by how the systems rank an item. Where every item had
the same chance, the numbers drawn from groups of items are multivariate hypergeometric, for any frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karatage.data.axes import BoolArray, FloatArray, GradeArray, LongArray, freeze
from karatage.errors import DataError
from karatage.kernels.multiplicity import holm
from karatage.random_streams import stream
from karatage.text import shorten

CHANCE = 0.001  # that an even sample is called uneven
LEAST_EXPECTED = 5.0  # items of a group in the sample, and outside of it; smaller ones are merged with their neighbours
LEAST_OF_TOPIC = 1.0  # the same for topics, whose order says nothing
MOST_TOPICS = 300  # groups of topics, which bounds the time of a simulation
CLEARLY_EVEN = 0.05  # asymptotic p-values above this need not be exact
DRAWS, AT_ONCE = 20_000, 1_000
ENOUGH = 20  # draws as extreme as the sample, after which p is known to be above CHANCE
LEVELS = 20  # groups of items by how differently systems rank them
COMPARED = ("topic", "judges' grade", "best rank", "number of systems", "difference in rank", "system")
ROUNDING = 1e-9  # of a statistic: less does not make a draw less extreme


@dataclass(frozen=True, eq=False, kw_only=True)
class Frame:
    """The items that a sample may have been drawn from, and what the draw may have depended on."""

    topic: NDArray[np.integer]  # (item,)
    said: GradeArray  # (item,) the judges' grade, -1 = not judged
    rank: NDArray[np.int16]  # (item, system) from 1, 0 = not among the first `depth`
    gap: FloatArray  # (item,) how much its weights differ between the systems to be compared
    depth: int
    topics: tuple[str, ...]
    systems: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check and protect the arrays."""
        items, systems = self.rank.shape
        each = (self.topic.shape, self.said.shape, self.gap.shape)
        if set(each) != {(items,)} or systems != len(self.systems):
            raise DataError(
                f"a frame needs a topic, a grade and a gap per item, not {', '.join(map(str, each))}, and a rank "
                f"{self.rank.shape} per item and system"
            )
        if self.rank.size and not 0 <= self.rank.min() <= self.rank.max() <= self.depth:
            raise DataError(f"ranks must be from 1 to {self.depth}, or 0 for none, not {self.rank.max()}")
        freeze(self.topic, self.said, self.rank, self.gap)

    @property
    def top(self) -> str:
        """The ranks that count, in words."""
        return "the first rank" if self.depth == 1 else f"the first {self.depth} ranks"


class Uneven(NamedTuple):
    """The group of items whose share in the sample is furthest from its share in the frame."""

    by: str
    group: str
    in_sample: float
    in_frame: float
    p_value: float  # of this comparison, adjusted for all of them

    @property
    def sentence(self) -> str:
        """What differs, in plain words."""
        digits = 0 if round(100 * self.in_sample) != round(100 * self.in_frame) else 1
        sample, frame = (f"{share:.{digits}%}" for share in (self.in_sample, self.in_frame))
        return f"gold has {sample} of its items {self.group}, its frame (the documents it may come from) {frame}"


class Evenness(NamedTuple):
    """How probable a sample as uneven as this one is, if all items had the same chance."""

    p_values: dict[str, float]  # by what sample and frame were compared; adjusted for their number [HOLM79]
    uneven: Uneven | None  # what differs most, where a p-value is below CHANCE


class _Groups(NamedTuple):
    """All items in groups."""

    by: str
    place: NDArray[np.integer]  # (item,)
    names: tuple[str, ...]
    score: FloatArray | None = None  # (group,) where a trend is looked for


class _Tested(NamedTuple):
    """One comparison, and the group of items that differs most by it."""

    by: str
    p_value: float
    group: str = ""
    in_sample: float = 0.0
    in_frame: float = 0.0
    distance: float = 0.0  # of the two shares in standard errors


def check_evenness(frame: Frame, sampled: BoolArray) -> Evenness:
    """Compare the `sampled` items (item,) with all of their frame.

    By topic, judges' grade, best rank and number of systems: chi-square tests, exact by simulation where it may count.
    By system: exact tests of how many of its items were sampled. By difference in rank: whether the sample prefers
    items that systems rank differently, as queues do. Where nothing can be told, as of a census, p-values are 1.
    """
    if sampled.shape != frame.topic.shape:
        raise DataError(f"the sample {sampled.shape} must be marked among the {len(frame.topic):,} items of its frame")
    if sampled.all() or not sampled.any():
        return Evenness(dict.fromkeys(COMPARED, 1.0), None)
    tests = [_test_groups(groups, sampled) for groups in _group(frame, int(sampled.sum()))]
    tests.append(_test_systems(frame, sampled))
    adjusted = np.minimum(holm([test.p_value for test in tests]), 1.0).tolist()
    p_values = {test.by: p_value for test, p_value in zip(tests, adjusted, strict=True)}
    found = [test for test in tests if p_values[test.by] < CHANCE]
    if not found:
        return Evenness(p_values, None)
    most = max(found, key=lambda test: abs(test.distance))
    return Evenness(p_values, Uneven(most.by, most.group, most.in_sample, most.in_frame, p_values[most.by]))


def _group(frame: Frame, taken: int) -> Iterator[_Groups]:
    items = len(frame.topic)
    fewer = min(taken, items - taken)
    least = LEAST_EXPECTED * items / fewer  # items of the frame
    least_of_topic = max(LEAST_OF_TOPIC / fewer, 1 / MOST_TOPICS) * items
    nowhere = f"outside {frame.top} of all systems"
    best = np.where(frame.rank > 0, frame.rank, frame.depth + 1).min(axis=1, initial=frame.depth + 1)

    def name_topics(span: list[int]) -> str:
        first, last = (f"'{shorten(frame.topics[span[end]])}'" for end in (0, -1))
        return f"from topic {first}" if len(span) == 1 else f"from {len(span)} topics ({first} to {last})"

    def name_count(span: list[int]) -> str:
        return f"from {frame.top} of {'1 system only' if span == [1] else f'{_write_span(span)} systems'}"

    yield _merge("topic", frame.topic, least_of_topic, name_topics)
    yield _merge(
        "judges' grade",
        frame.said,
        least,
        lambda span: f"where the judges said {_write_span(span)}",
        none=(-1, "among documents without a judgment"),
    )
    yield _merge(
        "best rank",
        best,
        least,
        lambda span: f"among those whose best rank is {_write_span(span)}",
        none=(frame.depth + 1, nowhere),
    )
    yield _merge("number of systems", np.count_nonzero(frame.rank, axis=1), least, name_count, none=(0, nowhere))
    yield _group_by_difference(frame)


def _merge(
    by: str,
    value: NDArray[np.integer],
    least: float,
    name: Callable[[list[int]], str],
    *,
    none: tuple[int, str] | None = None,
) -> _Groups:
    """Groups of adjacent values with at least `least` items; a value that stands for none is a separate group."""
    values, place, count = np.unique(value, return_inverse=True, return_counts=True)
    apart = np.zeros(len(values), bool) if none is None else values == none[0]
    spans: list[list[int]] = [[]]
    size = 0
    for at in np.flatnonzero(~apart):
        if size >= least:
            spans.append([])
            size = 0
        spans[-1].append(int(values[at]))
        size += int(count[at])
    if len(spans) > 1 and size < least:
        last = spans.pop()
        spans[-1] += last
    group = np.digitize(values, [span[0] for span in spans[1:]])
    group[apart] = len(spans)
    return _Groups(by, group[place], (*map(name, spans), "" if none is None else none[1]))


def _write_span(values: list[int]) -> str:
    """Adjacent numbers.

    >>> _write_span([2]), _write_span([2, 3]), _write_span([2, 3, 7])
    ('2', '2 or 3', '2 to 7')
    """
    if len(values) < 3:
        return " or ".join(map(str, values))
    return f"{values[0]} to {values[-1]}"


def _group_by_difference(frame: Frame) -> _Groups:
    """By the difference of the compared systems' weights of an item."""
    score = frame.gap.round(9)  # equal up to rounding
    edges = np.unique(np.quantile(score, np.arange(1, LEVELS) / LEVELS, method="lower"))
    place = np.searchsorted(edges, score, side="right")
    count = np.bincount(place, minlength=len(edges) + 1)
    mean = np.bincount(place, score, len(count)) / np.maximum(count, 1)
    name = "among those that the systems rank most differently"
    return _Groups("difference in rank", place, (name,) * len(count), mean)


def _test_groups(groups: _Groups, sampled: BoolArray) -> _Tested:
    from scipy.special import chdtrc

    size = np.bincount(groups.place, minlength=len(groups.names))
    there = np.flatnonzero(size)
    if len(there) < 2:
        return _Tested(groups.by, 1.0)
    size, drawn = size[there], np.bincount(groups.place[sampled], minlength=len(groups.names))[there]
    score = None if groups.score is None else groups.score[there]
    items, taken = len(sampled), int(drawn.sum())
    observed = float(_measure(drawn, size, taken, score))
    p_value = float(chdtrc(len(size) - 1 if score is None else 1, observed))
    if p_value <= CLEARLY_EVEN:
        p_value = _simulate(observed, size, taken, score, groups.by)
    if score is not None:  # the group to report has the scores above the mean
        high = score > (size * score).sum() / items
        size, drawn = size[high].sum(keepdims=True), drawn[high].sum(keepdims=True)
    distance = _find_distance(drawn, size, taken, items)
    at = int(np.abs(distance).argmax())
    return _Tested(
        groups.by,
        p_value,
        groups.names[there[at]],
        float(drawn[at] / taken),
        float(size[at] / items),
        float(distance[at]),
    )


def _measure(drawn: LongArray, size: LongArray, taken: int, score: FloatArray | None) -> FloatArray:
    """Chi-square of the items `drawn` (..., group) of a finite frame; with scores (group,), of their mean alone."""
    items = int(size.sum())
    expected, spread = size * (taken / items), (items - taken) / (items - 1)
    found: FloatArray
    if score is None:
        found = ((drawn - expected) ** 2 / expected).sum(axis=-1) / spread
    else:
        centred = score - (size * score).sum() / items
        found = np.einsum("...g,g->...", drawn, centred) ** 2 / ((expected * centred**2).sum() * spread)
    return found


def _simulate(observed: float, size: LongArray, taken: int, score: FloatArray | None, by: str) -> float:
    """The p-value, from even draws; no more of them than are needed to see that it is above CHANCE."""
    source = stream(0, f"evenness by {by}")
    extreme, draws = 0, 0
    while draws < DRAWS and extreme < ENOUGH:
        drawn = source.multivariate_hypergeometric(size, taken, AT_ONCE, method="marginals")
        extreme += int((_measure(drawn, size, taken, score) >= observed * (1 - ROUNDING)).sum())
        draws += AT_ONCE
    return (1 + extreme) / (1 + draws)


def _test_systems(frame: Frame, sampled: BoolArray) -> _Tested:
    """Whether each system has its share of the sample; all p-values times the number of systems."""
    items, taken = len(sampled), int(sampled.sum())
    size, drawn = np.count_nonzero(frame.rank, axis=0), np.count_nonzero(frame.rank[sampled], axis=0)
    partial = np.flatnonzero((size > 0) & (size < items))
    if not partial.size:
        return _Tested("system", 1.0)
    size, drawn = size[partial], drawn[partial]
    p_values, distance = _find_tails(drawn, size, taken, items), _find_distance(drawn, size, taken, items)
    at = int(np.lexsort((-np.abs(distance), p_values))[0])
    return _Tested(
        "system",
        min(float(p_values[at]) * len(partial), 1.0),
        f"from {frame.top} of system '{shorten(frame.systems[partial[at]])}'",
        float(drawn[at] / taken),
        float(size[at] / items),
        float(distance[at]),
    )


def _find_tails(drawn: LongArray, size: LongArray, taken: int, items: int) -> FloatArray:
    """Two-sided hypergeometric p-values (test,): twice the smaller tail.

    Written out since scipy.stats takes a second to import.
    """
    from scipy.special import gammaln

    factorial = gammaln(np.arange(1.0, items + 2))  # logs

    def choose(below: LongArray | int, above: LongArray | int) -> FloatArray:
        found: FloatArray = factorial[above] - factorial[below] - factorial[above - below]
        return found

    p_values = np.empty(len(size))
    for at, (count, group) in enumerate(zip(drawn.tolist(), size.tolist(), strict=True)):
        possible = np.arange(max(0, taken + group - items), min(taken, group) + 1)
        chance = np.exp(choose(possible, group) + choose(taken - possible, items - group) - choose(taken, items))
        p_values[at] = 2 * min(chance[possible <= count].sum(), chance[possible >= count].sum())
    return np.minimum(p_values, 1.0)


def _find_distance(drawn: LongArray, size: LongArray, taken: int, items: int) -> FloatArray:
    """How far each number of items drawn (group,) is from what is expected, in standard errors."""
    expected = size * (taken / items)
    found: FloatArray = (drawn - expected) / np.sqrt(expected * (1 - size / items) * ((items - taken) / (items - 1)))
    return found
