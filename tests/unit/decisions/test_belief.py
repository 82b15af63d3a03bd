"""What is believed of items that nobody, or only the crowd, has judged."""

from __future__ import annotations

import numpy as np
import pytest

import karatage as kt
from karatage.data.alignment import pool_runs
from karatage.data.judgments import match_gold
from karatage.decisions.belief import MOST, Belief, combine_judgments, form_belief
from karatage.orders.state import find_features

WORLD = kt.simulation.simulate_collection(systems=8, topics=20, depth=40, rng=3)
POOL = pool_runs(WORLD.runs, 40)
ALIGNMENT = kt.stats.align(WORLD.runs, POOL)
TRUTH = match_gold(POOL, WORLD.gold)
CROWD = WORLD.judgments.keep_rows(np.isin(WORLD.judgments.judge, [3, 4, 5]))


def find_chance(belief: Belief) -> np.ndarray:
    return 1 - belief.probability[:, 0]


def experts(share: float) -> kt.Judgments:
    return WORLD.gold.keep_rows(np.random.default_rng(0).random(len(WORLD.gold.grade)) < share)


def test_before_anything_is_judged_all_is_possible() -> None:
    belief = form_belief(ALIGNMENT, combine_judgments(POOL, None, None))
    np.testing.assert_allclose(find_chance(belief), 1 / (1 + np.exp(2)), atol=1e-9)
    drawn = belief.draw(400, np.random.default_rng(0))
    share = (drawn > 0).mean(axis=0)
    assert share.std() > 0.1  # worlds differ as a whole, not only item by item


@pytest.mark.parametrize("crowd", [None, CROWD])
def test_chances_are_borne_out(crowd: kt.Judgments | None) -> None:
    combined = combine_judgments(POOL, crowd, experts(0.3))
    chance = find_chance(form_belief(ALIGNMENT, combined))
    left = ~combined.expert
    assert abs(chance[left].mean() - (TRUTH[left] > 0).mean()) < 0.02
    for low, high in ((0.0, 0.1), (0.1, 0.4), (0.4, 0.7), (0.7, 1.01)):
        inside = left & (chance >= low) & (chance < high)
        expected, error = chance[inside].mean(), np.sqrt(0.25 / inside.sum())
        assert abs((TRUTH[inside] > 0).mean() - expected) < 0.08 + 3 * error


def test_experts_teach_how_far_the_crowd_is_right() -> None:
    unchecked = form_belief(ALIGNMENT, combine_judgments(POOL, CROWD, None))
    checked = form_belief(ALIGNMENT, combine_judgments(POOL, CROWD, experts(0.3)))
    combined = combine_judgments(POOL, CROWD, experts(0.3))
    sure = (combined.crowd_probability[:, 0] < 0.01) & ~combined.expert
    stated = np.log(MOST / (1 - MOST)) - 2  # its own odds, on top of what is usual
    np.testing.assert_allclose(find_chance(unchecked)[sure], 1 / (1 + np.exp(-stated)), atol=1e-9)
    doubtful = np.isclose(combined.crowd_probability[:, 0], 1 / 3) & ~combined.expert
    off = [abs(find_chance(b)[doubtful].mean() - (TRUTH[doubtful] > 0).mean()) for b in (unchecked, checked)]
    assert off[1] < 0.04 < off[0] / 2


def test_experts_are_certain_and_draws_keep_to_them() -> None:
    combined = combine_judgments(POOL, CROWD, experts(0.3))
    belief = form_belief(ALIGNMENT, combined)
    drawn = belief.draw(50, np.random.default_rng(0))
    assert (drawn[combined.expert] == combined.grade[combined.expert, None]).all()
    assert drawn.max() == 3
    assert set(np.unique(find_chance(belief)[combined.expert])) == {0.0, 1.0}


def test_grades_are_drawn_as_they_are_found() -> None:
    combined = combine_judgments(POOL, None, experts(0.5))
    belief = form_belief(ALIGNMENT, combined)
    drawn = belief.draw(100, np.random.default_rng(0))[~combined.expert]
    probability, left = belief.probability, ~combined.expert
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    for grade in (1, 2, 3):
        assert abs((drawn == grade).mean() - (TRUTH[left] == grade).mean()) < 0.015
        assert abs((drawn == grade).mean() - probability[left, grade].mean()) < 0.01


