"""Small panels drawn from many judges, and how near their leaderboards come to gold's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from karatage.aggregation.registry import NamedModel, merge
from karatage.data.axes import FloatArray, GradeArray, LongArray
from karatage.data.judgments import Judgments
from karatage.data.scores import settle_ties
from karatage.kernels.correlation import compare_orders, merge_tuples
from karatage.random_streams import stream


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
