"""Gold and models for tests of crowds."""

import numpy as np

from karatage.data.axes import Coded
from karatage.data.crowd import Contribution, Correlation, CrowdModel
from karatage.data.judgments import Judgments


def make_gold(topics, each, relevant=0.3, top=1, seed=0):
    """Every topic has the same share of each grade, in random order; without topics for 0."""
    count = max(topics, 1) * each
    rng = np.random.default_rng(seed)
    share = np.r_[1 - relevant, np.full(top, relevant / top)]
    cut = np.searchsorted(np.cumsum(share), (np.arange(each) + 0.5) / each)
    grade = np.concatenate([rng.permutation(np.minimum(cut, top)) for _ in range(max(topics, 1))])
    return Judgments.build(
        judge=Coded.constant("gold", count),
        topic=Coded.of([f"t{k // each:03d}" if topics else "" for k in range(count)]),
        document=Coded.of([f"d{k:06d}" for k in range(count)]),
        grade=grade.astype(np.int8),
        top_grade=top,
    )


def make_model(hit=0.85, rejection=0.75, *, spread=0.01, contribution=0.1, shared=(0.0, 0.0, 0.0), families=None):
    """One kind of judge."""
    voxel = np.array([[int(hit * 10), int(rejection * 10), int(contribution * 4)]], np.int32)
    return CrowdModel(
        name="one",
        source="nobody",
        judges=1,
        judgments=1,
        balance=np.array([0.7, 0.3]),
        voxel=voxel,
        share=np.ones(1),
        mean=np.array([[hit, rejection, np.log(contribution)]]),
        covariance=np.diag([spread**2, spread**2, 0.01])[None],
        correlation=Correlation(*shared),
        families=families or {},
        contribution=Contribution(0.001, np.nan, np.nan),
    )
