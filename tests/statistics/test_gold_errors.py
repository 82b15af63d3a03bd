"""Intervals by `kt.compare` if gold's judges err, known from items that two of them graded."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.decisions.gold_errors import LEAST_DOUBLES

Thin = Callable[[int], int]
FOLDER = "trec-dl-2021-passage"
JUDGE = "judge:gpt-4o_umbrela"
ITEM = ["topic", "document"]
SLIPS = 0.1
DOUBLES = 100


class Setting:
    """Systems, judges, and true grades of all that counts."""

    def __init__(self, runs: kt.Runs, judgments: kt.Judgments, gold: kt.Judgments, approach: str | None, best: int):
        self.runs, self.judgments, self.approach = runs, judgments, approach
        self.true = gold.to_frame().drop("judge")
        self.gold = gold
        self.means: dict[str, np.ndarray] = {}
        mean = kt.score(runs, gold, "DCG@10").mean[0]
        ordered = [runs.systems[s] for s in np.argsort(-mean)[: 2 * best]]
        distinct = {tuple(first_ranks(runs, name, 10)["document"]): name for name in ordered}
        self.best = list(distinct.values())[:best]

    def choose_pair(self, rng: np.random.Generator) -> tuple[str, str]:
        a, b = rng.choice(self.best, 2, replace=False)
        return str(a), str(b)

    def grade(self, items: pl.DataFrame) -> pl.DataFrame:
        """True grades; what was never judged is not relevant."""
        return items.join(self.true, on=ITEM, how="left", maintain_order="left").with_columns(
            pl.col("grade").fill_null(0)
        )

    def truth(self, measure: str, a: str, b: str) -> float:
        if measure not in self.means:
            self.means[measure] = kt.score(self.runs, self.gold, measure).mean[0]
        one, other = (self.means[measure][self.runs.systems.index(name)] for name in (a, b))
        return float(other - one)

    def draw(self, design: str, measure: str, a: str, b: str, rng: np.random.Generator) -> pl.DataFrame:
        """Items of gold, with their sampling probabilities if they were drawn."""
        question = kt.Question(measure=measure, approach=self.approach, seed=int(rng.integers(2**31)))
        if design == "drawn":
            return kt.plan(self.runs, self.judgments, question, budget=200, a=a, b=b).queue.drop("grade")
        items = pl.concat([first_ranks(self.runs, system, 10) for system in (a, b)])
        if design == "even":
            ranked = not measure.startswith("P")  # by P, a document that both show counts the same for both
            counts = items.group_by(ITEM, maintain_order=True).len()
            differ = counts.filter((pl.col("len") == 1) | pl.lit(ranked)).select(ITEM)
            return differ[np.sort(rng.choice(len(differ), min(200, len(differ) * 4 // 5), replace=False))]
        return items.unique(ITEM, maintain_order=True).select(ITEM)


def first_ranks(runs: kt.Runs, system: str, depth: int) -> pl.DataFrame:
    s, rows = runs.systems.index(system), []
    for t, topic in enumerate(runs.topics):
        start, end = (int(x) for x in runs.bounds[t, s])
        rows += [(topic, runs.documents[int(d)]) for d in runs.listed[start : min(end, start + depth)]]
    return pl.DataFrame(rows, schema=dict.fromkeys(ITEM, pl.String), orient="row")


def slip(grade: np.ndarray, rng: np.random.Generator, kind: str) -> np.ndarray:
    """Another grade for a share of the items: each other one alike, or relevant ones lost four times as often."""
    rate = np.full(len(grade), SLIPS)
    if kind == "misses":
        rate = np.where(grade >= 2, 2 * SLIPS, SLIPS / 2)
    other = (grade + rng.integers(1, 4, len(grade))) % 4
    return np.where(rng.random(len(grade)) < rate, other, grade)


def judge_twice(gold: pl.DataFrame, rng: np.random.Generator, kind: str, doubles: int) -> kt.Judgments:
    """Everything by one judge of gold, and some by another."""
    grade = gold["grade"].to_numpy()
    one = gold.with_columns(pl.Series("grade", slip(grade, rng, kind)), judge=pl.lit("ann"))
    chosen = np.sort(rng.choice(len(gold), min(doubles, len(gold)), replace=False))
    two = gold[chosen].with_columns(pl.Series("grade", slip(grade[chosen], rng, kind)), judge=pl.lit("bob"))
    return kt.read_gold(pl.concat([one, two]) if doubles else one)


def cover(
    setting: Setting,
    measure: str,
    design: str,
    draws: int,
    *,
    kind: str = "alike",
    doubles: int = DOUBLES,
    seed: int = 0,
) -> float:
    """The share of 95 % intervals for these topics that contain the true difference."""
    rng = np.random.default_rng([seed, 19])
    inside = []
    for _ in range(draws):
        a, b = setting.choose_pair(rng)
        graded = setting.grade(setting.draw(design, measure, a, b, rng))
        gold = judge_twice(graded, rng, kind, doubles)
        question = kt.Question(measure=measure, approach=setting.approach, claim="these")
        found = kt.compare(setting.runs, setting.judgments, gold, question, a=a, b=b)
        if found.corrected is None:
            assert found.refusal is not None
            continue
        assert (found.gold_errors is not None) == (min(doubles, len(graded)) >= LEAST_DOUBLES)  # else a note says so
        gap = found.corrected.difference
        inside.append(gap.low - 1e-12 <= setting.truth(measure, a, b) <= gap.high + 1e-12)
    assert len(inside) > 0.8 * draws
    return float(np.mean(inside))


@cache
def simulated() -> Setting:
    world = kt.simulation.simulate_collection(systems=6, topics=40, depth=30, rng=4)
    return Setting(world.runs, world.judgments, world.gold, None, best=6)


def tolerance(draws: int, share: float = 0.95) -> float:
    """Three and a half standard errors."""
    return 3.5 * (share * (1 - share) / draws) ** 0.5


@pytest.mark.parametrize(
    ("measure", "design"),
    [("P(rel=2)@10", "census"), ("DCG@10", "census"), ("P(rel=2)@10", "even"), ("DCG@10", "drawn")],
)
def test_intervals_cover_if_gold_errs(measure: str, design: str, thin: Thin) -> None:
    draws = thin(150)
    found = cover(simulated(), measure, design, draws)
    assert 0.93 - tolerance(draws) <= found


def test_without_double_judging_gold_that_errs_covers_little(thin: Thin) -> None:
    """Gold on all that matters is then exact, and wrong."""
    assert cover(simulated(), "DCG@10", "census", thin(100), doubles=0) < 0.2


@cache
def real(folder: Path) -> Setting:
    runs = kt.read_runs(folder / "runs")
    judgments = kt.read_judgments(folder / "llm_labels.tsv.gz")
    return Setting(runs, judgments, kt.read_gold(folder / "gold.qrels"), JUDGE, best=30)


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["alike", "misses"])
@pytest.mark.parametrize("design", ["census", "even", "drawn"])
@pytest.mark.parametrize("measure", ["P(rel=2)@10", "DCG@10", "nDCG@10"])
def test_slips_planted_in_real_gold_are_covered(shared_data: Path, measure: str, design: str, kind: str) -> None:
    if (measure, design) == ("nDCG@10", "census"):
        pytest.skip("the ideal gain depends on documents of no system")
    draws = 100
    found = cover(real(shared_data / FOLDER), measure, design, draws, kind=kind)
    assert 0.93 - tolerance(draws) <= found
