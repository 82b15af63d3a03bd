"""Unit tests of simulated crowds."""

from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from karatage.data.judgments import match_gold
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.random_streams import stream
from karatage.simulation.crowd import binarise, deal, deal_normals, draw_judges
from tests.notes import gives, has_note
from tests.unit.simulation.crowds import make_gold, make_model


def truth(crowd, gold):
    return match_gold(crowd, gold)[crowd.item]


def rates(crowd, gold):
    known = truth(crowd, gold)
    return crowd.grade[known > 0].astype(bool).mean(), 1 - crowd.grade[known == 0].astype(bool).mean()


@pytest.mark.parametrize("name", kt.simulation.list_crowds())
def test_every_model_that_comes_along(name):
    model = kt.simulation.load_crowd(name)
    assert model.name == name
    assert model.shares.shape == (10, 10, 4)
    assert model.shares.sum() == pytest.approx(1)
    assert len(model.to_json()) < 50_000
    gold = make_gold(4, 40)
    crowd = kt.simulation.simulate_crowd(gold, name, rng=1)
    np.testing.assert_array_equal(np.bincount(crowd.item), 5)
    assert crowd.judges == tuple(sorted(crowd.judges))
    np.testing.assert_array_equal(crowd.item_document, gold.item_document)


def test_the_models_are_those_that_were_asked_for():
    assert kt.simulation.list_crowds() == (
        "bluebird",
        "bm",
        "careful",
        "crowd-2011",
        "hcb",
        "llm-dl-2021",
        "rte",
        "temp",
        "wvscm",
    )
    with pytest.raises(UnknownNameError, match="'bluebird'"):
        kt.simulation.load_crowd("bluebirds")


def test_the_careful_crowd_says_that_it_is_made_up():
    assert gives(kt.simulation.load_crowd("careful").source, "without")


def test_the_seed_seeds_and_gold_stays_as_it_is():
    gold = make_gold(4, 50)
    before = gold.grade.copy()
    first, again, other = (kt.simulation.simulate_crowd(gold, "hcb", rng=k) for k in (1, 1, 2))
    assert first.judges == again.judges
    np.testing.assert_array_equal(first.grade, again.grade)
    np.testing.assert_array_equal(first.judge, again.judge)
    assert not np.array_equal(first.grade, other.grade)
    np.testing.assert_array_equal(gold.grade, before)
    assert has_note(first, "simulation.simulated", seed=1)


def test_only_items_with_a_grade_are_judged_and_items_keep_their_numbers():
    gold = make_gold(4, 50)
    some = gold.keep_rows(np.arange(200) % 3 == 0)
    crowd = kt.simulation.simulate_crowd(some, make_model(), per_item=3, rng=1)
    assert set(crowd.item.tolist()) == set(range(0, 200, 3))
    assert len(crowd.item_topic) == 200


@pytest.mark.parametrize("shared", [(0, 0, 0), (0.6, 0, 0), (0, 0.6, 0), (0, 0, 0.4), (0.3, 0.2, 0.2)])
def test_rates_are_those_of_the_model_whatever_is_shared(shared):
    gold = make_gold(40, 200)
    crowd = kt.simulation.simulate_crowd(gold, make_model(shared=shared, families={"a": 0.5, "b": 0.5}), rng=3)
    hit, rejection = rates(crowd, gold)
    assert hit == pytest.approx(0.85, abs=4 * np.sqrt(0.85 * 0.15 / 12_000))
    assert rejection == pytest.approx(0.75, abs=4 * np.sqrt(0.75 * 0.25 / 28_000))


def test_one_topic_does_not_shift_all_judges():
    gold = make_gold(1, 8000)
    crowd = kt.simulation.simulate_crowd(gold, make_model(shared=(0, 0, 0.5)), rng=3)
    assert rates(crowd, gold) == pytest.approx((0.85, 0.75), abs=0.015)
    assert has_note(crowd, "simulation.one-topic")


def joint(crowd, gold, same_family):
    """How often two judges both call an item relevant that is not."""
    known = truth(crowd, gold)
    hits = pairs = 0
    for start, end in zip(crowd.row_start[:-1], crowd.row_start[1:], strict=True):
        if known[start] == 0:
            for a in range(start, end):
                for b in range(a + 1, end):
                    if (crowd.judges[crowd.judge[a]][0] == crowd.judges[crowd.judge[b]][0]) == same_family:
                        pairs += 1
                        hits += int(crowd.grade[a] and crowd.grade[b])
    return hits / pairs


def test_errors_are_shared_on_items_and_within_families():
    from scipy.stats import multivariate_normal

    gold = make_gold(1, 6000, relevant=0.01)
    crowd = kt.simulation.simulate_crowd(gold, make_model(shared=(0.3, 0.4, 0), families={"a": 0.5, "b": 0.5}), rng=5)
    z = -0.6744897501960817  # a quarter of the items that are not relevant
    for same, rho in (False, 0.3), (True, 0.7):
        expected = multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf([z, z])
        assert joint(crowd, gold, same) == pytest.approx(expected, abs=0.01)


