"""Tables: one frame, the same numbers on a page, in a terminal, in Markdown and in LaTeX."""

import csv
import math
import re
from dataclasses import replace
from decimal import Decimal

import polars as pl
import pytest

from karatage.errors import OptionError
from karatage.views.table import (
    Table,
    keep_finite,
    keep_first,
    label_columns,
    lay_out_table,
    mark_best,
    take_columns,
    take_rows,
    to_latex,
    to_markdown,
    write_caption,
    write_cell,
    write_table,
)
from karatage.views.text import fit_columns, print_lines, show_table, split_columns

HOSTILE = [
    '</table><script>alert("1\'&")</script>',
    r"\input{/etc/passwd} $x^2_{i}$ 100% #1 ~ {",
    "a|b `code` **bold** [link](javascript:1)\nnext line\ttab",
    "[2cm] starts a row",
    "* so does this",
    "x" * 10_000,
    "\u202eright to left \x00\x1b[31m",
    "🎉 日本語 – ∞ naïve",
    "",
]


def print_table(table, **options):
    return print_lines(show_table(table, **options))


def make_table(**options):
    frame = pl.DataFrame({"system": HOSTILE, "score_a": [0.5 + k / 100 for k in range(len(HOSTILE))]})
    return Table(frame, "By AP_10 & <b>", about="system", name="Leader board", **options)


@pytest.mark.parametrize(
    ("value", "options", "page", "terminal"),
    [
        (None, {}, "–", "-"),
        (math.nan, {}, "–", "-"),
        (math.inf, {}, "∞", "inf"),
        (-math.inf, {"signed": True}, "−∞", "-inf"),
        (math.inf, {"signed": True}, "+∞", "+inf"),
        (-0.0, {}, "0.0000", "0.0000"),
        (-0.0, {"signed": True}, "0.0000", "0.0000"),
        (0.0, {}, "0.0000", "0.0000"),
        (-1e-9, {}, "0.0000", "0.0000"),
        (1e-9, {}, "<0.0001", "< 0.0001"),
        (0.00005001, {}, "0.0001", "0.0001"),
        (1e-9, {"signed": True}, "0.0000", "0.0000"),
        (-1e-9, {"signed": True}, "0.0000", "0.0000"),
        (0.25, {"signed": True}, "+0.2500", "+0.2500"),
        (-12345.678949, {}, "−12,345.6789", "-12,345.6789"),
        (1234567, {}, "1,234,567", "1,234,567"),
        (-5, {"signed": True}, "−5", "-5"),
        (5, {"signed": True}, "+5", "+5"),
        (0, {"signed": True}, "0", "0"),
        (0.27, {"share": True, "digits": 0}, "27%", "27%"),
        (1, {"share": True, "digits": 0}, "100%", "100%"),
        (1e-9, {"share": True, "digits": 1}, "<0.1%", "< 0.1%"),
        (Decimal("1250.50"), {}, "1,250.50", "1,250.50"),
        (Decimal("5E+1"), {}, "50", "50"),
        (True, {}, "yes", "yes"),
        ("a\x00-b", {}, "a\N{REPLACEMENT CHARACTER}-b", "a\N{REPLACEMENT CHARACTER}-b"),
    ],
)
def test_a_value_as_readers_see_it(value, options, page, terminal):
    digits = options.pop("digits", 4) if "digits" in options else 4
    assert write_cell(value, digits, **options) == page
    assert write_cell(value, digits, **options, plain=True) == terminal


def test_page_cells_have_numbers_to_sort_by_and_say_whom_they_are_about():
    table = make_table(mark={"score_a": [k == 2 for k in range(len(HOSTILE))]}, signed=["score_a"])
    found = lay_out_table(table)
    assert [cell.text for cell in found.headers] == ["system", "score_a"]
    assert [cell.number for cell in found.headers] == [False, True]
    assert found.name == "Leader board"
    for row, name, score in zip(found.rows, HOSTILE, table.frame["score_a"], strict=True):
        assert row.cells[1].value == score
        assert row.cells[1].text == f"+{score:.4f}"
        assert row.cells[0].value is None
        assert len(row.cells[0].text) <= 200
        assert row.about == re.sub("[\x00\x1b\u202e]", "\ufffd", name)
    assert [row.cells[1].bold for row in found.rows] == [k == 2 for k in range(len(HOSTILE))]
    nothing = lay_out_table(Table(pl.DataFrame({"v": [math.nan, None, math.inf]}), ""))
    assert [row.cells[0].value for row in nothing.rows] == [None, None, math.inf]


