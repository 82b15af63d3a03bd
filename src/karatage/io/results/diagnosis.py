"""Diagnoses of files, read back."""

from __future__ import annotations

from typing import cast

from karatage.data.diagnosis import STATES, Check, Diagnosis, State
from karatage.data.entries import Entries
from karatage.data.from_json import read_table
from karatage.errors import DataError

_SYSTEMS = {"system": "text", "topics": "int64", "short": "int64", "judged": "float"}
_MEASURES = {"measure": "text", "way": "text", "detectable": "float", "refusal": "text"}


def read(entries: Entries) -> Diagnosis:
    """What `Diagnosis.to_dict` says."""
    return Diagnosis(
        measure=entries.text("measure"),
        pair=_read_pair(entries),
        checks=tuple(map(_read_check, entries.objects("checks"))),
        systems=read_table(entries, "systems", _SYSTEMS),
        measures=read_table(entries, "measures", _MEASURES),
        can=entries.texts("can"),
        cannot=entries.texts("cannot"),
        commands=entries.texts("commands"),
        verdict=entries.text("verdict"),
        seed=entries.whole("seed"),
        versions=entries.object("versions").all_texts(),
        notes=entries.texts("notes"),
    )


def _read_pair(entries: Entries) -> tuple[str, str] | None:
    if entries.get("pair") is None:
        return None
    names = entries.texts("pair")
    if len(names) != 2:
        raise DataError(f"pair has {len(names)} systems, not 2")
    return names[0], names[1]


def _read_check(entries: Entries) -> Check:
    return Check(
        about=entries.text("about"),
        state=cast("State", entries.choice("state", STATES)),
        finding=entries.text("finding"),
        advice=entries.text("advice"),
    )
