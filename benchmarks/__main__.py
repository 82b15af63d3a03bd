"""`python -m benchmarks`: one run, one table."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.races import RACES, without_targets
from benchmarks.racing import Result, run_race
from benchmarks.setting import QUICK, Size
from benchmarks.table import show, to_json

COLLECTION = "trec8-adhoc-10topics"
NOTES = (
    "sets: judgment sets, each scores all systems. tau: pairs of leaderboards of all systems.",
    "grades: read from Parquet, aligned with 20 runs, scored by nDCG@10.",
    "CPU s: all threads, best of 3 or 5 when short. MB: peak of a fresh process, what it reads included.",
    "ratio: the rival's CPU over karatage's for the same work; (wall): the same of wall seconds.",
    "~: scaled up from part of the work. (4): only P@10, AP, nDCG@20 and Bpref.",
    "numpy loop: the textbook's AP correlation, which scipy lacks.",
    "weights: all 30 estimators for so many judges, 1,000 random judges of each class; the rival one of each class.",
    "ds(2), ds(5): Dawid-Skene on so many grades, 0-1 or 0-4: 100 steps by one thread, crowd-kit has no more;",
    "at 100,000,000 20 steps by all threads. glad, mace, mv: with defaults. Rows come as integers in no order.",
    "sort: that part of it alone. numpy, direct: alpha from the table of coincidences.",
    "average-rank to thompson: orders of judging, so many documents of as many runs queued, all answers known.",
    "ppi: prediction-powered intervals of all pairs, gold on 15 of 50 topics; the same estimates where the reliance",
    "on the judge is given. Compiling is not counted: processes first do a small task with kernels compiled before.",
)
CHECKS = {
    "ds": "benchmarks.agreeing",
    "ppi": "benchmarks.covering",
}  # beside the clock: are answers the same, or right?


def main() -> None:
    """Prepare, race, show."""
    options = _parse_options()
    size = QUICK if options.quick else Size()
    collection = None if options.quick else _find_collection(options.data)
    title = _title(collection, options.quick)
    with TemporaryDirectory(prefix="karatage-bench-") as folder:
        small = _prepare(Path(folder) / "small", QUICK, None)
        full = small if options.quick else _prepare(Path(folder) / "full", size, collection)
        results: list[Result] = []
        chosen = [race for race in RACES if options.only in race.task]
        for race in map(without_targets, chosen) if options.quick else chosen:
            task = _describe(race.task, size)
            print(f"{task} ...", file=sys.stderr)
            results += run_race(replace(race, rivals=()) if options.alone else race, task, small, full)
        notes = list(NOTES)
        for task, module in CHECKS.items():
            if options.only in task and not options.alone:
                print(f"{task}, the same answers ...", file=sys.stderr)
                notes.append(_say(module))
    show(results, title, notes)
    if options.json is not None:
        options.json.write_text(to_json(results, title))


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--data", type=Path, help=f"folder that holds {COLLECTION}; simulated when it is not there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures as JSON")
    parser.add_argument("--only", default="", metavar="WORD", help="only races with this in their name, e.g. weights")
    parser.add_argument("--alone", action="store_true", help="without rivals: to compare two versions of karatage")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    return parser.parse_args()


def _find_collection(data: Path | None) -> Path | None:
    if data is None or not (data / COLLECTION / "gold.qrels").exists():
        return None
    return data / COLLECTION


def _title(collection: Path | None, quick: bool) -> str:
    if quick:
        what = "a small simulated collection (targets do not apply)"
    elif collection is None:
        what = "a simulated collection of T08's size (T08 is not there)"
    else:
        what = "T08, 129 systems x 10 topics x 1000 ranks"
    machine = f"{os.cpu_count()} cores under a load of {os.getloadavg()[0]:.1f} at the start"
    return f"karatage and rivals on {what}\n{machine}; Python {platform.python_version()}"


def _prepare(folder: Path, size: Size, collection: Path | None) -> Path:
    """In a process of its own: this one stays small, since its size counts in its children's peak memory."""
    command = [sys.executable, "-m", "benchmarks.preparing", str(folder), json.dumps(asdict(size))]
    subprocess.run(command + ([] if collection is None else [str(collection)]), check=True)
    return folder / "setting.json"


def _describe(task: str, size: Size) -> str:
    return task.format(
        sets=size.noisy_copies + 3 * size.sets_per_class,
        pairs=size.reference_rankings * size.rankings,
        judgments=size.judges * size.items,
        **asdict(size),
    )


def _say(module: str) -> str:
    """What a module says, in a process of its own for the same reason."""
    done = subprocess.run([sys.executable, "-m", module], check=True, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
