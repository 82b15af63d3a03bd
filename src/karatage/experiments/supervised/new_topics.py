"""How much differences between approaches vary with the topics: a jackknife over the topics of all samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.data.axes import FloatArray, LongArray
from karatage.experiments.supervised.plan import Place


class TopicError(NamedTuple):
    """The standard error of a mean difference from the baseline in tau_ap that is due to the choice of topics."""

    systems: str
    panel: str
    configuration: str
    measure: str
    size: int | None  # None: all sizes, with equal weights
    approach: str
    topics: int
    error: float


class _Group(NamedTuple):
    """Differences from the baseline at one size: of samples, and of samples without one of their test topics."""

    gap: FloatArray  # (sample, approach)
    less: FloatArray  # (sample, topic, approach), NaN where the topic is used for training


def find_topic_errors(
    frame: pl.DataFrame, less: pl.DataFrame, names: Sequence[str], baseline: str
) -> Iterator[TopicError]:
    """Errors of all approaches, at every size and for all sizes together; none if a topic is in no test set.

    Args:
        frame: The tau_ap of each sample and approach, in this order.
        less: The same, `without` one test topic.
        names: Approaches, in order.
        baseline: One of them.
    """
    base, keys = list(names).index(baseline), [*Place._fields, "measure"]
    for key, part in frame.group_by(keys, maintain_order=True):
        here = {name: str(value) for name, value in zip(keys, key, strict=True)}
        topics = less.filter(**here)["without"].unique().sort().to_numpy()
        groups = {
            size: _gather(rows, less.filter(size=size, **here), topics, len(names), base)
            for (size,), rows in part.group_by("size", maintain_order=True)
        }
        for size, chosen in [(None, list(groups.values())), *((size, [group]) for size, group in groups.items())]:
            for name, error in zip(names, jackknife(chosen), strict=True):
                if name != baseline and np.isfinite(error):
                    yield TopicError(**here, size=size, approach=name, topics=len(topics), error=float(error))


def _gather(rows: pl.DataFrame, less: pl.DataFrame, topics: LongArray, width: int, base: int) -> _Group:
    value = rows["tau_ap"].to_numpy().reshape(-1, width)
    without = less["tau_ap"].to_numpy().reshape(-1, width)
    grid = np.full((len(value), len(topics), width), np.nan)
    sample = np.searchsorted(rows["sample"].to_numpy()[::width], less["sample"].to_numpy()[::width])
    grid[sample, np.searchsorted(topics, less["without"].to_numpy()[::width])] = without - without[:, [base]]
    return _Group(value - value[:, [base]], grid)


def jackknife(groups: Sequence[_Group]) -> FloatArray:
    """The standard error due to topics of the mean over groups, (approach,).

    The experiment without a topic has the samples that do not train on it, with the topic left out of their tests. The
    variance among these means, over topics, contains noise because the samples are few. The noise is estimated from
    the variance among samples, and subtracted.
    """
    topics = groups[0].less.shape[1]
    moved, noise = np.zeros(groups[0].less.shape[1:]), np.zeros(groups[0].less.shape[2])
    for group in groups:
        samples, seen = len(group.gap), np.isfinite(group.less)
        count = seen.sum(axis=0)
        if samples < 2 or topics < 2 or not count.all():
            return np.full(group.gap.shape[1], np.nan)
        away = np.where(seen, group.less - group.gap.mean(axis=0), 0.0) * (samples / count)
        away -= away.mean(axis=1, keepdims=True)
        moved += away.mean(axis=0) / len(groups)
        noise += away.var(axis=0, ddof=1).sum(axis=0) / samples / len(groups) ** 2
    variance: FloatArray = np.maximum((moved**2).sum(axis=0) - noise, 0.0) * (topics - 1) / topics
    return np.sqrt(variance)
