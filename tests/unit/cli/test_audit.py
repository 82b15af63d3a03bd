"""Unit tests of `karatage audit`."""

import json

import polars as pl
import pytest
from rich.cells import cell_len

import karatage as kt
from karatage.errors import KaratageError
from tests.invoking import invoke
from tests.notes import gives


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("audit")
    world = kt.simulation.simulate_collection(systems=4, topics=12, depth=20, rng=7)
    kt.write_judgments(world.judgments, home / "crowd.csv")
    kt.write_judgments(world.gold, home / "gold.qrels")
    families = [f"{name}\t{name.split('-')[0]}" for name in world.judgments.judges]
    (home / "families.tsv").write_text("judge\tfamily\n" + "\n".join(families) + "\n")
    return home


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def call(command):
        return invoke(["audit", *command.split(), "-a", "mv", "-a", "ds"])

    return call


def test_tables_fit_the_page_and_end_in_the_sentence(run):
    result = run("crowd.csv -g gold.qrels --families families.tsv")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert max(cell_len(line) for line in lines) <= 80
    for title in (
        "Judges; kappa others: ",
        "The panel",
        "Families",
        "Against gold; from, to: 95% intervals, over topics",
    ):
        assert any(line.startswith(title) for line in lines)
    assert gives(result.stdout, "spammer", "random")
    assert gives(result.stdout, "best merge")
    assert gives(" ".join(lines[-9:]), 1, 9, "'spammer'", "random")
    assert result.stderr.startswith("note: ")


def test_top_limits_the_rows(run):
    assert gives(run("crowd.csv --top 2 -q").stdout, 7, "--top 0")
    assert not gives(run("crowd.csv --top 0 -q").stdout, "--top 0")


def test_files_come_by_argument_and_by_option(run):
    assert run("crowd.csv -f tsv").stdout == run("-j crowd.csv -f tsv").stdout
    assert isinstance(run("").exception, KaratageError)
    assert gives(run("").exception, "karatage audit crowd.csv")


def test_pairs_instead_of_judges(run, folder):
    assert "Pairs" in run("crowd.csv --pairs -q").stdout
    table = pl.read_csv(run("crowd.csv -g gold.qrels --pairs -f tsv").stdout.encode(), separator="\t")
    assert len(table) == 36
    assert table.columns[:5] == ["judge", "other", "shared", "percent", "kappa"]
    (folder / "three").mkdir(exist_ok=True)
    for name, grade in {"a": 0, "b": 1, "c": 1}.items():
        (folder / "three" / f"{name}.qrels").write_text(f"t 0 d1 {grade}\nt 0 d2 0\n")
    assert "Cohen's kappa" in run("three --pairs -q").stdout.splitlines()


def test_every_format_holds_the_same_judges(run, folder):
    assert run("crowd.csv -g gold.qrels -q -o out.json").stdout == ""
    loaded = json.loads((folder / "out.json").read_text())
    saved = kt.read_result(folder / "out.json")
    assert json.loads(saved.result.to_json()) | {"command": saved.command} == loaded
    assert json.loads(run("crowd.csv -f json --pairs -q").stdout)["pairs"]
    for ending in ("parquet", "csv"):
        assert run(f"crowd.csv -g gold.qrels -q -o out.{ending}").exit_code == 0
    frame = pl.read_parquet(folder / "out.parquet")
    assert frame["judge"].to_list() == [row["judge"] for row in loaded["judges"]]
    assert pl.read_csv(folder / "out.csv")["kappa"].to_list() == pytest.approx(frame["kappa"].to_list())
    result = run("crowd.csv -f tsv")
    assert gives(result.stderr.splitlines()[-1], 1, 9, "'spammer'")


def test_no_pairs_at_all(run, folder):
    (folder / "apart.csv").write_text("judge,item,grade\na,x,1\nb,y,0\n")
    result = run("apart.csv --pairs")
    assert result.exit_code == 0
    assert result.stdout.strip()


def test_families_that_cannot_be_read(run, folder):
    (folder / "bad.tsv").write_text("a\tb\tc\n")
    assert str(run("crowd.csv --families bad.tsv").exception).startswith("bad.tsv:1: ")


def test_the_seed_matters(run):
    one, same, other = (run(f"crowd.csv -f json --seed {seed}").stdout for seed in (1, 1, 2))
    assert one == same != other


def test_pairs_of_too_many_judges_are_those_of_a_sample(tmp_path, monkeypatch):
    monkeypatch.setattr("karatage.agreement.intervals.MOST_PAIRS", 100)
    monkeypatch.setattr("karatage.agreement.intervals.DRAWS", 200)
    monkeypatch.setattr("karatage.views.audit.tabulate_agreement", None)  # no square of 100 judges is made
    crowd, found = tmp_path / "crowd.csv", tmp_path / "found.csv"
    rows = [f"j{j},i{i},{(j * i) % 3 % 2}" for j in range(100) for i in range(10)]
    crowd.write_text("\n".join(["judge,item,grade", *rows, ""]))
    shown = invoke(["audit", str(crowd), "--pairs", "--top", "5"])
    assert shown.exit_code == 0
    assert gives(shown.stdout, "--top 0")
    assert gives(shown.stderr, 100, "4,950", "pairs")
    assert invoke(["audit", str(crowd), "--pairs", "-o", str(found), "-q"]).exit_code == 0
    assert 150 < len(pl.read_csv(found)) <= 200
