"""Unit tests of what is said of single judges: habits, suspicions, independence, the best of them."""

import numpy as np
import pytest
from scipy import stats

import karatage as kt
from karatage.agreement.gold import compare_right, pick_judge, pick_merge, share_right
from karatage.agreement.habits import GoldAccuracy, Panel, find_below_gold, grade_shares, leniency, self_agreement
from karatage.agreement.independence import BETWEEN, effective_votes, group_items, measure_independence
from karatage.agreement.intervals import measure_means, share_intervals
from karatage.agreement.suspicion import choose_reference, find_copies, find_suspects
from karatage.data.alignment import find_short_scales
from karatage.data.estimate import wilson_interval
from karatage.data.judgments import Judgments
from tests.notes import gives


def judge(table):
    """Judgments from a table (judge, item), -1 = no grade."""
    judge, item = np.nonzero(np.asarray(table) >= 0)
    return Judgments.from_codes(
        judge=judge.astype(np.int32), item=item.astype(np.int32), grade=np.asarray(table, np.int8)[judge, item]
    )


def panel(table, gold=None):
    items = np.shape(table)[1]
    return Panel.of(judge(table), np.full(items, -1, np.int8) if gold is None else np.asarray(gold, np.int8))


def test_what_the_others_say():
    found = panel([[0, 1, 2, 0], [0, 2, -1, -1], [1, 2, -1, 1]])
    # rows by item, then judge; ties and items graded alone have no choice
    assert found.choice.tolist() == [-1, -1, 0, 2, -1, -1, -1, 1, 0]
    np.testing.assert_allclose(found.others, [0.5, 0.5, 0, 2, 1.5, 1.5, np.nan, 1, 0])


def test_leniency_is_the_gap_to_the_others_or_to_gold():
    found = panel([[2, 1, 1, 0], [1, 0, 0, -1]], gold=[2, 0, -1, 0])
    mean, low, high = leniency(found)
    np.testing.assert_allclose(mean, [1, -1])
    np.testing.assert_allclose([low, high], [[1, -1], [1, -1]])  # the same on every item
    mean, low, high = leniency(found, gold=True)
    np.testing.assert_allclose(mean, [1 / 3, -0.5])
    gaps = np.random.default_rng(1).integers(0, 2, 30)
    _, low, high = leniency(panel([gaps], gold=np.zeros(30)), gold=True)
    np.testing.assert_allclose((low[0], high[0]), stats.ttest_1samp(gaps, 0).confidence_interval(), rtol=1e-4)


def test_shares_of_grades():
    np.testing.assert_allclose(grade_shares(panel([[0, 0, 2, 1], [1, -1, -1, -1]])), [[0.5, 0.25, 0.25], [0, 1, 0]])


def test_self_agreement_counts_pairs_of_grades_by_one_judge_for_one_item():
    table = {"judge": ["ann"] * 6 + ["bob"] * 2, "item": list("aaabbcab"), "grade": [1, 1, 0, 2, 2, 0, 1, 1]}
    for repeats in ("all", None):
        repeated, steady = self_agreement(kt.read_judgments(table, repeats=repeats))
        assert repeated.tolist() == [2, 0]
        assert steady[0] == pytest.approx((1 + 1) / (3 + 1))
        assert np.isnan(steady[1])


def test_accuracy_tpr_and_tnr():
    found = GoldAccuracy.of(panel([[1, 1, 0, 0, 1], [0, -1, -1, -1, -1]], gold=[1, 1, 1, 0, -1]))
    assert found.items.tolist() == [4, 1]
    np.testing.assert_allclose(found.share, [0.75, 0])
    np.testing.assert_allclose(found.recall(1)[0], [2 / 3, 0])
    np.testing.assert_allclose(found.recall(0)[0], [1, np.nan])
    assert found.kappa()[0] == pytest.approx((0.75 - 0.5) / 0.5)
    assert found.recall(1)[1][0] < 2 / 3 < found.recall(1)[2][0]
    np.testing.assert_allclose(found.precision()[0], [1, np.nan])  # the fifth has no gold


def test_precision_is_of_the_judges_own_1():
    found = GoldAccuracy.of(panel([[1, 1, 1, 1, 0]], gold=[1, 0, 1, 0, 1]))
    np.testing.assert_allclose(found.precision()[0], [0.5])
    np.testing.assert_allclose(found.recall(1)[0], [2 / 3])


