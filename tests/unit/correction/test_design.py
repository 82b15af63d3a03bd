"""Gold's design: kinds on tiny pools, and correlations as an analysis of variance has them."""

import numpy as np
import pytest
from scipy import stats

import karatage as kt
from karatage.correction.design import (
    errors_given_gold,
    find_whole_topics,
    intraclass_correlation,
    read_design,
    variance_factor,
)
from karatage.data.judgments import find_items
from karatage.errors import DataError
from tests.notes import gives


def design(count, pool, error=None, **options):
    """Gold with so many items per topic of a pool with so many."""
    topic = np.repeat(np.arange(len(count)), count)
    wrong = np.zeros(len(topic)) if error is None else error
    return read_design(topic, wrong, np.array(pool), **options)


def huddled(topics, each, pool=(40,) * 50, spread=1.0, seed=2):
    """Gold of some topics, with errors that go together within topics."""
    source = np.random.default_rng(seed)
    count = [each] * topics + [0] * (len(pool) - topics)
    error = np.repeat(source.normal(0, spread, topics), each) + source.normal(0, 1, topics * each)
    return design(count, pool, error)


def test_correlation_by_hand():
    """Topics (1, 3), (5): means 2 and 5 around 3; between 6 / 1, within 2 / 1, m0 = (3 - 5/3) / 1 = 4/3."""
    assert intraclass_correlation(np.array([7, 7, 9]), [1, 3, 5]) == pytest.approx((6 - 2) / (6 + 2 / 3))


def test_correlation_is_that_of_the_analysis_of_variance():
    """ICC = (F - 1) / (F - 1 + m0), F from scipy and m0 the size that unequal topics amount to."""
    source = np.random.default_rng(3)
    sizes = np.array([2, 5, 1, 9, 4])
    topic = np.repeat(np.arange(5), sizes)
    error = source.normal(size=21) + source.normal(size=5)[topic]
    f = stats.f_oneway(*(error[topic == t] for t in range(5))).statistic
    m0 = (21 - (sizes**2).sum() / 21) / 4
    assert intraclass_correlation(topic, error) == pytest.approx((f - 1) / (f - 1 + m0), rel=1e-12)
    shuffled = source.permutation(21)
    assert intraclass_correlation(topic[shuffled], error[shuffled]) == pytest.approx((f - 1) / (f - 1 + m0), rel=1e-12)


def test_balanced_correlation_is_that_of_a_mixed_model():
    """With topics of one size the restricted likelihood has the same answer."""
    mixedlm = pytest.importorskip("statsmodels.regression.mixed_linear_model")
    source = np.random.default_rng(4)
    topic = np.repeat(np.arange(12), 6)
    error = source.normal(size=72) + source.normal(size=12)[topic]
    fitted = mixedlm.MixedLM(error, np.ones((72, 1)), topic).fit(reml=True)
    expected = fitted.cov_re.item() / (fitted.cov_re.item() + fitted.scale)
    assert intraclass_correlation(topic, error) == pytest.approx(expected, abs=1e-4)


def test_correlation_at_its_limits():
    topic = np.array([0, 0, 1, 1])
    assert intraclass_correlation(topic, [1, 1, 0, 0]) == 1
    assert intraclass_correlation(topic, [1, 0, 1, 0]) == -1
    assert intraclass_correlation(topic, [1, 1, 1, 1]) == 0
    assert np.isnan(intraclass_correlation(np.array([0, 0, 0]), [1, 0, 1]))  # one topic
    assert np.isnan(intraclass_correlation(np.array([0, 1, 2]), [1, 0, 1]))  # no two items of one
    assert np.isnan(intraclass_correlation(np.array([], int), []))


def test_errors_are_centred_within_gold_grades():
    gold, said = np.array([0, 2, 0, 2, 3]), [1, 2, 0, 0, 3]
    np.testing.assert_allclose(errors_given_gold(gold, said), [0.5, 1, -0.5, -1, 0])


def test_census_is_told():
    found = design([3, 2], [3, 2])
    assert (found.kind, found.clustered, found.items, found.topics) == ("census", False, 5, 2)
    assert gives(found.sentence, 5, 2, "pool")
    assert design([0, 2], [0, 2]).kind == "census"  # a topic without a pool does not count


def test_nearly_all_is_whole():
    assert find_whole_topics(np.array([95, 94, 0, 1]), np.array([100, 100, 0, 1])).tolist() == [
        True,
        False,
        False,
        True,
    ]
    assert design([95, 99], [100, 100]).kind == "census"
    assert design([95, 94], [100, 100]).kind == "items"


def test_whole_topics_are_told_and_clustered():
    found = design([3, 0, 2, 0], [3, 4, 2, 5])
    assert (found.kind, found.clustered, found.topics, found.pool_topics) == ("topics", True, 2, 4)
    assert gives(found.sentence, 5, 2, 4)


def test_a_plain_sample_is_told():
    found = design([2, 1, 0, 2], [10, 10, 10, 10], np.array([0, 1, 0, 1, 0]))
    assert (found.kind, found.clustered) == ("items", False)
    assert gives(found.sentence, 5, 3, 4, "pi", 1.7)
    assert found.items_per_topic == pytest.approx((4 + 1 + 4) / 5)


def test_pi_makes_it_a_drawn_sample():
    found = design([3, 0], [3, 4], pi=[0.5, 1, 0.1])
    assert (found.kind, found.clustered) == ("sampled", False)
    assert gives(found.sentence, "pi")


