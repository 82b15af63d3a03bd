"""Findings of the random relevance experiment, read back."""

from __future__ import annotations

from karatage.data.entries import Entries
from karatage.data.from_json import read_columns, read_table
from karatage.experiments.plans import restore_options
from karatage.experiments.random_relevance.findings import RandomRelevanceFindings
from karatage.experiments.random_relevance.plan import RandomRelevancePlan


def read(entries: Entries) -> RandomRelevanceFindings:
    """What `RandomRelevanceFindings.to_dict` says."""
    return RandomRelevanceFindings(
        plan=restore_options(RandomRelevancePlan, entries.object("plan")),
        collection=entries.text("collection"),
        judges=entries.texts("judges"),
        frame=read_table(entries, "results"),
        check=read_table(entries, "check"),
        tuples=read_columns(entries, "tuples"),
        notes=entries.texts("notes"),
        versions=entries.object("versions").all_texts(),
    )