def test_markdown_keeps_rows_whole_and_names_text():
    text = to_markdown(make_table(mark={"score_a": [True] + [False] * (len(HOSTILE) - 1)}))
    caption, blank, head, rule, *rows = text.removesuffix("\n").split("\n")
    assert (caption, blank) == ("By AP\\_10 &amp; &lt;b&gt;", "")
    assert (head, rule) == ("| system | score\\_a |", "| :--- | ---: |")
    assert len(rows) == len(HOSTILE)
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) == 3
        assert not re.search(r"<|(?<!\\)[`\[\]_]|\n", row)
        assert len(row) < 450
    assert "**0.5000**" in rows[0]
    assert "a\\|b \\`code\\` \\*\\*bold\\*\\* \\[link\\](javascript:1) next line tab" in rows[2]
    assert "🎉 日本語 – ∞ naïve" in rows[7]


def test_latex_has_balanced_braces_and_no_specials_of_its_own():
    text = to_latex(make_table(mark={"score_a": [True] + [False] * (len(HOSTILE) - 1)}))
    bare = re.sub(r"\\[&%$#_{}]", "", text)  # what is escaped
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    known = "begin|end|centering|caption|label|toprule|midrule|bottomrule|textbf|text[a-z]+"
    assert not re.sub(rf"\\({known})\b|\\\\$", "", bare, flags=re.MULTILINE).count("\\")
    assert not re.search("[%#^~<>]", bare)
    lines = text.splitlines()
    rows = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert len(rows) == len(HOSTILE)
    for row in rows:
        assert row.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", row)) == 1
        assert not row.startswith(("[", "*"))  # the line break before would take it for its own
        assert len(row) < 200
    assert r"\caption{By AP\_10 \& \textless{}b\textgreater{}}" in lines
    assert r"\label{tab:leader-board}" in lines
    assert r"\begin{tabular}{lr}" in lines
    assert r"\textbf{0.5000}" in rows[0]
    assert "🎉 日本語" in rows[7]


def test_numbers_in_latex():
    values = [-0.25, 1e-9, math.inf, None, 1234.5, 0.5]
    frame = pl.DataFrame({"v": values, "s": values, "p": [0.5] * 6})
    text = to_latex(Table(frame, "t", digits={"v": 2, "s": 2, "p": 0}, signed=["s"], shares=["p"]))
    cells = [row.removesuffix(r" \\").split(" & ") for row in text.splitlines() if row.count(" & ") == 2][1:]
    assert [row[0] for row in cells] == ["$-$0.25", "$<$0.01", r"$\infty$", "--", "1,234.50", "0.50"]
    assert [row[1] for row in cells] == ["$-$0.25", "0.00", r"$+$$\infty$", "--", "$+$1,234.50", "$+$0.50"]
    assert {row[2] for row in cells} == {r"50\%"}
    assert r"\label" not in text


def test_the_ending_says_how_a_table_is_written(tmp_path):
    table = make_table()
    for ending, text in (("md", to_markdown(table)), ("tex", to_latex(replace(table, name="t")))):
        write_table(table, tmp_path / f"t.{ending}")
        assert (tmp_path / f"t.{ending}").read_text() == text
    write_table(table, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["score_a"]) for row in rows] == table.frame["score_a"].to_list()
    with pytest.raises(OptionError, match=r"\.md"):
        write_table(table, tmp_path / "t.docx")


def test_terminal_page_markdown_and_latex_show_the_same_numbers():
    frame = pl.DataFrame(
        {"system": ["one", "two"], "score": [0.123456, -0.5], "gap": [0.1, -1e-9], "p": [1e-9, None], "n": [12345, 6]}
    )
    table = Table(frame, "Numbers", digits={"score": 3}, signed=["gap"])
    page = [[cell.text for cell in row.cells] for row in lay_out_table(table).rows]
    assert page == [["one", "0.123", "+0.1000", "<0.0001", "12,345"], ["two", "−0.500", "0.0000", "–", "6"]]
    lines = print_table(table).splitlines()
    terminal = [re.split(r"\s{2,}", line.strip()) for line in lines[4:6]]
    plain = {"−": "-", "–": "-", "<": "< "}
    assert terminal == [[re.sub("[−–<]", lambda m: plain[m[0]], text) for text in row] for row in page]
    marked = [line.strip("| ").split(" | ") for line in to_markdown(table).splitlines()[4:]]
    assert [[text.replace("&lt;", "<") for text in row] for row in marked] == page


