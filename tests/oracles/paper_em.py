"""[AWARE17]'s EM (section 2.3) as it reads, one topic at a time: slow, in dictionaries, with plain products."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Votes = Mapping[str, Mapping[str, int]]  # document -> judge -> grade
Belief = dict[str, list[float]]  # document -> a probability for each grade


class Found(NamedTuple):
    belief: Belief
    matrices: dict[str, list[list[float]]]  # judge -> true grade -> said grade
    steps: int


def from_majority(votes: Votes, grades: int) -> Belief:
    """Tied grades have equal shares; the paper tosses a coin."""
    found = {}
    for document, said in votes.items():
        counts = [sum(grade == k for grade in said.values()) for k in range(grades)]
        most = [count == max(counts) for count in counts]
        found[document] = [first / sum(most) for first in most]
    return found


def from_neutral(votes: Votes, grades: int) -> Belief:
    """Every judge is right nine times in ten."""
    matrix = [[0.9 if g == h else 0.1 / (grades - 1) for h in range(grades)] for g in range(grades)]
    judges = {judge for said in votes.values() for judge in said}
    return _believe(votes, dict.fromkeys(judges, matrix), [1 / grades] * grades)


def run(
    votes: Votes, belief: Belief, grades: int, tolerance: float, most: int, known: Mapping[str, int] | None = None
) -> Found:
    """Steps 2 to 4 of the paper; documents whose grade is `known` keep it."""
    judges = {judge for said in votes.values() for judge in said}
    certain = {document: [float(g == grade) for g in range(grades)] for document, grade in (known or {}).items()}
    belief = belief | certain
    steps, change = 0, 1.0
    while steps < most and change >= tolerance:
        matrices = {judge: _count(judge, votes, belief, grades) for judge in judges}
        shares = [sum(belief[document][g] for document in votes) / len(votes) for g in range(grades)]
        after = _believe(votes, matrices, shares) | certain
        change = max(abs(a - b) for document in votes for a, b in zip(after[document], belief[document], strict=True))
        belief, steps = after, steps + 1
    return Found(belief, matrices, steps)


def _count(judge: str, votes: Votes, belief: Belief, grades: int) -> list[list[float]]:
    matrix = []
    for g in range(grades):
        row = [sum(belief[d][g] for d, said in votes.items() if said.get(judge) == h) for h in range(grades)]
        met = sum(row)
        matrix.append([count / met for count in row] if met else [1 / grades] * grades)  # 0/0 is our choice
    return matrix


def _believe(votes: Votes, matrices: Mapping[str, list[list[float]]], shares: list[float]) -> Belief:
    found = {}
    for document, said in votes.items():
        joint = []
        for g, share in enumerate(shares):
            product = share
            for judge, h in said.items():
                product *= matrices[judge][g][h]
            joint.append(product)
        assert sum(joint) > 0  # else the paper would divide 0 by 0
        found[document] = [value / sum(joint) for value in joint]
    return found
