"""`doctor`: checks of a set of files, what can be concluded from them, and the next commands."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
import polars as pl

from karatage.agreement.suspicion import ENOUGH
from karatage.correction.planning import MANY_TOPICS, required_z
from karatage.data.alignment import require_readable
from karatage.data.checks import find_schema
from karatage.data.options import show_options
from karatage.data.result import list_versions
from karatage.data.runs import Runs
from karatage.data.survey import MEASURES, Check, Diagnosis
from karatage.decisions.case import Case, ask
from karatage.decisions.checks import check_gold, check_judges, check_pool, check_runs, tabulate_systems
from karatage.decisions.correct import correct
from karatage.decisions.estimators.contract import (
    CLAIM_THESE,
    FEWEST_TOPICS,
    LEAST_TOPICS,
    POWER,
    Estimator,
    Fitted,
    find_least_topics,
)
from karatage.decisions.estimators.registry import list_estimators
from karatage.decisions.material import Material
from karatage.decisions.plan import plan_gold
from karatage.decisions.question import Question, QuestionOptions
from karatage.decisions.reading import Checkup, Sources, Words, fail, ok, read_files, warn
from karatage.errors import KaratageError, OptionError, UnknownNameError
from karatage.measures.registry import find_family, parse_measure
from karatage.measures.spec import Measure
from karatage.text import counted, end_sentence, shorten

BUDGET = 200  # gold labels by default
DEPTH = 10


@show_options(Question)
def doctor(
    runs: object = None,
    judgments: object = None,
    gold: object = None,
    measure: str | Measure | Question = Question.measure,
    *,
    a: str | None = None,
    b: str | None = None,
    **options: Unpack[QuestionOptions],
) -> Diagnosis:
    """Check the files, and say what can and what cannot be concluded from them.

    A file that cannot be read is reported among the checks, and the others are checked without it.

    Args:
        runs: What systems retrieved: anything that `kt.read_runs` takes, or what it returns.
        judgments: The judges' grades: anything that `kt.read_judgments` takes, or what it returns.
        gold: Trusted grades: anything that `kt.read_gold` takes, or what it returns.
        measure: The measure by which systems are to be compared, or a `kt.Question`.
        a: One of two systems to compare; default: all of them, or the two there are.
        b: The other.
        options: Other fields of `kt.Question`.
    """
    require_readable(runs=runs, judgments=judgments, gold=gold)
    sources = Sources(runs=runs, judgments=judgments, gold=gold)
    return examine(sources, Question.of(measure, **options), a=a, b=b)


def examine(
    sources: Sources, question: Question, *, a: str | None, b: str | None, material: Material | None = None
) -> Diagnosis:
    """The same with options of reading.

    `material` holds the runs, judgments and gold of the sources, if it is shared with other questions.
    """
    if sources.runs is None and sources.judgments is None and sources.gold is None:
        raise OptionError("no files were given; name runs, judgments or gold")
    files = read_files(sources, question.parsed.cutoff)
    pair, unknown = _choose_pair(files.runs, a, b)
    if material is None and files.runs is not None and files.judgments is not None:
        material = Material(runs=files.runs, judgments=files.judgments, gold=files.gold)
    checkup = Checkup(**vars(files), material=material, question=question, pair=pair)
    comparable = checkup.meets and checkup.runs is not None and len(checkup.runs.systems) > 1
    prospects = look_ahead(checkup) if comparable else []
    checks = (
        *files.checks,
        *unknown,
        *check_runs(checkup),
        *check_pool(checkup),
        *check_judges(checkup),
        *check_gold(checkup),
        *check_decision(checkup),
        *(check for asked in prospects[:1] for check in check_prospect(checkup, asked)),
    )
    wrong = any(check.state == "wrong" for check in checks)
    given = tuple(part for part in (files.judgments, files.gold) if part is not None)
    return Diagnosis(
        measure=str(question.parsed),
        pair=pair,
        checks=checks,
        systems=tabulate_systems(checkup),
        measures=tabulate_prospects(prospects),
        can=tuple(list_possible(checkup, prospects)),
        cannot=tuple(list_impossible(checkup, prospects)),
        commands=tuple(suggest(checkup, Words.of(sources, pair), prospects, wrong=wrong)),
        verdict=decide(checkup, prospects),
        seed=question.seed,
        versions=list_versions(),
        notes=tuple(
            dict.fromkeys([*(files.runs.notes if files.runs else ()), *(note for part in given for note in part.notes)])
        ),
    )


def _choose_pair(runs: Runs | None, a: str | None, b: str | None) -> tuple[tuple[str, str] | None, tuple[Check, ...]]:
    """The two systems asked about, or the only two; unknown names become a check."""
    if a is not None and a == b:
        raise OptionError(f"a and b are the same system, '{a}'; name two")
    if runs is None:
        return None, ()
    names = [name for name in (a, b) if name is not None]
    unknown = [name for name in names if name not in runs.systems]
    if unknown:
        finding = f"{UnknownNameError('system', unknown[0], runs.systems)}"
        return None, (fail("runs.unknown", finding, "all systems are checked instead"),)
    if len(runs.systems) == 2:
        first = a if a is not None else next(name for name in runs.systems if name != b)
        return (first, next(name for name in runs.systems if name != first)), ()
    if len(names) == 1:
        raise OptionError("one of a and b is missing; name both systems, or neither to check all of them")
    return ((names[0], names[1]) if names else None), ()


@dataclass(frozen=True, kw_only=True)
class Prospect:
    """One measure: the estimator that corrects judges' errors and the detectable difference, or a refusal."""

    measure: str
    estimator: Estimator | None = None
    detectable: float | None = None  # a difference detected with 80% power; the median over pairs
    refusal: str | None = None
    these_only: bool = False  # whether only claims about these topics are possible


