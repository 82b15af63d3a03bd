"""Findings of the collaborative experiment, read back."""

from __future__ import annotations

from karatage.data.as_json import name_type
from karatage.data.entries import Entries
from karatage.data.from_json import read_columns
from karatage.experiments.collaborative.findings import CollaborativeFindings
from karatage.experiments.collaborative.plan import CollaborativePlan
from karatage.experiments.collaborative.running import SCHEMAS
from karatage.experiments.plans import restore_options

_AREAS = {"order": "text", "area": "float", **dict.fromkeys(("sample", "topics_above", "topics_below"), "int64")}


def read(entries: Entries) -> CollaborativeFindings:
    """What `CollaborativeFindings.to_dict` says."""
    plan, samples = restore_options(CollaborativePlan, entries.object("plan")), entries.object("samples")
    tables = {
        study: read_columns(samples, study, {column: name_type(kind) for column, kind in schema.items()})
        for study, schema in SCHEMAS.items()
    }
    return CollaborativeFindings(
        plan=plan,
        items=entries.whole("items"),
        relevant=entries.number("relevant", 0, 1),
        topics=entries.whole("topics"),
        systems=entries.whole("systems"),
        orders=tables["orders"],
        finding=tables["finding"],
        mixes=tables["mixes"],
        quality=tables["quality"],
        areas=read_columns(samples, "areas", _AREAS if "finding" in plan.studies else {}),
        notes=entries.texts("notes"),
        versions=entries.object("versions").all_texts(),
    )
