"""The cells of the AWARE experiment: the weights of a panel's judges, then approaches on k-tuples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
import polars as pl

from karatage.approaches.downstream import weigh_telling
from karatage.approaches.evidence import Panel, compare_judges
from karatage.data.axes import FloatArray, GradeArray, LongArray
from karatage.data.scores import Scores
from karatage.errors import DataError
from karatage.experiments.aware.plan import AwarePlan, Contender, label_measures
from karatage.experiments.collection import Collection
from karatage.experiments.engine import Cell, Finding, Key, Results
from karatage.experiments.notes import tell
from karatage.experiments.tuples import (
    Ground,
    Nearness,
    average,
    draw_tuples,
    list_blocks,
    merge_grades_of,
    merge_panels,
    rate_leaderboards,
    score_collection,
)
from karatage.measures.scoring import score_grades
from karatage.text import count_names, list_ranges

OUTCOMES = Nearness._fields
BLOCK = 100  # k-tuples to a cell, which then takes seconds


@dataclass(frozen=True, eq=False, kw_only=True)
class AwareGround(Ground):
    """The shared scores, and the judges' weights."""

    plan: AwarePlan
    # (systems, panel) -> (approach, measure) -> (judge, topic), on the topics that some run has
    weights: Mapping[tuple[str, str], Mapping[tuple[str, str], FloatArray]] = field(default_factory=dict)

    @staticmethod
    def of(collection: Collection, plan: AwarePlan) -> AwareGround:
        """Score a collection; weights are added later."""
        judges = len(collection.judges)
        scored = score_collection(collection, plan.names, [m for c in plan.find_contenders() for m in c.measures])
        for (systems, panel), found in scored["scores"].items():
            kept = scored["alignments"][systems].retrieved_topics
            _check_whole(panel, next(iter(found.values())), kept)
        labels = label_measures(plan.names)
        told = [tell("label", label=label, measure=name) for name, label in labels.items() if label != name]
        large = [size for size in plan.sizes if size > judges]
        told += tell.when(large, "sizes-large", sizes=list_ranges(large), judges=judges)
        tuples = draw_tuples(judges, plan.find_sizes(judges), plan.samples, plan.seed)
        return AwareGround(**{**scored, "notes": (*scored["notes"], *told)}, tuples=tuples, plan=plan)

    @cached_property
    def contenders(self) -> tuple[Contender, ...]:
        """The approaches."""
        return self.plan.find_contenders()

    def with_weights(self, results: Results) -> AwareGround:
        """The same, with the weights in tables as `weigh_panel` makes them."""
        weights = {}
        for cell, outcome in results:
            systems, panel, table = str(cell.key["systems"]), str(cell.key["panel"]), outcome.table
            pairs = list(_list_weighings(self.contenders, self.measures))
            shape = len(pairs), len(self.judges), len(self.alignments[systems].retrieved_topics)
            value = table["weight"].to_numpy().reshape(shape)
            weights[systems, panel] = {(c.name, m): value[n] for n, (c, m) in enumerate(pairs)}
        return replace(self, weights=weights)


def list_weighings(ground: AwareGround) -> Iterator[Cell]:
    """A cell for each set of systems and panel: the weights of its judges."""
    for systems in ground.alignments:
        for panel in ground.panels:
            key = {**_describe(ground), "systems": systems, "panel": panel}
            yield Cell(name=f"weights {systems} {panel}", key=key, work=partial(weigh_panel, systems, panel))


def list_cells(ground: AwareGround) -> Iterator[Cell]:
    """A cell for each block of k-tuples of a panel and size."""
    about: Key = {**_describe(ground), "samples": ground.plan.samples}
    for panel in ground.panels:
        for size, members in ground.tuples.items():
            for first, last in list_blocks(len(members), BLOCK):
                yield Cell(
                    name=f"{panel} size={size} {first + 1}-{last}",
                    key={**about, "panel": panel, "size": size, "first": first, "last": last},
                    work=partial(try_block, panel, size, (first, last)),
                )


def _describe(ground: AwareGround) -> Key:
    """The part of the key that all cells have."""
    tried = {"measures": repr(ground.measures), "contenders": repr(ground.contenders)}
    return {"collection": ground.digest, **tried, "seed": ground.plan.seed}


def _check_whole(panel: str, scores: Scores, kept: LongArray) -> None:
    there = np.atleast_1d(scores.judged[:, kept].all(axis=1))
    partial = [judge for judge, whole in zip(scores.judges, there, strict=True) if not whole]
    if partial:
        raise DataError(
            f"panel '{panel}': k-tuples are drawn from judges who graded every topic, but some did not: "
            f"{count_names(partial)}; leave them out"
        )


def _list_weighings(contenders: Sequence[Contender], measures: Sequence[str]) -> Iterator[tuple[Contender, str]]:
    """Estimators, and the measures of each one's weights."""
    for contender in contenders:
        if contender.estimator is not None:
            yield from ((contender, measure) for measure in contender.measures or measures)


def weigh_panel(systems: str, panel: str, ground: AwareGround) -> Finding:
    """The weights (approach, measure, judge, topic) of a panel's judges, which are the same in any k-tuple."""
    alignment, scores = ground.alignments[systems], ground.scores[systems, panel]
    compared = Panel.of(alignment, ground.panels[panel], scores, seed=ground.plan.seed)
    kept, present = alignment.retrieved_topics, compared.present
    gaps = compare_judges(compared, [c.estimator for c in ground.contenders if c.estimator is not None])
    parts, dull = [], np.zeros_like(present)
    judge, topic = np.indices((len(present), len(kept)), dtype=np.int32).reshape(2, -1)
    for contender, measure in _list_weighings(ground.contenders, ground.measures):
        estimator = contender.estimator
        assert estimator is not None
        near = gaps[estimator.kind][measure]
        weight, without = weigh_telling(estimator, near, scores[measure].value, present)
        dull |= without
        own = weight[:, kept].ravel()
        names = pl.lit(contender.name).alias("approach"), pl.lit(measure).alias("measure")
        parts.append(pl.DataFrame({"weight": own}).select(*names, "weight"))
    judges, topics = pl.Series(ground.judges, dtype=pl.String), pl.Series(alignment.topics, dtype=pl.String)
    schema = {"approach": pl.String, "measure": pl.String, "weight": pl.Float64}
    table = pl.concat(parts) if parts else pl.DataFrame(schema=schema)
    who = {"judge": judges.gather(np.tile(judge, len(parts))), "topic": topics.gather(np.tile(kept[topic], len(parts)))}
    return Finding(table.with_columns(**who), {"dull": int(dull.sum())})


def try_block(panel: str, size: int, rows: tuple[int, int], ground: AwareGround) -> Finding:
    """How close every approach is to gold on some of the k-tuples of a size.

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


def _score_merged(grades: GradeArray, systems: str, panel: str, ground: AwareGround) -> dict[str, FloatArray]:
    """Leaderboards (sample, system) under merged grades (item, sample), by measure."""
    alignment = ground.alignments[systems]
    scored = score_grades(alignment, grades, ground.measures, top_grade=ground.panels[panel].top_grade)
    return {measure: average(alignment, scores) for measure, scores in scored.items()}


def _merge_scores(
    contender: Contender, systems: str, panel: str, members: LongArray, ground: AwareGround
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
        # Merging is linear in the weights, so merged scores are averaged over measures instead.
        boards = [merge_panels(value, weight, members) for weight in weights]
        found[measure] = boards[0] if len(boards) == 1 else np.mean(boards, axis=0)
    return found
