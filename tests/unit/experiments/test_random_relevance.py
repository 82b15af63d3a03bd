"""The random relevance experiment: its tables, its identities, and that every option matters."""

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.data.alignment import align
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.experiments import tuples
from karatage.experiments.collection import Collection, read_collection
from karatage.experiments.engine import Execution
from karatage.experiments.random_relevance import cells as random_relevance
from karatage.experiments.random_relevance.findings import _estimate, experiment_random_relevance
from karatage.experiments.random_relevance.plan import RandomRelevancePlan, read_merge
from karatage.experiments.tuples import sample_tuples
from karatage.measures.expected import randomise, score_expected
from karatage.random_streams import stream
from karatage.simulation.panel import simulate_panel
from tests.notes import gives, has_note

SMALL = RandomRelevancePlan(sizes=(2, 3), samples=4, draws=50, seed=5)


def cut_pool(gold, share=0.5):
    """Gold on some of its items only, so that runs have documents outside the pool."""
    kept = np.random.default_rng(1).random(len(gold.grade)) < share
    frame = gold.to_frame().filter(pl.Series(kept)).with_columns(pl.col("grade") >= 1).cast({"grade": pl.Int64})
    return kt.read_gold(frame.select("topic", "document", "grade"))


@pytest.fixture(scope="module")
def collection():
    """Two sets of systems, two panels of six judges."""
    world, other = (kt.simulation.simulate_collection(systems=n, topics=5, depth=40, rng=1) for n in (7, 5))
    gold = cut_pool(world.gold)
    panels = {f"correlation {c:g}": simulate_panel(gold, judges=6, correlation=c, rng=2) for c in (0.0, 0.5)}
    return Collection.of({"first": world.runs, "second": other.runs}, panels, gold)


@pytest.fixture(scope="module")
def found(collection):
    return experiment_random_relevance(collection, SMALL)


def board(collection, probability, measure, systems="first"):
    alignment = align(collection.runs[systems], collection.gold)
    return score_expected(alignment, probability, [measure])[measure].mean


def test_binmv_is_uniform_to_the_last_digit_where_measures_are_sums(found):
    """[RANDREL19] table 2 shows it."""
    sums = ["DCG(dcg=jk,base=10)", "RBP(p=0.8)"]
    keys = ["systems", "panel", "measure", "size", "sample"]
    merged = found.frame.filter(pl.col("measure").is_in(sums), gold="DGS").sort(keys)
    left, right = (merged.filter(approach=name).select(*keys, "tau", "tau_ap") for name in ("binmv", "uniform"))
    assert len(left) == 2 * 2 * 2 * 2 * 4
    assert left.equals(right)
    table = found.table2().filter(gold="DGS")
    for measure in ("DCG", "RBP"):
        ours = table.filter(approach="binmv", measure=f"eR{measure}").drop("approach", "measure")
        assert ours.equals(table.filter(approach="uniform", measure=measure).drop("approach", "measure"))
    assert not found.compare("binmv", "uniform").filter(measure="AP")["difference"].eq(0).all()


def test_binmv_is_uniform_also_where_systems_tie():
    """Rankings of the same ten documents have the same DCG with base 10, however it is summed up."""
    source = np.random.default_rng(3)
    documents = [f"d{k}" for k in range(30)]
    runs, gold = [], []
    for topic in ("1", "2", "3"):
        gold += [(topic, d, int(source.random() < 0.5)) for d in documents]
        for block in range(3):
            for system in range(4):
                shown = source.permutation(documents[10 * block : 10 * block + 10])
                runs += [(f"s{block}{system}", topic, d, 10 - n) for n, d in enumerate(shown)]
    table = pl.DataFrame(runs, schema=["system", "topic", "document", "score"], orient="row")
    trusted = kt.read_gold(pl.DataFrame(gold, schema=["topic", "document", "grade"], orient="row"))
    panel = simulate_panel(trusted, judges=9, rng=0)
    collection = Collection.of({"ties": kt.read_runs(table)}, {"nine": panel}, trusted)
    plan = RandomRelevancePlan(measures=("DCG(dcg=jk,base=10)",), sizes=(3, 7), samples=8, draws=0)
    found = experiment_random_relevance(collection, plan).frame.filter(gold="DGS")
    left, right = (found.filter(approach=name).sort("size", "sample") for name in ("binmv", "uniform"))
    assert left["tau_ap"].to_list() == right["tau_ap"].to_list()


