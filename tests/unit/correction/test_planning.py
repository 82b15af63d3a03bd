"""Numbers of topics and gold items: the paper's figures, substitution back into the variance, least cost by search."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

import karatage as kt
from karatage.correction.planning import (
    Sizes,
    UnitPrices,
    afford,
    cheapest_split,
    find_cost,
    find_sizes,
    find_variance,
    gold_needed,
    independent_terms,
    required_z,
    round_up,
    shared_terms,
    smallest_difference,
    spread_evenly,
    topics_without_errors,
)
from karatage.correction.precision import compare_shared, correct, correct_variance
from karatage.errors import DataError
from tests.notes import gives, has_note

EBAY = kt.Figures(10278, 0.6260, 0.414), kt.Figures(20604, 0.6385, 0.402)
EBAY_RATES = kt.RateCounts(43, 59, 67, 84)
TREC = kt.Figures(50, 0.527, 0.240), kt.Figures(50, 0.513, 0.260)
TREC_RATES = kt.RateCounts(17, 38, 216, 262), kt.RateCounts(14, 50, 230, 285)
OWN_RATES = kt.RateCounts(90, 100, 70, 100), kt.RateCounts(80, 100, 85, 100)
Z = stats.norm.ppf(0.975)


def substitute(plan, a, b, rates):
    """z by [NOISY18] (7) and (10), or by the shared form, with the numbers of a plan."""
    n = plan.topics
    if isinstance(rates, tuple):
        variance = sum(
            correct_variance(s.deviation**2 / n, s.mean, r.m_r, r.m_n, n_r, n_n)
            for s, r, n_r, n_n in zip((a, b), rates, plan.gold_relevant, plan.gold_other, strict=True)
        )
        first, second = (correct(s.mean, r.m_r, r.m_n) for s, r in zip((a, b), rates, strict=True))
        return abs(second - first) / np.sqrt(variance)
    v = (a.deviation**2 + b.deviation**2) / n
    gold = plan.gold_relevant[0], plan.gold_other[0]
    found = compare_shared(b.mean - a.mean, v, rates.m_r, rates.m_n, *gold)
    return abs(found.value) / np.sqrt(found.variance)


def test_topics_without_errors_on_the_paper_s_figures():
    """[NOISY18] (26) and Table 4: 2453.8, which the paper cuts to 2453."""
    assert topics_without_errors(0.240, 0.260, 0.014) == 2454
    assert topics_without_errors(0.240, 0.260, 0.014, power=0.8) == math.ceil(2453.83 * ((Z + 0.8416212) / Z) ** 2)
    assert topics_without_errors(0.240, 0.260, 0.014, level=0.01) == math.ceil(2453.83 * (2.5758293 / Z) ** 2)
    assert topics_without_errors(0.3, 0.4, 0.0) == math.inf
    np.testing.assert_array_equal(topics_without_errors([0.24, 0.0], [0.26, 0.0], [[0.014], [0.0]])[0], [2454, 0])
    n = topics_without_errors(0.240, 0.260, 0.014)
    assert 0.014 / np.sqrt((0.240**2 + 0.260**2) / n) >= Z > 0.014 / np.sqrt((0.240**2 + 0.260**2) / (n - 1))


def test_topics_without_errors_have_the_power_asked_for():
    rng = np.random.default_rng(1)
    n = int(topics_without_errors(0.3, 0.4, 0.1, power=0.8))
    x, y = rng.normal(0.5, 0.3, (4000, n)), rng.normal(0.6, 0.4, (4000, n))
    share = (stats.ttest_ind(x, y, axis=1, equal_var=False).pvalue < 0.05).mean()
    assert share == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / 4000))


def plain_sizes(a, b, rates, f):
    """[NOISY18] (31) as printed, one line each, at level 0.05."""
    (ra, rb), (v_a, v_b) = rates, (a.deviation**2, b.deviation**2)
    m_a, m_b = ra.d, rb.d
    sigma = ((a.mean - 1 + ra.m_n) / m_a - (b.mean - 1 + rb.m_n) / m_b) ** 2 / Z**2
    mix = v_a * m_b**2 + v_b * m_a**2
    v_ra, v_na, v_rb, v_nb = (m * (1 - m) for m in (ra.m_r, ra.m_n, rb.m_r, rb.m_n))
    return (
        mix / (m_b**2 * f[0] * m_a**2 * sigma),
        v_ra * mix * (a.mean - 1 + ra.m_n) ** 2 / (f[1] * v_a * m_b**2 * m_a**4 * sigma),
        v_na * mix * (ra.m_r - a.mean) ** 2 / (f[2] * v_a * m_b**2 * m_a**4 * sigma),
        v_rb * mix * (b.mean - 1 + rb.m_n) ** 2 / (f[1] * v_b * m_a**2 * m_b**4 * sigma),
        v_nb * mix * (rb.m_r - b.mean) ** 2 / (f[2] * v_b * m_a**2 * m_b**4 * sigma),
    )


@pytest.mark.parametrize("rates", [(EBAY_RATES, EBAY_RATES), OWN_RATES])
@pytest.mark.parametrize("split", [None, (0.5, 0.3, 0.2)])
def test_sizes_are_equation_31(rates, split):
    plan = kt.plan_sizes(*EBAY, rates, goal=kt.Goal(split=split))
    expected = [math.ceil(n) for n in plain_sizes(*EBAY, rates, split or (1 / 3, 1 / 3, 1 / 3))]
    assert [need.size for need in plan.needs] == expected
    assert [(need.kind, need.judges) for need in plan.needs] == [
        ("topics", "both"),
        ("gold relevant", "a"),
        ("gold not relevant", "a"),
        ("gold relevant", "b"),
        ("gold not relevant", "b"),
    ]
    assert plan.judges == "independent"


def test_sizes_are_those_of_the_paper():
    """Sizes for [NOISY18] section 7's figures: what a shared sample saves."""
    paper, shared = kt.plan_sizes(*EBAY, (EBAY_RATES, EBAY_RATES)), kt.plan_sizes(*EBAY, EBAY_RATES)
    assert paper.estimates == shared.estimates == pytest.approx((0.8047, 0.8284), abs=5e-5)
    assert (paper.topics, sum(paper.gold_relevant), sum(paper.gold_other)) == (24561, 38956, 1606)
    assert (shared.topics, shared.gold_relevant, shared.gold_other) == (24561, (9,), (7,))
    assert paper.topics_without_errors == shared.topics_without_errors == 8187
    assert has_note(shared, "correction.no-power")
    assert has_note(shared, "correction.few-gold", least=10)