def test_short_scales_need_evidence():
    source = np.random.default_rng(1)
    table = source.integers(0, 4, (4, 100))
    table[0] = np.minimum(table[0], 1)
    assert find_short_scales(judge(table)) == {0: 1}
    table[0, 5:] = -1
    assert find_short_scales(judge(table)) == {}


def test_a_scale_below_gold_is_seen_on_several_items():
    gold = np.tile([0, 1, 2, 3], 10)
    table = np.vstack([np.minimum(gold, 1), gold, np.zeros(40, int), np.minimum(gold, 2)])
    assert find_below_gold(panel(table, gold)) == {0: 1, 3: 2}
    assert find_below_gold(panel(table[:, :16], gold[:16])) == {0: 1}  # 2 and 3 eight times, 3 alone four times
    assert find_below_gold(panel(table)) == {}


def test_gold_is_the_reference_where_there_is_enough_of_it():
    table = np.zeros((3, 30), int)
    table[1:, 20:] = 1
    gold = np.full(30, -1)
    gold[:20] = 1
    table[2, :5] = -1
    reference, by_gold = choose_reference(panel(table, gold))
    assert by_gold.tolist() == [True, True, False]
    rows = panel(table, gold).judgments
    assert set(reference[(rows.judge == 0) & (rows.item < 20)].tolist()) == {1}
    assert set(reference[(rows.judge == 2) & (rows.item < 20)].tolist()) == {0}


def test_suspicions_say_why():
    source = np.random.default_rng(2)
    truth = source.integers(0, 2, 200)
    table = np.where(source.random((6, 200)) < 0.85, truth, 1 - truth)
    table[2], table[3], table[5] = 1, source.integers(0, 2, 200), table[4]
    table[1] = 1 - table[1]
    found = {flag.kind: flag for flag in find_suspects(panel(table, truth))}
    assert (found["constant"].judge, found["random"].judge, found["inverted"].judge) == (2, 3, 1)
    assert gives(found["constant"].why, 1, 200, "gold", truth.sum())
    without = {flag.kind: flag for flag in find_suspects(panel(table))}
    assert gives(without["constant"].why, 1, 200, "others", "53%")
    assert gives(found["random"].why, "kappa", "gold", "better")
    assert gives(found["inverted"].why, "kappa", "gold", "worse")
    assert gives(found["copied"].why, 4, 200, 200)
    assert {found["copied"].judge, found["copied"].other} == {4, 5}


def test_constant_needs_ten_items():
    table = np.tile([0, 1, 0, 1, 1, 0, 1, 0, 0, 1], (4, 1))
    table[3] = 1
    assert [flag.kind for flag in find_suspects(panel(table))] == ["constant"]
    assert not find_suspects(panel(table[:, :9]))


def make_rare(source, judges=6, items=400):
    """Gold is 0 but for 4 %, and judges call a fifth of it wrongly."""
    truth = (np.arange(items) % 25 == 0).astype(int)
    return truth, np.where(source.random((judges, items)) < 0.8, truth, 1 - truth)


def test_one_grade_throughout_is_right_where_gold_has_little_else():
    truth, table = make_rare(np.random.default_rng(6))
    table[5] = 0
    assert [flag.judge for flag in find_suspects(panel(table)) if flag.kind == "constant"] == [5]
    assert not [flag for flag in find_suspects(panel(table, truth)) if flag.kind == "constant"]
    table[5] = 1
    (found,) = (flag for flag in find_suspects(panel(table, truth)) if flag.kind == "constant")
    assert gives(found.why, 1, 400, "gold", 16)


def test_one_grade_throughout_is_suspected_where_others_do_better():
    truth, table = make_rare(np.random.default_rng(6))
    table[:5] = truth
    table[5] = 0
    assert [flag.judge for flag in find_suspects(panel(table, truth)) if flag.kind == "constant"] == [5]
    none_rare = truth == 0  # gold itself has one grade there, and no judge can be blamed for it
    assert not [flag for flag in find_suspects(panel(table, np.where(none_rare, 0, -1))) if flag.kind == "constant"]


def test_little_gold_leaves_constancy_to_the_others():
    truth, table = make_rare(np.random.default_rng(6))
    table[5] = 0
    few = np.where(np.arange(400) < 9, truth, -1)
    (found,) = (flag for flag in find_suspects(panel(table, few)) if flag.kind == "constant")
    assert gives(found.why, 0, 400, "others")


