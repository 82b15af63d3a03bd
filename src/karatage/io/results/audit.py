"""Audits of judges, read back."""

from __future__ import annotations

import polars as pl

from karatage.data.audit import Audit
from karatage.data.entries import Entries
from karatage.data.from_json import read_table

CHECKED = ("types",)  # by this module, since pairs may be there or not
NO_PAIRS = {"judge": pl.String, "other": pl.String, "shared": pl.Int64}


def read(entries: Entries) -> Audit:
    """What `Audit.to_dict` says; pairs of very many judges are not there unless they were asked for."""
    paired = entries.has("pairs")
    return Audit(
        judges=read_table(entries, "judges"),
        panel=read_table(entries, "panel"),
        pairs=read_table(entries, "pairs") if paired else pl.DataFrame(schema=NO_PAIRS),
        merges=read_table(entries, "merges"),
        confusion=read_table(entries, "confusion"),
        families=read_table(entries, "families"),
        flags=read_table(entries, "flags"),
        has_topics=entries.flag("has_topics"),
        items=entries.whole("items"),
        gold_items=entries.whole("gold_items"),
        seed=entries.whole("seed"),
        versions=entries.object("versions").all_texts(),
        notes=entries.texts("notes"),
    )