@pytest.mark.parametrize("rates", [EBAY_RATES, (EBAY_RATES, EBAY_RATES), OWN_RATES])
@pytest.mark.parametrize("power", [None, 0.5, 0.8])
@pytest.mark.parametrize("level", [0.05, 0.01])
def test_numbers_put_back_into_the_variance_are_enough(rates, power, level):
    plan = kt.plan_sizes(*EBAY, rates, goal=kt.Goal(level=level, power=power))
    wanted = required_z(level, power)
    z = substitute(plan, *EBAY, rates)
    assert wanted <= z < wanted * 1.1  # rounding up adds little, but for a handful of gold items
    assert plan.standard_error == pytest.approx(abs(plan.difference) / z)
    assert plan.half_width == pytest.approx(stats.norm.ppf(1 - level / 2) * plan.standard_error)
    assert plan.detectable <= abs(plan.difference) * (1 + 1e-9)


def test_power_of_a_half_is_the_paper_s():
    half, none = (kt.plan_sizes(*EBAY, EBAY_RATES, goal=kt.Goal(power=power)) for power in (0.5, None))
    assert half.needs == none.needs
    assert kt.plan_sizes(*EBAY, EBAY_RATES, goal=kt.Goal(power=0.8)).topics == 50183
    assert required_z(0.05, 0.8) == pytest.approx(stats.norm.ppf(0.975) + stats.norm.ppf(0.8))


