"""`diagnose`: what a set of files is fit for."""

from __future__ import annotations

from karatage.data.diagnosis import Check, Diagnosis
from karatage.data.runs import Runs
from karatage.data.versions import list_versions
from karatage.decisions.diagnosis.commands import Words, suggest
from karatage.decisions.diagnosis.conclusions import decide, list_impossible, list_possible
from karatage.decisions.diagnosis.decision import check_decision, check_prospect
from karatage.decisions.diagnosis.evidence import Evidence
from karatage.decisions.diagnosis.judges import check_judges
from karatage.decisions.diagnosis.pool import check_pool, tabulate_systems
from karatage.decisions.diagnosis.prospects import look_ahead, tabulate_prospects
from karatage.decisions.diagnosis.rankings import check_runs
from karatage.decisions.diagnosis.reading import Sources, read_files
from karatage.decisions.diagnosis.trust import check_gold
from karatage.decisions.material import Material
from karatage.decisions.question import Question
from karatage.errors import OptionError, UnknownNameError
from karatage.measures.spec import Measure


def diagnose(
    runs: object = None,
    judgments: object = None,
    gold: object = None,
    measure: str | Measure | Question = "P@10",
    *,
    a: str | None = None,
    b: str | None = None,
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
    """
    sources = Sources(runs=runs, judgments=judgments, gold=gold)
    return examine(sources, Question.of(measure), a=a, b=b)


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
    evidence = Evidence(
        runs=files.runs,
        judgments=files.judgments,
        gold=files.gold,
        material=material,
        listings=files.listings,
        question=question,
        pair=pair,
        unread=files.unread,
    )
    comparable = evidence.meets and evidence.runs is not None and len(evidence.runs.systems) > 1
    prospects = look_ahead(evidence) if comparable else []
    checks = (
        *files.checks,
        *unknown,
        *check_runs(evidence),
        *check_pool(evidence),
        *check_judges(evidence),
        *check_gold(evidence),
        *check_decision(evidence),
        *(check for asked in prospects[:1] for check in check_prospect(evidence, asked)),
    )
    wrong = any(check.state == "wrong" for check in checks)
    given = tuple(part for part in (files.judgments, files.gold) if part is not None)
    return Diagnosis(
        measure=str(question.parsed),
        pair=pair,
        checks=checks,
        systems=tabulate_systems(evidence),
        measures=tabulate_prospects(prospects),
        can=tuple(list_possible(evidence, prospects)),
        cannot=tuple(list_impossible(evidence, prospects)),
        commands=tuple(suggest(evidence, Words.of(sources, pair), prospects, wrong=wrong)),
        verdict=decide(evidence, prospects),
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
