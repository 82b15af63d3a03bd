"""The cells of the collaborative experiment: judging by an order, mixes of experts with a crowd, crowds alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.aggregation.registry import merge, parse_model
from karatage.data.alignment import Alignment, align
from karatage.data.axes import BoolArray, FloatArray, GradeArray, LongArray
from karatage.data.checks import AMOUNT, CORRELATION, COUNT, SHARE, TEXT, Column, find_schema, maybe
from karatage.data.crowd import CrowdModel
from karatage.data.disagreement import DisagreementModel
from karatage.data.judgments import Judgments
from karatage.data.note import Note
from karatage.data.posterior import Posterior
from karatage.data.runs import Runs
from karatage.errors import DataError, OptionError
from karatage.experiments.collaborative.lesson import RATES, Lesson, join_gold, rate_topics
from karatage.experiments.collaborative.plan import DEPTH, DISAGREEMENT, CollaborativePlan, Mix, find_crowd
from karatage.experiments.collection import Collection, PanelRules, fingerprint, prepare_gold
from karatage.experiments.engine import LOOSE, Cell, Fact, Finding, Key, Results, TableRule, frame_rows
from karatage.experiments.notes import tell
from karatage.experiments.tuples import rate_leaderboards
from karatage.io.models import read_disagreement
from karatage.measures.scoring import score_grades
from karatage.orders.budget import find_area, find_curve
from karatage.orders.disagreement import tabulate_aligned, transfer
from karatage.orders.orders import list_all, parse_order
from karatage.orders.state import JudgingState
from karatage.random_streams import stream
from karatage.simulation.crowd import simulate_crowd

UNJUDGED = np.int8(-1)
CURVE = 100  # steps
PERCENT = Column("float", 0, 100)
_NEAR = {"tau": CORRELATION, "tau_ap": CORRELATION}
_ERROR, _GAP = maybe(AMOUNT), Column("float", -2, 2)
ORDERS = {"experts": PERCENT, "judged": COUNT, "found": SHARE, **_NEAR}
ORDERS |= {"error": _ERROR, "gap": _GAP, "gap_error": _ERROR}
FINDING = {"judged": SHARE, "found": SHARE, **_NEAR}
MIXES = {"experts": PERCENT, "crowd_share": PERCENT, "approach": TEXT, "ratio": TEXT, "cost": AMOUNT}
MIXES |= {**_NEAR, "error": _ERROR, "alone": CORRELATION, "gap": _GAP, "gap_error": _ERROR}
QUALITY = {"approach": TEXT, **dict.fromkeys(("recall", "precision", "accuracy"), maybe(SHARE))}
_BY_ORDER, _BY_CROWD = {"order": TEXT, "sample": COUNT}, {"crowd": TEXT, "sample": COUNT}
STUDIES = {
    "orders": TableRule({**_BY_ORDER, **ORDERS}, ("order", "sample", "experts")),
    "finding": TableRule({**_BY_ORDER, **FINDING}, ("order", "sample", "judged")),
    "mixes": TableRule(
        {"order": TEXT, **_BY_CROWD, **MIXES},
        ("order", "crowd", "sample", "experts", "crowd_share", "approach", "ratio"),
    ),
    "quality": TableRule({**_BY_CROWD, **QUALITY}, ("crowd", "sample", "approach")),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Ground:
    """A pool with gold for all of it, the systems that retrieved it, and the crowds that may judge it."""

    plan: CollaborativePlan
    alignment: Alignment
    gold: Judgments  # binary, a grade for every item
    grade: GradeArray  # (item,)
    value: FloatArray  # (topic, system) scores by full expert judging
    crowds: Mapping[str, CrowdModel]
    lesson: Lesson | None = None  # what the model of disagreement is learned from
    judged: Judgments | None = None  # gold and other judges of the pool, on whom the model is tried
    model: DisagreementModel | None = None
    disagreement: FloatArray | None = None  # (item,)
    rates: pl.DataFrame | None = None  # of predictions for the pool's other judges, by topic
    source: str = ""  # digest of the model, or of what it is learned from
    digest: str = ""  # of runs and gold
    notes: tuple[Note, ...] = ()

    @staticmethod
    def of(runs: Runs, gold: Judgments, plan: CollaborativePlan, crowds: Mapping[str, CrowdModel]) -> Ground:
        """Align runs and gold; the pool is gold's, or the part of it that systems have within a depth."""
        trusted = _make_pool(runs, gold, plan)
        alignment = align(runs, trusted)
        if len(alignment.systems) < 2:
            raise DataError("there is only one system, and a ranking needs two")
        grade = np.empty(len(trusted.item_topic), np.int8)
        grade[trusted.item] = trusted.grade
        scored = score_grades(alignment, grade[:, None], [plan.measure], top_grade=1)
        value = scored[plan.measure].value[0]
        return Ground(plan=plan, alignment=alignment, gold=trusted, grade=grade, value=value, crowds=crowds)

    @property
    def items(self) -> int:
        """The number of documents in the pool, over all topics."""
        return len(self.grade)

    @property
    def missed(self) -> int:
        """The number of documents that no system retrieved."""
        found = np.zeros(self.items, bool)
        found[self.alignment.ranked[self.alignment.ranked >= 0]] = True
        return int((~found).sum())

    def count(self, share: float) -> int:
        """The number of items in `share` % of the pool: the nearest whole number, but at least 1 if `share` > 0."""
        return max(int(share / 100 * self.items + 0.5), int(share > 0))

    def list_queue(self, order: str, sample: int) -> LongArray:
        """All items in the order in which experts would judge them, with each answer known before the next item.

        Items that no system retrieved come last.
        """
        found = list_all(parse_order(order), self._start(order, sample), self.grade)
        return _complete(found, np.ones(self.items, bool))

    def list_rest(self, order: str, sample: int, judged: LongArray) -> LongArray:
        """The items that are left after experts have judged some, as one batch: no answer is known within it."""
        grade = self.reveal(judged)
        state = replace(self._start(order, sample), grade=grade, open=grade < 0)
        return _complete(parse_order(order).next_items(state, self.items).item, grade < 0)

    def _start(self, order: str, sample: int) -> JudgingState:
        """Nothing is judged yet; random orders differ between samples."""
        return JudgingState(
            ranked=self.alignment.ranked,
            item_start=self.alignment.item_start,
            grade=np.full(self.items, UNJUDGED),
            open=np.ones(self.items, bool),
            disagreement=self.disagreement,
            seed=int(stream(self.plan.seed, f"collaborative {order} {sample}").integers(2**32)),
        )

    def reveal(self, judged: LongArray) -> GradeArray:
        """Experts' grades of some items, (item,); the others are unjudged."""
        grade = np.full(self.items, UNJUDGED)
        grade[judged] = self.grade[judged]
        return grade

    def resample_topics(self) -> LongArray:
        """Topics drawn with replacement, (resample, topic); the same for all cells, which are thus paired."""
        topics = len(self.alignment.topics)
        return stream(self.plan.seed, "collaborative topics").integers(topics, size=(self.plan.resamples, topics))


