"""Leaderboards against single comparisons, statsmodels, and the slow and obvious way."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import karatage as kt
from karatage.correction.topics import estimate_topics
from karatage.random_streams import stream

MEASURE = "P(rel=2)@10"


@cache
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(rng=11)


def gold_of(kind: str) -> kt.Judgments:
    frame = world().gold.to_frame().drop("judge")
    rows = np.sort(np.random.default_rng(3).choice(len(frame), 900, replace=False))
    return {
        "rates": lambda: kt.read_gold(frame[rows]),
        "even": lambda: kt.read_gold(frame[rows]),
        "sampled": lambda: kt.read_gold(frame[rows].with_columns(pi=pl.lit(900 / len(frame)))),
        "topics": lambda: kt.read_gold(frame.filter(pl.col("topic").is_in(list(world().gold.topics[::2])))),
        "census": lambda: world().gold,
    }[kind]()


def ask(kind: str, topics: str = "new") -> kt.Question:
    return kt.Question(measure=MEASURE, claim=topics, correction="rates" if kind == "rates" else "auto")


@cache
def board_of(kind: str, topics: str = "new") -> kt.Board:
    return kt.compare_all(world().runs, world().judgments, gold_of(kind), ask(kind, topics))


KINDS = ("rates", "even", "sampled", "topics", "census")


@pytest.mark.parametrize(
    ("kind", "topics"), [("rates", "new"), *((kind, topics) for kind in KINDS[1:] for topics in ("new", "these"))]
)
def test_pairs_are_those_of_single_comparisons(kind: str, topics: str) -> None:
    board = board_of(kind, topics)
    pairs = board.pairs()
    assert board.corrected.way == kind
    for row in pairs.gather([0, 7, 20, 41, 65]).iter_rows(named=True):
        one = kt.compare(world().runs, world().judgments, gold_of(kind), ask(kind, topics), a=row["a"], b=row["b"])
        for name, opinion in (("naive", one.naive), ("corrected", one.corrected)):
            assert opinion is not None
            assert row[f"{name}_difference"] == pytest.approx(opinion.difference.value, abs=1e-12)
            assert row[f"{name}_standard_error"] == pytest.approx(opinion.difference.standard_error)
            assert row[f"{name}_low"] == pytest.approx(opinion.difference.low)
            assert row[f"{name}_high"] == pytest.approx(opinion.difference.high)
            assert row[f"{name}_p_value"] == pytest.approx(opinion.p_value, rel=1e-6, abs=1e-15)
        scores = board.to_frame().filter(pl.col("system") == row["a"]).row(0, named=True)
        assert one.corrected is not None
        if kind == "sampled":  # all rank some documents alike, which are not known to have had a chance
            assert one.corrected.a is scores["corrected_low"] is None
        else:
            assert one.corrected.a is not None
            assert scores["corrected_low"] == pytest.approx(one.corrected.a.low)
        assert scores["naive_high"] == pytest.approx(one.naive.a.high)


@pytest.mark.parametrize("kind", KINDS)
def test_adjusted_p_values_are_those_of_statsmodels(kind: str) -> None:
    pairs = board_of(kind).pairs()
    for name in ("naive", "corrected"):
        for ours, theirs in (("holm", "holm"), ("bh", "fdr_bh")):
            expected = multipletests(pairs[f"{name}_p_value"].to_numpy(), method=theirs)[1]
            np.testing.assert_allclose(pairs[f"{name}_p_{ours}"].to_numpy(), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("adjust", ["holm", "bh", "none"])
@pytest.mark.parametrize("kind", ["rates", "even", "sampled", "topics"])
def test_flips_letters_and_top_by_hand(kind: str, adjust: str) -> None:
    board = kt.compare_all(world().runs, world().judgments, gold_of(kind), ask(kind), adjust=adjust)
    column = {"holm": "p_holm", "bh": "p_bh", "none": "p_value"}[adjust]
    flips, apart = dict.fromkeys(("turns", "falls", "arises"), 0), set()
    for row in board.pairs().iter_rows(named=True):
        winners = []
        for name in ("naive", "corrected"):
            winner = row["b"] if row[f"{name}_difference"] > 0 else row["a"]
            winners.append(winner if row[f"{name}_{column}"] < 0.05 else None)
        if board.corrected.way == "rates" and row["corrected_better"] is None:
            winners[1] = None  # doubted pair by pair, see the next test
        assert [row["naive_better"], row["corrected_better"]] == winners
        before, after = winners
        kind_of = None
        if before != after and not row["doubted"]:
            kind_of = "falls" if after is None else "arises" if before is None else "turns"
            flips[kind_of] += 1
        assert row["flip"] == kind_of
        if after is not None:
            apart.add(frozenset((row["a"], row["b"])))
    assert board.count_flips() == flips
    assert len(board.flips()) == sum(flips.values())
    letters = {name: set(text) for name, text in zip(board.systems, board.letters, strict=True)}
    for a, b in combinations(board.systems, 2):
        assert bool(letters[a] & letters[b]) == (frozenset((a, b)) not in apart)
    first = board.systems[0]
    assert board.top == tuple(s for s in board.systems if frozenset((first, s)) not in apart)


def test_a_pair_that_compare_doubts_is_not_claimed() -> None:
    board = board_of("rates")
    assert board.alarm is None
    p_holm = board.pairs()["corrected_p_holm"]
    for row in board.pairs().filter(p_holm < 0.05).iter_rows(named=True):
        one = kt.compare(world().runs, world().judgments, gold_of("rates"), ask("rates"), a=row["a"], b=row["b"])
        assert (row["corrected_better"] is None) == one.doubted


def find_ends(values: np.ndarray, topics: int) -> np.ndarray:
    """Percentiles, moved outwards as for t."""
    tail = NormalDist().cdf(-stats.t.ppf(0.975, topics - 1) * np.sqrt(topics / (topics - 1)))
    return np.quantile(values, [tail, 1 - tail])


def scores_of_both(board: kt.Board) -> tuple[np.ndarray, np.ndarray]:
    """Topic scores (topic, system) by the judges and by gold, in the board's order."""
    merged = kt.aggregate(world().judgments, "mv", rng=stream(0, "mv")).as_judgments()
    place = [world().runs.systems.index(name) for name in board.systems]
    return tuple(kt.score(world().runs, who, MEASURE).value[0][:, place] for who in (merged, world().gold))


