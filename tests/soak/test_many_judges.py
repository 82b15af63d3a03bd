"""A hundred thousand judges, and other large shapes, within a minute and a gigabyte, as a user calls the program.

Limits are on processor time, which others on the machine do not change, and on the peak of resident memory. Kernels are
compiled beforehand, by an audit of a few judges.
"""

import json
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

MOST_SECONDS, MOST_BYTES = 60, 2**30
CHILD = """
import json, resource, subprocess, sys
code = subprocess.run([sys.executable, "-m", "karatage", *sys.argv[1:]], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024]))
"""


def write_crowd(folder, name, judges, items, *, each=None, grades=2):
    """Judges of unequal skill who graded all items, or so many `each`; with gold for all."""
    source = np.random.default_rng(1)
    truth = source.integers(0, grades, items)
    skill = source.uniform(0.4, 0.95, judges)
    judge = np.repeat(np.arange(judges), each or items)
    item = np.tile(np.arange(items), judges) if each is None else source.integers(0, items, judges * each)
    grade = np.where(source.random(len(judge)) < skill[judge], truth[item], source.integers(0, grades, len(judge)))
    columns = {"topic": pl.Series(item % 10), "document": pl.Series(item), "grade": pl.Series(grade)}
    frame = pl.DataFrame({"judge": pl.Series(judge), **columns}).unique(["judge", "document"], maintain_order=True)
    frame.with_columns(pl.format("worker-{}", "judge").alias("judge")).write_csv(folder / f"{name}.csv")
    gold = pl.DataFrame({"topic": np.arange(items) % 10, "document": np.arange(items), "grade": truth})
    gold.write_csv(folder / f"{name}-gold.csv")


def measure(*arguments):
    """Run the program in a process of its own; its error output is the caller's."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *map(str, arguments)], capture_output=True, text=True, check=True, env=os.environ
    )
    code, seconds, most = json.loads(done.stdout)
    return code, seconds, most, done.stderr


@pytest.fixture(scope="module")
def crowds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crowds")
    write_crowd(folder, "few", 5, 200)
    write_crowd(folder, "full", 100_000, 40)
    write_crowd(folder, "graded", 100_000, 40, grades=4)
    write_crowd(folder, "sparse", 100_000, 20_000, each=5)
    write_crowd(folder, "long", 1_000, 3_000)
    measure("audit", folder / "few.csv", "-g", folder / "few-gold.csv", "-q")  # compiles most of what all need
    return folder


@pytest.mark.soak
@pytest.mark.parametrize("name", ["few", "full", "graded", "sparse", "long"])
@pytest.mark.parametrize("form", ["table", "pairs", "json", "csv", "no gold", "doctor"])
def test_time_and_memory(crowds, tmp_path, name, form):
    gold = [] if form == "no gold" else ["-g", crowds / f"{name}-gold.csv"]
    forms = {
        "pairs": ["--pairs"],
        "json": [*(["--pairs"] if name != "graded" else []), "-o", tmp_path / "found.json"],  # that is 350 MB of text
        "csv": ["--pairs", "-o", tmp_path / "found.csv"],
    }
    command = ["doctor", "-j"] if form == "doctor" else ["audit"]
    code, seconds, most, told = measure(*command, crowds / f"{name}.csv", *gold, *forms.get(form, []))
    assert code == 0 or form == "doctor", told
    assert seconds < MOST_SECONDS
    assert most < MOST_BYTES
    if form == "json":
        found = json.loads((tmp_path / "found.json").read_text())
        sampled = any(row["statistic"] == "pairs_compared" for row in found["panel"])
        assert sampled == (name != "few")
        assert sampled == any(note["kind"] == "agreement.pairs-drawn" for note in found["notes"])
        assert len(found.get("pairs", [])) <= 300_000
