"""The design of the AWARE experiment: approaches and k-tuples [AWARE17]."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from karatage.errors import OptionError, UnknownNameError
from karatage.experiments.plans import check_lists
from karatage.random_streams import settle_seed
from karatage.text import shorten

if TYPE_CHECKING:
    from karatage.aggregation.registry import NamedModel
    from karatage.merging.estimators import Estimator

UNIFORM = "uniform"
GROUPS = ("all30", "own")
MERGED_GRADES, OWN_CHANCE, SEVERAL_MEASURES = "grades merged", "own chance", "several measures"
CLOSENESS, OTHER_RANDOM = "closeness", "other random judges"
MEASURES = ("AP", "nDCG(dcg=jk,base=2)@20", "ERR(gain=5,max=5)@20")
APPROACHES = ("all30", "uniform", "mv", "emmv", "emneu")
LARGEST = 30


@dataclass(frozen=True)
class Contender:
    """An approach that merges grades (by `model`) or scores (with the weights of `estimator`, or equal ones)."""

    name: str
    model: NamedModel | None = None
    estimator: Estimator | None = None
    measures: tuple[str, ...] = ()  # whose weights are averaged; default: the evaluated measure

    @property
    def family(self) -> str:
        """The family with which it is shown."""
        if self.model is not None:
            return MERGED_GRADES
        if self.estimator is None:
            return UNIFORM
        if self.measures:
            return SEVERAL_MEASURES
        if self.estimator.closeness:
            return CLOSENESS
        if self.estimator.other_classes:
            return OTHER_RANDOM
        return OWN_CHANCE if self.estimator.own else f"{self.estimator.granularity} {self.estimator.gap}"

    @property
    def merges_scores(self) -> bool:
        """Whether scores are merged, and not grades."""
        return self.model is None


def find_contenders(names: Iterable[str], *, replicates: int) -> tuple[Contender, ...]:
    """Approaches by name or group (`all30`, `own`), each once.

    `replicates` is for estimators whose name does not set it; those that draw for each judge take 100 at most.
    """
    from karatage.approaches.registry import GROUPS as MEMBERS

    found: dict[str, Contender] = {}
    for name in names:
        for member in MEMBERS[name] if name in GROUPS else (name,):
            contender = _find(member.strip(), replicates)
            found.setdefault(contender.name, contender)
    if not found:
        raise OptionError("no approach was given")
    return tuple(found.values())


def _find(name: str, replicates: int) -> Contender:
    from karatage.aggregation.registry import MODELS, parse_model
    from karatage.approaches.downstream import Aware
    from karatage.approaches.registry import APPROACHES as KNOWN
    from karatage.approaches.registry import EXPECTED, JUDGE, resolve_approaches
    from karatage.merging.estimators import OWN_REPLICATES

    word = name.partition("(")[0].strip()
    if name == UNIFORM:
        return Contender(UNIFORM)
    if word in MODELS:
        named = parse_model(name)
        if named.needs_gold or named.supervision not in (None, "none"):
            told = f"{shorten(name)} learns from gold, which this experiment uses only for comparison"
            raise OptionError(f"{told}; leave it out")
        if named.expected:
            raise _refuse_expected(name)
        return Contender(named.name, model=named)
    if name.isidentifier() and name not in KNOWN:
        raise UnknownNameError("approach", name, [*GROUPS, *KNOWN])
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
        f"approach '{shorten(name)}' does not merge a k-tuple's grades or scores without gold; "
        "use all30, own, uniform, mv, emmv or emneu, for example"
    )


def _refuse_expected(name: str) -> OptionError:
    told = f"approach '{shorten(name)}' merges grades into probabilities for expected measures"
    return OptionError(f"{told}; use karatage experiment random-relevance for those")


@dataclass(frozen=True, kw_only=True)
class AwarePlan:
    """Which approaches are tried, by which measures, on how many judges, how often.

    The default is the paper's design, but with fewer samples and replicates; the paper has 1,000 of each. If there are
    fewer k-tuples than samples, all of them are used.

    Args:
        measures: E.g. P@10, DCG@10, nDCG@20, AP, RBP(p=0.8); may be repeated.
        approaches: An approach or a group of them; may be repeated.
        sizes: Judges in a k-tuple: 2-30, or 2,3,5; default: 2-30, or to one less than there are judges.
        samples: k-tuples drawn of each size.
        replicates: Random judges of each class for the weights.
        seed: Seed of all random numbers.
    """

    measures: tuple[str, ...] = MEASURES
    approaches: tuple[str, ...] = APPROACHES
    sizes: tuple[int, ...] = ()
    samples: int = 100
    replicates: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the options; unknown names are refused before any work."""
        check_lists(measure=self.names)
        if len(set(self.sizes)) < len(self.sizes) or min(self.sizes, default=1) < 1:
            raise OptionError("sizes of k-tuples are whole numbers from 1, each given once")
        if self.samples < 1 or self.replicates < 1:
            raise OptionError("samples and replicates are whole numbers from 1")
        settle_seed(self.seed)
        self.find_contenders()

    @property
    def names(self) -> tuple[str, ...]:
        """Measures by their full names."""
        from karatage.measures.registry import parse_measure

        return tuple(str(parse_measure(name)) for name in self.measures)

    def find_contenders(self) -> tuple[Contender, ...]:
        """The approaches, groups taken apart."""
        return find_contenders(self.approaches, replicates=self.replicates)

    def find_sizes(self, judges: int) -> tuple[int, ...]:
        """The sizes of k-tuples that can be drawn from a number of judges."""
        sizes = tuple(sorted(self.sizes)) or tuple(range(2, min(LARGEST, judges - 1) + 1))
        if not sizes:
            raise OptionError(f"{judges} judges have no smaller panel of two or more; give sizes")
        if sizes[0] > judges:
            raise OptionError(f"k-tuples of {sizes[0]} cannot be drawn from {judges} judges; give smaller sizes")
        return tuple(size for size in sizes if size <= judges)


def label_measures(measures: Sequence[str]) -> dict[str, str]:
    """Short names, as papers print them, if these are unique.

    >>> label_measures(["AP", "nDCG(dcg=jk,base=2)@20"])
    {'AP': 'AP', 'nDCG(dcg=jk,base=2)@20': 'nDCG@20'}
    """
    short = {measure: re.sub(r"\(.*\)", "", measure) for measure in measures}
    return short if len(set(short.values())) == len(short) else {measure: measure for measure in measures}
