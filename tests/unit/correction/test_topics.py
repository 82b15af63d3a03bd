"""Topic scores: the formulas by hand and by leaving out, and what must hold exactly."""

import numpy as np
import pytest
from scipy import stats

from karatage.correction.topics import FEWEST_TOPICS, LEAST_TOPICS, estimate_topics
from karatage.errors import DataError, OptionError


def draw(n, others, seed=1, slope=0.6):
    source = np.random.default_rng(seed)
    judge, rest = source.normal(0.1, 0.2, n), source.normal(0.15, 0.2, others)
    return slope * judge + source.normal(0.02, 0.1, n), judge, rest


def reliance(gold, judge, others):
    slope = np.cov(gold, judge)[0, 1] / judge.var(ddof=1) if np.ptp(judge) > 0 else 0.0
    return min(max(slope / (1 + len(gold) / others), 0.0), 1.0)


def brute_force(gold, judge, rest, claim):
    """The definition, topic by topic: value, variance, degrees, lam."""
    n, others = len(gold), len(rest)
    everywhere = np.concatenate([judge, rest])
    lam = reliance(gold, judge, others)
    value = gold.mean() + lam * (rest.mean() - judge.mean())
    left_out = []
    for t in range(n):
        y, f = np.delete(gold, t), np.delete(judge, t)
        if claim == "new":
            left_out.append(y.mean() + reliance(y, f, others) * (rest.mean() - f.mean()))
        else:
            slope = np.clip(np.polyfit(f, y, 1)[0], 0, 1 + n / others)
            left_out.append(y.mean() + slope * (everywhere.mean() - f.mean()))
    near = (n - 1) / n * ((left_out - np.mean(left_out)) ** 2).sum()
    if claim == "these":
        return value, near * (1 - n / (n + others)), n - 2, lam
    far = lam**2 * everywhere.var(ddof=1) / others
    return value, near + far, (near + far) ** 2 / (near**2 / (n - 2) + far**2 / (n + others - 1)), lam


@pytest.mark.parametrize("claim", ["new", "these"])
@pytest.mark.parametrize("slope", [0.6, -0.4, 2.5])  # inside, below and above the limits of lam
@pytest.mark.parametrize(("n", "others"), [(10, 1), (12, 40), (40, 13)])
def test_estimate_matches_the_definition(claim, slope, n, others):
    scores = draw(n, others, slope=slope)
    np.testing.assert_allclose(estimate_topics(*scores, claim=claim)[:4], brute_force(*scores, claim), rtol=1e-9)


def test_by_hand_with_a_given_lam():
    """lam 1/2: gold - judge / 2 = (0, 1, 2) has variance 1; judge and rest (2, 2, 2, 4, 4) have variance 1.2."""
    found = estimate_topics([1, 2, 3], [2, 2, 2], [4, 4], lam=0.5)
    assert found.value == pytest.approx(2 + 0.5 * 2)
    assert found.variance == pytest.approx(1 / 3 + 0.25 * 1.2 / 2)
    assert found.degrees == pytest.approx((1 / 3 + 0.15) ** 2 / ((1 / 3) ** 2 / 2 + 0.15**2 / 4))
    assert found.lam == 0.5


def test_by_hand_with_a_given_lam_for_these_topics():
    """The same in the population of 5: a slope of 5/6 on the judge's mean, and two fifths of the variance are left."""
    found = estimate_topics([1, 2, 6], [2, 2, 5], [4, 4], claim="these", lam=0.5)
    residual = np.array([1, 2, 6]) - np.array([2, 2, 5]) * 0.5 * 5 / 2
    assert found.value == pytest.approx(3 + 0.5 * (4 - 3))
    assert found.variance == pytest.approx(residual.var(ddof=1) / 3 * 2 / 5)
    assert found.degrees == 2


@pytest.mark.parametrize("claim", ["new", "these"])
def test_a_given_lam_needs_no_estimate_of_it(claim):
    """With lam given the jackknife is the plain variance of the residuals; with the same lam estimated it is larger."""
    gold, judge, rest = draw(14, 30)
    estimated = estimate_topics(gold, judge, rest, claim=claim)
    given = estimate_topics(gold, judge, rest, claim=claim, lam=float(estimated.lam))
    weight = estimated.lam if claim == "new" else estimated.lam * 44 / 30
    near = (gold - weight * judge).var(ddof=1) / 14 * (1 if claim == "new" else 30 / 44)
    far = estimated.lam**2 * np.concatenate([judge, rest]).var(ddof=1) / 30 if claim == "new" else 0
    assert given.variance == pytest.approx(near + far, rel=1e-12)
    assert given.value == estimated.value
    assert estimated.variance > given.variance
    assert estimated.degrees < given.degrees


