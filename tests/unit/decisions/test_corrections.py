"""Hard cases: each ends in a refusal that says why, or in numbers that are some; never in NaN or a division by zero."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.decisions.case import make_case
from karatage.decisions.estimators.drawn import DRAWN
from karatage.errors import DataError, KaratageError, OptionError
from karatage.views.showing import lay_out
from karatage.views.text import render_page
from tests.notes import gives, has_note, list_facts

A, B = "system-01", "system-11"
MEASURE = "P(rel=2)@10"


@cache
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(depth=25, rng=7)


@cache
def grades() -> pl.DataFrame:
    return world().gold.to_frame().drop("judge")


@cache
def said() -> pl.DataFrame:
    return world().judgments.to_frame()


def sample(size: int = 300, **columns: pl.Expr) -> kt.Judgments:
    rows = np.sort(np.random.default_rng(0).choice(len(grades()), size, replace=False))
    return kt.read_gold(grades()[rows].with_columns(**columns))


def on_topics(*numbers: int) -> kt.Judgments:
    names = [world().gold.topics[t] for t in numbers]
    return kt.read_gold(grades().filter(pl.col("topic").is_in(names)))


def runs(change: Callable[[np.ndarray], None]) -> kt.Runs:
    """The two systems, their lists cut by a change of (topic, system, from-to)."""
    whole = world().runs
    bounds = whole.bounds[:, [whole.systems.index(A), whole.systems.index(B)]].copy()
    change(bounds)
    return replace(whole, systems=(A, B), bounds=bounds)


def shorten(bounds: np.ndarray) -> None:
    bounds[:, :, 1] = np.minimum(bounds[:, :, 1], bounds[:, :, 0] + 3)


def shorten_one(bounds: np.ndarray) -> None:
    bounds[:, 0, 1] = np.minimum(bounds[:, 0, 1], bounds[:, 0, 0] + 3)


def skip_most(bounds: np.ndarray) -> None:
    bounds[2:, 0] = 0


def part(bounds: np.ndarray) -> None:
    bounds[20:, 0] = 0
    bounds[:20, 1] = 0


def part_unevenly(bounds: np.ndarray) -> None:
    bounds[1:, 0] = 0
    bounds[:1, 1] = 0


def judged(*expressions: pl.Expr, **columns: pl.Expr) -> kt.Judgments:
    return kt.read_judgments(said().filter(*expressions).with_columns(**columns))


def top_documents() -> pl.DataFrame:
    """What the two systems show in their first ten ranks."""
    whole = world().runs
    rows = [
        (topic, whole.documents[int(d)])
        for t, topic in enumerate(whole.topics)
        for s in (whole.systems.index(A), whole.systems.index(B))
        for d in whole.listed[whole.bounds[t, s, 0] :][:10]
    ]
    return pl.DataFrame(rows, schema=["topic", "document"], orient="row").unique()


GOLD: dict[str, Callable[[], kt.Judgments | None]] = {
    "no gold": lambda: None,
    "sample": sample,
    "all": lambda: world().gold,
    "drawn": lambda: sample(pi=pl.lit(0.15)),
    "topics": lambda: on_topics(*range(12)),
    "one row": lambda: sample(1),
    "one row drawn": lambda: sample(1, pi=pl.lit(0.2)),
    "one grade": lambda: kt.read_gold(grades().filter(pl.col("grade") == 0)[::10]),
    "one grade drawn": lambda: kt.read_gold(grades().filter(pl.col("grade") == 0)[::10].with_columns(pi=pl.lit(0.1))),
    "outside": lambda: sample(document=pl.lit("x") + pl.col("document")),
    "another collection": lambda: sample(topic=pl.lit("x") + pl.col("topic")),
    "drawn for sure": lambda: kt.read_gold(grades().with_columns(pi=pl.lit(1.0))),
    "a few drawn for sure": lambda: sample(pi=pl.lit(1.0)),
    "binary": lambda: sample(grade=(pl.col("grade") >= 2).cast(pl.Int64)),
}
JUDGES: dict[str, Callable[[], kt.Judgments]] = {
    "crowd": lambda: world().judgments,
    "one topic": lambda: judged(pl.col("topic") == world().gold.topics[0]),
    "two topics": lambda: judged(pl.col("topic").is_in(list(world().gold.topics[:2]))),
    "all not relevant": lambda: judged(grade=pl.lit(0)),
    "all relevant": lambda: judged(grade=pl.lit(3)),
    "binary": lambda: judged(grade=(pl.col("grade") >= 2).cast(pl.Int64)),
    "not the top": lambda: kt.read_judgments(said().join(top_documents(), on=["topic", "document"], how="anti")),
}
RUNS: dict[str, Callable[[np.ndarray], None]] = {
    "short": shorten,
    "one short": shorten_one,
    "one of two topics": skip_most,
    "no topic shared": part,
    "no topic shared, unevenly": part_unevenly,
}
MEASURES = (
    "DCG",
    "RBP(p=0.99)",
    "DCG(gains={0:0,1:1,2:5,3:10})@10",
    "P(rel=9)@10",
    "P@1",
    "P@5000",
    "AP",
    "ERR@10",
    "Bpref",
    "Judged@10",
)


def no_constant(name: str) -> None:
    raise AssertionError(f"{name} in JSON")


def check(found: kt.Comparison) -> None:
    """Words and numbers that are some; what is not known is null."""
    told = json.loads(found.to_json(), parse_constant=no_constant)
    json.dumps(told, allow_nan=False)
    for text in (found.sentence, render_page(lay_out(found)), *map(str, found.notes)):
        assert not {"nan", "inf", "None"} & set(text.replace("[", " ").replace(",", " ").split()), text
    assert (found.corrected is None) == (told["corrected"] is None)
    if found.gold is not None and found.same is None and found.corrected is None:
        assert found.refusal
    if found.corrected is not None:
        assert math.isfinite(found.corrected.difference.value)
        assert not math.isnan(found.corrected.p_value)
    assert found.to_frame().height == len(found.opinions)


def compare(gold: str, question: str | kt.Question, judges: str = "crowd", lists: str | None = None) -> kt.Comparison:
    retrieved = world().runs if lists is None else runs(RUNS[lists])
    return kt.compare(retrieved, JUDGES[judges](), GOLD[gold](), question, a=A, b=B)


@pytest.mark.parametrize("measure", [MEASURE, "AP"])
@pytest.mark.parametrize("gold", GOLD)
def test_any_gold_gives_numbers_or_a_refusal(gold: str, measure: str) -> None:
    check(compare(gold, measure))
    check(compare(gold, kt.Question(measure=measure, claim="these")))


@pytest.mark.parametrize("judges", JUDGES)
@pytest.mark.parametrize("gold", ["no gold", "sample", "all", "drawn", "topics"])
def test_any_judges_give_numbers_or_a_refusal(judges: str, gold: str) -> None:
    for measure, topics in ((MEASURE, "new"), (MEASURE, "these"), ("AP", "these")):
        check(compare(gold, kt.Question(measure=measure, claim=topics), judges))


@pytest.mark.parametrize("lists", RUNS)
@pytest.mark.parametrize("gold", ["no gold", "sample", "all", "drawn", "topics"])
def test_any_runs_give_numbers_or_a_refusal(lists: str, gold: str) -> None:
    for measure in (MEASURE, "AP"):
        check(compare(gold, measure, lists=lists))


@pytest.mark.parametrize("measure", MEASURES)
def test_any_measure_gives_numbers_or_a_refusal(measure: str) -> None:
    for gold in ("sample", "all", "drawn", "topics"):
        check(compare(gold, measure))


@pytest.mark.parametrize("correction", ["rates", "sampled", "even", "topics"])
@pytest.mark.parametrize("gold", ["sample", "all", "drawn", "topics", "one row", "one grade drawn", "outside"])
def test_any_correction_asked_for(correction: str, gold: str) -> None:
    check(compare(gold, kt.Question(measure=MEASURE, correction=correction)))


@pytest.mark.parametrize("approach", ["ds", "glad", "uniform", "sgl_tau_msd", "binmv"])
def test_any_approach_gives_numbers_or_a_refusal(approach: str) -> None:
    for gold in ("no gold", "sample", "all", "drawn", "topics"):
        check(compare(gold, kt.Question(measure=MEASURE, approach=approach)))


@pytest.mark.parametrize("approach", ["uniform", "binmv"])
def test_scores_have_no_error_rates(approach: str) -> None:
    found = compare("sample", kt.Question(measure=MEASURE, approach=approach, correction="rates"))
    assert gives(found.refusal, approach, "rates")


@pytest.mark.parametrize("gold", ["drawn", "sample"])
def test_gold_on_documents_corrects_the_vote_where_the_approach_ends_in_scores(gold: str) -> None:
    found, vote = (compare(gold, kt.Question(measure=MEASURE, approach=name)) for name in ("uniform", "mv"))
    assert found.corrected is not None
    assert vote.corrected is not None
    assert found.corrected.difference == vote.corrected.difference
    assert has_note(found, "decisions.merged-instead", approach="uniform", merge="mv")


def test_a_sample_of_gold_tells_of_documents_that_nobody_judged_and_error_rates_do_not() -> None:
    rates = compare("sample", kt.Question(measure="P@10", correction="rates"), "not the top")
    assert gives(rates.refusal, 2, "'system-01'", "'system-11'")
    truth = gap(kt.score(world().runs, world().gold, "P@10"))
    for topics in ("these", "new"):
        found = compare("sample", kt.Question(measure="P@10", claim=topics), "not the top")
        assert found.corrected is not None
        assert found.corrected.difference.low < truth < found.corrected.difference.high
        assert found.naive.difference.value == 0
        assert gives(found.assumed, "2,000", "probability")
        assert has_note(found, "decisions.gold-alone", documents=356)


def test_gold_on_all_that_matters_tells_the_difference_and_no_scores() -> None:
    """What both systems show at the same weight has no gold, so their scores would lean on the judges there."""
    top = top_documents().join(grades(), on=["topic", "document"])
    shown = [
        kt.compare(world().runs, world().judgments, gold, MEASURE, a=A, b=B)
        for gold in (kt.read_gold(top), kt.read_gold(differing(top)))
    ]
    assert [found.corrected is not None for found in shown] == [True, True]
    whole, matter = (found.corrected for found in shown if found.corrected is not None)
    assert matter.difference.value == pytest.approx(whole.difference.value)
    assert matter.difference.standard_error == pytest.approx(whole.difference.standard_error)
    assert not has_note(shown[0], "decisions.scores-unknown")
    assert list_facts(shown[1])["decisions.scores-unknown"]["share"] == pytest.approx(0.55, abs=0.005)
    assert (matter.a, matter.b) == (None, None)
    scores = kt.score(world().runs, world().gold, MEASURE).value[0].mean(axis=0)
    assert whole.a is not None
    assert whole.a.value == pytest.approx(scores[world().runs.systems.index(A)])


def differing(top: pl.DataFrame) -> pl.DataFrame:
    whole = world().runs
    keep = []
    for t, topic in enumerate(whole.topics):
        lists = [
            {whole.documents[int(d)] for d in whole.listed[whole.bounds[t, whole.systems.index(s), 0] :][:10]}
            for s in (A, B)
        ]
        keep += [(topic, d) for d in lists[0] ^ lists[1]]
    wanted = pl.DataFrame(keep, schema=["topic", "document"], orient="row")
    return top.join(wanted, on=["topic", "document"], how="semi")


def test_one_topic_that_gold_knows() -> None:
    found = compare("all", kt.Question(measure="AP", claim="these"), "one topic")
    scores = kt.score(world().runs, on_topics(0), "AP").value[0, 0]
    assert found.corrected is not None
    gap = scores[world().runs.systems.index(B)] - scores[world().runs.systems.index(A)]
    assert found.corrected.difference.value == pytest.approx(gap)
    assert found.corrected.difference.exact


def test_judges_never_seen_to_err_are_not_sure_elsewhere() -> None:
    perfect = kt.read_judgments(grades().with_columns(judge=pl.lit("perfect")))
    asked = kt.Question(measure=MEASURE, claim="these")
    found = kt.compare(world().runs, perfect, on_topics(*range(12)), asked, a=A, b=B)
    assert gives(found.refusal, 12)
    everything = kt.compare(world().runs, perfect, world().gold, asked, a=A, b=B)
    assert everything.corrected is not None


def test_no_grade_is_high_enough() -> None:
    for gold in ("sample", "all", "drawn", "topics"):
        assert gives(compare(gold, "P(rel=9)@10").refusal, 0, 3)


def test_intervals_of_different_topics_are_cut_at_1_not_before() -> None:
    found = compare("sample", kt.Question(measure="P@10", correction="rates"), lists="no topic shared").corrected
    assert found is not None
    assert found.a is not None
    assert found.b is not None
    for score in (found.a, found.b):
        assert score.low < score.value < score.high <= 1


@pytest.mark.parametrize("correction", ["auto", "even"])
def test_gold_on_what_nobody_judged_is_no_even_sample(correction: str) -> None:
    gold = kt.read_gold(top_documents().join(grades(), on=["topic", "document"])[::2])
    asked = kt.Question(measure="P@10", correction=correction)
    found = kt.compare(world().runs, JUDGES["not the top"](), gold, asked, a=A, b=B)
    assert found.corrected is None
    assert gives(found.refusal, "graded", "gold")


def test_scores_at_their_bound_are_in_the_measures_units() -> None:
    """[NOISY18] 3.6: one system's documents are called relevant more often than relevant gold items are."""
    rng = np.random.default_rng(3)
    lists = {
        "old": {str(t): {f"a{d}": -float(d) for d in range(3)} for t in range(40)},
        "new": {str(t): {f"b{d}": -float(d) for d in range(3)} for t in range(40)},
    }
    judge = {
        str(t): {f"a{d}": 1 for d in range(3)} | {f"b{d}": int(rng.integers(2)) for d in range(3)} for t in range(40)
    }
    gold = {str(t): {f"a{t % 3}": 1, f"b{t % 3}": judge[str(t)][f"b{t % 3}"] ^ (t % 8 == 0)} for t in range(40)}
    found = [
        kt.compare(
            kt.read_runs(lists),
            kt.read_judgments({"ann": judge}),
            kt.read_gold(gold),
            kt.Question(measure=f"DCG(gains={{0:0,1:{gain}}})@3", correction="rates"),
            a="old",
            b="new",
        ).corrected
        for gain in (1, 10)
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].a is not None
    assert found[0].a.value == pytest.approx(1 + 1 / np.log2(3) + 0.5)
    assert found[1].difference.value == pytest.approx(10 * found[0].difference.value)
    assert found[1].difference.standard_error == pytest.approx(10 * found[0].difference.standard_error)


