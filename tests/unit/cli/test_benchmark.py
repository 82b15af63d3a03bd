"""`karatage benchmark`: what it prints, writes and refuses."""

import json
import re

import numpy as np
import polars as pl
import pytest
from rich.cells import cell_len

from karatage.errors import DataError, InputFileError, OptionError, UnknownNameError
from tests.invoking import invoke
from tests.notes import gives, has_line


def run(*arguments):
    result = invoke(["benchmark", *arguments])
    if result.exception is not None:
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


@pytest.fixture
def home(tmp_path):
    """Two data sets and a folder that is none."""
    source = np.random.default_rng(0)
    for name, items in ("first", 30), ("second", 20):
        folder = tmp_path / "sets" / name
        folder.mkdir(parents=True)
        truth = source.integers(0, 2, items)
        rows = [
            f"{i},j{j},{truth[i] if source.random() < 0.8 else 1 - truth[i]}" for i in range(items) for j in range(4)
        ]
        (folder / "labels.csv").write_text("\n".join(["item,judge,grade", *rows]))
        (folder / "gold.csv").write_text("\n".join(["item,grade", *(f"{i},{g}" for i, g in enumerate(truth))]))
    (tmp_path / "sets" / "notes").mkdir()
    return tmp_path


def test_tables_fit_80_columns_and_end_in_a_sentence(home):
    out, err = run(home / "sets", "-a", "mv", "-a", "ds", "--amounts", "50,80")
    assert max(cell_len(line) for line in out.splitlines()) <= 80
    for facts in ((2, "light"), (2, "full"), ("50%",)):
        assert has_line(out, *facts), facts
    assert gives(out, "1 mv, 2 ds", "2u", "ds")
    assert out.strip().splitlines()[-1].endswith(".")
    assert re.search(r"note: folders .*: 'notes'", err)


def test_stars_mark_the_best(home):
    out, _ = run(home / "sets" / "first", "-a", "mv", "-a", "ds(prior=none)", "-a", "wawa", "--amounts", "none", "-q")
    rows = [line.split() for line in out.splitlines() if " acc " in line][:3]
    assert [row[0] for row in rows] == ["mv", "ds(prior=none)", "wawa"]
    values = [float(row[2].strip("*")) for row in rows]
    assert ["*" in row[2] for row in rows] == [value == max(values) for value in values]
    assert [int(row[3]) for row in rows] == [int(value == max(values)) for value in values]


def test_output_holds_cells_tables_and_charts(home):
    out, _ = run(home / "sets", "-a", "mv", "-a", "ds", "--amounts", "50", "-o", home / "out")
    files = {path.name for path in (home / "out").iterdir()}
    assert {"cells", "tables.txt", "benchmark.json", "scores.tsv", "averages.parquet", "leaders.tsv"} <= files
    assert {"accuracy-none.png", "accuracy-light.svg", "f1-full.html"} <= files
    scores = pl.read_parquet(home / "out" / "scores.parquet")
    assert scores.height == 12
    assert json.loads((home / "out" / "benchmark.json").read_text())["rows"] == scores.to_dicts()
    assert (home / "out" / "tables.txt").read_text().endswith(out.splitlines()[-1] + "\n")


def test_a_run_is_resumed_unless_fresh(home):
    command = [home / "sets", "-a", "mv", "--amounts", "none", "-o", home / "out"]
    first, _ = run(*command)
    again, err = run(*command)
    assert again == first
    assert has_line(err, "note", 2, 2, "cells")
    assert {path.stem for path in (home / "out").glob("*.png")} == {"judges-accuracy", "judges-items"}
    anew, err = run(*command, "--fresh", "-w", "2")
    assert anew == first
    assert not has_line(err, "note", 2, 2, "cells")


def test_json_and_tsv_hold_the_same_accuracies(home):
    out, err = run(home / "sets", "-a", "mv", "--amounts", "none", "-f", "json")
    found = json.loads(out)
    assert found["sentence"] in err
    assert [cell["data_set"] for cell in found["cells"]] == ["first", "second"]
    table, _ = run(home / "sets", "-a", "mv", "--amounts", "none", "-f", "tsv", "-q")
    frame = pl.read_csv(table.encode(), separator="\t")
    assert frame["accuracy"].to_list() == pytest.approx([row["accuracy"] for row in found["rows"]])


