"""Expected measures against ordinary ones, enumeration of all grades, and the paper's numbers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karatage as kt
from karatage.measures.expected import randomise, score_expected
from karatage.measures.registry import FAMILIES
from tests.oracles import brute_force as bf
from tests.oracles.strategies import Collection, collections

GAINS_FOR_NOTHING = "nDCG(gains={0:0.25})@4"
MEASURES = [
    *("AP", "AP(rel=2)@3", "P@1", "P(rel=2)@4", "P@50", "R@2", "R(rel=2)@50", "RR", "RR(rel=2)@3", "RBP"),
    *("RBP(p=0.95,rel=2)@4", "ERR", "ERR(max=6)@3", "ERR(gain=5,max=5)@20", "ERR(gain=2,max=3,rel=2)"),
    *("DCG", "DCG(dcg='exp-log2')@5", "DCG(dcg=jk,base=10)", "DCG(gains={1:0.5,2:4,3:4})@4", "DCG(rel=2)"),
    *("nDCG", "nDCG@3", "nDCG(rel=2)@4", "nDCG(dcg='exp-log2')", "nDCG(dcg=jk,base=2)@20", GAINS_FOR_NOTHING),
]


def align(made: Collection) -> tuple[kt.stats.Alignment, kt.Judgments]:
    judgments = kt.read_judgments(made.judgments, grades=made.scale())
    return kt.stats.align(kt.read_runs(made.runs), judgments), judgments


@given(made=collections())
def test_certain_grades_give_the_ordinary_measures(made: Collection) -> None:
    alignment, judgments = align(made)
    grade = np.zeros((len(judgments.item_topic), len(judgments.judges)), np.int8)
    grade[judgments.item, judgments.judge] = judgments.grade
    found = score_expected(alignment, np.eye(4)[grade.T], MEASURES)
    for name, ordinary in kt.stats.score_grades(alignment, grade, MEASURES, top_grade=3).items():
        np.testing.assert_allclose(found[name].value, ordinary.value, rtol=1e-12, atol=1e-12, err_msg=name)
        assert found[name].notes == ordinary.notes, name


@given(made=collections())
def test_judgments_without_doubt_give_each_judge_their_own_scores(made: Collection) -> None:
    alignment, judgments = align(made)
    names = [name for name in MEASURES if name != GAINS_FOR_NOTHING]  # nothing is gained where a judge is silent
    found = score_expected(alignment, randomise(judgments, relevant=1, other=0), names, names=judgments.judges)
    for name, ordinary in kt.score_all(kt.read_runs(made.runs), judgments, names).items():
        np.testing.assert_allclose(found[name].value, ordinary.value, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("measure", ["RBP", "DCG", "DCG(dcg=jk,base=10)@20", "DCG(dcg='exp-log2')@5", "P@10"])
@pytest.mark.parametrize("top_grade", [1, 3])
def test_shares_of_judges_are_the_mean_of_their_scores(measure: str, top_grade: int) -> None:
    """[RANDREL19], table 2: BINMV's eRRBP and eRDCG are AWARE's with equal weights, where all judges grade all."""
    world = kt.simulation.simulate_collection(systems=6, topics=5, depth=30, rng=4)
    frame = world.judgments.to_frame()
    judgments = kt.read_judgments(frame.with_columns(frame["grade"].clip(0, top_grade)))
    alignment = kt.stats.align(world.runs, judgments)
    merged = kt.aggregate(judgments, "binmv")
    (found,) = score_expected(alignment, merged.probability[None], [measure]).values()
    uniform = kt.score(world.runs, judgments, measure).value.mean(axis=0)
    np.testing.assert_allclose(found.value[0], uniform, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("measure", "expected"), [("AP", 0.530924), ("RBP(p=0.8)", 0.328816), ("DCG(dcg=jk,base=10)", 2.05)]
)
def test_worked_numbers(measure: str, expected: float) -> None:
    run = kt.read_runs({"s": {"t": {d: -float(n) for n, d in enumerate("abcde")}}})
    judge = {"t": {d: int(d in "acf") for d in "abcdefghij"}}
    judgments = kt.read_judgments({"j": judge})
    (scores,) = score_expected(kt.stats.align(run, judgments), randomise(judgments), [measure]).values()
    assert scores.value[0, 0, 0] == pytest.approx(expected, abs=5e-7)


# A topic of five items under three grades, rankings with documents that nobody judged.
POOL = "abcde"
RANKINGS = (["c", "x", "a", "e", "b"], ["a", "b"], ["y"], ["e", "d", "c", "b", "a", "z"])
Oracle = Callable[[bf.Ranking, bf.Grades], float]
EXACT: dict[str, Oracle] = {
    "P@2": lambda r, g: bf.precision(r, g, 2),
    "P(rel=2)@4": lambda r, g: bf.precision(r, g, 4, rel=2),
    "RBP(p=0.6)": lambda r, g: bf.rank_biased_precision(r, g, 0.6),
    "RBP(rel=2)@3": lambda r, g: bf.rank_biased_precision(r, g, k=3, rel=2),
    "RR": lambda r, g: bf.reciprocal_rank(r, g),
    "RR(rel=2)@3": lambda r, g: bf.reciprocal_rank(r, g, 3, rel=2),
    "ERR@4": lambda r, g: bf.expected_reciprocal_rank(r, g, 2, 4),
    "ERR(gain=5,max=5)": lambda r, g: bf.expected_reciprocal_rank(r, g, 5, gain=5),
    "DCG": lambda r, g: bf.dcg(r, g),
    "DCG(dcg='exp-log2')@3": lambda r, g: bf.dcg(r, g, 3, gain=lambda grade: 2.0**grade - 1),
    "DCG(dcg=jk,base=2)": lambda r, g: bf.dcg(r, g, discount=bf.jk_discount(2)),
    "DCG(gains={0:0.25})@4": lambda r, g: bf.dcg(r, g, 4, gain=lambda grade: grade or 0.25),
}


def ideal(grades: bf.Grades, k: int | None = None, **options: Callable[[int], float]) -> float:
    gain = options.get("gain", float)
    return bf.dcg(sorted(grades, key=lambda d: -gain(grades[d])), grades, k, **options)


# Measure -> numerator and denominator.
RATIO: dict[str, tuple[Oracle, Callable[[bf.Grades], float]]] = {
    "AP": (lambda r, g: bf.average_precision(r, g) * bf.count_relevant(g, 1), lambda g: bf.count_relevant(g, 1)),
    "AP(rel=2)@3": (
        lambda r, g: bf.average_precision(r, g, 3, rel=2) * bf.count_relevant(g, 2),
        lambda g: bf.count_relevant(g, 2),
    ),
    "R@2": (lambda r, g: 2 * bf.precision(r, g, 2), lambda g: bf.count_relevant(g, 1)),
    "nDCG": (lambda r, g: bf.dcg(r, g), ideal),
    "nDCG@3": (lambda r, g: bf.dcg(r, g, 3), lambda g: ideal(g, 3)),
    "nDCG(dcg='exp-log2')@4": (
        lambda r, g: bf.dcg(r, g, 4, gain=lambda grade: 2.0**grade - 1),
        lambda g: ideal(g, 4, gain=lambda grade: 2.0**grade - 1),
    ),
    "nDCG(dcg=jk,base=3,rel=2)@20": (
        lambda r, g: bf.dcg(r, g, 20, gain=lambda grade: float(grade >= 2), discount=bf.jk_discount(3)),
        lambda g: ideal(g, 20, gain=lambda grade: float(grade >= 2), discount=bf.jk_discount(3)),
    ),
}


@pytest.mark.parametrize(("table", "ratio"), [(EXACT, False), (RATIO, True)], ids=["exact", "ratio"])
def test_every_expected_measure_is_enumerated(table: dict[str, object], ratio: bool) -> None:
    declared = {family.name for family in FAMILIES.values() if family.expected and family.ratio == ratio}
    assert {kt.parse_measure(name).name for name in table} == declared


def enumerate_grades(probability: np.ndarray) -> list[tuple[float, dict[str, int]]]:
    """Every way to grade the pool, with its probability."""
    return [
        (float(np.prod(probability[np.arange(len(POOL)), grades])), dict(zip(POOL, grades, strict=True)))
        for grades in map(list, product(range(3), repeat=len(POOL)))
    ]


@given(seed=st.integers(0, 2**32 - 1), sparse=st.booleans())
@settings(max_examples=12)
def test_expectations_equal_enumeration(seed: int, sparse: bool) -> None:
    source = np.random.default_rng(seed)
    probability = source.dirichlet(np.full(3, 0.2 if sparse else 1.0), len(POOL))
    runs = kt.read_runs({f"s{k}": {"t": {d: -float(n) for n, d in enumerate(r)}} for k, r in enumerate(RANKINGS)})
    judgments = kt.read_judgments({"j": {"t": dict.fromkeys(POOL, 0)}}, grades="0-2")
    found = score_expected(kt.stats.align(runs, judgments), probability[None], [*EXACT, *RATIO])
    world = enumerate_grades(probability)
    for name, oracle in EXACT.items():
        exact = [sum(weight * oracle(ranking, grades) for weight, grades in world) for ranking in RANKINGS]
        np.testing.assert_allclose(found[name].value[0, 0], exact, rtol=1e-12, atol=1e-12, err_msg=name)
    for name, (above, below) in RATIO.items():
        base = sum(weight * below(grades) for weight, grades in world)
        ratio = [sum(weight * above(ranking, grades) for weight, grades in world) / base for ranking in RANKINGS]
        np.testing.assert_allclose(found[name].value[0, 0], ratio, rtol=1e-12, atol=1e-12, err_msg=name)
