"""Unit tests of `karatage simulate`: its three jobs, its queue, and what it refuses."""

import json
import math
import shlex
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.data.crowd import Contribution, Correlation, CrowdModel
from karatage.errors import KaratageError
from karatage.simulation.answering import summarise_crowd
from tests.invoking import invoke
from tests.notes import gives, has_line

SMALL = CrowdModel(
    name="small",
    source="one kind of judge",
    judges=10,
    judgments=100,
    balance=np.array([0.8, 0.2]),
    voxel=np.array([[8, 8, 1]], np.int32),
    share=np.array([1.0]),
    mean=np.array([[0.85, 0.85, round(math.log(0.35), 5)]]),
    covariance=np.diag([1e-4, 1e-4, 1e-3])[None],
    contribution=Contribution(0.01, math.nan, math.nan),
)
QUEUE = "topic,document,grade,to,judgments,priority,pi,cost,batch,order,seed\n"


def show(items):
    return [f"{topic},{document},,expert,1,1,,4,1,depth,0\n" for topic, document in items]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("simulate")
    world = kt.simulation.simulate_collection(systems=3, topics=6, depth=20, rng=3)
    kt.write_judgments(world.gold, home / "gold.qrels")
    kt.write_judgments(world.judgments, home / "judges.csv")
    items = world.gold.to_frame().select("topic", "document").rows()
    asked = show(items[:10]) + [line.replace("expert,1", "crowd,3") for line in show(items[10:40])]
    (home / "queue.csv").write_text(QUEUE + "".join(asked))
    (home / "experts.csv").write_text(QUEUE + "".join(show(items[:10])))
    (home / "crowd-only.csv").write_text(QUEUE + "".join(asked[10:]))
    (home / "families.tsv").write_text("".join(f"{j}\t{j.split('-')[0]}\n" for j in world.judgments.judges))
    (home / "zero.qrels").write_text("101 0 doc-000-000 0\n")
    (home / "other.csv").write_text("judge,topic,document,grade\nann,9,x,1\nbob,9,x,0\n")
    kt.simulation.write_crowd(kt.simulation.load_crowd("careful"), home / "careful-copy.json")
    kt.simulation.write_crowd(SMALL, home / "small.json")
    return home


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def call(command):
        return invoke(shlex.split(f"simulate {command}"))

    return call


@pytest.fixture(scope="module")
def gold(folder):
    return kt.read_gold(folder / "gold.qrels")


def refusal(result):
    assert isinstance(result.exception, KaratageError), result
    return str(result.exception)


def same(judgments, other):
    return (
        judgments.to_frame()
        .sort("judge", "topic", "document")
        .equals(other.to_frame().sort("judge", "topic", "document"))
    )


def test_a_crowd_on_gold_is_the_librarys(run, folder, gold):
    result = run("gold.qrels --model small.json --per-item 4 --judges 30 --seed 5 -o out/crowd.csv")
    assert result.exit_code == 0
    expected = kt.simulation.simulate_crowd(gold, SMALL, per_item=4, judges=30, rng=5)
    assert same(kt.read_judgments(folder / "out/crowd.csv"), expected)
    assert max(map(len, result.stdout.splitlines())) <= 80
    text = " ".join(result.stdout.split())
    assert summarise_crowd(expected, gold).sentence in text
    assert gives(text, 960, "out/crowd.csv")
    assert "note: " in result.stderr


def test_gold_may_be_an_option_and_quiet_says_nothing_else(run):
    result = run("-g gold.qrels --model small.json -q")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert gives(result.stdout, "-o crowd.csv")


def test_a_saved_model_is_the_model(run, folder):
    by_name = run("gold.qrels --model careful -f tsv -q")
    by_file = run("gold.qrels --model careful-copy.json -f tsv -q")
    assert by_name.stdout == by_file.stdout
    assert by_name.stdout.startswith("judge\ttopic\tdocument\tgrade\n")


def test_seeds_and_options_matter(run):
    base = run("gold.qrels --model small.json -f tsv -q").stdout
    assert base == run("gold.qrels --model small.json -f tsv -q").stdout
    for option in ("--seed 1", "--per-item 3", "--judges 12", "--model careful"):
        assert base != run(f"gold.qrels --model small.json -f tsv -q {option}").stdout


def test_hcb_is_the_default(run):
    assert gives(run("gold.qrels --judges 20").stderr, "'hcb'")


def test_independent_judges_share_no_errors(run, folder, gold):
    kt.simulation.write_crowd(replace(SMALL, correlation=Correlation(item=0.6)), folder / "together.json")
    shared = json.loads(run("gold.qrels --model together.json -f json").stdout)
    apart = json.loads(run("gold.qrels --model together.json --independent -f json").stdout)
    assert shared["correlation"] > 0.2 > abs(apart["correlation"]) + 0.1
    assert apart["seed"] == 0


