"""Error rates of each judge, [NOISY18] 3.9: by hand, by derivatives, and beside those of all judges together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.correction import precision
from karatage.data.estimate import Estimated
from karatage.decisions.case import Case, make_case
from karatage.decisions.estimators.answers import LEAST_ALONE
from karatage.decisions.estimators.rates import JUDGE_RATES, RATES, RatesFitted
from karatage.views.comparison import tabulate_rates
from tests.notes import gives, has_note

SYSTEMS = ("a", "b")
GRADED = "DCG(gains={0:0,1:1,2:3})@3"


def frame(rows: Iterable[tuple[object, ...]], *names: str) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=list(names), orient="row")


def read(
    runs: Iterable[tuple[object, ...]], said: Iterable[tuple[object, ...]], gold: Iterable[tuple[object, ...]]
) -> tuple[kt.Runs, kt.Judgments, kt.Judgments]:
    drawn = list(gold)
    return (
        kt.read_runs(frame(runs, "topic", "document", "system", "score")),
        kt.read_judgments(frame(said, "judge", "topic", "document", "grade")),
        kt.read_gold(frame(drawn, "topic", "document", "grade", *(["pi"] if len(drawn[0]) > 3 else []))),
    )


def test_the_order_of_two_runs_changes_as_in_the_paper() -> None:
    """P@1 of .6 by both judges, who are equally right about other documents: the better judge's run is lower."""
    topics, right = 20, {"x": (36, 32), "y": (28, 32)}  # of 40 relevant and of 40 other gold items
    runs, said, gold = [], [], []
    for t in range(topics):
        for system, judge in (("a", "x"), ("b", "y")):
            runs.append((f"t{t}", f"{system}{t}", system, 1.0))
            said.append((judge, f"t{t}", f"{system}{t}", int(t < 12)))
    for judge, (found, rejected) in right.items():
        for k in range(40):
            for grade, correct in ((1, k < found), (0, k < rejected)):
                document = f"{judge}-{grade}-{k}"
                gold.append((f"t{k % topics}", document, grade))
                said.append((judge, f"t{k % topics}", document, grade if correct else 1 - grade))
    case = make_case(*read(runs, said, gold), kt.Question(measure="P@1", paired=False), systems=SYSTEMS, seed=0)
    found = JUDGE_RATES.fit(case)
    rates = [(36 / 40, 32 / 40), (28 / 40, 32 / 40)]
    expected = [(0.6 - 1 + m_n) / (m_r + m_n - 1) for m_r, m_n in rates]  # (21)
    np.testing.assert_allclose(expected, [0.4 / 0.7, 0.4 / 0.5])
    np.testing.assert_allclose(found.levels.value, expected)
    size = 40 / case.design.variance_factor  # 1 for errors that topics do not share
    variance = [precision.correct_variance(0.6 * 0.4 / topics, 0.6, *pair, size, size) for pair in rates]  # (7), (8)
    np.testing.assert_allclose(found.levels.variance, variance)
    both = precision.compare_independent(Estimated(expected[0], variance[0]), Estimated(expected[1], variance[1]))
    assert found.pairs.value[0, 1] == pytest.approx(both.value)  # (10)
    assert found.pairs.variance[0, 1] == pytest.approx(both.variance)
    assert RATES.fit(case).pairs.value[0, 1] == pytest.approx(0, abs=1e-12)


@cache
def list_rows(drawn: bool, grades: int) -> tuple[list[tuple[object, ...]], ...]:
    """Three judges of different accuracy; a third of the documents have two of them, who share some errors."""
    rng = np.random.default_rng(4)
    right = {"good": 0.9, "fair": 0.8, "poor": 0.7}
    runs, said, gold = [], [], []
    for t in range(30):
        for d in range(12):
            truth = int(rng.integers(0, grades))
            name, wrong = f"d{d}", (truth + 1) % grades
            seen = rng.choice(list(right), 2 if rng.random() < 0.33 else 1, replace=False)
            luck = rng.random()
            said += [(judge, f"t{t}", name, truth if luck < right[judge] else wrong) for judge in seen]
            if d < 5:
                runs += [(f"t{t}", name, system, rng.random()) for system in SYSTEMS if rng.random() < 0.8]
            pi = 0.5 if d % 2 else 0.9
            if rng.random() < pi:
                gold.append((f"t{t}", name, truth, pi) if drawn else (f"t{t}", name, truth))
    return runs, said, gold


