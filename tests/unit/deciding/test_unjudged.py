"""Documents that nobody judged: not relevant under a plain sample, gold's to tell in a queue."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karatage as kt

TOPICS, POOL = 20, 12


def collection() -> tuple[kt.Runs, pl.DataFrame]:
    """System b shows three documents in each topic that the pool does not have."""
    rng = np.random.default_rng(3)
    rows, grades = [], []
    for t in range(TOPICS):
        names = [f"d{t}-{d}" for d in range(POOL)]
        grades += [(str(t), name, int(rng.random() < 0.4)) for name in names]
        first = [names[k] for k in rng.permutation(POOL)[:10]]
        second = [f"new{t}-{d}" for d in range(3)] + [names[k] for k in rng.permutation(POOL)[:7]]
        for system, ranking in (("a", first), ("b", second)):
            rows += [(str(t), name, system, float(10 - k)) for k, name in enumerate(ranking)]
    runs = pl.DataFrame(rows, schema=["topic", "document", "system", "score"], orient="row")
    return kt.read_runs(runs), pl.DataFrame(grades, schema=["topic", "document", "grade"], orient="row")


def test_they_count_as_not_relevant_under_an_even_sample() -> None:
    runs, grades = collection()
    slips = np.arange(len(grades)) % 7 == 0
    said = pl.Series("grade", grades["grade"].to_numpy() ^ slips)
    judged = kt.read_judgments(grades.with_columns(pl.lit("j").alias("judge"), said))
    scores = kt.score(runs, kt.read_gold(grades), "P@10").value[0]
    truth = (scores[:, 1] - scores[:, 0]).mean()
    found = [
        kt.compare(
            runs,
            judged,
            kt.read_gold(grades.sample(150, seed=seed)),
            kt.Question(measure="P@10", correction="even", topics="these"),
            a="a",
            b="b",
        )
        for seed in range(40)
    ]
    values = np.array([f.corrected.difference.value for f in found if f.corrected is not None])
    assert len(values) == 40
    assert abs(values.mean() - truth) < 4 * values.std(ddof=1) / np.sqrt(40)
    assert truth < -0.05
    assert "each of 240 documents had the same chance to be among the gold" in found[0].assumed
    told = [note for note in found[0].notes if "not relevant" in note]
    said = "60 of 400 positions in the first 10 ranks of 2 systems (15.0%) hold documents that nobody judged, which"
    assert told == [f"{said} count as not relevant"]
    assert told[0] in kt.evaluate(runs, judged, "P@10").notes


def test_a_queue_has_them_and_gold_tells() -> None:
    runs, grades = collection()
    judged = kt.read_judgments(grades.with_columns(pl.lit("j").alias("judge")))
    plan = kt.plan(runs, judged, "P@10", budget=1000)
    assert plan.census
    assert plan.items["document"].str.starts_with("new").sum() == 60
    gold = (
        plan.queue.drop("grade")
        .join(grades, on=["topic", "document"], how="left")
        .with_columns(pl.col("grade").fill_null(1))
    )
    found = kt.compare(runs, judged, kt.read_gold(gold), kt.Question(measure="P@10", topics="these"), a="a", b="b")
    assert found.corrected is not None
    assert found.corrected.difference.exact
    pool = kt.score(runs, kt.read_gold(grades), "P@10").value[0].mean(axis=0)
    assert found.corrected.difference.value == pytest.approx(0.3 + pool[1] - pool[0])
