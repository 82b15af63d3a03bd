"""The numbers that METHODS works out in sections 1 and 2, to the digits it gives."""

from __future__ import annotations

import numpy as np
import pytest

import karatage as kt

RETRIEVED = ("d1", "d2", "d3", "d4", "d5")
ELSEWHERE = "pooled, but not retrieved"


def run_in_order(*documents: str) -> kt.Runs:
    return kt.read_runs({"system": {"1": {d: -float(n) for n, d in enumerate(documents)}}})


def judged_run(*grades: int, relevant: int) -> dict[str, int]:
    """Grades down the ranking; the relevant document that it may lack is elsewhere in the pool."""
    return dict(zip(RETRIEVED, grades, strict=True)) | {ELSEWHERE: relevant - sum(grades)}


@pytest.mark.parametrize(
    ("measure", "expected", "half_a_digit"),
    [
        ("AP", 0.4, 1e-15),
        ("nDCG(dcg=jk,base=2)@20", 0.616646, 5e-7),
        ("nDCG@20", 0.565450, 5e-7),
        ("ERR(gain=5,max=5)@20", 0.492133, 5e-7),
    ],
)
def test_one_judged_run(measure: str, expected: float, half_a_digit: float) -> None:
    gold = kt.read_gold({"1": judged_run(0, 1, 0, 1, 1, relevant=4)})
    value = kt.score(run_in_order(*RETRIEVED), gold, measure).value.item()
    assert value == pytest.approx(expected, abs=half_a_digit)


def test_bpref_of_soboroff() -> None:
    grades = dict(zip((f"d{k}" for k in range(8)), (1, 0, 1, 1, 0, 0, 0, 1), strict=True))
    runs = run_in_order("d0", "d1", "u1", "d2", "d4", "d5", "d3")
    assert kt.score(runs, kt.read_gold({"1": grades}), "Bpref").value.item() == 0.5


@pytest.mark.parametrize(
    ("relevant", "expected"),
    [
        (9, [0.0765, 0.1407, 0.1463, 0.1556, 0.1741, 0.2296]),  # as printed, for every run
        (10, [0.0689, 0.1267, 0.1317, 0.14, 0.1567, 0.2067]),
    ],
)
def test_aware_introduction(relevant: int, expected: list[float]) -> None:
    ranks = [{6, 9, 10} | more for more in (set(), {5}, {4}, {3}, {2}, {1})]
    runs = run_in_order(*(f"d{rank}" for rank in range(1, 11)))
    pool = [f"more{k}" for k in range(10)]
    for found, ap in zip(ranks, expected, strict=True):
        known = {f"d{rank}": 1 for rank in found} | dict.fromkeys(pool[: relevant - len(found)], 1)
        gold = kt.read_gold({"1": known})
        assert kt.score(runs, gold, "AP").value.item() == pytest.approx(ap, abs=5e-5)
        assert kt.score(runs, gold, "P@5").value.item() == (len(found) - 3) / 5


@pytest.fixture
def toy() -> kt.Judgments:
    judged = {"a": (1, 1, 0, 0, 0), "b": (1, 1, 1, 0, 0), "c": (0, 1, 1, 0, 1)}
    return kt.read_judgments({judge: {"1": judged_run(*g, relevant=3)} for judge, g in judged.items()})


def test_aware_toy_by_judge(toy: kt.Judgments) -> None:
    scores = kt.score(run_in_order(*RETRIEVED), toy, "AP").value[:, 0, 0]
    np.testing.assert_allclose(scores, [0.6667, 1.0, 0.5889], atol=5e-5)


@pytest.mark.parametrize(("approach", "expected"), [("uniform", 0.7518), ("mv", 1.0)])
def test_aware_toy_merged(toy: kt.Judgments, approach: str, expected: float) -> None:
    found = kt.evaluate(run_in_order(*RETRIEVED), toy, "AP", approach=approach, rng=1)
    assert found.scores["AP"].value.item() == pytest.approx(expected, abs=1e-4)  # 0.75185 is cut, not rounded


def test_aware_toy_truth() -> None:
    gold = kt.read_gold({"1": judged_run(1, 0, 1, 0, 0, relevant=3)})
    assert kt.score(run_in_order(*RETRIEVED), gold, "AP").value.item() == pytest.approx(0.5556, abs=5e-5)


def test_tau_and_tau_ap() -> None:
    x, y = (1, 2, 3, 4, 5), (2, 1, 3, 5, 4)
    assert kt.stats.kendall_tau(x, y) == 0.6
    assert kt.stats.tau_ap(x, y) == 0.375


REFERENCE, ESTIMATE = (0.9, 0.8, 0.8, 0.6, 0.5, 0.5, 0.2), (0.7, 0.7, 0.9, 0.4, 0.4, 0.4, 0.1)


def test_tau_ap_with_ties_exactly() -> None:
    assert kt.stats.tau_ap(REFERENCE, ESTIMATE) == pytest.approx(0.433333, abs=5e-7)


def test_tau_ap_with_ties_sampled() -> None:
    """200,000 samples came to 0.4334 +- 0.0003; 4,000 have seven times that error."""
    sampled = kt.stats.tau_ap(REFERENCE, ESTIMATE, ties="sample", samples=4000, rng=5)
    assert sampled != pytest.approx(0.433333, abs=1e-9)
    assert sampled == pytest.approx(0.433333, abs=3 * 0.0003 * np.sqrt(200_000 / 4000))


def test_rmse() -> None:
    assert kt.stats.rmse((0.1, 0.5, 0.9), (0.2, 0.5, 0.7)) == pytest.approx(np.sqrt((0.01 + 0.04) / 3), abs=1e-15)
