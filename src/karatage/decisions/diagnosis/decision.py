"""The question itself looked at: topics, the pair, and what the gold's design allows."""

from __future__ import annotations

from collections.abc import Iterator

from karatage.correction.planning import MANY_TOPICS
from karatage.data.diagnosis import Check
from karatage.decisions.case import Case
from karatage.decisions.diagnosis.evidence import Evidence
from karatage.decisions.diagnosis.prospects import Prospect, build_case, measure_overlap, name_sameness
from karatage.decisions.estimators.needs import FEWEST_TOPICS, LEAST_TOPICS, find_least_topics
from karatage.errors import KaratageError
from karatage.text import counted, shorten

ABOUT = "decision"


def check_prospect(evidence: Evidence, asked: Prospect) -> Iterator[Check]:
    """Whether this gold corrects the measure that was asked for, and what must hold for that."""
    if evidence.gold is not None and asked.refusal is not None:
        yield Check(
            about=ABOUT,
            state="warning",
            finding=f"{asked.measure} cannot be corrected with this gold: {asked.refusal}",
        )
    if asked.estimator is not None and asked.estimator.premise:
        yield Check(about=ABOUT, state="ok", finding=asked.estimator.premise)


def check_decision(evidence: Evidence) -> Iterator[Check]:
    """Whether the files can answer which system is better."""
    if not evidence.meets or evidence.runs is None or len(evidence.runs.systems) < 2:
        return
    try:
        case = build_case(evidence)
    except KaratageError as problem:
        yield Check(about=ABOUT, state="warning", finding=f"{problem}")
        return
    yield _check_topics(case)
    if len(case.systems) == 2:
        yield _check_pair(case)
    if case.gold is not None and (case.gold_item >= 0).any():
        yield Check(about=ABOUT, state="ok", finding=case.design.sentence)


def _check_topics(case: Case) -> Check:
    topics = len(case.topics)
    if case.disjoint:
        return Check(
            about=ABOUT,
            state="warning",
            finding="the systems answered different topics, so that topics and documents do not compare them",
            advice="give runs over the same topics",
        )
    found = f"{counted(topics, 'topic')} that both systems and judges know"
    if topics < find_least_topics(case):
        unless = "" if topics < FEWEST_TOPICS else ", unless gold knows all that matters"
        return Check(
            about=ABOUT,
            state="warning",
            finding=f"{found}: too few to say anything about new ones{unless}",
            advice=f"judge {LEAST_TOPICS} topics at least, {MANY_TOPICS} or more to see anything but large differences",
        )
    if topics < MANY_TOPICS:
        return Check(
            about=ABOUT,
            state="warning",
            finding=f"{found}: intervals lean on topic scores being normal, and only large differences show",
            advice=f"{MANY_TOPICS} topics or more are a safer ground",
        )
    return Check(about=ABOUT, state="ok", finding=found)


def _check_pair(case: Case) -> Check:
    a, b = (shorten(name, 24) for name in case.systems)
    same = name_sameness(case)
    if same is not None:
        return Check(
            about=ABOUT,
            state="warning",
            finding=f"'{a}' and '{b}' cannot differ by {case.question.parsed}: {same}",
            advice="is one of them the right run? Or ask for a greater depth",
        )
    where = f"their first {case.depth} ranks" if case.question.parsed.cutoff else "their rankings"
    found = f"'{a}' and '{b}' have {measure_overlap(case):.0%} of the documents in {where} in common"
    if case.linear is not None:
        found += f"; {counted(int(case.matters.sum()), 'document')} {'tells' if case.matters.sum() == 1 else 'tell'} "
        found += "them apart"
    return Check(about=ABOUT, state="ok", finding=found)
