"""Static orders by how runs retrieve a document, whatever has been judged."""

from __future__ import annotations

import numpy as np

from karatage.data.axes import FloatArray, LongArray
from karatage.judging.features import find_features
from karatage.judging.orders.order import Order, pick_sorted
from karatage.judging.state import JudgingState, Picks

DIGITS = 9  # sums over runs differ in the last bits when runs come in another order, which must not decide a tie


def _by_average_rank(state: JudgingState, n: int) -> Picks:
    return pick_sorted(state, n, find_features(state.ranked, state.items).average_rank)


def _by_meta_ap(state: JudgingState, n: int) -> Picks:
    return pick_sorted(state, n, -_find_meta_ap(state))


def _by_depth(state: JudgingState, n: int) -> Picks:
    """By the best rank that any run gives: a depth-k pool, then what depth k + 1 adds; topics take turns in each."""
    best, topic = _find_best_rank(state), state.item_topic.astype(np.int64)
    order = np.lexsort((-_find_meta_ap(state), topic, best))
    first = (np.diff(best[order], prepend=-1) != 0) | (np.diff(topic[order], prepend=-1) != 0)
    number = np.arange(len(order))
    turn = np.empty(len(order), np.int64)
    turn[order] = number - np.maximum.accumulate(np.where(first, number, 0))
    return pick_sorted(state, n, best, turn, topic)


def _find_best_rank(state: JudgingState) -> LongArray:
    """From 0; one more than any rank for a document that nobody retrieved."""
    depth = state.ranked.shape[2]
    best = np.full(state.items + 1, depth)
    for rank in reversed(range(depth)):
        best[state.ranked[:, :, rank]] = rank  # -1 writes behind the last item
    return best[:-1]


def _find_meta_ap(state: JudgingState) -> FloatArray:
    meta_ap: FloatArray = find_features(state.ranked, state.items).meta_ap.round(DIGITS)
    return meta_ap


AVERAGE_RANK = Order("average-rank", _by_average_rank)
META_AP = Order("meta-ap", _by_meta_ap)
DEPTH = Order("depth", _by_depth)
