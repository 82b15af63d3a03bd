"""What the command line prints, to the letter. KARATAGE_UPDATE_GOLDEN=1 writes the transcripts anew."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from karatage.cli.app import main
from tests.invoking import invoke

HERE = Path(__file__).parent
TRANSCRIPTS = {
    "demo": "demo",
    "evaluate-one-approach": "evaluate demo/runs -j demo/judgments.csv -a mv --seed 3",
    "evaluate-measures": "evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels -m AP -m 'P(rel=2)@5' --top 3",
    "evaluate-many-columns": "evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels -a 'judge:*' --top 2",
    "evaluate-tsv": "evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels -a uniform -f tsv",
    "evaluate-models": "evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels -a ds -a nb --draws 200 --top 4",
    "evaluate-weights": "evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels -m AP -a sgl_rmse_own4 "
    "-a sgl_tau_msd -a sup_tau_cubed --weights --explain --top 3 --train 30%",
    "evaluate-expected": "evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels -m AP -a binmv -a expected:ds "
    "--draws 200 --gold-certainty 0.95 --top 3",
    "aggregate": "aggregate demo/judgments.csv --top 5",
    "aggregate-judges": "aggregate demo/judgments.csv -a zc -g demo/gold.qrels --supervision none --judges -",
    "audit": "audit demo/judgments.csv -g demo/gold.qrels",
    "doctor": "doctor demo/runs -j demo/judgments.csv -g demo/judged-queue.csv -m DCG@10 --a system-12 --b system-11",
    "doctor-no-gold": "doctor demo/runs -j demo/judgments.csv -m nDCG@10",
    "compare": "compare demo/runs -j demo/judgments.csv -g demo/judged-queue.csv -m DCG@10 --a system-12 --b system-11",
    "compare-all": "compare demo/runs -j demo/judgments.csv -g demo/gold.qrels -m nDCG@10 --top 6",
    "compare-figures": "compare --figures-a 10278,0.6260,0.414 --figures-b 20604,0.6385,0.402 --rates 43/59,67/84",
    "compare-refused": "compare --figures-a 50,0.527,0.240 --figures-b 50,0.513,0.260 --rates 17/38,216/262 "
    "--rates-b 14/50,230/285",
    "compare-no-gold": "compare demo/runs -j demo/judgments.csv -m AP --a system-12 --b system-11 --test permutation",
    "plan": "plan demo/runs -j demo/judgments.csv --budget 200 -m DCG@10 --a system-12 --b system-11 -o plan/queue.csv",
    "plan-leaderboard": "plan demo/runs -j demo/judgments.csv --budget 300 --looks 2 --seed 3",
    "plan-figures": "plan --figures-a 10278,0.6260,0.414 --figures-b 20604,0.6385,0.402 --rates 43/59,67/84 "
    "--power 0.8 --prices 0.1,2,2 --depth 3 --budget 20000",
    "plan-refused": "plan --figures-a 50,0.527,0.240 --figures-b 50,0.513,0.260 --rates 17/38,216/262 "
    "--rates-b 14/50,230/285",
    "queue": "queue demo/runs -j demo/judgments.csv -g demo/judged-queue.csv -m DCG@10 --indifference 0.1 --best 1 "
    "--budget 250 --prices expert=4,crowd=0.05 -o next/queue.csv",
    "queue-first": "queue demo/runs -m nDCG@10 --order thompson --budget 100 --prices B",
    "queue-stop": "queue demo/runs -g demo/gold.qrels -m AP --budget 100 --prices A",
    "simulate": "simulate demo/gold.qrels --model hcb --seed 3 -o crowd.csv",
    "simulate-list": "simulate --list",
    "simulate-like": "simulate demo/gold.qrels --like demo/judgments.csv --save own.json",
    "simulate-collection": "simulate --collection world --systems 8 --topics 20 --depth 30 --pool 10 --model careful",
    "benchmark": "benchmark -j demo/judgments.csv -g demo/gold.qrels -a mv -a ds -a zc --amounts 50",
    "experiment-aware": "experiment aware demo/runs -j demo/judgments.csv -g demo/gold.qrels -m AP -a uniform "
    "-a sgl_tau_msd -a tpc_rmse_own4 -a mv --sizes 2-4 --samples 6 --replicates 8",
    "experiment-noisy": "experiment noisy --study ebay --study trec --study dcg",
    "experiment-collaborative": "experiment collaborative demo/runs -g demo/gold.qrels --preset small",
    "evaluate-per-topic": "evaluate demo/runs/system-01.gz -j demo/judgments.csv -m P@5 -a uniform --per-topic",
}


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("karatage.cli.demo._Telling.draw", lambda _: "")  # the page takes longest; nobody reads it
        assert invoke(["demo", "-q"]).exit_code == 0
    return folder


@pytest.fixture
def run(demo_folder, monkeypatch, capsys):
    monkeypatch.chdir(demo_folder)

    def call(command):
        monkeypatch.setattr(sys, "argv", ["karatage", *shlex.split(command)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return stop.value.code or 0, out, err

    return call


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_transcript(run, name):
    code, out, err = run(TRANSCRIPTS[name])
    found = f"$ karatage {TRANSCRIPTS[name]}\n{out}--- notes\n{err}"
    golden = HERE / f"{name}.txt"
    if os.environ.get("KARATAGE_UPDATE_GOLDEN"):
        golden.write_text(found)
    assert code == 0
    assert found == golden.read_text()


@pytest.mark.parametrize("name", [n for n in TRANSCRIPTS if "tsv" not in n and "topic" not in n])
def test_tables_fit_80_columns(name):
    body = (HERE / f"{name}.txt").read_text().split("--- notes")[0]
    commands = re.compile(r"^(\$|Wrote)")
    assert max(len(line) for line in body.splitlines() if not commands.match(line)) <= 80


def test_output_goes_to_a_file_in_the_format_of_its_name(run, demo_folder):
    base = "evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels -q -o"
    for ending in ("json", "tsv", "csv", "parquet", "txt"):
        code, out, err = run(f"{base} out/board.{ending}")
        assert (code, out, err) == (0, "", "")
    board = json.loads((demo_folder / "out/board.json").read_text())
    frame = pl.read_parquet(demo_folder / "out/board.parquet")
    assert frame["score"].to_list()[:12] == [row["score"] for row in board["rows"][:12]]
    tsv = pl.read_csv(demo_folder / "out/board.tsv", separator="\t")
    assert tsv["system"].to_list() == frame["system"].to_list()
    assert "Distance to gold" in (demo_folder / "out/board.txt").read_text()


def test_unknown_ending_is_refused(run):
    code, out, err = run("evaluate demo/runs -j demo/judgments.csv -o board.xlsx")
    assert (code, out) == (2, "")
    assert (
        err == "error: board.xlsx: cannot tell the format; use .txt, .csv, .tsv, .json or .parquet, or pass --format\n"
    )


def test_runs_come_by_argument_option_and_standard_input(run, demo_folder):
    _, by_argument, _ = run("evaluate demo/runs -j demo/judgments.csv -f tsv")
    _, by_option, _ = run("evaluate --runs 'demo/runs/*.gz' -j demo/judgments.csv -f tsv")
    script = "zcat demo/runs/*.gz | " + shlex.quote(sys.executable)
    piped = subprocess.run(
        f"{script} -m karatage evaluate - -j demo/judgments.csv -f tsv",
        shell=True,
        cwd=demo_folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert by_argument == by_option == piped.stdout


def test_no_runs_teaches(run):
    code, _, err = run("evaluate -j demo/judgments.csv")
    assert code == 2
    assert err.startswith("error: no runs were given; name run files or a folder")


def test_version(run):
    assert run("--version")[1] == "karatage 0.1.0\n"


def test_seed_matters_where_a_coin_decides(run):
    command = "evaluate demo/runs -j demo/judgments.csv -a mv -f tsv --seed"
    assert run(f"{command} 1")[1] == run(f"{command} 1")[1]
    assert run(f"{command} 1")[1] != run(f"{command} 2")[1]