def keep_items(judgments: Judgments, kept: BoolArray) -> Judgments:
    """Some items with their grades, and the topics that have any of them; items and topics get new numbers."""
    rows = kept[judgments.item]
    there = np.unique(judgments.item_topic[kept])
    return replace(
        judgments,
        topics=tuple(judgments.topics[t] for t in there),
        item_topic=np.searchsorted(there, judgments.item_topic[kept]).astype(np.int32),
        item_document=judgments.item_document[kept],
        judge=judgments.judge[rows],
        item=(np.cumsum(kept) - 1)[judgments.item[rows]].astype(np.int32),
        grade=judgments.grade[rows],
        draw=None,
        with_repeats=None,
    )


def _make_pool(runs: Runs, gold: Judgments, plan: CollaborativePlan) -> Judgments:
    rules = PanelRules(level=plan.relevant)
    alignment = align(runs, gold)
    retrieved = np.zeros(len(gold.topics), bool)
    retrieved[alignment.retrieved_topics] = True
    kept = (np.diff(gold.settle().row_start) > 0) & retrieved[gold.item_topic]
    if plan.depth is not None:
        ranked = alignment.ranked[:, :, : plan.depth]
        within = np.zeros(len(kept), bool)
        within[ranked[ranked >= 0]] = True
        kept &= within
    if not kept.any():
        raise DataError("no system retrieved a document with gold: check that both have the same topics and documents")
    pool = prepare_gold(keep_items(gold.settle(), kept), rules)
    missing = 0 if plan.depth is None else alignment.unjudged(plan.depth)[0]
    if missing and plan.depth is not None:
        return replace(pool, notes=(*pool.notes, tell("not-in-pool", results=missing, depth=plan.depth)))
    return pool


