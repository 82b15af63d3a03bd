"""Plans of what to send to gold, read back."""

from __future__ import annotations

from karatage.data.entries import Entries
from karatage.data.from_json import read_table
from karatage.data.plan import Forecast, GoldPlan


def read(entries: Entries) -> GoldPlan:
    """What `GoldPlan.to_dict` says."""
    return GoldPlan(
        measure=entries.text("measure"),
        systems=entries.texts("systems"),
        approach=entries.text("approach"),
        confidence=entries.number("confidence"),
        topics=entries.whole("topics"),
        items=read_table(entries, "items"),
        earlier=entries.whole("earlier"),
        frame_size=entries.whole("frame_size"),
        frame=entries.text("frame"),
        pairs=entries.whole("pairs"),
        undecided=entries.whole("undecided"),
        even=entries.real("even"),
        these=_read_forecast(entries.object_or_none("these_topics")),
        new=_read_forecast(entries.object_or_none("new_topics")),
        informed=entries.flag("informed"),
        same=entries.text_or_none("same"),
        seed=entries.whole("seed"),
        versions=entries.object("versions").all_texts(),
        notes=entries.texts("notes"),
    )


def _read_forecast(entries: Entries | None) -> Forecast | None:
    return None if entries is None else Forecast(*(entries.real(name) for name in Forecast._fields))