@pytest.mark.parametrize("known", [0, 60, 200])
def test_mistakes_in_common_are_counted_where_gold_knows_them(known):
    source = np.random.default_rng(7)
    truth = source.integers(0, 2, 200)
    table = np.where(source.random((6, 200)) < 0.8, truth, 1 - truth)
    table[5] = table[4]
    gold = np.where(np.arange(200) < known, truth, -1)
    why = next(find_copies(panel(table, gold))).why
    wrong = int((table[4] != truth)[:known].sum())
    if known:
        assert gives(why.rsplit(";", 1)[1], "mistake", wrong, wrong)
    else:
        rest = table[:4].sum(axis=0)
        odd = int(((rest != 2) & (table[4] != (rest > 2))).sum())
        assert gives(why.rsplit(";", 1)[1], "same grade", odd, odd)


def test_few_items_raise_no_suspicion():
    source = np.random.default_rng(3)
    truth = source.integers(0, 2, 19)
    table = np.vstack([np.tile(truth, (4, 1)), 1 - truth])
    assert not list(find_suspects(panel(table)))


def test_two_judges_alone_are_no_copies():
    """Nobody else says what the items are, so agreement proves nothing."""
    source = np.random.default_rng(4)
    truth = source.integers(0, 2, 300)
    table = np.where(source.random((2, 300)) < 0.97, truth, 1 - truth)
    assert not list(find_copies(panel(table)))
    assert not list(find_copies(panel(table, truth)))
    assert list(find_copies(panel(np.vstack([table[0], table[0]]), truth)))


@pytest.mark.parametrize(
    ("judges", "r", "expected"), [(10, 0, 10), (10, 1, 1), (10, -0.2, 10), (1, 0.5, 1), (4, 0.5, 1.6)]
)
def test_effective_votes(judges, r, expected):
    assert effective_votes(judges, r) == pytest.approx(expected)
    assert np.isnan(effective_votes(judges, np.nan))


def test_families_alone_and_one_of_each():
    source = np.random.default_rng(5)
    errors = source.integers(0, 2, (3, 100))
    table = np.vstack([errors[0], errors[0], errors[1], errors[2]])
    crowd, gold = judge(table), np.zeros(100, np.int8)
    families = {"0": "x", "1": "x", "2": "y", "9": "z"}
    found = measure_independence(crowd, gold, group_items(crowd, 10, source), families).families
    assert [family.family for family in found] == ["x", "y", BETWEEN]
    assert [family.judges for family in found] == [2, 1, 3]
    assert found[0].correlation == pytest.approx(1)
    assert found[0].effective_votes == pytest.approx(1)
    assert found[1].effective_votes == 1
    r = np.corrcoef(errors)
    assert found[2].correlation == pytest.approx((2 * r[0, 1] + 2 * r[0, 2] + r[1, 2]) / 5)


def test_groups_keep_topics_whole():
    crowd = kt.read_judgments({"ann": {f"t{t}": dict.fromkeys("abc", 0) for t in range(12)}})
    group = group_items(crowd, 5, np.random.default_rng(1))
    for t in range(12):
        assert len(set(group[crowd.item_topic == t].tolist())) == 1
    assert set(group.tolist()) == set(range(5))
    assert len(set(group_items(crowd, 20, np.random.default_rng(1))[:3].tolist())) == 3


def test_the_judge_is_picked_on_other_folds_than_it_is_scored_on():
    gold = np.zeros(40, int)
    fold = (np.arange(40) % 2).astype(np.int32)
    table = np.zeros((2, 40), int)
    table[0, fold == 0] = 1  # right on fold 1 only, so picked for fold 0, where it is wrong
    table[1, fold == 1] = 1
    found = pick_judge(panel(table, gold), fold)
    assert set(found.names) == {"0", "1"}
    assert share_right(found.right, np.zeros(40, np.int32)).value == 0.0


def test_few_items_win_nothing_and_only_graded_items_count():
    gold = np.zeros(40, int)
    fold = (np.arange(40) % 5).astype(np.int32)
    table = np.zeros((2, 40), int)
    table[0, 2:] = -1  # right twice
    table[1, [5, 16]] = 1  # right 36 times, silent twice
    table[1, :2] = -1
    found = pick_judge(panel(table, gold), fold)
    assert found.names == ("1",)
    assert share_right(found.right, np.zeros(40, np.int32)).value == pytest.approx(36 / 38)
    assert np.isnan(found.right[:2]).all()
    assert found.grade[:3].tolist() == [-1, -1, 0]


