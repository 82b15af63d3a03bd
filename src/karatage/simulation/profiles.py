"""What simulated collections, judges and systems are like: options, which the command line shows as help."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from karatage.errors import OptionError
from karatage.text import shorten

THRESHOLDS = (0.8, 1.4, 2.0)  # of latent relevance, for grades 1, 2, 3
TOPIC_MEAN, TOPIC_SPREAD = -0.3, 0.3  # of the mean latent relevance of a topic's documents: 15 % are relevant


@dataclass(frozen=True, kw_only=True)
class CollectionShape:
    """What documents, systems and topics are like.

    Systems lie evenly between the worst and the best quality; 0 ranks at random. Difficulty is the standard deviation
    of a topic's noise, which is 1 on average.

    Args:
        documents: Documents of a topic; default: twice the depth of the runs.
        pool: Judge the first ranks of each run only; default: all documents, retrieved or not.
        relevant: Share of relevant documents to be expected; default: about 0.15.
        quality: Quality of the worst and the best system.
        difficulty: How far topics differ; 0: not at all.
        shared: Standard deviation of the error that all judges share, where latent relevance has 1.
    """

    documents: int | None = None
    pool: int | None = None
    relevant: float | None = None
    quality: tuple[float, float] = (0.8, 1.6)
    difficulty: float = 0.5
    shared: float = 0.3

    def __post_init__(self) -> None:
        """Check what can be checked without the runs' depth."""
        worst, best = self.quality
        if not 0 <= worst <= best < math.inf:
            raise OptionError(f"quality ({worst:g}, {best:g}) is not a range; give 0 <= worst <= best")
        if not 0 <= self.difficulty < math.inf:
            raise OptionError(f"difficulty {self.difficulty:g} is not a spread; give 0 (all topics alike) or more")
        if not 0 <= self.shared < math.inf:
            raise OptionError(f"shared {self.shared:g} is not a spread of errors; give 0 (independent errors) or more")
        if self.relevant is not None and not 0 < self.relevant < 1:
            raise OptionError(f"relevant {self.relevant:g} is not a share of documents; give a number between 0 and 1")

    @property
    def topic_mean(self) -> float:
        """The mean latent relevance at which the share of relevant documents is as asked."""
        if self.relevant is None:
            return TOPIC_MEAN
        return THRESHOLDS[0] + math.hypot(1.0, TOPIC_SPREAD) * NormalDist().inv_cdf(self.relevant)


@dataclass(frozen=True)
class JudgeProfile:
    """How a simulated judge errs: own noise, leniency, and share of grades given at random."""

    name: str
    noise: float = 0.5
    leniency: float = 0.0
    random: float = 0.0


@dataclass(frozen=True)
class SystemProfile:
    """How a simulated system ranks: the weight of relevance in its scores, beside noise of 1, and its taste.

    Taste is the correlation of that noise with the error that all judges share: a system with taste finds what judges
    overrate. By gold, it is neither better nor worse for that.
    """

    name: str
    quality: float = 1.2
    taste: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not 0 <= self.quality < math.inf:
            raise OptionError(
                f"quality {self.quality:g} of {shorten(self.name)} is not possible; give 0 (random) or more"
            )
        if not -1 <= self.taste <= 1:
            raise OptionError(f"taste {self.taste:g} of {shorten(self.name)} is not a correlation; give -1 to 1")
