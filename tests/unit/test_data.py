"""Unit tests of the nouns."""

import json

import numpy as np
import pytest

import karatage as kt
from karatage.data.axes import mean_over_topics, settle_ties
from tests.notes import list_facts


def test_numbers_sort_as_numbers_and_names_as_bytes():
    judgments = kt.read_judgments({"10": {"9": {"a": 1}, "10": {"a": 0}}, "9": {"9": {"B": 1}}})
    assert judgments.judges == ("9", "10")
    assert judgments.topics == ("9", "10")
    assert judgments.documents.to_list() == ["B", "a"]
    assert judgments.to_frame().rows() == [("9", "9", "B", 1), ("10", "9", "a", 1), ("10", "10", "a", 0)]


def test_rows_and_items_are_found_by_their_starts():
    judgments = kt.read_judgments({"x": {"t": {"a": 1, "b": 0}, "u": {"a": 2}}, "y": {"t": {"b": 1}}})
    assert judgments.item_start.tolist() == [0, 2, 3]
    assert judgments.row_start.tolist() == [0, 1, 3, 4]


def test_alignment_numbers_items_and_marks_the_unjudged():
    runs = kt.read_runs({"s": {"t": {"b": 3.0, "z": 2.0, "a": 1.0}}, "r": {"u": {"a": 1.0}}})
    judgments = kt.read_judgments({"x": {"t": {"a": 1, "b": 0}, "u": {"a": 2}}})
    alignment = kt.stats.align(runs, judgments)
    assert alignment.systems == ("r", "s")
    assert alignment.ranked.tolist() == [[[-1, -1, -1], [1, -1, 0]], [[2, -1, -1], [-1, -1, -1]]]
    assert alignment.length.tolist() == [[0, 3], [1, 0]]
    assert alignment.unjudged(2) == (1, 3)
    assert list_facts(alignment) == {"data.lacking-topics": {"systems": ("r", "s")}}


def test_a_topic_that_no_run_has_is_not_held_against_any_system():
    runs = kt.read_runs({"r": {"t": {"a": 1.0}}, "s": {"t": {"a": 1.0}}})
    alignment = kt.stats.align(runs, kt.read_judgments({"x": {"t": {"a": 1}, "u": {"a": 2}}}))
    assert list_facts(alignment) == {"data.topics-in-no-run": {"topics": ("u",)}}


def test_scores_mean_leaves_out_what_has_no_value():
    value = np.array([[[0.2, 0.4], [np.nan, np.nan], [0.4, 0.0]]])
    np.testing.assert_allclose(mean_over_topics(value), [[0.3, 0.2]])
    assert np.isnan(mean_over_topics(value[:, 1:2])).all()
    scores = kt.Scores(
        measure="AP",
        judges=("j",),
        topics=("1", "2", "3"),
        systems=("a", "b"),
        value=value,
        judged=np.ones((1, 3), bool),
    )
    np.testing.assert_allclose(scores.standard_error, [[0.1, 0.2]])
    assert scores.to_frame()["score"].to_list() == [0.2, 0.4, None, None, 0.4, 0.0]
    assert json.loads(scores.to_json())["value"] == [[[0.2, 0.4], [None, None], [0.4, 0.0]]]
    assert "0.3" in scores._repr_html_()


def test_scores_refuse_a_wrong_shape():
    with pytest.raises(ValueError, match=r"\b1\b.*\b0\b"):
        kt.Scores(
            measure="AP",
            judges=("j",),
            topics=(),
            systems=(),
            value=np.zeros((1, 1, 1)),
            judged=np.ones((1, 1), bool),
        )


def test_hostile_names_stay_text_in_html():
    runs = kt.read_runs({"<script>x</script>": {"t": {"a": 1.0}}, "b": {"t": {"c": 1.0}}})
    evaluation = kt.evaluate(runs, kt.read_judgments({"j": {"t": {"a": 1, "c": 0}}}), "AP")
    assert "<script>" not in evaluation._repr_html_()


