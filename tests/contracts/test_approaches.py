"""What every approach must keep: order of rows, names and inputs do not matter, seeds do."""

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.approaches import APPROACHES

MEASURES = ["AP", "nDCG@10", "P(rel=2)@5", "ERR@10"]
NAMES = [*sorted(APPROACHES), "judge:crowd-2"]


@pytest.fixture(scope="module")
def world():
    return kt.simulate_collection(systems=5, topics=6, depth=12, rng=3)


def table(judgments):
    """Judgments in which no vote is tied, so that no coin decides."""
    frame = judgments.to_frame()
    counts = frame.group_by("topic", "document", "grade").len()
    best = counts.group_by("topic", "document").agg(pl.col("len").max().alias("most"), pl.col("len"))
    clear = best.filter(pl.col("len").list.eval(pl.element() == pl.element().max()).list.sum() == 1)
    return frame.join(clear.select("topic", "document"), on=["topic", "document"])


def values(world, frame, approach, *, seed=11):
    judgments = kt.read_judgments(frame)
    evaluation = kt.evaluate(world.runs, judgments, MEASURES, approach=approach, rng=seed)
    return np.stack([scores.value for scores in evaluation.scores.values()])


@pytest.mark.parametrize("approach", NAMES)
def test_order_of_rows_does_not_matter(world, approach):
    frame = world.judgments.to_frame()
    np.testing.assert_array_equal(
        values(world, frame, approach),
        values(world, frame.sample(fraction=1, shuffle=True, seed=1), approach),
    )


@pytest.mark.parametrize("approach", sorted(APPROACHES))
def test_names_of_judges_do_not_matter(world, approach):
    frame = table(world.judgments)
    renamed = frame.with_columns(pl.col("judge").str.reverse())
    np.testing.assert_allclose(values(world, frame, approach), values(world, renamed, approach), rtol=1e-12)


@pytest.mark.parametrize("approach", NAMES)
def test_same_seed_same_result(world, approach):
    frame = world.judgments.to_frame()
    np.testing.assert_array_equal(values(world, frame, approach), values(world, frame, approach))


@pytest.mark.parametrize("approach", NAMES)
def test_inputs_stay_as_they_are(world, approach):
    before = world.judgments.grade.copy(), world.runs.listed.copy()
    kt.evaluate(world.runs, world.judgments, MEASURES, approach=approach, rng=0)
    np.testing.assert_array_equal(before[0], world.judgments.grade)
    np.testing.assert_array_equal(before[1], world.runs.listed)
    with pytest.raises(ValueError, match="read-only"):
        world.judgments.grade[0] = 3


@pytest.mark.parametrize("approach", NAMES)
def test_a_panel_of_one_is_that_judge(world, approach):
    frame = world.judgments.to_frame().filter(pl.col("judge") == "crowd-2")
    alone = kt.score_all(world.runs, kt.read_judgments(frame), MEASURES)
    expected = np.stack([scores.value for scores in alone.values()])
    np.testing.assert_allclose(values(world, frame, approach), expected)


@pytest.mark.parametrize("approach", NAMES)
def test_adding_an_approach_changes_no_other(world, approach):
    alone = kt.evaluate(world.runs, world.judgments, "AP", approach=approach, rng=4).scores["AP"].value[0]
    both = kt.evaluate(world.runs, world.judgments, "AP", approach=["mv", "uniform", approach], rng=4).scores["AP"]
    np.testing.assert_array_equal(both.value[both.judges.index(approach)], alone)
