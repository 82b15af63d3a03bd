"""`karatage experiment noisy`: what it prints, writes and refuses."""

import json
import re

import polars as pl
import pytest
from rich.cells import cell_len

from karatage.errors import OptionError
from tests.invoking import invoke
from tests.notes import has_line


def run(*arguments):
    result = invoke(["experiment", "noisy", *arguments])
    if result.exception is not None:
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The small preset, with everything in it."""
    home = tmp_path_factory.mktemp("results")
    return home, *run("--preset", "small", "--seed", 3, "-o", home)


def test_tables_of_80_columns_and_a_closing_sentence(done):
    _, out, err = done
    assert max(map(cell_len, out.splitlines())) <= 80
    for facts in (("50 topics", "95%", "P@10", "1,000", "± 1.4"), ("50 topics", "%"), ("50 topics", "'(10)'", 80)):
        assert has_line(out, *facts), facts
    assert "(25)" in out.split("Figure 1")[-1]
    assert out.rstrip().endswith("gold 1: 0.05, 0.15, 0.8.")
    assert has_line(err, "note", "two gold samples")


@pytest.mark.parametrize(
    ("preset", "figures"),
    [
        ("ebay", "-2.524 0.0116 0.8047 0.8284 0.0903 0.0923 0.854 2.384 0.017"),
        ("trec", "2454 infinite 0.527 0.447 0.513 0.280 1.000"),
        ("dcg", "0.565465 0.482132"),
    ],
)
def test_examples_print_the_papers_digits(preset, figures):
    out, err = run("--preset", preset)
    assert err == ""
    assert max(map(cell_len, out.splitlines())) <= 80
    for figure in figures.split():
        assert figure in out


def test_refusal_of_trec_is_told():
    out = " ".join(run("--preset", "trec")[0].split())
    assert "0.527 > 0.447 and 0.513 > 0.280 (17)" in out
    assert re.search(r"\(17\) are 1 and 1\b", out)


def test_without_options_it_is_the_papers_simulation():
    out, _ = run()
    assert out == run("--preset", "paper")[0]
    words = out.split()
    assert {"0.480", "0.400."} <= set(words)


def test_the_folder_has_everything(done):
    home, out, _ = done
    told = json.loads((home / "findings.json").read_text())
    assert told["sentence"].split() == out[out.index(told["sentence"][:30]) :].split()
    assert len(pl.read_parquet(home / "results.parquet")) == len(pl.read_csv(home / "results.csv"))
    for name in ("intervals", "histogram", "tests", "worked"):
        assert len(pl.read_parquet(home / f"{name}.parquet"))
        assert (home / f"{name}.tsv").exists()
    for ending in ("svg", "png", "html"):
        assert (home / f"histogram.{ending}").stat().st_size > 1000
        assert (home / f"power-one-50.{ending}").stat().st_size > 1000
    assert "<svg" in (home / "page.html").read_text()
    assert set(out.splitlines()) <= set((home / "tables.txt").read_text().splitlines())
    assert 'kind = "noisy"' in (home / "plan.toml").read_text()


def test_a_plan_does_the_same_again(done):
    home, out, _ = done
    assert run("--plan", home / "plan.toml", "-w", 2)[0] == out


def test_a_run_is_resumed_or_begun_afresh(tmp_path):
    asked = ("--study", "ebay", "--study", "dcg", "-o", tmp_path)
    out, _ = run(*asked)
    again, err = run(*asked)
    assert again == out
    assert "2 of 2 cells were already done by an earlier run" in err
    assert "already done" not in run(*asked, "--fresh")[1]


def test_options_change_the_world():
    few = ("--simulations", 200, "-q")
    out, err = run(*few, "--right-relevant", "0.9,0.7", "--right-other", "0.8,0.95", "--gold-sizes", "50,100")
    assert err == ""
    assert ".7/.95" in out
    out, _ = run(*few, "--topics", "20,30", "--precision", "0.3", "--depth", 5, "--topic-spread", 0.2)
    assert "30 topics: % of 95% intervals that cover P@5 (200 simulations" in out
    out, _ = run(*few, "--study", "tests", "--differences", "0.05", "--seed", 1)
    assert "no difference" not in out
    assert "0.05" in out
    assert "0.1 " not in out


def test_many_worlds_are_laid_out_crosswise():
    sizes = ("--gold-sizes", "20,50,100,250,1000", "--precision", "0.1,0.4,0.8", "--simulations", 50, "-q")
    out, _ = run(*sizes, "--right-relevant", "0.95", "--right-other", "0.95")
    assert max(map(cell_len, out.splitlines())) <= 80
    assert out.count("50 topics: % of 95% intervals (") == 2
    assert "at 0.1   at 0.4   at 0.8" in out


def test_json_and_tsv_hold_the_findings():
    few = ("--simulations", 100, "-q")
    frame = run(*few, "-f", "tsv")[0].splitlines()
    assert frame[0].split("\t")[:3] == ["study", "right_relevant", "right_other"]
    assert json.loads(run(*few, "-f", "json")[0])["plan"]["simulations"] == 100


def test_plans_that_cannot_be_are_refused():
    with pytest.raises(OptionError, match=r'"speed".*--study.*"intervals"'):
        run("--study", "speed")
    with pytest.raises(OptionError, match="chance"):
        run("--right-relevant", 0.5, "--right-other", 0.5)
    with pytest.raises(OptionError):
        run("--precision", "many")
