"""Every measure against its definition, and every way to score against the others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karatage as kt
from karatage.measures.registry import FAMILIES
from karatage.measures.scoring import JUDGES_PER_BLOCK, score_aligned
from tests.oracles import brute_force as bf
from tests.oracles.strategies import DOCUMENTS, Collection, collections

Oracle = Callable[[bf.Ranking, bf.Grades, int], float]


def at_least(level: int) -> Callable[[int], float]:
    return lambda grade: float(grade >= level)


def exponential(grade: int) -> float:
    return 2.0**grade - 1


def given_gains(grade: int) -> float:
    """Gains {1:0.5,2:4,3:4}; other grades gain themselves."""
    return {1: 0.5, 2: 4.0, 3: 4.0}.get(grade, float(grade))


JK2, JK10 = bf.jk_discount(2), bf.jk_discount(10)

# Measure -> the same by definition, from ranking, grades and the scale's top.
MEASURES: dict[str, Oracle] = {
    "P@1": lambda r, g, _: bf.precision(r, g, 1),
    "P(rel=2)@4": lambda r, g, _: bf.precision(r, g, 4, rel=2),
    "P@50": lambda r, g, _: bf.precision(r, g, 50),
    "AP": lambda r, g, _: bf.average_precision(r, g),
    "AP(rel=2)@3": lambda r, g, _: bf.average_precision(r, g, 3, rel=2),
    "AP@50": lambda r, g, _: bf.average_precision(r, g, 50),
    "R@2": lambda r, g, _: bf.recall(r, g, 2),
    "R(rel=2)@50": lambda r, g, _: bf.recall(r, g, 50, rel=2),
    "Rprec": lambda r, g, _: bf.r_precision(r, g),
    "Rprec(rel=2)": lambda r, g, _: bf.r_precision(r, g, rel=2),
    "RR": lambda r, g, _: bf.reciprocal_rank(r, g),
    "RR@2": lambda r, g, _: bf.reciprocal_rank(r, g, 2),
    "RR(rel=2)@50": lambda r, g, _: bf.reciprocal_rank(r, g, 50, rel=2),
    "Bpref": lambda r, g, _: bf.bpref(r, g),
    "Bpref(rel=2)": lambda r, g, _: bf.bpref(r, g, rel=2),
    "Judged": lambda r, g, _: bf.judged(r, g),
    "Judged@3": lambda r, g, _: bf.judged(r, g, 3),
    "Judged@50": lambda r, g, _: bf.judged(r, g, 50),
    "RBP": lambda r, g, _: bf.rank_biased_precision(r, g),
    "RBP(p=0.35)": lambda r, g, _: bf.rank_biased_precision(r, g, 0.35),
    "RBP(p=0.95,rel=2)@4": lambda r, g, _: bf.rank_biased_precision(r, g, 0.95, 4, rel=2),
    "RBP(p=0.5)@50": lambda r, g, _: bf.rank_biased_precision(r, g, 0.5, 50),
    "ERR": lambda r, g, top: bf.expected_reciprocal_rank(r, g, top),
    "ERR@3": lambda r, g, top: bf.expected_reciprocal_rank(r, g, top, 3),
    "ERR(max=6)@50": lambda r, g, _: bf.expected_reciprocal_rank(r, g, 6, 50),
    "ERR(gain=5,max=5)@20": lambda r, g, _: bf.expected_reciprocal_rank(r, g, 5, 20, gain=5),
    "ERR(gain=2,max=3,rel=2)": lambda r, g, _: bf.expected_reciprocal_rank(r, g, 3, gain=2, rel=2),
    "ERR(rel=2)@4": lambda r, g, top: bf.expected_reciprocal_rank(r, g, top, 4, rel=2),
    "DCG": lambda r, g, _: bf.dcg(r, g),
    "DCG@3": lambda r, g, _: bf.dcg(r, g, 3),
    "DCG(dcg='exp-log2')@50": lambda r, g, _: bf.dcg(r, g, 50, gain=exponential),
    "DCG(dcg=jk)": lambda r, g, _: bf.dcg(r, g, discount=JK2),
    "DCG(dcg=jk,base=10)": lambda r, g, _: bf.dcg(r, g, discount=JK10),
    "DCG(dcg=jk,base=10,rel=2)@4": lambda r, g, _: bf.dcg(r, g, 4, gain=at_least(2), discount=JK10),
    "DCG(gains={1:0.5,2:4,3:4},rel=2)@5": lambda r, g, _: bf.dcg(
        r, g, 5, gain=lambda grade: given_gains(grade) if grade in (1, 2, 3) else float(grade >= 2)
    ),
    "nDCG": lambda r, g, _: bf.ndcg(r, g),
    "nDCG@3": lambda r, g, _: bf.ndcg(r, g, 3),
    "nDCG@50": lambda r, g, _: bf.ndcg(r, g, 50),
    "nDCG(rel=2)@4": lambda r, g, _: bf.ndcg(r, g, 4, gain=at_least(2)),
    "nDCG(dcg='exp-log2')": lambda r, g, _: bf.ndcg(r, g, gain=exponential),
    "nDCG(dcg='exp-log2')@2": lambda r, g, _: bf.ndcg(r, g, 2, gain=exponential),
    "nDCG(dcg=jk,base=2)@20": lambda r, g, _: bf.ndcg(r, g, 20, discount=JK2),
    "nDCG(dcg=jk,base=3)@4": lambda r, g, _: bf.ndcg(r, g, 4, discount=bf.jk_discount(3)),
    "nDCG(gains={0:0.25})@4": lambda r, g, _: bf.ndcg(r, g, 4, gain=lambda grade: grade or 0.25),
    "nDCG(dcg=jk,gains={1:0.5,2:4,3:4})@6": lambda r, g, _: bf.ndcg(r, g, 6, gain=given_gains, discount=JK2),
}
# Gains that fall from grade 2 to 3 under rel, which only a scale beyond 3 would expose.
UP_TO_3 = "DCG(gains={1:0.5,2:4,3:4},rel=2)@5"


def test_every_option_of_every_measure_is_tried() -> None:
    tried = {(m.name, option) for m in map(kt.parse_measure, MEASURES) for option in ["", *dict(m.options)]}
    assert tried == {(name, option) for name, family in FAMILIES.items() for option in ["", *family.options]}


def measures_for(top_grade: int) -> list[str]:
    return [name for name in MEASURES if name != UP_TO_3 or top_grade <= 3]


def assert_equal_to_definition(made: Collection, scores: dict[str, kt.Scores]) -> None:
    for name, found in scores.items():
        expected = np.array(
            [
                [
                    [
                        MEASURES[name](
                            bf.rank_documents(made.runs[system][topic]),
                            made.judgments[judge][topic],
                            made.top_grade,
                        )
                        for system in found.systems
                    ]
                    for topic in found.topics
                ]
                for judge in found.judges
            ]
        )
        np.testing.assert_allclose(found.value, expected, rtol=1e-12, atol=1e-13, err_msg=name)


@pytest.mark.parametrize("top_grade", [1, 5, pytest.param(3, marks=pytest.mark.soak)])
@given(data=st.data())
@settings(max_examples=40)
def test_measures_equal_their_definitions(top_grade: int, data: st.DataObject) -> None:
    made = data.draw(collections(top_grade=top_grade))
    runs, judgments = kt.read_runs(made.runs), kt.read_judgments(made.judgments, grades=made.scale())
    assert_equal_to_definition(made, kt.score_all(runs, judgments, measures_for(top_grade)))


@given(made=collections())
@settings(max_examples=15)
def test_score_all_equals_score_one_by_one(made: Collection) -> None:
    runs, judgments = kt.read_runs(made.runs), kt.read_judgments(made.judgments)
    names = ["P@3", "AP", "nDCG@3", "Bpref", "ERR", "Judged@2"]
    for name, together in kt.score_all(runs, judgments, names).items():
        alone = kt.score(runs, judgments, name)
        assert alone.measure == together.measure == name
        assert alone.notes == together.notes
        np.testing.assert_array_equal(alone.value, together.value)
        np.testing.assert_array_equal(alone.judged, together.judged)


@given(made=collections())
@settings(max_examples=15)
def test_a_judge_scores_alike_alone_and_among_others(made: Collection) -> None:
    runs, names = kt.read_runs(made.runs), measures_for(3)
    together = kt.score_all(runs, kt.read_judgments(made.judgments, grades="0-3"), names)
    for judge, qrels in made.judgments.items():
        alone = kt.score_all(runs, kt.read_judgments({judge: qrels}, grades="0-3"), names)
        for name in names:
            here = alone[name]
            rows = [together[name].topics.index(topic) for topic in here.topics]
            among = together[name].value[together[name].judges.index(judge)][rows]
            np.testing.assert_array_equal(here.value[0], among, err_msg=name)


def random_collection(judges: int, top_grade: int, unjudged: float, seed: int) -> Collection:
    """One topic that everybody saw a part of, and one that few judges saw."""
    rng = np.random.default_rng(seed)

    def grades(share: float) -> dict[str, int]:
        return {d: int(rng.integers(top_grade + 1)) for d in DOCUMENTS if rng.random() < share}

    return Collection(
        runs={
            system: {topic: {d: float(rng.random()) for d in DOCUMENTS[:8]} for topic in ("1", "2")}
            for system in ("alpha", "beta")
        },
        judgments={
            f"judge {k}": {
                "1": {DOCUMENTS[0]: 1} | grades(1 - unjudged),
                "2": grades(1 - unjudged) if k % 2 else {},
            }
            for k in range(judges)
        },
        top_grade=top_grade,
    )


def test_more_judges_than_a_block_holds_score_like_one_at_a_time() -> None:
    made = random_collection(judges=2 * JUDGES_PER_BLOCK + 88, top_grade=3, unjudged=0.3, seed=1)
    runs, judgments = kt.read_runs(made.runs), kt.read_judgments(made.judgments, grades="0-3")
    assert len(judgments.judges) == 600
    assert_equal_to_definition(made, kt.score_all(runs, judgments, measures_for(3)))


def dense_grades(judgments: kt.Judgments) -> np.ndarray:
    grade = np.full((len(judgments.item_topic), len(judgments.judges)), -1, np.int8)
    grade[judgments.item, judgments.judge] = judgments.grade
    return grade


@pytest.mark.parametrize("judges", [1, JUDGES_PER_BLOCK, JUDGES_PER_BLOCK + 1, 600])
def test_dense_grades_score_like_the_same_judgments(judges: int) -> None:
    made = random_collection(judges, top_grade=5, unjudged=0.5, seed=2)
    runs, judgments = kt.read_runs(made.runs), kt.read_judgments(made.judgments, grades="0-5")
    alignment, names = kt.stats.align(runs, judgments), measures_for(5)
    sparse = score_aligned(alignment, judgments, names)
    dense = kt.stats.score_grades(alignment, dense_grades(judgments), names, top_grade=5)
    for name in names:
        np.testing.assert_array_equal(dense[name].value, sparse[name].value, err_msg=name)


@given(
    x=st.lists(st.integers(0, 3), min_size=2, max_size=5),
    data=st.data(),
)
def test_tau_and_tau_ap_equal_enumeration(x: list[int], data: st.DataObject) -> None:
    y = data.draw(st.lists(st.integers(0, 3), min_size=len(x), max_size=len(x)))
    assert kt.stats.kendall_tau(x, y) == pytest.approx(bf.kendall_tau(x, y), abs=1e-12)
    assert kt.stats.kendall_tau(x, y, variant="b") == pytest.approx(bf.kendall_tau(x, y, "b"), nan_ok=True)
    assert kt.stats.tau_ap(x, y) == pytest.approx(bf.tau_ap(x, y), abs=1e-12)