@pytest.mark.parametrize("gold", ["all", "drawn", "sample", "topics"])
def test_systems_of_different_topics_are_compared_by_rates_on_request_only(gold: str) -> None:
    found = compare(gold, kt.Question(measure="P@10", correction="rates"), lists="no topic shared")
    if gold == "topics":
        assert found.corrected is None
        assert gives(found.refusal, "topics")
    else:
        assert found.corrected is not None
        assert found.corrected.way == "rates"
    for correction in ("auto", "sampled", "topics"):
        asked = compare(gold, kt.Question(measure="P@10", correction=correction), lists="no topic shared")
        assert gives(asked.refusal, "--correction rates") or gives(asked.refusal, "column pi")
    assert gives(compare(gold, "P@10", lists="no topic shared").refusal, "different")


@pytest.mark.parametrize(("paired", "lists"), [(False, None), (True, "no topic shared")])
def test_the_bootstrap_is_for_paired_topics(paired: bool, lists: str | None) -> None:
    asked = kt.Question(measure="P@10", resamples=200, paired=paired, correction="rates")
    alone = compare("sample", asked, lists=lists)
    assert alone.corrected is not None
    assert "bootstrap" not in [o.way for o in alone.others]
    both = compare("sample", kt.Question(measure="P@10", resamples=200, correction="rates"))
    assert "bootstrap" in [o.way for o in both.others]


