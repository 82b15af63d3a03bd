"""A command that is killed leaves no part of a file behind, and the same command then gives the same bytes."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import karatage as kt

REPORT = "report runs -j judgments.csv -g gold.qrels -m P@5 -o out/report.html -q --tables out/tables"
QUEUE = "queue runs -j judgments.csv --budget 50 --prices A -m P@5 -o out/queue.csv -q"
EXPERIMENT = "experiment noisy --preset small -w 2 -o out -q"
COMMANDS = {"report": REPORT, "queue": QUEUE, "experiment": EXPERIMENT}
OWN = (".lock", "cells")  # of one run: who holds the folder, and how long each cell took


def write_files(home):
    world = kt.simulation.simulate_collection(systems=3, topics=6, depth=10, rng=3)
    for system in world.runs.systems:
        kt.write_run(world.runs, system, home / "runs" / f"{system}.run")
    kt.write_judgments(world.judgments, home / "judgments.csv")
    kt.write_judgments(world.pool, home / "gold.qrels")


def start(command, home, **more):
    words = [sys.executable, "-m", "karatage", *command.split()]
    return subprocess.Popen(words, cwd=home, stdout=subprocess.DEVNULL, start_new_session=True, **more)


def read_files(home):
    """Everything in the folder, but for what is each run's own."""
    found = home / "out"
    return {
        path.relative_to(found).as_posix(): path.read_bytes()
        for path in sorted(found.rglob("*"))
        if path.is_file() and not any(part in OWN for part in path.relative_to(found).parts)
    }


def list_names(home):
    return {path for path in (home / "out").rglob("*") if path.name not in OWN}


def kill_once(command, home, source, seconds):
    """At a random moment, or as soon as something new lies in the folder; False if the command was faster."""
    before, early = list_names(home), source.random() < 0.5
    end = time.monotonic() + source.uniform(0.3, seconds)
    with start(command, home) as process:
        while process.poll() is None and time.monotonic() < end:
            if not early and list_names(home) - before:
                time.sleep(source.uniform(0, 0.02))
                break
            time.sleep(0.001)
        os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
    return process.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("name", "kills"),
    [  # an experiment's cells are killed in test_resuming, too
        ("queue", 1),
        *(pytest.param(name, 20, marks=pytest.mark.soak) for name in COMMANDS),
    ],
)
def test_killed_and_run_again(tmp_path, name, kills):
    command, source = COMMANDS[name], random.Random(name)
    for home in (tmp_path / "whole", tmp_path / "killed"):
        write_files(home)
    begun = time.monotonic()
    assert start(command, tmp_path / "whole").wait() == 0
    seconds = time.monotonic() - begun
    expected, home = read_files(tmp_path / "whole"), tmp_path / "killed"
    killed = 0
    while killed < kills:
        killed += kill_once(command, home, source, seconds)
        left = read_files(home)
        drafts = {path for path in left if Path(path).name.startswith(".")}
        assert all(path.endswith(".part") for path in drafts)
        assert {path: left[path] for path in set(left) - drafts} == {
            path: expected[path] for path in set(left) - drafts
        }
        if set(left) == set(expected):
            for path in left:
                (home / "out" / path).unlink()
    assert start(command, home).wait() == 0
    assert read_files(home) == expected


LOOP = """
import sys
from karatage.cli.app import main

for line in list(sys.argv[1:]):
    sys.argv = ["karatage", *line.split()]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
"""


def run_loop(home, lines):
    words = [sys.executable, "-c", LOOP, *lines]
    return subprocess.Popen(words, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def list_steps(kind, batches, seed):
    """Plan a batch, have it judged, and plan the next from what was judged."""
    for n in range(batches):
        judged = [f"judged-{k}.csv" for k in range(n)]
        if kind == "plan":
            known = " ".join(f"--judged {path}" for path in judged)
            yield f"plan runs -j judgments.csv -m P@5 --budget 10 {known} -o batch-{n}.csv --seed {seed} -q"
        else:
            known = " ".join(f"-g {path}" for path in judged)
            asked = "queue runs --budget 100 --prices A --expert-share 1 -m P@5"
            yield f"{asked} {known} -o batch-{n}.csv --seed {seed} -q"
        yield f"simulate gold.qrels --queue batch-{n}.csv --judged judged-{n}.csv -q"


@pytest.mark.parametrize(
    ("kind", "seeds", "rounds"),
    [
        ("plan", (1, 2), 1),
        *(pytest.param(kind, (1, k), 10, marks=pytest.mark.soak) for kind in ("plan", "queue") for k in (1, 2)),
    ],
)
def test_two_loops_in_one_folder(tmp_path, kind, seeds, rounds):
    """Either both do the same, or one of them is refused before it writes over what judges have done."""
    for n in range(rounds):
        home = tmp_path / f"both-{n}"
        write_files(home)
        loops = [run_loop(home, list_steps(kind, 2, seed)) for seed in seeds]
        errors = [process.communicate()[1] for process in loops]
        codes = [process.returncode for process in loops]
        assert all(
            code == 0 or (code == 2 and told.startswith("error: ")) for code, told in zip(codes, errors, strict=True)
        )
        assert not list(home.glob(".*"))
        if 0 in codes:
            gold = kt.read_gold([home / f"judged-{k}.csv" for k in range(2)])  # batches that belong together
            assert len(gold.grade) == len(set(gold.to_frame().select("topic", "document").rows()))
    if seeds[0] == seeds[1]:
        assert codes == [0, 0], errors
        write_files(tmp_path / "alone")
        with run_loop(tmp_path / "alone", list_steps(kind, 2, 1)) as process:
            assert process.wait() == 0
        assert read_judged(home) == read_judged(tmp_path / "alone")


def read_judged(home):
    return {path.name: path.read_bytes() for path in sorted(home.glob("judged-*.csv"))}
