"""The two kinds of work in the AWARE experiment: weighing a panel's judges, and trying approaches on k-tuples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
import polars as pl

from karatage.approaches.downstream import weigh_telling
from karatage.approaches.evidence import Panel, compare_with_random, compare_with_shuffled
from karatage.data.alignment import Alignment
from karatage.data.axes import FloatArray, GradeArray, LongArray
from karatage.data.judgments import Judgments
from karatage.data.scores import Scores
from karatage.errors import DataError
from karatage.experiments.aware.plan import AwarePlan, Contender, label_measures
from karatage.experiments.collection import Collection, align_runs, fingerprint
from karatage.experiments.engine import Cell, Fact, Finding, Results
from karatage.experiments.tuples import Nearness, draw_tuples, merge_grades_of, merge_panels, rate_leaderboards
from karatage.measures.scoring import score_aligned, score_grades
from karatage.merging.gaps import Gaps
from karatage.text import count_names, list_ranges

OUTCOMES = Nearness._fields
BLOCK = 100  # k-tuples to a cell, which then takes seconds


@dataclass(frozen=True, eq=False, kw_only=True)
class Ground:
    """What cells look at: leaderboards under gold, scores under each judge, judges' weights, k-tuples."""

    plan: AwarePlan
    collection: str
    digest: str
    notes: tuple[str, ...]
    panels: Mapping[str, Judgments]
    tuples: Mapping[int, LongArray]  # size -> (sample, judge)
    alignments: Mapping[str, Alignment]  # by systems
    gold: Mapping[tuple[str, str], FloatArray]  # (systems, measure) -> (system,)
    scores: Mapping[tuple[str, str], Mapping[str, Scores]]  # (systems, panel) -> measure -> scores by judge
    # (systems, panel) -> (approach, measure) -> (judge, topic), on the topics that some run has
    weights: Mapping[tuple[str, str], Mapping[tuple[str, str], FloatArray]] = field(default_factory=dict)

    @staticmethod
    def of(collection: Collection, plan: AwarePlan) -> Ground:
        """Score a collection; weights come later."""
        contenders, measures, judges = plan.find_contenders(), plan.names, len(collection.judges)
        looked = dict.fromkeys([*measures, *(m for c in contenders for m in c.measures)])
        alignments = align_runs(collection)
        gold: dict[tuple[str, str], FloatArray] = {}
        scores = {}
        for systems, alignment in alignments.items():
            kept = alignment.retrieved_topics
            trusted = score_aligned(alignment, collection.gold, measures)
            gold |= {(systems, m): found.value[0, kept].mean(axis=0) for m, found in trusted.items()}
            for panel, judgments in collection.panels.items():
                found = score_aligned(alignment, judgments, list(looked))
                _check_whole(panel, next(iter(found.values())), kept)
                scores[systems, panel] = found
        notes = dict.fromkeys(note for alignment in alignments.values() for note in alignment.notes)
        return Ground(
            plan=plan,
            collection=collection.name,
            digest=fingerprint(collection),
            notes=(*collection.notes, *_tell_labels(measures), *_tell_sizes(plan, judges), *map(str, notes)),
            panels=collection.panels,
            tuples=draw_tuples(judges, plan.find_sizes(judges), plan.samples, plan.seed),
            alignments=alignments,
            gold=gold,
            scores=scores,
        )

    @cached_property
    def contenders(self) -> tuple[Contender, ...]:
        """What is tried."""
        return self.plan.find_contenders()

    @property
    def measures(self) -> tuple[str, ...]:
        """By their full names."""
        return self.plan.names

    @property
    def judges(self) -> tuple[str, ...]:
        """Who is in the panels."""
        return next(iter(self.panels.values())).judges

    def with_weights(self, results: Results) -> Ground:
        """The same, with the weights in tables as `weigh_panel` makes them."""
        weights = {}
        for cell, outcome in results:
            systems, panel, table = str(cell.key["systems"]), str(cell.key["panel"]), outcome.table
            pairs = list(_list_weighings(self.contenders, self.measures))
            shape = len(pairs), len(self.panels[panel].judges), len(self.alignments[systems].retrieved_topics)
            value = table["weight"].to_numpy().reshape(shape)
            weights[systems, panel] = {(c.name, m): value[n] for n, (c, m) in enumerate(pairs)}
        return replace(self, weights=weights)


