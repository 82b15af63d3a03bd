"""What can be concluded from a set of files, what cannot, and the sentence to leave with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karatage.agreement.likeness import ENOUGH
from karatage.decisions.comparing import POWER
from karatage.decisions.diagnosis.commands import choose_sum
from karatage.decisions.diagnosis.evidence import Evidence
from karatage.decisions.diagnosis.prospects import Prospect, build_case, choose_budget, foresee, name_sameness
from karatage.decisions.estimators.needs import CLAIM_THESE, LEAST_TOPICS
from karatage.decisions.estimators.registry import list_estimators
from karatage.errors import KaratageError
from karatage.text import counted, end_sentence, shorten


def list_possible(evidence: Evidence, prospects: Sequence[Prospect]) -> Iterator[str]:
    """What can be concluded."""
    judgments = evidence.judgments
    if judgments is not None:
        several = bool((np.diff(judgments.row_start) > 1).any())
        if several:
            yield f"how far {counted(len(judgments.judges), 'judge')} agree, and one merged grade for each item"
        if int(evidence.shared.sum()) >= ENOUGH:
            yield f"how often judges are right, on {counted(int(evidence.shared.sum()), 'gold item')}"
    if evidence.meets and evidence.runs is not None:
        yield f"the order of {counted(len(evidence.runs.systems), 'system')} by what the judges say, errors included"
    for estimator in list_estimators():
        names = [p.measure for p in prospects if p.estimator is estimator]
        if names:
            yield f"differences between systems in {', '.join(names)}, with judges' errors undone {estimator.phrase}"
    here = [p.measure for p in prospects if p.these_only]
    if here:
        yield f"differences between systems in {', '.join(here)}, on these topics only (--claim these)"


def list_impossible(evidence: Evidence, prospects: Sequence[Prospect]) -> Iterator[str]:
    """What cannot, and why."""
    judgments = evidence.judgments
    if judgments is None:
        yield f"anything about systems: {evidence.lack('judgments')}"
        return
    if len(judgments.judges) > 1 and not (np.diff(judgments.row_start) > 1).any():
        yield "how far judges agree: no item was graded by two of them"
    if not evidence.shared.any():
        why = evidence.lack("gold") if evidence.gold is None else "gold is about other items"
        yield f"how often judges are right: {why}"
    if evidence.runs is None:
        yield f"anything about systems: {evidence.lack('runs')}"
        return
    if not evidence.meets:
        yield "anything about systems: judgments are about other documents"
        return
    if len(evidence.runs.systems) < 2:
        yield "which system is better: there is one only"
        return
    if evidence.gold is None:
        yield "that one system is better than another: judges' errors are not undone without gold"
        return
    reasons: dict[str, list[str]] = {}
    for prospect in prospects:
        if prospect.refusal is not None:
            reason = prospect.refusal
            if reason.startswith(prospect.measure):
                reason = f"it{reason.removeprefix(prospect.measure)}"
            reasons.setdefault(reason, []).append(prospect.measure)
    for reason, names in reasons.items():
        yield f"corrected differences in {', '.join(names)}: {reason}"


def decide(evidence: Evidence, prospects: Sequence[Prospect]) -> str:
    """The answer to the question that was asked."""
    if evidence.unread:
        return "Until then nothing can be said of which system is better."
    if evidence.judgments is None:
        return "Without judgments nothing can be concluded: add the judges' grades with --judgments."
    if evidence.runs is None:
        return _say_judges(evidence)
    if not evidence.meets or len(evidence.runs.systems) < 2:
        return "Nothing can be said yet about which system is better."
    asked = prospects[0]
    same = _find_sameness(evidence)
    who = "two systems" if evidence.pair is None else " and ".join(shorten(name, 24) for name in evidence.pair)
    if same is not None:
        return f"No difference between {who} can show in {asked.measure}: {same}."
    if asked.estimator is not None:
        return _say_ready(evidence, asked, who)
    if evidence.gold is None:
        return f"Claim nothing yet: without gold judges' errors are not undone. {_foretell(evidence, asked.measure)}"
    refused = f"{asked.measure} cannot be corrected with this gold: {end_sentence(str(asked.refusal))}"
    others = [p.measure for p in prospects if p.estimator is not None]
    if asked.these_only:
        return refused
    if others:
        return f"{refused} It does correct {', '.join(others)}."
    return f"{refused} {_foretell(evidence, asked.measure)}".strip()


def _say_judges(evidence: Evidence) -> str:
    if evidence.shared.any():
        return "Judges can be audited and merged; add runs to say anything about systems."
    return "Grades can be merged and agreement measured, but nobody knows who is right: add gold, and runs."


def _find_sameness(evidence: Evidence) -> str | None:
    try:
        return name_sameness(build_case(evidence))
    except KaratageError:  # told among the checks
        return None


def _say_ready(evidence: Evidence, asked: Prospect, who: str) -> str:
    if asked.detectable == 0:
        return f"Ready to compare: gold knows {asked.measure} of {who} for sure, on {evidence.question.about}."
    if asked.detectable is None:
        return f"Gold tells too little to see any difference in {asked.measure} between {who}: get more of it."
    return (
        f"Ready to compare: a difference in {asked.measure} between {who} of {asked.detectable:.2g} or more would "
        f"show with {POWER:.0%} power, on {evidence.question.about}."
    )


def _foretell(evidence: Evidence, measure: str) -> str:
    planned = choose_sum(measure)
    budget = choose_budget(evidence, planned)
    found = foresee(evidence, planned, budget) if budget else None
    if found is None:
        return f"Judge {LEAST_TOPICS} topics at least, then let karatage plan draw gold; or {CLAIM_THESE}."
    return (
        f"{counted(budget, 'gold label')} drawn by karatage plan would show differences in {planned} of about "
        f"{found:.2g} or more with {POWER:.0%} power."
    )