def test_high_grades_are_not_expected_where_experts_did_not_look() -> None:
    """Experts judge what all systems rank first, where grades are high: the rest must not be given the same share."""
    order = np.argsort(-find_features(ALIGNMENT.ranked, len(TRUTH)).meta_ap)
    top = np.zeros(len(TRUTH), bool)
    top[order[: len(order) // 4]] = True
    names = {(POOL.topics[POOL.item_topic[i]], POOL.documents[int(POOL.item_document[i])]) for i in np.flatnonzero(top)}
    frame = WORLD.gold.to_frame()
    kept = np.array([pair in names for pair in frame.select("topic", "document").iter_rows()])
    combined = combine_judgments(POOL, None, WORLD.gold.keep_rows(kept))
    probability = form_belief(ALIGNMENT, combined).probability[~top]
    expected = probability[:, 3].sum() / probability[:, 1:].sum()
    known, rest = TRUTH[top & (TRUTH > 0)], TRUTH[~top & (TRUTH > 0)]
    assert (known == 3).mean() > 2 * (rest == 3).mean()
    assert abs(expected - (rest == 3).mean()) < abs(expected - (known == 3).mean())


def test_a_crowd_of_two_grades_does_not_deny_higher_ones() -> None:
    binary = kt.simulation.simulate_crowd(WORLD.gold, "careful", rng=0)
    combined = combine_judgments(POOL, binary, experts(0.3))
    probability = form_belief(ALIGNMENT, combined).probability
    left = ~combined.expert
    for grade in (2, 3):
        assert abs(probability[left, grade].mean() - (TRUTH[left] == grade).mean()) < 0.012


def test_a_limited_belief_draws_the_items_needed_only() -> None:
    combined = combine_judgments(POOL, CROWD, experts(0.2))
    belief = form_belief(ALIGNMENT, combined)
    needed = np.arange(len(TRUTH)) % 2 == 0
    limited = belief.limit(needed)
    drawn = limited.draw(200, np.random.default_rng(0))
    assert (drawn[~needed & ~combined.expert] == 0).all()
    assert (drawn[combined.expert] == combined.grade[combined.expert, None]).all()
    inside = needed & ~combined.expert
    np.testing.assert_allclose(
        (drawn[inside] > 0).mean(), (belief.draw(200, np.random.default_rng(1))[inside] > 0).mean(), atol=0.01
    )


def test_systems_that_find_what_is_relevant_lend_their_other_documents_a_chance() -> None:
    """Two systems without a document in common, one of them good: what it retrieved below is likelier relevant."""
    documents = {name: {f"{name}{r}": 50 - r for r in range(40)} for name in ("good", "bad")}
    runs = kt.read_runs({name: {"1": listed, "2": listed} for name, listed in documents.items()})
    pool = pool_runs(runs, 40)
    graded = {f"{name}{r}": int(name == "good") for name in ("good", "bad") for r in range(10)}
    gold = kt.read_gold({"1": graded})
    belief = form_belief(kt.stats.align(runs, pool), combine_judgments(pool, None, gold))
    names = pool.documents.gather(pool.item_document).to_list()
    chance = dict(zip(zip(pool.item_topic.tolist(), names, strict=True), find_chance(belief), strict=True))
    for rank in range(40):
        assert chance[1, f"good{rank}"] > 2.5 * chance[1, f"bad{rank}"]


def test_the_load_of_a_system_falls_with_the_rank_at_which_it_has_an_item() -> None:
    evidence = form_belief(ALIGNMENT, combine_judgments(POOL, None, None)).stages[0].evidence
    for item in range(0, len(TRUTH), 50):
        _, system, rank = np.nonzero(ALIGNMENT.ranked == item)
        load = 1 / np.log2(2 + rank)
        rows = slice(evidence.start[item], evidence.start[item + 1])
        np.testing.assert_array_equal(evidence.system[rows], system)
        np.testing.assert_allclose(evidence.load[rows], load / np.sqrt((load**2).sum()))


def test_a_crowd_of_one_mind_claims_a_chance_of_98_percent() -> None:
    runs = kt.read_runs({name: {"1": {"a": 2, "b": 1}} for name in ("one", "two")})
    pool = pool_runs(runs, 2)
    crowd = kt.read_judgments({name: {"1": {"a": 1, "b": 0}} for name in "xyz"})
    found = find_chance(form_belief(kt.stats.align(runs, pool), combine_judgments(pool, crowd, None)))
    usual = np.exp(-2)
    np.testing.assert_allclose(found / (1 - found), [usual * 49, usual / 49])


def test_the_crowd_speaks_of_each_grade_given_the_one_below() -> None:
    combined = combine_judgments(POOL, CROWD.keep_rows(CROWD.item % 2 == 0), experts(0.3))
    belief = form_belief(ALIGNMENT, combined)
    assert len(belief.stages) == 3
    for grade, stage in enumerate(belief.stages, 1):
        for row, item in enumerate(belief.unsure):
            said = combined.crowd_probability[item, grade - 1 :]
            expected = (0.0, 0.0)
            if combined.crowd[item] and said.sum() > 0:
                held = np.clip(said[1:].sum() / said.sum(), 0.02, 0.98)
                expected = (1.0, np.log(held / (1 - held)))
            assert stage.evidence.x[row, -2:] == pytest.approx(expected)


def test_before_experts_speak_half_of_what_has_a_grade_has_the_next() -> None:
    runs = kt.read_runs({name: {"1": {"a": 2, "b": 1}} for name in ("one", "two")})
    pool = pool_runs(runs, 2)
    crowd = kt.read_judgments({name: {"1": {"a": 3}} for name in "xyz"})
    found = form_belief(kt.stats.align(runs, pool), combine_judgments(pool, crowd, None)).probability[1]
    relevant = 1 / (1 + np.exp(2))
    np.testing.assert_allclose(found, [1 - relevant, relevant / 2, relevant / 4, relevant / 4])
