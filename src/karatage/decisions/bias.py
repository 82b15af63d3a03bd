"""The bias of usual judges: a small table, learned by `python -m benchmarks.bias` from judges with gold elsewhere."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from karatage.correction.shrinkage import UsualBias
from karatage.data.axes import FloatArray

if TYPE_CHECKING:
    from karatage.decisions.case import Case

FILE = "usual_bias.json"
ROW = "level", "slope", "doubt", "degrees"


def find_usual_bias(case: Case) -> UsualBias:
    """The bias of usual judges by measures of this family."""
    assert case.linear is not None
    return load_usual_biases()[name_family(case.linear.gain)]


def name_family(gain: FloatArray) -> str:
    """Measures with two gains, or with more."""
    return "binary" if len(np.unique(gain)) <= 2 else "graded"


@cache
def load_usual_biases() -> dict[str, UsualBias]:
    """The table, by family of measures."""
    read = json.loads((files("karatage.decisions") / FILE).read_text(encoding="utf-8"))
    rows = {str(row["family"]): [float(row[name]) for name in ROW] for row in read["families"]}
    return {
        family: UsualBias(level=level, slope=slope, doubt=doubt, degrees=degrees)
        for family, (level, slope, doubt, degrees) in rows.items()
    }
