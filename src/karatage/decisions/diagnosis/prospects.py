"""What the gold at hand can correct, and which differences would then show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from karatage.correction.power import required_z
from karatage.data.checks import find_schema
from karatage.data.diagnosis import MEASURES
from karatage.decisions.case import Case, make_case
from karatage.decisions.choosing import correct
from karatage.decisions.comparing import POWER, find_sameness
from karatage.decisions.diagnosis.evidence import Evidence
from karatage.decisions.estimators.contract import Estimator, Fitted
from karatage.decisions.planning import plan
from karatage.errors import KaratageError

BUDGET = 200  # gold labels, where none has been said
DEPTH = 10


@dataclass(frozen=True, kw_only=True)
class Prospect:
    """One measure: by which estimator judges' errors are undone and what then shows, or why they are not."""

    measure: str
    estimator: Estimator | None = None
    detectable: float | None = None  # a difference shown with 80% power; the median over pairs
    refusal: str | None = None
    these_only: bool = False  # whether differences on these topics are known, though nothing can be said of new ones


def look_ahead(evidence: Evidence) -> list[Prospect]:
    """The measure asked for first, then common ones of the same depth."""
    asked = evidence.question.parsed
    depth = asked.cutoff or DEPTH
    others = [f"P@{depth}", f"DCG@{depth}", "RBP(p=0.8)", f"nDCG@{depth}", "AP"]
    return [_look(evidence, measure) for measure in dict.fromkeys([str(asked), *others])]


def _look(evidence: Evidence, measure: str) -> Prospect:
    if evidence.gold is None:
        return Prospect(measure=measure, refusal=evidence.lack("gold"))
    try:
        case = build_case(evidence, measure)
        assert evidence.runs is not None
        assert evidence.judgments is not None
        choice = correct(case, evidence.runs, evidence.judgments)
        doubt = None if choice.second is None else choice.second.doubt_board()
        alarm = choice.alarm or (doubt and doubt.alarm)
        if alarm:
            return Prospect(measure=measure, refusal=alarm)
        if choice.corrected is None:
            return Prospect(measure=measure, refusal=choice.refusal, these_only=_knows_these(evidence, case))
    except KaratageError as problem:
        return Prospect(measure=measure, refusal=f"{problem}")
    detectable = find_detectable(choice.corrected, evidence.question.level)
    return Prospect(measure=measure, estimator=choice.estimator, detectable=detectable)


def _knows_these(evidence: Evidence, case: Case) -> bool:
    assert evidence.runs is not None
    assert evidence.judgments is not None
    asked = replace(case, question=replace(case.question, claim="these"))
    choice = correct(asked, evidence.runs, evidence.judgments)
    return choice.corrected is not None and choice.alarm is None


def build_case(evidence: Evidence, measure: str | None = None) -> Case:
    """Runs, judgments and gold met, for a measure other than the one asked for where it is given."""
    assert evidence.runs is not None
    assert evidence.judgments is not None
    question = evidence.question if measure is None else replace(evidence.question, measure=measure)
    systems: Sequence[str] = evidence.pair or evidence.runs.systems
    return make_case(evidence.runs, evidence.judgments, evidence.gold, question, systems=systems, seed=question.seed)


def find_detectable(found: Fitted, level: float) -> float | None:
    """The difference that a test would show in 80% of repetitions, the median over pairs; None: never."""
    variance = found.pairs.variance[np.triu_indices(len(found.pairs.variance), 1)]
    error = float(np.median(np.sqrt(variance)))
    return required_z(level, POWER) * error if math.isfinite(error) else None


def choose_budget(evidence: Evidence, measure: str) -> int:
    """Gold labels to plan for: no more than there are documents that matter; 0 where there can be no plan."""
    try:
        case = build_case(evidence, measure)
    except KaratageError:  # told among the checks
        return 0
    return 0 if case.disjoint else min(BUDGET, int(case.matters.sum()))


def foresee(evidence: Evidence, measure: str, budget: int) -> float | None:
    """The same once a plan has drawn as many labels; None where there can be no plan or no claim."""
    assert evidence.runs is not None
    assert evidence.judgments is not None
    question = replace(evidence.question, measure=measure)
    try:
        found = plan(evidence.runs, evidence.judgments, question, budget=budget, systems=evidence.pair)
    except KaratageError:
        return None
    return None if found.new is None else required_z(question.level, POWER) * found.new.standard_error


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
