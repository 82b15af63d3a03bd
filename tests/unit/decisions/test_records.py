"""What a judge's record changes in a result, and what it leaves as it is."""

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.data.records import StudyRecord
from karatage.decisions.records import choose_studies, name_collection, name_judge
from tests.notes import has_note, list_facts

JUDGES = (kt.simulation.JudgeProfile("llm@1", noise=0.4),)
MEASURE = "P@10"


@cache
def make_world(seed=1):
    systems = [kt.simulation.SystemProfile(f"s{k}", quality=1 + 0.06 * k, taste=0.2 * (-1) ** k) for k in range(8)]
    return kt.simulation.simulate_collection(systems=systems, topics=15, depth=15, judges=JUDGES, rng=seed)


@cache
def fill_queue(seed=1, labels=150, measure=MEASURE):
    """A queue with gold's grades."""
    world = make_world(seed)
    queue = kt.plan(world.runs, world.judgments, measure, budget=labels, seed=seed).queue.drop("grade")
    grades = world.gold.to_frame().select("topic", "document", "grade")
    return queue.join(grades, on=["topic", "document"], how="left")


@cache
def draw_gold(seed=1, labels=150, measure=MEASURE):
    return kt.read_gold(fill_queue(seed, labels, measure))


def fill_half(topics):
    """Gold drawn from some topics."""
    world = make_world()
    judged = world.judgments.only_topics(topics)
    queue = kt.plan(world.runs, judged, MEASURE, budget=100, seed=1, claim="these").queue.drop("grade")
    grades = world.gold.to_frame().select("topic", "document", "grade")
    return kt.read_gold(queue.join(grades, on=["topic", "document"], how="left"))


def rank(seed=1, record=None, labels=150, measure=MEASURE, **options):
    world = make_world(seed)
    gold = draw_gold(seed, labels, measure)
    return kt.compare_all(world.runs, world.judgments, gold, measure, resamples=100, record=record, **options)


@cache
def make_record():
    return StudyRecord(studies=tuple(rank(seed).study for seed in (2, 3, 4)))


def test_the_record_moves_the_guess_and_nothing_else():
    without, found = rank(), rank(record=make_record())
    facts = list_facts(found)["decisions.record-used"]
    assert (facts["studies"], facts["labels"], facts["judge"]) == (3, 450, "judge:llm@1")
    for name in ("naive_pairs", "corrected_pairs"):
        order = [found.systems.index(system) for system in without.systems]
        old, new = (getattr(board, name) for board in (without, found))
        square = np.zeros((2, len(order), len(order)))
        for n, (board, pairs, at) in enumerate(((without, old, range(len(order))), (found, new, order))):
            full = np.zeros((len(order), len(order)))
            full[board.a, board.b] = pairs.value
            full -= full.T
            square[n] = full[np.ix_(list(at), list(at))]
        np.testing.assert_allclose(square[0], square[1], atol=1e-12)
        np.testing.assert_allclose(np.sort(old.standard_error), np.sort(new.standard_error))
    assert found.guess.spread_by_gold == without.guess.spread_by_gold
    assert found.guess.unexplained == without.guess.unexplained
    assert found.guess.spread != without.guess.spread
    half = [np.sum(board.guess.usual.high - board.guess.usual.low) for board in (without, found)]
    assert facts["change"] == pytest.approx(half[1] / half[0] - 1, abs=1e-6)


def test_no_record_is_no_note_and_no_change():
    without, empty = rank(), rank(record=StudyRecord())
    assert not any("record" in note.kind for note in without.notes)
    assert has_note(empty, "decisions.record-none", judge="judge:llm@1")
    np.testing.assert_array_equal(without.guess.usual.low, empty.guess.usual.low)


def test_the_same_collection_is_not_used_twice():
    own = StudyRecord(studies=(rank().study,))
    again, without = rank(record=own), rank()
    assert has_note(again, "decisions.record-other")
    np.testing.assert_array_equal(again.guess.usual.low, without.guess.usual.low)
    both = own.merge([rank(labels=100).study, *make_record().studies])
    assert len(both.studies) == 4
    assert max(study.labels for study in both.studies) == 150
    assert list_facts(rank(record=both))["decisions.record-used"]["studies"] == 3


