"""Orders of judging: how long a large queue takes, and how soon relevant documents are found.

`python -m benchmarks.orders --data FOLDER` prints docs/theory/orders.md's table: T08, judged one by one or in batches.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import karatage as kt
from benchmarks.measuring import Figures, Trial
from benchmarks.setting import SEED, Setting
from karatage.correction.sampled import choose_sizes
from karatage.data.judgments import match_gold
from karatage.measures.registry import as_weighted_sum
from karatage.orders.budget import find_area, find_curve
from karatage.orders.orders import list_all, parse_order

COLLECTION = "trec8-adhoc-10topics"
TOPICS = 50
RELEVANT = 0.03
MARKS = (500, 1000, 2000, 5000)
SEEDS = 20
BATCHES = (100, 1000)
JUDGES = ((0.7, 0.8), (0.5, 0.5))  # shares of relevant and of other documents that they see as such
CONTRASTS = (
    ("move-to-front", "depth"),
    ("thompson", "depth"),
    ("thompson", "meta-ap"),
    ("move-to-front", "move-to-front, no answers"),
    ("thompson", "thompson, no answers"),
)

LongArray = NDArray[np.int64]
GradeArray = NDArray[np.int8]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Pool:
    """Items to judge, their grades, and the order that others are compared with."""

    state: kt.experiments.JudgingState
    grade: GradeArray
    depth: LongArray

    def describe(self, name: str, orders: Sequence[LongArray]) -> dict[str, object]:
        """Means over orders, and the standard deviation of the area; `over depth` counts topics."""
        relevant = self.grade >= self.state.level
        curves = [find_curve(order, relevant) for order in orders]
        areas = [find_area(curve) for curve in curves]
        by_topic = np.mean([self._topic_areas(order) for order in orders], axis=0)
        found = np.mean([curve[list(MARKS)] for curve in curves], axis=0)
        return {
            "order": name,
            "area": round(float(np.mean(areas)), 3),
            "spread": round(float(np.std(areas, ddof=1)), 3) if len(areas) > 1 else None,
            "by topic": round(float(by_topic.mean()), 3),
            "over depth": int((by_topic > self._topic_areas(self.depth)).sum()),
            **{f"{mark:,}": round(float(share), 3) for mark, share in zip(MARKS, found, strict=True)},
        }

    def contrast(self, name: str, orders: Sequence[LongArray], others: Sequence[LongArray]) -> dict[str, object]:
        """The mean difference of the topics' areas, with its 95 % interval over topics."""
        from scipy.stats import t

        areas, base = (np.mean([self._topic_areas(order) for order in some], axis=0) for some in (orders, others))
        gap = areas - base
        half = float(t.ppf(0.975, len(gap) - 1) * gap.std(ddof=1) / np.sqrt(len(gap)))
        mean = float(gap.mean())
        return {
            "contrast": name,
            "by topic": round(mean, 3),
            "low": round(mean - half, 3),
            "high": round(mean + half, 3),
        }

    def _topic_areas(self, order: LongArray) -> FloatArray:
        areas = []
        for low, high in pairwise(self.state.item_start.tolist()):
            own = order[(order >= low) & (order < high)] - low
            areas.append(find_area(find_curve(own, self.grade[low:high] >= self.state.level)))
        return np.array(areas)


def average_rank(setting: Setting) -> Trial:
    return _queue(setting, "average-rank")


def depth(setting: Setting) -> Trial:
    return _queue(setting, "depth")


def disagreement(setting: Setting) -> Trial:
    return _queue(setting, "disagreement")


def effect(setting: Setting) -> Trial:
    return _queue(setting, "effect")


def meta_ap(setting: Setting) -> Trial:
    return _queue(setting, "meta-ap")


def move_to_front(setting: Setting) -> Trial:
    return _queue(setting, "move-to-front")


def thompson(setting: Setting) -> Trial:
    return _queue(setting, "thompson")


def _queue(setting: Setting, order: str) -> Trial:
    """All documents; half of them where they are drawn, as there is nothing to draw when all are taken."""
    state = _simulate(setting.size.queue_items, setting.size.systems, setting.size.depth)
    count = state.items // 2 if order == "effect" else state.items

    def figures(picks: kt.experiments.Picks) -> Figures:
        return {"picked": float(len(picks.item))}

    return Trial(lambda: kt.experiments.next_items(order, state, count), figures, state.items)


def _simulate(items: int, systems: int, deepest: int) -> kt.experiments.JudgingState:
    """Systems that see relevance through noise, and have each document of a topic with the same chance or a better."""
    rng = np.random.default_rng(SEED)
    own = items // TOPICS
    length = min(deepest, own)
    relevant = rng.random((TOPICS, own)) < RELEVANT
    ranked = np.empty((TOPICS, systems, length), np.int32)
    for topic in range(TOPICS):
        score = 2 * relevant[topic] * rng.random((systems, 1)) + rng.normal(size=(systems, own))
        ranked[topic] = topic * own + np.argsort(-score, axis=1)[:, :length]
    return kt.experiments.JudgingState(
        ranked=ranked,
        item_start=np.arange(TOPICS + 1) * own,
        grade=relevant.ravel().astype(np.int8),
        open=np.ones(TOPICS * own, np.bool_),  # answers are known to the walks, which so take the longest way
        disagreement=rng.random(TOPICS * own),
        effect=rng.exponential(size=TOPICS * own),
        seed=SEED,
    )


