"""The layers of the code as a picture, from the import graph and from the order that import-linter enforces."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path

import grimp

PACKAGE = "karatage"
ROOT = Path(__file__).parents[2]
BOX, ROW, GAP, WIDTH = 150, 74, 8, 880  # pixels
ABOUT = {
    "cli": "one short module per command",
    "views": "a page per result: tables, charts, text, HTML",
    "experiments": "the papers' experiments: plan, cells, findings",
    "decisions": "a user's question, answered: compare, plan, queue, audit ...",
    "approaches": "judgments to scores: where the stages meet",
    "data": "nouns that several stages share, and their JSON",
    "kernels": "compiled loops over arrays",
}


def draw_layers(names: Sequence[str]) -> str:
    """Packages as boxes, a row for each layer; a box's imports all go to rows below it."""
    del names
    rows = _read_layers()
    graph = grimp.build_graph(PACKAGE, exclude_type_checking_imports=True, cache_dir=None)
    modules = Counter(name.split(".")[1] for name in graph.modules if name.count("."))
    uses: Counter[str] = Counter()
    for name in graph.modules:
        for used in graph.find_modules_directly_imported_by(name) if name.count(".") else ():
            if used.count(".") and used.split(".")[1] != name.split(".")[1]:
                uses[used.split(".")[1]] += 1
    height = len(rows) * ROW
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'aria-label="Layers of karatage, the upper ones import the lower ones" '
        'style="width: 100%; font: 12px sans-serif">'
    ]
    for k, row in enumerate(rows):
        parts += _draw_row(row, k * ROW, modules, uses)
    return "\n".join(["```{raw} html", *parts, "</svg>", "```"])


def _draw_row(row: Sequence[str], top: int, modules: Counter[str], uses: Counter[str]) -> list[str]:
    width = min(BOX, (WIDTH - GAP) // len(row) - GAP)
    parts = []
    for k, name in enumerate(row):
        left = GAP + k * (width + GAP)
        count = f"{modules[name]} modules" if modules[name] > 1 else "1 module"
        parts.append(
            f'<rect x="{left}" y="{top + GAP}" width="{width}" height="{ROW - 2 * GAP}" rx="4" fill="none" '
            'stroke="currentColor" stroke-opacity="0.5"/>'
        )
        for line, text in enumerate((name, count, f"{uses[name]} imports")):
            weight = ' font-weight="600"' if line == 0 else ' opacity="0.75" font-size="10"'
            parts.append(
                f'<text x="{left + width / 2}" y="{top + 26 + 15 * line}" text-anchor="middle" '
                f'fill="currentColor"{weight}>{escape(text)}</text>'
            )
    if len(row) == 1 and row[0] in ABOUT:
        parts.append(
            f'<text x="{2 * GAP + width + 6}" y="{top + 41}" fill="currentColor">{escape(ABOUT[row[0]])}</text>'
        )
    return parts


def _read_layers() -> list[list[str]]:
    """Top first, as pyproject.toml declares them."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        contract = tomllib.load(file)["tool"]["importlinter"]["contracts"][0]
    return [[part.strip().removeprefix(f"{PACKAGE}.") for part in layer.split("|")] for layer in contract["layers"]]
