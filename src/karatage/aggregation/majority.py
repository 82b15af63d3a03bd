"""Votes: the most frequent grade wins, with equal judges or weighted by their agreement with the outcome (Wawa)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

import numpy as np

from karatage.aggregation.notes import tell
from karatage.aggregation.votes import Progress, Rng, VoteModel, Votes, normalise, unheard_classes
from karatage.data.axes import BoolArray, FloatArray, GradeArray
from karatage.data.judgments import Judgments
from karatage.data.posterior import Posterior, find_winners
from karatage.errors import OptionError
from karatage.kernels.voting import Rows, count, count_answers, count_votes
from karatage.random_streams import generator

CERTAIN = 1e-9  # agreement by chance nearer to 1 than this leaves nothing to earn
TieRule = Literal["random", "lowest", "highest", "prior", "fractional"]
Adversaries = Literal["keep", "flip", "drop"]
ADVERSARY = "adversary"  # a judge's parameter, 1 or 0
UNLIKELY = 0.05  # to agree so rarely by chance


@dataclass(frozen=True, kw_only=True)
class MajorityVote(VoteModel):
    """Plurality.

    Ties are broken at random with the seed, or go to the lowest, the highest, or the most frequent grade overall (in
    gold, where given). `fractional` gives each tied grade the same probability, instead of its share of votes, and
    breaks the tie at random.
    With `min`, an item is relevant only when at least this many judges gave it a grade above 0.
    `adversaries` are judges who agree with gold less often than by chance (`find_adversaries`); without gold, with the
    majority of the other judges. `flip` exchanges their two grades, `drop` leaves them out.
    """

    name: ClassVar[str] = "mv"

    ties: TieRule = "random"
    min: int = 1
    adversaries: Adversaries = "keep"

    def __post_init__(self) -> None:
        """Check the options."""
        if self.ties not in get_args(TieRule):
            raise OptionError(f"ties '{self.ties}' is not one of {', '.join(get_args(TieRule))}")
        if self.min < 1:
            raise OptionError(f"min {self.min} must be at least 1 vote")
        if self.adversaries not in get_args(Adversaries):
            raise OptionError(f"adversaries '{self.adversaries}' is not one of {', '.join(get_args(Adversaries))}")

    @property
    def learns(self) -> bool:
        """Whether gold of some items changes the grades of others."""
        return self.ties == "prior" or self.adversaries != "keep"

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Count votes; the probability of a grade is its share of them."""
        if self.adversaries == "keep":
            return self._vote(votes, rng)
        if self.adversaries == "flip" and votes.grades > 2:
            raise OptionError(f"mv(adversaries=flip) needs two grades, here are {votes.grades}; use adversaries=drop")
        found = find_adversaries(votes.judgments.every.settle(), votes.gold)
        posterior = self._vote(replace(votes, rows=_treat(votes.rows, found, self.adversaries)), rng)
        note = tell(
            "adversaries",
            did="exchanged the grades of" if self.adversaries == "flip" else "left out",
            judges=int(found.sum()),
            all=len(found),
            source="gold" if (votes.gold >= 0).any() else "the majority of the others",
        )
        return replace(posterior, parameters={ADVERSARY: found.astype(float)}, notes=(note, *posterior.notes))

    def _vote(self, votes: Votes, rng: Rng) -> Posterior:
        counts = _require(votes.count(), self.min) if self.min > 1 else votes.count()
        best: BoolArray = counts == counts.max(axis=1, keepdims=True)
        tied = int(((best.sum(axis=1) > 1) & (votes.rows.known < 0)).sum())
        rule = {"random": "broken at random", "fractional": "broken at random", "prior": "given the more common grade"}
        how = rule.get(self.ties, f"given the {self.ties} grade")
        notes = tell.when(tied, "ties", tied=tied, items=len(counts), rule=how)
        shares = normalise(best.astype(float) if self.ties == "fractional" else counts, 1)
        posterior = votes.posterior("mv", shares, notes=notes)
        decided = posterior.grades.copy()
        open_items = np.flatnonzero(votes.taking_part)
        decided[open_items] = self._decide(counts, best, votes.gold_classes, rng)
        decided[votes.gold >= 0] = votes.gold[votes.gold >= 0]
        return replace(posterior, grades=decided)

    def _decide(
        self, counts: FloatArray, best: BoolArray, known: FloatArray, rng: int | np.random.Generator | None
    ) -> GradeArray:
        if self.ties in {"random", "fractional"}:
            preference = generator(rng).random(best.shape)
        elif self.ties == "prior":
            common = known if known.any() else counts.sum(axis=0)
            preference = np.broadcast_to(common + 1, best.shape)
        else:
            grade = np.arange(1.0, best.shape[1] + 1)
            preference = np.broadcast_to(grade if self.ties == "highest" else 1 / grade, best.shape)
        decided: GradeArray = np.argmax(best * preference, axis=1).astype(np.int8)
        return decided


