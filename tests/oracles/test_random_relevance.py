"""The random relevance experiment, one k-tuple and one judge recomputed slowly and obviously."""

import math
from itertools import product

import numpy as np
import pytest

import karatage as kt
from karatage.experiments.collection import Collection
from karatage.experiments.random_relevance.findings import experiment_random_relevance
from karatage.experiments.random_relevance.plan import RandomRelevancePlan
from karatage.measures.expected import score_expected
from tests.oracles.brute_force import average_precision, dcg, jk_discount, kendall_tau, rank_biased_precision, tau_ap

TOPICS = {
    "1": {"a": "ABCxD", "b": "BxAED", "c": "DEyCB", "d": "xyABC", "e": "EDCBA"},
    "2": {"a": "GFxH", "b": "xFGH", "c": "HyFG", "d": "FHGy", "e": "yxHG"},
}
POOL = {"1": "ABCDE", "2": "FGH"}
GOLD = {"1": "AB", "2": "F"}
JUDGES = {
    "kim": {"1": "ABC", "2": "FG"},
    "lee": {"1": "AD", "2": "F"},
    "max": {"1": "BCE", "2": "GH"},
    "ned": {"1": "B", "2": "FH"},
}
MEASURES = ("AP", "DCG(dcg=jk,base=2)", "RBP(p=0.8)")


def make_collection():
    runs = [
        (system, topic, document, len(ranking) - n)
        for topic, systems in TOPICS.items()
        for system, ranking in systems.items()
        for n, document in enumerate(ranking)
    ]
    graded = [
        (judge, topic, d, int(d in relevant))
        for judge, topics in JUDGES.items()
        for topic, relevant in topics.items()
        for d in POOL[topic]
    ]
    gold = [(topic, d, int(d in GOLD[topic])) for topic in POOL for d in POOL[topic]]
    return Collection.of(
        {
            "five": kt.read_runs(
                dict(zip(("system", "topic", "document", "score"), zip(*runs, strict=True), strict=True))
            )
        },
        {
            "four": kt.read_judgments(
                dict(zip(("judge", "topic", "document", "grade"), zip(*graded, strict=True), strict=True))
            )
        },
        kt.read_gold(dict(zip(("topic", "document", "grade"), zip(*gold, strict=True), strict=True))),
    )


def certain(measure, ranking, grades):
    if measure == "AP":
        return average_precision(ranking, grades)
    return (
        rank_biased_precision(ranking, grades)
        if measure.startswith("RBP")
        else dcg(ranking, grades, discount=jk_discount(2))
    )


def expected(measure, ranking, chance):
    """[RANDREL19] section 2.2, written out."""
    p = [chance.get(d, 0.0) for d in ranking]
    if measure == "AP":
        return sum(p[n] * (1 + sum(p[:n])) / (n + 1) for n in range(len(p))) / sum(chance.values())
    if measure.startswith("RBP"):
        return 0.2 * sum(0.8**n * p[n] for n in range(len(p)))
    return sum(p[n] / max(1.0, math.log(n + 1, 2)) for n in range(len(p)))


def boards(score):
    """Mean over topics for each system, rounded so that ties are ties."""
    return [round(sum(score(t, TOPICS[t][s]) for t in TOPICS) / len(TOPICS), 10) for s in "abcde"]


def grades(relevant, topic):
    return {d: int(d in relevant) for d in POOL[topic]}


def doubt(relevant, topic):
    return {d: 0.95 if d in relevant else 0.05 for d in POOL[topic]}


def share(panel, topic):
    return {d: sum(d in JUDGES[judge][topic] for judge in panel) / len(panel) for d in POOL[topic]}


def merged(measure, approach, panel):
    if approach == "uniform":
        return boards(lambda t, r: sum(certain(measure, r, grades(JUDGES[j][t], t)) for j in panel) / len(panel))
    if approach == "mv":
        return boards(lambda t, r: certain(measure, r, {d: int(p > 0.5) for d, p in share(panel, t).items()}))
    if approach == "binmv":
        return boards(lambda t, r: expected(measure, r, share(panel, t)))
    sharp = {t: {d: 1 / (1 + math.exp(-15 * (p - 0.5))) for d, p in share(panel, t).items()} for t in POOL}
    return boards(lambda t, r: expected(measure, r, sharp[t]))


