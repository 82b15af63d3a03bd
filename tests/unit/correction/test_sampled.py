"""The estimate from sampled gold, against the formula written out and against what must hold."""

import math

import numpy as np
import pytest

from karatage.correction.sampled import Drawn, Sampled, choose_sizes, draw_batches, find_reach, learn_gains, sum_topics
from karatage.errors import DataError, OptionError
from karatage.kernels.sampling import draw_items

TOPICS = 6


def make_items(rng=0, systems=3, per_topic=12):
    """Weights of systems that each show four items of a topic, a judge's grades, gold, topics."""
    source = np.random.default_rng(rng)
    topic = np.repeat(np.arange(TOPICS), per_topic)
    weight = np.zeros((len(topic), systems))
    for t in range(TOPICS):
        for s in range(systems):
            weight[t * per_topic + source.permutation(per_topic)[:4], s] = 1 / np.log2(np.arange(2, 6))
    gold = source.integers(0, 4, len(topic)).astype(float)
    said = np.clip(gold + source.integers(-1, 2, len(topic)), -1, 3).astype(np.int64)
    return weight, said, gold, topic


def draw(gold, item, pi, batch=None):
    item, pi = np.asarray(item), np.asarray(pi, float)
    return Drawn(item, gold[item], pi, np.ones(len(item), np.int64) if batch is None else np.asarray(batch))


def draw_some(weight, gold, counts, rng=1):
    chosen = draw_batches(choose_sizes(weight), counts, np.random.default_rng(rng))
    return draw(gold, chosen.item, chosen.pi, chosen.batch)


def census(gold):
    return draw(gold, np.arange(len(gold)), np.ones(len(gold)))


def expect_gain(i, said, topic, drawn, factor, folds):
    """What to expect of an item, g(f), one item at a time."""
    rows = [
        (said[j], y, u)
        for j, y, u in zip(drawn.item, drawn.gain, factor, strict=True)
        if topic[j] % folds != topic[i] % folds
    ]
    total = sum(u for _, _, u in rows)
    overall = sum(u * y for _, y, u in rows) / total
    means = {
        c: sum(u * y for f, y, u in rows if f == c) / sum(u for f, _, u in rows if f == c) for c in {r[0] for r in rows}
    }
    within = sum(u * (y - means[f]) ** 2 for f, y, u in rows) / total
    variance = sum(u * (y - overall) ** 2 for f, y, u in rows) / total
    same = [u for f, _, u in rows if f == said[i]]
    if not same:
        return overall
    size = sum(same) ** 2 / sum(u * u for u in same)
    shrink = within / variance
    return (size * means[said[i]] + shrink * overall) / (size + shrink)


@pytest.mark.parametrize("folds", [5, 2])
def test_one_batch_is_the_formula(folds):
    weight, said, gold, topic = make_items()
    drawn = draw_some(weight, gold, [25])
    g = [expect_gain(i, said, topic, drawn, 1 / drawn.pi, folds) for i in range(len(gold))]
    np.testing.assert_allclose(learn_gains(said, topic, drawn, folds=folds), g, rtol=1e-12)
    terms = np.zeros((TOPICS, 3))
    for s in range(3):
        for i in range(len(gold)):
            terms[topic[i], s] += weight[i, s] * g[i]
        for i, y, pi in zip(drawn.item, drawn.gain, drawn.pi, strict=True):
            terms[topic[i], s] += weight[i, s] * (y - g[i]) / pi
    sampled = sum_topics(weight, said, topic, TOPICS, drawn, folds=folds)
    these, new = sampled.differences("these topics"), sampled.differences("new topics")
    for a in range(3):
        for b in range(3):
            gaps, w = terms[:, b] - terms[:, a], weight[:, b] - weight[:, a]
            spread = sum(
                w[i] ** 2 * (1 - pi) * (y - g[i]) ** 2 / pi**2
                for i, y, pi in zip(drawn.item, drawn.gain, drawn.pi, strict=True)
            )
            told = sum(w[i] != 0 and pi < 1 for i, pi in zip(drawn.item, drawn.pi, strict=True))
            assert these.value[a, b] == pytest.approx(gaps.mean(), abs=1e-12)
            assert these.variance[a, b] == pytest.approx(spread / TOPICS**2, abs=1e-15)
            assert these.degrees[a, b] == (told - 1 if a != b else math.inf)
            assert new.variance[a, b] == pytest.approx(gaps.var(ddof=1) / TOPICS, abs=1e-15)
            assert new.degrees[a, b] == TOPICS - 1