def test_the_study_does_not_depend_on_the_record():
    assert rank(record=make_record()).study == rank().study


def test_other_gains_are_not_used_and_other_cutoffs_are():
    assert has_note(rank(record=make_record(), measure="P(rel=2)@10"), "decisions.record-other")
    assert has_note(rank(record=make_record(), measure="P@5"), "decisions.record-used")
    assert has_note(rank(record=make_record(), measure="nDCG@10"), "decisions.record-other")


def rename(judge):
    return StudyRecord(studies=tuple(replace(study, judge=judge) for study in make_record().studies))


def test_another_prompt_is_another_judge():
    found = rank(record=rename("judge:llm@2"))
    assert has_note(found, "decisions.record-near", judge="judge:llm@1", near="judge:llm@2")
    assert has_note(rank(record=rename("judge:zzz")), "decisions.record-none")
    np.testing.assert_array_equal(found.guess.usual.low, rank().guess.usual.low)


def test_a_judge_that_changed_is_stale():
    """A record of one who called nearly everything relevant."""
    wrong = [
        replace(s, confusion=((0, 90, 0, 0), (0, 20, 0, 0), (0, 20, 0, 0), (0, 20, 0, 0)))
        for s in make_record().studies
    ]
    found = rank(record=StudyRecord(studies=tuple(wrong)))
    assert has_note(found, "decisions.record-stale", studies=3, stale=3)
    np.testing.assert_array_equal(found.guess.usual.low, rank().guess.usual.low)
    mixed = StudyRecord(studies=(*wrong[:1], *make_record().studies[1:]))
    found = rank(record=mixed)
    assert has_note(found, "decisions.record-stale", studies=3, stale=1)
    assert list_facts(found)["decisions.record-used"]["studies"] == 2


def test_pairs_and_reports_use_the_record_and_have_the_study():
    world, gold = make_world(), draw_gold()
    pair = kt.compare(world.runs, world.judgments, gold, MEASURE, a="s0", b="s5", record=make_record())
    page = kt.report(world.runs, world.judgments, gold, MEASURE, resamples=100, record=make_record())
    for found in (pair, page):
        assert has_note(found, "decisions.record-used", studies=3)
        assert found.study == rank().study
    assert has_note(page.audit, "decisions.record-used") is False
    (row,) = page.audit.record
    assert (row.judge, row.studies, row.labels, row.change) == ("judge:llm@1", 3, 450, None)
    usual = {opinion.method.name: opinion.difference for opinion in pair.others}["guess-usual"]
    board = rank(record=make_record())
    at = next(k for k in range(len(board.a)) if {board.systems[board.a[k]], board.systems[board.b[k]]} == {"s0", "s5"})
    assert abs(usual.value) == pytest.approx(abs(board.guess.usual.value[at]))


def test_a_study_is_not_saved_with_the_result():
    """It belongs in the record."""
    assert "study" not in rank().to_dict()


def test_copies_and_few_systems_give_no_study():
    """Of gold that is the grades of one of three judges, whose vote it would correct."""
    judges = [kt.simulation.JudgeProfile(f"j{k}", noise=0.6) for k in range(3)]
    world = kt.simulation.simulate_collection(systems=8, topics=15, depth=15, judges=judges, rng=3)
    queue = kt.plan(world.runs, world.judgments, MEASURE, budget=150).queue.drop("grade")
    for grades, given in ((world.judgments.to_frame().filter(judge="j1"), False), (world.gold.to_frame(), True)):
        own = grades.select("topic", "document", "grade")
        gold = kt.read_gold(queue.join(own, on=["topic", "document"], how="left"))
        found = kt.compare_all(world.runs, world.judgments, gold, MEASURE, resamples=100)
        pair = kt.compare(world.runs, world.judgments, gold, MEASURE, a=world.runs.systems[0], b=world.runs.systems[1])
        assert found.guess is not None
        assert (found.alarm is None) == given
        assert (found.study is not None) == given
        assert (pair.study is not None) == given
    assert rank(systems=["s0", "s1", "s2"]).study is None
    assert kt.compare_all(world.runs, world.judgments, None, MEASURE).study is None


