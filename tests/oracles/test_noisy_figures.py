"""The worked numbers of [NOISY18], to the digits given, from the library and from the command line."""

from __future__ import annotations

import json

import pytest

import karatage as kt
from karatage.data.comparison import Comparison, Opinion
from karatage.errors import OptionError
from tests.invoking import invoke
from tests.notes import gives

EBAY = ("10278,0.6260,0.414", "20604,0.6385,0.402", "43/59,67/84")
TREC = ("50,0.527,0.240", "50,0.513,0.260", "17/38,216/262", "14/50,230/285")


def ebay(**options: str) -> Comparison:
    a, b = kt.Figures(10278, 0.6260, 0.414), kt.Figures(20604, 0.6385, 0.402)
    return kt.compare_figures(a, b, kt.RateCounts(43, 59, 67, 84), **options)


def find(found: Comparison, way: str) -> Opinion:
    return next(opinion for opinion in found.opinions if opinion.way == way)


def run(*arguments: str) -> str:
    result = invoke(["compare", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def by_command(*more: str) -> str:
    a, b, rates = EBAY
    return run("--figures-a", a, "--figures-b", b, "--rates", rates, *more)


def test_ebay_naive() -> None:
    naive = ebay().naive
    assert round(naive.difference.value / naive.difference.standard_error, 3) == 2.524
    assert round(naive.p_value, 4) == 0.0116


def test_ebay_corrected() -> None:
    for opinion in ebay().opinions[1:3]:
        assert opinion.a is not None
        assert opinion.b is not None
        assert (round(opinion.a.value, 4), round(opinion.b.value, 4)) == (0.8047, 0.8284)
        assert (round(opinion.a.standard_error, 4), round(opinion.b.standard_error, 4)) == (0.0903, 0.0923)


def test_ebay_tests() -> None:
    found = ebay()
    assert found.corrected is find(found, "shared judges")
    shared = found.corrected.difference
    assert round(shared.value / shared.standard_error, 3) == 2.384
    assert round(found.corrected.p_value, 3) == 0.017
    alone = ebay(judges="independent")
    assert alone.corrected is find(alone, "independent judges")
    assert round(alone.corrected.p_value, 3) == 0.854


def test_ebay_by_the_command() -> None:
    rows = [line.split() for line in by_command("-q").splitlines()]
    judges, shared, alone = (
        next(row for row in rows if row[: len(name)] == name and any(cell.startswith("+") for cell in row))
        for name in (["judges"], ["shared", "judges"], ["independent", "judges"])
    )
    assert judges[1:] == ["+0.0125", "0.0050", "+2.524", "+0.0028", "+0.0222", "0.0116"]
    assert shared[2:5] == ["+0.0237", "0.0100", "+2.384"]
    assert shared[-1] == "0.0171"
    assert alone[-1] == "0.8541"
    assert ["shared", "judges", "0.8047", "0.0903", "0.8284", "0.0923"] in rows


def test_ebay_by_the_command_as_json() -> None:
    told = json.loads(by_command("-f", "json", "-q"))
    assert round(told["naive"]["p_value"], 4) == 0.0116
    assert round(told["corrected"]["a"]["value"], 4) == 0.8047
    assert round(told["corrected"]["b"]["standard_error"], 4) == 0.0923
    assert round(told["p_value"], 3) == 0.017
    alone = json.loads(by_command("--judges", "independent", "-f", "json", "-q"))
    assert round(alone["p_value"], 3) == 0.854
    assert alone["significant"] is False


def test_trec_is_refused() -> None:
    figures = kt.Figures(50, 0.527, 0.240), kt.Figures(50, 0.513, 0.260)
    found = kt.compare_figures(*figures, kt.RateCounts(17, 38, 216, 262), rates_b=kt.RateCounts(14, 50, 230, 285))
    assert found.corrected is None
    assert gives(found.refusal, "0.527 > 0.447", "0.513 > 0.280")


def test_trec_by_the_command() -> None:
    a, b, rates, rates_b = TREC
    arguments = ["--figures-a", a, "--figures-b", b, "--rates", rates, "--rates-b", rates_b, "-q"]
    assert "0.527 > 0.447" in " ".join(run(*arguments).split())
    told = json.loads(run(*arguments, "-f", "json"))
    assert told["corrected"] is told["p_value"] is None
    planned = invoke(["plan", *arguments, "-f", "json"])
    assert json.loads(planned.stdout)["topics_without_errors"] == 2454


def test_dcg_by_the_command() -> None:
    shown = invoke(["experiment", "noisy", "--preset", "dcg", "-q"])
    assert shown.exit_code == 0
    assert "0.565465" in shown.stdout
    assert "0.482132" in shown.stdout


@pytest.mark.parametrize("level", ["0", "1", "2"])
def test_levels_that_are_none(level: str) -> None:
    a, b, rates = EBAY
    arguments = ["compare", "--figures-a", a, "--figures-b", b, "--rates", rates, "--confidence", level]
    done = invoke(arguments)
    assert isinstance(done.exception, OptionError)
    assert gives(done.exception, "confidence", 0, 1)