def test_merges_are_picked_the_same_way():
    fold = (np.arange(20) % 2).astype(np.int32)
    good, bad = np.ones(20), np.zeros(20)
    said = {"a": np.zeros(20, np.int8), "b": np.ones(20, np.int8)}
    found = pick_merge({"a": bad, "b": good}, said, fold)
    assert found.names == ("b",)
    assert share_right(found.right, np.zeros(20, np.int32)).value == 1.0
    assert (found.grade == 1).all()


def test_a_difference_is_taken_on_shared_items_and_counts_topics():
    ours, theirs = np.ones(60), np.tile([1.0, 0.0, 0.0], 20)
    theirs[:30] = 1.0
    theirs[59] = np.nan
    items, topics, one = compare_right(ours, theirs, np.zeros(60, np.int32))
    assert (items, topics) == (59, 0)
    gap = (ours - theirs)[:59]
    expected = stats.ttest_1samp(gap, 0).confidence_interval()
    np.testing.assert_allclose((one.low, one.high), expected, rtol=1e-4)
    assert one.value == pytest.approx(19 / 59)
    _, topics, many = compare_right(ours, theirs, (np.arange(60) // 5).astype(np.int32))
    assert topics == 12
    assert many.value == one.value
    assert many.high - many.low > one.high - one.low  # all of a topic's items differ, or none
    assert compare_right(np.full(3, np.nan), np.ones(3), np.zeros(3, np.int32))[0] == 0
    assert np.isnan(share_right(np.full(3, np.nan), np.zeros(3, np.int32)).value)


def test_means_count_topics_where_there_are_enough():
    """One item a topic is the t interval of the items; doubling each item of a topic tells nothing more."""
    value = np.random.default_rng(8).normal(size=30)
    topic = np.arange(30, dtype=np.int32)
    plain = measure_means(np.zeros(30, np.int32), value, 1, topic)
    np.testing.assert_allclose(np.ravel(plain.bounds), stats.ttest_1samp(value, 0).confidence_interval(), rtol=1e-4)
    twice = measure_means(np.zeros(60, np.int32), np.tile(value, 2), 1, np.tile(topic, 2))
    np.testing.assert_allclose(twice.bounds, plain.bounds)
    few = measure_means(np.zeros(60, np.int32), np.tile(value, 2), 1, np.tile(topic, 2) % 4)
    assert (plain.topics[0], few.topics[0]) == (30, 0)
    assert few.variance[0] == pytest.approx(np.var(np.tile(value, 2), ddof=1) / 60)


def test_shares_are_worth_what_their_topics_are():
    right = (np.arange(40) % 4 > 0).astype(float)
    topic = np.arange(40, dtype=np.int32)
    few = stats.norm.ppf(0.975) / stats.t.ppf(0.975, 39)
    variance = np.var(right, ddof=1) / 40
    worth = min(40, 0.1875 / variance) * few**2
    group = np.zeros(240, np.int32)
    found = share_intervals(group, np.tile(right, 6), 1, np.tile(topic, 6))  # all items of a topic alike
    np.testing.assert_allclose(np.ravel(found), [0.75, *wilson_interval(0.75 * worth, worth)], rtol=1e-4)
    alike = share_intervals(group, np.tile(right, 6), 1, np.repeat(topic, 6) // 4)  # topics all alike: never above
    assert alike[1][0] < wilson_interval(180, 240)[0] < alike[0][0]
    plain = share_intervals(group, np.tile(right, 6), 1, np.zeros(240, np.int32))
    np.testing.assert_allclose(np.ravel(plain), [0.75, *wilson_interval(180, 240)])
    share, low, high = share_intervals(group[:40], np.ones(40), 2, topic)
    assert (share[0], high[0]) == (1.0, 1.0)
    assert 0.85 < low[0] < 0.95
    assert np.isnan([share[1], low[1], high[1]]).all()


def test_means_by_topic_are_the_same_sorted_or_counted():
    source = np.random.default_rng(3)
    group, topic = source.integers(0, 4, 300).astype(np.int32), source.integers(0, 30, 300).astype(np.int32)
    value = source.random(300)
    counted = measure_means(group, value, 4, topic)  # 120 cells for 300 items
    for one, other in zip(counted, measure_means(group, value, 50, topic), strict=True):  # 1,500 cells: sorted
        np.testing.assert_array_equal(one, other[:4])
