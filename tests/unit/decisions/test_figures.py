"""Two systems compared by figures alone."""

from __future__ import annotations

import json

import pytest
from scipy import stats

import karatage as kt
from karatage.data.comparison import Comparison
from karatage.errors import DataError, OptionError
from tests.notes import gives, has_note, list_facts

A, B = kt.Figures(100, 0.5, 0.3), kt.Figures(80, 0.6, 0.2)
GOOD = kt.RateCounts(90, 100, 160, 200)
PERFECT = kt.RateCounts(60, 60, 60, 60)


def finite(found: Comparison) -> dict[str, object]:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} in JSON")

    told: dict[str, object] = json.loads(found.to_json(), parse_constant=refuse)
    return told


def test_the_judges_own_difference_is_welchs() -> None:
    found = kt.compare_figures(A, B, GOOD).naive
    expected = stats.ttest_ind_from_stats(0.6, 0.2, 80, 0.5, 0.3, 100, equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.difference.value / found.difference.standard_error == pytest.approx(expected.statistic)


def test_perfect_judges_give_the_naive_value() -> None:
    found = kt.compare_figures(A, B, PERFECT)
    assert found.corrected is not None
    for got, naive in (
        (found.corrected.difference, found.naive.difference),
        (found.corrected.a, found.naive.a),
        (found.corrected.b, found.naive.b),
    ):
        assert got is not None
        assert naive is not None
        assert (got.value, got.standard_error) == pytest.approx((naive.value, naive.standard_error))


def test_which_judges_is_an_option() -> None:
    shared, alone = (kt.compare_figures(A, B, GOOD, judges=judges) for judges in ("shared", "independent"))
    assert shared.corrected is not None
    assert alone.corrected is not None
    assert [o.way for o in shared.opinions] == ["judges", "shared judges", "independent judges", "bootstrap"]
    assert [o.way for o in alone.opinions] == ["judges", "independent judges", "shared judges", "bootstrap"]
    assert shared.corrected.difference.value == pytest.approx(alone.corrected.difference.value)
    assert shared.corrected.difference.standard_error < alone.corrected.difference.standard_error
    d = 0.9 + 0.8 - 1
    assert shared.corrected.difference.value == pytest.approx(0.1 / d)
    with pytest.raises(OptionError, match="'one'"):
        kt.compare_figures(A, B, GOOD, judges="one")  # a name that is none


def test_other_judges_for_b_are_independent() -> None:
    found = kt.compare_figures(A, B, GOOD, rates_b=PERFECT)
    assert found.corrected is not None
    assert found.corrected.b is not None
    assert [o.way for o in found.opinions] == ["judges", "independent judges", "bootstrap"]
    assert found.corrected.b.value == pytest.approx(0.6)
    assert gives(found.gold, 300, "a", 120, "b")


def test_the_bootstrap_agrees() -> None:
    for judges in ("shared", "independent"):
        found = kt.compare_figures(A, B, GOOD, judges=judges)
        assert found.corrected is not None
        second = found.others[-1]
        assert second.way == "bootstrap"
        assert second.difference.value == pytest.approx(found.corrected.difference.value, rel=0.05)
        assert second.difference.standard_error == pytest.approx(found.corrected.difference.standard_error, rel=0.05)
        assert second.p_value == pytest.approx(found.corrected.p_value, abs=0.01)


def test_confidence_widens_the_interval() -> None:
    wide, narrow = (kt.compare_figures(A, B, GOOD, confidence=level).corrected for level in (0.99, 0.5))
    assert wide is not None
    assert narrow is not None
    assert wide.difference.low < narrow.difference.low
    with pytest.raises(OptionError, match=r"\b0\b.*\b1\b"):
        kt.compare_figures(A, B, GOOD, confidence=1)


REFUSED = {
    "coins": (A, B, kt.RateCounts(5, 10, 6, 10), ["50%", "60%", "chance"]),
    "little gold": (A, B, kt.RateCounts(4, 4, 60, 60), [64, 4, "relevant"]),
    "both above": (kt.Figures(50, 0.95, 0.1), kt.Figures(50, 0.97, 0.1), GOOD, ["a", "0.950", "b", "0.970", "1 and 1"]),
    "one above, one below": (
        kt.Figures(50, 0.95, 0.1),
        kt.Figures(50, 0.1, 0.1),
        GOOD,
        ["0.950", "0.100", "1 and 0"],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_figures_that_are_refused(name: str) -> None:
    a, b, rates, facts = REFUSED[name]
    found = kt.compare_figures(a, b, rates)
    assert found.corrected is None
    assert gives(found.refusal, *facts)
    assert found.p_value is None
    assert finite(found)["corrected"] is None


@pytest.mark.parametrize("deviation", [0.0, 0.1])
@pytest.mark.parametrize(("mean", "bound"), [(0.95, 1.0), (0.1, 0.0)])
def test_one_system_at_its_bound_is_told(mean: float, bound: float, deviation: float) -> None:
    found = kt.compare_figures(kt.Figures(50, mean, deviation), B, GOOD)
    assert found.corrected is not None
    assert found.corrected.a is not None
    assert found.corrected.a.value == pytest.approx(bound)
    assert 0 <= found.corrected.a.low <= found.corrected.a.high <= 1
    assert has_note(found, "decisions.at-bound")
    finite(found)


def test_at_a_bound_shared_judges_are_better_than_gold_saw_them() -> None:
    """3.6: the system above m_r moves m_r, which is the other system's too; judges of its own know nothing of that."""
    above = kt.Figures(50, 0.95, 0.1)
    shared, alone = (
        kt.compare_figures(above, B, GOOD, judges=judges).corrected for judges in ("shared", "independent")
    )
    assert shared is not None
    assert alone is not None
    assert shared.b is not None
    assert alone.b is not None
    worth = 0.95 * 0.05 / above.variance_of_mean
    m_r = (0.9 * 100 + 0.95 * worth) / (100 + worth)
    assert shared.b.value == pytest.approx((0.6 - 0.2) / (m_r + 0.8 - 1))
    assert alone.b.value == pytest.approx((0.6 - 0.2) / (0.9 + 0.8 - 1))


def test_scores_that_do_not_vary() -> None:
    found = kt.compare_figures(kt.Figures(50, 0.5, 0.0), kt.Figures(50, 0.5, 0.0), PERFECT)
    assert found.corrected is not None
    assert found.corrected.difference.exact
    assert found.p_value == 1
    assert not found.significant
    finite(found)


@pytest.mark.parametrize("mean", [-0.1, 1.5])
def test_means_that_are_no_precision(mean: float) -> None:
    with pytest.raises(DataError, match=r"P@k.*\b0\b.*\b1\b"):
        kt.compare_figures(A, kt.Figures(50, mean, 0.1), GOOD)


@pytest.mark.parametrize(
    ("rates_b", "facts"),
    [
        (kt.RateCounts(3, 3, 60, 60), [63, 3, "relevant"]),
        (kt.RateCounts(5, 10, 6, 10), ["50%", "60%", "chance"]),
    ],
)
def test_the_judges_of_b_are_checked_too(rates_b: kt.RateCounts, facts: list[object]) -> None:
    assert gives(kt.compare_figures(A, B, GOOD, rates_b=rates_b).refusal, *facts)


def test_the_bound_of_b_is_by_its_own_judges() -> None:
    """0.6 is more than judges who find half of what is relevant would call so."""
    found = kt.compare_figures(A, B, GOOD, rates_b=kt.RateCounts(50, 100, 190, 200))
    assert found.corrected is not None
    assert found.corrected.b is not None
    assert found.corrected.b.value == pytest.approx(1)
    assert list_facts(found)["decisions.at-bound"]["reason"].startswith("b: 0.600 > 0.500")


def test_a_score_at_its_bound_is_not_beyond_it() -> None:
    found = kt.compare_figures(kt.Figures(50, 0.95, 0.1), kt.Figures(50, 0.6, 0.2), kt.RateCounts(90, 100, 80, 100))
    assert found.corrected is not None
    assert found.corrected.a is not None
    assert found.corrected.a.value <= 1
    assert found.corrected.a.value == pytest.approx(1)


def test_a_deviation_that_no_scores_have_is_refused() -> None:
    with pytest.raises(DataError, match=r"\b0\.9\b"):
        kt.compare_figures(kt.Figures(50, 0.5, 0.9), B, GOOD)
