"""Prose in Markdown pages and in Python strings, sentence by sentence."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

MARKDOWN = MarkdownIt().enable("table")
QUOTATION = {"blockquote_open": "blockquote_close"}
TABLE = {"table_open": "table_close"}
SENTENCE_END = re.compile(r"(?<=[^.\s][.!?])(?<!e\.g\.)(?<!i\.e\.)(?<! al\.)[)\"'”]?\s+")
WORD = re.compile(r"[A-Za-z][\w'’-]*")


class Passage(NamedTuple):
    """A paragraph, list item, heading or string."""

    place: str  # path:line
    text: str


def read_page(path: Path, name: str, *, tables: bool = False) -> Iterator[Passage]:
    """The prose of a page: no code, equations and quotations; cells of `tables` on request."""
    closing, tokens = None, MARKDOWN.parse(path.read_text())
    skipped = QUOTATION if tables else QUOTATION | TABLE
    for token in tokens:
        if closing is not None:
            closing = None if token.type == closing else closing
        elif token.type in skipped:
            closing = skipped[token.type]
        elif token.type == "inline":
            yield Passage(f"{name}:{(token.map or [0])[0] + 1}", _flatten(token))
        elif token.type == "fence" and token.info.startswith("{glossary}"):
            yield from _read_glossary(token, name)


def _read_glossary(token: Token, name: str) -> Iterator[Passage]:
    first = (token.map or [0])[0] + 2
    for number, block in enumerate(token.content.split("\n\n")):
        term, _, definition = block.strip("\n").partition("\n")
        text = re.sub(r"\{term\}`([^`]*)`", r"\1", textwrap.dedent(definition))
        yield Passage(f"{name}:{first + number} ({term})", _flatten(MARKDOWN.parseInline(text)[0]))


def _flatten(token: Token) -> str:
    """The text of an inline token; code is one word, pictures are none."""
    parts = []
    for child in token.children or []:
        if child.type == "text":
            parts.append(child.content)
        elif child.type in {"softbreak", "hardbreak"}:
            parts.append(" ")
        elif child.type == "code_inline":
            parts.append("`code`")
    return "".join(parts)


def split_sentences(text: str) -> list[str]:
    return SENTENCE_END.split(text)


def count_words(sentence: str) -> int:
    """Words with letters; figures are not counted."""
    return len(WORD.findall(sentence))


def read_strings(path: Path, name: str) -> Iterator[Passage]:
    """Docstrings and other string constants that look like prose; of an f-string, the constant parts.

    Names of random streams are left out: they are part of the numbers and never change.
    """
    nodes = list(ast.walk(ast.parse(path.read_text())))
    calls = (node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "stream")
    streams = {argument for call in calls for argument in call.args}
    for node in nodes:
        if node in streams or not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        if re.search(r"[a-z] [a-z]", node.value):
            yield Passage(f"{name}:{node.lineno}", re.sub(r"\s+", " ", node.value))
