"""Evaluations, read back; the posteriors of single items are not kept."""

from __future__ import annotations

from karatage.data.entries import Entries
from karatage.data.evaluation import Evaluation, Fidelity
from karatage.data.scores import Scores
from karatage.errors import DataError
from karatage.io.results import draws, scores, weights


def read(entries: Entries) -> Evaluation:
    """What `Evaluation.to_dict` says."""
    measures, approaches = entries.names("measures"), entries.names("approaches")
    found = _read_scores(entries.object("scores"), measures)
    if not measures or not approaches or any(one.judges != approaches for one in found.values()):
        raise DataError("scores are not those of the measures and approaches that the result names")
    gold, first = entries.object_or_none("gold"), entries.object("judges_first")
    return Evaluation(
        scores=found,
        gold=None if gold is None else _read_scores(gold, measures),
        fidelity=tuple(map(_read_fidelity, entries.objects("fidelity"))),
        posteriors={},
        judges=entries.whole("judges"),
        judges_first={measure: first.whole(measure) for measure in measures},
        seed=entries.whole("seed"),
        versions=entries.object("versions").all_texts(),
        notes=entries.texts("notes"),
        draws=tuple(map(draws.read, entries.objects("draws"))),
        weights=tuple(map(weights.read, entries.objects("weighings"))),
    )


def _read_scores(entries: Entries, measures: tuple[str, ...]) -> dict[str, Scores]:
    found = {measure: scores.read(entries.object(measure)) for measure in measures}
    wrong = next((measure for measure, one in found.items() if one.measure != measure), None)
    if wrong is not None:
        raise DataError(f"{entries.name(wrong)} holds scores of another measure")
    return found


def _read_fidelity(entries: Entries) -> Fidelity:
    return Fidelity(
        measure=entries.text("measure"),
        approach=entries.text("approach"),
        tau=entries.number_or_none("tau"),
        tau_ap=entries.number_or_none("tau_ap"),
        rmse=entries.number_or_none("rmse"),
        topics=entries.whole("topics"),
    )
