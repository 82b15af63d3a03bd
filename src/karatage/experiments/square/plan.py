"""The design of the SQUARE benchmark: models, amounts of gold, items, and how folds are scored [SQUARE13]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

KIND = "benchmark"
APPROACHES = ("mv", "zc", "glad", "nb", "ds", "ry", "cubam")  # numbered as in [COLLAB14], table 2.3
AMOUNTS = (10, 20, 50, 80, 90)
Folds = Literal["pooled", "averaged"]


@dataclass(frozen=True, kw_only=True)
class SquarePlan:
    """Which models are tried with which amounts of gold, and on what.

    Args:
        approach: Models by name, with options.
        amounts: Percent of gold for training; none for unsupervised runs only.
        gold_items_only: Leave out items without gold, as SQUARE does.
        folds: `pooled`: every item is scored once, as in SQUARE 2.0. `averaged`: every fold is scored on all items that
            it was not trained on, also without gold, on ten times nine tenths of the items, as in [COLLAB14].
    """

    approach: tuple[str, ...] = APPROACHES
    amounts: tuple[int, ...] = AMOUNTS
    gold_items_only: bool = False
    folds: Folds = "pooled"
