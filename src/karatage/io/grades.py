"""From labels as people write them to grades."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from karatage.data.axes import BoolArray, GradeArray
from karatage.data.judgments import HIGHEST_GRADE
from karatage.errors import OptionError, RowError
from karatage.text import hint_decimal, shorten

DROP = "drop"
GradeMap = Mapping[str | int, int | str | None]


@dataclass(frozen=True)
class Scale:
    """What labels mean: some by a mapping (None = leave out), whole numbers as they are, up to `top`."""

    mapping: dict[str, int | None] = field(default_factory=dict)
    top: int | None = None

    def grade(self, label: str | None) -> float | None:
        """The grade a label stands for, perhaps a fraction; None = left out; ValueError says what is wrong."""
        text = "" if label is None else label.strip()
        if text in self.mapping:
            return self.mapping[text]
        try:
            number = float(text) if "_" not in text else math.nan
        except ValueError:
            number = math.nan
        key = str(int(number)) if math.isfinite(number) and number == int(number) else text
        if key in self.mapping:
            return self.mapping[key]
        if not text:
            raise ValueError("the grade is missing; remove the row, or leave such rows out with --grades '=drop'")
        if not math.isfinite(number):
            example = f"--grades '{shorten(text, 20)}=GRADE,...' (or ={DROP} to leave it out)"
            hint = hint_decimal(text) or f"; say what it means: {example}"
            raise ValueError(f"grade '{shorten(text)}' is not a number{hint}")
        if number < 0:
            example = f"--grades '{key}={DROP}' or '{key}=0'"
            raise ValueError(f"grade '{shorten(text)}' is negative; say what it means: {example}")
        top = HIGHEST_GRADE if self.top is None else self.top
        if number > top:
            fix = "pass --grades to widen the scale" if self.top is not None else "map it with --grades"
            raise ValueError(f"grade '{shorten(text)}' is outside 0-{top}; {fix}")
        return number


@dataclass(frozen=True, eq=False)
class Graded:
    """A column of labels as grades."""

    grade: GradeArray  # (row,) whatever `kept` says
    kept: BoolArray  # (row,)
    fractional: BoolArray  # (row,) rounded, halves up


def parse_scale(grades: str | GradeMap | None) -> Scale:
    """Read a scale: `0-3`, or a mapping `no=0,yes=1,broken=drop`, or both, or a dict.

    >>> parse_scale("0-3, -2=drop")
    Scale(mapping={'-2': None}, top=3)
    """
    if grades is None:
        return Scale()
    if isinstance(grades, Mapping):
        return Scale({str(label): _target(str(label), value) for label, value in grades.items()})
    mapping: dict[str, int | None] = {}
    top = None
    for part in grades.split(","):
        label, equals, value = part.strip().rpartition("=")
        if equals:
            mapping[label.strip()] = _target(label, value.strip())
        elif re.fullmatch(r"0-\d{1,3}", value) and int(value[2:]) <= HIGHEST_GRADE:
            top = int(value[2:])
        else:
            raise OptionError(f"grades '{shorten(part)}' is neither a scale like 0-3 nor a mapping like yes=1")
    beyond = next((label for label, grade in mapping.items() if top is not None and (grade or 0) > top), None)
    if beyond is not None:
        raise OptionError(f"grades: '{shorten(beyond)}={mapping[beyond]}' is outside the scale 0-{top}")
    return Scale(mapping, top)


def _target(label: str, value: int | str | None) -> int | None:
    if value is None or value == DROP:
        return None
    if isinstance(value, bool) or not re.fullmatch(r"\d{1,3}", str(value)) or int(value) > HIGHEST_GRADE:
        raise OptionError(f"grades: '{shorten(label)}={value}' must map to 0-{HIGHEST_GRADE} or to {DROP}")
    return int(value)


def convert(labels: pl.Series, scale: Scale) -> Graded:
    """Grades for a column of labels; RowError at the first that has none."""
    labels = labels.fill_nan(None) if labels.dtype.is_float() else labels
    labels = labels if labels.dtype.is_numeric() else labels.cast(pl.String)
    distinct = labels.unique(maintain_order=True)
    meaning: list[float] = []
    problems: dict[int, str] = {}
    for k, label in enumerate(distinct.cast(pl.String).to_list()):
        try:
            grade = scale.grade(label)
        except ValueError as problem:
            problems[k] = str(problem)
            grade = None
        meaning.append(math.nan if grade is None else grade)
    table = pl.DataFrame({"label": distinct, "k": np.arange(len(distinct), dtype=np.int32)})
    joined = pl.DataFrame({"label": labels}).join(
        table, on="label", how="left", nulls_equal=True, maintain_order="left"
    )
    code = joined["k"].to_numpy()
    if problems:
        row = int(np.flatnonzero(np.isin(code, list(problems)))[0])
        raise RowError(row, problems[int(code[row])])
    value = np.array(meaning)
    whole = np.floor(np.nan_to_num(value) + 0.5)
    fraction = np.isfinite(value) & (value != whole)
    return Graded(whole.astype(np.int8)[code], np.isfinite(value)[code], fraction[code])