def _require(counts: FloatArray, least: int) -> FloatArray:
    """Votes above grade 0 count only where there are enough; then grade 0 is out of the question."""
    enough = counts[:, 1:].sum(axis=1) >= least
    required = counts.copy()
    required[enough, 0] = 0.0
    required[~enough, 1:] = 0.0
    required[~enough, 0] = np.maximum(counts[~enough].sum(axis=1), 1.0)
    return required


def find_adversaries(judgments: Judgments, gold: GradeArray) -> BoolArray:
    """Judges who agree with gold less often than by chance, (judge,); without gold, with the majority of the others.

    By chance: if a judge's grades and the grades they are compared with had the same shares, but were independent. An
    adversary has so few agreements, or fewer, with a binomial probability of at most 5%. Judges have one grade for an
    item; items without a majority of the others are left out.
    """
    from scipy.special import bdtr

    judge, said = judgments.judge, judgments.grade.astype(np.int64)
    grades = int(max(judgments.top_grade, gold.max(initial=0))) + 1
    if (gold >= 0).any():
        other = gold[judgments.item].astype(np.int64)
    else:
        votes = count_votes(judgments.row_start, judgments.grade, grades)[judgments.item]
        votes[np.arange(len(said)), said] -= 1
        best = votes == votes.max(axis=1, keepdims=True)
        other = np.where(best.sum(axis=1) == 1, best.argmax(axis=1), -1)
    row = np.flatnonzero(other >= 0)
    table = np.zeros((len(judgments.judges), grades, grades))
    np.add.at(table, (judge[row], said[row], other[row]), 1.0)
    compared = table.sum(axis=(1, 2))
    agreed = np.einsum("jkk->j", table)
    chance = (table.sum(axis=2) * table.sum(axis=1)).sum(axis=1) / np.maximum(compared, 1.0) ** 2
    rarer: BoolArray = agreed < chance * compared
    found: BoolArray = rarer & (bdtr(agreed, compared.astype(np.int64), chance) <= UNLIKELY)
    return found


def _treat(rows: Rows, found: BoolArray, how: Adversaries) -> Rows:
    """Without the grades of these judges, or with each of them exchanged for the other."""
    theirs = found[rows.judge]
    if how == "drop":
        start = np.r_[0, np.cumsum(~theirs)][rows.start]
        judge, said = rows.judge[~theirs], rows.said[~theirs]
    else:
        start, judge, said = rows.start, rows.judge, np.where(theirs, 1 - rows.said, rows.said).astype(np.int8)
    return rows._replace(start=start, judge=judge, said=said, answered=count_answers(judge, said, *rows.answered.shape))


@dataclass(frozen=True, kw_only=True)
class AgreementWeighted(VoteModel):
    """Vote, weight judges by the share of their grades that agree with the vote, and repeat until the vote is stable.

    The published program stops after the first weighted vote (`max_steps=1`). Training items count as gold says.
    """

    name: ClassVar[str] = "wawa"

    max_steps: int = 100

    def __post_init__(self) -> None:
        """Check the options."""
        if self.max_steps < 1:
            raise OptionError(f"max_steps {self.max_steps} must be at least 1")

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Vote until the result is stable; the probability of a grade is its share of the weight."""
        apart = votes.gold_answers if unheard_classes(votes).any() else np.zeros_like(votes.gold_answers)
        before = np.einsum("jkk->j", apart)
        heard = votes.rows.answered.sum(axis=1) + apart.sum(axis=(1, 2))
        share = votes.share()
        winners = find_winners(share)
        trace: list[float] = []
        converged = False
        for step in range(self.max_steps):
            agreed = before + _agree(votes, winners)
            weight = normalise(np.stack([agreed, heard - agreed]), 0)[0]
            share = votes.weigh(weight)
            trace.append(float((agreed * weight).sum() / max(heard.sum(), 1.0)))
            if progress is not None:
                progress(step + 1, trace[-1])
            converged = bool((find_winners(share) == winners).all())
            if converged:
                break
            winners = find_winners(share)
        unsettled = not converged and self.max_steps > 1
        return votes.posterior(
            "wawa",
            share,
            parameters={"accuracy": weight, "weight": weight.copy()},
            trace=np.array(trace),
            converged=converged,
            notes=tell.when(unsettled, "vote-moves", model="wawa", rounds=step + 1),
        )


def _agree(votes: Votes, winners: BoolArray) -> FloatArray:
    """How many of a judge's grades the outcome agrees with; one of m tied grades counts 1/m, (judge,)."""
    answers = count(votes.rows, votes.groups, normalise(winners.astype(float), 1))[1]
    agreed: FloatArray = np.einsum("jkk->j", answers)
    return agreed


def agree_beyond_chance(judgments: Judgments, probability: FloatArray) -> FloatArray:
    """How far each judge agrees with probabilities (item, grade) of the items, between 0, no more than chance, and 1.

    Cohen's kappa with probabilities on one side. Observed: the mean probability of the grade that the judge gave.
    Expected by chance: from the judge's shares of grades and the mean probabilities of the judge's items. 0 where
    chance is certain to agree.
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
