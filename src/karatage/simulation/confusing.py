"""Confusion matrices of kinds of judges."""

from __future__ import annotations

from typing import Final

import numpy as np

from karatage.data.axes import FloatArray, LongArray
from karatage.simulation.counting import Evidence

_LEAST: Final = 1.0  # concentrations
_MOST: Final = 10_000.0
_KNOWN: Final = 2.0  # judges' worth of the crowd's own spread in that of a kind


def learn_confusion(evidence: Evidence, judge: LongArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
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
