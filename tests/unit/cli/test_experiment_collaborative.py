"""`karatage experiment collaborative`: what it prints, writes and refuses."""

import json
import re
import tomllib
from dataclasses import replace

import polars as pl
import pytest
from rich.cells import cell_len

import karatage as kt
from karatage.errors import DataError, OptionError
from karatage.io.models import write_crowd
from karatage.simulation.crowd import load_crowd
from karatage.views.showing import lay_out
from karatage.views.text import render_page
from tests.invoking import invoke
from tests.notes import gives, has_line

QUICK = ("--samples", 1, "--resamples", 0, "--expert-shares", "0,20", "--crowd-shares", "0,40", "--fixed-share", 40)


def run(*arguments):
    result = invoke(["experiment", "collaborative", *arguments])
    if result.exception is not None:
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A small collection on disk."""
    home = tmp_path_factory.mktemp("files")
    world = kt.simulation.simulate_collection(systems=5, topics=5, depth=15, rng=3)
    kt.write_judgments(world.gold, home / "gold.qrels")
    (home / "runs").mkdir()
    for system in world.runs.systems:
        kt.write_run(world.runs, system, home / "runs" / f"{system}.gz")
    return home


@pytest.fixture(scope="module")
def done(files, tmp_path_factory):
    """Everything, on one order."""
    home = tmp_path_factory.mktemp("results")
    orders = ("--order", "depth", "--compare", "mv", "--compare", "ry", "--crowd", "careful")
    given = (files / "runs", "-g", files / "gold.qrels", *orders, *QUICK, "--samples", 2, "--resamples", 5)
    return home, *run(*given, "--seed", 3, "-o", home)


def test_tables_of_80_columns_and_a_closing_sentence(done):
    _, out, err = done
    assert max(map(cell_len, out.splitlines())) <= 80
    for facts in (("tau_ap", "Bpref"), ("depth", "40%", "careful"), ("careful", "ry", "B"), ("3.3", "(R)", "(P)")):
        assert has_line(out, *facts), facts
    assert re.search(r"note: .*\bn = 2\b", err)


def test_the_folder_has_tables_charts_page_and_plan(done):
    home, out, _ = done
    names = {path.name for path in home.iterdir()}
    charts = {"orders", "finding", "consensus-depth", "shares-depth", "gaps-depth"}
    assert {f"{chart}.{ending}" for chart in charts for ending in ("svg", "png", "html")} <= names
    assert {
        f"{table}.tsv" for table in ("orders", "finding", "curves", "shares", "wins", "reach", "consensus", "table33")
    } <= names
    assert set(out.splitlines()) <= set((home / "tables.txt").read_text().splitlines())
    told = json.loads((home / "findings.json").read_text())
    assert " ".join(told["sentence"].split()) in " ".join(out.split())
    assert len(pl.read_parquet(home / "results.parquet")) == len(
        pl.read_csv(home / "results.csv", infer_schema_length=None)
    )
    plan = tomllib.loads((home / "plan.toml").read_text())["experiment"]
    assert plan["expert_shares"] == [0.0, 20.0]
    assert plan["gold"].startswith("/")


def test_a_plan_does_the_same_again(done):
    home, out, _ = done
    assert run("--plan", home / "plan.toml", "-q") == (out, "")


def test_all_orders_are_shown_on_demand():
    world = kt.simulation.simulate_collection(systems=5, topics=5, depth=15, rng=3)
    plan = kt.experiments.CollaborativePlan(
        orders=("depth", "meta-ap"), crowds=("careful",), approaches=("mv",), samples=1, resamples=0
    )
    found = kt.experiments.experiment_collaborative(
        world.runs, world.gold, replace(plan, expert_shares=(0, 20), crowd_shares=(32,))
    )
    assert "meta-ap, crowd careful (ry) at B" not in render_page(lay_out(found))
    everything = render_page(lay_out(found), detail=True)
    assert "meta-ap, crowd careful (ry) at B" in everything
    assert max(map(cell_len, everything.splitlines())) <= 80


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--study", "finding"), "area under the curve"),
        (("-s", "shares", "--approach", "mv", "--ratio", "3:1"), "crowd careful (mv) at 3:1"),
        (("-s", "orders", "-m", "AP"), "tau_ap by AP with full judging"),
        (("-s", "consensus", "--compare", "ds", "--fixed-share", 30), "30% by crowd careful"),
    ],
)
def test_options_reach_the_plan(files, options, told):
    out, _ = run(files / "runs", "-g", files / "gold.qrels", "--order", "depth", "--crowd", "careful", *QUICK, *options)
    assert told in " ".join(out.split())


def test_more_options_matter(files):
    base = (
        files / "runs",
        "-g",
        files / "gold.qrels",
        "--order",
        "depth",
        "--crowd",
        "careful",
        *QUICK,
        "-s",
        "shares",
        "-f",
        "tsv",
        "-q",
    )
    plain = run(*base)[0]
    assert plain == run(*base)[0]
    for change in (
        ("--per-item", 1),
        ("--relevant", 2),
        ("--depth", 5),
        ("--seed", 9),
        ("--gold-grades", "0=0,1=0,2=1,3=1"),
    ):
        assert run(*base, *change)[0] != plain


def test_table_crowds_and_files(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_crowd(load_crowd("careful"), "own.json")
    base = (
        files / "runs",
        "-g",
        files / "gold.qrels",
        "--order",
        "depth",
        *QUICK,
        "-s",
        "consensus",
        "--compare",
        "mv",
    )
    out, _ = run(
        *base, "--crowd", "own.json:independent", "--table-crowd", "rte", "--table-crowd", "own.json", "-o", "there"
    )
    plan = tomllib.loads((tmp_path / "there" / "plan.toml").read_text())["experiment"]
    assert plan["crowds"] == [f"{tmp_path}/own.json:independent"]
    assert plan["table_crowds"] == ["rte", f"{tmp_path}/own.json"]
    assert "rte" in out


def test_without_files_a_collection_is_simulated():
    out, _ = run("-s", "finding", "--order", "depth", "--samples", 1)
    assert gives(out, "depth")


def test_json_is_the_findings(files):
    out, err = run(files / "runs", "-g", files / "gold.qrels", "-s", "orders", "--order", "depth", *QUICK, "-f", "json")
    assert json.loads(out)["tables"]["orders"][0]["order"] == "depth"
    assert gives(err, "20%")


def test_disagreement_is_read_from_its_file(files, tmp_path):
    world = kt.simulation.simulate_collection(systems=5, topics=5, depth=15, rng=3)
    kt.experiments.write_disagreement(
        kt.experiments.learn_disagreement(world.runs, world.judgments, trials=3, rng=1), tmp_path / "model.json"
    )
    base = (files / "runs", "-g", files / "gold.qrels", "-s", "finding", "--order", "disagreement", "--order", "depth")
    out, _ = run(*base, "--samples", 1, "--disagreement", tmp_path / "model.json")
    assert "disagreement" in out
    out, err = run(*base, "--samples", 1)
    assert "disagreement" not in out
    assert re.search("note: .*'disagreement'", err)


def test_disagreement_is_learned_from_other_judges(files, tmp_path):
    world = kt.simulation.simulate_collection(systems=5, topics=5, depth=15, rng=3)
    first = world.judgments.keep_rows(world.judgments.judge == 0)
    kt.write_judgments(first, tmp_path / "second.qrels")
    pool = (files / "runs", "-g", files / "gold.qrels")
    small = ("-s", "orders", "--order", "disagreement", "--order", "depth", "--expert-shares", "20", *QUICK[-2:])
    learned = ("--splits", 3, "-f", "json", "-q")
    own = json.loads(run(*pool, "-j", tmp_path / "second.qrels", *small, *learned)[0])["predicted"]
    assert len(own["rates"]["topic"]["values"]) == 5
    lesson = ("--learn-from", tmp_path / "second.qrels", "--learn-gold", files / "gold.qrels")
    other = json.loads(run(*pool, *lesson, "--learn-runs", files / "runs", *small, *learned)[0])["predicted"]
    assert other["model"]["topics"] == own["model"]["topics"]
    assert other["rates"]["topic"]["values"] == []
    text = run(*pool, "-j", tmp_path / "second.qrels", *small, "--splits", 3, "-o", tmp_path / "there")[0]
    assert {"TPR", "PPV", "TNR", "NPV", "AUC"} <= set(text.split())
    names = {path.name for path in (tmp_path / "there").iterdir()}
    assert {"disagreement-learned.tsv", "disagreement-predicted.svg", "disagreement-predicted.tsv"} <= names
    plan = tomllib.loads((tmp_path / "there" / "plan.toml").read_text())["experiment"]
    assert plan["judgments"] == [f"{tmp_path}/second.qrels"]
    for given, message in ((lesson[:2], "--learn-gold"), (lesson[2:], "--learn-from")):
        with pytest.raises(OptionError, match=message):
            run(*pool, *given)
    with pytest.raises(OptionError, match="runs"):
        run("-j", tmp_path / "second.qrels")
    (tmp_path / "empty.qrels").write_text("1 0 a 0\n")
    with pytest.raises(DataError, match=r"disagree.*no relevant document"):
        run(*pool, *lesson[:2], "--learn-gold", tmp_path / "empty.qrels", *small)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("-g", "gold.qrels"), "runs"),
        (("runs",), "--gold"),
        (("--expert-shares", "a,b"), "'a,b'"),
        (("--ratio", "nonsense"), "'nonsense'"),
        (("--order", "effect"), "judgments"),
        (("-s", "everything"), '"everything"'),
    ],
)
def test_bad_options_are_refused(given, message):
    with pytest.raises(OptionError, match=message):
        run(*given)