def test_the_plan_has_the_power_it_promises():
    """Judges and gold simulated, shared form: the claim is made about as often as asked."""
    rates = kt.RateCounts(900, 1000, 800, 1000)
    m_r, m_n = 0.9, 0.8
    truth = 0.40, 0.46
    said = [g * (m_r + m_n - 1) + 1 - m_n for g in truth]
    figures = [kt.Figures(1000, j, math.sqrt(j * (1 - j))) for j in said]  # P@1
    plan = kt.plan_sizes(*figures, rates, goal=kt.Goal(power=0.8, split=(0.8, 0.1, 0.1)))
    assert plan.difference == pytest.approx(0.06)
    rng, draws = np.random.default_rng(3), 20_000
    n, n_r, n_n = (int(x) for x in (plan.topics, plan.gold_relevant[0], plan.gold_other[0]))
    a, b = (rng.binomial(n, j, draws) / n for j in said)
    seen_r, seen_n = rng.binomial(n_r, m_r, draws) / n_r, rng.binomial(n_n, m_n, draws) / n_n
    found = compare_shared(b - a, (a * (1 - a) + b * (1 - b)) / n, seen_r, seen_n, n_r, n_n)
    claimed = (np.abs(found.value) / np.sqrt(found.variance) > Z).mean()
    # The judges' noise stretches estimate and error alike, so that the normal approximation errs to the safe side.
    assert 0.79 < claimed < 0.9


def test_trec_is_refused_next_to_the_naive_number():
    """[NOISY18] section 8: 0.527 > 0.447, estimates 1 and 1, all n infinite."""
    plan = kt.plan_sizes(*TREC, TREC_RATES)
    assert plan.estimates == (1.0, 1.0)
    assert plan.difference == 0
    assert plan.topics_without_errors == 2454
    assert all(need.size == math.inf for need in plan.needs)
    assert plan.detectable == math.inf
    assert gives(plan.refusal, 0.527, "a", 0.447)
    assert gives(plan.refusal, 0.513, "b", "0.280")
    assert gives(plan.sentence, 0.527, "2,454")
    found = json.loads(plan.to_json())
    assert found["detectable"] == "infinite"
    assert found["needs"][0]["size"] == "infinite"
    assert found["topics_without_errors"] == 2454


def test_figures_without_a_plan_say_why():
    few = kt.plan_sizes(kt.Figures(50, 0.1, 0.2), EBAY[1], EBAY_RATES)
    assert gives(few.refusal, "0.100", "a's", "0.202")
    assert few.estimates[0] == 0
    coin = kt.plan_sizes(*EBAY, kt.RateCounts(7, 10, 5, 10))
    assert gives(coin.refusal, "70%", 10, "50%", 10, "chance")
    assert all(math.isnan(value) for value in coin.estimates)
    assert json.loads(coin.to_json())["estimates"] == [None, None]
    inverted = kt.plan_sizes(*EBAY, (kt.RateCounts(10, 100, 10, 100), EBAY_RATES))
    assert gives(inverted.refusal, "a", "10%")
    assert math.isnan(inverted.estimates[0])
    equal = kt.plan_sizes(EBAY[0], EBAY[0], EBAY_RATES)
    assert gives(equal.refusal, EBAY[0].mean)
    assert equal.topics == equal.topics_without_errors == math.inf
    flat = kt.plan_sizes(kt.Figures(50, 0.5, 0.0), kt.Figures(50, 0.6, 0.2), OWN_RATES)
    assert flat.refusal != equal.refusal
    assert flat.topics == math.inf


def test_a_difference_asked_for_replaces_the_one_seen():
    small = kt.plan_sizes(*EBAY, EBAY_RATES, goal=kt.Goal(difference=0.01))
    assert small.difference == 0.01
    assert small.topics == math.ceil(3 * Z**2 * (0.414**2 + 0.402**2) / (0.01 * EBAY_RATES.d) ** 2)
    assert small.topics_without_errors == topics_without_errors(0.414, 0.402, 0.01)
    equal = kt.plan_sizes(EBAY[0], EBAY[0], EBAY_RATES, goal=kt.Goal(difference=0.01))
    assert equal.refusal is None


def test_perfect_judges_need_no_gold_and_the_naive_number_of_topics():
    perfect = kt.RateCounts(100, 100, 100, 100)
    for rates in (perfect, (perfect, perfect)):
        plan = kt.plan_sizes(*EBAY, rates)
        assert plan.topics == plan.topics_without_errors
        assert set(plan.gold_relevant + plan.gold_other) == {0.0}
        assert plan.split == (1, 0, 0)
        assert has_note(plan, "correction.faultless")


