"""What every estimator keeps, whoever registered it: nobody else may ask for its name."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.data.estimate import Method
from karatage.data.note import Note
from karatage.decisions.case import Case, make_case
from karatage.decisions.estimators.contract import Estimator, Fitted, Levels, SecondOpinion, SystemPairs
from karatage.decisions.estimators.drawn import EVEN
from karatage.decisions.estimators.guess import GUESS
from karatage.decisions.estimators.rates import RATES
from karatage.decisions.estimators.registry import AUTO, list_estimators, list_names, register, unregister
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.simulation.collection import simulate_story
from karatage.views.comparison import tabulate_difference
from karatage.views.diagnosis import tabulate_measures
from karatage.views.html import render_page
from karatage.views.showing import lay_out
from tests.invoking import invoke
from tests.notes import has_note

MEASURE = "P@10"
PAIR = ("old", "newer")
ERROR = 0.015


class Halved(Estimator):
    """The judges' scores, halved; on whatever gold."""

    def suits(self, case: Case) -> bool:
        return False

    def fit(self, case: Case) -> Fitted:
        scores = case.scores / 2
        value, topics = scores.mean(axis=0), len(scores)
        gap = scores[:, None, :] - scores[:, :, None]  # (topic, a, b)
        gold = np.full(gap.shape[1:], ERROR**2)
        np.fill_diagonal(gold, 0.0)
        degrees = np.full(gap.shape[1:], topics - 1.0)
        return Fitted(
            method=self.method,
            pairs=SystemPairs(
                value=gap.mean(axis=0), variance=gap.var(axis=0, ddof=1) / topics + gold, degrees=degrees
            ),
            levels=Levels(value=value, variance=scores.var(axis=0, ddof=1) / topics, degrees=degrees[0]),
            gold_variance=gold,
            gold_items=100,
            per_topic=scores,
            assumed=("judges double all that they see",),
            notes=(Note.of("halved"),),
        )


class BareFitted(Fitted):
    """With a second opinion that is always far away, and has no say."""

    def second_opinion(self, case, fit) -> SecondOpinion:
        second = replace(fit(EVEN, case), pairs=replace(self.pairs, value=self.pairs.value + 0.1))
        return SecondOpinion(
            first=self,
            second=second,
            error=np.full(self.pairs.value.shape, 0.01),
            vetoes=False,
            names=("halves", "tenths"),
            on_pair="who knows why",
            on_board="nobody knows why",
        )


class Bare(Halved):
    """Differences only: no scores, and no topics to draw anew."""

    def fit(self, case: Case) -> Fitted:
        found = super().fit(case)
        return BareFitted(
            method=self.method,
            pairs=found.pairs,
            levels=None,
            gold_variance=found.gold_variance,
            gold_items=found.gold_items,
        )


class Refusing(Halved):
    def fit(self, case: Case) -> Fitted:
        raise DataError("these judges are too far north for this estimator; take even")


HALVED = Halved(method=Method(name="halved", label="half of it", about="Right if judges double."), phrase="by halving")
BARE = Bare(method=Method(name="bare", label="bare differences", undone="by halving"), phrase="by halving differences")
REFUSING = Refusing(method=Method(name="refusing", label="refusing"), phrase="not at all")
ALIAS = replace(RATES, method=replace(RATES.method, name="rates again", label="rates once more"), phrase="by old rates")
ESTIMATORS = (*list_estimators(), ALIAS, HALVED, BARE)
OURS = {estimator.name for estimator in list_estimators()}


@contextmanager
def offered(estimator: Estimator) -> Iterator[None]:
    """Registered for as long as it takes."""
    if estimator.name in list_names():
        yield
        return
    register(estimator)
    try:
        yield
    finally:
        unregister(estimator.name)


@contextmanager
def forgotten(estimator: Estimator) -> Iterator[None]:
    """Not registered, unless it is ours: the order of these is that of defaults."""
    if estimator.name in OURS or estimator.name not in list_names():
        yield
        return
    unregister(estimator.name)
    try:
        yield
    finally:
        register(estimator)


