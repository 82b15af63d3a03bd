"""AWARE's weights recomputed slowly and obviously, and the papers' worked numbers."""

import itertools

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.merging.estimators import ESTIMATORS, GAPS, GRANULARITIES, OWN, SUPERVISED
from karatage.merging.gaps import CLASSES, RandomJudges, shuffle_grades
from karatage.random_streams import stream
from karatage.simulation.crowd import draw_rates

SEED, FEW = 5, 12
PAIRS = tuple(itertools.product(GRANULARITIES, GAPS))
CROWD = ("careful-1", "crowd-1", "crowd-3", "llm-small", "spammer")


@pytest.fixture(scope="module")
def world():
    made = kt.simulation.simulate_collection(systems=7, topics=4, depth=15, rng=8)
    frame = made.judgments.to_frame().filter(pl.col("judge").is_in(CROWD))
    # Partial coverage: one judge lacks a topic, another half of the documents of one.
    lacking = (pl.col("judge") == "crowd-1") & (pl.col("topic") == "102")
    half = (pl.col("judge") == "careful-1") & (pl.col("topic") == "103") & (pl.col("document").str.ends_with("1"))
    return made.runs, kt.read_judgments(frame.filter(~lacking & ~half)), made.gold


def mean(rows):
    return [sum(column) / len(column) for column in zip(*rows, strict=True)]


def order(rows):
    """Means without the rounding of sums, so that ties are ties."""
    return [round(value, 10) for value in mean(rows)]


def frobenius(x, y):
    squares = [(a - b) ** 2 for row, other in zip(x, y, strict=True) for a, b in zip(row, other, strict=True)]
    return (sum(squares) / len(squares)) ** 0.5


def root_mean_square(x, y):
    return frobenius([mean(x)], [mean(y)])


def density(rows):
    values = np.array(rows).ravel()
    grid = [k / 99 for k in range(100)]
    heights = np.array([sum(np.exp(-0.5 * ((point - v) / 0.015) ** 2) for v in values) for point in grid])
    return np.maximum(heights / heights.sum(), np.finfo(float).tiny)


def divergence(x, y):
    p, q = density(x), density(y)
    return 1 - np.exp(-sum(a * np.log(a / b) for a, b in zip(p, q, strict=True)))


def tau(x, y):
    a, b = order(x), order(y)
    pairs = list(itertools.combinations(range(len(a)), 2))
    return 1 - abs(sum(np.sign(a[i] - a[j]) * np.sign(b[i] - b[j]) for i, j in pairs) / len(pairs))


def ap_correlation(x, y):
    return 1 - abs(kt.stats.tau_ap(order(x), order(y)))  # itself tested against all orders of ties


SLOW = {"fro": frobenius, "rmse": root_mean_square, "kld": divergence, "tau": tau, "apc": ap_correlation}
COMBINE = {
    "md": min,
    "msd": lambda d: min(d) ** 2,
    "med": sum,
    "own": lambda d: d[0],
    "own2": lambda d: d[0] ** 2,
    "own4": lambda d: d[0] ** 4,
}


def literal_frobenius(x, y):
    """Equations 5 and 20."""
    norm = np.linalg.norm(np.array(x) - np.array(y), "fro")
    return 1 - norm / np.sqrt(np.size(x))


def literal_root_mean_square(x, y):
    """Equations 7, 8 and 21."""
    return 1 - np.sqrt(((np.mean(x, axis=0) - np.mean(y, axis=0)) ** 2).sum() / len(x[0]))


def literal_divergence(x, y):
    """Equations 10, 11 and 22 with beta = 1."""
    p, q = density(x), density(y)
    return np.exp(-(np.log(p / q) * p).sum())


def literal_tau(x, y):
    """Equations 14, 15 and 23, counted as concordant minus discordant pairs."""
    a, b = np.array(order(x)), np.array(order(y))
    balance = np.sign(a[:, None] - a) * np.sign(b[:, None] - b)
    return abs(((balance > 0).sum() - (balance < 0).sum()) / (len(a) * (len(a) - 1)))


def literal_ap_correlation(x, y):
    """Equations 17, 18 and 24."""
    return abs(kt.stats.tau_ap(order(x), order(y)))


LITERAL = {
    "fro": literal_frobenius,
    "rmse": literal_root_mean_square,
    "kld": literal_divergence,
    "tau": literal_tau,
    "apc": literal_ap_correlation,
}


