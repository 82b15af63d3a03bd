"""`karatage report`: the page, its charts and tables, from files and from results."""

from __future__ import annotations

import json
import re
import shlex
import sys

import pytest

import karatage as kt
from karatage.errors import KaratageError
from tests.invoking import invoke
from tests.notes import gives

FILES = "runs -j judgments.csv -g gold.qrels -m P@5"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("report")
    world = kt.simulation.simulate_collection(systems=4, topics=12, depth=12, rng=2)
    for system in world.runs.systems:
        kt.write_run(world.runs, system, home / "runs" / f"{system}.gz")
    kt.write_judgments(world.judgments, home / "judgments.csv")
    kt.write_judgments(world.gold, home / "gold.qrels")
    return home


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def call(command, code=0):
        arguments = shlex.split(command)
        monkeypatch.setattr(sys, "argv", ["karatage", *arguments])
        result = invoke(arguments)
        if code:
            assert isinstance(result.exception, KaratageError), result.output
            return str(result.exception)
        assert result.exit_code == 0, result.output + str(result.exception)
        return result.output

    return call


def test_the_page_charts_and_tables_are_written(run, folder):
    said = run(
        f"report {FILES} --a system-02 --b system-01 -o page.html --figures charts --tables tables -a mv -a uniform"
    )
    page = (folder / "page.html").read_text()
    assert gives(said, "system-01")
    assert gives(said, "page.html")
    assert said.splitlines()[0] in page.replace("\n", " ")
    assert f"karatage report {FILES}" in page
    stems = {path.stem for path in (folder / "charts").iterdir()}
    shown = set(re.findall(r'<figure class="chart" data-name="(.+?)"', page))
    assert (
        stems == shown >= {"comparison", "leaderboard", "differences", "topics", "fidelity", "confusion", "agreement"}
    )
    assert {path.suffix for path in (folder / "charts").iterdir()} == {".svg", ".png"}
    assert {path.suffix for path in (folder / "tables").iterdir()} == {".tex", ".md"}
    assert "system-01" in (folder / "tables" / "leaderboard.md").read_text()


def test_results_make_the_same_page_as_the_files_they_came_from(run, folder):
    (folder / "survey.json").write_text(run(f"report {FILES} -q -f json -o one.html"))
    run("report survey.json -q -o two.html")
    one, two = ((folder / name).read_text() for name in ("one.html", "two.html"))
    assert _level(one) == _level(two)
    assert "karatage report survey.json" in two
    assert f"karatage report {FILES}" in two  # how the result itself was made


def _level(page):
    """Without the command, and without the last digits of numbers, which depend on the order of sums."""
    page = re.sub(r"<dt>command</dt>\s*<dd>.*?</dd>|data-[0-9a-f]{32}", "", page, flags=re.S)
    return re.sub(r"-?\d+\.\d{6,}(e-?\d+)?", lambda found: f"{float(found[0]):.6f}", page)


def test_files_of_tables_stand_on_their_own(run, folder):
    run(f"compare {FILES} -q -o board.json")
    run(f"compare {FILES} --a system-02 --b system-01 -q -o pair.json")
    run(f"evaluate {FILES} -a mv -q -o evaluation.json")
    run("report pair.json board.json evaluation.json -q -o all.html --tables apart")
    printed = {path.stem: path.read_text() for path in (folder / "apart").glob("*.tex")}
    assert {"difference", "scores", "scores-2", "leaderboard"} <= printed.keys()
    for stem, text in printed.items():
        assert f"\\label{{tab:{stem}}}" in text
    named = "a = system-02, b = system-01; system-01 against system-02: P@5}"
    assert f"\\caption{{Difference; {named}" in printed["difference"]
    assert re.search(r"caption\{Leaderboard; Leaderboard: P@5.+\}", printed["leaderboard"])
    assert "system-01 against" not in printed["scores-2"]


def test_several_results_share_a_page(run, folder):
    run(f"compare {FILES} -q -o board.json")
    run("audit judgments.csv -g gold.qrels -q -o audit.json")
    said = run("report board.json audit.json -o both.html")
    assert " ".join(said.split()).startswith(kt.read_result(folder / "board.json").result.sentence)
    page = (folder / "both.html").read_text()
    assert "Leaderboard" in page
    assert "effective votes" in page


def test_json_and_tsv_hold_the_survey(run, folder):
    found = json.loads(run(f"report {FILES} -q -f json"))
    assert found["kind"] == "survey"
    assert found["command"].startswith("karatage report")
    assert run(f"report {FILES} -q -f tsv").splitlines()[0].startswith("system\tletters\t")
    assert (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("report", "no runs were given"),
        ("report runs", "no judgments were given"),
        (f"report {FILES} -o page.txt", "a page is an .html file"),
        (f"report {FILES} -o judgments.csv", "judgments.csv would be overwritten, but it is read"),
        ("report runs board.json -j judgments.csv", "RESULT.json"),
        ("report board.json -j judgments.csv", "results need no judgments"),
        (f"report {FILES} --a system-01", "one of a and b is missing"),
        (f"report {FILES} --a system-01 --b nobody", "nobody"),
        ("report missing.json", "missing.json"),
    ],
)
def test_bad_requests_are_told(run, folder, command, told):
    (folder / "board.json").touch()
    assert told in run(command, code=2)
    assert (folder / "judgments.csv").read_text().startswith("judge")
