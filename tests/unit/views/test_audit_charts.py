"""Charts of the judges: what they show, and that they can be drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.errors import DataError
from karatage.views.audit import MOST, chart_judges, chart_votes
from karatage.views.scores import chart_weights
from tests.notes import gives
from tests.unit.views.conftest import make_many


def audit_alone(judges: int = 1, gold: bool = True) -> kt.Audit:
    rng = np.random.default_rng(1)
    said = {f"j{j}": {"t": {f"d{i}": int(rng.integers(2)) for i in range(30)}} for j in range(judges)}
    trusted = {"t": {f"d{i}": int(rng.integers(2)) for i in range(30)}}
    return kt.audit(kt.read_judgments(said), gold=kt.read_gold(trusted) if gold else None, rng=1, approach=("mv",))


def test_judges_are_shown_with_what_the_audit_found(hostile, read_chart):
    drawn = read_chart(chart_judges(hostile.audit))
    shown = {row["judge"]: row for row in drawn.rows("row")}
    assert len(shown) == len(hostile.audit.judges)
    for row in hostile.audit.judges.to_dicts():
        found = shown[row["judge"]]
        for column in ("accuracy", "accuracy_low", "accuracy_high", "gold_leniency", "gold_leniency_low"):
            assert found[column] == row[column]
        assert found["flagged"] == ("suspect" if row["flags"] else "no suspicion")


def test_judges_can_be_sorted_in_four_ways(hostile, read_chart):
    drawn = read_chart(chart_judges(hostile.audit))
    rows = drawn.rows("row")
    assert drawn.params["sorted_by"]["bind"]["options"] == ["right", "lenient", "family", "name"]
    right = [row["accuracy"] for row in sorted(rows, key=lambda row: row["row"])]
    assert right == sorted(right, reverse=True)
    lenient = [row["gold_leniency"] for row in sorted(rows, key=lambda row: row["at_lenient"])]
    assert lenient == sorted(lenient, reverse=True)
    family = [(row["family"], row["row"]) for row in sorted(rows, key=lambda row: row["at_family"])]
    assert family == sorted(family)
    assert drawn.size[0] <= 640
    assert len(drawn.params["chosen_judge"]["views"]) == 2


def test_without_gold_agreement_stands_for_being_right(read_chart):
    audit = audit_alone(3, gold=False)
    drawn = read_chart(chart_judges(audit))
    assert [row["kappa"] for row in drawn.rows("row")] == audit.judges["kappa"].to_list()
    assert any("kappa" in text for text in drawn.texts)
    assert drawn.params["sorted_by"]["bind"]["options"] == ["agreeing", "lenient", "name"]


def test_one_judge_with_gold_is_shown_and_without_is_not(read_chart):
    assert len(read_chart(chart_judges(audit_alone())).rows("row")) == 1
    lonely = audit_alone(gold=False)
    lonely = replace(lonely, judges=lonely.judges.drop("kappa", strict=False))
    with pytest.raises(DataError):
        chart_judges(lonely)


def test_of_two_thousand_judges_the_busiest_are_shown(hostile, read_chart):
    drawn = read_chart(chart_judges(make_many(hostile.audit, 2000)))
    assert {row["judge"] for row in drawn.rows("row")} == {f"j{k}" for k in range(2000 - MOST, 2000)}
    assert any(gives(text, 60, "1,940") for text in drawn.texts)


def test_weights_are_shown_from_the_heaviest(hostile, read_chart):
    (weights, *_) = hostile.evaluation.weights
    drawn = read_chart(chart_weights(weights))
    frame = weights.to_frame()
    rows = drawn.rows("weight")
    assert [row["judge"] for row in rows] == frame["judge"].to_list()
    for column in ("weight", "lowest", "highest"):
        assert [row[column] for row in rows] == frame[column].to_list()
    assert drawn.rows("line") == [{"line": pytest.approx(1 / len(weights.judges))}]
    assert drawn.size[0] <= 640


def test_all_alike_is_among_those_heard_on_a_topic(hostile, read_chart):
    (weights, *_) = hostile.evaluation.weights
    present = np.zeros_like(weights.present)
    present[:2, :], present[2:4, 0] = True, True
    topics = present.shape[1]
    drawn = read_chart(chart_weights(replace(weights, present=present, share=present / present.sum(axis=0))))
    assert drawn.rows("line") == [{"line": pytest.approx((1 / 4 + (topics - 1) / 2) / topics)}]


def test_votes_are_shown_beside_judges(hostile, read_chart):
    audit = hostile.audit
    drawn = read_chart(chart_votes(audit))
    first, *families = drawn.rows("votes")
    panel = {row["statistic"]: row for row in audit.panel.to_dicts()}
    assert first["judges"] == panel["judges_compared"]["value"]
    assert (first["votes"], first["low"], first["high"]) == tuple(panel["effective_votes"].values())[1:]
    assert [row["votes"] for row in families] == audit.families["effective_votes"].drop_nulls().to_list()
    assert f"9 judges have {first['votes']:.1f} effective votes" in " ".join(drawn.texts)
    assert drawn.size[0] <= 640


def test_votes_of_one_item_are_shown_where_not_all_grade_all(hostile, read_chart):
    panel = hostile.audit.panel.with_columns(
        value=pl.when(pl.col("statistic") == "grades_per_item").then(2.5).otherwise("value")
    )
    rows = read_chart(chart_votes(replace(hostile.audit, panel=panel))).rows("votes")
    assert [(row["who"], row["judges"]) for row in rows[:2]] == [("all judges", 9.0), ("judges of one item", 2.5)]


def test_votes_need_gold():
    with pytest.raises(DataError):
        chart_votes(audit_alone(3, gold=False))
