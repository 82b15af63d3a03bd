"""Every approach, measure, command and option has its place in the docs."""

import re
from pathlib import Path

import pytest

from karatage.approaches.registry import APPROACHES
from karatage.merging.estimators import ESTIMATORS, OWN, SUPERVISED
from tests.invoking import list_commands

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
COMMANDS = {name.replace(" ", "-"): arguments for name, arguments in list_commands().items()}
GROUPS = {"experiment": [name.split()[1] for name in list_commands() if name.startswith("experiment ")]}
NO_METHODS = {DOCS / "theory" / f"{name}.md" for name in ("index", "engine", "results", "speed")}
EQUATION = re.compile(r"^    \S.*[=~]", re.M)
PAPER = re.compile(r"\[[A-Z]+\d\d\]|[Nn]o paper")
FAMILIES_OF_ESTIMATORS = {"aware": ESTIMATORS, "own": OWN, "sup": SUPERVISED}


@pytest.mark.parametrize("approach", APPROACHES)
def test_every_approach_has_a_page(approach):
    """Its own, or that of its family, which names it."""
    family = next((page for page, members in FAMILIES_OF_ESTIMATORS.items() if approach in members), approach)
    text = (DOCS / "approaches" / f"{family}.md").read_text()
    assert text.startswith(f"# {family}: ")
    assert family == approach or f"`{approach}`" in text


@pytest.mark.parametrize("page", sorted({*(DOCS / "approaches").glob("*.md")} - {DOCS / "approaches" / "index.md"}))
def test_every_approach_says_what_it_assumes_when_it_fails_its_equation_and_its_paper(page):
    text = page.read_text()
    assert "*Assumes*" in text
    assert "*Fails*" in text
    assert EQUATION.search(text)
    assert PAPER.search(text)


@pytest.mark.parametrize("page", sorted({*(DOCS / "theory").glob("*.md")} - NO_METHODS))
def test_every_theory_says_what_it_assumes_when_it_fails_and_its_paper(page):
    text = page.read_text()
    assert "**Assumes**" in text
    assert "\n## When it fails\n" in text
    assert PAPER.search(text)


def test_measures_are_defined_by_their_declarations():
    assert "```{measures}\n```" in (DOCS / "theory" / "measures.md").read_text()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_in_the_how_to(command):
    text = (DOCS / "howto" / f"{command}.md").read_text()
    for argument in COMMANDS[command]:
        for name in (option for option in argument.names if option.startswith("-")):
            assert f"`{name}`" in text, name


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_has_a_page_that_leads_to_its_commands(group):
    text = (DOCS / "howto" / f"{group}.md").read_text()
    for name in GROUPS[group]:
        assert f"[`{group} {name}`]({group}-{name}.md)" in text


def test_cited_works_are_in_the_bibliography():
    known = set(re.findall(r"^@\w+\{(\w+),", (DOCS / "references.bib").read_text(), re.M))
    places = [*DOCS.rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    cited = {key for place in places for key in re.findall(r"\[([A-Z]+\d\d)\]", place.read_text())}
    assert cited
    assert cited <= known


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target
