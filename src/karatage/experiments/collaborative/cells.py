"""What the cells of the collaborative experiment do: judge by an order, mix experts with a crowd, merge a crowd."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.aggregation.registry import merge, parse_model
from karatage.data.axes import FloatArray, GradeArray, LongArray
from karatage.data.checks import AMOUNT, CORRELATION, COUNT, SHARE, TEXT, Column, find_schema, maybe
from karatage.data.judgments import Judgments
from karatage.data.posterior import Posterior
from karatage.experiments.collaborative.ground import Ground, keep_items
from karatage.experiments.collaborative.plan import DEPTH, Mix
from karatage.experiments.collaborative.rating import Rated, rate_sets
from karatage.experiments.engine import Fact, Finding
from karatage.orders.budget import find_area, find_curve
from karatage.random_streams import stream
from karatage.simulation.crowd import simulate_crowd

CURVE = 100  # steps
LOOSE = "not converged "
PERCENT = Column("float", 0, 100)
_NEAR = {"tau": CORRELATION, "tau_ap": CORRELATION}
_ERROR, _GAP = maybe(AMOUNT), Column("float", -2, 2)
ORDERS = {"experts": PERCENT, "judged": COUNT, "found": SHARE, **_NEAR}
ORDERS |= {"error": _ERROR, "gap": _GAP, "gap_error": _ERROR}
FINDING = {"judged": SHARE, "found": SHARE, **_NEAR}
MIXES = {"experts": PERCENT, "crowd_share": PERCENT, "approach": TEXT, "ratio": TEXT, "cost": AMOUNT}
MIXES |= {**_NEAR, "error": _ERROR, "alone": CORRELATION, "gap": _GAP, "gap_error": _ERROR}
QUALITY = {"approach": TEXT, **dict.fromkeys(("recall", "precision", "accuracy"), maybe(SHARE))}


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
    return Finding(pl.DataFrame(rows, schema=find_schema(ORDERS), orient="row"))


def try_finding(order: str, sample: int, ground: Ground) -> Finding:
    """How soon experts alone find what is relevant, and come near full judging: curves in steps of 1 % of the pool.

    The area under the first curve is told, and in how many topics that is larger, or smaller, than by depth.
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
    """The area under the curve of each topic's relevant documents alone, (topic,): how early they come."""
    place = np.empty(ground.items)
    place[queue] = np.arange(ground.items)
    topic, relevant = ground.gold.item_topic, ground.grade > 0
    early = np.where(relevant, 1 - (place + 0.5) / ground.items, 0.0)
    area: FloatArray = np.bincount(topic, weights=early) / np.bincount(topic, weights=relevant)
    return area


class _Tried(NamedTuple):
    """A mix: how many documents it takes, and where its leaderboards are among those to be rated."""

    mix: Mix
    judged: int  # by experts
    asked: int  # of the crowd
    sets: dict[str, int]  # by approach


def try_mixes(order: str, crowd: str, sample: int, ground: Ground) -> Finding:
    """[COLLAB14] figures 3.6 to 3.8: experts judge the top of the queue, the crowd the next part, nobody the rest.

    Each mix is held against experts alone, who judge as much of the same queue as its cost buys.
    """
    queue = ground.list_queue(order, sample)
    sets: list[GradeArray] = []
    tried, left, loose = [], dict[float, LongArray](), dict[str, Fact]()
    for mix, approaches in ground.plan.mixes.items():
        judged = queue[: ground.count(mix.experts)]
        if mix.experts not in left:
            left[mix.experts] = ground.list_rest(order, sample, judged)
        asked = left[mix.experts][: ground.count(mix.crowd)]
        if not len(asked):  # of a pool of a few documents
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
    return Finding(pl.DataFrame(rows, schema=find_schema(MIXES), orient="row"), loose)


def _list_rows(ground: Ground, here: _Tried, rated: Rated, alone: dict[int, int]) -> Iterator[tuple[object, ...]]:
    for approach, own in here.sets.items():
        near = float(rated.tau[own]), float(rated.tau_ap[own]), rated.find_error(own)
        for ratio, price in ground.plan.label_prices.items():
            other = alone[_count_alone(ground, here, price)]
            cost = float((here.judged + here.asked * price) / ground.items)
            rival = float(rated.tau_ap[other])
            yield *here.mix, approach, ratio, cost, *near, rival, near[1] - rival, rated.find_error(own, other)


def _count_alone(ground: Ground, here: _Tried, price: Fraction) -> int:
    """How many documents experts alone judge for what a mix costs: whole ones, and no more than there are."""
    return min(int(here.judged + here.asked * price), ground.items)


def ask_crowd(ground: Ground, crowd: str, items: LongArray, name: str) -> Judgments:
    """A crowd's judgments of some items: one that came for these, so that nobody's work lies elsewhere."""
    kept = np.zeros(ground.items, bool)
    kept[items] = True
    rng = stream(ground.plan.seed, f"collaborative crowd {name}")
    return simulate_crowd(keep_items(ground.gold, kept), ground.crowds[crowd], per_item=ground.plan.per_item, rng=rng)


def merge_crowd(ground: Ground, approach: str, judgments: Judgments, name: str) -> Posterior:
    """What the crowd's judgments of these items come to; nothing else is known of the judges."""
    rng = stream(ground.plan.seed, f"collaborative {approach} {name}")
    return merge(parse_model(approach), judgments, rng=rng)


def try_crowd(crowd: str, sample: int, ground: Ground) -> Finding:
    """[COLLAB14] table 3.3: a crowd judges the whole pool, and each approach's grades are held against gold's."""
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
    return Finding(pl.DataFrame(rows, schema=find_schema(QUALITY), orient="row"), loose)
