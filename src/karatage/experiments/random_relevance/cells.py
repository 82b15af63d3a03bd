"""The cells of the random relevance experiment: judges alone, k-tuples, and a check by simulation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from karatage.aggregation.registry import parse_model
from karatage.approaches.registry import JUDGE
from karatage.data.alignment import Alignment
from karatage.data.axes import FloatArray, LongArray
from karatage.data.checks import AMOUNT, CORRELATION, FLAG, NUMBER, TEXT, Column, find_schema, maybe
from karatage.data.judgments import Judgments
from karatage.experiments.collection import Collection
from karatage.experiments.engine import LOOSE, Cell, Finding, Key, TableRule, frame_rows
from karatage.experiments.random_relevance.plan import Merge, RandomRelevancePlan
from karatage.experiments.tuples import (
    Ground,
    average,
    draw_tuples,
    fit_tuples,
    list_blocks,
    merge_panels,
    rate_leaderboards,
    score_collection,
)
from karatage.measures.expected import randomise, score_expected
from karatage.measures.registry import parse_measure
from karatage.measures.scoring import score_grades
from karatage.random_streams import stream

DGS, RGS = "DGS", "RGS"  # deterministic and randomised gold, as the paper's tables call them
BLANK, GOLD = "blank", "gold"  # a judge who grades nothing as relevant; gold itself
BLOCK = 10  # k-tuples to a cell, which then takes seconds
AT_ONCE = 250  # draws scored together, which limits memory
OUTCOMES = ("tau", "tau_ap")
PLACE = ("systems", "panel", "measure")
RESULTS = TableRule(
    {
        **dict.fromkeys(PLACE, TEXT),
        "expected": FLAG,
        **dict.fromkeys(("gold", "approach"), TEXT),
        "size": Column("int32", 0),
        "sample": Column("int32", 1),
        **dict.fromkeys(OUTCOMES, maybe(CORRELATION)),
    },
    (*PLACE, "gold", "approach", "size", "sample", "expected"),
)
CHECK = {**dict.fromkeys((*PLACE, "of"), TEXT), "difference": NUMBER, "standard_error": AMOUNT, "tau_ap": CORRELATION}
Boards = dict[tuple[str, str], FloatArray]  # (systems, measure) -> (set, system)


@dataclass(frozen=True, eq=False, kw_only=True)
class RandomGround(Ground):
    """The shared scores, with randomised gold's."""

    plan: RandomRelevancePlan
    doubted: Boards  # by randomised gold

    @staticmethod
    def of(collection: Collection, plan: RandomRelevancePlan) -> RandomGround:
        """Score a collection."""
        judges = len(collection.judges)
        tuples = draw_tuples(judges, plan.find_sizes(judges), plan.samples, plan.seed)
        scored = score_collection(collection, [str(parse_measure(name)) for name in plan.measures])
        random, doubted = _randomise(collection.gold, plan), Boards()
        for systems, alignment in scored["alignments"].items():
            doubted |= _expect(systems, alignment, random, scored["measures"])
        return RandomGround(**scored, tuples=tuples, plan=plan, doubted=doubted)


def list_cells(ground: RandomGround) -> Iterator[Cell]:
    """Each panel's judges alone, then the checks, then blocks of k-tuples."""
    plan = ground.plan
    decides: Key = {"measures": repr(ground.measures), "certainty": plan.certainty, "seed": plan.seed}
    keys: dict[str, Key] = {panel: {"collection": ground.digest, **decides, "panel": panel} for panel in ground.panels}
    for panel, key in keys.items():
        yield Cell(name=f"{panel} judges", key=key, work=partial(rate_judges, panel))
    for panel, key in keys.items() if plan.draws else ():
        drawn: Key = {"draws": plan.draws, "sizes": repr(tuple(ground.tuples)), "samples": plan.samples}
        yield Cell(name=f"{panel} check", key={**key, **drawn}, work=partial(check_expected, panel))
    for panel, key in keys.items():
        tried: Key = {"approaches": repr(plan.find_merges()), "samples": plan.samples}
        for size, members in ground.tuples.items():
            for rows in list_blocks(len(members), BLOCK):
                name = f"{panel} size={size} {rows[0] + 1}-{rows[1]}"
                yield Cell(name=name, key={**key, **tried}, work=partial(rate_block, panel, size, rows))