@pytest.fixture(params=ESTIMATORS, ids=lambda estimator: estimator.name)
def estimator(request: pytest.FixtureRequest) -> Iterator[Estimator]:
    with offered(request.param):
        yield request.param


@cache
def world() -> kt.simulation.World:
    return simulate_story(rng=1)


@cache
def queue() -> kt.Judgments:
    plan = kt.plan(world().runs, world().judgments, MEASURE, budget=600)
    drawn = plan.items.select("topic", "document", "pi", "batch")
    truth = world().gold.to_frame().drop("judge")
    return kt.read_gold(
        drawn.join(truth, on=["topic", "document"], how="left").with_columns(
            pl.col("grade").fill_null(0), measure=pl.lit(MEASURE), frame=pl.lit(plan.frame)
        )
    )


@cache
def golds() -> dict[str, kt.Judgments]:
    """One of each design."""
    truth = world().gold.to_frame().drop("judge")
    rows = np.sort(np.random.default_rng(3).choice(len(truth), 900, replace=False))
    topics = world().gold.topics[:25]
    return {
        "drawn": queue(),
        "plain": kt.read_gold(truth[rows]),
        "topics": kt.read_gold(truth.filter(pl.col("topic").is_in(topics))),
        "census": kt.read_gold(truth),
    }


def ask(estimator: Estimator, **terms: object) -> kt.Question:
    return kt.Question(measure=MEASURE, correction=estimator.name, **terms)


def compare(estimator: Estimator, gold: kt.Judgments, pair: tuple[str, str] = PAIR, **terms: object) -> kt.Comparison:
    return kt.compare(world().runs, world().judgments, gold, ask(estimator, **terms), a=pair[0], b=pair[1])


def rank(estimator: Estimator, gold: kt.Judgments, **terms: object) -> kt.Board:
    return kt.compare_all(world().runs, world().judgments, gold, ask(estimator, **terms))


def make(estimator: Estimator, gold: kt.Judgments, systems: tuple[str, ...]) -> Case:
    return make_case(world().runs, world().judgments, gold, ask(estimator), systems=systems, seed=0)


def find_gold(estimator: Estimator) -> kt.Judgments:
    """The gold that it takes."""
    for gold in golds().values():
        with suppress(DataError):
            estimator.fit(make(estimator, gold, world().runs.systems))
            return gold
    raise AssertionError(f"{estimator.name} takes gold of no design")


def check_read_back(result: kt.Comparison | kt.Board | kt.Diagnosis, estimator: Estimator, home: Path) -> None:
    """The same sentence, numbers and page, where nobody knows the estimator any more."""
    (home / "result.json").write_text(result.to_json())
    page = render_page(lay_out(result))
    with forgotten(estimator):
        again = kt.read_result(home / "result.json").result
        assert again.sentence == result.sentence
        assert again.to_json() == result.to_json()
        assert render_page(lay_out(again)) == page


def test_compare(estimator: Estimator, tmp_path: Path) -> None:
    gold = find_gold(estimator)
    found = compare(estimator, gold)
    assert found.corrected is not None
    assert (found.corrected.way, found.corrected.method) == (estimator.name, estimator.method)
    fitted = estimator.fit(make(estimator, gold, PAIR))
    difference = found.corrected.difference
    assert difference.value == fitted.pairs.value[0, 1]
    assert difference.standard_error == pytest.approx(np.sqrt(fitted.pairs.variance[0, 1]))
    assert (found.corrected.a is None) == (fitted.levels is None)
    assert found.to_frame()["opinion"][1] == estimator.name
    assert tabulate_difference(found).frame["by"][1].startswith(estimator.method.label)
    assert set(fitted.assumed) <= set(found.assumed)
    assert set(fitted.notes) <= set(found.notes)
    assert estimator.method.label in render_page(lay_out(found))
    check_read_back(found, estimator, tmp_path)