@pytest.fixture(scope="module")
def found():
    plan = RandomRelevancePlan(
        measures=MEASURES, approaches=("mv", "uniform", "binmv", "qbinmv"), sizes=(3,), samples=4, draws=0
    )
    return experiment_random_relevance(make_collection(), plan)


@pytest.fixture(scope="module")
def golds():
    found = {}
    for m in MEASURES:
        found["DGS", m] = boards(lambda t, r, m=m: certain(m, r, grades(GOLD[t], t)))
        found["RGS", m] = boards(lambda t, r, m=m: expected(m, r, doubt(GOLD[t], t)))
    return found


def test_every_k_tuple(found, golds):
    panels = found.tuples.group_by("sample", maintain_order=True).agg("judge").rows()
    assert len(panels) == 4
    for (sample, panel), measure in product(panels, MEASURES):
        for gold, approach in product(("DGS", "RGS"), ("mv", "uniform", "binmv", "qbinmv")):
            told = found.frame.filter(measure=measure, gold=gold, approach=approach, sample=sample)
            if gold == "RGS" and approach in {"mv", "uniform"}:
                assert not len(told)
                continue
            estimate = merged(measure, approach, panel)
            assert told["tau"].to_list() == pytest.approx([kendall_tau(golds[gold, measure], estimate)])
            assert told["tau_ap"].to_list() == pytest.approx([tau_ap(golds[gold, measure], estimate)])


def test_every_judge_alone(found, golds):
    for judge, measure in product(JUDGES, MEASURES):
        here = found.frame.filter(measure=measure, approach=f"judge:{judge}")
        plain = boards(lambda t, r, m=measure, j=judge: certain(m, r, grades(JUDGES[j][t], t)))
        random = boards(lambda t, r, m=measure, j=judge: expected(m, r, doubt(JUDGES[j][t], t)))
        for is_expected, gold, estimate in ((False, "DGS", plain), (True, "DGS", random), (True, "RGS", random)):
            told = here.filter(expected=is_expected, gold=gold)["tau_ap"].to_list()
            assert told == pytest.approx([tau_ap(golds[gold, measure], estimate)])


def test_controls(found, golds):
    for measure in MEASURES:
        blank = boards(lambda t, r, m=measure: expected(m, r, doubt("", t)))
        shown = {"blank, DGS": (golds["DGS", measure], blank), "blank, RGS": (golds["RGS", measure], blank)}
        shown["RGS, DGS"] = golds["DGS", measure], golds["RGS", measure]
        row = found.controls.filter(measure=found.name_measure(measure, expected=True))
        for column, pair in shown.items():
            assert row[column].to_list() == pytest.approx([tau_ap(*pair)])


def test_blank_judge_of_t08_ties_most_systems_by_rbp(shared_data):
    """The figure in docs/howto/experiment-random-relevance.md: .05 times the RBP of the pool, added up here."""
    home = shared_data / "trec8-adhoc-10topics"
    runs, gold = kt.read_runs(home / "runs"), kt.read_gold(home / "gold.qrels")
    alignment = kt.stats.align(runs, gold)
    weight = 0.2 * 0.8 ** np.arange(alignment.ranked[0].shape[1])
    blank = 0.05 * np.mean([(documents >= 0) @ weight for documents in alignment.ranked], axis=0)
    trusted = np.mean([(gold.grade[documents] * (documents >= 0)) @ weight for documents in alignment.ranked], axis=0)
    probability = np.full((1, len(gold.grade), 2), (0.95, 0.05))
    told = score_expected(alignment, probability, ["RBP(p=0.8)"])["RBP(p=0.8)"].mean[0]
    assert told == pytest.approx(blank, abs=1e-14)
    assert (np.abs(blank - 0.05) < 1.6e-11).sum() == 70
    assert kt.stats.tau_ap(trusted.tolist(), blank.round(10).tolist()) == pytest.approx(0.057, abs=0.002)
