"""The approaches that an experiment sets against each other, by how they merge a k-tuple of judges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from karatage.aggregation.registry import MODELS, NamedModel, parse_model
from karatage.approaches.downstream import Aware
from karatage.approaches.registry import APPROACHES, EXPECTED, JUDGE, resolve_approaches
from karatage.errors import OptionError, UnknownNameError
from karatage.merging.estimators import ESTIMATORS, OWN, OWN_REPLICATES, Estimator
from karatage.text import shorten

UNIFORM = "uniform"
GROUPS = {"all30": tuple(ESTIMATORS), "own": tuple(OWN)}
MERGED_GRADES, OWN_CHANCE, SEVERAL_MEASURES = "grades merged", "own chance", "several measures"


@dataclass(frozen=True)
class Contender:
    """An approach that merges grades (by `model`) or scores (weighing by `estimator`, or all judges alike)."""

    name: str
    model: NamedModel | None = None
    estimator: Estimator | None = None
    measures: tuple[str, ...] = ()  # whose weights are averaged; none: the measure that is being taken

    @property
    def family(self) -> str:
        """What it is shown together with."""
        if self.model is not None:
            return MERGED_GRADES
        if self.estimator is None:
            return UNIFORM
        if self.measures:
            return SEVERAL_MEASURES
        return OWN_CHANCE if self.estimator.own else f"{self.estimator.granularity} {self.estimator.gap}"

    @property
    def merges_scores(self) -> bool:
        """Whether scores are merged, and not grades."""
        return self.model is None


def find_contenders(names: Iterable[str], *, replicates: int) -> tuple[Contender, ...]:
    """Approaches by name or group (`all30`, `own`), each once.

    `replicates` is for estimators whose name says nothing of it; those that draw for each judge take 100 at most.
    """
    found: dict[str, Contender] = {}
    for name in names:
        for member in GROUPS.get(name, (name,)):
            contender = _find(member.strip(), replicates)
            found.setdefault(contender.name, contender)
    if not found:
        raise OptionError("no approach was given")
    return tuple(found.values())


def _find(name: str, replicates: int) -> Contender:
    word = name.partition("(")[0].strip()
    if name == UNIFORM:
        return Contender(UNIFORM)
    if word in MODELS:
        named = parse_model(name)
        if named.needs_gold or named.supervision not in (None, "none"):
            raise OptionError(f"{shorten(name)} learns from gold, which here is only compared with; leave it out")
        if named.expected:
            raise _refuse_expected(name)
        return Contender(named.name, model=named)
    if name.isidentifier() and name not in APPROACHES:
        raise UnknownNameError("approach", name, [*GROUPS, *APPROACHES])
    if name.startswith(EXPECTED):
        raise _refuse_expected(name)
    if not name.startswith(JUDGE):
        ((printed, approach),) = resolve_approaches([name], ())
        if isinstance(approach, Aware):
            estimator = approach.estimator
            if "replicates" not in name:
                most = min(replicates, OWN_REPLICATES) if estimator.own else replicates
                estimator = replace(estimator, replicates=most)
            return Contender(printed, estimator=estimator, measures=approach.measures)
    raise OptionError(
        f"approach '{shorten(name)}' is none that merges a k-tuple's grades or scores without gold; "
        "ask for all30, own, uniform, mv, emmv, emneu or the like"
    )


def _refuse_expected(name: str) -> OptionError:
    elsewhere = "those are tried by karatage experiment random-relevance"
    return OptionError(
        f"approach '{shorten(name)}' merges grades into probabilities for expected measures; {elsewhere}"
    )
