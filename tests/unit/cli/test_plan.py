"""Unit tests of `karatage plan`, and of the way from a plan to a decision."""

import json
import shlex

import polars as pl
import pytest

import karatage as kt
from karatage.cli.parsing import parse_figures, parse_prices, parse_rates
from karatage.errors import KaratageError, OptionError
from tests.invoking import invoke
from tests.notes import gives

TABLE_4 = "--figures-a 50,0.527,0.240 --figures-b 50,0.513,0.260 --rates 17/38,216/262"
EBAY = "--figures-a 10278,0.6260,0.414 --figures-b 20604,0.6385,0.402 --rates 43/59,67/84"
FILES = "runs -j judge.csv -m DCG@10"
PAIR = "--a system-01 --b system-02"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("plan")
    world = kt.simulation.simulate_collection(systems=4, topics=16, depth=20, rng=3)
    graded = world.judgments
    for system in world.runs.systems:
        kt.write_run(world.runs, system, home / "runs" / f"{system}.gz")
    kt.write_judgments(graded.keep_rows(graded.judge == graded.judges.index("llm-small")), home / "judge.csv")
    kt.write_judgments(graded, home / "crowd.csv")
    kt.write_judgments(world.gold, home / "gold.qrels")
    return home


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def call(command):
        return invoke(shlex.split(command))

    return call


@pytest.fixture
def fill(folder):
    """Fill in gold's grades, of the first batches only where asked."""
    known = kt.read_gold(folder / "gold.qrels").to_frame()
    known = known.select("topic", "document", true=pl.col("grade").cast(pl.String))

    def write(queue, judged, *, upto=99):
        table = pl.read_csv(folder / queue, infer_schema=False).join(known, on=["topic", "document"], how="left")
        grade = pl.when(pl.col("batch").cast(pl.Int32) <= upto).then(pl.col("true")).otherwise(None)
        table.with_columns(grade=grade).drop("true").write_csv(folder / judged)

    return write


def refusal(result):
    assert isinstance(result.exception, KaratageError)
    return str(result.exception)


def test_the_summary_fits_the_page_and_ends_in_the_next_command(run, folder):
    result = run(f"plan {FILES} {PAIR} --budget 60 -o pair.csv")
    assert result.exit_code == 0
    *lines, last = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    assert gives(text, 60, "documents", 213, "±", 213, 82)
    assert last == "$ karatage compare runs -j judge.csv -g pair.csv -m DCG@10 --a system-01 --b system-02"
    assert "note: " in result.stderr
    queue = pl.read_csv(folder / "pair.csv")
    assert queue.columns == ["topic", "document", "grade", "pi", "batch", "batch_size", "measure", "frame", "seed"]
    assert len(queue) == queue["grade"].null_count() == 60


@pytest.mark.parametrize("systems", [PAIR, ""])
def test_from_a_plan_to_a_decision(run, fill, systems):
    planned = run(f"plan {FILES} {systems} --budget 90 --looks 3 -o way.csv -q")
    assert planned.exit_code == 0
    assert planned.stderr == ""
    then = planned.stdout.splitlines()[-1].removeprefix("$ karatage ").replace("way.csv", "way-judged.csv")
    then = then if systems else f"{then} {PAIR}"
    width = []
    for upto in (1, 2, 3):
        fill("way.csv", "way-judged.csv", upto=upto)
        answer = json.loads(run(f"{then} --claim these -f json -q").stdout)
        assert answer["refusal"] is None
        assert answer["corrected"]["way"] == "sampled"
        width.append(answer["corrected"]["difference"]["standard_error"])
    assert width[0] > width[1] > width[2]


def test_from_an_adaptive_plan_to_a_decision(run, fill):
    run(f"plan {FILES} --budget 120 --looks 2 -o first.csv -q")
    fill("first.csv", "first-judged.csv", upto=1)
    planned = run(f"plan {FILES} --judged first-judged.csv --budget 50 --claim these -o second.csv")
    assert planned.exit_code == 0
    assert "undecided" in planned.stdout
    last = planned.stdout.splitlines()[-1]
    assert last == "$ karatage compare runs -j judge.csv -g first-judged.csv -g second.csv -m DCG@10 --claim these"
    fill("second.csv", "second-judged.csv")
    answer = run(f"compare {FILES} -g first-judged.csv -g second-judged.csv {PAIR} --claim these -f json -q")
    before = run(f"compare {FILES} -g first-judged.csv {PAIR} --claim these -f json -q")
    errors = [json.loads(r.stdout)["corrected"]["difference"]["standard_error"] for r in (answer, before)]
    assert errors[0] < errors[1]
    third = run(f"plan {FILES} --judged first-judged.csv --judged second-judged.csv --budget 10 -f json -q")
    assert {row["batch"] for row in json.loads(third.stdout)["items"]} == {3}


def test_a_queue_for_other_systems_or_measures_is_refused(run, fill):
    run(f"plan {FILES} {PAIR} --budget 60 -o own.csv -q")
    fill("own.csv", "own-judged.csv")
    other = run(f"compare {FILES} -g own-judged.csv --a system-01 --b system-03 -f json -q")
    assert "systems" in json.loads(other.stdout)["refusal"]
    message = refusal(run(f"plan {FILES} --judged own-judged.csv --budget 10"))
    assert gives(message, "another plan")


