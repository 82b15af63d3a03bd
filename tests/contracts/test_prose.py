"""Pages and messages are plain English: short sentences, no banned phrase, nothing that proselint finds."""

import re
import tomllib
from pathlib import Path

import pytest
from proselint.checks import __register__ as proselint_checks
from proselint.config import DEFAULT
from proselint.registry import CheckRegistry
from proselint.tools import LintFile

from tests.prose.reading import count_words, read_page, read_strings, split_sentences

ROOT = Path(__file__).parents[2]
GENERATED = {"bibliography.md", "changelog.md"}
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.name not in GENERATED),
]
LONGEST = 30  # words in a sentence
BANNED = [
    (re.compile(pattern, re.I), instead)
    for group in tomllib.loads((ROOT / "tests" / "prose" / "banned.toml").read_text()).values()
    for pattern, instead in group.items()
]
OFF = {
    "typography.symbols.curly_quotes": False,  # straight quotes can be typed and copied
    "typography.symbols.ellipsis": False,  # the same for three dots
    "typography.symbols.copyright": False,  # (C) is a letter in parentheses
    "typography.diacritical_marks": False,  # to resume is a verb
    "lexical_illusions": False,  # repeats of symbols in equations; banned.toml has repeated words
    "psychology.p_equals_zero": False,  # p = 0.006 is not zero
    "dates_times": False,  # takes figures for hours and decades
}
PROSELINT = {**DEFAULT, "checks": {**OFF, **{check: on for check, on in DEFAULT["checks"].items() if check not in OFF}}}
SOURCE = sorted((ROOT / "src" / "karatage").rglob("*.py"))


def name(path):
    return str(path.relative_to(ROOT))


def find_banned(passages):
    return [
        f"{place}: '{found[0]}', write: {instead}"
        for place, text in passages
        for pattern, instead in BANNED
        for found in pattern.finditer(text)
    ]


@pytest.fixture(scope="session")
def proselint():
    registry = CheckRegistry()
    if not registry.checks:
        registry.register_many(proselint_checks)
    return registry


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_pages_use_plain_phrases(page):
    assert find_banned(read_page(page, name(page), tables=True)) == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_sentences_are_short(page):
    sentences = ((place, sentence) for place, text in read_page(page, name(page)) for sentence in split_sentences(text))
    assert [(place, sentence) for place, sentence in sentences if count_words(sentence) > LONGEST] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_proselint_finds_nothing(page, proselint):
    passages = list(read_page(page, name(page)))
    results = LintFile(name(page), "\n§\n".join(text for _, text in passages)).lint(PROSELINT)
    assert [(passages[(line - 1) // 2].place, result.message) for result, (line, _) in results] == []


@pytest.mark.parametrize("module", SOURCE, ids=name)
def test_messages_and_docstrings_use_plain_phrases(module):
    assert find_banned(read_strings(module, name(module))) == []


def test_the_checks_find_something(tmp_path, proselint):
    page = tmp_path / "page.md"
    page.write_text(
        "Gold is dear, and very unique.\n\n> Gold is dear.\n\n    gold = dear\n\n" + "one two " * 16 + "ends.\n"
    )
    passages = list(read_page(page, "page"))
    assert find_banned(passages) == ["page:1: 'dear', write: expensive"]
    assert [count_words(text) > LONGEST for _, text in passages] == [False, True]
    assert any("unique" in result.check_result.message for result in LintFile("x", passages[0].text).lint(PROSELINT))
    assert split_sentences("P@10 is .5 (e.g. this). `x` is next. y follows.") == [
        "P@10 is .5 (e.g. this).",
        "`x` is next.",
        "y follows.",
    ]
