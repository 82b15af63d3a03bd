"""Findings of the random relevance experiment, read back."""

from __future__ import annotations

from karatage.data.entries import Entries
from karatage.data.from_json import read_columns, read_table
from karatage.experiments.plans import restore_options
from karatage.experiments.random_relevance.findings import OUTCOMES, RandomRelevanceFindings
from karatage.experiments.random_relevance.plan import RandomRelevancePlan

_RESULTS = {
    **dict.fromkeys(("systems", "panel", "measure", "gold", "approach"), "text"),
    "expected": "bool",
    **dict.fromkeys(("size", "sample"), "int32"),
    **dict.fromkeys(OUTCOMES, "float"),
}
_CHECK = {
    **dict.fromkeys(("systems", "panel", "measure", "of"), "text"),
    **dict.fromkeys(("difference", "standard_error", "tau_ap"), "float"),
}
_TUPLES = {"size": "int32", "sample": "int32", "judge": "text"}


def read(entries: Entries) -> RandomRelevanceFindings:
    """What `RandomRelevanceFindings.to_dict` says."""
    plan = restore_options(RandomRelevancePlan, entries.object("plan"))
    return RandomRelevanceFindings(
        plan=plan,
        collection=entries.text("collection"),
        judges=entries.names("judges"),
        frame=read_table(entries, "results", _RESULTS),
        check=read_table(entries, "check", _CHECK if plan.draws else {}),
        tuples=read_columns(entries, "tuples", _TUPLES),
        notes=entries.texts("notes"),
        versions=entries.object("versions").all_texts(),
    )
