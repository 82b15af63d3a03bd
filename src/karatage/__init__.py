"""Which search system is better, when the judges are noisy?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karatage.aggregation.majority import MajorityVote
    from karatage.approaches import evaluate
    from karatage.comparison.rankings import (
        kendall_tau,
        kendall_tau_matrix,
        rank_table,
        ranks,
        rmse,
        rmse_matrix,
        tau_ap,
        tau_ap_matrix,
    )
    from karatage.data.alignment import Alignment, align
    from karatage.data.evaluation import Evaluation
    from karatage.data.judgments import Judgments
    from karatage.data.posterior import Posterior
    from karatage.data.runs import Runs
    from karatage.data.scores import Scores
    from karatage.errors import KaratageError
    from karatage.io.judgments import read_gold, read_judgments
    from karatage.io.runs import read_runs
    from karatage.io.writing import write_judgments, write_run
    from karatage.measures.scoring import score, score_all, score_grades
    from karatage.measures.spec import Measure, parse_measure
    from karatage.simulation.collection import JudgeProfile, World, simulate_collection

__version__ = "0.1.0"

# Names are imported when first used, so that `import karatage` costs nothing.
_HOME = {
    "Alignment": "data.alignment",
    "Evaluation": "data.evaluation",
    "JudgeProfile": "simulation.collection",
    "Judgments": "data.judgments",
    "KaratageError": "errors",
    "MajorityVote": "aggregation.majority",
    "Measure": "measures.spec",
    "Posterior": "data.posterior",
    "Runs": "data.runs",
    "Scores": "data.scores",
    "World": "simulation.collection",
    "align": "data.alignment",
    "evaluate": "approaches",
    "kendall_tau": "comparison.rankings",
    "kendall_tau_matrix": "comparison.rankings",
    "parse_measure": "measures.spec",
    "rank_table": "comparison.rankings",
    "ranks": "comparison.rankings",
    "read_gold": "io.judgments",
    "read_judgments": "io.judgments",
    "read_runs": "io.runs",
    "rmse": "comparison.rankings",
    "rmse_matrix": "comparison.rankings",
    "score": "measures.scoring",
    "score_all": "measures.scoring",
    "score_grades": "measures.scoring",
    "simulate_collection": "simulation.collection",
    "tau_ap": "comparison.rankings",
    "tau_ap_matrix": "comparison.rankings",
    "write_judgments": "io.writing",
    "write_run": "io.writing",
}

__all__ = [
    "Alignment",
    "Evaluation",
    "JudgeProfile",
    "Judgments",
    "KaratageError",
    "MajorityVote",
    "Measure",
    "Posterior",
    "Runs",
    "Scores",
    "World",
    "align",
    "evaluate",
    "kendall_tau",
    "kendall_tau_matrix",
    "parse_measure",
    "rank_table",
    "ranks",
    "read_gold",
    "read_judgments",
    "read_runs",
    "rmse",
    "rmse_matrix",
    "score",
    "score_all",
    "score_grades",
    "simulate_collection",
    "tau_ap",
    "tau_ap_matrix",
    "write_judgments",
    "write_run",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'karatage' has no attribute '{name}'")
    value = getattr(import_module(f"karatage.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