def test_gold_only_is_the_t_test():
    gold, judge, rest = draw(20, 30)
    found = estimate_topics(gold, judge, rest, lam=0)
    test = stats.ttest_1samp(gold, 0)
    assert found.value / np.sqrt(found.variance) == pytest.approx(test.statistic, rel=1e-12)
    assert found.degrees == pytest.approx(test.df, rel=1e-12)
    assert found.lam == 0


def test_gold_only_of_these_topics_has_the_finite_population_correction():
    gold, judge, rest = draw(20, 30)
    found = estimate_topics(gold, judge, rest, claim="these", lam=0)
    assert found.variance == pytest.approx(gold.var(ddof=1) / 20 * (1 - 20 / 50), rel=1e-12)
    assert found.degrees == 19


@pytest.mark.parametrize("lam", [None, 0.7])
def test_without_other_topics_gold_is_all(lam):
    gold, judge, _ = draw(20, 30)
    new, these = (estimate_topics(gold, judge, [], claim=claim, lam=lam) for claim in ("new", "these"))
    assert new.value == these.value == gold.mean()
    assert new.variance == pytest.approx(gold.var(ddof=1) / 20, rel=1e-12)
    assert new.degrees == pytest.approx(19)
    assert these.variance == 0
    assert new.lam == these.lam == 0


@pytest.mark.parametrize("claim", ["new", "these"])
def test_a_constant_judge_is_not_relied_on(claim):
    gold, _, rest = draw(20, 30)
    constant = np.full(20, 0.1) + np.arange(20) % 3 * 1e-17
    found = estimate_topics(gold, constant, rest, claim=claim)
    np.testing.assert_allclose(found, estimate_topics(gold, constant, rest, claim=claim, lam=0), rtol=1e-12)
    assert found.lam == 0


def test_a_perfect_judge_gives_the_naive_result():
    """Exact for these topics; for new ones, the mean over all of them, of which gold's have the weight that is left."""
    _, judge, rest = draw(20, 30)
    everywhere = np.concatenate([judge, rest])
    these, new = estimate_topics(judge, judge, rest, claim="these"), estimate_topics(judge, judge, rest)
    assert these.value == pytest.approx(everywhere.mean(), rel=1e-12)
    assert these.variance == 0
    assert new.lam == pytest.approx(30 / 50)
    assert new.value == these.value
    near, far = (19 / 49) ** 2 * judge.var(ddof=1) / 20, (30 / 50) ** 2 * everywhere.var(ddof=1) / 30
    assert new.variance == pytest.approx(near + far, rel=1e-9)


@pytest.mark.parametrize("claim", ["new", "these"])
def test_identical_systems_differ_by_nothing(claim):
    found = estimate_topics(np.zeros(12), np.zeros(12), np.zeros(30), claim=claim)
    assert (found.value, found.variance, found.lam) == (0, 0, 0)
    assert np.isfinite(found.degrees)


@pytest.mark.parametrize("claim", ["new", "these"])
def test_one_topic_where_the_judge_sees_a_difference(claim):
    """Without it the judge's scores are equal, so leaving it out leaves gold only."""
    judge = np.zeros(12)
    judge[3] = 0.3
    gold = np.linspace(-1, 1, 12)
    gold[3] = 1.5
    found = estimate_topics(gold, judge, np.zeros(30), claim=claim)
    assert np.isfinite(found.variance)
    assert found.variance > 0


def test_very_few_gold_topics_do_without_the_judge():
    scores = draw(FEWEST_TOPICS - 1, 40)
    np.testing.assert_array_equal(estimate_topics(*scores), estimate_topics(*scores, lam=0))


@pytest.mark.parametrize("slope", [0.6, -0.4, 2.5])
@pytest.mark.parametrize(("n", "others"), [(5, 48), (9, 1), (9, 200)])
def test_few_gold_topics_take_lam_for_granted(n, others, slope):
    """A regression with slope 3/4, for which these topics' judged mean is known: the difference estimator."""
    gold, judge, rest = draw(n, others, slope=slope)
    everywhere = np.concatenate([judge, rest])
    these, new = (estimate_topics(gold, judge, rest, claim=claim) for claim in ("these", "new"))
    residual = gold - 0.75 * judge
    assert these.value == pytest.approx(residual.mean() + 0.75 * everywhere.mean(), rel=1e-12)
    assert these.variance == pytest.approx(residual.var(ddof=1) / n * others / (n + others), rel=1e-12)
    assert these.degrees == n - 1
    lam = 0.75 * others / (n + others)
    assert new.lam == these.lam == pytest.approx(lam, rel=1e-12)
    near, far = (gold - lam * judge).var(ddof=1) / n, lam**2 * everywhere.var(ddof=1) / others
    assert new.value == these.value
    assert new.variance == pytest.approx(near + far, rel=1e-9)
    assert new.degrees == pytest.approx((near + far) ** 2 / (near**2 / (n - 1) + far**2 / (n + others - 1)), rel=1e-9)


