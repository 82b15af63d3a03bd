"""Unit tests of agreement over a panel and in pairs."""

import numpy as np
import pytest

import karatage as kt
from karatage.agreement.coefficients import agreement_intervals, fleiss_kappa, krippendorff_alpha, percent_agreement
from karatage.agreement.habits import Panel, share_alike
from karatage.agreement.intervals import Rows
from karatage.agreement.pairs import agreement_matrix, cohen_kappa, compare_pairs, fits
from karatage.data.judgments import Judgments
from karatage.errors import DataError, OptionError, UnknownNameError

TWO = {"ann": {"t": {"a": 0, "b": 1, "c": 2, "d": 2}}, "bob": {"t": {"a": 0, "b": 1, "c": 1, "e": 0}}}


@pytest.fixture
def two():
    return kt.read_judgments(TWO)


def crowd(source, judges=6, items=50, grades=3):
    table = source.integers(0, grades, (judges, items))
    judge, item = np.indices(table.shape, dtype=np.int32).reshape(2, -1)
    return Judgments.from_codes(judge=judge, item=item, grade=table.ravel().astype(np.int8))


def test_items_with_one_grade_do_not_count(two):
    alone = {"ann": {"t": {k: v for k, v in TWO["ann"]["t"].items() if k != "d"}}, "bob": TWO["bob"]}
    assert percent_agreement(two) == pytest.approx(2 / 3)
    assert krippendorff_alpha(two) == krippendorff_alpha(kt.read_judgments(alone))
    assert fleiss_kappa(two) == fleiss_kappa(kt.read_judgments(alone))


def test_grades_that_nobody_gives_change_nothing(two):
    wide = kt.read_judgments(TWO, grades="0-9")
    assert krippendorff_alpha(wide, "ordinal") == krippendorff_alpha(two, "ordinal")
    assert cohen_kappa(wide, "ann", "bob", weights="quadratic") == cohen_kappa(two, "ann", "bob", weights="quadratic")


def test_interval_alpha_counts_distances_between_grades_not_ranks():
    near = {"ann": {"t": {"a": 0, "b": 1, "c": 0, "d": 5}}, "bob": {"t": {"a": 0, "b": 0, "c": 0, "d": 5}}}
    far = {"ann": {"t": {"a": 0, "b": 4, "c": 0, "d": 5}}, "bob": {"t": {"a": 0, "b": 0, "c": 0, "d": 5}}}
    one, other = (kt.read_judgments(grades) for grades in (near, far))
    assert krippendorff_alpha(one, "ordinal") == krippendorff_alpha(other, "ordinal")
    assert krippendorff_alpha(one, "interval") > krippendorff_alpha(other, "interval")


def test_the_last_of_repeated_grades_counts():
    table = {"judge": ["ann", "ann", "bob"], "item": ["a", "a", "a"], "grade": [0, 1, 1]}
    for repeats in (None, "all", "last"):
        assert percent_agreement(kt.read_judgments(table, repeats=repeats)) == 1.0


def test_one_grade_throughout_has_no_value_beyond_chance():
    same = kt.read_judgments({"ann": {"t": {"a": 1, "b": 1}}, "bob": {"t": {"a": 1, "b": 1}}})
    assert percent_agreement(same) == 1.0
    assert np.isnan(krippendorff_alpha(same, "ordinal"))
    assert np.isnan(fleiss_kappa(same))
    assert np.isnan(cohen_kappa(same, "ann", "bob"))
    found = agreement_intervals(same, rng=1)
    assert np.isnan(found["alpha_nominal"]).all()
    assert found["percent"] == (1.0, 1.0, 1.0)