@pytest.mark.parametrize("resamples", [-1, 1, 99])
def test_resamples_that_are_too_few(resamples: int) -> None:
    with pytest.raises(OptionError, match=r"\b100\b"):
        kt.Question(measure="P@10", resamples=resamples)


def test_an_empty_run_is_refused() -> None:
    def empty(bounds: np.ndarray) -> None:
        bounds[:, 0] = 0

    with pytest.raises(DataError, match="topics"):
        kt.compare(runs(empty), world().judgments, sample(), MEASURE, a=A, b=B)


def test_the_same_difference_in_every_topic_is_exact_but_for_rounding() -> None:
    lists = {"old": {t: {"a": 2.0, "b": 1.0} for t in "123"}, "new": {t: {"c": 2.0, "b": 1.0} for t in "123"}}
    judgments = kt.read_judgments({"ann": {t: {"a": 0, "b": n % 2, "c": 1} for n, t in enumerate("123")}})
    found = kt.compare(kt.read_runs(lists), judgments, None, "RBP(p=0.3)", a="old", b="new")
    assert found.naive.difference.exact
    assert gives(found.sentence, "new", "old", "+0.70")


def test_small_differences_are_not_rounded_away() -> None:
    found = compare("sample", "P@5000")
    assert not gives(found.sentence, "0.000")