def rate_judges(panel: str, ground: RandomGround) -> Finding:
    """[RANDREL19] table 1: how close each judge alone is to gold, with certain and with random grades.

    Two controls with random grades have size 0: a blank judge, whose scores depend on the pool alone, and gold itself.
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
        certain = {(systems, measure): average(alignment, scores) for measure, scores in scored.items()}
        parts += _rate(certain, ground, panel, expected=False, approach=names, size=1, sample=one)
        told = _expect(systems, alignment, random, ground.measures)
        parts += _rate(told, ground, panel, expected=True, approach=names, size=1, sample=one)
        told = _expect(systems, alignment, controls, ground.measures)
        parts += _rate(told, ground, panel, expected=True, approach=[BLANK, GOLD], size=0, sample=one[[0, 0]])
    return Finding(pl.concat(parts))


def rate_block(panel: str, size: int, rows: tuple[int, int], ground: RandomGround) -> Finding:
    """[RANDREL19] table 2: how close every approach is to gold on some of the k-tuples of a size."""
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


def check_expected(panel: str, ground: RandomGround) -> Finding:
    """Expected measures against the mean over drawn grades: of randomised gold, and of binmv's first k-tuples.

    One row per systems, measure and set of probabilities: the largest difference of a system's score (formula less
    simulation), its Monte Carlo standard error, and tau_ap between the two leaderboards.
    """
    sets = {"gold": _randomise(ground.trusted, ground.plan)[0, :, 1]}
    for size, members in ground.tuples.items():
        fits = fit_tuples(members[:1], ground.panels[panel], [parse_model("binmv")], seed=ground.plan.seed)
        sets |= {f"binmv of {size}": posterior.probability[:, 1] for _, _, posterior in fits}
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
    return Finding(frame_rows(rows, CHECK))


def _randomise(judgments: Judgments, plan: RandomRelevancePlan) -> FloatArray:
    return randomise(judgments, relevant=plan.certainty, other=1 - plan.certainty)


def _expect(systems: str, alignment: Alignment, probability: FloatArray, measures: tuple[str, ...]) -> Boards:
    scored = score_expected(alignment, probability, measures)
    return {(systems, measure): average(alignment, scores) for measure, scores in scored.items()}


def _merge(way: Merge, panel: str, members: LongArray, ground: RandomGround) -> tuple[Boards, int]:
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
    fits = [fit for _, _, fit in fit_tuples(members, ground.panels[panel], [way.model], seed=ground.plan.seed)]
    for systems, alignment in ground.alignments.items():
        if way.expected:
            found |= _expect(systems, alignment, np.stack([fit.probability for fit in fits]), ground.measures)
        else:
            scored = score_grades(alignment, np.stack([f.grades for f in fits], axis=1), ground.measures, top_grade=1)
            found |= {(systems, measure): average(alignment, scores) for measure, scores in scored.items()}
    return found, sum(not fit.converged for fit in fits)


def _simulate(
    alignment: Alignment, chance: FloatArray, ground: RandomGround, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Scores (draw, system) under grades drawn with these probabilities of relevance (item,)."""
    parts: dict[str, list[FloatArray]] = {measure: [] for measure in ground.measures}
    for first in range(0, ground.plan.draws, AT_ONCE):
        count = min(AT_ONCE, ground.plan.draws - first)
        grades = (rng.random((len(chance), count)) < chance[:, None]).astype(np.int8)
        for measure, scores in score_grades(alignment, grades, ground.measures, top_grade=1).items():
            parts[measure].append(average(alignment, scores))
    return {measure: np.concatenate(found) for measure, found in parts.items()}


def _rate(
    boards: Boards,
    ground: RandomGround,
    panel: str,
    *,
    expected: bool,
    approach: Sequence[str],
    size: int,
    sample: LongArray,
) -> Iterator[pl.DataFrame]:
    """Leaderboards against gold: deterministic gold, and randomised gold for expected measures."""
    for (systems, measure), board in boards.items():
        for gold in (DGS, RGS) if expected else (DGS,):
            trusted = ground.gold[systems, measure] if gold == DGS else ground.doubted[systems, measure][0]
            near = rate_leaderboards(board, trusted)
            same = (systems, panel, measure, expected, gold)
            columns = [*([value] * len(board) for value in same), approach, [size] * len(board), sample]
            yield pl.DataFrame([*columns, near.tau, near.tau_ap], schema=find_schema(RESULTS.columns))
