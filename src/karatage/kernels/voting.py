"""Posteriors of items from votes, where each judge has a table log p(said | grade).

Rows are compressed: item i has rows `start[i]:start[i+1]`. Tables are flat: what concerns a row begins at its place,
`(judge * grades + said) * grades`, with one number for each grade.
One pass over the rows finds the posteriors and at once counts them for the next step, so rows are read from memory
once per iteration. Each block of items has separate tables, which are added in order, so that the result does not
depend on the number of threads.

Logarithms are slow, so the likelihoods of an item's votes are multiplied. Only where the product is near underflow, its
logarithm is computed as a sum.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import FloatArray, GradeArray, IntArray, LongArray, kernel
from karatage.memory import spread

MOST_BLOCKS = 8
ROWS_PER_BLOCK = 50_000
TOO_SMALL = 1e-250  # an item's likelihood below this is found in log space
SMALL = 1e-50  # a product of likelihoods below this is turned into its logarithm


class Rows(NamedTuple):
    """Compressed rows, the prior that each item has, and the grades that are known (-1 = not)."""

    start: LongArray  # (item + 1,)
    judge: IntArray  # (row,)
    said: GradeArray  # (row,)
    group: IntArray  # (item,)
    known: GradeArray  # (item,)
    answered: FloatArray  # (judge, said) how often

    @property
    def places(self) -> Places:
        """Where each row's part of a flat table begins."""
        return Places(
            self.start.view(np.uint64),
            _find_places(self.judge, self.said, self.answered.shape[1]),
            self.group.view(np.uint32),
            self.known,
        )


class Places(NamedTuple):
    """Rows by where their part of a flat table begins; unsigned, so that a kernel need not check for negative ones."""

    start: NDArray[np.uint64]
    place: NDArray[np.uint32]
    group: NDArray[np.uint32]
    known: GradeArray


class Expected(NamedTuple):
    """Counts under the posteriors, the log-likelihood, and how far the farthest posterior moved."""

    classes: FloatArray  # (group, grade)
    answers: FloatArray  # (judge, said, grade)
    log_likelihood: float
    change: float


def expect(
    rows: Rows,
    prior: FloatArray,
    answer: FloatArray,
    hard: bool,
    probability: FloatArray,
    places: Places | None = None,
) -> Expected:
    """E-step: overwrite `probability` (item, grade).

    `prior` (group, grade) and `answer` (judge, said, grade) are logarithms. With `hard` the most
    likely grade of an item, the lowest of equals, has probability 1. For many passes, compute `rows.places` once.
    """
    judges, grades = answer.shape[:2]
    log_table = np.ascontiguousarray(answer).reshape(-1)
    shares, table = np.exp(prior), np.exp(log_table)
    blocks = divide(rows.start, table.nbytes)
    answers = np.zeros((len(blocks), judges * grades * grades))
    classes = np.zeros((len(blocks), *prior.shape))
    block = _expect_binary_block if grades == 2 else _expect_block
    found_places = rows.places if places is None else places

    def work(b: int) -> tuple[float, float]:
        return block(
            *found_places, shares, table, prior, log_table, *blocks[b], hard, probability, answers[b], classes[b]
        )

    found = spread(work, range(len(blocks)))
    total = np.add.reduce(answers).reshape(judges, grades, grades)
    total[:, :, 0] = np.maximum(rows.answered - total[:, :, 1:].sum(axis=2), 0.0)  # kernels count the other grades only
    return Expected(np.add.reduce(classes), total, sum(f[0] for f in found), max(f[1] for f in found))


