"""The design of the random relevance experiment: approaches, and the certainty of a grade [RANDREL19]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.experiments.plans import check_lists
from karatage.random_streams import settle_seed
from karatage.text import shorten

if TYPE_CHECKING:
    from karatage.aggregation.registry import NamedModel

UNIFORM = "uniform"
MEASURES = ("AP", "DCG(dcg=jk,base=10)", "RBP(p=0.8)")
APPROACHES = ("mv", "emmv", UNIFORM, "binmv", "qbinmv")  # MV, EM, AWARE, BINMV and QBINMV in [RANDREL19] table 2
SIZES = (2, 3, 4, 5, 10, 20, 30)


@dataclass(frozen=True)
class Merge:
    """How a k-tuple's grades become scores: by a model; without one, scores are averaged with equal weights.

    `expected` merges have a probability for each grade, and are scored by expected measures.
    """

    name: str
    model: NamedModel | None = None
    expected: bool = False


@dataclass(frozen=True, kw_only=True)
class RandomRelevancePlan:
    """Which approaches merge how many judges, how often, and how certain a single grade is.

    `certainty` is the probability that a document is relevant if a judge, or randomised gold, grades it as relevant.
    If they grade it as not relevant, the probability is 1 - `certainty`. Sizes must be smaller than the panel; larger
    ones are left out.

    Args:
        measures: E.g. P@10, DCG@10, nDCG@20, AP, RBP(p=0.8); may be repeated.
        approaches: An approach or a group of them; may be repeated.
        sizes: Judges in a k-tuple: 2-30, or 2,3,5.
        samples: k-tuples drawn of each size.
        certainty: How certain a single grade is.
        draws: Simulated grades that check expected measures; 0: none.
        seed: Seed of all random numbers.
    """

    measures: tuple[str, ...] = MEASURES
    approaches: tuple[str, ...] = APPROACHES
    sizes: tuple[int, ...] = SIZES
    samples: int = 10
    certainty: float = 0.95
    draws: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the options; unknown names are refused before any work."""
        from karatage.measures.registry import WITH_EXPECTATION, find_family

        check_lists(measure=self.measures, approach=self.approaches, size=self.sizes)
        for name in self.measures:
            if find_family(name).expected is None:
                offered = ", ".join(WITH_EXPECTATION)
                raise OptionError(f"measure '{shorten(name)}' has no expected form; {offered} have")
        if min(self.sizes) < 1 or self.samples < 1:
            raise OptionError("sizes of k-tuples and samples are whole numbers from 1")
        if not 0.5 < self.certainty <= 1:
            raise OptionError(f"certainty {self.certainty:g} must lie above 0.5 and be at most 1")
        if self.draws < 0 or self.draws == 1:
            raise OptionError(f"draws {self.draws}: give 0 for no check, or at least 2")
        settle_seed(self.seed)
        self.find_merges()

    def find_merges(self) -> tuple[Merge, ...]:
        """The approaches, each once."""
        return tuple({merge.name: merge for merge in map(read_merge, self.approaches)}.values())

    def find_sizes(self, judges: int) -> tuple[int, ...]:
        """The sizes of k-tuples that are smaller than the number of judges."""
        sizes = tuple(size for size in sorted(self.sizes) if size < judges)
        if not sizes:
            raise DataError(f"k-tuples of {min(self.sizes)} or more include all of {judges} judges; give smaller sizes")
        return sizes


def read_merge(name: str) -> Merge:
    """The approach of a name: `uniform`, a model such as `mv`, or `expected:ds` for a model's probabilities."""
    from karatage.aggregation.registry import MODELS, parse_model
    from karatage.approaches.registry import EXPECTED

    if name == UNIFORM:
        return Merge(UNIFORM)
    prefix = EXPECTED if name.startswith(EXPECTED) else ""
    text = name.removeprefix(EXPECTED)
    if text.partition("(")[0].strip() not in MODELS:
        raise UnknownNameError("approach", name, [UNIFORM, *MODELS, f"{EXPECTED}ds", f"{EXPECTED}emmv"])
    model = parse_model(text)
    if model.needs_gold or model.supervision not in (None, "none"):
        told = f"{shorten(name)} learns from gold, which this experiment uses only for comparison"
        raise OptionError(f"{told}; leave it out")
    return Merge(("" if model.expected else prefix) + model.name, model, model.expected or bool(prefix))
