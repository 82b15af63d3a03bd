"""Differences topic by topic, as part of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.text import shorten
from karatage.views.page import Figure, Section
from karatage.views.tables import Table
from karatage.views.topic_charts import TopicScores, draw_topic_differences, draw_topics, lay_out_topics

if TYPE_CHECKING:
    import polars as pl

    from karatage.data.evaluation import Evaluation

NAME = 30
TEXT = """A mean hides on how many topics a difference rests. Where a few topics carry it, others may bring another
one."""


def lay_out_topic_section(evaluation: Evaluation, a: str | None, b: str | None) -> Section:
    """System b less a; without b, any that the reader follows less a; without a, less the best."""
    scores = TopicScores.of(evaluation)
    best = evaluation.lead(scores.measure, scores.approach).first if a is None else a
    other = scores.find_next(best) if b is None else b
    told = f"{shorten(other, NAME)} less {shorten(best, NAME)}"
    table = _tabulate(lay_out_topics(scores, best, other), f"{told}, topic by topic")
    if b is None:
        chart = draw_topic_differences(evaluation, best)
        caption = f"The system that is followed ({shorten(other, NAME)} while none is), less {shorten(best, NAME)}"
    else:
        chart, caption = draw_topics(evaluation, best, other), told
    return Section("Topic by topic", TEXT, (), [Figure(chart, f"{caption}, on every topic", "topics", table)])


def _tabulate(frame: pl.DataFrame, caption: str) -> Table:
    shown = frame.select([name for name in ("topic", "judges", "gold") if name in frame.columns])
    return Table(shown, caption, signed=("judges", "gold"), name="topics")
