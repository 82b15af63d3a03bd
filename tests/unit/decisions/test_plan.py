"""Unit tests of `kt.plan`: which documents go to gold."""

import json
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import karatage as kt
from karatage.correction.sampled import learn_gains
from karatage.data.axes import Coded
from karatage.data.runs import Runs
from karatage.decisions.case import make_case
from karatage.decisions.estimators.drawn import DRAWN
from karatage.errors import DataError, InputFileError, OptionError, UnknownNameError
from tests.notes import gives, has_note, list_facts

PAIR = ("system-01", "system-02")


@pytest.fixture(scope="module")
def world():
    return kt.simulation.simulate_collection(systems=5, topics=16, depth=20, rng=3)


@pytest.fixture(scope="module")
def judgments(world):
    graded = world.judgments
    kept = graded.keep_rows(graded.judge == graded.judges.index("llm-small"))
    return replace(kept, judges=("llm-small",), judge=np.zeros(len(kept.grade), np.int32))


@pytest.fixture(scope="module")
def plan(world, judgments):
    def make(measure="DCG@10", *, runs=world.runs, **options):
        return kt.plan(runs, judgments, measure, **{"budget": 60, **options})

    return make


def rankings(runs):
    """The first ten documents of each (system, topic)."""
    return {
        (system, topic): runs.documents.gather(runs.listed[runs.bounds[t, s, 0] : runs.bounds[t, s, 1]][:10]).to_list()
        for s, system in enumerate(runs.systems)
        for t, topic in enumerate(runs.topics)
    }


def dcg_weights(runs):
    """What each (topic, document) counts for each system, written out."""
    weights = {}
    for (system, topic), documents in rankings(runs).items():
        for rank, document in enumerate(documents, start=1):
            weights.setdefault((topic, document), Counter())[system] = 1 / math.log2(rank + 1)
    return weights


def gaps(runs, a, b):
    found = {item: weight[a] - weight[b] for item, weight in dcg_weights(runs).items()}
    return {item: gap for item, gap in found.items() if gap != 0}


def items(table):
    return list(zip(table["topic"], table["document"], strict=True))


def judge(plan, gold, path, *, upto=math.inf):
    """Write a queue, fill in gold's grades, and read it back."""
    kt.write_queue(plan, path)
    known = gold.to_frame().select("topic", "document", true=pl.col("grade").cast(pl.String))
    queue = pl.read_csv(path, infer_schema=False).join(known, on=["topic", "document"], how="left")
    filled = pl.when(pl.col("batch").cast(pl.Int32) <= upto).then(pl.col("true")).otherwise(None)
    queue.with_columns(grade=filled).drop("true").write_csv(path)
    return kt.read_gold(path)


def test_items_are_drawn_by_how_differently_they_are_ranked(world, plan):
    found = plan(a=PAIR[0], b=PAIR[1])
    gap = gaps(world.runs, *PAIR)
    assert found.labels == 60
    assert found.frame_size == len(gap)
    assert len(set(items(found.items))) == 60
    floor = 0.1 * np.mean([abs(g) for g in gap.values()])
    size = {item: max(abs(g), floor) for item, g in gap.items()}
    expected = [60 * size[item] / sum(size.values()) for item in items(found.items)]  # KeyError: from outside
    np.testing.assert_allclose(found.items["pi"], expected, rtol=1e-12)


def test_a_leaderboard_goes_by_the_mean_square_over_pairs(world, plan):
    found = plan(budget=20)
    weights = dcg_weights(world.runs)
    names = world.runs.systems
    size = {
        item: math.sqrt(np.mean([(w[a] - w[b]) ** 2 for i, a in enumerate(names) for b in names[i + 1 :]]))
        for item, w in weights.items()
    }
    size = {item: s for item, s in size.items() if s > 1e-12}
    mean = np.mean(list(size.values()))
    lifted = {item: max(s, 0.1 * mean) for item, s in size.items()}
    assert found.frame_size == len(size)
    assert found.pairs == found.undecided == 10
    expected = [20 * lifted[item] / sum(lifted.values()) for item in items(found.items)]
    np.testing.assert_allclose(found.items["pi"], expected, rtol=1e-9)


