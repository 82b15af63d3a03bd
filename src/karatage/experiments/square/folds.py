"""Cross-validation as SQUARE does it: every item has one prediction, from a fold that was not trained on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karatage.data.axes import LongArray
from karatage.errors import DataError, OptionError
from karatage.text import counted


@dataclass(frozen=True, eq=False)
class Fold:
    """Items whose gold is given, and items whose prediction is kept."""

    training: LongArray
    kept: LongArray


def count_parts(amount: int) -> int:
    """Into how many parts gold is cut, so that one part, or all but one, is `amount` percent.

    >>> [count_parts(amount) for amount in (10, 20, 33, 50, 80, 90)]
    [10, 5, 3, 2, 5, 10]
    """
    if not 1 <= amount <= 99:
        raise OptionError(f"an amount of gold is a percentage from 1 to 99, not {amount}")
    share = min(amount, 100 - amount)
    parts = round(100 / share)
    if abs(100 / parts - share) >= 0.5:
        low, high = 100 / (int(100 / share) + 1), 100 / int(100 / share)
        near = " or ".join(f"{round(100 - s if amount > 50 else s)}" for s in (low, high))
        raise OptionError(f"{amount} % is neither one part of several equal ones nor all but one; use {near}")
    return parts


def make_folds(items: LongArray, amount: int, rng: np.random.Generator) -> tuple[Fold, ...]:
    """Folds with `amount` percent of the items for training.

    Up to 50 % each part is the training set of one fold, and the fold keeps the predictions for the part before it,
    as in SQUARE 2.0's own files; above, each part is kept by the fold that trains on all others.
    """
    parts = count_parts(amount)
    if len(items) < parts:
        raise DataError(f"{amount} % takes {parts} folds, but gold has only {counted(len(items), 'item')}")
    part = [np.sort(piece) for piece in np.array_split(rng.permutation(items), parts)]
    if amount <= 50:
        return tuple(Fold(part[k], part[k - 1]) for k in range(parts))
    return tuple(Fold(np.setdiff1d(items, piece), piece) for piece in part)