def list_weighings(ground: Ground) -> Iterator[Cell]:
    """A cell for each set of systems and panel: what its judges weigh."""
    for systems in ground.alignments:
        for panel in ground.panels:
            key = {**_describe(ground), "systems": systems, "panel": panel}
            yield Cell(name=f"weights {systems} {panel}", key=key, work=partial(weigh_panel, systems, panel))


def list_cells(ground: Ground) -> Iterator[Cell]:
    """A cell for each block of k-tuples of a panel and size."""
    about: dict[str, Fact] = {**_describe(ground), "samples": ground.plan.samples}
    for panel in ground.panels:
        for size, members in ground.tuples.items():
            for first in range(0, len(members), BLOCK):
                last = min(first + BLOCK, len(members))
                yield Cell(
                    name=f"{panel} size={size} {first + 1}-{last}",
                    key={**about, "panel": panel, "size": size, "first": first, "last": last},
                    work=partial(try_block, panel, size, (first, last)),
                )


def _describe(ground: Ground) -> dict[str, Fact]:
    """What decides every cell's result."""
    tried = {"measures": repr(ground.measures), "contenders": repr(ground.contenders)}
    return {"collection": ground.digest, **tried, "seed": ground.plan.seed}


def _check_whole(panel: str, scores: Scores, kept: LongArray) -> None:
    there = np.atleast_1d(scores.judged[:, kept].all(axis=1))
    partial = [judge for judge, whole in zip(scores.judges, there, strict=True) if not whole]
    if partial:
        raise DataError(
            f"panel '{panel}': k-tuples are drawn from judges who graded every topic, and some did not: "
            f"{count_names(partial)}; leave them out"
        )


def _list_weighings(contenders: Sequence[Contender], measures: Sequence[str]) -> Iterator[tuple[Contender, str]]:
    """Estimators, and the measures by which each weighs."""
    for contender in contenders:
        if contender.estimator is not None:
            yield from ((contender, measure) for measure in contender.measures or measures)


def weigh_panel(systems: str, panel: str, ground: Ground) -> Finding:
    """The weights (approach, measure, judge, topic) of a panel's judges, which hold in any k-tuple."""
    alignment, scores = ground.alignments[systems], ground.scores[systems, panel]
    compared = Panel.of(alignment, ground.panels[panel], scores, seed=ground.plan.seed)
    kept, present = alignment.retrieved_topics, compared.present
    gaps = _compare(ground.contenders, compared)
    parts, dull = [], np.zeros_like(present)
    judge, topic = np.indices((len(present), len(kept)), dtype=np.int32).reshape(2, -1)
    for contender, measure in _list_weighings(ground.contenders, ground.measures):
        estimator = contender.estimator
        assert estimator is not None
        near = gaps[estimator.own, estimator.replicates][measure]
        weight, without = weigh_telling(estimator, near, scores[measure].value, present)
        dull |= without
        parts.append(_frame_weights(contender.name, measure, weight[:, kept]))
    names = pl.Series(ground.panels[panel].judges, dtype=pl.String), pl.Series(alignment.topics, dtype=pl.String)
    schema = {"approach": pl.String, "measure": pl.String, "weight": pl.Float64}
    table = pl.concat(parts) if parts else pl.DataFrame(schema=schema)
    return Finding(
        table.with_columns(
            judge=names[0].gather(np.tile(judge, len(parts))), topic=names[1].gather(np.tile(kept[topic], len(parts)))
        ),
        {"dull": int(dull.sum())},
    )


def _frame_weights(approach: str, measure: str, weight: FloatArray) -> pl.DataFrame:
    rows = weight.size
    return pl.DataFrame(
        {
            "approach": pl.repeat(approach, rows, eager=True),
            "measure": pl.repeat(measure, rows, eager=True),
            "weight": weight.ravel(),
        }
    )


