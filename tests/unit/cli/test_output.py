"""Unit tests of printing."""

import polars as pl
import pytest
from rich.cells import cell_len

from karatage.cli.options import parse_columns
from karatage.cli.output import choose_style, write_paragraphs
from karatage.errors import OptionError
from karatage.views.table import Table
from karatage.views.text import print_lines, show_table

HOSTILE = [
    "<script>alert(1)</script>",
    "[bold]markup[/bold]",
    "日本語" * 40,
    "x" * 10_000,
    "a\tb\nc",
    "🎉" * 60,
    "שלום",
]


def test_names_are_cut_to_the_width_of_the_screen_and_numbers_never():
    frame = pl.DataFrame({"system": HOSTILE, "approach": HOSTILE, "score": 0.1234, "tau": -0.5678})
    text = print_lines(show_table(Table(frame, "title")))
    lines = text.splitlines()
    assert max(cell_len(line) for line in lines) <= 80
    assert sum("0.1234   -0.5678" in line for line in lines) == len(HOSTILE)
    assert "[bold]markup" in text
    assert "<script>" in text


def test_a_short_column_leaves_its_room_to_a_long_one():
    name = "a-name-of-forty-characters-0123456789-ab"
    frame = pl.DataFrame({"approach": [name], "measure": ["AP"], "tau": [0.5]})
    assert name in print_lines(show_table(Table(frame, "")))


def test_paragraphs_wrap_and_markup_is_text():
    assert write_paragraphs("[red]x[/red] " * 12) == "\n".join([" ".join(["[red]x[/red]"] * 6)] * 2) + "\n"


@pytest.mark.parametrize(
    ("style", "output", "expected"),
    [
        (None, "-", "table"),
        (None, "a.json", "json"),
        (None, "a.tsv.gz", "tsv"),
        (None, "a.parquet", "parquet"),
        ("json", "a.tsv", "json"),
    ],
)
def test_the_format_is_asked_for_or_told_by_the_ending(style, output, expected):
    assert choose_style(style, output) == expected


def test_columns_are_pairs_of_role_and_name():
    assert parse_columns("judge=team, grade=label 2") == {"judge": "team", "grade": "label 2"}
    assert parse_columns(None) is None
    with pytest.raises(OptionError, match="role=column"):
        parse_columns("judge")