def test_batches_are_averaged():
    """The estimate of each batch written out: earlier gold known, its own over its chance; weights by variance."""
    weight, said, gold, topic = make_items(systems=2)
    drawn = draw_some(weight, gold, [8, 12])
    w, size = weight[:, 1] - weight[:, 0], np.abs(weight[:, 1] - weight[:, 0])
    first = drawn.batch == 1
    left = [size.sum(), size.sum() - size[drawn.item[first]].sum()]
    variances = [(left[k] / own.sum()) ** 2 * (1 - drawn.pi[own]).sum() for k, own in enumerate((first, ~first))]
    share = 1 / np.array(variances) / (1 / np.array(variances)).sum()
    factor = np.where(first, share[0] / drawn.pi + share[1], share[1] / drawn.pi)
    g = learn_gains(said, topic, drawn, factor=factor)
    residual, at = drawn.gain - g[drawn.item], drawn.item
    model = (w * g).sum()
    estimates = [
        model + (w[at] * residual / drawn.pi)[first].sum(),
        model + (w[at] * residual)[first].sum() + (w[at] * residual / drawn.pi)[~first].sum(),
    ]
    parts = (w[at] * residual / drawn.pi) ** 2 * (1 - drawn.pi)
    found = sum_topics(weight, said, topic, TOPICS, drawn).differences("these topics")
    assert found.value[0, 1] == pytest.approx(share @ estimates / TOPICS, rel=1e-12)
    expected = share[0] ** 2 * parts[first].sum() + share[1] ** 2 * parts[~first].sum()
    assert found.variance[0, 1] == pytest.approx(expected / TOPICS**2, rel=1e-12)


@pytest.mark.parametrize("claim", ["these topics", "new topics"])
def test_scores_are_differences_to_a_system_that_shows_nothing(claim):
    weight, said, gold, topic = make_items()
    drawn = draw_some(np.c_[weight, np.zeros(len(gold))], gold, [30])
    scores = sum_topics(weight, said, topic, TOPICS, drawn).scores(claim)
    padded = sum_topics(np.c_[weight, np.zeros(len(gold))], said, topic, TOPICS, drawn).differences(claim)
    for score, difference in zip(scores, padded, strict=True):
        np.testing.assert_array_equal(score, difference[-1, :-1])


def test_a_census_is_gold_exactly():
    weight, said, gold, topic = make_items()
    truth = gold @ weight / TOPICS
    terms = [gold[topic == t] @ weight[topic == t] for t in range(TOPICS)]
    sampled = sum_topics(weight, said, topic, TOPICS, census(gold))
    found = sampled.differences("these topics")
    np.testing.assert_allclose(found.value, truth - truth[:, None], atol=1e-14)
    assert (found.variance == 0).all()
    np.testing.assert_allclose(sampled.scores("these topics").value, truth, atol=1e-14)
    new = sampled.differences("new topics").variance[0, 1]
    assert new == pytest.approx(np.subtract(*np.transpose(terms)[:2]).var(ddof=1) / TOPICS)


def test_gold_of_all_that_differs_is_exact_even_if_drawn_by_chance():
    """Of systems 0 and 1 every item that differs was drawn, of 0 and 2 not."""
    weight, said, gold, topic = make_items()
    item = np.flatnonzero(weight[:, 0] != weight[:, 1])
    found = sum_topics(weight, said, topic, TOPICS, draw(gold, item, np.full(len(item), 0.5)))
    value, variance, _ = found.differences("these topics")
    assert value[0, 1] == pytest.approx(gold @ (weight[:, 1] - weight[:, 0]) / TOPICS)
    assert variance[0, 1] == 0
    assert variance[0, 2] > 0
    terms = np.array([gold[topic == t] @ (weight[:, 1] - weight[:, 0])[topic == t] for t in range(TOPICS)])
    assert found.differences("new topics").variance[0, 1] == pytest.approx(terms.var(ddof=1) / TOPICS)
    for table in (found.told, found.untold):
        np.testing.assert_array_equal(table, table.T)


