"""What several kinds of results have in common: estimates, and how judges answer."""

from __future__ import annotations

import numpy as np

from karatage.data.accuracy import Accuracy
from karatage.data.entries import Entries
from karatage.data.estimate import Estimate
from karatage.data.from_json import read_numbers
from karatage.data.standing import Bounded
from karatage.errors import DataError


def read_estimate(entries: Entries) -> Estimate:
    """A value with its uncertainty."""
    return Estimate(
        value=entries.real("value"),
        standard_error=entries.real("standard_error"),
        degrees=entries.real("degrees_of_freedom"),
        low=entries.real("low"),
        high=entries.real("high"),
        confidence=entries.number("confidence"),
    )


def read_bounded(entries: Entries | None) -> Bounded | None:
    """A number with its interval, where there is one."""
    return None if entries is None else Bounded(*(entries.real(name) for name in Bounded._fields))


def read_accuracy(entries: Entries) -> Accuracy | None:
    """How judges answer, from the entries that `tell_accuracy` writes."""
    if entries.get("accuracy") is None:
        return None
    rows = entries.objects("accuracy")
    kinds = tuple(dict.fromkeys(row.text("gold") for row in rows))
    if len(rows) != len(kinds) ** 2:
        raise DataError("accuracy does not have one row for each kind that gold says and each that the judges say")
    shape = len(kinds), len(kinds)
    return Accuracy(
        kinds=kinds,
        count=np.array([float(row.whole("items")) for row in rows]).reshape(shape),
        share=np.array([row.real("share") for row in rows]).reshape(shape),
        size=read_numbers(entries, "accuracy_sizes", len(kinds)),
    )
