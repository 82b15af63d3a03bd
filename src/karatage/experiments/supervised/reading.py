"""Findings of the s-AWARE experiment, read back."""

from __future__ import annotations

from karatage.data.entries import Entries
from karatage.data.from_json import read_columns
from karatage.experiments.plans import restore_options
from karatage.experiments.supervised.findings import SupervisedFindings
from karatage.experiments.supervised.plan import SupervisedPlan


def read(entries: Entries) -> SupervisedFindings:
    """What `SupervisedFindings.to_dict` says."""
    plan = restore_options(SupervisedPlan, entries.object("plan"))
    return SupervisedFindings(
        plan=plan,
        collection=entries.text("collection"),
        frame=read_columns(entries, "samples"),
        notes=entries.texts("notes"),
        versions=entries.object("versions").all_texts(),
    )
