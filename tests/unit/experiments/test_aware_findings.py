"""Tables of the AWARE experiment, from findings whose meaning is known."""

import json

import numpy as np
import polars as pl
import pytest

from karatage.errors import OptionError, UnknownNameError
from karatage.experiments.aware.analysis import (
    choose_sizes,
    find_baseline,
    find_crossing,
    frame_contest,
    frame_families,
    frame_leads,
    label_measures,
)
from tests.notes import gives, has_note

from .aware_worlds import make_findings


@pytest.fixture(scope="module")
def paper():
    """The paper's design, with noise for results."""
    return make_findings()


def test_degrees_of_freedom_are_those_of_the_papers_table_1(paper):
    table = paper.analyses.found[0].whole.to_frame()
    assert dict(table.select("source", "df").iter_rows()) == {
        "k-tuple size": 28,
        "approach": 33,
        "measure": 2,
        "systems": 1,
        "approach*measure": 66,
        "approach*systems": 33,
        "measure*systems": 2,
        "error": 5750,
        "total": 5915,
    }


def test_degrees_of_freedom_of_the_parts(paper):
    table = paper.analyses.found[1].parts.to_frame()
    assert dict(table.select("source", "df").iter_rows()) == {
        "k-tuple size": 28,
        "granularity": 1,
        "gap": 4,
        "weight": 2,
        "measure": 2,
        "systems": 1,
        "granularity*gap": 4,
        "granularity*weight": 2,
        "gap*weight": 8,
        "error": 5167,
        "total": 5219,
    }


def test_rmse_is_a_share_of_its_maximum_by_each_measure(paper):
    analysis = paper.analyses.found[1]
    assert analysis.outcome == "rmse"
    rmse = paper.frame.filter(outcome="rmse")
    share = rmse.with_columns(share=pl.col("mean") / pl.col("mean").max().over("measure"))
    wanted = share.group_by("approach").agg(pl.col("share").mean())
    found = dict(analysis.whole.means("approach").select("level", "mean").iter_rows())
    assert found == pytest.approx(dict(wanted.iter_rows()))


def test_the_best_is_high_for_tau_ap_and_low_for_rmse():
    def value(_, __, ___, size, outcome, approach):
        noise = 0.0001 * ((size * 7 + len(approach) * 5) % 11)
        return noise + 0.5 + (0.2 if approach == "tpc_tau_msd" else 0.1 if "tau" in approach else 0)

    found = make_findings(value=value)
    top = found.tables["top-groups"]
    assert top.filter(outcome="tau_ap", factor="approach")["level"].to_list() == ["tpc_tau_msd"]
    assert "tpc_tau_msd" not in top.filter(outcome="rmse", factor="approach")["level"].to_list()
    assert top.filter(outcome="tau_ap", factor="gap")["level"].to_list() == ["tau"]
    assert "tau" not in top.filter(outcome="rmse", factor="gap")["level"].to_list()


def test_no_analysis_without_an_error_to_test_against():
    found = make_findings(sizes=(3,), systems=("T08",))
    assert found.analyses.found == ()
    assert has_note(found.analyses, "experiments.no-variance", outcome="tau_ap")
    assert "anova" not in found.tables
    assert gives(found.sentence, "tau_ap")


def test_families_average_their_approaches():
    def value(_, __, ___, size, outcome, approach):
        return {"mv": 0.4, "emmv": 0.6, "emneu": 0.5}.get(approach, 0.1)

    found = make_findings(value=value, sizes=(2, 3))
    frame = frame_families(found)
    assert len(frame) == 2 * 3 * 2 * 12
    merged = frame.filter(family="grades merged").row(0, named=True)
    assert (merged["best"], merged["best_approach"], merged["family_mean"]) == (0.6, "emmv", pytest.approx(0.5))
    lowest = frame_families(found, outcome="rmse").filter(family="grades merged").row(0, named=True)
    assert (lowest["best"], lowest["best_approach"]) == (0.4, "mv")


CORRELATIONS = {"correlation 0": 0.0, "correlation 0.4": 0.4, "correlation 0.8": 0.8}


def cross(_, panel, measure, size, outcome, approach):
    """tpc_tau_own4 overtakes mv at 0.5, and does so from the start with two judges; others are far behind."""
    gap = CORRELATIONS[panel] - (0.5 if size > 2 else -0.1)
    level = {"mv": 0.6, "tpc_tau_own4": 0.6 + gap / 10}.get(approach, 0.2)
    return 1 - level if outcome == "rmse" else level


@pytest.fixture(scope="module")
def crossing():
    return make_findings(
        ("uniform", "sgl_tau_msd", "tpc_tau_own4", "mv"),
        panels=tuple(CORRELATIONS),
        sizes=(2, 5),
        systems=("T08",),
        measures=("AP",),
        value=cross,
    )


