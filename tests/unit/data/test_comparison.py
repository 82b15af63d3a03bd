"""What a comparison says, in words, tables and JSON."""

from __future__ import annotations

import json
import math

import pytest

from karatage.data.comparison import Comparison, Opinion, find_digits, say_p
from karatage.data.estimate import Estimate, Method
from tests.notes import gives


def opinion(value: float, error: float, way: str = "judges", **more: float) -> Opinion:
    return Opinion(
        method=Method(name=way, label=way), a=None, b=None, difference=Estimate.of(value, error**2, degrees=49), **more
    )


def comparison(**parts: object) -> Comparison:
    plain: dict[str, object] = {
        "measure": "P@10",
        "a": "old",
        "b": "new",
        "approach": "mv",
        "claim": "topics like these",
        "topics": 50,
        "naive": opinion(0.061, 0.02),
        "corrected": opinion(0.023, 0.021, "sampled"),
        "gold": "gold: 100 items",
        "seed": 0,
        "versions": {},
    }
    return Comparison(**(plain | parts))


def test_a_difference_that_cannot_be_claimed() -> None:
    found = comparison(needed="About 640 more gold labels would give 80% power for 0.061.")
    assert gives(found.sentence, "new", "old", "+0.061", "P@10", "p = 0.004", "+0.023", "95%", "-0.019", "+0.065", 0.28)
    assert found.sentence.endswith(found.needed)
    assert not found.significant
    assert not found.significant
    assert found.p_value == found.corrected.p_value


@pytest.mark.parametrize(("value", "better"), [(0.1, "new"), (-0.1, "old")])
def test_the_better_system_is_named(value: float, better: str) -> None:
    found = comparison(corrected=opinion(value, 0.02, "sampled"))
    assert found.significant
    assert gives(found.sentence, "p < 0.001", better, found.claim)


def test_without_gold_the_judges_decide_but_nothing_is_claimed() -> None:
    found = comparison(gold=None, corrected=None)
    assert found.p_value == found.naive.p_value
    assert not found.significant
    chance = comparison(gold=None, corrected=None, naive=opinion(0.01, 0.02))
    assert chance.naive.p_value > 0.05 > found.naive.p_value
    assert gives(chance.sentence, "+0.010")


@pytest.mark.parametrize(("refusal", "end"), [("too few", "too few."), ("written alike?", "written alike?")])
def test_a_refusal_has_no_p_value(refusal: str, end: str) -> None:
    found = comparison(corrected=None, refusal=refusal)
    assert found.sentence.endswith(end)
    assert found.p_value is None
    assert not found.significant
    assert [o.way for o in found.opinions] == ["judges"]


@pytest.mark.parametrize(("claim", "word"), [("these topics only", "exactly"), ("topics like these", "every")])
def test_what_needs_no_interval(claim: str, word: str) -> None:
    found = comparison(claim=claim, corrected=opinion(0.05, 0.0, "sampled"))
    assert gives(found.sentence, "+0.050", word)
    assert gives(found.sentence, "+0.050", "new", claim)


@pytest.mark.parametrize("way", ["rates", "sampled"])
def test_nothing_is_claimed_against_an_alarm(way: str) -> None:
    found = comparison(corrected=opinion(0.1, 0.02, way), alarm="apart; get gold")
    assert found.doubted
    assert not found.significant
    assert gives(found.sentence, "apart; get gold")
    assert comparison(corrected=opinion(0.1, 0.02, way)).significant


def test_systems_that_cannot_differ() -> None:
    found = comparison(same="the same documents in the top 10", naive=opinion(0.0, 0.0), corrected=None)
    assert gives(found.sentence, "old", "new", found.same)
    assert not found.significant


def test_another_test_replaces_the_intervals_p_value() -> None:
    assert opinion(0.1, 0.02, test_p_value=0.2).p_value == 0.2
    assert not opinion(0.1, 0.02, test_p_value=0.2).significant
    assert opinion(0.01, 0.02, test_p_value=0.001).significant


def test_json_has_no_numbers_that_are_none() -> None:
    unknown = opinion(0.1, math.nan)
    found = comparison(naive=unknown, corrected=opinion(0.2, math.inf, "sampled"), others=(unknown,))
    told = json.loads(found.to_json(), parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert told["naive"]["p_value"] is None
    assert told["corrected"]["difference"]["high"] == "infinite"
    assert told["significant"] is False
    assert found.to_frame()["decisive"].to_list() == [False, True, False]
    assert "nan" not in found.sentence


def test_the_frame_has_a_row_per_opinion() -> None:
    frame = comparison(others=(opinion(0.04, 0.03, "rates"),)).to_frame()
    assert frame["opinion"].to_list() == ["judges", "sampled", "rates"]
    assert frame["decisive"].to_list() == [False, True, False]
    assert frame["difference"].to_list() == [0.061, 0.023, 0.04]


@pytest.mark.parametrize(("error", "digits"), [(0.021, 3), (0.5, 2), (0.00034, 5), (1e-9, 6), (30, 2), (math.inf, 3)])
def test_digits_follow_the_standard_error(error: float, digits: int) -> None:
    assert find_digits(opinion(0.1, error).difference) == digits


def test_digits_of_zero() -> None:
    assert find_digits(opinion(0.0, 0.0).difference) == 3


@pytest.mark.parametrize(
    ("p_value", "said"), [(0.0, "< 0.001"), (0.0171, "= 0.017"), (0.0999, "= 0.10"), (0.85413, "= 0.85"), (1, "= 1.00")]
)
def test_p_values_as_one_reads_them(p_value: float, said: str) -> None:
    assert say_p(p_value) == said
