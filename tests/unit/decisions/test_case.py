"""Runs, judgments and gold met: what counts, what matters, and what gold is."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.correction.design import errors_given_gold, intraclass_correlation
from karatage.correction.ideal import Pool
from karatage.decisions.case import Case, make_case
from karatage.decisions.question import Question
from karatage.errors import DataError
from tests.notes import has_note

LISTS = {
    "old": {t: {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0} for t in ("1", "2", "3")},
    "new": {
        "1": {"a": 4.0, "c": 3.0, "x": 2.0, "b": 1.0},
        "2": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0},
        "3": {"x": 1.0},
    },
}
GRADES = {t: {"a": 1, "b": 0, "c": 2, "d": 1} for t in ("1", "2", "3")}


def make(
    measure: str = "P@2",
    *,
    gold: dict[str, dict[str, int]] | None = None,
    grades: dict[str, dict[str, int]] = GRADES,
    lists: dict[str, dict[str, dict[str, float]]] = LISTS,
    **terms: object,
) -> Case:
    return make_case(
        kt.read_runs(lists),
        kt.read_judgments({"ann": grades}),
        None if gold is None else kt.read_gold(gold),
        Question(measure=measure, **terms),
        systems=tuple(lists),
        seed=0,
    )


def named(case: Case, marked: np.ndarray) -> set[str]:
    items = np.flatnonzero(marked)
    documents = case.pool.documents.gather(case.pool.item_document[items])
    return {f"{case.pool.topics[t]}{d}" for t, d in zip(case.pool.item_topic[items], documents, strict=True)}


def test_weights_are_by_rank_and_scores_their_sums() -> None:
    for measure in ("P@2", "DCG@3", "RBP(p=0.8)"):
        case = make(measure)
        assert case.linear is not None
        gain = np.where(case.said >= 0, case.linear.gain[case.said], 0.0)
        sums = np.stack([np.bincount(case.topic, case.weight[:, s] * gain, 3) for s in (0, 1)], axis=1)
        np.testing.assert_allclose(sums, case.scores)


def test_documents_that_nobody_judged_are_items_too() -> None:
    case = make("P@3")
    assert named(case, case.said < 0) == {"1x", "3x"}
    assert named(case, case.judged) == {f"{t}{d}" for t in "123" for d in "abcd"}


@pytest.mark.parametrize(
    ("measure", "matter"),
    [
        ("P@1", {"3a", "3x"}),
        ("P@2", {"1b", "1c", "3a", "3b", "3x"}),
        ("DCG@2", {"1b", "1c", "3a", "3b", "3x"}),
        ("DCG@4", {"1b", "1c", "1d", "1x", "3a", "3b", "3c", "3d", "3x"}),
    ],
)
def test_what_matters_is_what_is_ranked_differently(measure: str, matter: set[str]) -> None:
    case = make(measure)
    assert named(case, case.matters) == matter


def test_topics_that_nobody_judged_are_left_out_and_told() -> None:
    case = make(grades={"1": GRADES["1"], "2": GRADES["2"]})
    assert case.topic_names == ("1", "2")
    assert case.scores.shape == (2, 2)


def test_gold_outside_of_the_pool_is_told_apart() -> None:
    case = make("P@2", gold={"1": {"b": 1, "zz": 3}, "9": {"a": 1}})
    assert (case.gold_item >= 0).sum() == 1
    assert named(case, case.gold_grade >= 0) == {"1b"}
    assert case.design.outside == 2
    assert case.top_grade == 3


@pytest.mark.parametrize(
    ("gold", "measure", "kind"),
    [
        (GRADES, "P@2", "census"),
        ({"1": GRADES["1"]}, "AP", "topics"),
        ({"1": {"b": 1, "c": 1}, "3": {"a": 1, "b": 1, "x": 0}}, "P@2", "census"),  # all that matters
        ({"1": {"b": 1, "c": 1}, "3": {"a": 1, "b": 1}}, "P@2", "items"),  # but for x, which nobody judged
        ({"1": {"a": 1, "b": 1}}, "P@2", "items"),
        ({"2": {"a": 1}}, "P@2", "items"),  # of a topic where nothing matters
    ],
)
def test_what_gold_is(gold: dict[str, dict[str, int]], measure: str, kind: str) -> None:
    assert make(measure, gold=gold).design.kind == kind


def test_a_sample_is_no_census_because_nobody_judged_what_matters() -> None:
    """Else a few documents that gold saw by chance would be all there is, known exactly."""
    lists = {"old": {t: {"x": 2.0, "a": 1.0} for t in "123"}, "new": {t: {"y": 2.0, "a": 1.0} for t in "123"}}
    case = make("P@1", gold={"1": {"x": 1, "a": 1}, "2": {"b": 0}}, lists=lists)
    assert case.design.kind == "items"
    assert not case.gold_topics.any()


def test_topics_are_whole_where_gold_has_what_the_measure_needs() -> None:
    case = make("AP", gold={"1": GRADES["1"], "2": {"a": 1}})
    assert case.gold_topics.tolist() == [True, False, False]
    for gold in ({"1": GRADES["1"], "2": {"a": 1}}, {"1": {"b": 1, "c": 0}}):
        assert make("P@2", gold=gold).gold_topics.tolist() == [True, False, False]
    ideal = make("nDCG@2", gold={"1": {"b": 1, "c": 0}, "2": GRADES["2"]})  # which depends on a and d as well
    assert ideal.gold_topics.tolist() == [False, True, False]


def test_gold_drawn_for_sure_is_a_census_where_chances_are_of_no_use() -> None:
    frame = pl.DataFrame([(t, d, g) for t, row in GRADES.items() for d, g in row.items()], orient="row")
    frame.columns = ["topic", "document", "grade"]
    gold = kt.read_gold(frame.with_columns(pi=pl.lit(1.0)))
    assert replace(make("AP", gold=GRADES), gold=gold).design.kind == "census"
    assert replace(make("P@2", gold=GRADES), gold=gold).design.kind == "sampled"
    some = kt.read_gold(frame[:3].with_columns(pi=pl.lit(1.0)))
    assert replace(make("nDCG@2", gold=GRADES), gold=some).design.kind == "sampled"  # the ideal needs the rest


def test_gold_scores_are_golds_own() -> None:
    gold = {"1": {"a": 0, "b": 1, "c": 0, "d": 1}}
    case = make("P@2", gold=gold)
    assert case.gold_scores[0].tolist() == [0.5, 0.0]
    assert np.isnan(case.gold_scores[1:]).all()


def test_systems_that_share_no_topic() -> None:
    lists = {"old": {"1": LISTS["old"]["1"]}, "new": {"2": LISTS["new"]["2"], "3": LISTS["new"]["3"]}}
    case = make(lists=lists)
    assert case.disjoint
    assert not case.paired
    assert [case.topics_of(s).tolist() for s in (0, 1)] == [[0], [1, 2]]
    assert not make().disjoint
    assert make().paired
    assert not make(paired=False).paired


def test_systems_without_documents_are_refused() -> None:
    with pytest.raises(DataError, match=r"\b1\b.*'new'"):
        make(lists={"old": LISTS["old"], "new": {"9": {"a": 1.0}}})
    with pytest.raises(DataError, match="share"):
        make(lists={"old": {"8": {"a": 1.0}}, "new": {"9": {"a": 1.0}}})
    three = LISTS | {"idle": {"9": {"a": 1.0}}}
    assert make(lists=three).scores[:, 2].tolist() == [0, 0, 0]


@cache
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(systems=4, topics=12, depth=20, rng=7)


def test_an_approach_that_ends_in_scores_has_the_vote_for_grades() -> None:
    """What judges said of an item must not be what the last of them said."""
    cases = [
        make_case(
            world().runs,
            world().judgments,
            world().gold,
            Question(measure="P@10", approach=approach),
            systems=world().runs.systems[:2],
            seed=0,
        )
        for approach in ("mv", "uniform", "expected:ds")
    ]
    assert all(len(case.pool.judges) == 1 for case in cases)
    for other in cases[1:]:
        np.testing.assert_array_equal(other.said, cases[0].said)
        assert not np.array_equal(other.scores, cases[0].scores)


def test_gold_on_a_topic_that_no_system_answered_is_outside() -> None:
    case = make(grades=GRADES | {"4": {"a": 1}}, gold={"1": {"b": 1}, "4": {"a": 1}})
    assert case.topic_names == ("1", "2", "3")
    assert named(case, case.gold_grade >= 0) == {"1b"}
    assert (case.gold_item < 0).sum() == case.design.outside == 1
    assert len(case.drawn.item) == 1


def test_topics_that_the_chosen_judge_did_not_see_are_left_out_and_told() -> None:
    judgments = kt.read_judgments({"ann": GRADES, "bob": {"1": GRADES["1"], "2": {"a": 1}}})
    question = Question(measure="P@2", approach="judge:bob")
    case = make_case(kt.read_runs(LISTS), judgments, None, question, systems=tuple(LISTS), seed=0)
    assert case.topic_names == ("1", "2")
    assert case.scores.shape == (2, 2)
    assert has_note(case, "decisions.topics-unjudged", topics=("3",))


def test_gold_on_all_that_matters_in_some_topics_is_gold_on_whole_topics() -> None:
    lists = {"old": {t: {"a": 2.0, "b": 1.0} for t in "1234"}, "new": {t: {"a": 2.0, "c": 1.0} for t in "1234"}}
    grades = dict.fromkeys("1234", GRADES["1"])
    case = make("P@2", gold={t: {"b": 1, "c": 0} for t in "12"}, grades=grades, lists=lists)
    assert case.design.kind == "topics"
    assert case.design.clustered
    assert case.gold_topics.tolist() == [True, True, False, False]


def test_errors_of_judges_are_by_what_grades_gain() -> None:
    """With P(rel=2) gold's grades 0 and 1 are one kind: what judges do to them on average is taken off together."""
    gold = kt.read_gold(world().gold.to_frame().drop("judge")[::5])
    question = Question(measure="P(rel=2)@10")
    case = make_case(world().runs, world().judgments, gold, question, systems=world().runs.systems[:2], seed=0)
    known = case.judged & (case.gold_grade >= 0)
    wrong = errors_given_gold((case.gold_grade[known] >= 2).astype(int), case.said[known] >= 2)
    assert case.design.icc == pytest.approx(intraclass_correlation(case.topic[known], wrong))


