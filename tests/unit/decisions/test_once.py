"""Runs, judgments and gold are aligned, merged and scored once for all that is asked of them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from types import FrameType

import pytest

import karatage as kt
from karatage.aggregation.registry import merge
from karatage.data.alignment import align
from karatage.decisions.case import ask, make_case
from karatage.decisions.correct import correct
from karatage.decisions.material import Material
from karatage.measures.scoring import score_aligned

WORK = {align.__code__: "align", merge.__code__: "merge", score_aligned.__code__: "score"}
PAIR = ("system-01", "system-02")


@cache
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(systems=5, topics=15, depth=20, rng=2)


def count(call: Callable[[], object]) -> Counter[str]:
    """How often each kind of work is done."""
    found: Counter[str] = Counter()

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in WORK:
            found[WORK[frame.f_code]] += 1

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10"])
def test_the_decision_takes_one_alignment_one_merge_and_one_scoring(measure: str) -> None:
    w = world()
    once = Counter(align=1, merge=1, score=1)
    assert count(lambda: kt.plan(w.runs, w.judgments, measure, budget=60)) == once
    assert count(lambda: kt.compare_all(w.runs, w.judgments, None, measure)) == once
    assert count(lambda: kt.compare(w.runs, w.judgments, None, measure, a=PAIR[0], b=PAIR[1])) == once


def test_gold_is_aligned_and_scored_once_beside_the_judges() -> None:
    w = world()
    found = count(lambda: kt.compare_all(w.runs, w.judgments, w.gold, "AP"))
    assert found == Counter(align=2, merge=1, score=2)


def test_a_diagnosis_merges_once_for_all_its_measures() -> None:
    w = world()
    found = count(lambda: kt.doctor(w.runs, w.judgments, w.gold))
    assert found["merge"] == 1
    assert found["align"] <= 4  # judged documents, the pools of two depths, gold


def test_a_survey_fits_each_model_once() -> None:
    w = world()
    found = count(lambda: kt.report(w.runs, w.judgments, w.gold, "P@10", a=PAIR[0], b=PAIR[1], approach=("mv", "ds")))
    assert found["merge"] == 4  # mv, ds, and two more that the audit tries
    assert found["align"] <= 7  # judged documents, the pools of pair and board at two depths, gold for both


def test_questions_of_the_same_material_share_the_case_and_its_correction() -> None:
    w = world()
    material = Material(runs=w.runs, judgments=w.judgments, gold=w.gold)
    first, again = (ask(material, kt.Question(measure="P@10"), systems=PAIR) for _ in "ab")
    assert first is again
    assert correct(first) is correct(again)
    other = ask(material, kt.Question(measure="DCG@10"), systems=PAIR)
    assert other.meeting is first.meeting
    alone = make_case(w.runs, w.judgments, w.gold, kt.Question(measure="DCG@10"), systems=PAIR, seed=0)
    assert (alone.scores == other.scores).all()
    assert alone.notes == other.notes
