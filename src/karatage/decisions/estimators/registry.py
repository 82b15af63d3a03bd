"""The estimators there are, by name; the first one that suits the gold is the default."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from karatage.errors import DataError, OptionError, UnknownNameError

if TYPE_CHECKING:
    from karatage.data.note import Note
    from karatage.decisions.case import Case
    from karatage.decisions.estimators.contract import Estimator

AUTO = "auto"  # the one that gold's design calls for

_registered: dict[str, Estimator | str] = {  # module:object is imported when it is needed; help needs only the names
    "rates": "rates:RATES",
    "sampled": "drawn:DRAWN",
    "even": "drawn:EVEN",
    "census": "whole_topics:CENSUS",
    "topics": "whole_topics:WHOLE_TOPICS",
    "gold-topics": "whole_topics:GOLD_TOPICS",
}


def register(estimator: Estimator) -> None:
    """Offer an estimator wherever a correction can be named."""
    if estimator.name in list_names():
        raise OptionError(f"an estimator '{estimator.name}' is registered already; give this one another name")
    _registered[estimator.name] = estimator


def unregister(name: str) -> None:
    """Offer it no more."""
    del _registered[find(name).name]


def find(name: str) -> Estimator:
    """The estimator of a name."""
    if name not in _registered:
        raise UnknownNameError("estimator", name, tuple(_registered))
    found = _registered[name]
    if isinstance(found, str):
        module, _, own = found.partition(":")
        found = _registered[name] = getattr(import_module(f"{__package__}.{module}"), own)
    return found


def list_estimators() -> tuple[Estimator, ...]:
    """All of them, in the order in which they were registered."""
    return tuple(map(find, _registered))


def list_names() -> tuple[str, ...]:
    """What a question's `correction` may be."""
    return (AUTO, *_registered)


def choose(case: Case) -> tuple[Estimator, tuple[Note, ...]]:
    """The estimator asked for, or the one that gold's design calls for; and why, where that is worth a note."""
    if case.question.correction != AUTO:
        return find(case.question.correction), ()
    for estimator in list_estimators():
        if estimator.suits(case):
            return estimator, estimator.explain_choice(case)
    raise DataError("no estimator takes this gold by default; name one as the correction")