def test_errors_depend_on_the_topic():
    gold = make_gold(100, 60, relevant=0.5)
    spread = {}
    for topic in (0.0, 0.3):
        crowd = kt.simulation.simulate_crowd(gold, make_model(shared=(0, 0, topic), contribution=0.2), rng=5)
        rows = truth(crowd, gold) == 0
        share = np.bincount(crowd.item_topic[crowd.item[rows]], weights=crowd.grade[rows]) / (30 * 5)
        spread[topic] = share.std()
    assert spread[0.0] == pytest.approx(np.sqrt(0.25 * 0.75 / 150), rel=0.3)
    assert spread[0.3] > 0.12


def test_a_binary_model_on_graded_gold_says_relevant_or_not():
    gold = make_gold(10, 300, top=3)
    crowd = kt.simulation.simulate_crowd(gold, make_model(), rng=1)
    assert crowd.top_grade == 1
    assert rates(crowd, gold) == pytest.approx((0.85, 0.75), abs=0.02)
    assert has_note(crowd, "simulation.binary-crowd")


def test_a_graded_model_on_graded_gold_gives_its_confusion():
    model = kt.simulation.load_crowd("llm-dl-2021")
    gold = make_gold(20, 500, relevant=0.6, top=3)
    crowd = kt.simulation.simulate_crowd(gold, model, judges=500, per_item=10, rng=1)
    assert crowd.top_grade == 3
    assert {judge.rsplit("-", 1)[0] for judge in crowd.judges} == set(model.families)
    known = truth(crowd, gold)
    people = draw_judges(model, 500, stream(1, "crowd judges"))
    weight = np.minimum(people.contribution, 1)[:, None] / people.contribution.sum()
    for grade in range(4):
        found = np.bincount(crowd.grade[known == grade], minlength=4) / (known == grade).sum()
        np.testing.assert_allclose(found, (weight * people.confusion[:, grade]).sum(axis=0), atol=0.03)
    assert crowd.grade[known == 3].mean() > crowd.grade[known == 1].mean() > crowd.grade[known == 0].mean()


def test_a_graded_model_on_binary_gold_is_binary():
    gold = make_gold(10, 300)
    crowd = kt.simulation.simulate_crowd(gold, "llm-dl-2021", rng=1)
    assert crowd.top_grade == 1
    assert set(crowd.grade.tolist()) == {0, 1}
    assert has_note(crowd, "simulation.binary-gold", grades=4)


def test_what_cannot_be_is_refused():
    gold = make_gold(2, 20)
    with pytest.raises(OptionError, match=r"\b3\b.*\b5\b"):
        kt.simulation.simulate_crowd(gold, make_model(), judges=3)
    with pytest.raises(OptionError, match=r"number.*\b1\b"):
        kt.simulation.simulate_crowd(gold, make_model(), per_item=0)
    with pytest.raises(OptionError, match=r"\b200\b"):
        kt.simulation.simulate_crowd(gold, make_model(), judges=201)
    with pytest.raises(DataError, match="grade"):
        kt.simulation.simulate_crowd(gold.keep_rows(np.zeros(40, bool)), make_model())
    with pytest.raises(DataError, match="grades"):
        kt.simulation.simulate_crowd(kt.simulation.simulate_crowd(gold, make_model(), rng=1), make_model())
    with pytest.raises(DataError, match=r"\b0\b.*\b3\b"):
        kt.simulation.simulate_crowd(make_gold(2, 20, top=4), "llm-dl-2021")


def test_contributions_that_cannot_be_kept_are_told():
    crowd = kt.simulation.simulate_crowd(make_gold(2, 100), make_model(contribution=0.05), judges=6, rng=1)
    assert len(crowd.judges) == 6
    assert has_note(crowd, "simulation.stretched")


def test_the_number_of_judges_is_what_their_contributions_need():
    assert len(
        kt.simulation.simulate_crowd(make_gold(4, 200), make_model(contribution=0.1), rng=1).judges
    ) == pytest.approx(200, rel=0.05)
    assert len(kt.simulation.simulate_crowd(make_gold(4, 200), make_model(), judges=33, rng=1).judges) == 33


def test_independent_judges_share_no_errors():
    model = make_model(shared=(0.3, 0.1, 0.1))
    assert tuple(model.independent().correlation) == (0, 0, 0)
    assert tuple(model.correlation) == (0.3, 0.1, 0.1)
    gold = make_gold(4, 50)
    assert not np.array_equal(
        kt.simulation.simulate_crowd(gold, model, rng=1).grade,
        kt.simulation.simulate_crowd(gold, model.independent(), rng=1).grade,
    )


def test_kinds_are_dealt_by_their_shares():
    share = np.array([0.5, 0.3, 0.15, 0.05])
    kind = deal(share, 1000, np.random.default_rng(1))
    assert np.abs(np.bincount(kind) - 1000 * share).max() <= 1
    assert (np.diff(kind) != 0).mean() > 0.4  # in no order