def test_the_same_topics_need_fewer():
    apart, paired = (kt.plan_sizes(*EBAY, EBAY_RATES, paired=s) for s in (None, 0.2))
    assert paired.topics == math.ceil(3 * Z**2 * 0.2**2 / 0.0125**2 * (1 - 1e-12))
    assert paired.topics < apart.topics
    assert paired.topics_without_errors == topics_without_errors(0.2, 0.0, 0.0125)
    assert paired.gold_relevant == apart.gold_relevant
    uncorrelated = math.hypot(0.414, 0.402)
    assert kt.plan_sizes(*EBAY, OWN_RATES, paired=uncorrelated).topics == kt.plan_sizes(*EBAY, OWN_RATES).topics
    both = kt.plan_sizes(*EBAY, (EBAY_RATES, EBAY_RATES), paired=0.2)
    assert both.topics == paired.topics
    with pytest.raises(DataError, match=r"\b0\.012\b.*\b0\.816\b.*\b0\.9\b"):
        kt.plan_sizes(*EBAY, EBAY_RATES, paired=0.9)


def test_paired_terms_of_independent_judges_are_the_variance_of_the_difference():
    rng = np.random.default_rng(2)
    scores = rng.multivariate_normal([0.5, 0.6], [[0.09, 0.05], [0.05, 0.07]], 200)
    m_r, m_n = np.array([0.9, 0.8]), np.array([0.7, 0.85])
    corrected = (scores - 1 + m_n) / (m_r + m_n - 1)
    gap = (scores[:, 1] - scores[:, 0]).std(ddof=1)
    terms = independent_terms(scores.mean(axis=0), scores.std(axis=0, ddof=1), m_r, m_n, gap)
    assert terms.topics == pytest.approx((corrected[:, 1] - corrected[:, 0]).var(ddof=1))


rate = st.floats(0.6, 0.99)
price = st.floats(0.01, 50)


@given(rate, rate, rate, rate, st.tuples(price, price, price), st.booleans())
def test_the_cheapest_split_is_found_by_search_too(m_ra, m_na, m_rb, m_nb, prices, shared):
    unit = UnitPrices(*prices)
    if shared:
        terms = shared_terms(0.05, 0.2, m_ra, m_na)
    else:
        terms = independent_terms([0.45, 0.5], [0.3, 0.35], [m_ra, m_rb], [m_na, m_nb])

    def cost(x):
        share = np.exp(x - np.max(x))
        return math.log(float(find_cost(find_sizes(terms, 1e-4, share / share.sum()), unit)))

    best = cheapest_split(terms, unit)
    assert best.sum() == pytest.approx(1)
    found = optimize.minimize(cost, np.zeros(3), method="BFGS", options={"gtol": 1e-8})
    assert cost(np.log(best)) <= found.fun + 1e-9
    assert cost(np.log(best)) == pytest.approx(found.fun, abs=1e-4)
    assert cost(np.log(best)) <= cost(np.log(spread_evenly(terms))) + 1e-12
    # And backwards: what that cost buys is the variance it was for.
    assert afford(terms, unit, math.exp(cost(np.log(best))), best) == pytest.approx(1e-4)


@given(rate, rate, st.tuples(price, price, price))
def test_for_shared_judges_no_other_numbers_are_cheaper(m_r, m_n, prices):
    """The least cost over n, n_R, n_N in closed form: the square of the summed roots, over the variance."""
    terms, unit = shared_terms(0.05, 0.2, m_r, m_n), UnitPrices(*prices)
    sizes = find_sizes(terms, 1e-4, cheapest_split(terms, unit))
    parts = np.array([terms.topics, terms.relevant[0], terms.others[0]])
    assert find_variance(terms, sizes) == pytest.approx(1e-4)
    assert find_cost(sizes, unit) == pytest.approx(np.sqrt(parts * prices).sum() ** 2 / 1e-4)


def test_expensive_gold_buys_less_gold_and_more_topics():
    """Dear gold buys less gold and more topics."""
    cheap, dear = (kt.plan_sizes(*EBAY, EBAY_RATES, prices=kt.Prices(0.05, gold, gold, depth=3)) for gold in (0.1, 5.0))
    assert cheap.topics < dear.topics
    assert cheap.gold_relevant > dear.gold_relevant
    for plan in (cheap, dear):
        assert substitute(plan, *EBAY, EBAY_RATES) >= Z
        assert plan.cost == pytest.approx(plan.to_frame()["cost"].sum())
        assert sum(plan.split) == pytest.approx(1)
    even = kt.plan_sizes(*EBAY, EBAY_RATES, prices=kt.Prices(0.05, 5, 5, depth=3), goal=kt.Goal(split=(0.4, 0.3, 0.3)))
    assert even.split == (0.4, 0.3, 0.3)
    assert even.cost > dear.cost
    assert kt.plan_sizes(*EBAY, EBAY_RATES).cost is None
    deep = kt.plan_sizes(*EBAY, EBAY_RATES, prices=kt.Prices(0.05, 5, 5, depth=30))
    assert deep.gold_relevant > dear.gold_relevant
    assert dear.needs[0].price == pytest.approx(2 * 3 * 0.05)  # both systems, three documents each