def test_a_half_judged_batch_is_refused_by_line(run, fill, folder):
    run(f"plan {FILES} {PAIR} --budget 60 -o half.csv -q")
    fill("half.csv", "half-judged.csv")
    lines = (folder / "half-judged.csv").read_text().splitlines()
    topic, document, _, rest = lines[4].split(",", 3)
    lines[4] = f"{topic},{document},,{rest}"
    (folder / "half-judged.csv").write_text("\n".join(lines))
    for command in (f"compare {FILES} -g half-judged.csv {PAIR}", f"plan {FILES} {PAIR} --judged half-judged.csv"):
        message = refusal(run(f"{command} --budget 9" if command.startswith("plan") else command))
        assert "half-judged.csv:5: " in message
        assert gives(message, 1, 60, "batch 1")


def test_nothing_left_is_no_error_and_writes_nothing(run, fill, folder):
    run(f"plan {FILES} {PAIR} --budget 5000 -o census.csv -q")
    fill("census.csv", "census-judged.csv")
    result = run(f"plan {FILES} {PAIR} --budget 10 --judged census-judged.csv -o more.csv")
    assert result.exit_code == 0
    assert "more.csv" not in result.stdout
    assert not (folder / "more.csv").exists()


def test_every_format_holds_the_same_queue(run, folder):
    base = f"plan {FILES} {PAIR} --budget 20 -q"
    told = json.loads(run(f"{base} -f json").stdout)
    rows = run(f"{base} -f tsv").stdout.splitlines()
    assert len(rows) == 21
    assert rows[0].split("\t")[:4] == ["topic", "document", "grade", "pi"]
    assert [row.split("\t")[1] for row in rows[1:]] == [item["document"] for item in told["items"]]
    for ending in ("tsv", "jsonl", "parquet"):
        assert run(f"{base} -o out/queue.{ending}").exit_code == 0
    assert pl.read_parquet(folder / "out/queue.parquet")["pi"].to_list() == [item["pi"] for item in told["items"]]
    assert gives(refusal(run(f"{base} -o queue.json")), "queue.json", ".csv")


def test_every_option_changes_the_plan(run):
    def items(more):
        return json.loads(run(f"plan runs --budget 20 -q -f json {more}").stdout)

    base = items(f"-j judge.csv {PAIR}")
    assert base["measure"] == "P@10"
    assert items(f"-j judge.csv {PAIR} --seed 1")["items"] != base["items"]
    assert items(f"-j judge.csv {PAIR} --confidence 0.8")["these"] != base["these"]
    assert items(f"-j judge.csv {PAIR} --grades 0-7")["items"] == base["items"]
    assert items(f"-j crowd.csv {PAIR} -a judge:llm-small")["items"] == base["items"]
    assert items(f"-j crowd.csv {PAIR} -a judge:spammer")["items"] != base["items"]
    by_option = run(f"plan --judgments judge.csv --runs runs {PAIR} --budget 20 -q -f json")
    assert json.loads(by_option.stdout)["items"] == base["items"]
    assert items("-j judge.csv")["pairs"] == 6
    assert [b["labels"] for b in items(f"-j judge.csv {PAIR} --looks 3")["batches"]] == [7, 7, 6]


@pytest.mark.parametrize(
    ("command", "facts"),
    [
        ("", ["no runs"]),
        ("runs --budget 5", ["no judgments"]),
        (f"{FILES}", ["--budget"]),
        (f"{FILES} --budget 2.5", ["--budget 2.5"]),
        (f"{FILES} --budget 0", ["--budget 0"]),
        (f"{FILES} --budget 3 --looks 4", ["--budget 3", 4, "batches"]),
        (f"{FILES} --budget 3 --a system-01", ["a", "b", "missing"]),
        (f"{FILES} --budget 3 {TABLE_4}", ["RUNS", "--figures-a"]),
        (f"{TABLE_4} -m P@5", ["--measure"]),
        ("--power 0.8", ["--power", "--figures-a", "--figures-b", "--rates"]),
        (f"{EBAY} --budget 100", ["budget", "--prices"]),
        (f"{EBAY} --depth 2", ["--prices"]),
        (f"{EBAY} --split 1,1", ["--split '1,1'", 2]),
        (f"{EBAY} --prices 1,x,2", ["--prices '1,x,2'", "'x'"]),
    ],
)
def test_misuse_names_the_option_and_what_was_given(run, command, facts):
    assert gives(refusal(run(f"plan {command}")), *facts)


def test_table_4_of_the_paper(run):
    result = run(f"plan {TABLE_4} --rates-b 14/50,230/285")
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert gives(text, "1.000", "1.000", "2,454 topics")
    assert gives(text, 0.527)
    assert max(map(len, result.stdout.splitlines())) <= 80
    told = json.loads(run(f"plan {TABLE_4} --rates-b 14/50,230/285 -f json").stdout)
    assert (told["topics_without_errors"], told["judges"]) == (2454, "independent")
    assert [need["size"] for need in told["needs"]] == ["infinite"] * 5


