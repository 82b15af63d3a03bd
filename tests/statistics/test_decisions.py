"""What `compare` prints covers, from the files on: gold on few whole topics, and plain samples of real LLM judges."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.data.axes import FloatArray
from karatage.decisions.case import Case, make_case
from karatage.decisions.correct import correct
from karatage.decisions.estimators.contract import Fitted
from karatage.decisions.estimators.drawn import EVEN
from karatage.decisions.estimators.rates import RATES

FOLDER = "trec-dl-2021-passage"
JUDGES = ("gpt-4o_umbrela", "gpt-4_umbrela.M", "gpt-4o_binary", "llama3.2_binary")
JUDGE = "judge:gpt-4o_umbrela"
BEST = 12
Thin = Callable[[int], int]


class Setting:
    """The best systems of TREC DL 2021 by gold, an LLM judge, and NIST's grades."""

    def __init__(self, folder: Path, measure: str, claim: str) -> None:
        self.runs = kt.read_runs(folder / "runs")
        judgments = kt.read_judgments(folder / "llm_labels.tsv.gz")
        self.gold = kt.read_gold(folder / "gold.qrels")
        self.judgments = judgments
        self.question = kt.Question(measure=measure, approach=JUDGE, claim=claim)
        mean = kt.score(self.runs, self.gold, measure).mean[0]
        self.systems = tuple(self.runs.systems[s] for s in np.argsort(-mean)[:BEST])
        self.frame = self.gold.to_frame().drop("judge")
        self.pairs = np.triu_indices(BEST, 1)
        score = self.make(self.gold).gold_scores.mean(axis=0)
        self.truth = (score[None, :] - score[:, None])[self.pairs]

    def make(self, gold: kt.Judgments) -> Case:
        return make_case(self.runs, self.judgments, gold, self.question, systems=self.systems, seed=0)

    def cover(self, found: Fitted) -> FloatArray:
        opinions = [found.compare(a, b, 0.95).difference for a, b in zip(*self.pairs, strict=True)]
        return np.array(
            [o.low - 1e-12 <= t <= o.high + 1e-12 for o, t in zip(opinions, self.truth, strict=True)], float
        )


@pytest.mark.parametrize("measure", ["P(rel=2)@10", "nDCG@10"])
def test_gold_on_eight_whole_topics_is_switched_and_covers(shared_data: Path, measure: str, thin: Thin) -> None:
    """Item-level formulas would cover about a third; what is printed counts topics, and covers."""
    setting = Setting(shared_data / FOLDER, measure, "these")
    rng = np.random.default_rng(5)
    share = []
    for _ in range(thin(60)):
        topics = list(rng.choice(setting.gold.topics, 8, replace=False))
        case = setting.make(kt.read_gold(setting.frame.filter(pl.col("topic").is_in(topics))))
        choice = correct(case)
        assert choice.corrected is not None
        assert choice.corrected.method.name == "topics"
        share.append(setting.cover(choice.corrected).mean())
    error = np.std(share, ddof=1) / np.sqrt(len(share))  # pairs of one draw are not independent
    assert 0.95 - 0.02 - 3 * error < np.mean(share) < 0.95 + 0.03 + 3 * error


def test_a_plain_sample_covers_as_an_even_one_but_not_by_error_rates(shared_data: Path, thin: Thin) -> None:
    """The finding behind the alarm: LLM judges err otherwise on one system's documents than on another's."""
    setting = Setting(shared_data / FOLDER, "P(rel=2)@10", "new")
    rng = np.random.default_rng(6)
    rates, even = [], []
    for _ in range(thin(60)):
        rows = np.sort(rng.choice(len(setting.frame), 1000, replace=False))
        case = setting.make(kt.read_gold(setting.frame[rows]))
        even.append(setting.cover(EVEN.fit(case)).mean())
        try:
            rates.append(setting.cover(RATES.fit(case)).mean())
        except kt.KaratageError:  # scores and rates contradict each other
            rates.append(0.0)
    error = np.std(even, ddof=1) / np.sqrt(len(even))  # pairs of one draw are not independent
    assert np.mean(even) > 0.95 - 3 * error
    assert np.mean(rates) < np.mean(even) - 3 * error


