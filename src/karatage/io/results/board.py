"""Leaderboards and all their pairs, read back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast, get_args

import numpy as np

from karatage.data.axes import FloatArray, LongArray
from karatage.data.board import Adjust, Board
from karatage.data.entries import Entries
from karatage.data.standing import Differences, Standing
from karatage.errors import DataError
from karatage.io.results.parts import read_accuracy, read_bounded, read_confidence
from karatage.wording import shorten


def read(entries: Entries) -> Board:
    """What `Board.to_dict` says."""
    rows, pairs = entries.objects("systems"), entries.objects("pairs")
    systems = _read_names(rows)
    place = {name: s for s, name in enumerate(systems)}
    a, b = (np.array([_find(row, side, place) for row in pairs], np.int64) for side in ("a", "b"))
    if not np.array_equal((b, a), np.triu_indices(len(systems), 1)):
        raise DataError("pairs are not all those of two systems, in the order of the leaderboard")
    way = entries.text_or_none("correction")
    return Board(
        measure=entries.text("measure"),
        approach=entries.text("approach"),
        claim=entries.text("claim"),
        topics=entries.whole("topics"),
        adjust=cast("Adjust", entries.choice("adjust", get_args(Adjust))),
        confidence=read_confidence(entries),
        systems=systems,
        a=a,
        b=b,
        naive=_read_standing(rows, "judges", "naive"),
        naive_pairs=_read_differences(pairs, "naive", doubted=None),
        corrected=None if way is None else _read_standing(rows, way, "corrected"),
        corrected_pairs=None if way is None else _read_differences(pairs, "corrected", doubted="doubted"),
        groups=tuple(_read_group(entries, k, place) for k in range(len(entries.several("groups")))),
        letters=tuple(row.text("letters") for row in rows),
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


def _read_names(rows: Sequence[Entries]) -> tuple[str, ...]:
    names = tuple(row.text("system") for row in rows)
    if len(names) < 2 or len(set(names)) < len(names):
        raise DataError("systems are two at least, each in one row")
    return names


def _find(row: Entries, name: str, place: dict[str, int]) -> int:
    system = row.text(name)
    if system not in place:
        raise DataError(f"{row.name(name)} is '{shorten(system)}', which is not among the systems")
    return place[system]


def _read_group(entries: Entries, k: int, place: dict[str, int]) -> tuple[int, ...]:
    group = Entries({"groups": entries.several("groups")[k]}, f"groups[{k}]").texts("groups")
    unknown = next((name for name in group if name not in place), None)
    if unknown is not None:
        raise DataError(f"groups[{k}] has '{shorten(unknown)}', which is not among the systems")
    return tuple(place[name] for name in group)


def _gather(rows: Sequence[Entries], prefix: str) -> Callable[[str], FloatArray]:
    return lambda name: np.array([row.real(f"{prefix}_{name}") for row in rows])


def _read_standing(rows: Sequence[Entries], way: str, prefix: str) -> Standing:
    numbers = _gather(rows, prefix)
    rank: LongArray = np.array([row.whole(f"{prefix}_rank", 1) for row in rows], np.int64)
    return Standing(
        way=way,
        value=numbers("score"),
        standard_error=numbers("standard_error"),
        low=numbers("low"),
        high=numbers("high"),
        rank=rank,
    )


def _read_differences(rows: Sequence[Entries], prefix: str, *, doubted: str | None) -> Differences:
    numbers = _gather(rows, prefix)
    return Differences(
        value=numbers("difference"),
        standard_error=numbers("standard_error"),
        low=numbers("low"),
        high=numbers("high"),
        p_value=numbers("p_value"),
        holm=numbers("p_holm"),
        bh=numbers("p_bh"),
        claimed=np.array([row.text_or_none(f"{prefix}_better") is not None for row in rows], bool),
        doubted=np.array([doubted is not None and row.flag(doubted) for row in rows], bool),
    )
