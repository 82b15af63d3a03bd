"""How scores were found, read back; results of earlier versions give names alone, and get their words here."""

from __future__ import annotations

from collections.abc import Mapping

from karatage.data.entries import Entries, Value, show
from karatage.data.method import JUDGES, Method
from karatage.errors import DataError

_EARLIER = {
    method.name: method
    for method in (
        JUDGES,
        Method(
            name="rates",
            label="error rates undone",
            about="Corrected scores undo the judges' error rates. They are right if judges err alike on all systems' "
            "documents.",
            same_order="Error rates stretch all differences alike, so judges' and corrected orders agree by "
            "construction.",
        ),
        Method(
            name="sampled",
            label="gold drawn",
            about="Corrected differences are right on average whatever the judges do; scores by themselves rest on "
            "the judges where all systems rank alike.",
        ),
        Method(
            name="topics",
            label="gold topics",
            about="Corrected scores are right on average whatever the judges do.",
        ),
        Method(name="census", label="gold alone", about="Corrected scores are gold's own.", undone="by gold alone"),
        *(Method(name=name, label=name) for name in ("bootstrap", "independent judges", "shared judges")),
    )
}


def read_method(entries: Entries, name: str) -> Method:
    """The method that an entry names, in the words that the result carries."""
    words = entries.object("method")
    return Method(
        name=entries.text(name),
        label=words.text("label"),
        about=words.text("about"),
        undone=words.text("undone"),
        same_order=words.text("same_order"),
    )


def add_words(found: Value) -> Value:
    """A result as it would be written today, where an earlier version wrote it; names unknown to all are refused."""
    if not isinstance(found, Mapping):
        return found
    facts = dict(found)
    if facts.get("kind") == "comparison":
        others = facts["others"] if isinstance(facts.get("others"), list) else []
        opinions = [facts.get("naive"), facts.get("corrected"), *others]
        if not any(isinstance(opinion, Mapping) and "method" in opinion for opinion in opinions):
            facts |= {name: _add_method(facts[name], "way") for name in ("naive", "corrected") if name in facts}
            facts |= {"others": [_add_method(opinion, "way") for opinion in others]} if others else {}
    elif facts.get("kind") == "board":
        return _add_method(facts, "correction")
    elif facts.get("kind") == "diagnosis":
        return _add_labels(facts)
    elif facts.get("kind") == "survey":
        facts |= {name: add_words(facts[name]) for name in ("comparison", "board", "diagnosis") if name in facts}
    return facts


def _add_method(found: Value, name: str) -> Value:
    if not isinstance(found, Mapping) or name not in found or "method" in found:
        return found
    known = _find_earlier(found[name])
    return {**found, "method": None if known is None else known.to_dict()}


def _add_labels(facts: dict[str, Value]) -> Value:
    rows, types = facts.get("measures"), facts.get("types")
    if not isinstance(rows, list) or not isinstance(types, Mapping) or not isinstance(types.get("measures"), Mapping):
        return facts
    if any("label" in part for part in (types["measures"], *rows) if isinstance(part, Mapping)):
        return facts
    labelled = []
    for row in rows:
        known = _find_earlier(row.get("way")) if isinstance(row, Mapping) else None
        labelled.append({**row, "label": known and known.label} if isinstance(row, Mapping) else row)
    return {**facts, "measures": labelled, "types": {**types, "measures": {**types["measures"], "label": "text"}}}


def _find_earlier(name: Value) -> Method | None:
    """What earlier versions called so; None where they corrected nothing."""
    if name is None:
        return None
    if not isinstance(name, str) or name not in _EARLIER:
        raise DataError(
            f"it names the way {show(name)} without saying what that is, and no earlier version of karatage had such a "
            "way"
        )
    return _EARLIER[name]
