"""Findings of the noisy experiment, read back."""

from __future__ import annotations

from karatage.data.entries import Entries
from karatage.data.from_json import read_table
from karatage.experiments.noisy.findings import NoisyFindings
from karatage.experiments.noisy.plan import NoisyPlan
from karatage.experiments.plans import restore_options


def read(entries: Entries) -> NoisyFindings:
    """What `NoisyFindings.to_dict` says; a study that was not asked for has a table without columns."""
    return NoisyFindings(
        plan=restore_options(NoisyPlan, entries.object("plan")),
        intervals=read_table(entries, "intervals"),
        histogram=read_table(entries, "histogram"),
        tests=read_table(entries, "tests"),
        worked=read_table(entries, "worked"),
        notes=entries.texts("notes"),
        versions=entries.object("versions").all_texts(),
    )
