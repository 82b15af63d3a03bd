"""Error rates corrected, written out with loops: values, variances and degrees of freedom of systems and pairs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.correction.precision import bias
from karatage.decisions.case import Case, make_case
from karatage.decisions.compare import compare_boards
from karatage.decisions.estimators.rates import RATES, RatesFitted, bootstrap_rates
from karatage.decisions.question import Question
from tests.notes import has_note, list_facts

SYSTEMS = ("system-02", "system-05", "system-09")
GRADED = "DCG(gains={0:0,1:1,2:5,3:5})@10"  # three kinds of grades


@cache
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(rng=7)


@cache
def gold(drawn: bool) -> kt.Judgments:
    """A third of what the crowd graded, each topic's first documents twice as likely as the others where drawn."""
    frame = world().gold.to_frame().drop("judge")
    rng = np.random.default_rng(1)
    pi = np.where(np.arange(len(frame)) % 3 == 0, 0.5, 0.25) if drawn else np.full(len(frame), 0.33)
    kept = rng.random(len(frame)) < pi
    return kt.read_gold(frame.with_columns(pi=pl.Series(pi)).filter(pl.Series(kept)).drop([] if drawn else ["pi"]))


@cache
def solve(measure: str, drawn: bool, **terms: object) -> tuple[Case, RatesFitted]:
    question = Question(measure=measure, **terms)
    case = make_case(world().runs, world().judgments, gold(drawn), question, systems=SYSTEMS, seed=0)
    return case, RATES.fit(case)


class Oracle:
    """[NOISY18] (25) for one case: confusion by counting, its errors by the covariance of multinomial shares."""

    def __init__(self, case: Case) -> None:
        levels = np.unique(case.linear.gain)
        kind = {grade: int(np.flatnonzero(levels == gain)[0]) for grade, gain in enumerate(case.linear.gain)}
        chance = {int(i): pi for i, pi in zip(case.drawn.item, case.drawn.pi, strict=True)}
        mass, square = np.zeros((len(levels), len(levels))), np.zeros(len(levels))
        for i in np.flatnonzero((case.gold_grade >= 0) & case.judged):
            g = kind[int(case.gold_grade[i])]
            mass[g, kind[int(case.said[i])]] += 1 / chance[int(i)]
            square[g] += 1 / chance[int(i)] ** 2
        self.share = mass / mass.sum(axis=1, keepdims=True)
        self.size = mass.sum(axis=1) ** 2 / square / case.design.variance_factor
        self.worth = np.linalg.solve(self.share, levels)
        self.mass = np.zeros((len(case.topics), len(case.systems), len(levels)))
        for i in np.flatnonzero(case.judged):
            self.mass[case.topic[i], :, kind[int(case.said[i])]] += case.weight[i]
        self.score = self.mass @ self.worth  # (topic, system)

    def by_gold(self, mean: np.ndarray) -> np.ndarray:
        """Of each gold grade, from a mean mass."""
        pull = np.linalg.solve(self.share.T, mean)
        each = []
        for row, a, size in zip(self.share, pull, self.size, strict=True):
            each.append(a**2 * self.worth @ (np.diag(row) - np.outer(row, row)) @ self.worth / size)
        return np.array(each)

    def welch(self, topics: list[tuple[float, int]], by_gold: np.ndarray) -> float:
        parts = [*topics, *zip(by_gold, self.size - 1, strict=True)]
        return sum(v for v, _ in parts) ** 2 / sum(v**2 / n for v, n in parts)


