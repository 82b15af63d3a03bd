"""Checks that results make of themselves: what passes, and what is refused in which words."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from karatage.data.checks import (
    COUNT,
    SHARE,
    TEXT,
    maybe,
    require_equal,
    require_known,
    require_names,
    require_numbers,
    require_ordered,
    require_shape,
    require_table,
)
from karatage.data.estimate import Estimate, require_intervals, require_p_values
from karatage.errors import DataError, OptionError


@pytest.mark.parametrize(
    ("value", "options", "told"),
    [
        ([0.5, 1.5], {"low": 0, "high": 1}, r"x.* 1\.5, .*\b0\b.*\b1\b"),
        (-1e-6, {"low": 0}, r"x.* -1e-06, .*\b0\b"),
        ([1, math.nan], {}, r"x.* nan,"),
        ([math.nan, 2], {"high": 1, "low": 0, "unknown": True}, r"x.*\b2\b"),
        (math.inf, {"low": 0}, "inf"),
        (-math.inf, {"low": 0, "endless": True}, "x"),
        ([1.0, 1e200], {}, r"x.*\b200\b"),
        ([math.inf, 1e200], {"endless": True}, r"x.*\b200\b"),
    ],
)
def test_numbers_that_cannot_be_are_refused(value, options, told):
    with pytest.raises(DataError, match=told):
        require_numbers("x", value, **options)


def test_bounds_may_be_missed_by_rounding_alone():
    require_numbers("x", [-1e-12, 1 + 1e-12], 0, 1)
    for beyond in (-1e-6, 1 + 1e-6):
        with pytest.raises(DataError, match=r"x.* not .*0.*1"):
            require_numbers("x", [beyond], 0, 1)


@pytest.mark.parametrize(("value", "option"), [([math.nan, math.nan], "unknown"), ([math.inf, 1.0], "endless")])
def test_an_option_admits_what_is_refused_without_it(value, option):
    require_numbers("x", value, 0, **{option: True})
    with pytest.raises(DataError, match=f"x.* {value[0]}, not"):
        require_numbers("x", value, 0)


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        ({"name": ["a"], "items": [1]}, r"column.*\bshare\b"),
        ({"name": ["a"], "items": [1], "share": [1]}, "share.*type int64.*float"),
        ({"name": [None], "items": [1], "share": [0.5]}, "name.*type nothing.*text"),
        ({"name": ["a", None], "items": [1, 1], "share": [0.5, 0.5]}, "name.*row"),
        ({"name": ["a"], "items": [-1], "share": [0.5]}, r"items.*-1.*\b0\b"),
        ({"name": ["a"], "items": [1], "share": [1.5]}, r"share.* 1\.5,"),
        ({"name": ["a"], "items": [[1]], "share": [1.5]}, "items.*type.*int64"),
    ],
)
def test_tables_that_cannot_be_are_refused(frame, told):
    with pytest.raises(DataError, match=told):
        require_table("t", pl.DataFrame(frame), {"name": TEXT, "items": COUNT, "share": maybe(SHARE)})


def test_a_cell_may_be_empty_only_where_that_was_said():
    holed = pl.DataFrame({"share": [0.5, None]})
    require_table("t", holed, {"share": maybe(SHARE)})
    with pytest.raises(DataError, match=r"share.*row"):
        require_table("t", holed, {"share": SHARE})


def test_names_are_there_once_and_known():
    require_names("judges", ["a", "b"])
    with pytest.raises(DataError, match=r"judges.*'a'"):
        require_names("judges", ["a", "b", "a"])
    with pytest.raises(DataError, match=r"judges.*\b0\b.*\b1\b"):
        require_names("judges", [])
    require_known("pairs", ["a", None], ["a", "b"], "judges")
    with pytest.raises(DataError, match=r"pairs.*'c'"):
        require_known("pairs", ["a", "c"], ["a", "b"], "judges")


def test_shapes_and_what_follows():
    require_shape("x", np.zeros((2, 3)), 2, 3)
    with pytest.raises(DataError, match=r"\b2\b.*\b3\b"):
        require_shape("x", np.zeros((2, 3)), 3, 2)
    require_equal("x", [0.1 + 0.2, math.nan], [0.3, math.nan])
    with pytest.raises(DataError, match=r"x.*\b0\.31\b.*\b0\.3\b"):
        require_equal("x", [0.31], [0.3])
    with pytest.raises(DataError, match=r"x.*\b3\b.*\b4\b"):
        require_equal("x", 3, 4)
    with pytest.raises(DataError, match=r"shape \(1,\).*\(2,\)"):
        require_equal("x", [1.0], [1.0, 2.0])


def test_values_lie_in_their_intervals():
    require_ordered("x", [0, math.nan], [1, 5], [2, math.nan])
    for low, high in ((1.1, 2), (0, 0.9)):
        with pytest.raises(DataError, match=r"x.*\b1\b"):
            require_ordered("x", low, 1.0, high)


@pytest.mark.parametrize(
    ("error", "half", "told"),
    [
        (-0.1, 0.2, r"standard_error.* -0\.1,"),
        (0.1, 0.19, "interval"),  # narrower than normal
        (0.1, 1.3, "interval"),  # wider than one degree of freedom allows
    ],
)
def test_intervals_that_do_not_follow_are_refused(error, half, told):
    with pytest.raises(DataError, match=told):
        require_intervals("x", [0.5], [error], ([0.5 - half], [0.5 + half]), 0.95)


def test_intervals_may_be_cut_and_unknown():
    require_intervals("x", [0.1, 0.5], [0.1, math.nan], ([0.0, math.nan], [0.3, math.nan]), 0.95)
    with pytest.raises(OptionError, match="confidence"):
        require_intervals("x", [0.5], [0.1], ([0.3], [0.7]), 1.0)


@pytest.mark.parametrize(("value", "within"), [(0.5, (0.0, 1.0)), (0.0, (-1.0, 1.0))])
def test_intervals_may_be_cut_evenly_on_both_sides(value, within):
    found = Estimate.of(value, 1.0, degrees=9.0, within=within)
    assert (found.low, found.high) == within
    with pytest.raises(DataError):
        require_intervals("x", value, 1.0, within, 0.95, cut=False)
    with pytest.raises(DataError):
        require_intervals("x", value + 0.01, 1.0, (within[0] + 0.01, within[1] + 0.01), 0.95)


@pytest.mark.parametrize("degrees", [1.0, 2.5, 9.0, 120.0, math.inf])
@pytest.mark.parametrize("value", [0.02, 0.1, 0.3, -0.5])
@pytest.mark.parametrize("error", [0.2, 0.45, 0.55, 3.0])
def test_p_values_follow_from_intervals_that_are_cut(value, error, degrees):
    """Cut on both sides the width tells the most degrees of freedom that there may be, not how many there are."""
    found = Estimate.of(value, error**2, degrees=degrees, within=(-1.0, 1.0))
    p, value, error, low, high = (
        np.array([x]) for x in (found.p_value, found.value, found.standard_error, found.low, found.high)
    )
    require_p_values("p", p, value, error, (low, high), 0.95)
    for wrong in (p * 0, p * math.nan):
        with pytest.raises(DataError):
            require_p_values("p", wrong, value, error, (low, high), 0.95)


@pytest.mark.parametrize("degrees", [1.0, 2.5, 9.0, 120.0, math.inf])
def test_p_values_follow_from_intervals(degrees):
    found = Estimate.of(0.3, 0.01, degrees=degrees)
    arrays = [np.array([x]) for x in (found.p_value, found.value, found.standard_error, found.low, found.high)]
    p, value, error, low, high = arrays
    require_p_values("p", p, value, error, (low, high), 0.95)
    for wrong in (p * 1.05, p / 1.05, -p, p + 0.5, p * math.nan):
        with pytest.raises(DataError):
            require_p_values("p", wrong, value, error, (low, high), 0.95)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"standard_error": -0.1}, r"standard_error.*-0\.1"),
        ({"value": math.inf}, "inf"),
        ({"degrees": 0.0}, r"degrees_of_freedom.*\b0\b"),
        ({"low": 0.35}, r"0\.3,.*0\.35"),
        ({"high": 0.9, "low": -0.3}, None),
        ({"confidence": 1.5}, r"\b0\b.*\b1\b"),
    ],
)
def test_estimates_that_cannot_be_are_refused(changes, told):
    parts = {"value": 0.3, "standard_error": 0.1, "degrees": 9.0, "low": 0.3 - 0.2262157, "high": 0.3 + 0.2262157}
    Estimate(**parts)
    with pytest.raises((DataError, OptionError), match=told):
        Estimate(**(parts | changes))
