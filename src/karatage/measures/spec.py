"""Measures as values, written as in a paper: `AP`, `nDCG@20`, `P(rel=2)@10`, `RBP(p=0.8)`."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from karatage.errors import OptionError, UnknownNameError, shorten

Value = int | float | str | tuple[tuple[int, float], ...]
Check = Callable[[object], Value]


@dataclass(frozen=True)
class Measure:
    """A measure with the options that were spelled out; print it to get its name back."""

    name: str
    options: tuple[tuple[str, Value], ...] = ()
    cutoff: int | None = None

    def has(self, option: str) -> bool:
        """Whether the option was spelled out."""
        return any(name == option for name, _ in self.options)

    def number(self, option: str, default: float) -> float:
        """A numeric option, or `default` where it was not given."""
        value = dict(self.options).get(option, default)
        assert isinstance(value, int | float)
        return value

    @property
    def level(self) -> int:
        """The lowest grade that counts as relevant."""
        return int(self.number("rel", 1))

    @property
    def discount(self) -> str:
        """The kind of discounted gain."""
        return str(dict(self.options).get("dcg", "log2"))

    @property
    def gains(self) -> tuple[tuple[int, float], ...]:
        """Gains given for single grades."""
        value = dict(self.options).get("gains", ())
        assert isinstance(value, tuple)
        return value

    def __str__(self) -> str:
        options = ",".join(f"{name}={_print(value)}" for name, value in self.options)
        cutoff = f"@{self.cutoff}" if self.cutoff is not None else ""
        return self.name + (f"({options})" if options else "") + cutoff


def parse_measure(text: str | Measure) -> Measure:
    """Read a measure's name in ir_measures' syntax; quotes around words are optional.

    >>> str(parse_measure("nDCG(dcg='jk', base=2)@20"))
    'nDCG(dcg=jk,base=2)@20'
    >>> str(parse_measure("MAP(rel=2)"))
    'AP(rel=2)'
    """
    if isinstance(text, Measure):
        return text
    text = str(text).strip()
    name, given, cutoff = _parse_syntax(text)
    name = ALIASES.get(name, name)
    if name not in FAMILIES:
        raise UnknownNameError("measure", name, FAMILIES)
    family = FAMILIES[name]
    unknown = [option for option in given if option not in family.options]
    if unknown:
        offered = f"its options: {', '.join(family.options)}" if family.options else "it takes no options"
        raise OptionError(f"measure '{shorten(text)}': {name} has no option '{unknown[0]}'; {offered}")
    options: list[tuple[str, Value]] = []
    for option, check in family.options.items():
        if option in given:
            try:
                options.append((option, check(given[option])))
            except ValueError as problem:
                raise OptionError(f"measure '{shorten(text)}': {option} {problem}") from None
    for option, needs in family.only_with.items():
        if option in given and needs not in options:
            raise OptionError(f"measure '{shorten(text)}': {option} has a meaning only with {needs[0]}={needs[1]}")
    if cutoff is None and family.cutoff == "required":
        raise OptionError(f"measure '{shorten(text)}' needs a depth, for example {text}@10")
    if cutoff is not None and family.cutoff == "never":
        raise OptionError(f"measure '{shorten(text)}': {name} takes no depth; write {name}")
    return Measure(name, tuple(options), cutoff)


def _parse_syntax(text: str) -> tuple[str, dict[str, object], int | None]:
    """Split `Name(k=v)@depth`; the values are Python literals or bare words."""
    try:
        node: ast.expr = ast.parse(text, mode="eval").body
        cutoff = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            depth = ast.literal_eval(node.right)
            if not isinstance(depth, int) or isinstance(depth, bool) or depth < 1:
                raise OptionError(f"measure '{shorten(text)}': the depth after @ must be a whole number from 1")
            cutoff, node = depth, node.left
        given: dict[str, object] = {}
        if isinstance(node, ast.Call) and not node.args:
            for keyword in node.keywords:
                word = keyword.value.id if isinstance(keyword.value, ast.Name) else None
                given[str(keyword.arg)] = word if word is not None else ast.literal_eval(keyword.value)
            node = node.func
        if isinstance(node, ast.Name):
            return node.id, given, cutoff
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as problem:
        if isinstance(problem, OptionError):
            raise
    raise OptionError(
        f"cannot read measure '{shorten(text)}'; write it like AP, nDCG@20, P(rel=2)@10 or RBP(p=0.8)"
    )


def _print(value: Value) -> str:
    if isinstance(value, tuple):
        return "{" + ",".join(f"{grade}:{gain:g}" for grade, gain in value) + "}"
    if isinstance(value, str) and not value.isidentifier():
        return repr(value)
    return str(value)


def _grade(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("must be a grade, a whole number from 1")
    return value


def _between(low: float, high: float) -> Check:
    def check(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low < value < high:
            raise ValueError(f"must be a number between {low:g} and {high:g}")
        return value

    return check


def _one_of(*words: str) -> Check:
    def check(value: object) -> str:
        if value not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return str(value)

    return check


def _gains(value: object) -> tuple[tuple[int, float], ...]:
    if not isinstance(value, Mapping) or not all(
        isinstance(g, int) and isinstance(v, int | float) and math.isfinite(v) and v >= 0
        for g, v in value.items()
    ):
        raise ValueError("must map grades to gains from 0, like {1:0.5,2:1}")
    return tuple(sorted((int(g), float(v)) for g, v in value.items()))


@dataclass(frozen=True)
class Family:
    """What may be written after a measure's name."""

    options: dict[str, Check] = field(default_factory=dict)
    cutoff: Literal["never", "optional", "required"] = "optional"
    only_with: dict[str, tuple[str, Value]] = field(default_factory=dict)


_REL: dict[str, Check] = {"rel": _grade}
_DISCOUNT: dict[str, Check] = {
    "dcg": _one_of("log2", "exp-log2", "jk"),
    "base": _between(1, 1000),
    "gains": _gains,
    **_REL,
}

FAMILIES: dict[str, Family] = {
    "AP": Family(_REL),
    "Bpref": Family(_REL, "never"),
    "DCG": Family(_DISCOUNT, only_with={"base": ("dcg", "jk")}),
    "ERR": Family({"gain": _grade, "max": _grade, **_REL}),
    "Judged": Family({}, "required"),
    "P": Family(_REL, "required"),
    "R": Family(_REL, "required"),
    "RBP": Family({"p": _between(0, 1), **_REL}),
    "RR": Family(_REL),
    "Rprec": Family(_REL, "never"),
    "nDCG": Family(_DISCOUNT, only_with={"base": ("dcg", "jk")}),
}
ALIASES = {
    "BPref": "Bpref",
    "MAP": "AP",
    "MRR": "RR",
    "NDCG": "nDCG",
    "Precision": "P",
    "RPrec": "Rprec",
    "Recall": "R",
}
