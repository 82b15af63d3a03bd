"""Panels of judges with given errors, and judges put together from people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from karatage.data.alignment import require_data
from karatage.data.axes import FloatArray, GradeArray, IntArray
from karatage.data.judgments import Judgments, match_gold
from karatage.data.note import Note
from karatage.data.options import TEAMS, Teams
from karatage.data.partition import Partition, name_pseudo_judges
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.random_streams import settle_seed, stream
from karatage.simulation.notes import tell
from karatage.text import counted

Range = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class PanelQuality:
    """How good the judges of a panel are: each draws its two rates uniformly from these ranges.

    Some of the judges may be random (relevant with probability `random_share`, for any document), others inverted
    (as good as the rest, with the scale inverted).
    """

    true_positive: Range = (0.45, 0.95)
    true_negative: Range = (0.85, 0.99)
    random: int = 0
    random_share: float = 0.5
    inverted: int = 0

    def __post_init__(self) -> None:
        """Check the ranges and numbers."""
        for name, (low, high) in ("true_positive", self.true_positive), ("true_negative", self.true_negative):
            if not 0 <= low <= high <= 1:
                raise OptionError(f"{name} ({low}, {high}) is not a range of rates; give 0 <= low <= high <= 1")
        if not 0 <= self.random_share <= 1:
            raise OptionError(f"random_share {self.random_share} is not a probability; give a number from 0 to 1")
        if min(self.random, self.inverted) < 0:
            raise OptionError("the numbers of random and inverted judges start at 0")


MIXED = PanelQuality()


def simulate_panel(
    gold: Judgments,
    *,
    judges: int = 31,
    correlation: float = 0.0,
    quality: PanelQuality = MIXED,
    rng: int | np.random.Generator | None = None,
) -> Judgments:
    """Let `judges` grade every item of gold, each with its own rates of error.

    Judge k errs on item i when sqrt(c) z_i + sqrt(1 - c) e_ik lies below the quantile of its error rate for gold's
    grade. z is the document's, the same for all judges. So c = `correlation` is the tetrachoric correlation of two
    judges' errors among items of one gold grade, and no judge's rates depend on it. Each judge has its own stream: more
    judges, or another correlation, leave the draws of the first ones as they are.

    With more than two grades an error goes to a neighbouring grade, up or down alike, and 1 - `true_positive` is the
    rate of errors on all grades above 0. A random judge gives the top grade or 0.

    Args:
        gold: The truth; one grade for each item.
        judges: How many, the random and inverted ones among them; called judge-01, random-01, inverted-01 and so on.
        correlation: From 0 (errors independent given the document) to below 1.
        quality: The ranges that rates are drawn from.
        rng: Seed or generator.
    """
    require_data(gold=gold)
    ordinary = judges - quality.random - quality.inverted
    if judges < 1 or ordinary < 0:
        others = f", of which {quality.random} random and {quality.inverted} inverted" if judges > 0 else ""
        raise OptionError(f"a panel of {judges} judges{others} is not possible; ask for more judges")
    if not 0 <= correlation < 1:
        raise OptionError(f"correlation {correlation} cannot be simulated; give a number from 0 to below 1")
    known = match_gold(gold, gold)
    if (known < 0).any():
        raise DataError(f"gold has no grade for {counted(int((known < 0).sum()), 'item')}, so judges cannot grade them")
    seed, top = settle_seed(rng), max(gold.top_grade, 1)
    shared = np.sqrt(correlation) * stream(seed, "panel documents").standard_normal(len(known))
    names, said = [], []
    width = max(2, len(str(judges)))
    for kind, count in ("inverted", quality.inverted), ("judge", ordinary), ("random", quality.random):
        for k in range(1, count + 1):
            source = stream(seed, f"panel {kind} {k}")
            names.append(f"{kind}-{k:0{width}d}")
            if kind == "random":
                said.append(np.where(source.random(len(known)) < quality.random_share, top, 0).astype(np.int8))
                continue
            grade = _err(known, top, shared, np.sqrt(1 - correlation), _draw_rates(quality, source), source)
            said.append(top - grade if kind == "inverted" else grade)
    return replace(
        gold,
        judges=tuple(names),
        judge=np.tile(np.arange(judges, dtype=np.int32), len(known)),
        item=np.repeat(np.arange(len(known), dtype=np.int32), judges),
        grade=np.stack(said, axis=1).ravel(),
        draw=None,
        top_grade=top,
        notes=(*gold.notes, _tell_quality(judges, correlation, quality, seed)),
        with_repeats=None,
    )


def _draw_rates(quality: PanelQuality, source: np.random.Generator) -> FloatArray:
    """A judge's rate of error on items without relevance, and on others."""
    hit, rejection = source.uniform(*quality.true_positive), source.uniform(*quality.true_negative)
    return np.array([1 - rejection, 1 - hit])


