"""The whole of `compare` and `report` in a strict container, on the demo's files and on a real collection."""

import pytest

import karatage as kt
from karatage.simulation.collection import simulate_story
from tests.contained import run_contained

pytestmark = pytest.mark.soak


@pytest.fixture
def story(tmp_path):
    """The demo's story with gold on the whole pool, as ordinary files."""
    world = simulate_story(7)
    for system in world.runs.systems:
        kt.write_run(world.runs, system, tmp_path / "in" / "runs" / f"{system}.gz")
    kt.write_judgments(world.judgments, tmp_path / "in" / "judgments.csv")
    kt.write_judgments(world.gold, tmp_path / "in" / "gold.qrels")
    files = tmp_path / "in"
    return [str(files / "runs"), "-j", str(files / "judgments.csv"), "-g", str(files / "gold.qrels")]


@pytest.fixture
def collection(shared_data):
    folder = shared_data / "trec-dl-2021-passage"
    return [str(folder / "runs"), "-j", str(folder / "llm_labels.tsv.gz"), "-g", str(folder / "gold.qrels")]


@pytest.mark.parametrize("name", ["story", "collection"])
def test_compare_and_report_run_with_gold(name, request, tmp_path):
    given, out = request.getfixturevalue(name), tmp_path / "out"
    out.mkdir()
    compared = run_contained(out, "-m", "karatage", "compare", *given, "-o", "compared.txt")
    assert compared.returncode == 0, compared.stderr
    told = run_contained(out, "-m", "karatage", "report", *given, "-o", "page.html", "--figures", "figures")
    assert told.returncode == 0, told.stderr
    assert told.stderr.count("note: compiled code cannot be kept") == 1
    assert told.stderr.count("note: still pictures could not be made") == 2  # on the page, and in the folder
    assert {path.name for path in out.iterdir()} == {"compared.txt", "page.html"}
    assert (out / "page.html").read_text().count('class="spec"') > 5
