"""What `report` and `demo` write, and give back."""

import pytest

import karatage as kt
from karatage.errors import OptionError


@pytest.fixture(scope="module")
def world():
    return kt.simulation.simulate_collection(systems=2, topics=8, depth=10, rng=2)


def test_a_report_writes_the_page_only_where_it_is_asked_to(world, tmp_path):
    found = kt.report(world.runs, world.judgments, world.gold, "P@5", approach="mv", output=tmp_path / "page.html")
    assert found.comparison.sentence in (tmp_path / "page.html").read_text("utf-8").replace("&#39;", "'")
    again = kt.report(
        world.runs, world.judgments, world.gold, kt.Question(measure="P@5", approach="mv"), approach=["mv"]
    )
    assert again.to_dict() == found.to_dict()
    with pytest.raises(OptionError, match="output"):
        kt.report(world.runs, world.judgments, world.gold, figures=tmp_path / "charts")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_the_demo_gives_what_its_page_shows(tmp_path, monkeypatch):
    pages = {}
    monkeypatch.setattr("karatage.views.report.write_report", lambda path, found: pages.update({path: found}))
    found = kt.demo(tmp_path / "demo")
    assert pages == {tmp_path / "demo" / "report.html": found}
    assert (found.comparison.a, found.comparison.b, found.comparison.significant) == ("old", "new", False)
    runs, gold = kt.read_runs(tmp_path / "demo" / "runs"), kt.read_gold(tmp_path / "demo" / "gold.qrels")
    assert (len(runs.systems), len(gold.topics)) == (12, 40)
