"""`karatage experiment random-relevance`: what it prints, writes and refuses."""

import json

import polars as pl
import pytest
from rich.cells import cell_len

from karatage.errors import DataError, OptionError
from tests.invoking import invoke
from tests.notes import has_line

SMALL = ("--preset", "small", "--seed", 3)


def run(*arguments):
    result = invoke(["experiment", "random-relevance", *arguments])
    if result.exception is not None:
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The small preset on a simulated collection."""
    home = tmp_path_factory.mktemp("results")
    return home, *run(*SMALL, "-o", home)


def test_tables_of_80_columns_and_a_closing_sentence(done):
    _, out, err = done
    assert max(map(cell_len, out.splitlines())) <= 80
    for facts in (("correlation 0", 31, "95%"), ("tau_ap", "*"), (100, "draws")):
        assert has_line(out, *facts), facts
    assert out.rstrip().endswith(".")
    assert has_line(out, "95%")
    assert has_line(err, "note", "31 judges")


def test_the_folder_has_everything(done):
    home, out, _ = done
    told = json.loads((home / "findings.json").read_text())
    assert told["sentence"].split() == out[out.rindex("simulated, correlation 0: grades") :].split()
    results = pl.read_parquet(home / "results.parquet")
    assert len(results) == len(pl.read_csv(home / "results.csv")) == len(told["frame"])
    for name in ("table1", "table2", "table2-tau", "means", "controls", "tuples", "check"):
        assert len(pl.read_parquet(home / f"{name}.parquet"))
        assert (home / f"{name}.tsv").exists()
    for ending in ("svg", "png", "html"):
        assert (home / f"tau_ap-1.{ending}").stat().st_size > 1000
    assert "<svg" in (home / "page.html").read_text()
    assert set(out.splitlines()) <= set((home / "tables.txt").read_text().splitlines())
    assert 'kind = "random-relevance"' in (home / "plan.toml").read_text()


def test_simulated_runs_retrieve_documents_that_nobody_judged(done):
    """If all were judged, uncertain grades would change no order by DCG or RBP, and a blank judge would have none."""
    home = done[0]
    gains, controls = (pl.read_parquet(home / f"{name}.parquet") for name in ("table1", "controls"))
    for measure in ("eRAP", "eRDCG", "eRRBP"):
        assert gains.filter(measure=measure)["tau_ap gain ±"].min() > 0
        assert controls.filter(measure=measure)["blank, DGS"].item() != 0


def test_a_plan_does_the_same_again(done):
    home, out, _ = done
    assert run("--plan", home / "plan.toml")[0] == out


def test_results_do_not_depend_on_workers(done):
    assert run(*SMALL, "--workers", 2)[0] == done[1]


def test_options_override_the_plan(done):
    out, _ = run(*SMALL, "--sizes", "3-4", "--samples", 2, "-m", "P@5", "-a", "mv", "-a", "expected:ds", "--draws", 0)
    assert "M = 3" in out
    assert "M = 2" not in out
    assert "eRP@5" in out
    assert "Formulas" not in out
    tsv, err = run(*SMALL, "--sizes", 2, "--samples", 2, "--draws", 0, "--certainty", 0.8, "-f", "tsv", "-m", "AP")
    assert tsv.splitlines()[0].split("\t")[:3] == ["systems", "panel", "measure"]
    assert "grades of 80% certainty" in err
    silent = run(*SMALL, "--sizes", 2, "--samples", 2, "--draws", 0, "-f", "json", "-m", "AP", "-q")
    assert json.loads(silent[0])["plan"]["samples"] == 2
    assert silent[1] == ""


def test_long_names_and_many_sizes_still_fit():
    out, _ = run(
        "--sizes", "2-12", "--samples", 1, "--draws", 0, "-m", "AP", "-a", "binmv(quality=onecoin)", "-a", "mv"
    )
    assert max(map(cell_len, out.splitlines())) <= 80
    assert "M = 12" in out


def test_plans_that_cannot_be_are_refused(tmp_path):
    with pytest.raises(OptionError):
        run("-m", "Bpref")
    with pytest.raises(DataError, match=r"\b3\b.*judges"):
        run("-j", "simulated:3", "--sizes", 5)
