"""What `compare`, `report` and `plan` ask: options of the question, and figures instead of files."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from karatage.cli.figures import parse_figures, parse_rates
from karatage.cli.options import AT_LEAST_0, complete, list_measures, list_models
from karatage.cli.parsing import make_options, name_option
from karatage.decisions.estimators.registry import list_names
from karatage.decisions.question import Question
from karatage.errors import OptionError

if TYPE_CHECKING:
    from typing import Any

    from karatage.data.sizing import Figures, RateCounts

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


def require_files(command: str, runs: tuple[str, ...], judgments: tuple[str, ...], more: str = "") -> None:
    """Both are needed to compare systems."""
    if not runs or not judgments:
        lacking = "judgments" if runs else "runs"
        raise OptionError(f"no {lacking} were given, e.g. karatage {command}{more}")
