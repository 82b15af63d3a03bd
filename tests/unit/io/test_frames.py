"""Frames of pandas: every kind of column, gaps, indices and mixtures, with and without pyarrow."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import karatage as kt
from karatage.errors import DataError, KaratageError
from karatage.io.frames import as_frame, is_frame
from tests.notes import gives

TEXT = ["a", "b", None]
DAYS = ["2024-01-02", "2024-01-03 04:05:06", None]
COLUMNS = {
    "default text": (pd.Series(TEXT), pl.String, TEXT),
    "object": (pd.Series(TEXT, dtype=object), pl.String, TEXT),
    "object with NaN": (pd.Series(["a", "b", np.nan], dtype=object), pl.String, TEXT),
    "string": (pd.Series(TEXT, dtype="string[python]"), pl.String, TEXT),
    "category": (pd.Series(TEXT, dtype="category"), pl.String, TEXT),
    "category of numbers": (pd.Series(pd.Categorical([3, 1, None], [1, 3])), pl.Int64, [3, 1, None]),
    "unused category": (pd.Series(pd.Categorical(["b", "a", None], ["c", "b", "a"])), pl.String, ["b", "a", None]),
    "whole": (pd.Series([2, 1, 0]), pl.Int64, [2, 1, 0]),
    "small": (pd.Series([2, 1, 0], dtype="uint8"), pl.UInt8, [2, 1, 0]),
    "whole with gaps": (pd.Series([2, 1, None], dtype="Int64"), pl.Int64, [2, 1, None]),
    "fractions": (pd.Series([0.5, 1, None]), pl.Float64, [0.5, 1.0, None]),
    "fractions with gaps": (pd.Series([0.5, 1, None], dtype="Float64"), pl.Float64, [0.5, 1.0, None]),
    "numbers as objects": (pd.Series([1, 2.5, None], dtype=object), pl.Float64, [1.0, 2.5, None]),
    "yes or no": (pd.Series([True, False, True]), pl.Boolean, [True, False, True]),
    "yes or no with gaps": (pd.Series([True, False, None], dtype="boolean"), pl.Boolean, [True, False, None]),
    "nothing": (pd.Series([None, None, None], dtype=object), pl.Null, [None, None, None]),
    "times": (
        pd.Series(pd.to_datetime(DAYS, format="ISO8601")),
        pl.Datetime,
        [None if day is None else pd.Timestamp(day).to_pydatetime() for day in DAYS],
    ),
}
READ = """
import sys
sys.modules["pyarrow"] = None
from tests.unit.io import test_frames as tests
from tests.notes import gives
print(tests.describe())
"""


def describe():
    """Everything above as karatage reads it."""
    found = {kind: as_frame(pd.DataFrame({"column": given})) for kind, (given, _, _) in COLUMNS.items()}
    told = {kind: [str(frame.schema), str(frame.rows())] for kind, frame in found.items()}
    judged = kt.read_judgments(make_crowd()).to_frame()
    return json.dumps(told | {"judgments": [str(judged.schema), str(judged.rows())]})


def make_crowd(**change):
    columns = {"judge": ["ann", "ann", "bob"], "topic": [1, 2, 1], "document": ["d1", "d2", "d1"], "grade": [1, 0, 2]}
    return pd.DataFrame(columns | change)


@pytest.mark.parametrize("kind", COLUMNS)
def test_every_kind_of_column_is_read(kind):
    given, expected, values = COLUMNS[kind]
    for source in (pd.DataFrame({"column": given}), {"column": given}):
        assert is_frame(source)
        column = as_frame(source)["column"]
        assert column.dtype == expected
        assert column.to_list() == values


def test_without_pyarrow_the_same_is_read():
    ended = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, check=False)
    assert ended.stderr == ""
    assert json.loads(ended.stdout) == json.loads(describe())


def test_named_levels_of_an_index_are_columns():
    crowd = make_crowd()
    expected = kt.read_judgments(crowd).to_frame()
    for frame in (
        crowd.set_index("judge"),
        crowd.set_index(["topic", "document"]),
        crowd.set_index("topic", drop=False),
        crowd.astype({"judge": "category"}).set_index("judge"),
        crowd.set_index(pd.Index([7, 7, 7])),
        crowd.set_index(pd.Index([7, 7, 7], name="grade")),  # the column counts
    ):
        assert kt.read_judgments(frame).to_frame().equals(expected)


def test_names_that_are_no_text_or_come_twice():
    assert as_frame(pd.DataFrame({0: [1], ("a", 1): [2]})).columns == ["0", "('a', 1)"]
    twice = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    with pytest.raises(DataError, match="'a'"):
        as_frame(twice)


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        ({"topic": [1, "2b", 1]}, [2, "'topic'", "text", "number"]),
        (
            {"document": ["d1", None, 3]},
            [3, "'document'", "number", "text"],
        ),
        ({"grade": ["yes", 1, "no"]}, [2, "'grade'", "number", "text"]),
        ({"grade": [object(), 1, 2]}, [1, "'grade'", "object"]),
        ({"judge": ["ann", None, "bob"]}, [2, "judge", "missing"]),
        ({"topic": [1.0, None, 2.0]}, [2, "topic", "missing"]),
    ],
)
def test_mixtures_and_gaps_name_the_row(change, facts):
    with pytest.raises(KaratageError) as refused:
        kt.read_judgments(make_crowd(**change))
    assert gives(refused.value, "table", "row", *facts)


def test_a_mixture_in_a_column_that_nobody_needs_does_no_harm():
    given = kt.read_judgments(make_crowd(comment=["fine", 3, [4]]))
    assert given.to_frame().equals(kt.read_judgments(make_crowd()).to_frame())


def test_runs_and_gold_are_read_too():
    frame = pd.DataFrame({"run": ["a", "a"], "qid": ["1", "1"], "docno": ["d1", "d2"], "score": [1.0, 2.0]})
    assert kt.read_runs(frame).systems == ("a",)
    assert kt.read_gold(make_crowd(judge=["g", "g", "g"], topic=[1, 2, 3])).to_frame()["grade"].to_list() == [1, 0, 2]