@cache
def crowd(drawn: bool = False, grades: int = 2) -> tuple[kt.Runs, kt.Judgments, kt.Judgments]:
    return read(*list_rows(drawn, grades))


def solve(measure: str, *, drawn: bool = False, **terms: object) -> tuple[Case, RatesFitted]:
    question = kt.Question(measure=measure, **terms)
    case = make_case(*crowd(drawn, 3 if measure == GRADED else 2), question, systems=SYSTEMS, seed=0)
    return case, JUDGE_RATES.fit(case)


class Oracle:
    """The estimate as a function of how often each gold item was drawn, with loops over files' rows."""

    def __init__(self, case: Case, measure: str, drawn: bool) -> None:
        runs, judgments, gold = list_rows(drawn, 3 if measure == GRADED else 2)
        self.gain = np.unique(case.linear.gain)
        kind = {grade: int(np.flatnonzero(self.gain == gain)[0]) for grade, gain in enumerate(case.linear.gain)}
        self.truth = {(topic, document): kind[grade] for topic, document, grade, *_ in gold}
        self.times = {(topic, document): 1 / (pi[0] if pi else 1.0) for topic, document, _, *pi in gold}
        self.said: dict[tuple[str, str], dict[str, int]] = {}
        for judge, topic, document, grade in judgments:
            self.said.setdefault((topic, document), {})[judge] = kind[grade]
        self.topics = case.topic_names
        self.weight = np.zeros((2, len(self.topics)), object)
        for s, t in np.ndindex(self.weight.shape):
            ranked = [
                (score, document)
                for topic, document, *row, score in runs
                if (topic, *row) == (self.topics[t], SYSTEMS[s])
            ]
            documents = [document for _, document in sorted(ranked, reverse=True)]
            self.weight[s, t] = list(zip(documents, case.linear.weight, strict=False))

    def confuse(self, times: dict[tuple[str, str], float]) -> dict[str, np.ndarray]:
        count: dict[str, np.ndarray] = {}
        for place, said in self.said.items():
            for judge, heard in said.items() if place in self.truth else ():
                table = count.setdefault(judge, np.zeros((len(self.gain), len(self.gain))))
                table[self.truth[place], heard] += times[place]
        return {judge: table / table.sum(axis=1, keepdims=True) for judge, table in count.items()}

    def score(self, times: dict[tuple[str, str], float]) -> np.ndarray:
        """Corrected scores (system, topic)."""
        worth = {judge: np.linalg.solve(rows, self.gain) for judge, rows in self.confuse(times).items()}
        found = np.zeros(self.weight.shape)
        for s, t in np.ndindex(found.shape):
            for document, weight in self.weight[s, t]:
                said = self.said[self.topics[t], document]
                found[s, t] += weight * np.mean([worth[judge][heard] for judge, heard in said.items()])
        return found

    def gap(self, times: dict[tuple[str, str], float]) -> float:
        a, b = self.score(times).mean(axis=1)
        return float(b - a)


@pytest.mark.parametrize("measure", ["P@3", GRADED])
def test_each_grade_is_corrected_by_its_judge(measure: str) -> None:
    for drawn in (False, True):
        case, found = solve(measure, drawn=drawn)
        oracle = Oracle(case, measure, drawn)
        np.testing.assert_allclose(found.levels.value, oracle.score(oracle.times).mean(axis=1), rtol=1e-9)
        assert found.pairs.value[0, 1] == pytest.approx(oracle.gap(oracle.times))


@pytest.mark.parametrize("measure", ["P@3", GRADED])
def test_the_variance_is_that_of_small_changes_of_the_gold_sample(measure: str) -> None:
    """The infinitesimal jackknife: an item moves the rates of all judges who graded it."""
    case, found = solve(measure)
    oracle, step = Oracle(case, measure, False), 1e-5
    pull = [
        (oracle.gap({**oracle.times, place: 1 + step}) - oracle.gap({**oracle.times, place: 1 - step})) / (2 * step)
        for place in oracle.truth
    ]
    by_gold = float(np.square(pull).sum()) * case.design.variance_factor
    assert found.gold_variance[0, 1] == pytest.approx(by_gold, rel=1e-6)
    score = oracle.score(oracle.times)
    by_topics = (score[1] - score[0]).var(ddof=1) / len(oracle.topics)
    assert found.pairs.variance[0, 1] == pytest.approx(by_topics + by_gold, rel=1e-6)
    alone = found.gold_variance[0, 1] - found.answers.measure_shared_gold(
        (found.answers.mass[:, 1] - found.answers.mass[:, 0]).mean(axis=1)[None]
    )
    assert abs(alone / by_gold - 1) > 0.01  # judges of the same gold items matter here


