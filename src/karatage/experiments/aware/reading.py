"""Findings of the AWARE experiment, read back."""

from __future__ import annotations

import numpy as np

from karatage.data.axes import FloatArray
from karatage.data.entries import Entries
from karatage.data.from_json import read_numbers, read_whole_numbers
from karatage.experiments.aware.cells import OUTCOMES
from karatage.experiments.aware.findings import AwareFindings
from karatage.experiments.aware.plan import AwarePlan
from karatage.experiments.plans import restore_options

MOST_SAMPLES = 2**31


def read(entries: Entries) -> AwareFindings:
    """What `AwareFindings.to_dict` says."""
    plan = restore_options(AwarePlan, entries.object("plan"))
    systems, panels, measures, judges = (entries.texts(axis) for axis in ("systems", "panels", "measures", "judges"))
    count = len(entries.several("sizes"))
    sizes = read_whole_numbers(entries, "sizes", count, below=len(judges) + 1)
    samples = read_whole_numbers(entries, "samples", count, below=MOST_SAMPLES)
    shape = len(systems), len(panels), len(measures), count, len(OUTCOMES)
    contenders = plan.find_contenders()
    return AwareFindings(
        plan=plan,
        collection=entries.text("collection"),
        judges=judges,
        systems=systems,
        panels=panels,
        measures=measures,
        sizes=tuple(sizes.tolist()),
        contenders=contenders,
        samples=samples,
        mean=read_numbers(entries, "mean", *shape, len(contenders)),
        covariance=_read_covariance(entries, shape, len(contenders)),
        notes=entries.texts("notes"),
        versions=entries.object("versions").all_texts(),
    )


def _read_covariance(entries: Entries, shape: tuple[int, ...], width: int) -> FloatArray:
    """The lower half was written, as the upper is the same."""
    row, column = np.tril_indices(width)
    half = read_numbers(entries, "covariance", *shape, len(row))
    whole = np.empty((*shape, width, width))
    whole[..., row, column] = whole[..., column, row] = half
    return whole
