"""What a report contains: the diagnosis of the files, the decision, and the results it depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, get_args

import polars as pl

from karatage.data.audit import Audit
from karatage.data.board import Board
from karatage.data.calibration import Calibration
from karatage.data.checks import (
    AMOUNT,
    COUNT,
    SHARE,
    TEXT,
    maybe,
    require_known,
    require_names,
    require_numbers,
    require_table,
)
from karatage.data.comparison import Comparison
from karatage.data.evaluation import Evaluation
from karatage.data.note import Note
from karatage.data.records import Study
from karatage.data.result import Result
from karatage.errors import DataError
from karatage.text import counted, end_sentence

State = Literal["ok", "warning", "wrong"]
STATES: tuple[State, ...] = get_args(State)
SYSTEMS = {"system": TEXT, "topics": COUNT, "short": COUNT, "judged": maybe(SHARE)}
MEASURES = {
    "measure": TEXT,
    "way": maybe(TEXT),
    "label": maybe(TEXT),
    "detectable": maybe(AMOUNT),
    "refusal": maybe(TEXT),
}


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check: `wrong` must be corrected, and a `warning` limits the conclusions."""

    optional = ("kind",)

    about: str  # files, runs, pool, judges, gold, decision
    state: State
    finding: str
    advice: str = ""
    kind: str = ""  # about.name; none in files of earlier versions

    def __post_init__(self) -> None:
        """Refuse unknown states."""
        require_known("checks: state", (self.state,), STATES, "states")


@dataclass(frozen=True, eq=False, kw_only=True)
class Diagnosis(Result, kind="diagnosis"):
    """The result of `diagnose`."""

    derived = ("sentence", "state")

    measure: str
    pair: tuple[str, str] | None  # the two systems asked about; None: all systems
    checks: tuple[Check, ...]
    systems: pl.DataFrame  # per system: topics answered, rankings shorter than the depth, share of the depth judged
    measures: pl.DataFrame  # per measure: the correction and the detectable difference, or why there is none
    can: tuple[str, ...]
    cannot: tuple[str, ...]
    commands: tuple[str, ...]  # to type next
    verdict: str  # the answer to the question
    seed: int
    versions: Mapping[str, str]
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse wrong tables, and a wrong pair of systems."""
        require_table("systems", self.systems, SYSTEMS)
        require_table("measures", self.measures, MEASURES)
        require_names("systems", self.systems["system"].to_list(), least=0)
        require_names("measures", self.measures["measure"].to_list(), least=0)
        if self.pair is not None:
            require_names("pair", self.pair, least=2)
            require_numbers("pair", len(self.pair), 2, 2)

    @property
    def state(self) -> State:
        """The worst of all checks."""
        return max((check.state for check in self.checks), key=STATES.index, default="ok")

    def count(self, state: State) -> int:
        """The number of checks with this state."""
        return sum(check.state == state for check in self.checks)

    def to_frame(self) -> pl.DataFrame:
        """One row per check."""
        rows = [asdict(check) for check in self.checks]
        return pl.DataFrame(rows, schema=dict.fromkeys(("about", "state", "finding", "advice"), pl.String))

    @property
    def sentence(self) -> str:
        """What to take away."""
        parts = [self.verdict]
        wrong = [check for check in self.checks if check.state == "wrong"]
        if wrong:
            more = f" (the first of {len(wrong):,})" if len(wrong) > 1 else ""
            parts.insert(0, f"Correct this first{more}: {end_sentence(wrong[0].finding)}")
        elif self.count("warning"):
            verb = "weaken" if self.count("warning") > 1 else "weakens"
            parts.append(f"{counted(self.count('warning'), 'warning')} {verb} the result.")
        return " ".join(part for part in parts if part)


COUNTS = {"what": TEXT, "number": COUNT, "detail": TEXT}


@dataclass(frozen=True, eq=False, kw_only=True)
class Survey(Result, kind="survey"):
    """The result of `report`: the decision, and the results it depends on."""

    measure: str
    comparison: Comparison | None  # of the two systems asked about
    board: Board | None  # of all systems, where there are more than two
    evaluation: Evaluation  # approaches side by side, with gold's leaderboard where gold can rank systems alone
    audit: Audit
    calibration: Calibration | None
    diagnosis: Diagnosis  # which conclusions the data allow
    counts: pl.DataFrame  # what, number, detail: the data in figures
    refused: Mapping[str, str]  # part of the survey -> why it could not be made
    seed: int
    versions: Mapping[str, str]
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse parts that are missing, or not about the same measure and systems."""
        if self.comparison is None and self.board is None:
            raise DataError("a survey needs a comparison or a board, and there is neither")
        require_table("counts", self.counts, COUNTS)
        for part in (self.comparison, self.board):
            if part is not None and part.measure != self.measure:
                raise DataError(f"{part.to_dict()['kind']}: the measure is not the one of the survey")
        if self.comparison is not None:
            require_known("comparison", (self.comparison.a, self.comparison.b), self.evaluation.systems, "systems")
        if self.board is not None:
            require_known("board: systems", self.board.systems, self.evaluation.systems, "systems")

    @property
    def study(self) -> Study | None:
        """What may be added to the judges' record."""
        return self.decision.study

    @property
    def decision(self) -> Comparison | Board:
        """What was asked: the comparison of two systems, or else the leaderboard."""
        decision = self.comparison or self.board
        assert decision is not None
        return decision

    @property
    def sentence(self) -> str:
        """What to take away."""
        return self.decision.sentence

    def to_frame(self) -> pl.DataFrame:
        """The table of the decision."""
        return self.decision.to_frame()