def test_gold_that_huddles_in_topics_counts_less() -> None:
    case, _ = solve(GRADED)
    parts = []
    for crowding in (1.0, 3.0):
        other = replace(case)
        vars(other)["design"] = replace(case.design, crowding=crowding, icc=0.2, clustered=False)
        parts.append(JUDGE_RATES.fit(other).gold_variance[0, 1])
    assert parts[1] == pytest.approx(parts[0] * (1 + 2 * 0.2))


@pytest.mark.parametrize("measure", ["P@3", GRADED])
def test_the_luck_of_several_judges_of_a_document_is_shared(measure: str) -> None:
    case, found = solve(measure)
    oracle = Oracle(case, measure, False)
    said = {judge: np.zeros(len(oracle.gain)) for judge in ("good", "fair", "poor")}
    for t, topic in enumerate(oracle.topics):
        gap: dict[str, float] = {}
        for sign, system in ((-1, 0), (1, 1)):
            for document, weight in oracle.weight[system, t]:
                gap[document] = gap.get(document, 0.0) + sign * weight
        for document, weight in gap.items():
            heard = oracle.said[topic, document]
            for judge, kind in heard.items():
                said[judge][kind] += weight**2 / len(heard)
    luck = 0.0
    for judge, rows in oracle.confuse(oracle.times).items():
        worth = np.linalg.solve(rows, oracle.gain)
        scatter = [row @ (worth - row @ worth) ** 2 for row in rows]
        luck += np.linalg.solve(rows.T, said[judge]).clip(0) @ scatter / len(oracle.topics) ** 2
    assert found.luck_variance[0, 1] == pytest.approx(luck)


def test_one_judge_has_the_rates_of_all() -> None:
    runs, judgments, gold = crowd()
    for measure in ("P@3", "RBP(p=0.5)"):
        question = kt.Question(measure=measure, approach="judge:fair", undo_bias=True)
        case = make_case(runs, judgments, gold, question, systems=SYSTEMS, seed=0)
        one, other = RATES.fit(case), JUDGE_RATES.fit(case)
        np.testing.assert_array_equal(one.pairs.value, other.pairs.value)
        np.testing.assert_array_equal(one.pairs.variance, other.pairs.variance)
        np.testing.assert_array_equal(one.pairs.degrees, other.pairs.degrees)
        np.testing.assert_array_equal(one.luck_variance, other.luck_variance)


def test_equal_judges_have_the_rates_of_all() -> None:
    """Topics and their mirror images, which another judge grades in the same way: pooling changes nothing."""
    rng = np.random.default_rng(3)
    runs, said, gold = [], [], []
    for t in range(15):
        for d in range(10):
            truth, seen = int(rng.random() < 0.5), rng.random(2) < 0.7
            heard = truth if rng.random() < 0.8 else 1 - truth
            for judge in ("x", "y"):
                said.append((judge, f"{judge}{t}", f"d{d}", heard))
                gold.append((f"{judge}{t}", f"d{d}", truth))
                runs += [(f"{judge}{t}", f"d{d}", SYSTEMS[s], float(d)) for s in (0, 1) if seen[s]]
    case = make_case(*read(runs, said, gold), kt.Question(measure="P@5"), systems=SYSTEMS, seed=0)
    one, other = RATES.fit(case), JUDGE_RATES.fit(case)
    np.testing.assert_allclose(other.pairs.value, one.pairs.value, rtol=1e-12)
    np.testing.assert_allclose(other.pairs.variance, one.pairs.variance, rtol=1e-12)
    np.testing.assert_allclose(other.levels.value, one.levels.value, rtol=1e-12)
    np.testing.assert_allclose(other.levels.variance, one.levels.variance, rtol=1e-12)
    np.testing.assert_allclose(other.luck_variance, one.luck_variance, rtol=1e-12)


def compare(gold: kt.Judgments | None = None, **terms: object) -> kt.Comparison:
    runs, judgments, given = crowd()
    question = kt.Question(measure="P@3", correction="judge-rates", **terms)
    return kt.compare(runs, judgments, given if gold is None else gold, question, a="a", b="b")