@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize("measure", ["P(rel=2)@10", GRADED, "RBP(p=0.8,rel=2)"])
def test_systems_and_pairs(measure: str, drawn: bool) -> None:
    case, found = solve(measure, drawn)
    oracle, n = Oracle(case), len(case.topics)
    np.testing.assert_allclose(found.levels.value, oracle.score.mean(axis=0), rtol=1e-9)
    for s in range(3):
        chance, known = oracle.score[:, s].var(ddof=1) / n, oracle.by_gold(oracle.mass[:, s].mean(axis=0))
        assert found.levels.variance[s] == pytest.approx(chance + known.sum())
        assert found.levels.degrees[s] == pytest.approx(oracle.welch([(chance, n - 1)], known))
    for a, b in ((0, 1), (2, 0), (1, 2)):
        gap = oracle.score[:, b] - oracle.score[:, a]
        known = oracle.by_gold((oracle.mass[:, b] - oracle.mass[:, a]).mean(axis=0))
        assert found.pairs.value[a, b] == pytest.approx(gap.mean())
        assert found.gold_variance[a, b] == pytest.approx(known.sum())
        assert found.pairs.variance[a, b] == pytest.approx(gap.var(ddof=1) / n + known.sum())
        assert found.pairs.degrees[a, b] == pytest.approx(oracle.welch([(gap.var(ddof=1) / n, n - 1)], known))


def test_topics_that_are_not_paired() -> None:
    case, found = solve(GRADED, False, paired=False)
    oracle, n = Oracle(case), len(case.topics)
    known = oracle.by_gold((oracle.mass[:, 1] - oracle.mass[:, 0]).mean(axis=0))
    each = oracle.score.var(axis=0, ddof=1) / n
    assert found.pairs.variance[0, 1] == pytest.approx(each[0] + each[1] + known.sum())
    assert found.pairs.degrees[0, 1] == pytest.approx(oracle.welch([(each[0], n - 1), (each[1], n - 1)], known))
    assert (found.pairs.variance.diagonal() == 0).all()


def test_variances_of_independent_judges_add() -> None:
    """[NOISY18] (10), (11): variances add, and the distribution is normal."""
    case, found = solve(GRADED, False, judges="independent")
    oracle = Oracle(case)
    gold_part = [oracle.by_gold(oracle.mass[:, s].mean(axis=0)).sum() for s in range(3)]
    assert found.pairs.variance[0, 2] == pytest.approx(found.levels.variance[0] + found.levels.variance[2])
    assert found.gold_variance[0, 2] == pytest.approx(gold_part[0] + gold_part[2])
    assert np.isinf(found.pairs.degrees).all()
    assert np.isinf(found.levels.degrees).all()


def test_the_bias_is_taken_off() -> None:
    """[NOISY18] 3.8 for binary grades."""
    (case, plain), (_, found) = solve("P(rel=2)@10", False), solve("P(rel=2)@10", False, undo_bias=True)
    oracle = Oracle(case)
    m_r, m_n, n_r, n_n = oracle.share[1, 1], oracle.share[0, 0], oracle.size[1], oracle.size[0]
    off = [bias(oracle.mass[:, s, 1].mean(), m_r, m_n, n_r, n_n) for s in range(3)]
    np.testing.assert_allclose(found.levels.value, plain.levels.value - off)
    assert np.ptp(off) > 0
    assert found.pairs.value[0, 1] == pytest.approx(found.levels.value[1] - found.levels.value[0])


def test_one_document_per_topic_is_a_share() -> None:
    """[NOISY18] (8): j (1 - j) / n, not over n - 1."""
    case, found = solve("P(rel=2)@1", False)
    oracle, n = Oracle(case), len(case.topics)
    for s in range(3):
        known = oracle.by_gold(oracle.mass[:, s].mean(axis=0)).sum()
        assert found.levels.variance[s] == pytest.approx(oracle.score[:, s].var() / n + known)


def test_gold_that_huddles_in_topics_counts_less() -> None:
    case, _ = solve(GRADED, False)
    even, crowded = (RATES.fit(_huddle(case, crowding)) for crowding in (1.0, 3.0))
    np.testing.assert_allclose(crowded.gold_variance, even.gold_variance * (1 + 2 * 0.2))
    assert list_facts(crowded)["decisions.design-effect"]["effect"] == pytest.approx(1.4, abs=0.005)


def _huddle(case: Case, crowding: float) -> Case:
    other = replace(case)
    vars(other)["design"] = replace(case.design, crowding=crowding, icc=0.2, clustered=False)
    return other


