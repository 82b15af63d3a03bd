"""The three kinds of work in the random relevance experiment: judges alone, k-tuples, and a check by simulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.aggregation.registry import NamedModel, merge, parse_model
from karatage.approaches.registry import JUDGE
from karatage.data.alignment import Alignment
from karatage.data.axes import FloatArray, GradeArray, LongArray
from karatage.data.judgments import Judgments
from karatage.data.scores import Scores
from karatage.experiments.collection import Collection, align_runs, fingerprint
from karatage.experiments.engine import LOOSE, Cell, Fact, Finding
from karatage.experiments.random_relevance.plan import Merge, RandomRelevancePlan
from karatage.experiments.tuples import draw_tuples, merge_panels, rate_leaderboards
from karatage.measures.expected import randomise, score_expected
from karatage.measures.registry import parse_measure
from karatage.measures.scoring import score_aligned, score_grades
from karatage.random_streams import stream

DGS, RGS = "DGS", "RGS"  # deterministic and randomised gold, as the paper's tables call them
BLANK, GOLD = "blank", "gold"  # a judge who calls nothing relevant; gold itself
BLOCK = 10  # k-tuples to a cell, which then takes seconds
AT_ONCE = 250  # draws scored together, which bounds memory
Boards = dict[tuple[str, str], FloatArray]  # (systems, measure) -> (set, system)
SCHEMA = {
    "systems": pl.String,
    "panel": pl.String,
    "measure": pl.String,
    "expected": pl.Boolean,
    "gold": pl.String,
    "approach": pl.String,
    "size": pl.Int32,
    "sample": pl.Int32,
    "tau": pl.Float64,
    "tau_ap": pl.Float64,
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Ground:
    """What cells look at: leaderboards under gold, scores under each judge, and k-tuples."""

    plan: RandomRelevancePlan
    collection: str
    digest: str
    notes: tuple[str, ...]
    measures: tuple[str, ...]
    panels: Mapping[str, Judgments]
    trusted: Judgments
    tuples: Mapping[int, LongArray]  # size -> (sample, judge)
    alignments: Mapping[str, Alignment]  # by systems
    gold: Mapping[tuple[str, str, str], FloatArray]  # (systems, measure, DGS or RGS) -> (system,)
    scores: Mapping[tuple[str, str], Mapping[str, Scores]]  # (systems, panel) -> measure -> scores by judge

    @staticmethod
    def of(collection: Collection, plan: RandomRelevancePlan) -> Ground:
        """Score a collection."""
        sizes = plan.find_sizes(len(collection.judges))
        measures = tuple(str(parse_measure(name)) for name in plan.measures)
        alignments = align_runs(collection)
        doubted = _randomise(collection.gold, plan)
        gold: dict[tuple[str, str, str], FloatArray] = {}
        scores = {}
        for systems, alignment in alignments.items():
            certain = score_aligned(alignment, collection.gold, measures)
            random = score_expected(alignment, doubted, measures)
            for measure in measures:
                gold[systems, measure, DGS] = _average(alignment, certain[measure])[0]
                gold[systems, measure, RGS] = _average(alignment, random[measure])[0]
            for panel, judgments in collection.panels.items():
                scores[systems, panel] = score_aligned(alignment, judgments, measures)
        return Ground(
            plan=plan,
            collection=collection.name,
            digest=fingerprint(collection),
            notes=(*collection.notes, *(str(note) for alignment in alignments.values() for note in alignment.notes)),
            measures=measures,
            panels=collection.panels,
            trusted=collection.gold,
            tuples=draw_tuples(len(collection.judges), sizes, plan.samples, plan.seed),
            alignments=alignments,
            gold=gold,
            scores=scores,
        )

    @property
    def judges(self) -> tuple[str, ...]:
        """Who is in the panels."""
        return next(iter(self.panels.values())).judges


def list_cells(ground: Ground) -> Iterator[Cell]:
    """Each panel's judges alone, then the checks, then blocks of k-tuples."""
    plan = ground.plan
    decides: dict[str, Fact] = {"measures": repr(ground.measures), "certainty": plan.certainty, "seed": plan.seed}
    keys: dict[str, dict[str, Fact]] = {
        panel: {"collection": ground.digest, **decides, "panel": panel} for panel in ground.panels
    }
    for panel, key in keys.items():
        yield Cell(name=f"{panel} judges", key=key, work=partial(rate_judges, panel))
    for panel, key in keys.items() if plan.draws else ():
        drawn: dict[str, Fact] = {"draws": plan.draws, "sizes": repr(tuple(ground.tuples)), "samples": plan.samples}
        yield Cell(name=f"{panel} check", key={**key, **drawn}, work=partial(check_expected, panel))
    for panel, key in keys.items():
        tried: dict[str, Fact] = {"approaches": repr(plan.find_merges()), "samples": plan.samples}
        for size, members in ground.tuples.items():
            for first in range(0, len(members), BLOCK):
                rows = first, min(first + BLOCK, len(members))
                name = f"{panel} size={size} {rows[0] + 1}-{rows[1]}"
                yield Cell(name=name, key={**key, **tried}, work=partial(rate_block, panel, size, rows))