def count(rows: Rows, groups: int, probability: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Counts by (group, grade) and (judge, said, grade) under given posteriors; known grades count as known."""
    judges, grades = rows.answered.shape
    answers = np.zeros(judges * grades * grades)
    classes = np.zeros((groups, grades))
    _count_block(*rows.places, probability, answers, classes)
    return classes, answers.reshape(judges, grades, grades)


def divide(start: LongArray, table_bytes: int) -> list[tuple[int, int]]:
    """Runs of items with about as many rows each. The tables of all blocks must not take more memory than the rows."""
    items, rows = len(start) - 1, int(start[-1])
    blocks = max(1, min(MOST_BLOCKS, rows // ROWS_PER_BLOCK, rows * 8 // max(table_bytes, 1)))
    edge = np.searchsorted(start, np.arange(1, blocks) * rows // blocks)
    edges = [0, *(int(e) for e in edge), items]
    return [(low, high) for low, high in pairwise(edges) if high > low] or [(0, 0)]


@kernel
def _expect_block(
    start: NDArray[np.uint64],
    place: NDArray[np.uint32],
    group: NDArray[np.uint32],
    known: GradeArray,
    shares: FloatArray,
    table: FloatArray,
    log_prior: FloatArray,
    log_table: FloatArray,
    first: int,
    last: int,
    hard: bool,
    probability: FloatArray,
    answers: FloatArray,
    classes: FloatArray,
) -> tuple[float, float]:
    grades = shares.shape[1]
    belief = np.empty(grades)
    log_likelihood = 0.0
    product = 1.0
    change = 0.0
    for i in range(first, last):
        low, high = start[i], start[i + 1]
        total = 0.0
        for k in range(grades):
            likelihood = shares[group[i], k]
            for row in range(low, high):
                likelihood *= table[place[row] + np.uint64(k)]
            belief[k] = likelihood
            total += likelihood
        if hard or known[i] >= 0 or total < TOO_SMALL:
            log_likelihood += _believe_in_logs(start, place, group, known, log_prior, log_table, i, hard, belief)
        else:
            share = 1 / total
            for k in range(grades):
                belief[k] *= share
            product *= total
            if product < SMALL:
                log_likelihood += math.log(product)
                product = 1.0
        for k in range(grades):
            p = belief[k]
            change = max(change, abs(p - probability[i, k]))
            probability[i, k] = p
            classes[group[i], k] += p
            if k > 0:
                for row in range(low, high):
                    answers[place[row] + np.uint64(k)] += p
    return log_likelihood + math.log(product), change


@kernel
def _expect_binary_block(
    start: NDArray[np.uint64],
    place: NDArray[np.uint32],
    group: NDArray[np.uint32],
    known: GradeArray,
    shares: FloatArray,
    table: FloatArray,
    log_prior: FloatArray,
    log_table: FloatArray,
    first: int,
    last: int,
    hard: bool,
    probability: FloatArray,
    answers: FloatArray,
    classes: FloatArray,
) -> tuple[float, float]:
    """The same for two grades, kept in registers."""
    belief = np.empty(2)
    log_likelihood = 0.0
    product = 1.0
    change = 0.0
    for i in range(first, last):
        low, high = start[i], start[i + 1]
        no, yes = shares[group[i], 0], shares[group[i], 1]
        for row in range(low, high):
            no *= table[place[row]]
            yes *= table[place[row] + np.uint64(1)]
        total = no + yes
        if hard or known[i] >= 0 or total < TOO_SMALL:
            log_likelihood += _believe_in_logs(start, place, group, known, log_prior, log_table, i, hard, belief)
            no, yes = belief[0], belief[1]
        else:
            share = 1 / total
            no, yes = no * share, yes * share
            product *= total
            if product < SMALL:
                log_likelihood += math.log(product)
                product = 1.0
        change = max(change, abs(yes - probability[i, 1]))
        probability[i, 0], probability[i, 1] = no, yes
        classes[group[i], 0] += no
        classes[group[i], 1] += yes
        for row in range(low, high):
            answers[place[row] + np.uint64(1)] += yes
    return log_likelihood + math.log(product), change


@kernel
def _believe_in_logs(
    start: NDArray[np.uint64],
    place: NDArray[np.uint32],
    group: NDArray[np.uint32],
    known: GradeArray,
    log_prior: FloatArray,
    log_table: FloatArray,
    i: int,
    hard: bool,
    belief: FloatArray,
) -> float:
    """Write the posterior of item i into the last argument, and return the item's log-likelihood."""
    grades = len(belief)
    for k in range(grades):
        belief[k] = log_prior[group[i], k]
    for row in range(start[i], start[i + 1]):
        for k in range(grades):
            belief[k] += log_table[place[row] + np.uint64(k)]
    best = 0
    for k in range(1, grades):
        if belief[k] > belief[best]:
            best = k
    if known[i] >= 0:
        best = known[i]
    top = belief[best]
    if hard or known[i] >= 0:
        for k in range(grades):
            belief[k] = 1.0 if k == best else 0.0
        return float(top)
    total = 0.0
    for k in range(grades):
        belief[k] = np.exp(belief[k] - top)
        total += belief[k]
    for k in range(grades):
        belief[k] /= total
    return float(top + np.log(total))


@kernel
def converge(
    start: NDArray[np.uint64],
    place: NDArray[np.uint32],
    known: GradeArray,
    items: tuple[int, int],
    cells: tuple[int, int],
    unheard: FloatArray,
    max_steps: int,
    tolerance: float,
    probability: FloatArray,
    answers: FloatArray,
    table: FloatArray,
    classes: FloatArray,
) -> tuple[FloatArray, bool]:
    """EM by maximum likelihood on the items of one topic, in which a count of 0 is a probability of 0.

    `cells` are the topic's part of the flat `answers` and `table`; `classes` and `unheard` (grade,) are the topic's.
    Begins with counts in `answers` and `classes`, and overwrites them, `probability` and `table`. Returns the
    log-likelihood after each step, and whether the posteriors converged.

    No item has likelihood 0: its posterior is in the counts, so that the grade it had remains possible.
    """
    grades = classes.size
    shares, belief = np.empty(grades), np.empty(grades)
    trace = np.zeros(16)
    step, converged = 0, False
    while step < max_steps and not converged:
        _divide(answers[cells[0] : cells[1]], table[cells[0] : cells[1]], grades)
        shares[:] = classes + unheard
        shares /= max(shares.sum(), TOO_SMALL)
        answers[cells[0] : cells[1]] = 0.0
        classes[:] = 0.0
        log_likelihood, product, change = 0.0, 1.0, 0.0
        for k in range(grades):
            if unheard[k] > 0:
                log_likelihood += unheard[k] * math.log(shares[k])
        for i in range(items[0], items[1]):
            low, high = start[i], start[i + 1]
            total = 0.0
            if grades == 2:  # in registers
                no, yes = shares[0], shares[1]
                for row in range(low, high):
                    no *= table[place[row]]
                    yes *= table[place[row] + np.uint64(1)]
                belief[0], belief[1], total = no, yes, no + yes
            else:
                for k in range(grades):
                    likelihood = shares[k]
                    for row in range(low, high):
                        likelihood *= table[place[row] + np.uint64(k)]
                    belief[k] = likelihood
                    total += likelihood
            if known[i] >= 0 or total < TOO_SMALL:
                log_likelihood += _believe_exactly(start, place, known, shares, table, i, belief)
            else:
                for k in range(grades):
                    belief[k] /= total
                product *= total
                if product < SMALL:
                    log_likelihood += math.log(product)
                    product = 1.0
            for k in range(grades):
                p = belief[k]
                change = max(change, abs(p - probability[i, k]))
                probability[i, k] = p
                classes[k] += p
            if grades == 2:
                no, yes = belief[0], belief[1]
                for row in range(low, high):
                    answers[place[row]] += no
                    answers[place[row] + np.uint64(1)] += yes
            else:
                for k in range(grades):
                    for row in range(low, high):
                        answers[place[row] + np.uint64(k)] += belief[k]
        if step == trace.size:
            trace = np.concatenate((trace, np.zeros(trace.size)))
        trace[step] = log_likelihood + math.log(product)
        step += 1
        converged = change < tolerance
    return trace[:step], converged


@kernel
def _divide(answers: FloatArray, table: FloatArray, grades: int) -> None:
    """Shares of a judge's answers on items of each grade; equal ones where the judge met no item of a grade."""
    for judge in range(0, answers.size, grades * grades):
        for k in range(grades):
            cells = slice(judge + k, judge + grades * grades, grades)
            met = answers[cells].sum()
            table[cells] = 1 / grades
            if met > 0:
                table[cells] = answers[cells] / met


@kernel
def _believe_exactly(
    start: NDArray[np.uint64],
    place: NDArray[np.uint32],
    known: GradeArray,
    shares: FloatArray,
    table: FloatArray,
    i: int,
    belief: FloatArray,
) -> float:
    """The same as `_believe_in_logs` from probabilities, of which some are 0."""
    for k in range(belief.size):
        belief[k] = math.log(shares[k]) if shares[k] > 0 else -math.inf
        for row in range(start[i], start[i + 1]):
            chance = table[place[row] + np.uint64(k)]
            belief[k] += math.log(chance) if chance > 0 else -math.inf
    if known[i] >= 0:
        found = belief[known[i]]
        belief[:] = 0.0
        belief[known[i]] = 1.0
        return float(found)
    top = belief.max()
    belief[:] = np.exp(belief - top)
    total = belief.sum()
    belief[:] = belief / total
    return float(top + math.log(total))


@kernel
def _count_block(
    start: NDArray[np.uint64],
    place: NDArray[np.uint32],
    group: NDArray[np.uint32],
    known: GradeArray,
    probability: FloatArray,
    answers: FloatArray,
    classes: FloatArray,
) -> None:
    grades = probability.shape[1]
    for i in range(start.size - 1):
        for k in range(grades):
            p = probability[i, k]
            if known[i] >= 0:
                p = 1.0 if known[i] == k else 0.0
            classes[group[i], k] += p
            for row in range(start[i], start[i + 1]):
                answers[place[row] + np.uint64(k)] += p


@kernel
def _find_places(judge: IntArray, said: GradeArray, grades: int) -> NDArray[np.uint32]:
    place = np.empty(judge.size, np.uint32)
    for row in range(judge.size):
        place[row] = (judge[row] * grades + said[row]) * grades
    return place


@kernel
def count_answers(judge: IntArray, said: GradeArray, judges: int, grades: int) -> FloatArray:
    """How often each judge said what, (judge, said)."""
    answered = np.zeros((judges, grades))
    for row in range(judge.size):
        answered[judge[row], said[row]] += 1.0
    return answered


@kernel
def count_votes(start: LongArray, said: GradeArray, grades: int) -> FloatArray:
    """Votes for each grade, (item, grade)."""
    votes = np.zeros((start.size - 1, grades))
    for i in range(start.size - 1):
        for row in range(start[i], start[i + 1]):
            votes[i, said[row]] += 1.0
    return votes