def test_dealt_normals_favour_no_grade():
    kind = np.repeat(np.array([0, 1, 2], np.int8), [500, 7, 1])
    found = deal_normals(kind, np.random.default_rng(1))
    for k in (0, 1):
        assert found[kind == k].mean() == pytest.approx(0, abs=1e-12)
        assert (found[kind == k] ** 2).mean() == pytest.approx(1)
    assert found[kind == 2] == 0
    assert np.corrcoef(found[:499], found[1:500])[0, 1] == pytest.approx(0, abs=0.15)


def test_drawn_judges_have_the_means_and_spreads_of_their_voxel_and_stay_in_it():
    covariance = np.array([[0.0004, 0.0002, 0.002], [0.0002, 0.0004, 0], [0.002, 0, 0.04]])
    model = replace(make_model(hit=0.88, rejection=0.73), covariance=covariance[None])
    people = draw_judges(model, 20_000, np.random.default_rng(1))
    hit, rejection, log = people.confusion[:, 1, 1], people.confusion[:, 0, 0], np.log(people.contribution)
    assert hit.min() >= 0.8
    assert hit.max() <= 0.9
    assert hit.mean() == pytest.approx(0.88, abs=0.001)  # which plain cutting off would miss
    assert hit.std() == pytest.approx(0.02, abs=0.003)
    assert rejection.mean() == pytest.approx(0.73, abs=0.001)
    assert log.mean() == pytest.approx(np.log(0.1), abs=0.01)
    assert np.corrcoef(hit, rejection)[0, 1] == pytest.approx(0.5, abs=0.1)  # less, since walls cut off corners
    assert np.corrcoef(hit, log)[0, 1] == pytest.approx(0.5, abs=0.1)


def test_topics_move_relevant_items_apart_from_the_others():
    gold = make_gold(100, 60, relevant=0.5)
    crowd = kt.simulation.simulate_crowd(gold, make_model(shared=(0, 0, 0.5), contribution=0.2), rng=5)
    known, topic = truth(crowd, gold), crowd.item_topic[crowd.item]
    called = [np.bincount(topic[known == k], weights=crowd.grade[known == k]) for k in (0, 1)]
    assert np.corrcoef(called)[0, 1] == pytest.approx(0, abs=0.3)


@pytest.mark.parametrize("shared", [(0.9, 0, 0), (0, 0.9, 0)])
def test_shared_errors_are_dealt_among_relevant_items_however_few(shared):
    """By chance alone, the rate on ten items would vary by 0.11."""
    gold = make_gold(1, 200, relevant=0.05)
    model = make_model(shared=shared, families={"a": 1.0}, contribution=0.2)
    found = [rates(kt.simulation.simulate_crowd(gold, model, rng=seed), gold)[0] for seed in range(30)]
    assert np.std(found) < 0.06


def test_judges_who_would_do_less_than_one_item_do_one():
    """Half of them would do 0.02 items of ten, the others 2: 1.5 each, for five judges of 40 items."""
    one = make_model(contribution=0.2)
    model = replace(
        one,
        voxel=np.repeat(one.voxel, 2, axis=0),
        share=np.array([0.5, 0.5]),
        mean=np.array([[0.85, 0.75, np.log(0.002)], [0.85, 0.75, np.log(0.2)]]),
        covariance=np.repeat(one.covariance, 2, axis=0),
    )
    assert len(kt.simulation.simulate_crowd(make_gold(4, 10), model, rng=1).judges) == pytest.approx(
        200 / 1.5, rel=0.06
    )


def test_drawn_rates_and_contributions_go_together_as_the_covariance_says():
    spread = np.array([0.01, 0.01, 0.1])
    together = np.array([[1, 0.8, 0.1], [0.8, 1, 0.6], [0.1, 0.6, 1]])
    model = replace(make_model(), covariance=(together * spread * spread[:, None])[None])
    people = draw_judges(model, 20_000, np.random.default_rng(1))
    drawn = people.confusion[:, 1, 1], people.confusion[:, 0, 0], np.log(people.contribution)
    np.testing.assert_allclose(np.corrcoef(drawn), together, atol=0.04)


def test_graded_judges_have_the_rates_drawn_for_them_on_the_balance_of_gold():
    model = replace(
        make_model(hit=0.85, rejection=0.75),
        balance=np.array([0.5, 0.4, 0.1]),
        confusion=np.array([[[0.75, 0.15, 0.1], [0.4, 0.4, 0.2], [0.02, 0.18, 0.8]]]),
        concentration=np.array([50.0]),
    )
    people = draw_judges(model, 2000, np.random.default_rng(1))
    np.testing.assert_allclose(people.confusion.sum(axis=2), 1)
    both = binarise(people.confusion, model.balance)
    rejected = people.confusion[:, :, 0]
    np.testing.assert_allclose(both[:, 1, 0], 0.8 * rejected[:, 1] + 0.2 * rejected[:, 2])
    np.testing.assert_allclose(both[:, 0], np.stack([rejected[:, 0], 1 - rejected[:, 0]], axis=1))
    assert both[:, 1, 1].mean() == pytest.approx(0.85, abs=0.001)
    assert both[:, 1, 1].std() == pytest.approx(0.01, abs=0.001)
    assert both[:, 0, 0].mean() == pytest.approx(0.75, abs=0.001)