def test_items_that_systems_weigh_alike_need_no_gold():
    weight, said, gold, topic = make_items(systems=2)
    differs = np.flatnonzero(weight[:, 0] != weight[:, 1])
    assert len(differs) < len(gold)
    assert set(draw_some(weight, gold, [1000]).item) == set(differs)
    found = sum_topics(weight, said, topic, TOPICS, draw_some(weight, gold, [1000])).differences("these topics")
    assert found.value[0, 1] == pytest.approx(gold @ (weight[:, 1] - weight[:, 0]) / TOPICS)
    assert found.variance[0, 1] == 0


def test_a_judge_who_never_errs_is_taken_at_its_word():
    weight, _, gold, topic = make_items()
    drawn = draw_some(weight, gold, [40])
    np.testing.assert_allclose(learn_gains(gold.astype(np.int64), topic, drawn), gold, atol=1e-12)
    sampled = sum_topics(weight, gold.astype(np.int64), topic, TOPICS, drawn)
    naive = gold @ weight / TOPICS
    np.testing.assert_allclose(sampled.differences("these topics").value, naive - naive[:, None], atol=1e-12)


def test_a_judge_seen_right_is_not_right_for_sure():
    """The variance is then that of two draws that miss by as much as gold's gains scatter."""
    weight, _, gold, topic = make_items(systems=2)
    drawn = draw_some(weight, gold, [15])
    found = sum_topics(weight, gold.astype(np.int64), topic, TOPICS, drawn).differences("these topics")
    w, mean = (weight[:, 1] - weight[:, 0])[drawn.item], np.average(drawn.gain, weights=1 / drawn.pi)
    scatter = np.average((drawn.gain - mean) ** 2, weights=1 / drawn.pi)
    chance = drawn.pi < 1
    miss = (w**2 * (1 - drawn.pi) / drawn.pi**2)[chance].mean() * scatter
    assert found.variance[0, 1] == pytest.approx(2 * miss / TOPICS**2)


def test_gold_that_is_all_alike_says_nothing_of_its_variance():
    weight, said, gold, topic = make_items(systems=2)
    found = sum_topics(weight, said, topic, TOPICS, draw_some(weight, np.full_like(gold, 0.7), [15]))
    assert found.differences("these topics").variance[0, 1] == math.inf


def test_equal_systems_do_not_differ():
    weight, said, gold, topic = make_items(systems=2)
    weight = np.c_[weight, weight[:, 0]]
    for claim in ("these topics", "new topics"):
        found = sum_topics(weight, said, topic, TOPICS, draw_some(weight, gold, [20])).differences(claim)
        assert found.value[0, 2] == found.variance[0, 2] == 0
        assert found.variance[0, 1] > 0


def test_systems_known_to_tie_do_not_differ_by_rounding():
    """0.1 + 0.2 against 0.3."""
    weight = np.array([[0.1, 0.0], [0.2, 0.0], [0.0, 0.3]])
    drawn = Drawn(np.arange(3), np.ones(3), np.ones(3), np.ones(3, np.int64))
    found = sum_topics(weight, np.zeros(3, np.int64), np.array([0, 0, 1]), 2, drawn).differences("these topics")
    assert found.value[0, 1] == found.variance[0, 1] == 0


@pytest.mark.parametrize("pi", [0.5, 1.0])
def test_less_than_two_draws_tell_nothing(pi):
    """Nothing is certain because nothing was looked at: not with pi = 1 either, where items are left."""
    weight, said, gold, topic = make_items(systems=2)
    differs = np.flatnonzero(weight[:, 0] != weight[:, 1])
    found = sum_topics(weight, said, topic, TOPICS, draw(gold, differs[:1], [pi]))
    for claim in ("these topics", "new topics"):
        assert found.differences(claim).variance[0, 1] == math.inf


