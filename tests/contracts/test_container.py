"""What runs in a strict container: read-only but for the output folder, no home, 2 GB of addresses."""

import pytest

import karatage as kt
from tests.contained import run_contained

KEPT = "note: compiled code cannot be kept, as no folder for it can be written, so every start is slow; "


@pytest.fixture
def files(tmp_path):
    world = kt.simulation.simulate_collection(systems=2, topics=8, depth=10, rng=7)
    for system in world.runs.systems:
        kt.write_run(world.runs, system, tmp_path / "in" / "runs" / f"{system}.run")
    kt.write_judgments(world.judgments, tmp_path / "in" / "crowd.csv")
    (tmp_path / "out").mkdir()
    return tmp_path


def test_compare_and_report_run_where_nothing_else_can_be_written(files):
    out, given = files / "out", files / "in"
    compared = run_contained(
        out, "-m", "karatage", "compare", f"{given}/runs", "-j", f"{given}/crowd.csv", "-o", "compared.json"
    )
    assert compared.returncode == 0, compared.stderr
    assert compared.stderr.count(KEPT) == 1
    told = run_contained(out, "-m", "karatage", "report", "compared.json", "-o", "page.html")
    assert told.returncode == 0, told.stderr
    assert [line.partition(":")[0] for line in told.stderr.splitlines()[-2:]] == ["note", "note"]
    assert "note: still pictures could not be made: " in told.stderr
    assert {path.name for path in out.iterdir()} == {"compared.json", "page.html"}
    text = (out / "page.html").read_text()
    assert "By the judges" in text
    assert 'class="spec"' in text
    assert 'class="still"' not in text
