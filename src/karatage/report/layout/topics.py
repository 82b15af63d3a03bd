"""Differences topic by topic, as part of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.report.page import Figure, Section
from karatage.report.tables import Table
from karatage.report.topic_charts import TopicScores, draw_topic_differences, draw_topics, lay_out_topics
from karatage.wording import shorten

if TYPE_CHECKING:
    import polars as pl

    from karatage.data.evaluation import Evaluation

NAME = 30
TEXT = """A mean hides on how many topics a difference rests. Where a few topics carry it, others may bring another
one."""


def lay_out_topic_section(evaluation: Evaluation, pair: tuple[str, str] | None) -> Section:
    """Two systems, or where none are named, the best against any other."""
    a, b = pair or _find_leaders(evaluation)
    frame = lay_out_topics(TopicScores.of(evaluation), a, b)
    table = _tabulate(frame, f"{shorten(b, NAME)} less {shorten(a, NAME)}, topic by topic")
    if pair is None:
        chart, caption = draw_topic_differences(evaluation, a), "Another system against the best one, on every topic"
    else:
        chart, caption = draw_topics(evaluation, a, b), f"{shorten(b, NAME)} less {shorten(a, NAME)}, on every topic"
    return Section("Topic by topic", TEXT, (), [Figure(chart, caption, "topics", table)])


def _find_leaders(evaluation: Evaluation) -> tuple[str, str]:
    lead = evaluation.lead(evaluation.measures[0], evaluation.approaches[0])
    assert lead.second is not None
    return lead.first, lead.second


def _tabulate(frame: pl.DataFrame, caption: str) -> Table:
    shown = frame.select([name for name in ("topic", "judges", "gold") if name in frame.columns])
    return Table(shown, caption, signed=("judges", "gold"), name="topics")
