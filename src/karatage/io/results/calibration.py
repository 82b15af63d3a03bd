"""Calibrations of judges, read back."""

from __future__ import annotations

from karatage.data.calibration import Calibration
from karatage.data.entries import Entries
from karatage.data.from_json import read_table
from karatage.data.standing import Bounded


def read(entries: Entries) -> Calibration:
    """What `Calibration.to_dict` says."""
    return Calibration(
        approach=entries.text("approach"),
        relevant=entries.whole("relevant"),
        items=entries.whole("items"),
        topics=entries.whole("topics"),
        weighed=entries.flag("weighed"),
        bins=read_table(entries, "bins"),
        grades=read_table(entries, "grades"),
        shift=read_table(entries, "shift"),
        brier=_read(entries.object("brier")),
        ece=_read(entries.object("ece")),
        bias=_read(entries.object("bias")),
        seed=entries.whole("seed"),
        versions=entries.object("versions").all_texts(),
        notes=entries.texts("notes"),
    )


def _read(entries: Entries) -> Bounded:
    return Bounded(*(entries.real(name) for name in Bounded._fields))