def look_ahead(checkup: Checkup) -> list[Prospect]:
    """The measure asked for, then common ones of the same depth."""
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
        alarm = choice.doubt_board().alarm
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
    """The case of a measure; default: the one asked for."""
    assert checkup.material is not None
    name = measure or str(checkup.question.parsed)
    if name not in checkup.cases:
        asked = name == str(checkup.question.parsed)
        question = checkup.question if asked else replace(checkup.question, measure=name)
        systems = checkup.pair or checkup.material.runs.systems
        checkup.cases[name] = ask(checkup.material, question, systems=systems)
    return checkup.cases[name]


def find_detectable(found: Fitted, level: float) -> float | None:
    """The difference that is significant with 80% power, the median over pairs; None: never."""
    variance = found.pairs.variance[np.triu_indices(len(found.pairs.variance), 1)]
    error = float(np.median(np.sqrt(variance)))
    return required_z(level, POWER) * error if math.isfinite(error) else None


def choose_budget(checkup: Checkup, measure: str) -> int:
    """Gold labels to plan for, at most the documents that matter; 0 where a plan is impossible."""
    try:
        case = build_case(checkup, measure)
    except KaratageError:  # reported among the checks
        return 0
    return 0 if case.disjoint else min(BUDGET, int(case.matters.sum()))


def foresee(checkup: Checkup, measure: str, budget: int) -> float | None:
    """The detectable difference after a plan with this many labels; None where a plan or claim is impossible."""
    try:
        found = plan_gold(replace(build_case(checkup, measure), gold=None), [budget])
    except KaratageError:
        return None
    return None if found.new is None else required_z(checkup.question.level, POWER) * found.new.standard_error


def measure_overlap(case: Case) -> float:
    """The share of common documents of two systems in the ranks that count, over topics that both answered."""
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
    """Whether this gold corrects the measure asked for, and the assumption of the correction."""
    if checkup.gold is not None and asked.refusal is not None:
        yield warn("decision.refused", f"{asked.measure} cannot be corrected with this gold: {asked.refusal}")
    if asked.estimator is not None and asked.estimator.premise:
        yield ok("decision.premise", asked.estimator.premise)