def main() -> None:
    """Print areas and shares found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.orders", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help=f"folder that holds {COLLECTION}")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    options = parser.parse_args()
    state, grade = read_pool(options.data / COLLECTION)
    pool = Pool(state, grade, list_all(parse_order("depth"), state, grade))
    orders = dict(study(pool, options.seeds))
    pl.Config.set_tbl_rows(-1)
    pl.Config.set_tbl_cols(-1)
    pl.Config.set_tbl_width_chars(200)
    pl.Config.set_fmt_str_lengths(60)
    print(pl.DataFrame([pool.describe(name, listed) for name, listed in orders.items()]))
    print(pl.DataFrame([pool.contrast(f"{a} - {b}", orders[a], orders[b]) for a, b in CONTRASTS]))


def study(pool: Pool, seeds: int) -> Iterator[tuple[str, list[LongArray]]]:
    """Names of ways to judge, and the orders in which items are judged, over seeds where luck plays a part."""
    state, grade = pool.state, pool.grade
    states = [replace(state, seed=seed) for seed in range(seeds)]
    rng = np.random.default_rng(SEED)
    yield "random", [rng.permutation(state.items) for _ in states]
    for order in ("depth", "average-rank", "meta-ap"):
        yield order, [list_all(parse_order(order), state, grade)]
    for order in ("move-to-front", "thompson"):
        own = states if order == "thompson" else states[:1]
        yield order, [list_all(parse_order(order), each, grade) for each in own]
        for size in BATCHES:
            yield f"{order}, by {size:,}", [judge_in_batches(order, each, grade, size) for each in own]
        yield f"{order}, no answers", [kt.experiments.next_items(order, each, each.items).item for each in own]
        for judge in JUDGES:
            said = [make_noisy(grade >= state.level, *judge, each.seed) for each in states]
            listed = [list_all(parse_order(order), each, one) for each, one in zip(states, said, strict=True)]
            yield f"{order}, TPR {judge[0]:g} TNR {judge[1]:g}", listed
    shuffled = [replace(state, ranked=rng.permutation(state.ranked, axis=1)) for _ in states]
    yield "move-to-front, systems shuffled", [list_all(parse_order("move-to-front"), s, grade) for s in shuffled]
    drawn = [replace(each, effect=find_effect(state)) for each in states]
    size = BATCHES[-1]
    yield f"effect, by {size:,}", [judge_in_batches("effect", each, grade, size) for each in drawn]


def read_pool(folder: Path) -> tuple[kt.experiments.JudgingState, GradeArray]:
    """All of gold's items, none of them judged yet, and their grades."""
    gold = kt.read_gold(folder / "gold.qrels")
    alignment = kt.stats.align(kt.read_runs(folder / "runs"), gold)
    grade = match_gold(gold, gold)
    nobody = np.full(len(grade), -1, np.int8)
    state = kt.experiments.JudgingState(
        ranked=alignment.ranked, item_start=alignment.item_start, grade=nobody, open=np.ones(len(grade), np.bool_)
    )
    return state, grade


def judge_in_batches(order: str, state: kt.experiments.JudgingState, grade: GradeArray, size: int) -> LongArray:
    """The order in which items are judged when answers come after each batch."""
    judged: list[LongArray] = []
    while (item := kt.experiments.next_items(order, state, size).item).size:
        judged.append(item)
        known, still = state.grade.copy(), state.open.copy()
        known[item], still[item] = grade[item], False
        state = replace(state, grade=known, open=still)
    return np.concatenate(judged)


def make_noisy(relevant: NDArray[np.bool_], tpr: float, tnr: float, seed: int) -> GradeArray:
    """What a judge of that quality would answer."""
    luck = np.random.default_rng(seed).random(len(relevant))
    return np.where(relevant, luck < tpr, luck >= tnr).astype(np.int8)


def find_effect(state: kt.experiments.JudgingState) -> FloatArray:
    """How differently systems weigh an item in DCG, over all pairs, as if none were decided."""
    weight = np.zeros((state.items + 1, state.ranked.shape[1]))
    linear = as_weighted_sum(kt.parse_measure("DCG"), state.ranked.shape[2], 1)
    assert linear is not None
    for rank, worth in enumerate(linear.weight):
        for system, item in enumerate(state.ranked[:, :, rank].T):
            weight[item, system] = worth  # -1 writes behind the last item
    return choose_sizes(weight[:-1])


if __name__ == "__main__":
    main()
