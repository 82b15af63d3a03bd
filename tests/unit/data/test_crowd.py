"""Unit tests of the crowd model: what it says of itself, and the way to JSON and back."""

import json
from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from karatage.data.crowd import CrowdModel, voxel_walls
from karatage.errors import DataError
from tests.notes import gives
from tests.unit.simulation.crowds import make_model


@pytest.mark.parametrize("name", ["hcb", "llm-dl-2021"])
def test_to_json_and_back(name):
    model = kt.simulation.load_crowd(name)
    again = CrowdModel.from_dict(json.loads(model.to_json()))
    np.testing.assert_allclose(again.shares, model.shares, rtol=1e-4)
    np.testing.assert_allclose(again.mean, model.mean, rtol=1e-5)
    np.testing.assert_allclose(again.covariance, model.covariance, rtol=1e-5)
    assert again.correlation == model.correlation
    assert again.families == pytest.approx(model.families)
    assert again.notes == model.notes
    if model.confusion is not None:
        np.testing.assert_allclose(again.confusion, model.confusion, atol=1e-5)
        np.testing.assert_allclose(again.concentration, model.concentration, rtol=1e-5)


def test_the_sentence_gives_rates_and_shared_errors():
    model = make_model(shared=(0.25, 0, 0.1))
    assert gives(model.sentence, "85%", "75%", "item 0.25", "topic 0.1")
    assert gives(model.independent().sentence, "independent")
    assert model.rates == pytest.approx([0.85, 0.75])
    assert model.shares[8, 7, 0] == 1
    assert "<b>" in model._repr_html_()
    row = model.to_frame().row(0, named=True)
    assert (row["true_positive_from"], row["true_negative_from"], row["contribution_from"]) == (0.8, 0.7, 0)
    assert row["contribution"] == pytest.approx(0.1)


def test_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        make_model().share[0] = 0


def test_voxels_have_walls_at_their_bounds():
    low, high = voxel_walls(np.array([[3, 9, 0], [0, 0, 2]], np.int32), 0.001)
    np.testing.assert_allclose(low, [[0.3, 0.9, np.log(0.001)], [0, 0, np.log(0.5)]])
    np.testing.assert_allclose(high, [[0.4, 1.0, np.log(0.25)], [0.1, 0.1, np.log(0.75)]])


def damage(path, value):
    found = json.loads(make_model().to_json())
    place = found
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return found


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("format",), "another", "format.*'another'"),
        (("archetypes",), [], "kind"),
        (("archetypes", 0, "share"), 0.5, r"\b0\.5\b"),
        (("archetypes", 0, "share"), "much", "share.*'much'"),
        (("archetypes", 0, "voxel"), [10, 0, 0], r"\b9\b.*\b3\b"),
        (("archetypes", 0, "mean"), [0.1, 0.1, -2], r"mean \[0\.1, 0\.1, "),
        (("archetypes", 0, "mean"), [0.95, 0.75, -2], r"mean \[0\.95, 0\.75, "),
        (("archetypes", 0, "mean"), [0.1], r"shape.*\b1\b"),
        (("archetypes", 0, "covariance"), [[0, 0, 0], [0, 0, 0]], r"\b1\b.*\b2\b.*\b3\b"),
        (("archetypes", 0, "covariance"), [[-1, 0, 0], [0, 0, 0], [0, 0, 0]], "variances"),
        (("balance",), [1.0], r"balance.*\b1\b"),
        (("balance",), [0.5, 0.7], "shares"),
        (("noise",), "some", "noise.*'some'"),
        (("correlation", "item"), 1.0, r"\b1\b"),
        (("correlation", "item"), None, r"correlation\.item"),
        (("families",), ["a"], "object"),
        (("judges",), -1, r"number.*\b0\b"),
        (("name",), None, "name"),
    ],
)
def test_a_damaged_model_is_refused_with_what_is_wrong(path, value, message):
    with pytest.raises(DataError, match=message):
        CrowdModel.from_dict(damage(path, value))


def test_a_damaged_confusion_is_refused():
    found = json.loads(kt.simulation.load_crowd("llm-dl-2021").to_json())
    found["archetypes"][2]["confusion"][1][0] += 0.5
    with pytest.raises(DataError, match=r"archetypes.*\b1\b"):
        CrowdModel.from_dict(found)


def test_a_model_counts_its_grades_once():
    assert make_model().grades == 2
    assert kt.simulation.load_crowd("llm-dl-2021").grades == 4
    with pytest.raises(DataError, match="concentration"):
        replace(make_model(), balance=np.array([0.2, 0.3, 0.5]))
