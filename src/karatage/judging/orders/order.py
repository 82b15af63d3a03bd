"""What an order of judging is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from karatage.data.axes import FloatArray, LongArray
from karatage.errors import DataError, OptionError
from karatage.judging.state import JudgingState, Picks
from karatage.wording import counted

NEEDED = {
    "disagreement": "the predicted chance that judges disagree on an item; learn it from items with several judges",
    "effect": "how much an item's gold would tell about undecided pairs; give judgments so far and a measure",
}


@dataclass(frozen=True)
class Order:
    """A way to pick the next items; it keeps nothing, so that the same state gives the same picks."""

    name: str
    pick: Callable[[JudgingState, int], Picks]  # as `next_items`; 1 item at least, and no more than are open
    needs: tuple[str, ...] = ()  # fields of the state that must be there
    dynamic: bool = False  # whether answers so far change what comes next

    def next_items(self, state: JudgingState, n: int) -> Picks:
        """The next `n` open items, fewer where there are no more within reach."""
        if n < 0:
            raise OptionError(f"{n} items to judge next: give 0 or more")
        for field in self.needs:
            _check_values(self.name, field, getattr(state, field), state.items)
        n = min(n, int(state.open.sum()))
        return self.pick(state, n) if n else by_rule(np.zeros(0, np.int64))


def pick_sorted(state: JudgingState, n: int, *keys: FloatArray | LongArray) -> Picks:
    """The first `n` open items by `keys` (item,), ascending, the first key first; ties by item number."""
    order = np.lexsort(keys[::-1])
    item = order[state.open[order]][:n]
    return by_rule(item)


def by_rule(item: LongArray) -> Picks:
    """Items that no chance was involved in."""
    return Picks(item, np.full(len(item), np.nan))


def _check_values(order: str, field: str, value: FloatArray | None, items: int) -> None:
    if value is None:
        raise DataError(f"the order '{order}' needs {NEEDED[field]}; or choose another order")
    if value.shape != (items,):
        raise DataError(f"the state's {field} has the shape {value.shape} for {counted(items, 'item')}; give one each")
    if not (np.isfinite(value) & (value >= 0)).all():
        raise DataError(f"the state's {field} has values that are no numbers from 0 on; leave none out")
