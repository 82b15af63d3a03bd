"""`karatage aggregate`: what it writes where."""

import json
import shlex
import sys

import polars as pl
import pytest

import karatage as kt
from karatage.cli.app import main
from tests.notes import gives

CROWD = """judge,topic,document,grade
ann,1,a,1
bob,1,a,1
cid,1,a,0
ann,1,b,0
bob,1,b,0
cid,1,b,1
ann,2,a,2
bob,2,a,2
bob,2,a,1
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crowd.csv").write_text(CROWD)
    (tmp_path / "gold.qrels").write_text("1 0 a 0\n")
    (tmp_path / "elsewhere.qrels").write_text("7 0 z 0\n7 0 z 1\n")

    def call(command):
        monkeypatch.setattr(sys, "argv", ["karatage", "aggregate", *shlex.split(command)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return stop.value.code or 0, out, err

    return call


def test_grades_are_written_as_qrels(run, tmp_path):
    code, out, err = run("crowd.csv -a mv -o merged.qrels")
    assert (code, out) == (0, "")
    assert (tmp_path / "merged.qrels").read_text() == "1 0 a 1\n1 0 b 0\n2 0 a 2\n"
    assert gives(err, "mv", 9, 3, 3)
    assert gives(err, "note", 1, 2)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_tables_have_probabilities(run, tmp_path, ending):
    assert run(f"crowd.csv -a mv -o merged.{ending}")[0] == 0
    path = tmp_path / f"merged.{ending}"
    frame = {
        "csv": pl.read_csv,
        "tsv": lambda p: pl.read_csv(p, separator="\t"),
        "parquet": pl.read_parquet,
    }[ending](path)
    assert frame.columns == ["topic", "document", "grade", "p0", "p1", "p2", "expected"]
    assert frame["p1"][0] == pytest.approx(2 / 3)
    assert frame["p2"][2] == pytest.approx(2 / 3)


def test_json_has_the_course(run):
    code, out, _ = run("crowd.csv -f json")
    found = json.loads(out)
    assert code == 0
    assert found["model"] == "ds"
    assert len(found["trace"]) == found["iterations"] > 1
    assert [judge["judge"] for judge in found["judges"]] == ["ann", "bob", "cid"]


def test_shown_as_a_table_that_ends_in_the_sentence(run):
    code, out, _ = run("-j crowd.csv --top 2 -q")
    assert code == 0
    assert gives(out, 1, "more item", ".tsv")
    assert gives(" ".join(out.splitlines()[-3:]), 3, "90%")
    assert max(map(len, out.splitlines())) <= 80


def test_judges_go_to_a_file_or_are_shown(run, tmp_path):
    assert run("crowd.csv --judges judges.tsv -o merged.qrels")[0] == 0
    judges = pl.read_csv(tmp_path / "judges.tsv", separator="\t")
    assert judges["grades"].to_list() == [3, 4, 2]
    assert "confusion_0_1" in judges.columns
    code, out, err = run("crowd.csv --judges -")
    assert code == 0
    assert "confusion_0_1" in out
    assert "document" not in out
    assert "ds merged" in out
    assert "ds merged" not in err


def test_gold_teaches_or_checks(run, tmp_path):
    run("crowd.csv -a mv -g gold.qrels -o merged.qrels")
    assert (tmp_path / "merged.qrels").read_text().startswith("1 0 a 0\n")
    _, _, err = run("crowd.csv -a mv -g gold.qrels --supervision none -o merged.qrels")
    assert (tmp_path / "merged.qrels").read_text().startswith("1 0 a 1\n")
    assert gives(err, "0.0%")


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_batches_are_chained_by_files(run, tmp_path, ending):
    assert run(f"crowd.csv --judges monday.{ending} -o m.qrels")[0] == 0
    assert run(f"crowd.csv --history monday.{ending} --judges tuesday.{ending} -o t.qrels")[0] == 0
    monday, tuesday = (kt.read_record(tmp_path / f"{day}.{ending}") for day in ("monday", "tuesday"))
    assert monday.judges == tuesday.judges == ("ann", "bob", "cid")
    assert tuesday.answers.sum() == pytest.approx(2 * monday.answers.sum())
    crowd = kt.read_judgments(tmp_path / "crowd.csv")
    in_python = kt.aggregate(crowd, history=kt.aggregate(crowd, "ds"))
    assert tuesday.answers == pytest.approx(in_python.parameters["answers"])
    code, _, err = run(f"crowd.csv -a mv --history monday.{ending}")
    assert code == 2
    assert gives(err, "history", "ds", "emgz", "'mv'")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("judge,accuracy\na,1\n", "needs the columns judge and answers_0_0"),
        ("judge,answers_0_0\na,-1\n", "column answers_0_0 must hold counts"),
        ("judge,answers_0_0\na,x\n", "column answers_0_0 must hold counts"),
        ("judge,answers_0_0\na,1\na,2\n", "one row for each judge"),
        ("judge,answers_9_9\na,1\n", "read them with grades '0-9'"),
        ("judge,answers_99999_0\na,1\n", "grades go up to 126"),
        ("", "history.csv"),
    ],
)
def test_a_history_must_be_one(run, tmp_path, content, message):
    (tmp_path / "history.csv").write_text(content)
    code, out, err = run("crowd.csv --history history.csv")
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "no judgments were given"),
        ("crowd.csv -a dss", "unknown approach 'dss'; did you mean 'ds'?"),
        ("crowd.csv -a 'ds(prior=9)'", "prior must be numbers like (0.5,3) or none, not 9"),
        ("crowd.csv -a 'ds(depth=9)'", "ds has no option 'depth'; its options: prior"),
        ("crowd.csv -a ds@3", "a depth after @ is for measures"),
        ("crowd.csv --supervision light", "needs gold"),
        ("crowd.csv -o merged.xyz", "cannot tell the format"),
        ("crowd.csv --judges judges.xyz", "cannot tell the format"),
        ("nowhere.csv", "nowhere.csv"),
        ("''", "the name of an input file is empty"),
        ("crowd.csv -o ''", "its name is empty"),
        ("crowd.csv --judges same.tsv -o same.tsv", "give them different names"),
        ("crowd.csv -a 'ds(max_steps=0)'", "max_steps 0 must be at least 1"),
        ("crowd.csv -g elsewhere.qrels", "gold and judgments"),
    ],
)
def test_wrong_requests_say_what_to_do(run, command, message):
    code, out, err = run(command)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_gold_that_meets_nothing_costs_no_grades(run, tmp_path):
    code, _, err = run("crowd.csv -g elsewhere.qrels --supervision none -o merged.qrels")
    assert code == 0
    assert (tmp_path / "merged.qrels").exists()
    assert "no item in common" in err
    assert gives(err, "note: gold", 1, 2)


def test_judges_are_shown_in_the_format_asked_for(run):
    _, out, _ = run("crowd.csv --judges - -f tsv -q")
    assert out.startswith("judge\tgrades\taccuracy")


def test_many_grades_are_shown_as_far_as_they_fit(run, tmp_path):
    (tmp_path / "wide.csv").write_text("judge,item,grade\na,x,126\nb,x,0\na,y,3\nb,y,3\n")
    code, out, _ = run("wide.csv --judges -")
    assert code == 0
    assert "more columns" in out
    assert "expected" in run("wide.csv -q")[1]


def test_progress_is_called_at_every_step():
    steps = []
    crowd = kt.read_judgments({"judge": ["a", "b", "a"], "item": ["x", "x", "y"], "grade": [0, 1, 1]})
    found = kt.aggregate(crowd, "ds", progress=lambda step, reached: steps.append((step, reached)))
    assert [step for step, _ in steps] == list(range(1, found.iterations + 1))
    assert [reached for _, reached in steps] == found.trace.tolist()
