"""What to type next, as it can be typed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from karatage.decisions.diagnosis.evidence import Evidence
from karatage.decisions.diagnosis.prospects import DEPTH, Prospect, choose_budget
from karatage.decisions.diagnosis.reading import Sources
from karatage.measures.linear import WEIGHTED
from karatage.measures.spec import parse_measure

STAND_INS = {"runs": "runs", "judgments": "judgments.csv", "gold": "gold.qrels"}


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


def suggest(evidence: Evidence, words: Words, prospects: Sequence[Prospect], *, wrong: bool) -> list[str]:
    """Commands in the order in which they make sense."""
    if wrong:  # nothing can be typed before that is put right
        return []
    measure, commands = str(evidence.question.parsed), []
    if evidence.judgments is not None and (len(evidence.judgments.judges) > 1 or evidence.gold is not None):
        commands.append(words.audit())
    if not evidence.meets or not prospects:
        return commands
    decided = next((p for p in prospects if p.estimator is not None), None)
    claim: tuple[str, ...] = ()
    if prospects[0].these_only:
        decided, claim = prospects[0], ("--claim", "these")
    elif prospects[0].estimator is None:
        planned = choose_sum(measure)
        budget = choose_budget(evidence, planned)
        drawn = ("-m", planned, *words.pair, "--budget", f"{budget}", "-o", "queue.csv")
        commands += [words.ask("plan", *drawn, gold=False)] if budget else []
    if decided is not None:
        commands.append(words.ask("compare", "-m", decided.measure, *words.pair, *claim))
        commands.append(words.ask("report", "-m", decided.measure, *words.pair, *claim, "-o", "report.html"))
    return commands


def choose_sum(measure: str) -> str:
    """The measure itself where gold on single documents corrects it, else the nearest that it does correct."""
    parsed = parse_measure(measure)
    return measure if parsed.name in WEIGHTED else f"DCG@{parsed.cutoff or DEPTH}"


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
