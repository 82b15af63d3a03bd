"""The table of usual judges."""

import json

import pytest

from karatage.decisions.bias import FAMILIES, FILE, load_usual_biases, read_usual_biases
from karatage.errors import DataError

ROW = {"level": -2, "slope": 3, "doubt": 0.5, "degrees": 4, "alone_level": -3, "alone_doubt": 0.8}
ROWS = [{"family": family, **ROW} for family in FAMILIES]


def write(rows, known=1):
    return json.dumps({"format": known, "families": rows})


def test_the_table_of_the_package_is_usable():
    for usual in load_usual_biases().values():
        assert usual.weigh(0.7).argmax() > 0
        assert usual.weigh(0.5).argmax() < usual.weigh(0.9).argmax()  # worse judges are more biased


def test_a_table_is_read():
    found = read_usual_biases(write(ROWS), FILE)
    assert {(usual.level, usual.slope, usual.doubt, usual.degrees) for usual in found.values()} == {(-2, 3, 0.5, 4)}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "null",
        json.dumps({"format": 1}),
        write(ROWS[:1]),
        write([*ROWS, {**ROWS[0], "family": "other"}]),
        write(ROWS, known=2),
        write([ROWS[0], {"family": "graded"}]),
        *(write([ROWS[0], {**ROWS[1], "doubt": doubt}]) for doubt in (0, -1, "x", None, float("nan"), float("inf"))),
        write([ROWS[0], {**ROWS[1], "level": float("inf")}]),
        write(5),
    ],
)
def test_a_bad_table_is_refused_by_name(text):
    with pytest.raises(DataError, match=r"^table\.json: .*; python -m benchmarks\.bias"):
        read_usual_biases(text, "table.json")
