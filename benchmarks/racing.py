"""Running a race: karatage, then each rival, and whether targets are met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.measuring import Measurement, measure_apart

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.races import Race, Target

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Opponent:
    """A rival's costs as measured, and over karatage's for the same amount of work."""

    name: str
    costs: Measurement
    share: float  # of karatage's work that was done
    cpu_ratio: float
    wall_ratio: float


@dataclass(frozen=True)
class Verdict:
    """A target and what was found."""

    target: str
    found: float
    met: bool


@dataclass(frozen=True)
class Result:
    """One row: karatage on a task, beside one rival or none."""

    task: str
    karatage: Measurement
    rival: Opponent | None
    verdicts: tuple[Verdict, ...]


def run_race(race: Race, task: str, small: Path, full: Path) -> Iterator[Result]:
    """Measure karatage, then its rivals, whose figures must be the same; its own targets stand in the first row."""
    own = measure_apart(race.contender, small, full, race.repeats)
    verdicts = tuple(_judge(target, own) for target in race.targets)
    if not race.rivals:
        yield Result(task, own, None, verdicts)
    for rival in race.rivals:
        other = measure_apart(rival.contender, small, full, rival.repeats)
        _check_agreement(rival.name, own, other)
        opponent = _compare(rival.name, own, other)
        yield Result(task, own, opponent, verdicts + tuple(_judge(target, opponent) for target in rival.targets))
        verdicts = ()


def _compare(name: str, own: Measurement, other: Measurement) -> Opponent:
    share = other.units / own.units
    return Opponent(name, other, share, other.cpu / share / own.cpu, other.wall / share / own.wall)


def _judge(target: Target, costs: Measurement | Opponent) -> Verdict:
    found = float(getattr(costs, target.quantity))
    return Verdict(target.text, found, target.is_met(found))


def _check_agreement(name: str, own: Measurement, other: Measurement) -> None:
    """A race is fair when both arrive at the same place."""
    if not other.figures:
        raise AssertionError(f"{name} showed no figures")
    for figure, value in other.figures.items():
        if not abs(own.figures[figure] - value) <= TOLERANCE:
            raise AssertionError(f"{figure}: karatage says {own.figures[figure]}, {name} says {value}")
