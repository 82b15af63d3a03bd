"""Simulated pseudo-judges: whole judges cut up and recombined in every topic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karatage.data.axes import GradeArray, IntArray
from karatage.data.judgments import Judgments
from karatage.data.partition import Partition, name_pseudo_judges
from karatage.errors import OptionError
from karatage.random_streams import settle_seed, stream
from karatage.text import counted


def partition_judges(
    judgments: Judgments,
    *,
    judges: int | None = None,
    people: tuple[int, int] = (2, 4),
    rng: int | np.random.Generator | None = None,
) -> Partition:
    """Make pseudo-judges whose judgments of a topic come from several people, in varying shares [SAWARE20].

    In each topic the people are shuffled and cut into teams, and the pseudo-judges are dealt to the teams. A team's
    shares are drawn evenly from all that sum to 1 (Dirichlet). For each document one of the team's shifts is drawn by
    these shares: it says which member grades the document for the first pseudo-judge of the team, the next member does
    so for the second, and so on. So every pseudo-judge grades every document once, and no person grades a document
    for two of them, unless there are more pseudo-judges than people in teams: then the rest are assigned to newly
    drawn teams.

    Args:
        judgments: Grades of whole judges, the people. What one of them has not graded stays without a grade.
        judges: How many pseudo-judges; default: as many as there are people.
        people: Least and most people in a team.
        rng: Seed or generator.
    """
    settled, (low, high) = judgments.settle(), people
    count = len(settled.judges) if judges is None else judges
    if count < 1:
        raise OptionError(f"{count} pseudo-judges cannot be made; ask for one at least")
    if not 1 <= low <= high or low > len(settled.judges):
        raise OptionError(
            f"teams of {low} to {high} people cannot be made from {counted(len(settled.judges), 'judge')}; "
            "give the least and the most people of a team"
        )
    said: GradeArray = np.full((len(settled.item_topic), len(settled.judges)), -1, np.int8)
    said[settled.item, settled.judge] = settled.grade
    person: IntArray = np.full((len(settled.item_topic), count), -1, np.int32)
    seed, crowded = settle_seed(rng), 0
    for t, name in enumerate(settled.topics):
        rows = slice(int(settled.item_start[t]), int(settled.item_start[t + 1]))
        present = np.flatnonzero((said[rows] >= 0).any(axis=0)).astype(np.int32)
        if present.size:
            crowded += _fill_topic(person[rows], present, (low, high), stream(seed, f"partition {name}")) > 1
    item, judge = np.nonzero(person >= 0)
    who = person[item, judge]
    given = said[item, who] >= 0
    return Partition(
        judgments=replace(
            settled,
            judges=name_pseudo_judges(count),
            judge=judge[given].astype(np.int32),
            item=item[given].astype(np.int32),
            grade=said[item, who][given],
            draw=None,
            notes=(*settled.notes, *_tell(int((~given).sum()), crowded, count, seed)),
            with_repeats=None,
        ),
        people=settled.judges,
        person=who[given],
    )


def _fill_topic(person: IntArray, present: IntArray, size: tuple[int, int], source: np.random.Generator) -> int:
    """Say who grades which item for which pseudo-judge, (item, pseudo-judge), in place; how often teams were drawn."""
    items, judges = person.shape
    waiting = source.permutation(judges)
    rounds = 0
    while waiting.size:
        rounds += 1
        teams = _draw_teams(source.permutation(present), size, source)
        shift = [_draw_shifts(len(team), items, source) for team in teams]
        seats = [(seat, g) for seat in range(size[1]) for g, team in enumerate(teams) if seat < len(team)]
        for judge, (seat, g) in zip(waiting, seats, strict=False):
            person[:, judge] = teams[g][(seat + shift[g]) % len(teams[g])]
        waiting = waiting[len(seats) :]
    return rounds


def _draw_teams(people: IntArray, size: tuple[int, int], source: np.random.Generator) -> list[IntArray]:
    """Cut `people` into teams; no person is left over when sizes allow it."""
    low, high = min(size[0], len(people)), min(size[1], len(people))
    teams, at = [], 0
    while len(people) - at >= low:
        rest = len(people) - at
        sizes = [n for n in range(low, min(high, rest) + 1) if rest - n == 0 or rest - n >= low]
        members = int(source.choice(sizes or [min(high, rest)]))
        teams.append(people[at : at + members])
        at += members
    return teams


def _draw_shifts(members: int, items: int, source: np.random.Generator) -> IntArray:
    bound = np.cumsum(source.dirichlet(np.ones(members)))[:-1]
    return np.searchsorted(bound, source.random(items), side="right").astype(np.int32)


def _tell(missing: int, crowded: int, judges: int, seed: int) -> list[str]:
    notes = [f"{counted(judges, 'pseudo-judge')} put together from people, seed {seed}"]
    if missing:
        notes.append(f"{missing:,} grades are missing where the person drawn had not graded the document")
    if crowded:
        notes.append(
            f"in {counted(crowded, 'topic')} there are more pseudo-judges than people in teams, so that a person may "
            "have graded a document for several of them"
        )
    return notes
