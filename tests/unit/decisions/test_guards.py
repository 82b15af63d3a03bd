"""What no answer may rest on: each guard through what users call, and silent where nothing is wrong."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.correction.sampled import Reach
from karatage.data.comparison import Opinion
from karatage.data.estimate import Method
from karatage.decisions import correct as guards
from karatage.decisions.case import make_case
from karatage.decisions.correct import GuardError
from karatage.decisions.estimators import rates
from karatage.decisions.estimators.contract import Fitted, Levels, SystemPairs
from karatage.decisions.estimators.drawn import Even
from karatage.simulation.collection import simulate_story
from tests.notes import gives, has_note, list_facts

PAIR = ("old", "newer")


@cache
def world() -> kt.simulation.World:
    return simulate_story(rng=1)


@cache
def queue(measure: str = "P@10", budget: int = 120, pair: tuple[str, str] | None = PAIR) -> pl.DataFrame:
    """What `plan` draws, graded."""
    return grade(
        kt.plan(world().runs, world().judgments, measure, budget=budget, **dict(zip("ab", pair or (), strict=False)))
    )


def grade(plan: kt.GoldPlan) -> pl.DataFrame:
    truth = world().gold.to_frame().drop("judge")
    drawn = plan.items.select("topic", "document", "pi", "batch").join(truth, on=["topic", "document"], how="left")
    return drawn.with_columns(pl.col("grade").fill_null(0), measure=pl.lit(plan.measure), frame=pl.lit(plan.frame))


def plain(size: int = 400, seed: int = 0) -> pl.DataFrame:
    """An even sample of what was judged."""
    truth = world().gold.to_frame().drop("judge")
    truth = truth.join(world().judgments.to_frame(), on=["topic", "document"], how="semi", maintain_order="left")
    return truth[np.sort(np.random.default_rng(seed).choice(len(truth), size, replace=False))]


def compare(gold: pl.DataFrame, question: str | kt.Question = "P@10", judgments: kt.Judgments | None = None):
    return kt.compare(world().runs, judgments or world().judgments, kt.read_gold(gold), question, a=PAIR[0], b=PAIR[1])


def rank(gold: pl.DataFrame, question: str | kt.Question = "P@10", judgments: kt.Judgments | None = None):
    return kt.compare_all(world().runs, judgments or world().judgments, kt.read_gold(gold), question)


def judged_as(gold: pl.DataFrame, judge: str = "ann") -> kt.Judgments:
    """The judges, and one who says of gold's items what gold says."""
    said = world().judgments.to_frame()
    copied = gold.select("topic", "document", "grade").with_columns(judge=pl.lit(judge))
    return kt.read_judgments(pl.concat([said, copied.select(said.columns).cast(said.schema)]))


def turn(gold: pl.DataFrame) -> pl.DataFrame:
    return gold.with_columns(grade=world().gold.top_grade - pl.col("grade"))


def look(found: kt.Comparison | kt.Board) -> None:
    """Nothing is claimed and no number stands for an answer."""
    assert found.corrected is None
    assert not found.significant
    assert found.refusal


@pytest.mark.parametrize("measure", ["P@10", "DCG@10", "RBP(p=0.8)"])
@pytest.mark.parametrize("times", [1 / 13, 1 / 3, 1 / 1.5, 1.5, 3])
def test_chances_that_do_not_add_up_are_refused(measure: str, times: float) -> None:
    found = compare(queue(measure).with_columns((pl.col("pi") * times).clip(0, 1)), measure)
    look(found)
    assert found.p_value is None
    assert gives(found.refusal, "pi", "small" if times < 1 else "large")


def test_the_refusal_says_the_numbers() -> None:
    gold = queue()
    found = compare(gold.with_columns(pl.col("pi") / 13))
    frame = kt.plan(world().runs, world().judgments, "P@10", budget=120, a=PAIR[0], b=PAIR[1]).frame_size
    raised = 13 * (1 / gold["pi"]).sum()
    assert gives(found.refusal, "1/pi", len(gold), f"{raised:,.0f}", frame, "karatage plan")


def test_chances_of_one_and_queues_graded_in_part_are_refused() -> None:
    for gold in (queue().with_columns(pi=pl.lit(1.0)), queue()[:80]):
        found = compare(gold)
        look(found)
        assert gives(found.refusal, "whole", "pi")


