"""Unit tests of what is said of a crowd: against loops over the rows."""

import itertools
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.errors import DataError
from karatage.simulation.answering import summarise_crowd
from karatage.views.reading import restore
from tests.notes import gives, list_facts


def judge(rows):
    """Judgments from (judge, document, grade)."""
    names, documents, grades = zip(*rows, strict=True)
    return kt.read_judgments({"judge": names, "topic": ["1"] * len(rows), "document": documents, "grade": grades})


def gold(**grades):
    return kt.read_gold({"1": grades})


@pytest.fixture(scope="module")
def world():
    return kt.simulation.simulate_collection(systems=2, topics=6, depth=10, rng=5)


@pytest.fixture(scope="module")
def crowd(world):
    """Some of the judges on some of the items."""
    kept = np.random.default_rng(1).random(len(world.judgments.grade)) < 0.6
    return world.judgments.keep_rows(kept)


def test_rates_of_judges_are_counted(world, crowd):
    found = summarise_crowd(crowd, world.gold)
    for name, grades, tpr, tnr in found.judges.iter_rows():
        rows = crowd.judge == crowd.judges.index(name)
        said, truth = crowd.grade[rows] > 0, world.gold.grade[crowd.item[rows]] > 0
        assert grades == rows.sum()
        assert tpr == pytest.approx(said[truth].mean())
        assert tnr == pytest.approx(1 - said[~truth].mean())
    assert found.tpr == pytest.approx(found.judges["tpr"].mean())
    assert found.tnr == pytest.approx(found.judges["tnr"].mean())
    assert found.grades == len(crowd.grade)


def test_the_majority_is_counted_and_ties_count_half(world, crowd):
    found = summarise_crowd(crowd, world.gold)
    called, truth, tied = [], [], 0
    for i in range(len(crowd.item_topic)):
        votes = crowd.grade[crowd.item == i] > 0
        if len(votes):
            share = votes.mean()
            called.append(0.5 if share == 0.5 else float(share > 0.5))
            truth.append(world.gold.grade[i] > 0)
            tied += share == 0.5
    called, truth = np.array(called), np.array(truth)
    assert tied > 0
    assert found.tied == tied
    assert found.recall == pytest.approx(called[truth].mean())
    assert found.precision == pytest.approx(called[truth].sum() / called.sum())
    assert found.specificity == pytest.approx(1 - called[~truth].mean())
    assert found.npv == pytest.approx((1 - called)[~truth].sum() / (1 - called).sum())
    assert (found.items, found.relevant) == (len(truth), truth.sum())


def test_the_correlation_of_errors_is_that_of_all_pairs_of_judges_of_an_item(world, crowd):
    found = summarise_crowd(crowd, world.gold)
    truth = world.gold.grade > 0
    covariance = variance = 0.0
    for kind in (True, False):
        pairs = []
        for i in np.flatnonzero(truth == kind):
            wrong = ((crowd.grade[crowd.item == i] > 0) != kind).astype(float)
            pairs += itertools.permutations(wrong, 2)
        one, other = np.array(pairs).T
        mean = one.mean()
        covariance += ((one - mean) * (other - mean)).sum()
        variance += ((one - mean) ** 2).sum()
    assert found.correlation == pytest.approx(covariance / variance)
    assert found.correlation > 0.02
    assert found.pairs == sum(len(list(itertools.combinations(np.flatnonzero(crowd.item == i), 2))) for i in range(120))


def test_two_judges_who_always_err_alike_and_two_who_never_do():
    grades = {f"d{k}": int(k < 20) for k in range(40)}
    said = {f"d{k}": int((k < 20) != (k % 2 == 0)) for k in range(40)}
    alike = [(who, d, g) for who in ("ann", "bob") for d, g in said.items()]
    assert summarise_crowd(judge(alike), gold(**grades)).correlation == pytest.approx(1)
    against = [(who, d, 1 - g if who == "bob" else g) for who, d, g in alike]
    found = summarise_crowd(judge(against), gold(**grades))
    assert found.correlation == pytest.approx(-1)
    assert found.tied == 40


