"""`doctor`: what a set of files is fit for, and what to type next."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from karatage.agreement.suspicion import ENOUGH
from karatage.data.alignment import require_readable
from karatage.data.options import show_options
from karatage.data.result import list_versions
from karatage.data.runs import Runs
from karatage.data.survey import Check, Diagnosis
from karatage.decisions.checks import check_gold, check_judges, check_pool, check_runs, tabulate_systems
from karatage.decisions.compare import POWER
from karatage.decisions.estimators.contract import CLAIM_THESE, LEAST_TOPICS
from karatage.decisions.estimators.registry import list_estimators
from karatage.decisions.material import Material
from karatage.decisions.prospects import (
    DEPTH,
    Prospect,
    build_case,
    check_decision,
    check_prospect,
    choose_budget,
    foresee,
    look_ahead,
    name_sameness,
    tabulate_prospects,
)
from karatage.decisions.question import Question, QuestionOptions
from karatage.decisions.reading import Checkup, Sources, read_files
from karatage.errors import KaratageError, OptionError, UnknownNameError
from karatage.measures.registry import find_family, parse_measure
from karatage.measures.spec import Measure
from karatage.text import counted, end_sentence, shorten

STAND_INS = {"runs": "runs", "judgments": "judgments.csv", "gold": "gold.qrels"}


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
    """Check what there is, and say in plain words what can and what cannot be concluded from it.

    A file that cannot be read is told among the checks, and the others are looked at without it.

    Args:
        runs: What systems retrieved: anything that `kt.read_runs` takes, or what it returns.
        judgments: What judges said: anything that `kt.read_judgments` takes, or what it returns.
        gold: Trusted grades: anything that `kt.read_gold` takes, or what it returns.
        measure: The measure by which systems are to be compared, or a `kt.Question`.
        a: One of two systems to compare; default: all of them, or the two there are.
        b: The other.
        options: What else a `kt.Question` says, by the same names.
    """
    require_readable(runs=runs, judgments=judgments, gold=gold)
    sources = Sources(runs=runs, judgments=judgments, gold=gold)
    return examine(sources, Question.of(measure, **options), a=a, b=b)


def examine(
    sources: Sources, question: Question, *, a: str | None, b: str | None, material: Material | None = None
) -> Diagnosis:
    """The same with all that can be said about how files are to be read.

    `material` holds the runs, judgments and gold of the sources where other questions are asked of them too.
    """
    if sources.runs is None and sources.judgments is None and sources.gold is None:
        raise OptionError("there is nothing to look at; name runs, judgments or gold")
    files = read_files(sources, question.parsed.cutoff)
    pair, unknown = _choose_pair(files.runs, a, b)
    if material is None and files.runs is not None and files.judgments is not None:
        material = Material(runs=files.runs, judgments=files.judgments, gold=files.gold)
    checkup = Checkup(
        runs=files.runs,
        judgments=files.judgments,
        gold=files.gold,
        material=material,
        listings=files.listings,
        question=question,
        pair=pair,
        unread=files.unread,
    )
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
    """The two systems asked about, or the two that there are; names that no run has are told as a check."""
    if a is not None and a == b:
        raise OptionError(f"a and b are the same system, '{a}'; name two")
    if runs is None:
        return None, ()
    names = [name for name in (a, b) if name is not None]
    unknown = [name for name in names if name not in runs.systems]
    if unknown:
        finding = f"{UnknownNameError('system', unknown[0], runs.systems)}"
        return None, (Check(about="runs", state="wrong", finding=finding, advice="all systems are looked at instead"),)
    if len(runs.systems) == 2:
        first = a if a is not None else next(name for name in runs.systems if name != b)
        return (first, next(name for name in runs.systems if name != first)), ()
    if len(names) == 1:
        raise OptionError("one of a and b is missing; name both systems, or none to look at all of them")
    return ((names[0], names[1]) if names else None), ()


def list_possible(checkup: Checkup, prospects: Sequence[Prospect]) -> Iterator[str]:
    """What can be concluded."""
    judgments = checkup.judgments
    if judgments is not None:
        several = bool((np.diff(judgments.row_start) > 1).any())
        if several:
            yield f"how far {counted(len(judgments.judges), 'judge')} agree, and one merged grade for each item"
        if int(checkup.shared.sum()) >= ENOUGH:
            yield f"how often judges are right, on {counted(int(checkup.shared.sum()), 'gold item')}"
    if checkup.meets and checkup.runs is not None:
        yield f"the order of {counted(len(checkup.runs.systems), 'system')} by what the judges say, errors included"
    for estimator in list_estimators():
        names = [p.measure for p in prospects if p.estimator is estimator]
        if names:
            yield f"differences between systems in {', '.join(names)}, with judges' errors corrected {estimator.phrase}"
    here = [p.measure for p in prospects if p.these_only]
    if here:
        yield f"differences between systems in {', '.join(here)}, on these topics only (--claim these)"


def list_impossible(checkup: Checkup, prospects: Sequence[Prospect]) -> Iterator[str]:
    """What cannot, and why."""
    judgments = checkup.judgments
    if judgments is None:
        yield f"anything about systems: {checkup.lack('judgments')}"
        return
    if len(judgments.judges) > 1 and not (np.diff(judgments.row_start) > 1).any():
        yield "how far judges agree: no item was graded by two of them"
    if not checkup.shared.any():
        why = checkup.lack("gold") if checkup.gold is None else "gold is about other items"
        yield f"how often judges are right: {why}"
    if checkup.runs is None:
        yield f"anything about systems: {checkup.lack('runs')}"
        return
    if not checkup.meets:
        yield "anything about systems: judgments are about other documents"
        return
    if len(checkup.runs.systems) < 2:
        yield "which system is better: there is one only"
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
        return "Until then it is unknown which system is better."
    if checkup.judgments is None:
        return "Without judgments nothing can be concluded: add the judges' grades with --judgments."
    if checkup.runs is None:
        return _say_judges(checkup)
    if not checkup.meets or len(checkup.runs.systems) < 2:
        return "Nothing can be said yet about which system is better."
    asked = prospects[0]
    same = _find_sameness(checkup)
    who = "two systems" if checkup.pair is None else " and ".join(shorten(name, 24) for name in checkup.pair)
    if same is not None:
        return f"No difference between {who} can show in {asked.measure}: {same}."
    if asked.estimator is not None:
        return _say_ready(checkup, asked, who)
    if checkup.gold is None:
        return f"Claim nothing yet: without gold judges' errors are not corrected. {_foretell(checkup, asked.measure)}"
    refused = f"{asked.measure} cannot be corrected with this gold: {end_sentence(str(asked.refusal))}"
    others = [p.measure for p in prospects if p.estimator is not None]
    if asked.these_only:
        return refused
    if others:
        return f"{refused} It does correct {', '.join(others)}."
    return f"{refused} {_foretell(checkup, asked.measure)}".strip()


def _say_judges(checkup: Checkup) -> str:
    if checkup.shared.any():
        return "Judges can be audited and merged; add runs to say anything about systems."
    return (
        "Grades can be merged and agreement measured, but it is not known which judges are right: add gold, and runs."
    )


def _find_sameness(checkup: Checkup) -> str | None:
    try:
        return name_sameness(build_case(checkup))
    except KaratageError:  # told among the checks
        return None


def _say_ready(checkup: Checkup, asked: Prospect, who: str) -> str:
    if asked.detectable == 0:
        return f"Ready to compare: gold gives {asked.measure} of {who} without error, on {checkup.question.about}."
    if asked.detectable is None:
        return f"Gold tells too little to see any difference in {asked.measure} between {who}: get more of it."
    return (
        f"Ready to compare: a difference in {asked.measure} between {who} of {asked.detectable:.2g} or more would "
        f"show with {POWER:.0%} power, on {checkup.question.about}."
    )


def _foretell(checkup: Checkup, measure: str) -> str:
    planned = choose_sum(measure)
    budget = choose_budget(checkup, planned)
    found = foresee(checkup, planned, budget) if budget else None
    if found is None:
        return f"Judge {LEAST_TOPICS} topics at least, then let karatage plan draw gold; or {CLAIM_THESE}."
    return (
        f"{counted(budget, 'gold label')} drawn by karatage plan would show differences in {planned} of about "
        f"{found:.2g} or more with {POWER:.0%} power."
    )


@dataclass(frozen=True)
class Words:
    """The parts that commands are made of; what is not a file gets a stand-in."""

    runs: tuple[str, ...]
    judgments: tuple[str, ...]
    gold: tuple[str, ...]
    reading: tuple[str, ...]  # options that say how files are read
    pair: tuple[str, ...]

    @staticmethod
    def of(sources: Sources, pair: tuple[str, str] | None) -> Words:
        """As they were given."""
        grades, columns = sources.grades, sources.columns
        options = {
            "--grades": grades[0],
            "--gold-grades": grades[1],
            "--columns": _write_columns(columns[0]),
            "--gold-columns": _write_columns(columns[1]),
            "--repeats": sources.repeats,
        }
        return Words(
            runs=_name(sources.runs, "runs"),
            judgments=_name(sources.judgments, "judgments"),
            gold=_name(sources.gold, "gold"),
            reading=tuple(part for name, value in options.items() if value for part in (name, value)),
            pair=() if pair is None else ("--a", pair[0], "--b", pair[1]),
        )

    def ask(self, verb: str, *options: str, gold: bool = True) -> str:
        """A command about runs."""
        judgments, trusted = _repeat("-j", self.judgments), _repeat("-g", self.gold) if gold else []
        return shlex.join(["karatage", verb, *self.runs, *judgments, *trusted, *options, *self.reading])

    def audit(self) -> str:
        """The command about judges."""
        return shlex.join(["karatage", "audit", *self.judgments, *_repeat("-g", self.gold), *self.reading])


def suggest(checkup: Checkup, words: Words, prospects: Sequence[Prospect], *, wrong: bool) -> list[str]:
    """Commands in the order in which they make sense."""
    if wrong:  # nothing can be typed before that is put right
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
    """The measure itself where gold on single documents corrects it, else the nearest that it does correct."""
    parsed = parse_measure(measure)
    return measure if find_family(parsed).weights else f"DCG@{parsed.cutoff or DEPTH}"


def _name(given: object, kind: str) -> tuple[str, ...]:
    if given is None:
        return ()
    parts = given if isinstance(given, list | tuple) else [given]
    paths = [os.fspath(part) for part in parts if isinstance(part, str | os.PathLike)]
    return tuple(paths) if len(paths) == len(parts) else (STAND_INS[kind],)


def _write_columns(columns: Mapping[str, str] | None) -> str | None:
    return None if columns is None else ",".join(f"{role}={name}" for role, name in columns.items())


def _repeat(option: str, values: Sequence[str]) -> list[str]:
    return [part for value in values for part in (option, value)]
