"""With many earlier studies, intervals for usual judges cover and are narrower; they cover for changed judges, too."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import karatage as kt
from karatage.data.records import StudyRecord
from tests.notes import list_facts

MEASURE, SYSTEMS = "P@10", 12
Thin = Callable[[int], int]


def make_world(seed: int, *, noise: float = 0.5, shared: float = 0.3, taste: float = 0.35) -> kt.simulation.World:
    """A judge prefers systems by their taste."""
    rng = np.random.default_rng(seed)
    tastes = rng.normal(0, taste, SYSTEMS).clip(-0.9, 0.9).tolist()
    systems = [
        kt.simulation.SystemProfile(f"s{k:02d}", quality=1 + 0.5 * k / (SYSTEMS - 1), taste=own)
        for k, own in enumerate(tastes)
    ]
    shape = kt.simulation.CollectionShape(shared=shared)
    judges = (kt.simulation.JudgeProfile("llm", noise=noise),)
    return kt.simulation.simulate_collection(systems=systems, topics=30, depth=20, judges=judges, shape=shape, rng=rng)


def draw_gold(world: kt.simulation.World, labels: int, seed: int) -> kt.Judgments:
    queue = kt.plan(world.runs, world.judgments, MEASURE, budget=labels, seed=seed, claim="these").queue.drop("grade")
    grades = world.gold.to_frame().select("topic", "document", "grade")
    return kt.read_gold(queue.join(grades, on=["topic", "document"], how="left"))


def rank(world: kt.simulation.World, gold: kt.Judgments, record: StudyRecord | None = None) -> kt.Board:
    return kt.compare_all(world.runs, world.judgments, gold, MEASURE, claim="these", resamples=100, record=record)


def measure(board: kt.Board, world: kt.simulation.World) -> tuple[float, float]:
    """The share of pairs whose interval for usual judges covers the truth, and the mean width."""
    scored = kt.score(world.runs, world.gold, MEASURE)
    truth = dict(zip(scored.systems, scored.value[0].mean(axis=0), strict=True))
    value = np.array([truth[name] for name in board.systems])
    gap, found = value[board.b] - value[board.a], board.guess.usual
    covered = (found.low <= gap + 1e-9) & (gap - 1e-9 <= found.high)
    return float(covered.mean()), float((found.high - found.low).mean())


@pytest.fixture(scope="module")
def record(thin: Thin) -> StudyRecord:
    """Of a good judge."""
    worlds = [make_world(1000 + seed) for seed in range(thin(50))]
    return StudyRecord(
        studies=tuple(rank(world, draw_gold(world, 200, seed)).study for seed, world in enumerate(worlds))
    )


def try_worlds(worlds: int, record: StudyRecord, **changed: Any) -> tuple[np.ndarray, int]:
    """(world, 2) coverage and width with the record, relative to that without; and how often it was stale."""
    rows, stale = [], 0
    for seed in range(worlds):
        world = make_world(5000 + seed, **changed)
        gold = draw_gold(world, 150, seed)
        board = rank(world, gold, record)
        cover, width = measure(board, world)
        rows.append((cover, width / measure(rank(world, gold), world)[1]))
        stale += "decisions.record-stale" in list_facts(board)
    return np.array(rows), stale


def test_an_unchanged_judge(record: StudyRecord, thin: Thin) -> None:
    found, stale = try_worlds(thin(40), record)
    cover, width = found.mean(axis=0)
    assert cover >= 0.95
    assert width <= 0.99
    assert stale <= 1


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"noise": 1.0}, id="noise"),
        pytest.param({"shared": 0.9, "taste": 0.7}, id="preferences", marks=pytest.mark.soak),
    ],
)
def test_a_judge_who_got_worse(record: StudyRecord, changed: dict[str, float], thin: Thin) -> None:
    """Detected or not, intervals cover."""
    found, stale = try_worlds(thin(40), record, **changed)
    assert found[:, 0].mean() >= 0.90
    assert stale >= len(found) / 2


@pytest.mark.soak
def test_a_change_that_cannot_be_seen(record: StudyRecord, thin: Thin) -> None:
    """The record has no errors on gold items, so that nothing shows that it is stale."""
    blind = StudyRecord(studies=tuple(replace(study, confusion=((0,),)) for study in record.studies))
    found, stale = try_worlds(thin(40), blind, shared=0.9, taste=0.7)
    assert stale == 0
    assert found[:, 0].mean() >= 0.90