def test_table_1_is_the_mean_over_judges(collection, found):
    judgments, gold = collection.panels["correlation 0.5"], collection.gold
    random = randomise(judgments)
    golds = {
        "DGS": kt.score(collection.runs["first"], gold, "AP").mean[0],
        "RGS": board(collection, randomise(gold), "AP")[0],
    }
    certain = kt.score(collection.runs["first"], judgments, "AP").mean
    boards = {"AP": certain, "eRAP": board(collection, random, "AP")}
    here = found.table1.filter(systems="first", panel="correlation 0.5")
    assert here["measure"].to_list()[:3] == ["AP", "eRAP", "eRAP"]
    assert here["gold"].to_list()[:3] == ["DGS", "DGS", "RGS"]
    reference = np.array([kt.stats.tau_ap(golds["DGS"], row) for row in certain])
    for row in here.head(3).iter_rows(named=True):
        value = np.array([kt.stats.tau_ap(golds[row["gold"]], estimate) for estimate in boards[row["measure"]]])
        tau = [kt.stats.kendall_tau(golds[row["gold"]], estimate) for estimate in boards[row["measure"]]]
        assert row["tau_ap"] == pytest.approx(value.mean())
        assert row["tau"] == pytest.approx(np.mean(tau))
        assert row["tau_ap ±"] == pytest.approx(2.5705818 * value.std(ddof=1) / np.sqrt(6))  # t of 5 degrees
        if row["measure"] == "eRAP":
            assert row["tau_ap gain"] == pytest.approx((value - reference).mean())
        else:
            assert row["tau_ap gain"] is None


def test_k_tuples_are_the_same_for_all_and_found_again(collection, found):
    drawn = sample_tuples(6, 3, 4, stream(5, "k-tuples of 3"))
    told = found.tuples.filter(size=3).group_by("sample", maintain_order=True).agg("judge")["judge"].to_list()
    assert told == [[collection.judges[k] for k in row] for row in drawn]
    sizes = (
        found.frame.filter(pl.col("size") > 1).group_by("systems", "panel", "measure", "gold", "approach", "size").len()
    )
    assert set(sizes["len"]) == {4}


def test_linear_measures_of_random_grades_reward_the_pool(collection):
    """eRRBP = (c - d) RBP + d (share of the pool in the ranking): why randomised grades agree with randomised gold."""
    alignment = align(collection.runs["first"], collection.gold)
    everything = np.zeros((1, len(collection.gold.item_topic), 2))
    everything[:, :, 1] = 1
    for measure in ("RBP(p=0.8)", "DCG(dcg=jk,base=10)"):
        certain = kt.score(collection.runs["first"], collection.gold, measure).mean
        pool = score_expected(alignment, everything, [measure])[measure].mean
        random = board(collection, randomise(collection.gold), measure)
        np.testing.assert_allclose(random, 0.9 * certain + 0.05 * pool)


def test_certain_grades_change_nothing(collection):
    plan = RandomRelevancePlan(sizes=(2,), samples=2, certainty=1.0, draws=0, approaches=("binmv",))
    found = experiment_random_relevance(collection, plan)
    assert (found.table1.filter(pl.col("measure").str.starts_with("eR"))["tau_ap gain"] == 0).all()
    assert (found.controls["RGS, DGS"] == 1).all()
    assert (found.controls["blank, DGS"] == 0).all()
    assert len(found.check) == 0


def test_controls_are_taus_computed_alone(collection, found):
    blank = np.zeros((1, len(collection.gold.item_topic), 2))
    blank[:] = 0.95, 0.05
    golds = board(collection, randomise(collection.gold), "AP")[0]
    told = found.controls.filter(systems="first", measure="eRAP").row(0, named=True)
    assert told["blank, RGS"] == pytest.approx(kt.stats.tau_ap(golds, board(collection, blank, "AP")[0]))
    certain = kt.score(collection.runs["first"], collection.gold, "AP").mean[0]
    assert told["RGS, DGS"] == pytest.approx(kt.stats.tau_ap(certain, golds))


