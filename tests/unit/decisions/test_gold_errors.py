"""Gold's own errors through `kt.compare`: values and variances against sums written out, notes and refusals."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.decisions.case import Case, make_case
from karatage.decisions.correct import correct
from karatage.decisions.estimators.drawn import DRAWN
from karatage.decisions.gold_errors import LEAST_DOUBLES, average_answers, count_answers, learn_errors
from tests.notes import gives, has_note

A, B = "system-01", "system-02"
MEASURE = "DCG@5"


@cache
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(systems=4, topics=12, depth=12, rng=3)


def double(
    *,
    slips: float = 0.1,
    doubles: int = 100,
    judges: int = 2,
    again: int = 0,
    opinions: float = 0.0,
    pi: float | None = None,
) -> kt.Judgments:
    """All of gold by the first judge, some by others, and some by each judge again."""
    rng, true = np.random.default_rng(5), world().gold.to_frame().drop("judge")
    if pi is not None:
        true = true.filter(pl.Series(rng.random(len(true)) < pi))
    grade, size = true["grade"].to_numpy(), len(true)
    disputed = rng.random(size) < opinions
    parts = []
    for k in range(judges):
        own = np.where(disputed, rng.integers(0, 4, size), grade)
        rows = np.arange(size) if k == 0 else np.sort(rng.permutation(size)[:doubles])
        for time, chosen in enumerate([rows, np.sort(rng.permutation(rows)[:again])]):
            said = (own[chosen] + rng.integers(1, 4, len(chosen)) * (rng.random(len(chosen)) < slips)) % 4
            part = true[chosen].with_columns(pl.Series("grade", said), judge=pl.lit(f"judge {k}"), time=pl.lit(time))
            parts.append(part)
    frame = pl.concat(parts)
    return kt.read_gold(frame if pi is None else frame.with_columns(pi=pl.lit(pi)))


def ask(gold: kt.Judgments, measure: str = MEASURE, **options: object) -> kt.Comparison:
    question = kt.Question(measure=measure, **options)  # type: ignore[arg-type]
    return kt.compare(world().runs, world().judgments, gold, question, a=A, b=B)


def make(gold: kt.Judgments, measure: str = MEASURE, **options: object) -> Case:
    question = kt.Question(measure=measure, **options)  # type: ignore[arg-type]
    return make_case(world().runs, world().judgments, gold, question, systems=(A, B), seed=0)


def test_an_items_gain_is_the_mean_over_its_judges() -> None:
    rows = [("ann", "a", 0, 0), ("ann", "a", 2, 1), ("bob", "a", 3, 0), ("ann", "b", 1, 0)]
    gold = kt.read_gold(
        pl.DataFrame(rows, schema=["judge", "document", "grade", "time"], orient="row").with_columns(topic=pl.lit("q"))
    )
    value = np.array([0.0, 10.0, 20.0, 100.0])
    assert average_answers(gold, value).tolist() == [(10 + 100) / 2, 10]
    assert count_answers(gold, by_judge=True).tolist() == [2, 1]
    assert count_answers(gold, by_judge=False).tolist() == [3, 1]


@pytest.mark.parametrize("claim", ["these", "new"])
def test_a_census_has_the_variance_of_its_answers_and_of_the_error_rates(claim: str) -> None:
    """The difference is a sum of gains; its errors are those of each answer, and of the gains' correction."""
    gold = double()
    case = make(gold, claim=claim)
    errors = case.gold_errors
    assert errors is not None
    used = case.gold_item >= 0
    gap = np.ptp(case.weight[case.gold_item[used]], axis=1) / len(case.topics)
    sign = np.sign(np.diff(case.weight[case.gold_item[used]], axis=1)[:, 0])
    answers = count_answers(gold, by_judge=False)[used]
    noise = average_answers(gold, errors.noise)[used] / answers
    shares = np.zeros(len(errors.slips.gain))
    for k in range(len(shares)):
        shares[k] = (sign * gap * average_answers(gold, (errors.kind == k).astype(float))[used]).sum()
    found = correct(case).corrected
    assert found is not None
    assert found.pairs.value[0, 1] == pytest.approx(shares @ errors.slips.gain)
    erring = (gap**2 * noise).sum() + shares @ errors.slips.covariance @ shares
    assert np.asarray(found.erring_variance)[0, 1] == pytest.approx(erring, rel=1e-3)
    if claim == "these":
        assert found.pairs.variance[0, 1] == pytest.approx(erring, rel=1e-3)
    else:  # the spread of topics has the errors of answers
        assert found.pairs.variance[0, 1] > shares @ errors.slips.covariance @ shares


