"""The field's many words for the same columns; ours are in the glossary, and only ours leave this package."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

import polars as pl

from karatage.data.judgments import HIGHEST_GRADE
from karatage.errors import DataError, OptionError
from karatage.text import nearest, shorten

_WORDS = {
    "judge": "judge worker assessor annotator performer rater labeler labeller",
    "topic": "topic qid query querytext",
    "document": "document doc docid docno did passage pid",
    "grade": "grade label relevance rel rating judgment judgement",
    "item": "item task",
    "time": "time timestamp datetime date seq sequence",
    "pi": "pi",
    "batch": "batch",
    "batch_size": "batchsize",
    "measure": "measure",
    "frame": "frame",
    "repeat": "repeat",
    "to": "to",
    "system": "system run tag runtag runname",
    "score": "score sim",
}
# Of several columns with the same meaning the earliest word wins; identifiers before free text.
ALIASES = {role: _words.split() for role, _words in _WORDS.items()}
for _role in ("judge", "topic", "document", "item", "system"):
    ALIASES[_role] = [word for base in ALIASES[_role] for word in (base + "id", base)]


NEAR = 0.75  # how alike a name must be to be proposed

# What a queue says of its rows: no guess at what another column may be called.
QUEUED = {"to", "judgments", "priority", "pi", "cost", "batch", "order", "seed", "batchsize", "measure", "frame"}


def plain(name: str) -> str:
    """A column's name reduced to letters: `Query_ID` and `queryId` are the same."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def is_known(name: str) -> bool:
    """Whether some role goes by this name."""
    return any(plain(name) in words for words in ALIASES.values()) or plain(name) == "gold"


def find_columns(
    columns: Sequence[str], given: Mapping[str, str] | None = None, *, gold: bool = False
) -> dict[str, str]:
    """Which column plays which role; `given` (role -> column) overrides the names."""
    found: dict[str, str] = {}
    by_plain = {plain(name): name for name in reversed(columns)}
    for role, words in ALIASES.items():
        for word in ["gold", *words] if gold and role == "grade" else words:
            if word in by_plain:
                found[role] = by_plain[word]
                break
    for role, name in (given or {}).items():
        if role not in ALIASES:
            raise OptionError(f"columns: '{shorten(role)}' is no role; roles are {', '.join(ALIASES)}")
        if name not in columns:
            raise DataError(f"there is no column '{shorten(name)}' for the {role}; {list_columns(columns)}")
        found[role] = name
    return found


def require(found: Mapping[str, str], role: str, frame: pl.DataFrame, *, option: str | None = None) -> str:
    """The column for a role, or an error that says how to name it: with an `option`, where there is one."""
    if role in found:
        return found[role]
    near = _guess(found, role, frame)
    said = f"call one of them '{role}'"
    if option is not None:
        hint = "NAME" if near is None else shorten(near)
        said = f"say which: {option} {shlex.quote(f'{role}={hint}')} (in Python columns={{'{role}': '{hint}'}})"
    raise DataError(f"there is no column for the {role}; {list_columns(frame.columns)}; {said}")


def _guess(found: Mapping[str, str], role: str, frame: pl.DataFrame) -> str | None:
    """A column that is called nearly so, has no other part to play and holds what it should."""
    free = [name for name in frame.columns if plain(name) not in QUEUED and name not in found.values()]
    free = [name for name in free if role != "grade" or _looks_like_grades(frame[name])]
    return next((near for word in (role, *ALIASES[role]) if (near := nearest(word, free, likeness=NEAR))), None)


def _looks_like_grades(column: pl.Series) -> bool:
    """Few different values, as grades on any scale and labels are."""
    plain_values = column.dtype != pl.Object and not column.dtype.is_nested()
    return plain_values and column.n_unique() <= HIGHEST_GRADE + 1


def list_columns(columns: Sequence[str]) -> str:
    """What is there, fit for a message."""
    more = f" and {len(columns) - 8} more" if len(columns) > 8 else ""
    return f"the columns are {', '.join(shorten(name, 20) for name in columns[:8])}{more}"