def _complete(found: LongArray, open_: BoolArray) -> LongArray:
    """The items found, then all other open ones, in the order of their numbers."""
    rest = open_.copy()
    rest[found] = False
    return np.concatenate([found, np.flatnonzero(rest)])


@dataclass(frozen=True, eq=False)
class Rated:
    """Rank correlations between leaderboards and gold's."""

    tau: FloatArray  # (set,)
    tau_ap: FloatArray  # (set,)
    again: FloatArray  # (resample, set) tau_ap on topics drawn with replacement

    def find_error(self, k: int, less: int | None = None) -> float | None:
        """The standard error of a set's tau_ap over topics, or of its difference from another's."""
        if len(self.again) < 2:
            return None
        values = self.again[:, k] if less is None else self.again[:, k] - self.again[:, less]
        return float(values.std(ddof=1))


def rate_sets(ground: Ground, grades: Sequence[GradeArray], *, resamples: int | None = None) -> Rated:
    """Compare the leaderboards of sets of grades, each (item,), with gold's; default: the plan's `resamples`."""
    measure, sets = ground.plan.measure, np.stack(grades, axis=1)
    value = score_grades(ground.alignment, sets, [measure], top_grade=1)[measure].value
    near = rate_leaderboards(value.mean(axis=1), ground.value.mean(axis=0))
    drawn = ground.resample_topics()[:resamples]
    again = np.empty((len(drawn), len(grades)))
    for k, topics in enumerate(drawn):
        # Gold's leaderboard is resampled as well: other topics have another truth.
        again[k] = rate_leaderboards(value[:, topics].mean(axis=1), ground.value[topics].mean(axis=0)).tau_ap
    return Rated(near.tau, near.tau_ap, again)


def prepare(
    runs: Runs, gold: Judgments, judgments: Judgments | None, lesson: Lesson | None, plan: CollaborativePlan
) -> Ground:
    """The pool and its orders; an order that is left out is noted."""
    notes: tuple[Note, ...] = ()
    if DISAGREEMENT not in plan.orders:
        if judgments is not None or lesson is not None:
            raise OptionError("other judges are only for the order 'disagreement'; name it, or leave them out")
    elif plan.disagreement is not None and lesson is not None:
        raise OptionError("the model of disagreement is read from a file and learned; give one of the two")
    elif plan.disagreement is None and lesson is None and judgments is None:
        left = tuple(name for name in plan.orders if name != DISAGREEMENT)
        if not left:
            raise OptionError("the order 'disagreement' needs a model; train one and give its file, or other judges")
        plan = replace(plan, orders=left)
        notes = (tell("no-model"),)
    names = dict.fromkeys([*plan.crowds, *plan.tabled])
    ground = Ground.of(runs, gold, plan, {name: find_crowd(name) for name in names})
    content = Collection(name="", runs={"": runs}, panels={}, gold=ground.gold)
    notes = (*notes, *ground.gold.notes, *ground.alignment.notes)
    ground = replace(ground, digest=fingerprint(content), notes=notes)
    if DISAGREEMENT not in plan.orders:
        return ground
    if judgments is not None:
        ground = replace(ground, judged=join_gold(judgments, ground.gold, plan.relevant))
    if plan.disagreement is not None:
        return _use(ground, read_disagreement(plan.disagreement))
    if lesson is None and judgments is not None:
        lesson = Lesson(runs, gold, judgments)
    source = "" if lesson is None else lesson.identify(plan.relevant)
    return replace(ground, lesson=lesson, source=source)


