"""Numbers, arrays and tables as JSON can hold them, and back."""

from __future__ import annotations

import json
import math
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from polars.testing import assert_frame_equal

from karatage.data.as_json import (
    TableRows,
    encode_json,
    plain_array,
    plain_columns,
    plain_number,
    plain_rows,
    plain_types,
    write_json,
)
from karatage.data.entries import Entries
from karatage.data.from_json import (
    read_columns,
    read_flags,
    read_nested,
    read_numbers,
    read_table,
    read_whole_numbers,
)
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


def through(facts: dict[str, object]) -> Entries:
    return Entries(json.loads(write_json(facts)))


@given(arrays(np.float64, array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4)))
def test_arrays_come_back_to_the_last_digit(array):
    found = through({"array": plain_array(array)})
    assert np.array_equal(read_numbers(found, "array", *array.shape), array, equal_nan=True)
    assert np.array_equal(read_nested(found, "array", len(array)), array, equal_nan=True)


@given(st.floats())
def test_numbers_come_back_to_the_last_digit(number):
    found = through({"number": plain_number(number)}).real("number")
    assert found == number or (math.isnan(found) and math.isnan(number))


def test_whole_numbers_and_flags_come_back():
    found = through({"whole": [[1, 2], [0, 5]], "flags": plain_array(np.array([True, False]))})
    assert read_whole_numbers(found, "whole", 2, 2, below=6).tolist() == [[1, 2], [0, 5]]
    assert read_flags(found, "flags", 2).tolist() == [True, False]


@pytest.mark.parametrize("frame", [FRAME, FRAME.clear(), FRAME[:1]])
def test_tables_come_back_with_their_types(frame):
    found = through({"table": plain_rows(frame), "types": plain_types({"table": frame})})
    assert_frame_equal(read_table(found, "table"), frame)
    found = through({"table": plain_columns(frame)})
    assert_frame_equal(read_columns(found, "table"), frame)


@pytest.mark.parametrize(
    ("types", "row", "told"),
    [
        ({"a": "int8"}, {"a": 128}, "table: a has 128, not a whole number from -128 to 127"),
        ({"a": "int8"}, {"a": 1.5}, "table: a has 1.5 in place 1, not a whole number"),
        ({"a": "int8"}, {"a": True}, "table: a has True in place 1, not a whole number"),
        ({"a": "float"}, {"a": "1.5"}, "table: a has '1.5' in place 1, not a number"),
        ({"a": "float"}, {"a": False}, "table: a has False in place 1, not a number"),
        ({"a": "float"}, {"a": 10**400}, "table: a has 1000"),
        ({"a": "text"}, {"a": 3}, "table: a has 3 in place 1, not text"),
        ({"a": "bool"}, {"a": 1}, "table: a has 1 in place 1, not true or false"),
        ({"a": "nothing"}, {"a": 1}, "table: a has 1 in place 1, not null"),
        ({"a": "money2"}, {"a": "much"}, "an amount of money that is no number"),
        ({"a": "money2"}, {"a": 1.5}, "table: a has 1.5 in place 1, not text"),
        ({"a": "money"}, {"a": "1"}, "money has money0 to money12"),
        ({"a": "int7"}, {"a": 1}, "is of type 'int7', which is none of text, bool"),
        ({"a": "text"}, {}, r"table\[0\].a is missing"),
        ({"a": "text"}, {"a": "", "b": 1}, r"table\[0\].b has no type in types.table"),
        ({"a": 3}, {"a": ""}, "types.table.a is 3, not text"),
    ],
)
def test_cells_that_cannot_be_are_named(types, row, told):
    with pytest.raises(DataError, match=told):
        read_table(Entries({"table": [row], "types": {"table": types}}), "table")


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"a": {"type": "text", "names": ["x"], "values": [1]}}, "has 1, not a whole number from 0 to 0"),
        ({"a": {"type": "text", "names": ["x", "x"], "values": [1]}}, "has 'x' twice"),
        ({"a": {"type": "text", "names": ["x"], "values": [0.5]}}, "has 0.5 in place 1, not a whole number"),
        ({"a": {"type": "float", "values": [1.0]}, "b": {"type": "float", "values": []}}, "unequal length: 0, 1"),
        ({"a": {"type": "float"}}, "table.a.values is missing"),
    ],
)
def test_columns_that_cannot_be_are_named(columns, told):
    with pytest.raises(DataError, match=told):
        read_columns(Entries({"table": columns}), "table")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([1.0], "x has 1 entries, not 2"),
        ([[1.0], 2.0], r"x\[1\] is 2.0, not a list"),
        ([[1.0, 2.0], [3.0, 4.0]], r"x\[0\] has 2 entries, not 1"),
        ([[1.0], ["many"]], "x has 'many' in place 2, not a number"),
        ("text", "x is 'text', not a list"),
    ],
)
def test_arrays_of_another_shape_are_refused(value, told):
    with pytest.raises(DataError, match=told):
        read_numbers(Entries({"x": value}), "x", 2, 1)


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
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json({"a": math.nan})


def test_rows_made_while_they_are_written_are_those_of_the_table():
    frame = pl.DataFrame({"a": [1, 2, 3], "b": [0.5, None, math.inf], "c": ["x", "y", None]})
    rows = TableRows(frame)
    assert list(rows) == plain_rows(frame) == rows[:]
    assert (len(rows), rows[1]) == (3, plain_rows(frame)[1])
    for table in (frame, frame.head(0)):
        text = write_json({"rows": TableRows(table)})
        assert text == write_json({"rows": plain_rows(table)})
        assert encode_json({"rows": TableRows(table)}) == f"{text}\n".encode()
