"""k-tuples of judges: scores that all cells share, drawing, merging, and how close leaderboards are to gold's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from karatage.aggregation.registry import NamedModel, merge
from karatage.data.alignment import Alignment
from karatage.data.axes import FloatArray, GradeArray, LongArray, settle_ties
from karatage.data.judgments import Judgments
from karatage.data.note import Note
from karatage.data.posterior import Posterior
from karatage.data.scores import Scores
from karatage.errors import OptionError
from karatage.experiments.collection import Collection, align_runs, fingerprint
from karatage.kernels.correlation import compare_orders, merge_tuples
from karatage.measures.scoring import score_aligned
from karatage.random_streams import generator, stream

ENUMERATED = 4  # up to this many times the samples, all k-tuples are listed; beyond, repeated draws are rare


@dataclass(frozen=True, eq=False, kw_only=True)
class Ground:
    """What all cells of an experiment with k-tuples share: scores of systems by gold and by each judge."""

    collection: str
    digest: str  # of the collection
    notes: tuple[Note, ...]
    measures: tuple[str, ...]
    panels: Mapping[str, Judgments]
    trusted: Judgments
    tuples: Mapping[int, LongArray]  # size -> (sample, judge)
    alignments: Mapping[str, Alignment]  # by systems
    gold: Mapping[tuple[str, str], FloatArray]  # (systems, measure) -> (system,)
    scores: Mapping[tuple[str, str], Mapping[str, Scores]]  # (systems, panel) -> measure -> scores by judge

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges of every panel."""
        return next(iter(self.panels.values())).judges


def score_collection(collection: Collection, measures: Sequence[str], more: Iterable[str] = ()) -> dict[str, Any]:
    """The fields of a ground except for its k-tuples; judges are scored by `more` measures, too."""
    alignments = align_runs(collection)
    gold: dict[tuple[str, str], FloatArray] = {}
    scores = {}
    for systems, alignment in alignments.items():
        trusted = score_aligned(alignment, collection.gold, measures)
        gold |= {(systems, measure): average(alignment, found)[0] for measure, found in trusted.items()}
        for panel, judgments in collection.panels.items():
            scores[systems, panel] = score_aligned(alignment, judgments, list(dict.fromkeys([*measures, *more])))
    told = dict.fromkeys(note for alignment in alignments.values() for note in alignment.notes)
    return {
        "collection": collection.name,
        "digest": fingerprint(collection),
        "notes": (*collection.notes, *told),
        "measures": tuple(measures),
        "panels": collection.panels,
        "trusted": collection.gold,
        "alignments": alignments,
        "gold": gold,
        "scores": scores,
    }


def average(alignment: Alignment, scores: Scores) -> FloatArray:
    """Leaderboards (set, system) over the topics that some run has."""
    mean: FloatArray = scores.value[:, alignment.retrieved_topics].mean(axis=1)
    return mean


def list_blocks(samples: int, size: int) -> Iterator[tuple[int, int]]:
    """First and last of the samples in each block of a size, which is the work of a cell."""
    yield from ((first, min(first + size, samples)) for first in range(0, samples, size))


def sample_tuples(judges: int, k: int, samples: int, rng: int | np.random.Generator | None = None) -> LongArray:
    """Distinct sets of `k` out of `judges` judges, each in increasing order, (sample, k).

    All sets have the same probability. If there are no more than `samples` of them, all are returned, in order; there
    may be fewer rows than asked for.
    """
    if not 1 <= k <= judges or samples < 1:
        raise OptionError(f"{samples} samples of {k} out of {judges} judges cannot be drawn")
    there = math.comb(judges, k)
    if there <= ENUMERATED * samples:
        every = np.array(list(itertools.combinations(range(judges), k)), np.int64)
        if there <= samples:
            return every
        chosen: LongArray = every[generator(rng).choice(there, samples, replace=False)]
        return chosen
    source = generator(rng)
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < samples:
        batch = np.sort(np.argsort(source.random((samples, judges)), axis=1)[:, :k], axis=1)
        drawn |= dict.fromkeys(map(tuple, batch.tolist()))
    return np.array(list(drawn)[:samples], np.int64)


def draw_tuples(judges: int, sizes: Iterable[int], samples: int, seed: int) -> dict[int, LongArray]:
    """The k-tuples of each size: the same for all panels, systems, measures and approaches, which are thus paired."""
    return {size: sample_tuples(judges, size, samples, stream(seed, f"k-tuples of {size}")) for size in sizes}


def check_outcome(outcome: str, known: Sequence[str]) -> str:
    """Refuse an outcome that is not known."""
    if outcome not in known:
        raise OptionError(f"outcome '{outcome}' is not one of {', '.join(known)}")
    return outcome


class Nearness(NamedTuple):
    """How close leaderboards are to gold's, one number for each."""

    tau: FloatArray
    tau_ap: FloatArray
    rmse: FloatArray


def rate_leaderboards(estimate: FloatArray, gold: FloatArray) -> Nearness:
    """Leaderboards (sample, system) against gold's (system,); the same numbers on every machine and thread."""
    plain, weighted = compare_orders(settle_ties(gold[None]), settle_ties(estimate))
    size = len(gold)
    return Nearness(
        tau=plain[0] / (size * (size - 1) / 2),
        tau_ap=np.clip(weighted[0] / (size - 1), -1.0, 1.0),
        rmse=np.sqrt(((estimate - gold) ** 2).mean(axis=1)),
    )


def merge_panels(value: FloatArray, weight: FloatArray, members: LongArray) -> FloatArray:
    """Leaderboards (sample, system) of panels (sample, judge) from scores (judge, topic, system) and weights.

    Weights (judge, topic) need not be normalised: a judge's weight does not depend on the other members.
    """
    out = np.empty((len(members), value.shape[2]))
    merge_tuples(value, weight, members, out)
    return out


def fit_tuples(
    members: LongArray, judgments: Judgments, models: Sequence[NamedModel], *, seed: int
) -> Iterator[tuple[NamedModel, int, Posterior]]:
    """Each model's merged grades of each k-tuple (sample, judge), with the model and the sample's number."""
    member = np.zeros(len(judgments.judges), bool)
    for sample, panel in enumerate(members):
        member[:] = False
        member[panel] = True
        chosen = judgments.keep_rows(member[judgments.judge])
        who = ",".join(map(str, sorted(panel)))
        for named in models:
            yield named, sample, merge(named, chosen, rng=stream(seed, f"{named.name} {who}"))


def merge_grades_of(
    panels: LongArray, judgments: Judgments, models: Sequence[NamedModel], *, seed: int
) -> dict[str, GradeArray]:
    """Merged grades (item, sample) of k-tuples (sample, judge), by models that merge grades."""
    found = {named.name: np.empty((len(judgments.item_topic), len(panels)), np.int8) for named in models}
    for named, sample, posterior in fit_tuples(panels, judgments, models, seed=seed):
        found[named.name][:, sample] = posterior.grades
    return found
