"""How judges answer, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.views.tables import Table

if TYPE_CHECKING:
    from karatage.data.accuracy import Accuracy


def tabulate_answers(accuracy: Accuracy) -> Table:
    """What judges say of items of each kind, as shares of these with 95 % intervals."""
    frame = accuracy.to_frame().rename({"low": "95% from", "high": "to"})
    return Table(frame, "What judges say, by what gold says", digits=3, name="answers")