def test_whole_topics_count_the_errors_that_their_spread_lacks() -> None:
    """With gold on all topics nothing is left to sampling, and only gold's errors remain."""
    gold = double()
    by_topics, census = (correct(make(gold, claim="these", correction=c)).corrected for c in ("gold-topics", "census"))
    assert by_topics is not None
    assert census is not None
    assert by_topics.pairs.value == pytest.approx(census.pairs.value)
    assert by_topics.pairs.variance == pytest.approx(census.pairs.variance)


def test_slips_are_undone_and_shown() -> None:
    """Gold on all that matters is no longer exact, and all of the width is due to gold."""
    plain, found = ask(double(doubles=0), claim="these"), ask(double(), claim="these")
    assert plain.gold_errors is None
    assert found.gold_errors is not None
    assert plain.corrected is not None
    assert found.corrected is not None
    assert found.gold_errors.shrinks.value < 0.95
    assert found.gold_errors.share == pytest.approx(1)
    assert found.corrected.difference.standard_error > plain.corrected.difference.standard_error == 0
    assert found.gold_errors.slips.low < 0.1 < found.gold_errors.slips.high
    assert gives(found.gold_errors.sentence, found.gold_errors.doubles, found.gold_errors.split)
    drawn = ask(double(pi=0.6), claim="these")
    assert drawn.refusal is not None or 0 < drawn.gold_errors.share < 1  # type: ignore[union-attr, operator]


def test_few_doubles_change_nothing() -> None:
    few, none = ask(double(doubles=LEAST_DOUBLES - 1)), ask(double(doubles=0))
    assert few.corrected is not None
    assert none.corrected is not None
    assert few.corrected.difference.degrees == none.corrected.difference.degrees
    assert few.gold_errors is None
    assert has_note(few, "decisions.gold-few-doubles", doubles=LEAST_DOUBLES - 1)
    assert not any("gold-" in note.kind for note in none.notes)


def test_many_grades_are_taken_as_correct() -> None:
    rows = double().answers
    assert rows is not None
    fine = rows.to_frame().with_columns(grade=pl.col("grade") * 30 + pl.int_range(pl.len()) % 7)
    found = ask(kt.read_gold(fine), "DCG@5")
    assert found.gold_errors is None
    assert has_note(found, "decisions.gold-many-grades", grades=27)


def test_opinions_are_not_undone() -> None:
    """Judges who keep to different grades do not slip: only the sampling of judges widens the interval."""
    kept, changed = (
        learn_errors(double(slips=0, opinions=0.3, again=60), np.arange(4.0)),
        learn_errors(double(slips=0.2, again=60), np.arange(4.0)),
    )
    assert kept is not None
    assert changed is not None
    assert kept.told_apart
    assert kept.slips.rate < 0.02
    assert kept.opinion > 0.2
    told, other = (errors.tell(corrected=True).opinions for errors in (kept, changed))
    assert told is not None
    assert other is not None
    assert told.low > 0.1
    assert other.low == 0
    untold = learn_errors(double(slips=0, opinions=0.3), np.arange(4.0))
    assert untold is not None
    assert untold.slips.rate > 0.1
    assert has_note(ask(double(slips=0, opinions=0.3)), "decisions.gold-opinions")
    assert not has_note(ask(double(slips=0, opinions=0.3, again=60)), "decisions.gold-opinions")


def test_the_variance_of_opinions_is_that_of_the_judges_means() -> None:
    """Between judges, answers vary by slips and opinions: half the mean squared difference of two judges."""
    gold = double(slips=0.1, opinions=0.3, again=100)
    errors = learn_errors(gold, np.arange(4.0))
    assert errors is not None
    first = gold.answers
    assert first is not None
    pairs = errors.doubles.apart
    each = pairs @ np.c_[errors.slips.gain, errors.slips.gain**2]
    spread = (each[:, 1] - each[:, 0] ** 2 / 2).mean()
    assert errors.opinion + errors.slips.prevalence @ errors.slips.noise == pytest.approx(spread)