def check_decision(checkup: Checkup) -> Iterator[Check]:
    """Whether the files show which system is better."""
    if not checkup.meets or checkup.runs is None or len(checkup.runs.systems) < 2:
        return
    try:
        case = build_case(checkup)
    except KaratageError as problem:
        yield warn("decision.impossible", f"{problem}")
        return
    yield _check_topics(case)
    if len(case.systems) == 2:
        yield _check_pair(case)
    if case.gold is not None and (case.gold_item >= 0).any():
        yield ok("decision.design", case.design.sentence)


def _check_topics(case: Case) -> Check:
    topics = len(case.topics)
    if case.disjoint:
        return warn(
            "decision.disjoint",
            "the systems answered different topics, so their scores cannot be compared",
            "give runs over the same topics",
        )
    found = f"{counted(topics, 'topic')} with both rankings and judgments"
    if topics < find_least_topics(case):
        unless = "" if topics < FEWEST_TOPICS else ", unless gold contains all documents that matter"
        return warn(
            "decision.too-few-topics",
            f"{found}: too few for a claim about new ones{unless}",
            f"judge at least {LEAST_TOPICS} topics; {MANY_TOPICS} or more detect smaller differences",
        )
    if topics < MANY_TOPICS:
        return warn(
            "decision.few-topics",
            f"{found}: intervals assume normally distributed topic scores, and only large differences are detected",
            f"use {MANY_TOPICS} topics or more",
        )
    return ok("decision.topics", found)


def _check_pair(case: Case) -> Check:
    a, b = (shorten(name, 24) for name in case.systems)
    same = case.same
    if same is not None:
        return warn(
            "decision.same",
            f"'{a}' and '{b}' cannot differ by {case.question.parsed}: {same}",
            "check that both are the right runs, or use a greater depth",
        )
    where = f"their first {case.depth} ranks" if case.question.parsed.cutoff else "their rankings"
    found = f"'{a}' and '{b}' have {measure_overlap(case):.0%} of the documents in {where} in common"
    if case.linear is not None:
        found += f"; they differ on {counted(int(case.matters.sum()), 'document')}"
    return ok("decision.pair", found)


def list_possible(checkup: Checkup, prospects: Sequence[Prospect]) -> Iterator[str]:
    """What can be concluded."""
    judgments = checkup.judgments
    if judgments is not None:
        several = bool((np.diff(judgments.row_start) > 1).any())
        if several:
            yield f"the agreement of {counted(len(judgments.judges), 'judge')}, and one merged grade for each item"
        if int(checkup.shared.sum()) >= ENOUGH:
            yield f"the accuracy of judges, on {counted(int(checkup.shared.sum()), 'gold item')}"
    if checkup.meets and checkup.runs is not None:
        yield f"the order of {counted(len(checkup.runs.systems), 'system')} by the judges, errors included"
    for estimator in list_estimators():
        names = [p.measure for p in prospects if p.estimator is estimator]
        if names:
            yield f"differences between systems in {', '.join(names)}, with judges' errors corrected {estimator.phrase}"
    here = [p.measure for p in prospects if p.these_only]
    if here:
        yield f"differences between systems in {', '.join(here)}, on these topics only (--claim these)"


def list_impossible(checkup: Checkup, prospects: Sequence[Prospect]) -> Iterator[str]:
    """What cannot be concluded, and why."""
    judgments = checkup.judgments
    if judgments is None:
        yield f"anything about systems: {checkup.lack('judgments')}"
        return
    if len(judgments.judges) > 1 and not (np.diff(judgments.row_start) > 1).any():
        yield "the agreement of judges: no item was graded by two of them"
    if not checkup.shared.any():
        why = checkup.lack("gold") if checkup.gold is None else "gold and judgments have no item in common"
        yield f"the accuracy of judges: {why}"
    if checkup.runs is None:
        yield f"anything about systems: {checkup.lack('runs')}"
        return
    if not checkup.meets:
        yield "anything about systems: no retrieved document has a judgment"
        return
    if len(checkup.runs.systems) < 2:
        yield "which system is better: there is only one"
        return
    if checkup.gold is None:
        yield "that one system is better than another: judges' errors are not corrected without gold"
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