def test_compare_all(estimator: Estimator, tmp_path: Path) -> None:
    gold = find_gold(estimator)
    board = rank(estimator, gold, resamples=200)
    fitted = estimator.fit(make(estimator, gold, world().runs.systems))
    assert board.corrected is not None
    assert board.corrected_pairs is not None
    assert board.corrected.method == estimator.method
    order = [world().runs.systems.index(name) for name in board.systems]
    assert (np.diff(fitted.standing[order]) <= 1e-12).all()
    ours = [fitted.pairs.value[order[a], order[b]] for a, b in zip(board.a, board.b, strict=True)]
    np.testing.assert_array_equal(board.corrected_pairs.value, ours)
    assert np.isnan(board.corrected.value).all() == (fitted.levels is None)
    assert board.tau is not None
    assert estimator.method.undone in board.sentence or board.doubted
    page = render_page(lay_out(board))
    assert estimator.method.about.split("\n")[0].replace("'", "&#39;") in page
    check_read_back(board, estimator, tmp_path)


def test_topics_are_drawn_anew(estimator: Estimator) -> None:
    """Tau and slope have intervals wherever the estimator says how it varies with topics."""
    gold = find_gold(estimator)
    case = make(estimator, gold, world().runs.systems)
    fitted = estimator.fit(case)
    boards = fitted.resample(case, 50, np.random.default_rng(1))
    (there,) = fitted.take_board(case, case.scores.mean(axis=0)).corrected
    np.testing.assert_array_equal(there, fitted.standing)
    board = rank(estimator, gold, resamples=200)
    assert board.tau is not None
    assert board.slope is not None
    known = [np.isfinite([bounded.low, bounded.high]).all() for bounded in (board.tau, board.tau_ap, board.slope)]
    assert known == [boards is not None] * 3
    assert (boards is None) == (estimator is BARE)
    if boards is not None:
        assert board.slope.low < board.slope.value < board.slope.high
        level = 0.0 if fitted.levels is not None else boards.corrected.mean()  # without scores the level means nothing
        np.testing.assert_allclose(boards.corrected.mean(axis=0) - level, fitted.standing, atol=0.05)
    assert has_note(board, "decisions.order-assumed") == fitted.keeps_order


def test_more_gold_is_in_words(estimator: Estimator) -> None:
    """A difference that judges see and gold does not show is followed by what would show it."""
    gold, pair, seen = find_gold(estimator), ("old", "new"), set()
    case = make(estimator, gold, pair)
    fitted = estimator.fit(case)
    for confidence in (0.8, 0.9, 0.95, 0.9999):
        found = compare(estimator, gold, pair, confidence=confidence)
        assert found.corrected is not None
        if found.corrected.significant:
            assert found.needed is None
            continue
        asked = replace(case, question=replace(case.question, confidence=confidence))
        more = fitted.count_more_gold(asked, found.naive.difference, 0.8)
        words = None if np.isinf(more) else fitted.name_more_gold(asked, int(more))
        if more == 0:
            assert found.needed is None
        elif words is None:
            assert found.needed.startswith("More gold on 60 topics would not give 80% power for ")
        else:
            assert found.needed.startswith(f"{words} would give 80% power for ")
        seen.add(found.needed)
    assert seen != {None}


def test_plan(estimator: Estimator) -> None:
    """A plan goes on with the estimator asked for if that uses the chances of the draw, else with the default."""
    judged, runs, judgments = queue(), world().runs, world().judgments
    plan = kt.plan(runs, judgments, ask(estimator), budget=50, judged=judged)
    plain = kt.plan(runs, judgments, MEASURE, budget=50, judged=judged)
    assert plan.informed
    assert (plan.to_dict() == plain.to_dict()) == (estimator is not GUESS)


def test_plan_goes_on_with_the_estimator_asked_for() -> None:
    certain = replace(HALVED, method=replace(HALVED.method, name="certain"), needs_chances=True)
    with offered(certain):
        plan = kt.plan(world().runs, world().judgments, ask(certain), budget=50, judged=queue())
    fitted = certain.fit(make(RATES, queue(), world().runs.systems))
    still_open = np.triu(fitted.pairs.p_value >= 0.05, 1)
    assert 0 < plan.undecided == still_open.sum() < plan.pairs


