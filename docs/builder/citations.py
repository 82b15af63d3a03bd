"""Cited works: `[AWARE17]` in any page or docstring leads to the bibliography, made from `references.bib`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

WORKS = Path(__file__).parents[1] / "references.bib"
PAGE = "bibliography"
ENTRY = re.compile(r"^@(\w+)\{(\w+),\n(.*?)^\}", re.M | re.S)
FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*?)\},?$", re.M | re.S)
CITATION = re.compile(r"\[([A-Z]+\d\d)\]")
ACCENTS = {r"\"a": "ä", r"\"o": "ö", r"\"u": "ü", r"\'e": "é", r"\'a": "á", r"\'i": "í", r"\'o": "ó", "--": "–"}


def read_works() -> dict[str, dict[str, str]]:
    """The fields of every work, by its key."""
    return {key: _read_fields(body) for _, key, body in ENTRY.findall(WORKS.read_text())}


def list_works(names: Sequence[str]) -> str:
    """The bibliography in Markdown."""
    del names
    return "\n\n".join(
        f"({_anchor(key)})=\n**[{key}]**{' '}{_describe(fields)}" for key, fields in sorted(read_works().items())
    )


class LinkCitations(SphinxTransform):
    """Make links of citations."""

    default_priority = 700

    def apply(self, **options: object) -> None:
        """Replace each citation outside of code by a link."""
        del options
        if self.env.docname == PAGE:
            return
        known = read_works()
        for text in list(self.document.findall(nodes.Text)):
            if CITATION.search(text) and not _is_code(text):
                text.parent.replace(text, _link(text, known))


def _read_fields(body: str) -> dict[str, str]:
    return {name: _plain(value) for name, value in FIELD.findall(body)}


def _plain(value: str) -> str:
    for written, meant in ACCENTS.items():
        value = value.replace(f"{{{written}}}", meant).replace(written, meant)
    return " ".join(re.sub(r"[{}]", "", value).split())


def _describe(fields: dict[str, str]) -> str:
    where = fields.get("journal") or fields.get("booktitle") or fields.get("school") or fields.get("publisher")
    place = [f"*{where}*"] if where else []
    if "volume" in fields:
        place.append(fields["volume"] + (f"({fields['number']})" if "number" in fields else ""))
    if "pages" in fields:
        place.append(fields["pages"])
    place.append(fields["year"])
    people = fields["author"].replace(" and ", ", ")
    more = "".join(f" {fields[name]}." for name in ("note", "howpublished") if name in fields)
    link = f" <{fields['url']}>" if "url" in fields else ""
    return f"{people}. {fields['title']}. {', '.join(place)}.{more}{link}"


def _is_code(text: nodes.Text) -> bool:
    node: nodes.Node = text
    while node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.literal | nodes.literal_block | nodes.reference | nodes.title):
            return True
    return False


def _link(text: nodes.Text, known: dict[str, dict[str, str]]) -> list[nodes.Node]:
    parts: list[nodes.Node] = []
    for i, piece in enumerate(CITATION.split(text)):
        if i % 2 == 0:
            parts.append(nodes.Text(piece))
        elif piece in known:
            target = addnodes.pending_xref(
                "", nodes.Text(f"[{piece}]"), refdomain="std", reftype="ref", reftarget=_anchor(piece), refexplicit=True
            )
            parts.append(target)
        else:
            parts.append(nodes.Text(f"[{piece}]"))
    return parts


def _anchor(key: str) -> str:
    return f"work-{key.lower()}"