def test_a_last_batch_that_takes_the_rest_is_exact():
    weight, said, gold, topic = make_items(systems=2)
    drawn = draw_some(weight, gold, [10, 1000])
    found = sum_topics(weight, said, topic, TOPICS, drawn).differences("these topics")
    assert found.value[0, 1] == pytest.approx(gold @ (weight[:, 1] - weight[:, 0]) / TOPICS)
    assert found.variance[0, 1] == 0


def test_a_batch_of_certain_draws_that_was_no_census_has_no_weight():
    """Three items were judged for sure first; only the second batch was a sample of the others."""
    weight, said, gold, topic = make_items(systems=2)
    chosen = draw_batches(choose_sizes(weight), [12], np.random.default_rng(2), taken=np.array([0, 1, 2]))
    item, pi = np.r_[0, 1, 2, chosen.item], np.r_[1.0, 1.0, 1.0, chosen.pi]
    two = draw(gold, item, pi, np.r_[1, 1, 1, chosen.batch + 1])
    one = draw(gold, item, pi)
    found, same = (sum_topics(weight, said, topic, TOPICS, drawn).differences("these topics") for drawn in (two, one))
    np.testing.assert_allclose(found.value, same.value, rtol=1e-12)
    np.testing.assert_allclose(found.variance, same.variance, rtol=1e-12)


def test_a_batch_that_found_nothing_left_changes_nothing():
    """The first batch took all that tells the two systems apart; the second was drawn for others."""
    weight, said, gold, topic = make_items(systems=2)
    differs, alike = (np.flatnonzero(mask) for mask in (weight[:, 0] != weight[:, 1], weight[:, 0] == weight[:, 1]))
    item = np.r_[differs, alike[:5]]
    batch = np.r_[np.ones(len(differs), np.int64), np.full(5, 2)]
    drawn = draw(gold, item, np.where(batch == 1, 0.7, 0.4), batch)
    found = sum_topics(weight, said, topic, TOPICS, drawn).differences("these topics")
    assert found.value[0, 1] == pytest.approx(gold @ (weight[:, 1] - weight[:, 0]) / TOPICS)
    assert found.variance[0, 1] == 0


def test_own_topic_never_teaches():
    """Changing a topic's gold changes what is expected elsewhere, not there."""
    weight, said, gold, topic = make_items()
    drawn = draw_some(weight, gold, [40])
    other = np.where(topic == 2, 3 - gold, gold)
    before, after = (learn_gains(said, topic, draw(y, drawn.item, drawn.pi)) for y in (gold, other))
    np.testing.assert_array_equal(before[topic == 2], after[topic == 2])
    assert (before[topic == 3] != after[topic == 3]).any()


def test_gold_in_one_fold_is_split_by_topic_and_in_one_topic_by_item():
    said, gold = np.zeros(60, np.int64), np.arange(60.0)
    topic = np.repeat(np.arange(6), 10)
    drawn = draw(gold, [1, 2, 51, 52], [0.5] * 4)  # topics 0 and 5, both in fold 0
    expected = learn_gains(said, topic, drawn)
    np.testing.assert_allclose(expected[[0, 50, 20]], [51.5, 1.5, 26.5])
    drawn = draw(gold, [1, 2, 4], [0.5] * 3)
    np.testing.assert_allclose(learn_gains(said, topic, drawn)[[1, 2, 4, 0]], [3, 2.5, 1.5, 7 / 3])
    np.testing.assert_allclose(learn_gains(said, topic, draw(gold, [7], [0.5]))[[7, 8]], [0, 7])


def test_unjudged_is_a_class_of_its_own():
    weight, said, gold, topic = make_items()
    said = np.where(np.arange(len(said)) % 3 == 0, -1, said)
    gold = np.where(said == -1, 3.0, 0.0)
    expected = learn_gains(said, topic, draw_some(weight, gold, [40]))
    np.testing.assert_allclose(expected, gold, atol=1e-12)


