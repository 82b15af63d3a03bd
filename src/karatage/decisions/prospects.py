"""Checks of the question: topics, the pair, what the gold at hand can correct, and which differences would show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from karatage.correction.planning import MANY_TOPICS, required_z
from karatage.data.checks import find_schema
from karatage.data.survey import MEASURES, Check
from karatage.decisions.case import Case, ask
from karatage.decisions.compare import POWER, find_sameness
from karatage.decisions.correct import correct
from karatage.decisions.estimators.contract import FEWEST_TOPICS, LEAST_TOPICS, Estimator, Fitted, find_least_topics
from karatage.decisions.plan import plan_gold
from karatage.decisions.reading import Checkup
from karatage.errors import KaratageError
from karatage.text import counted, shorten

BUDGET = 200  # gold labels, where none has been said
DEPTH = 10
ABOUT = "decision"


@dataclass(frozen=True, kw_only=True)
class Prospect:
    """One measure: by which estimator judges' errors are undone and what then shows, or why they are not."""

    measure: str
    estimator: Estimator | None = None
    detectable: float | None = None  # a difference shown with 80% power; the median over pairs
    refusal: str | None = None
    these_only: bool = False  # whether differences on these topics are known, though nothing can be said of new ones


def look_ahead(checkup: Checkup) -> list[Prospect]:
    """The measure asked for first, then common ones of the same depth."""
    asked = checkup.question.parsed
    depth = asked.cutoff or DEPTH
    others = [f"P@{depth}", f"DCG@{depth}", "RBP(p=0.8)", f"nDCG@{depth}", "AP"]
    return [_look(checkup, measure) for measure in dict.fromkeys([str(asked), *others])]


def _look(checkup: Checkup, measure: str) -> Prospect:
    if checkup.gold is None:
        return Prospect(measure=measure, refusal=checkup.lack("gold"))
    try:
        case = build_case(checkup, measure)
        choice = correct(case)
        doubt = None if choice.second is None else choice.second.doubt_board()
        alarm = choice.alarm or (doubt and doubt.alarm)
        if alarm:
            return Prospect(measure=measure, refusal=alarm)
        if choice.corrected is None:
            return Prospect(measure=measure, refusal=choice.refusal, these_only=_knows_these(case))
    except KaratageError as problem:
        return Prospect(measure=measure, refusal=f"{problem}")
    detectable = find_detectable(choice.corrected, checkup.question.level)
    return Prospect(measure=measure, estimator=choice.estimator, detectable=detectable)


def _knows_these(case: Case) -> bool:
    choice = correct(replace(case, question=replace(case.question, claim="these")))
    return choice.corrected is not None and choice.alarm is None


def build_case(checkup: Checkup, measure: str | None = None) -> Case:
    """Runs, judgments and gold met, for a measure other than the one asked for where it is given."""
    assert checkup.material is not None
    name = measure or str(checkup.question.parsed)
    if name not in checkup.cases:
        asked = name == str(checkup.question.parsed)
        question = checkup.question if asked else replace(checkup.question, measure=name)
        systems = checkup.pair or checkup.material.runs.systems
        checkup.cases[name] = ask(checkup.material, question, systems=systems)
    return checkup.cases[name]


def find_detectable(found: Fitted, level: float) -> float | None:
    """The difference that a test would show in 80% of repetitions, the median over pairs; None: never."""
    variance = found.pairs.variance[np.triu_indices(len(found.pairs.variance), 1)]
    error = float(np.median(np.sqrt(variance)))
    return required_z(level, POWER) * error if math.isfinite(error) else None


def choose_budget(checkup: Checkup, measure: str) -> int:
    """Gold labels to plan for: no more than there are documents that matter; 0 where there can be no plan."""
    try:
        case = build_case(checkup, measure)
    except KaratageError:  # told among the checks
        return 0
    return 0 if case.disjoint else min(BUDGET, int(case.matters.sum()))


def foresee(checkup: Checkup, measure: str, budget: int) -> float | None:
    """The same once a plan has drawn as many labels; None where there can be no plan or no claim."""
    try:
        found = plan_gold(replace(build_case(checkup, measure), gold=None), [budget])
    except KaratageError:
        return None
    return None if found.new is None else required_z(checkup.question.level, POWER) * found.new.standard_error


def name_sameness(case: Case) -> str | None:
    """Why two systems cannot differ, where they cannot."""
    return find_sameness(case) if len(case.systems) == 2 else None


def measure_overlap(case: Case) -> float:
    """The share of documents that two systems have in common in the ranks that count, over topics both answered."""
    shown = case.alignment.ranked[case.topics][:, :, : case.depth]
    share = []
    for first, second in shown:
        a, b = first[first >= 0], second[second >= 0]
        if len(a) and len(b):
            share.append(len(np.intersect1d(a, b)) / max(len(a), len(b)))
    return float(np.mean(share)) if share else 0.0


def tabulate_prospects(prospects: Sequence[Prospect]) -> pl.DataFrame:
    """One row per measure."""
    methods = [None if p.estimator is None else p.estimator.method for p in prospects]
    rows = [
        (p.measure, method and method.name, method and method.label, p.detectable, p.refusal)
        for p, method in zip(prospects, methods, strict=True)
    ]
    return pl.DataFrame(rows, schema=find_schema(MEASURES), orient="row")


def check_prospect(checkup: Checkup, asked: Prospect) -> Iterator[Check]:
    """Whether this gold corrects the measure that was asked for, and what must hold for that."""
    if checkup.gold is not None and asked.refusal is not None:
        yield Check(
            about=ABOUT,
            state="warning",
            finding=f"{asked.measure} cannot be corrected with this gold: {asked.refusal}",
        )
    if asked.estimator is not None and asked.estimator.premise:
        yield Check(about=ABOUT, state="ok", finding=asked.estimator.premise)


def check_decision(checkup: Checkup) -> Iterator[Check]:
    """Whether the files can answer which system is better."""
    if not checkup.meets or checkup.runs is None or len(checkup.runs.systems) < 2:
        return
    try:
        case = build_case(checkup)
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
        unless = "" if topics < FEWEST_TOPICS else ", unless gold has all documents that matter"
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
            finding=f"{found}: intervals assume normal topic scores, and only large differences show",
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
