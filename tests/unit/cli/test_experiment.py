"""What the commands of `karatage experiment` share."""

import json
from dataclasses import replace
from typing import ClassVar

import polars as pl
import pytest

from karatage.cli.experiment import Command, RunOptions, Source, locate, watch_over
from karatage.cli.output import hold_output
from karatage.cli.parsing import parse_numbers, parse_pair, parse_range, parse_sizes
from karatage.errors import DataError, OptionError
from karatage.io.files import hold_folder
from karatage.views.page import VIEWS, Figure, Page, Section
from karatage.views.table import Table
from tests.invoking import invoke

NAMES = ("aware", "supervised", "random-relevance", "noisy", "collaborative")


class Findings:
    """The least that an experiment returns."""

    frame = pl.DataFrame({"a": [1, 2]})
    tables: ClassVar = {"some": pl.DataFrame({"b": [0.5]})}
    notes = ("a doubt",)
    sentence = "This is what to take away."

    def to_dict(self):
        return {"sentence": self.sentence}


def make_chart():
    import altair as alt

    return alt.Chart(pl.DataFrame({"x": [1, 2]})).mark_point().encode(x="x:Q")


COMMAND = Command(kind="some", plan=None, charts="charts/", still="two$")


@pytest.fixture(autouse=True)
def page(monkeypatch):
    """The page of these findings, which have no view."""
    rows = Table(pl.DataFrame({"number": range(20)}), "Twenty rows", noun="row")
    more = Table(pl.DataFrame({"c": [1]}), "A detail", detail=True)
    figures = [Figure(make_chart, "a chart", name) for name in ("one", "two")]
    made = Page("A title", Findings.sentence, [Section("All", "", [rows, more], figures)])
    monkeypatch.setitem(VIEWS, Findings, lambda _: made)
    monkeypatch.setattr(Findings, "__module__", "karatage.tests")


def test_the_folder_holds_all_results(tmp_path, capsys):
    COMMAND.show(Findings(), RunOptions(output=str(tmp_path), format="table", quiet=False))
    out, err = capsys.readouterr()
    assert err == "note: a doubt\n"
    assert "… 8 more rows; tables.txt of --output has all." in out
    assert "A detail" not in out
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {
        "results.csv",
        "results.parquet",
        "some.tsv",
        "some.parquet",
        "tables.txt",
        "findings.json",
        "page.html",
        "charts/one.html",
        "charts/one.svg",
        "charts/one.png",
        "charts/two.svg",
        "charts/two.png",
    }
    text = (tmp_path / "tables.txt").read_text()
    assert "A detail" in text
    assert "more rows" not in text
    assert text.endswith("\nThis is what to take away.\n")
    assert pl.read_parquet(tmp_path / "results.parquet").equals(Findings.frame)
    assert (tmp_path / "page.html").read_text().count('<div class="still"><svg') == 2


def test_json_and_tsv_go_to_standard_output(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["python -m karatage", "experiment", "some", "a file"])
    COMMAND.show(Findings(), RunOptions(output=None, format="tsv", quiet=False))
    out, err = capsys.readouterr()
    assert out == "a\n1\n2\n"
    assert err.endswith("This is what to take away.\n")
    COMMAND.show(Findings(), RunOptions(output=None, format="json", quiet=True))
    out, err = capsys.readouterr()
    told = {"sentence": "This is what to take away.", "command": "karatage experiment some 'a file'"}
    assert json.loads(out) == told
    assert err == ""


def test_sizes_and_numbers():
    assert parse_sizes("2-5,8, 3") == (2, 3, 4, 5, 8)
    assert (parse_range("2-4"), parse_range("3")) == ((2, 4), (3, 3))
    assert parse_pair("0.8,2") == (0.8, 2.0)
    assert parse_numbers("0,0.5, .9") == (0.0, 0.5, 0.9)
    for text in ("", "2-", "5-2", "two", "-3", "2--4", "1-99999999999"):
        with pytest.raises(OptionError, match=r"\b2\b.*\b30\b.*\b2,3,5\b"):
            parse_sizes(text)
    with pytest.raises(OptionError, match=r"'0,x'.*\b0,0\.3,0\.6\b"):
        parse_numbers("0,x")


def test_runs_need_judges():
    with pytest.raises(OptionError, match="--judgments"):
        Source(runs=("runs",), gold="gold.qrels").read(0)


