"""The table of usual judges."""

import json
import math
from functools import cache

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.correction.shrinkage import UsualBias
from karatage.decisions.bias import FAMILIES, FILE, load_usual_biases, read_usual_biases
from karatage.errors import DataError
from tests.notes import list_facts

ROW = {"level": -2, "slope": 3, "doubt": 0.5, "degrees": 4, "alone_level": -3, "alone_doubt": 0.8}
ROWS = [{"family": family, **ROW} for family in FAMILIES]


def write(rows, known=1):
    return json.dumps({"format": known, "families": rows})


def test_the_table_of_the_package_is_usable():
    for usual in load_usual_biases().values():
        assert usual.weigh(0.7).argmax() > 0
        assert usual.weigh(0.5).argmax() < usual.weigh(0.9).argmax()  # worse judges are more biased


def test_a_table_is_read():
    found = read_usual_biases(write(ROWS), FILE)
    assert {(usual.level, usual.slope, usual.doubt, usual.degrees) for usual in found.values()} == {(-2, 3, 0.5, 4)}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "null",
        json.dumps({"format": 1}),
        write(ROWS[:1]),
        write([*ROWS, {**ROWS[0], "family": "other"}]),
        write(ROWS, known=2),
        write([ROWS[0], {"family": "graded"}]),
        *(write([ROWS[0], {**ROWS[1], "doubt": doubt}]) for doubt in (0, -1, "x", None, float("nan"), float("inf"))),
        write([ROWS[0], {**ROWS[1], "level": float("inf")}]),
        write(5),
    ],
)
def test_a_bad_table_is_refused_by_name(text):
    with pytest.raises(DataError, match=r"^table\.json: .*; python -m benchmarks\.bias"):
        read_usual_biases(text, "table.json")


PAIR = {"a": "system-01", "b": "system-03"}
TYPICAL, OF_PAIR = "decisions.usual-errors-typical", "decisions.usual-errors"


@cache
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(systems=5, topics=12, depth=15, rng=3)


def usual(doubt: float, degrees: float = 4) -> UsualBias:
    return UsualBias(level=0, slope=1, doubt=1, degrees=degrees, alone_level=-3, alone_doubt=doubt)


@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize("doubt", [0.3, 0.8])
def test_errors_of_usual_judges_exceed_their_bound_as_often_as_it_says(doubt, confidence):
    rng = np.random.default_rng(1)
    error = np.exp(-3 + doubt * rng.standard_t(4, 400_000)) * rng.standard_normal(400_000)
    share = (np.abs(error) > usual(doubt).bound_error(confidence)).mean()
    assert share == pytest.approx(1 - confidence, abs=4 * math.sqrt(0.05 / 400_000))


def test_judges_who_are_all_alike_have_normal_errors():
    assert usual(1e-9).bound_error(0.95) == pytest.approx(1.959964 * math.exp(-3), rel=1e-6)


def find_tops(depth):
    frame = world().runs.to_frame()
    first = frame.filter(frame["rank"] <= depth)
    return {
        (system, topic): set(part["document"])
        for (system, topic), part in first.group_by("system", "topic", maintain_order=True)
    }


def test_the_bound_of_a_pair_is_for_the_documents_of_one_system_only():
    tops, topics = find_tops(5), world().runs.topics
    names = world().runs.systems
    mass = {
        (a, b): np.mean([len(tops[a, topic] ^ tops[b, topic]) / 5 for topic in topics]) for a in names for b in names
    }
    alone = load_usual_biases()["binary"].bound_error(0.95)
    found = list_facts(kt.compare(world().runs, world().judgments, None, "P@5", **PAIR))
    assert found[OF_PAIR]["bound"] == pytest.approx(alone * mass[PAIR["a"], PAIR["b"]])
    found = list_facts(kt.compare_all(world().runs, world().judgments, None, "P@5"))
    every = [mass[names[a], names[b]] for a, b in zip(*np.triu_indices(len(names), 1), strict=True)]
    assert found[TYPICAL]["bound"] == pytest.approx(alone * np.median(every))


def test_the_range_of_gains_and_the_weights_of_ranks_count():
    topics, (a, b) = world().runs.topics, (PAIR["a"], PAIR["b"])
    frame = world().runs.to_frame().filter(pl.col("rank") <= 5).with_columns(weight=1 / (pl.col("rank") + 1).log(2))
    weight = {name: frame.filter(system=name).select("topic", "document", "weight") for name in (a, b)}
    both = weight[a].join(weight[b], on=["topic", "document"], how="full", coalesce=True).fill_null(0)
    mass = (both["weight"] - both["weight_right"]).abs().sum() / len(topics)
    top = max(world().judgments.grade)
    alone = load_usual_biases()["graded"].bound_error(0.95)
    found = list_facts(kt.compare(world().runs, world().judgments, None, "DCG@5", **PAIR))
    assert found[OF_PAIR]["bound"] == pytest.approx(alone * top * mass)


def test_gains_and_confidence_count():
    def bound(**options):
        return list_facts(kt.compare(world().runs, world().judgments, None, **PAIR, **options))[OF_PAIR]["bound"]

    assert bound(measure="DCG@5") > bound(measure="nDCG@5") > 0
    assert bound(measure="P@5", confidence=0.99) > bound(measure="P@5")


def test_a_claim_is_not_made_on_an_assumption():
    found = kt.compare(world().runs, world().judgments, None, "P@5", **PAIR)
    assert not found.significant


@pytest.mark.parametrize("measure", ["AP", "ERR@5"])
def test_measures_that_are_not_sums_have_no_bound(measure):
    for found in (
        kt.compare(world().runs, world().judgments, None, measure, **PAIR),
        kt.compare_all(world().runs, world().judgments, None, measure),
    ):
        assert not {TYPICAL, OF_PAIR} & set(list_facts(found))


def test_with_gold_there_is_no_assumed_bound():
    found = kt.compare(world().runs, world().judgments, world().gold, "P@5", **PAIR)
    assert OF_PAIR not in list_facts(found)


def test_systems_that_cannot_differ_have_no_bound():
    frame = world().runs.to_frame().filter(system="system-01").with_columns(score=-1.0 * pl.col("rank"))
    twins = kt.read_runs(pl.concat([frame.with_columns(system=pl.lit(name)) for name in "xyz"]))
    assert OF_PAIR not in list_facts(kt.compare(twins, world().judgments, None, "P@5", a="x", b="y"))
    assert TYPICAL not in list_facts(kt.compare_all(twins, world().judgments, None, "P@5"))


def test_systems_on_different_topics_have_no_bound():
    frame = world().runs.to_frame().with_columns(score=-1.0 * pl.col("rank"))
    half = list(world().runs.topics[:6])
    one = frame.filter(pl.col("topic").is_in(half), system="system-01")
    other = frame.filter(~pl.col("topic").is_in(half), system="system-03")
    found = kt.compare(kt.read_runs(pl.concat([one, other])), world().judgments, None, "P@5", **PAIR)
    assert OF_PAIR not in list_facts(found)
