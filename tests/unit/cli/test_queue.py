"""`karatage queue`, and the whole loop of judging from the command line."""

from __future__ import annotations

import json
import shlex
from decimal import Decimal

import polars as pl
import pytest

import karatage as kt
from karatage.errors import KaratageError
from tests.invoking import invoke
from tests.notes import gives

BASE = "queue runs --budget 300 --prices A --indifference 0.03"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("queue")
    world = kt.simulation.simulate_collection(systems=5, topics=15, depth=20, rng=2)
    for system in world.runs.systems:
        kt.write_run(world.runs, system, home / "runs" / f"{system}.gz")
    kt.write_judgments(world.judgments, home / "judgments.csv")
    kt.write_judgments(world.gold, home / "gold.qrels")
    return home


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def call(command, code=0):
        result = invoke(shlex.split(command))
        if code:
            assert isinstance(result.exception, KaratageError), result.output
            return str(result.exception)
        assert result.exit_code == 0, result.output + str(result.exception)
        return result.output

    return call


def test_the_queue_says_who_judges_what_at_what_cost(run, folder):
    said = run("queue runs --budget 150.75 --prices expert=10,crowd=0.15 --indifference 0.03 -o queue.csv -q")
    assert gives(said, 7, 107, "150.25")
    frame = pl.read_csv(folder / "queue.csv")
    assert frame.columns[:8] == ["topic", "document", "grade", "to", "judgments", "priority", "pi", "cost"]
    assert frame["cost"].sum() == 150.25
    assert frame.filter(pl.col("to") == "crowd")["pi"].null_count() == 107
    assert frame.filter(pl.col("to") == "expert")["pi"].null_count() == 0
    assert max(map(len, said.splitlines())) <= 80


def test_json_and_tsv_hold_the_queue(run):
    found = json.loads(run(f"{BASE} -f json -q"))
    assert found["stop"] is False
    assert Decimal(found["cost"]) == 300
    table = run(f"{BASE} --order depth -f tsv -q")
    assert table.splitlines()[0].split("\t")[:2] == ["topic", "document"]
    assert len(table.splitlines()) == 166


def test_every_option_changes_the_queue(run):
    def count(options):
        items = pl.DataFrame(json.loads(run(f"{BASE} -f json -q --order depth {options}"))["items"])
        return dict(items.group_by("to").len().iter_rows()), items

    assert count("--expert-share 1")[0] == {"expert": 30}
    assert count("--per-item 3")[1].filter(to="crowd")["judgments"][0] == 3
    assert count("--prices B")[0] == {"expert": 30, "crowd": 75}
    assert count("")[0] == {"expert": 15, "crowd": 150}
    assert not count("--order thompson --seed 5")[1].equals(count("--order thompson")[1])
    assert count("-m P@3 --depth 4 --budget 5000")[1]["document"].n_unique() <= 15 * 4 * 5
    one = json.loads(run(f"{BASE} -f json -q --best 1"))["settling"]["pairs"]
    assert one == 4
    assert json.loads(run(f"{BASE} -f json -q --a system-01 --b system-03"))["settling"]["pairs"] == 1
    assert json.loads(run(f"{BASE} -f json -q -m AP --risk 0.3"))["order"] == "thompson"


@pytest.mark.parametrize(("order", "measure"), [("", "P@10"), ("--order move-to-front", "nDCG@10")])
def test_the_whole_loop_ends(run, folder, order, measure):
    """Queue, judge (simulated), aggregate, evaluate, queue again, until it says stop."""
    for path in folder.glob("*-[0-9]*.csv"):
        path.unlink()
    crowd, experts, spent = [], [], Decimal(0)
    for n in range(1, 16):
        given = " ".join([*(f"-j {file}" for file in crowd), *(f"-g {file}" for file in experts)])
        said = run(f"{BASE} -m {measure} {order} --seed {n} {given} -o queue-{n}.csv")
        if "Stop judging" in said:
            break
        spent += Decimal(pl.read_csv(folder / f"queue-{n}.csv")["cost"].sum())
        answers = f"--judged judged-{n}.csv --seed {n} -o crowd-{n}.csv"
        run(f"simulate gold.qrels --model careful --queue queue-{n}.csv {answers} -q")
        crowd += [name for name in (f"crowd-{n}.csv",) if (folder / name).exists()]
        experts += [name for name in (f"judged-{n}.csv",) if (folder / name).exists()]
        gold = " ".join(f"-g {file}" for file in experts)
        run(f"aggregate {' '.join(crowd)} -a mv {gold} --with-gold -o merged.qrels -q")
        board = run(f"evaluate runs -j merged.qrels -m {measure} -g gold.qrels -f json -q")
    assert n > 2
    assert "Settled" in said
    assert "without rows" in said
    assert len(pl.read_csv(folder / f"queue-{n}.csv")) == 0
    batches = [pl.read_csv(folder / f"queue-{k}.csv", schema_overrides={"grade": pl.String}) for k in range(1, n)]
    assert [frame["batch"][0] for frame in batches] == list(range(1, n))
    items = pl.concat([frame.select("topic", "document", "to") for frame in batches])
    assert items.is_duplicated().sum() == 0
    assert spent <= 300 * (n - 1)
    assert json.loads(board)["fidelity"]