def test_measures_that_cannot_be_corrected_are_refused_if_slips_are_frequent() -> None:
    found = ask(double(slips=0.1), "AP")
    assert found.corrected is None
    assert gives(found.refusal, "AP")
    assert found.gold_errors is not None
    assert not found.gold_errors.corrected
    assert ask(double(slips=0), "AP").corrected is not None
    assert ask(double(slips=0.1, doubles=0), "AP").corrected is not None


def test_gold_that_agrees_too_little_or_is_by_the_judges_is_refused() -> None:
    assert ask(double(slips=0.7)).corrected is None
    rows = world().judgments.to_frame().filter(pl.col("judge").is_in(world().judgments.judges[:3]))
    found = ask(kt.read_gold(rows))
    assert found.corrected is None
    assert gives(found.refusal, world().judgments.judges[0])


def test_error_rates_take_gold_as_correct_and_say_so() -> None:
    found = ask(double(), "P(rel=1)@5", correction="rates")
    assert has_note(found, "decisions.gold-errors-kept", estimator="rates")
    assert found.gold_errors is not None
    assert not found.gold_errors.corrected


def test_a_board_and_an_audit_show_them(tmp_path: Path) -> None:
    gold = double(again=60)
    board = kt.compare_all(world().runs, world().judgments, gold, MEASURE)
    assert board.gold_errors is not None
    assert 0 < (board.gold_errors.share or 0) < 1
    (tmp_path / "board.json").write_text(board.to_json())
    again = kt.read_result(tmp_path / "board.json").result
    assert isinstance(again, kt.Board)
    assert again.gold_errors == board.gold_errors
    survey = kt.report(world().runs, world().judgments, gold, MEASURE, a=A, b=B)
    assert survey.comparison is not None
    assert survey.comparison.gold_errors is not None
    assert survey.audit.gold_errors is not None
    audit = kt.audit(world().judgments, gold=gold, approach=["mv"])
    assert audit.gold_errors is not None
    disputed = audit.gold_errors.disputed
    assert disputed
    ranges = [max(said) - min(said) for said in (_list_grades(item.grades) for item in disputed)]
    assert ranges == sorted(ranges, reverse=True)
    assert min(ranges) > 0
    assert {item.kind for item in disputed} <= {"opinions", "changed", "not asked again"}
    assert kt.audit(world().judgments, gold=world().gold, approach=["mv"]).gold_errors is None


def _list_grades(text: str) -> list[int]:
    """Of "judge 0 3 2, judge 1 0": those behind the names."""
    return [int(grade) for part in text.split(", ") for grade in part.split()[2:]]


def test_ideal_gains_are_those_of_likely_true_grades() -> None:
    """Slips make high grades of a few low ones, so that ideal gains by gold alone are too large."""
    true, noisy = (make(gold, "nDCG@5") for gold in (world().gold, double()))
    alone = make(double(doubles=0), "nDCG@5")
    means = [case.inverse_ideals.mean() for case in (true, noisy, alone) if case.inverse_ideals is not None]
    assert abs(means[1] - means[0]) < abs(means[2] - means[0])


def test_the_errors_of_drawn_gold_count_by_sampling_probability() -> None:
    """For these topics, residuals have (1 - pi) / pi^2 of an error's variance, and 1 / pi is added."""
    gold, pi = double(pi=0.5), 0.5
    case = make(gold, claim="these", correction="sampled")
    found = correct(case).corrected
    assert found is not None
    assert case.gold_noise is not None
    assert case.gold_errors is not None
    used = case.gold_item >= 0
    gap = np.diff(case.weight[case.gold_item[used]], axis=1)[:, 0] / len(case.topics)
    errors = float((gap**2 * case.gold_noise[used]).sum())
    doubt = sum(
        (float(DRAWN.fit(replace(case, shift=shift)).pairs.value[0, 1]) - float(found.pairs.value[0, 1])) ** 2
        for shift in case.gold_errors.list_shifts()
    )
    assert np.asarray(found.erring_variance)[0, 1] == pytest.approx(errors / pi**2 + doubt)
    exact = DRAWN.fit(_without_noise(case))
    assert found.pairs.variance[0, 1] == pytest.approx(exact.pairs.variance[0, 1] + errors / pi + doubt)


def _without_noise(case: Case) -> Case:
    """The same with corrected gains that are taken as exact."""
    exact = replace(case)
    vars(exact)["gold_noise"] = None
    return exact
