"""The design of the AWARE experiment: which approaches are tried on which k-tuples [AWARE17]."""

from __future__ import annotations

from dataclasses import dataclass

from karatage.errors import OptionError
from karatage.experiments.aware.contenders import Contender, find_contenders
from karatage.measures.registry import parse_measure

MEASURES = ("AP", "nDCG(dcg=jk,base=2)@20", "ERR(gain=5,max=5)@20")
APPROACHES = ("all30", "uniform", "mv", "emmv", "emneu")
LARGEST = 30


@dataclass(frozen=True, kw_only=True)
class AwarePlan:
    """Which approaches are tried, by which measures, on how many judges, how often.

    By default the paper's design with fewer samples and replicates, of which it has 1,000 each. Where there are fewer
    k-tuples than samples, all of them are taken.

    Args:
        measures: E.g. P@10, DCG@10, nDCG@20, AP, RBP(p=0.8); may be repeated.
        approaches: An approach or a group of them; may be repeated.
        sizes: Judges in a k-tuple: 2-30, or 2,3,5; default: 2-30, or to one less than there are judges.
        samples: k-tuples drawn of each size.
        replicates: Random judges of each class for the weights.
        seed: Seed of everything that is drawn at random.
    """

    measures: tuple[str, ...] = MEASURES
    approaches: tuple[str, ...] = APPROACHES
    sizes: tuple[int, ...] = ()
    samples: int = 100
    replicates: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the options; names must be known before hours are spent."""
        if not self.measures:
            raise OptionError("the plan has no measure; name one at least")
        if len({str(parse_measure(name)) for name in self.measures}) < len(self.measures):
            raise OptionError(f"the plan names a measure twice: {', '.join(self.measures)}")
        if len(set(self.sizes)) < len(self.sizes) or min(self.sizes, default=1) < 1:
            raise OptionError("sizes of k-tuples are whole numbers from 1, each given once")
        if self.samples < 1 or self.replicates < 1:
            raise OptionError("samples and replicates are whole numbers from 1")
        if self.seed < 0:
            raise OptionError(f"a seed is a whole number from 0, not {self.seed}")
        self.find_contenders()

    def find_contenders(self) -> tuple[Contender, ...]:
        """The approaches, groups taken apart."""
        return find_contenders(self.approaches, replicates=self.replicates)

    def find_sizes(self, judges: int) -> tuple[int, ...]:
        """The sizes of k-tuples out of so many judges."""
        sizes = tuple(sorted(self.sizes)) or tuple(range(2, min(LARGEST, judges - 1) + 1))
        if not sizes:
            raise OptionError(f"from {judges} judges no smaller panel of two or more can be drawn; give sizes")
        if sizes[0] > judges:
            raise OptionError(f"k-tuples of {sizes[0]} cannot be drawn from {judges} judges; give smaller sizes")
        return tuple(size for size in sizes if size <= judges)
