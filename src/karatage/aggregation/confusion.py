"""What models with a table per judge share: priors, what gold adds to them, what a table implies."""

from __future__ import annotations

import numpy as np

from karatage.aggregation.expectation import Tables, log, normalise
from karatage.aggregation.votes import Votes
from karatage.data.axes import FloatArray
from karatage.data.posterior import JudgeRecord, Posterior
from karatage.errors import OptionError

# Counts added to every judge's matrix, beside the diagonal and on it. A weaker pull falls behind the plain vote where
# judges have ten grades each; a stronger one loses on crowds whose judges are known well.
DIAGONAL = (0.5, 3.0)


def prior_answers(votes: Votes, beside: float, on: float) -> FloatArray:
    """Counts added for every judge, beside the diagonal and on it, (1, said, grade).

    Where gold is given, its judges' pooled matrix takes the diagonal's place, with the same total weight.
    """
    added = np.full((votes.grades, votes.grades), beside)
    np.fill_diagonal(added, on)
    pooled = votes.gold_answers.sum(axis=0).T
    strength = added.sum(axis=0, keepdims=True)
    counts: FloatArray = (strength * normalise(pooled + added, 0))[None]
    return counts


def unheard_classes(votes: Votes) -> FloatArray:
    """Training items by gold's grade, (group, grade), where they are left out of the rows; else those count them."""
    shape = (votes.groups, votes.grades)
    if (votes.rows.known >= 0).any():
        return np.zeros(shape)
    training = np.flatnonzero(votes.gold >= 0)
    group = votes.judgments.item_topic[training] if votes.groups > 1 else np.zeros(len(training), np.int32)
    cell = group * np.int64(votes.grades) + votes.gold[training]
    return np.bincount(cell, minlength=votes.groups * votes.grades).reshape(shape).astype(float)


def begin(votes: Votes, answer: FloatArray) -> FloatArray | Tables:
    """Where to start: every judge as gold's judges are together, by `answer` (said, grade); else the share of votes.

    Inverted votes are another local maximum, from which no step leads to the right one.
    """
    if not votes.gold_answers.any():
        return votes.share()
    prior = np.tile(log(normalise(votes.gold_classes + 1, 0)), (votes.groups, 1))
    return Tables(prior, np.broadcast_to(log(answer), (votes.judges, *answer.shape)))


def recall(history: JudgeRecord | Posterior | None, votes: Votes) -> FloatArray:
    """What each judge answered in earlier batches, (judge, said, grade)."""
    known = np.zeros((votes.judges, votes.grades, votes.grades))
    if history is None:
        return known
    record = history if isinstance(history, JudgeRecord) else JudgeRecord.of(history)
    earlier = record.answers.transpose(0, 2, 1)
    if earlier.shape[1] > votes.grades:
        top = earlier.shape[1] - 1
        raise OptionError(
            f"the history knows grades up to {top}, these judgments up to {votes.grades - 1}; read them "
            f"with grades '0-{top}'"
        )
    place = {name: j for j, name in enumerate(record.judges)}
    for j, name in enumerate(votes.judge_names):
        if name in place:
            known[j, : earlier.shape[1], : earlier.shape[1]] = earlier[place[name]]
    return known


def imply_accuracy(confusion: FloatArray, classes: FloatArray) -> FloatArray:
    """How often a judge would be right, were all grades met as often as `classes` says, (judge,)."""
    accuracy: FloatArray = np.einsum("jkk,k->j", confusion, normalise(classes, 0))
    return accuracy
