"""A run that is killed at any moment goes on where it was, and ends with the same table to the byte."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import psutil
import pytest

PROGRAM = """
import os, random, resource, signal, stat, sys, time, warnings
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from karatage.errors import KaratageError
from karatage.experiments.engine import Cell, Execution, Finding, run_cells, tell_outcomes

CELLS = 40


def work(k, context):
    with open(context["log"], "a") as log:
        log.write(f"{os.getpid()}\\n")
    value = np.random.default_rng(k).normal(size=500 if k % 10 else 20_000)
    time.sleep(0.002)
    for _ in range(30):
        value = np.sort(value * context["scale"])
    return Finding(pl.DataFrame({"k": k, "value": value}), {"mean": float(value.mean()), "k": k})


def die_at(place, turn):
    module, name = {"fsync": (os, "fsync"), "replace": (os, "replace"), "unlink": (os, "unlink")}[place]
    call, calls = getattr(module, name), []

    def hooked(*args, **more):
        if place != "fsync" or not stat.S_ISDIR(os.fstat(args[0]).st_mode):
            calls.append(1)
        if len(calls) == turn:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **more)

    setattr(module, name, hooked)


def main():
    home, target, workers, place, turn, limit = sys.argv[1:]
    if place != "-":
        die_at(place, int(turn))
    if int(limit):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    cells = [Cell(name=f"toy/{k}", key={"k": k}, work=partial(work, k)) for k in range(CELLS)]
    try:
        tell = lambda done, *_: print(done, flush=True)
        how = Execution(workers=int(workers), fresh=place == "unlink", progress=tell)
        outcomes = run_cells(cells, folder=home, execution=how, context={"scale": 1.01, "log": f"{target}.log"})
    except KaratageError as problem:
        sys.exit(f"error: {problem}")
    print("kept", sum(o.kept for o in outcomes), *tell_outcomes(outcomes), flush=True)
    facts = pl.DataFrame([dict(o.facts, status=o.status) for o in outcomes])
    pl.concat([o.table for o in outcomes]).join(facts, on="k").write_parquet(target)


def live_often(lives, seed):
    # A parent has loaded everything for all lives, and kills each at a random moment; threads of others it leaves idle.
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    source, home, target = random.Random(seed), Path(sys.argv[1]), Path(sys.argv[2])
    killed = 0
    while killed < lives:
        told, tell = os.pipe()
        if not (child := os.fork()):
            os.dup2(tell, 1)
            main()
            sys.stdout.flush()
            os._exit(0)
        os.close(tell)
        with open(told) as lines:
            for _ in range(source.choice([1, 1, 2])):
                lines.readline()
            time.sleep(source.uniform(0, 0.006))
            os.kill(child, signal.SIGKILL)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL:
            killed += 1
        else:  # it came to its end: there must be more to do
            target.unlink()
            for path in sorted(home.glob("*.parquet"))[::2]:
                path.unlink()


if __name__ == "__main__":
    lives = int(sys.argv.pop(1))
    live_often(lives, seed=20) if lives else main()
"""


class Runs:
    """Starts the program over and over."""

    def __init__(self, folder):
        self.program = folder / "program.py"
        self.program.write_text(textwrap.dedent(PROGRAM))
        self.home, self.target = folder / "cells", folder / "table.parquet"

    def start(self, *, lives=0, workers=1, place="-", turn=0, limit=0):
        words = [lives, self.home, self.target, workers, place, turn, limit]
        command = [sys.executable, "-W", "error", str(self.program), *map(str, words)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, text=True, env={**os.environ, "KARATAGE_THREADS": "1"}, **pipes)

    def finish(self, **options):
        with self.start(**options) as process:
            out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def kill_after(self, lines, seconds, **options):
        """Whether it was still at work so long after it had told of some cells."""
        with self.start(**options) as process:
            for _ in range(lines):
                process.stdout.readline()
            time.sleep(seconds)
            process.kill()
        return process.returncode == -signal.SIGKILL


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The table of a run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    runs = Runs(folder)
    code, out, err = runs.finish()
    assert (code, out.splitlines()[-1], err) == (0, "kept 0", "")
    return runs.target.read_bytes()


def check_end(runs, expected, **options):
    code, out, err = runs.finish(**options)
    assert (code, err) == (0, "")
    assert runs.target.read_bytes() == expected
    left = {path.name for path in runs.home.iterdir() if path.suffix != ".parquet"}
    assert left == {".lock"}
    assert len(list(runs.home.glob("*.parquet"))) == 40
    return out.splitlines()[-1]


def test_killed_at_random_moments(tmp_path, expected):
    runs = Runs(tmp_path)
    assert runs.finish(lives=20) == (0, "", "")
    assert re.fullmatch(r"kept \d+", check_end(runs, expected))  # no note: nothing was found damaged


@pytest.mark.parametrize(("place", "turn"), [("fsync", 1), ("replace", 7)])
def test_killed_while_a_file_is_written(tmp_path, expected, place, turn):
    runs = Runs(tmp_path)
    assert runs.finish(place=place, turn=turn)[0] == -signal.SIGKILL
    assert len(list(runs.home.glob(".*.part"))) == 1
    assert check_end(runs, expected) == f"kept {turn - 1}"


def test_killed_between_a_new_result_and_the_old_one(tmp_path, expected):
    runs = Runs(tmp_path)
    check_end(runs, expected)
    assert runs.finish(place="unlink", turn=5)[0] == -signal.SIGKILL
    assert len(list(runs.home.glob("*.parquet"))) == 41
    assert check_end(runs, expected) == "kept 40"


def test_killed_with_several_processes(tmp_path, expected):
    runs = Runs(tmp_path)
    assert runs.kill_after(3, 0.002, workers=2)
    workers = {int(pid) for pid in (tmp_path / "table.parquet.log").read_text().split()}
    check_end(runs, expected, workers=2)
    give_up = time.monotonic() + 10
    while any(map(is_there, workers)):  # they do not outlive the process that wanted their work
        assert time.monotonic() < give_up
        time.sleep(0.1)


def is_there(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_disk_that_takes_no_more_ends_the_run_and_it_goes_on_later(tmp_path, expected):
    runs = Runs(tmp_path)
    code, _, err = runs.finish(limit=100_000)
    assert code == 1
    assert err.startswith(f"error: {runs.home}: a result cannot be written: File too large. 0 of 40 cells")
    assert [path.name for path in runs.home.iterdir()] == [".lock"]
    check_end(runs, expected)
