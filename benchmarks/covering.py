"""`python -m benchmarks.covering`: how often intervals of karatage and of ppi_py hold the truth. Nothing is timed.

Two systems that are equally good in gold's eyes and not in the judges', gold on few of 60 topics, difference in AP.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

import karatage as kt
from karatage.correction.topics import estimate_topics
from karatage.simulation.collection import DEPTH, JUDGES, SHAPE, SYSTEMS

WORLD_TOPICS, TOPICS = 20_000, 60
GOLD_TOPICS = (10, 15, 25, 40)
DRAWS = 4_000
LEVEL = 0.05
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """Bounds of many intervals, one for each draw of topics."""

    low: Scores
    high: Scores

    def describe(self, truth: float) -> str:
        """How many hold the truth, and how wide they are."""
        held = (self.low <= truth) & (truth <= self.high)
        return f"{held.mean():.1%} (width {(self.high - self.low).mean():.3f})"


def main() -> None:
    """One line for each number of gold topics."""
    gold, judge = simulate_differences(seed=1)
    print(f"PPI++ on few topics, AP: how many of {DRAWS:,} 95% intervals hold the truth, {TOPICS} topics in all.")
    for count in GOLD_TOPICS:
        source = np.random.default_rng(count)
        drawn = np.array([source.choice(WORLD_TOPICS, TOPICS, replace=False) for _ in range(DRAWS)])
        known, others = drawn[:, :count], drawn[:, count:]
        truth = float(gold.mean())
        ours = estimate_ours(gold[known], judge[known], judge[others]).describe(truth)
        theirs = estimate_theirs(gold[known], judge[known], judge[others]).describe(truth)
        print(f"gold on {count} topics: karatage {ours}, ppi_py {theirs}.")


def simulate_differences(seed: int) -> tuple[Scores, Scores]:
    """Differences in AP by gold and by the judges' vote, (topic,), in the demo's world with very many topics."""
    world = kt.simulation.simulate_collection(
        systems=SYSTEMS[:2],
        topics=WORLD_TOPICS,
        depth=DEPTH,
        judges=JUDGES,
        shape=replace(SHAPE, pool=DEPTH),
        rng=seed,
    )
    voted = kt.aggregate(world.judgments, "mv", rng=seed)
    vote = kt.read_gold(voted.to_frame().select("topic", "document", "grade"))
    scores = (kt.score(world.runs, grades, "AP").value[0] for grades in (world.pool, vote))
    gold, judge = (np.asarray(score[:, 0] - score[:, 1]) for score in scores)
    return gold, judge


def estimate_ours(gold: Scores, judge: Scores, rest: Scores) -> Interval:
    from scipy.stats import t

    found = estimate_topics(gold, judge, rest)
    half = t.ppf(1 - LEVEL / 2, found.degrees) * np.sqrt(found.variance)
    return Interval(np.asarray(found.value - half), np.asarray(found.value + half))


def estimate_theirs(gold: Scores, judge: Scores, rest: Scores) -> Interval:
    from ppi_py import ppi_mean_ci

    bounds = [ppi_mean_ci(*row, alpha=LEVEL) for row in zip(gold, judge, rest, strict=True)]
    low, high = np.array(bounds).reshape(len(gold), 2).T
    return Interval(low, high)


if __name__ == "__main__":
    main()
