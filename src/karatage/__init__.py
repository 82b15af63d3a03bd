"""Which search system is better, when the judges are noisy?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from karatage.data.result import Display, provide_display
from karatage.memory import spare_addresses

if TYPE_CHECKING:
    from karatage.aggregation.dawid_skene import DawidSkene
    from karatage.aggregation.majority import MajorityVote
    from karatage.aggregation.registry import aggregate
    from karatage.agreement.coefficients import agreement_intervals, fleiss_kappa, krippendorff_alpha, percent_agreement
    from karatage.agreement.pairs import agreement_matrix, cohen_kappa
    from karatage.approaches.evaluating import evaluate
    from karatage.comparison.anova import Anova, anova, omega_squared
    from karatage.comparison.paired import PairedTest, UnpairedTest, paired_test, welch_test
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
    from karatage.correction.planning import plan_sizes
    from karatage.data.accuracy import Accuracy
    from karatage.data.alignment import Alignment, align
    from karatage.data.audit import Audit
    from karatage.data.board import Board
    from karatage.data.calibration import Calibration
    from karatage.data.comparison import Comparison
    from karatage.data.crowd import CrowdModel
    from karatage.data.crowd_summary import CrowdSummary
    from karatage.data.diagnosis import Diagnosis
    from karatage.data.disagreement import DisagreementModel
    from karatage.data.draws import Draws
    from karatage.data.estimate import Estimate, wilson_interval
    from karatage.data.evaluation import Evaluation
    from karatage.data.gold import Gold
    from karatage.data.judgments import Judgments
    from karatage.data.partition import Partition, assemble_judges
    from karatage.data.plan import GoldPlan
    from karatage.data.posterior import JudgeRecord, Posterior
    from karatage.data.prices import JudgingPrices, parse_prices
    from karatage.data.queue import JudgingQueue, Settling
    from karatage.data.runs import Runs
    from karatage.data.scores import Scores
    from karatage.data.sizing import Figures, Goal, Prices, RateCounts, SizePlan
    from karatage.data.weights import Weights
    from karatage.decisions.audit import audit
    from karatage.decisions.board import compare_all
    from karatage.decisions.calibrate import calibrate, judge_accuracy
    from karatage.decisions.compare import compare
    from karatage.decisions.diagnose import diagnose
    from karatage.decisions.draw import draw_evaluation, draw_scores
    from karatage.decisions.figures import compare_figures
    from karatage.decisions.plan import plan
    from karatage.decisions.question import Question
    from karatage.decisions.queue import QueueRules, queue
    from karatage.decisions.survey import Survey, SurveyRules, survey
    from karatage.errors import KaratageError
    from karatage.experiments.aware.findings import AwareFindings, experiment_aware
    from karatage.experiments.aware.plan import AwarePlan
    from karatage.experiments.collaborative.findings import CollaborativeFindings, experiment_collaborative
    from karatage.experiments.collaborative.plan import CollaborativePlan
    from karatage.experiments.collection import Collection, PanelRules, read_collection
    from karatage.experiments.engine import Execution
    from karatage.experiments.noisy.findings import NoisyFindings, experiment_noisy
    from karatage.experiments.noisy.plan import NoisyPlan
    from karatage.experiments.random_relevance.findings import RandomRelevanceFindings, experiment_random_relevance
    from karatage.experiments.random_relevance.plan import RandomRelevancePlan
    from karatage.experiments.square.cells import benchmark
    from karatage.experiments.square.data_sets import DataSet, DataSets, read_data_sets
    from karatage.experiments.square.findings import Benchmark
    from karatage.experiments.supervised.findings import SupervisedFindings, experiment_supervised
    from karatage.experiments.supervised.plan import SupervisedPlan
    from karatage.io.judgments import read_gold, read_judgments
    from karatage.io.models import (
        read_crowd,
        read_disagreement,
        read_families,
        read_record,
        write_crowd,
        write_disagreement,
    )
    from karatage.io.queues import write_queue
    from karatage.io.runs import read_runs
    from karatage.io.writing import write_judgments, write_run
    from karatage.measures.expected import randomise, score_expected
    from karatage.measures.registry import parse_measure
    from karatage.measures.scoring import score, score_all, score_grades
    from karatage.measures.spec import Measure
    from karatage.orders.disagreement import learn_disagreement, predict_disagreement
    from karatage.orders.orders import list_orders, next_items
    from karatage.orders.state import JudgingState, Picks
    from karatage.progress import watch
    from karatage.simulation.answering import summarise_crowd
    from karatage.simulation.collection import CollectionShape, JudgeProfile, SystemProfile, World, simulate_collection
    from karatage.simulation.crowd import list_crowds, load_crowd, simulate_crowd
    from karatage.simulation.learning import learn_crowd
    from karatage.simulation.panel import PanelQuality, partition_judges, simulate_panel
    from karatage.views.benchmark import draw_benchmark
    from karatage.views.board import draw_board
    from karatage.views.charts import write_chart
    from karatage.views.comparison import draw_comparison
    from karatage.views.crowd import draw_crowd
    from karatage.views.reading import Saved, read_result
    from karatage.views.report import write_report
    from karatage.views.variance import draw_interaction, draw_main_effects, draw_tukey

__version__ = "0.1.0"
spare_addresses()  # before anything that takes many


def _find_display() -> Display:
    from karatage.views import showing

    return showing


provide_display(_find_display)

# Names are imported when first used, so that `import karatage` costs nothing.
_MODULES = {
    "aggregation.dawid_skene": "DawidSkene",
    "aggregation.majority": "MajorityVote",
    "aggregation.registry": "aggregate",
    "agreement.coefficients": "agreement_intervals fleiss_kappa krippendorff_alpha percent_agreement",
    "agreement.pairs": "agreement_matrix cohen_kappa",
    "approaches.evaluating": "evaluate",
    "comparison.anova": "Anova anova omega_squared",
    "comparison.paired": "PairedTest UnpairedTest paired_test welch_test",
    "comparison.rankings": "kendall_tau kendall_tau_matrix rank_table ranks rmse rmse_matrix tau_ap tau_ap_matrix",
    "comparison.tukey": "Tukey tukey",
    "correction.planning": "plan_sizes",
    "data.accuracy": "Accuracy",
    "data.alignment": "Alignment align",
    "data.audit": "Audit",
    "data.board": "Board",
    "data.calibration": "Calibration",
    "data.comparison": "Comparison",
    "data.crowd": "CrowdModel",
    "data.crowd_summary": "CrowdSummary",
    "data.diagnosis": "Diagnosis",
    "data.disagreement": "DisagreementModel",
    "data.draws": "Draws",
    "data.estimate": "Estimate wilson_interval",
    "data.evaluation": "Evaluation",
    "data.gold": "Gold",
    "data.judgments": "Judgments",
    "data.partition": "Partition assemble_judges",
    "data.plan": "GoldPlan",
    "data.posterior": "JudgeRecord Posterior",
    "data.prices": "JudgingPrices parse_prices",
    "data.queue": "JudgingQueue Settling",
    "data.runs": "Runs",
    "data.scores": "Scores",
    "data.sizing": "Figures Goal Prices RateCounts SizePlan",
    "data.weights": "Weights",
    "decisions.audit": "audit",
    "decisions.board": "compare_all",
    "decisions.calibrate": "calibrate judge_accuracy",
    "decisions.compare": "compare",
    "decisions.diagnose": "diagnose",
    "decisions.draw": "draw_evaluation draw_scores",
    "decisions.figures": "compare_figures",
    "decisions.plan": "plan",
    "decisions.question": "Question",
    "decisions.queue": "QueueRules queue",
    "decisions.survey": "Survey SurveyRules survey",
    "errors": "KaratageError",
    "experiments.aware.findings": "AwareFindings experiment_aware",
    "experiments.aware.plan": "AwarePlan",
    "experiments.collaborative.findings": "CollaborativeFindings experiment_collaborative",
    "experiments.collaborative.plan": "CollaborativePlan",
    "experiments.collection": "Collection PanelRules read_collection",
    "experiments.engine": "Execution",
    "experiments.noisy.findings": "NoisyFindings experiment_noisy",
    "experiments.noisy.plan": "NoisyPlan",
    "experiments.random_relevance.findings": "RandomRelevanceFindings experiment_random_relevance",
    "experiments.random_relevance.plan": "RandomRelevancePlan",
    "experiments.square.data_sets": "DataSet DataSets read_data_sets",
    "experiments.square.findings": "Benchmark",
    "experiments.square.cells": "benchmark",
    "experiments.supervised.findings": "SupervisedFindings experiment_supervised",
    "experiments.supervised.plan": "SupervisedPlan",
    "io.judgments": "read_gold read_judgments",
    "io.models": "read_crowd read_disagreement read_families read_record write_crowd write_disagreement",
    "io.queues": "write_queue",
    "io.runs": "read_runs",
    "io.writing": "write_judgments write_run",
    "measures.expected": "randomise score_expected",
    "measures.registry": "parse_measure",
    "measures.scoring": "score score_all score_grades",
    "measures.spec": "Measure",
    "orders.disagreement": "learn_disagreement predict_disagreement",
    "orders.orders": "list_orders next_items",
    "orders.state": "JudgingState Picks",
    "progress": "watch",
    "simulation.answering": "summarise_crowd",
    "simulation.collection": "CollectionShape JudgeProfile SystemProfile World simulate_collection",
    "simulation.crowd": "list_crowds load_crowd simulate_crowd",
    "simulation.learning": "learn_crowd",
    "simulation.panel": "PanelQuality partition_judges simulate_panel",
    "views.benchmark": "draw_benchmark",
    "views.board": "draw_board",
    "views.charts": "write_chart",
    "views.comparison": "draw_comparison",
    "views.crowd": "draw_crowd",
    "views.reading": "Saved read_result",
    "views.report": "write_report",
    "views.variance": "draw_interaction draw_main_effects draw_tukey",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "Accuracy",
    "Alignment",
    "Anova",
    "Audit",
    "AwareFindings",
    "AwarePlan",
    "Benchmark",
    "Board",
    "Calibration",
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
    "Diagnosis",
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
    "Saved",
    "Scores",
    "Settling",
    "SizePlan",
    "SupervisedFindings",
    "SupervisedPlan",
    "Survey",
    "SurveyRules",
    "SystemProfile",
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
    "calibrate",
    "cohen_kappa",
    "compare",
    "compare_all",
    "compare_figures",
    "diagnose",
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
    "read_result",
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
    "survey",
    "tau_ap",
    "tau_ap_matrix",
    "tukey",
    "watch",
    "welch_test",
    "wilson_interval",
    "write_chart",
    "write_crowd",
    "write_disagreement",
    "write_judgments",
    "write_queue",
    "write_report",
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
