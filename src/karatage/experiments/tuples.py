"""Small panels drawn from many judges, and how near their leaderboards come to gold's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from karatage.aggregation.registry import NamedModel, merge
from karatage.data.axes import FloatArray, GradeArray, LongArray
from karatage.data.judgments import Judgments
from karatage.data.scores import settle_ties
from karatage.errors import OptionError
from karatage.kernels.correlation import compare_orders, merge_tuples
from karatage.random_streams import generator, stream

ENUMERATED = 4  # times as many k-tuples as are drawn may be listed; beyond, repeated draws are rare


def sample_tuples(judges: int, k: int, samples: int, rng: int | np.random.Generator | None = None) -> LongArray:
    """Distinct sets of `k` out of `judges` judges, each in rising order, (sample, k).

    Each set is as likely as any other. Where there are no more than `samples` of them, all come, in order, so the rows
    may be fewer than asked for.
    """
    if not 1 <= k <= judges or samples < 1:
        raise OptionError(f"{samples} samples of {k} out of {judges} judges cannot be drawn")
    there = math.comb(judges, k)
    if there <= ENUMERATED * samples:
        every = np.array(list(itertools.combinations(range(judges), k)), np.int64)
        if there <= samples:
            return every
        chosen: LongArray = every[generator(rng).choice(there, samples, replace=False)]
        return chosen
    source = generator(rng)
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < samples:
        batch = np.sort(np.argsort(source.random((samples, judges)), axis=1)[:, :k], axis=1)
        drawn |= dict.fromkeys(map(tuple, batch.tolist()))
    return np.array(list(drawn)[:samples], np.int64)


def draw_tuples(judges: int, sizes: Iterable[int], samples: int, seed: int) -> dict[int, LongArray]:
    """The k-tuples of each size; the same for all panels, systems, measures and approaches, which are so paired."""
    return {size: sample_tuples(judges, size, samples, stream(seed, f"k-tuples of {size}")) for size in sizes}


def repeat_tuples(judges: int, size: int, samples: int, seed: int) -> LongArray:
    """A k-tuple for each sample, (sample, judge); where there are fewer, they come again."""
    found = sample_tuples(judges, size, samples, stream(seed, f"k-tuples of {size}"))
    chosen: LongArray = found[np.arange(samples) % len(found)].astype(np.int64)
    return chosen


def check_outcome(outcome: str, known: Sequence[str]) -> str:
    """Refuse an outcome that is not there."""
    if outcome not in known:
        raise OptionError(f"outcome '{outcome}' is none of {', '.join(known)}")
    return outcome


class Nearness(NamedTuple):
    """How near leaderboards come to gold's, one number each."""

    tau: FloatArray
    tau_ap: FloatArray
    rmse: FloatArray


def rate_leaderboards(estimate: FloatArray, gold: FloatArray) -> Nearness:
    """Leaderboards (sample, system) against gold's (system,); the same numbers on whatever machine or thread."""
    plain, weighted = compare_orders(settle_ties(gold[None]), settle_ties(estimate))
    size = len(gold)
    return Nearness(
        tau=plain[0] / (size * (size - 1) / 2),
        tau_ap=np.clip(weighted[0] / (size - 1), -1.0, 1.0),
        rmse=np.sqrt(((estimate - gold) ** 2).mean(axis=1)),
    )


def merge_panels(value: FloatArray, weight: FloatArray, members: LongArray) -> FloatArray:
    """Leaderboards (sample, system) of panels (sample, judge) from scores (judge, topic, system) and weights.

    Weights (judge, topic) need no normalising: a judge's does not depend on who else is in the panel.
    """
    out = np.empty((len(members), value.shape[2]))
    merge_tuples(value, weight, members, out)
    return out


def merge_grades_of(
    panels: LongArray, judgments: Judgments, models: Sequence[NamedModel], *, seed: int
) -> dict[str, GradeArray]:
    """Merged grades (item, sample) of panels of judges (sample, judge), by models that merge grades."""
    found = {named.name: np.empty((len(judgments.item_topic), len(panels)), np.int8) for named in models}
    member = np.zeros(len(judgments.judges), bool)
    for sample, panel in enumerate(panels):
        member[:] = False
        member[panel] = True
        chosen = judgments.keep_rows(member[judgments.judge])
        who = ",".join(map(str, sorted(panel)))
        for named in models:
            found[named.name][:, sample] = merge(named, chosen, rng=stream(seed, f"{named.name} {who}")).grades
    return found