@pytest.mark.parametrize("repeat", ["same", "other"])
def test_gold_given_twice(repeat: str) -> None:
    first = grades()[::20]
    again = first[::2] if repeat == "same" else first[::2].with_columns(grade=3 - pl.col("grade"))
    for pi in (None, 0.05):
        both = pl.concat([again, first])
        gold = kt.read_gold(both if pi is None else both.with_columns(pi=pl.lit(pi)))
        once = kt.read_gold(first if pi is None else first.with_columns(pi=pl.lit(pi)))
        twice, single = (kt.compare(world().runs, world().judgments, g, MEASURE, a=A, b=B) for g in (gold, once))
        check(twice)
        assert twice.corrected == single.corrected  # the last counts


def test_names_that_are_none() -> None:
    for approach in ("", "judge:", "judge:nobody", "nonsense", "ds(foo=1)", "own"):
        with pytest.raises(KaratageError):
            compare("sample", kt.Question(measure=MEASURE, approach=approach))


def test_one_system_above_and_one_below_are_put_at_their_bounds() -> None:
    """[NOISY18] 3.6: judges call all of one system's documents relevant and none of the other's, a little too much."""
    lists = {
        "old": {str(t): {f"a{d}": -float(d) for d in range(3)} for t in range(40)},
        "new": {str(t): {f"b{d}": -float(d) for d in range(3)} for t in range(40)},
    }
    judge = {str(t): {f"a{d}": 0 for d in range(3)} | {f"b{d}": 1 for d in range(3)} for t in range(40)}
    gold = {str(t): {f"a{t % 3}": int(t in (3, 20)), f"b{t % 3}": int(t not in (8, 30))} for t in range(40)}
    asked = kt.Question(measure="P@3", correction="rates")
    found = kt.compare(
        kt.read_runs(lists), kt.read_judgments({"ann": judge}), kt.read_gold(gold), asked, a="old", b="new"
    )
    assert found.corrected is not None
    assert found.corrected.difference.value == pytest.approx(1)
    assert has_note(found, "decisions.bounded", worst=0, best=1, systems=("old", "new"))


