"""Plans of how many topics and gold items to judge, read back."""

from __future__ import annotations

import math

from karatage.data.entries import Entries
from karatage.data.from_json import read_numbers
from karatage.data.sizing import Need, SizePlan


def read(entries: Entries) -> SizePlan:
    """What `SizePlan.to_dict` says."""
    first, second = read_numbers(entries, "estimates", 2).tolist()
    return SizePlan(
        judges=entries.text("judges"),
        paired=entries.flag("paired"),
        level=entries.number("level"),
        power=entries.number_or_none("power"),
        estimates=(first, second),
        difference=entries.real("difference"),
        needs=tuple(map(_read_need, entries.objects("needs"))),
        topics_without_errors=entries.real("topics_without_errors"),
        standard_error=entries.real("standard_error"),
        half_width=entries.real("half_width"),
        detectable=entries.real("detectable"),
        budget=entries.number_or_none("budget"),
        refusal=entries.text_or_none("refusal"),
        notes=entries.texts("notes"),
        versions=entries.object("versions").all_texts(),
    )


def _read_need(entries: Entries) -> Need:
    return Need(
        kind=entries.text("need"),
        judges=entries.text("judges"),
        size=math.inf if entries.get("size") is None else float(entries.whole("size")),  # null: no number is enough
        have=entries.whole("have"),
        share=entries.real("share"),
        price=entries.number_or_none("price"),
    )
