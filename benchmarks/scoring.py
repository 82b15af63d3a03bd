"""Scoring all systems under many judgment sets.

karatage scores all sets; the rivals, one set at a time, the sampled ones. Reading is not timed; rivals get
runs and judgments in the form they like best. Figures are means over topics, by set and system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import karatage as kt
from benchmarks.judging import class_starts, count_sets, judgment_sets
from benchmarks.measuring import Figures, Trial
from benchmarks.reading import RunDict, parse_runs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchmarks.setting import Setting

SEVEN = ("P@10", "AP", "nDCG@20", "ERR@20", "RBP(p=0.8)", "DCG", "Bpref")
IN_PYTREC_EVAL = {"AP": "map", "P@10": "P_10", "nDCG@20": "ndcg_cut_20", "Bpref": "bpref"}
Qrels = dict[str, dict[str, int]]


def karatage_ap(setting: Setting) -> Trial:
    return _karatage(setting, ("AP",))


def karatage_seven(setting: Setting) -> Trial:
    return _karatage(setting, SEVEN)


def pytrec_eval_ap(setting: Setting) -> Trial:
    return _pytrec_eval(setting, ("AP",))


def pytrec_eval_four(setting: Setting) -> Trial:
    return _pytrec_eval(setting, tuple(IN_PYTREC_EVAL))


def ir_measures_ap(setting: Setting) -> Trial:
    import ir_measures

    runs, sets = parse_runs(setting.run_files()), read_sets(setting)

    def evaluate(qrels: Qrels, runs: dict[str, RunDict]) -> Figures:
        evaluator = ir_measures.pytrec_eval.evaluator([ir_measures.AP], qrels)
        return {name: evaluator.calc_aggregate(run)[ir_measures.AP] for name, run in runs.items()}

    return Trial(lambda: {f"AP {k}": evaluate(qrels, runs) for k, qrels in sets.items()}, _flatten, len(sets))


def ranx_ap(setting: Setting) -> Trial:
    """Ranx breaks ties in an order of its own, so it gets trec_eval's order as scores."""
    import ranx

    parsed = parse_runs(setting.run_files())
    runs = {name: ranx.Run({t: _untie(r) for t, r in run.items()}) for name, run in parsed.items()}
    sets = {k: ranx.Qrels(qrels) for k, qrels in read_sets(setting).items()}

    def evaluate(qrels: ranx.Qrels, runs: dict[str, ranx.Run]) -> Figures:
        return {name: float(ranx.evaluate(qrels, run, "map")) for name, run in runs.items()}

    return Trial(lambda: {f"AP {k}": evaluate(qrels, runs) for k, qrels in sets.items()}, _flatten, len(sets))


def _karatage(setting: Setting, measures: tuple[str, ...]) -> Trial:
    runs, gold = kt.read_runs(setting.runs), kt.read_gold(setting.gold)
    grade = judgment_sets(gold, setting.size)

    def sample(scores: Mapping[str, kt.Scores]) -> Figures:
        return {
            f"{measure} {k} {system}": mean
            for measure in measures
            for k in class_starts(setting.size)
            for system, mean in zip(runs.systems, scores[measure].value[k].mean(axis=0).tolist(), strict=True)
        }

    return Trial(
        lambda: kt.stats.score_grades(kt.stats.align(runs, gold), grade, measures), sample, count_sets(setting.size)
    )


def _pytrec_eval(setting: Setting, measures: tuple[str, ...]) -> Trial:
    import pytrec_eval

    runs, sets = parse_runs(setting.run_files()), read_sets(setting)
    names = {IN_PYTREC_EVAL[measure] for measure in measures}

    def evaluate(qrels: Qrels) -> dict[str, dict[str, dict[str, float]]]:
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, names)
        return {name: evaluator.evaluate(run) for name, run in runs.items()}

    def sample(scored: dict[int, dict[str, dict[str, dict[str, float]]]]) -> Figures:
        return {
            f"{measure} {k} {system}": float(np.mean([row[IN_PYTREC_EVAL[measure]] for row in topics.values()]))
            for measure in measures
            for k, systems in scored.items()
            for system, topics in systems.items()
        }

    return Trial(lambda: {k: evaluate(qrels) for k, qrels in sets.items()}, sample, len(sets))


def read_sets(setting: Setting) -> dict[int, Qrels]:
    """The sampled judgment sets by number."""
    return {int(path.stem): _read_qrels(path) for path in setting.set_files()}


def _read_qrels(path: Path) -> Qrels:
    qrels: Qrels = {}
    for line in path.read_text().splitlines():
        topic, _, document, grade = line.split()
        qrels.setdefault(topic, {})[document] = int(grade)
    return qrels


def _untie(ranking: dict[str, float]) -> dict[str, float]:
    best = sorted(ranking, key=lambda document: (np.float32(ranking[document]), document))
    return {document: float(place) for place, document in enumerate(best, 1)}


def _flatten(scored: dict[str, Figures]) -> Figures:
    return {f"{k} {system}": value for k, systems in scored.items() for system, value in systems.items()}