def _use(ground: Ground, model: DisagreementModel) -> Ground:
    """Predict the pool's topics, each by the model of another topic, also if it was learned from."""
    if model.feature_set not in ("runs", "sums"):
        raise OptionError("the model of disagreement was learned from judgments, not from runs; train one on runs")
    table = tabulate_aligned(model.feature_set, ground.alignment, ground.gold)
    chance = transfer(model, table, other_topics=True).chance
    notes = (*ground.notes, *(note.about("model of disagreement") for note in model.notes))
    source = ground.source or hashlib.sha256(chance.tobytes()).hexdigest()
    return replace(ground, model=model, disagreement=chance, source=source, notes=notes)


def list_first(ground: Ground) -> Iterator[Cell]:
    """Learning where judges disagree, and how well that is predicted on the pool."""
    if ground.lesson is None and (ground.model is None or ground.judged is None):
        return
    plan = ground.plan
    judged = None if ground.judged is None else hashlib.sha256(ground.judged.grade.tobytes()).hexdigest()
    key: Key = {"study": DISAGREEMENT, "splits": plan.splits, "seed": plan.seed, "collection": ground.digest}
    yield Cell(name=DISAGREEMENT, key={**key, "source": ground.source, "judged": judged}, work=try_disagreement)


def try_disagreement(ground: Ground) -> Finding:
    """[COLLAB14] figures 3.2 and 3.3: the model, and its rates on the pool's topics if other judges graded them."""
    plan, model = ground.plan, ground.model
    if model is None:
        assert ground.lesson is not None
        model = ground.lesson.learn(level=plan.relevant, splits=plan.splits, seed=plan.seed)
    rates = frame_rows((), RATES) if ground.judged is None else rate_topics(model, ground.alignment, ground.judged)
    return Finding(rates, {"model": model.to_json()})


def absorb(ground: Ground, results: Results) -> Ground:
    """Predict the pool with the model that was learned."""
    for _, outcome in results:
        ground = replace(ground, rates=outcome.table)
        if ground.model is None:
            ground = _use(ground, DisagreementModel.from_dict(json.loads(str(outcome.facts["model"]))))
    return ground


def list_cells(ground: Ground) -> Iterator[Cell]:
    """For each sample, the studies of each order, and the crowds of the table."""
    plan = ground.plan
    about: Key = {"measure": plan.measure, "resamples": plan.resamples, "seed": plan.seed, "collection": ground.digest}
    for sample in range(1, plan.samples + 1):
        for order in plan.orders:
            predicted = ground.source if order == DISAGREEMENT else None
            key: Key = {**about, "order": order, "sample": sample, "disagreement": predicted}
            name = f"{order} {sample}"
            if "orders" in plan.studies:
                more: Key = {"study": "orders", "experts": repr(plan.expert_shares)}
                yield Cell(name=f"orders {name}", key={**key, **more}, work=partial(try_order, order, sample))
            if {"finding", "shares"} & set(plan.studies):  # mixes are compared with that curve, too
                more = {"study": "finding"}
                yield Cell(name=f"finding {name}", key={**key, **more}, work=partial(try_finding, order, sample))
            for crowd in plan.crowds if plan.mixes else ():
                more = {"study": "mixes", "mixes": repr(plan.mixes), "prices": repr(plan.label_prices)}
                work = partial(try_mixes, order, crowd, sample)
                yield Cell(name=f"mixes {crowd} {name}", key={**key, **more, **_describe(ground, crowd)}, work=work)
        for crowd in plan.tabled:
            more = {"study": "quality", "approaches": repr(plan.approaches), "sample": sample}
            work = partial(try_crowd, crowd, sample)
            yield Cell(name=f"quality {crowd} {sample}", key={**about, **more, **_describe(ground, crowd)}, work=work)