def test_names_of_judges():
    assert name_judge("judge:x", ["x"]) == "judge:x"
    assert name_judge("mv", ["b", "a"]) == name_judge("mv", ["a", "b"]) != name_judge("mv", ["a", "c"])
    assert name_judge("mv", ["a,b", "c"]) != name_judge("mv", ["a", "b,c"])
    assert name_judge("ds", ["a", "b"]) != name_judge("mv", ["a", "b"])


def test_names_of_systems_and_late_ranks_are_not_in_the_fingerprint():
    rows = [(t, f"d{k}", 20 - k, s) for t in "12" for s in ("a", "b") for k in range(15)]
    frame = pl.DataFrame(rows, schema=["topic", "document", "score", "system"], orient="row")
    runs = kt.read_runs(frame)
    renamed = kt.read_runs(frame.with_columns(pl.col("system") + "x"))
    cut = kt.read_runs(frame.filter(pl.col("score") > 8))
    own = name_collection(runs, "12")
    assert own == name_collection(renamed, "12") == name_collection(cut, "12")
    assert own != name_collection(runs, "1") != name_collection(runs, "2")
    assert name_collection(kt.read_runs(frame.filter(pl.col("score") > 15)), "12") != own


def test_other_judged_topics_of_the_same_runs_are_another_study():
    world, record, found = make_world(), None, []
    for k in (0, 1):
        topics = world.judgments.topics[k::2]
        judged = world.judgments.only_topics(topics)
        gold, options = fill_half(topics), {"claim": "these", "resamples": 100}
        found.append(kt.compare_all(world.runs, judged, gold, MEASURE, record=record, **options))
        record = StudyRecord(studies=(found[0].study,))
    assert has_note(found[1], "decisions.record-used", studies=1)
    assert len({board.study.collection for board in (*found, rank())}) == 3


def test_many_studies_show_a_change_that_none_shows_alone():
    """One in six items with another grade, in twenty studies of 90 items."""
    before = ((50, 10), (10, 20))
    studies = [
        replace(study, confusion=before, collection=f"c{k}") for k, study in enumerate(make_record().studies * 7)
    ]
    now = np.array([[78, 42], [25, 35]])
    assert choose_studies(studies[:1], now) == (studies[:1], [])
    kept, changes = choose_studies(studies, now)
    assert (kept, len(changes)) == ([], 21)


def test_an_audit_shows_the_record_and_what_changed():
    world, gold = make_world(), draw_gold()
    audit = kt.audit(world.judgments, gold=gold, record=make_record())
    (row,) = audit.record
    counts = sum(study.counts for study in make_record().studies)
    assert row.accuracy == pytest.approx(np.trace(counts) / counts.sum())
    assert row.accuracy_now == pytest.approx(audit.judges["accuracy"][0])
    assert row.change is None
    assert 0.005 < row.bias < 0.5
    assert kt.audit(world.judgments, record=make_record()).record[0].accuracy_now is None
    assert kt.audit(world.judgments, gold=gold).record == ()
    wrong = [
        replace(s, confusion=((0, 90, 0, 0), (0, 20, 0, 0), (0, 20, 0, 0), (0, 20, 0, 0)))
        for s in make_record().studies
    ]
    stale = kt.audit(world.judgments, gold=gold, record=StudyRecord(studies=tuple(wrong)))
    assert stale.record[0].change
    assert has_note(stale, "decisions.record-stale", judge="judge:llm@1")


def test_an_audit_shows_the_record_of_a_merge():
    world = kt.simulation.simulate_collection(topics=8, rng=1)
    name = name_judge("mv", world.judgments.judges)
    record = StudyRecord(studies=tuple(replace(study, judge=name) for study in make_record().studies))
    audit = kt.audit(world.judgments, gold=world.gold, approach="mv", record=record)
    (row,) = audit.record
    assert row.judge == name
    assert row.accuracy_now == audit.merges.filter(name="mv")["accuracy"][0]