def test_json_has_everything(run):
    result = run("gold.qrels --model small.json -f json -o out/again.parquet")
    told = json.loads(result.stdout)
    assert told["written"] == {"crowd": "out/again.parquet"}
    assert told["sentence"] in result.stderr
    assert sum(row["judges"] for row in told["bands"]) == len(told["judges"])


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "csv.gz"])
def test_judgments_in_any_format_read_back(run, folder, ending):
    assert run(f"gold.qrels --model small.json -q -o fmt.{ending}").exit_code == 0
    assert len(kt.read_judgments(folder / f"fmt.{ending}").grade) == 1200


def test_the_list_of_crowds(run):
    result = run("--list")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    for name in kt.simulation.list_crowds():
        assert f"\n {name} " in result.stdout
    assert [row["model"] for row in json.loads(run("--list -f json").stdout)] == list(kt.simulation.list_crowds())
    assert len(run("--list -f tsv").stdout.splitlines()) == len(kt.simulation.list_crowds()) + 1


def test_a_crowd_like_the_users_judges(run, folder, gold):
    result = run("gold.qrels --like judges.csv --grades 0=0,1=1,2=1,3=1 --save own.json -o own.csv")
    assert result.exit_code == 0, result.exception
    model = kt.simulation.read_crowd(folder / "own.json")
    assert model.name == "own"
    assert model.judges == 9
    assert len(kt.read_judgments(folder / "own.csv").grade) == 1200
    assert model.notes
    assert all(f"note: {note}\n" in result.stderr for note in model.notes)
    again = run("gold.qrels --model own.json --grades 0=0,1=1,2=1,3=1 -f tsv -q")
    written = pl.read_csv(folder / "own.csv", infer_schema=False)
    assert pl.read_csv(again.stdout.encode(), separator="\t", infer_schema=False).equals(written)


def test_save_alone_only_learns(run, folder):
    result = run("--like judges.csv --like-gold gold.qrels --families families.tsv --save learned.json")
    assert result.exit_code == 0, result.exception
    model = kt.simulation.read_crowd(folder / "learned.json")
    assert set(model.families) == {"careful", "crowd", "llm", "spammer"}
    assert max(map(len, result.stdout.splitlines())) <= 80
    text = " ".join(result.stdout.split())
    assert gives(text, "learned.json")


def test_gold_for_the_judgments_may_be_another_than_what_is_judged(run, folder, gold):
    frame = gold.to_frame().select("topic", "document", "grade")
    frame.head(50).write_csv(folder / "part.csv")
    result = run("part.csv --like judges.csv --like-gold gold.qrels -o part-crowd.csv")
    assert result.exit_code == 0, result.exception
    assert len(kt.read_judgments(folder / "part-crowd.csv").item_topic) == 50


def test_a_chart_of_the_grid(run, folder):
    assert run("gold.qrels --model small.json --chart out/grid.svg -q").exit_code == 0
    assert "<svg" in (folder / "out/grid.svg").read_text()
    alone = run("--model small.json --chart out/alone.html")
    assert alone.exit_code == 0
    assert gives(alone.stdout, "out/alone.html")
    assert (folder / "out/alone.html").stat().st_size > 10_000


def test_a_queue_is_judged_by_experts_and_crowd(run, folder, gold):
    result = run("gold.qrels --model small.json --queue queue.csv -o asked.csv --judged judged.csv")
    assert result.exit_code == 0, result.exception
    crowd, judged = kt.read_judgments(folder / "asked.csv"), pl.read_csv(folder / "judged.csv")
    assert len(crowd.grade) == 90
    assert len(crowd.item_topic) == 30
    assert judged["grade"].to_list() == gold.grade[:10].tolist()
    assert judged.columns == QUEUE.strip().split(",")
    assert kt.read_gold(folder / "judged.csv").grade.tolist() == gold.grade[:10].tolist()
    text = " ".join(result.stdout.split())
    assert gives(text, 10, "experts", "judged.csv", 90, "crowd", "asked.csv")


def test_a_queue_of_experts_alone(run, folder):
    result = run("gold.qrels --queue experts.csv --judged judged-2.csv")
    assert result.exit_code == 0
    assert gives(result.stdout, 10)
    assert len(pl.read_csv(folder / "judged-2.csv")) == 10
    assert json.loads(run("gold.qrels --queue experts.csv -f json").stdout)["written"] == {}
    assert run("gold.qrels --queue experts.csv -f tsv -q").stdout.startswith("topic\tdocument\tgrade\n101\t")


def test_what_is_not_written_is_told(run):
    shown = " ".join(run("gold.qrels --model small.json --queue queue.csv").stdout.split())
    assert gives(shown, "experts", "--judged judged.csv")
    assert gives(shown, "crowd", "-o crowd.csv")


