"""Confusion and agreement of judges: what charts show, and that they can be drawn."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import polars as pl
import pytest

from karatage.errors import DataError
from karatage.views.audit import PANELS, chart_agreement, chart_confusion, order_judges
from tests.notes import gives
from tests.unit.views.conftest import make_many


def test_every_cell_of_every_judge_is_there(hostile, read_chart):
    audit = hostile.audit
    drawn = read_chart(chart_confusion(audit))
    found = {(row["judge"], row["gold"], row["grade"]): row for row in drawn.rows("panel")}
    assert len(found) == len(audit.confusion)
    for row in audit.confusion.to_dicts():
        shown = found[row["judge"], row["gold"], row["grade"]]
        assert {name: shown[name] for name in row} == row
    assert drawn.size[0] <= 640
    assert drawn.params["chosen_judge"]["views"] == [drawn.spec["spec"]["layer"][0]["name"]]


def test_panels_stand_by_family_and_by_how_often_judges_are_right(hostile, read_chart):
    rows = read_chart(chart_confusion(hostile.audit)).rows("panel")
    panels = dict(sorted({(row["panel"], row["judge"]) for row in rows}))
    facts = {row["judge"]: (row["family"], -row["accuracy"]) for row in hostile.audit.judges.to_dicts()}
    assert [facts[judge] for judge in panels.values()] == sorted(facts.values())


@pytest.mark.parametrize("judges", [1, 2, 5])
def test_few_panels_have_numbers_in_them(hostile, read_chart, judges):
    audit = hostile.audit
    names = audit.judges["judge"].tail(judges).to_list()
    few = replace(
        audit,
        judges=audit.judges.tail(judges),
        confusion=audit.confusion.filter(pl.col("judge").is_in(names)),
        pairs=audit.pairs.clear(),
        flags=audit.flags.clear(),
        counts=(),
    )
    drawn = read_chart(chart_confusion(few))
    assert sum(text.endswith("%") for text in drawn.texts) >= 16 * judges
    assert drawn.size[0] <= 640


def test_of_many_judges_those_with_most_gold_are_shown(hostile, read_chart):
    drawn = read_chart(chart_confusion(make_many(hostile.audit, 100)))
    assert {row["judge"] for row in drawn.rows("panel")} == {f"j{k}" for k in range(100 - PANELS, 100)}
    assert any(gives(text, 30, 70) for text in drawn.texts)


def test_every_pair_is_there_twice(hostile, read_chart):
    audit = hostile.audit
    drawn = read_chart(chart_agreement(audit))
    found = {(row["judge"], row["other"]): row for row in drawn.rows("column")}
    assert len(found) == 2 * len(audit.pairs)
    for row in audit.pairs.to_dicts():
        for pair in (row["judge"], row["other"]), (row["other"], row["judge"]):
            assert found[pair]["kappa"] == row["kappa"]
            assert found[pair]["shared"] == row["shared"]
    order = order_judges(audit)
    assert {(order[row["row"]], order[row["column"]]) for row in found.values()} == set(found)
    assert drawn.size[0] <= 640


def test_families_stand_together_and_near_judges_in_them(hostile):
    family = dict(hostile.audit.judges.select("judge", "family").iter_rows())
    order = [family[judge] for judge in order_judges(hostile.audit)]
    assert sum(one != other for one, other in pairwise(order)) == 2


def test_judges_that_agree_are_neighbours(hostile):
    pairs = pl.DataFrame(
        {"judge": list("aaabbc"), "other": list("bcdcdd"), "shared": [9] * 6, "kappa": [0.0, 0.9, 0.1, 0.2, 0.8, 0.1]}
    )
    audit = hostile.audit
    facts = {"items": 9, "coverage": 9 / audit.items, "flags": "", "why": ""}
    judges = pl.DataFrame({"judge": list("abcd"), **{name: [value] * 4 for name, value in facts.items()}})
    empty = {"confusion": audit.confusion.clear(), "flags": audit.flags.clear(), "counts": ()}
    order = "".join(order_judges(replace(audit, pairs=pairs, judges=judges, **empty)))
    assert "ac" in order or "ca" in order
    assert "bd" in order or "db" in order


def test_what_is_not_known_is_told(hostile):
    audit = hostile.audit
    with pytest.raises(DataError):
        chart_confusion(replace(audit, confusion=audit.confusion.clear(), judges=audit.judges.drop("gold_items")))
    with pytest.raises(DataError, match="pairs"):
        chart_agreement(replace(audit, pairs=audit.pairs.clear()))