def test_relevant_documents_alone_are_no_sample() -> None:
    """One chance for all, as a plain queue for P@10 has: a few rows may be missing, not all that are not relevant."""
    gold = queue().drop("frame", "measure", "batch")
    assert compare(gold[:-3]).refusal is None
    look(compare(gold.filter(pl.col("grade") > 0)))
    own = plain(300).with_columns(pi=pl.lit(300 / len(world().judgments.item_topic)))
    assert compare(own).refusal is None  # drawn by somebody else, from more than what matters here


@pytest.mark.parametrize("measure", ["DCG@10", "nDCG@10"])
def test_rows_that_did_not_come_back_are_missed(measure: str) -> None:
    """Also where the file has lost what says how long the queue was: else positives alone would be an answer."""
    gold = queue(measure).drop("frame", "measure", "batch")
    assert compare(gold, measure).refusal is None
    found = compare(gold[:-3], measure)
    look(found)
    assert gives(found.refusal, 120, 117)
    rounded = gold[:-3].with_columns(pl.col("pi").round(2))
    assert compare(rounded, measure).refusal is None  # who rounds may have drawn otherwise; a few rows do little harm


def test_chances_of_another_queue_are_refused() -> None:
    pi = queue(budget=360)["pi"].head(120)
    look(compare(queue().with_columns(pi=pi)))


def test_a_board_and_its_second_batch_are_looked_at_too() -> None:
    first = queue(budget=60, pair=None)
    more = kt.plan(world().runs, world().judgments, "P@10", budget=60, judged=kt.read_gold(first))
    both = pl.concat([first, grade(more)])
    assert rank(both).refusal is None
    off = both.with_columns(pi=pl.when(pl.col("batch") == 2).then(pl.col("pi") / 5).otherwise("pi"))
    found = rank(off)
    look(found)
    assert gives(found.refusal, "pi of batch 2")


@pytest.mark.parametrize(
    ("share", "odds", "refused"),
    [
        ([0.5], [1990.0], False),
        ([0.5], [2010.0], True),
        ([1.5], [2010.0], True),
        ([0.5, 1.0], [2010.0, 1.0], False),
        ([1.0, 1.5], [1.0, 4010.0], True),
        ([0.95, 1.09], [1e9, 1e9], False),
    ],
)
def test_one_in_a_thousand_draws_with_right_chances_is_refused(
    monkeypatch: pytest.MonkeyPatch, share: list[float], odds: list[float], refused: bool
) -> None:
    """Chances too large or too small, in any batch; and never where they are off by little."""
    monkeypatch.setattr(guards, "find_reach", lambda *_, **__: Reach(np.array(share), np.log(odds)))
    monkeypatch.setattr(guards, "count_planned", lambda *_: None)
    monkeypatch.setattr(guards, "weigh_count", lambda *_: 0.0)
    gold = queue().with_columns(batch=pl.int_range(pl.len()) % len(share) + 1)
    question = kt.Question(measure="P@10")
    case = make_case(world().runs, world().judgments, kt.read_gold(gold), question, systems=PAIR, seed=0)
    with pytest.raises(guards.GuardError) if refused else nullcontext():
        guards.require_chances(case)


def test_wrong_chances_do_not_stop_an_answer_that_does_not_use_them() -> None:
    """Error rates weigh gold by 1/pi, of which a common factor is lost; only the second opinion goes."""
    right, wrong = (
        compare(gold, kt.Question(measure="P@10", correction="rates"))
        for gold in (queue(), queue().with_columns(pl.col("pi") / 13))
    )
    assert right.corrected is not None
    assert wrong.corrected is not None
    assert wrong.corrected.difference.value == pytest.approx(right.corrected.difference.value)
    assert wrong.corrected.difference.standard_error == pytest.approx(right.corrected.difference.standard_error)
    assert [opinion.way for opinion in right.others] == ["sampled"]
    assert wrong.others == ()
    assert gives(list_facts(wrong)["decisions.no-second"]["reason"], "pi", 120)


