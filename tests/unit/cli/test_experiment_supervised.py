"""`karatage experiment supervised`: what it prints, writes and refuses."""

import json
import re

import numpy as np
import polars as pl
import pytest
from rich.cells import cell_len

import karatage as kt
from karatage.errors import DataError, OptionError
from karatage.experiments.collection import PanelRules, prepare_gold
from karatage.simulation.panel import simulate_panel
from tests.invoking import invoke
from tests.notes import gives, has_line

SMALL = ("--sizes", "2,3", "--samples", "3", "--replicates", "4")


def run(*arguments):
    result = invoke(["experiment", "supervised", *arguments])
    if result.exception is not None:
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Runs, gold, five whole judges, and eight people who graded parts."""
    folder = tmp_path_factory.mktemp("supervised")
    world = kt.simulation.simulate_collection(systems=6, topics=6, depth=30, rng=5)
    gold = prepare_gold(world.gold, PanelRules())
    (folder / "tiny" / "runs").mkdir(parents=True)
    for system in world.runs.systems:
        kt.write_run(world.runs, system, folder / "tiny" / "runs" / f"{system}.run")
    kt.write_judgments(gold, folder / "gold.qrels")
    panel = simulate_panel(gold, judges=5, rng=2)
    kt.write_judgments(panel, folder / "judges.csv")
    many = simulate_panel(gold, judges=8, rng=2)
    kt.write_judgments(many.keep_rows(np.random.default_rng(1).random(len(many.grade)) < 0.4), folder / "crowd.csv")
    return folder


def name_files(home, judges="judges.csv"):
    return home / "tiny" / "runs", "-j", home / judges, "-g", home / "gold.qrels"


def test_tables_fit_80_columns_and_end_in_a_sentence(home):
    out, _ = run(*name_files(home), *SMALL, "-a", "table1", "-a", "sup_tau_cubed(sub=True)")
    assert max(cell_len(line) for line in out.splitlines()) <= 80
    lines = out.splitlines()
    assert has_line(lines[0], "s-AWARE", "tiny")
    assert has_line(lines[2], "tau_ap", "AP", "*")
    assert [line for line in lines if line.startswith(" tiny-")][:2] == [" tiny-whole", " tiny-partitioned"]
    table = [line for line in lines if re.match(r" [23]   ", line)]
    assert len(table) % 4 == 0  # two places and two sizes in each block of columns
    assert min(sum(line.count("*") for line in table[k::4]) for k in range(4)) >= 1
    assert "(sub=True)" in out
    assert "95% interval" in out
    assert " highest mean tau_ap " in " ".join(out.split("tiny-whole:")[-1].split())


def test_the_folder_holds_everything_and_can_be_taken_up_again(home, tmp_path):
    out, _ = run(*name_files(home), *SMALL, "-a", "sup_tau", "-a", "uniform", "-o", tmp_path, "--workers", "2")
    files = {path.name for path in tmp_path.iterdir()}
    tables = {f"{name}.{end}" for name in ("table1", "means", "overall") for end in ("tsv", "parquet")}
    charts = {f"tau_ap-{name}.{end}" for name in ("1-whole", "2-partitioned") for end in ("svg", "png", "html")}
    others = {"plan.toml", "results.csv", "results.parquet", "tables.txt", "findings.json", "page.html"}
    assert tables | charts | others <= files
    assert len(pl.read_parquet(tmp_path / "results.parquet")) == 2 * 2 * 3 * 2
    assert "by size" in (tmp_path / "tables.txt").read_text()
    assert max(cell_len(line) for line in (tmp_path / "tables.txt").read_text().splitlines()) <= 80
    again, told = run("--plan", tmp_path / "plan.toml", "-o", tmp_path)
    assert again == out
    assert "4 of 4 cells were already done by an earlier run" in told


def test_json_and_tsv_hold_the_table(home):
    files = name_files(home)
    out, err = run(*files, *SMALL, "-a", "uniform", "-a", "mv", "--format", "json", "-q")
    assert json.loads(out)["plan"]["sizes"] == [2, 3]
    assert err == ""
    out, err = run(*files, *SMALL, "-a", "uniform", "-a", "mv", "--format", "tsv")
    assert out.startswith("systems\tpanel\tconfiguration\tsize\tsample\tmeasure\tapproach\ttau_ap")
    assert " highest mean tau_ap " in err


def test_options_reach_the_plan(home):
    given = ("-c", "partitioned", "--training", "0.5", "--people", "2-3", "--seed", "9", "-m", "P@5", "-m", "AP")
    out, _ = run(*name_files(home), *SMALL, "-a", "uniform", *given, "--format", "json")
    plan = json.loads(out)["plan"]
    assert (plan["configurations"], plan["training"], plan["people"], plan["seed"]) == (["partitioned"], 0.5, [2, 3], 9)
    assert plan["measures"] == ["P@5", "AP"]


def test_people_who_graded_parts_stay_where_judges_are_put_together(home):
    files = name_files(home, "crowd.csv")
    with pytest.raises(DataError):
        run(*files, *SMALL)
    out, err = run(*files, *SMALL, "-a", "uniform", "-a", "sup_tau", "-c", "partitioned")
    assert gives(err, "8 people", "7 pseudo-judges")
    assert "tiny-partitioned" in out
    assert "tiny-whole" not in out


def test_simulated_judges_have_panels_by_correlation(home):
    runs, _, _, *gold = name_files(home)
    judges = ("-j", "simulated:4", "--correlation", "0,0.6")
    out, err = run(runs, *gold, *judges, *SMALL, "-a", "uniform", "-c", "whole")
    assert "tiny-whole, correlation 0.6" in out
    assert "error correlation 0.6" in err


def test_what_cannot_be_read_is_refused(home):
    with pytest.raises(OptionError, match=r"\b2\b.*\b30\b"):
        run(*name_files(home), "--sizes", "x")
    with pytest.raises(OptionError, match="partitioned"):
        run(*name_files(home), "-c", "halved")
