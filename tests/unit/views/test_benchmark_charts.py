"""Charts of the benchmark: what they show, and that every format is whole."""

import json
import struct
import xml.etree.ElementTree as ET

import pytest

from karatage.errors import OptionError
from karatage.experiments.engine import Outcome
from karatage.experiments.square.findings import Benchmark, CellResult, DataSetFacts, JudgeFacts
from karatage.views.benchmark import OF_JUDGES, chart_benchmark, chart_judges, count_judges
from karatage.views.charts import write_chart


def make_result():
    cells = []
    for s, name in enumerate(("birds", "<b>&tweets")):
        for a, approach in enumerate(("mv", "ds", "ry(dialect=square)")):
            for supervision, amount in (("none", 0), ("full", 10), ("full", 50)):
                value = 0.6 + 0.1 * s + 0.05 * a + amount / 1000
                facts = {"accuracy": value, "f1": value / 2, "items": 100}
                done = Outcome(name="", status="skipped" if approach == "mv" and amount else "done", facts=facts)
                cells.append(CellResult(name, approach, supervision, amount, done))
    sets = tuple(DataSetFacts(name, 1, 1, 1, 1, (0, 1), ()) for name in ("birds", "<b>&tweets"))
    return Benchmark(cells=tuple(cells), data_sets=sets, seed=0)


def points(chart):
    """All data of a chart: (data set, approach, amount) -> points above mv."""
    tables = json.loads(chart.to_json())["datasets"].values()
    rows = [row for table in tables for row in table if "points" in row]
    return {(row["data_set"], row["approach"], row["amount"]): row["points"] for row in rows}


def test_bars_show_the_gap_to_majority_vote_and_the_mean():
    found = points(chart_benchmark(make_result()))
    assert found == {
        (name, approach, 0): pytest.approx(gap)
        for name in ("birds", "<b>&tweets", "mean of 2 data sets")
        for approach, gap in (("ds", 5.0), ("ry(dialect=square)", 10.0))
    }


def test_lines_show_the_gap_to_majority_vote_without_gold():
    found = points(chart_benchmark(make_result(), supervision="full", quality="f1"))
    assert found["birds", "ds", 10] == pytest.approx(3.0)
    assert found["birds", "ds", 50] == pytest.approx(5.0)
    assert found["mean of 2 data sets", "ry(dialect=square)", 50] == pytest.approx(7.5)
    assert not any(approach == "mv" for _, approach, _ in found)


def test_histograms_count_every_judge_once():
    known = [0.0, 0.05, 0.1, 0.5, 0.95, 1.0]
    judges = [JudgeFacts("birds", f"j{k}", 10 * k + 1, 1, right) for k, right in enumerate(known)]
    judges += [JudgeFacts("birds", "unknown", 100, 0, None), JudgeFacts("<b>&tweets", "x", 7, 7, 0.3)]
    sets = tuple(DataSetFacts(name, 10_000, 9, 200, 200, (0, 1), ()) for name in ("birds", "<b>&tweets"))
    result = Benchmark(cells=make_result().cells, data_sets=sets, judges=tuple(judges), seed=0)
    counted = {of: count_judges(result, of).filter(data_set="birds")["judges"].to_list() for of in OF_JUDGES}
    assert counted == {"accuracy": [2, 1, 0, 0, 0, 1, 0, 0, 0, 2], "items": [1, 1, 1, 1, 1, 1, 0, 0, 0, 1]}
    for of in OF_JUDGES:
        tables = json.loads(chart_judges(result, of=of).to_json())["datasets"].values()
        drawn = [row for table in tables for row in table]
        assert sum(row["judges"] for row in drawn if row["data_set"] == "birds") == sum(counted[of])
        assert max(row["high"] for row in drawn if row["data_set"] == "<b>&tweets") == {"accuracy": 1, "items": 7}[of]
    with pytest.raises(OptionError, match="speed"):
        chart_judges(result, of="speed")
    with pytest.raises(OptionError, match="judges"):
        chart_judges(make_result())


@pytest.mark.parametrize("supervision", ["none", "full"])
def test_every_format_is_whole(tmp_path, supervision):
    chart = chart_benchmark(make_result(), supervision=supervision)
    for ending in ("svg", "png", "html", "json"):
        write_chart(chart, tmp_path / f"chart.{ending}")
    picture = ET.fromstring((tmp_path / "chart.svg").read_text())
    text = "".join(picture.itertext())
    assert picture.tag.endswith("svg")
    assert "birds" in text
    assert "<b>&tweets" in text
    png = (tmp_path / "chart.png").read_bytes()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert png.endswith(b"IEND\xaeB`\x82")
    width, height = struct.unpack(">II", png[16:24])
    assert width > 600
    assert height > 200
    html = (tmp_path / "chart.html").read_text()
    assert "<script src=" not in html  # works without a network
    assert "birds" in html
    assert json.loads((tmp_path / "chart.json").read_text())["title"].endswith("points above mv")


def test_bad_requests_are_told(tmp_path):
    result = make_result()
    with pytest.raises(OptionError, match="supervision"):
        chart_benchmark(result, supervision="half", quality="f1")
    with pytest.raises(OptionError, match="supervision"):
        chart_benchmark(result, supervision="light")
    with pytest.raises(OptionError, match=r"chart\.bmp"):
        write_chart(chart_benchmark(result), tmp_path / "chart.bmp")


def test_names_with_control_characters_do_not_kill_the_process(tmp_path):
    import altair as alt
    import polars as pl

    frame = pl.DataFrame({"name": ["vertical\x0btab", "plain"], "value": [1, 2]})
    chart = alt.Chart(frame).mark_bar().encode(x="name:N", y="value:Q")
    for ending in "svg", "png", "html", "json":
        write_chart(chart, tmp_path / f"chart.{ending}")
    assert "\N{REPLACEMENT CHARACTER}" in (tmp_path / "chart.svg").read_text()
