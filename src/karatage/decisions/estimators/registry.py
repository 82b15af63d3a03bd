"""The estimators by name; the first one that suits the gold is the default."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from karatage.errors import DataError, OptionError, UnknownNameError

if TYPE_CHECKING:
    from karatage.data.note import Note
    from karatage.decisions.case import Case
    from karatage.decisions.estimators.contract import Estimator

AUTO = "auto"  # chosen by the design of the gold

_registered: dict[str, Estimator | str] = {  # module:object is imported when it is needed; help needs only the names
    "rates": "rates:RATES",
    "judge-rates": "rates:JUDGE_RATES",
    "sampled": "drawn:DRAWN",
    "even": "drawn:EVEN",
    "census": "whole_topics:CENSUS",
    "topics": "whole_topics:WHOLE_TOPICS",
    "gold-topics": "whole_topics:GOLD_TOPICS",
    "guess": "guess:GUESS",
}


def register(estimator: Estimator) -> None:
    """Add an estimator to the choices of `correction`."""
    if estimator.name in list_names():
        raise OptionError(f"an estimator '{estimator.name}' is already registered; give this one another name")
    _registered[estimator.name] = estimator


def unregister(name: str) -> None:
    """Remove an estimator."""
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
    """The choices of a question's `correction`."""
    return (AUTO, *_registered)


def choose(case: Case) -> tuple[Estimator, tuple[Note, ...]]:
    """The estimator asked for, or the default for the design of the gold, with notes on the choice."""
    estimator, notes = _choose(case)
    if case.question.judges != "shared" and not estimator.one_process:
        raise OptionError(
            f"judges '{case.question.judges}' is for one set of error rates for each system (correction rates), "
            f"and not for {estimator.name}; leave it out"
        )
    return estimator, notes


def _choose(case: Case) -> tuple[Estimator, tuple[Note, ...]]:
    if case.question.correction != AUTO:
        return find(case.question.correction), ()
    for estimator in map(find, _registered):  # imports no more than it needs
        if estimator.suits(case):
            return estimator, estimator.explain_choice(case)
    raise DataError("no estimator is the default for this gold; name one as the correction")
