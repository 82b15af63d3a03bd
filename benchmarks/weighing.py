"""All thirty weights of every judge: karatage with all replicates of random judges, its rival with one of each class.

The rival scores with pytrec_eval and compares with scipy and numpy; the judges' own scores and densities are ready
before, which costs karatage time and the rival none. Figures are the gaps of the replicates that both look at, without
those by order: real systems tie, and there scipy has another tau and the textbook no AP correlation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import karatage as kt
from benchmarks.correlating import textbook_correlation
from benchmarks.judging import class_starts, judgment_set
from benchmarks.measuring import Figures, Trial
from benchmarks.reading import parse_runs
from benchmarks.scoring import read_sets
from karatage.merging.estimators import ESTIMATORS
from karatage.merging.gaps import Gap, measure_gaps

if TYPE_CHECKING:
    from benchmarks.setting import Setting

FloatArray = NDArray[np.float64]
GRID = np.linspace(0, 1, 100)
COMPARED: tuple[Gap, ...] = ("fro", "rmse", "kld")


def karatage_weights(setting: Setting) -> Trial:
    runs, judges = kt.read_runs(setting.runs), _read_judges(setting)
    approach = [f"{name}(replicates={setting.size.sets_per_class})" for name in ESTIMATORS]
    work = len(judges.judges) * 3 * setting.size.sets_per_class

    def figures(_: kt.Evaluation) -> Figures:
        gold = kt.read_gold(setting.gold)
        alignment = kt.stats.align(runs, gold)
        own = kt.score(runs, judges, "AP").value
        found: Figures = {}
        for number in class_starts(setting.size):
            grade = judgment_set(gold, setting.size, number)[:, None]
            others = kt.stats.score_grades(alignment, grade, ["AP"], top_grade=1)["AP"].value
            near = measure_gaps(own, np.ones(own.shape[:2], bool), others, COMPARED)
            found |= {f"{gap} {number} {k}": float(x) for gap in COMPARED for k, x in enumerate(near[gap].single)}
        return found

    return Trial(lambda: kt.evaluate(runs, judges, "AP", approach=approach, rng=1), figures, work)


def pytrec_eval_weights(setting: Setting) -> Trial:
    import pytrec_eval

    own = kt.score(kt.read_runs(setting.runs), _read_judges(setting), "AP").value
    runs, sets = parse_runs(setting.run_files()), read_sets(setting)
    numbers = [number for number in class_starts(setting.size) if number in sets]
    systems, topics = sorted(runs), sorted(next(iter(sets.values())), key=int)
    densities = [_density(matrix) for matrix in own]

    def score(number: int) -> FloatArray:
        evaluator = pytrec_eval.RelevanceEvaluator(sets[number], {"map"})
        scored = {system: evaluator.evaluate(runs[system]) for system in systems}
        return np.array([[scored[s].get(t, {"map": 0.0})["map"] for s in systems] for t in topics])

    def run() -> Figures:
        found: Figures = {}
        for number in numbers:
            other = score(number)
            density = _density(other)
            for k, matrix in enumerate(own):
                gaps = _compare(matrix, other, densities[k], density)
                found |= {f"{gap} {number} {k}": value for gap, value in gaps.items()}
        return found

    return Trial(run, lambda found: found, len(own) * len(numbers))


def _compare(x: FloatArray, y: FloatArray, of_x: FloatArray, of_y: FloatArray) -> dict[str, float]:
    """The five gaps over all topics; those of each topic are computed, too, and thrown away."""
    from scipy.stats import entropy, kendalltau

    for t in range(len(x)):
        np.sqrt(((x[t] - y[t]) ** 2).mean())
        kendalltau(x[t], y[t])
        textbook_correlation(x[t], y[t])
        entropy(of_x[t], of_y[t])
    means = x.mean(axis=0), y.mean(axis=0)
    kendalltau(*means)
    textbook_correlation(*means)
    whole = of_x.sum(axis=0), of_y.sum(axis=0)
    return {
        "fro": float(np.sqrt(((x - y) ** 2).mean())),
        "rmse": float(np.sqrt(((means[0] - means[1]) ** 2).mean())),
        "kld": float(1 - np.exp(-entropy(*whole))),
    }


def _density(matrix: FloatArray) -> FloatArray:
    """(topic, point)."""
    heights: FloatArray = np.exp(-0.5 * ((GRID[None, :, None] - matrix[:, None, :]) / 0.015) ** 2).sum(axis=2)
    return np.maximum(heights, np.finfo(float).tiny)


def _read_judges(setting: Setting) -> kt.Judgments:
    """The noisy copies of gold as judges."""
    gold = kt.read_gold(setting.gold)
    judges = setting.size.noisy_copies
    grade = np.stack([judgment_set(gold, setting.size, k) for k in range(judges)], axis=1)
    return replace(
        gold,
        judges=tuple(f"judge-{k:02d}" for k in range(judges)),
        judge=np.tile(np.arange(judges, dtype=np.int32), gold.grade.size),
        item=np.repeat(gold.item, judges),
        grade=grade.ravel(),
        top_grade=1,
    )
