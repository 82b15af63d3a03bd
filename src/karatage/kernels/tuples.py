"""Merging the scores of thousands of small panels drawn from the same judges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import kernel

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@kernel
def merge_tuples(value: FloatArray, weight: FloatArray, members: IntArray, out: FloatArray) -> None:
    """The mean over topics of the members' scores, averaged with `weight` (judge, topic) within each topic.

    `value` is (judge, topic, system), `members` (sample, judge), `out` (sample, system). Members whose weights are all
    0 in a topic count alike there.
    """
    topics = value.shape[1]
    for sample in range(members.shape[0]):
        out[sample] = 0.0
        for t in range(topics):
            total = 0.0
            for k in members[sample]:
                total += weight[k, t]
            for k in members[sample]:
                share = weight[k, t] / total if total > 0.0 else 1.0 / members.shape[1]
                scores = value[k, t]
                for s in range(out.shape[1]):
                    out[sample, s] += share * scores[s]
        for s in range(out.shape[1]):
            out[sample, s] /= topics
