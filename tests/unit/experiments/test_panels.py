"""Panels as the papers have them: who stays, what is relevant, and that it is told."""

import numpy as np
import pytest

import karatage as kt
from karatage.errors import DataError, OptionError
from karatage.experiments import collection
from karatage.experiments.collection import PanelRules, binarise, fit_panels, prepare_gold
from tests.notes import has_note, list_facts

TOPICS = ("1", "2")
DOCUMENTS = [f"d{k:02d}" for k in range(20)]


def grade_all(choose, topics=TOPICS, documents=DOCUMENTS):
    return {t: {d: choose(t, k) for k, d in enumerate(documents)} for t in topics}


GOLD = kt.read_gold(grade_all(lambda _, k: 3 if k < 2 else 2 if k < 4 else k % 2))
PAPER = PanelRules()


def panel_of(**judges):
    return kt.read_judgments(judges)


def good(t, k):
    return int(k < 5)


def test_relevant_is_at_least_the_level_on_a_judges_own_scale():
    judgments = panel_of(
        a={"1": {"x": 0, "y": 1, "z": 3}}, b={"1": {"x": 0, "y": 1, "z": 1}}, c={"1": {"x": 2, "y": 1, "z": 0}}
    )
    before = judgments.grade.copy()
    binary = binarise(judgments, 2)
    rows = {(j, d): g for j, _, d, g in binary.to_frame().rows()}
    assert [rows["a", d] for d in "xyz"] == [0, 0, 1]
    assert [rows["b", d] for d in "xyz"] == [0, 1, 1]  # a binary judge
    assert [rows["c", d] for d in "xyz"] == [1, 0, 0]
    assert binary.top_grade == 1
    np.testing.assert_array_equal(judgments.grade, before)
    np.testing.assert_array_equal(binarise(binary, 2).grade, binary.grade)
    assert [rows["a", d] for d in "xyz"] != binarise(judgments).grade[judgments.judge == 0].tolist()


def test_of_repeated_grades_the_last_counts():
    judgments = kt.read_judgments({"judge": list("aab"), "item": list("xxx"), "grade": [1, 0, 1]})
    binary = binarise(judgments)
    assert binary.every is binary
    assert binary.grade.tolist() == [0, 1]


def test_gold_has_a_level_of_its_own_and_topics_with_nothing_relevant_go():
    gold = kt.read_gold({"1": {"x": 0, "y": 3}, "2": {"x": 1, "y": 1}, "3": {"z": 2}})
    assert prepare_gold(gold, PAPER).topics == ("1", "2", "3")
    strict = prepare_gold(gold, PanelRules(level=2))
    assert strict.topics == ("1", "3")
    assert strict.to_frame().rows() == [("gold", "1", "x", 0), ("gold", "1", "y", 1), ("gold", "3", "z", 1)]
    assert list_facts(strict) == {"experiments.topics-without-relevant": {"topics": ("2",)}}
    stricter = prepare_gold(gold, PanelRules(level=2, gold_level=3))
    assert stricter.topics == ("1",)
    with pytest.raises(DataError, match="level"):
        prepare_gold(gold, PanelRules(gold_level=4))


def test_panels_stand_on_golds_items():
    gold = prepare_gold(GOLD, PAPER)
    beyond = grade_all(good)
    beyond["1"] |= {"a-new-one": 1}
    beyond["9"] = {"d00": 1}
    found = fit_panels({"given": panel_of(a=grade_all(good), b=beyond)}, gold, PAPER)
    panel = found.panels["given"]
    np.testing.assert_array_equal(panel.item_document, gold.item_document)
    np.testing.assert_array_equal(panel.item, np.repeat(np.arange(40), 2))
    np.testing.assert_array_equal(panel.judge, np.tile([0, 1], 40))
    rank = [int(name[1:]) for name in panel.documents.gather(panel.item_document[panel.item])]
    np.testing.assert_array_equal(panel.grade, np.array(rank) < 5)
    assert list_facts(found) == {"experiments.outside-gold": {"grades": 2}}


def test_who_may_stay(monkeypatch):
    monkeypatch.setattr(collection, "WHOLE", 0.95)  # 99 % of so small a pool is all of it
    gold = prepare_gold(GOLD, PAPER)
    judgments = panel_of(
        whole=grade_all(good),
        nearly=grade_all(good, documents=DOCUMENTS[:19]),
        partial=grade_all(good, documents=DOCUMENTS[:18]),
        fruitless=grade_all(lambda t, k: int(k < 5 and t == "1")),
        elsewhere={"9": {"x": 1}},
    )
    strict = fit_panels({"given": judgments}, gold, PAPER)
    assert strict.panels["given"].judges == ("nearly", "whole")
    assert has_note(strict, "experiments.judged-none", judges=("elsewhere",))
    assert has_note(strict, "experiments.judged-part", judges=("partial",), least=0.95)
    assert has_note(strict, "experiments.found-none", judges=("fruitless",))
    loose = fit_panels({"given": judgments}, gold, PanelRules(whole_only=False))
    assert loose.panels["given"].judges == ("fruitless", "nearly", "partial", "whole")
    assert len(loose.panels["given"].grade) == 40 + 38 + 36 + 40


def test_whoever_leaves_one_panel_leaves_all():
    gold = prepare_gold(GOLD, PAPER)
    three = {name: grade_all(good) for name in "abc"}
    found = fit_panels(
        {"one": panel_of(**three, d=grade_all(good)), "two": panel_of(**three | {"b": grade_all(lambda *_: 0)})},
        gold,
        PAPER,
    )
    assert {name: panel.judges for name, panel in found.panels.items()} == {"one": ("a", "c"), "two": ("a", "c")}
    assert has_note(found, "experiments.judged-none", judges=("d",))


def test_scales_and_repeats_are_told():
    gold = prepare_gold(GOLD, PanelRules(level=2))
    graded, binary = grade_all(lambda _, k: 3 if k < 3 else 1), grade_all(good)
    found = fit_panels({"given": panel_of(a=graded, b=binary)}, gold, PanelRules(level=2))
    assert list_facts(found) == {"experiments.level-binary": {"level": 2, "judges": ("b",)}}
    assert found.panels["given"].grade.reshape(40, 2).sum(axis=0).tolist() == [6, 10]
    rows = panel_of(a=graded, b=binary).to_frame().vstack(panel_of(b=binary).to_frame())
    twice = fit_panels({"given": kt.read_judgments(rows)}, gold, PAPER)
    assert has_note(twice, "experiments.last-grades")


def test_the_middle_of_each_scale():
    rows = panel_of(
        binary=grade_all(good), three=grade_all(lambda _, k: k % 4), five=grade_all(lambda _, k: k % 6)
    ).to_frame()
    found = binarise(kt.read_judgments(rows), "middle")
    shares = {judge: found.grade[found.judge == k].mean() for k, judge in enumerate(found.judges)}
    assert shares == {"binary": 0.25, "five": 9 / 20, "three": 0.5}


def test_what_cannot_be_a_panel_is_refused():
    gold = prepare_gold(GOLD, PAPER)
    with pytest.raises(DataError, match=r"\b1\b.*\b2\b.*'b'"):
        fit_panels({"given": panel_of(a=grade_all(good), b={"1": {"d00": 1}})}, gold, PAPER)
    with pytest.raises(DataError, match="share"):
        fit_panels({"given": panel_of(a={"9": {"x": 1}}, b={"9": {"x": 1}})}, gold, PAPER)
    for rules in {"level": 0}, {"gold_level": 0}, {"level": "top"}:
        with pytest.raises(OptionError, match=r"relevant.*\b1\b"):
            PanelRules(**rules)