@pytest.fixture(scope="module")
def passages(shared_data: Path) -> tuple[kt.Runs, dict[str, kt.Judgments], pl.DataFrame]:
    folder = shared_data / FOLDER
    labels = kt.read_judgments(folder / "llm_labels.tsv.gz").every.to_frame()
    judged = {judge: kt.read_judgments(labels.filter(pl.col("judge") == judge)) for judge in JUDGES}
    return kt.read_runs(folder / "runs"), judged, kt.read_gold(folder / "gold.qrels").to_frame().drop("judge")


@pytest.mark.parametrize("measure", ["P(rel=2)@10", "DCG@10", "nDCG@10"])
@pytest.mark.parametrize("planned", [True, False], ids=["drawn", "plain sample"])
def test_two_systems_in_a_call_as_users_compare_them(
    passages: tuple[kt.Runs, dict[str, kt.Judgments], pl.DataFrame], measure: str, planned: bool, thin: Thin
) -> None:
    """A short form of `python -m benchmarks.decisions`: another pair, judge and gold each time.

    These topics, of which the truth is known; all else is default. Intervals for new topics are wider.
    """
    runs, judged, grades = passages
    rng = np.random.default_rng(11)
    score = dict(zip(runs.systems, kt.score(runs, kt.read_gold(grades), measure).mean[0], strict=True))
    covered, answers, wrong = 0, 0, 0
    repeats = thin(150)
    for number in range(repeats):
        judgments = judged[JUDGES[number % len(JUDGES)]]
        a, b = rng.choice(runs.systems, 2, replace=False)
        question = kt.Question(measure=measure, claim="these", seed=number)
        rows = grades[np.sort(rng.choice(len(grades), 200, replace=False))]
        if planned:
            queue = kt.plan(runs, judgments, question, budget=200, a=a, b=b).queue.drop("grade")
            rows = queue.join(grades, on=["topic", "document"], how="left").with_columns(pl.col("grade").fill_null(0))
        found = kt.compare(runs, judgments, kt.read_gold(rows), question, a=a, b=b)
        if found.corrected is None:
            continue
        answers += 1
        truth = score[b] - score[a]
        covered += found.corrected.difference.low - 1e-9 <= truth <= found.corrected.difference.high + 1e-9
        wrong += found.significant and found.corrected.difference.value * truth < 0
    assert answers > 0.9 * repeats
    assert covered / answers > 0.95 - 3 * np.sqrt(0.95 * 0.05 / answers)
    assert wrong <= 0.03 * repeats


def judge_at_random(rng: np.random.Generator) -> tuple[kt.Runs, kt.Judgments, pl.DataFrame]:
    """Two equal systems, and judges whose slips have nothing to do with them."""
    gold = (rng.random((50, 30)) < 0.3).astype(np.int64)
    right = np.where(gold == 1, 0.85, 0.8)
    said = np.where(rng.random(gold.shape) < right, gold, 1 - gold)
    topic, document = (index.ravel().astype(str) for index in np.indices(gold.shape))
    frame = pl.DataFrame({"topic": topic, "document": document, "grade": gold.ravel()})
    runs = pl.concat(
        [
            frame.select("topic", "document", pl.lit(name).alias("system")).with_columns(
                score=(gold + rng.normal(0, 1, gold.shape)).ravel()
            )
            for name in ("a", "b")
        ]
    )
    judgments = kt.read_judgments(frame.with_columns(pl.Series("grade", said.ravel()), pl.lit("j").alias("judge")))
    return kt.read_runs(runs), judgments, frame


@pytest.mark.parametrize("size", [300, 1300])
def test_the_alarm_is_silent_where_judges_slip_at_random(size: int, thin: Thin) -> None:
    """It is a test at two standard errors: about 5 % of alarms are false, however much gold there is."""
    repeats, alarms = thin(150), 0
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        runs, judgments, frame = judge_at_random(rng)
        gold = kt.read_gold(frame[np.sort(rng.choice(len(frame), size, replace=False))])
        found = kt.compare(runs, judgments, gold, kt.Question(measure="P@10", correction="rates"), a="a", b="b")
        assert found.corrected is not None
        assert found.corrected.way == "rates"
        alarms += found.alarm is not None
    assert alarms / repeats < 0.05 + 3 * np.sqrt(0.05 * 0.95 / repeats)
