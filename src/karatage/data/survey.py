"""All that a report holds: the decision, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from karatage.data.audit import Audit
from karatage.data.board import Board
from karatage.data.calibration import Calibration
from karatage.data.checks import COUNT, TEXT, require_known, require_table
from karatage.data.comparison import Comparison
from karatage.data.diagnosis import Diagnosis
from karatage.data.evaluation import Evaluation
from karatage.data.note import Note
from karatage.data.result import Result
from karatage.errors import DataError

COUNTS = {"what": TEXT, "number": COUNT, "detail": TEXT}


@dataclass(frozen=True, eq=False, kw_only=True)
class Survey(Result, kind="survey"):
    """What `report` found: the decision, and what it rests on."""

    measure: str
    comparison: Comparison | None  # of the two systems asked about
    board: Board | None  # of all systems, where there are more than two
    evaluation: Evaluation  # approaches side by side, with gold's leaderboard where gold can rank systems by itself
    audit: Audit
    calibration: Calibration | None
    diagnosis: Diagnosis  # what the data allow, and what weakens it
    counts: pl.DataFrame  # what, number, detail: the data in figures
    refused: Mapping[str, str]  # part of the survey -> why it could not be made
    seed: int
    versions: Mapping[str, str]
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse parts that are missing, or not about the same measure and systems."""
        if self.comparison is None and self.board is None:
            raise DataError("there is neither a comparison nor a board, so nothing was decided")
        require_table("counts", self.counts, COUNTS)
        for part in (self.comparison, self.board):
            if part is not None and part.measure != self.measure:
                raise DataError(f"{part.to_dict()['kind']}: the measure is not the one of the survey")
        if self.comparison is not None:
            require_known("comparison", (self.comparison.a, self.comparison.b), self.evaluation.systems, "systems")
        if self.board is not None:
            require_known("board: systems", self.board.systems, self.evaluation.systems, "systems")

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
        """That of the decision."""
        return self.decision.to_frame()
