"""All systems compared: identities, refusals, what is claimed and what is said."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.decisions.case import make_case
from karatage.decisions.estimators.whole_topics import GOLD_TOPICS
from karatage.errors import OptionError, UnknownNameError
from tests.notes import gives, has_note
from tests.unit.boards import tell_apart

MEASURE = "P(rel=2)@10"


@cache
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(rng=7)


@cache
def gold_frame() -> pl.DataFrame:
    return world().gold.to_frame().drop("judge")


def sample(size: int, seed: int = 0, pi: bool = False) -> kt.Judgments:
    frame = gold_frame()
    rows = np.random.default_rng(seed).choice(len(frame), size, replace=False)
    drawn = frame[np.sort(rows)]
    return kt.read_gold(drawn.with_columns(pi=pl.lit(size / len(frame))) if pi else drawn)


def on_topics(count: int) -> kt.Judgments:
    return kt.read_gold(gold_frame().filter(pl.col("topic").is_in(list(world().gold.topics[:count]))))


def perfect() -> kt.Judgments:
    return kt.read_judgments(gold_frame().with_columns(judge=pl.lit("perfect")))


@cache
def full_board() -> kt.Board:
    return kt.compare_all(world().runs, world().judgments, world().gold, MEASURE)


def rank(gold: kt.Judgments | None, question: str | kt.Question = MEASURE, **options: object) -> kt.Board:
    return kt.compare_all(world().runs, world().judgments, gold, question, **options)


def ask(measure: str = MEASURE, **terms: object) -> kt.Question:
    return kt.Question(measure=measure, **terms)


GOLDS = {
    "rates": lambda: sample(400),
    "even": lambda: sample(400),
    "sampled": lambda: sample(1500, pi=True),
    "topics": lambda: on_topics(15),
    "census": lambda: world().gold,
}
BY_RATES = ask(correction="rates")
QUESTIONS = dict.fromkeys(GOLDS, MEASURE) | {"rates": BY_RATES}


@pytest.mark.parametrize("gold", GOLDS)
def test_perfect_judges_give_the_naive_board(gold: str) -> None:
    board = kt.compare_all(world().runs, perfect(), GOLDS[gold](), QUESTIONS[gold])
    assert board.corrected is not None
    assert board.corrected_pairs.value == pytest.approx(board.naive_pairs.value, abs=1e-12)
    if gold == "sampled":  # some documents have the same rank everywhere, so gold tells nothing of scores
        assert np.isnan(board.corrected.value).all()
    else:
        assert board.corrected.value == pytest.approx(board.naive.value)
    assert board.tau == pytest.approx((1, 1, 1), abs=0.05)  # resampled scores have ties, which tau counts as half right
    assert board.tau.value == 1
    assert board.tau_ap is not None
    assert board.tau_ap.value == pytest.approx(1)
    assert board.slope is not None
    slack = {"sampled": 0.01, "even": 0.07}  # gold is not everywhere, so that its chance is not known to be none
    assert board.slope == pytest.approx((1, 1, 1), abs=slack.get(gold, 1e-6))
    if gold != "topics":
        assert sum(board.count_flips().values()) == 0
        assert not len(board.flips())


@pytest.mark.parametrize("gold", GOLDS)
def test_systems_stand_best_first(gold: str) -> None:
    board = rank(GOLDS[gold](), QUESTIONS[gold])
    assert board.corrected is not None
    assert sorted(board.systems) == sorted(world().runs.systems)
    first, pairs = board.corrected, board.corrected_pairs
    if board.guess is not None:  # by which the board is ordered
        first, pairs = board.guess.standing, board.guess.pairs
    assert gold == "topics" or (pairs.value >= -1e-9).all()  # each pair has a lambda of its own
    assert not (np.diff(first.value) > 1e-9).any()
    assert np.isnan(board.corrected.value).all() == (gold == "sampled")
    assert (board.b < board.a).all()
    frame = board.to_frame()
    assert frame["system"].to_list() == list(board.systems)
    own = "corrected_rank" if board.guess is None else "guess_rank"
    assert frame[own].to_list() == sorted(frame[own])
    assert frame["naive_rank"].sort().to_list() != frame["naive_rank"].to_list() or gold == "rates"
    assert board.corrected.way == gold


def test_gold_on_everything_is_gold_alone() -> None:
    board = full_board()
    scores = kt.score(world().runs, world().gold, MEASURE).value[0]
    place = [world().runs.systems.index(name) for name in board.systems]
    assert board.corrected is not None
    assert board.corrected.value == pytest.approx(scores.mean(axis=0)[place])
    error = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
    assert board.corrected.standard_error == pytest.approx(error[place])
    assert board.slope is not None
    assert board.slope.value == pytest.approx(np.polyfit(board.corrected.value, board.naive.value, 1)[0])
    assert board.tau is not None
    assert board.tau.value == pytest.approx(kt.stats.kendall_tau(board.naive.value, board.corrected.value), abs=0.05)


def test_without_gold_there_is_the_judges_board_only() -> None:
    board = rank(None)
    assert board.corrected is None
    assert board.corrected_pairs is None
    assert (board.tau, board.tau_ap, board.slope, board.gold, board.refusal) == (None,) * 5
    assert (np.diff(board.naive.value) <= 1e-9).all()
    assert not board.significant
    assert "flip" not in board.pairs().columns
    assert len(board.flips()) == 0
    assert board.count_flips() == {}


def test_a_refusal_keeps_the_judges_board_and_says_why() -> None:
    board = rank(sample(300), "AP")
    assert board.corrected is None
    assert board.naive_pairs.count > 0
    assert not board.significant
    assert gives(board.refusal, "AP")
    assert board.refusal in board.sentence
    assert json.loads(board.to_json())["refusal"] == board.refusal


def test_adjustment_decides_what_is_claimed_and_leaves_p_values_alone() -> None:
    boards = {adjust: rank(GOLDS["sampled"](), adjust=adjust) for adjust in ("holm", "bh", "none")}
    counts = [boards[adjust].corrected_pairs.count for adjust in ("holm", "bh", "none")]
    assert counts == sorted(counts)
    assert counts[0] < counts[1] < counts[2]
    for board in boards.values():
        assert board.corrected_pairs.holm == pytest.approx(boards["holm"].corrected_pairs.holm)
    assert (boards["bh"].corrected_pairs.claimed == (boards["bh"].corrected_pairs.bh < 0.05)).all()
    assert len(boards["none"].top) < len(boards["holm"].top)
    assert gives(boards["bh"].sentence, "Benjamini-Hochberg", "5%")
    with pytest.raises(OptionError, match="'tukey'"):
        rank(world().gold, adjust="tukey")


def test_confidence_sets_level_and_width() -> None:
    loose = rank(world().gold, ask(confidence=0.8))
    assert loose.corrected is not None
    assert loose.corrected_pairs.count > full_board().corrected_pairs.count
    assert (loose.corrected.high - loose.corrected.low < full_board().corrected.high - full_board().corrected.low).all()
    assert gives(loose.sentence, "20%")
    assert loose.slope.high - loose.slope.low < full_board().slope.high - full_board().slope.low


def test_some_systems_only() -> None:
    board = rank(world().gold, systems=["system-03", "system-09", "system-01"])
    assert set(board.systems) == {"system-01", "system-03", "system-09"}
    assert len(board.pairs()) == 3
    for wrong, message in ((["system-01"], r"\b1\b"), (["system-01"] * 2, "'system-01'")):
        with pytest.raises(OptionError, match=message):
            rank(None, systems=wrong)
    with pytest.raises(UnknownNameError, match=r"\b01\b"):
        rank(None, systems=["system-1", "system-02"])


def test_the_order_of_runs_does_not_matter() -> None:
    turned = kt.compare_all(world().runs.only(world().runs.systems[::-1]), world().judgments, world().gold, MEASURE)
    assert turned.systems == full_board().systems
    assert turned.to_frame().equals(full_board().to_frame())
    assert turned.tau == full_board().tau


def test_another_test_is_refused() -> None:
    with pytest.raises(OptionError, match="pairs"):
        rank(None, ask(test="wilcoxon"))


@pytest.mark.parametrize("gold", GOLDS)
def test_identical_systems_share_rank_and_letters(gold: str) -> None:
    runs = world().runs
    twins = replace(runs, systems=("one", "two", "three"), bounds=runs.bounds[:, [3, 3, 8]])
    board = kt.compare_all(twins, world().judgments, GOLDS[gold](), QUESTIONS[gold])
    assert board.corrected is not None
    one, two = (board.systems.index(name) for name in ("one", "two"))
    if gold != "sampled":  # without scores each system has a rank of its own
        assert board.corrected.rank[one] == board.corrected.rank[two]
    assert abs(one - two) == 1
    assert board.letters[one] == board.letters[two]
    pair = board.pairs().filter(pl.col("a").is_in(["one", "two"]) & pl.col("b").is_in(["one", "two"]))
    assert pair["corrected_p_value"].item() == 1
    assert pair["corrected_difference"].item() == 0


def test_systems_that_are_all_the_same_cannot_be_told_apart() -> None:
    twins = replace(world().runs, systems=("one", "two"), bounds=world().runs.bounds[:, [3, 3]])
    board = kt.compare_all(twins, world().judgments, world().gold, MEASURE)
    assert not board.significant
    assert board.top == ("one", "two")


def test_judges_who_favour_some_systems_ring_the_alarm_and_nothing_is_claimed() -> None:
    """Error rates say that all judges' differences are real; gold among the systems' documents says otherwise."""
    runs = world().runs
    rows = kt.stats.align(runs, world().gold)
    favoured = np.zeros(len(world().gold.item_topic), bool)
    shown = rows.ranked[:, 6:, :10]
    favoured[shown[shown >= 0]] = True
    others = rows.ranked[:, :6, :10]
    favoured[others[others >= 0]] = False
    frame = gold_frame().with_columns(
        judge=pl.lit("partial"), grade=pl.when(pl.Series(favoured[world().gold.item])).then(3).otherwise("grade")
    )
    board = kt.compare_all(runs, kt.read_judgments(frame), sample(900), BY_RATES)
    assert board.corrected is not None
    assert board.corrected.way == "rates"
    assert board.alarm is not None
    assert board.doubted
    assert board.naive_pairs.count > 0
    assert board.corrected_pairs.count == 0
    assert not board.significant
    assert len(board.top) == 12


def test_rates_that_gold_doubts_for_few_pairs_leave_the_others() -> None:
    board = rank(sample(400), BY_RATES)
    assert board.alarm is None
    assert board.corrected_pairs.count > 0
    assert has_note(board, "decisions.order-assumed")


def test_boards_of_gold_topics_alone_are_drawn_without_the_judges() -> None:
    question, systems = ask(correction="gold-topics"), world().runs.systems[:4]
    case = make_case(world().runs, world().judgments, on_topics(15), question, systems=systems, seed=0)
    boards = GOLD_TOPICS.fit(case).resample(case, 20, np.random.default_rng(0))
    assert boards is not None
    np.testing.assert_allclose(boards.corrected, boards.gold)


def test_too_little_gold_has_no_slope_and_says_so() -> None:
    found = [rank(sample(60, seed, pi=True)) for seed in range(6)]
    steep = [board for board in found if board.corrected is not None and board.slope is None]
    assert steep
    assert all(has_note(board, "decisions.no-slope") for board in steep)
    assert all(json.loads(board.to_json())["slope"] is None for board in steep)
    assert all(board.slope is None or board.slope.high == np.inf for board in found)
    assert any(has_note(board, "decisions.chance-apart") for board in found)


def test_doubts_are_told() -> None:
    assert has_note(rank(world().gold, ask(claim="these")), "decisions.topics-like-these")
    few = kt.simulation.simulate_collection(systems=3, topics=6, rng=1)
    board = kt.compare_all(few.runs, few.judgments, few.gold, MEASURE)
    assert has_note(board, "decisions.few-topics", topics=6)


def test_systems_on_topics_of_their_own_have_no_intervals_of_tau() -> None:
    runs = world().runs
    bounds = runs.bounds[:, :2].copy()
    bounds[:20, 0] = bounds[20:, 1] = 0
    apart = replace(runs, systems=runs.systems[:2], bounds=bounds)
    assert gives(kt.compare_all(apart, world().judgments, sample(600), MEASURE).refusal, "--correction rates")
    board = kt.compare_all(apart, world().judgments, sample(600), BY_RATES)
    assert board.corrected is not None
    assert np.isnan(board.tau.low)
    assert np.isnan(board.slope.high)
    assert json.loads(board.to_json())["tau"]["low"] is None
    assert has_note(board, "decisions.disjoint")


def test_the_seed_seeds_and_resamples_count() -> None:
    again = rank(world().gold)
    assert again.to_json() == full_board().to_json()
    other = rank(world().gold, ask(seed=1))
    assert other.slope.value == pytest.approx(full_board().slope.value, abs=0.1)
    assert other.slope.low != full_board().slope.low
    assert rank(world().gold, ask(resamples=200)).slope.low != full_board().slope.low


def test_json_says_everything_and_has_no_gaps() -> None:
    board = full_board()
    told = json.loads(board.to_json())
    assert told["sentence"] == board.sentence
    assert told["corrected_pairs"]["count"] == board.corrected_pairs.count
    assert told["count_flips"] == board.count_flips()
    assert len(told["systems"]) == 12
    assert len(told["pairs"]) == 66
    assert told["tau"] == pytest.approx(board.tau._asdict())
    assert told["groups"] == [list(group) for group in board.groups]


def test_html_escapes_names() -> None:
    odd = replace(world().runs, systems=("<b>", *world().runs.systems[1:]))
    page = kt.compare_all(odd, world().judgments, None, MEASURE)._repr_html_()
    assert "<b><b>" not in page


def test_arrays_are_protected() -> None:
    board = full_board()
    for array in (board.a, board.naive.value, board.corrected_pairs.p_value):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("gold", ["rates", "even", "topics"])
def test_intervals_end_where_scores_do(gold: str) -> None:
    correction = "rates" if gold == "rates" else "auto"
    board = rank(GOLDS[gold](), ask("P(rel=2)@1", confidence=1 - 1e-9, correction=correction))
    assert board.corrected is not None
    assert board.corrected.way == gold
    assert board.corrected.low.min() == 0
    assert board.corrected.high.max() <= 1
    assert (board.corrected_pairs.low.min(), board.corrected_pairs.high.max()) == (-1, 1)


def test_verdicts_that_turn_come_first_then_by_how_sure_judges_were() -> None:
    board = rank(sample(400))
    pairs = len(board.a)
    p_value = np.linspace(0.001, 0.04, pairs)[::-1].copy()
    p_value[:2] = 0.08, 0.07  # not claimed
    value, after = np.ones(pairs), np.full(pairs, 0.001)
    value[[5, 8]], after[[3, 9]] = -1, 0.5
    before, corrected = tell_apart(np.ones(pairs), p_value, 0.05), tell_apart(value, after, 0.05)
    found = replace(board, adjust="none", naive_pairs=before, corrected_pairs=corrected).flips()
    assert found["flip"].to_list() == ["turns", "turns", "falls", "falls", "arises", "arises"]
    assert found["naive_p_value"].to_list() == [p_value[k] for k in (8, 5, 9, 3, 1, 0)]


def test_judges_who_favour_one_system_are_doubted_for_its_pairs_only() -> None:
    rows = kt.stats.align(world().runs, world().gold).ranked[:, :, :10]
    favoured = np.zeros(len(world().gold.item_topic), bool)
    favoured[rows[:, 11][rows[:, 11] >= 0]] = True
    favoured[rows[:, :11][rows[:, :11] >= 0]] = False
    grade = pl.when(pl.Series(favoured[world().gold.item])).then(3).otherwise("grade")
    judgments = kt.read_judgments(gold_frame().with_columns(judge=pl.lit("partial"), grade=grade))
    board = kt.compare_all(world().runs, judgments, sample(900), BY_RATES)
    assert board.corrected is not None
    assert board.corrected.way == "rates"
    assert board.alarm is None
    assert has_note(board, "decisions.apart-pairs-unclaimed", pairs=66)
    ours = board.systems.index(world().runs.systems[11])
    concerned = (board.a == ours) | (board.b == ours)
    assert not board.corrected_pairs.claimed[concerned].any()
    assert (board.corrected_pairs.p_value[concerned] < 1e-3).any()
    assert board.corrected_pairs.claimed[~concerned].any()
    with_best = board.b == 0
    untold = int(board.corrected_pairs.doubted[with_best].sum())
    told = int(board.corrected_pairs.claimed[with_best].sum())
    assert untold
    assert gives(board.sentence, told, 11 - told - untold, untold)


def test_pairs_that_gold_cannot_tell_apart_are_told() -> None:
    board = rank(sample(40, pi=True))
    assert board.corrected_pairs is not None
    unknown = int(np.isinf(board.corrected_pairs.standard_error).sum())
    assert unknown > 0
    assert has_note(board, "decisions.errors-unknown", pairs=unknown)
    assert not board.corrected_pairs.claimed[np.isinf(board.corrected_pairs.standard_error)].any()


def test_identical_systems_are_known_to_be_when_judges_were_never_seen_to_err() -> None:
    runs = world().runs
    twin = replace(runs, systems=(*runs.systems[:3], "twin"), bounds=runs.bounds[:, [0, 1, 2, 0]])
    board = kt.compare_all(twin, perfect(), on_topics(15), ask(claim="these"))
    assert board.corrected_pairs is not None
    names = np.array(board.systems)
    same = np.isin(names[board.a], [runs.systems[0], "twin"]) & np.isin(names[board.b], [runs.systems[0], "twin"])
    assert board.corrected_pairs.standard_error[same].tolist() == [0]
    assert np.isinf(board.corrected_pairs.standard_error[~same]).all()


def test_one_topic_tells_no_systems_apart() -> None:
    topic = world().judgments.topics[0]
    board = kt.compare_all(world().runs, world().judgments.only_topics([topic]), None, MEASURE)
    assert board.naive_pairs.count == 0
    assert np.isnan(board.naive_pairs.p_value).all()
    assert set(board.letters) == {"a"}


def test_the_same_difference_in_few_topics_may_be_chance() -> None:
    rows = [(s, t, f"d{k}", 10.0 - k - (s == "b") * 0.5 * (k == 0) * 4) for s in "ab" for t in "123" for k in range(3)]
    runs = kt.read_runs(pl.DataFrame(rows, schema=["system", "topic", "document", "score"], orient="row"))
    graded = pl.DataFrame(
        [(t, "d0", 1) for t in "123"] + [(t, "d1", 0) for t in "123"],
        schema=["topic", "document", "grade"],
        orient="row",
    )
    judgments = kt.read_judgments(graded.with_columns(judge=pl.lit("x")))
    board = kt.compare_all(runs, judgments, None, "P@1")
    assert board.naive_pairs.value.tolist() == [1.0]
    assert board.naive_pairs.p_value.tolist() == [0.25]  # three signs, all alike: 2 of 8
    assert board.naive_pairs.count == 0
    pair = kt.compare(runs, judgments, None, "P@1", a="b", b="a")
    assert pair.naive.p_value == 0.25
    assert not pair.naive.significant