def test_no_shared_items_is_an_error_that_says_so():
    apart = kt.read_judgments({"ann": {"t": {"a": 1}}, "bob": {"t": {"b": 1}}})
    with pytest.raises(DataError, match="judges"):
        krippendorff_alpha(apart)
    with pytest.raises(DataError, match=r"'ann'.*'bob'"):
        cohen_kappa(apart, "ann", "bob")
    np.testing.assert_array_equal(agreement_matrix(apart, "shared"), np.eye(2))
    np.testing.assert_array_equal(agreement_matrix(apart).diagonal(), 1)
    assert np.isnan(agreement_matrix(apart)[0, 1])


def test_options_outside_what_is_offered(two):
    with pytest.raises(OptionError, match="'ratio'"):
        krippendorff_alpha(two, "ratio")
    with pytest.raises(OptionError, match="'cubic'"):
        cohen_kappa(two, "ann", "bob", weights="cubic")
    with pytest.raises(OptionError, match="'tau'"):
        agreement_matrix(two, "tau")
    with pytest.raises(UnknownNameError, match=r"'anne'.*'ann'"):
        cohen_kappa(two, "anne", "bob")
    with pytest.raises(OptionError, match=r"resamples.*\b1\b"):
        agreement_intervals(two, resamples=0)
    with pytest.raises(OptionError, match=r"\b0\b.*\b1\b"):
        agreement_intervals(two, confidence=95)


def test_the_seed_decides_and_confidence_widens():
    judgments = crowd(np.random.default_rng(1))
    one, same, other = (agreement_intervals(judgments, rng=seed) for seed in (1, 1, 2))
    assert one == same != other
    wide, narrow = (agreement_intervals(judgments, confidence=c, rng=1)["fleiss"] for c in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_resamples_come_in_pieces_without_a_seam(monkeypatch):
    judgments = crowd(np.random.default_rng(2))
    monkeypatch.setattr("karatage.agreement.coefficients.AT_ONCE", 1000)
    pieces = agreement_intervals(judgments, resamples=500, rng=1)
    monkeypatch.undo()
    assert pieces == agreement_intervals(judgments, resamples=500, rng=1)


def test_profiles_too_many_to_number_are_kept_apart(monkeypatch):
    judgments = crowd(np.random.default_rng(3))
    expected = krippendorff_alpha(judgments, "ordinal")
    monkeypatch.setattr("karatage.agreement.coefficients.LARGEST_KEY", 10)
    assert krippendorff_alpha(judgments, "ordinal") == pytest.approx(expected, abs=1e-12)


def test_the_mean_over_pairs_weighs_by_shared_items():
    grades = {"ann": {"t": {k: n % 2 for n, k in enumerate("abcdefgh")}}, "bob": {"t": {"a": 0, "b": 1, "c": 1}}}
    grades["cat"] = {"t": {k: n % 2 for n, k in enumerate("abcdefgh")} | {"h": 0}}
    judgments = kt.read_judgments(grades)
    kappa, shared = agreement_matrix(judgments), agreement_matrix(judgments, "shared")
    found = compare_pairs(Rows.of(judgments))
    upper = np.triu_indices(3, 1)
    assert found.mean.value == pytest.approx(np.average(kappa[upper], weights=shared[upper]))
    own, percent = found.average(3), share_alike(Panel.of(judgments, np.full(8, -1, np.int8)))
    assert own[0] == pytest.approx(np.average(kappa[0, 1:], weights=shared[0, 1:]))
    assert percent[1] == pytest.approx(np.average(agreement_matrix(judgments, "percent")[1, [0, 2]], weights=[3, 3]))


def test_too_many_judges_are_refused_not_tried(monkeypatch):
    judgments = crowd(np.random.default_rng(4))
    rows = Rows.of(judgments)
    assert fits(rows, 1)
    monkeypatch.setattr("karatage.agreement.pairs.MOST_CELLS", 10)
    assert not fits(rows, 1)
    with pytest.raises(DataError, match=r"\b6\b.*\b3\b"):
        agreement_matrix(judgments)
    monkeypatch.setattr("karatage.agreement.pairs.MOST_JUDGES", 5)
    with pytest.raises(OptionError, match=r"\b6\b.*\b5\b"):
        agreement_matrix(judgments)