def test_a_plan_of_gold_can_be_judged(run, folder, gold):
    frame = gold.to_frame().select("topic", "document").head(5)
    frame.with_columns(grade=pl.lit(None), pi=pl.lit(0.5), batch=pl.lit(1)).write_csv(folder / "plan.csv")
    assert run("gold.qrels --queue plan.csv --judged plan-judged.csv -q").exit_code == 0
    assert kt.read_gold(folder / "plan-judged.csv").draw.pi.tolist() == [0.5] * 5


@pytest.fixture(scope="module")
def made(folder, tmp_path_factory):
    home = tmp_path_factory.mktemp("made") / "world"
    options = (
        "--systems 5 --topics 4 --depth 20 --documents 60 --pool 8 --relevant 0.2 --quality 0.5,2 --difficulty 0.3"
    )
    result = invoke(
        ["simulate", "--collection", str(home), *options.split(), "--model", str(folder / "small.json"), "--seed", "6"],
    )
    assert result.exit_code == 0, result.exception
    shape = kt.simulation.CollectionShape(documents=60, pool=8, relevant=0.2, quality=(0.5, 2.0), difficulty=0.3)
    return home, result, kt.simulation.simulate_collection(systems=5, topics=4, depth=20, shape=shape, rng=6)


def test_a_collection_is_the_librarys_in_ordinary_files(made):
    home, _, world = made
    runs = kt.read_runs(home / "runs")
    assert runs.systems == world.runs.systems
    np.testing.assert_array_equal(runs.listed, world.runs.listed)
    assert same(kt.read_gold(home / "gold.qrels"), world.pool)
    assert same(kt.read_gold(home / "truth/gold.qrels"), world.gold)
    assert same(kt.read_judgments(home / "judgments.csv"), kt.simulation.simulate_crowd(world.pool, SMALL, rng=6))
    systems = pl.read_csv(home / "truth/systems.tsv", separator="\t")
    assert systems.rows() == world.systems.rows()
    topics = pl.read_csv(home / "truth/topics.tsv", separator="\t")
    assert topics["pooled"].to_list() == world.topics["pooled"].to_list()
    assert topics["difficulty"].to_list() == pytest.approx(world.difficulty.tolist())


def test_a_collection_ends_in_a_command_that_runs(made):
    home, result, _ = made
    *lines, last = result.stdout.splitlines()
    assert max(len(line) for line in lines if str(home) not in line) <= 80
    assert last.startswith("$ karatage evaluate ")
    done = invoke(shlex.split(last.removeprefix("$ karatage ")))
    assert done.exit_code == 0, done.exception


def test_a_collection_for_machines(run, folder):
    told = json.loads(run("--collection small --systems 2 --topics 2 --depth 5 --model small.json -f json").stdout)
    assert told["folder"] == "small"
    assert len(told["truth"]["systems"]) == 2
    assert told["crowd"]["items"] == 20
    table = run("--collection small --systems 2 --topics 2 --depth 5 --model small.json -f tsv -q").stdout
    assert table.startswith("system\tquality\n")


def test_the_usual_collection_is_that_of_the_library(run, folder):
    assert run("--collection usual --model small.json -q").exit_code == 0
    world = kt.simulation.simulate_collection(rng=0)
    assert same(kt.read_gold(folder / "usual/gold.qrels"), world.gold)


def test_runs_of_another_collection_are_not_mixed_in(run):
    assert run("--collection mixed --systems 3 --topics 2 --depth 5 --model small.json -q").exit_code == 0
    said = refusal(run("--collection mixed --systems 2 --topics 2 --depth 5 --model small.json"))
    assert has_line(said, "mixed/runs", "'system-03.gz'")


def test_judges_with_fewer_grades_than_the_collection(run, folder):
    frame = kt.read_judgments(folder / "judges.csv", grades="0=0,1=1,2=2,3=2")
    kt.write_judgments(frame, folder / "three.csv")
    kt.write_judgments(kt.read_gold(folder / "gold.qrels", grades="0=0,1=1,2=2,3=2"), folder / "three.qrels")
    result = run("--collection graded --systems 2 --topics 2 --depth 10 --like three.csv --like-gold three.qrels")
    assert result.exit_code == 0, result.exception
    assert gives(result.stderr, 0, 2)
    assert kt.read_judgments(folder / "graded/judgments.csv").top_grade <= 2


def test_another_collection_is_not_written_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = "--systems 3 --depth 5 --documents 10"
    assert invoke(shlex.split(f"simulate --collection w --topics 4 {options} -q")).exit_code == 0
    assert invoke(shlex.split(f"simulate --collection w --topics 4 {options} -q")).exit_code == 0
    refused = invoke(shlex.split(f"simulate --collection w --topics 5 {options} -q"))
    assert isinstance(refused.exception, kt.KaratageError)
    assert "w" in str(refused.exception)
    assert len(pl.read_csv("w/truth/topics.tsv", separator="\t")) == 4