class _Fits(NamedTuple):
    probability: FloatArray  # (sample, item, grade)
    grades: GradeArray  # (item, sample)
    loose: int  # how many did not converge


def rate_judges(panel: str, ground: Ground) -> Finding:
    """[RANDREL19] table 1: how near each judge alone comes to gold, with certain and with random grades.

    Two controls with random grades have size 0: a blank judge, so what the pool alone tells, and gold itself.
    """
    judgments = ground.panels[panel]
    random = _randomise(judgments, ground.plan)
    blank = np.empty((1, len(judgments.item_topic), 2))
    blank[:] = ground.plan.certainty, 1 - ground.plan.certainty
    controls = np.concatenate([blank, _randomise(ground.trusted, ground.plan)])
    names, one = [JUDGE + judge for judge in judgments.judges], np.arange(1, len(judgments.judges) + 1)
    parts: list[pl.DataFrame] = []
    for systems, alignment in ground.alignments.items():
        scored = ground.scores[systems, panel]
        certain = {(systems, measure): _average(alignment, scores) for measure, scores in scored.items()}
        parts += _rate(certain, ground, panel, expected=False, approach=names, size=1, sample=one)
        told = _expect(systems, alignment, random, ground.measures)
        parts += _rate(told, ground, panel, expected=True, approach=names, size=1, sample=one)
        told = _expect(systems, alignment, controls, ground.measures)
        parts += _rate(told, ground, panel, expected=True, approach=[BLANK, GOLD], size=0, sample=one[[0, 0]])
    return Finding(pl.concat(parts))


def rate_block(panel: str, size: int, rows: tuple[int, int], ground: Ground) -> Finding:
    """[RANDREL19] table 2: how near every approach comes to gold with some of the k-tuples of a size."""
    members = np.ascontiguousarray(ground.tuples[size][slice(*rows)])
    sample = np.arange(rows[0], rows[1]) + 1
    parts: list[pl.DataFrame] = []
    facts: dict[str, int] = {}
    for way in ground.plan.find_merges():
        boards, loose = _merge(way, panel, members, ground)
        if loose:
            facts[f"{LOOSE}{way.name}"] = loose
        parts += _rate(
            boards, ground, panel, expected=way.expected, approach=[way.name] * len(sample), size=size, sample=sample
        )
    return Finding(pl.concat(parts), facts)


def check_expected(panel: str, ground: Ground) -> Finding:
    """Expected measures against the mean over drawn grades: of randomised gold, and of binmv's first k-tuples.

    One row per systems, measure and set of probabilities: the difference of a system's score (formula less
    simulation) where it is largest, its Monte Carlo standard error, and how alike the two leaderboards are.
    """
    sets = {"gold": _randomise(ground.trusted, ground.plan)[0, :, 1]}
    for size, members in ground.tuples.items():
        fits = _fit(parse_model("binmv"), ground.panels[panel], members[:1], ground.plan.seed)
        sets[f"binmv of {size}"] = fits.probability[0, :, 1]
    rows = []
    for name, chance in sets.items():
        for systems, alignment in ground.alignments.items():
            rng = stream(ground.plan.seed, f"check {panel} {name}")
            formula = _expect(systems, alignment, np.stack([1 - chance, chance], axis=1)[None], ground.measures)
            drawn = _simulate(alignment, chance, ground, rng)
            for measure in ground.measures:
                told, every = formula[systems, measure][0], drawn[measure]
                mean, error = every.mean(axis=0), every.std(axis=0, ddof=1) / np.sqrt(len(every))
                worst = int(np.argmax(np.abs(told - mean)))
                alike = rate_leaderboards(told[None], mean)
                gap = float(told[worst] - mean[worst])
                rows.append((systems, panel, measure, name, gap, float(error[worst]), float(alike.tau_ap[0])))
    columns = ("systems", "panel", "measure", "of", "difference", "standard_error", "tau_ap")
    kinds = [pl.String] * 4 + [pl.Float64] * 3
    return Finding(pl.DataFrame(rows, schema=dict(zip(columns, kinds, strict=True)), orient="row"))