def test_a_disagreement_model_is_learnt_saved_and_used(run, folder):
    said = run(f"{BASE} --order disagreement -j judgments.csv --save-disagreement model.json -f json -q")
    again = run(f"{BASE} --order disagreement -j judgments.csv --disagreement model.json -f json -q")
    assert json.loads(said)["items"] == json.loads(again)["items"]
    assert kt.experiments.read_disagreement(folder / "model.json").topics


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("queue --budget 300 --prices A", "no runs were given"),
        ("queue runs --prices A", "--budget"),
        ("queue runs --budget 300", "--prices"),
        ("queue runs --budget 0 --prices A", "the budget is 0; give more than 0"),
        ("queue runs --budget -5 --prices A", "the budget is -5; give more than 0"),
        ("queue runs --budget nan --prices A", "nan, which is not an amount"),
        ("queue runs --budget lots --prices A", "which is not a number"),
        ("queue runs --budget 0.5 --prices A", "buys nothing"),
        ("queue runs --budget 300 --prices expert=-4,crowd=1", "-4; give more than 0"),
        ("queue runs --budget 300 --prices expert=4", "crowd is missing"),
        ("queue runs --budget 300 --prices C", "write A"),
        ("queue runs/system-01.gz --budget 300 --prices A", "only one system, 'system-01'"),
        ("queue runs --budget 300 --prices A --a system-01", "one of a and b is missing"),
        ("queue runs --budget 300 --prices A --a system-01 --b nobody", "unknown system 'nobody'"),
        ("queue runs --budget 300 --prices A --order front", "unknown order 'front'"),
        ("queue runs --budget 300 --prices A --order disagreement", "--disagreement"),
        ("queue runs --budget 300 --prices A --order effect -m AP", "AP is not a weighted sum"),
        ("queue runs --budget 300 --prices A --depth 0", "pool of depth 0"),
        ("queue runs --budget 300 --prices A --per-item 0", "for --per-item. Must be >= 1"),
        ("queue runs --budget 300 --prices A -o queue.xls", "cannot tell the queue's format"),
        (
            "queue runs --budget 300 --prices A -g gold.qrels -o ./gold.qrels",
            "gold.qrels would be overwritten, but it is read",
        ),
        (
            "queue runs --budget 300 --prices A --disagreement m.json --order depth",
            "is a model for --order disagreement",
        ),
        ("queue runs --budget 300 --prices A -g unknown.qrels", "none of the 1 document judged by experts"),
        ("queue runs --budget 300 --prices A -j other.csv", "none of the 1 document judged by the crowd"),
        ("queue runs --budget 300 --prices A -g crowd-only.csv", "no row is for an expert"),
        ("queue runs --budget 300 --prices A -g blank.csv", "no expert's row has a grade yet"),
        ("queue runs --budget 300 --prices A -g bad.csv", "bad.csv:3: "),
        ("queue runs --budget 300 --prices A --disagreement gold.qrels --order disagreement", "gold.qrels"),
    ],
)
def test_bad_input_is_told_clearly(run, folder, command, message):
    (folder / "unknown.qrels").write_text("101 0 nobody-has-it 1\n")
    (folder / "other.csv").write_text("judge,topic,document,grade\nann,999,d1,1\n")
    head = "topic,document,grade,to,judgments,priority,pi,cost,batch,order,seed\n"
    (folder / "crowd-only.csv").write_text(f"{head}101,doc-000-001,,crowd,5,1,,1,1,depth,0\n")
    (folder / "blank.csv").write_text(f"{head}101,doc-000-001,,expert,1,1,,10,1,depth,0\n")
    rows = "101,doc-000-001,1,expert,1,1,,10,1,depth,0\n101,doc-000-002,x,expert,1,2,,10,1,depth,0\n"
    (folder / "bad.csv").write_text(f"{head}{rows}")
    assert message in run(command, 2)


def test_documents_outside_the_pool_are_told_and_kept_apart(run, folder):
    known = "101 0 doc-000-001 1\n101 0 nobody-has-it 1\n"
    (folder / "mixed.qrels").write_text(known)
    found = json.loads(run(f"{BASE} -g mixed.qrels -f json -q"))
    assert found["by_experts"] == 1
    assert "nobody-has-it" not in {item["document"] for item in found["items"]}


@pytest.mark.parametrize(("share", "left_out"), [("0", "judged-x.csv"), ("1", "crowd-x.csv")])
def test_a_side_with_nothing_to_do_does_not_stop_the_loop(run, folder, share, left_out):
    run(f"{BASE} --order depth --expert-share {share} -o queue-x.csv -q")
    for name in ("judged-x.csv", "crowd-x.csv"):
        (folder / name).unlink(missing_ok=True)
    said = run("simulate gold.qrels --model careful --queue queue-x.csv --judged judged-x.csv -o crowd-x.csv")
    assert f"{left_out} is not written" in said
    assert {path.name for path in folder.glob("*-x.csv")} == {"queue-x.csv", "judged-x.csv", "crowd-x.csv"} - {left_out}
