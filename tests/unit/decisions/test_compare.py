"""Two systems compared: identities, refusals, and what is said."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from itertools import combinations
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.decisions.case import make_case
from karatage.decisions.correct import correct
from karatage.decisions.estimators.contract import SystemPairs
from karatage.decisions.estimators.drawn import DRAWN
from karatage.decisions.estimators.rates import RatesFitted
from karatage.errors import DataError, OptionError, UnknownNameError
from tests.notes import gives, has_note

A, B = "system-01", "system-11"
MEASURE = "P(rel=2)@10"


@cache
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(rng=7)


@cache
def gold_frame() -> pl.DataFrame:
    return world().gold.to_frame().drop("judge")


def sample(size: int, seed: int = 0) -> kt.Judgments:
    rows = np.random.default_rng(seed).choice(len(gold_frame()), size, replace=False)
    return kt.read_gold(gold_frame()[np.sort(rows)])


def on_topics(count: int) -> kt.Judgments:
    return kt.read_gold(gold_frame().filter(pl.col("topic").is_in(list(world().gold.topics[:count]))))


def judged_by(*graders: tuple[str, pl.Expr]) -> kt.Judgments:
    """Judgments made from gold's grades."""
    frames = [
        gold_frame().with_columns(pl.lit(name).alias("judge"), grade.cast(pl.Int64).alias("grade"))
        for name, grade in graders
    ]
    return kt.read_judgments(pl.concat(frames))


def perfect() -> kt.Judgments:
    return judged_by(("perfect", pl.col("grade")))


def ask(measure: str = MEASURE, **terms: object) -> kt.Question:
    return kt.Question(measure=measure, **terms)


def compare(gold: kt.Judgments | None, question: str | kt.Question = MEASURE, judgments: kt.Judgments | None = None):
    return kt.compare(world().runs, judgments or world().judgments, gold, question, a=A, b=B)


@pytest.mark.parametrize(
    ("gold", "correction"), [(sample(300), "rates"), (world().gold, "auto")], ids=["error rates", "all"]
)
def test_perfect_judges_give_the_naive_result(gold: kt.Judgments, correction: str) -> None:
    found = compare(gold, ask(correction=correction), judgments=perfect())
    assert found.corrected is not None
    for name in ("value", "low", "high", "standard_error"):
        expected = getattr(found.naive.difference, name)
        assert getattr(found.corrected.difference, name) == pytest.approx(expected, abs=1e-9)
    assert found.corrected.p_value == pytest.approx(found.naive.p_value, rel=1e-6)


def test_perfect_judges_give_the_naive_difference_with_gold_on_some_topics() -> None:
    found = compare(on_topics(12), judgments=perfect())
    assert found.corrected is not None
    assert found.corrected.difference.value == pytest.approx(found.naive.difference.value)
    assert found.corrected.difference.standard_error == pytest.approx(found.naive.difference.standard_error, rel=0.25)


def test_perfect_judges_are_not_taken_to_be_perfect_by_a_sample() -> None:
    """The value is the judges', with an error as if 2 draws had missed by as much as gold's gains scatter."""
    gold = sample(300)
    found = compare(gold, judgments=perfect())
    assert found.corrected is not None
    assert found.corrected.way == "even"
    assert found.corrected.difference.value == pytest.approx(found.naive.difference.value)
    case = make_case(world().runs, perfect(), gold, ask(), systems=(A, B), seed=0)
    gap = np.diff(case.weight, axis=1)[case.gold_grade >= 0, 0]
    gain = (case.gold_grade[case.gold_grade >= 0] >= 2).astype(float)
    pi = 300 / 4000
    noise = gap**2 * (1 - pi) / pi**2 / 40**2
    least = noise.sum() * 2 * gain.var() / (gap != 0).sum()
    expected = math.sqrt(found.naive.difference.standard_error**2 + least)
    assert found.corrected.difference.standard_error == pytest.approx(expected)
    assert found.corrected.difference.degrees == min(39, (gap != 0).sum() - 1)


