"""Weights of judges, read back."""

from __future__ import annotations

from karatage.data.entries import Entries
from karatage.data.from_json import read_flags, read_numbers
from karatage.data.weights import Weights


def read(entries: Entries) -> Weights:
    """What `Weights.to_dict` says."""
    judges, topics = entries.texts("judges"), entries.texts("topics")
    distance = entries.object("distance")
    return Weights(
        approach=entries.text("approach"),
        measure=entries.text("measure"),
        judges=judges,
        topics=topics,
        share=read_numbers(entries, "share", len(judges), len(topics)),
        present=read_flags(entries, "present", len(judges), len(topics)),
        gap=entries.text("gap"),
        distance={name: read_numbers(distance, name, len(judges)) for name in distance.all_names()},
        notes=entries.texts("notes"),
    )
