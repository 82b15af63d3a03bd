"""Reading packed run files; every contender reads all of them."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import karatage as kt
from benchmarks.measuring import Figures, Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from benchmarks.setting import Setting

RunDict = dict[str, dict[str, float]]


def karatage(setting: Setting) -> Trial:
    def count(runs: kt.Runs) -> Figures:
        lengths = (runs.bounds[..., 1] - runs.bounds[..., 0]).sum(axis=0)
        return {name: float(n) for name, n in zip(runs.systems, lengths, strict=True)}

    return Trial(lambda: kt.read_runs(setting.runs), count)


def pytrec_eval(setting: Setting) -> Trial:
    parse_runs([])  # imports, which no contender's time includes

    def count(runs: dict[str, RunDict]) -> Figures:
        return {name: float(sum(map(len, run.values()))) for name, run in runs.items()}

    return Trial(lambda: parse_runs(setting.run_files()), count)


def ir_measures(setting: Setting) -> Trial:
    """Its reader yields row by row; consuming them without keeping any is the least it can do."""
    import ir_measures

    read: Callable[[str], Iterable[object]] = ir_measures.read_trec_run

    def consume() -> Figures:
        return {path.stem: sum(1 for _ in read(str(path))) for path in setting.run_files()}

    return Trial(consume, lambda lengths: lengths)


def parse_runs(files: list[Path]) -> dict[str, RunDict]:
    """Runs by system, as pytrec_eval wants them."""
    from pytrec_eval import parse_run

    runs = {}
    for path in files:
        with gzip.open(path, "rt") as lines:
            runs[path.stem] = dict(parse_run(lines))
    return runs
