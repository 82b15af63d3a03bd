"""Names with options, written as in a paper: `nDCG(dcg=jk)@20`, `ds(prior=none,scope=topic)`."""

from __future__ import annotations

import ast
from typing import NamedTuple

from karatage.errors import OptionError
from karatage.text import shorten

DEEPEST = 1_000_000_000


class Notation(NamedTuple):
    """What was written, unchecked: a name, its options in order, and what stands after @."""

    name: str
    options: dict[str, object]
    depth: int | None


def parse_notation(text: str, kind: str, example: str) -> Notation:
    """Split `name(option=value)@depth`; values are Python literals or bare words.

    >>> parse_notation("RBP(p=0.8)", "measure", "AP").options
    {'p': 0.8}
    """
    where = f"{kind} '{shorten(text)}'"
    try:
        node: ast.expr = ast.parse(text, mode="eval").body
        depth = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            depth = ast.literal_eval(node.right)
            if not isinstance(depth, int) or isinstance(depth, bool) or not 1 <= depth <= DEEPEST:
                raise OptionError(f"{where}: the depth after @ must be a whole number from 1 to {DEEPEST:,}")
            node = node.left
        options: dict[str, object] = {}
        if isinstance(node, ast.Call) and not node.args:
            for keyword in node.keywords:
                option = str(keyword.arg)
                if option in options:
                    raise OptionError(f"{where}: {shorten(option)} is given twice")
                options[option] = _value(keyword.value)
            node = node.func
        if isinstance(node, ast.Name):
            return Notation(node.id, options, depth)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as problem:
        if isinstance(problem, OptionError):
            raise
    raise OptionError(f"cannot read {where}; write it like {example}")


def _value(node: ast.expr) -> object:
    """A literal, or else a bare word such as jk or exp-log2."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node).replace(" ", "")


def print_word(value: object) -> str:
    """A value as it can be read back: bare where it is a word, quoted where it is not."""
    return repr(value) if isinstance(value, str) and not value.isidentifier() else str(value)
