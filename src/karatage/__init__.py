"""Which search system is better, when the judges are noisy?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karatage.aggregation.dawid_skene import DawidSkene
    from karatage.aggregation.majority import MajorityVote
    from karatage.aggregation.registry import aggregate
    from karatage.agreement.coefficients import agreement_intervals, fleiss_kappa, krippendorff_alpha, percent_agreement
    from karatage.agreement.pairs import agreement_matrix, cohen_kappa
    from karatage.approaches.evaluating import evaluate
    from karatage.auditing import audit
    from karatage.comparison.anova import Anova, anova, omega_squared
    from karatage.comparison.paired import PairedTest, paired_test
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
    from karatage.comparison.tukey import Tukey, tukey
    from karatage.comparison.unpaired import UnpairedTest, welch_test
    from karatage.correction.planning import plan_sizes
    from karatage.data.accuracy import Accuracy
    from karatage.data.alignment import Alignment, align
    from karatage.data.audit import Audit
    from karatage.data.board import Board
    from karatage.data.comparison import Comparison
    from karatage.data.crowd import CrowdModel
    from karatage.data.crowd_summary import CrowdSummary
    from karatage.data.disagreement import DisagreementModel
    from karatage.data.draws import Draws
    from karatage.data.estimate import Estimate, wilson_interval
    from karatage.data.evaluation import Evaluation
    from karatage.data.figures import Figures, Goal, Prices, RateCounts
    from karatage.data.gold import Gold
    from karatage.data.judgments import Judgments
    from karatage.data.partition import Partition, assemble_judges
    from karatage.data.plan import GoldPlan
    from karatage.data.posterior import Posterior
    from karatage.data.prices import JudgingPrices, parse_prices
    from karatage.data.queue import JudgingQueue
    from karatage.data.record import JudgeRecord
    from karatage.data.runs import Runs
    from karatage.data.scores import Scores
    from karatage.data.settling import Settling
    from karatage.data.sizing import SizePlan
    from karatage.data.weights import Weights
    from karatage.deciding.accuracy import judge_accuracy
    from karatage.deciding.comparing import compare
    from karatage.deciding.figures import compare_figures
    from karatage.deciding.planning import plan
    from karatage.deciding.question import Question
    from karatage.deciding.ranking import compare_all
    from karatage.drawing import draw_evaluation, draw_scores
    from karatage.errors import KaratageError
    from karatage.experiments.aware.findings import AwareFindings
    from karatage.experiments.aware.plan import AwarePlan
    from karatage.experiments.aware.running import experiment_aware
    from karatage.experiments.collaborative.findings import CollaborativeFindings
    from karatage.experiments.collaborative.plan import CollaborativePlan
    from karatage.experiments.collaborative.running import experiment_collaborative
    from karatage.experiments.collection import Collection, read_collection
    from karatage.experiments.engine import Execution
    from karatage.experiments.noisy.findings import NoisyFindings
    from karatage.experiments.noisy.plan import NoisyPlan
    from karatage.experiments.noisy.running import experiment_noisy
    from karatage.experiments.panels import PanelRules
    from karatage.experiments.random_relevance.findings import RandomRelevanceFindings
    from karatage.experiments.random_relevance.plan import RandomRelevancePlan
    from karatage.experiments.random_relevance.running import experiment_random_relevance
    from karatage.experiments.square.data_sets import DataSet, DataSets, read_data_sets
    from karatage.experiments.square.findings import Benchmark
    from karatage.experiments.square.running import benchmark
    from karatage.experiments.supervised.findings import SupervisedFindings
    from karatage.experiments.supervised.plan import SupervisedPlan
    from karatage.experiments.supervised.running import experiment_supervised
    from karatage.io.crowds import read_crowd, write_crowd
    from karatage.io.disagreement import read_disagreement, write_disagreement
    from karatage.io.families import read_families
    from karatage.io.judgments import read_gold, read_judgments
    from karatage.io.queues import write_queue
    from karatage.io.records import read_record
    from karatage.io.runs import read_runs
    from karatage.io.writing import write_judgments, write_run
    from karatage.judging.disagreement import learn_disagreement, predict_disagreement
    from karatage.judging.orders.registry import list_orders, next_items
    from karatage.judging.state import JudgingState, Picks
    from karatage.measures.expected import randomise, score_expected
    from karatage.measures.scoring import score, score_all, score_grades
    from karatage.measures.spec import Measure, parse_measure
    from karatage.queueing.queue import queue
    from karatage.queueing.rules import QueueRules
    from karatage.report.charts import draw_benchmark, write_chart
    from karatage.report.crowds import draw_crowd
    from karatage.report.decisions import draw_board, draw_comparison
    from karatage.report.effects import draw_interaction, draw_main_effects, draw_tukey
    from karatage.simulation.collection import JudgeProfile, World, simulate_collection
    from karatage.simulation.crowd import list_crowds, load_crowd, simulate_crowd
    from karatage.simulation.learning import learn_crowd
    from karatage.simulation.panel import PanelQuality, simulate_panel
    from karatage.simulation.partition import partition_judges
    from karatage.simulation.shape import CollectionShape
    from karatage.simulation.summary import summarise_crowd

__version__ = "0.1.0"

# Names are imported when first used, so that `import karatage` costs nothing.
_HOME = {
    "Accuracy": "data.accuracy",
    "Alignment": "data.alignment",
    "Anova": "comparison.anova",
    "Audit": "data.audit",
    "AwareFindings": "experiments.aware.findings",
    "AwarePlan": "experiments.aware.plan",
    "Benchmark": "experiments.square.findings",
    "Board": "data.board",
    "CollaborativeFindings": "experiments.collaborative.findings",
    "CollaborativePlan": "experiments.collaborative.plan",
    "Collection": "experiments.collection",
    "CollectionShape": "simulation.shape",
    "Comparison": "data.comparison",
    "CrowdModel": "data.crowd",
    "CrowdSummary": "data.crowd_summary",
    "DataSet": "experiments.square.data_sets",
    "DataSets": "experiments.square.data_sets",
    "DawidSkene": "aggregation.dawid_skene",
    "DisagreementModel": "data.disagreement",
    "Draws": "data.draws",
    "Estimate": "data.estimate",
    "Evaluation": "data.evaluation",
    "Execution": "experiments.engine",
    "Figures": "data.figures",
    "Goal": "data.figures",
    "Gold": "data.gold",
    "GoldPlan": "data.plan",
    "JudgeProfile": "simulation.collection",
    "JudgeRecord": "data.record",
    "JudgingPrices": "data.prices",
    "JudgingQueue": "data.queue",
    "JudgingState": "judging.state",
    "Judgments": "data.judgments",
    "KaratageError": "errors",
    "MajorityVote": "aggregation.majority",
    "Measure": "measures.spec",
    "NoisyFindings": "experiments.noisy.findings",
    "NoisyPlan": "experiments.noisy.plan",
    "PairedTest": "comparison.paired",
    "PanelQuality": "simulation.panel",
    "PanelRules": "experiments.panels",
    "Partition": "data.partition",
    "Picks": "judging.state",
    "Posterior": "data.posterior",
    "Prices": "data.figures",
    "Question": "deciding.question",
    "QueueRules": "queueing.rules",
    "RandomRelevanceFindings": "experiments.random_relevance.findings",
    "RandomRelevancePlan": "experiments.random_relevance.plan",
    "RateCounts": "data.figures",
    "Runs": "data.runs",
    "Scores": "data.scores",
    "Settling": "data.settling",
    "SizePlan": "data.sizing",
    "SupervisedFindings": "experiments.supervised.findings",
    "SupervisedPlan": "experiments.supervised.plan",
    "Tukey": "comparison.tukey",
    "UnpairedTest": "comparison.unpaired",
    "Weights": "data.weights",
    "World": "simulation.collection",
    "aggregate": "aggregation.registry",
    "agreement_intervals": "agreement.coefficients",
    "agreement_matrix": "agreement.pairs",
    "align": "data.alignment",
    "anova": "comparison.anova",
    "assemble_judges": "data.partition",
    "audit": "auditing",
    "benchmark": "experiments.square.running",
    "cohen_kappa": "agreement.pairs",
    "compare": "deciding.comparing",
    "compare_all": "deciding.ranking",
    "compare_figures": "deciding.figures",
    "draw_benchmark": "report.charts",
    "draw_board": "report.decisions",
    "draw_comparison": "report.decisions",
    "draw_crowd": "report.crowds",
    "draw_evaluation": "drawing",
    "draw_interaction": "report.effects",
    "draw_main_effects": "report.effects",
    "draw_scores": "drawing",
    "draw_tukey": "report.effects",
    "evaluate": "approaches.evaluating",
    "experiment_aware": "experiments.aware.running",
    "experiment_collaborative": "experiments.collaborative.running",
    "experiment_noisy": "experiments.noisy.running",
    "experiment_random_relevance": "experiments.random_relevance.running",
    "experiment_supervised": "experiments.supervised.running",
    "fleiss_kappa": "agreement.coefficients",
    "judge_accuracy": "deciding.accuracy",
    "kendall_tau": "comparison.rankings",
    "kendall_tau_matrix": "comparison.rankings",
    "krippendorff_alpha": "agreement.coefficients",
    "learn_crowd": "simulation.learning",
    "learn_disagreement": "judging.disagreement",
    "list_crowds": "simulation.crowd",
    "list_orders": "judging.orders.registry",
    "load_crowd": "simulation.crowd",
    "next_items": "judging.orders.registry",
    "omega_squared": "comparison.anova",
    "paired_test": "comparison.paired",
    "parse_measure": "measures.spec",
    "parse_prices": "data.prices",
    "partition_judges": "simulation.partition",
    "percent_agreement": "agreement.coefficients",
    "plan": "deciding.planning",
    "plan_sizes": "correction.planning",
    "predict_disagreement": "judging.disagreement",
    "queue": "queueing.queue",
    "randomise": "measures.expected",
    "rank_table": "comparison.rankings",
    "ranks": "comparison.rankings",
    "read_collection": "experiments.collection",
    "read_crowd": "io.crowds",
    "read_data_sets": "experiments.square.data_sets",
    "read_disagreement": "io.disagreement",
    "read_families": "io.families",
    "read_gold": "io.judgments",
    "read_judgments": "io.judgments",
    "read_record": "io.records",
    "read_runs": "io.runs",
    "rmse": "comparison.rankings",
    "rmse_matrix": "comparison.rankings",
    "score": "measures.scoring",
    "score_all": "measures.scoring",
    "score_expected": "measures.expected",
    "score_grades": "measures.scoring",
    "simulate_collection": "simulation.collection",
    "simulate_crowd": "simulation.crowd",
    "simulate_panel": "simulation.panel",
    "summarise_crowd": "simulation.summary",
    "tau_ap": "comparison.rankings",
    "tau_ap_matrix": "comparison.rankings",
    "tukey": "comparison.tukey",
    "welch_test": "comparison.unpaired",
    "wilson_interval": "data.estimate",
    "write_chart": "report.charts",
    "write_crowd": "io.crowds",
    "write_disagreement": "io.disagreement",
    "write_judgments": "io.writing",
    "write_queue": "io.queues",
    "write_run": "io.writing",
}

__all__ = [
    "Accuracy",
    "Alignment",
    "Anova",
    "Audit",
    "AwareFindings",
    "AwarePlan",
    "Benchmark",
    "Board",
    "CollaborativeFindings",
    "CollaborativePlan",
    "Collection",
    "CollectionShape",
    "Comparison",
    "CrowdModel",
    "CrowdSummary",
    "DataSet",
    "DataSets",
    "DawidSkene",
    "DisagreementModel",
    "Draws",
    "Estimate",
    "Evaluation",
    "Execution",
    "Figures",
    "Goal",
    "Gold",
    "GoldPlan",
    "JudgeProfile",
    "JudgeRecord",
    "JudgingPrices",
    "JudgingQueue",
    "JudgingState",
    "Judgments",
    "KaratageError",
    "MajorityVote",
    "Measure",
    "NoisyFindings",
    "NoisyPlan",
    "PairedTest",
    "PanelQuality",
    "PanelRules",
    "Partition",
    "Picks",
    "Posterior",
    "Prices",
    "Question",
    "QueueRules",
    "RandomRelevanceFindings",
    "RandomRelevancePlan",
    "RateCounts",
    "Runs",
    "Scores",
    "Settling",
    "SizePlan",
    "SupervisedFindings",
    "SupervisedPlan",
    "Tukey",
    "UnpairedTest",
    "Weights",
    "World",
    "aggregate",
    "agreement_intervals",
    "agreement_matrix",
    "align",
    "anova",
    "assemble_judges",
    "audit",
    "benchmark",
    "cohen_kappa",
    "compare",
    "compare_all",
    "compare_figures",
    "draw_benchmark",
    "draw_board",
    "draw_comparison",
    "draw_crowd",
    "draw_evaluation",
    "draw_interaction",
    "draw_main_effects",
    "draw_scores",
    "draw_tukey",
    "evaluate",
    "experiment_aware",
    "experiment_collaborative",
    "experiment_noisy",
    "experiment_random_relevance",
    "experiment_supervised",
    "fleiss_kappa",
    "judge_accuracy",
    "kendall_tau",
    "kendall_tau_matrix",
    "krippendorff_alpha",
    "learn_crowd",
    "learn_disagreement",
    "list_crowds",
    "list_orders",
    "load_crowd",
    "next_items",
    "omega_squared",
    "paired_test",
    "parse_measure",
    "parse_prices",
    "partition_judges",
    "percent_agreement",
    "plan",
    "plan_sizes",
    "predict_disagreement",
    "queue",
    "randomise",
    "rank_table",
    "ranks",
    "read_collection",
    "read_crowd",
    "read_data_sets",
    "read_disagreement",
    "read_families",
    "read_gold",
    "read_judgments",
    "read_record",
    "read_runs",
    "rmse",
    "rmse_matrix",
    "score",
    "score_all",
    "score_expected",
    "score_grades",
    "simulate_collection",
    "simulate_crowd",
    "simulate_panel",
    "summarise_crowd",
    "tau_ap",
    "tau_ap_matrix",
    "tukey",
    "welch_test",
    "wilson_interval",
    "write_chart",
    "write_crowd",
    "write_disagreement",
    "write_judgments",
    "write_queue",
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
