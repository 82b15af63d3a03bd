"""The s-AWARE experiment as a whole: what it tries, that every option matters, and what it makes of the numbers."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.experiments.collection import Collection, PanelRules, prepare_gold
from karatage.experiments.engine import Execution
from karatage.experiments.supervised import cells as supervised
from karatage.experiments.supervised.findings import (
    Place,
    SupervisedFindings,
    experiment_supervised,
    find_mean,
    tell_samples,
)
from karatage.experiments.supervised.plan import SupervisedPlan
from karatage.simulation.panel import PanelQuality, simulate_panel
from tests.notes import gives, has_note, list_facts

PLAN = SupervisedPlan(approaches=("table1", "sup_tau(sub=True)"), sizes=(2, 3), samples=5, replicates=6, seed=2)
QUICK = replace(PLAN, approaches=("sup_tau", "uniform"), sizes=(2,), samples=3)
FOUND = ["tau_ap", "tau", "rmse"]


def gold_of(world):
    return prepare_gold(world.gold, PanelRules())


@pytest.fixture(scope="module")
def world():
    return kt.simulation.simulate_collection(systems=9, topics=6, depth=40, rng=5)


@pytest.fixture(scope="module")
def collection(world):
    """Two sets of systems, two panels of six judges."""
    other = kt.simulation.simulate_collection(systems=5, topics=6, depth=40, rng=5)
    panels = {f"correlation {c:g}": simulate_panel(gold_of(world), judges=6, correlation=c, rng=2) for c in (0.0, 0.5)}
    return Collection.of({"first": world.runs, "second": other.runs}, panels, gold_of(world))


@pytest.fixture(scope="module")
def found(collection):
    return experiment_supervised(collection, PLAN)


@pytest.fixture(scope="module")
def crowd(world):
    """Ten people, each of whom graded 60 % of the documents in half of the topics; half of the topics have four."""
    gold = gold_of(world)
    panel = simulate_panel(gold, judges=10, quality=PanelQuality(random=1), rng=2)
    topic = gold.item_topic[panel.item]
    there = (panel.judge % 2 == topic % 2) & ((topic < 3) | (panel.judge < 4))
    there &= np.random.default_rng(3).random(len(topic)) < 0.6
    return Collection.of(
        {"runs": world.runs}, {"crowd": panel.keep_rows(there)}, gold, rules=PanelRules(whole_only=False)
    )


def test_every_place_size_sample_and_approach_has_a_row(found):
    keys = ["systems", "panel", "configuration", "size", "sample", "measure", "approach"]
    assert found.frame.select(keys).n_unique() == len(found.frame) == 2 * 2 * 2 * 2 * 5 * 14
    assert found.places[0] == Place("first", "correlation 0", "whole")
    assert found.sizes == (2, 3)
    assert found.frame.select(pl.col(FOUND).is_finite().all()).row(0) == (True,) * 3
    assert found.frame["topics"].unique().to_list() == [4]


def test_whole_people_do_as_whole_judges(found):
    whole = found.frame.filter(configuration="whole")
    same = [whole.filter(approach=name).select(FOUND) for name in ("sup_tau", "sup_tau(sub=True)")]
    assert same[0].equals(same[1])
    apart = found.frame.filter(configuration="partitioned")
    other = [apart.filter(approach=name).select(FOUND) for name in ("sup_tau", "sup_tau(sub=True)")]
    assert not other[0].equals(other[1])


def test_people_unseen_in_training_are_told(found):
    assert has_note(found, "experiments.unseen", who="people")
    assert found.frame.filter(pl.col("unseen") > 0)["approach"].unique().to_list() == ["sup_tau(sub=True)"]


def test_results_do_not_depend_on_workers_or_on_how_samples_are_cut(collection, found, monkeypatch):
    monkeypatch.setattr(supervised, "BLOCK", 2)
    alone = Collection.of(
        {"first": collection.runs["first"]}, {"p": collection.panels["correlation 0.5"]}, collection.gold
    )
    other = experiment_supervised(alone, PLAN, execution=Execution(workers=2))
    here = found.frame.filter(systems="first", panel="correlation 0.5").drop("panel")
    assert other.frame.drop("panel").equals(here)


def test_a_run_is_taken_up_again(collection, tmp_path):
    first = experiment_supervised(collection, QUICK, output=tmp_path)
    again = experiment_supervised(collection, QUICK, output=tmp_path)
    assert (first.log, list_facts(again.log)) == ((), {"experiments.cells-kept": {"kept": 8, "cells": 8}})
    assert again.frame.equals(first.frame)
    assert again.to_json() == first.to_json()
    more = experiment_supervised(collection, replace(QUICK, sizes=(2, 3)), output=tmp_path)
    assert list_facts(more.log) == {"experiments.cells-kept": {"kept": 8, "cells": 16}}


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 3},
        {"samples": 4},
        {"replicates": 7},
        {"training": 0.6},
        {"people": (5, 6)},
        {"teams": "redrawn"},
        {"measures": ("nDCG@5",)},
        {"approaches": ("sup_tau", "mv")},
    ],
)
def test_another_plan_takes_nothing_from_the_cells_of_this_one(collection, monkeypatch, tmp_path, change):
    monkeypatch.setattr(supervised, "BLOCK", 2)
    plan = replace(QUICK, samples=2)
    experiment_supervised(collection, plan, output=tmp_path)
    other = experiment_supervised(collection, replace(plan, **change), output=tmp_path)
    assert other.log == ()
    assert other.frame.equals(experiment_supervised(collection, replace(plan, **change)).frame)


@pytest.mark.parametrize(
    ("option", "value", "touched"),
    [
        ("seed", 3, ["whole", "partitioned"]),
        ("training", 0.6, ["whole", "partitioned"]),
        ("people", (5, 6), ["partitioned"]),
        ("teams", "redrawn", ["partitioned"]),
        ("measures", ("nDCG@5",), ["whole", "partitioned"]),
    ],
)
def test_every_option_matters(collection, option, value, touched):
    before, after = (experiment_supervised(collection, plan) for plan in (QUICK, replace(QUICK, **{option: value})))
    for configuration in ("whole", "partitioned"):
        left, right = (f.frame.filter(configuration=configuration).select(FOUND) for f in (before, after))
        assert left.equals(right) == (configuration not in touched)


def test_replicates_matter_to_approaches_that_compare_with_random_judges(collection):
    plans = [replace(QUICK, approaches=("uniform", "sgl_kld_med", "tpc_tau_own4"), replicates=n) for n in (4, 8)]
    few, more = (experiment_supervised(collection, plan).frame for plan in plans)
    for name, same in ("uniform", True), ("sgl_kld_med", False), ("tpc_tau_own4", False):
        assert few.filter(approach=name).equals(more.filter(approach=name)) == same


def test_a_sparse_crowd_is_put_together_and_tried_partitioned_only(crowd):
    plan = replace(PLAN, approaches=(*PLAN.approaches, "tpc_tau_own"), samples=20)
    result = experiment_supervised(crowd, plan)
    assert {place.configuration for place in result.places} == {"partitioned"}
    assert has_note(result, "experiments.partly-graded", panel="crowd")
    assert has_note(result, "data.pseudo-judges", people=10, judges=5)
    assert has_note(result, "experiments.documents-ungraded", panel="crowd")
    assert has_note(result, "experiments.unseen", who="judges")
    assert result.frame.select(pl.col(FOUND).is_finite().all()).row(0) == (True,) * 3
    with pytest.raises(OptionError, match="partitioned"):
        experiment_supervised(crowd, replace(PLAN, configurations=("whole",)))


def test_topics_that_a_k_tuple_did_not_grade_are_left_out(crowd):
    result = experiment_supervised(crowd, replace(PLAN, sizes=(1, 5), samples=12))
    assert has_note(result, "experiments.topics-lost")
    assert result.frame.filter(size=5)["topics"].unique().to_list() == [4]
    assert result.frame.filter(size=1)["topics"].min() < 4


def test_sizes_beyond_the_judges_are_told(collection):
    result = experiment_supervised(collection, replace(QUICK, sizes=(2, 7, 8)))
    assert result.sizes == (2,)
    assert has_note(result, "experiments.sizes-large", about="first, correlation 0, whole", sizes="7, 8", judges=6)
    with pytest.raises(OptionError, match=r"\b7\b.*\b6\b"):
        experiment_supervised(collection, replace(QUICK, sizes=(7,)))


def test_a_cell_that_cannot_be_done_is_told(collection):
    with pytest.raises(DataError, match="'first-correlation 0-partitioned size=2 1-3'"):
        experiment_supervised(collection, replace(QUICK, people=(7, 9)))


def test_one_system_is_no_ranking(world):
    one = kt.simulation.simulate_collection(systems=1, topics=6, depth=40, rng=5)
    panel = simulate_panel(gold_of(world), judges=3, rng=2)
    with pytest.raises(DataError, match="'one'"):
        experiment_supervised(Collection.of({"one": one.runs}, {"p": panel}, gold_of(world)), QUICK)


def test_table_1_has_the_papers_layout(found):
    table = found.table()
    assert table.columns == ["systems", "panel", "configuration", "size", *found.plan.names]
    assert table["size"].to_list() == [2, 3] * 8
    rows = found.frame.filter(systems="second", panel="correlation 0", configuration="partitioned", size=3)
    row = table.row(5 * 2 + 1, named=True)
    assert row["systems"] == "second"
    assert row["configuration"] == "partitioned"
    for name in found.plan.names:
        assert row[name] == pytest.approx(rows.filter(approach=name)["tau_ap"].mean(), rel=1e-14)
    assert not found.table(outcome="rmse").equals(table)
    assert set(found.tables) == {"table1", "table1-tau", "table1-rmse", "means", "overall", "gains"}


def test_means_have_errors_and_intervals_and_paired_differences(found):
    from scipy import stats

    place = found.places[3]
    about = {"size": 3, "approach": "mv", "outcome": "tau", **place._asdict()}
    row = found.summary.filter(**about).row(0, named=True)
    rows = found.frame.filter(size=3, **place._asdict())
    own, base = (rows.filter(approach=name)["tau"].to_numpy() for name in ("mv", "uniform"))
    error = own.std(ddof=1) / np.sqrt(5)
    low, high = stats.t.interval(0.95, 4, own.mean(), error)
    assert [row[k] for k in ("mean", "standard_error", "low", "high")] == pytest.approx([own.mean(), error, low, high])
    paired = stats.ttest_rel(own, base).confidence_interval(0.95)
    assert [row[k] for k in ("gap", "gap_low", "gap_high")] == pytest.approx([(own - base).mean(), *paired])
    assert row["samples"] == 5
    assert row["family"] == "merged grades"


def test_gains_have_an_interval_for_other_topics(found):
    """It has the error of samples and that of topics together; the t quantile is that of the smaller number."""
    from scipy import stats

    errors = {error[:6]: error for error in found.topic_errors}
    keys = [*Place._fields, "measure", "size", "approach"]
    told = found.gains.join(found.overall.filter(outcome="tau_ap"), on=keys, nulls_equal=True)
    assert len(found.gains) == len(errors) == len(found.places) * 3 * 13
    assert len(told) == len(found.places) * 13
    for row in found.gains.iter_rows(named=True):
        error = errors[tuple(row[key] for key in keys)]
        assert error.topics == 6
        freedom = 8 if row["size"] is None else 4
        within = (row["gap_high"] - row["gap"]) / stats.t.ppf(0.975, freedom)
        half = stats.t.ppf(0.975, min(freedom, 5)) * np.hypot(within, error.error)
        assert [row["new_low"], row["new_high"]] == pytest.approx([row["gap"] - half, row["gap"] + half], abs=1e-12)
        assert row["new_low"] <= row["gap_low"] <= row["gap_high"] <= row["new_high"]
    for name in ("gap", "gap_low", "gap_high"):
        assert told[name].to_list() == pytest.approx(told[f"{name}_right"].to_list())


def test_results_from_before_teams_were_an_option_are_read(found, tmp_path):
    """They have neither teams, which were redrawn, nor errors of topics."""
    old = replace(found, plan=replace(found.plan, teams="redrawn"), topic_errors=())
    content = json.loads(old.to_json())
    assert "topic_errors" not in content
    assert "teams" not in content["plan"]
    (tmp_path / "old.json").write_text(json.dumps(content))
    again = kt.read_result(tmp_path / "old.json").result
    assert again.plan == old.plan
    assert again.gains.is_empty()
    assert again.frame.equals(old.frame)
    (tmp_path / "new.json").write_text(found.to_json())
    new = kt.read_result(tmp_path / "new.json").result
    assert new.plan.teams == "kept"
    assert new.gains.equals(found.gains)


@pytest.mark.parametrize("change", [{"approach": "sup_fro"}, {"error": -0.1}, {"topics": 1}])
def test_errors_of_topics_that_cannot_be_are_refused(found, change):
    with pytest.raises(DataError, match="errors_of_topics"):
        replace(found, topic_errors=(found.topic_errors[0]._replace(**change),))
    with pytest.raises(DataError, match="twice"):
        replace(found, topic_errors=found.topic_errors[:1] * 2)


def test_sizes_together_count_alike(found):
    place = found.places[0]
    row = found.overall.filter(approach="emmv", outcome="tau_ap", **place._asdict()).row(0, named=True)
    sizes = found.summary.filter(approach="emmv", outcome="tau_ap", **place._asdict())
    assert row["size"] is None
    assert row["samples"] == 10
    assert row["mean"] == pytest.approx(sizes["mean"].mean())
    assert row["gap"] == pytest.approx(sizes["gap"].mean())
    assert row["standard_error"] == pytest.approx(np.sqrt((sizes["standard_error"] ** 2).sum()) / 2)
    gap = found.compare("emmv", "uniform", place)
    assert gap == pytest.approx((row["gap"], row["gap_low"], row["gap_high"]))
    assert found.compare("uniform", "emmv", place).value == pytest.approx(-gap.value)


def test_intervals_cover_as_they_say():
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(1000):
        groups = [rng.normal(centre, spread, size) for centre, spread, size in ((0, 1, 30), (1, 2, 30), (5, 3, 30))]
        mean = find_mean(groups)
        hits += mean.low <= 2 <= mean.high
    assert 930 <= hits <= 970


def test_one_sample_has_no_interval(collection):
    result = experiment_supervised(collection, replace(QUICK, samples=1))
    assert result.summary["low"].null_count() == len(result.summary)
    assert "interval" not in result.sentence
    json.loads(result.to_json())


def make(values, approaches=("sup_tau", "uniform", "mv")):
    """Findings with chosen tau_ap, (sample, approach)."""
    names = list(approaches)
    rows = [
        ("T08", "given", "whole", 2, sample, "AP", name, value, value, 0.1, 7, 0)
        for sample, row in enumerate(values)
        for name, value in zip(names, row, strict=True)
    ]
    keys = ["systems", "panel", "configuration", "size", "sample", "measure", "approach"]
    frame = pl.DataFrame(rows, schema=[*keys, *FOUND, "topics", "unseen"], orient="row")
    return SupervisedFindings(plan=SupervisedPlan(approaches=tuple(names)), collection="T08", frame=frame)


def test_the_sentence_says_who_leads_by_how_much_and_how_sure_that_is():
    noise = np.array([-0.01, 0.0, 0.01, 0.0])[:, None]
    sure = make(np.array([[0.7, 0.6, 0.5]] * 4) + noise * [1, 0, 0])
    assert gives(
        sure.sentence,
        "T08-whole",
        "sup_tau",
        "tau_ap",
        "0.700",
        "k = 2",
        "0.1000",
        "uniform",
        "95%",
        "0.0870",
        "0.1130",
    )
    doubtful = make(np.array([[0.601, 0.55, 0.6]] * 4) + noise * [1, 0, 0])
    assert gives(doubtful.sentence, "0.0510", "uniform", "0.0380", "0.0640", "0.0010", "mv", "-0.0120", "0.0140")
    assert gives(doubtful.sentence, "excludes 0", "other samples of this collection")


@pytest.mark.parametrize(
    ("lead", "spread", "facts"),
    [
        (0.0003, 0.0004, ("0.0003 above mv", "-0.0001 to 0.0007", "includes 0")),
        (0.00004, 0.00002, ("0.00004 above mv", "0.00002 to 0.00006", "excludes 0")),
        (1e-16, 0, ("0.0000 above mv", "0.0000 to 0.0000", "includes 0")),
    ],
)
def test_the_sentence_agrees_with_the_numbers_it_shows(lead, spread, facts):
    """Four samples: half the interval is t(3) = 3.1824 standard errors."""
    noise = np.array([-1.0, 0.0, 1.0, 0.0]) * spread / 3.1824 / np.sqrt(2 / 3 / 4)
    values = [[0.6 + lead + wrong, 0.6 - 0.1, 0.6] for wrong in noise]
    told = make(values).sentence.split(" and ")[-1]
    assert gives(told, *facts)
    assert "-0.0000" not in told


def test_samples_left_out_and_judges_unseen_are_counted():
    whole = make([[0.5, 0.6]] * 5, approaches=("sup_tau", "uniform"))
    plan = replace(whole.plan, samples=5)
    assert list(tell_samples(whole.frame, plan)) == []
    rest = whole.frame.filter(pl.col("sample") > 1).with_columns(
        unseen=pl.when(pl.col("approach") == "sup_tau").then(pl.col("sample") - 2).otherwise(0)
    )
    unseen, lost = tell_samples(rest, plan)
    assert unseen.facts == {"about": "sup_tau", "unseen": 2, "samples": 3, "most": 2, "who": "judges"}
    assert has_note([lost], "experiments.samples-lost", samples=2)


def test_without_uniform_the_first_approach_is_the_baseline():
    found = make([[0.5, 0.7], [0.6, 0.7]], approaches=("sup_tau", "mv"))
    assert found.baseline == "sup_tau"
    assert gives(found.sentence, "mv", "sup_tau")


def test_names_that_are_not_there_are_refused(found):
    with pytest.raises(UnknownNameError, match="sup_tau"):
        found.compare("sup_tao", "uniform", found.places[0])
    with pytest.raises(OptionError, match="tau_ap"):
        found.table(outcome="mae")


def test_everything_is_in_the_json(found):
    content = json.loads(found.to_json())
    assert content["plan"]["training"] == 0.3
    assert len(content["summary"]) == len(found.summary)
    assert content["sentence"] == found.sentence
    assert "<b>first-whole" in found._repr_html_()


def test_samples_lost_at_a_whole_size_are_told():
    plan = SupervisedPlan(approaches=("uniform", "mv"), sizes=(1, 2), samples=3)
    names = ["systems", "panel", "configuration", "size", "sample", "measure", "approach", "tau_ap", "topics", "unseen"]

    def told(*done):
        rows = [("s", p, "whole", k, n, "AP", a, 0.5, 4, 0) for p, k, n in done for a in plan.names]
        return list(tell_samples(pl.DataFrame(rows, schema=names, orient="row"), plan))

    every = [("p", k, n) for k in (1, 2) for n in range(3)]
    assert told(*every) == []
    (lost,) = told(*every, *(("q", 2, n) for n in range(3)))
    assert has_note([lost], "experiments.samples-lost", samples=3)
