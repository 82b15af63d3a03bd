"""Audits of judges, read back."""

from __future__ import annotations

import polars as pl

from karatage.data.audit import Audit
from karatage.data.entries import Entries
from karatage.data.from_json import read_table

CHECKED = ("types",)  # by this module, since pairs may be there or not
NO_PAIRS = {"judge": pl.String, "other": pl.String, "shared": pl.Int64}
_JUDGES = {"judge": "text", "items": "int64", "coverage": "float", "flags": "text", "why": "text"}
_PANEL = {"statistic": "text", **dict.fromkeys(("value", "low", "high"), "float")}
_PAIRS = {"judge": "text", "other": "text", "shared": "int64"}
_MERGES = {
    **dict.fromkeys(("name", "picked", "also_picked"), "text"),
    **dict.fromkeys(("accuracy", "low", "high", "kappa", "weighted_kappa", "gain", "gain_low", "gain_high"), "float"),
    **dict.fromkeys(("items", "shared", "topics"), "int64"),
}
_CONFUSION = {
    "judge": "text",
    **dict.fromkeys(("gold", "grade", "items"), "int64"),
    **dict.fromkeys(("share", "share_low", "share_high"), "float"),
}
_FAMILIES = {"family": "text", "judges": "int64", "error_correlation": "float", "effective_votes": "float"}
_FLAGS = dict.fromkeys(("judge", "flag", "other", "why"), "text")


def read(entries: Entries) -> Audit:
    """What `Audit.to_dict` says; pairs of very many judges are not there unless they were asked for."""
    paired = entries.has("pairs")
    return Audit(
        judges=read_table(entries, "judges", _JUDGES),
        panel=read_table(entries, "panel", _PANEL),
        pairs=read_table(entries, "pairs", _PAIRS) if paired else pl.DataFrame(schema=NO_PAIRS),
        merges=read_table(entries, "merges", _MERGES),
        confusion=read_table(entries, "confusion", _CONFUSION),
        families=read_table(entries, "families", _FAMILIES),
        flags=read_table(entries, "flags", _FLAGS),
        has_topics=entries.flag("has_topics"),
        items=entries.whole("items"),
        gold_items=entries.whole("gold_items"),
        seed=entries.whole("seed"),
        versions=entries.object("versions").all_texts(),
        notes=entries.texts("notes"),
    )
