"""Findings of the noisy experiment, read back."""

from __future__ import annotations

from karatage.data.as_json import name_type
from karatage.data.entries import Entries
from karatage.data.from_json import read_table
from karatage.experiments.noisy.findings import NoisyFindings
from karatage.experiments.noisy.plan import NoisyPlan
from karatage.experiments.noisy.worked import WORKED
from karatage.experiments.plans import restore_options

_WORLD = {
    **dict.fromkeys(("right_relevant", "right_other", "precision"), "float"),
    **dict.fromkeys(("gold_size", "topics"), "int64"),
}
_RATES = ("naive", "naive_covered", "refused", "corrected", "covered", "covered_t")
_INTERVALS = {**_WORLD, **dict.fromkeys((*_RATES, "bias", "outside", "spread", "standard_error"), "float")}
_HISTOGRAM = {**_WORLD, "estimate": "text", "low": "float", "high": "float", "simulations": "int64"}
_TESTS = {
    **_WORLD,
    **dict.fromkeys(("gold_samples", "test"), "text"),
    **dict.fromkeys(("difference", "rejected", "wrong", "covered", "estimate", "refused"), "float"),
}
_WORKED = {column: name_type(kind()) for column, kind in WORKED.items()}


def read(entries: Entries) -> NoisyFindings:
    """What `NoisyFindings.to_dict` says; a study that was not asked for has a table without columns."""
    plan = restore_options(NoisyPlan, entries.object("plan"))
    covered, tested = "intervals" in plan.studies, "tests" in plan.studies
    return NoisyFindings(
        plan=plan,
        intervals=read_table(entries, "intervals", _INTERVALS if covered else {}),
        histogram=read_table(entries, "histogram", _HISTOGRAM if covered else {}),
        tests=read_table(entries, "tests", _TESTS if tested else {}),
        worked=read_table(entries, "worked", _WORKED),
        notes=entries.texts("notes"),
        versions=entries.object("versions").all_texts(),
    )
