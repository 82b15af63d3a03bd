"""The bias of usual judges: a small table, learned by `python -m benchmarks.bias` from judges with gold elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from karatage.correction.gathering import find_typical, measure_mass
from karatage.correction.shrinkage import UsualBias
from karatage.data.axes import FloatArray
from karatage.errors import DataError
from karatage.text import list_names

if TYPE_CHECKING:
    from karatage.decisions.case import Case

FILE = "usual_bias.json"
FORMAT = 1
ROW = "level", "slope", "doubt", "degrees", "alone_level", "alone_doubt"  # the last two: for judges without any gold
POSITIVE = "doubt", "degrees", "alone_doubt"
FAMILIES = "binary", "graded"
LEARN = "python -m benchmarks.bias --write learns a new table"


def find_usual_bias(case: Case) -> UsualBias:
    """The bias of usual judges by measures of this family."""
    assert case.linear is not None
    return load_usual_biases()[name_family(case.linear.gain)]


def bound_errors(case: Case) -> float | None:
    """The difference of two systems that errors of usual judges alone may explain; of a typical pair of a board.

    None for measures that are not weighted sums, and where the systems answered different topics.
    """
    if case.linear is None or case.disjoint:
        return None
    mass = find_typical(measure_mass(case.weight, len(case.topics)))
    alone = find_usual_bias(case).bound_error(case.question.confidence)
    return alone * float(np.ptp(case.linear.gain)) * mass or None


def name_family(gain: FloatArray) -> str:
    """Measures with two gains, or with more."""
    return "binary" if len(np.unique(gain)) <= 2 else "graded"


@cache
def load_usual_biases() -> dict[str, UsualBias]:
    """The table, by family of measures."""
    return read_usual_biases((files("karatage.decisions") / FILE).read_text(encoding="utf-8"), FILE)


def read_usual_biases(text: str, name: str) -> dict[str, UsualBias]:
    """The table in a file of this `name`."""
    try:
        table = json.loads(text)
        known, rows = table["format"], table["families"]
        found = make_usual_biases(rows) if known == FORMAT else {}
    except (ValueError, TypeError, KeyError) as problem:
        reason = str(problem) if isinstance(problem, DataError) else "it is no table of usual judges"
        raise DataError(f"{name}: {reason}; {LEARN}") from problem
    if known != FORMAT:
        raise DataError(f"{name}: its format is {known}, and not {FORMAT}; {LEARN}")
    return found


def make_usual_biases(rows: Iterable[Mapping[str, object]]) -> dict[str, UsualBias]:
    """The bias of each row of the table, by family of measures."""
    numbers: dict[str, dict[str, Any]] = {
        str(row["family"]): {name: float(str(row[name])) for name in ROW} for row in rows
    }
    if sorted(numbers) != sorted(FAMILIES):
        raise DataError(f"its families of measures are {list_names(sorted(numbers))}, and not {list_names(FAMILIES)}")
    for family, row in numbers.items():
        for name, number in row.items():
            least = 0.0 if name in POSITIVE else -np.inf
            if not least < number < np.inf:
                raise DataError(f"{name} of {family} measures is {number:g}")
    return {family: UsualBias(record=(), **row) for family, row in numbers.items()}
