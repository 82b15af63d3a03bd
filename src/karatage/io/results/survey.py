"""Surveys, read back: a result that holds others."""

from __future__ import annotations

from karatage.data.entries import Entries
from karatage.data.from_json import read_table
from karatage.data.survey import Survey
from karatage.io.results import audit, board, calibration, comparison, diagnosis, evaluation


def read(entries: Entries) -> Survey:
    """What `Survey.to_dict` says."""
    two, all_systems = entries.object_or_none("comparison"), entries.object_or_none("board")
    calibrated = entries.object_or_none("calibration")
    return Survey(
        measure=entries.text("measure"),
        comparison=None if two is None else comparison.read(two),
        board=None if all_systems is None else board.read(all_systems),
        evaluation=evaluation.read(entries.object("evaluation")),
        audit=audit.read(entries.object("audit")),
        calibration=None if calibrated is None else calibration.read(calibrated),
        diagnosis=diagnosis.read(entries.object("diagnosis")),
        counts=read_table(entries, "counts"),
        refused=entries.object("refused").all_texts(),
        seed=entries.whole("seed"),
        versions=entries.object("versions").all_texts(),
        notes=entries.texts("notes"),
    )
