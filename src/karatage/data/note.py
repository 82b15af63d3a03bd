"""Notes on results as data: a kind and facts, with one table of texts per package."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from karatage.text import count_names, counted, list_names, percent

Fact = str | int | float | tuple[str, ...]
PLAIN: Final = "plain.text"
_texts: dict[str, str] = {}  # of the packages that are loaded, by kind


@dataclass(frozen=True)
class Note:
    """A warning or remark about a result: its kind, and the numbers and names in it."""

    kind: str  # package.name
    facts: Mapping[str, Fact]
    text: str

    @staticmethod
    def of(text: str) -> Note:
        """A note of which only the text is known, as in files of earlier versions; it is saved as text."""
        return Note(PLAIN, {"text": text}, text)

    def __hash__(self) -> int:
        """By kind and text."""
        return hash((self.kind, self.text))

    def __str__(self) -> str:
        """The text, for a reader."""
        return self.text

    def about(self, what: str) -> Note:
        """The same note about one of several things, such as gold, which is then named first in the text."""
        named = f"{what}: {self.facts['about']}" if "about" in self.facts else what
        return Note(self.kind, {**self.facts, "about": named}, f"{what}: {self.text}")

    def retell(self) -> Note:
        """The same note with the text that follows from its facts; with the saved text if its package is not loaded."""
        return Note(self.kind, self.facts, _word(self.kind, self.facts)) if self.kind in _texts else self


class _Formatter(string.Formatter):
    """Format specs beside Python's: `count judge` (3 judges), `list 1` ('a' and 1 more), and those in `WAYS`."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """A fact in the format that the text specifies."""
        how, _, what = format_spec.partition(" ")
        if how == "count":
            return counted(value, what)
        if how == "list":
            return list_names(value, int(what))
        return WAYS[how](value) if how in WAYS else str(super().format_field(value, format_spec))


def _word(kind: str, facts: Mapping[str, Fact]) -> str:
    text = _Formatter().vformat(_texts[kind], (), facts)
    return f"{facts['about']}: {text}" if "about" in facts else text


WAYS: Final[Mapping[str, Any]] = {  # `names`: 2 ('a', 'b'); `all`: 'a', 'b'; `percent`: 99.9%
    "all": partial(list_names, most=30, width=80),
    "names": count_names,
    "percent": percent,
}


class Texts:
    """The texts of a package's notes by name, with places for facts as in `str.format`."""

    def __init__(self, package: str, texts: Mapping[str, str]) -> None:
        """Keep the table."""
        self.package = package
        _texts.update({f"{package}.{name}": text for name, text in texts.items()})

    def __call__(self, name: str, /, **facts: Fact) -> Note:
        """A note.

        >>> tell = Texts("data", {"few": "only {judges:count judge} graded {share:.0%} of {topic}"})
        >>> print(tell("few", judges=1, share=0.5, topic="q1"))
        only 1 judge graded 50% of q1
        """
        kind = f"{self.package}.{name}"
        return Note(kind, facts, _word(kind, facts))

    def when(self, holds: object, name: str, /, **facts: Fact) -> tuple[Note, ...]:
        """The note, if the condition holds."""
        return (self(name, **facts),) if holds else ()


def tell_once(notes: Iterable[Note]) -> tuple[Note, ...]:
    """The notes without those that differ from an earlier one of their kind only in numbers and lists of names."""
    first: dict[object, Note] = {}
    for note in notes:
        said = frozenset(fact for fact in note.facts.items() if isinstance(fact[1], str))
        first.setdefault((note.kind, said), note)
    return tuple(first.values())


tell = Texts(
    "data",
    {
        "gold-answers": "items with several grades: {items:,}, by {judges:count judge}; each judge's last grade "
        "counts, and the most frequent of them is used (of equally frequent ones that of the first judge)",
        "lacking-topics": "systems without results for topics for which other systems have results; they score 0 "
        "there: {systems:names}",
        "last-kept": "a pseudo-judge has only the last of a person's repeated grades",
        "nothing-judged": "no retrieved document was judged: check that document ids are written alike in both",
        "pseudo-judges": "{people:,} people are combined into {judges:count pseudo-judge}; of {pairs:,} (person, "
        "topic) pairs, {split:,} were split among several",
        "repeats-all": "{pairs:,} (judge, item) pairs were graded more than once; all grades are kept for merging",
        "repeats-one": "{pairs:,} (judge, item) pairs were graded more than once; kept the {kept} grade of each "
        "and dropped {dropped:,}",
        "repeats-vote": "{judges:count judge} graded items more than once, up to {most:,} times: merging uses "
        "every grade, and other steps use only the last, without {aside:,} earlier ones. --repeats last uses the last "
        "everywhere",
        "scales-differ": "judges grade up to {judges}, gold up to {gold}{beyond}: if the scales differ, map them first",
        "scales-short": "judges who never use the upper grades ({counts}): if their scales differ, map them first",
        "single-precision": "{pairs:,} neighbours in rankings have scores that are equal in single precision; they "
        "are ordered by document id, as in trec_eval",
        "these-topics": "the result is about these topics and what more judging could change; other topics may give "
        "another order",
        "topics-ignored": "topics of the runs without judgments, ignored: {topics:names}",
        "topics-in-no-run": "judged topics that are in no run: {topics:names}",
    },
)