def test_rows_come_by_batch_topic_and_document(plan):
    found = plan(budget=(30, 20))
    keys = list(zip(found.items["batch"], map(int, found.items["topic"]), found.items["document"], strict=True))
    assert keys == sorted(keys)
    assert Counter(found.items["batch"]) == {1: 30, 2: 20}
    assert len(set(items(found.items))) == 50
    assert found.batches["labels"].to_list() == [30, 20]


def test_said_is_shown_to_the_planner_only(plan, judgments):
    found = plan(a=PAIR[0], b=PAIR[1])
    said = {(t, d): g for _, t, d, g in judgments.to_frame().iter_rows()}
    assert found.to_frame()["said"].to_list() == [said[item] for item in items(found.items)]
    assert found.queue.columns == [
        "topic",
        "document",
        "grade",
        "pi",
        "batch",
        "batch_size",
        "measure",
        "frame",
        "seed",
    ]
    assert found.queue["grade"].null_count() == 60
    assert found.queue["measure"].unique().to_list() == ["DCG@10"]


def test_the_seed_draws(plan):
    drawn = [plan(kt.Question(measure="DCG@10", seed=seed)).items for seed in (1, 1, 2)]
    assert drawn[0].equals(drawn[1])
    assert not drawn[0].equals(drawn[2])
    assert plan(kt.Question(measure="DCG@10", seed=9)).queue["seed"].unique().to_list() == [9]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "csv.gz", "jsonl.zst"])
def test_queues_come_back_to_the_last_digit(plan, tmp_path, ending):
    found = plan(budget=(30, 20), a=PAIR[0], b=PAIR[1])
    path = tmp_path / f"queue.{ending}"
    kt.write_queue(found, path)
    with pytest.raises(InputFileError, match=r"queue\..*'grade'"):
        kt.read_gold(path)
    filled = found.queue.with_columns(grade=pl.lit(1, pl.Int8))
    kt.write_queue(_with_queue(found, filled), path.with_name(f"filled.{ending}"))
    gold = kt.read_gold(path.with_name(f"filled.{ending}"))
    back = gold.to_frame().with_columns(batch=gold.draw.batch).sort("topic", "document")
    sent = found.items.sort("topic", "document")
    assert back["pi"].to_list() == sent["pi"].to_list()
    assert back["batch"].to_list() == sent["batch"].to_list()
    assert (gold.draw.measure, gold.draw.frame) == ("DCG@10", found.frame)


def _with_queue(found, queue):
    class Filled:
        labels = found.labels

    Filled.queue = queue
    return Filled


def test_unknown_endings_are_refused(plan, tmp_path):
    with pytest.raises(OptionError, match=r"queue\.xlsx"):
        kt.write_queue(plan(), tmp_path / "queue.xlsx")


def test_a_budget_beyond_the_frame_is_a_census_and_then_exact(world, judgments, plan, tmp_path):
    found = plan(budget=10_000, a=PAIR[0], b=PAIR[1])
    assert found.census
    assert found.factor is None
    assert found.labels == found.frame_size == len(gaps(world.runs, *PAIR))
    assert (found.items["pi"] == 1).all()
    assert found.these.standard_error == found.these.half_width == 0
    assert gives(found.sentence, found.labels, 16)
    gold = judge(found, world.gold, tmp_path / "all.csv")
    answer = kt.compare(world.runs, judgments, gold, kt.Question(measure="DCG@10", claim="these"), a=PAIR[0], b=PAIR[1])
    grade = {(t, d): g for _, t, d, g in world.gold.to_frame().iter_rows()}
    truth = sum(gap * grade[item] for item, gap in gaps(world.runs, PAIR[1], PAIR[0]).items()) / 16
    assert answer.corrected.difference.exact
    assert answer.corrected.difference.value == pytest.approx(truth, abs=1e-12)


