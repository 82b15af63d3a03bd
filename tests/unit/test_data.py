"""Unit tests of the nouns."""

import json

import numpy as np
import pytest

import karatage as kt
from karatage.data.scores import mean_over_topics


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
    alignment = kt.align(runs, judgments)
    assert alignment.systems == ("r", "s")
    assert alignment.ranked.tolist() == [[[-1, -1, -1], [1, -1, 0]], [[2, -1, -1], [-1, -1, -1]]]
    assert alignment.length.tolist() == [[0, 3], [1, 0]]
    assert alignment.unjudged(2) == (1, 3)
    assert alignment.notes == ("systems that lack topics which others have, scored 0 there: 2 ('r', 's')",)


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
    with pytest.raises(ValueError, match="do not fit"):
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
