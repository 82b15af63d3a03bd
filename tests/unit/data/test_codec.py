"""Dataclasses, numbers, arrays and tables as JSON can hold them, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from polars.testing import assert_frame_equal

from karatage.data.axes import BoolArray, FloatArray, LongArray
from karatage.data.codec import Columns, structure, unstructure
from karatage.data.plain import TableRows, encode_json, make_rows, plain_rows, write_json
from karatage.errors import DataError

FRAME = pl.DataFrame(
    {
        "name": ["a", None, "a", "<&>"],
        "flag": [True, None, False, True],
        "number": [0.1, None, math.inf, -math.inf],
        "count": [1, 2, None, 2**53 + 1],
        "price": [Decimal("0.10"), None, Decimal(3), Decimal("-1.25")],
        "nothing": [None] * 4,
    },
    schema_overrides={"price": pl.Decimal(38, 2), "nothing": pl.Null},
).with_columns(small=pl.Series([1, 2, 3, -128], dtype=pl.Int8), wide=pl.Series([0, 1, 2, 3], dtype=pl.UInt32))


class Part(NamedTuple):
    """Part of a whole."""

    value: float
    maybe: float | None = None


@dataclass(frozen=True, eq=False)
class Whole:
    """Something of every type that results have."""

    derived = ("double", "count")
    unsaved = ("log",)

    number: float = 0.5
    size: int = 1
    flag: bool = True
    choice: Literal["a", "b"] = "a"
    money: Decimal = Decimal("4.05")
    array: FloatArray = field(default_factory=lambda: np.array([1.0]))
    whole: LongArray = field(default_factory=lambda: np.array([[1, 2], [0, 5]]))
    flags: BoolArray = field(default_factory=lambda: np.array([True, False]))
    names: tuple[str, ...] = ("x",)
    pair: tuple[str, float] = ("y", 2.0)
    shares: Mapping[str, float] = field(default_factory=lambda: {"z": 0.5})
    part: Part | None = field(default_factory=lambda: Part(1.0))
    parts: tuple[Part, ...] = field(default_factory=lambda: (Part(1.0, 2.0),))
    series: pl.Series = field(default_factory=lambda: pl.Series(["d"]))
    rows: pl.DataFrame = field(default_factory=lambda: FRAME)
    columns: Columns = field(default_factory=lambda: FRAME)
    log: tuple[str, ...] = ()

    @property
    def double(self) -> float:
        return 2 * self.number

    def count(self) -> int:
        return len(self.rows)


def write(whole: Whole) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(write_json(unstructure(whole)))
    return found


def through(whole: Whole) -> Whole:
    return structure(write(whole), Whole)


def same(one: float | None, other: float | None) -> bool:
    return one == other or (one is not None and other is not None and math.isnan(one) and math.isnan(other))


def test_fields_are_written_under_their_names_and_what_follows_beside_them():
    found = write(Whole(number=math.inf, part=None, log=("a",)))
    assert list(found) == [field.name for field in fields(Whole) if field.name != "log"] + ["double", "count", "types"]
    assert (found["number"], found["double"], found["count"], found["part"]) == ("infinite", "infinite", 4, None)
    assert (found["money"], found["parts"]) == ("4.05", [{"value": 1.0, "maybe": 2.0}])
    assert found["types"]["rows"]["price"] == "money2"


def test_a_whole_comes_back():
    whole = Whole()
    found = through(whole)
    for name in ("number", "size", "flag", "choice", "money", "names", "pair", "shares", "part", "parts", "log"):
        assert getattr(found, name) == getattr(whole, name)
    for name in ("array", "whole", "flags"):
        assert np.array_equal(getattr(found, name), getattr(whole, name))
        assert getattr(found, name).dtype == getattr(whole, name).dtype
    assert found.series.to_list() == ["d"]


@given(
    arrays(np.float64, array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4)),
    arrays(np.int64, array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3)),
)
def test_arrays_come_back_to_the_last_digit(array, whole):
    found = through(Whole(array=array, whole=whole))
    assert np.array_equal(found.array, array, equal_nan=True)
    assert np.array_equal(found.whole, whole)


@given(st.floats(), st.none() | st.floats())
def test_numbers_come_back_to_the_last_digit(number, maybe):
    found = through(Whole(number=number, part=Part(number, maybe)))
    assert same(found.number, number)
    assert same(found.part.value, number)
    assert same(found.part.maybe, maybe)


@pytest.mark.parametrize("frame", [FRAME, FRAME.clear(), FRAME[:1], pl.DataFrame()])
def test_tables_come_back_with_their_types(frame):
    found = through(Whole(rows=frame, columns=frame))
    assert_frame_equal(found.rows, frame)
    assert_frame_equal(found.columns, frame)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("number", "high", "number.*'high'"),
        ("number", True, "number"),
        ("number", 10**400, r"number.*1000"),
        ("size", 1.5, r"size.*\b1\.5\b.*\b0\b"),
        ("size", True, "size"),
        ("size", 2**63, r"size.*\b9223372036854775808\b"),
        ("flag", 1, r"flag.*\b1\b"),
        ("choice", "c", "choice.*'c'"),
        ("choice", ["a"], "choice"),
        ("money", 4.05, r"money.*\b4\.05\b"),
        ("money", "1e999999", "money.*'1e999999'"),
        ("money", "NaN", "money.*'NaN'"),
        ("names", "xyz", "names.*'xyz'"),
        ("names", ["x", 5], r"names.*\b5\b"),
        ("pair", ["y"], r"pair.*\b1\b.*\b2\b"),
        ("shares", [], "shares"),
        ("shares", {"z": "all"}, r"shares\.z.*'all'"),
        ("part", [1.0], "object"),
        ("part", {}, r"part\.value"),
        (
            "parts",
            [{"value": 1.0, "maybe": None}, {"value": "x", "maybe": None}],
            "value.*'x'",
        ),
        ("array", [[1.0], 2.0], r"\b2\.0\b"),
        ("array", [[1.0], [3.0, 4.0]], r"\b2\b.*\b1\b"),
        ("array", [[1.0], ["many"]], r"array.*'many'.*\b2\b"),
        ("array", [1.0, 10**400], r"array.*1000"),
        ("array", "text", "array.*'text'"),
        ("array", {"shape": [2, 3]}, "array.*'shape'.*list"),
        ("array", {"shape": [0, -1]}, "array.*'shape'.*list"),
        ("array", {"shape": [0, 2**40]}, "array.*'shape'.*list"),
        ("whole", [1, 2.5], r"whole.*\b2\.5\b.*\b2\b"),
        ("whole", [2**63], r"whole.*\b9223372036854775808\b"),
        ("flags", [1], r"flags.*\b1\b"),
        ("series", ["a", None], "series"),
        ("types", [], "types"),
        ("columns", {"a": {"type": "text", "names": ["x"], "values": [1]}}, r"\b1\b.*\b0\b"),
        (
            "columns",
            {"a": {"type": "text", "names": ["x", "x"], "values": [1]}},
            r"columns\.a\.names",
        ),
        ("columns", {"a": {"type": "text", "names": [1], "values": [0]}}, r"columns\.a\.names"),
        ("columns", {"a": {"type": "text", "names": ["x"], "values": [0.5]}}, r"\b0\.5\b.*\b1\b"),
        ("columns", {"a": {"type": "float"}}, r"columns\.a\.values"),
        ("columns", {"a": 1}, r"columns\.a.*\b1\b"),
        (
            "columns",
            {"a": {"type": "float", "values": [1.0]}, "b": {"type": "float", "values": []}},
            r"\b0\b.*\b1\b",
        ),
    ],
)
def test_what_is_not_as_it_should_be_is_refused_by_its_place(name, value, told):
    with pytest.raises(DataError, match=told):
        structure({**write(Whole()), name: value}, Whole)


@pytest.mark.parametrize(
    ("types", "row", "told"),
    [
        ({"a": "int8"}, {"a": 128}, "a"),
        ({"a": "int8"}, {"a": 1.5}, r"a.*\b1\.5\b.*\b1\b"),
        ({"a": "int8"}, {"a": True}, r"column.*\b1\b"),
        ({"a": "float"}, {"a": "1.5"}, r"a.*'1\.5'.*\b1\b"),
        ({"a": "float"}, {"a": False}, r"column.*\b1\b"),
        ({"a": "float"}, {"a": 10**400}, r"a.*1000"),
        ({"a": "text"}, {"a": 3}, r"a.*\b3\b.*\b1\b"),
        ({"a": "bool"}, {"a": 1}, r"a.*\b1\b"),
        ({"a": "nothing"}, {"a": 1}, r"a.*\b1\b"),
        ({"a": "money2"}, {"a": "much"}, "money"),
        ({"a": "money2"}, {"a": 1.5}, r"a.*\b1\.5\b.*\b1\b"),
        ({"a": "money"}, {"a": "1"}, "money"),
        ({"a": "int7"}, {"a": 1}, "'int7'"),
        ({"a": "text"}, {}, "rows"),
        ({"a": "text"}, {"a": "", "b": 1}, "rows"),
        ({"a": 3}, {"a": ""}, r"column.*\b3\b"),
        ([], {"a": ""}, "columns"),
        ({"a": "text"}, 5, r"rows.*\b5\b"),
    ],
)
def test_cells_that_cannot_be_are_named(types, row, told):
    with pytest.raises(DataError, match=told):
        structure({**write(Whole()), "rows": [row], "types": {"rows": types}}, Whole)


def test_the_whole_has_to_be_an_object():
    with pytest.raises(DataError, match="object"):
        structure([1], Whole)


def test_rows_stand_on_one_line_each():
    text = write_json({"kind": "test", "rows": [{"a": 1, "b": [2, 3]}, {"a": 4}], "flat": [1, 2], "empty": {}})
    assert text.splitlines() == [
        "{",
        '  "kind": "test",',
        '  "rows": [',
        "    {",
        '      "a": 1,',
        '      "b": [2, 3]',
        "    },",
        '    {"a": 4}',
        "  ],",
        '  "flat": [1, 2],',
        '  "empty": {}',
        "}",
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(), part, max_size=3),
)


@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=4))
def test_the_text_says_what_the_facts_do(facts):
    assert json.loads(write_json(facts)) == facts


def test_a_number_that_json_does_not_know_is_a_mistake_of_ours():
    with pytest.raises(ValueError, match="JSON"):
        write_json({"a": math.nan})


def test_rows_made_while_they_are_written_are_those_of_the_table():
    frame = pl.DataFrame({"a": [1, 2, 3], "b": [0.5, None, math.inf], "c": ["x", "y", None]})
    rows = TableRows(frame)
    assert list(rows) == plain_rows(frame) == rows[:] == make_rows({"rows": rows})["rows"]
    assert (len(rows), rows[1]) == (3, plain_rows(frame)[1])
    for table in (frame, frame.head(0)):
        text = write_json({"rows": TableRows(table)})
        assert text == write_json({"rows": plain_rows(table)})
        assert encode_json({"rows": TableRows(table)}) == f"{text}\n".encode()