def test_scores_far_beyond_their_bounds_are_refused() -> None:
    """The same judges, whom gold finds wrong so often that they cannot have called all of `new` relevant."""
    lists = {
        "old": {str(t): {f"a{d}": -float(d) for d in range(3)} for t in range(200)},
        "new": {str(t): {f"b{d}": -float(d) for d in range(3)} for t in range(200)},
    }
    judge = {str(t): {f"a{d}": 0 for d in range(3)} | {f"b{d}": 1 for d in range(3)} for t in range(200)}
    gold = {str(t): {f"a{t % 3}": int(t % 4 == 1), f"b{t % 3}": int(t % 4 != 3)} for t in range(200)}
    found = kt.compare(
        kt.read_runs(lists),
        kt.read_judgments({"ann": judge}),
        kt.read_gold(gold),
        kt.Question(measure="P@3", correction="rates"),
        a="old",
        b="new",
    )
    assert found.corrected is None
    assert gives(found.refusal, "rates", "scores")


def flip(grade: pl.Expr, every: int) -> pl.Expr:
    """A judge who is wrong about every so many documents."""
    return pl.when(pl.col("document").hash(1) % every == 0).then(3 - grade).otherwise(grade)


def test_grades_that_never_occur_need_no_gold() -> None:
    three = pl.when(pl.col("grade") == 2).then(3).otherwise("grade")
    frame = grades().with_columns(grade=three)
    wrong = pl.when(pl.col("document").hash(1) % 7 == 0).then(pl.lit(1)).otherwise(three)
    judge = kt.read_judgments(grades().with_columns(grade=wrong, judge=pl.lit("ann")))
    found = kt.compare(world().runs, judge, kt.read_gold(frame[::3]), "DCG@10", a=A, b=B)
    assert found.refusal is None
    assert found.accuracy is not None
    assert found.accuracy.kinds == ("grade 0", "grade 1", "grade 3")