@pytest.mark.parametrize(
    ("rates", "quality"),
    [
        ((10, 10), "reliable"),
        ((9, 9), "reliable"),
        ((7, 7), "fair"),
        ((6, 6), "poor"),
        ((5, 5), "random"),
        ((10, 0), "random"),
        ((5, 4), "random"),
        ((3, 5), "inverted"),
        ((0, 0), "inverted"),
    ],
)
def test_judges_are_counted_in_their_band_of_quality(rates, quality):
    rows = [("ann", f"r{k}", int(k < rates[0])) for k in range(10)]
    rows += [("ann", f"n{k}", int(k >= rates[1])) for k in range(10)]
    found = summarise_crowd(judge(rows), gold(**{f"r{k}": 1 for k in range(10)}, **{f"n{k}": 0 for k in range(10)}))
    assert found.bands.filter(pl.col("judges") > 0)["quality"].to_list() == [quality]
    assert found.bands["grades"].sum() == 20


def test_what_gold_cannot_tell_is_left_open():
    rows = [("ann", "a", 1), ("bob", "b", 0), ("bob", "x", 1)]
    found = summarise_crowd(judge(rows), gold(a=1, b=0))
    assert found.judges.rows() == [("ann", 1, 1.0, None), ("bob", 1, None, 1.0)]
    assert found.bands.filter(quality="saw one kind only")["judges"].item() == 2
    assert found.correlation is None
    assert list_facts(found) == {"simulation.without-gold-aside": {"judgments": 1}}
    nothing = summarise_crowd(judge([("ann", "a", 0), ("bob", "a", 0)]), gold(a=1))
    assert (nothing.precision, nothing.recall, nothing.tnr) == (None, 0.0, None)
    assert (nothing.specificity, nothing.npv) == (None, 0.0)
    wrong = summarise_crowd(judge([("ann", "a", 0), ("ann", "b", 1)]), gold(a=1, b=0))
    assert (wrong.precision, wrong.specificity, wrong.npv) == (0.0, 0.0, 0.0)
    none = summarise_crowd(judge([("ann", "a", 0)]), gold(a=0))
    assert (none.recall, none.tpr) == (None, None)
    assert gives(none.sentence, "100.0%", "TNR")


def test_independent_judges_are_not_said_to_err_together():
    gold_items = kt.simulation.simulate_collection(systems=1, topics=5, depth=20, rng=1).gold
    for seed in range(5):
        panel = kt.simulation.simulate_panel(gold_items, judges=5, rng=seed)
        assert gives(summarise_crowd(panel, gold_items).sentence, "independent")


def test_shared_errors_show():
    gold_items = kt.simulation.simulate_collection(systems=1, topics=20, depth=50, rng=1).gold
    found = [
        summarise_crowd(kt.simulation.simulate_panel(gold_items, judges=7, correlation=c, rng=1), gold_items)
        for c in (0, 0.3, 0.6)
    ]
    assert found[0].correlation < 0.02 < found[1].correlation < found[2].correlation
    assert [gives(f.sentence, "independent") for f in found] == [True, False, False]


def test_it_can_be_written_and_shown(world, crowd):
    found = summarise_crowd(crowd, world.gold, name="<mine>")
    told = json.loads(found.to_json())
    assert told["name"] == "<mine>"
    assert told["sentence"] == found.sentence
    assert len(told["judges"]) == len(found.to_frame())
    assert "<b>" in found._repr_html_()
    assert gives(repr(found), "CrowdSummary", 9, "judges")


def test_gold_of_other_items_says_nothing(crowd):
    with pytest.raises(DataError, match="share"):
        summarise_crowd(crowd, gold(zzz=1))


def test_specificity_and_npv_follow_from_recall_and_precision(world, crowd):
    found = summarise_crowd(crowd, world.gold)
    for name in ("specificity", "npv"):
        with pytest.raises(DataError, match=name):
            replace(found, **{name: 0.9 * getattr(found, name)})


def test_a_summary_of_an_earlier_version_has_no_specificity(world, crowd):
    told = summarise_crowd(crowd, world.gold).to_dict()
    earlier = {name: fact for name, fact in told.items() if name not in ("specificity", "npv")}
    assert restore(told).result.npv == pytest.approx(told["npv"])
    assert restore(earlier).result.npv is None
