"""Scores, read back."""

from __future__ import annotations

from karatage.data.entries import Entries
from karatage.data.from_json import read_flags, read_numbers
from karatage.data.scores import Scores


def read(entries: Entries) -> Scores:
    """What `Scores.to_dict` says."""
    judges, topics, systems = (entries.texts(axis) for axis in ("judges", "topics", "systems"))
    return Scores(
        measure=entries.text("measure"),
        judges=judges,
        topics=topics,
        systems=systems,
        value=read_numbers(entries, "value", len(judges), len(topics), len(systems)),
        judged=read_flags(entries, "judged", len(judges), len(topics)),
        notes=entries.texts("notes"),
    )