def test_the_terminal_cuts_names_and_never_numbers():
    frame = pl.DataFrame(
        {
            "system": HOSTILE,
            "approach": HOSTILE[::-1],
            "score": [0.1234] * len(HOSTILE),
            "tau": [-0.5678] * len(HOSTILE),
        }
    )
    lines = print_table(Table(frame, "t")).splitlines()
    from rich.cells import cell_len

    assert max(map(cell_len, lines)) <= 80
    assert sum("0.1234   -0.5678" in line for line in lines) == len(HOSTILE)


def test_as_many_columns_as_leave_room_for_names():
    numbers = {f"score-{k:02}": [0.5] for k in range(9)}
    table = Table(pl.DataFrame({"system": ["a-name-of-twenty-six-letters"], **numbers}), "t", mark={"score-08": [True]})
    shown = fit_columns(table)
    assert list(shown.columns) == ["system", *list(numbers)[:5]]
    assert max(map(len, print_table(shown).splitlines())) <= 80
    assert len(fit_columns(Table(table.frame.select("system", "score-00"), "t")).columns) == 2
    assert "… 4 more columns; --format json has all." in print_table(table)


def test_the_first_rows_and_how_many_more():
    frame = pl.DataFrame({"judge": list("abc"), "weight": [3.0, 2.0, 1.0]})
    table = Table(frame, "t", mark=mark_best(frame, ["weight"]), about="judge")
    assert take_rows(table, 1).mark == {"weight": [True]}
    assert sum(line.startswith((" a", " b", " c")) for line in print_table(table, top=2).splitlines()) == 2
    assert "… 1 more judge; --top 0 shows all." in print_table(table, top=2)
    assert print_table(table, top=0) == print_table(table, top=3) == print_table(table)
    assert len(print_table(replace(table, about=""), top=2).splitlines()) == len(print_table(table).splitlines())


def test_columns_of_one_name_are_told_apart_by_machines_only():
    frame = pl.DataFrame({"a": [1.0], "a_error": [0.1], "b": [2.0], "b_error": [0.2]})
    table = Table(frame, "t", digits=1, columns=label_columns(frame, a_error="± s.e.", b_error="± s.e."))
    assert [cell.text for cell in lay_out_table(table).headers] == ["a", "± s.e.", "b", "± s.e."]
    assert "| a | ± s.e. | b | ± s.e. |" in to_markdown(table)
    assert "a   ± s.e.     b   ± s.e." in print_table(table)


def test_a_minus_in_a_header_is_one_where_text_is_set():
    table = Table(pl.DataFrame({"b - a": [0.5], "x − y": [0.5]}), "t", columns={"b - a": "b − a", "x − y": "x − y"})
    assert lay_out_table(table).headers[0].text == "b − a"
    assert "| b − a | x − y |" in to_markdown(table)
    assert "b $-$ a & x $-$ y" in to_latex(table)
    assert "b - a    x − y" in print_table(table)


