"""The decision and all that it rests on."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from karatage.data.survey import Survey
from karatage.text import counted, end_sentence
from karatage.views.audit import view_judges
from karatage.views.board import draw_attenuation, tabulate_leaderboard, view_differences, view_leaderboard
from karatage.views.calibration import view_reliability
from karatage.views.comparison import view_comparison, view_decision
from karatage.views.diagnosis import list_conclusions, tabulate_checks, view_coverage
from karatage.views.evaluation import view_fidelity, view_measure, view_weights
from karatage.views.page import Figure, Page, Section, list_facts, shows
from karatage.views.table import Table
from karatage.views.topics import view_topics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karatage.data.board import Standing


@shows(Survey)
def view_survey(survey: Survey) -> Page:
    """The decision on top, then the evidence."""
    if survey.comparison is not None:
        title = view_comparison(survey.comparison).title
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
    sections = [*_view_decision(survey), *(replace(part, detail=True) for part in _view_evidence(survey))]
    return Page(title, survey.sentence, sections, survey.notes, facts)


def _view_decision(survey: Survey) -> Iterator[Section]:
    if survey.comparison is not None:
        yield view_decision(survey.comparison)
    if survey.board is not None:
        yield view_leaderboard(survey.board)
        yield view_differences(survey.board)


def _view_evidence(survey: Survey) -> Iterator[Section]:
    yield view_topics(survey.evaluation, *_choose_systems(survey))
    yield from _view_approaches(survey)
    judges, *panel = view_judges(survey.audit)
    yield replace(judges, text=f"{survey.audit.sentence}\n\n{judges.text}")
    yield from panel
    yield from view_weights(survey.evaluation)
    yield _view_calibration(survey)
    yield from _view_data(survey)


def _choose_systems(survey: Survey) -> tuple[str | None, str | None]:
    """The systems asked about; or the best one, and whichever the reader chooses."""
    if survey.comparison is not None:
        return survey.comparison.a, survey.comparison.b
    return (None if survey.board is None else survey.board.systems[0]), None


def _view_approaches(survey: Survey) -> Iterator[Section]:
    measure = view_measure(survey.evaluation, survey.measure)
    if "approaches" not in survey.refused:
        yield view_fidelity(survey.evaluation)
        yield measure
        return
    yield replace(measure, text=end_sentence(f"Approaches are not compared with gold: {survey.refused['approaches']}"))


def _view_calibration(survey: Survey) -> Section:
    charts = []
    board = survey.board
    if board is not None and board.corrected is not None and _tells_attenuation(board.corrected):
        caption = "The judges' scores against the corrected ones; on the line they are the same"
        charts.append(Figure(partial(draw_attenuation, board), caption, "attenuation", tabulate_leaderboard(board)))
    if survey.calibration is None:
        reason = end_sentence(f"Judges are not calibrated: {survey.refused['calibration']}")
        return Section("Calibration and shift", reason, (), charts)
    section = view_reliability(survey.calibration)
    return replace(section, text=survey.calibration.sentence, charts=[*section.charts, *charts])


def _tells_attenuation(corrected: Standing) -> bool:
    """Whether there are corrected scores, which are not the judges' own stretched."""
    return not corrected.method.same_order and not np.isnan(corrected.value).all()


def _view_data(survey: Survey) -> Iterator[Section]:
    """The data in numbers, what was checked, and what can be concluded."""
    diagnosis = survey.diagnosis
    tables = [Table(survey.counts, "The data", name="data"), tabulate_checks(diagnosis)]
    yield Section("The data", "", tables, [view_coverage(diagnosis)] if len(diagnosis.systems) else [])
    yield from list_conclusions(diagnosis)
