"""AP and ERR from documents that `plan` draws: how often intervals cover, through the public functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.data.plan import GoldPlan
from karatage.errors import DataError

PAIR = ("system-01", "system-07")


@pytest.fixture(scope="module")
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(rng=7)


def grade(world: kt.simulation.World, plan: GoldPlan) -> kt.Judgments:
    """The queue with the world's gold; documents without it are not relevant."""
    queue = plan.queue.drop("grade")
    truth = world.gold.to_frame().drop("judge")
    graded = queue.join(truth, on=["topic", "document"], how="left", maintain_order="left")
    return kt.read_gold(graded.with_columns(pl.col("grade").fill_null(0)))


def find_truth(world: kt.simulation.World, measure: str) -> float:
    score = kt.score(world.runs, world.gold, measure)
    a, b = (score.systems.index(name) for name in PAIR)
    return float((score.value[0][:, b] - score.value[0][:, a]).mean())


@pytest.mark.parametrize("measure", ["AP", "ERR@10"])
@pytest.mark.parametrize("judges", ["good", "random"])
def test_intervals_cover(world: kt.simulation.World, measure: str, judges: str, thin: Callable[[int], int]) -> None:
    """Unbiased and covered with any judges, for these topics; a mean of 40 has a standard error of .034 at .95."""
    draws, judgments = thin(150), world.judgments
    budget = {"AP": 600, "ERR@10": 300}[measure]  # of 4,000 and 665 documents that matter
    if judges == "random":
        frame = judgments.to_frame()
        shuffled = np.random.default_rng(1).permutation(frame["grade"].to_numpy())
        judgments = kt.read_judgments(frame.with_columns(grade=pl.Series(shuffled)))
    truth, found = find_truth(world, measure), []
    for seed in range(draws):
        question = kt.Question(measure=measure, claim="these", seed=seed)
        plan = kt.plan(world.runs, judgments, question, budget=budget, a=PAIR[0], b=PAIR[1])
        result = kt.compare(world.runs, judgments, grade(world, plan), question, a=PAIR[0], b=PAIR[1])
        if result.corrected is None:  # judges who know nothing need more gold for AP
            assert (judges, measure) == ("random", "AP"), result.refusal
            continue
        found.append(result.corrected.difference)
    error = np.array([one.value - truth for one in found])
    assert len(found) >= draws / 2
    covered = np.mean([one.low <= truth <= one.high for one in found])
    assert covered >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / draws)
    assert abs(error.mean()) <= 3.5 * error.std(ddof=1) / np.sqrt(draws)
    assert error.std(ddof=1) > 0


def test_gold_on_everything_is_golds_own_difference(world: kt.simulation.World) -> None:
    for measure in ("AP", "ERR@10"):
        question = kt.Question(measure=measure, claim="these")
        plan = kt.plan(world.runs, world.judgments, question, budget=100_000, a=PAIR[0], b=PAIR[1])
        result = kt.compare(world.runs, world.judgments, grade(world, plan), question, a=PAIR[0], b=PAIR[1])
        assert result.corrected is not None
        assert result.corrected.difference.value == pytest.approx(find_truth(world, measure), abs=1e-9)
        assert result.corrected.difference.low == result.corrected.difference.high


def test_too_little_gold_is_refused_with_the_amount(
    world: kt.simulation.World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The share of the linear part is x / (1 + x), with x proportional to the amount of gold."""
    plan = kt.plan(world.runs, world.judgments, "AP", budget=100, a=PAIR[0], b=PAIR[1])
    gold = grade(world, plan)
    assert kt.compare(world.runs, world.judgments, gold, "AP", a=PAIR[0], b=PAIR[1]).corrected is not None
    monkeypatch.setattr("karatage.decisions.estimators.drawn.LEAST_LINEAR", 0.99)
    found = kt.compare(world.runs, world.judgments, gold, "AP", a=PAIR[0], b=PAIR[1])
    assert found.corrected is None
    assert found.refusal is not None
    enough = int(found.refusal.split("about ")[1].split(" ")[0].replace(",", ""))
    assert enough > 100


def test_leaderboard_and_second_batch(world: kt.simulation.World, thin: Callable[[int], int]) -> None:
    """All pairs of a leaderboard, with a second batch drawn by what the first one showed."""
    runs = world.runs.only([f"system-{n:02d}" for n in range(1, 6)])
    score = kt.score(runs, world.gold, "AP")
    level = dict(zip(score.systems, score.value[0].mean(axis=0), strict=True))
    covered = []
    for seed in range(thin(40)):
        question = kt.Question(measure="AP", claim="these", seed=seed)
        first = kt.plan(runs, world.judgments, question, budget=300)
        second = kt.plan(runs, world.judgments, question, budget=200, judged=grade(world, first))
        once, again = (set(plan.items.select("topic", "document").rows()) for plan in (first, second))
        assert not once & again
        rows = pl.concat([grade_rows(world, first), grade_rows(world, second)], how="vertical_relaxed")
        board = kt.compare_all(runs, world.judgments, kt.read_gold(rows), question)
        assert board.corrected_pairs is not None
        pairs = zip(board.a, board.b, strict=True)
        truth = np.array([level[board.systems[b]] - level[board.systems[a]] for a, b in pairs])
        covered.append(((board.corrected_pairs.low <= truth) & (truth <= board.corrected_pairs.high)).mean())
    spread = np.std(covered, ddof=1) / np.sqrt(len(covered))
    assert np.mean(covered) >= 0.94 - 3 * spread


def grade_rows(world: kt.simulation.World, plan: GoldPlan) -> pl.DataFrame:
    truth = world.gold.to_frame().drop("judge")
    queue = plan.queue.drop("grade")
    return queue.join(truth, on=["topic", "document"], how="left", maintain_order="left").with_columns(
        pl.col("grade").fill_null(0)
    )


def test_a_plain_sample_is_refused(world: kt.simulation.World) -> None:
    rows = np.sort(np.random.default_rng(2).choice(len(world.gold.grade), 400, replace=False))
    gold = kt.read_gold(world.gold.to_frame().drop("judge")[rows])
    found = kt.compare(world.runs, world.judgments, gold, "AP", a=PAIR[0], b=PAIR[1])
    assert found.corrected is None
    with pytest.raises(DataError, match="gains"):
        kt.plan(world.runs, world.judgments, "RR", budget=100, a=PAIR[0], b=PAIR[1])