def test_the_forecast_without_gold_is_the_formula_for_judges_that_tell_nothing(world, judgments, plan):
    found = plan(a=PAIR[0], b=PAIR[1])
    gap = gaps(world.runs, *PAIR)
    said = {(t, d): g for _, t, d, g in judgments.to_frame().iter_rows()}
    residual = np.var([said[item] for item in gap])
    size = np.abs(list(gap.values()))
    pi = 60 * np.maximum(size, 0.1 * size.mean()) / np.maximum(size, 0.1 * size.mean()).sum()
    variance = residual * (size**2 * (1 - pi) / pi).sum() / 16**2
    assert found.these.standard_error == pytest.approx(math.sqrt(variance))
    even = len(size) / (1 + (size**2 * (1 - pi) / pi).sum() / (size**2).sum())
    assert found.even == pytest.approx(even)
    assert found.factor == pytest.approx(even / 60)
    assert found.factor > 1.1
    assert not found.informed
    assert has_note(found, "decisions.no-gold-yet")


def test_wider_confidence_is_wider(plan):
    narrow, wide = (plan(kt.Question(measure="DCG@10", confidence=c), a=PAIR[0], b=PAIR[1]) for c in (0.9, 0.99))
    assert wide.these.standard_error == narrow.these.standard_error
    assert wide.these.half_width > 1.4 * narrow.these.half_width
    assert wide.new.half_width > wide.these.half_width


def test_few_topics_say_nothing_of_new_ones(world, judgments):
    few = judgments.keep_topics(judgments.topics[:6])
    found = kt.plan(world.runs, few, "DCG@10", budget=30, a=PAIR[0], b=PAIR[1])
    assert found.new is None
    assert found.topics == 6


def test_judges_that_always_say_the_same_leave_the_range_of_gains(world, judgments):
    mute = replace(judgments, grade=np.zeros_like(judgments.grade))
    found = kt.plan(world.runs, mute, "DCG@10", budget=60, a=PAIR[0], b=PAIR[1])
    assert found.these.standard_error > 0


def test_identical_systems_need_no_gold(world, judgments, plan, tmp_path):
    runs = world.runs
    twin = replace(runs, systems=("one", "two"), bounds=np.ascontiguousarray(runs.bounds[:, [0, 0]]))
    found = plan(runs=twin)
    assert found.labels == found.pairs == 0
    assert gives(found.sentence, "one", "two", 10)
    with pytest.raises(DataError, match=r"queue\.csv"):
        kt.write_queue(found, tmp_path / "queue.csv")


def test_a_second_batch_is_drawn_from_the_rest_for_what_is_undecided(world, judgments, plan, tmp_path):
    first = plan(budget=(150, 80))
    gold = judge(first, world.gold, tmp_path / "first.csv", upto=1)
    assert len(gold.grade) == 150
    second = plan(kt.Question(measure="DCG@10", claim="these"), budget=40, judged=gold)
    assert second.earlier == 150
    assert second.frame == first.frame
    assert second.items["batch"].unique().to_list() == [2]
    assert not set(items(second.items)) & set(items(first.items.filter(batch=1)))
    assert second.informed
    assert 0 < second.undecided < second.pairs == 10
    assert gives(second.sentence, 40)
    assert has_note(second, "decisions.stop-at-budget")
    assert second.these.standard_error < first.these.standard_error


