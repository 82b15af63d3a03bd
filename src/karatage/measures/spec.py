"""Measures as values, written as in a paper: `AP`, `nDCG@20`, `P(rel=2)@10`, `RBP(p=0.8)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from karatage.data.judgments import HIGHEST_GRADE
from karatage.errors import OptionError, UnknownNameError
from karatage.notation import parse_notation, print_word
from karatage.text import shorten

Value = int | float | str | tuple[tuple[int, float], ...]
Check = Callable[[object], Value]
HIGHEST_GAIN = 1e100
EXAMPLES = "AP, nDCG@20, P(rel=2)@10 or RBP(p=0.8)"


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
    """Read a measure's name in ir_measures' syntax; quotes around words are optional. Checks a `Measure` too.

    >>> str(parse_measure("nDCG(dcg='jk', base=2)@20"))
    'nDCG(dcg=jk,base=2)@20'
    >>> str(parse_measure("MAP(rel=2)"))
    'AP(rel=2)'
    """
    text = str(text).strip()
    name, given, cutoff = parse_notation(text, "measure", EXAMPLES)
    name = ALIASES.get(name, name)
    if name not in FAMILIES:
        raise UnknownNameError("measure", name, FAMILIES)
    family = FAMILIES[name]
    unknown = [option for option in given if option not in family.options]
    if unknown:
        offered = f"its options: {', '.join(family.options)}" if family.options else "it takes no options"
        raise OptionError(f"measure '{shorten(text)}': {name} has no option '{shorten(unknown[0])}'; {offered}")
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
        example = Measure(name, tuple(options), 10)
        raise OptionError(f"measure '{shorten(text)}' needs a depth, for example {example}")
    if cutoff is not None and family.cutoff == "never":
        raise OptionError(f"measure '{shorten(text)}': {name} takes no depth; write {name}")
    return Measure(name, tuple(options), cutoff)


def _print(value: Value) -> str:
    if isinstance(value, tuple):
        return "{" + ",".join(f"{grade}:{_shortest(gain)}" for grade, gain in value) + "}"
    return print_word(value)


def _shortest(number: float) -> str:
    """Digits that read back as the same number; whole numbers without a point."""
    return repr(number).removesuffix(".0")


def _grade(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= HIGHEST_GRADE:
        raise ValueError(f"must be a grade, a whole number from 1 to {HIGHEST_GRADE}")
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


def _is_grade(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= HIGHEST_GRADE


def _gains(value: object) -> tuple[tuple[int, float], ...]:
    if not isinstance(value, Mapping) or not all(
        _is_grade(grade) and isinstance(gain, int | float) and 0 <= gain <= HIGHEST_GAIN
        for grade, gain in value.items()
    ):
        raise ValueError(f"must map grades to gains from 0 to {HIGHEST_GAIN:g}, like {{1:0.5,2:1}}")
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
    "Judged": Family(),
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
