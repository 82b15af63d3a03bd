"""Fences in pages that are filled when the pages are built, such as a block called `{commands}`."""

from __future__ import annotations

import re

from sphinx.application import Sphinx

from . import citations, commands, interface, layers, measures

FILLERS = {
    "bibliography": citations.list_works,
    "commands": commands.describe_all,
    "layers": layers.draw_layers,
    "measures": measures.list_measures,
    "public": interface.describe_public,
    "results": interface.describe_results,
}
FENCE = re.compile(rf"^```\{{({'|'.join(FILLERS)})\}}\n(.*?)^```$", re.M | re.S)


def fill(app: Sphinx, page: str, source: list[str]) -> None:
    """Put what a fence stands for in its place."""
    del app, page
    source[0] = FENCE.sub(lambda found: FILLERS[found[1]](found[2].split()), source[0])
