"""The table of measures, from their declarations."""

from __future__ import annotations

from collections.abc import Sequence

from karatage.measures.registry import FAMILIES
from karatage.measures.spec import Family

HEADS = ("measure", "definition", "options", "expected form", "weighted sum")


def list_measures(names: Sequence[str]) -> str:
    """Every measure with its definition and what can be done with it, as a Markdown table."""
    del names
    rows = [HEADS, ["---"] * len(HEADS), *map(_describe, FAMILIES.values())]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _describe(family: Family) -> list[str]:
    expected = "no" if family.expected is None else "ratio" if family.ratio else "exact"
    weights = "no" if family.weights is None else "over the ideal" if family.weights.normalised else "yes"
    options = ", ".join(f"`{option}=`" for option in family.options)
    also = "".join(f", `{alias}`" for alias in family.aliases)
    return [f"`{family.example}`{also}", family.about, options, expected, weights]
