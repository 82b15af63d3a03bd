"""Samples of the s-AWARE experiment, recomputed slowly: filtered frames, `kt.score`, plain sums."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.experiments.collection import Collection, PanelRules, prepare_gold
from karatage.experiments.supervised.cells import list_cells, prepare
from karatage.experiments.supervised.findings import experiment_supervised
from karatage.experiments.supervised.plan import SupervisedPlan, draw_split
from karatage.experiments.tuples import sample_tuples
from karatage.merging.gaps import RandomJudges
from karatage.random_streams import stream
from karatage.simulation.panel import partition_judges, simulate_panel

APPROACHES = ("table1", "sup_apc", "sup_fro_squared", "sgl_tau_md", "sup_tau_cubed(sub=True)", "sup_rmse(sub=True)")
PLAN = SupervisedPlan(measures=("AP", "nDCG@10"), approaches=APPROACHES, sizes=(3,), samples=4, replicates=5, seed=11)
SIZE = 3


@pytest.fixture(scope="module")
def collection():
    world = kt.simulation.simulate_collection(systems=9, topics=7, depth=40, rng=5)
    gold = prepare_gold(world.gold, PanelRules())
    panel = simulate_panel(gold, judges=6, correlation=0.4, rng=3)
    return Collection.of({"runs": world.runs}, {"panel": panel}, gold)


@pytest.fixture(scope="module")
def found(collection):
    return experiment_supervised(collection, PLAN)


class Sample:
    """Everything about one sample as frames and dictionaries."""

    def __init__(self, collection, configuration, number, measure):
        self.runs, self.measure = collection.runs["runs"], measure
        gold, panel = collection.gold, collection.panels["panel"]
        rng = stream(PLAN.seed, f"supervised split {SIZE} {number}")
        pool = np.ones(len(gold.item_topic), bool)
        split = draw_split(gold.item_topic, pool, np.arange(len(gold.topics)), PLAN.training, rng)
        self.training = {gold.topics[t] for t in np.flatnonzero(split.topics)}
        self.test = [topic for topic in gold.topics if topic not in self.training]
        items = gold.to_frame()  # one row for each item, in order
        self.gold = items
        self.taught = items.filter(pl.Series(split.documents)).select("topic", "document")
        self.evaluated = items.filter(~pl.Series(split.documents), pl.col("topic").is_in(self.test)).select(
            "topic", "document"
        )
        if configuration == "whole":
            tuples = sample_tuples(len(panel.judges), SIZE, PLAN.samples, stream(PLAN.seed, f"k-tuples of {SIZE}"))
            self.judges = [panel.judges[k] for k in tuples[number]]
            frame = panel.to_frame()
            self.said = frame.filter(pl.col("judge").is_in(self.judges)).with_columns(person=pl.col("judge"))
        else:
            rng = stream(PLAN.seed, f"supervised people {SIZE} {number}")
            part = partition_judges(panel, judges=SIZE, people=PLAN.people, teams=PLAN.teams, rng=rng)
            self.judges = list(part.judgments.judges)
            who = pl.Series(part.people).gather(part.person)
            self.said = part.judgments.to_frame().with_columns(person=who)
        self.number = number

    def score(self, frame):
        """topic -> scores of systems, with the grades in a frame as the truth."""
        if not len(frame):
            return {}
        scores = kt.score(
            self.runs, kt.read_gold(frame.select("topic", "document", "grade"), grades="0-1"), self.measure
        )
        return {topic: scores.value[0, t] for t, topic in enumerate(scores.topics)}

    def only(self, frame, items):
        return frame.join(items, on=["topic", "document"], how="semi", maintain_order="left")

    def by_judge(self, column="judge"):
        return {
            name: self.said.filter(pl.col(column) == name) for name in self.said[column].unique(maintain_order=True)
        }


def mean(scores, topics):
    return sum(scores[topic] for topic in topics) / len(topics)


def tau(x, y):
    pairs = [(i, j) for i in range(len(x)) for j in range(i)]
    return sum(np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]) for i, j in pairs) / len(pairs)


def closeness(gap, own, gold, topics):
    """[SAWARE20] algorithm 1, and the same for the other gaps."""
    x, y = mean(own, topics), mean(gold, topics)
    everything = [np.concatenate([scores[topic] for topic in topics]) for scores in (own, gold)]
    if gap == "rmse":
        return 1 - np.sqrt(((x - y) ** 2).mean())
    if gap == "fro":
        return 1 - np.sqrt(((everything[0] - everything[1]) ** 2).mean())
    return abs(tau(x, y)) if gap == "tau" else abs(kt.stats.tau_ap(y, x))


def learn(sample, name):
    """topic -> weight of each judge, from gold of the training topics."""
    base, _, sub = name.partition("(")
    _, gap, *power = base.split("_")
    exponent = {"squared": 2, "cubed": 3}.get(*power, 1) if power else 1
    column = "person" if sub else "judge"
    near = {}
    for who, frame in sample.by_judge(column).items():
        taught = frame.filter(pl.col("topic").is_in(list(sample.training)))
        if not len(taught):
            continue
        gold = sample.only(sample.gold, taught) if sub else sample.gold
        own = sample.score(taught.unique(["topic", "document"], maintain_order=True))
        near[who] = closeness(gap, own, sample.score(gold), sorted(own)) ** exponent
    usual = sum(near.values()) / len(near)
    weights = {}
    for topic in sample.test:
        weights[topic] = []
        for judge in sample.judges:
            rows = sample.said.filter(pl.col("judge") == judge, pl.col("topic") == topic)[column].to_list()
            weights[topic].append(sum(near.get(who, usual) for who in rows) / len(rows))
    return weights


def distances(sample, collection, granularity, gap):
    """(judge, topic or nothing, class): mean distance from random judges, on all documents and topics."""
    items = collection.gold.to_frame().select("topic", "document")
    drawn = RandomJudges.draw(len(items), PLAN.replicates, stream(PLAN.seed, "random judges"))
    topics = collection.gold.topics
    found = {}
    for judge, frame in sample.by_judge().items():
        own = sample.score(frame)
        for kind, bits in drawn.bits.items():
            for h in range(PLAN.replicates):
                grade = np.unpackbits(bits, axis=1)[:, h].astype(np.int8)
                other = sample.score(items.with_columns(grade=pl.Series(grade)))
                for topic in topics if granularity == "tpc" else [""]:
                    pair = (own[topic], other[topic]) if topic else (mean(own, topics), mean(other, topics))
                    away = np.sqrt(((pair[0] - pair[1]) ** 2).mean()) if gap == "rmse" else 1 - abs(tau(*pair))
                    found.setdefault((judge, topic, kind), []).append(away)
    return {key: np.mean(values) for key, values in found.items()}


def estimate(sample, collection, granularity, gap, power):
    away = distances(sample, collection, granularity, gap)
    return {
        topic: [
            min(away[judge, topic if granularity == "tpc" else "", kind] for kind in ("und", "uni", "ovr")) ** power
            for judge in sample.judges
        ]
        for topic in sample.test
    }


def merge_scores(sample, weights):
    own = [
        sample.score(sample.only(frame, sample.evaluated)) for frame in (sample.by_judge()[j] for j in sample.judges)
    ]
    return {
        topic: sum(w * scores[topic] for w, scores in zip(weights[topic], own, strict=True)) / sum(weights[topic])
        for topic in sample.test
    }


def merge_grades(sample, name):
    gold = {
        "emGZ": sample.gold.filter(pl.col("topic").is_in(list(sample.training))),
        "emsemi": sample.only(sample.gold, sample.taught),
    }.get(name)
    judgments = kt.read_judgments(sample.said.select("judge", "topic", "document", "grade"), grades="0-1")
    known = None if gold is None else kt.read_gold(gold.select("topic", "document", "grade"), grades="0-1")
    rng = stream(PLAN.seed, f"supervised {name} {SIZE} {sample.number}")
    merged = kt.aggregate(judgments, name.lower(), gold=known, rng=rng).to_frame()
    return sample.score(sample.only(merged, sample.evaluated))


@pytest.fixture(scope="module")
def left_out(collection):
    """Rows of all samples without one of their test topics."""
    settings = prepare(collection, PLAN)
    tables = [
        cell.work(settings).table.with_columns(configuration=pl.lit(cell.key["configuration"]))
        for cell in list_cells(settings)
    ]
    return pl.concat(tables).filter(pl.col("without").is_not_null())


@pytest.mark.parametrize("measure", ["AP", "nDCG@10"])
@pytest.mark.parametrize("configuration", ["whole", "partitioned"])
def test_a_sample_is_as_recomputed_slowly(collection, found, left_out, configuration, measure):
    number = 2 if measure == "AP" else 1
    sample = Sample(collection, configuration, number, measure)
    alike = {topic: [1.0] * SIZE for topic in sample.test}
    merged = {"uniform": merge_scores(sample, alike)}
    for name in PLAN.names:
        if name.startswith("sup"):
            merged[name] = merge_scores(sample, learn(sample, name))
    merged["unsup_rmse_tpc"] = merge_scores(sample, estimate(sample, collection, "tpc", "rmse", 2))
    merged["unsup_tau_tpc"] = merge_scores(sample, estimate(sample, collection, "tpc", "tau", 2))
    merged["sgl_tau_md"] = merge_scores(sample, estimate(sample, collection, "sgl", "tau", 1))
    merged |= {name: merge_grades(sample, name) for name in ("mv", "emmv", "emGZ", "emsemi")}
    assert set(merged) == set(PLAN.names)
    by_gold = sample.score(sample.only(sample.gold, sample.evaluated))
    gold = mean(by_gold, sample.test)
    rows = found.frame.filter(configuration=configuration, measure=measure, sample=number)
    for row in rows.iter_rows(named=True):
        board = mean(merged[row["approach"]], sample.test)
        assert row["rmse"] == pytest.approx(np.sqrt(((board - gold) ** 2).mean()), abs=1e-12), row
        assert row["tau"] == pytest.approx(tau(board, gold), abs=1e-12), row
        assert row["tau_ap"] == pytest.approx(kt.stats.tau_ap(gold, board), abs=1e-12), row
        assert row["topics"] == len(sample.test) == 4
    less = left_out.filter(configuration=configuration, measure=measure, sample=number)
    assert len(less) == 4 * len(PLAN.names)
    for row in less.iter_rows(named=True):
        others = [topic for topic in sample.test if topic != collection.gold.topics[row["without"]]]
        board = mean(merged[row["approach"]], others)
        assert row["tau_ap"] == pytest.approx(kt.stats.tau_ap(mean(by_gold, others), board), abs=1e-12), row
        assert len(others) == row["topics"] == 3
