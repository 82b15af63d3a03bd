"""How far a leaderboard is settled, read back."""

from __future__ import annotations

from karatage.data.entries import Entries
from karatage.data.from_json import read_flags, read_numbers
from karatage.data.settling import Settling


def read(entries: Entries) -> Settling:
    """What `Settling.to_dict` says."""
    systems = entries.texts("columns")
    size = len(systems)
    return Settling(
        measure=entries.text("measure"),
        systems=systems,
        score=read_numbers(entries, "score", size),
        spread=read_numbers(entries, "spread", size),
        wrong=read_numbers(entries, "wrong", size, size),
        counts=read_flags(entries, "counts", size, size),
        indifference=entries.number("indifference"),
        risk=entries.number("risk"),
        draws=entries.whole("draws"),
    )
