"""The decision and all that it rests on, as one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karatage.text import counted, end_sentence
from karatage.views.decisions import draw_attenuation
from karatage.views.layout.audit import lay_out_judges
from karatage.views.layout.board import lay_out_differences, lay_out_leaderboard
from karatage.views.layout.calibration import lay_out_reliability
from karatage.views.layout.comparison import lay_out_comparison, lay_out_decision
from karatage.views.layout.diagnosis import draw_coverage, lay_out_conclusions
from karatage.views.layout.evaluation import lay_out_fidelity, lay_out_measure, lay_out_weights
from karatage.views.layout.facts import list_facts
from karatage.views.layout.topics import lay_out_topic_section
from karatage.views.page import Figure, Page, Section
from karatage.views.tables import Table
from karatage.views.tabulating.board import tabulate_leaderboard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karatage.data.standing import Standing
    from karatage.data.survey import Survey


def lay_out_survey(survey: Survey) -> Page:
    """The decision on top, then the evidence."""
    if survey.comparison is not None:
        title = lay_out_comparison(survey.comparison).title
    else:
        title = f"{counted(len(survey.evaluation.systems), 'system')} on {survey.measure}"
    decision = survey.decision
    facts = list_facts(
        survey,
        measure=survey.measure,
        approach=decision.approach,
        correction=None if decision.corrected is None else decision.corrected.way,
        claim=decision.claim,
    )
    return Page(title, survey.sentence, list(_lay_out_sections(survey)), survey.notes, facts)


def _lay_out_sections(survey: Survey) -> Iterator[Section]:
    if survey.comparison is not None:
        yield lay_out_decision(survey.comparison)
    if survey.board is not None:
        yield lay_out_leaderboard(survey.board)
        yield lay_out_differences(survey.board)
    yield lay_out_topic_section(survey.evaluation, *_choose_systems(survey))
    yield from _lay_out_approaches(survey)
    yield from lay_out_judges(survey.audit)
    yield from lay_out_weights(survey.evaluation)
    yield _lay_out_calibration(survey)
    yield _lay_out_data(survey)


def _choose_systems(survey: Survey) -> tuple[str | None, str | None]:
    """The systems asked about; or the best one, and whichever the reader chooses."""
    if survey.comparison is not None:
        return survey.comparison.a, survey.comparison.b
    return (None if survey.board is None else survey.board.systems[0]), None


def _lay_out_approaches(survey: Survey) -> Iterator[Section]:
    measure = lay_out_measure(survey.evaluation, survey.measure)
    if "approaches" not in survey.refused:
        yield lay_out_fidelity(survey.evaluation)
        yield measure
        return
    reason = end_sentence(f"Approaches are not held against gold: {survey.refused['approaches']}")
    yield Section(measure.title, reason, measure.tables, measure.charts)


def _lay_out_calibration(survey: Survey) -> Section:
    charts = []
    board = survey.board
    if board is not None and board.corrected is not None and _tells_attenuation(board.corrected):
        caption = "The judges' scores against the corrected ones; on the line they are the same"
        charts.append(Figure(draw_attenuation(board), caption, "attenuation", tabulate_leaderboard(board)))
    if survey.calibration is None:
        reason = end_sentence(f"Judges are not calibrated: {survey.refused['calibration']}")
        return Section("Calibration and shift", reason, (), charts)
    section = lay_out_reliability(survey.calibration)
    return Section(section.title, section.text, section.tables, [*section.charts, *charts])


def _tells_attenuation(corrected: Standing) -> bool:
    """Whether there are corrected scores, which are not the judges' own stretched."""
    return not corrected.method.same_order and not np.isnan(corrected.value).all()


def _lay_out_data(survey: Survey) -> Section:
    """The data in figures, what they allow, and how much was judged."""
    allowed = lay_out_conclusions(survey.diagnosis)
    tables = [Table(survey.counts, "The data", name="data"), *allowed.tables]
    charts = [draw_coverage(survey.diagnosis)] if len(survey.diagnosis.systems) else []
    return Section("The data, and what they allow", allowed.text, tables, charts)
