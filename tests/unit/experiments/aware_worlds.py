"""Findings of the AWARE experiment made by hand, so that what follows from them is known."""

import math

import numpy as np

from karatage.experiments.aware.findings import AwareFindings
from karatage.experiments.aware.plan import AwarePlan

PAPER = ("all30", "uniform", "mv", "emmv", "emneu")


def make_findings(
    approaches=PAPER,
    *,
    sizes=tuple(range(2, 31)),
    panels=("given",),
    systems=("T08", "T13"),
    measures=("AP", "nDCG(dcg=jk,base=2)@20", "ERR(gain=5,max=5)@20"),
    value=None,
    samples=50,
    spread=0.01,
):
    """`value(systems, panel, measure, size, outcome, approach)` is a mean; default: noise."""
    plan = AwarePlan(approaches=approaches, measures=measures, sizes=sizes, samples=samples, replicates=8)
    contenders = plan.find_contenders()
    outcomes = ("tau", "tau_ap", "rmse")
    axes = systems, panels, measures, sizes, outcomes, tuple(c.name for c in contenders)
    shape = tuple(map(len, axes))
    mean = np.random.default_rng(0).normal(0.7, 0.05, shape)
    if value is not None:
        for at in np.ndindex(shape):
            mean[at] = value(*(axis[k] for axis, k in zip(axes, at, strict=True)))
    covariance = np.broadcast_to(np.eye(shape[-1]) * spread**2, (*shape, shape[-1])).copy()
    return AwareFindings(
        plan=plan,
        collection="made up",
        judges=tuple(f"judge-{k:02d}" for k in range(31)),
        systems=systems,
        panels=panels,
        measures=measures,
        sizes=sizes,
        samples=np.array([min(samples, math.comb(31, size)) for size in sizes]),
        mean=mean,
        covariance=covariance,
    )