def test_formulas_are_checked_by_simulation(collection, found):
    assert set(found.check["of"]) == {"gold", "binmv of 2", "binmv of 3"}
    exact = found.check.filter(pl.col("measure") != "AP")
    assert (exact["difference"].abs() < 6 * exact["standard_error"]).all()  # the largest of 7 systems, 12 sets
    assert (found.check["tau_ap"] > 0.3).all()
    assert found.check["difference"].abs().min() > 0
    plan = RandomRelevancePlan(sizes=(2,), samples=2, draws=3000, approaches=("binmv",))
    many = experiment_random_relevance(collection, plan).check
    assert many["standard_error"].max() < 0.3 * found.check["standard_error"].max()
    ratio = many.filter(measure="AP", of="gold").row(0, named=True)
    assert abs(ratio["difference"]) > 6 * ratio["standard_error"]  # a ratio of expectations is not the expectation


def test_results_do_not_depend_on_workers_and_are_kept(collection, found, tmp_path):
    first = experiment_random_relevance(collection, SMALL, output=tmp_path, execution=Execution(workers=2))
    assert first.frame.equals(found.frame)
    assert first.check.equals(found.check)
    again = experiment_random_relevance(collection, SMALL, output=tmp_path)
    assert has_note(again.log, "experiments.cells-kept", kept=8, cells=8)  # judges, check, two sizes; two panels
    assert again.to_json() == found.to_json()
    more = RandomRelevancePlan(sizes=(2, 3, 4), samples=4, draws=0, seed=5)
    log = experiment_random_relevance(collection, more, output=tmp_path).log
    assert has_note(log, "experiments.cells-kept", kept=6)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 6},
        {"certainty": 0.8},
        {"samples": 6},
        {"draws": 60},
        {"measures": ("AP", "P@5")},
        {"approaches": ("uniform", "mv", "qbinmv")},
    ],
)
def test_another_plan_takes_nothing_wrong_from_the_cells_of_this_one(collection, monkeypatch, tmp_path, change):
    monkeypatch.setattr(random_relevance, "BLOCK", 4)
    plan = replace(SMALL, sizes=(3,), approaches=("uniform", "mv", "binmv"), measures=("AP",))
    experiment_random_relevance(collection, plan, output=tmp_path)
    again, afresh = (
        experiment_random_relevance(collection, replace(plan, **change), output=o) for o in (tmp_path, None)
    )
    assert again.frame.equals(afresh.frame)
    assert again.check.equals(afresh.check)


@pytest.mark.parametrize(
    "change", [{"seed": 6}, {"certainty": 0.8}, {"samples": 3}, {"sizes": (2,)}, {"measures": ("P@5",)}]
)
def test_every_option_matters(collection, found, change):
    asked = {"sizes": (2, 3), "samples": 4, "draws": 50, "seed": 5, **change}
    other = experiment_random_relevance(collection, RandomRelevancePlan(**asked))
    assert not other.frame.equals(found.frame)


def test_other_approaches_on_request(collection):
    names = ("uniform", "binmv", "binmv(quality=ds)", "expected:ds", "ds", "qbinmv(slope=2)")
    plan = RandomRelevancePlan(sizes=(5,), samples=3, draws=0, approaches=names, measures=("AP",))
    found = experiment_random_relevance(collection, plan)
    assert list(found.approaches) == ["uniform", "ds", "binmv", "binmv(quality=ds)", "expected:ds", "qbinmv(slope=2)"]
    table = found.table2().filter(systems="first", panel="correlation 0")
    assert table["gold"].to_list() == ["DGS"] * 6 + ["RGS"] * 4
    assert table["M = 5"].n_unique() > 5
    assert found.table2("tau")["M = 5"].to_list() != found.table2()["M = 5"].to_list()


