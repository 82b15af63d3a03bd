"""A small result of every kind, to be written and read back; with seeds, as some were also written once and kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl

import karatage as kt
from karatage.comparison.classification import Quality
from karatage.data.options import Teams
from karatage.data.result import Result
from karatage.decisions.evaluate import draw_evaluation
from karatage.experiments.collection import Collection
from karatage.experiments.engine import Outcome
from karatage.experiments.notes import tell
from karatage.experiments.random_relevance.findings import experiment_random_relevance
from karatage.experiments.random_relevance.plan import RandomRelevancePlan
from karatage.experiments.square.findings import Benchmark, CellResult, DataSetFacts, JudgeFacts
from karatage.experiments.supervised.findings import experiment_supervised
from karatage.experiments.supervised.plan import SupervisedPlan
from karatage.simulation.panel import simulate_panel

HOSTILE = '</script><b>"\u202egnp\u0007 😀\n' + "x" * 300
EBAY = kt.Figures(10278, 0.6260, 0.414), kt.Figures(20604, 0.6385, 0.402)
RATES = kt.RateCounts(43, 59, 67, 84)
GUESSING = kt.Figures(50, 0.527, 0.240), kt.Figures(50, 0.513, 0.260)


@cache
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(systems=3, topics=4, depth=12, rng=1)


@cache
def hostile_runs() -> kt.Runs:
    return rename(world().runs)


def rename(runs: kt.Runs) -> kt.Runs:
    return replace(runs, systems=tuple(HOSTILE if name == "system-02" else name for name in runs.systems))


def pair() -> kt.Comparison:
    return kt.compare(world().runs, world().judgments, world().gold, "P@5", a="system-01", b="system-02")


def double_gold() -> kt.Judgments:
    """Gold of two judges, who slip in one grade of ten, and of whom one grades again."""
    rng, true = np.random.default_rng(3), world().gold.to_frame().drop("judge")
    again = []
    for judge in ("ann", "bob", "ann", "bob"):
        slip = rng.integers(1, 4, len(true)) * (rng.random(len(true)) < 0.1)
        again.append(true.with_columns(judge=pl.lit(judge), grade=(pl.col("grade") + pl.Series(slip)) % 4))
    return kt.read_gold(pl.concat([own.with_columns(time=pl.lit(t)) for t, own in enumerate(again)]))


def pair_by_double_gold() -> kt.Comparison:
    return kt.compare(
        world().runs, world().judgments, double_gold(), "P@5", a="system-01", b="system-02", claim="these"
    )


def audit_of_double_gold() -> kt.Audit:
    return kt.audit(world().judgments, gold=double_gold(), rng=1, approach=["mv"])


def judges_alone() -> kt.Comparison:
    return kt.compare(world().runs, world().judgments, None, "AP", a="system-01", b="system-02")


def by_figures() -> kt.Comparison:
    return kt.compare_figures(*EBAY, RATES)


def refused() -> kt.Comparison:
    return kt.compare_figures(*GUESSING, kt.RateCounts(17, 38, 216, 262), rates_b=kt.RateCounts(14, 50, 230, 285))


def board() -> kt.Board:
    more = kt.simulation.simulate_collection(systems=3, topics=12, depth=12, rng=1)
    half = more.gold.keep_rows(np.arange(len(more.gold.grade)) % 2 == 0)
    return kt.compare_all(rename(more.runs), more.judgments, half, "P@5")


@cache
def larger_world() -> kt.simulation.World:
    found = kt.simulation.simulate_collection(systems=6, topics=12, depth=12, rng=1)
    return replace(found, runs=rename(found.runs))


def even_half() -> kt.Judgments:
    gold = larger_world().gold
    return gold.keep_rows(np.arange(len(gold.grade)) % 2 == 0)


def board_with_guess() -> kt.Board:
    return kt.compare_all(larger_world().runs, larger_world().judgments, even_half(), "P@5")


def board_of_differences() -> kt.Board:
    """Drawn gold without documents that all systems retrieve, so that scores are not known."""
    queue = kt.plan(larger_world().runs, larger_world().judgments, "P@5", budget=40).queue
    truth = larger_world().gold.to_frame().drop("judge")
    gold = kt.read_gold(queue.drop("grade").join(truth, on=["topic", "document"], how="left"))
    return kt.compare_all(larger_world().runs, larger_world().judgments, gold, "P@5", claim="these")


def pair_with_guess() -> kt.Comparison:
    names = {"a": "system-01", "b": HOSTILE}
    return kt.compare(larger_world().runs, larger_world().judgments, even_half(), "P@5", **names)


def board_alone() -> kt.Board:
    return kt.compare_all(world().runs, world().judgments, None, "AP")


def evaluation() -> kt.Evaluation:
    approaches = ["mv", "sgl_tau_msd"]
    found = kt.evaluate(hostile_runs(), world().judgments, ["AP", "P@5"], approach=approaches, gold=world().gold, rng=1)
    return draw_evaluation(hostile_runs(), found, draws=4)


def evaluation_alone() -> kt.Evaluation:
    return kt.evaluate(world().runs, world().judgments, "AP", approach="uniform", rng=1)


def audit() -> kt.Audit:
    families = {judge: f"family {k % 2}" for k, judge in enumerate(world().judgments.judges)}
    return kt.audit(world().judgments, gold=world().gold, families=families, rng=1, approach=["mv", "ds"])


def audit_alone() -> kt.Audit:
    return kt.audit(world().judgments.keep_rows(world().judgments.judge == 0), rng=1)


def calibration() -> kt.Calibration:
    return kt.calibrate(world().judgments, world().gold, rng=1)


def survey() -> kt.Survey:
    return kt.report(hostile_runs(), world().judgments, world().gold, "P@5")


def few() -> kt.Judgments:
    rows = world().judgments.to_frame()
    return kt.read_judgments(rows.filter(rows["document"].is_in(rows["document"].unique().sort()[::5])))


def posterior() -> kt.Posterior:
    return kt.aggregate(few(), "ds", rng=1)


def posterior_by_topic() -> kt.Posterior:
    return kt.aggregate(few(), "ds(scope=topic)", rng=1)


def posterior_of_items() -> kt.Posterior:
    rows = {"judge": ["a", "b", "a", "a"], "item": ["9", "9", "10", "10"], "grade": [0, 1, 1, 0]}
    return kt.aggregate(kt.read_judgments(pl.DataFrame(rows)), "mv", rng=1)


def gold_plan() -> kt.GoldPlan:
    return kt.plan(world().runs, world().judgments, "P@5", budget=(3, 4), a="system-01", b="system-02")


def size_plan() -> kt.SizePlan:
    return kt.plan_sizes(*EBAY, RATES, prices=kt.Prices(0.1, 2, 2, depth=3, budget=20_000))


def size_plan_refused() -> kt.SizePlan:
    return kt.plan_sizes(*GUESSING, (kt.RateCounts(17, 38, 216, 262), kt.RateCounts(14, 50, 230, 285)))


def queue() -> kt.JudgingQueue:
    rules = kt.QueueRules(prices=kt.parse_prices("expert=4,crowd=0.05"), measure="P@5")
    return kt.queue(world().runs, None, None, rules, budget="20.5")


def queue_stopped() -> kt.JudgingQueue:
    rules = kt.QueueRules(prices=kt.parse_prices("A"), measure="P@5")
    return kt.queue(world().runs, None, world().gold, rules, budget=10)


def settling() -> kt.stats.Settling:
    return queue().settling


def crowd() -> kt.simulation.CrowdSummary:
    return kt.simulation.summarise_crowd(world().judgments, world().gold)


def scores() -> kt.Scores:
    return kt.score(hostile_runs(), world().judgments, "AP")


def weights() -> kt.stats.Weights:
    return evaluation().weights[0]


def draws() -> kt.stats.Draws:
    return evaluation().draws[0]


def benchmark() -> Benchmark:
    table = pl.DataFrame({"gold": [0, 1, 1], "winners": [[0], [1], [0, 1]]})
    values: dict[str, dict[Quality, float | None]] = {
        "mv": {"accuracy": 0.75, "f1": 0.8},
        "ds": {"accuracy": 0.5, "f1": None},
    }
    cells = [
        CellResult("set", name, "none", 0, Outcome(name=f"set/{name}", status="done", facts=facts, table=table))
        for name, facts in values.items()
    ]
    skipped = Outcome(name="set/zc", status="skipped", reason="two grades only", seconds=0.25)
    cells.append(CellResult("set", "zc", "none", 0, skipped))
    told = tell("gold-unjudged", items=1).about("gold")
    sets = (DataSetFacts("set", 9, 3, 3, 3, (0, 1), (told,)),)
    judges = JudgeFacts("set", "x", 3, 3, 2 / 3), JudgeFacts("set", "y", 1, 0, None)
    return Benchmark(cells=tuple(cells), data_sets=sets, judges=judges, seed=3, notes=(told.about("set"),))


@cache
def collection() -> Collection:
    gold = world().gold
    return Collection.of({"three": hostile_runs()}, {HOSTILE: simulate_panel(gold, judges=4, rng=2)}, gold)


def aware() -> kt.experiments.AwareFindings:
    plan = kt.experiments.AwarePlan(
        measures=("AP",), approaches=("uniform", "sgl_tau_msd", "mv"), sizes=(2, 3), samples=3, replicates=3
    )
    return kt.experiments.experiment_aware(collection(), plan)


def supervised(teams: Teams = "kept") -> kt.experiments.SupervisedFindings:
    approaches = "sup_tau", "uniform", "mv"
    plan = SupervisedPlan(approaches=approaches, sizes=(2,), samples=2, replicates=3, teams=teams)
    return experiment_supervised(collection(), plan)


def random_relevance() -> kt.experiments.RandomRelevanceFindings:
    return experiment_random_relevance(collection(), RandomRelevancePlan(sizes=(2,), samples=2, draws=4))


def noisy() -> kt.experiments.NoisyFindings:
    studies = ("intervals", "tests", "ebay", "trec")
    return kt.experiments.experiment_noisy(
        kt.experiments.NoisyPlan(studies=studies, differences=(0.0, 0.1), simulations=20)
    )


def noisy_worked() -> kt.experiments.NoisyFindings:
    return kt.experiments.experiment_noisy(kt.experiments.NoisyPlan(studies=("trec",)))


def collaborative() -> kt.experiments.CollaborativeFindings:
    plan = kt.experiments.CollaborativePlan(
        orders=("depth",),
        crowds=("careful",),
        approaches=("mv",),
        approach="mv",
        expert_shares=(0, 20),
        crowd_shares=(0, 30),
        fixed_share=30,
        ratios=("A",),
        samples=2,
        resamples=3,
    )
    return kt.experiments.experiment_collaborative(world().runs, world().gold, plan)


def diagnosis() -> kt.Diagnosis:
    return kt.doctor(hostile_runs(), world().judgments, world().gold, "P@5")


def diagnosis_of_nothing() -> kt.Diagnosis:
    return kt.doctor(judgments="no-such-file.csv")


MAKERS: dict[str, Callable[[], Result]] = {
    make.__name__: make
    for make in (
        pair,
        pair_by_double_gold,
        judges_alone,
        by_figures,
        refused,
        board,
        board_with_guess,
        board_of_differences,
        pair_with_guess,
        board_alone,
        evaluation,
        evaluation_alone,
        audit,
        audit_alone,
        audit_of_double_gold,
        calibration,
        survey,
        posterior,
        posterior_by_topic,
        posterior_of_items,
        gold_plan,
        size_plan,
        size_plan_refused,
        queue,
        queue_stopped,
        settling,
        crowd,
        scores,
        weights,
        draws,
        benchmark,
        aware,
        supervised,
        random_relevance,
        noisy,
        noisy_worked,
        collaborative,
        diagnosis,
        diagnosis_of_nothing,
    )
}


@cache
def make(name: str) -> Result:
    """The result of a maker, made once."""
    return MAKERS[name]()
