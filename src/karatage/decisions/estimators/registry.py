"""The estimators by name; the first one that suits the gold is the default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.data.note import Note
from karatage.decisions.estimators.contract import Estimator
from karatage.decisions.estimators.drawn import DRAWN, EVEN
from karatage.decisions.estimators.rates import RATES
from karatage.decisions.estimators.whole_topics import CENSUS, GOLD_TOPICS, WHOLE_TOPICS
from karatage.errors import DataError, OptionError, UnknownNameError

if TYPE_CHECKING:
    from karatage.decisions.case import Case

AUTO = "auto"  # chosen by the design of the gold

_registered: dict[str, Estimator] = {}


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
    return _registered[name]


def list_estimators() -> tuple[Estimator, ...]:
    """All of them, in the order in which they were registered."""
    return tuple(_registered.values())


def list_names() -> tuple[str, ...]:
    """The choices of a question's `correction`."""
    return (AUTO, *_registered)


def choose(case: Case) -> tuple[Estimator, tuple[Note, ...]]:
    """The estimator asked for, or the default for the design of the gold, with notes on the choice."""
    if case.question.correction != AUTO:
        return find(case.question.correction), ()
    for estimator in list_estimators():
        if estimator.suits(case):
            return estimator, estimator.explain_choice(case)
    raise DataError("no estimator is the default for this gold; name one as the correction")


for _estimator in (RATES, DRAWN, EVEN, CENSUS, WHOLE_TOPICS, GOLD_TOPICS):
    register(_estimator)