def test_differences_have_intervals_over_the_same_k_tuples(found):
    told = found.compare("qbinmv", "mv").filter(systems="second", panel="correlation 0", measure="AP", size=3)
    merged = found.frame.filter(systems="second", panel="correlation 0", measure="AP", size=3, gold="DGS")
    gap = merged.filter(approach="qbinmv")["tau_ap"] - merged.filter(approach="mv")["tau_ap"]
    assert told["difference"][0] == pytest.approx(gap.mean())
    half = 3.1824463 * gap.std() * np.sqrt((1 - 4 / 20) / 4)  # 4 of the 20 k-tuples there are
    assert told["high"][0] - told["difference"][0] == pytest.approx(half)
    random = found.compare("qbinmv", "mv", gold="RGS")
    assert random["difference"].to_list() != found.compare("qbinmv", "mv")["difference"].to_list()
    told = found.compare("qbinmv", "binmv", gold="RGS").filter(systems="first", panel="correlation 0", size=2)
    merged = found.frame.filter(systems="first", panel="correlation 0", size=2)
    for measure, difference in told.select("measure", "difference").iter_rows():
        ours = merged.filter(measure=measure, approach="qbinmv", gold="RGS")["tau_ap"].mean()
        assert difference == pytest.approx(
            ours - merged.filter(measure=measure, approach="binmv", gold="DGS")["tau_ap"].mean()
        )
    with pytest.raises(UnknownNameError, match="'ds'"):
        found.compare("ds", "mv")
    with pytest.raises(OptionError, match="'RGS'"):
        found.compare("mv", "binmv", gold="RGS")
    with pytest.raises(OptionError, match=r"'rmse'.*tau_ap"):
        found.table2("rmse")


def test_sizes_that_leave_nobody_out_are_told(collection):
    plan = RandomRelevancePlan(sizes=(5, 6, 30), samples=40, draws=0, measures=("AP",))
    found = experiment_random_relevance(collection, plan)
    assert found.sizes == (5,)
    assert has_note(found, "experiments.sizes-whole", judges=6, sizes="6, 30")
    assert has_note(found, "experiments.few-tuples", asked=40)
    assert (found.summary["tau_ap ±"] == 0).all()  # all 6 of them
    with pytest.raises(DataError, match=r"\b6\b.*judges"):
        experiment_random_relevance(collection, RandomRelevancePlan(sizes=(6,)))


def test_as_many_k_tuples_as_were_asked_for_are_not_too_few(collection):
    plans = [RandomRelevancePlan(sizes=(5,), samples=n, draws=0, measures=("AP",), approaches=("mv",)) for n in (6, 7)]
    just, less = (experiment_random_relevance(collection, plan) for plan in plans)
    assert not has_note(just, "experiments.few-tuples")
    assert has_note(less, "experiments.few-tuples", asked=7, sizes="6 of 5")


def test_fits_that_did_not_converge_are_told(collection, monkeypatch):
    def stop_early(named, judgments, **options):
        return replace(merge(named, judgments, **options), converged=named.name != "emmv")

    merge = tuples.merge
    monkeypatch.setattr(tuples, "merge", stop_early)
    plan = RandomRelevancePlan(sizes=(2,), samples=3, draws=0, measures=("AP",), approaches=("mv", "emmv"))
    (note,) = (n for n in experiment_random_relevance(collection, plan).notes if n.kind == "experiments.loose-tuples")
    assert note.facts == {"approach": "emmv", "loose": 6, "tuples": 6}


def test_missing_grades_are_told(collection):
    panel = collection.panels["correlation 0"]
    rows = np.ones(len(panel.grade), bool)
    rows[[5, 300]] = False
    part = Collection.of({"first": collection.runs["first"]}, {"given": panel.keep_rows(rows)}, collection.gold)
    found = experiment_random_relevance(part, RandomRelevancePlan(sizes=(2,), samples=2, draws=0))
    assert has_note(found, "experiments.grades-missing", panel="given", grades=2)


def test_a_judge_without_grades_in_a_topic_has_no_part_in_its_mean(collection):
    panel = collection.panels["correlation 0"]
    part = panel.keep_rows((panel.judge != 1) | (panel.item_topic[panel.item] != 2))
    rules = kt.experiments.PanelRules(whole_only=False)
    given = Collection.of({"first": collection.runs["first"]}, {"given": part}, collection.gold, rules=rules)
    plan = RandomRelevancePlan(sizes=(2,), samples=15, draws=0, measures=("AP",), approaches=("uniform",))
    found = experiment_random_relevance(given, plan)
    rows = found.frame.filter(approach="uniform", size=2).sort("sample")
    for row in rows.iter_rows(named=True):
        members = found.tuples.filter(size=2, sample=row["sample"])["judge"].to_list()
        frame = part.to_frame().filter(pl.col("judge").is_in(members))
        board = kt.evaluate(collection.runs["first"], kt.read_judgments(frame), "AP", gold=collection.gold)
        assert row["tau_ap"] == pytest.approx(board.fidelity[0].tau_ap)
    assert len(rows) == 15