def test_intervals_with_gold_on_all_topics_by_a_loop() -> None:
    board = board_of("census")
    judged, gold = scores_of_both(board)
    assert judged.mean(axis=0) == pytest.approx(board.naive.value)
    topics = len(gold)
    times = stream(0, "boards").multinomial(topics, np.full(topics, 1 / topics), size=1000)
    tau, angle = [], []
    for row in times:
        said, right = (np.round(np.repeat(x, row, axis=0).mean(axis=0), 10) for x in (judged, gold))
        pairs = [np.sign(said[a] - said[b]) * np.sign(right[a] - right[b]) for a, b in combinations(range(12), 2)]
        tau.append(np.mean(pairs))
        angle.append(np.arctan(np.polyfit(right, said, 1)[0]))
    ends = find_ends(np.array(tau), topics) + board.tau.value - np.mean(tau)
    assert board.tau[1:] == pytest.approx((ends[0], min(ends[1], 1)), abs=1e-9)
    found = float(np.arctan(board.slope.value))
    low, high = find_ends(np.array(angle), topics)
    expected = np.tan([min(low, 2 * found - high), max(high, 2 * found - low)])
    assert board.slope[1:] == pytest.approx(expected, abs=1e-9)


def test_intervals_with_gold_on_some_topics_by_a_loop() -> None:
    board = board_of("topics")
    judged, gold = scores_of_both(board)
    known = np.arange(0, len(gold), 2)
    others = np.setdiff1d(np.arange(len(gold)), known)
    rng = stream(0, "boards")
    inside, outside = (rng.integers(0, len(x), (1000, len(x))) for x in (known, others))
    value = []
    for one, two in zip(known[inside], others[outside], strict=True):
        right = [float(estimate_topics(gold[one, s], judged[one, s], judged[two, s]).value) for s in range(12)]
        said = judged[np.r_[one, two]].mean(axis=0)
        value.append(kt.stats.tau_ap(np.round(right, 10), np.round(said, 10)))
    ends = find_ends(np.array(value), len(known)) + board.tau_ap.value - np.mean(value)
    assert board.tau_ap[1:] == pytest.approx((ends[0], min(ends[1], 1)), abs=1e-9)
    slope = np.polyfit(gold[known].mean(axis=0), judged[known].mean(axis=0), 1)[0]
    assert board.slope.value == pytest.approx(slope)


def test_the_slope_under_error_rates_is_what_the_rates_say() -> None:
    board = board_of("rates")
    assert board.accuracy is not None
    assert board.slope.value == pytest.approx(board.accuracy.d, rel=1e-6)


def test_chance_in_gold_does_not_flatten_the_slope() -> None:
    frame = world().gold.to_frame().drop("judge")
    truth = board_of("census").slope.value
    found, plain = [], []
    for seed in range(60):
        rows = np.sort(np.random.default_rng(seed).choice(len(frame), 1000, replace=False))
        gold = kt.read_gold(frame[rows])
        question = kt.Question(measure=MEASURE, resamples=100)
        board = kt.compare_all(world().runs, world().judgments, gold, question)
        found.append(board.slope.value)
        plain.append(np.polyfit(board.corrected.value, board.naive.value, 1)[0])
    assert np.median(found) == pytest.approx(truth, abs=0.06)
    assert np.median(plain) < truth - 0.12


@pytest.fixture(scope="module")
def passages(shared_data):
    folder = shared_data / "trec-dl-2021-passage"
    runs = kt.read_runs(str(folder / "runs" / "*.gz"))
    return runs, kt.read_judgments(folder / "llm_labels.tsv.gz"), kt.read_gold(folder / "gold.qrels")


@pytest.mark.parametrize("kind", ["sample", "drawn", "topics", "all"])
def test_all_pairs_of_dl_2021_are_compared(passages, kind: str) -> None:
    runs, judgments, gold = passages
    frame = gold.to_frame().drop("judge")
    rows = np.sort(np.random.default_rng(0).choice(len(frame), 400, replace=False))
    chosen = {
        "sample": frame[rows],
        "drawn": frame[rows].with_columns(pi=pl.lit(400 / len(frame))),
        "topics": frame.filter(pl.col("topic").is_in(list(gold.topics[:20]))),
        "all": frame,
    }[kind]
    question = kt.Question(measure=MEASURE, approach="judge:gpt-4o_umbrela")
    board = kt.compare_all(runs, judgments, kt.read_gold(chosen), question)
    assert board.corrected is not None, board.refusal
    assert len(board.pairs()) == 1953
    assert board.naive_pairs.count == 938
    if kind == "all":
        assert board.slope.value == pytest.approx(1.22, abs=0.005)  # computed independently of the project
        assert board.tau.value == pytest.approx(0.912, abs=0.001)
        assert board.corrected_pairs.count == 778
