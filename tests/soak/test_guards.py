"""How often guards stop honest gold, from plan and queue to compare: 1 in 500 at most."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.simulation.collection import simulate_story

BUDGETS = ((20,), (60,), (200,), (30, 30), (40, 40, 40))
WORLDS = 12


def grade(world: kt.simulation.World, items: pl.DataFrame, measure: str, frame: str | None) -> pl.DataFrame:
    truth = world.gold.to_frame().drop("judge")
    drawn = items.select("topic", "document", "pi", "batch").join(truth, on=["topic", "document"], how="left")
    return drawn.with_columns(pl.col("grade").fill_null(0), measure=pl.lit(measure), frame=pl.lit(frame))


def plan_batches(
    world: kt.simulation.World, question: kt.Question, budget: tuple[int, ...], pair: tuple[str, str] | None
):
    gold: pl.DataFrame | None = None
    for size in budget:
        judged = None if gold is None else kt.read_gold(gold)
        plan = kt.plan(
            world.runs,
            world.judgments,
            question,
            budget=size,
            judged=judged,
            a=pair and pair[0],
            b=pair and pair[1],
        )
        more = grade(world, plan.items, plan.measure, plan.frame)
        gold = more if gold is None else pl.concat([gold, more])
    return kt.read_gold(gold)


def draw_by_effect(world: kt.simulation.World, measure: str, seed: int) -> Iterator[kt.Judgments]:
    gold: pl.DataFrame | None = None
    rules = kt.QueueRules(
        prices=kt.parse_prices("A"), measure=measure, order="effect", expert_share=1.0, depth=10, seed=seed
    )
    for number in (1, 2, 3):
        experts = None if gold is None else kt.read_gold(gold)
        queue = kt.queue(world.runs, world.judgments, experts, rules, budget=500)
        if not len(queue.items):
            return
        items = queue.items.with_columns(batch=pl.lit(number, dtype=pl.Int32))
        more = grade(world, items, measure, queue.frame)
        gold = more if gold is None else pl.concat([gold, more])
        yield kt.read_gold(gold)


def answer(world: kt.simulation.World, gold: kt.Judgments, question: kt.Question, pair: tuple[str, str] | None) -> str:
    found: kt.Comparison | kt.Board
    if pair is None:
        found = kt.compare_all(world.runs, world.judgments, gold, question)
    else:
        found = kt.compare(world.runs, world.judgments, gold, question, a=pair[0], b=pair[1])
    return f"{found.refusal} {found.alarm}"


def is_stopped(text: str) -> bool:
    return any(part in text for part in ("sampling probabilities", "lies between", "agrees with no judge", "copy of"))


@pytest.mark.soak
@pytest.mark.parametrize("measure", ["P@10", "DCG@10", "RBP(p=0.8)"])
def test_planned_gold_is_not_stopped(measure: str) -> None:
    stopped, asked = 0, 0
    for seed in range(WORLDS):
        worlds = (simulate_story(rng=seed), kt.simulation.simulate_collection(rng=seed))
        question = kt.Question(measure=measure, seed=seed)
        for world in worlds:
            names = world.runs.systems
            pair = (names[0], names[-1])
            for budget in BUDGETS:
                for drawn_for, about in ((pair, pair), (None, None), (None, pair)):
                    gold = plan_batches(world, question, budget, drawn_for)
                    stopped += is_stopped(answer(world, gold, question, about))
                    asked += 1
    assert stopped <= asked / 500


@pytest.mark.soak
@pytest.mark.parametrize("measure", ["P@10", "DCG@10"])
def test_gold_drawn_by_effect_is_not_stopped(measure: str) -> None:
    stopped, asked = 0, 0
    for seed in range(WORLDS):
        world, rng = kt.simulation.simulate_collection(rng=seed), np.random.default_rng(seed)
        for gold in draw_by_effect(world, measure, seed):
            a, b = rng.choice(world.runs.systems, 2, replace=False)
            for about in (None, (a, b)):
                stopped += is_stopped(answer(world, gold, kt.Question(measure=measure), about))
                asked += 1
    assert asked > WORLDS
    assert stopped <= asked / 500
