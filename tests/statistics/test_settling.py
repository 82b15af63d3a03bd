"""The probability of a wrong order is borne out where the truth is known, and stopping by it is safe."""

from __future__ import annotations

import numpy as np
import pytest

import karatage as kt
from karatage.data.alignment import pool_runs
from karatage.decisions.belief import combine_judgments, form_belief, settle

WORLDS = 20
MARGIN = 0.01


def compare_with_truth(measure: str, share: float, *, crowd: bool) -> tuple[np.ndarray, np.ndarray]:
    """Over pairs of all worlds: the probability of a wrong order, and whether it is wrong."""
    said, so = [], []
    for seed in range(WORLDS):
        world = kt.simulation.simulate_collection(systems=12, topics=20, depth=30, rng=seed)
        rng = np.random.default_rng(seed)
        experts = world.gold.keep_rows(rng.random(len(world.gold.grade)) < share)
        judges = world.judgments.keep_rows(np.isin(world.judgments.judge, [3, 4, 5])) if crowd else None
        pool = pool_runs(world.runs, 30)
        alignment = kt.stats.align(world.runs, pool)
        belief = form_belief(alignment, combine_judgments(pool, judges, experts))
        found = settle(alignment, belief, kt.parse_measure(measure), indifference=MARGIN, risk=0.05, rng=rng)
        truth = kt.score(world.runs, world.gold, measure).value[0].mean(axis=0)
        wrong = truth[None, :] - truth[:, None] > MARGIN
        said.append(found.wrong[found.counts])
        so.append(wrong[found.counts])
    return np.concatenate(said), np.concatenate(so)


@pytest.mark.parametrize(
    ("measure", "share", "crowd"),
    [
        ("P@10", 0.3, True),
        ("nDCG@10", 0.1, True),
        *(pytest.param(*more, marks=pytest.mark.soak) for more in (("P@10", 0.1, False), ("AP", 0.3, True))),
    ],
)
def test_orders_are_wrong_no_more_often_than_said(measure: str, share: float, crowd: bool) -> None:
    """Pairs of a world share their doubts, so a bin may be half as much again above what is said, but no more."""
    said, so = compare_with_truth(measure, share, crowd=crowd)
    for low, high in ((0.0, 0.05), (0.05, 0.15), (0.15, 0.5)):
        inside = (said >= low) & (said < high)
        assert inside.sum() > 100
        error = np.sqrt(said[inside].mean() / inside.sum())
        assert so[inside].mean() < 1.5 * said[inside].mean() + 2 * error
    assert so.sum() > 0.35 * said.sum()  # nor is it all caution
    assert so[said > 0.15].mean() > 5 * so[said < 0.15].mean()


def test_stopping_leaves_few_pairs_in_the_wrong_order() -> None:
    """Judge batch by batch until the rule says stop; a pair may be wrong by more than the margin in 5 % of cases."""
    wrong = pairs = judged = items = stopped = 0
    for seed in range(12):
        world = kt.simulation.simulate_collection(systems=6, topics=15, depth=20, rng=100 + seed)
        rules = kt.QueueRules(prices=kt.parse_prices("10:1"), expert_share=1.0, indifference=0.02, seed=seed)
        experts, chosen = None, np.zeros(len(world.gold.grade), bool)
        names = {pair: k for k, pair in enumerate(world.gold.to_frame().select("topic", "document").iter_rows())}
        for _ in range(12):
            batch = kt.queue(world.runs, None, experts, rules, budget=600)
            if batch.stop:
                break
            for pair in batch.items.select("topic", "document").iter_rows():
                chosen[names[pair]] = True
            experts = world.gold.keep_rows(chosen)
        truth = kt.score(world.runs, world.gold, "P@10").value[0].mean(axis=0)
        stopped += batch.settled
        counts = batch.settling.counts
        wrong += int((counts & (truth[None, :] - truth[:, None] > 0.02)).sum())
        pairs += batch.settling.pairs
        judged, items = judged + int(chosen.sum()), items + batch.pool
    assert stopped == 12
    assert wrong <= 0.05 * pairs
    assert judged < 0.6 * items
