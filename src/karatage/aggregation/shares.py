"""Shares of judges as probabilities, for expected measures: an item's relevance is a binomial variable [RANDREL19]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

import numpy as np

from karatage.aggregation.dawid_skene import DawidSkene
from karatage.aggregation.glad import Glad
from karatage.aggregation.majority import AgreementWeighted
from karatage.aggregation.notes import tell
from karatage.aggregation.ordinal import Ordinal
from karatage.aggregation.reliability import OneCoin, Raykar, ZenCrowd
from karatage.aggregation.variational import Ibcc, Mace
from karatage.aggregation.votes import Progress, Votes, judges_meet
from karatage.data.axes import FloatArray
from karatage.data.judgments import Judgments
from karatage.data.note import Note
from karatage.data.options import Supervision
from karatage.data.posterior import Posterior
from karatage.errors import OptionError

Quality = Literal["ds", "glad", "ibcc", "mace", "onecoin", "ordinal", "ry", "wawa", "zc"]
Consensus = AgreementWeighted | DawidSkene | Glad | Ibcc | Mace | OneCoin | Ordinal | Raykar | ZenCrowd
CONSENSUS: Mapping[Quality, Consensus] = {
    "ds": DawidSkene(),
    "glad": Glad(),
    "ibcc": Ibcc(),
    "mace": Mace(),
    "onecoin": OneCoin(),
    "ordinal": Ordinal(),
    "ry": Raykar(),
    "wawa": AgreementWeighted(),
    "zc": ZenCrowd(),
}
CERTAIN = 1e-9  # agreement by chance nearer to 1 than this leaves nothing to earn


@dataclass(frozen=True, kw_only=True)
class BinomialVote:
    """BINMV: the probability of a grade is the share of the judges who gave it, among those who graded the item.

    With `quality`, a judge's weight is its agreement, beyond chance, with the consensus that this model finds. Each
    judge has one vote for an item, the last one given.
    """

    expected: ClassVar[bool] = True
    name: ClassVar[str] = "binmv"

    quality: Quality | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        if self.quality is not None and self.quality not in CONSENSUS:
            raise OptionError(f"quality '{self.quality}' is none of {', '.join(get_args(Quality))}; leave it out")

    def fit(
        self,
        judgments: Judgments,
        *,
        gold: Judgments | None = None,
        supervision: Supervision = "none",
        rng: int | np.random.Generator | None = None,
        progress: Progress | None = None,
    ) -> Posterior:
        """Count votes, weighted with `quality`."""
        single = replace(judgments.settle(), with_repeats=None)
        votes = Votes.prepare(single, gold, supervision)
        notes = _tell_repeats(self.name, judgments.every, single)
        parameters: dict[str, FloatArray] = {}
        if self.quality is None:
            share = votes.share()
        elif supervision == "none" and not judges_meet(single):
            share, notes = votes.share(), (*notes, tell("alone-weighted"))
        else:
            found = CONSENSUS[self.quality].fit(
                judgments, gold=gold, supervision=supervision, rng=rng, progress=progress
            )
            quality = agree_beyond_chance(single, found.probability)
            share = votes.weigh(quality)
            notes = (*notes, *found.notes, *_tell_weights(f"{self.name}(quality={self.quality})", votes, quality))
            parameters["quality"] = quality
        # A document that nobody graded is not relevant, as everywhere in measures.
        share[np.diff(votes.rows.start) == 0] = np.arange(votes.grades) == 0
        posterior = votes.posterior(self.name, self._shape(share), parameters=parameters)
        return replace(posterior, notes=tuple(dict.fromkeys((*posterior.notes, *notes))))

    def _shape(self, share: FloatArray) -> FloatArray:
        """From shares of votes to probabilities, (item, grade)."""
        return share


@dataclass(frozen=True, kw_only=True)
class QuantisedBinomialVote(BinomialVote):
    """QBINMV: shares are drawn to 0 and 1 by a sigmoid of this `slope`, P(grade >= level) at each level from 1."""

    name: ClassVar[str] = "qbinmv"

    slope: float = 15.0

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        if not 0 < self.slope < math.inf:
            raise OptionError(f"slope {self.slope} must be a number above 0; the steeper, the nearer to a plain vote")

    def _shape(self, share: FloatArray) -> FloatArray:
        """1 / (1 + exp(-slope (p - 1/2))) of each tail; rising in p, so that tails still fall with the level."""
        tail = np.cumsum(share[:, :0:-1], axis=1)[:, ::-1]
        sharp = (1 + np.tanh(self.slope / 2 * (tail - 0.5))) / 2  # the same function, without overflow
        edge = np.ones((len(share), 1))
        probability: FloatArray = np.maximum(-np.diff(np.hstack([edge, sharp, 0 * edge]), axis=1), 0.0)
        return probability


def agree_beyond_chance(judgments: Judgments, probability: FloatArray) -> FloatArray:
    """How far each judge agrees with probabilities (item, grade) of the items, between 0, no more than chance, and 1.

    Cohen's kappa with probabilities on one side: the mean probability of the grade that the judge gave, against what
    the judge's shares of grades and the mean probabilities of the judge's items would give by chance. 0 where chance
    is certain to agree.
    """
    judges, grades = len(judgments.judges), probability.shape[1]
    row = probability[judgments.item]
    heard = np.bincount(judgments.judge, minlength=judges)
    mean = 1 / np.maximum(heard, 1)
    agreed = np.bincount(judgments.judge, row[np.arange(len(row)), judgments.grade], minlength=judges) * mean
    chance = np.zeros(judges)
    for k in range(grades):
        said = np.bincount(judgments.judge, judgments.grade == k, minlength=judges) * mean
        chance += said * np.bincount(judgments.judge, row[:, k], minlength=judges) * mean
    earned = 1 - chance
    kappa = np.where((heard > 0) & (earned > CERTAIN), (agreed - chance) / np.maximum(earned, CERTAIN), 0.0)
    return np.clip(kappa, 0.0, 1.0)


def _tell_repeats(name: str, every: Judgments, single: Judgments) -> tuple[Note, ...]:
    aside = len(every.grade) - len(single.grade)
    return tell.when(aside, "earlier-aside", model=name, grades=aside)


def _tell_weights(name: str, votes: Votes, quality: FloatArray) -> tuple[Note, ...]:
    """Warnings, where weights are 0."""
    if not quality.any():
        return (tell("no-quality", model=name),)
    heard = np.diff(votes.rows.start)
    weight = np.bincount(np.repeat(np.arange(votes.items), heard), quality[votes.rows.judge], minlength=votes.items)
    unheard = int(((weight == 0) & (heard > 0)).sum())
    return tell.when(unheard, "unheard", model=name, items=unheard)
