"""The estimators there are, by name; the first one that suits the gold is the default."""

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

AUTO = "auto"  # the one that gold's design calls for

_registered: dict[str, Estimator] = {}


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
    return _registered[name]


def list_estimators() -> tuple[Estimator, ...]:
    """All of them, in the order in which they were registered."""
    return tuple(_registered.values())


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


for _estimator in (RATES, DRAWN, EVEN, CENSUS, WHOLE_TOPICS, GOLD_TOPICS):
    register(_estimator)