def test_results_do_not_depend_on_the_order_of_draws():
    weight, said, gold, topic = make_items()
    drawn = draw_some(weight, gold, [10, 20])
    order = np.random.default_rng(0).permutation(30)
    shuffled = Drawn(drawn.item[order], drawn.gain[order], drawn.pi[order], drawn.batch[order])
    one, two = (sum_topics(weight, said, topic, TOPICS, d).differences("these topics") for d in (drawn, shuffled))
    np.testing.assert_allclose(one.value, two.value, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(one.variance, two.variance, rtol=1e-12)


def test_reach_tells_for_whom_gold_was_drawn():
    weight, _, gold, _ = make_items(systems=3)
    own, other = weight[:, 1] - weight[:, 0], weight[:, 2] - weight[:, 0]
    drawn = draw_some(weight[:, :2], gold, [10, 10])
    np.testing.assert_allclose(find_reach(np.abs(own), drawn, fixed=True).share, 1, atol=0.15)
    size, first = np.abs(other), drawn.batch == 1
    reach = find_reach(size, drawn, fixed=False)
    at, pi = drawn.item[~first], drawn.pi[~first]
    left = size.sum() - size[drawn.item[first]].sum()
    assert reach.share[1] == pytest.approx((size[at] / pi).sum() / left)
    whole = find_reach(np.abs(own), draw_some(weight[:, :2], gold, [1000]), fixed=True)
    np.testing.assert_allclose([whole.share[0], whole.evidence[0]], [1, 0])


@pytest.mark.parametrize(("times", "fixed", "evidence"), [(3, True, np.log(3)), (3, False, np.log(3) - 2 / 3)])
def test_evidence_against_chances_too_small_is_what_theory_says(times, fixed, evidence):
    """Of 300 items 40 were drawn alike. E prod(1 + b r) is at most its bound; the best bet has a closed form."""
    chance = 40 / 300
    drawn = Drawn(np.arange(40), np.arange(40.0), np.full(40, chance / times), np.ones(40, np.int64))
    reach = find_reach(np.ones(300), drawn, fixed=fixed)
    assert reach.share[0] == pytest.approx(times)
    assert reach.evidence[0] == pytest.approx(40 * evidence, rel=0.01)


@pytest.mark.parametrize("fixed", [True, False])
def test_chances_that_are_right_are_seldom_doubted(fixed):
    """More than log(20) with probability 1/20 at most, for draws of a fixed number or each by itself."""
    rng = np.random.default_rng(3)
    size = rng.exponential(1, 400) + 0.1
    other = size * rng.uniform(0.3, 3, 400)  # chances need not follow the size that is added up
    pi = 40 * other / other.sum()
    doubted = 0
    for _ in range(400):
        taken = np.flatnonzero(draw_items(pi, rng) if fixed else rng.random(400) < pi)
        drawn = Drawn(taken, np.ones(len(taken)), pi[taken], np.ones(len(taken), np.int64))
        doubted += find_reach(size, drawn, fixed=fixed).evidence[0] > np.log(20)
    assert doubted / 400 < 0.05


def test_all_chances_of_one_are_doubted_unless_nothing_is_left():
    drawn = Drawn(np.arange(40), np.arange(40.0), np.ones(40), np.ones(40, np.int64))
    assert find_reach(np.ones(40), drawn, fixed=True).evidence[0] == 0
    reach = find_reach(np.ones(80), drawn, fixed=True)
    assert reach.share[0] == 0.5
    assert np.isinf(reach.evidence[0])


@pytest.mark.parametrize(
    ("item", "pi", "message"),
    [
        ([], [], r"\bdrawn\b.*\bgrade\b"),
        ([1, 1], [0.5, 0.5], "twice"),
        ([1, 2], [0.5, 0.0], r"\b0\b.*\b2\b"),
        ([1, 2], [1.5, 0.5], r"\b1\.5\b.*\b1\b"),
        ([1, 2], [0.5, np.nan], "nan"),
        ([1, 2], [0.5], "gain"),
    ],
)
def test_draws_are_checked(item, pi, message):
    item = np.array(item, np.int64)
    with pytest.raises(DataError, match=message):
        Drawn(item, np.zeros(len(item)), np.array(pi), np.ones(len(item), np.int64))


def test_samples_that_cannot_be_are_refused():
    weight, said, gold, topic = make_items()
    with pytest.raises(OptionError, match=r"\b2\b.*folds.*\b1\b"):
        learn_gains(said, topic, census(gold), folds=1)
    alone: Sampled = sum_topics(weight, said, np.zeros_like(topic), 1, draw_some(weight, gold, [20]))
    assert np.isfinite(alone.differences("these topics").variance).all()
    with pytest.raises(DataError, match="topics"):
        alone.differences("new topics")


@pytest.mark.parametrize("chance", [1, 2])
def test_certain_draws_tell_nothing_of_what_chance_does(chance):
    """Two draws by chance are the least that has a variance; any number of certain ones adds no degree of freedom."""
    weight, said, gold, topic = make_items(systems=2)
    differs = np.flatnonzero(weight[:, 0] != weight[:, 1])
    pi = np.r_[np.full(chance, 0.5), np.ones(10)]
    sampled = sum_topics(weight, said, topic, TOPICS, draw(gold, differs[: chance + 10], pi))
    found = sampled.differences("these topics")
    assert sampled.told[0, 1] == chance
    assert (found.variance[0, 1] == math.inf) == (chance == 1)
    assert found.degrees[0, 1] == 1


def test_gold_from_batches_after_the_last_useful_one_counts_as_it_is():
    """Batches 2 and 3 found nothing left that tells the two apart; what they graded is known all the same."""
    weight = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]])
    gold, topic = np.array([3.0, 1.0, 2.0, 3.0, 0.0]), np.array([0, 0, 0, 0, 1])
    drawn = draw(gold, [0, 1, 2, 3], np.ones(4), [1, 1, 2, 3])
    found = sum_topics(weight, np.zeros(5, np.int64), topic, 2, drawn)
    np.testing.assert_allclose(found.term[0, :2], gold[:4] @ weight[:4])


