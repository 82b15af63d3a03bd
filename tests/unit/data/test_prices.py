"""Prices as written, to the last digit."""

from decimal import Decimal

import pytest

from karatage.data.options import RATIOS, JudgingPrices, parse_money, parse_prices
from karatage.errors import OptionError, UnknownNameError


@pytest.mark.parametrize(
    ("text", "expert", "label"),
    [
        ("A", "10", "1"),
        ("b", "5", "2"),
        (" 10:1 ", "10", "1"),
        ("2.5 : 0.5", "2.5", "0.5"),
        ("expert=4,crowd=0.05", "4", "0.25"),
        ("crowd = 0.01, expert = 1", "1", "0.05"),
        ("expert=4,label=0.3", "4", "0.3"),
    ],
)
def test_ways_to_write_prices(text, expert, label):
    prices = parse_prices(text)
    assert (prices.expert, prices.label, prices.judgments) == (Decimal(expert), Decimal(label), 5)
    assert parse_prices(str(prices)) == prices


def test_the_ratios_are_the_papers():
    """[COLLAB14] 3.5: one expert judgment costs as much as 10 labels, or two as much as 5."""
    a, b = (parse_prices(name) for name in sorted(RATIOS))
    assert 1 * a.expert == 10 * a.label
    assert 2 * b.expert == 5 * b.label


def test_how_many_judgments_make_a_label_matters():
    assert parse_prices("expert=4,crowd=0.05", judgments=3).label == Decimal("0.15")
    assert parse_prices("10:1", judgments=3).label == 1
    assert parse_prices("10:1", judgments=4).crowd == Decimal("0.25")


def test_one_crowd_judgment_has_a_price_where_it_divides():
    assert JudgingPrices(Decimal(10), Decimal(1)).crowd == Decimal("0.2")
    assert JudgingPrices(Decimal(10), Decimal(1), judgments=3).crowd is None


def test_numbers_are_taken_as_written():
    assert JudgingPrices(4, 0.1) == JudgingPrices(Decimal(4), Decimal("0.1"))
    assert parse_money(" 12.50 ", "the budget") == Decimal("12.5")
    assert parse_money(0.1, "the budget") * 3 == Decimal("0.3")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "prices"),
        ("C", "'C'"),
        ("expert=4", r"'expert=4'[^;]*\bcrowd\b"),
        ("crowd=4", r"'crowd=4'[^;]*\bexpert\b"),
        ("expert=4,crowd=1,label=5", r"crowd.*\b5\b"),
        ("expert=4,expert=5,crowd=1", "expert"),
        ("expert=-4,crowd=1", r"judgment.*-4.*\b0\b"),
        ("expert=4,crowd=0", r"judgment.*\b0\b"),
        ("expert=nan,crowd=1", "nan"),
        ("expert=4,crowd=inf", "inf"),
        ("expert=4$,crowd=1", r"'4\$'"),
        ("expert=,crowd=1", "expert.*''"),
        ("10:", "side"),
        ("-1:2", r"side.*-1.*\b0\b"),
        ("1:2:3", "'2:3'"),
        ("expert=1e10,crowd=1", r"\b1,000,000,000\b.*\b6\b"),
        ("expert=0.0000001,crowd=1", r"\b6\b"),
    ],
)
def test_what_is_no_price(text, message):
    with pytest.raises(OptionError, match=message):
        parse_prices(text)


def test_unknown_names_and_counts():
    with pytest.raises(UnknownNameError, match=r"'expart'.*'expert'"):
        parse_prices("expart=4,crowd=1")
    for judgments in (0, -1, 2.5):
        with pytest.raises(OptionError, match=r"number.*\b1\b"):
            parse_prices("A", judgments=judgments)
        with pytest.raises(OptionError, match=r"number.*\b1\b"):
            JudgingPrices(Decimal(1), Decimal(1), judgments)
    with pytest.raises(OptionError, match="'None'"):
        JudgingPrices(None, Decimal(1))