def draw(judgments, rates=None):
    """Grades of random judges by class, (item, replicate); those of the paper's classes share a stream."""
    items = len(judgments.item_topic)
    if rates is None:
        found = RandomJudges.draw(items, FEW, stream(SEED, "random judges")).bits.values()
    else:
        found = []
        for name in rates:
            source = stream(SEED, f"random judges {name}")
            rate = draw_rates(name, FEW, source) if name in kt.simulation.list_crowds() else float(name)
            found += RandomJudges.draw(items, FEW, source, {name: rate}).bits.values()
    return [np.unpackbits(bits, axis=1, count=FEW).astype(np.int8) * 3 for bits in found]


def replicates(runs, judgments, sets):
    """Scores under random judges by class, or under one judge's grades shuffled: (replicate, topic, system)."""
    alignment = kt.stats.align(runs, judgments)
    return [kt.stats.score_grades(alignment, grade, ["AP"], top_grade=3)["AP"].value for grade in sets]


def slow_weights(runs, judgments, name, gaps=SLOW, rates=None):
    """(judge, topic), not normalised."""
    granularity, gap, weighting = name.split("_")
    scores = kt.score(runs, judgments, "AP")
    weight = np.zeros(scores.judged.shape)
    shared = None if weighting.startswith("own") else replicates(runs, judgments, draw(judgments, rates))
    for judge in range(len(scores.judges)):
        classes = shared or replicates(runs, judgments, [shuffle_grades(judgments, judge, FEW, SEED)])
        seen = np.flatnonzero(scores.judged[judge])
        for topics in [seen] if granularity == "sgl" else [[t] for t in seen]:
            own = scores.value[judge, topics].tolist()
            distance = [np.mean([gaps[gap](own, other[topics].tolist()) for other in c]) for c in classes]
            weight[judge, topics] = COMBINE[weighting](distance)
    return weight


@pytest.mark.parametrize("name", [*ESTIMATORS, *OWN])
def test_every_estimator_as_by_brute_force(world, name):
    runs, judgments, _ = world
    found = kt.evaluate(runs, judgments, "AP", approach=f"{name}(replicates={FEW})", rng=SEED)
    expected = slow_weights(runs, judgments, name)
    expected = expected / expected.sum(axis=0)
    (weights,) = found.weights
    np.testing.assert_allclose(weights.share, expected, rtol=1e-9, atol=1e-12)
    value = kt.score(runs, judgments, "AP").value
    for t, topic in enumerate(found.scores["AP"].topics):
        merged = sum(expected[k, t] * value[k, t] for k in range(len(judgments.judges)))
        np.testing.assert_allclose(found.scores["AP"].value[0, t], merged, rtol=1e-9, err_msg=topic)


@pytest.mark.parametrize("name", [*(f"{g}_{gap}_msd" for g, gap in PAIRS), "sgl_apc_md", "tpc_fro_med"])
def test_closeness_is_equations_20_to_27_word_for_word(world, name):
    runs, judgments, _ = world
    found = kt.evaluate(runs, judgments, "AP", approach=f"{name}(closeness=True,replicates={FEW})", rng=SEED)
    expected = slow_weights(runs, judgments, name, LITERAL)
    (weights,) = found.weights
    np.testing.assert_allclose(weights.share, expected / expected.sum(axis=0), rtol=1e-8, atol=1e-30)
    assert weights.approach == f"{name}(replicates={FEW},closeness=True)"


@pytest.mark.parametrize(
    ("name", "rates"),
    [
        ("sgl_rmse_md", ("0.3",)),
        ("tpc_fro_msd", ("hcb",)),
        ("sgl_apc_med", ("0.01", "0.3", "0.9")),
        ("tpc_tau_md", ("0.2", "careful", "llm-dl-2021")),
    ],
)
def test_other_classes_of_random_judges_as_by_brute_force(world, name, rates):
    runs, judgments, _ = world
    approach = f"{name}(replicates={FEW},random={'/'.join(rates)})"
    found = kt.evaluate(runs, judgments, "AP", approach=[approach, f"{name}(replicates={FEW})"], rng=SEED)
    expected = slow_weights(runs, judgments, name, rates=rates)
    np.testing.assert_allclose(found.weights[0].share, expected / expected.sum(axis=0), rtol=1e-9, atol=1e-12)
    assert tuple(found.weights[0].distance) == rates
    alone = kt.evaluate(runs, judgments, "AP", approach=found.weights[1].approach, rng=SEED)
    np.testing.assert_array_equal(found.weights[1].share, alone.weights[0].share)