def test_rules_come_from_the_levels():
    rules = Source(relevant="2", gold_relevant="1").make_rules()
    assert (rules.level, rules.gold_level, rules.whole_only) == (2, 1, True)
    assert Source(relevant="middle").make_rules().level == "middle"
    with pytest.raises(OptionError, match=r"\b1\b.*'high'"):
        Source(relevant="high").make_rules()


def test_the_group_lists_its_commands():
    result = invoke(["experiment"])
    for name in NAMES:
        assert name in result.output


def test_gold_has_the_judges_labels_unless_it_is_said_otherwise(tmp_path):
    """`yes` is a grade for both; then gold has labels of its own."""
    (tmp_path / "a.run").write_text("1 Q0 d1 1 2 a\n1 Q0 d2 2 1 a\n")
    rows = "".join(
        f"{judge},1,{document},{label}\n" for judge in "xyz" for document, label in (("d1", "yes"), ("d2", "no"))
    )
    judges, gold = tmp_path / "judges.csv", tmp_path / "gold.csv"
    judges.write_text("judge,topic,document,grade\n" + rows)
    source = Source(runs=(str(tmp_path / "*.run"),), judges=(str(judges),), gold=str(gold), grades="no=0,yes=1")
    gold.write_text("topic,document,grade\n1,d1,yes\n1,d2,no\n")
    assert source.read(0)["collection"].gold.grade.tolist() == [1, 0]
    gold.write_text("topic,document,grade\n1,d1,bad\n1,d2,good\n")
    own = replace(source, gold_grades="bad=0,good=1").read(0)["collection"]
    assert own.gold.grade.tolist() == [0, 1]
    assert own.panels["given"].grade.tolist() == [1, 1, 1, 0, 0, 0]


def test_a_plan_names_files_by_their_whole_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "gold.qrels").write_text("")
    assert locate(["runs", "simulated:3"]) == [str(tmp_path / "runs"), "simulated:3"]
    assert locate("gold.qrels") == str(tmp_path / "gold.qrels")
    assert locate("*.qrels") == str(tmp_path / "*.qrels")
    assert locate([]) is None
    assert locate(None) is None


def test_results_do_not_go_into_a_file(tmp_path):
    (tmp_path / "file").write_text("mine")
    with (
        pytest.raises(OptionError, match="is a file"),
        hold_output(str(tmp_path / "file")),
    ):
        pass
    with (
        pytest.raises(DataError, match="folder"),
        hold_output(str(tmp_path / "file" / "below")),
    ):
        pass
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(("output", "told"), [("out", "in out, and the same command"), (None, "no --output")])
def test_an_interruption_says_what_is_left(output, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyboardInterrupt), watch_over(output, quiet=True):
        raise KeyboardInterrupt
    assert told in " ".join(capsys.readouterr().err.split())


NOISY = ["experiment", "noisy", "--preset", "ebay", "-q", "-o"]


def test_a_second_run_in_the_same_folder_changes_nothing(tmp_path):
    """The lock comes before the plan is written."""
    (tmp_path / "plan.toml").write_text("the first run's")
    with hold_folder(tmp_path):
        done = invoke([*NOISY, str(tmp_path)])
    assert isinstance(done.exception, DataError)
    assert str(tmp_path) in str(done.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "plan.toml"]
    assert (tmp_path / "plan.toml").read_text() == "the first run's"


@pytest.mark.parametrize(
    ("line", "last"),
    [
        (NOISY, "karatage.views.html.write_page"),
        (["benchmark", "-j", "j.csv", "-g", "g.csv", "-a", "mv", "--amounts", "none", "-q", "-o"], "write_bytes"),
    ],
)
def test_the_folder_is_held_until_the_last_file(tmp_path, monkeypatch, line, last):
    tried = []

    def try_to_hold(*_, **__):
        with pytest.raises(DataError), hold_folder(tmp_path / "out"):
            pass
        tried.append(1)

    monkeypatch.chdir(tmp_path)
    (tmp_path / "j.csv").write_text("judge,item,grade\na,d,1\nb,d,1\na,e,0\nb,e,0\n")
    (tmp_path / "g.csv").write_text("item,grade\nd,1\ne,0\n")
    monkeypatch.setattr(last if "." in last else f"karatage.io.writing.{last}", try_to_hold)
    done = invoke([*line, "out"])
    assert done.exit_code == 0, done.exception
    assert tried
    with hold_folder(tmp_path / "out"):
        pass
