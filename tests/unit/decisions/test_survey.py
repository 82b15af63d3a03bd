"""The survey: each part is what its own verb finds, and what gold cannot tell is refused."""

from dataclasses import replace

import polars as pl
import pytest

import karatage as kt
from karatage.data.note import tell_once
from karatage.decisions.survey import MERGES
from karatage.errors import OptionError
from tests.notes import gives, has_note


@pytest.fixture(scope="module")
def world():
    return kt.simulation.simulate_collection(systems=5, topics=15, depth=20, rng=2)


@pytest.fixture(scope="module")
def found(world):
    files, approach = (world.runs, world.judgments, world.gold), ("mv", "uniform", "sgl_rmse_own4")
    return kt.report(*files, "nDCG@10", a="system-02", b="system-01", approach=approach)


def test_the_parts_are_what_each_verb_finds_alone(world, found):
    alone = kt.compare(world.runs, world.judgments, world.gold, "nDCG@10", a="system-02", b="system-01")
    assert found.comparison.to_dict() == alone.to_dict()
    assert found.sentence == alone.sentence
    assert found.board.to_dict() == kt.compare_all(world.runs, world.judgments, world.gold, "nDCG@10").to_dict()
    assert found.audit.to_dict() == kt.audit(world.judgments, gold=world.gold, rng=0, approach=MERGES).to_dict()
    assert found.evaluation.approaches == ("mv", "uniform", "sgl_rmse_own4")
    assert {near.topics for near in found.evaluation.fidelity} == {15}
    assert found.calibration.to_dict() == kt.calibrate(world.judgments, world.gold, approach="mv", rng=0).to_dict()
    assert not found.refused


def test_every_note_of_every_part_is_there_once(found):
    parts = (found.comparison, found.board, found.evaluation, found.audit, found.calibration)
    beside, *told = found.notes
    assert has_note([beside], "decisions.suspects-used", judges=("spammer",))  # who is heard all the same
    assert tuple(told) == tell_once(note for part in parts for note in part.notes)
    assert [note.kind for note in found.notes].count("measures.unjudged") <= 1


def test_of_two_systems_there_is_no_leaderboard(world):
    found = kt.report(world.runs.only(["system-01", "system-03"]), world.judgments, world.gold, "P@5")
    assert found.board is None
    assert (found.comparison.a, found.comparison.b) == ("system-01", "system-03")
    assert found.decision is found.comparison


def test_without_gold_nothing_is_held_against_it(world):
    found = kt.report(world.runs, world.judgments, None, "P@5")
    assert found.evaluation.fidelity == ()
    assert set(found.refused) == {"approaches", "calibration"}
    assert found.decision is found.board
    assert found.board.corrected is None


def test_drawn_gold_ranks_no_systems_by_itself(world):
    queue = kt.plan(world.runs, world.judgments, "P@5", budget=60).queue
    grades = world.gold.to_frame().select("topic", "document", "grade")
    gold = kt.read_gold(queue.drop("grade").join(grades, on=["topic", "document"], how="inner"))
    found = kt.report(world.runs, world.judgments, gold, "P@5")
    assert found.evaluation.gold is None
    assert gives(found.refused["approaches"], "gold", "drawn")
    assert found.board.corrected.way == "sampled"


def test_approaches_are_held_against_whole_topics_only(world):
    frame = world.gold.to_frame().drop("judge")
    whole, part = world.gold.topics[:6], world.gold.topics[6]
    gold = frame.filter(pl.col("topic").is_in(whole) | ((pl.col("topic") == part) & (pl.int_range(pl.len()) % 9 == 0)))
    found = kt.report(world.runs, world.judgments, kt.read_gold(gold), "P@5")
    assert found.evaluation.gold["P@5"].topics == whole


def test_topics_that_no_run_has_play_no_part_in_the_audit(world):
    frame = world.judgments.to_frame()
    foreign = frame.filter(topic="101").with_columns(topic=pl.lit("999"), grade=pl.lit(0, pl.Int8))
    more = kt.read_judgments(pl.concat([frame, foreign]))
    found = kt.report(world.runs, more, world.gold, "P@5")
    alone = kt.report(world.runs, world.judgments, world.gold, "P@5")
    assert found.audit.to_dict() == alone.audit.to_dict()
    assert found.counts.equals(alone.counts)
    assert found.board.to_dict()["systems"] == alone.board.to_dict()["systems"]


def test_what_the_data_allow_is_what_doctor_says(world):
    first = world.runs.only(["system-01", "system-02"])
    runs = replace(first, systems=("system-01", "copy"), bounds=first.bounds[:, [0, 0]])
    found = kt.report(runs, world.judgments, world.gold, "P@5")
    assert found.diagnosis.to_dict() == kt.doctor(runs, world.judgments, world.gold, "P@5").to_dict()
    assert any("identical" in check.finding and "copy" in check.finding for check in found.diagnosis.checks)


def test_one_judge_one_system(world):
    alone = kt.read_judgments(world.judgments.to_frame().filter(judge="llm-large"))
    found = kt.report(world.runs, alone, world.gold, "P@5")
    assert found.evaluation.approaches == ("judge:llm-large",)
    with pytest.raises(OptionError, match="'system-01'"):
        kt.report(world.runs.only(["system-01"]), alone, world.gold, "P@5")


def test_the_seed_seeds(world):
    one, same, other = (
        kt.report(world.runs, world.judgments, world.gold, kt.Question(measure="P@5", seed=seed)) for seed in (1, 1, 2)
    )
    assert one.to_json() == same.to_json()
    assert one.to_json() != other.to_json()


def test_grades_that_merging_hears_are_counted_beside_those_that_count_once(world):
    rows = world.judgments.to_frame()
    again = kt.read_judgments(pl.concat([rows, rows.head(10)]))
    found = kt.report(world.runs, again, None, "P@10")
    ((number, detail),) = found.counts.filter(pl.col("what") == "grades").select("number", "detail").iter_rows()
    assert number == len(rows)
    assert gives(detail, f"{len(rows) + 10:,}")