def test_judges_who_are_hardly_known_are_told() -> None:
    def find_kinds(judge: pl.Expr, size: int) -> set[str]:
        judgments = kt.read_judgments(grades().with_columns(grade=judge, judge=pl.lit("ann")))
        asked = kt.Question(measure=MEASURE, correction="rates")
        return set(list_facts(kt.compare(world().runs, judgments, sample(size), asked, a=A, b=B)))

    erring, shaky = "decisions.error-free", "decisions.nearly-chance"
    assert {erring, shaky} & find_kinds(pl.col("grade"), 300) == {erring}
    assert {erring, shaky} & find_kinds(flip(pl.col("grade"), 3), 200) == {shaky}


def gap(scores: kt.Scores) -> float:
    mean = scores.value[0].mean(axis=0)
    return float(mean[world().runs.systems.index(B)] - mean[world().runs.systems.index(A)])


def test_what_gold_on_nearly_everything_has_not_seen_is_not_relevant() -> None:
    matter = differing(top_documents().join(grades(), on=["topic", "document"])).sort("topic", "document")
    lost = matter.unique("topic", keep="first", maintain_order=True)
    gold = kt.read_gold(grades().join(lost, on=["topic", "document"], how="anti"))
    found = kt.compare(world().runs, world().judgments, gold, MEASURE, a=A, b=B)
    assert found.corrected is not None
    assert found.corrected.way == "census"
    assert found.corrected.difference.value == pytest.approx(gap(kt.score(world().runs, gold, MEASURE)))
    assert has_note(found, "decisions.without-gold", documents=39)