def test_chances_follow_the_undecided_pairs(world, judgments, plan, tmp_path):
    gold = judge(plan(budget=150), world.gold, tmp_path / "first.csv")
    second = plan(kt.Question(measure="DCG@10", claim="these"), budget=30, judged=gold)
    pairs = undecided_pairs(world.runs, judgments, gold)
    assert second.undecided == len(pairs)
    seen = {(t, d) for t, d in zip(gold.to_frame()["topic"], gold.to_frame()["document"], strict=True)}
    square = {
        item: np.mean([(w[a] - w[b]) ** 2 for a, b in pairs])
        for item, w in dcg_weights(world.runs).items()
        if len({w[s] for s in world.runs.systems}) > 1
    }
    size = {item: math.sqrt(s) for item, s in square.items()}
    floor = 0.1 * np.mean([s for s in size.values() if s > 0])
    left = {item: s or floor for item, s in size.items() if item not in seen}
    left = {item: max(s, 0.1 * np.mean(list(left.values()))) for item, s in left.items()}
    expected = [30 * left[item] / sum(left.values()) for item in items(second.items)]
    np.testing.assert_allclose(second.items["pi"], expected, rtol=1e-9)


def undecided_pairs(runs, judgments, gold):
    question = kt.Question(measure="DCG@10", claim="these")
    found = DRAWN.fit(make_case(runs, judgments, gold, question, systems=runs.systems, seed=0))
    names = runs.systems
    pairs = np.transpose(np.triu_indices(len(names), 1))
    claimed = multipletests(found.pairs.p_value[tuple(pairs.T)], 0.05, "holm")[0]  # as a leaderboard claims
    return [(names[a], names[b]) for a, b in pairs[~claimed]]


def test_all_decided_plans_nothing(world, judgments, plan, tmp_path):
    gold = judge(plan(budget=10_000), world.gold, tmp_path / "all.csv")
    found = plan(kt.Question(measure="DCG@10", claim="these"), budget=40, judged=gold)
    assert (found.labels, found.undecided) == (0, 0)
    assert gives(found.sentence, found.frame_size, 5)


def test_a_pair_told_apart_is_drawn_for_all_the_same(plan, world, judgments, tmp_path):
    scores = kt.score(world.runs, world.gold, "DCG@10").value[0].mean(axis=0)
    worst, best = (world.runs.systems[s] for s in (scores.argmin(), scores.argmax()))
    question = kt.Question(measure="DCG@10", claim="these")
    first = plan(question, budget=100, a=worst, b=best)
    gold = judge(first, world.gold, tmp_path / "pair.csv")
    assert kt.compare(world.runs, judgments, gold, question, a=worst, b=best).significant
    found = plan(question, budget=40, a=worst, b=best, judged=gold)
    assert found.labels == 40  # to stop at the first significant look would be to claim too often
    assert has_note(found, "decisions.stop-at-budget")


def test_too_little_gold_decides_nothing_yet(world, plan, tmp_path):
    gold = judge(plan(budget=5), world.gold, tmp_path / "few.csv")
    found = plan(budget=30, judged=gold)
    assert found.undecided == found.pairs
    assert not found.informed
    assert gives(list_facts(found)["decisions.decides-nothing"]["reason"], 5)
    assert has_note(plan(budget=5), "decisions.few-gold", labels=5)


def test_gold_of_another_plan_is_refused(world, plan, tmp_path):
    gold = judge(plan(), world.gold, tmp_path / "queue.csv")
    for options in ({"measure": "P@10"}, {"a": PAIR[0], "b": PAIR[1]}):
        with pytest.raises(DataError, match=rf"{gold.draw.frame}.* DCG@10\b.* {options.get('measure', 'DCG@10')}\b"):
            plan(judged=gold, **options)
    with pytest.raises(DataError, match=r"\bpi\b.*\bbatch\b.*\bframe\b"):
        plan(judged=world.gold)


def test_a_half_judged_batch_is_refused_by_line(world, plan, tmp_path):
    path = tmp_path / "queue.csv"
    judge(plan(budget=(30, 30)), world.gold, path)
    lines = path.read_text().splitlines()
    fields = lines[7].split(",")
    fields[2] = ""
    lines[7] = ",".join(fields)
    path.write_text("\n".join(lines))
    with pytest.raises(InputFileError, match=r"queue\.csv:8.*\b1\b.*\b30\b"):
        kt.read_gold(path)


