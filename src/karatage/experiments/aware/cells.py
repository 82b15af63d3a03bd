"""AWARE [AWARE17]: the plan, and its cells: the weights of a panel's judges, then approaches on k-tuples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
import polars as pl

from karatage.aggregation.registry import MODELS, NamedModel, parse_model
from karatage.approaches.downstream import Aware, weigh_telling
from karatage.approaches.evidence import Panel, compare_with_random, compare_with_shuffled
from karatage.approaches.registry import APPROACHES as KNOWN
from karatage.approaches.registry import EXPECTED, JUDGE, resolve_approaches
from karatage.data.axes import FloatArray, GradeArray, LongArray
from karatage.data.scores import Scores
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.experiments.collection import Collection
from karatage.experiments.engine import Cell, Finding, Key, Results
from karatage.experiments.plans import check_lists
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
from karatage.measures.registry import parse_measure
from karatage.measures.scoring import score_grades
from karatage.merging.estimators import ESTIMATORS, OWN, OWN_REPLICATES, Estimator
from karatage.merging.gaps import Gaps
from karatage.random_streams import settle_seed
from karatage.text import count_names, list_ranges, shorten

OUTCOMES = Nearness._fields
BLOCK = 100  # k-tuples to a cell, which then takes seconds
UNIFORM = "uniform"
GROUPS = {"all30": tuple(ESTIMATORS), "own": tuple(OWN)}
MERGED_GRADES, OWN_CHANCE, SEVERAL_MEASURES = "grades merged", "own chance", "several measures"
MEASURES = ("AP", "nDCG(dcg=jk,base=2)@20", "ERR(gain=5,max=5)@20")
APPROACHES = ("all30", "uniform", "mv", "emmv", "emneu")
LARGEST = 30


@dataclass(frozen=True)
class Contender:
    """An approach that merges grades (by `model`) or scores (with the weights of `estimator`, or equal ones)."""

    name: str
    model: NamedModel | None = None
    estimator: Estimator | None = None
    measures: tuple[str, ...] = ()  # whose weights are averaged; default: the evaluated measure

    @property
    def family(self) -> str:
        """The family with which it is shown."""
        if self.model is not None:
            return MERGED_GRADES
        if self.estimator is None:
            return UNIFORM
        if self.measures:
            return SEVERAL_MEASURES
        return OWN_CHANCE if self.estimator.own else f"{self.estimator.granularity} {self.estimator.gap}"

    @property
    def merges_scores(self) -> bool:
        """Whether scores are merged, and not grades."""
        return self.model is None


def find_contenders(names: Iterable[str], *, replicates: int) -> tuple[Contender, ...]:
    """Approaches by name or group (`all30`, `own`), each once.

    `replicates` is for estimators whose name does not set it; those that draw for each judge take 100 at most.
    """
    found: dict[str, Contender] = {}
    for name in names:
        for member in GROUPS.get(name, (name,)):
            contender = _find(member.strip(), replicates)
            found.setdefault(contender.name, contender)
    if not found:
        raise OptionError("no approach was given")
    return tuple(found.values())


def _find(name: str, replicates: int) -> Contender:
    word = name.partition("(")[0].strip()
    if name == UNIFORM:
        return Contender(UNIFORM)
    if word in MODELS:
        named = parse_model(name)
        if named.needs_gold or named.supervision not in (None, "none"):
            raise OptionError(
                f"{shorten(name)} learns from gold, which this experiment uses only for comparison; leave it out"
            )
        if named.expected:
            raise _refuse_expected(name)
        return Contender(named.name, model=named)
    if name.isidentifier() and name not in KNOWN:
        raise UnknownNameError("approach", name, [*GROUPS, *KNOWN])
    if name.startswith(EXPECTED):
        raise _refuse_expected(name)
    if not name.startswith(JUDGE):
        ((printed, approach),) = resolve_approaches([name], ())
        if isinstance(approach, Aware):
            estimator = approach.estimator
            if "replicates" not in name:
                most = min(replicates, OWN_REPLICATES) if estimator.own else replicates
                estimator = replace(estimator, replicates=most)
            return Contender(printed, estimator=estimator, measures=approach.measures)
    raise OptionError(
        f"approach '{shorten(name)}' does not merge a k-tuple's grades or scores without gold; "
        "use all30, own, uniform, mv, emmv or emneu, for example"
    )


def _refuse_expected(name: str) -> OptionError:
    told = f"approach '{shorten(name)}' merges grades into probabilities for expected measures"
    return OptionError(f"{told}; use karatage experiment random-relevance for those")


@dataclass(frozen=True, kw_only=True)
class AwarePlan:
    """Which approaches are tried, by which measures, on how many judges, how often.

    The default is the paper's design, but with fewer samples and replicates; the paper has 1,000 of each. If there are
    fewer k-tuples than samples, all of them are used.

    Args:
        measures: E.g. P@10, DCG@10, nDCG@20, AP, RBP(p=0.8); may be repeated.
        approaches: An approach or a group of them; may be repeated.
        sizes: Judges in a k-tuple: 2-30, or 2,3,5; default: 2-30, or to one less than there are judges.
        samples: k-tuples drawn of each size.
        replicates: Random judges of each class for the weights.
        seed: Seed of everything that is drawn at random.
    """

    measures: tuple[str, ...] = MEASURES
    approaches: tuple[str, ...] = APPROACHES
    sizes: tuple[int, ...] = ()
    samples: int = 100
    replicates: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the options; unknown names are refused before any work."""
        check_lists(measure=self.names)
        if len(set(self.sizes)) < len(self.sizes) or min(self.sizes, default=1) < 1:
            raise OptionError("sizes of k-tuples are whole numbers from 1, each given once")
        if self.samples < 1 or self.replicates < 1:
            raise OptionError("samples and replicates are whole numbers from 1")
        settle_seed(self.seed)
        self.find_contenders()

    @property
    def names(self) -> tuple[str, ...]:
        """Measures by their full names."""
        return tuple(str(parse_measure(name)) for name in self.measures)

    def find_contenders(self) -> tuple[Contender, ...]:
        """The approaches, groups taken apart."""
        return find_contenders(self.approaches, replicates=self.replicates)

    def find_sizes(self, judges: int) -> tuple[int, ...]:
        """The sizes of k-tuples that can be drawn from a number of judges."""
        sizes = tuple(sorted(self.sizes)) or tuple(range(2, min(LARGEST, judges - 1) + 1))
        if not sizes:
            raise OptionError(f"{judges} judges have no smaller panel of two or more; give sizes")
        if sizes[0] > judges:
            raise OptionError(f"k-tuples of {sizes[0]} cannot be drawn from {judges} judges; give smaller sizes")
        return tuple(size for size in sizes if size <= judges)


