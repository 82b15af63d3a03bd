"""Findings of the collaborative experiment, read back."""

from __future__ import annotations

from karatage.data.entries import Entries
from karatage.data.from_json import read_columns
from karatage.experiments.collaborative.findings import CollaborativeFindings
from karatage.experiments.collaborative.plan import CollaborativePlan
from karatage.experiments.plans import restore_options


def read(entries: Entries) -> CollaborativeFindings:
    """What `CollaborativeFindings.to_dict` says."""
    plan, samples = restore_options(CollaborativePlan, entries.object("plan")), entries.object("samples")
    return CollaborativeFindings(
        plan=plan,
        items=entries.whole("items"),
        relevant=entries.number("relevant"),
        topics=entries.whole("topics"),
        systems=entries.whole("systems"),
        orders=read_columns(samples, "orders"),
        finding=read_columns(samples, "finding"),
        mixes=read_columns(samples, "mixes"),
        quality=read_columns(samples, "quality"),
        areas=read_columns(samples, "areas"),
        notes=entries.texts("notes"),
        versions=entries.object("versions").all_texts(),
    )
