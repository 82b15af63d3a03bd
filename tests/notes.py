"""Notes by their kinds and facts, and other texts by the names and numbers in them, whatever their words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from karatage.data.note import Fact, Note


def list_facts(told: Any) -> dict[str, Mapping[str, Fact]]:
    """The facts of the notes of a result, or of some notes, by kind."""
    notes: Iterable[Note] = getattr(told, "notes", told)
    return {note.kind: note.facts for note in notes}


def has_note(told: Any, kind: str, **facts: Fact) -> bool:
    """Whether a result has a note of a kind with these facts, and maybe others."""
    return any(n.kind == kind and facts.items() <= dict(n.facts).items() for n in getattr(told, "notes", told))


def gives(text: object, *facts: object) -> bool:
    """Whether a text has these names and numbers, in this order, whatever the words between them."""
    edged = (rf"(?<![\w.]){re.escape(str(fact))}(?!\w|\.\d)" for fact in facts)
    return re.search(".*?".join(edged), str(text), re.DOTALL) is not None


def has_line(text: str, *facts: object) -> bool:
    """Whether a line of a text has these names and numbers, in this order."""
    return any(gives(line, *facts) for line in text.splitlines())