@pytest.mark.parametrize("rates", [EBAY_RATES, OWN_RATES])
@pytest.mark.parametrize("split", [None, (0.6, 0.2, 0.2)])
def test_a_budget_is_spent_and_says_what_it_buys(rates, split):
    goal = kt.Goal(split=split, power=0.8)
    needed = kt.plan_sizes(*EBAY, rates, prices=kt.Prices(0.05, 2, 1), goal=goal)
    bought = kt.plan_sizes(*EBAY, rates, prices=kt.Prices(0.05, 2, 1, budget=needed.cost), goal=goal)
    assert needed.cost * 0.999 < bought.cost + 4 <= needed.cost + 4
    for more, less in zip(needed.needs, bought.needs, strict=True):
        assert abs(more.size - less.size) <= 2 + 0.01 * more.size
    assert bought.detectable == pytest.approx(abs(bought.difference), rel=0.03)
    quarter = kt.plan_sizes(*EBAY, rates, prices=kt.Prices(0.05, 2, 1, budget=needed.cost / 4), goal=goal)
    assert quarter.standard_error == pytest.approx(2 * bought.standard_error, rel=0.03)
    assert gives(quarter.sentence, f"{needed.cost / 4:,g}", f"{quarter.topics:,.0f}", f"± {quarter.half_width:.3g}")
    nothing = kt.plan_sizes(*EBAY, rates, prices=kt.Prices(0.05, 2, 1, budget=1), goal=goal)
    assert nothing.refusal
    assert nothing.cost == math.inf


def test_the_smallest_difference_is_just_shown():
    terms, sizes = shared_terms(0.03, 0.3, 0.8, 0.75), Sizes(*map(np.asarray, (800.0, [60.0], [80.0])))
    least = smallest_difference(terms, sizes, 2.8, 0.03)
    at_least = shared_terms(least, 0.3, 0.8, 0.75)
    assert least / np.sqrt(find_variance(at_least, sizes)) == pytest.approx(2.8)
    few = Sizes(*map(np.asarray, (800.0, [3.0], [3.0])))
    assert smallest_difference(terms, few, 2.8, 0.03) == math.inf
    own = independent_terms([0.5, 0.55], [0.3, 0.3], [0.9, 0.9], [0.8, 0.8])
    both = Sizes(*map(np.asarray, (800.0, [60.0, 60.0], [80.0, 80.0])))
    assert smallest_difference(own, both, 2.8) == pytest.approx(2.8 * np.sqrt(find_variance(own, both)))


def test_variances_and_sizes_broadcast():
    j = np.random.default_rng(0).uniform(0.4, 0.6, (5, 2))
    terms = independent_terms(j, [0.3, 0.4], [0.9, 0.8], [0.8, 0.9])
    sizes = find_sizes(terms, np.full(5, 1e-4), spread_evenly(terms))
    assert sizes.relevant.shape == (5, 2)
    one = independent_terms(j[3], [0.3, 0.4], [0.9, 0.8], [0.8, 0.9])
    for many, single in zip(sizes, find_sizes(one, 1e-4), strict=True):
        np.testing.assert_allclose(many[3], single)
    np.testing.assert_allclose(find_variance(terms, sizes), 1e-4)
    shared = shared_terms(np.linspace(0.01, 0.05, 5), 0.2, 0.9, 0.8)
    assert find_sizes(shared, 1e-4).others.shape == (5, 1)


