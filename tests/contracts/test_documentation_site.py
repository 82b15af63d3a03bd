"""The site: it builds without a warning, needs no network, and leads to every page; every command in it can be run."""

import inspect
import os
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from cyclopts import UnknownOptionError

import karatage
from karatage.cli.app import app
from karatage.io.files import start_over
from tests.invoking import invoke, list_commands

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
SHELL = re.compile(r"^```(?:sh|bash|console)\n(.*?)^```$", re.M | re.S)
INLINE = re.compile(r"`(karatage [^`]* demo/[^`]*)`")
COMMAND = re.compile(r"(?:\$ )?(?:\w+=\S+ )*(?:\.venv/bin/)?karatage (.+)")
FENCE = re.compile(r"^```\{(public|results)\}\n(.*?)^```$", re.M | re.S)
FOREIGN = re.compile(r"(?:https?:)?//")
LOADS_FOREIGN = re.compile(r"@import|url\(\s*['\"]?(?:https?:)?//|fetch\(['\"]http")
LOADED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}


def find_blocks(page):
    """The commands of each shell block, continued lines put together; one in a sentence is a block by itself."""
    text = page.read_text()
    for block in [*SHELL.findall(text), *INLINE.findall(text)]:
        lines = block.replace("\\\n", " ").splitlines()
        commands = [shlex.split(found[1], comments=True) for line in lines if (found := COMMAND.match(line))]
        yield [tuple(words) for words in commands if "..." not in words]


COMMANDS = sorted({command for page in PAGES for block in find_blocks(page) for command in block})


def parse(words):
    """The function that would run, without running it."""
    try:
        return app.parse_args(list(words))[0]
    finally:
        start_over()


@pytest.mark.parametrize("words", COMMANDS, ids=shlex.join)
def test_every_command_in_the_pages_is_one(words):
    assert parse(words).__module__.startswith("karatage.cli.")


def test_commands_were_found():
    assert len(COMMANDS) > 50
    with pytest.raises(UnknownOptionError):
        parse(("evaluate", "runs", "-j", "x.csv", "--colour"))


def needs_demo(block):
    return any(word.startswith("demo/") for words in block for word in words)


# Other tests run the commands of these pages: they read the output, or make the papers' commands small.
ELSEWHERE = {"README.md", "tutorial.md", "papers.md"}
ON_DEMO_FILES = [page for page in PAGES if any(map(needs_demo, find_blocks(page))) and page.name not in ELSEWHERE]


@pytest.mark.parametrize("page", ON_DEMO_FILES, ids=lambda page: page.stem)
def test_examples_on_demo_files_run_as_written(page, beside_demo):
    for words in (words for block in find_blocks(page) if needs_demo(block) for words in block):
        done = invoke(words)
        assert done.exit_code == 0, (shlex.join(words), done.output, done.exception)


def list_public():
    """All names, those of inner modules with the module."""
    modules = [name for name in karatage.__all__ if inspect.ismodule(getattr(karatage, name))]
    inner = [f"{module}.{name}" for module in modules for name in getattr(karatage, module).__all__]
    return sorted([*(name for name in karatage.__all__ if name not in modules), *inner])


def test_every_public_name_is_in_the_reference_once():
    listed = [
        name
        for page in DOCS.glob("reference/*.md")
        for _, names in FENCE.findall(page.read_text())
        for name in names.split()
    ]
    assert sorted(listed) == list_public()


class Loading(HTMLParser):
    """What a page loads by itself, and where its links lead."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.links = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if attributes.get(LOADED.get(tag)):
            self.loaded.append(attributes[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """What `make docs` has just built, else the same."""
    if "KARATAGE_SITE" in os.environ:
        return ROOT / os.environ["KARATAGE_SITE"]
    home = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            "-q",
            "-W",
            "-n",
            "--keep-going",
            "-E",
            "-d",
            home / "trees",
            DOCS,
            home / "site",
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return home / "site"


def test_site(site):
    """In one test, so that one worker builds the site once."""
    pages = {page: Loading(page.read_text()) for page in site.rglob("*.html")}
    assert len(pages) > len(list(DOCS.rglob("*.md")))
    for page, loading in pages.items():
        foreign = [address for address in loading.loaded if FOREIGN.match(address)]
        assert not foreign, (page, foreign)
    for sheet in [*site.rglob("*.css"), *site.rglob("*.js")]:
        assert not LOADS_FOREIGN.search(sheet.read_text(errors="replace")), sheet
    _check_that_all_pages_are_reached(site, pages)
    _check_that_the_reference_is_whole(site)
    _check_that_citations_lead_to_the_bibliography(site, pages)


def _check_that_all_pages_are_reached(site, pages):
    reached, waiting = set(), [site / "index.html"]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            leads = {
                (page.parent / link.split("#")[0]).resolve()
                for link in pages[page].links
                if ":" not in link.split("#")[0]
            }
            waiting += [target for target in leads if target in pages]
    written = {site / page.relative_to(DOCS).with_suffix(".html") for page in DOCS.rglob("*.md")}
    assert written <= reached, written - reached


def _check_that_the_reference_is_whole(site):
    described = "".join(page.read_text() for page in (site / "reference").glob("*.html"))
    for name in list_public():
        assert f'id="karatage.{name}"' in described, name
    commands = (site / "reference" / "commands.html").read_text()
    for name, arguments in list_commands().items():
        for option in (option for argument in arguments for option in argument.names if option.startswith("--")):
            path = f"karatage {name}".replace(" ", "-")
            assert f'id="cmdoption-{path}-{option.lstrip("-")}"' in commands, (path, option)


def _check_that_citations_lead_to_the_bibliography(site, pages):
    works = re.findall(r"^@\w+\{(\w+),", (DOCS / "references.bib").read_text(), re.M)
    bibliography = (site / "bibliography.html").read_text()
    assert all(f'id="work-{work.lower()}"' in bibliography for work in works)
    assert "../bibliography.html#work-aware17" in pages[site / "theory" / "aware.html"].links
    assert "../bibliography.html#work-coh60" in pages[site / "reference" / "stats.html"].links
