"""Checks that several models' options share."""

from __future__ import annotations

import math

from karatage.errors import DataError, OptionError


def check_counts(prior: tuple[float, float] | None) -> None:
    """Counts to add to a judge's matrix."""
    if prior is not None and (len(prior) != 2 or not all(0 <= count < math.inf for count in prior)):
        raise OptionError(f"prior {prior} must be two counts from 0, like (0.5,3), or none")


def check_beta(prior: tuple[float, float], classes: float) -> None:
    """A prior whose mode lies inside."""
    if len(prior) != 2 or not all(1 <= count < math.inf for count in prior):
        raise OptionError(f"prior {prior} must be the two parameters of a Beta prior, from 1, like (7,3)")
    if not 1 <= classes < math.inf:
        raise OptionError(f"classes {classes} must be a Dirichlet parameter from 1")


def check_dialect(dialect: str | None, *known: str) -> None:
    """A dialect that exists."""
    if dialect is not None and dialect not in known:
        raise OptionError(f"dialect '{dialect}' is none of {', '.join(known)}; leave it out for the model's own form")


def need_gold(name: str, supervision: str) -> None:
    """Refuse to go on without gold."""
    if supervision == "none":
        raise OptionError(
            f"{name} learns its judges from gold, so it needs gold and supervision 'light' or 'full'; "
            "without gold, use ds, zc or ry"
        )


def need_binary(name: str, grades: int) -> None:
    """Refuse anything but two grades."""
    if grades != 2:
        raise DataError(
            f"{name} knows grades 0 and 1 only, but these go up to {grades - 1}; merge grades when reading, "
            "or leave the dialect out"
        )