def test_doctor(estimator: Estimator, tmp_path: Path) -> None:
    gold = find_gold(estimator)
    found = kt.doctor(world().runs, world().judgments, gold, ask(estimator), a=PAIR[0], b=PAIR[1])
    row = found.measures.row(0, named=True)
    assert (row["way"], row["label"]) == (estimator.name, estimator.method.label)
    assert tabulate_measures(found).frame["label"][0] == estimator.method.label
    assert any(sentence.endswith(estimator.phrase) and MEASURE in sentence for sentence in found.can)
    said = [check.finding for check in found.checks]
    assert (estimator.premise in said) == bool(estimator.premise)
    if not isinstance(estimator, type(RATES)):
        assert not any("error rates" in text for text in (*said, *found.can, *found.cannot))
    check_read_back(found, estimator, tmp_path)


@pytest.mark.parametrize(
    "estimator",
    [pytest.param(one, id=one.name, marks=[pytest.mark.soak] * (k % 3 > 0)) for k, one in enumerate(ESTIMATORS)],
    indirect=True,
)
def test_report(estimator: Estimator) -> None:
    gold = find_gold(estimator)
    survey = kt.report(world().runs, world().judgments, gold, ask(estimator), a=PAIR[0], b=PAIR[1], approach="mv")
    page = render_page(lay_out(survey))
    assert estimator.method.label in page
    assert survey.comparison.corrected.way == survey.board.corrected.way == estimator.name
    charts = [figure.name for section in lay_out(survey).sections for figure in section.charts]
    fitted = estimator.fit(make(estimator, gold, world().runs.systems))
    assert ("attenuation" in charts) == (fitted.levels is not None and not estimator.method.same_order)


def test_an_alias_is_the_same_estimator() -> None:
    """Registered a second time under another name, nothing but names changes."""

    def rename(text: str) -> str:
        for ours, theirs in (("name", "rates"), ("label", "error rates corrected")):
            text = text.replace(json.dumps(getattr(ALIAS.method, ours)), json.dumps(theirs))
        return text

    gold = golds()["plain"]
    with offered(ALIAS):
        for call in (compare, rank):
            assert rename(call(ALIAS, gold, resamples=200).to_json()) == call(RATES, gold, resamples=200).to_json()


@pytest.mark.parametrize("estimator", [RATES, ALIAS], ids=lambda estimator: estimator.name)
@pytest.mark.parametrize("design", ["plain", "drawn"])
def test_error_rates_that_their_second_opinion_contradicts_claim_nothing(estimator: Estimator, design: str) -> None:
    """`new` is no better than `old`, and finds more of what the judges overrate."""
    with offered(estimator):
        found = compare(estimator, golds()[design], ("old", "new"))
        board = rank(estimator, golds()[design])
    assert found.corrected is not None
    assert found.corrected.significant
    assert found.doubted
    assert not found.significant
    assert str(found.alarm) in found.sentence
    pairs = [{board.systems[a], board.systems[b]} for a, b in zip(board.a, board.b, strict=True)]
    assert board.corrected_pairs.doubted[pairs.index({"old", "new"})]
    assert not board.corrected_pairs.claimed[pairs.index({"old", "new"})]


def test_a_second_opinion_without_a_veto_is_a_note() -> None:
    with offered(BARE):
        found, board = compare(BARE, golds()["plain"]), rank(BARE, golds()["plain"])
    assert [opinion.way for opinion in found.others] == [EVEN.name]
    assert found.alarm is None
    assert has_note(found, "decisions.apart", first="halves", reason="who knows why")
    assert board.alarm is None
    assert board.corrected_pairs.claimed.any()
    assert not board.corrected_pairs.doubted.any()
    assert has_note(board, "decisions.apart-pairs", apart=3, pairs=3, reason="nobody knows why")