def keep_gold(items: dict[str, tuple[int, int]]) -> kt.Judgments:
    """Gold with only so many items of some judges: other and relevant ones."""
    _, said, gold = list_rows(False, 2)
    left = {(judge, grade): number for judge, numbers in items.items() for grade, number in enumerate(numbers)}
    kept = []
    for topic, document, grade in gold:
        owners = [judge for judge, *place, _ in said if place == [topic, document] and judge in items]
        if all(left[judge, grade] > 0 for judge in owners):
            kept.append((topic, document, grade))
            for judge in owners:
                left[judge, grade] -= 1
    return kt.read_gold(frame(kept, "topic", "document", "grade"))


def list_judges(found: kt.Comparison) -> list[tuple[str, ...]]:
    return [judges for judges, _ in found.by_judge]


def test_judges_with_little_gold_have_rates_together() -> None:
    one, two = compare(keep_gold({"fair": (12, 30)})), compare(keep_gold({"fair": (19, 25), "good": (15, 15)}))
    assert list_judges(one) == [("fair",), ("good",), ("poor",)]
    assert not has_note(one, "decisions.rates-together")
    assert list_judges(two) == [("poor",), ("fair", "good")]
    assert has_note(two, "decisions.rates-together", least=LEAST_ALONE, judges=("fair", "good"))
    counts = {judges: accuracy.count.sum(axis=1).tolist() for judges, accuracy in two.by_judge}
    assert counts["fair", "good"] == [34, 40]


def test_gold_that_tells_no_judge_apart_is_refused() -> None:
    few = compare(keep_gold(dict.fromkeys(("good", "fair", "poor"), (9, 9))))
    assert few.corrected is None
    assert gives(few.refusal, LEAST_ALONE)
    lower = compare(keep_gold({"good": (9, 12), "fair": (14, 11), "poor": (10, 9)}))
    assert gives(lower.refusal, LEAST_ALONE, "not relevant", "relevant", "fair", 11, "relevant")
    lacking = compare(keep_gold({"fair": (30, 3)}))
    assert lacking.corrected is None
    assert gives(lacking.refusal, "fair", 3)


def test_a_judge_without_gold_is_refused_by_name() -> None:
    found = compare(keep_gold({"fair": (0, 0)}))
    assert found.corrected is None
    assert gives(found.refusal, "'fair'", "no gold item")


def test_a_judge_no_better_than_chance_is_refused_by_name() -> None:
    runs, _, gold = crowd()
    said = [
        (judge, topic, document, hash_grade(topic, document) if judge == "poor" else grade)
        for judge, topic, document, grade in list_rows(False, 2)[1]
    ]
    judgments = kt.read_judgments(frame(said, "judge", "topic", "document", "grade"))
    found = kt.compare(runs, judgments, gold, "P@3", a="a", b="b", correction="judge-rates")
    assert found.corrected is None
    assert gives(found.refusal, "poor")
    assert not gives(found.refusal, "good")


def hash_grade(topic: str, document: str) -> int:
    return (7 * int(topic[1:]) + int(document[1:])) % 2


def test_results_tell_the_rates_of_each_judge(tmp_path: Path) -> None:
    found = compare(resamples=200)
    assert list_judges(found) == [("fair",), ("good",), ("poor",)]
    assert found.accuracy is None
    (tmp_path / "found.json").write_text(found.to_json())
    again = kt.read_result(tmp_path / "found.json").result
    assert again.to_json() == found.to_json()
    (table,) = tabulate_rates(again)
    assert table.frame["judge"].to_list() == ["fair", "fair", "good", "good", "poor", "poor"]
    board = kt.compare_all(*crowd(), kt.Question(measure="P@3", correction="judge-rates", resamples=200))
    assert [judges for judges, _ in board.by_judge] == [("fair",), ("good",), ("poor",)]
    assert board.slope is not None
    bootstrap = found.others[-1].difference
    assert bootstrap.value == pytest.approx(found.corrected.difference.value, abs=bootstrap.standard_error / 2)
    assert bootstrap.standard_error == pytest.approx(found.corrected.difference.standard_error, rel=0.3)


def test_merged_grades_have_no_judge() -> None:
    refused = compare(approach="ds")
    assert refused.corrected is None
    assert gives(refused.refusal, "ds")
