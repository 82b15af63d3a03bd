"""`karatage experiment aware`: what it prints, writes, resumes and refuses."""

import json
import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest
from rich.cells import cell_len

from karatage.errors import OptionError, UnknownNameError
from karatage.views.reading import read_result
from tests.invoking import invoke
from tests.notes import gives, has_line

TINY = ("-j", "simulated:5", "-m", "AP", "-a", "uniform", "-a", "sgl_tau_msd", "-a", "mv", "--replicates", "8")


def run(*arguments):
    result = invoke(["experiment", "aware", *arguments])
    if result.exception is not None:
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


@pytest.fixture(scope="module")
def small():
    """What the small preset prints on a simulated collection."""
    return run("--preset", "small", "-j", "simulated:7", "--correlation", "0,0.9", "--samples", "3")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of an experiment that is even smaller, since charts take their time, and what was printed."""
    home = tmp_path_factory.mktemp("results")
    return home, run(*TINY, "--correlation", "0,0.9", "--sizes", "2-3", "--samples", "3", "-o", home)[0]


def test_tables_fit_80_columns_and_end_in_a_sentence(small, folder):
    out, err = small
    for text in (out, (folder[0] / "tables.txt").read_text()):
        assert max(map(cell_len, text.splitlines())) <= 80
        assert text.rstrip().endswith(".")
    assert has_line(out, "tau_ap", "AP", "correlation 0")
    assert gives(out, "RMSE", "30 estimators", "correlation 0.9")
    assert has_line(err, "note", "7 judges")
    assert has_line(err, "note", "'systems'")


def test_the_folder_has_everything(folder):
    home, out = folder
    told = json.loads((home / "findings.json").read_text())
    assert " ".join(out.split()).endswith(" ".join(told["sentence"].split()))
    results = pl.read_parquet(home / "results.parquet")
    assert len(results) == len(pl.read_csv(home / "results.csv")) == 2 * 1 * 2 * 3 * 3
    for name in ("by-size", "anova", "top-groups", "verdicts", "families", "contest", "leads", "crossings"):
        assert len(pl.read_parquet(home / f"{name}.parquet"))
        assert (home / f"{name}.tsv").exists()
    charts = {path.name for path in (home / "charts").iterdir()}
    assert {"families-best-tau_ap.html", "crossing.svg", "correlation-0.9-rmse-tukey.png"} <= charts
    assert "correlation-0.9-rmse-tukey.html" not in charts
    assert "<svg" in (home / "page.html").read_text()
    assert has_line((home / "tables.txt").read_text(), "tau", "AP", "correlation 0")


def test_findings_are_read_back(folder):
    home, _ = folder
    told = json.loads((home / "findings.json").read_text())
    found = read_result(home / "findings.json").result
    assert found.sentence == told["sentence"]
    assert found.plan.sizes == (2, 3)


def test_a_plan_does_the_same_again(folder):
    home, out = folder
    assert run("--plan", home / "plan.toml")[0] == out


def test_every_option_changes_the_findings(tmp_path):
    out, _ = run(*TINY, "--sizes", "2,4", "--samples", "3", "--seed", "1", "-f", "tsv")
    frame = pl.read_csv(out.encode(), separator="\t")
    assert sorted(frame["size"].unique()) == [2, 4]
    assert frame["approach"].unique(maintain_order=True).to_list() == ["uniform", "sgl_tau_msd", "mv"]
    assert frame["samples"].unique().to_list() == [3]
    other, _ = run(*TINY, "--sizes", "2,4", "--samples", "3", "--seed", "2", "-f", "tsv")
    assert other != out
    told = json.loads(run(*TINY, "--sizes", "2", "--samples", "3", "-f", "json", "-q")[0])
    assert told["plan"]["measures"] == ["AP"]
    assert told["command"].startswith("karatage")
    assert "judges" not in told["plan"]  # files are named by the command and by plan.toml


@pytest.fixture
def few_charts(monkeypatch):
    """They take their time, and follow from what was found."""
    monkeypatch.setattr("karatage.views.aware._list_effects", lambda *_: ())


@pytest.mark.soak  # tests/contracts/test_resuming kills another experiment in the gate
@pytest.mark.usefixtures("few_charts")
def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path):
    arguments = ["-j", "simulated:12", *TINY[2:], "--sizes", "2-11", "--samples", "20", "-q"]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    run(*arguments, "-o", whole)
    command = [sys.executable, "-m", "karatage", "experiment", "aware", *arguments, "-o", str(cut)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and len(list((cut / "cells").glob("correlation*.parquet"))) < 2:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    early = len(list((cut / "cells").glob("*.parquet")))
    assert 3 <= early < 11, "killed too late to tell"
    run(*arguments, "-o", cut)
    names = [path.relative_to(whole) for path in whole.rglob("*") if path.is_file() and path.parent.name != "cells"]
    assert {"results.parquet", "results.csv", "findings.json", "anova.tsv", "tables.txt"} <= set(map(str, names))
    for name in names:
        assert (cut / name).read_bytes() == (whole / name).read_bytes(), name


@pytest.mark.usefixtures("few_charts")
def test_a_resumed_run_says_so(tmp_path):
    command = [*TINY, "--sizes", "2", "--samples", "3", "-o", tmp_path]
    first, _ = run(*command)
    again, err = run(*command)
    assert again == first
    assert has_line(err, "note", 2, 2, "cells")
    assert not has_line(run(*command, "--fresh")[1], "note", 2, 2, "cells")
    assert "'sizes'" in run(*TINY, "--sizes", "3", "-o", tmp_path)[1]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["-a", "mw"], UnknownNameError, "'mv'"),
        (["--sizes", "80-90"], OptionError, r"\b80\b.*\b31\b"),
        (["runs"], OptionError, "judges"),
        (["runs", "-j", "simulated:3"], OptionError, "qrels"),
        (["--engine", "spark://x"], OptionError, "'spark://x'"),
        (["--correlation", "1.5"], OptionError, r"\b1\.5\b"),
    ],
)
def test_requests_that_cannot_be_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        run("--preset", "small", *arguments)


def test_what_was_asked_for_is_in_the_plan(folder):
    lines = (folder[0] / "plan.toml").read_text().splitlines()
    for line in (
        'judges = ["simulated:5"]',
        "correlations = [0.0, 0.9]",
        'measures = ["AP"]',
        'approaches = ["uniform", "sgl_tau_msd", "mv"]',
        "sizes = [2, 3]",
        "samples = 3",
        "replicates = 8",
    ):
        assert line in lines