@pytest.mark.parametrize("design", ["plain", "drawn", "topics", "census"])
def test_a_refusal_is_told_in_its_words(design: str, tmp_path: Path) -> None:
    why = "too far north for this estimator; take even"
    gold = golds()[design]
    with offered(REFUSING):
        results = (
            compare(REFUSING, gold),
            rank(REFUSING, gold),
            kt.doctor(world().runs, world().judgments, gold, ask(REFUSING), a=PAIR[0], b=PAIR[1]),
        )
    for found in results[:2]:
        assert found.corrected is None
        assert not found.significant
        assert found.refusal.endswith(why)
        assert f"{why}." in found.sentence
    assert any(why in text for text in results[2].cannot)
    assert results[2].measures["way"][0] is None
    for found in results:
        check_read_back(found, REFUSING, tmp_path)


def test_registering_changes_no_default() -> None:
    eager = type("Eager", (Halved,), {"suits": lambda *_: True})(method=Method(name="eager", label="e"), phrase="so")
    before = [compare_by_default(gold) for gold in golds().values()]
    with offered(eager):
        assert [compare_by_default(gold) for gold in golds().values()] == before
    assert eager.name not in list_names()


def compare_by_default(gold: kt.Judgments) -> str:
    found = kt.compare(world().runs, world().judgments, gold, MEASURE, a=PAIR[0], b=PAIR[1])
    assert found.corrected is not None
    return found.corrected.way


def test_estimators_are_registered_by_their_names() -> None:
    assert [AUTO, *(estimator.name for estimator in list_estimators())] == list(list_names())


def test_a_name_is_registered_once() -> None:
    for name in list_names():
        with pytest.raises(OptionError, match=f"'{name}' is already registered"):
            register(replace(HALVED, method=replace(HALVED.method, name=name)))
    with pytest.raises(UnknownNameError):
        unregister("halved")
    with pytest.raises(OptionError, match="'halved'"):
        ask(HALVED)


def test_the_command_line_takes_what_is_registered(beside_demo: Path) -> None:
    files, pair = "demo/runs -j demo/judgments.csv -g demo/gold.qrels", "--a system-01 --b system-02"
    command = f"compare {files} {pair} -q --correction halved"
    refused = invoke(command.split())
    assert refused.exit_code != 0
    with offered(HALVED):
        found = invoke(command.split())
    assert found.exit_code == 0
    assert "half of it" in found.stdout


def find_naming(code: str) -> list[int]:
    """Lines that ask for an estimator by its name."""
    asked = {"way", "name", "correction"}

    def names(node: ast.AST) -> bool:
        parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
        return any(isinstance(part, ast.Constant) and part.value in OURS for part in parts)

    def asks(node: ast.AST) -> bool:
        found = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None
        return found in asked

    lines = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            wrong = any(map(asks, sides)) and any(map(names, sides))
        elif isinstance(node, ast.Match):
            wrong = asks(node.subject)
        elif isinstance(node, ast.keyword):
            wrong = node.arg in ("correction", "way") and names(node.value)
        elif isinstance(node, ast.Dict):
            wrong = len(node.keys) > 1 and all(isinstance(k, ast.Constant) and k.value in OURS for k in node.keys)
        elif isinstance(node, ast.Subscript):
            wrong = names(node.slice) and isinstance(node.value, ast.Name) and "CORRECT" in node.value.id.upper()
        else:
            wrong = False
        if wrong:
            lines.append(getattr(node, "lineno", 0))
    return lines


@pytest.mark.parametrize(
    "code",
    [
        "if found.way == 'rates': pass",
        "if 'rates' != opinion.method.name: pass",
        "by = way in ('sampled', 'even')",
        "match correction:\n    case 'rates': pass",
        "replace(question, correction='sampled')",
        "WORDS = {'rates': 'a', 'topics': 'b'}",
        "CORRECTIONS['rates'](case)",
    ],
)
def test_asking_for_a_name_is_seen(code: str) -> None:
    assert find_naming(code)


def test_nobody_asks_for_an_estimator_by_name() -> None:
    root = Path(kt.__file__).parent
    modules = [path for path in root.rglob("*.py") if root / "decisions" / "estimators" not in path.parents]
    assert len(modules) > 200
    found = {str(path.relative_to(root)): find_naming(path.read_text()) for path in modules}
    assert {name: lines for name, lines in found.items() if lines} == {}