@pytest.mark.parametrize("claim", ["these topics", "new topics"])
def test_factors_that_are_as_likely_add_the_variance_of_their_means(claim):
    weight, said, gold, topic = make_items()
    drawn = draw_some(weight, gold, [30])
    factors = np.random.default_rng(2).gamma(20, 1 / 20, (50, TOPICS))
    factors /= factors.mean(axis=0)
    plain = sum_topics(weight, said, topic, TOPICS, drawn)
    found = sum_topics(weight, said, topic, TOPICS, drawn, factors=factors)
    moved = factors @ plain.term / TOPICS  # (draw, system): what the scores would be
    for a in range(3):
        assert found.scores(claim).variance[a] - plain.scores(claim).variance[a] == pytest.approx(
            moved[:, a].var(ddof=1)
        )
        for b in range(a):
            more = found.differences(claim).variance[a, b] - plain.differences(claim).variance[a, b]
            assert more == pytest.approx((moved[:, b] - moved[:, a]).var(ddof=1))
    np.testing.assert_allclose(found.differences(claim).value, plain.differences(claim).value)


def test_later_batches_may_have_been_drawn_for_some_pairs_only():
    """Rare items may be missing then, so that the same draws are less evidence of chances that are too large."""
    size = np.r_[0.0, np.ones(100)]
    item, gain = np.arange(11), np.zeros(11)
    reach = [
        find_reach(size, Drawn(item, gain, np.full(11, 0.5), np.r_[1, np.full(10, batch)]), fixed=False)
        for batch in (1, 2)
    ]
    np.testing.assert_allclose([found.share[-1] for found in reach], 10 / 0.5 / 100)
    for found, most in zip(reach, (10, 2 / 0.1), strict=True):  # an item may count 100/10, or 10 times 2
        bet = 0.9 / most
        assert found.evidence[-1] == pytest.approx(10 * math.log1p(-2 * bet) + 100 * bet)


def test_few_draws_are_few_degrees_of_freedom_however_many_topics():
    weight, said, gold, topic = make_items()
    apart = np.flatnonzero(weight[:, 0] != weight[:, 1])
    for draws, these, new in ((3, 2, 2), (6, 5, 5), (20, 19, TOPICS - 1)):
        found = sum_topics(weight, said, topic, TOPICS, draw(gold, apart[:draws], np.full(draws, 0.2)))
        assert found.differences("these topics").degrees[0, 1] == these
        assert found.differences("new topics").degrees[0, 1] == new
