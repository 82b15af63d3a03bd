"""The collaborative experiment against its definition, document by document, with every judgment by name."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from karatage.aggregation.registry import aggregate
from karatage.experiments.collaborative import cells
from karatage.experiments.collaborative.cells import Ground
from karatage.experiments.collaborative.plan import Mix, find_crowd
from tests.oracles import brute_force

PLAN = kt.experiments.CollaborativePlan(
    studies=("shares",),
    crowds=("careful",),
    orders=("depth",),
    expert_shares=(15,),
    crowd_shares=(30,),
    samples=1,
    resamples=6,
    seed=2,
)


@pytest.fixture(scope="module")
def world():
    return kt.simulation.simulate_collection(systems=5, topics=4, depth=12, rng=8)


@pytest.fixture(scope="module")
def ground(world):
    return Ground.of(world.runs, world.gold, PLAN, {"careful": find_crowd("careful")})


def name_items(ground):
    gold = ground.gold
    names = gold.documents.to_list()
    return [(gold.topics[t], names[d]) for t, d in zip(gold.item_topic, gold.item_document, strict=True)]


def list_rankings(world):
    runs, names = world.runs, world.runs.documents.to_list()
    return {
        (system, topic): [names[d] for d in runs.listed[slice(*runs.bounds[t, s])]]
        for t, topic in enumerate(runs.topics)
        for s, system in enumerate(runs.systems)
    }


def score(world, judged, topics):
    """Mean Bpref of each system over topics, of which some may stand there twice."""
    rankings = list_rankings(world)
    found = []
    for system in world.runs.systems:
        values = [
            brute_force.bpref(
                rankings[system, topic],
                {document: grade for (t, document), grade in judged.items() if t == topic},
            )
            for topic in topics
        ]
        found.append(sum(values) / len(values))
    return found


def near(world, judged, full, topics):
    return brute_force.tau_ap(score(world, full, topics), score(world, judged, topics))


def name_grades(ground, grade):
    return {name: int(g) for name, g in zip(name_items(ground), grade, strict=True) if g >= 0}


def test_a_mix_against_experts_alone(world, ground):
    mix = Mix(15.0, 30.0)
    finding = cells.try_mixes("depth", "careful", 1, ground)
    queue = ground.list_queue("depth", 1)
    items = len(queue)
    experts, asked = round(0.15 * items), round(0.30 * items)
    crowd = cells.ask_crowd(ground, "careful", queue[experts : experts + asked], f"careful depth {mix.name} 1")
    merged = aggregate(crowd, "ry", rng=cells.stream(2, f"collaborative ry careful depth {mix.name} 1"))
    names, documents = name_items(ground), crowd.documents.to_list()
    full = name_grades(ground, ground.grade)
    judged = {names[k]: full[names[k]] for k in queue[:experts]}
    for item, grade in enumerate(merged.grades):
        judged[crowd.topics[crowd.item_topic[item]], documents[crowd.item_document[item]]] = int(grade)
    assert len(judged) == experts + asked
    topics = ground.alignment.topics
    own = near(world, judged, full, topics)
    for ratio, price in ("A", 1 / 10), ("B", 2 / 5):
        bought = int(experts + asked * price + 1e-9)
        alone = {names[k]: full[names[k]] for k in queue[:bought]}
        rival = near(world, alone, full, topics)
        row = finding.table.filter(ratio=ratio).row(0, named=True)
        assert row["cost"] == pytest.approx((experts + asked * price) / items)
        assert row["tau_ap"] == pytest.approx(own)
        assert row["alone"] == pytest.approx(rival)
        gaps = []
        for drawn in ground.resample_topics():
            again = [topics[t] for t in drawn]
            gaps.append(near(world, judged, full, again) - near(world, alone, full, again))
        assert row["gap_error"] == pytest.approx(np.std(gaps, ddof=1))


def test_areas_count_how_early_relevant_documents_come(ground):
    finding = cells.try_finding("meta-ap", 1, ground)
    queue, depth = (ground.list_queue(order, 1) for order in ("meta-ap", "depth"))
    items = len(queue)

    def area(found, topic=None):
        places = [
            place
            for place, item in enumerate(found)
            if ground.grade[item] and topic in (None, ground.gold.item_topic[item])
        ]
        return sum(1 - (place + 0.5) / items for place in places) / len(places)

    assert finding.facts["area"] == pytest.approx(area(queue))
    ahead = [area(queue, t) - area(depth, t) for t in range(len(ground.alignment.topics))]
    assert finding.facts["topics_above"] == sum(gap > 1e-12 for gap in ahead)
    assert finding.facts["topics_below"] == sum(gap < -1e-12 for gap in ahead)
    half = finding.table.filter(judged=0.5)["found"].item()
    assert half == sum(ground.grade[queue[: items // 2]]) / sum(ground.grade)


def test_a_crowd_on_the_whole_pool(world, ground):
    table = cells.try_crowd("careful", 1, ground).table
    crowd = cells.ask_crowd(ground, "careful", np.arange(ground.items), "careful whole 1")
    votes = defaultdict(list)
    for item, grade in zip(crowd.item.tolist(), crowd.grade.tolist(), strict=True):
        votes[item].append(grade)
    said = {item for item, grades in votes.items() if sum(grades) * 2 > len(grades)}  # five each, so no ties
    truth = {item for item in range(ground.items) if ground.grade[item]}
    row = table.filter(approach="mv").row(0, named=True)
    assert row["recall"] == pytest.approx(len(said & truth) / len(truth))
    assert row["precision"] == pytest.approx(len(said & truth) / len(said))
    assert row["accuracy"] == pytest.approx(1 - len(said ^ truth) / ground.items)
    plan = replace(PLAN, studies=("consensus",), approaches=("mv",))
    found = kt.experiments.experiment_collaborative(world.runs, world.gold, plan)
    others = set(range(ground.items)) - truth
    rates = [
        len(said & truth) / len(truth),
        len(said & truth) / len(said),
        len(others - said) / len(others),
        len(others - said) / (ground.items - len(said)),
    ]
    assert found.table32.rows() == [("careful", *(pytest.approx(100 * rate) for rate in rates))]
