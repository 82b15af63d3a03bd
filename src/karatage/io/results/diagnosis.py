"""Diagnoses of files, read back."""

from __future__ import annotations

from typing import cast

from karatage.data.diagnosis import Check, Diagnosis, State
from karatage.data.entries import Entries
from karatage.data.from_json import read_table


def read(entries: Entries) -> Diagnosis:
    """What `Diagnosis.to_dict` says."""
    return Diagnosis(
        measure=entries.text("measure"),
        pair=None if entries.get("pair") is None else cast("tuple[str, str]", entries.texts("pair")),
        checks=tuple(map(_read_check, entries.objects("checks"))),
        systems=read_table(entries, "systems"),
        measures=read_table(entries, "measures"),
        can=entries.texts("can"),
        cannot=entries.texts("cannot"),
        commands=entries.texts("commands"),
        verdict=entries.text("verdict"),
        seed=entries.whole("seed"),
        versions=entries.object("versions").all_texts(),
        notes=entries.texts("notes"),
    )


def _read_check(entries: Entries) -> Check:
    return Check(
        about=entries.text("about"),
        state=cast("State", entries.text("state")),
        finding=entries.text("finding"),
        advice=entries.text("advice"),
    )
