"""Every equation, algorithm, table and figure of the papers is in docs/papers.md, and what it names exists and runs."""

import re
import shlex
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from tests.invoking import invoke

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "papers.md").read_text()
LISTED = tomllib.loads((DOCS / "papers.toml").read_text())
SMALL = LISTED.pop("small")
SECTION = re.compile(r"^## [^\n]*\[([A-Z]+\d\d)\]\n(.*?)(?=^## |\Z)", re.M | re.S)
ROW = re.compile(r"^\| (?!---)(.*) \|$", re.M)
ROWS = {paper: [row.split(" | ") for row in ROW.findall(text)] for paper, text in SECTION.findall(PAGE)}
KINDS = {"equations": "Eq.", "algorithms": "Algorithm", "tables": "Table", "figures": "Figure"}
CODE = re.compile(r"`([^`]+)`")
COMMANDS = sorted({code for code in CODE.findall(PAGE) if code.startswith("karatage ")})
NAMES = sorted({code.partition("(")[0] for code in CODE.findall(PAGE) if code.startswith("kt.")})


def list_numbers(text):
    """'1-3, 2.1' as ['1', '2', '3', '2.1']."""
    for part in str(text).split(","):
        first, _, last = part.strip().partition("-")
        yield from map(str, range(int(first), int(last) + 1)) if last else (first,)


def find_numbers(cell, word):
    """The numbers of a row's first cell: 'Figure 8d-f' has '8', 'Eq. 1-3' has '1', '2' and '3'."""
    if not cell.startswith(f"{word} "):
        return
    for part in cell.removeprefix(f"{word} ").split(","):
        number, letters = re.fullmatch(r"\s*([\d.]+(?:-\d+)?)([a-z](?:-[a-z])?)?", part).groups()
        yield from ((found, letters) for found in list_numbers(number))


def test_all_papers_have_a_section():
    assert set(ROWS) == set(LISTED)


@pytest.mark.parametrize(("paper", "kind"), [(paper, kind) for paper, kinds in LISTED.items() for kind in kinds])
def test_no_number_is_missing(paper, kind):
    cells = [row[0] for row in ROWS[paper]]
    if kind == "experiments":
        expected = [(name, None) for name in LISTED[paper][kind]]
        found = [(cell.partition(": ")[2], None) for cell in cells if cell.startswith("Experiment: ")]
    else:
        expected = [(number, None) for number in list_numbers(LISTED[paper][kind])]
        found = [pair for cell in cells for pair in find_numbers(cell, KINDS[kind])]
    assert {number for number, _ in found} == {number for number, _ in expected}
    assert len(found) == len(set(found))


@pytest.mark.parametrize(("paper", "row"), [(paper, row) for paper, rows in ROWS.items() for row in rows[1:]])
def test_every_row_names_what_gives_it_or_says_why_not(paper, row):
    assert len(row) == 4
    assert row[1]
    assert CODE.search(row[2]) or row[3]


@pytest.mark.parametrize("name", NAMES)
def test_names_exist(name):
    _, *parts = name.split(".")
    module = import_module("karatage")
    for part in parts:
        assert hasattr(module, part), f"{module} has no {part}"
        module = getattr(module, part)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(command, beside_demo):
    more = next((options for start, options in SMALL.items() if command.startswith(start)), "")
    done = invoke(shlex.split(f"{command} {more}")[1:])
    assert done.exit_code == 0, (done.output, done.exception)
    assert done.stdout
