"""Compare what two versions of the command line print as JSON, number by number.

    python tools/same_numbers.py OLD_PYTHON OLD_SRC NEW_PYTHON NEW_SRC [FOLDER]

PYTHON is an interpreter with the dependencies of that version, SRC the folder that holds its package. FOLDER holds
`runs`, `judgments.csv` and `gold.qrels`; without it the demo of the old version is used, with more commands. Every
number, and every text that is not prose, must be the same; what one version alone has is listed apart.
"""

from __future__ import annotations

import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

FILES = "{0}/runs -j {0}/judgments.csv"
COMMANDS = {
    "compare": f"compare {FILES} -g {{0}}/gold.qrels",
    "compare, nDCG": f"compare {FILES} -g {{0}}/gold.qrels -m nDCG@10",
    "compare, AP by uniform": f"compare {FILES} -g {{0}}/gold.qrels -m AP --approach uniform",
    "compare, no gold": f"compare {FILES} -m AP",
    "plan": f"plan {FILES} --budget 200 -m DCG@10",
    "plan, nDCG": f"plan {FILES} --budget 200 -m nDCG@10",
    "queue": "queue {0}/runs -j {0}/judgments.csv --budget 100 --prices B",
    "doctor": f"doctor {FILES} -g {{0}}/gold.qrels",
    "doctor, no gold": f"doctor {FILES} -m nDCG@10",
    "report": f"report {FILES} -g {{0}}/gold.qrels -o report.html",
    "audit": "audit {0}/judgments.csv -g {0}/gold.qrels",
    "aggregate": "aggregate {0}/judgments.csv -a ds",
    "evaluate": f"evaluate {FILES} -g {{0}}/gold.qrels -a mv -a ds -a sgl_tau_msd -a sup_tau_cubed -m AP --draws 100",
}
DEMO = {
    "compare, a pair": f"compare {FILES} -g {{0}}/gold.qrels --a system-01 --b system-02",
    "compare, a gold queue": f"compare {FILES} -g {{0}}/judged-queue.csv -m DCG@10 --a system-12 --b system-11",
    "compare, a permutation test": f"compare {FILES} --a system-12 --b system-11 --test permutation",
    "compare, drawn gold": "compare {0}/story/runs -j {0}/story/judgments.csv -g {0}/story/gold.csv",
    "compare, figures": "compare --figures-a 10278,0.6260,0.414 --figures-b 20604,0.6385,0.402 --rates 43/59,67/84",
    "plan, more": f"plan {FILES} --judged {{0}}/judged-queue.csv -m DCG@10 --a system-12 --b system-11 --budget 100",
    "plan, figures": "plan --figures-a 10278,0.6260,0.414 --figures-b 20604,0.6385,0.402 --rates 43/59,67/84",
    "queue, more": f"queue {FILES} -g {{0}}/judged-queue.csv -m DCG@10 --best 1 --budget 250 --prices 80:1",
    "doctor, a gold queue": f"doctor {FILES} -g {{0}}/judged-queue.csv -m DCG@10 --a system-12 --b system-11",
    "report, drawn gold": "report {0}/story/runs -j {0}/story/judgments.csv -g {0}/story/gold.csv --a old --b new "
    "-o report.html",
    "benchmark": "benchmark -j {0}/judgments.csv -g {0}/gold.qrels -a mv -a ds -a zc --amounts 50",
    "experiment aware": f"experiment aware {FILES} -g {{0}}/gold.qrels -m AP -a uniform -a sgl_tau_msd -a mv "
    "--sizes 2-4 --samples 6 --replicates 8",
    "experiment noisy": "experiment noisy --study ebay --study trec --study dcg",
    "experiment collaborative": "experiment collaborative {0}/runs -g {0}/gold.qrels --preset small",
}
PROSE = 25  # characters from which a text with spaces is prose


def main() -> None:
    """Print every difference, and how much was compared."""
    old_python, old_source, new_python, new_source = sys.argv[1:5]
    with tempfile.TemporaryDirectory() as work:
        commands, folder = COMMANDS, "demo"
        if len(sys.argv) > 5:
            folder = str(Path(sys.argv[5]).resolve())
        else:
            commands = COMMANDS | DEMO
            run(old_python, old_source, work, "demo --quiet")
        for name, command in commands.items():
            texts = [
                run(python, source, work, f"{command.format(folder)} --format json --quiet")
                for python, source in ((old_python, old_source), (new_python, new_source))
            ]
            for line in report(name, *texts):
                sys.stdout.write(f"{line}\n")
                sys.stdout.flush()


def report(name: str, old: str, new: str) -> Iterator[str]:
    """What is to be said of one command."""
    try:
        before, after = (dict(flatten(json.loads(text))) for text in (old, new))
    except json.JSONDecodeError:
        yield f"{name}: no JSON, {'the same text' if old == new else 'other text'}"
        return
    both = before.keys() & after.keys()
    differing = sorted(key for key in both if before[key] != after[key] and not (_is_nan(before[key], after[key])))
    figures = sum(isinstance(before[key], int | float) for key in both)
    yield f"{name}: {figures:,} numbers compared, {len(differing)} values differ"
    yield from (f"  {key}: {before[key]} -> {after[key]}" for key in differing)
    for who, alone in (("old", before.keys() - after.keys()), ("new", after.keys() - before.keys())):
        if alone:
            yield f"  {who} only: {len(alone)} values, such as {', '.join(sorted(alone)[:3])}"


def flatten(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Places and values of all numbers and short texts."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key != "seconds":  # how long it took
                yield from flatten(part, f"{path}.{key}")
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from flatten(part, f"{path}[{place}]")
    elif not (isinstance(value, str) and " " in value and len(value) >= PROSE):
        yield path, value


def run(python: str, source: str, folder: str, command: str) -> str:
    """What a command prints, or how it fails."""
    done = subprocess.run(
        [Path(python).absolute(), "-m", "karatage", *shlex.split(command)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(Path(source).resolve())},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout if done.returncode in (0, 1) else f"exit {done.returncode}: {done.stderr}"


def _is_nan(one: object, other: object) -> bool:
    return isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other)


if __name__ == "__main__":
    main()
