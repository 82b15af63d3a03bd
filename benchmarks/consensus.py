"""Merging a crowd's grades. Rows come in no order, as integers: what is quickest to take in for every library."""

from __future__ import annotations

import os
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import karatage as kt
from benchmarks.measuring import Figures, Trial
from benchmarks.setting import SEED, Setting

if TYPE_CHECKING:
    from karatage import Posterior

Probability = NDArray[np.float64]
Frame = Any  # of pandas, which mypy does not know
GRADES_PER_ITEM = 5
LEAST_PER_JUDGE = 50
STRIDE = 0.618  # of all rows, from one row to the next: neighbours have nothing to do with each other
ROWS_AT_ONCE = 1_000_000


class Crowd(NamedTuple):
    """Who gave which grade to which item, and what the grade should have been."""

    judge: NDArray[np.int32]  # (row,)
    item: NDArray[np.int32]  # (row,)
    grade: NDArray[np.int8]  # (row,)
    truth: NDArray[np.int8]  # (item,)

    def to_judgments(self) -> kt.Judgments:
        """As karatage takes it."""
        return kt.Judgments.from_codes(judge=self.judge, item=self.item, grade=self.grade)

    def to_frame(self) -> Frame:
        """As crowd-kit takes it."""
        return import_module("pandas").DataFrame({"task": self.item, "worker": self.judge, "label": self.grade})


def simulate_crowd(rows: int, most_judges: int, grades: int) -> Crowd:
    """Judges of differing accuracy, five different ones for each item; little memory beside the result is used."""
    source = np.random.default_rng([SEED, rows, grades])
    items = rows // GRADES_PER_ITEM
    judges = max(2 * GRADES_PER_ITEM, min(most_judges, rows // LEAST_PER_JUDGE))
    truth = source.integers(0, grades, items, np.int8)
    first = source.integers(0, judges, items, np.int32)
    apart = source.integers(1, judges // GRADES_PER_ITEM, items, np.int32)
    accuracy = source.beta(6, 2, judges).astype(np.float32)
    crowd = Crowd(np.empty(rows, np.int32), np.empty(rows, np.int32), np.empty(rows, np.int8), truth)
    stride = _coprime(int(STRIDE * rows), rows)
    for start in range(0, rows, ROWS_AT_ONCE):
        part = slice(start, min(start + ROWS_AT_ONCE, rows))
        place = np.arange(part.start, part.stop) * stride % rows
        item = place // GRADES_PER_ITEM
        judge = (first[item] + place % GRADES_PER_ITEM * apart[item]) % judges
        wrong = source.random(len(item), np.float32) >= accuracy[judge]
        slip = source.integers(1, grades, len(item), np.int8) * wrong
        crowd.judge[part], crowd.item[part], crowd.grade[part] = judge, item, (truth[item] + slip) % grades
    return crowd


def _coprime(near: int, number: int) -> int:
    while np.gcd(near, number) > 1:
        near += 1
    return near


def ds(crowd: Crowd, steps: int) -> Posterior:
    """As crowd-kit's: from the shares of votes, without smoothing, always all steps."""
    return kt.aggregate(crowd.to_judgments(), kt.stats.DawidSkene(prior=None, max_steps=steps, tolerance=0))


def crowd_kit_ds(frame: Frame, steps: int) -> Probability:
    """Its bound may fall, so only a tolerance of minus infinity makes it take all steps."""
    return in_order(import_module("crowdkit.aggregation").DawidSkene(n_iter=steps, tol=-np.inf).fit(frame).probas_)


def in_order(probability: Frame) -> Probability:
    """crowd-kit's posteriors, (item, grade) by number."""
    ordered: Probability = probability.sort_index().sort_index(axis=1).to_numpy()
    return ordered


def _karatage_ds(setting: Setting, grades: int) -> Trial:
    """One thread, as crowd-kit has: two on one core would each be charged for waiting."""
    os.environ["KARATAGE_THREADS"] = "1"
    crowd = simulate_crowd(setting.size.crowd_many, setting.size.crowd_judges, grades)
    return Trial(lambda: ds(crowd, setting.size.steps).probability, _moments)


def _crowd_kit_ds(setting: Setting, grades: int) -> Trial:
    frame = simulate_crowd(setting.size.crowd_many, setting.size.crowd_judges, grades).to_frame()
    return Trial(lambda: crowd_kit_ds(frame, setting.size.steps), _moments)


def _moments(probability: Probability) -> Figures:
    """Sums that change with any posterior."""
    means = {f"mean {k}": float(column.mean()) for k, column in enumerate(probability.T)}
    return means | {"mean square": float((probability**2).mean())}


def _karatage(setting: Setting, approach: str, size: str) -> Trial:
    """With its defaults, to convergence; sorting the rows is part of the work."""
    crowd = simulate_crowd(getattr(setting.size, size), setting.size.crowd_judges, 2)
    return Trial(
        lambda: kt.aggregate(crowd.to_judgments(), approach, rng=SEED).probability, lambda found: _skill(crowd, found)
    )


def _crowd_kit(setting: Setting, model: str, size: str) -> Trial:
    """With its defaults."""
    crowd = simulate_crowd(getattr(setting.size, size), setting.size.crowd_judges, 2)
    frame = crowd.to_frame()
    constructor = getattr(import_module("crowdkit.aggregation"), model)
    return Trial(lambda: in_order(constructor().fit(frame).probas_), lambda found: _skill(crowd, found))


def _skill(crowd: Crowd, probability: Probability) -> Figures:
    """Accuracy in tenths: these models differ in detail between libraries, so only that both work is compared."""
    return {"accuracy, tenths": float(round(10 * (probability.argmax(axis=1) == crowd.truth).mean()))}


karatage_ds_2 = partial(_karatage_ds, grades=2)
karatage_ds_5 = partial(_karatage_ds, grades=5)
crowd_kit_ds_2 = partial(_crowd_kit_ds, grades=2)
crowd_kit_ds_5 = partial(_crowd_kit_ds, grades=5)
karatage_glad_few = partial(_karatage, approach="glad", size="crowd_few")
karatage_glad = partial(_karatage, approach="glad", size="crowd_some")
karatage_mace = partial(_karatage, approach="mace", size="crowd_some")
karatage_mv = partial(_karatage, approach="mv", size="crowd_many")
crowd_kit_glad_few = partial(_crowd_kit, model="GLAD", size="crowd_few")
crowd_kit_glad = partial(_crowd_kit, model="GLAD", size="crowd_some")
crowd_kit_mace = partial(_crowd_kit, model="MACE", size="crowd_some")
crowd_kit_mv = partial(_crowd_kit, model="MajorityVote", size="crowd_many")


def karatage_codes_most(setting: Setting) -> Trial:
    """Sorting the rows alone."""
    crowd = simulate_crowd(setting.size.crowd_most, setting.size.most_judges, 2)
    return Trial(crowd.to_judgments, lambda _: {})


def karatage_ds_most(setting: Setting) -> Trial:
    """Sorting the rows and the model, on all cores."""
    crowd = simulate_crowd(setting.size.crowd_most, setting.size.most_judges, 2)
    return Trial(lambda: ds(crowd, setting.size.few_steps), lambda _: {})