def test_crowding_by_hand():
    """8 items of topic 0 of 4 alike: 8 ((3/4)^2 + 3 / 16) = 6; in the pool's shares or evenly spread: 0."""
    assert design([8, 0, 0, 0], [10] * 4).crowding == pytest.approx(6)
    assert design([1, 2, 3], [10, 20, 30]).crowding == pytest.approx(0)
    assert design([2, 2, 2], [10, 20, 30]).crowding == pytest.approx(0)
    assert design([8, 0], [10, 20]).crowding == pytest.approx(8 * 0.5)  # an even spread is nearer than the pool's


def test_crowding_is_1_for_a_random_sample():
    source = np.random.default_rng(5)
    pool = source.integers(80, 340, 53)
    items = np.repeat(np.arange(53), pool)
    found = [
        read_design(source.choice(items, size, replace=False), np.zeros(size), pool).crowding
        for size in (50, 100, 200) * 30
    ]
    assert np.mean(found) == pytest.approx(0.95, abs=0.1)
    assert np.max(found) < 2


def test_design_effect_multiplies_variance_but_never_divides_it():
    found = huddled(20, 10)
    assert found.design_effect == 1 + (found.crowding - 1) * found.icc
    assert found.variance_factor == found.design_effect > 2
    assert variance_factor(5, -0.1) == variance_factor(5, np.nan) == variance_factor(0.5, 0.4) == 1


@pytest.mark.parametrize(("topics", "each"), [(8, 25), (8, 3), (1, 20), (20, 20)])
def test_gold_of_few_topics_is_clustered(topics, each):
    assert huddled(topics, each).clustered


def test_few_topics_are_clustered_whatever_the_errors():
    """Nine topics cannot show that errors do not go together; twelve can, or at least are taken to."""
    assert huddled(9, 10, spread=0).clustered
    assert not huddled(12, 10, spread=0).clustered


@pytest.mark.parametrize(
    ("topics", "each", "pool"),
    [
        (50, 10, (40,) * 50),  # all topics have gold
        (6, 1, (40,) * 50),  # few items, not many items of few topics
        (8, 20, (40,) * 8),  # the pool has no more topics
    ],
)
def test_evenly_spread_gold_is_not_clustered(topics, each, pool):
    assert not huddled(topics, each, pool).clustered


def test_gold_outside_the_pool_is_counted_and_left_out():
    found = read_design(np.array([-1, 0, 0, 1, -1]), np.array([np.nan, 1, 0, 1, 9]), np.array([5, 5]))
    alone = read_design(np.array([0, 0, 1]), np.array([1, 0, 1]), np.array([5, 5]))
    assert (found.items, found.outside, found.icc) == (3, 2, alone.icc)
    assert found.sentence.startswith(alone.sentence)
    assert gives(found.sentence.removeprefix(alone.sentence), 2)


@pytest.mark.parametrize("topic", [[], [-1, -1]])
def test_no_gold_in_the_pool(topic):
    found = read_design(np.array(topic, int), np.zeros(len(topic)), np.array([5, 5]))
    assert (found.kind, found.items, found.topics, found.clustered) == ("items", 0, 0, False)
    assert found.outside == len(topic)


@pytest.mark.parametrize(
    ("topic", "error", "pi", "message"),
    [
        ([0, 1], [0.0], None, r"\(2,\).*\(1,\)"),
        ([0, 5], [0.0, 1.0], None, r"pool.*\b2\b"),
        ([0, 1], [0.0, np.nan], None, "finite"),
        ([0, 0, 0], [0.0, 0.0, 1.0], None, r"pool.*\b0\b"),
        ([0, 1], [0.0, 1.0], [0.0, 0.5], r"^pi .*\b0\b.*\b1\b"),
        ([0, 1], [0.0, 1.0], [0.5], r"^pi "),
    ],
)
def test_what_contradicts_itself_is_refused(topic, error, pi, message):
    with pytest.raises(DataError, match=message):
        read_design(np.array(topic), error, np.array([2, 2]), pi=pi)


def read_judge(folder, name, least):
    """DL 2021: each item's topic, whether it is relevant to gold and to a judge, and the pool's sizes."""
    gold = kt.read_gold(folder / "gold.qrels")
    labels = kt.read_judgments(folder / "llm_labels.tsv.gz")
    chosen = labels.judge == labels.judges.index(name)
    item = find_items(labels, gold)[labels.item[chosen]]
    said = np.zeros(len(gold.item_topic), bool)
    said[item[item >= 0]] = labels.grade[chosen][item >= 0] >= least
    relevant = np.zeros(len(said), int)
    relevant[gold.item] = gold.grade >= 2
    return gold.item_topic, relevant, said, np.bincount(gold.item_topic)


@pytest.mark.parametrize(("name", "least"), [("gpt-4o_umbrela", 2), ("llama3.2_binary", 1)])
def test_designs_on_real_judgments(shared_data, name, least):
    """Eight topics, whole or in part, are always caught; random samples of all topics never are."""
    topic, gold, said, pool = read_judge(shared_data / "trec-dl-2021-passage", name, least)
    source = np.random.default_rng(6)

    def read(item):
        return read_design(topic[item], errors_given_gold(gold[item], said[item]), pool)

    for size in (100, 200, 400):
        found = [read(source.choice(len(topic), size, replace=False)) for _ in range(100)]
        assert not any(design.clustered for design in found)
        assert max(design.variance_factor for design in found) < 1.3
        assert {design.kind for design in found} == {"items"}
    for each in (None, 25):
        for _ in range(50):
            chosen = source.choice(len(pool), 8, replace=False)
            items = [source.permutation(np.flatnonzero(topic == t))[:each] for t in chosen]
            found_here = read(np.concatenate(items))
            assert found_here.clustered
            assert found_here.kind == ("topics" if each is None else "items")
