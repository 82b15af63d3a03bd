"""What no answer may rest on, as the command line tells it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import karatage as kt
from karatage.simulation.collection import simulate_story
from tests.invoking import invoke
from tests.notes import gives

FILES = "runs -j crowd.csv --a old --b newer"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guards")
    world = simulate_story(rng=1)
    (folder / "runs").mkdir()
    for system in world.runs.systems:
        kt.write_run(world.runs, system, folder / "runs" / f"{system}.run")
    kt.write_judgments(world.judgments, folder / "crowd.csv")
    plan = kt.plan(world.runs, world.judgments, "P@10", budget=120, a="old", b="newer")
    kt.write_queue(plan, folder / "queue.csv")
    truth = world.gold.to_frame().drop("judge").with_columns(pl.col("topic", "document").cast(pl.String))
    queue = pl.read_csv(folder / "queue.csv", infer_schema=False).drop("grade")
    gold = queue.join(truth, on=["topic", "document"], how="left").with_columns(pl.col("grade").fill_null(0))
    gold.write_csv(folder / "gold.csv")
    gold.with_columns(pl.col("pi").cast(pl.Float64) / 13).write_csv(folder / "small.csv")
    gold.with_columns(pl.col("pi").cast(pl.Float64) * 100).write_csv(folder / "percent.csv")
    gold.with_columns(grade=3 - pl.col("grade")).write_csv(folder / "turned.csv")
    copied = gold.select(judge=pl.lit("ann"), topic="topic", document="document", grade="grade")
    copied.write_csv(folder / "ann.csv")
    return folder


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(home)

    def call(command: str, code: int = 0) -> str:
        done = invoke(command.split())
        assert done.exit_code == code, done.output
        return " ".join(done.output.split())

    return call


def test_an_honest_queue_is_answered(run) -> None:
    found = json.loads(run(f"compare {FILES} -g gold.csv -f json -q"))
    assert found["corrected"] is not None
    assert (found["refusal"], found["alarm"]) == (None, None)


def test_small_chances_are_refused(run) -> None:
    text = run(f"compare {FILES} -g small.csv --fail-unless-significant", 1)
    assert gives(text, "pi", "karatage plan")
    assert "gold drawn" not in text  # no row of figures


def test_percentages_are_no_chances(run, home: Path) -> None:
    with pytest.raises(kt.KaratageError, match="pi"):
        kt.read_gold(home / "percent.csv")


def test_turned_gold_is_refused_and_can_be_turned_back(run) -> None:
    text = run(f"compare {FILES} -g turned.csv")
    assert "--gold-grades 0=3,1=2,2=1,3=0" in text
    back = json.loads(run(f"compare {FILES} -g turned.csv --gold-grades 0=3,1=2,2=1,3=0 -f json -q"))
    assert back["corrected"] == json.loads(run(f"compare {FILES} -g gold.csv -f json -q"))["corrected"]


def test_nothing_is_claimed_with_copied_gold(run) -> None:
    text = run(f"compare {FILES} -j ann.csv -g gold.csv --fail-unless-significant", 1)
    assert "gold looks like a copy of 'ann'" in text
    assert "copy of 'ann'" in run("audit crowd.csv ann.csv -g gold.csv")
    assert "copy of 'ann'" in run("doctor runs -j crowd.csv -j ann.csv -g gold.csv")


def test_doctor_tells_what_is_turned(run) -> None:
    assert "gold agrees with no judge" in run("doctor runs -j crowd.csv -g turned.csv", 2)
