"""Calibrations of judges, read back."""

from __future__ import annotations

from karatage.data.calibration import Calibration
from karatage.data.entries import Entries
from karatage.data.from_json import read_table
from karatage.data.standing import Bounded

_BINS = {
    "items": "int64",
    **dict.fromkeys(("from", "to", "worth", "weight", "probability", "share", "low", "high"), "float"),
}
_GRADES = {"grade": "int64", **dict.fromkeys(("judges", "gold", "elsewhere"), "float")}
_SHIFT = {"statistic": "text", "way": "text", **dict.fromkeys(("value", "low", "high", "p_value"), "float")}


def read(entries: Entries) -> Calibration:
    """What `Calibration.to_dict` says."""
    return Calibration(
        approach=entries.text("approach"),
        relevant=entries.whole("relevant"),
        items=entries.whole("items"),
        topics=entries.whole("topics"),
        weighed=entries.flag("weighed"),
        bins=read_table(entries, "bins", _BINS),
        grades=read_table(entries, "grades", _GRADES),
        shift=read_table(entries, "shift", _SHIFT),
        brier=_read(entries.object("brier")),
        ece=_read(entries.object("ece")),
        bias=_read(entries.object("bias")),
        seed=entries.whole("seed"),
        versions=entries.object("versions").all_texts(),
        notes=entries.texts("notes"),
    )


def _read(entries: Entries) -> Bounded:
    return Bounded(*(entries.real(name) for name in Bounded._fields))
