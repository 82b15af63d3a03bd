"""The collaborative experiment's plan: what is tried, and what is refused."""

from fractions import Fraction

import pytest

import karatage as kt
from karatage.errors import InputFileError, KaratageError, OptionError, UnknownNameError
from karatage.experiments.collaborative.plan import Mix, find_crowd
from karatage.experiments.plans import list_presets, make_plan
from karatage.io.models import write_crowd


def test_the_default_is_the_thesis_design():
    plan = kt.experiments.CollaborativePlan()
    assert plan.expert_shares == plan.crowd_shares == (0, 2, 4, 8, 16, 32, 64)
    assert plan.measure == "Bpref"
    assert plan.per_item == 5
    assert plan.label_prices == {"A": Fraction(1, 10), "B": Fraction(2, 5)}
    assert plan.tabled == ("hcb", "careful")


def test_mixes_do_not_exceed_the_pool_and_each_is_listed_once():
    mixes = kt.experiments.CollaborativePlan().mixes
    assert len(mixes) == 7 * 6 - 1
    assert Mix(64, 64) not in mixes
    assert mixes[Mix(32, 64)] == ("ry",)
    assert mixes[Mix(4, 32)] == ("mv", "cubam", "ds", "glad", "ry", "zc")
    assert all(mix.crowd for mix in mixes)


def test_studies_decide_what_is_mixed():
    assert not kt.experiments.CollaborativePlan(studies=("orders", "finding")).mixes
    only = kt.experiments.CollaborativePlan(
        studies=("consensus",), approaches=("mv", "ds"), fixed_share=50, expert_shares=(0, 50, 64)
    )
    assert only.mixes == {Mix(0, 50): ("mv", "ds"), Mix(50, 50): ("mv", "ds")}
    assert kt.experiments.CollaborativePlan(studies=("shares",)).tabled == ()
    assert kt.experiments.CollaborativePlan(table_crowds=("careful",)).tabled == ("careful",)


def test_own_prices_count_all_judges_of_a_document():
    plan = kt.experiments.CollaborativePlan(ratios=("4:1", "expert=4,crowd=0.05"), per_item=3)
    assert list(plan.label_prices.values()) == [Fraction(1, 4), Fraction(15, 400)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"studies": ("order",)}, "'order'"),
        ({"orders": ()}, "no order"),
        ({"crowds": ("hcb", "hcb")}, "hcb"),
        ({"table_crowds": ("hcb", "hcb")}, "hcb, hcb"),
        ({"orders": ("effect",)}, "'effect'"),
        ({"expert_shares": (0, 120)}, "120"),
        ({"crowd_shares": (-2,)}, "crowd share -2 is not a percentage"),
        ({"expert_shares": (0,)}, "an expert share of 0"),
        ({"crowd_shares": (0,)}, "a crowd share of 0 is experts alone"),
        ({"fixed_share": 0}, "give it a fixed share of the pool above 0"),
        ({"approach": "nb"}, "'nb'"),
        ({"approaches": ("mv", "zc(supervision=light)")}, "grades"),
        ({"approaches": ("binmv",)}, "grades"),
        ({"ratios": ("10",)}, "'10'"),
        ({"ratios": ("0:1",)}, "side"),
        ({"ratios": ("4:-1",)}, "side"),
        ({"per_item": 0}, "whole numbers from 1"),
        ({"samples": 0}, "whole numbers from 1"),
        ({"relevant": 0}, "whole numbers from 1"),
        ({"resamples": -1}, "resamples from 0"),
        ({"seed": -1}, "a seed is a whole number from 0"),
        ({"depth": 0}, "a pool of depth 0 is empty"),
        ({"measure": "Bprof"}, "Bprof"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(options, message):
    with pytest.raises(KaratageError, match=message.replace("(", r"\(")):
        kt.experiments.CollaborativePlan(**options)


@pytest.mark.parametrize(
    ("options", "nearest"),
    [({"orders": ("meta-op",)}, "meta-ap"), ({"crowds": ("carefull",)}, "careful"), ({"approach": "dss"}, "ds")],
)
def test_unknown_names_suggest_the_nearest(options, nearest):
    with pytest.raises(UnknownNameError, match=nearest):
        kt.experiments.CollaborativePlan(**options)


def test_a_crowd_comes_by_name_or_file_with_or_without_shared_errors(tmp_path):
    shipped = find_crowd("hcb")
    write_crowd(shipped, tmp_path / "own.json")
    path = str(tmp_path / "own.json")
    assert kt.experiments.CollaborativePlan(crowds=(path, f"{path}:independent")).crowds[0] == path
    assert find_crowd(path).to_json() == shipped.to_json()
    assert find_crowd(f"{path}:independent").correlation == (0, 0, 0)
    with pytest.raises(InputFileError, match=r"gone\.json"):
        find_crowd(str(tmp_path / "gone.json"))


@pytest.mark.parametrize("preset", list_presets("collaborative"))
def test_presets_are_plans(preset):
    plan = make_plan(kt.experiments.CollaborativePlan, "collaborative", preset=preset)
    assert make_plan(kt.experiments.CollaborativePlan, "collaborative", preset=preset).fingerprint == plan.fingerprint


def test_whole_numbers_and_numbers_are_the_same_plan():
    assert kt.experiments.CollaborativePlan(expert_shares=(0, 4)) == kt.experiments.CollaborativePlan(
        expert_shares=(0.0, 4.0)
    )
    with pytest.raises(OptionError, match=r"expert share.*4\.0, 4\.0"):
        kt.experiments.CollaborativePlan(expert_shares=(4, 4.0))
