"""Judges become one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from karatage.decisions.material import gives_grades, judge_items, name_process
from karatage.errors import DataError, OptionError, UnknownNameError

ONE = {"1": {"d1": 2, "d2": 0}, "2": {"d1": 1}}
THREE = kt.read_judgments(
    {"ann": ONE, "bob": {"1": {"d1": 2, "d2": 1}}, "cy": {"1": {"d1": 0, "d2": 1}, "2": {"d3": 3}}}
)


def test_what_is_done_when_nothing_is_said() -> None:
    assert name_process(None, kt.read_judgments({"ann": ONE})) == "judge:ann"
    assert name_process(None, THREE) == "mv"
    assert name_process(" ds ", THREE) == "ds"


@pytest.mark.parametrize(
    ("approach", "grades"),
    [
        ("judge:ann", True),
        ("mv", True),
        ("ds", True),
        ("glad", True),
        ("binmv", False),
        ("expected:ds", False),
        ("uniform", False),
        ("sgl_tau_msd", False),
        ("nonsense", False),
    ],
)
def test_which_approaches_end_in_grades(approach: str, grades: bool) -> None:
    assert gives_grades(approach) == grades


def test_one_judge_alone() -> None:
    found = judge_items("judge:cy", THREE, 0)
    assert found.judges == ("cy",)
    assert found.to_frame().rows() == [("cy", "1", "d1", 0), ("cy", "1", "d2", 1), ("cy", "2", "d3", 3)]
    assert len(found.item_topic) == len(THREE.item_topic)


def test_a_vote_makes_one_judge_of_all() -> None:
    found = judge_items("mv", THREE, 0)
    assert len(found.judges) == 1
    graded = dict(zip(found.to_frame().select("topic", "document").rows(), found.grade.tolist(), strict=True))
    assert graded == {("1", "d1"): 2, ("1", "d2"): 1, ("2", "d1"): 1, ("2", "d3"): 3}


def test_items_that_nobody_graded_get_no_grade() -> None:
    """A posterior has something to say of every item, the prior if nothing else; that is no judgment."""
    kept = THREE.keep_rows(THREE.item != 3)
    assert len(kept.item_topic) == 4
    assert 3 not in judge_items("mv", kept, 0).item
    assert 3 not in judge_items("ds", kept, 0).item


def test_ties_are_broken_by_the_seed() -> None:
    tied = kt.read_judgments({"a": {"1": {f"d{k}": 0 for k in range(40)}}, "b": {"1": {f"d{k}": 1 for k in range(40)}}})
    grades = [judge_items("mv", tied, seed).grade for seed in (1, 1, 2)]
    assert np.array_equal(grades[0], grades[1])
    assert not np.array_equal(grades[0], grades[2])


def test_judges_that_cannot_be_taken_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"'anne'.*'ann'"):
        judge_items("judge:anne", THREE, 0)
    with pytest.raises(UnknownNameError):
        judge_items("judge:*", THREE, 0)
    with pytest.raises(DataError, match="'dee'"):
        judge_items("judge:dee", replace(THREE, judges=(*THREE.judges, "dee")), 0)
    for approach in ("nb", "zc(supervision=light)"):
        with pytest.raises(OptionError, match="gold"):
            judge_items(approach, THREE, 0)