def test_readers_see_the_columns_that_are_chosen_and_machines_all(tmp_path):
    frame = pl.DataFrame({"system": ["a"], "low": [0.1], "high": [0.2], "seed": [7]})
    table = Table(frame, "t", 1, columns={"high": "to", "system": "system"}, meanings={"high": "upper end", "low": "x"})
    assert [cell.text for cell in lay_out_table(table).headers] == ["to", "system"]
    assert lay_out_table(table).caption == write_caption(table) == "t; to: upper end"
    assert "| to | system |" in to_markdown(table)
    assert "low" not in to_latex(table)
    assert "  to   system" in print_table(table)
    write_table(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().splitlines()[0] == "system,low,high,seed"
    assert list(take_columns(table, ["system"]).columns) == ["system"]
    assert take_columns(table, ["system"]).frame is frame


def test_a_long_table_says_how_much_of_it_a_page_shows():
    table = Table(pl.DataFrame({"n": range(600)}), "t", mark={"n": [True] * 600})
    assert len(lay_out_table(keep_first(table)).rows) == 500
    assert keep_first(table).caption == "t: the first 500 of 600 rows"
    assert keep_first(take_rows(table, 3)).caption == "t"


def test_groups_have_a_heading_in_the_terminal():
    frame = pl.DataFrame({"of": ["runs", "runs", "gold"], "state": ["ok", "wrong", "ok"]})
    table = Table(frame, "t", group="of")
    assert print_table(table).split() == ["t", "state", "─────", "runs", "ok", "wrong", "gold", "ok"]
    assert "| of | state |" in to_markdown(table)


def test_long_names_are_cut_alike():
    table = Table(pl.DataFrame({"system": ["n" * 300]}), "t")
    marked, printed = (re.search("n{20,}…", write(table))[0] for write in (to_markdown, to_latex))
    assert marked == printed


def test_numbers_with_something_to_them_stand_to_the_right():
    table = Table(pl.DataFrame({"gap": ["-0.50 ± .1", "from -0.1", "a-1"], "v": ["x", "y", "z"]}), "t", right=["gap"])
    found = lay_out_table(table)
    assert [cell.number for cell in found.headers] == [True, False]
    assert [row.cells[0].text for row in found.rows] == ["−0.50 ± .1", "from −0.1", "a-1"]
    assert {row.cells[0].value for row in found.rows} == {None}
    assert "| ---: | :--- |" in to_markdown(table)
    assert r"\begin{tabular}{rl}" in to_latex(table)
    assert "$-$0.50 ± .1 & x" in to_latex(table)
    assert " from -0.1   y" in print_table(table)


def test_long_text_may_go_on_in_the_next_line():
    words = " ".join(f"word-{k}" for k in range(40))
    text = print_table(Table(pl.DataFrame({"n": ["one"], "why": [words]}), "t", wrap=["why"]))
    assert " ".join(text.split()).endswith(words.split(" ", 1)[1])
    assert max(map(len, text.splitlines())) <= 80


def test_a_star_marks_what_is_bold_elsewhere():
    frame = pl.DataFrame({"approach": ["mv", "ds"], "accuracy": [0.75, 0.5], "n": [1, 2]})
    lines = print_table(Table(frame, "t", 2, mark=mark_best(frame, ["accuracy"]))).splitlines()
    assert [line.strip() for line in lines[4:6]] == ["mv            0.75*   1", "ds            0.50    2"]
    assert lines[0] == "t; * is best"


def test_columns_that_do_not_fit_go_below():
    numbers = {f"score-{k:02}": [0.5] for k in range(12)}
    table = Table(
        pl.DataFrame({"gold": ["DGS"], "approach": ["mv"], **numbers}), "t", mark={"score-11": [True]}, keys=2
    )
    parts = list(split_columns(table))
    assert [list(part.columns)[:2] for part in parts] == [["gold", "approach"]] * 3
    assert [name for part in parts for name in list(part.columns)[2:]] == list(numbers)
    text = print_table(table)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("gold") == 3
    assert text.count("* is best") == 1


def test_wrong_marks_are_refused_everywhere():
    for mark in ({"w": [True]}, {"v": [True, False]}):
        table = Table(pl.DataFrame({"v": [1.0]}), "t", mark=mark)
        for write in (lay_out_table, to_markdown, to_latex, print_table):
            with pytest.raises(OptionError, match=r"columns.*\b1\b"):
                write(table)


def test_what_is_no_number_is_nothing():
    frame = keep_finite(pl.DataFrame({"v": [1.0, math.nan, math.inf], "n": ["a", "b", "c"], "k": [1, 2, 3]}))
    assert frame["v"].to_list() == [1.0, None, None]
    assert frame["k"].to_list() == [1, 2, 3]


def test_an_empty_table_has_its_header():
    table = Table(pl.DataFrame(schema={"system": pl.String, "score": pl.Float64}), "none")
    assert lay_out_table(table).rows == ()
    assert to_markdown(table).endswith("| system | score |\n| :--- | ---: |\n")
    assert "system & score" in to_latex(table)
    assert "system   score" in print_table(table)
