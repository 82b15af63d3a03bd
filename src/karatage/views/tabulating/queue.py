"""What to judge next, as tables and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.views.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karatage.data.queue import JudgingQueue
    from karatage.data.settling import Settling

NOISE = 9  # digits from which on a spread is rounding of the machine, where all is judged


def entitle_queue(found: JudgingQueue) -> str:
    """What there is to judge, and how much of it is judged."""
    judged = f"{found.by_experts:,} judged by experts, {found.by_crowd:,} by the crowd alone"
    return f"Pool of {found.pool:,} documents to depth {found.depth}, {judged}"


def tabulate_settling(found: Settling) -> Table:
    """The leaderboard so far, with the doubt about each system's place."""
    frame = found.to_frame()
    frame = frame.select(
        "system", pl.col("score").alias("expected"), pl.col("spread").round(NOISE).alias("± s.d."), "doubt"
    )
    caption = f"Leaderboard by {found.measure} so far"
    return Table(frame, caption, digits={"doubt": 3}, name="settling", about="system")


def explain_settling(found: Settling) -> Iterator[str]:
    """What doubt is, and when to stop."""
    yield "Doubt: the highest probability that the order of the system and another one is wrong."
    yield f"Rule: {found.rule}."


def tabulate_batch(found: JudgingQueue) -> Table:
    """How many documents go to whom, and what that costs."""
    frame = found.items.group_by("to", maintain_order=True).agg(
        pl.len().alias("documents"),
        pl.col("judgments").first().alias("judgments each"),
        pl.col("cost").sum(),
    )
    return Table(frame, f"Batch {found.batch}, in the order {found.order}", name="batch")