@pytest.mark.parametrize("claim", ["new", "these"])
def test_with_few_gold_topics_a_difference_is_that_of_the_scores(claim):
    """All systems and pairs of a board share one lam."""
    source = np.random.default_rng(2)
    gold, judge, rest = (source.random((6, topics)) for topics in (7, 7, 40))  # (system, topic)
    single = estimate_topics(gold, judge, rest, claim=claim).value
    pairs = estimate_topics(*(scores - scores[:, None] for scores in (gold, judge, rest)), claim=claim)
    np.testing.assert_allclose(pairs.value, single - single[:, None], atol=1e-14)
    assert (np.asarray(pairs.variance)[~np.eye(6, dtype=bool)] > 0).all()
    np.testing.assert_allclose(pairs.variance, np.asarray(pairs.variance).T)


def test_lam_is_estimated_from_ten_gold_topics_on():
    for n in (LEAST_TOPICS - 1, LEAST_TOPICS):
        lam = [float(np.asarray(estimate_topics(*draw(n, 40, seed)).lam)) for seed in range(5)]
        assert (np.ptp(lam) > 0.1) == (n == LEAST_TOPICS)


def test_few_gold_topics_without_a_difference_are_no_certainty():
    """Judges see differences elsewhere, so that new topics will have some."""
    found = estimate_topics(np.zeros(6), np.zeros(6), np.arange(30) % 2)
    assert found.value > 0
    assert found.variance > 0


@pytest.mark.parametrize("n", [4, 7, 12])
@pytest.mark.parametrize("claim", ["new", "these"])
def test_many_at_once_equal_one_by_one(claim, n):
    many = [draw(n, 30, seed) for seed in range(6)]
    gold, judge, rest = (np.stack(part).reshape(2, 3, -1) for part in zip(*many, strict=True))
    found = estimate_topics(gold, judge, rest, claim=claim)
    assert all(np.shape(part) == (2, 3) for part in found)
    for k, scores in enumerate(many):
        alone = estimate_topics(*scores, claim=claim)
        np.testing.assert_allclose([part[k // 3, k % 3] for part in found], alone, rtol=1e-12)


def test_topics_on_which_the_judge_errs_are_counted():
    gold, judge = np.arange(12) / 10, np.arange(12) / 10
    judge[[2, 7]] += [0.1, 1e-15]
    assert estimate_topics(gold, judge, [0.1, 0.2]).differing == 1


def test_leading_axes_are_broadcast():
    gold, judge, rest = draw(12, 30)
    found = estimate_topics(np.stack([gold, gold + 1]), judge, rest)
    np.testing.assert_allclose(found.value[1] - found.value[0], 1)
    np.testing.assert_allclose(found.variance[0], found.variance[1])
    found = estimate_topics(gold, judge, np.stack([rest, rest + 1]))
    np.testing.assert_allclose(found.value[1] - found.value[0], found.lam[0])
    assert all(np.shape(part) == (2,) for part in found)


@pytest.mark.parametrize("claim", ["new", "these"])
def test_units_do_not_matter(claim):
    gold, judge, rest = draw(12, 30)
    one, other = (estimate_topics(k * gold, k * judge, k * rest, claim=claim) for k in (1, -1e-6))
    np.testing.assert_allclose(other.value, -1e-6 * one.value)
    np.testing.assert_allclose(other.variance, 1e-12 * one.variance)
    np.testing.assert_allclose(other[2:], one[2:])


def test_inputs_are_left_alone():
    scores = draw(12, 30)
    before = [part.copy() for part in scores]
    estimate_topics(*scores)
    for part, old in zip(scores, before, strict=True):
        np.testing.assert_array_equal(part, old)


@pytest.mark.parametrize(
    ("scores", "options", "error", "message"),
    [
        (([1, 2, 3], [1, 2], [1]), {}, DataError, r"\(3,\).*\(2,\)"),
        (([1], [2], [1]), {}, DataError, r"\b1\b.*\b2\b.*topics"),
        (([1, np.nan], [2, 1], [1]), {}, DataError, "finite"),
        (([1, 2], [2, 1], [np.inf]), {}, DataError, "finite"),
        (([1, 2], [2, 1], [1]), {"lam": 1.5}, OptionError, r"\b1\.5\b"),
        (([1, 2], [2, 1], [1]), {"claim": "all"}, OptionError, None),
    ],
)
def test_what_cannot_be_estimated_is_refused(scores, options, error, message):
    with pytest.raises(error, match=message):
        estimate_topics(*scores, **options)
