"""The picture of a crowd."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from tests.unit.simulation.crowds import make_model


def cells(chart):
    return [row for table in json.loads(chart.to_json())["datasets"].values() for row in table]


def find_text(part, text, left=0.0):
    """Where such texts begin."""
    moved = re.match(r"translate\(([-\d.]+)", part.get("transform", ""))
    left += float(moved[1]) if moved else 0
    found = [left] if part.text == text else []
    return found + [place for child in part for place in find_text(child, text, left)]


def test_a_cell_for_each_voxel_of_two_levels_and_of_those_with_judges(tmp_path):
    model = make_model()
    rows = cells(kt.charts.chart_crowd(model))
    assert len(rows) == 200
    full = [row for row in rows if row["percent"] > 0]
    assert [(row["true_positive"], row["true_negative"], row["level"], row["percent"]) for row in full] == [
        (0.8, 0.7, 0, 100)
    ]
    busy = replace(model, voxel=np.array([[8, 7, 3]], np.int32), mean=np.array([[0.85, 0.75, -0.1]]))
    assert {row["level"] for row in cells(kt.charts.chart_crowd(busy))} == {0, 1, 3}
    kt.charts.write_chart(kt.charts.chart_crowd(busy), tmp_path / "crowd.svg")
    text = (tmp_path / "crowd.svg").read_text()
    for words in ("0-25%", "75-100%"):
        assert words in text


def test_a_wider_font_does_not_cut_the_legend(tmp_path):
    kt.charts.write_chart(kt.charts.chart_crowd(kt.simulation.load_crowd("hcb")), tmp_path / "crowd.svg")
    picture = ET.fromstring((tmp_path / "crowd.svg").read_text())
    (left,) = find_text(picture, "% of judges")
    assert left + 73 < float(picture.attrib["width"])  # its width in DejaVu Sans Bold, which is wide


def test_shares_add_up():
    rows = cells(kt.charts.chart_crowd(kt.simulation.load_crowd("hcb")))
    assert sum(row["percent"] for row in rows) == pytest.approx(100)
