"""`queue`: the next batch of documents to judge, or an empty one when judging may stop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, Unpack

import numpy as np
import polars as pl

from karatage.data.alignment import Alignment, add_items, align, pool_runs, require_data
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.disagreement import DisagreementModel
from karatage.data.judgments import Judgments, find_items
from karatage.data.note import Note
from karatage.data.options import JudgingPrices, Money, parse_money, show_options
from karatage.data.queue import CROWD, EXPERT, JudgingQueue, Settling
from karatage.data.result import list_versions
from karatage.data.runs import Runs
from karatage.decisions.belief import (
    Belief,
    Combined,
    choose_pairs,
    combine_judgments,
    count_outside,
    find_effect,
    find_weights,
    form_belief,
    require_weights,
    settle,
)
from karatage.decisions.case import take_fingerprint
from karatage.decisions.notes import tell
from karatage.decisions.question import QueueOptions, QueueRules, name_both
from karatage.errors import DataError
from karatage.measures.spec import Measure, WeightedSum
from karatage.orders.budget import Allocation, allocate
from karatage.orders.disagreement import predict_disagreement
from karatage.orders.state import JudgingState, Picks
from karatage.random_streams import stream
from karatage.text import shorten

FEW_CHECKED = 20  # crowd-judged documents with an expert's grade, below which there is a note


@show_options(QueueRules, "systems")
def queue(
    runs: Runs,
    judgments: Judgments | None = None,
    gold: Judgments | None = None,
    measure: str | Measure | QueueRules = QueueRules.measure,
    *,
    budget: Money,
    prices: str | JudgingPrices | None = None,
    per_item: int = 5,
    a: str | None = None,
    b: str | None = None,
    **options: Unpack[QueueOptions],
) -> JudgingQueue:
    """List the next documents to judge within a budget: the first of an order for experts, the next for the crowd.

    Call it again with the new judgments for the next batch. The queue is empty once the order is settled: for each pair
    that matters, the probability of a wrong order by more than `indifference` is at most `risk`.

    Args:
        runs: What the systems retrieved.
        judgments: The crowd's judgments so far.
        gold: The experts' judgments so far, which are taken as correct.
        measure: A measure such as `P@10`, or `kt.QueueRules` with all options.
        budget: Money for this batch.
        prices: Costs of judgments, as `kt.parse_prices` takes or returns them.
        per_item: Crowd judges of each document, if prices are text.
        a: One of two systems that matter; default: all of them.
        b: The other.
        options: Other fields of `kt.QueueRules`.
    """
    require_data("judgments", "gold", runs=runs, judgments=judgments, gold=gold)
    rules = QueueRules.of(measure, prices, per_item, name_both(a, b), **options)
    crowd, experts = judgments, gold
    money = parse_money(budget, "the budget")
    if len(runs.systems) < 2:
        raise DataError(f"there is only one system, '{shorten(runs.systems[0])}'; give runs of at least two")
    pool = _make_pool(runs, rules.depth, {"the crowd": crowd, "experts": experts})
    alignment = align(runs, pool)
    combined = combine_judgments(pool, crowd, experts, rules.approach, rng=rules.seed)
    belief = form_belief(alignment, combined)
    found = settle(
        alignment,
        belief,
        rules.parsed,
        indifference=rules.indifference,
        risk=rules.risk,
        rng=stream(rules.seed, "settle"),
    )
    found = replace(found, counts=choose_pairs(found, best=rules.best, systems=rules.systems))
    pooled = _find_pooled(alignment, rules.depth)
    chances = None
    if "disagreement" in rules.parsed_order.needs:
        chances = _predict(rules.disagreement, runs, pool, crowd)
    weighed = _weigh(alignment, rules, belief) if "effect" in rules.parsed_order.needs else None
    state = _make_state(alignment, rules, combined, chances, weighed, (pooled, belief, found))
    chosen = _Chosen.none() if found.settled else _choose(state, rules, money, combined)
    told = list(_tell(rules, combined, chosen, experts))
    if chances is not None and rules.disagreement is not None and not _knows_topics(rules.disagreement, runs):
        told.append(tell("other-topics"))
    return JudgingQueue(
        order=rules.parsed_order.name,
        approach=rules.approach,
        depth=rules.depth,
        pool=int(pooled.sum()),
        by_experts=int((combined.expert & pooled).sum()),
        by_crowd=int((combined.crowd & ~combined.expert & pooled).sum()),
        items=_list_items(pool, chosen, rules),
        batch=_number_batch(experts),
        frame=_take_frame(pool, weighed[0]) if weighed is not None and len(chosen.experts.item) else None,
        prices=rules.prices,
        budget=money,
        settling=found,
        seed=rules.seed,
        versions=list_versions(),
        notes=tuple(dict.fromkeys((*alignment.notes, *_tell_scales(crowd, experts), *combined.notes, *told))),
    )


class _Chosen(NamedTuple):
    """The documents of the batch."""

    experts: Picks
    crowd: Picks
    bought: Allocation | None

    @staticmethod
    def none() -> _Chosen:
        nothing = Picks(np.zeros(0, np.int64), np.zeros(0))
        return _Chosen(nothing, nothing, None)


def _make_pool(runs: Runs, depth: int, judged: Mapping[str, Judgments | None]) -> Judgments:
    """The documents that systems retrieved to this depth, and judged documents beyond it."""
    pool, notes = pool_runs(runs, depth), []
    for who, judgments in judged.items():
        if judgments is None:
            continue
        if not judgments.has_topics:
            raise DataError(f"judgments by {who} have items without topics; give them a topic and a document column")
        count_outside(pool, judgments, who)
        before = len(pool.item_topic)
        pool = add_items(pool, judgments)
        if len(pool.item_topic) > before:
            more = len(pool.item_topic) - before
            notes.append(tell("outside-pool-counts", who=who, depth=depth, documents=more))
    return replace(pool, notes=tuple(notes))


def _find_pooled(alignment: Alignment, depth: int) -> BoolArray:
    """Items in the first ranks of some system; others may have grades but need no more."""
    pooled = np.zeros(int(alignment.item_start[-1]), bool)
    first = alignment.ranked[:, :, :depth]
    pooled[first[first >= 0]] = True
    return pooled


def _predict(model: DisagreementModel | None, runs: Runs, pool: Judgments, crowd: Judgments | None) -> FloatArray:
    """Predicted disagreement; topics of the model keep their estimates if all of them are in the runs."""
    if model is None:
        raise DataError(
            "the order 'disagreement' needs a model; learn one with kt.experiments.learn_disagreement from "
            "documents that several judges have graded, or choose another order"
        )
    graded = pool if crowd is None else _grade_pool(pool, crowd)
    return predict_disagreement(model, runs, graded, same_topics=_knows_topics(model, runs))


def _knows_topics(model: DisagreementModel, runs: Runs) -> bool:
    return {topic.topic for topic in model.topics} <= set(runs.topics)


def _grade_pool(pool: Judgments, crowd: Judgments) -> Judgments:
    """The pool's items with the crowd's grades."""
    place = find_items(crowd, pool)[crowd.item]
    rows = np.flatnonzero(place >= 0)
    rows = rows[np.argsort(place[rows], kind="stable")]
    return replace(
        pool,
        judges=crowd.judges,
        judge=crowd.judge[rows],
        item=place[rows].astype(np.int32),
        grade=crowd.grade[rows],
        top_grade=crowd.top_grade,
    )


def _make_state(
    alignment: Alignment,
    rules: QueueRules,
    combined: Combined,
    disagreement: FloatArray | None,
    weighed: tuple[FloatArray, WeightedSum] | None,
    known: tuple[BoolArray, Belief, Settling],
) -> JudgingState:
    """The input of the order when it chooses documents for experts."""
    pooled, belief, found = known
    effect = None if weighed is None else find_effect(*weighed, belief, _limit(found, rules.systems))
    # Documents judged by the crowd stay open for experts, whose grades then measure the crowd's accuracy.
    return JudgingState(
        ranked=alignment.ranked,
        item_start=alignment.item_start,
        grade=np.where(combined.expert, combined.grade, -1).astype(np.int8),
        open=pooled & ~combined.expert & (True if effect is None else effect > 0),
        disagreement=disagreement,
        effect=effect,
        seed=rules.seed,
    )


def _choose(state: JudgingState, rules: QueueRules, money: Money, combined: Combined) -> _Chosen:
    """First the documents for experts, then those for the crowd from the rest, within the budget."""
    for_crowd = state.open & (combined.grade < 0)
    bought = allocate(
        money,
        rules.prices,
        expert_share=rules.expert_share,
        expert_items=int(state.open.sum()) if rules.expert_share > 0 else 0,
        crowd_items=int(for_crowd.sum()) if rules.expert_share < 1 else 0,
        items=int(state.open.sum()),
    )
    order = rules.parsed_order
    experts = order.next_items(state, bought.experts)
    left = for_crowd.copy()
    left[experts.item] = False
    # A separate stream: probabilities of the experts' next draw are valid only if it is independent of this one.
    apart = int(stream(rules.seed, "crowd").integers(2**31))
    crowd = order.next_items(replace(state, open=left, grade=combined.grade, seed=apart), bought.labels)
    return _Chosen(experts, crowd, bought)


def _list_items(pool: Judgments, chosen: _Chosen, rules: QueueRules) -> pl.DataFrame:
    item = np.r_[chosen.experts.item, chosen.crowd.item]
    experts, labels = len(chosen.experts.item), len(chosen.crowd.item)
    topics = pl.Series("topic", pool.topics, dtype=pl.String)
    pi = np.r_[chosen.experts.pi, np.full(labels, np.nan)]
    prices = rules.prices
    digits = max(0, *(-int(price.as_tuple().exponent) for price in (prices.expert, prices.label)))
    return pl.DataFrame(
        {
            "topic": topics.gather(pool.item_topic[item]),
            "document": pool.documents.gather(pool.item_document[item]).cast(pl.String),
            "to": pl.Series([EXPERT] * experts + [CROWD] * labels, dtype=pl.String),
            "judgments": pl.Series([1] * experts + [prices.judgments] * labels, dtype=pl.Int32),
            "priority": pl.Series(np.arange(1, len(item) + 1, dtype=np.int32)),
            "pi": pl.Series(pi, dtype=pl.Float64).fill_nan(None),
            "cost": pl.Series([prices.expert] * experts + [prices.label] * labels, dtype=pl.Decimal(None, digits)),
        }
    )


def _number_batch(experts: Judgments | None) -> int:
    """The number of this batch: probabilities are conditional on earlier batches."""
    return 1 if experts is None or experts.draw is None else int(experts.draw.batch.max()) + 1


def _weigh(alignment: Alignment, rules: QueueRules, belief: Belief) -> tuple[FloatArray, WeightedSum]:
    """The weights of items for the systems that matter."""
    linear = require_weights(alignment, rules.parsed, len(belief.stages))
    return find_weights(alignment, linear, belief, rules.systems, stream(rules.seed, "ideal")), linear


def _limit(found: Settling, systems: tuple[str, str] | None) -> BoolArray:
    """The pairs that are not settled, among the systems that matter."""
    if systems is None:
        return found.open
    places = [found.systems.index(name) for name in systems]
    return found.open[np.ix_(places, places)]


def _take_frame(pool: Judgments, weight: FloatArray) -> str:
    return take_fingerprint(pool, np.flatnonzero(weight.max(axis=1) > weight.min(axis=1)))


def _tell_scales(crowd: Judgments | None, experts: Judgments | None) -> Iterator[Note]:
    for who, judgments in ("the crowd", crowd), ("experts", experts):
        yield from (note.about(who) for note in (judgments.notes if judgments is not None else ()))
    if crowd is not None and experts is not None and crowd.top_grade != experts.top_grade:
        yield tell("scales-differ", crowd=crowd.top_grade, experts=experts.top_grade)


def _tell(rules: QueueRules, combined: Combined, chosen: _Chosen, experts: Judgments | None) -> Iterator[Note]:
    checked = int((combined.crowd & combined.expert).sum())
    yield from tell.when(combined.crowd.any() and checked < FEW_CHECKED, "checked-few", documents=checked)
    yield from tell.when(not combined.expert.any() and not combined.crowd.any(), "nothing-judged")
    if chosen.bought is not None and chosen.bought.rest >= min(rules.prices.expert, rules.prices.label):
        yield tell("budget-left", rest=f"{chosen.bought.rest:f}")
    yield tell("settled-here")
    if len(chosen.experts.item) and not np.isnan(chosen.experts.pi).any():
        yield tell("drawn-here")
        yield from tell.when(experts is not None and experts.draw is None, "picked-before")
    elif len(chosen.experts.item):
        yield tell("picked", order=rules.parsed_order.name)
