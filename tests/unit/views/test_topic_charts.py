"""Differences topic by topic: what charts show, and that they can be drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from karatage.errors import DataError, UnknownNameError
from karatage.views.survey import TopicScores, chart_topic_differences, chart_topics


def gap(scores: kt.Scores, approach: str, a: str, b: str) -> dict[str, float]:
    value = scores.value[scores.judges.index(approach)]
    difference = value[:, scores.systems.index(b)] - value[:, scores.systems.index(a)]
    return dict(zip(scores.topics, difference, strict=True))


def compare(evaluation: kt.Evaluation, a: str, b: str):
    return chart_topics(TopicScores.of(evaluation), a, b)


def follow(evaluation: kt.Evaluation, best: str):
    return chart_topic_differences(TopicScores.of(evaluation), best)


def test_every_topic_is_there_with_its_difference(hostile, read_chart):
    found = hostile.evaluation
    a, b = hostile.names[0], hostile.names[2]
    rows = read_chart(compare(found, a, b)).rows("judges")
    ours = gap(found.scores[hostile.measure], "mv", a, b)
    trusted = gap(found.gold[hostile.measure], "gold", a, b)
    assert {row["topic"]: row["judges"] for row in rows} == ours
    assert {row["topic"]: row["gold"] for row in rows} == trusted
    assert [row["judges"] for row in rows] == sorted(ours.values(), reverse=True)
    by_gold = [row["gold"] for row in sorted(rows, key=lambda row: row["at_gold"])]
    assert by_gold == sorted(trusted.values(), reverse=True)
    assert [row["topic"] for row in sorted(rows, key=lambda row: row["at_topic"])] == list(ours)


def test_the_title_counts_who_is_ahead(hostile, read_chart):
    a, b = hostile.names[1], hostile.names[4]
    drawn = read_chart(compare(hostile.evaluation, a, b))
    ours = np.array(list(gap(hostile.evaluation.scores[hostile.measure], "mv", a, b).values()))
    said = f"by mv {ours.mean():+.3f} on average"
    assert any(said in text and f"better on {(ours > 0).sum()} and" in text for text in drawn.texts)
    assert drawn.size[0] <= 640


def test_gold_may_not_be_there(hostile, read_chart):
    drawn = read_chart(compare(replace(hostile.evaluation, gold=None), hostile.names[0], hostile.names[1]))
    assert all("gold" not in row for row in drawn.rows("judges"))
    assert drawn.params["sorted_by"]["bind"]["options"] == ["judges", "topic"]
    assert "gold" not in drawn.texts


def test_topics_that_gold_lacks_have_no_gold(hostile, read_chart):
    found = hostile.evaluation
    part = {name: scores.on_topics(np.array([2, 5])) for name, scores in found.gold.items()}
    rows = read_chart(compare(replace(found, gold=part), hostile.names[0], hostile.names[1])).rows("judges")
    known = {row["topic"] for row in rows if row["gold"] is not None}
    assert known == {found.gold[hostile.measure].topics[t] for t in (2, 5)}


def test_one_topic_can_be_drawn(hostile, read_chart):
    found = hostile.evaluation
    one = {name: scores.on_topics(np.array([0])) for name, scores in found.scores.items()}
    rows = read_chart(compare(replace(found, scores=one), hostile.names[0], hostile.names[1])).rows("judges")
    assert len(rows) == 1


def test_all_systems_wait_to_be_chosen(hostile, read_chart):
    found = hostile.evaluation
    best = found.lead(hostile.measure, "mv").first
    drawn = read_chart(follow(found, best))
    rows = drawn.rows("system")
    assert {row["system"] for row in rows} == set(found.systems) - {best}
    for row in rows:
        assert row["judges"] == pytest.approx(
            list(gap(found.scores[hostile.measure], "mv", best, row["system"]).values()), abs=1e-5
        )
        assert row["gold"] == pytest.approx(
            list(gap(found.gold[hostile.measure], "gold", best, row["system"]).values()), abs=1e-5
        )
        assert row["t"] == list(range(len(found.scores[hostile.measure].topics)))
    assert drawn.size[0] <= 640


def count_marks(drawn, colour: str) -> int:
    return sum(mark.attrib.get("fill") == colour for mark in drawn.svg.iter("{http://www.w3.org/2000/svg}path"))


def test_only_the_chosen_system_is_drawn(hostile, read_chart):
    found, best = hostile.evaluation, "system-07"
    drawn = read_chart(follow(found, best))
    default = drawn.rows("system")[0]["second"]
    other = next(name for name in ("system-08", hostile.names[5]) if name != default)
    picked = read_chart(follow(found, best), chosen={"system": other})
    for chart in (drawn, picked):
        assert count_marks(chart, "#D55E00") == len(found.scores[hostile.measure].topics) + 1  # and the legend
    assert f"{other} against {best}, by topic" in picked.texts
    assert f"{other} against {best}, by topic" not in drawn.texts


def test_until_one_is_chosen_the_next_that_differs_is_shown(hostile, read_chart):
    found = hostile.evaluation
    scores = found.scores[hostile.measure]
    order = np.argsort(-scores.mean[0], kind="stable")
    value = scores.value.copy()
    value[0, :, order[1]] = value[0, :, order[0]]  # a twin of the best
    twins = replace(found, scores={**found.scores, hostile.measure: replace(scores, value=value)})
    first = follow(found, found.systems[order[0]])
    assert {row["second"] for row in read_chart(first).rows("system")} == {found.systems[order[1]]}
    other = follow(twins, found.systems[order[0]])
    assert {row["second"] for row in read_chart(other).rows("system")} == {found.systems[order[2]]}


@pytest.mark.parametrize("name", ["constructor", "toString", "__proto__"])
def test_names_that_mean_something_to_a_browser(hostile, read_chart, name):
    found = hostile.evaluation
    renamed = {
        measure: replace(scores, systems=(name, *scores.systems[1:])) for measure, scores in found.scores.items()
    }
    odd = replace(found, scores=renamed, gold=None)
    for best in (name, found.systems[3]):
        assert any(name in text for text in read_chart(follow(odd, best)).texts) == (best == name)
    assert any(name in text for text in read_chart(compare(odd, name, found.systems[3])).texts)


def test_what_is_not_there_is_told(hostile):
    found = hostile.evaluation
    with pytest.raises(UnknownNameError, match="'nobody'"):
        compare(found, "nobody", hostile.names[0])
    one = {name: replace(s, systems=s.systems[:1], value=s.value[:, :, :1]) for name, s in found.scores.items()}
    with pytest.raises(DataError, match="system"):
        follow(replace(found, scores=one, gold=None, judges_first=dict.fromkeys(one, 1)), hostile.names[0])
    lost = {name: replace(s, value=np.full_like(s.value, np.nan)) for name, s in found.scores.items()}
    lost = replace(found, scores=lost, gold=None)
    with pytest.raises(DataError, match="scores"):
        compare(lost, hostile.names[0], hostile.names[1])
