"""One measurement, alone in a fresh process, so that CPU time and peak memory are its own.

Compiling is not measured: another process first does the contender's work on the small setting, which leaves
compiled kernels on disk, and then the measured process does so too, which loads them.
"""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from benchmarks.setting import Setting

if TYPE_CHECKING:
    from pathlib import Path

Figures = dict[str, float]
"""Results by name, which all contenders of a race must share."""


@dataclass(frozen=True)
class Trial:
    """Work that is ready to start: everything before `run` costs memory but no time."""

    run: Callable[[], Any]
    figures: Callable[[Any], Figures]
    units: float = 1


Contender = Callable[[Setting], Trial]


@dataclass(frozen=True)
class Measurement:
    """What a trial cost: the fastest of its repetitions, and the whole process's peak memory."""

    cpu: float  # seconds, all threads together
    wall: float  # seconds
    peak: float  # MB
    units: float
    figures: Figures


def measure(trial: Trial, repeats: int) -> Measurement:
    """Run a trial in this process."""
    cpu, wall = [], []
    result = None
    for _ in range(repeats):
        result = None
        gc.collect()
        cpu_before, wall_before = _cpu_seconds(), time.perf_counter()
        result = trial.run()
        wall.append(time.perf_counter() - wall_before)
        cpu.append(_cpu_seconds() - cpu_before)
    return Measurement(min(cpu), min(wall), _peak_megabytes(), trial.units, trial.figures(result))


def measure_apart(contender: str, small: Path, full: Path, repeats: int) -> Measurement:
    """Run a contender, `module:function`, in a process of its own, after a warm-up on the small setting."""
    _call(contender, [small], repeats=1)
    return _call(contender, [small, full], repeats)


def _call(contender: str, settings: list[Path], repeats: int) -> Measurement:
    command = [sys.executable, "-m", "benchmarks.measuring", contender, str(repeats), *map(str, settings)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{contender} failed:\n{done.stderr}")
    return Measurement(**json.loads(done.stdout.splitlines()[-1]))


def _usage() -> list[resource.struct_rusage]:
    """Of this process and of commands it has started, if that is its work."""
    return [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]


def _cpu_seconds() -> float:
    return sum(usage.ru_utime + usage.ru_stime for usage in _usage())


def _peak_megabytes() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return max(usage.ru_maxrss for usage in _usage()) * unit / 1e6


def _find(contender: str) -> Contender:
    module, name = contender.split(":")
    found: Contender = getattr(import_module(f"benchmarks.{module}"), name)
    return found


def _main(contender: str, repeats: str, *settings: str) -> None:
    for path in settings:
        measurement = measure(_find(contender)(Setting.load(path)), int(repeats))
    print(json.dumps(asdict(measurement)))


if __name__ == "__main__":
    _main(*sys.argv[1:])
