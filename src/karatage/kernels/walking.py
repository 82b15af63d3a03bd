"""Walks down the runs that depend on answers; features of how runs retrieve documents."""

from __future__ import annotations

import numpy as np

from karatage.kernels.compiling import BoolArray, FloatArray, GradeArray, IntArray, LongArray, kernel


@kernel
def sum_ranks(
    ranked: IntArray, weight: FloatArray, points: LongArray, items: int
) -> tuple[FloatArray, LongArray, LongArray]:
    """Per item over all systems: the sum of `weight[rank]`, of `points[rank]`, and of ranks.

    Ranks count from 0 here, and ranks beyond the end of `weight` are ignored. A system without the item above that
    adds nothing to the first two sums and `len(weight) + 1` to the last.
    """
    depth = min(ranked.shape[2], weight.size)
    worth = np.zeros(items, np.float64)
    score = np.zeros(items, np.int64)
    total = np.full(items, ranked.shape[1] * (weight.size + 1), np.int64)
    for topic in range(ranked.shape[0]):
        for system in range(ranked.shape[1]):
            for rank in range(depth):
                item = ranked[topic, system, rank]
                if item >= 0:
                    worth[item] += weight[rank]
                    score[item] += points[rank]
                    total[item] += rank - weight.size
    return worth, score, total


@kernel
def move_to_front(ranked: IntArray, answer: GradeArray, may_pick: BoolArray, item: LongArray, turn: LongArray) -> int:
    """[CPC98]: the run of the highest priority gives its next document; one not relevant lowers its priority by 1.

    Of equal priorities, the run is used that has waited longest, at first in the order of `ranked`. A document whose
    answer is not known lowers nothing, but its run goes behind its equals, so that a batch uses several runs.
    """
    useless = (answer < 0) & ~may_pick
    place = np.zeros(ranked.shape[0], np.int64)
    priority = np.zeros(ranked.shape[0], np.int64)
    left = np.full(ranked.shape[0], -1, np.int64)  # the turn in which a run last left the front
    picked, turns = 0, 0
    while picked < item.size:
        front = -1
        for s in range(ranked.shape[0]):
            _go_on(ranked, useless, place, s)
            if place[s] == ranked.shape[1]:
                continue
            if front < 0 or priority[s] > priority[front]:
                front = s
            elif priority[s] == priority[front] and left[s] < left[front]:
                front = s
        if front < 0:
            break
        i = ranked[front, place[front]]
        useless[i] = True
        if may_pick[i]:
            item[picked] = i
            turn[picked] = turns
            picked += 1
        if answer[i] == 0:
            priority[front] -= 1
        if answer[i] != 1:
            left[front] = turns
        turns += 1
    return picked


@kernel
def sample_runs(
    ranked: IntArray,
    answer: GradeArray,
    may_pick: BoolArray,
    rng: np.random.Generator,
    item: LongArray,
    turn: LongArray,
) -> int:
    """[LPB16], Thompson sampling: each run draws from its posterior; the run of the highest draw gives a document.

    A document whose answer is not known changes no posterior.
    """
    useless = (answer < 0) & ~may_pick
    place = np.zeros(ranked.shape[0], np.int64)
    hits = np.zeros(ranked.shape[0])
    misses = np.zeros(ranked.shape[0])
    picked, turns = 0, 0
    while picked < item.size:
        arm, highest = -1, -1.0
        for s in range(ranked.shape[0]):
            _go_on(ranked, useless, place, s)
            if place[s] < ranked.shape[1]:
                drawn = rng.beta(1.0 + hits[s], 1.0 + misses[s])
                if drawn > highest:
                    arm, highest = s, drawn
        if arm < 0:
            break
        i = ranked[arm, place[arm]]
        useless[i] = True
        if may_pick[i]:
            item[picked] = i
            turn[picked] = turns
            picked += 1
        turns += 1
        if answer[i] == 1:
            hits[arm] += 1.0
        elif answer[i] == 0:
            misses[arm] += 1.0
    return picked


@kernel
def _go_on(ranked: IntArray, useless: BoolArray, place: LongArray, system: int) -> None:
    """Go down to the run's next useful document, or past its end."""
    at = place[system]
    while at < ranked.shape[1] and (ranked[system, at] < 0 or useless[ranked[system, at]]):
        at += 1
    place[system] = at
