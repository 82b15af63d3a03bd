"""What every approach must keep: order of rows, names and inputs do not matter, seeds do."""

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.aggregation.registry import MODELS, parse_model
from karatage.approaches.registry import APPROACHES
from karatage.merging.estimators import ESTIMATORS, OWN, SUPERVISED

MEASURES = ["AP", "nDCG@10", "P(rel=2)@5", "ERR@10"]
FEW = "(replicates=16)"
REGISTERED = [name + FEW * (name in ESTIMATORS or name in OWN) for name in sorted(APPROACHES)]
COMPOSED = [
    "binmv(quality=ds)",
    "expected:ds",
    "multi(AP,nDCG(dcg=jk,base=2)@10):sgl_tau_msd" + FEW,
    "multi(AP,ERR@10):sup_tau",
    "sup_tau_squared(sub=True)",
]
EVERY = [*REGISTERED, *COMPOSED, "judge:crowd-2", "expected:judge:crowd-2"]


def thin_out(names):
    """All of them; under soak only: two of three estimators, which share their code."""
    alike = [name for name in names if name.removesuffix(FEW) in {*ESTIMATORS, *OWN}]
    left = set(alike) - set(alike[::3])
    return [pytest.param(name, marks=[pytest.mark.soak] * (name in left)) for name in names]


NAMES = thin_out(EVERY)
TAUGHT = [
    *(name for name in MODELS if parse_model(name).needs_gold),
    *SUPERVISED,
    *(name for name in COMPOSED if "sup_" in name),
]
TWO_GRADES_ONLY = [name for name in MODELS if parse_model(name).knows_two_grades]


@pytest.fixture(scope="module")
def world():
    return kt.simulation.simulate_collection(systems=5, topics=6, depth=12, rng=3)


def judged(frame, approach):
    """Judgments on as many grades as the approach can take."""
    fit = pl.col("grade").clip(0, 1) if approach in TWO_GRADES_ONLY else pl.col("grade")
    return kt.read_judgments(frame.with_columns(fit))


def gold_for(world, approach):
    return world.gold if approach in TAUGHT else None


def table(judgments):
    """Judgments in which no vote is tied, so that no coin decides."""
    frame = judgments.to_frame()
    counts = frame.group_by("topic", "document", "grade").len()
    best = counts.group_by("topic", "document").agg(pl.col("len").max().alias("most"), pl.col("len"))
    clear = best.filter(pl.col("len").list.eval(pl.element() == pl.element().max()).list.sum() == 1)
    return frame.join(clear.select("topic", "document"), on=["topic", "document"])


def values(world, frame, approach, *, seed=11):
    gold = gold_for(world, approach)
    evaluation = kt.evaluate(world.runs, judged(frame, approach), MEASURES, approach=approach, gold=gold, rng=seed)
    return np.stack([scores.value for scores in evaluation.scores.values()])


@pytest.mark.parametrize("approach", NAMES)
def test_order_of_rows_does_not_matter(world, approach):
    """The seed is the same, so nothing else may change the result either."""
    frame = world.judgments.to_frame()
    np.testing.assert_array_equal(
        values(world, frame, approach),
        values(world, frame.sample(fraction=1, shuffle=True, seed=1), approach),
    )


@pytest.mark.parametrize("approach", thin_out([*REGISTERED, *COMPOSED]))
def test_names_of_judges_do_not_matter(world, approach):
    frame = table(world.judgments)
    renamed = frame.with_columns(pl.col("judge").str.reverse())
    np.testing.assert_allclose(values(world, frame, approach), values(world, renamed, approach), rtol=1e-12)


@pytest.mark.parametrize("approach", NAMES)
def test_inputs_stay_as_they_are(world, approach):
    judgments = judged(world.judgments.to_frame(), approach)
    before = judgments.grade.copy(), world.runs.listed.copy()
    kt.evaluate(world.runs, judgments, MEASURES, approach=approach, gold=gold_for(world, approach), rng=0)
    np.testing.assert_array_equal(before[0], judgments.grade)
    np.testing.assert_array_equal(before[1], world.runs.listed)
    with pytest.raises(ValueError, match="read-only"):
        judgments.grade[0] = 1


# qbinmv turns even a unanimous 0 and 1 into .0006 and .9994, and single judgments are trusted to 95 %.
UNSURE = ["qbinmv", "expected:judge:crowd-2"]


@pytest.mark.parametrize("approach", thin_out([name for name in EVERY if name not in {*TAUGHT, *UNSURE}]))
def test_a_panel_of_one_is_that_judge(world, approach):
    frame = world.judgments.to_frame().filter(pl.col("judge") == "crowd-2")
    alone = kt.score_all(world.runs, judged(frame, approach), MEASURES)
    expected = np.stack([scores.value for scores in alone.values()])
    np.testing.assert_allclose(values(world, frame, approach), expected)


@pytest.mark.parametrize("approach", NAMES)
def test_adding_an_approach_changes_no_other(world, approach):
    judgments, gold = judged(world.judgments.to_frame(), approach), gold_for(world, approach)

    def scores(*names):
        return kt.evaluate(world.runs, judgments, "AP", approach=names, gold=gold, rng=4).scores["AP"]

    both = scores("mv", "uniform", approach)
    np.testing.assert_array_equal(both.value[both.judges.index(approach)], scores(approach).value[0])


@pytest.mark.parametrize("approach", TAUGHT)
def test_what_learns_from_gold_says_that_it_needs_some(world, approach):
    with pytest.raises(kt.KaratageError, match="gold"):
        kt.evaluate(world.runs, world.judgments, "AP", approach=approach)
    one_topic = kt.read_gold(world.gold.to_frame().filter(pl.col("topic") == "101"))
    with pytest.raises(kt.KaratageError, match="two topics"):
        kt.evaluate(world.runs, world.judgments, "AP", approach=approach, gold=one_topic)


@pytest.mark.parametrize("approach", [*TAUGHT, "ds(supervision=full)", "ds(supervision=light)"])
def test_a_topic_is_merged_without_its_own_gold(approach):
    """Gold of one topic turned around changes no score of that topic."""
    world = kt.simulation.simulate_collection(systems=15, topics=4, depth=12, rng=3)
    turned = world.gold.to_frame().with_columns(
        pl.when(pl.col("topic") == "103").then(3 - pl.col("grade")).otherwise(pl.col("grade")).alias("grade")
    )

    def scores(gold):
        return kt.evaluate(world.runs, world.judgments, "AP", approach=approach, gold=gold, rng=4).scores["AP"]

    before, after = scores(world.gold), scores(kt.read_gold(turned, grades="0-3"))
    own = before.topics.index("103")
    np.testing.assert_array_equal(before.value[0, own], after.value[0, own])
    assert (before.value[0] != after.value[0]).any()


def test_light_and_full_supervision_differ(world):
    names = ["ds(supervision=light)", "ds(supervision=full)"]
    light, full = kt.evaluate(world.runs, world.judgments, "AP", approach=names, gold=world.gold).posteriors.values()
    assert (light.probability != full.probability).any()
