"""Who runs against whom, and what the project promises. Rivals are named, not imported, until measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from benchmarks.measuring import Measurement, measure_apart

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOLERANCE = 1e-9
Quantity = Literal["cpu", "wall", "peak", "cpu_ratio", "wall_ratio"]


@dataclass(frozen=True)
class Target:
    """A limit on what karatage costs, or on how many times as much its rival does."""

    quantity: Quantity
    limit: float

    @property
    def text(self) -> str:
        """As shown in the table."""
        limit = f"{self.limit:,.4g}"
        return {
            "cpu": f"CPU <= {limit} s",
            "wall": f"wall <= {limit} s",
            "peak": f"peak <= {limit} MB",
            "cpu_ratio": f"CPU >= {limit}x",
            "wall_ratio": f"wall >= {limit}x",
        }[self.quantity]

    def is_met(self, found: float) -> bool:
        """Ratios are to be large, costs small."""
        return found >= self.limit if self.quantity.endswith("ratio") else found <= self.limit


@dataclass(frozen=True)
class Rival:
    """Another way to do the same, `module:function`."""

    name: str
    contender: str
    targets: tuple[Target, ...] = ()
    repeats: int = 1


@dataclass(frozen=True)
class Race:
    """One task, what karatage may cost, and its rivals."""

    task: str
    contender: str
    targets: tuple[Target, ...] = ()
    rivals: tuple[Rival, ...] = ()
    repeats: int = 3


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
    rival_name: str | None
    rival: Measurement | None
    verdicts: tuple[Verdict, ...]

    @property
    def share(self) -> float:
        """What part of karatage's work the rival did."""
        return 1.0 if self.rival is None else self.rival.units / self.karatage.units

    def ratio(self, quantity: Literal["cpu", "wall"]) -> float | None:
        """The rival's cost over karatage's for the same amount of work."""
        if self.rival is None:
            return None
        return float(getattr(self.rival, quantity) / self.share / getattr(self.karatage, quantity))


MEMORY = Target("peak", 600)

RACES = (
    Race(
        "AP, {sets:,} sets",
        "scoring:karatage_ap",
        (MEMORY,),
        (
            Rival("pytrec_eval", "scoring:pytrec_eval_ap", (Target("cpu_ratio", 1500),), 3),
            Rival("ir_measures", "scoring:ir_measures_ap"),
            Rival("ranx", "scoring:ranx_ap"),
        ),
    ),
    Race(
        "7 measures, {sets:,} sets",
        "scoring:karatage_seven",
        (Target("cpu", 3), MEMORY),
        (Rival("pytrec_eval (4)", "scoring:pytrec_eval_four"),),
    ),
    Race(
        "read {systems:,} runs, gz",
        "reading:karatage",
        (),
        (
            Rival("pytrec_eval", "reading:pytrec_eval", (Target("wall_ratio", 3),), 3),
            Rival("ir_measures", "reading:ir_measures", (), 3),
        ),
    ),
    Race(
        "tau, {pairs:,} pairs",
        "correlating:karatage_tau",
        (),
        (Rival("scipy loop", "correlating:scipy_tau", (Target("cpu_ratio", 40),), 3),),
    ),
    Race(
        "tau_ap, {pairs:,} pairs",
        "correlating:karatage_tau_ap",
        (),
        (Rival("numpy loop", "correlating:textbook_tau_ap", (), 3),),
    ),
    Race("{judgments:,} grades", "scaling:karatage", (Target("peak", 4000),), (), 1),
    Race("import karatage", "starting:import_karatage", (Target("wall", 0.3),), (), 7),
    Race("karatage --help", "starting:show_help", (Target("wall", 0.5),), (), 7),
)


def run_race(race: Race, task: str, small: Path, full: Path) -> Iterator[Result]:
    """Measure karatage, then each rival, whose figures must be the same."""
    own = measure_apart(race.contender, small, full, race.repeats)
    if not race.rivals:
        yield _judge(Result(task, own, None, None, ()), race.targets)
    for place, rival in enumerate(race.rivals):
        other = measure_apart(rival.contender, small, full, rival.repeats)
        _check_agreement(rival.name, own, other)
        targets = (race.targets if place == 0 else ()) + rival.targets
        yield _judge(Result(task, own, rival.name, other, ()), targets)


def _judge(result: Result, targets: tuple[Target, ...]) -> Result:
    verdicts = []
    for target in targets:
        found = _find(result, target.quantity)
        verdicts.append(Verdict(target.text, found, target.is_met(found)))
    return Result(result.task, result.karatage, result.rival_name, result.rival, tuple(verdicts))


def _find(result: Result, quantity: Quantity) -> float:
    if quantity == "cpu_ratio" or quantity == "wall_ratio":
        ratio = result.ratio("cpu" if quantity == "cpu_ratio" else "wall")
        if ratio is None:
            raise ValueError(f"{result.task}: a ratio needs a rival")
        return ratio
    return float(getattr(result.karatage, quantity))


def _check_agreement(name: str, own: Measurement, other: Measurement) -> None:
    """A race is fair when both arrive at the same place."""
    if not other.figures:
        raise AssertionError(f"{name} showed no figures")
    for figure, value in other.figures.items():
        if not abs(own.figures[figure] - value) <= TOLERANCE:
            raise AssertionError(f"{figure}: karatage says {own.figures[figure]}, {name} says {value}")