def test_without_the_guard_the_range_of_the_measure_still_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chances 13 times too small once gave a difference of more than 1 in P@10, and a claim."""
    nothing = Reach(np.ones(1), np.zeros(1))
    monkeypatch.setattr(guards, "find_reach", lambda *_, **__: nothing)
    for found in (
        compare(queue(budget=40).with_columns(pl.col("pi") / 40)),
        rank(queue(pair=None).with_columns(pl.col("pi") / 60)),
    ):
        look(found)
        assert gives(found.refusal, "P@10", "pi")


@pytest.mark.parametrize(
    ("measure", "top"),
    [
        ("P@10", 1.0),
        ("nDCG@10", 1.0),
        ("AP", 1.0),
        ("RR", 1.0),
        ("RBP(p=0.8)", 1.0),
        ("DCG@2", 3 * (1 + 1 / np.log2(3))),
    ],
)
def test_what_a_measure_cannot_be_is_not_an_answer(measure: str, top: float) -> None:
    gold = kt.read_gold(plain())
    case = make_case(world().runs, world().judgments, gold, kt.Question(measure=measure), systems=PAIR, seed=0)
    assert case.top_grade == 3

    def answer(low: float, high: float, error: float = 0.5) -> Fitted:
        value, spread = np.array([low, high]), np.full((2, 2), error**2)
        pairs = SystemPairs(value=value - value[:, None], variance=spread, degrees=spread * np.inf)
        return Fitted(
            method=Method(name="made up", label="made up"),
            pairs=pairs,
            levels=Levels(value=value, variance=np.full(2, error**2), degrees=np.full(2, 39.0)),
            gold_variance=spread,
            gold_items=9,
        )

    assert guards.require_possible(case, answer(0.0, top)).shown.all()
    near = guards.require_possible(case, answer(0.5, top + 0.1))
    assert near.estimate(0, 0.95) is not None
    assert near.estimate(1, 0.95) is None
    assert has_note(near, "decisions.impossible-scores", systems=("newer",))
    with pytest.raises(guards.GuardError):
        guards.require_possible(case, answer(-0.05, top))
    with pytest.raises(guards.GuardError, match="score"):
        guards.require_possible(case, answer(0.5, top + 0.0366, error=0.01))
    edge = guards.require_possible(case, answer(0.5, top + 0.0346, error=0.01))  # of two systems, one in a thousand
    assert edge.shown.tolist() == [True, False]


def test_a_few_differences_of_a_board_may_be_impossible_by_chance() -> None:
    """One of 105 corrected differences slightly above the range is no reason to refuse all of them."""
    case = make_case(world().runs, world().judgments, kt.read_gold(plain()), kt.Question(), systems=PAIR, seed=0)

    def answer(most: float, error: float = 0.2) -> Fitted:
        score = np.r_[0.0, np.full(13, 0.5), most]
        spread = np.full((15, 15), error**2)
        pairs = SystemPairs(value=score - score[:, None], variance=spread, degrees=spread * np.inf)
        return Fitted(
            method=Method(name="made up", label="made up"), pairs=pairs, levels=None, gold_variance=spread, gold_items=9
        )

    near = guards.require_possible(case, answer(1.05))
    assert has_note(near, "decisions.impossible-pairs", pairs=1)
    assert np.argwhere(np.isinf(near.pairs.variance)).tolist() == [[0, 14], [14, 0]]
    assert (near.pairs.value[0, 14], near.pairs.value[14, 0]) == (1.0, -1.0)
    for wrong in (answer(1.3), answer(1.05, error=0.01)):
        with pytest.raises(guards.GuardError):
            guards.require_possible(case, wrong)
    many = answer(1.05)
    score = np.r_[np.zeros(3), np.full(10, 0.5), np.full(2, 1.05)]
    with pytest.raises(guards.GuardError):
        guards.require_possible(case, replace(many, pairs=replace(many.pairs, value=score - score[:, None])))


def read_back(found: kt.Comparison | kt.Board, home: Path) -> str:
    (home / "result.json").write_text(found.to_json())
    return kt.read_result(home / "result.json").result.to_json()


def test_a_score_that_cannot_be_is_not_shown_and_the_difference_stands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    original = Even.fit

    def lift(self, case):
        found = original(self, case)
        value = found.levels.value + 1.0 - found.levels.value.min() - 0.1
        return replace(found, levels=replace(found.levels, value=value))

    monkeypatch.setattr(Even, "fit", lift)
    plainly = compare(plain())
    assert plainly.corrected is not None
    assert plainly.corrected.b is None
    assert plainly.corrected.a is not None
    assert has_note(plainly, "decisions.impossible-scores", systems=("newer",))
    assert read_back(plainly, tmp_path) == plainly.to_json()
    board = rank(plain())
    assert board.systems[0] == "newer"
    assert board.corrected is not None
    assert np.isnan(board.corrected.value[0])
    assert board.corrected.rank.tolist() == [1, 2, 3]
    assert np.isfinite(board.corrected_pairs.value).all()
    assert read_back(board, tmp_path) == board.to_json()
    for found in (plainly, board):
        assert "newer" in found._repr_html_()


def test_intervals_are_cut_where_the_measure_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Even.fit

    def blur(self, case):
        found = original(self, case)
        pairs, levels = (replace(part, variance=part.variance + 9.0) for part in (found.pairs, found.levels))
        return replace(found, pairs=pairs, levels=levels)

    monkeypatch.setattr(Even, "fit", blur)
    found, board = compare(plain()).corrected, rank(plain())
    assert found is not None
    assert (found.difference.low, found.difference.high) == (-1, 1)
    assert found.a is not None
    assert (found.a.low, found.a.high) == (0, 1)
    assert board.corrected is not None
    assert board.corrected_pairs is not None
    assert (board.corrected.low.tolist(), board.corrected.high.tolist()) == ([0] * 3, [1] * 3)
    assert (board.corrected_pairs.low.tolist(), board.corrected_pairs.high.tolist()) == ([-1] * 3, [1] * 3)


def test_without_scores_the_differences_stand_and_order_the_systems(tmp_path: Path) -> None:
    pair, board = compare(queue()), rank(queue(pair=None))
    assert pair.corrected is not None
    assert board.corrected is not None
    assert (pair.corrected.a, pair.corrected.b) == (None, None)
    assert np.isnan(board.corrected.value).all()
    assert (board.corrected_pairs.value >= 0).all()
    for found in (pair, board):
        assert has_note(found, "decisions.scores-unknown")
        assert read_back(found, tmp_path) == found.to_json()
        assert "newer" in found._repr_html_()


def test_second_opinions_that_cannot_be_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    beyond = kt.stats.Estimate.of(1.2, 0.01)
    monkeypatch.setattr(
        rates, "bootstrap_rates", lambda *_: Opinion(method=rates.BOOTSTRAP, a=None, b=None, difference=beyond)
    )
    found = compare(plain(600), kt.Question(measure="P@10", resamples=100, correction="rates"))
    assert found.corrected is not None
    assert "bootstrap" not in [opinion.way for opinion in found.others]
    assert has_note(found, "decisions.impossible", top=1, opinions="bootstrap (+1.200)")


def test_figures_show_no_second_opinion_that_cannot_be() -> None:
    """One system is put at the bound, which draws of the bootstrap leave: their median is 1.05."""
    rates = kt.RateCounts(6000, 10_000, 6000, 10_000)
    found = kt.compare_figures(kt.Figures(4000, 0.39, 0.1), kt.Figures(4000, 0.6, 0.1), rates)
    assert found.corrected is not None
    assert 0.9 < found.corrected.difference.value <= 1
    assert "bootstrap" not in [opinion.way for opinion in found.others]
    assert "bootstrap" in list_facts(found)["decisions.impossible"]["opinions"]


@pytest.mark.parametrize("gold", ["plain", "drawn", "topics"])
def test_inverted_gold_is_refused(gold: str) -> None:
    frames = {"plain": plain(), "drawn": queue(pair=None), "topics": world().gold.to_frame().drop("judge")}
    frame = turn(frames[gold])
    for found in (compare(frame), rank(frame)):
        look(found)
        assert gives(found.refusal, "--gold-grades 0=3,1=2,2=1,3=0")
    assert compare(turn(frame)).refusal is None


def test_a_little_or_careless_gold_is_not_called_inverted() -> None:
    rng = np.random.default_rng(0)
    for seed in range(20):
        few = plain(24, seed)
        careless = few.with_columns(grade=pl.Series(rng.permutation(few["grade"].to_numpy())))
        for frame in (few, careless):
            assert not gives(compare(frame).refusal, "--gold-grades")


@pytest.mark.parametrize("gold", ["plain", "drawn", "topics"])
def test_nothing_is_claimed_with_a_copy(gold: str) -> None:
    frame = {"plain": plain(), "drawn": queue(pair=None), "topics": world().gold.to_frame().drop("judge")}[gold]
    fair = compare(frame)
    assert fair.alarm is None or "copy" not in fair.alarm
    judgments = judged_as(frame)
    for found in (compare(frame, judgments=judgments), rank(frame, judgments=judgments)):
        assert found.corrected is not None
        assert not found.significant
        assert gives(found.alarm, "copy", "'ann'")
        assert str(found.alarm) in found.sentence


def test_a_copy_that_the_answer_does_not_use_is_a_note() -> None:
    frame = queue()
    judgments, asked = judged_as(frame), kt.Question(measure="P@10", approach="judge:llm-a")
    found = compare(frame, asked, judgments)
    assert found.alarm is None
    assert gives(list_facts(found)["decisions.copy-unused"]["finding"], "'ann'")


def test_an_excellent_judge_is_no_copy() -> None:
    """99 % right: with 600 gold items it is all but sure to have erred on one."""
    truth = world().gold.to_frame().drop("judge")
    for seed in range(5):
        rng = np.random.default_rng(seed)
        slip = pl.Series(rng.random(len(truth)) < 0.01)
        said = truth.with_columns(
            judge=pl.lit("ann"), grade=pl.when(slip).then((pl.col("grade") + 1) % 4).otherwise("grade")
        )
        found = compare(plain(600, seed), judgments=kt.read_judgments(said))
        assert "copy" not in f"{found.alarm} {found.refusal}"


def same_everywhere() -> tuple[kt.Runs, kt.Judgments, kt.Judgments]:
    """Gold on all: `new` is right and `old` wrong in each of 12 topics, `odd` in every other one."""
    topics = [f"t{n}" for n in range(12)]
    lists = {name: {t: {d: 1.0} for t in topics} for name, d in (("old", "a"), ("new", "c"), ("odd", "b"))}
    grades = {t: {"a": 0, "b": n % 2, "c": 1} for n, t in enumerate(topics)}
    said = {t: row | {"a": int(t == "t3")} for t, row in grades.items()}
    return kt.read_runs(lists), kt.read_judgments({"ann": said}), kt.read_gold(grades)


def test_what_is_the_same_in_every_topic_says_nothing_of_new_ones() -> None:
    runs, judgments, gold = same_everywhere()
    found = kt.compare(runs, judgments, gold, "P@1", a="old", b="new")
    look(found)
    assert found.refusal is not None
    assert "+1.000" in found.refusal
    assert gives(found.refusal, 12)
    these = kt.compare(runs, judgments, gold, kt.Question(measure="P@1", claim="these"), a="old", b="new")
    assert these.corrected is not None
    assert these.corrected.difference.exact
    assert these.significant


def test_a_board_claims_nothing_of_such_a_pair() -> None:
    board = kt.compare_all(*same_everywhere(), "P@1")
    assert board.corrected_pairs is not None
    pairs = [{board.systems[a], board.systems[b]} for a, b in zip(board.a, board.b, strict=True)]
    same = pairs.index({"old", "new"})
    assert np.isinf(board.corrected_pairs.standard_error).nonzero()[0].tolist() == [same]
    assert not board.corrected_pairs.claimed[same]
    assert has_note(board, "decisions.errors-unknown", pairs=1)


def test_plans_do_not_go_on_from_gold_that_no_answer_rests_on() -> None:
    first, terms = queue(pair=None), {"budget": 40}
    for gold, why in ((turn(first), "judge"), (first.with_columns(pl.col("pi") / 13), "1/pi")):
        with pytest.raises(GuardError, match=why):
            kt.plan(world().runs, world().judgments, "P@10", judged=kt.read_gold(gold), **terms)


def test_plans_go_on_from_a_copy_and_say_so() -> None:
    first, terms = queue(pair=None), {"budget": 40}
    plan = kt.plan(world().runs, judged_as(first), "P@10", judged=kt.read_gold(first), **terms)
    assert plan.undecided == plan.pairs
    assert gives(list_facts(plan)["decisions.decides-nothing"]["reason"], "copy", "'ann'")


def test_diagnosis_audit_and_survey_tell() -> None:
    gold = plain()
    copied, inverted = judged_as(gold), kt.read_gold(turn(gold))
    trusted = kt.read_gold(gold)
    doctor = kt.doctor(world().runs, copied, trusted, "P@10", a=PAIR[0], b=PAIR[1])
    (copy,) = (check for check in doctor.checks if check.kind == "gold.copy")
    assert copy.state == "warning"
    assert gives(copy.finding, "'ann'")
    assert gives(doctor.verdict, "P@10", copy.finding)
    turned = kt.doctor(world().runs, world().judgments, inverted, "P@10")
    assert [check.state for check in turned.checks if check.kind == "gold.inverted"] == ["wrong"]
    assert gives(list_facts(kt.audit(copied, gold=trusted))["decisions.copy"]["finding"], "'ann'")
    assert has_note(kt.audit(world().judgments, gold=inverted), "decisions.inverted")
    survey = kt.report(world().runs, copied, trusted, "P@10", a=PAIR[0], b=PAIR[1])
    assert survey.comparison is not None
    assert survey.board is not None
    assert not survey.comparison.significant
    assert not survey.board.significant


def test_error_rates_raise_no_alarm_where_they_are_not_used() -> None:
    """`new` finds more of what the judges overrate: error rates mislead, and drawn gold does not need them."""
    alarms = []
    for seed in (1, 2, 3):
        story = simulate_story(rng=seed)
        plan = kt.plan(story.runs, story.judgments, "P@10", budget=300, a="old", b="new")
        truth = story.gold.to_frame().drop("judge")
        gold = kt.read_gold(
            plan.items.select("topic", "document", "pi", "batch")
            .join(truth, on=["topic", "document"], how="left")
            .with_columns(pl.col("grade").fill_null(0), measure=pl.lit("P@10"), frame=pl.lit(plan.frame))
        )
        found = kt.compare(story.runs, story.judgments, gold, "P@10", a="old", b="new")
        board = kt.compare_all(
            story.runs, story.judgments, gold, "P@10", systems=("old", "new")
        )  # as many pairs as the queue was drawn for
        assert found.corrected is not None
        assert found.corrected.way == board.corrected.way == "sampled"
        assert [other.way for other in found.others] == ["guess-usual"]
        for result in (found, board):
            assert result.alarm is None
            assert not result.doubted
            assert not has_note(result, "decisions.rates-assumed")
            assert result.accuracy is not None  # how judges err is still told
        asked = kt.Question(measure="P@10", correction="rates")
        by_rates = kt.compare(story.runs, story.judgments, gold, asked, a="old", b="new")
        assert [opinion.way for opinion in by_rates.others] == ["sampled"]
        alarms.append(by_rates.alarm is not None)
    assert any(alarms)


@pytest.mark.parametrize("judge", ["gpt-4o_umbrela", "gpt-4_umbrela.M", "gpt-4o_exam-binary"])
def test_guards_are_silent_on_real_judges(shared_data: Path, judge: str) -> None:
    home = shared_data / "trec-dl-2021-passage"
    runs, gold = kt.read_runs(home / "runs"), kt.read_gold(home / "gold.qrels")
    judgments = kt.read_judgments(home / "llm_labels.tsv.gz")
    truth, rng = gold.to_frame().drop("judge"), np.random.default_rng(3)
    for measure in ("P(rel=2)@10", "DCG@10"):
        question = kt.Question(measure=measure, approach=f"judge:{judge}")
        a, b = rng.choice(runs.systems, 2, replace=False)
        plan = kt.plan(runs, judgments, question, budget=150, a=a, b=b)
        drawn = plan.items.select("topic", "document", "pi", "batch").join(truth, on=["topic", "document"], how="left")
        drawn = drawn.with_columns(pl.col("grade").fill_null(0), measure=pl.lit(measure), frame=pl.lit(plan.frame))
        whole = truth.filter(pl.col("topic").is_in(list(gold.topics[:12])))
        for frame in (drawn, whole):
            found = kt.compare(runs, judgments, kt.read_gold(frame), question, a=a, b=b)
            assert found.refusal is None
            assert found.alarm is None
