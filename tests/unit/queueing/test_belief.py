"""What is believed of items that nobody, or only the crowd, has judged."""

from __future__ import annotations

import numpy as np
import pytest

import karatage as kt
from karatage.data.alignment import match_gold
from karatage.data.pool import pool_runs
from karatage.queueing.belief import MOST, form_belief
from karatage.queueing.combining import combine_judgments

WORLD = kt.simulate_collection(systems=8, topics=20, depth=40, rng=3)
POOL = pool_runs(WORLD.runs, 40)
ALIGNMENT = kt.align(WORLD.runs, POOL)
TRUTH = match_gold(POOL, WORLD.gold)
CROWD = WORLD.judgments.keep_rows(np.isin(WORLD.judgments.judge, [3, 4, 5]))


def experts(share: float) -> kt.Judgments:
    return WORLD.gold.keep_rows(np.random.default_rng(0).random(len(WORLD.gold.grade)) < share)


def test_before_anything_is_judged_all_is_possible() -> None:
    belief = form_belief(ALIGNMENT, combine_judgments(POOL, None, None))
    np.testing.assert_allclose(belief.chance, 1 / (1 + np.exp(2)), atol=1e-9)
    drawn = belief.draw(400, np.random.default_rng(0))
    share = (drawn > 0).mean(axis=0)
    assert share.std() > 0.1  # worlds differ as a whole, not only item by item


@pytest.mark.parametrize("crowd", [None, CROWD])
def test_chances_are_borne_out(crowd: kt.Judgments | None) -> None:
    combined = combine_judgments(POOL, crowd, experts(0.3))
    chance = form_belief(ALIGNMENT, combined).chance
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
    np.testing.assert_allclose(unchecked.chance[sure], 1 / (1 + np.exp(-stated)), atol=1e-9)
    doubtful = np.isclose(combined.crowd_probability[:, 0], 1 / 3) & ~combined.expert
    off = [abs(b.chance[doubtful].mean() - (TRUTH[doubtful] > 0).mean()) for b in (unchecked, checked)]
    assert off[1] < 0.04 < off[0] / 2


def test_experts_are_certain_and_draws_keep_to_them() -> None:
    combined = combine_judgments(POOL, CROWD, experts(0.3))
    belief = form_belief(ALIGNMENT, combined)
    drawn = belief.draw(50, np.random.default_rng(0))
    assert (drawn[combined.expert] == combined.grade[combined.expert, None]).all()
    assert drawn.max() == 3
    assert set(np.unique(belief.chance[combined.expert])) == {0.0, 1.0}


def test_grades_are_drawn_as_they_are_found() -> None:
    combined = combine_judgments(POOL, None, experts(0.5))
    drawn = form_belief(ALIGNMENT, combined).draw(100, np.random.default_rng(0))[~combined.expert]
    known = combined.grade[combined.expert & (combined.grade > 0)]
    for grade in (1, 2, 3):
        assert abs((drawn[drawn > 0] == grade).mean() - (known == grade).mean()) < 0.02


def test_a_limited_belief_draws_the_items_needed_only() -> None:
    combined = combine_judgments(POOL, CROWD, experts(0.2))
    belief = form_belief(ALIGNMENT, combined)
    needed = np.arange(len(TRUTH)) % 2 == 0
    limited = belief.limit(needed)
    drawn = limited.draw(200, np.random.default_rng(0))
    assert (drawn[~needed & ~combined.expert] == 0).all()
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
    belief = form_belief(kt.align(runs, pool), combine_judgments(pool, None, gold))
    names = pool.documents.gather(pool.item_document).to_list()
    chance = dict(zip(zip(pool.item_topic.tolist(), names, strict=True), belief.chance, strict=True))
    for rank in range(40):
        assert chance[1, f"good{rank}"] > 2.5 * chance[1, f"bad{rank}"]