def test_compare_refuses_a_queue_of_other_systems(world, judgments, plan, tmp_path):
    gold = judge(plan(a=PAIR[0], b=PAIR[1]), world.gold, tmp_path / "queue.csv")
    answer = kt.compare(world.runs, judgments, gold, "DCG@10", a="system-01", b="system-03")
    assert answer.corrected is None
    assert gives(answer.refusal, "queue", gold.draw.frame, "DCG@10", "--a")


@pytest.mark.parametrize(
    ("measure", "options", "error", "message"),
    [
        (
            "RR",
            {},
            DataError,
            r"gains.*\b40\b",
        ),
        (kt.Question(measure="P@5", approach="uniform"), {}, OptionError, "uniform"),
        ("P@5", {"budget": 0}, OptionError, r"budget.*\b0\b"),
        ("P@5", {"budget": (5, 0)}, OptionError, r"\b1\b.*batch"),
        ("P@5", {"a": "system-01", "b": "system-01"}, OptionError, "'system-01'"),
        ("P@5", {"a": "system-01", "b": "system-1"}, UnknownNameError, "'system-01'"),
    ],
)
def test_what_cannot_be_planned_is_refused(plan, measure, options, error, message):
    with pytest.raises(error, match=message):
        plan(measure, **options)


def test_one_system_is_no_comparison(world, plan):
    with pytest.raises(DataError, match="'system-01'"):
        plan(runs=world.runs.only(["system-01"]))


def test_systems_without_a_common_topic_are_refused(judgments):
    rows = [("a", "101", "doc-000-001"), ("b", "102", "doc-001-001")]
    system, topic, document = (Coded.of(list(column)) for column in zip(*rows, strict=True))
    runs = Runs.build(system=system, topic=topic, document=document, score=np.ones(2))
    with pytest.raises(DataError, match="different"):
        kt.plan(runs, judgments, "P@5", budget=5)


def test_documents_that_nobody_judged_can_be_drawn(world, judgments):
    kept = np.arange(len(judgments.grade)) % 3 > 0
    found = kt.plan(world.runs, judgments.keep_rows(kept), "DCG@10", budget=10_000, a=PAIR[0], b=PAIR[1])
    assert found.frame_size == len(gaps(world.runs, *PAIR))
    assert 0 < found.items["said"].null_count() < found.labels


def test_results_for_machines_and_notebooks(plan):
    found = plan(budget=(20, 10), a=PAIR[0], b=PAIR[1])
    told = json.loads(found.to_json())
    assert (told["labels"], told["pairs"], told["systems"]) == (30, 1, list(PAIR))
    assert told["items"][0]["pi"] == found.items["pi"][0]
    assert told["these"]["half_width"] == found.these.half_width
    assert gives(found._repr_html_(), 30, "documents")
    assert repr(found).startswith("GoldPlan(")


def test_a_second_batch_that_takes_the_rest_is_a_census(world, judgments, plan, tmp_path):
    first = plan(budget=60, a=PAIR[0], b=PAIR[1])
    gold = judge(first, world.gold, tmp_path / "first.csv")
    rest = plan(budget=10_000, a=PAIR[0], b=PAIR[1], judged=gold)
    assert rest.labels == first.frame_size - 60
    assert rest.census
    assert rest.factor is None
    assert rest.these.standard_error == 0


