from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.measures.scoring import score_aligned
from tests.notes import has_note, list_facts

RUNS = {
    "full": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"a": 3.0, "d": 2.0}},
    "half": {"1": {"c": 3.0, "b": 2.0}},
}
# bob finds nothing relevant in topic 2; cid has not seen it.
JUDGMENTS = {
    "ann": {"1": {"a": 1, "c": 0}, "2": {"d": 2}},
    "bob": {"1": {"b": 2, "c": 1}, "2": {"a": 0, "d": 0}},
    "cid": {"1": {"c": 1}},
}
UNDEFINED_WITHOUT_RELEVANT = ("AP", "nDCG@5", "Bpref", "R@5", "Rprec")
ALWAYS_DEFINED = ("P@5", "RR", "RBP", "ERR@5", "DCG@5", "Judged@5")
ANN, BOB, CID = range(3)
FULL, HALF = range(2)


@pytest.fixture
def runs() -> kt.Runs:
    return kt.read_runs(RUNS)


@pytest.fixture
def judgments() -> kt.Judgments:
    return kt.read_judgments(JUDGMENTS)


def test_axes_are_judge_topic_system(runs, judgments) -> None:
    scores = kt.score(runs, judgments, "P@1")
    assert (scores.judges, scores.topics, scores.systems) == (("ann", "bob", "cid"), ("1", "2"), ("full", "half"))
    assert scores.value[ANN].tolist() == [[1, 0], [0, 0]]
    assert scores.value[CID].tolist() == [[0, 1], [0, 0]]


def test_judged_tells_who_saw_which_topic(runs, judgments) -> None:
    assert kt.score(runs, judgments, "AP").judged.tolist() == [[True, True], [True, True], [True, False]]


def test_a_topic_that_a_run_lacks_scores_0(runs, judgments) -> None:
    for name, scores in kt.score_all(runs, judgments, [*UNDEFINED_WITHOUT_RELEVANT, *ALWAYS_DEFINED]).items():
        assert scores.value[:, 1, HALF].tolist() == [0, 0, 0], name


@pytest.mark.parametrize("measure", UNDEFINED_WITHOUT_RELEVANT)
class TestNothingRelevant:
    def test_scores_0_and_says_so(self, runs, judgments, measure: str) -> None:
        scores = kt.score(runs, judgments, measure)
        assert scores.value[BOB, 1].tolist() == [0, 0]
        assert has_note(scores, "measures.nothing-relevant", outcome="score 0", where="'bob' for topic '2'")

    def test_drop_leaves_the_judge_out_for_that_topic(self, runs, judgments, measure: str) -> None:
        plain, dropped = kt.score(runs, judgments, measure), kt.score(runs, judgments, measure, no_relevant="drop")
        assert np.argwhere(np.isnan(dropped.value)).tolist() == [[BOB, 1, FULL], [BOB, 1, HALF]]
        np.testing.assert_array_equal(np.nan_to_num(dropped.value), plain.value)
        assert has_note(dropped, "measures.nothing-relevant", outcome="leave that judge out for that topic")

    def test_drop_judge_leaves_the_judge_out(self, runs, judgments, measure: str) -> None:
        plain, dropped = (
            kt.score(runs, judgments, measure),
            kt.score(runs, judgments, measure, no_relevant="drop_judge"),
        )
        assert np.isnan(dropped.value[BOB]).all()
        np.testing.assert_array_equal(dropped.value[[ANN, CID]], plain.value[[ANN, CID]])
        assert has_note(dropped, "measures.nothing-relevant", outcome="leave that judge out altogether")


@pytest.mark.parametrize("measure", ALWAYS_DEFINED)
@pytest.mark.parametrize("policy", ["zero", "drop", "drop_judge"])
def test_other_measures_need_nothing_relevant(runs, judgments, measure: str, policy) -> None:
    scores = kt.score(runs, judgments, measure, no_relevant=policy)
    assert np.isfinite(scores.value).all()
    assert not has_note(scores, "measures.nothing-relevant")


def test_relevance_level_decides_who_found_nothing(runs, judgments) -> None:
    dropped = kt.score(runs, judgments, "AP(rel=2)", no_relevant="drop")
    assert np.isnan(dropped.value[:, :, FULL]).tolist() == [[True, False], [False, True], [True, False]]


def test_many_cases_are_counted_and_a_few_named(runs) -> None:
    nobody = kt.read_judgments({f"judge{k}": {"1": {"a": 0}} for k in range(7)})
    facts = list_facts(kt.score(runs, nobody, "AP"))["measures.nothing-relevant"]
    assert facts["times"] == 7
    assert facts["where"] == "'judge0' for topic '1', 'judge1' for topic '1', 'judge2' for topic '1' and 4 more"


def test_keys_are_as_asked_for_and_the_measure_is_spelled_out(runs, judgments) -> None:
    found = kt.score_all(runs, judgments, ["MAP", kt.parse_measure("nDCG@5")])
    assert {key: scores.measure for key, scores in found.items()} == {"MAP": "AP", "nDCG@5": "nDCG@5"}


