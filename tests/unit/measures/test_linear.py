"""Measures as weighted sums: the same numbers as scoring has."""

from __future__ import annotations

import numpy as np
import pytest

import karatage as kt
from karatage.data.alignment import align
from karatage.measures.registry import as_weighted_sum, parse_measure

RETRIEVED, GRADES = 8, 4
WEIGHTED = [
    "P@1",
    "P@5",
    "P(rel=2)@5",
    "P@20",
    "DCG@5",
    "DCG",
    "DCG(dcg='exp-log2')@6",
    "DCG(gains={0:0,1:1,2:5,3:10})@10",
    "DCG(rel=2)@5",
    "RBP(p=0.8)",
    "RBP(p=0.99)",
    "RBP(p=0.5,rel=2)",
    "RBP(p=0.8)@3",
]


@pytest.fixture(scope="module")
def judged() -> tuple[kt.Runs, kt.Judgments]:
    rng = np.random.default_rng(3)
    lists = {
        f"s{s}": {str(t): {f"d{d}": float(-n) for n, d in enumerate(rng.permutation(30)[:RETRIEVED])} for t in range(5)}
        for s in range(3)
    }
    pool = {str(t): {f"d{d}": int(rng.integers(GRADES)) for d in range(0, 30, 2)} | {"top": 3} for t in range(5)}
    return kt.read_runs(lists), kt.read_judgments({"ann": pool})


@pytest.mark.parametrize("name", WEIGHTED)
def test_sums_are_the_scores(name: str, judged: tuple[kt.Runs, kt.Judgments]) -> None:
    runs, judgments = judged
    measure = parse_measure(name)
    found = as_weighted_sum(measure, RETRIEVED, GRADES - 1)
    assert found is not None
    ranked = align(runs, judgments).ranked[:, :, : len(found.weight)]
    said = np.append(judgments.grade, 0)  # -1, not judged, is the last
    gain = np.where(ranked >= 0, found.gain[said[ranked]], 0.0)
    np.testing.assert_allclose(gain @ found.weight, kt.score(runs, judgments, name).value[0], atol=1e-12)
    assert found.gain[0] == 0
    assert (np.diff(found.gain) >= 0).all()


@pytest.mark.parametrize("name", ["nDCG@10", "nDCG(dcg='exp-log2')@5", "nDCG"])
def test_ndcg_is_a_sum_divided_by_the_ideal(name: str, judged: tuple[kt.Runs, kt.Judgments]) -> None:
    """The sum is DCG's; divided by that of all judged documents, best first, it is the score."""
    runs, judgments = judged
    found = as_weighted_sum(parse_measure(name), RETRIEVED, GRADES - 1)
    assert found is not None
    assert found.normalised
    plain = as_weighted_sum(parse_measure(name.removeprefix("n")), RETRIEVED, GRADES - 1)
    assert plain is not None
    assert not plain.normalised
    np.testing.assert_array_equal(found.weight, plain.weight)
    np.testing.assert_array_equal(found.gain, plain.gain)
    deep = as_weighted_sum(parse_measure(name), len(judgments.item), GRADES - 1)
    assert deep is not None
    scores = kt.score(runs, judgments, name)
    ranked = align(runs, judgments).ranked[:, :, : len(found.weight)]
    gain = np.where(ranked >= 0, found.gain[np.append(judgments.grade, 0)[ranked]], 0.0) @ found.weight
    for t in range(len(scores.topics)):
        best = np.sort(found.gain[judgments.grade[judgments.item_topic[judgments.item] == t]])[::-1]
        best = best[: len(deep.weight)]
        np.testing.assert_allclose(gain[t] / (best @ deep.weight[: len(best)]), scores.value[0, t], atol=1e-12)


def test_the_depth_limits_ranks_but_not_the_divisor() -> None:
    found = as_weighted_sum(parse_measure("P@10"), 3, 1)
    assert found is not None
    assert found.weight.tolist() == [0.1, 0.1, 0.1]


def test_a_level_above_all_grades_gains_nothing() -> None:
    found = as_weighted_sum(parse_measure("P(rel=9)@10"), 10, 3)
    assert found is not None
    assert found.gain.tolist() == [0, 0, 0, 0]
