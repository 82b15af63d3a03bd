"""Findings of the s-AWARE experiment, read back."""

from __future__ import annotations

from karatage.data.entries import Entries
from karatage.data.from_json import read_columns
from karatage.errors import DataError
from karatage.experiments.plans import restore_options
from karatage.experiments.supervised.findings import OUTCOMES, PLACE, SupervisedFindings
from karatage.experiments.supervised.plan import SupervisedPlan

_SAMPLES = {
    **dict.fromkeys((*PLACE, "measure", "approach"), "text"),
    **dict.fromkeys(("size", "sample", "topics", "unseen"), "int64"),
    **dict.fromkeys(OUTCOMES, "float"),
}


def read(entries: Entries) -> SupervisedFindings:
    """What `SupervisedFindings.to_dict` says."""
    plan = restore_options(SupervisedPlan, entries.object("plan"))
    frame = read_columns(entries, "samples", _SAMPLES)
    if frame.is_empty():
        raise DataError("samples is empty: nothing was tried")
    return SupervisedFindings(
        plan=plan,
        collection=entries.text("collection"),
        frame=frame,
        notes=entries.texts("notes"),
        versions=entries.object("versions").all_texts(),
    )