def test_a_perfect_ranking_scores_exactly_1() -> None:
    documents = [f"d{k:03}" for k in range(200)]
    grades = {d: 3 - k // 50 for k, d in enumerate(documents)}
    runs = kt.read_runs({"s": {"1": {d: -float(k) for k, d in enumerate(documents)}}})
    for name in ("nDCG", "nDCG@7", "nDCG(dcg=jk,base=2)@100", "nDCG(dcg='exp-log2')@150", "AP", "Bpref", "Rprec"):
        assert kt.score(runs, kt.read_gold({"1": grades}), name).value.item() == pytest.approx(1, abs=1e-15), name


def test_the_scale_sets_the_stop_probability_of_err(runs) -> None:
    binary = {"1": {"a": 1}}
    assert kt.score(runs, kt.read_gold(binary), "ERR").value[0, 0, FULL] == 1 / 2
    assert kt.score(runs, kt.read_gold(binary, grades="0-3"), "ERR").value[0, 0, FULL] == 1 / 8
    assert kt.score(runs, kt.read_gold(binary), "ERR(max=3)").value[0, 0, FULL] == 1 / 8
    assert kt.score(runs, kt.read_gold(binary), "ERR(gain=5,max=5)").value[0, 0, FULL] == 31 / 32


@pytest.mark.parametrize("measure", ["ERR(max=1)", "ERR(gain=5)"])
def test_err_refuses_a_top_below_its_grades(runs, judgments, measure: str) -> None:
    with pytest.raises(OptionError, match="grade"):
        kt.score(runs, judgments, measure)


def test_falling_gains_are_refused(runs, judgments) -> None:
    with pytest.raises(OptionError, match="gains"):
        kt.score(runs, judgments, "nDCG(gains={1:5})@5")


def test_a_depth_far_beyond_any_ranking_costs_nothing(runs, judgments) -> None:
    deep = 1_000_000_000
    for name in ("AP", "nDCG", "RR", "RBP", "ERR", "DCG", "Judged"):
        np.testing.assert_array_equal(
            kt.score(runs, judgments, f"{name}@{deep}").value, kt.score(runs, judgments, name).value
        )
    assert kt.score(runs, judgments, f"P@{deep}").value[ANN, 0, FULL] == 1 / deep


def test_options_are_checked(runs, judgments) -> None:
    with pytest.raises(OptionError, match=r"no_relevant.*'nan'.*drop_judge"):
        kt.score(runs, judgments, "AP", no_relevant="nan")
    with pytest.raises(UnknownNameError):
        kt.score_all(runs, judgments, ["AP", "APP"])


class TestDenseGrades:
    def test_shape_and_type_must_fit(self, runs, judgments) -> None:
        alignment = kt.stats.align(runs, judgments)
        for wrong in (np.zeros((5, 2)), np.zeros((4, 2), np.int8), np.zeros(5, np.int8)):
            with pytest.raises(DataError, match=r"shape.*\b5\b"):
                kt.stats.score_grades(alignment, wrong, ["AP"])

    @pytest.mark.parametrize(("grade", "top"), [(-2, None), (4, 3)])
    def test_grades_off_the_scale_are_refused(self, runs, judgments, grade: int, top: int | None) -> None:
        alignment = kt.stats.align(runs, judgments)
        with pytest.raises(DataError, match=rf" {grade}\b.*\b0\b.*-1\b"):
            kt.stats.score_grades(alignment, np.full((5, 1), grade, np.int8), ["ERR"], top_grade=top)

    def test_the_top_grade_matters(self, runs, judgments) -> None:
        alignment, grade = kt.stats.align(runs, judgments), np.ones((5, 1), np.int8)
        found = [kt.stats.score_grades(alignment, grade, ["ERR@1"], top_grade=top)["ERR@1"] for top in (None, 3)]
        assert [scores.value[0, 0, FULL] for scores in found] == [1 / 2, 1 / 8]

    def test_no_sets_give_no_scores(self, runs, judgments) -> None:
        found = kt.stats.score_grades(kt.stats.align(runs, judgments), np.zeros((5, 0), np.int8), ["AP"])
        assert found["AP"].value.shape == (0, 2, 2)


def test_scoring_leaves_its_inputs_alone(runs, judgments) -> None:
    alignment = kt.stats.align(runs, judgments)
    before = [array.copy() for array in (alignment.ranked, alignment.length, judgments.grade)]
    score_aligned(alignment, judgments, ["AP", "ERR", "Judged@5"])
    for old, new in zip(before, (alignment.ranked, alignment.length, judgments.grade), strict=True):
        np.testing.assert_array_equal(old, new)


def test_judgments_off_their_own_scale_are_refused(runs, judgments) -> None:
    with pytest.raises(DataError, match=r"\b0\b.*\b2\b"):
        kt.score(runs, replace(judgments, top_grade=1), "ERR")
