"""What a crowd was like, read back."""

from __future__ import annotations

from karatage.data.crowd_summary import CrowdSummary
from karatage.data.entries import Entries
from karatage.data.from_json import read_table


def read(entries: Entries) -> CrowdSummary:
    """What `CrowdSummary.to_dict` says."""
    return CrowdSummary(
        name=entries.text("model"),
        judges=read_table(entries, "judges"),
        items=entries.whole("items"),
        relevant=entries.whole("relevant"),
        recall=entries.number_or_none("majority_recall"),
        precision=entries.number_or_none("majority_precision"),
        tied=entries.whole("majority_ties"),
        correlation=entries.number_or_none("error_correlation"),
        pairs=entries.whole("pairs"),
        notes=entries.texts("notes"),
        versions=entries.object("versions").all_texts(),
    )