def test_the_sentence_says_what_was_found(found):
    told = found.sentence
    assert gives(told, "first", "correlation 0", "95%", "tau_ap")
    row = found.table1.filter(systems="first", panel="correlation 0", measure="eRDCG", gold="RGS").row(0, named=True)
    assert f"{row['tau_ap gain']:+.3f} (DCG)" in told
    best = (
        found.table2()
        .filter(systems="first", panel="correlation 0", gold="DGS")
        .with_columns(family=pl.col("measure").str.strip_prefix("eR"))
    )
    top = best.filter(family="AP").sort("M = 3", descending=True)["approach"][0]
    assert re.search(rf"{top}[^;]* with 3 judges", told)
    assert json.loads(found.to_json())["sentence"] == told
    assert "<table" in found._repr_html_()


def test_intervals_are_students_t():
    assert _estimate(np.array([1.0, 2.0, 3.0])) == pytest.approx((2.0, 4.30265273 / np.sqrt(3)))
    assert _estimate(np.array([1.0, 2.0]), 2) == (1.5, 0.0)
    assert _estimate(np.array([1.0])) == (1.0, None)


def test_the_plan_refuses_what_cannot_be():
    for wrong, message in (
        ({"measures": ()}, "the plan has no measure"),
        ({"sizes": (2, 2)}, "size twice: 2, 2"),
        ({"measures": ("Bpref",)}, "measure 'Bpref' has no expected form; AP, DCG, ERR"),
        ({"sizes": (0,)}, "whole numbers from 1"),
        ({"samples": 0}, "whole numbers from 1"),
        ({"certainty": 0.5}, r"certainty 0\.5 must lie above 0\.5"),
        ({"draws": 1}, "give 0 for no check, or at least 2"),
        ({"seed": -1}, "a seed is a whole number from 0"),
        ({"approaches": ("emsemi",)}, "emsemi learns from gold"),
        ({"approaches": ("sgl_tau_msd",)}, "unknown approach 'sgl_tau_msd'"),
    ):
        with pytest.raises((OptionError, UnknownNameError), match=message):
            RandomRelevancePlan(**wrong)
    assert read_merge("expected:binmv").name == "binmv"
    assert read_merge("expected:mv").expected


def test_one_system_cannot_be_ranked():
    world = kt.simulation.simulate_collection(systems=1, topics=3, depth=20, rng=0)
    gold = cut_pool(world.gold, 1.0)
    alone = Collection.of({"one": world.runs}, {"p": simulate_panel(gold, judges=4, rng=0)}, gold)
    with pytest.raises(DataError, match="'one'"):
        experiment_random_relevance(alone, SMALL)


def test_a_simulated_collection_and_real_runs(shared_data):
    home = shared_data / "trec8-adhoc-10topics"
    collection = read_collection(home / "runs", "simulated:8", home / "gold.qrels", rng=0)
    plan = RandomRelevancePlan(sizes=(2, 5), samples=3, draws=0, approaches=("uniform", "binmv"))
    found = experiment_random_relevance(collection, plan)
    table = found.table2().filter(pl.col("measure").is_in(["DCG", "RBP", "eRDCG", "eRRBP"]), gold="DGS")
    for measure in ("DCG", "RBP"):
        certain, random = (
            table.filter(measure=name).select("M = 2", "M = 5").row(0) for name in (measure, f"eR{measure}")
        )
        assert certain == random


def test_panels_of_one_are_not_mixed_up_with_judges_alone(collection):
    plan = RandomRelevancePlan(measures=("AP",), sizes=(2,), samples=3, draws=0)
    both = experiment_random_relevance(collection, replace(plan, sizes=(1, 2)))
    assert both.table1.equals(experiment_random_relevance(collection, plan).table1)