def test_gold_needed_is_enough_and_not_more():
    more = gold_needed(0.0001, 0.0004, 200, 0.04, power=0.8)
    limit = (0.04 / required_z(0.05, 0.8)) ** 2
    assert 0.0001 + 0.0004 * 200 / (200 + more) <= limit < 0.0001 + 0.0004 * 200 / (200 + more - 1)
    assert gold_needed(0.0001, 0.0004, 200, 0.5) == 0
    assert gold_needed(0.01, 0.0004, 200, 0.04) == math.inf
    assert gold_needed(0.0001, 0.0004, 200, 0.04) < gold_needed(0.0001, 0.0004, 200, 0.04, level=0.01) < more + 200
    np.testing.assert_array_equal(gold_needed(0.0001, 0.0004, 200, [0.04, 0.0], power=0.8), [571, math.inf])
    assert gold_needed(0.0001, 0.0, 200, 0.04) == 0


def test_the_table_counts_what_is_there_and_what_is_needed():
    frame = kt.plan_sizes(*EBAY, EBAY_RATES, prices=kt.Prices(0.05, 2, 1)).to_frame()
    assert frame.columns == ["need", "judges", "size", "have", "more", "share", "cost"]
    assert frame["have"].to_list() == [10278, 59, 84]
    assert (frame["more"] == (frame["size"] - frame["have"]).clip(0)).all()
    assert gives(kt.plan_sizes(*EBAY, EBAY_RATES)._repr_html_(), "gold relevant", 59)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kt.Figures(1, 0.5, 0.1), r"\b1\b.*\b2\b"),
        (lambda: kt.Figures(10, math.nan, 0.1), "nan"),
        (lambda: kt.Figures(10, 0.5, -0.1), r"-0\.1"),
        (lambda: kt.RateCounts(0, 0, 3, 4), "relevant"),
        (lambda: kt.RateCounts(1, 2, 0, 0), "relevant"),
        (lambda: kt.RateCounts(59, 43, 67, 84), r"\b59\b.*\b43\b"),
        (lambda: kt.Prices(0.0, 1, 1), r"judgment.*\b0\.0\b.*\b0\b"),
        (lambda: kt.Prices(1, 1, 1, depth=0), r"depth.*\b0\b"),
        (lambda: kt.Prices(1, 1, 1, budget=0), r"budget.*\b0\b"),
        (lambda: kt.Goal(level=5), r"level.*\b5\b"),
        (lambda: kt.Goal(power=0.2), r"\b0\.2\b"),
        (lambda: kt.Goal(difference=0.0), r"\b0\.0\b"),
        (lambda: kt.Goal(split=(0.5, 0.5, 0.5)), r"\(0\.5, 0\.5, 0\.5\)"),
        (lambda: kt.plan_sizes(kt.Figures(9, 1.5, 0.1), EBAY[0], EBAY_RATES), r"\b1\.5\b"),
    ],
)
def test_figures_that_cannot_be(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_rounding_asks_for_no_further_item():
    assert round_up(np.array([0.1 * 3 * 10, 3.0, 3.001])).tolist() == [3, 3, 4]


def test_judges_must_be_two_standard_errors_better_than_a_coin():
    """31 and 34 of 50 are d = 0.3 with an error of 0.095; 26 and 29 are 0.1 with 0.1, 28 and 30 0.16 with 0.099."""
    for right, refused in (((31, 34), False), ((28, 30), True), ((26, 29), True)):
        rates = kt.RateCounts(right[0], 50, right[1], 50)
        found = kt.plan_sizes(kt.Figures(50, 0.50, 0.2), kt.Figures(50, 0.52, 0.2), rates)
        assert (found.refusal is not None) == refused


@pytest.mark.parametrize("power", [None, 0.8])
def test_what_a_plan_says_it_detects_is_just_detected(power):
    """With a gold sample for both systems its errors grow with the difference."""
    prices = kt.Prices(0.05, 2, 1, budget=2000)
    plan = kt.plan_sizes(*EBAY, EBAY_RATES, goal=kt.Goal(power=power), prices=prices)
    v = (EBAY[0].deviation ** 2 + EBAY[1].deviation ** 2) / plan.topics
    seen = plan.detectable * EBAY_RATES.d
    found = compare_shared(seen, v, EBAY_RATES.m_r, EBAY_RATES.m_n, plan.gold_relevant[0], plan.gold_other[0])
    assert found.value / np.sqrt(found.variance) == pytest.approx(required_z(0.05, power))
    assert plan.half_width == pytest.approx(Z * plan.standard_error)
