"""EM for every model in which a judge is a table log p(said | grade): each brings its own M-step."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from karatage.aggregation.notes import tell
from karatage.aggregation.votes import Votes
from karatage.data.axes import FloatArray
from karatage.data.note import Note
from karatage.errors import OptionError
from karatage.kernels.voting import count, expect

Progress = Callable[[int, float], None]
SMALLEST = 1e-300  # stands for zero, whose logarithm would be infinite


class Tables(NamedTuple):
    """What an M-step finds, as logarithms, and the log density of it under the model's priors."""

    prior: FloatArray  # (group, grade)
    answer: FloatArray  # (judge, said, grade)
    density: float = 0.0


class Counts(NamedTuple):
    """Expected numbers of items by grade, and of answers by what was said and the item's grade; gold included."""

    classes: FloatArray  # (group, grade)
    answers: FloatArray  # (judge, said, grade)


class Fit(NamedTuple):
    """Where EM ended."""

    probability: FloatArray  # (item, grade)
    counts: Counts
    tables: Tables
    trace: FloatArray  # log-likelihood plus log density after each step
    converged: bool


def iterate(
    votes: Votes,
    maximise: Callable[[Counts], Tables],
    start: FloatArray | Tables,
    *,
    max_steps: int,
    tolerance: float,
    hard: bool = False,
    progress: Progress | None = None,
) -> Fit:
    """Alternate M and E from posteriors (item, grade) or tables, until no posterior moves by `tolerance`.

    Posteriors to start from are overwritten.
    """
    if max_steps < 1 or not tolerance >= 0:
        raise OptionError(f"max_steps {max_steps} must be at least 1, and tolerance {tolerance} at least 0")
    trace: list[float] = []
    if isinstance(start, Tables):
        probability = np.zeros((votes.items, votes.grades))
        tables, counts = start, Counts(*expect(votes.rows, start.prior, start.answer, hard, probability)[:2])
    else:
        probability = start
        counts = Counts(*count(votes.rows, votes.groups, probability))
    converged = False
    places = votes.rows.places
    for step in range(max_steps):
        tables = maximise(counts)
        found = expect(votes.rows, tables.prior, tables.answer, hard, probability, places)
        counts = Counts(found.classes, found.answers)
        trace.append(found.log_likelihood + tables.density)
        if progress is not None:
            progress(step + 1, trace[-1])
        converged = found.change < tolerance
        if converged:
            break
    return Fit(probability, counts, tables, np.array(trace), converged)


def log(probability: FloatArray) -> FloatArray:
    """Logarithms that stay finite."""
    return np.log(np.maximum(probability, SMALLEST))


def normalise(counts: FloatArray, axis: int) -> FloatArray:
    """Shares along an axis; equal ones where nothing was counted."""
    total = counts.sum(axis=axis, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1 / counts.shape[axis])


def tell_not_converged(name: str, fit: Fit) -> tuple[Note, ...]:
    """A warning, where EM was stopped before it converged."""
    return tell.when(not fit.converged, "not-converged", model=name, steps=len(fit.trace))
