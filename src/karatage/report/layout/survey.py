"""The decision and all that it rests on, as one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.report.calibration_charts import draw_attenuation
from karatage.report.layout.audit import lay_out_judges
from karatage.report.layout.board import lay_out_differences, lay_out_leaderboard
from karatage.report.layout.calibration import lay_out_reliability
from karatage.report.layout.comparison import lay_out_comparison, lay_out_decision
from karatage.report.layout.evaluation import lay_out_fidelity, lay_out_measure, lay_out_weights
from karatage.report.layout.facts import list_facts
from karatage.report.layout.topics import lay_out_topic_section
from karatage.report.page import Figure, Page, Section
from karatage.report.tables import Table
from karatage.wording import counted, end_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karatage.data.survey import Survey

UNJUDGED = """Documents that nobody judged count as not relevant, so a system with fewer judged documents is at a
disadvantage that no correction here undoes."""


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
    yield lay_out_topic_section(survey.evaluation, _choose_pair(survey))
    yield from _lay_out_approaches(survey)
    yield from lay_out_judges(survey.audit)
    yield from lay_out_weights(survey.evaluation)
    yield _lay_out_calibration(survey)
    yield _lay_out_data(survey)


def _choose_pair(survey: Survey) -> tuple[str, str] | None:
    """The systems asked about; None: the reader chooses one, against the best."""
    return None if survey.comparison is None else (survey.comparison.a, survey.comparison.b)


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
    if survey.board is not None and survey.board.corrected is not None:
        caption = "The judges' scores against the corrected ones; on the line they are the same"
        charts.append(Figure(draw_attenuation(survey.board), caption, "attenuation"))
    if survey.calibration is None:
        reason = end_sentence(f"Judges are not calibrated: {survey.refused['calibration']}")
        return Section("Calibration and shift", reason, (), charts)
    section = lay_out_reliability(survey.calibration)
    return Section(section.title, section.text, section.tables, [*section.charts, *charts])


def _lay_out_data(survey: Survey) -> Section:
    counts = Table(survey.counts, "The data", name="data")
    judged = Table(
        survey.judged,
        f"What each system retrieved at the ranks that {survey.measure} looks at, and how much of it has a grade",
        digits=1,
        shares=("judged", "gold"),
        name="judged",
        about="system",
    )
    return Section("The data", UNJUDGED, [counts, judged])
