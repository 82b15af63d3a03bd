"""Leaderboards and all their pairs, read back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from karatage.data.axes import FloatArray
from karatage.data.board import Board
from karatage.data.entries import Entries
from karatage.data.method import JUDGES, Method
from karatage.data.standing import Adjust, Differences, Standing
from karatage.io.results.methods import read_method
from karatage.io.results.parts import read_accuracy, read_bounded


def read(entries: Entries) -> Board:
    """What `Board.to_dict` says."""
    rows, pairs = entries.objects("systems"), entries.objects("pairs")
    method = None if entries.get("correction") is None else read_method(entries, "correction")
    return Board(
        measure=entries.text("measure"),
        approach=entries.text("approach"),
        claim=entries.text("claim"),
        topics=entries.whole("topics"),
        adjust=cast("Adjust", entries.text("adjust")),
        confidence=entries.number("confidence"),
        systems=tuple(row.text("system") for row in rows),
        naive=_read_standing(rows, JUDGES, "naive"),
        naive_pairs=_read_differences(pairs, "naive", doubted=None),
        corrected=None if method is None else _read_standing(rows, method, "corrected"),
        corrected_pairs=None if method is None else _read_differences(pairs, "corrected", doubted="doubted"),
        tau=read_bounded(entries.object_or_none("tau")),
        tau_ap=read_bounded(entries.object_or_none("tau_ap")),
        slope=read_bounded(entries.object_or_none("slope")),
        refusal=entries.text_or_none("refusal"),
        gold=entries.text_or_none("gold"),
        accuracy=read_accuracy(entries),
        alarm=entries.text_or_none("alarm"),
        assumed=entries.texts("assumed"),
        seed=entries.whole("seed"),
        versions=entries.object("versions").all_texts(),
        notes=entries.texts("notes"),
    )


def _gather(rows: Sequence[Entries], prefix: str) -> Callable[[str], FloatArray]:
    return lambda name: np.array([row.real(f"{prefix}_{name}") for row in rows])


def _read_standing(rows: Sequence[Entries], method: Method, prefix: str) -> Standing:
    numbers = _gather(rows, prefix)
    return Standing(
        method=method,
        value=numbers("score"),
        standard_error=numbers("standard_error"),
        low=numbers("low"),
        high=numbers("high"),
    )


def _read_differences(rows: Sequence[Entries], prefix: str, *, doubted: str | None) -> Differences:
    numbers = _gather(rows, prefix)
    return Differences(
        value=numbers("difference"),
        standard_error=numbers("standard_error"),
        low=numbers("low"),
        high=numbers("high"),
        p_value=numbers("p_value"),
        claimed=np.array([row.text_or_none(f"{prefix}_better") is not None for row in rows], bool),
        doubted=np.array([doubted is not None and row.flag(doubted) for row in rows], bool),
    )
