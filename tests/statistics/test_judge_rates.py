"""Two judges of different accuracy who graded different shares of two systems' documents, [NOISY18] 3.9."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from scipy import stats

import karatage as kt

TOPICS, DEPTH, GOLD = 60, 5, 200
RATES = {"good": (0.95, 0.9), "poor": (0.8, 0.65)}  # right about relevant and about other documents
ALIKE = dict.fromkeys(RATES, (0.85, 0.8))
SHARE = {"a": 0.9, "b": 0.1}  # of a system's documents that the good judge graded
Thin = Callable[[int], int]


def simulate(seed: int, relevant: dict[str, float], rates: dict[str, tuple[float, float]]) -> list[pl.DataFrame]:
    """Runs, judgments and gold; gold is drawn evenly from the systems' documents."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"t{t}", f"{system}{d}", system, -d, int(rng.random() < share), rng.random() < SHARE[system], rng.random())
        for t in range(TOPICS)
        for system, share in relevant.items()
        for d in range(DEPTH)
    ]
    names = ["topic", "document", "system", "score", "truth", "good", "luck"]
    table = pl.DataFrame(rows, schema=names, orient="row").with_columns(judge=pl.lit("poor"))
    table = table.with_columns(judge=pl.when("good").then(pl.lit("good")).otherwise("judge"))
    right = pl.col("luck") < pl.struct("judge", "truth").map_elements(
        lambda row: rates[row["judge"]][1 - row["truth"]], return_dtype=pl.Float64
    )
    said = table.select("judge", "topic", "document", grade=pl.when(right).then("truth").otherwise(1 - pl.col("truth")))
    gold = table.select("topic", "document", grade="truth")[np.sort(rng.choice(len(table), GOLD, replace=False))]
    return [table.select("topic", "document", "system", "score"), said, gold]


def compare(
    correction: str, draws: int, relevant: dict[str, float], rates: dict[str, tuple[float, float]]
) -> pl.DataFrame:
    """One row per simulation: value, error, whether the interval covers, whether there is an alarm."""
    rows = []
    for seed in range(draws):
        runs, said, gold = simulate(seed, relevant, rates)
        files = kt.read_runs(runs), kt.read_judgments(said), kt.read_gold(gold)
        found = kt.compare(*files, f"P@{DEPTH}", a="a", b="b", correction=correction)
        gap, true = found.corrected.difference, relevant["b"] - relevant["a"]
        rows.append((gap.value - true, gap.standard_error, gap.low <= true <= gap.high, found.alarm is not None))
    return pl.DataFrame(rows, schema=["error", "standard_error", "covers", "alarm"], orient="row")


@pytest.mark.parametrize(
    "relevant",
    [
        pytest.param({"a": 0.4, "b": 0.4}, id="equal"),
        pytest.param({"a": 0.4, "b": 0.55}, id="better", marks=pytest.mark.soak),
    ],
)
def test_rates_of_each_judge_are_unbiased_where_common_ones_are_not(relevant: dict[str, float], thin: Thin) -> None:
    draws = thin(100)
    common, own = (compare(way, draws, relevant, RATES) for way in ("rates", "judge-rates"))
    chance = own["error"].std() / np.sqrt(draws)
    assert abs(own["error"].mean()) < 3.3 * chance
    assert common["error"].mean() > max(0.05, 3.3 * common["error"].std() / np.sqrt(draws))
    assert own["covers"].sum() >= stats.binom.ppf(0.001, draws, 0.95)
    assert common["covers"].sum() < own["covers"].sum()
    assert common["alarm"].sum() > own["alarm"].sum()


def test_for_equal_judges_both_say_the_same(thin: Thin) -> None:
    draws, relevant = thin(100), {"a": 0.4, "b": 0.55}
    common, own = (compare(way, draws, relevant, ALIKE) for way in ("rates", "judge-rates"))
    gap = own["error"] - common["error"]
    assert abs(gap.mean()) < 3.3 * gap.std() / np.sqrt(draws)
    for found in (common, own):
        assert found["covers"].sum() >= stats.binom.ppf(0.001, draws, 0.95)
    assert common["standard_error"].mean() < own["standard_error"].mean()  # to know that judges are equal is worth gold
