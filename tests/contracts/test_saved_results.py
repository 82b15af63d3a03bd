"""What commands write as JSON, `karatage report` reads: for every command that says something of results."""

import json
import shlex
import sys

import pytest

import karatage as kt
from karatage.views.showing import lay_out
from tests.invoking import invoke

FILES = "runs -j judgments.csv -g gold.qrels"
FIGURES = "--figures-a 10278,0.6260,0.414 --figures-b 20604,0.6385,0.402 --rates 43/59,67/84"
PARTS = "--sizes 2 --samples 2 --replicates 4"
COMMANDS = {
    "aggregate": "aggregate judgments.csv -a ds",
    "aggregate with gold": "aggregate judgments.csv -g gold.qrels -a mv",
    "audit": "audit judgments.csv -g gold.qrels",
    "audit alone": "audit judgments.csv --pairs",
    "benchmark": "benchmark -j judgments.csv -g gold.qrels -a mv -a ds --amounts 50",
    "board": f"compare {FILES} -m P@5",
    "collaborative": (
        "experiment collaborative runs -g gold.qrels --crowd careful --order depth -a mv -m P@5 --samples 2 "
        "--resamples 3"
    ),
    "collaborative, simulated": "experiment collaborative --preset small --order depth --resamples 3",
    "comparison": f"compare {FILES} -m P@5 --a system-01 --b system-02",
    "comparison of figures": f"compare {FIGURES}",
    "aware": f"experiment aware {FILES} -m AP -a uniform -a mv {PARTS}",
    "aware, simulated": f"experiment aware --preset small -j simulated:4 -m AP -a uniform -a mv {PARTS}",
    "doctor": f"doctor {FILES} -m P@5",
    "evaluation": f"evaluate {FILES} -m AP -m P@5 -a mv -a uniform",
    "evaluation in full": f"evaluate {FILES} -m AP -a mv -a sgl_tau_msd --per-topic --weights --draws 3",
    "noisy": "experiment noisy --preset small --simulations 20",
    "plan": "plan runs -j judgments.csv -m P@5 --budget 8",
    "plan of sizes": f"plan {FIGURES}",
    "queue": "queue runs --budget 20 --prices A",
    "queue, begun": "queue runs -g gold.qrels --budget 20 --prices A -o queue.csv",
    "random-relevance": f"experiment random-relevance {FILES} -m AP -a mv --sizes 2 --samples 2 --draws 4",
    "simulate": "simulate gold.qrels --model hcb",
    "simulate like": "simulate gold.qrels --like judgments.csv -o crowd.csv",
    "supervised": f"experiment supervised {FILES} -a sup_tau -a uniform {PARTS}",
    "supervised, simulated": f"experiment supervised --preset small -j simulated:4 -a sup_tau -a mv {PARTS}",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("saved")
    world = kt.simulation.simulate_collection(systems=3, topics=10, depth=10, rng=2)
    for system in world.runs.systems:
        kt.write_run(world.runs, system, home / "runs" / f"{system}.run")
    kt.write_judgments(world.judgments, home / "judgments.csv")
    kt.write_judgments(world.gold, home / "gold.qrels")
    return home


def run(command: str, monkeypatch) -> str:
    arguments = shlex.split(command)
    monkeypatch.setattr(sys, "argv", ["karatage", *arguments])
    result = invoke(arguments)
    assert result.exit_code == 0, result.output + str(result.exception)
    return result.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_writes_is_read(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    text = run(f"{COMMANDS[name]} -q -f json", monkeypatch)
    (folder / "found.json").write_text(text)
    saved = kt.read_result("found.json")
    told = json.loads(text)
    assert saved.result.sentence == told["sentence"]
    assert saved.result.to_dict()["kind"] == told["kind"]
    assert saved.command == f"karatage {COMMANDS[name]} -q -f json"
    assert lay_out(saved.result).sections