@pytest.mark.parametrize("topics", ["these", "new"])
def test_what_is_not_known_of_the_ideal_is_in_the_error_of_ndcg(topics: str) -> None:
    """As the variance of the difference over ideals that are as likely."""
    asked = ask("nDCG@10", claim=topics)
    gold = kt.read_gold(sample(300).to_frame().drop("judge").with_columns(pi=pl.lit(300 / 4000)))
    case, sure = (make_case(world().runs, world().judgments, gold, asked, systems=(A, B), seed=0) for _ in "ab")
    assert case.inverse_ideals is not None
    assert case.scale is not None
    vars(sure)["inverse_ideals"] = np.stack([case.scale, case.scale])
    found, plain = DRAWN.fit(case), DRAWN.fit(sure)
    assert found.per_topic is not None
    moved = (case.inverse_ideals / case.scale) @ (found.per_topic[:, 1] - found.per_topic[:, 0]) / 40
    assert found.pairs.value[0, 1] == pytest.approx(plain.pairs.value[0, 1])
    assert found.pairs.variance[0, 1] == pytest.approx(plain.pairs.variance[0, 1] + moved.var(ddof=1))
    assert moved.var(ddof=1) > 0.01 * plain.pairs.variance[0, 1]


def test_gold_on_everything_is_gold_alone() -> None:
    found = compare(world().gold)
    scores = kt.score(world().runs, world().gold, MEASURE).value[0]
    systems = world().runs.systems
    gap = scores[:, systems.index(B)] - scores[:, systems.index(A)]
    assert found.corrected is not None
    assert found.corrected.difference.value == pytest.approx(gap.mean())
    assert found.corrected.difference.standard_error == pytest.approx(gap.std(ddof=1) / np.sqrt(len(gap)))
    exact = compare(world().gold, ask(claim="these"))
    assert exact.corrected is not None
    assert exact.corrected.difference.exact


@pytest.mark.parametrize("measure", ["P@10", "DCG@10", "nDCG@10", "AP"])
def test_identical_systems_do_not_differ(measure: str) -> None:
    twin = replace(world().runs, systems=("one", "two"), bounds=world().runs.bounds[:, [3, 3]])
    found = kt.compare(twin, world().judgments, sample(300), measure, a="one", b="two")
    assert found.same is not None
    assert gives(found.sentence, "one", "two", *(["10"] if "@" in measure else []))
    assert found.naive.difference.value == 0
    assert found.p_value is None
    assert not found.significant


def test_without_gold_nothing_is_claimed() -> None:
    found = compare(None)
    assert found.corrected is None
    assert found.gold is None
    assert found.p_value == pytest.approx(found.naive.p_value)
    assert not found.significant


def test_swapping_the_systems_turns_the_sign() -> None:
    gold = sample(300)
    there = compare(gold)
    back = kt.compare(world().runs, world().judgments, gold, MEASURE, a=B, b=A)
    assert there.corrected is not None
    assert back.corrected is not None
    assert back.corrected.difference.value == pytest.approx(-there.corrected.difference.value)
    assert back.corrected.p_value == pytest.approx(there.corrected.p_value)


def test_rates_follow_the_shared_formula() -> None:
    """[NOISY18] (5) with one gold sample for both systems, written out."""
    gold = sample(400)
    judge = judged_by(("j", (pl.col("grade") >= 2) ^ (pl.col("document").hash(1) % 7 == 0)))
    binary = kt.read_gold(gold.to_frame().drop("judge").with_columns((pl.col("grade") >= 2).cast(pl.Int64)))
    found = kt.compare(world().runs, judge, binary, ask("P@10", correction="rates"), a=A, b=B)
    joined = binary.to_frame().join(judge.to_frame(), on=["topic", "document"], suffix="_said")
    pairs = joined.select("grade", "grade_said").rows()
    relevant = [s for g, s in pairs if g == 1]
    others = [1 - s for g, s in pairs if g == 0]
    m_r, m_n = np.mean(relevant), np.mean(others)
    scores = kt.score(world().runs, judge, "P@10").value[0]
    systems = world().runs.systems
    gap = scores[:, systems.index(B)] - scores[:, systems.index(A)]
    d = m_r + m_n - 1
    v_r, v_n = m_r * (1 - m_r) / len(relevant), m_n * (1 - m_n) / len(others)
    variance = gap.var(ddof=1) / len(gap) / d**2 + gap.mean() ** 2 * (v_r + v_n) / d**4
    assert found.corrected is not None
    assert found.corrected.difference.value == pytest.approx(gap.mean() / d)
    assert not has_note(found, "decisions.design-effect")
    assert found.corrected.difference.standard_error == pytest.approx(np.sqrt(variance), rel=0.02)
    alone = kt.compare(world().runs, judge, binary, ask("P@10", correction="rates", judges="independent"), a=A, b=B)
    assert alone.corrected is not None
    assert alone.corrected.difference.standard_error > 2 * found.corrected.difference.standard_error
    assert alone.corrected.a is not None
    first = scores[:, systems.index(A)]
    assert alone.corrected.a.value == pytest.approx((first.mean() - 1 + m_n) / d)