def label_measures(measures: Sequence[str]) -> dict[str, str]:
    """Short names, as papers print them, if these are unique.

    >>> label_measures(["AP", "nDCG(dcg=jk,base=2)@20"])
    {'AP': 'AP', 'nDCG(dcg=jk,base=2)@20': 'nDCG@20'}
    """
    short = {measure: re.sub(r"\(.*\)", "", measure) for measure in measures}
    return short if len(set(short.values())) == len(short) else {measure: measure for measure in measures}


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
        told = [f"{label} stands for {name}" for name, label in labels.items() if label != name]
        large = [size for size in plan.sizes if size > judges]
        if large:
            told.append(f"k-tuples of {list_ranges(large)} cannot be drawn from {judges} judges, left out")
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
    gaps = _compare(ground.contenders, compared)
    parts, dull = [], np.zeros_like(present)
    judge, topic = np.indices((len(present), len(kept)), dtype=np.int32).reshape(2, -1)
    for contender, measure in _list_weighings(ground.contenders, ground.measures):
        estimator = contender.estimator
        assert estimator is not None
        near = gaps[estimator.own, estimator.replicates][measure]
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


def _compare(contenders: Sequence[Contender], panel: Panel) -> dict[tuple[bool, int], dict[str, Gaps]]:
    """Distances of judges from random ones, once for all estimators with as many replicates of the same kind."""
    estimators = [c.estimator for c in contenders if c.estimator is not None]
    found = {}
    for own, replicates in dict.fromkeys((e.own, e.replicates) for e in estimators):
        gaps = frozenset(e.gap for e in estimators if (e.own, e.replicates) == (own, replicates))
        compare = compare_with_shuffled if own else compare_with_random
        found[own, replicates] = compare(panel, gaps, replicates)
    return found


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
