"""Scores under grades drawn from a posterior, read back."""

from __future__ import annotations

from karatage.data.draws import Draws
from karatage.data.entries import Entries
from karatage.data.from_json import read_numbers
from karatage.io.results.parts import read_confidence


def read(entries: Entries) -> Draws:
    """What `Draws.to_dict` says."""
    systems, draws = entries.names("columns"), entries.whole("draws", 2)
    return Draws(
        measure=entries.text("measure"),
        approach=entries.text("approach"),
        systems=systems,
        value=read_numbers(entries, "value", draws, len(systems)),
        rank=read_numbers(entries, "rank", draws, len(systems)),
        topics=entries.whole("topics"),
        level=read_confidence(entries, "level"),
        seed=entries.whole("seed"),
        notes=entries.texts("notes"),
    )