def test_sizes_are_those_of_the_library(run, folder):
    more = "--power 0.8 --level 0.01 --difference 0.05 --split 0.5,0.25,0.25 --paired 0.3"
    told = json.loads(run(f"plan {EBAY} {more} -f json -q").stdout)
    expected = kt.plan_sizes(
        kt.Figures(10278, 0.6260, 0.414),
        kt.Figures(20604, 0.6385, 0.402),
        kt.RateCounts(43, 59, 67, 84),
        paired=0.3,
        goal=kt.Goal(level=0.01, power=0.8, difference=0.05, split=(0.5, 0.25, 0.25)),
    )
    assert told == json.loads(expected.to_json()) | {"command": told["command"]}
    run(f"plan {EBAY} -o sizes.csv -q")
    assert pl.read_csv(folder / "sizes.csv").columns == ["need", "judges", "size", "have", "more", "share", "cost"]


def test_a_budget_buys_an_interval(run):
    base = f"plan {EBAY} --power 0.8 --prices 0.1,2,2 --budget 20000"
    text = " ".join(run(f"{base} --depth 3 -q").stdout.split())
    assert gives(text, "20,000", "31,340 topics", "314 relevant", 283, "±")
    assert gives(text, "19,998.00")
    deep, shallow = (json.loads(run(f"{base} --depth {d} -f json -q").stdout) for d in (3, 1))
    assert shallow["half_width"] < deep["half_width"]


def test_figures_are_parsed():
    assert parse_figures(" 50, 0.527 ,0.24") == kt.Figures(50, 0.527, 0.24)
    assert parse_rates("43/59, 67/84") == kt.RateCounts(43, 59, 67, 84)
    assert parse_prices("1,2e-1,3") == (1.0, 0.2, 3.0)


@pytest.mark.parametrize(
    ("parse", "text", "facts"),
    [
        (parse_figures, "50,0.5", ["'50,0.5'", 2, "topics,mean,deviation"]),
        (parse_figures, "50.5,0.5,0.1", ["'50.5'"]),
        (parse_figures, "50,half,0.1", ["'half'"]),
        (parse_figures, "50,inf,0.1", ["'inf'"]),
        (parse_figures, "1,0.5,0.1", ["deviation", 2]),
        (parse_rates, "43/59", ["'43/59'", "two"]),
        (parse_rates, "43/59,67", ["'43/59,67'", "two"]),
        (parse_rates, "43/59,-7/84", ["'-7'"]),
        (parse_rates, "60/59,67/84", [60, 59]),
        (parse_rates, "0/0,67/84", ["relevant"]),
    ],
)
def test_figures_that_cannot_be_are_refused_with_the_part(parse, text, facts):
    with pytest.raises(OptionError) as caught:
        parse(text)
    assert gives(caught.value, *facts)


def test_a_name_that_cannot_be_written_is_told_before_the_work(run):
    assert gives(refusal(run("plan nowhere -j nothing.csv --budget 20 -o queue.txt")), "queue.txt")


def test_the_next_command_names_the_approach(run):
    planned = run(f"plan runs -j crowd.csv -m DCG@10 {PAIR} --budget 60 -a ds -q")
    assert planned.stdout.splitlines()[-1].endswith("-m DCG@10 --a system-01 --b system-02 -a ds")


def test_what_widths_go_by_is_told(run, fill):
    first = run(f"plan {FILES} {PAIR} --budget 60 -q -f json")
    run(f"plan {FILES} {PAIR} --budget 60 -o basis.csv -q")
    fill("basis.csv", "basis-judged.csv")
    second = run(f"plan {FILES} {PAIR} --budget 30 --judged basis-judged.csv -q -f json")
    assert [json.loads(first.stdout)["informed"], json.loads(second.stdout)["informed"]] == [False, True]


@pytest.mark.parametrize(
    ("topics", "budget", "claim"), [(8, 500, ""), (8, 30, " --claim these"), (4, 500, " --claim these")]
)
def test_the_command_that_comes_next_decides_over_few_topics_too(topics, budget, claim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world = kt.simulation.simulate_collection(systems=3, topics=topics, depth=20, rng=7)
    for system in world.runs.systems:
        kt.write_run(world.runs, system, tmp_path / "runs" / system)
    kt.write_judgments(world.judgments, tmp_path / "crowd.csv")
    shown = invoke(shlex.split(f"plan runs -j crowd.csv {PAIR} --budget {budget} -o queue.csv")).stdout
    then = shown.strip().splitlines()[-1].removeprefix("$ karatage ")
    assert then == f"compare runs -j crowd.csv -g queue.csv -m P@10 {PAIR}{claim}"
    table, known = pl.read_csv("queue.csv", infer_schema=False).drop("grade"), world.pool.to_frame()
    known = known.select("topic", "document", "grade")
    table.join(known, on=["topic", "document"], how="left").write_csv("queue.csv")
    assert "refused" not in invoke(shlex.split(then)).stdout