def test_the_crossing_is_found_by_interpolation(crossing):
    found = crossing.crossings
    assert found["verdict"].to_list() == ["scores ahead", "scores overtake"]
    assert found["crossing"].to_list() == [None, pytest.approx(0.5)]
    # The interval of a difference of two independent means over 50 of many k-tuples; a slope of 1/10.
    half = 10 * 2.0095752371292397 * np.sqrt(2 * 0.01**2 / 50 * (1 - 50 / 169911))
    assert found["low"][1] == pytest.approx(0.5 - half, abs=1e-6)
    assert found["high"][1] == pytest.approx(0.5 + half, abs=1e-6)
    assert gives(crossing.sentence, "mv", ".500", ".500")


def test_leads_and_contest(crossing):
    contest = crossing.contest
    assert set(contest["first"]) == {"tpc_tau_own4"}
    assert set(contest["second"]) == {"mv"}
    leads = frame_leads(contest)
    assert leads.select("scores_lead", "grades_lead", "undecided").rows() == [
        ("2", "5", ""),
        ("2", "5", ""),
        ("2, 5", "", ""),
    ]
    turned = frame_contest(crossing, outcome="rmse")
    np.testing.assert_allclose(turned["difference"], contest["difference"], atol=1e-12)
    np.testing.assert_allclose(turned["low"], contest["low"], atol=1e-12)
    own = crossing.tables["own"].row(0, named=True)
    assert (own["first"], own["second"]) == ("tpc_tau_own4", "sgl_tau_msd")


def test_scores_that_fall_behind_are_told():
    def value(_, panel, __, ___, ____, approach):
        return 0.5 - CORRELATIONS[panel] * 0.1 if approach == "uniform" else 0.47

    found = make_findings(
        ("uniform", "mv"), panels=tuple(CORRELATIONS), sizes=(2, 5), systems=("T08",), measures=("AP",), value=value
    )
    assert set(found.crossings["verdict"]) == {"scores fall behind"}


def test_one_panel_has_no_crossing_and_scores_alone_no_contest(paper):
    assert paper.crossings.is_empty()
    alone = make_findings(("uniform", "sgl_tau_msd"), sizes=(2, 3, 4))
    assert find_baseline(alone) is None
    assert alone.contest.is_empty()
    assert "leads" not in alone.tables
    assert find_baseline(make_findings(("emmv", "uniform"), sizes=(2, 3))) == "emmv"


def test_where_lines_cross_is_found_with_its_interval():
    assert find_crossing([0, 1, 2], [-1.0, -0.5, 0.5]) == pytest.approx(1.5)
    assert find_crossing([0, 1], [0.1, 0.2]) is None
    assert find_crossing([0, 1, 2], [0.1, -0.1, -0.2]) is None
    assert find_crossing([0, 1, 2], [0.1, -0.1, 0.1]) == pytest.approx(1.5)


def test_a_crossing_leaves_0_upwards():
    assert find_crossing([0, 1], [0.0, 0.1]) == 0
    assert find_crossing([0, 1, 2], [-0.1, 0.0, 0.1]) == pytest.approx(1)
    assert find_crossing([0, 1, 2], [-0.1, 0.0, -0.1]) is None


def test_sizes_are_chosen_from_both_ends():
    assert choose_sizes([2, 3, 5], 4) == [2, 3, 5]
    chosen = choose_sizes(range(2, 31), 6)
    assert (len(chosen), chosen[0], chosen[-1]) == (6, 2, 30)
    assert choose_sizes(range(2, 31), 1) == [2]


def test_short_names_of_measures_unless_they_clash():
    assert label_measures(["P(rel=2)@5", "AP"]) == {"P(rel=2)@5": "P@5", "AP": "AP"}
    assert label_measures(["P(rel=2)@5", "P@5"]) == {"P(rel=2)@5": "P(rel=2)@5", "P@5": "P@5"}


def test_results_as_json_and_html(crossing):
    told = json.loads(crossing.to_json())
    assert told["sentence"] == crossing.sentence
    assert len(told["rows"]) == len(crossing.frame)
    assert set(told["tables"]) == set(crossing.tables)
    assert crossing.sentence in crossing._repr_html_()


def test_unknown_names_are_refused_with_the_nearest(crossing):
    with pytest.raises(UnknownNameError, match="'mv'"):
        crossing.compare("mw", "uniform")
    with pytest.raises(OptionError, match=r"'f1'.*tau_ap"):
        crossing.compare("mv", "uniform", outcome="f1")


def test_the_sentence_names_the_best_and_the_baseline(crossing):
    assert gives(crossing.sentence, "tau_ap", 2, 5, 31, "AP", "correlation 0", "mv", ".600", "tpc_tau_own4", ".580")
    assert gives(crossing.sentence, "correlation 0.8", "tpc_tau_own4", ".660", "mv", ".600")


def test_printed_it_is_its_sentence(paper):
    assert repr(paper).startswith(f"AwareFindings({paper.sentence[:60]}")
    assert str(paper).startswith(paper.sentence[:60])