TRUTH = {"1": {"a": 0, "b": 1, "c": 0, "d": 2, "x": 1}, "2": GRADES["2"], "3": {"a": 2, "b": 0, "c": 1, "d": 0, "x": 2}}


def test_weights_of_ndcg_are_over_the_ideal_of_gold_where_it_knows_all() -> None:
    """Not over the judges', which is another one in topics 1 and 3."""
    case = make("nDCG@3", gold=TRUTH)
    assert case.linear is not None
    gain = case.linear.gain[case.gold_grade]
    sums = np.stack([np.bincount(case.topic, case.weight[:, s] * gain, 3) for s in (0, 1)], axis=1)
    np.testing.assert_allclose(sums, case.gold_scores)


def test_the_scale_of_a_topic_is_the_mean_of_one_over_its_ideal() -> None:
    """Which is not 1 over the mean, nor is a score over a mean ideal the mean score."""
    gold = kt.read_gold(world().gold.to_frame().drop("judge")[::5])
    pair = world().runs.systems[:2]
    case = make_case(world().runs, world().judgments, gold, Question(measure="nDCG@10"), systems=pair, seed=0)
    assert case.scale is not None
    assert case.inverse_ideals is not None
    np.testing.assert_allclose(case.scale, case.inverse_ideals.mean(axis=0))
    np.testing.assert_allclose(case.weight, case.rank_weight * case.scale[case.topic][:, None])
    likely = case.inverse_ideals[:, (case.inverse_ideals > 0).all(axis=0)]
    assert (likely.mean(axis=0) > 1.001 / (1 / likely).mean(axis=0)).any()


def test_topics_where_nothing_gains_count_only_as_long_as_there_is_no_gold() -> None:
    nothing = dict.fromkeys("abcdx", 0)
    grades, gold = GRADES | {"3": nothing}, TRUTH | {"3": nothing}
    planned, known = make("nDCG@3", grades=grades).scale, make("nDCG@3", grades=grades, gold=gold).scale
    assert planned is not None
    assert known is not None
    assert planned[2] == pytest.approx(planned[0])  # the judges' ideal in both other topics
    assert known[2] == 0
    assert (known[:2] > 0).all()


def test_ideals_know_how_many_systems_retrieve_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def listen(pool: Pool, *others: object, **more: object) -> np.ndarray:
        seen.append(pool)
        return np.ones((2, pool.topics))

    monkeypatch.setattr("karatage.decisions.case.draw_ideals", listen)
    case = make("nDCG@2", gold={"1": {"b": 1}})
    assert case.scale is not None
    assert named(case, seen[0].systems == 2) == {"1a", "2a", "2b"}
    assert named(case, seen[0].systems == 1) == {"1b", "1c", "3a", "3b", "3x"}
