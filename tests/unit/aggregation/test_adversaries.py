"""Judges who are wrong more often than by chance: found from gold or from the others, flipped or dropped."""

import numpy as np
import pytest
from scipy.stats import binom

import karatage as kt
from karatage.aggregation.majority import ADVERSARY, find_adversaries
from karatage.errors import OptionError
from tests.notes import has_note

ITEMS, HONEST, INVERTED = 200, 7, 4


def make_crowd(inverted=INVERTED, seed=0, items=ITEMS):
    """Honest judges right in 80 %, the last ones in 15 % of cases; each grades half of the items."""
    source = np.random.default_rng(seed)
    truth = source.integers(0, 2, items)
    right = np.r_[np.full(HONEST, 0.8), np.full(inverted, 0.15)]
    rows = [(j, i) for i in range(items) for j in range(len(right)) if source.random() < 0.5]
    said = [int(truth[i] if source.random() < right[j] else 1 - truth[i]) for j, i in rows]
    names = {"judge": [f"j{j:02}" for j, _ in rows], "item": [f"{i:03}" for _, i in rows]}
    gold = kt.read_gold({"item": [f"{i:03}" for i in range(items)], "grade": truth.tolist()})
    return kt.read_judgments({**names, "grade": said}), gold


@pytest.mark.parametrize("supervision", ["none", "light", "full"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_inverted_judges_are_found_and_nobody_else(supervision, seed):
    judgments, gold = make_crowd(seed=seed)
    training, test = gold.only_items(np.arange(ITEMS) < 100), gold.only_items(np.arange(ITEMS) >= 100)
    given = {} if supervision == "none" else {"gold": training, "supervision": supervision}
    accuracy = {}
    for how in "keep", "drop", "flip":
        posterior = kt.aggregate(judgments, f"mv(adversaries={how})", **given, rng=0)
        accuracy[how] = posterior.accuracy(test)
        if how != "keep":
            assert posterior.parameters[ADVERSARY].tolist() == [0.0] * HONEST + [1.0] * INVERTED
            source = "the majority of the others" if supervision == "none" else "gold"
            assert has_note(posterior, "aggregation.adversaries", judges=INVERTED, source=source)
    assert accuracy["keep"] + 0.1 < accuracy["drop"] < accuracy["flip"]


def test_without_gold_a_crowd_of_adversaries_flips_the_honest():
    """As the docs say: the majority is taken to be right."""
    judgments, gold = make_crowd(inverted=2 * HONEST)
    found = kt.aggregate(judgments, "mv(adversaries=flip)", rng=0)
    assert found.parameters[ADVERSARY].tolist() == [1.0] * HONEST + [0.0] * 2 * HONEST
    assert found.accuracy(gold) < 0.1
    known = kt.aggregate(judgments, "mv(adversaries=flip)", gold=gold, supervision="light", rng=0)
    assert known.parameters[ADVERSARY].tolist() == [0.0] * HONEST + [1.0] * 2 * HONEST


def test_flipped_and_dropped_votes_are_those_of_changed_judgments():
    judgments, _ = make_crowd()
    theirs = judgments.judge >= HONEST
    frame = judgments.to_frame()
    grade = np.where(theirs, 1 - judgments.grade, judgments.grade)
    flipped = kt.read_judgments({**frame.drop("grade").to_dict(as_series=False), "grade": grade.tolist()})
    for how, other in ("flip", flipped), ("drop", judgments.keep_rows(~theirs)):
        ours = kt.aggregate(judgments, f"mv(adversaries={how})", rng=0)
        np.testing.assert_allclose(ours.probability, kt.aggregate(other, "mv", rng=0).probability)


@pytest.mark.parametrize("seed", range(3))
def test_the_rule_is_a_binomial_test_against_independent_grades(seed):
    source = np.random.default_rng(seed)
    judge, item = (a.ravel() for a in np.meshgrid(np.arange(40), np.arange(12), indexing="ij"))
    judgments = kt.Judgments.from_codes(judge=judge, item=item, grade=source.integers(0, 3, judge.size))
    gold = source.integers(-1, 3, 12).astype(np.int8)
    frame = judgments.to_frame()
    expected = []
    for name in judgments.judges:
        rows = frame.filter(judge=name).sort("item", descending=False)
        pairs = [(gold[int(i)], g) for i, g in rows.select("item", "grade").iter_rows() if gold[int(i)] >= 0]
        n = len(pairs)
        chance = sum((sum(a == k for a, _ in pairs) / n) * (sum(b == k for _, b in pairs) / n) for k in range(3))
        agreed = sum(a == b for a, b in pairs)
        expected.append(bool(agreed < chance * n and binom.cdf(agreed, n, chance) <= 0.05))
    assert find_adversaries(judgments, gold).tolist() == expected


def test_one_who_always_says_the_same_is_no_adversary_and_few_items_are_no_evidence():
    truth = [1] * 20 + [0] * 80
    always = kt.Judgments.from_codes(judge=np.zeros(100, int), item=np.arange(100), grade=np.ones(100, int))
    assert not find_adversaries(always, np.array(truth, np.int8)).any()
    for items, found in (4, False), (6, True):
        truth = np.tile([0, 1], items // 2).astype(np.int8)
        wrong = kt.Judgments.from_codes(judge=np.zeros(items, int), item=np.arange(items), grade=1 - truth)
        assert find_adversaries(wrong, truth).tolist() == [found]


def test_honest_crowds_are_left_alone():
    """Random judges are wrongly found in at most 5 % of cases, honest ones hardly ever."""
    source = np.random.default_rng(5)
    judge, item = (a.ravel() for a in np.meshgrid(np.arange(2000), np.arange(20), indexing="ij"))
    gold = np.tile([0, 1], 10).astype(np.int8)
    coin = kt.Judgments.from_codes(judge=judge, item=item, grade=source.integers(0, 2, judge.size))
    assert 0.005 < find_adversaries(coin, gold).mean() < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)
    said = np.where(source.random(judge.size) < 0.7, gold[item], 1 - gold[item])
    assert find_adversaries(kt.Judgments.from_codes(judge=judge, item=item, grade=said), gold).mean() < 0.002


def test_three_grades_can_be_dropped_but_not_flipped():
    judgments = kt.Judgments.from_codes(judge=np.tile([0, 1], 3), item=np.repeat([0, 1, 2], 2), grade=np.arange(6) // 2)
    kt.aggregate(judgments, "mv(adversaries=drop)")
    with pytest.raises(OptionError, match=r"two grades.*\b3\b.*drop"):
        kt.aggregate(judgments, "mv(adversaries=flip)")
    with pytest.raises(OptionError, match="adversaries"):
        kt.aggregate(judgments, "mv(adversaries=shoot)")
