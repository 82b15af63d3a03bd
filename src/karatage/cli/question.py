"""What `compare`, `report` and `plan` ask: options of the question, and figures instead of files."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from karatage.cli.options import AT_LEAST_0, complete, list_measures, list_models
from karatage.cli.parsing import make_options, name_option
from karatage.data.options import Figures, RateCounts
from karatage.decisions.estimators.registry import list_names
from karatage.decisions.question import Question
from karatage.errors import DataError, OptionError
from karatage.text import shorten

if TYPE_CHECKING:
    from typing import Any


FIGURES_FORM = "topics,mean,deviation, e.g. 50,0.527,0.240"
RATES_FORM = "right/all of relevant and of other gold items, e.g. 43/59,67/84"
NEEDED = "figures need all of --figures-a, --figures-b and --rates"


def make_question_options(*skip: str) -> Any:
    """The options of a question, less those that the command does not have."""
    return make_options(
        Question,
        skip=skip,
        measure=Annotated[str, complete(list_measures)],
        approach=complete(list_models),
        correction=(
            complete(lambda: list(list_names())),
            Parameter(help=f"How errors are undone: {', '.join(list_names())}; auto: as the gold's design allows."),
        ),
        seed=AT_LEAST_0,
    )


@dataclass(frozen=True, kw_only=True)
class TypedFigures:
    """Figures instead of files.

    Args:
        figures_a: Instead of files: topics,mean,deviation of a's P@k.
        figures_b: The same for b.
        rates: Judges right about relevant, other gold items: 43/59,67/84.
        rates_b: The same for b, had it other judges.
    """

    figures_a: str | None = None
    figures_b: str | None = None
    rates: str | None = None
    rates_b: str | None = None

    @property
    def given(self) -> list[str]:
        """Options that were used."""
        return [name_option(field.name) for field in fields(self) if getattr(self, field.name) is not None]

    def parse(self, need: str = NEEDED) -> tuple[Figures, Figures, RateCounts, RateCounts | None]:
        """Figures of both systems and rates of their judges; the last are None where b has the same judges."""
        if self.figures_a is None or self.figures_b is None or self.rates is None:
            raise OptionError(need)
        return (
            parse_figures(self.figures_a, "--figures-a"),
            parse_figures(self.figures_b, "--figures-b"),
            parse_rates(self.rates, "--rates"),
            None if self.rates_b is None else parse_rates(self.rates_b, "--rates-b"),
        )


def parse_figures(text: str, option: str) -> Figures:
    """Read `topics,mean,deviation`.

    >>> parse_figures("50,0.527,0.240", "--figures-a")
    Figures(topics=50, mean=0.527, deviation=0.24)
    """
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


def require_files(command: str, runs: tuple[str, ...], judgments: tuple[str, ...], more: str = "") -> None:
    """Both are needed to compare systems."""
    if not runs or not judgments:
        lacking = "judgments" if runs else "runs"
        raise OptionError(f"no {lacking} were given, e.g. karatage {command}{more}")
