"""The decision and its basis, with differences of two systems by topic."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from karatage.data.evaluation import Evaluation
from karatage.data.survey import Survey
from karatage.errors import DataError, UnknownNameError
from karatage.text import counted, end_sentence, shorten
from karatage.views.audit import view_judges
from karatage.views.board import chart_attenuation, tabulate_leaderboard, view_differences, view_leaderboard
from karatage.views.calibration import view_reliability
from karatage.views.choosing import (
    CHOICES,
    NAME,
    WIDEST,
    choose_order,
    cut_names,
    finite,
    let_choose,
    measure_names,
    measure_rows,
    name_by_number,
    name_rows,
    place_rows,
    place_values,
    tell,
)
from karatage.views.comparison import list_decision, view_comparison, view_decision
from karatage.views.diagnosis import list_conclusions, tabulate_checks, view_coverage
from karatage.views.evaluation import view_fidelity, view_measure, view_weights
from karatage.views.marks import GOLD, JUDGES, PLAIN, Axis, Key, entitle, lay_panel, mark, mark_line
from karatage.views.page import Figure, Page, Section, shows
from karatage.views.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair as alt

    from karatage.data.axes import FloatArray


@shows(Survey)
def view_survey(survey: Survey) -> Page:
    """The decision on top, then the evidence."""
    if survey.comparison is not None:
        title = view_comparison(survey.comparison).title
    else:
        title = f"{counted(len(survey.evaluation.systems), 'system')} on {survey.measure}"
    facts = list_decision(survey.decision, survey)
    sections = [] if survey.comparison is None else [view_decision(survey.comparison)]
    if survey.board is not None:
        sections += [view_leaderboard(survey.board), view_differences(survey.board)]
    sections += [replace(part, detail=True) for part in _view_evidence(survey)]
    return Page(title, survey.sentence, sections, survey.notes, facts)


def _view_evidence(survey: Survey) -> Iterator[Section]:
    asked, best = survey.comparison, None if survey.board is None else survey.board.systems[0]
    yield view_topics(survey.evaluation, *((best, None) if asked is None else (asked.a, asked.b)))
    yield from _view_approaches(survey)
    judges, *panel = view_judges(survey.audit)
    yield replace(judges, text=f"{survey.audit.sentence}\n\n{judges.text}")
    yield from panel
    yield from view_weights(survey.evaluation)
    yield _view_calibration(survey)
    yield from _view_data(survey)


def _view_approaches(survey: Survey) -> Iterator[Section]:
    measure = view_measure(survey.evaluation, survey.measure)
    if "approaches" not in survey.refused:
        yield view_fidelity(survey.evaluation)
        yield measure
        return
    yield replace(measure, text=end_sentence(f"Approaches are not compared with gold: {survey.refused['approaches']}"))


def _view_calibration(survey: Survey) -> Section:
    charts, board = [], survey.board
    found = None if board is None else board.corrected
    if board is not None and found is not None and not found.method.same_order and not np.isnan(found.value).all():
        caption = "The judges' scores against the corrected ones; on the line the two are equal"
        charts.append(Figure(partial(chart_attenuation, board), caption, "attenuation", tabulate_leaderboard(board)))
    if survey.calibration is None:
        reason = end_sentence(f"Judges are not calibrated: {survey.refused['calibration']}")
        return Section("Calibration and shift", reason, (), charts)
    section = view_reliability(survey.calibration)
    return replace(section, text=survey.calibration.sentence, charts=[*section.charts, *charts])


def _view_data(survey: Survey) -> Iterator[Section]:
    """The data in numbers, what was checked, and what can be concluded."""
    diagnosis = survey.diagnosis
    tables = [Table(survey.counts, "The data", name="data"), tabulate_checks(diagnosis)]
    yield Section("The data", "", tables, [view_coverage(diagnosis)] if len(diagnosis.systems) else [])
    yield from list_conclusions(diagnosis)


TOPICS = """A mean does not show how many topics a difference depends on. If it depends on a few topics, it may differ
on other topics."""
DIGITS = 5  # of differences that the page has for all systems
NOT_CHOSEN = "(the next best)"
LOOKS = {"color": {"judges": JUDGES, "gold": GOLD}, "shape": {"judges": "diamond", "gold": "square"}}


def view_topics(evaluation: Evaluation, a: str | None, b: str | None) -> Section:
    """Topic by topic, system b minus a; without b, any that the reader chooses minus a; without a, minus the best."""
    scores = TopicScores.of(evaluation)
    best = evaluation.lead(scores.measure, scores.approach).first if a is None else a
    other = scores.find_next(best) if b is None else b
    told = f"{shorten(other, NAME)} minus {shorten(best, NAME)}"
    columns = {name: name for name in ("topic", *scores.ways)}
    frame, signed = lay_out_topics(scores, best, other), tuple(scores.ways)
    table = Table(frame, f"{told}, by topic", signed=signed, name="topics", columns=columns)
    if b is None:
        make = partial(chart_topic_differences, scores, best)
        told = f"The chosen system ({shorten(other, NAME)} until one is chosen), minus {shorten(best, NAME)}"
    else:
        make = partial(chart_topics, scores, best, other)
    figure = Figure(make, f"{told}, by topic", "topics", table)
    return Section("Topic by topic", "", (), [figure], background=TOPICS)


class TopicScores(NamedTuple):
    """Scores (topic, system) by the first approach and measure, and by gold if any: NaN where there is none."""

    measure: str
    approach: str
    topics: tuple[str, ...]
    systems: tuple[str, ...]
    ways: Mapping[str, FloatArray]

    @staticmethod
    def of(evaluation: Evaluation) -> TopicScores:
        """The scores of an evaluation."""
        measure, approach = evaluation.measures[0], evaluation.approaches[0]
        found = evaluation.scores[measure]
        ways = {"judges": found.value[found.judges.index(approach)]}
        if evaluation.gold is not None:
            trusted = evaluation.gold[measure]
            place = {topic: t for t, topic in enumerate(trusted.topics)}
            column = [trusted.systems.index(system) for system in found.systems]
            ways["gold"] = np.full(found.value.shape[1:], np.nan)
            for t, topic in enumerate(found.topics):
                if topic in place:
                    ways["gold"][t] = trusted.value[0, place[topic]][column]
        return TopicScores(measure, approach, found.topics, found.systems, ways)

    def find(self, system: str) -> int:
        """The number of a system."""
        if system not in self.systems:
            raise UnknownNameError("system", system, self.systems)
        return self.systems.index(system)

    def find_next(self, best: str) -> str:
        """The best of the systems that do not score the same as `best` by topic, if there is one."""
        if len(self.systems) < 2:
            raise DataError("there is only one system, so it has no difference to another")
        at, known = self.find(best), np.nan_to_num(self.ways["judges"])
        mean, differs = known.mean(axis=0), (known != known[:, [at]]).any(axis=0)
        order = sorted((s for s in range(len(mean)) if s != at), key=lambda s: (not differs[s], -mean[s]))
        return self.systems[order[0]]


def chart_topics(scores: TopicScores, a: str, b: str) -> alt.LayerChart:
    """Differences b - a by topic, by an approach and by gold, those where b is furthest ahead first."""
    import altair as alt

    frame = lay_out_topics(scores, a, b)
    orders = {way: f"at_{way}" for way in scores.ways} | {"topic": "at_topic"}
    base = alt.Chart(frame).transform_calculate(place=place_rows(orders))
    title = entitle(f"{shorten(b, NAME)} against {shorten(a, NAME)}, by topic", _tell_ahead(frame, b, scores))
    chart = _layer_topics(base, "at_judges:O", frame["topic"].to_list(), scores, "")
    chart.title = title
    return chart.add_params(choose_order(list(orders)))


def lay_out_topics(scores: TopicScores, a: str, b: str) -> pl.DataFrame:
    """A row for each topic that has scores: b - a by the approach and by gold, highest first, with places."""
    one, other = scores.find(a), scores.find(b)
    columns = {way: score[:, other] - score[:, one] for way, score in scores.ways.items()}
    frame = pl.DataFrame({"topic": pl.Series(scores.topics, dtype=pl.String), **columns})
    frame = frame.with_columns(pl.col(pl.Float64).fill_nan(None), at_topic=pl.int_range(pl.len()))
    frame = frame.drop_nulls("judges").sort("judges", "at_topic", descending=[True, False])
    if frame.is_empty():
        raise DataError(f"{scores.approach} has no scores by topic for these systems, so there is no chart")
    return frame.with_columns(pl.Series(f"at_{way}", place_values(frame[way])) for way in scores.ways)


def chart_topic_differences(scores: TopicScores, best: str) -> alt.LayerChart:
    """A chosen system against the best one, by topic; the second best until another is chosen."""
    import altair as alt

    second, at = scores.find_next(best), scores.find(best)
    same = {"best": best, "second": second, "t": list(range(len(scores.topics)))}
    values: list[dict[str, Any]] = [{"system": name, **same} for name in scores.systems if name != best]
    for row in values:
        for way, score in scores.ways.items():
            gaps = score[:, scores.find(row["system"])] - score[:, at]
            row[way] = [finite(round(gap, DIGITS)) for gap in gaps.tolist()]
    held = f"data('{CHOICES['system']}_store')"
    default = f"(!length({held}) || {held}[0].values[0] == datum.best) && datum.system == datum.second"
    kept = alt.selection_point(name=CHOICES["system"], fields=["system"], empty=False) | default
    orders = {way: f"by_{way}" for way in scores.ways} | {"topic": "t"}
    base = (
        alt.Chart(alt.InlineData(values=values))
        .transform_filter(kept)
        .transform_flatten([*scores.ways, "t"])
        .transform_calculate(**{f"by_{way}": f"isValid(datum.{way}) ? -datum.{way} : 1e9" for way in scores.ways})
        .transform_calculate(place=place_rows(orders), topic=name_by_number(cut_names(scores.topics, NAME), "t"))
    )
    chart = _layer_topics(base, "t:O", scores.topics, scores, f" from {shorten(best, NAME)}")
    chart.title = alt.TitleParams(_entitle(best, second), anchor="start")
    names = [row["system"] for row in values]
    listed = dict(zip([None, *names], [NOT_CHOSEN, *cut_names(names, NAME)], strict=True))
    return let_choose(chart.add_params(choose_order(list(orders))), "system", listed)


def _layer_topics(base: alt.Chart, row: str, topics: Sequence[str], scores: TopicScores, to: str) -> alt.LayerChart:
    """A dot for each way, and a line between the two."""
    ways = list(scores.ways)
    down = Axis(row, "topic", axis=name_rows(topics), sort={"field": "place", "op": "min"})
    across = Axis("difference:Q", f"difference in {scores.measure}{to}")
    told = tell("topic:N", *(f"{way}:Q" for way in ways))
    looks = {channel: Key("by", values).only(ways) for channel, values in LOOKS.items()}
    layers = [mark_line(across, 0.0)]
    if len(ways) > 1:
        style = {"color": PLAIN, "strokeWidth": 1.2}
        layers.append(mark(base, "rule", across.of("judges:Q"), down, to=("gold:Q", None), told=told, style=style))
    folded = base.transform_fold([*ways], as_=["by", "difference"])
    style = {"filled": True, "size": 42, "opacity": 1}
    dots = mark(folded, "point", across, down, told=told, looks=looks, style=style)
    size = WIDEST - 20 - measure_names(topics), measure_rows(len(topics))
    return lay_panel([*layers, dots.properties(name="topics")], size)


def _entitle(best: str, second: str) -> alt.ExprRef:
    import altair as alt

    against = f" against {shorten(best, NAME)}, by topic"
    picked = f"{CHOICES['system']}.system"
    chosen = f"truncate({picked}[0], {NAME}) + {json.dumps(against)}"
    other = f"{picked} && {picked}[0] + '.' != {json.dumps(best + '.')}"  # or Vega may take the text for code
    return alt.ExprRef(f"{other} ? {chosen} : {json.dumps(shorten(second, NAME) + against)}")


def _tell_ahead(frame: pl.DataFrame, b: str, scores: TopicScores) -> list[str]:
    said = []
    for way in scores.ways:
        gaps, name = frame[way].drop_nulls().to_numpy(), scores.approach if way == "judges" else way
        if len(gaps):
            ahead = f"better on {(gaps > 0).sum():,} and worse on {(gaps < 0).sum():,} of {counted(len(gaps), 'topic')}"
            said.append(f"by {shorten(name, NAME)} {gaps.mean():+.3f} on average; {shorten(b, NAME)} is {ahead}")
    return said
