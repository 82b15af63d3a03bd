"""Evaluations, read back; the posteriors of single items are not kept."""

from __future__ import annotations

from karatage.data.entries import Entries
from karatage.data.evaluation import Evaluation
from karatage.data.scores import Scores
from karatage.io.results import draws, scores, weights


def read(entries: Entries) -> Evaluation:
    """What `Evaluation.to_dict` says."""
    gold, first = entries.object_or_none("gold"), entries.object("judges_first")
    return Evaluation(
        scores=_read_scores(entries.object("scores")),
        gold=None if gold is None else _read_scores(gold),
        posteriors={},
        judges=entries.whole("judges"),
        judges_first={measure: first.whole(measure) for measure in first.all_names()},
        seed=entries.whole("seed"),
        versions=entries.object("versions").all_texts(),
        notes=entries.texts("notes"),
        draws=tuple(map(draws.read, entries.objects("draws"))),
        weights=tuple(map(weights.read, entries.objects("weighings"))),
    )


def _read_scores(entries: Entries) -> dict[str, Scores]:
    return {measure: scores.read(entries.object(measure)) for measure in entries.all_names()}
