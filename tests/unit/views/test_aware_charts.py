"""Charts and page of the AWARE experiment."""

import json
import re
from dataclasses import replace

import pytest

from karatage.views.aware import chart_crossing, chart_families, tabulate_analyses, view_aware
from karatage.views.html import render_page
from karatage.views.table import write_column
from tests.notes import gives

from ..experiments.aware_worlds import make_findings


@pytest.fixture(scope="module")
def found():
    return make_findings(
        ("all30", "own", "uniform", "mv", "emmv"),
        sizes=(2, 3, 5),
        panels=("correlation 0", "correlation 0.5"),
        measures=("AP", "P(rel=1)@5"),
    )


@pytest.fixture(scope="module")
def charts(found):
    return {name: figure.chart for name, figure in view_aware(found).figures}


def test_every_chart_has_a_name_of_its_own(charts):
    assert {"families-best-tau_ap-T08", "families-mean-rmse-T13", "crossing"} <= set(charts)
    ends = ("main-effects", "approaches", "tukey", "size-by-approach", "systems-by-approach", "parts", "gap-by-weight")
    ends += ("tukey-granularity", "tukey-gap", "tukey-weight")
    assert len(charts) == 8 + 1 + 2 * 2 * 13
    for panel in ("correlation-0", "correlation-0.5"):
        assert {f"{panel}-{outcome}-{end}" for outcome in ("tau_ap", "rmse") for end in ends} <= set(charts)
    for chart in charts.values():
        json.loads(chart.to_json())  # a valid specification


def test_families_have_a_panel_for_each_measure_and_panel(found):
    spec = json.loads(chart_families(found, "T08").to_json())
    titles = [panel["title"]["text"] for panel in spec["concat"]]
    assert titles == [f"{m}, correlation {c}" for c in ("0", "0.5") for m in ("AP", "P@5")]
    legend = spec["concat"][0]["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert legend[0] == "grades merged"
    assert {"own chance", "uniform", "sgl fro", "tpc apc"} <= set(legend)
    rows = {row["family"] for name in spec["datasets"] for row in spec["datasets"][name]}
    assert rows == set(legend)


def test_crossing_shows_differences_by_correlation(found):
    spec = json.loads(chart_crossing(found).to_json())
    rows = [row for rows in spec["datasets"].values() for row in rows if "correlation" in row]
    assert {row["correlation"] for row in rows} == {0.0, 0.5}
    assert {row["size"] for row in rows} == {2, 3, 5}
    assert "minus mv" in spec["title"]


def test_few_approaches_still_have_charts():
    alone = make_findings(("uniform", "mv"), sizes=(2, 3), systems=("T08",), measures=("AP",))
    names = {name for name, _ in view_aware(alone).figures}
    assert {"families-best-tau_ap", "tau_ap-tukey", "tau_ap-size-by-approach"} <= names
    assert "crossing" not in names
    assert not any("parts" in name for name in names)


def test_the_page_shows_all(found, charts):
    page = view_aware(found)
    numbers = [re.findall(r"[\d.]+", section.title) for section in page.sections]
    assert numbers == [[], [], ["0"], ["0.5"], []]
    assert len([figure.chart for _, figure in page.figures]) == len(charts)
    few = replace(page, sections=[replace(section, charts=section.charts[:1]) for section in page.sections])
    text = render_page(few)  # the others take seconds
    assert gives(text, "tau_ap", 30)


def test_parts_have_tukeys_chart_with_their_levels_best_first(found, charts):
    test = found.analyses.found[0].groups[2]
    spec = json.loads(charts["correlation-0-tau_ap-tukey-gap"].to_json())
    rows = [row for rows in spec["datasets"].values() for row in rows if "letters" in row]
    assert {row["level"] for row in rows} == {"fro", "rmse", "kld", "tau", "apc"}
    assert {row["level"]: row["mean"] for row in rows} == pytest.approx(dict(zip(test.levels, test.mean, strict=True)))


def test_a_p_value_of_0_is_below_the_smallest_number():
    def value(_, __, measure, size, ___, approach):
        noise = (size * 7 + len(approach) * 5 + (3 if measure == "AP" else 0)) % 11
        return 0.2 + 0.6 * (measure == "AP") + 1e-6 * noise

    found = make_findings(("all30", "mv"), measures=("AP", "P@5"), systems=("T08",), value=value)
    tables = [table for table in tabulate_analyses(found, "given") if "tau_ap" in table.caption]
    assert len(tables) == 2
    for table in tables:
        shown = dict(zip(table.frame["source"], write_column(table, "p_value", plain=True), strict=True))
        assert shown["measure"] == "< 2.2e-308"