def _compare(contenders: Sequence[Contender], panel: Panel) -> dict[tuple[bool, int], dict[str, Gaps]]:
    """How far judges are from random ones, once for all estimators with as many replicates of the same kind."""
    estimators = [c.estimator for c in contenders if c.estimator is not None]
    found = {}
    for own, replicates in dict.fromkeys((e.own, e.replicates) for e in estimators):
        gaps = frozenset(e.gap for e in estimators if (e.own, e.replicates) == (own, replicates))
        compare = compare_with_shuffled if own else compare_with_random
        found[own, replicates] = compare(panel, gaps, replicates)
    return found


def try_block(panel: str, size: int, rows: tuple[int, int], ground: Ground) -> Finding:
    """How near every approach comes to gold with some of the k-tuples of a size.

    One row per systems, measure, outcome and k-tuple, in this order; one column per approach.
    """
    members = np.ascontiguousarray(ground.tuples[size][slice(*rows)])
    shape = len(ground.alignments), len(ground.measures), len(OUTCOMES), len(members)
    found = {c.name: np.empty(shape) for c in ground.contenders}
    models = [c.model for c in ground.contenders if c.model is not None]
    grades = merge_grades_of(members, ground.panels[panel], models, seed=ground.plan.seed)
    for s, systems in enumerate(ground.alignments):
        for contender in ground.contenders:
            if contender.model is None:
                boards = _merge_scores(contender, systems, panel, members, ground)
            else:
                boards = _score_merged(grades[contender.model.name], systems, panel, ground)
            for m, measure in enumerate(ground.measures):
                near = rate_leaderboards(boards[measure], ground.gold[systems, measure])
                found[contender.name][s, m] = near
    systems_at, measure_at, outcome_at, sample = np.indices(shape, dtype=np.int32).reshape(4, -1)
    keys = {
        "panel": pl.repeat(panel, len(sample), eager=True),
        "size": pl.repeat(size, len(sample), eager=True, dtype=pl.Int32),
        "systems": pl.Series(list(ground.alignments), dtype=pl.String).gather(systems_at),
        "measure": pl.Series(ground.measures, dtype=pl.String).gather(measure_at),
        "outcome": pl.Series(OUTCOMES, dtype=pl.String).gather(outcome_at),
        "sample": sample + rows[0] + 1,
    }
    return Finding(pl.DataFrame({**keys, **{name: value.ravel() for name, value in found.items()}}))


def _score_merged(grades: GradeArray, systems: str, panel: str, ground: Ground) -> dict[str, FloatArray]:
    """Leaderboards (sample, system) under merged grades (item, sample), by measure."""
    alignment = ground.alignments[systems]
    scored = score_grades(alignment, grades, ground.measures, top_grade=ground.panels[panel].top_grade)
    return {m: scores.value[:, alignment.retrieved_topics].mean(axis=1) for m, scores in scored.items()}


def _merge_scores(
    contender: Contender, systems: str, panel: str, members: LongArray, ground: Ground
) -> dict[str, FloatArray]:
    """Leaderboards (sample, system) of k-tuples whose scores are merged, by measure."""
    found = {}
    for measure in ground.measures:
        scores = ground.scores[systems, panel][measure].value
        value = np.ascontiguousarray(scores[:, ground.alignments[systems].retrieved_topics])
        if contender.estimator is None:
            weights = [np.ones(value.shape[:2])]
        else:
            known = ground.weights[systems, panel]
            weights = [known[contender.name, m] for m in contender.measures or (measure,)]
        # Shares are averaged over measures; as merging is linear in them, so may be what they merge into.
        boards = [merge_panels(value, weight, members) for weight in weights]
        found[measure] = boards[0] if len(boards) == 1 else np.mean(boards, axis=0)
    return found


def _tell_labels(measures: Sequence[str]) -> list[str]:
    """Names in tables and charts are short, which may be those of other measures."""
    return [f"{label} stands for {name}" for name, label in label_measures(measures).items() if label != name]


def _tell_sizes(plan: AwarePlan, judges: int) -> list[str]:
    large = [size for size in plan.sizes if size > judges]
    return [f"k-tuples of {list_ranges(large)} cannot be drawn from {judges} judges, left out"] if large else []