def _err(
    known: GradeArray, top: int, shared: FloatArray, own: float, rates: FloatArray, source: np.random.Generator
) -> GradeArray:
    from scipy.special import ndtri

    bound = np.asarray(ndtri(rates))[(known > 0).astype(np.intp)]
    wrong = shared + own * source.standard_normal(len(known)) < bound
    step = np.where(known == 0, 1, -1)
    if top > 1:
        upwards = source.random(len(known)) < 0.5
        step[upwards & (known < top)] = 1
    grade: GradeArray = np.where(wrong, known + step, known).astype(np.int8)
    return grade


def _tell_quality(judges: int, correlation: float, quality: PanelQuality, seed: int) -> Note:
    (low, high), (least, most) = quality.true_positive, quality.true_negative
    kinds, rates = {"random": quality.random, "inverted": quality.inverted}, {"low": low, "high": high}
    rates |= {"least": least, "most": most, "correlation": correlation}
    return tell("panel", judges=judges, **kinds, **rates, seed=seed)


def partition_judges(
    judgments: Judgments,
    *,
    judges: int | None = None,
    people: tuple[int, int] = (2, 4),
    teams: Teams = "redrawn",
    rng: int | np.random.Generator | None = None,
) -> Partition:
    """Make pseudo-judges whose judgments of a topic come from several people, in varying shares [SAWARE20].

    In each topic a pseudo-judge has a team of people. If teams are redrawn, the people are shuffled and cut into teams
    in each topic. If they are kept, the people are cut into crews once, of the most people of a team or a few more. In
    each topic a team is drawn from each crew, so that a pseudo-judge's people recur. Pseudo-judges are dealt to
    different teams or crews while there are enough.

    A team's shares are drawn in each topic, evenly from all that sum to 1 (Dirichlet). For each document one of the
    team's shifts is drawn by these shares. The member of that number grades the document for the first pseudo-judge of
    the team, the next member for the second, and so on. So every pseudo-judge grades every document once, and no person
    grades a document for two of them. If there are more pseudo-judges than people in teams, the rest are assigned to
    newly drawn teams.

    Args:
        judgments: Grades of whole judges, the people. What one of them has not graded stays without a grade.
        judges: How many pseudo-judges; default: as many as there are people.
        people: Least and most people in a team.
        teams: Whether people are kept from topic to topic, or redrawn.
        rng: Seed or generator.
    """
    require_data(judgments=judgments)
    settled, (low, high) = judgments.settle(), people
    count = len(settled.judges) if judges is None else judges
    if teams not in TEAMS:
        raise UnknownNameError("teams", teams, TEAMS)
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
    crews = _draw_crews(len(settled.judges), count, high, stream(seed, "partition crews")) if teams == "kept" else ()
    for t, name in enumerate(settled.topics):
        rows = slice(int(settled.item_start[t]), int(settled.item_start[t + 1]))
        present = np.flatnonzero((said[rows] >= 0).any(axis=0)).astype(np.int32)
        if present.size:
            source = stream(seed, f"partition {name}")
            if crews:
                crowded += _fill_kept(person[rows], present, crews, (low, high), source) > 1
            else:
                crowded += _fill_topic(person[rows], present, (low, high), source) > 1
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


class _Crew(NamedTuple):
    """People from whom the teams of some pseudo-judges are drawn in each topic."""

    people: IntArray
    judges: tuple[int, ...]
    round: int  # people are in one crew of each round


def _draw_crews(people: int, judges: int, most: int, source: np.random.Generator) -> tuple[_Crew, ...]:
    """Cut people into crews of at least `most`, and deal the judges to them in turn, `most` to a crew at most."""
    return tuple(_deal_crews(people, judges, min(most, people), source))


def _deal_crews(people: int, judges: int, most: int, source: np.random.Generator) -> Iterator[_Crew]:
    there = people // most
    for number, first in enumerate(range(0, judges, there * most)):
        members = np.array_split(source.permutation(people).astype(np.int32), there)
        last = min(first + there * most, judges)
        for g, crew in enumerate(members):
            if first + g < last:
                yield _Crew(crew, tuple(range(first + g, last, there)), number)


def _fill_kept(
    person: IntArray, present: IntArray, crews: tuple[_Crew, ...], size: tuple[int, int], source: np.random.Generator
) -> int:
    """As `_fill_topic`, with a team of each crew; a crew without anybody present leaves the topic without grades."""
    for crew in crews:
        there = crew.people[np.isin(crew.people, present)]
        if not there.size:
            continue
        most = min(size[1], len(there))
        least = min(max(size[0], len(crew.judges)), most)
        team = source.permutation(there)[: source.integers(least, most + 1)]
        shift = _draw_shifts(len(team), len(person), source)
        for seat, judge in enumerate(crew.judges):
            person[:, judge] = team[(seat + shift) % len(team)]
    return crews[-1].round + 1


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


def _tell(missing: int, crowded: int, judges: int, seed: int) -> tuple[Note, ...]:
    return (
        tell("pseudo-judges", judges=judges, seed=seed),
        *tell.when(missing, "missing", grades=missing),
        *tell.when(crowded, "teams-crowded", topics=crowded),
    )
