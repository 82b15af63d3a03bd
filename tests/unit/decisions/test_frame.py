"""A queue knows from which documents it was drawn."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.decisions.case import Case, make_case, take_fingerprint
from karatage.decisions.question import Question
from tests.notes import gives, has_note

A, B = "system-01", "system-11"
MEASURE = "P(rel=2)@10"


@cache
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(systems=12, topics=20, depth=30, rng=5)


@cache
def case(measure: str = MEASURE, systems: tuple[str, ...] = (A, B)) -> Case:
    return make_case(world().runs, world().judgments, None, Question(measure=measure), systems=systems, seed=0)


def fingerprint(of: Case) -> str:
    return of.fingerprint


def queue(of: Case, measure: str | None, share: int = 2) -> kt.Judgments:
    """Gold on every second item of the frame, as if drawn with a chance of a half."""
    items = np.flatnonzero(of.matters)[::share]
    drawn = pl.DataFrame(
        {
            "topic": [of.pool.topics[t] for t in of.pool.item_topic[items]],
            "document": of.pool.documents.gather(of.pool.item_document[items]),
            "pi": np.full(len(items), 1 / share),
            "frame": fingerprint(of),
            "measure": measure,
        },
        schema_overrides={"measure": pl.String},
    )
    grades = world().gold.to_frame().drop("judge")
    return kt.read_gold(drawn.join(grades, on=["topic", "document"]))


def compare(gold: kt.Judgments, measure: str = MEASURE, a: str = A, b: str = B) -> kt.Comparison:
    return kt.compare(world().runs, world().judgments, gold, measure, a=a, b=b)


def test_the_frame_is_what_the_systems_rank_differently() -> None:
    of = case()
    shown = [
        {(t, d) for t, row in enumerate(of.alignment.ranked[of.topics][:, s, :10]) for d in row if d >= 0}
        for s in (0, 1)
    ]
    assert {d for _, d in shown[0] ^ shown[1]} == set(np.flatnonzero(of.matters).tolist())


def test_the_fingerprint_is_of_the_items_whatever_their_order() -> None:
    of = case()
    items = np.flatnonzero(of.matters)
    assert take_fingerprint(of.pool, items) == take_fingerprint(of.pool, items[::-1])
    assert take_fingerprint(of.pool, items) != take_fingerprint(of.pool, items[1:])
    assert len(fingerprint(of)) == 16


def test_the_grades_of_judges_do_not_matter_to_the_frame() -> None:
    other = make_case(
        world().runs, world().judgments, None, Question(measure=MEASURE, approach="ds"), systems=(A, B), seed=3
    )
    assert fingerprint(other) == fingerprint(case())


def test_a_queue_for_this_pair_is_taken() -> None:
    for measure in (MEASURE, None):
        found = compare(queue(case(), measure))
        assert found.corrected is not None
        assert found.corrected.way == "sampled"
        assert not has_note(found, "decisions.frame-unknown")


def test_a_queue_for_all_systems_serves_a_pair() -> None:
    everything = case(systems=world().runs.systems)
    found = compare(queue(everything, MEASURE))
    assert found.corrected is not None


def test_a_queue_for_a_deeper_measure_serves_a_shallow_one() -> None:
    found = compare(queue(case("P(rel=2)@20"), "P(rel=2)@20"))
    assert found.corrected is None  # documents of the first 10 that are among both systems' first 20 were not drawn
    assert gives(found.refusal, "P(rel=2)@10", "P(rel=2)@20")
    graded = compare(queue(case("DCG@20"), "DCG@20"))
    assert graded.corrected is not None


@pytest.mark.parametrize(("a", "b"), [(A, "system-05"), ("system-02", "system-03")])
def test_a_queue_for_another_pair_is_refused(a: str, b: str) -> None:
    found = compare(queue(case(), MEASURE), a=a, b=b)
    assert found.corrected is None
    assert gives(found.refusal, "queue", "frame", MEASURE, "--a")


def test_a_queue_for_a_shallower_measure_is_refused() -> None:
    found = compare(queue(case("P(rel=2)@3"), "P(rel=2)@3"))
    assert found.corrected is None
    assert gives(found.refusal, "P(rel=2)@10", "P(rel=2)@3")


def test_other_runs_are_another_frame() -> None:
    other = kt.simulation.simulate_collection(systems=12, topics=20, depth=30, rng=6)
    found = kt.compare(other.runs, other.judgments, queue(case(), MEASURE), MEASURE, a=A, b=B)
    assert found.corrected is None


@pytest.mark.parametrize(("measure", "says"), [("XP@10", "XP@10"), ("AP", "frame")])
def test_a_queue_for_no_weighted_sum(measure: str, says: str) -> None:
    gold = queue(case(), measure)
    found = compare(gold)
    assert found.corrected is None
    assert says in str(found.refusal)


def test_a_file_without_a_frame_is_taken_with_a_note() -> None:
    gold = queue(case(), MEASURE)
    assert gold.draw is not None
    plain = gold.to_frame().select("topic", "document", "grade").with_columns(pi=pl.lit(0.5))
    found = compare(kt.read_gold(plain))
    assert found.corrected is not None
    assert has_note(found, "decisions.frame-unknown")


def test_a_queue_for_one_judge_is_taken_back_for_that_judge() -> None:
    """Who saw only some of the topics has another frame than all judges together."""
    few = list(world().gold.topics[:12])
    frame = world().judgments.to_frame()
    name = world().judgments.judges[0]
    judgments = kt.read_judgments(frame.filter((pl.col("judge") != name) | pl.col("topic").is_in(few)))
    asked = Question(measure=MEASURE, approach=f"judge:{name}")
    of = make_case(world().runs, judgments, None, asked, systems=(A, B), seed=0)
    assert len(of.topics) == 12
    assert fingerprint(of) != fingerprint(case())
    found = kt.compare(world().runs, judgments, queue(of, MEASURE), asked, a=A, b=B)
    assert found.refusal is None
    assert found.corrected is not None
