"""Results of the first schema, which has no number, in the present layout.

Entries that follow from others may be missing, since they are computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from karatage.data.codec import structure, unstructure
from karatage.data.estimate import JUDGES
from karatage.data.judgments import Judgments
from karatage.errors import DataError
from karatage.text import shorten

Facts = dict[str, Any]
# Texts of methods for the oldest results, which contain only the names.
WAYS: Mapping[str, Mapping[str, str]] = {
    "judges": {"label": JUDGES.label, "about": JUDGES.about},
    "rates": {
        "label": "error rates corrected",
        "about": "Scores are corrected for the judges' error rates, which is right if judges' errors are equally "
        "frequent for all systems.",
        "same_order": "Error rates scale all differences alike, so judges' and corrected orders agree by construction.",
    },
    "sampled": {
        "label": "gold drawn",
        "about": "Corrected differences are unbiased for any judges; scores depend on the judges where all systems "
        "rank alike.",
    },
    "topics": {
        "label": "gold topics",
        "about": "Corrected scores are unbiased for any judges.",
    },
    "census": {"label": "gold alone", "about": "Corrected scores are gold's own.", "undone": "by gold alone"},
    **{name: {"label": name} for name in ("bootstrap", "independent judges", "shared judges")},
}


def upgrade(found: Facts) -> Facts:
    """A result, and the results in it, in the present layout."""
    try:
        return _upgrade(found)
    except KeyError as problem:
        raise DataError(f"{shorten(str(problem.args[0]))} is missing") from None
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as problem:
        raise DataError(f"its entries do not fit together ({shorten(str(problem), 120)})") from None


def _upgrade(found: Facts) -> Facts:
    facts = {name: _upgrade_part(fact) if name in RESULTS else fact for name, fact in found.items()}
    change = CHANGES.get(str(facts.get("kind")))
    return facts if change is None else change(facts)


def _upgrade_part(fact: Any) -> Any:
    if isinstance(fact, list):
        return [_upgrade_part(one) for one in fact]
    return _upgrade(fact) if isinstance(fact, dict) else fact


def _rename(**names: str) -> Callable[[Facts], Facts]:
    """Rename entries; those with the name '' are left out."""
    return lambda facts: {names.get(old, old): fact for old, fact in facts.items() if names.get(old) != ""}


def _gather(rows: Sequence[Facts], prefix: str, *names: str) -> Facts:
    return {name: [row[f"{prefix}_{name}"] for row in rows] for name in names}


def _read_accuracy(facts: Facts) -> Facts:
    rows, size, condition = (facts.pop(name) for name in ("accuracy", "accuracy_sizes", "condition"))
    if rows is None:
        return {**facts, "accuracy": None}
    kinds = [list(part) for _, part in groupby(rows, key=lambda row: row["gold"])]
    count, share = ([[row[of] for row in part] for part in kinds] for of in ("items", "share"))
    count = [[float(n) for n in part] for part in count]
    kept = {"kinds": [part[0]["gold"] for part in kinds], "count": count, "share": share, "size": size}
    return {**facts, "accuracy": {**kept, "condition": condition, "rows": rows}}


def _find_method(way: str, words: Facts | None) -> Facts:
    """A method with its texts, from the result or from the oldest results."""
    if words is None and way not in WAYS:
        raise DataError(
            f"it has the method {shorten(repr(way))} without its texts, and no earlier version of karatage had such a "
            "method"
        )
    return {"about": "", "undone": JUDGES.undone, "same_order": "", **(words or WAYS[way]), "name": way}


def _board(facts: Facts) -> Facts:
    rows, pairs, way, words = (*map(facts.pop, ("systems", "pairs", "correction")), facts.pop("method", None))
    corrected = None if way is None else _find_method(way, words)
    for name, method in (("naive", unstructure(JUDGES)), ("corrected", corrected)):
        facts[name] = None if method is None else {"method": method, **_standing(rows, name)}
        facts[f"{name}_pairs"] = None if method is None else _differences(pairs, name)
    for name in ("claimed", "groups", "flips"):
        facts.pop(name)
    return _read_accuracy({**facts, "systems": [row["system"] for row in rows], "rows": rows, "pairs": pairs})


def _standing(rows: Sequence[Facts], name: str) -> Facts:
    found = _gather(rows, name, "score", "standard_error", "low", "high")
    return {"value": found.pop("score"), **found}


def _differences(pairs: Sequence[Facts], name: str) -> Facts:
    found = _gather(pairs, name, "difference", "standard_error", "low", "high", "p_value", "better")
    claimed = [better is not None for better in found.pop("better")]
    doubted = [name == "corrected" and pair["doubted"] for pair in pairs]
    return {"value": found.pop("difference"), **found, "claimed": claimed, "doubted": doubted}


def _comparison(facts: Facts) -> Facts:
    facts["others"] = [_opinion(one) for one in facts["others"]]
    facts |= {name: facts[name] and _opinion(facts[name]) for name in ("naive", "corrected")}
    return _read_accuracy(facts)


def _opinion(found: Facts) -> Facts:
    p_value, difference = found["p_value"], found["difference"]
    own = None if p_value == difference["p_value"] else "unknown" if p_value is None else p_value
    estimates = {name: found[name] and _rename(degrees_of_freedom="degrees")(found[name]) for name in PARTS}
    method = _find_method(found["way"], found.get("method"))
    return {**found, **estimates, "method": method, "test_p_value": own}


def _audit(facts: Facts) -> Facts:
    if "pairs" in facts:
        return facts
    none = {"judge": "text", "other": "text", "shared": "int64"}  # pairs of many judges were written on request
    return {**facts, "pairs": [], "types": {**facts["types"], "pairs": none}}


def _diagnosis(facts: Facts) -> Facts:
    if "label" in facts["types"]["measures"]:
        return facts
    for row in facts["measures"]:
        row["label"] = row["way"] and _find_method(row["way"], None)["label"]
    return {**facts, "types": {**facts["types"], "measures": {**facts["types"]["measures"], "label": "text"}}}


def _queue(facts: Facts) -> Facts:
    judged = facts.pop("judged")
    return {**facts, "by_experts": judged["experts"], "by_crowd": judged["crowd"]}


def _size_plan(facts: Facts) -> Facts:
    needs = []
    for row in facts["needs"]:
        size = "infinite" if row["size"] is None else float(row["size"])
        needs.append(
            {"kind": row["need"], "size": size, **{of: row[of] for of in ("judges", "have", "share", "price")}}
        )
    return {**facts, "needs": needs}


def _posterior(facts: Facts) -> Facts:
    items, heard, judges = facts.pop("items"), facts.pop("judgments"), facts["judges"]
    rows = [items[place] for place in heard["rows"]]
    topic = [row.get("topic", "") for row in rows]
    document = [row["document"] if "document" in row else row["item"] for row in rows]
    topics, names = list(dict.fromkeys(topic)), sorted(set(document), key=str.encode)
    if len(topics) == 1:
        names = list(dict.fromkeys(document))
    place, number = {name: k for k, name in enumerate(topics)}, {name: k for k, name in enumerate(names)}
    known = ("judges", "judge", "item", "grade", "top_grade", "notes")
    kept = {name: heard[name] for name in known} | {"topics": topics, "documents": names, "draw": None}
    kept |= {"item_topic": [place[name] for name in topic], "item_document": [number[name] for name in document]}
    return {
        **facts,
        "judgments": {**kept, "with_repeats": None, **(_settle(kept) if heard["settled"] else {})},
        "probability": [[row[f"p{grade}"] for grade in range(heard["grades"])] for row in rows],
        "grades": [row["grade"] for row in rows],
        "judge_names": [judge["judge"] for judge in judges],
        "judge_topics": [judge["topic"] for judge in judges if "topic" in judge],
    }


def _settle(kept: Facts) -> Facts:
    """The last grade of each judge for each item, with the others in `with_repeats`."""
    settled: Facts = unstructure(structure({**kept, "with_repeats": None}, Judgments).settle())
    return settled


def _collaborative(facts: Facts) -> Facts:
    samples, own = facts.pop("samples"), ("kind", "plan", "items", "relevant", "topics", "systems", *TOLD)
    tables = {name: fact for name, fact in facts.items() if name not in own}
    return {**{name: fact for name, fact in facts.items() if name in own}, **samples, "tables": tables}


def _random_relevance(facts: Facts) -> Facts:
    types = _rename(results="frame")(facts["types"])
    wide = facts["table2"]
    tables = {"table1": facts["table1"], "table2": wide["tau_ap"], "table2-tau": wide["tau"]}
    facts |= {"types": types, "tables": {**tables, "controls": facts["controls"]}}
    return _rename(results="frame", table1="", table2="", controls="")(facts)


def drop_claims(facts: Facts) -> Facts:
    """Without the verdicts of the AWARE experiment in their earlier form, which they had in the second schema, too."""
    tables = facts.get("tables")
    if facts.get("kind") != "aware" or not isinstance(tables, dict) or "claims" not in tables:
        return facts
    return {**facts, "tables": {name: fact for name, fact in tables.items() if name != "claims"}}


def _aware(facts: Facts) -> Facts:
    """Complete covariances, of which the lower half was written."""
    facts = drop_claims(facts)
    half = np.array(facts["covariance"], dtype=object)
    width = len(np.array(facts["mean"], dtype=object)[0, 0, 0, 0, 0])
    row, column = np.tril_indices(width)
    whole = np.empty((*half.shape[:-1], width, width), dtype=object)
    whole[..., row, column] = whole[..., column, row] = half
    return _rename(results="rows")({**facts, "covariance": whole.tolist()})


def _benchmark(facts: Facts) -> Facts:
    rows, race = facts.pop("cells"), facts.pop("race")
    cells = []
    for row in rows:
        outcome = {name: row[name] for name in ("status", "reason", "seconds")}
        outcome["facts"] = {name: row[name] for name in FACTS}
        outcome["name"] = f"{row['data_set']}/{row['approach']}"
        cells.append({**{name: row[name] for name in CELL}, "outcome": outcome})
    tried = {row["amount"] for row in rows if row["amount"]}
    usual = 50 if 50 in tried else max(tried, default=0)
    races = [{"amount": usual, "level": 0.05, "table": race, "types": {"table": facts.pop("types")["race"]}}]
    return {**facts, "cells": cells, "rows": rows, "races": races}


PARTS = ("a", "b", "difference")
TOLD = ("notes", "sentence", "versions", "command")
CELL = ("data_set", "approach", "supervision", "amount")
FACTS = ("accuracy", "f1", "items", "tied", "folds", "not_converged")
RESULTS = ("audit", "board", "comparison", "diagnosis", "draws", "evaluation", "settling")  # within others
CHANGES: Mapping[str, Callable[[Facts], Facts]] = {
    "audit": _audit,
    "aware": _aware,
    "benchmark": _benchmark,
    "board": _board,
    "collaborative": _collaborative,
    "comparison": _comparison,
    "crowd": _rename(
        model="name",
        majority_recall="recall",
        majority_precision="precision",
        majority_ties="tied",
        error_correlation="correlation",
        quality="bands",
    ),
    "diagnosis": _diagnosis,
    "draws": _rename(columns="systems", systems="rows"),
    "evaluation": _rename(leaderboards="", weights="", weighings="weights"),
    "gold-plan": _rename(these_topics="these", new_topics="new"),
    "posterior": _posterior,
    "queue": _queue,
    "random-relevance": _random_relevance,
    "settling": _rename(columns="systems", systems="rows", margin="indifference", worst="", notes=""),
    "size-plan": _size_plan,
    "supervised": _rename(samples="frame"),
}