def test_a_data_set_of_two_tables_with_columns_of_its_own(home):
    table = home / "sets" / "first" / "labels.csv"
    gold = home / "wide.csv"
    gold.write_text("item,binary,other\n" + "".join(f"{i},{i % 2},9\n" for i in range(30)))
    out, _ = run(
        "-j", table, "-g", gold, "--gold-columns", "grade=binary", "-a", "mv", "--amounts", "none", "-q", "-f", "tsv"
    )
    assert out.splitlines()[1].startswith("first\tmv\tnone\t0\t")


def test_grades_of_a_named_data_set_and_of_two_tables(home):
    table = home / "sets" / "first" / "labels.csv"
    for file in (table, table.with_name("gold.csv")):
        file.write_text(re.sub(r",([01])$", lambda m: ",yes" if m[1] == "1" else ",no", file.read_text(), flags=re.M))
    ask = ["-a", "mv", "--amounts", "none", "-q", "-f", "tsv"]
    scales = ["--grades", "0-1,[first],no=0,yes=1"]
    both, _ = run(home / "sets" / "first", home / "sets" / "second", *scales, *ask)
    files = ["-j", table, "-g", table.with_name("gold.csv")]
    apart, _ = run(home / "sets" / "second", *files, *scales, *ask)
    assert sorted(line.split("\t")[:5] for line in both.splitlines()) == sorted(
        line.split("\t")[:5] for line in apart.splitlines()
    )
    for source in ([home / "sets"], files):
        with pytest.raises(UnknownNameError, match=r"'firts'.*'first'"):
            run(*source, "--grades", "[firts],no=0,yes=1", *ask)


def test_the_preset_and_options_that_override_it(home):
    labels = home / "sets" / "first" / "labels.csv"
    labels.write_text(labels.read_text() + "\n99,j9,1\n99,j0,0")
    ask = [home / "sets", "--preset", "square", "-a", "mv", "--amounts", "none"]
    out, err = run(*ask, "-f", "json")
    found = json.loads(out)
    assert [cell["outcome"]["facts"]["folds"] for cell in found["cells"]] == [10, 10]
    assert [facts["items"] for facts in found["data_sets"]] == [30, 20]
    assert {row["judge"] for row in found["judges"] if row["data_set"] == "first"} == {f"j{k}" for k in range(4)}
    assert has_line(err, "note", "first", 1, "item", 2, "grades", 1, "judge")
    out, _ = run(*ask, "-f", "json", "--folds", "pooled")
    assert [cell["outcome"]["facts"]["folds"] for cell in json.loads(out)["cells"]] == [1, 1]


def test_per_data_set_shows_all_supervision(home):
    out, _ = run(home / "sets", "-a", "mv", "-a", "ds", "--amounts", "50", "--per-data-set", "-q")
    assert "first, full supervision, % of gold" in out
    assert "second, full supervision, % of gold" in out


def test_a_failed_cell_is_told_at_the_end(home, monkeypatch):
    from karatage.aggregation.majority import MajorityVote

    def crash(*_, **__):
        raise RuntimeError("no memory for this")

    monkeypatch.setattr(MajorityVote, "fit", crash)
    with pytest.raises(DataError, match=r"\b2\b.*\b4\b"):
        run(home / "sets", "-a", "mv", "-a", "ds", "--amounts", "none")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ([], OptionError, "folders"),
        (["-j", "labels.csv"], OptionError, "--judgments.*--gold"),
        (["sets", "--amounts", "half"], OptionError, "'half'"),
        (["sets", "--amounts", "40"], OptionError, r"\b40\b.*\b33\b.*\b50\b"),
        (["sets", "-a", "dss"], LookupError, "'dss'.*'ds'"),
        (["nowhere"], InputFileError, "nowhere: "),
    ],
)
def test_requests_that_cannot_be_are_refused(home, monkeypatch, arguments, error, message):
    monkeypatch.chdir(home)
    with pytest.raises(error, match=message):
        run(*arguments)


def test_a_broken_data_set_is_named(home):
    (home / "sets" / "second" / "gold.csv").write_text("item,grade\n1,maybe\n")
    with pytest.raises(DataError, match=r"'second'.*gold\.csv:2.*'maybe'"):
        run(home / "sets" / "first", home / "sets" / "second", "-a", "mv")


def test_a_broken_one_among_others_is_passed_over_and_told(home):
    (home / "sets" / "second" / "gold.csv").write_text("item,grade\n1,maybe\n")
    out, err = run(home / "sets", "-a", "mv", "--amounts", "none")
    assert "first" in out
    assert "note: skipped: data set 'second': " in err
    assert "gold.csv:2: grade 'maybe' is not a number" in err
