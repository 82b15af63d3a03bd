"""Scales: who is on another one, and who merely said little."""

from __future__ import annotations

import numpy as np
import polars as pl

import karatage as kt
from karatage.data.alignment import find_short_scales, tell_scales


def judge(grades: np.ndarray) -> kt.Judgments:
    """Grades (judge, item), -1 = none."""
    at = np.argwhere(grades >= 0)
    frame = pl.DataFrame({"judge": at[:, 0], "item": at[:, 1], "grade": grades[grades >= 0]})
    return kt.read_judgments(frame.with_columns(pl.col("judge", "item").cast(pl.String)))


def draw(judges: int = 4, items: int = 100, top: int = 3) -> np.ndarray:
    return np.random.default_rng(1).integers(0, top + 1, (judges, items))


def test_who_never_uses_upper_grades_is_on_another_scale():
    grades = draw()
    grades[0] = np.minimum(grades[0], 1)
    assert find_short_scales(judge(grades)) == {0: 1}


def test_few_grades_and_zeros_make_no_scale():
    grades = draw()
    grades[0, 5:], grades[0, :5] = -1, 1
    grades[1] = 0
    assert find_short_scales(judge(grades)) == {}


def test_on_two_grades_nobody_is_on_another_scale():
    grades = draw(40, 60, top=1)
    grades[:7] = 0
    assert not list(tell_scales(judge(grades)))


def test_the_doubts_are_the_same_for_all_who_use_the_judges():
    world = kt.simulation.simulate_collection(systems=4, topics=12, rng=1)
    frame = world.judgments.to_frame().with_columns(
        grade=pl.when(pl.col("judge") == "crowd-1").then(pl.col("grade").clip(upper_bound=1)).otherwise("grade")
    )
    judgments = kt.read_judgments(frame)
    binary = kt.read_gold(world.gold.to_frame().drop("judge").with_columns(pl.col("grade").clip(upper_bound=1)))
    told = set(tell_scales(judgments, binary))
    assert len(told) == 2
    for found in (
        kt.compare_all(world.runs, judgments, binary, "P@5"),
        kt.evaluate(world.runs, judgments, "P@5", gold=binary, rng=1),
        kt.audit(judgments, gold=binary, rng=1, approach=("mv",)),
        kt.calibrate(judgments, binary, rng=1),
    ):
        assert {note for note in found.notes if note.kind in {"data.scales-differ", "data.scales-short"}} == told
