"""Equal to trec_eval, through pytrec_eval, on made-up and on real collections."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given

import karatage as kt
from tests.oracles.strategies import Collection, Qrels, Run, collections

# Ours, and trec_eval's name; the relevance level is set apart, and does not concern nDCG.
GRADED = {"nDCG": "ndcg", "nDCG@3": "ndcg_cut_3", "nDCG@10": "ndcg_cut_10", "nDCG@2000": "ndcg_cut_2000"}
BINARY = {
    "P{}@1": "P_1",
    "P{}@5": "P_5",
    "P{}@30": "P_30",
    "AP{}": "map",
    "AP{}@4": "map_cut_4",
    "Bpref{}": "bpref",
    "RR{}": "recip_rank",
    "R{}@3": "recall_3",
    "R{}@1000": "recall_1000",
    "Rprec{}": "Rprec",
}
LEVEL_1 = {name.format(""): theirs for name, theirs in BINARY.items()} | GRADED
LEVEL_2 = {name.format("(rel=2)"): theirs for name, theirs in BINARY.items()}
EXACT = 1e-12


def trec_eval(
    runs: Mapping[str, Run], qrels: Qrels, topics: tuple[str, ...], names: Mapping[str, str], rel: int = 1
) -> dict[str, np.ndarray]:
    """Values (topic, system) under one judge; 0 where trec_eval has none."""
    found = {name: np.zeros((len(topics), len(runs))) for name in names}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(names.values()), relevance_level=rel)
    for s, run in enumerate(runs.values()):
        by_topic = evaluator.evaluate({topic: scores for topic, scores in run.items() if scores})
        for t, topic in enumerate(topics):
            for name, theirs in names.items():
                found[name][t, s] = by_topic.get(topic, {}).get(theirs, 0.0)
    return found


def assert_equal_to_trec_eval(
    scores: dict[str, kt.Scores],
    runs: Mapping[str, Run],
    judgments: Mapping[str, Qrels],
    names: Mapping[str, str],
    rel: int = 1,
) -> None:
    some = next(iter(scores.values()))
    runs = {system: runs[system] for system in some.systems}
    for judge, qrels in judgments.items():
        expected = trec_eval(runs, qrels, some.topics, names, rel)
        for name in names:
            own = scores[name].value[some.judges.index(judge)]
            np.testing.assert_allclose(own, expected[name], rtol=0, atol=EXACT, err_msg=f"{name} {judge}")


@given(made=collections())
@pytest.mark.parametrize(("names", "rel"), [(LEVEL_1, 1), (LEVEL_2, 2)], ids=["rel=1", "rel=2"])
def test_made_up_collections(made: Collection, names: dict[str, str], rel: int) -> None:
    scores = kt.score_all(kt.read_runs(made.runs), kt.read_judgments(made.judgments), list(names))
    assert_equal_to_trec_eval(scores, made.runs, made.judgments, names, rel)


@given(made=collections(top_grade=1))
def test_binary_collections(made: Collection) -> None:
    scores = kt.score_all(kt.read_runs(made.runs), kt.read_judgments(made.judgments), list(LEVEL_1))
    assert_equal_to_trec_eval(scores, made.runs, made.judgments, LEVEL_1)


def read_run_texts(folder: Path) -> dict[str, Run]:
    runs: dict[str, Run] = {}
    for path in sorted(folder.glob("*.gz")):
        with gzip.open(path, "rt") as lines:
            rows = [line.split() for line in lines]
        run: Run = defaultdict(dict)
        for topic, _, document, _, score, _ in rows:
            run[topic][document] = float(score)
        runs[rows[0][5]] = dict(run)
    return runs


def read_qrels_text(path: Path) -> Qrels:
    qrels: Qrels = defaultdict(dict)
    for line in path.read_text().splitlines():
        topic, _, document, grade = line.split()
        qrels[topic][document] = int(grade)
    return dict(qrels)


def read_judges_text(path: Path, judges: tuple[str, ...]) -> dict[str, Qrels]:
    found: dict[str, Qrels] = {judge: defaultdict(dict) for judge in judges}
    with gzip.open(path, "rt") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if row["judge"] in found:
                found[row["judge"]][row["topic"]][row["doc"]] = int(row["label"])
    return {judge: dict(qrels) for judge, qrels in found.items()}


def test_trec_8(shared_data: Path) -> None:
    folder = shared_data / "trec8-adhoc-10topics"
    runs, gold = kt.read_runs(folder / "runs"), kt.read_gold(folder / "gold.qrels")
    texts = read_run_texts(folder / "runs")
    assert (len(runs.systems), len(gold.topics)) == (len(texts), 10) == (129, 10)
    qrels = {"gold": read_qrels_text(folder / "gold.qrels")}
    assert_equal_to_trec_eval(kt.score_all(runs, gold, list(LEVEL_1)), texts, qrels, LEVEL_1)


@pytest.fixture(scope="module")
def deep_learning(shared_data: Path) -> tuple[Path, kt.Runs, dict[str, Run]]:
    folder = shared_data / "trec-dl-2021-passage"
    return folder, kt.read_runs(folder / "runs"), read_run_texts(folder / "runs")


@pytest.mark.parametrize(("names", "rel"), [(LEVEL_1, 1), (LEVEL_2, 2)], ids=["rel=1", "rel=2"])
def test_deep_learning_2021(
    deep_learning: tuple[Path, kt.Runs, dict[str, Run]], names: dict[str, str], rel: int
) -> None:
    folder, runs, texts = deep_learning
    gold = kt.read_gold(folder / "gold.qrels")
    assert (len(runs.systems), len(gold.topics)) == (len(texts), 53) == (63, 53)
    qrels = {"gold": read_qrels_text(folder / "gold.qrels")}
    assert_equal_to_trec_eval(kt.score_all(runs, gold, list(names)), texts, qrels, names, rel)


def test_deep_learning_2021_under_language_models(
    deep_learning: tuple[Path, kt.Runs, dict[str, Run]],
) -> None:
    folder, runs, texts = deep_learning
    judgments = kt.read_judgments(folder / "llm_labels.tsv.gz")
    assert len(judgments.judges) == 27
    judges = read_judges_text(folder / "llm_labels.tsv.gz", ("gpt-4o_umbrela", "llama3.2_binary"))
    assert_equal_to_trec_eval(kt.score_all(runs, judgments, list(LEVEL_1)), texts, judges, LEVEL_1)


def test_leaderboards_under_language_models_are_as_near_to_gold_as_published(
    deep_learning: tuple[Path, kt.Runs, dict[str, Run]],
) -> None:
    folder, runs, _ = deep_learning
    judgments = kt.read_judgments(folder / "llm_labels.tsv.gz")
    (gold,) = kt.score(runs, kt.read_gold(folder / "gold.qrels"), "nDCG@10").mean
    means = kt.score(runs, judgments, "nDCG@10").mean
    tau_b = kt.stats.kendall_tau_matrix(means, [gold], variant="b")[:, 0]
    found = dict(zip(judgments.judges, tau_b.tolist(), strict=True))
    published = {
        "gpt-4o_umbrela": 0.941,
        "gpt-4_umbrela.M": 0.924,
        "gpt-4o_binary": 0.906,
        "llama3.2_binary": 0.783,
    }
    assert {judge: found[judge] for judge in published} == pytest.approx(published, abs=0.002)