def decide(checkup: Checkup, prospects: Sequence[Prospect]) -> str:
    """The answer to the question that was asked."""
    if checkup.unread:
        return "Until then, it is unknown which system is better."
    if checkup.judgments is None:
        return "Nothing can be concluded without judgments: add the judges' grades with --judgments."
    if checkup.runs is None:
        return _say_judges(checkup)
    if not checkup.meets or len(checkup.runs.systems) < 2:
        return "It is not yet known which system is better."
    asked = prospects[0]
    same = _find_sameness(checkup)
    who = "two systems" if checkup.pair is None else " and ".join(shorten(name, 24) for name in checkup.pair)
    if same is not None:
        return f"{asked.measure} of {who} cannot differ: {same}."
    if asked.estimator is not None:
        return _say_ready(checkup, asked, who)
    if checkup.gold is None:
        return (
            f"Claim nothing yet: without gold, the judges' errors are not corrected. "
            f"{_foretell(checkup, asked.measure)}"
        )
    refused = f"{asked.measure} cannot be corrected with this gold: {end_sentence(str(asked.refusal))}"
    others = [p.measure for p in prospects if p.estimator is not None]
    if asked.these_only:
        return refused
    if others:
        return f"{refused} The gold can correct {', '.join(others)}."
    return f"{refused} {_foretell(checkup, asked.measure)}".strip()


def _say_judges(checkup: Checkup) -> str:
    if checkup.shared.any():
        return "Judges can be audited and merged; add runs to compare systems."
    return (
        "Grades can be merged and agreement can be measured, but the accuracy of judges is unknown: add gold, and runs."
    )


def _find_sameness(checkup: Checkup) -> str | None:
    try:
        return build_case(checkup).same
    except KaratageError:  # reported among the checks
        return None


def _say_ready(checkup: Checkup, asked: Prospect, who: str) -> str:
    if asked.detectable == 0:
        return f"Ready to compare: gold gives {asked.measure} of {who} without error, on {checkup.question.about}."
    if asked.detectable is None:
        return f"There is too little gold to detect a difference in {asked.measure} between {who}: get more gold."
    return (
        f"Ready to compare: a difference in {asked.measure} between {who} of {asked.detectable:.2g} or more would be "
        f"detected with {POWER:.0%} power, on {checkup.question.about}."
    )


def _foretell(checkup: Checkup, measure: str) -> str:
    planned = choose_sum(measure)
    budget = choose_budget(checkup, planned)
    found = foresee(checkup, planned, budget) if budget else None
    if found is None:
        return f"Judge at least {LEAST_TOPICS} topics, then draw gold with karatage plan; or {CLAIM_THESE}."
    return (
        f"{counted(budget, 'gold label')} drawn by karatage plan would detect differences in {planned} of about "
        f"{found:.2g} or more with {POWER:.0%} power."
    )


def suggest(checkup: Checkup, words: Words, prospects: Sequence[Prospect], *, wrong: bool) -> list[str]:
    """The next commands, in order."""
    if wrong:  # that has to be corrected first
        return []
    measure, commands = str(checkup.question.parsed), []
    if checkup.judgments is not None and (len(checkup.judgments.judges) > 1 or checkup.gold is not None):
        commands.append(words.audit())
    if not checkup.meets or not prospects:
        return commands
    decided = next((p for p in prospects if p.estimator is not None), None)
    claim: tuple[str, ...] = ()
    if prospects[0].these_only:
        decided, claim = prospects[0], ("--claim", "these")
    elif prospects[0].estimator is None:
        planned = choose_sum(measure)
        budget = choose_budget(checkup, planned)
        drawn = ("-m", planned, *words.pair, "--budget", f"{budget}", "-o", "queue.csv")
        commands += [words.ask("plan", *drawn, gold=False)] if budget else []
    if decided is not None:
        commands.append(words.ask("compare", "-m", decided.measure, *words.pair, *claim))
        commands.append(words.ask("report", "-m", decided.measure, *words.pair, *claim, "-o", "report.html"))
    return commands


def choose_sum(measure: str) -> str:
    """The measure itself if gold on single documents corrects it, else a similar measure that it corrects."""
    parsed = parse_measure(measure)
    family = find_family(parsed)
    return measure if family.weights or family.curve else f"DCG@{parsed.cutoff or DEPTH}"
