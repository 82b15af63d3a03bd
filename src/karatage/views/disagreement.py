"""A model of disagreement: how predictions do on held-out items, and what was learned on each topic."""

from __future__ import annotations

from functools import partial

import polars as pl

from karatage.data.disagreement import DisagreementModel
from karatage.views.page import Figure, Page, Section, list_facts
from karatage.views.plan_charts import draw_disagreement
from karatage.views.showing import shows
from karatage.views.table import Table, label_columns

DIGITS = 3
HEADERS = {"mean": "mean over topics", "over_topics": "± over topics", "over_splits": "± over splits"}


@shows(DisagreementModel)
def view_disagreement(model: DisagreementModel) -> Page:
    """Rates, then topics."""
    figures = []
    if model.rates["topics"].sum():
        figures.append(Figure(partial(draw_disagreement, model), "Rates on held-out items, by topic", "rates"))
    frame = model.rates.with_columns(pl.col("rate").str.to_uppercase())
    rates = Table(frame, "On held-out items", DIGITS, name="rates", columns=label_columns(frame, **HEADERS))
    sections = [Section("Held-out items", "", [rates], figures), Section("Topics", "", [_tabulate_topics(model)])]
    facts = list_facts(model, features=", ".join(model.features), threshold=f"{model.threshold:g}", splits=model.trials)
    return Page("Where judges disagree", model.sentence, sections, model.notes, facts)


def _tabulate_topics(model: DisagreementModel) -> Table:
    """What was learned on each topic, and which topics were left out."""
    frame = model.to_frame()
    rates = [name for name in frame.columns if name in set(model.rates["rate"])]
    columns = {name: name for name in ("topic", "items", "disagreed", "intercept")}
    columns |= {name: name.replace("_", " ") for name in model.features} | {name: name.upper() for name in rates}
    columns["dropped"] = "dropped"
    return Table(frame, "Topics", DIGITS, name="topics", noun="topic", columns=columns)
