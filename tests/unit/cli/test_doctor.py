"""Unit tests of `karatage doctor`."""

import json
import re
import shlex

import polars as pl
import pytest
from rich.cells import cell_len

import karatage as kt
from karatage.errors import OptionError
from tests.invoking import invoke
from tests.notes import gives


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("doctor")
    world = kt.simulation.simulate_collection(systems=3, topics=12, depth=20, rng=7)
    for system in world.runs.systems:
        kt.write_run(world.runs, system, home / "runs" / f"{system}.gz")
    kt.write_judgments(world.judgments, home / "crowd.csv")
    kt.write_judgments(world.gold, home / "gold.qrels")
    (home / "broken.run").write_text("1 Q0 d1 1\n")
    return home


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return lambda command: invoke(shlex.split(command))


def test_the_page_fits_80_columns_and_ends_in_the_sentence(run):
    result = run("doctor runs -j crowd.csv -g gold.qrels")
    assert result.exit_code == 0
    assert max(cell_len(line) for line in result.stdout.splitlines()) <= 80
    flat = " ".join(result.stdout.split())
    found = kt.doctor("runs", "crowd.csv", "gold.qrels")
    assert flat.endswith(found.sentence)
    for check in found.checks:
        assert " ".join(check.finding.split()) in flat
    for line in found.can:
        assert line in flat


def test_a_broken_file_is_told_and_the_exit_code_is_2(run):
    result = run("doctor runs broken.run -j crowd.csv -g gold.qrels")
    assert result.exit_code == 2
    assert re.search(r"^ wrong +broken.run:1: .*\b6\b", result.stdout, re.M)
    assert "3 systems, 12 topics" in result.stdout


def test_any_subset_of_files_may_be_given(run):
    for given, kept in (("-j crowd.csv", "judges"), ("runs", "runs"), ("-g gold.qrels", "gold")):
        result = run(f"doctor {given}")
        assert result.exit_code == 0
        assert {row["about"] for row in json.loads(run(f"doctor {given} -f json").stdout)["checks"]} >= {kept}
    nothing = run("doctor")
    assert isinstance(nothing.exception, OptionError)


def test_commands_to_type_next_can_be_typed(run, tmp_path):
    """As printed, over several lines; those that write do so elsewhere."""
    for gold in ("-g gold.qrels", ""):
        shown = run(f"doctor runs -j crowd.csv {gold} --a system-01 --b system-03 -m nDCG@5").stdout
        block = shown.split("What to type next\n")[1].split("\n\n")[0]
        commands = [shlex.split(text) for text in re.split(r"\n(?=  karatage)", block.replace(" \\\n", " "))]
        assert len(commands) > 1
        for words in commands:
            assert words[0] == "karatage"
            result = run(shlex.join(words[1:]))
            assert result.exit_code == 0, (words, result.output)


def test_every_format_holds_the_same_checks(run, folder):
    told = json.loads(run("doctor runs -j crowd.csv -g gold.qrels -f json").stdout)
    found = kt.doctor("runs", "crowd.csv", "gold.qrels")
    assert told["kind"] == "diagnosis"
    assert told["sentence"] == found.sentence
    assert [check.pop("kind") for check in told["checks"]] == [check.kind for check in found.checks]
    assert told["checks"] == found.to_frame().to_dicts()
    result = run("doctor runs -j crowd.csv -g gold.qrels -o out/checks.tsv")
    assert (result.exit_code, result.stdout) == (0, "")
    assert found.sentence in result.stderr
    table = pl.read_csv(folder / "out/checks.tsv", separator="\t", infer_schema=False)
    assert table["finding"].to_list() == found.to_frame()["finding"].to_list()
    assert run("doctor runs -j crowd.csv -g gold.qrels -q -f json").stderr == ""


def test_options_reach_the_reader_and_the_commands(run, folder):
    (folder / "words.csv").write_text("who,topic,document,grade\nann,1,x,yes\nbob,1,x,no\n")
    result = run("doctor -j words.csv --grades no=0,yes=1 --columns judge=who")
    assert result.exit_code == 0
    assert "karatage audit words.csv --grades no=0,yes=1 --columns judge=who" in result.stdout
    assert run("doctor -j words.csv --columns judge=who").exit_code == 2


def test_top_limits_systems(run, folder):
    runs = {f"s{k:02}": {"1": {f"d{k}": 1.0, "x": 0.5}} for k in range(9)}
    for name in runs:
        kt.write_run(kt.read_runs({name: runs[name]}), name, folder / "many" / name)
    (folder / "one.csv").write_text("judge,topic,document,grade\nann,1,x,1\nann,1,d0,0\n")
    assert gives(run("doctor many -j one.csv").stdout, 4, "more systems")
    assert not gives(run("doctor many -j one.csv --top 0").stdout, "more systems")