def test_what_neither_judges_nor_gold_have_seen_is_not_relevant() -> None:
    """Both systems show it at the same weight: it matters to their scores only."""
    top = top_documents().join(grades(), on=["topic", "document"])
    alike = top.join(differing(top), on=["topic", "document"], how="anti")
    unseen = kt.read_judgments(said().join(alike, on=["topic", "document"], how="anti"))
    gold = kt.read_gold(differing(top))
    found = kt.compare(world().runs, unseen, gold, MEASURE, a=A, b=B).corrected
    assert found is not None
    assert found.a is not None
    proven = kt.score(world().runs, gold, MEASURE).value[0].sum(axis=0) / 40
    assert found.a.value == pytest.approx(proven[world().runs.systems.index(A)])


def test_gold_drawn_from_half_of_what_matters_is_refused() -> None:
    half = pl.col("topic").is_in(list(world().gold.topics[:20]))
    chance = np.random.default_rng(0).random(len(grades())) < 0.3
    drawn = grades().filter(pl.Series(chance)).with_columns(pi=pl.lit(0.3))
    found = kt.compare(world().runs, world().judgments, kt.read_gold(drawn.filter(half)), MEASURE, a=A, b=B)
    assert found.corrected is None
    assert gives(found.refusal, "pi", "queue", "large")


def test_gold_drawn_from_everything_is_not_refused_by_chance() -> None:
    for seed in range(12):
        chance = np.random.default_rng(seed).random(len(grades())) < 0.05
        drawn = kt.read_gold(grades().filter(pl.Series(chance)).with_columns(pi=pl.lit(0.05)))
        assert kt.compare(world().runs, world().judgments, drawn, MEASURE, a=A, b=B).refusal is None


def test_gold_items_that_count_are_those_that_tell_the_two_apart() -> None:
    question = kt.Question(measure=MEASURE)
    gold = sample(pi=pl.lit(0.15))
    case = make_case(world().runs, world().judgments, gold, question, systems=(A, B), seed=0)
    found = DRAWN.fit(case)
    assert found.gold_items == (case.matters & (case.gold_grade >= 0)).sum() < 300


def test_few_items_that_are_all_there_is_are_enough() -> None:
    lists = {"old": {t: {"a": 1.0} for t in "123"}, "new": {t: {"b": 1.0} for t in "123"}}
    judgments = kt.read_judgments({"ann": {t: {"a": 0, "b": 1} for t in "123"}})
    rows = [(t, d, int(d == "b" and t != "2"), 1.0) for t in "123" for d in "ab"]
    gold = kt.read_gold(pl.DataFrame(rows, schema=["topic", "document", "grade", "pi"], orient="row"))
    asked = kt.Question(measure="P@1", claim="these")
    found = kt.compare(kt.read_runs(lists), judgments, gold, asked, a="old", b="new").corrected
    assert found is not None
    assert found.difference.exact
    assert found.difference.value == pytest.approx(2 / 3)


def test_judges_seen_to_err_in_few_topics_are_doubted() -> None:
    """The judge is wrong about one document that matters, in three or in all of the topics with gold."""
    matter = differing(top_documents().join(grades(), on=["topic", "document"])).sort("topic", "document")
    for topics, doubted in ((3, True), (12, False)):
        places = matter.unique("topic", keep="first", maintain_order=True).head(topics).select("topic", "document")
        answer = pl.when("wrong").then(3 * (pl.col("grade") < 2).cast(pl.Int64)).otherwise("grade")
        frame = grades().join(places.with_columns(wrong=pl.lit(True)), on=["topic", "document"], how="left")
        judgments = kt.read_judgments(frame.with_columns(grade=answer, judge=pl.lit("ann")).drop("wrong"))
        found = kt.compare(world().runs, judgments, on_topics(*range(12)), MEASURE, a=A, b=B)
        assert has_note(found, "decisions.few-differ", topics=3) == doubted


def test_drawn_gold_that_is_all_alike_is_refused() -> None:
    assert gives(compare("one grade drawn", MEASURE).refusal, "gain", "P(rel=2)@10")