FEW_RELEVANT = pl.concat(
    [gold_frame().filter(pl.col("grade") == 0)[::20], gold_frame().filter(pl.col("grade") == 3)[:3]]
)
NOT_RELEVANT = kt.read_gold(gold_frame().filter(pl.col("grade") == 0)[::20])
BY_RATES = ask(correction="rates")
SIX_TOPICS = kt.read_gold(pl.concat([gold_frame().filter(pl.col("topic") == t)[::3] for t in world().gold.topics[:6]]))
REFUSED = {
    "coins": (judged_by(("coin", pl.col("document").hash(3) % 2 * 3)), sample(400), BY_RATES, ["chance"]),
    "inverted": (judged_by(("inverted", 3 - pl.col("grade"))), sample(400), MEASURE, ["judge", "chance"]),
    "no relevant gold": (perfect(), NOT_RELEVANT, BY_RATES, ["none", "relevant"]),
    "not relevant only": (perfect(), NOT_RELEVANT, MEASURE, ["100%", 0]),
    "too few relevant": (perfect(), kt.read_gold(FEW_RELEVANT), BY_RATES, [3, "relevant"]),
    "outside the pool": (
        perfect(),
        kt.read_gold(gold_frame()[:50].with_columns(pl.concat_str(pl.lit("x"), "document").alias("document"))),
        MEASURE,
        [50, "gold"],
    ),
    "no pi": (perfect(), sample(400), ask(correction="sampled"), ["column pi"]),
    "no weighted sum": (perfect(), sample(400), "AP", ["AP", "weighted"]),
    "rates of these topics": (perfect(), sample(400), ask(claim="these", correction="rates"), ["rates", "topics"]),
    "two gold topics": (perfect(), on_topics(2), "AP", [2, 5, 10]),
    "clustered": (world().judgments, SIX_TOPICS, MEASURE, [6, 40, "sample"]),
    "clustered, by rates": (world().judgments, SIX_TOPICS, BY_RATES, [6, 40, "intervals"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_defended_is_refused(name: str) -> None:
    judgments, gold, question, facts = REFUSED[name]
    found = compare(gold, question, judgments)
    assert found.corrected is None
    assert found.refusal is not None
    assert gives(found.refusal, *facts)
    assert found.refusal.split(";")[0] in found.sentence
    assert found.p_value is None
    assert not found.significant


def test_rates_read_off_an_uneven_sample_claim_nothing() -> None:
    """They are the rates on some documents only: here mostly on those that are relevant."""
    chance = np.where(gold_frame()["grade"].to_numpy() >= 2, 0.4, 0.05)
    gold = kt.read_gold(gold_frame().filter(np.random.default_rng(0).random(len(chance)) < chance))
    found = compare(gold, BY_RATES)
    board = kt.compare_all(world().runs, world().judgments, gold, BY_RATES, systems=(A, B, "system-06"), adjust="none")
    assert found.corrected is not None
    assert found.corrected.significant
    assert found.others == ()
    assert board.corrected_pairs is not None
    assert board.corrected_pairs.doubted.all()
    assert not board.corrected_pairs.claimed.any()
    for result in (found, board):
        assert result.alarm is not None
        assert not result.significant


def test_few_topics_are_refused_or_told() -> None:
    few = world().gold.topics[:6]
    judgments = kt.read_judgments(world().judgments.to_frame().filter(pl.col("topic").is_in(list(few))))
    rows = gold_frame().filter(pl.col("topic").is_in(list(few)))[::4]
    found = compare(kt.read_gold(rows), MEASURE, judgments)
    assert found.refusal is not None
    assert gives(found.refusal, 6, 10, "--claim these")
    assert has_note(found, "decisions.few-topics", topics=6)


def test_one_topic_has_no_p_value() -> None:
    judgments = kt.read_judgments(world().judgments.to_frame().filter(pl.col("topic") == world().gold.topics[0]))
    found = compare(None, MEASURE, judgments)
    assert np.isnan(found.naive.p_value)
    assert found.to_dict()["p_value"] is None
    assert json.loads(found.to_json())["naive"]["difference"]["low"] is None
    assert not found.significant


def test_gold_on_whole_topics_is_counted_by_topics() -> None:
    found = compare(on_topics(12))
    assert found.corrected is not None
    assert found.corrected.way == "topics"
    assert has_note(found, "decisions.choice-topics", pool=40)
    few = compare(on_topics(8))
    assert few.corrected is not None
    assert has_note(few, "decisions.few-topics-lambda", topics=8)
    case = make_case(world().runs, world().judgments, on_topics(8), ask(), systems=(A, B), seed=0)
    gold, judge = kt.score(world().runs.only((A, B)), world().gold, MEASURE).value[0], case.scores
    gold, judge = gold[:, 1] - gold[:, 0], judge[:, 1] - judge[:, 0]
    helped = gold[:8].mean() + 0.75 * 32 / 40 * (judge[8:].mean() - judge[:8].mean())
    assert few.corrected.difference.value == pytest.approx(helped)


def test_gold_topics_alone_leave_the_judges_out() -> None:
    found = compare(on_topics(12), ask(correction="gold-topics"))
    scores = kt.score(world().runs.only((A, B)), world().gold, MEASURE).value[0][:12]
    gap = scores[:, 1] - scores[:, 0]
    assert found.corrected is not None
    assert found.corrected.difference.value == pytest.approx(gap.mean())
    assert found.corrected.difference.standard_error == pytest.approx(gap.std(ddof=1) / np.sqrt(12))
    assert found.corrected.difference.degrees == 11


def test_every_option_changes_the_comparison() -> None:
    gold = sample(300)
    plain, by_rates = compare(gold), compare(gold, BY_RATES)

    def corrected(**terms: object) -> kt.stats.Estimate:
        opinion = compare(gold, ask(**terms)).corrected
        assert opinion is not None
        return opinion.difference

    base = corrected()
    assert corrected(confidence=0.99).high > base.high
    assert corrected(claim="these").standard_error != base.standard_error
    rates = corrected(correction="rates")
    assert corrected(correction="rates", undo_bias=True).value != rates.value
    assert corrected(correction="rates", paired=False).standard_error > rates.standard_error
    assert corrected(correction="rates", judges="independent").standard_error > rates.standard_error
    assert compare(gold, ask(test="wilcoxon")).naive.p_value != plain.naive.p_value
    assert compare(gold, ask(approach="ds")).naive.difference.value != plain.naive.difference.value
    assert [o.way for o in plain.others] == ["guess", "guess-usual"]
    assert [o.way for o in by_rates.others] == ["even"]
    assert by_rates.others[0].difference == base
    second = compare(gold, ask(correction="rates", resamples=500))
    assert [o.way for o in second.others] == ["even", "bootstrap"]
    assert second.others[1].difference.standard_error == pytest.approx(rates.standard_error, rel=0.25)
    again = compare(gold, ask(correction="rates", resamples=500, seed=1))
    assert again.others[1].difference.low != second.others[1].difference.low


def test_requests_that_cannot_be_are_refused() -> None:
    with pytest.raises(OptionError, match="'system-01'"):
        kt.compare(world().runs, world().judgments, None, MEASURE, a=A, b=A)
    with pytest.raises(UnknownNameError, match="'system-11'"):
        kt.compare(world().runs, world().judgments, None, MEASURE, a=A, b="sytem-11")
    with pytest.raises(OptionError, match="'all'"):
        ask(claim="all")
    with pytest.raises(OptionError, match="gold"):
        compare(sample(300), ask(approach="nb"))
    with pytest.raises(OptionError, match="paired"):
        compare(None, ask(paired=False, test="wilcoxon"))
    with pytest.raises(UnknownNameError, match="judge"):
        compare(None, ask(approach="judge:nobody"))
    with pytest.raises(DataError, match="approaches"):
        compare(on_topics(12), ask("AP", approach="own"))


def test_an_approach_that_merges_scores_needs_gold_on_whole_topics() -> None:
    found = compare(on_topics(15), ask("AP", approach="uniform"))
    assert found.corrected is not None
    assert found.corrected.way == "topics"


def test_systems_with_topics_of_their_own_are_not_paired() -> None:
    runs = world().runs
    bounds = runs.bounds[:, [0, 10]].copy()
    bounds[:20, 0] = 0
    bounds[20:, 1] = 0
    split = replace(runs, systems=("old", "new"), bounds=bounds)
    refused = kt.compare(split, perfect(), sample(400), MEASURE, a="old", b="new")
    assert gives(refused.refusal, "--correction rates")
    found = kt.compare(split, perfect(), sample(400), BY_RATES, a="old", b="new")
    scores = kt.score(runs, perfect(), MEASURE).value[0]
    assert found.naive.a is not None
    assert found.naive.b is not None
    assert found.naive.a.value == pytest.approx(scores[20:, 0].mean())
    assert found.naive.b.value == pytest.approx(scores[:20, 10].mean())
    assert found.corrected is not None
    assert gives(found.assumed, "not paired")
    welch = kt.stats.welch_test(scores[20:, 0], scores[:20, 10])
    assert found.naive.p_value == pytest.approx(welch.p_value)
    assert found.corrected.difference.standard_error == pytest.approx(found.naive.difference.standard_error)


def test_the_same_seed_gives_the_same_bootstrap() -> None:
    gold = sample(300)
    first, second = (compare(gold, ask(correction="rates", resamples=200, seed=3)).to_json() for _ in range(2))
    assert first == second


def test_inputs_are_not_changed() -> None:
    gold = sample(300)
    before = world().judgments.to_frame(), gold.to_frame()
    compare(gold)
    assert before[0].equals(world().judgments.to_frame())
    assert before[1].equals(gold.to_frame())


def drawn(size: int) -> kt.Judgments:
    return kt.read_gold(sample(size).to_frame().drop("judge").with_columns(pi=pl.lit(size / len(gold_frame()))))


NEEDS = {
    "rates": (lambda: sample(300), ask("P(rel=2)@5", confidence=0.9, correction="rates")),
    "even": (lambda: sample(300), ask(confidence=0.8)),
    "sampled": (lambda: drawn(1500), ask(claim="these")),
    "sampled, new": (lambda: drawn(300), ask(confidence=0.8)),
    "topics": (lambda: on_topics(15), ask(confidence=0.9)),
}


NEVER = [40, "not"]  # no gold on these topics is enough


@pytest.mark.parametrize("way", NEEDS)
def test_the_gold_that_is_needed_is_what_power_takes(way: str) -> None:
    """n items leave v of the variance, which shrinks as 1 / n: v n / (n + more) + rest = (difference / z)^2."""
    gold, question = NEEDS[way][0](), NEEDS[way][1]
    z = NormalDist().inv_cdf(1 - question.level / 2) + NormalDist().inv_cdf(0.8)
    seen = False
    for a, b in combinations(world().runs.systems[:7], 2):
        found = kt.compare(world().runs, world().judgments, gold, question, a=a, b=b)
        case = make_case(world().runs, world().judgments, gold, question, systems=(a, b), seed=0)
        corrected = correct(case).corrected
        assert corrected is not None
        assert corrected.method.name == way.split(",")[0]
        if found.corrected is not None and found.corrected.significant:
            assert found.needed is None
            continue
        v, n = corrected.gold_variance[0, 1], corrected.gold_items
        rest = max(corrected.pairs.variance[0, 1] - v, 0)
        if way in ("sampled, new", "even"):
            rest = found.naive.difference.standard_error**2
        room = (found.naive.difference.value / z) ** 2 - rest
        more = math.ceil(v * n / room * (1 - 1e-12)) - n if room > 0 else math.inf
        left = (case.matters & (case.gold_grade < 0)).sum()
        if more <= 0:
            expected = None
        elif way == "topics":
            expected = [more, "more"] if more <= 40 - n else NEVER
        elif more == math.inf:
            expected = NEVER
        else:
            all_left = way != "rates" and more >= left
            expected = [left, "documents"] if all_left else [more, "more"]
        if way.split(",")[0] in ("even", "sampled") and n < 20:
            expected = None  # too little to know
        if expected is None:
            assert found.needed is None
        else:
            assert gives(found.needed, *expected)
        seen = True
    assert seen


def test_the_alarm_is_for_corrections_two_standard_errors_apart() -> None:
    """Judges who call all relevant that only some systems show; both corrections have chance of their own."""
    rows = kt.stats.align(world().runs, world().gold).ranked[:, :, :10]
    favoured = np.zeros(len(world().gold.item_topic), bool)
    favoured[rows[:, 9:][rows[:, 9:] >= 0]] = True
    favoured[rows[:, :9][rows[:, :9] >= 0]] = False
    grade = pl.when(pl.Series(favoured[world().gold.item])).then(3).otherwise("grade")
    judgments, gold = judged_by(("partial", grade)), sample(600)
    alarms = []
    for a, b in combinations(world().runs.systems[5:], 2):
        found = kt.compare(world().runs, judgments, gold, BY_RATES, a=a, b=b)
        case = make_case(world().runs, judgments, gold, BY_RATES, systems=(a, b), seed=0)
        choice = correct(case)
        assert choice.second is not None
        rates, even = choice.corrected, choice.second.second
        assert isinstance(rates, RatesFitted)
        gap = abs(rates.pairs.value[0, 1] - even.pairs.value[0, 1])
        luck = rates.luck_variance[0, 1]
        assert luck > 0
        error = np.sqrt(rates.gold_variance[0, 1] + luck + even.gold_variance[0, 1])
        assert (found.alarm is not None) == (gap > 2 * error)
        assert found.alarm is None or gives(found.alarm, f"{gap / error:.1f}")
        alarms.append(found.alarm is not None)
    assert {True, False} == set(alarms)


def test_systems_alike_down_to_the_cutoff_cannot_differ() -> None:
    lists = {"old": {t: {"a": 3.0, "b": 2.0, "c": 1.0} for t in "123"}, "new": {t: {"a": 2.0, "b": 1.0} for t in "123"}}
    judgments = kt.read_judgments({"ann": {t: {"a": 1, "b": 0, "c": 1} for t in "123"}})
    for measure in ("nDCG@2", "P@2"):
        assert gives(kt.compare(kt.read_runs(lists), judgments, None, measure, a="old", b="new").same, 2)
    for measure in ("nDCG@3", "P@3", "AP"):
        assert kt.compare(kt.read_runs(lists), judgments, None, measure, a="old", b="new").same is None


def test_swapping_the_systems_turns_the_interval() -> None:
    """Differences lie between minus and plus what scores may be, not where scores may be."""
    gold = sample(300)
    for a, b in combinations(world().runs.systems[:4], 2):
        there, back = (
            kt.compare(world().runs, world().judgments, gold, MEASURE, a=x, b=y) for x, y in ((a, b), (b, a))
        )
        assert there.corrected is not None
        assert back.corrected is not None
        low, high = there.corrected.difference.low, there.corrected.difference.high
        assert (back.corrected.difference.low, back.corrected.difference.high) == pytest.approx((-high, -low))
        assert low < there.corrected.difference.value < high


def test_what_is_known_for_sure_has_no_chance() -> None:
    value, nothing = np.array([[0.0, 0.1], [-0.1, 0.0]]), np.zeros((2, 2))
    assert SystemPairs(value=value, variance=nothing, degrees=nothing + 9).p_value.tolist() == [[1, 0], [0, 1]]


def test_the_bootstrap_agrees_with_the_formula() -> None:
    ratios = []
    for a, b in combinations(world().runs.systems[:5], 2):
        found = kt.compare(
            world().runs, world().judgments, sample(300), ask(correction="rates", resamples=2000), a=a, b=b
        )
        (drawn,) = [opinion for opinion in found.others if opinion.way == "bootstrap"]
        formula = found.corrected
        assert formula is not None
        assert drawn.difference.value == pytest.approx(
            formula.difference.value, abs=0.3 * formula.difference.standard_error
        )
        assert drawn.difference.standard_error == pytest.approx(formula.difference.standard_error, rel=0.25)
        if formula.p_value > 0.05:
            ratios.append(drawn.p_value / formula.p_value)
    assert len(ratios) > 2
    assert np.median(ratios) == pytest.approx(1, abs=0.2)


def test_gold_in_batches_warns_of_stopping_early() -> None:
    frame = drawn(600).to_frame().drop("judge")
    told = []
    for batch in (1, 2):
        later = pl.when(pl.int_range(pl.len()) >= 300).then(batch).otherwise(1)
        found = compare(kt.read_gold(frame.with_columns(pi=pl.lit(0.1), batch=later)))
        told.append(has_note(found, "decisions.batches", batches=2))
    assert told == [False, True]


def test_systems_that_differ_on_some_topics_only_have_an_even_sample_there() -> None:
    """Judges who err topic by topic speak against gold on few topics, not against systems that differ on few."""
    runs, alike = world().runs, 26
    place = [runs.systems.index(A), runs.systems.index(B)]
    bounds = runs.bounds[:, place].copy()
    bounds[:alike, 1] = bounds[:alike, 0]
    twins = replace(runs, systems=(A, B), bounds=bounds)
    moody = judged_by(("moody", pl.when(pl.col("topic").hash(3) % 2 == 0).then(0).otherwise(3)))
    plan = kt.plan(twins, moody, MEASURE, budget=80, a=A, b=B)
    items = plan.queue.select("topic", "document")
    gold = kt.read_gold(items.join(gold_frame(), on=["topic", "document"]))
    case = make_case(twins, moody, gold, ask(), systems=(A, B), seed=0)
    assert case.design.clustered
    found = kt.compare(twins, moody, gold, MEASURE, a=A, b=B)
    assert found.refusal is None
    assert found.corrected.way == "even"


def test_options_are_those_of_a_question_by_name():
    files = world().runs, world().judgments, world().gold
    question = kt.Question(measure=MEASURE, claim="these", confidence=0.9, seed=3)
    asked = kt.compare(*files, question, a=A, b=B)
    named = kt.compare(*files, MEASURE, a=A, b=B, claim="these", confidence=0.9, seed=3)
    changed = kt.compare(*files, kt.Question(measure=MEASURE, seed=3), a=A, b=B, claim="these", confidence=0.9)
    assert asked.to_dict() == named.to_dict() == changed.to_dict() != kt.compare(*files, MEASURE, a=A, b=B).to_dict()
    with pytest.raises(TypeError, match="'clam'"):
        kt.compare(*files, MEASURE, a=A, b=B, clam="these")


def test_two_systems_need_no_names_and_more_do(tmp_path):
    for system in (A, B):
        kt.write_run(world().runs, system, tmp_path / f"{system}.run")
    for first, second in ((A, B), (B, A)):
        runs = kt.read_runs([tmp_path / f"{first}.run", tmp_path / f"{second}.run"])
        found = kt.compare(runs, world().judgments)
        assert (found.a, found.b) == (first, second)
        assert (kt.compare(runs, world().judgments, b=first).a, runs.systems) == (second, (A, B))
    folder = kt.compare(kt.read_runs(tmp_path), world().judgments)
    assert (folder.a, folder.b) == (A, B)
    with pytest.raises(OptionError, match=r"\b12\b.*compare_all"):
        kt.compare(world().runs, world().judgments)
    with pytest.raises(OptionError):
        kt.compare(world().runs, world().judgments, a=A)