def test_repeated_grades_stay_within_reach():
    table = {"judge": list("yxyyx"), "item": list("aaabb"), "grade": [0, 1, 2, 1, 0]}
    judgments = kt.read_judgments(table)
    assert judgments.to_frame().rows() == [("x", "a", 1), ("y", "a", 2), ("x", "b", 0), ("y", "b", 1)]
    assert judgments.every.to_frame().rows() == [
        ("x", "a", 1),
        ("y", "a", 0),
        ("y", "a", 2),
        ("x", "b", 0),
        ("y", "b", 1),
    ]
    assert list_facts(judgments) == {"data.repeats-vote": {"judges": 1, "most": 2, "aside": 1}}
    chosen = kt.read_judgments(table, repeats="first")
    assert chosen.every is chosen


def test_judges_who_graded_again_are_counted_once_and_their_most_grades_told():
    judgments = kt.read_judgments({"judge": list("xxxy"), "item": list("aaaa"), "grade": [0, 1, 2, 1]})
    assert list_facts(judgments) == {"data.repeats-vote": {"judges": 1, "most": 3, "aside": 2}}
    both = kt.read_judgments({"judge": list("xxxyyz"), "item": list("abaaaa"), "grade": [0, 1, 2, 1, 1, 0]})
    assert list_facts(both) == {"data.repeats-vote": {"judges": 2, "most": 2, "aside": 2}}


def test_one_judge_scores_by_the_last_grade():
    table = {"judge": ["x"] * 3, "topic": ["1"] * 3, "document": ["a", "b", "a"], "grade": [1, 1, 0]}
    runs = kt.read_runs({"s": {"1": {"a": 2.0, "b": 1.0}}})
    for repeats in (None, "last", "all"):
        assert kt.score(runs, kt.read_judgments(table, repeats=repeats), "P@1").value.item() == 0


def test_judgments_from_codes_are_sorted_whatever_their_order():
    rng = np.random.default_rng(0)
    judge, item = rng.integers(9, size=3000), np.sort(rng.integers(30, size=3000))
    item[:900] = 5  # longer than what is sorted by insertion
    grade = rng.integers(4, size=3000).astype(np.int8)
    shuffled = rng.permutation(3000)
    found = kt.Judgments.from_codes(judge=judge[shuffled], item=item[shuffled], grade=grade[shuffled])
    order = np.lexsort((np.argsort(shuffled), judge, item))
    np.testing.assert_array_equal(found.item, item[order])
    np.testing.assert_array_equal(found.judge, judge[order])
    expected = np.lexsort((judge[shuffled], item[shuffled]))
    np.testing.assert_array_equal(found.grade, grade[shuffled][expected])
    assert found.judges == tuple(map(str, range(9)))
    assert found.topics == ("",)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"judge": [0], "item": [0, 1], "grade": [1, 1]}, "shape"),
        ({"judge": [], "item": [], "grade": []}, "judgments"),
        ({"judge": [-1], "item": [0], "grade": [1]}, r"judge.*\b0\b"),
        ({"judge": [0], "item": [0], "grade": [127]}, r"\b0\b.*\b126\b"),
        ({"judge": [0.5], "item": [0], "grade": [1]}, "judge"),
        ({"judge": [0], "item": [0], "grade": [5], "top_grade": 1}, r"\b5\b.*top_grade.*\b1\b"),
    ],
)
def test_codes_are_checked(columns, message):
    top = columns.pop("top_grade", None)
    with pytest.raises(kt.KaratageError, match=message):
        kt.Judgments.from_codes(**{name: np.array(values) for name, values in columns.items()}, top_grade=top)


def test_scores_equal_but_for_rounding_are_ties():
    """Also those that stand between two decimals, such as sums of powers of 1/2."""
    edge = 2.0**-11
    settled = settle_ties(np.array([0.3, 0.1 + 0.2, edge, np.nextafter(edge, 0), np.nextafter(edge, 1), 0.3 + 1e-9]))
    assert settled[0] == settled[1] < settled[5]
    assert settled[2] == settled[3] == settled[4]
    assert np.isnan(settle_ties(np.array([np.nan]))).all()