@pytest.mark.parametrize("name", SUPERVISED)
def test_every_supervised_estimator_as_by_brute_force(world, name):
    runs, judgments, gold = world
    training = ("101", "102")
    found = kt.evaluate(runs, judgments, "AP", approach=name, gold=kt.Gold(gold, training=training), rng=SEED)
    gap, power = name.split("_")[1], {"squared": 2, "cubed": 3}.get(name.split("_")[-1], 1)
    scores, trusted = kt.score(runs, judgments, "AP"), kt.score(runs, gold, "AP")
    weight = []
    for judge in range(len(scores.judges)):
        topics = [scores.topics.index(t) for t in training if scores.judged[judge, scores.topics.index(t)]]
        pair = scores.value[judge, topics].tolist(), trusted.value[0, topics].tolist()
        weight.append((1 - SLOW[gap](*(reversed(pair) if gap == "apc" else pair))) ** power)
    present = scores.judged.astype(float)
    share = present * np.array(weight)[:, None]
    share /= share.sum(axis=0)
    (weights,) = found.weights
    np.testing.assert_allclose(weights.share, share[:, 2:], rtol=1e-9)
    assert found.scores["AP"].topics == ("103", "104")
    np.testing.assert_allclose(weights.distance["gold"], np.array(weight) ** (1 / power), rtol=1e-9)


def test_several_measures_average_their_weights(world):
    runs, judgments, _ = world
    names = ["AP", "ERR@10", "nDCG@10"]
    alone = [
        kt.evaluate(runs, judgments, m, approach="tpc_tau_md(replicates=9)", rng=2).weights[0].share for m in names
    ]
    multi = f"multi({','.join(names)}):tpc_tau_md(replicates=9)"
    found = kt.evaluate(runs, judgments, ["P@5", "AP"], approach=multi, rng=2)
    for weights in found.weights:
        np.testing.assert_allclose(weights.share, np.mean(alone, axis=0), rtol=1e-12)
    assert {weights.measure for weights in found.weights} == {"P@5", "AP"}


def test_the_toy_example_of_the_paper():
    """[AWARE17] section 3: three judges, a pool with three relevant documents for each."""
    documents = [f"d{k}" for k in range(8)]
    run = pl.DataFrame({"topic": "1", "document": documents[:5], "score": [5.0, 4.0, 3.0, 2.0, 1.0], "system": "s"})
    said = {"a": "11000100", "b": "11100000", "c": "01101000"}
    judgments = kt.read_judgments({j: {"1": dict(zip(documents, map(int, g), strict=True))} for j, g in said.items()})
    runs = kt.read_runs({"s": {"1": dict(zip(run["document"], run["score"], strict=True))}})
    alone = kt.score(runs, judgments, "AP").value[:, 0, 0]
    np.testing.assert_allclose(alone, [2 / 3, 1.0, 0.588889], atol=1e-6)
    found = kt.evaluate(runs, judgments, "AP", approach=["uniform", "mv"])
    np.testing.assert_allclose(found.scores["AP"].value[:, 0, 0], [0.751852, 1.0], atol=1e-6)


def test_all_gaps_are_finite_and_between_0_and_1(world):
    """Also the divergence from judges who find 5 % relevant, whose scores may lie far from a judge's."""
    runs, judgments, gold = world
    names = [f"{g}_{gap}_{w}(replicates=40)" for g in ("sgl", "tpc") for gap in GAPS for w in ("md", "own")]
    measures = ["AP", "DCG@10", "ERR@10", "RBP(p=0.8)", "nDCG@10"]
    found = kt.evaluate(runs, judgments, measures, approach=names, gold=gold, rng=1)
    assert len(found.weights) == len(names) * len(measures)
    for weights in found.weights:
        table = np.stack(list(weights.distance.values()))
        assert ((table >= 0) & (table <= 1)).all(), weights.approach
        assert table.shape[0] == (1 if weights.approach.split("_")[2].startswith("own") else len(CLASSES))