def _describe(ground: Ground, crowd: str) -> Key:
    content = ground.crowds[crowd].to_json()
    return {"crowd": crowd, "model": hashlib.sha256(content.encode()).hexdigest(), "per_item": ground.plan.per_item}


def try_order(order: str, sample: int, ground: Ground) -> Finding:
    """[COLLAB14] figure 3.4: experts alone judge the first part of the pool, by this order and by depth."""
    queue, depth = (ground.list_queue(name, sample) for name in (order, DEPTH))
    counts = {share: ground.count(share) for share in ground.plan.expert_shares if share}
    rated = rate_sets(ground, [ground.reveal(q[:count]) for count in counts.values() for q in (queue, depth)])
    found, rows = find_curve(queue, ground.grade > 0), []
    for k, (share, count) in enumerate(counts.items()):
        own, other = 2 * k, 2 * k + 1
        near = float(rated.tau[own]), float(rated.tau_ap[own]), rated.find_error(own)
        gap = float(rated.tau_ap[own] - rated.tau_ap[other]), rated.find_error(own, other)
        rows.append((share, count, float(found[count]), *near, *gap))
    return Finding(frame_rows(rows, ORDERS))


def try_finding(order: str, sample: int, ground: Ground) -> Finding:
    """Relevant documents that experts alone find, and rank correlation with full judging: curves by 1% of the pool.

    Facts are the area under the first curve, and in how many topics it is larger, or smaller, than by depth.
    """
    queue = ground.list_queue(order, sample)
    curve = find_curve(queue, ground.grade > 0)
    at = np.unique(np.arange(1, CURVE + 1) * ground.items // CURVE)
    at = at[at > 0]
    rated = rate_sets(ground, [ground.reveal(queue[:count]) for count in at], resamples=0)
    own, depth = find_areas(ground, queue), find_areas(ground, ground.list_queue(DEPTH, sample))
    facts: dict[str, Fact] = {
        "area": find_area(curve),
        "topics_above": int((own > depth).sum()),
        "topics_below": int((own < depth).sum()),
    }
    table = {"judged": at / ground.items, "found": curve[at], "tau": rated.tau, "tau_ap": rated.tau_ap}
    return Finding(pl.DataFrame(table, schema=find_schema(FINDING)), facts)


def find_areas(ground: Ground, queue: LongArray) -> FloatArray:
    """The area under the curve of each topic's relevant documents alone, (topic,): larger if they come earlier."""
    place = np.empty(ground.items)
    place[queue] = np.arange(ground.items)
    topic, relevant = ground.gold.item_topic, ground.grade > 0
    early = np.where(relevant, 1 - (place + 0.5) / ground.items, 0.0)
    area: FloatArray = np.bincount(topic, weights=early) / np.bincount(topic, weights=relevant)
    return area


class _Tried(NamedTuple):
    """A mix: how many documents it has, and the positions of its leaderboards among those to be rated."""

    mix: Mix
    judged: int  # by experts
    asked: int  # of the crowd
    sets: dict[str, int]  # by approach


def try_mixes(order: str, crowd: str, sample: int, ground: Ground) -> Finding:
    """[COLLAB14] figures 3.6 to 3.8: experts judge the top of the queue, the crowd the next part; the rest is unjudged.

    Each mix is compared with experts alone, who judge as much of the same queue as its cost buys.
    """
    queue = ground.list_queue(order, sample)
    sets: list[GradeArray] = []
    tried, left, loose = [], dict[float, LongArray](), dict[str, Fact]()
    for mix, approaches in ground.plan.mixes.items():
        judged = queue[: ground.count(mix.experts)]
        if mix.experts not in left:
            left[mix.experts] = ground.list_rest(order, sample, judged)
        asked = left[mix.experts][: ground.count(mix.crowd)]
        if not len(asked):  # in a pool of a few documents
            continue
        here = _Tried(mix, len(judged), len(asked), {})
        name = f"{ground.crowds[crowd].name} {order} {mix.name} {sample}"
        judgments = ask_crowd(ground, crowd, asked, name)
        for approach in approaches:
            merged = merge_crowd(ground, approach, judgments, name)
            grade = ground.reveal(judged)
            grade[np.sort(asked)] = merged.grades
            here.sets[approach] = len(sets)
            sets.append(grade)
            key = f"{LOOSE}{approach}"
            loose[key] = int(loose.get(key) or 0) + (not merged.converged)
        tried.append(here)
    alone: dict[int, int] = {}
    for here in tried:
        for price in ground.plan.label_prices.values():
            bought = _count_alone(ground, here, price)
            if bought not in alone:
                alone[bought] = len(sets)
                sets.append(ground.reveal(queue[:bought]))
    rated = rate_sets(ground, sets)
    rows = [row for here in tried for row in _list_rows(ground, here, rated, alone)]
    return Finding(frame_rows(rows, MIXES), loose)


def _list_rows(ground: Ground, here: _Tried, rated: Rated, alone: dict[int, int]) -> Iterator[tuple[object, ...]]:
    for approach, own in here.sets.items():
        near = float(rated.tau[own]), float(rated.tau_ap[own]), rated.find_error(own)
        for ratio, price in ground.plan.label_prices.items():
            other = alone[_count_alone(ground, here, price)]
            cost = float((here.judged + here.asked * price) / ground.items)
            experts = float(rated.tau_ap[other])
            yield *here.mix, approach, ratio, cost, *near, experts, near[1] - experts, rated.find_error(own, other)


def _count_alone(ground: Ground, here: _Tried, price: Fraction) -> int:
    """How many documents experts alone judge at the cost of a mix: a whole number, at most the pool."""
    return min(int(here.judged + here.asked * price), ground.items)


def ask_crowd(ground: Ground, crowd: str, items: LongArray, name: str) -> Judgments:
    """A crowd's judgments of some items; its judges have no other items."""
    kept = np.zeros(ground.items, bool)
    kept[items] = True
    rng = stream(ground.plan.seed, f"collaborative crowd {name}")
    return simulate_crowd(keep_items(ground.gold, kept), ground.crowds[crowd], per_item=ground.plan.per_item, rng=rng)


def merge_crowd(ground: Ground, approach: str, judgments: Judgments, name: str) -> Posterior:
    """The merged judgments of these items; the model has no other data about the judges."""
    rng = stream(ground.plan.seed, f"collaborative {approach} {name}")
    return merge(parse_model(approach), judgments, rng=rng)


def try_crowd(crowd: str, sample: int, ground: Ground) -> Finding:
    """[COLLAB14] table 3.3: a crowd judges the whole pool, and each approach's grades are compared with gold's."""
    name = f"{ground.crowds[crowd].name} whole {sample}"
    judgments = ask_crowd(ground, crowd, np.arange(ground.items), name)
    truth, rows, loose = ground.grade > 0, [], dict[str, Fact]()
    for approach in ground.plan.approaches:
        merged = merge_crowd(ground, approach, judgments, name)
        said = merged.grades > 0
        right = int((said & truth).sum())
        precision = right / int(said.sum()) if said.any() else None
        rows.append((approach, right / int(truth.sum()), precision, float((said == truth).mean())))
        loose[f"{LOOSE}{approach}"] = int(not merged.converged)
    return Finding(frame_rows(rows, QUALITY), loose)
