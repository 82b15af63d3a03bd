"""Tables that a page has room for."""

from __future__ import annotations

from dataclasses import replace

from karatage.views.tables import Table

MOST_ROWS = 500


def keep_first(table: Table, most: int = MOST_ROWS) -> Table:
    """The first rows of a long table, whose caption says how many there are."""
    rows = len(table.frame)
    if rows <= most:
        return table
    marks = {name: list(marked)[:most] for name, marked in table.mark.items()}
    return replace(
        table, frame=table.frame.head(most), caption=f"{table.caption}: the first {most:,} of {rows:,} rows", mark=marks
    )
