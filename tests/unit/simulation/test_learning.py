"""Unit tests of learning a crowd."""

from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from karatage.data.axes import Coded
from karatage.data.judgments import Judgments
from karatage.errors import DataError, OptionError
from karatage.simulation.counting import GoldRows, learn_confusion, learn_correlation
from karatage.simulation.learning import fit_contribution
from tests.notes import has_note
from tests.unit.simulation.crowds import make_gold, make_model


def judged(rows, top=1):
    judge, topic, document, grade = zip(*rows, strict=True)
    return Judgments.build(
        judge=Coded.of(judge),
        topic=Coded.of(topic),
        document=Coded.of(document),
        grade=np.array(grade, np.int8),
        top_grade=top,
    )


GOLD = judged([("gold", "t", f"d{k}", k % 2) for k in range(10)])


def by_counts(hits, rejections, name="a"):
    """A judge who agrees on so many of five relevant and of five other items."""
    return [(name, "t", f"d{k}", (k // 2 < hits) if k % 2 else (k // 2 >= rejections)) for k in range(10)]


def test_kept_noise_puts_judges_where_their_counts_say():
    rows = by_counts(3, 4) + by_counts(3, 4, "b") + by_counts(5, 0, "c") + [("d", "t", "d1", 1)]
    model = kt.simulation.learn_crowd(judged(rows), GOLD, noise="kept")
    assert model.judges == 3
    assert model.shares[6, 8, 3] == pytest.approx(2 / 3)
    assert model.shares[9, 0, 3] == pytest.approx(1 / 3)
    assert model.rates == pytest.approx([(0.6 * 2 + 1) / 3, 0.8 * 2 / 3])
    assert model.noise == "kept"
    assert has_note(model, "simulation.no-rates", judges=1)
    assert has_note(model, "simulation.few-gold", least=50)


def test_removed_noise_hears_everybody_and_draws_chance_in():
    rng = np.random.default_rng(1)
    said = rng.random((300, 10)) < np.where(np.arange(10) % 2, 0.75, 0.25)
    rows = [(f"j{j:03d}", "t", f"d{k}", int(said[j, k])) for j in range(300) for k in range(10)]
    kept, removed = (kt.simulation.learn_crowd(judged(rows), GOLD, noise=noise, rng=1) for noise in ("kept", "removed"))

    def near(model):  # all judges are alike, in the middle of [0.7, 0.8)
        return model.shares[6:9, 6:9].sum()

    assert near(kept) < 0.5
    assert near(removed) > 0.75
    assert removed.rates == pytest.approx([0.75, 0.75], abs=0.02)


def test_contribution_is_the_share_of_the_topics_worked_on():
    gold = judged([("gold", t, f"{t}{k}", k % 2) for t in "xy" for k in range(10)])
    rows = [("whole", t, f"{t}{k}", 1) for t in "xy" for k in range(10)]
    rows += [("half", "x", f"x{k}", 1) for k in range(5)] + [("less", t, f"{t}{k}", 1) for t in "xy" for k in range(3)]
    found = GoldRows.of(judged(rows), gold)
    assert dict(zip(found.names, found.contribution.tolist(), strict=True)) == {"whole": 1.0, "half": 0.5, "less": 0.3}


def test_gold_may_know_some_items_only():
    rows = by_counts(4, 4) + [("a", "t", f"e{k}", 1) for k in range(10)] + [("b", "t", "e1", 0)]
    model = kt.simulation.learn_crowd(judged(rows), GOLD, noise="kept")
    assert model.judgments == 10
    assert np.exp(model.mean[0, 2]) == pytest.approx(1)  # of all items
    assert has_note(model, "simulation.no-gold", judges=1)


def test_order_of_rows_and_names_of_judges_change_nothing():
    gold = make_gold(4, 50)
    crowd = kt.simulation.simulate_crowd(gold, "hcb", judges=40, rng=1)
    frame = crowd.to_frame().sample(fraction=1, shuffle=True, seed=1)
    renamed = frame.with_columns(judge="x" + frame["judge"])
    first, second = (kt.simulation.learn_crowd(kt.read_judgments(f), gold, rng=3) for f in (frame, renamed))
    assert first.to_json() == second.to_json() == kt.simulation.learn_crowd(crowd, gold, rng=3).to_json()


def test_graded_judges_have_confusion_matrices():
    gold = make_gold(1, 4000, relevant=0.6, top=2)
    model = replace(
        make_model(hit=0.85, rejection=0.75, contribution=0.5),
        balance=np.array([0.4, 0.3, 0.3]),
        confusion=np.array([[[0.75, 0.15, 0.1], [0.25, 0.5, 0.25], [0.05, 0.15, 0.8]]]),
        concentration=np.array([200.0]),
    )
    crowd = kt.simulation.simulate_crowd(gold, model, judges=50, per_item=20, rng=1)
    again = kt.simulation.learn_crowd(crowd, gold, rng=1)
    assert again.grades == 3
    mean = (again.share[:, None, None] * again.confusion).sum(axis=0)
    np.testing.assert_allclose(mean, model.confusion[0], atol=0.03)
    assert 100 < (again.share * again.concentration).sum() < 400
    wild = kt.simulation.simulate_crowd(
        gold, replace(model, concentration=np.array([5.0])), judges=50, per_item=20, rng=1
    )
    loose = kt.simulation.learn_crowd(wild, gold, rng=1)
    assert (loose.share * loose.concentration).sum() < 20


def test_families_are_counted():
    rows = by_counts(3, 4) + by_counts(3, 3, "b") + by_counts(5, 0, "c")
    model = kt.simulation.learn_crowd(judged(rows), GOLD, families={"a": "x", "b": "x"}, noise="kept")
    assert model.families == pytest.approx({"c": 1 / 3, "x": 2 / 3})
    assert kt.simulation.learn_crowd(judged(rows), GOLD, noise="kept").families == {}


def test_what_cannot_be_learned_is_refused():
    rows = judged(by_counts(3, 4))
    with pytest.raises(DataError, match="share"):
        kt.simulation.learn_crowd(judged([("a", "t", "other", 1)]), GOLD)
    with pytest.raises(DataError, match="relevant"):
        kt.simulation.learn_crowd(rows, GOLD.keep_rows(GOLD.grade == 0))
    with pytest.raises(DataError, match="relevant"):
        kt.simulation.learn_crowd(rows, GOLD.keep_rows(GOLD.grade == 1))
    with pytest.raises(DataError, match="'removed'"):
        kt.simulation.learn_crowd(judged([("a", "t", "d0", 1), ("b", "t", "d1", 1)]), GOLD, noise="kept")
    with pytest.raises(OptionError, match="'some'"):
        kt.simulation.learn_crowd(rows, GOLD, noise="some")


def test_one_judge_is_a_crowd():
    model = kt.simulation.learn_crowd(judged(by_counts(3, 4)), GOLD, rng=1)
    assert model.shares.sum() == pytest.approx(1)
    assert has_note(model, "simulation.judged-alone")
    kt.simulation.simulate_crowd(make_gold(2, 20), model, rng=1)


@pytest.mark.parametrize("exponent", [1.8, 2.5])
def test_the_power_law_is_found(exponent):
    drawn = 0.001 * np.random.default_rng(1).random(3000) ** (-1 / (exponent - 1))
    found = fit_contribution(drawn)
    assert found.exponent == pytest.approx(exponent, abs=0.15)
    assert found.least == drawn.min()
    assert np.isnan(fit_contribution(np.ones(20)).exponent)


def test_an_even_spread_counts_as_one_more_judge():
    """Two judges with the same counts, who did all: what is left is a third of the spread over a voxel."""
    model = kt.simulation.learn_crowd(judged(by_counts(3, 4) + by_counts(3, 4, "b")), GOLD, noise="kept")
    np.testing.assert_allclose(model.covariance[0], np.diag([0.01 / 12 / 3, 0.01 / 12 / 3, 0]), atol=1e-12)
    more = [("a", "t", "without gold", 1)]
    model = kt.simulation.learn_crowd(judged(by_counts(3, 4) + by_counts(3, 4, "b") + more), GOLD, noise="kept")
    assert model.covariance[0, 2, 2] == pytest.approx(np.log([1, 10 / 11]).var())


def test_rates_that_few_judgments_leave_open_are_spread_within_their_voxel():
    rng = np.random.default_rng(1)
    said = rng.random((300, 10)) < np.where(np.arange(10) % 2, 0.75, 0.25)
    rows = [(f"j{j:03d}", "t", f"d{k}", int(said[j, k])) for j in range(300) for k in range(10)]
    model = kt.simulation.learn_crowd(judged(rows), GOLD, rng=1)
    spread = np.sqrt(model.covariance[np.argmax(model.share), [0, 1], [0, 1]])
    np.testing.assert_allclose(spread, 0.1 / np.sqrt(12), rtol=0.1)


def test_items_that_nobody_graded_are_not_offered():
    rows = judged(by_counts(3, 4) + [("b", "t", f"e{k}", 1) for k in range(10)])
    found = GoldRows.of(rows.keep_rows(rows.judge == 0), GOLD)
    assert found.contribution.tolist() == [1.0]


def test_the_tail_begins_where_it_fits_best():
    drawn = np.sort(np.random.default_rng(4).lognormal(-4, 1, 60))
    best = (np.inf, 0.0, 0.0)
    for k in range(54):
        tail = drawn[k:]
        if len(tail) >= 10 and tail[-1] >= 2 * tail[0]:
            slope = 1 / np.log(tail / tail[0]).mean()
            law, seen = 1 - (tail[0] / tail) ** slope, (np.arange(len(tail)) + 0.5) / len(tail)
            best = min(best, (np.abs(law - seen).max(), 1 + slope, tail[0]))
    assert tuple(fit_contribution(drawn)) == pytest.approx((drawn[0], *best[1:]))


def test_what_a_family_shares_comes_on_top_of_what_topics_share():
    """Two families never err on the same item, but both err more in some topics; within a family all err alike."""
    gold, rows = [], []
    for t in range(10):
        for k in range(40):
            name, place = f"t{t}d{k:02d}", (k // 2 + 0.5) / 20
            gold.append(("gold", f"t{t}", name, k % 2))
            for family, at in ("a", place), ("b", 1 - place):
                wrong = at < (t + 1) / 22
                rows += [(f"{family}{j}", f"t{t}", name, int(wrong) ^ (k % 2)) for j in range(2)]
    families = {judge: judge[0] for judge in ("a0", "a1", "b0", "b1")}
    evidence = GoldRows.of(judged(rows), judged(gold))
    apart, together = (learn_correlation(evidence, known)[0] for known in ({}, families))
    assert apart.topic > 0.05
    assert together.topic == apart.topic
    assert together.item == 0
    assert together.family == pytest.approx(0.95 - apart.topic, abs=1e-3)


def test_concentration_is_what_chance_leaves_of_the_spread_of_judges():
    """One kind of judges, written out: rows lean to the crowd's by one judgment, and their mean is their own."""
    rng, judges, size = np.random.default_rng(2), 4, 3
    gold = [("gold", "t", f"d{k:02d}", k % size) for k in range(60)]
    rows = [
        (f"j{j}", "t", name, int(g if rng.random() < 0.35 + 0.15 * j else rng.integers(size)))
        for j in range(judges)
        for _, _, name, g in gold[: 60 - 12 * j]
    ]
    evidence = GoldRows.of(judged(rows, top=2), judged(gold, top=2))
    count = np.zeros((judges, size, size))
    np.add.at(count, (evidence.judge, evidence.gold, evidence.said), 1)
    crowd = count.sum(axis=0) + 0.5 * np.eye(size) + 0.5 / size
    number = count.sum(axis=2, keepdims=True)
    row = (count + crowd / crowd.sum(axis=1, keepdims=True)) / (number + 1)
    mean, free = row.mean(axis=0), 1 - 1 / judges
    spread = ((row - mean) ** 2).sum() - free * (row * (1 - row) / (number - 1)).sum()
    found = learn_confusion(evidence, np.arange(judges), np.ones((judges, 1)))
    np.testing.assert_allclose(found[0], mean[None])
    assert spread > 0
    assert found[1] == pytest.approx(free * judges * (mean * (1 - mean)).sum() / spread - 1)
