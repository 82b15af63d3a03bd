"""Figures typed on the command line, where the files behind them are not at hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from karatage.errors import DataError, OptionError
from karatage.text import shorten

if TYPE_CHECKING:
    from karatage.data.sizing import Figures, RateCounts

FIGURES_FORM = "topics,mean,deviation, e.g. 50,0.527,0.240"
RATES_FORM = "right/all of relevant and of other gold items, e.g. 43/59,67/84"


def parse_figures(text: str, option: str) -> Figures:
    """Read `topics,mean,deviation`.

    >>> parse_figures("50,0.527,0.240", "--figures-a")
    Figures(topics=50, mean=0.527, deviation=0.24)
    """
    from karatage.data.sizing import Figures

    parts = text.split(",")
    if len(parts) != 3:
        raise OptionError(f"{option} '{shorten(text)}' has {len(parts)} parts; write it as {FIGURES_FORM}")
    topics = parse_whole(parts[0], option, text, FIGURES_FORM)
    mean, deviation = (parse_number(part, option, text, FIGURES_FORM) for part in parts[1:])
    try:
        return Figures(topics, mean, deviation)
    except DataError as problem:
        raise OptionError(f"{option} '{shorten(text)}': {problem}") from None


def parse_rates(text: str, option: str) -> RateCounts:
    """Read `right/relevant,right/others`.

    >>> parse_rates("43/59,67/84", "--rates")
    RateCounts(right_relevant=43, relevant=59, right_other=67, others=84)
    """
    from karatage.data.sizing import RateCounts

    parts = [share.split("/") for share in text.split(",")]
    if [len(part) for part in parts] != [2, 2]:
        raise OptionError(
            f"{option} '{shorten(text)}' are no two counts of judgments that were right; write them as {RATES_FORM}"
        )
    counts = [parse_whole(number, option, text, RATES_FORM) for part in parts for number in part]
    try:
        return RateCounts(*counts)
    except DataError as problem:
        raise OptionError(f"{option} '{shorten(text)}': {problem}") from None


def parse_numbers(text: str, option: str, form: str) -> tuple[float, float, float]:
    """Read three numbers."""
    parts = text.split(",")
    if len(parts) != 3:
        raise OptionError(f"{option} '{shorten(text)}' has {len(parts)} parts; write it as {form}")
    first, second, third = (parse_number(part, option, text, form) for part in parts)
    return first, second, third


def parse_whole(part: str, option: str, text: str, form: str) -> int:
    """A number of things."""
    if not (part.strip().isascii() and part.strip().isdecimal()):
        raise OptionError(
            f"{option} '{shorten(text)}': '{shorten(part.strip())}' is no whole number; write it as {form}"
        )
    return int(part)


def parse_number(part: str, option: str, text: str, form: str) -> float:
    """Any number but an infinite one."""
    try:
        number = float(part)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise OptionError(f"{option} '{shorten(text)}': '{shorten(part.strip())}' is not a number; write it as {form}")
    return number
