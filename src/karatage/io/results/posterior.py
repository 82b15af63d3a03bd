"""What is believed about items, read back with every grade that was heard."""

from __future__ import annotations

import numpy as np
import polars as pl

from karatage.data.axes import FloatArray, locate
from karatage.data.checks import require_equal
from karatage.data.entries import Entries
from karatage.data.from_json import read_nested, read_numbers, read_whole_numbers
from karatage.data.judgments import HIGHEST_GRADE, NO_TOPIC, Judgments
from karatage.data.posterior import Posterior
from karatage.errors import DataError

CHECKED = ("items", "judgments")  # by this module, since with gold there are more than those of the posterior


def read(entries: Entries) -> Posterior:
    """What `Posterior.to_dict` says; items that gold alone has graded are left out."""
    every, rows = entries.objects("items"), entries.object("judgments")
    places = read_whole_numbers(rows, "rows", len(rows.several("rows")), below=len(every))
    items = [every[place] for place in places]
    width = rows.whole("grades", 1, below=HIGHEST_GRADE + 2)
    judges, parameters = entries.objects("judges"), entries.object("parameters")
    topics = tuple(judge.text("topic") for judge in judges if judge.has("topic"))
    if topics and len(topics) < len(judges):
        raise DataError("some judges have a topic, and some have none")
    return Posterior(
        model=entries.text("model"),
        judgments=_read_judgments(rows, items),
        probability=_read_probability(items, width),
        grades=np.array([item.whole("grade", below=HIGHEST_GRADE + 1) for item in items], np.int8),
        judge_names=tuple(judge.text("judge") for judge in judges),
        judge_topics=topics,
        parameters={name: read_nested(parameters, name, len(judges)) for name in parameters.all_names()},
        trace=read_numbers(entries, "trace", entries.whole("iterations")),
        converged=entries.flag("converged"),
        notes=entries.texts("notes"),
        versions=entries.object("versions").all_texts(),
    )


def _read_probability(items: list[Entries], width: int) -> FloatArray:
    if not items:
        raise DataError("judgments.rows names no item")
    probability = np.array([[item.number(f"p{grade}") for grade in range(width)] for item in items])
    require_equal("items: expected", [item.number("expected") for item in items], probability @ np.arange(width))
    return probability


def _read_judgments(rows: Entries, items: list[Entries]) -> Judgments:
    judges = rows.names("judges")
    size = len(rows.several("judge"))
    topic, document = _read_names(items)
    topics = tuple(topic.unique(maintain_order=True))
    # Documents of several topics are numbered by name, as when they were read; those of one as they come.
    names = document.unique(maintain_order=True) if len(topics) == 1 else document.unique().sort()
    heard = Judgments(
        judges=judges,
        topics=topics,
        documents=names.alias("name"),
        item_topic=locate(topic, pl.Series(topics, dtype=pl.String)),
        item_document=locate(document, names),
        judge=read_whole_numbers(rows, "judge", size, below=len(judges)).astype(np.int32),
        item=read_whole_numbers(rows, "item", size, below=len(items)).astype(np.int32),
        grade=read_whole_numbers(rows, "grade", size, below=HIGHEST_GRADE + 1).astype(np.int8),
        top_grade=rows.whole("top_grade"),
        notes=rows.texts("notes"),
    )
    return heard.settle() if rows.flag("settled") else heard


def _read_names(items: list[Entries]) -> tuple[pl.Series, pl.Series]:
    """Topics and documents; where items have one name only, they are of one topic without a name."""
    alone = items[0].has("item")
    topic = [NO_TOPIC if alone else item.text("topic") for item in items]
    document = [item.text("item" if alone else "document") for item in items]
    if len(set(zip(topic, document, strict=True))) < len(items):
        raise DataError("an item stands there twice")
    return pl.Series(topic, dtype=pl.String), pl.Series(document, dtype=pl.String)
