"""Errors pooled over items: what the vote of the judges of one item is worth."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.agreement.independence import group_items, measure_independence
from karatage.data.judgments import match_gold
from karatage.simulation.answering import summarise_crowd
from tests.notes import gives

ITEMS, GRADES, JUDGES = 2000, 4, 40


def crowd(rng: np.random.Generator, judges: int = JUDGES) -> tuple[kt.Judgments, kt.Judgments]:
    """Good and bad judges, four of many for each item, some items hard for all; nothing is relevant."""
    skill, hard = np.random.default_rng(2).beta(1, 2, judges), rng.random(ITEMS) < 0.3
    judge = np.stack([rng.choice(judges, GRADES, replace=False) for _ in range(ITEMS)])
    wrong = rng.random((ITEMS, GRADES)) < np.where(hard[:, None], 0.7, 0.6 * skill[judge])
    names = np.char.add("j", judge.ravel().astype(str))
    item = np.repeat(np.arange(ITEMS).astype(str), GRADES)
    said = pl.DataFrame({"judge": names, "item": item, "grade": wrong.ravel().astype(int)})
    gold = pl.DataFrame({"item": np.arange(ITEMS).astype(str), "grade": np.zeros(ITEMS, int)})
    return kt.read_judgments(said), kt.read_gold(gold)


def measure(judgments: kt.Judgments, gold: kt.Judgments):
    known = match_gold(judgments, gold)
    return measure_independence(judgments, known, group_items(judgments, 20, np.random.default_rng(1)))


@pytest.fixture(scope="module")
def sparse():
    return crowd(np.random.default_rng(5))


def test_effective_votes_of_an_item_tell_the_variance_of_its_vote(sparse):
    judgments, gold = sparse
    found = measure(judgments, gold)
    share = np.bincount(judgments.item, judgments.grade) / GRADES  # of wrong grades, as gold is 0 throughout
    alone = share.mean() * (1 - share.mean())
    assert alone / found.effective_votes_per_item.value == pytest.approx(share.var(), rel=1e-9)
    assert found.pooled.low < found.pooled.value < found.pooled.high
    assert found.effective_votes_per_item.low < found.effective_votes_per_item.value


def test_judges_who_all_grade_everything_are_no_draw_of_judges():
    judgments, gold = crowd(np.random.default_rng(5), judges=GRADES)
    found = measure(judgments, gold)
    assert not found.sparse
    assert found.effective_votes_per_item == found.effective_votes
    assert kt.audit(judgments, gold=gold, rng=1, approach=("mv",)).statistic("error_correlation_pooled") is None


def test_a_crowd_is_said_to_err_alike_by_simulation_and_audit(sparse):
    judgments, gold = sparse
    assert measure(judgments, gold).pooled.value == pytest.approx(summarise_crowd(judgments, gold).correlation)


def test_the_interval_holds_the_correlation():
    truth = measure(*crowd(np.random.default_rng(99))).pooled.value
    others = [measure(*crowd(np.random.default_rng(seed))).pooled for seed in range(12)]
    mean = np.mean([found.value for found in others])
    assert sum(found.low <= mean <= found.high for found in others) >= 9
    assert abs(truth - mean) < 0.05


def test_what_an_items_votes_are_worth_is_known_where_no_two_judges_share_enough():
    judgments, gold = crowd(np.random.default_rng(5), judges=400)
    found = kt.audit(judgments, gold=gold, rng=1, approach=("mv",))
    assert found.statistic("error_correlation") is None
    assert found.statistic("effective_votes_per_item") < GRADES
    assert gives(found.sentence, "4.0", f"{found.statistic('effective_votes_per_item'):.1f}", "pooled")


def test_the_audit_says_how_errors_were_weighed(sparse):
    judgments, gold = sparse
    found = kt.audit(judgments, gold=gold, rng=1, approach=("mv",))
    pooled = found.statistic("error_correlation_pooled")
    assert pooled == pytest.approx(measure(judgments, gold).pooled.value)
    assert gives(found.sentence, f"{pooled:.2f}", "pooled")
    assert gives(summarise_crowd(judgments, gold).sentence, "pooled")
