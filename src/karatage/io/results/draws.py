"""Scores under grades drawn from a posterior, read back."""

from __future__ import annotations

from karatage.data.draws import Draws
from karatage.data.entries import Entries
from karatage.data.from_json import read_numbers


def read(entries: Entries) -> Draws:
    """What `Draws.to_dict` says."""
    systems, draws = entries.texts("columns"), entries.whole("draws")
    return Draws(
        measure=entries.text("measure"),
        approach=entries.text("approach"),
        systems=systems,
        value=read_numbers(entries, "value", draws, len(systems)),
        topics=entries.whole("topics"),
        level=entries.number("level"),
        seed=entries.whole("seed"),
        notes=entries.texts("notes"),
    )
