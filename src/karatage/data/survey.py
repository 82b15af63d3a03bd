"""All that can be said of some systems and their judges, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from karatage.data.as_json import plain_rows, plain_types, write_json
from karatage.data.audit import Audit
from karatage.data.board import Board
from karatage.data.calibration import Calibration
from karatage.data.checks import COUNT, TEXT, require_known, require_table
from karatage.data.comparison import Comparison
from karatage.data.diagnosis import Diagnosis
from karatage.data.evaluation import Evaluation
from karatage.data.shown import Shown
from karatage.errors import DataError

COUNTS = {"what": TEXT, "number": COUNT, "detail": TEXT}


@dataclass(frozen=True, eq=False, kw_only=True)
class Survey(Shown):
    """What `survey` found: the decision, and what it rests on."""

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
    notes: tuple[str, ...] = ()

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

    def to_dict(self) -> dict[str, object]:
        """Everything, ready for JSON."""
        return {
            "kind": "survey",
            "measure": self.measure,
            "sentence": self.sentence,
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
            "board": None if self.board is None else self.board.to_dict(),
            "evaluation": self.evaluation.to_dict(),
            "audit": self.audit.to_dict(),
            "calibration": None if self.calibration is None else self.calibration.to_dict(),
            "diagnosis": self.diagnosis.to_dict(),
            "counts": plain_rows(self.counts),
            "types": plain_types({"counts": self.counts}),
            "refused": dict(self.refused),
            "notes": self.notes,
            "seed": self.seed,
            "versions": dict(self.versions),
        }

    def to_json(self) -> str:
        """The same as JSON text."""
        return write_json(self.to_dict())