def test_gold_that_huddles_in_topics_leaves_the_slope_less_certain() -> None:
    case, _ = solve(GRADED, False)
    width = []
    for crowding in (1.0, 60.0):
        other = _huddle(case, crowding)
        near = compare_boards(other, other.scores.mean(axis=0), RATES.fit(other))
        assert near.slope is not None
        width.append(near.slope.high - near.slope.low)
    assert width[1] > 1.5 * width[0]


@pytest.mark.parametrize("measure", ["P(rel=2)@10", GRADED])
def test_the_luck_of_judges_on_these_documents(measure: str) -> None:
    """Gold's kind g has as much of the squared weight as answers to it imply, each a draw of what it is worth."""
    case, found = solve(measure, True)
    oracle = Oracle(case)
    levels = np.unique(case.linear.gain)
    for a, b in ((0, 1), (2, 0)):
        said = np.zeros(len(levels))
        for i in np.flatnonzero(case.judged):
            heard = np.flatnonzero(levels == case.linear.gain[case.said[i]])[0]
            said[heard] += (case.weight[i, b] - case.weight[i, a]) ** 2
        true = np.linalg.solve(oracle.share.T, said).clip(0)
        scatter = [row @ (oracle.worth - row @ oracle.worth) ** 2 for row in oracle.share]
        assert found.luck_variance[a, b] == pytest.approx(true @ scatter / len(case.topics) ** 2)


def test_the_bootstrap_knows_of_the_design_effect() -> None:
    case, _ = solve("P(rel=2)@10", False, resamples=2000)
    crowded = replace(case.design, crowding=40.0, icc=0.2)
    errors = []
    for design in (case.design, crowded):
        again = replace(case)
        again.__dict__["design"] = design
        formula = np.sqrt(RATES.fit(again).pairs.variance[0, 2])
        errors.append((formula, bootstrap_rates(again, 0, 2, RATES.fit(again).answers).difference.standard_error))
    (plain, drawn), (wide, drawn_wide) = errors
    assert wide > 1.01 * plain
    assert drawn_wide > 1.01 * drawn


def test_a_bound_above_zero() -> None:
    """Grade 0 occurs nowhere, so no document gains less than 1: the lower bound of a score is that of all ones."""
    rng = np.random.default_rng(8)
    topics, pool = 30, 12
    grades = rng.choice([1, 3], (topics, pool), p=[0.5, 0.5])
    said = np.where(rng.random(grades.shape) < 0.85, grades, 4 - grades)
    topic, document = (index.ravel().astype(str) for index in np.indices(grades.shape))
    frame = pl.DataFrame({"topic": topic, "document": document, "grade": grades.ravel()})
    judgments = kt.read_judgments(frame.with_columns(pl.lit("j").alias("judge"), pl.Series("grade", said.ravel())))
    order = {"good": -grades + 0.01 * rng.random(grades.shape), "poor": rng.random(grades.shape)}
    runs = kt.read_runs(
        pl.concat(
            [
                frame.select("topic", "document").with_columns(
                    pl.lit(name).alias("system"), pl.Series("score", -key.ravel())
                )
                for name, key in order.items()
            ]
        )
    )
    sample = kt.read_gold(frame.filter(pl.Series(rng.random(len(frame)) < 0.7)))
    measure = "DCG(gains={0:0,1:1,3:5})@3"
    found = kt.compare(runs, judgments, sample, Question(measure=measure, correction="rates"), a="poor", b="good")
    weight = (1 / np.log2(np.arange(2, 5))).sum()
    assert found.corrected is not None
    assert found.corrected.a is not None
    assert found.corrected.b is not None
    assert found.corrected.b.value == pytest.approx(5 * weight)  # at the upper bound
    truth = kt.score(runs, kt.read_gold(frame), measure).mean[0]
    assert found.corrected.a.value == pytest.approx(truth[1], rel=0.1)
    assert has_note(found, "decisions.bounded")
    assert found.accuracy is not None
    assert found.accuracy.kinds == ("grade 1", "grade 3")