def _randomise(judgments: Judgments, plan: RandomRelevancePlan) -> FloatArray:
    return randomise(judgments, relevant=plan.certainty, other=1 - plan.certainty)


def _average(alignment: Alignment, scores: Scores) -> FloatArray:
    """Leaderboards (set, system) over the topics that some run has."""
    mean: FloatArray = scores.value[:, alignment.retrieved_topics].mean(axis=1)
    return mean


def _expect(systems: str, alignment: Alignment, probability: FloatArray, measures: tuple[str, ...]) -> Boards:
    scored = score_expected(alignment, probability, measures)
    return {(systems, measure): _average(alignment, scores) for measure, scores in scored.items()}


def _merge(way: Merge, panel: str, members: LongArray, ground: Ground) -> tuple[Boards, int]:
    """Leaderboards of k-tuples, and how many fits did not converge."""
    found: Boards = {}
    if way.model is None:
        for systems, alignment in ground.alignments.items():
            kept = alignment.retrieved_topics
            for measure, scores in ground.scores[systems, panel].items():
                value = np.ascontiguousarray(scores.value[:, kept])
                weight = scores.judged[:, kept].astype(float)
                found[systems, measure] = merge_panels(value, weight, members)
        return found, 0
    fits = _fit(way.model, ground.panels[panel], members, ground.plan.seed)
    for systems, alignment in ground.alignments.items():
        if way.expected:
            found |= _expect(systems, alignment, fits.probability, ground.measures)
        else:
            scored = score_grades(alignment, fits.grades, ground.measures, top_grade=1)
            found |= {(systems, measure): _average(alignment, scores) for measure, scores in scored.items()}
    return found, fits.loose


def _fit(model: NamedModel, judgments: Judgments, members: LongArray, seed: int) -> _Fits:
    """Merge the grades of each k-tuple."""
    items, loose = len(judgments.item_topic), 0
    probability = np.empty((len(members), items, judgments.top_grade + 1))
    grades = np.empty((items, len(members)), np.int8)
    for k, panel in enumerate(members):
        chosen = judgments.keep_rows(np.isin(judgments.judge, panel))
        rng = stream(seed, f"{model.name} {','.join(map(str, panel))}")
        posterior = merge(model, chosen, rng=rng)
        probability[k], grades[:, k] = posterior.probability, posterior.grades
        loose += not posterior.converged
    return _Fits(probability, grades, loose)


def _simulate(
    alignment: Alignment, chance: FloatArray, ground: Ground, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Scores (draw, system) under grades drawn with these chances of relevance (item,)."""
    parts: dict[str, list[FloatArray]] = {measure: [] for measure in ground.measures}
    for first in range(0, ground.plan.draws, AT_ONCE):
        count = min(AT_ONCE, ground.plan.draws - first)
        grades = (rng.random((len(chance), count)) < chance[:, None]).astype(np.int8)
        for measure, scores in score_grades(alignment, grades, ground.measures, top_grade=1).items():
            parts[measure].append(_average(alignment, scores))
    return {measure: np.concatenate(found) for measure, found in parts.items()}


def _rate(
    boards: Boards, ground: Ground, panel: str, *, expected: bool, approach: list[str], size: int, sample: LongArray
) -> Iterator[pl.DataFrame]:
    """Leaderboards against gold: deterministic gold, and randomised gold if they are themselves random."""
    for (systems, measure), board in boards.items():
        for gold in (DGS, RGS) if expected else (DGS,):
            near = rate_leaderboards(board, ground.gold[systems, measure, gold])
            columns = {
                "systems": [systems] * len(board),
                "panel": [panel] * len(board),
                "measure": [measure] * len(board),
                "expected": [expected] * len(board),
                "gold": [gold] * len(board),
                "approach": approach,
                "size": [size] * len(board),
                "sample": sample,
                "tau": near.tau,
                "tau_ap": near.tau_ap,
            }
            yield pl.DataFrame(columns, schema=SCHEMA)
