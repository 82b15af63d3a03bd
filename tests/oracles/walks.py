"""Orders of judging as their papers tell them: slow, obvious, with lists and dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

Runs = Sequence[Sequence[int]]  # documents of each run, best first
Answers = Mapping[int, bool]  # whether a document is relevant, where that is known


def move_to_front(runs: Runs, answers: Answers, open_items: set[int]) -> Iterator[int]:
    """Documents as they are visited; the queue's first run of the best priority is in front."""
    queue = [{"documents": list(run), "priority": 0} for run in runs]
    visited: set[int] = set()
    while True:
        for run in queue:
            run["documents"] = [d for d in run["documents"] if d not in visited and (d in answers or d in open_items)]
        queue = [run for run in queue if run["documents"]]
        if not queue:
            return
        best = max(run["priority"] for run in queue)
        front = next(run for run in queue if run["priority"] == best)
        document = front["documents"][0]
        visited.add(document)
        yield document
        if answers.get(document):
            continue
        if document in answers:
            front["priority"] -= 1
        queue.remove(front)
        queue.append(front)


def thompson(runs: Runs, answers: Answers, open_items: set[int], rng: np.random.Generator) -> Iterator[int]:
    """Documents as they are visited; every run with documents left draws, the highest is played."""
    said: list[list[bool]] = [[] for _ in runs]
    visited: set[int] = set()
    while True:
        left = [[d for d in run if d not in visited and (d in answers or d in open_items)] for run in runs]
        drawn = {k: rng.beta(1 + sum(said[k]), 1 + len(said[k]) - sum(said[k])) for k in range(len(runs)) if left[k]}
        if not drawn:
            return
        arm = max(drawn, key=lambda k: drawn[k])
        document = left[arm][0]
        visited.add(document)
        yield document
        if document in answers:
            said[arm].append(answers[document])


def take_turns(visits: Sequence[Sequence[int]], open_items: set[int], n: int) -> list[int]:
    """Topics in turn, one visited document each; the open ones are picked."""
    picks = []
    for turn in range(max(map(len, visits), default=0)):
        picks += [visit[turn] for visit in visits if turn < len(visit) and visit[turn] in open_items]
    return picks[:n]


def judge_one_at_a_time(pick: Callable[[dict[int, bool], set[int]], list[int]], truth: Answers) -> list[int]:
    """Ask for one item, judge it, ask anew, until there is none."""
    answers: dict[int, bool] = {}
    open_items = set(truth)
    judged = []
    while chosen := pick(answers, open_items):
        judged.append(chosen[0])
        answers[chosen[0]] = truth[chosen[0]]
        open_items.remove(chosen[0])
    return judged


def depth_pools(runs: Sequence[Runs], items: Sequence[set[int]], meta_ap: Sequence[float]) -> list[int]:
    """Pools of depth 1, 2, ...: what each adds, a document of each topic in turn, the best by Meta-AP first.

    `runs` and `items` are by topic; what nobody retrieved comes last, in turn too.
    """
    order: list[int] = []
    deepest = max((len(run) for own in runs for run in own), default=0)
    pools = [[{d for run in own for d in run[:depth] if d >= 0} for own in runs] for depth in range(1, deepest + 1)]
    for pool in [*pools, items]:
        queues = [sorted(own - set(order), key=lambda d: (-meta_ap[d], d)) for own in pool]
        while any(queues):
            order += [queue.pop(0) for queue in queues if queue]
    return order