def test_the_forecast_with_gold_adds_what_it_knows_already(world, judgments, plan, tmp_path):
    """Precisions add: of the gold so far, and of a draw from the rest whose residuals are like those seen."""
    first = plan(budget=90, a=PAIR[0], b=PAIR[1])
    gold = judge(first, world.gold, tmp_path / "first.csv")
    case = make_case(world.runs, judgments, gold, kt.Question(measure="DCG@10"), systems=PAIR, seed=0)
    inverse = 1 / case.drawn.pi
    learned = learn_gains(case.said.astype(np.int64), case.topic, case.drawn)[case.drawn.item]
    residual = (inverse * (case.drawn.gain - learned) ** 2).sum() / inverse.sum()
    known = float(DRAWN.fit(case).gold_variance[0, 1])
    assert known < float(DRAWN.fit(case).pairs.variance[0, 1])
    second = plan(budget=(20, 10), a=PAIR[0], b=PAIR[1], judged=gold)

    seen = set(items(first.items))
    left = {item: abs(gap) for item, gap in gaps(world.runs, *PAIR).items() if item not in seen}
    gap = np.array(list(left.values()))
    pi = 30 * np.maximum(gap, 0.1 * gap.mean()) / np.maximum(gap, 0.1 * gap.mean()).sum()
    assert second.even == pytest.approx(len(gap) / (1 + (gap**2 * (1 - pi) / pi).sum() / (gap**2).sum()))
    precision = 1 / known
    for batch, count in ((2, 20), (3, 10)):
        gap = np.array(list(left.values()))
        size = np.maximum(gap, 0.1 * gap.mean())
        pi = count * size / size.sum()
        assert pi.max() < 1
        precision += 1 / (residual * (gap**2 * (1 - pi) / pi).sum() / 16**2)
        for item in items(second.items.filter(batch=batch)):
            del left[item]
    assert second.these.standard_error == pytest.approx(precision**-0.5)
    chance = int((first.items["pi"] < 1).sum()) + 30
    assert chance < 120
    assert second.these.half_width == pytest.approx(stats.t.ppf(0.975, chance - 1) * second.these.standard_error)


def test_what_is_known_for_sure_is_decided_even_if_topics_leave_doubt(world, plan, tmp_path):
    gold = judge(plan(budget=10_000), world.gold, tmp_path / "all.csv")
    found = plan(budget=40, judged=gold)
    assert (found.labels, found.undecided) == (0, 0)


def test_the_same_documents_for_another_measure_are_another_plan(world, plan, tmp_path):
    gold = judge(plan("P@10", budget=40), world.gold, tmp_path / "first.csv")
    assert plan("P@10", budget=40, judged=gold).earlier == 40
    with pytest.raises(DataError, match="P@10"):
        plan("P(rel=2)@10", budget=40, judged=gold)


def test_drawing_evenly_is_from_what_tells_undecided_pairs(world, judgments, plan, tmp_path):
    gold = judge(plan(budget=220), world.gold, tmp_path / "first.csv")
    second = plan(kt.Question(measure="DCG@10", claim="these"), budget=30, judged=gold)
    pairs = undecided_pairs(world.runs, judgments, gold)
    seen = set(zip(gold.to_frame()["topic"], gold.to_frame()["document"], strict=True))
    weights = {item: w for item, w in dcg_weights(world.runs).items() if item not in seen}
    tells = [item for item, w in weights.items() if any(w[a] != w[b] for a, b in pairs)]
    others = [item for item, w in weights.items() if item not in tells and len({w[s] for s in world.runs.systems}) > 1]
    assert others
    every = [np.mean([(w[a] - w[b]) ** 2 for a, b in pairs]) ** 0.5 for w in dcg_weights(world.runs).values()]
    gap = np.array([np.mean([(weights[item][a] - weights[item][b]) ** 2 for a, b in pairs]) ** 0.5 for item in tells])
    size = np.r_[gap, np.full(len(others), 0.1 * np.mean([s for s in every if s > 0]))]
    size = np.maximum(size, 0.1 * size.mean())
    pi = (30 * size / size.sum())[: len(gap)]
    assert pi.max() < 1
    assert second.even == pytest.approx(len(gap) / (1 + (gap**2 * (1 - pi) / pi).sum() / (gap**2).sum()))


def test_budgets_are_whole_numbers_of_any_kind(plan):
    assert plan(budget=np.int64(30)).labels == 30
    assert plan(budget=(np.int32(20), 10)).labels == 30
    for budget in (30.0, (10.5,), "30"):
        with pytest.raises(OptionError, match=r"budget.*\b1\b"):
            plan(budget=budget)
