"""The next batch: who gets what, at what cost, and when it ends."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.errors import DataError, OptionError, UnknownNameError
from tests.notes import has_note

WORLD = kt.simulation.simulate_collection(systems=6, topics=12, depth=30, rng=5)
PRICES = kt.parse_prices("A")
RULES = kt.QueueRules(prices=PRICES)
CROWD = WORLD.judgments.keep_rows((WORLD.judgments.judge >= 3) & (WORLD.judgments.item % 3 == 0))
EXPERTS = WORLD.gold.keep_rows(np.arange(len(WORLD.gold.grade)) % 9 == 0)
PAIR = kt.read_runs({name: {"1": {f"{name}{r}": 9 - r for r in range(1, 9)}} for name in "ab"})
ORDERS = ["average-rank", "depth", "effect", "meta-ap", "move-to-front", "thompson"]


def items(frame: pl.DataFrame) -> set[tuple[str, str]]:
    return set(frame.select("topic", "document").iter_rows())


@pytest.mark.parametrize("order", ORDERS)
def test_a_batch_honours_the_budget_and_repeats_nothing(order: str) -> None:
    rules = replace(RULES, order=order, expert_share=0.37, seed=3)
    found = kt.queue(WORLD.runs, CROWD, EXPERTS, rules, budget="123.45")
    assert len(items(found.items)) == len(found.items)
    assert found.cost == found.items["cost"].sum() <= Decimal("123.45")
    assert Decimal("123.45") - found.cost < PRICES.label
    judged_by_experts = items(EXPERTS.to_frame())
    judged = judged_by_experts | items(CROWD.to_frame())
    assert not items(found.items.filter(to="expert")) & judged_by_experts
    assert not items(found.items.filter(to="crowd")) & judged
    assert found.items["priority"].to_list() == list(range(1, len(found.items) + 1))
    assert found.items.filter(to="crowd")["judgments"].unique().to_list() == [5]
    again = kt.queue(WORLD.runs, CROWD, EXPERTS, rules, budget="123.45")
    assert again.to_json() == found.to_json()


def test_the_order_follows_the_measure_where_none_is_asked_for() -> None:
    assert kt.queue(WORLD.runs, None, None, RULES, budget=50).order == "effect"
    assert kt.queue(WORLD.runs, None, None, replace(RULES, measure="AP"), budget=50).order == "thompson"


def test_shares_and_prices_decide_who_gets_how_much() -> None:
    def count(**options: object) -> dict[str, int]:
        found = kt.queue(WORLD.runs, None, None, replace(RULES, order="depth", **options), budget=100)
        return dict(found.items.group_by("to").len().iter_rows())

    assert count() == {"expert": 5, "crowd": 50}
    assert count(expert_share=1.0) == {"expert": 10}
    assert count(expert_share=1.0, prices=kt.parse_prices("9:1")) == {"expert": 11}  # the rest is not the crowd's
    assert count(expert_share=0.0) == {"crowd": 100}
    assert count(prices=kt.parse_prices("B")) == {"expert": 10, "crowd": 25}
    assert count(prices=kt.parse_prices("expert=4,crowd=0.05", 3)) == {"expert": 12, "crowd": 346}


@pytest.mark.parametrize("measure", ["P@10", "DCG@10", "nDCG@10"])
def test_drawn_documents_tell_their_chances_and_serve_compare_as_gold(measure: str) -> None:
    rules = replace(RULES, expert_share=1.0, measure=measure)
    found = kt.queue(WORLD.runs, WORLD.judgments, None, rules, budget=1200)
    expert = found.queue.filter(to="expert")
    assert found.frame is not None
    assert expert["pi"].is_between(0, 1, closed="right").all()
    gold = WORLD.gold.to_frame().select("topic", "document", "grade")
    judged = found.queue.drop("grade").join(gold, on=["topic", "document"], how="left")
    a, b = WORLD.runs.systems[0], WORLD.runs.systems[1]
    answer = kt.compare(WORLD.runs, WORLD.judgments, kt.read_gold(judged), measure, a=a, b=b)
    assert answer.corrected is not None
    true = np.diff([kt.score(WORLD.runs, WORLD.gold, measure).value[0, :, s].mean() for s in (0, 1)])[0]
    assert abs(answer.corrected.difference.value - true) < 4 * answer.corrected.difference.standard_error


def test_a_drawn_batch_says_how_many_went_to_each_side() -> None:
    found = kt.queue(WORLD.runs, None, None, replace(RULES, expert_share=0.5), budget=100)
    for side in ("expert", "crowd"):
        rows = found.queue.filter(to=side)
        assert rows["batch_size"].unique().to_list() == [len(rows)]


def test_the_crowds_draw_tells_nothing_about_the_experts_next_one() -> None:
    """Without the crowd's answers effects hardly change: the same luck would give experts the same documents."""
    shared = drawn = 0
    for seed in range(12):
        rules = replace(RULES, seed=seed)
        first = kt.queue(WORLD.runs, None, None, replace(rules, expert_share=0.2), budget=50)
        judged = first.items.filter(to="expert").select("topic", "document").with_columns(grade=pl.lit(1))
        then = kt.queue(WORLD.runs, None, kt.read_gold(judged), replace(rules, expert_share=1.0), budget=400)
        crowd = items(first.items.filter(to="crowd"))
        assert len(crowd) == len(then.items) == 40
        shared += len(items(then.items) & crowd)
        drawn += len(then.items)
    assert shared / drawn < 0.27  # .19 with luck of its own, .36 without


def test_documents_picked_by_a_rule_have_no_chance_and_say_so() -> None:
    found = kt.queue(WORLD.runs, None, None, replace(RULES, order="depth"), budget=100)
    assert found.items["pi"].null_count() == len(found.items)
    assert found.frame is None
    assert has_note(found, "decisions.picked")


def test_effect_goes_where_pairs_are_open() -> None:
    a, b = WORLD.runs.systems[:2]
    pair = kt.queue(WORLD.runs, None, None, replace(RULES, systems=(a, b), expert_share=1.0), budget=200)
    ranked = {}
    for system in (a, b):
        s = WORLD.runs.systems.index(system)
        for t, topic in enumerate(WORLD.runs.topics):
            start, _ = WORLD.runs.bounds[t, s]
            ranked[system, topic] = {WORLD.runs.documents[int(d)] for d in WORLD.runs.listed[start : start + 10]}
    assert len(pair.items) == 20
    for topic, document in pair.items.select("topic", "document").iter_rows():
        assert document in ranked[a, topic] ^ ranked[b, topic]


def test_a_settled_leaderboard_stops() -> None:
    found = kt.queue(WORLD.runs, None, WORLD.gold, RULES, budget=100)
    assert found.settled
    assert found.stop
    assert found.queue.columns[:5] == ["topic", "document", "grade", "to", "judgments"]
    assert kt.queue(WORLD.runs, None, None, replace(RULES, indifference=2.0), budget=100).stop


def test_documents_judged_beside_the_pool_count_but_are_not_asked_for() -> None:
    seen = WORLD.runs.documents[int(WORLD.runs.listed[WORLD.runs.bounds[0, 0, 0]])]
    extra = kt.read_gold({WORLD.runs.topics[0]: {"unretrieved": 3, "other": 0, seen: 1}})
    found = kt.queue(WORLD.runs, None, extra, replace(RULES, measure="AP", order="depth"), budget=20)
    bare = kt.queue(WORLD.runs, None, None, replace(RULES, measure="AP", order="depth"), budget=20)
    assert found.pool == bare.pool
    assert found.by_experts == 1
    assert "unretrieved" not in set(found.items["document"])
    assert has_note(found, "decisions.outside-pool-counts", who="experts", depth=100, documents=2)


def test_a_pool_that_the_measure_looks_beyond_is_refused() -> None:
    with pytest.raises(OptionError, match=r"\b5\b.*P@10"):
        replace(RULES, depth=5)
    assert replace(RULES, depth=5, measure="AP").depth == 5


def test_experts_who_contradict_themselves_and_other_scales_are_told() -> None:
    topic, document = EXPERTS.to_frame().select("topic", "document").row(0)
    again = kt.read_gold({"topic": [topic, topic], "document": [document] * 2, "grade": [0, 1]})
    told = kt.queue(WORLD.runs, None, again, RULES, budget=50).notes
    assert has_note(told, "data.repeats-vote", about="experts")
    binary = kt.simulation.simulate_crowd(WORLD.gold, "careful", rng=0)
    found = kt.queue(WORLD.runs, binary, EXPERTS, RULES, budget=50)
    assert has_note(found, "decisions.scales-differ", crowd=1, experts=3)


def test_a_crowd_that_has_judged_all_asks_for_experts() -> None:
    found = kt.queue(WORLD.runs, WORLD.judgments, None, replace(RULES, expert_share=0.0), budget=50)
    assert found.stop
    assert not found.settled
    assert len(found.queue) == 0


def test_disagreement_needs_a_model() -> None:
    with pytest.raises(DataError, match="model"):
        kt.queue(WORLD.runs, None, None, replace(RULES, order="disagreement"), budget=10)
    model = kt.experiments.learn_disagreement(WORLD.runs, WORLD.judgments, trials=5, rng=0)
    found = kt.queue(WORLD.runs, None, None, replace(RULES, order="disagreement", disagreement=model), budget=100)
    assert len(found.items) == 55
    assert not has_note(found, "decisions.other-topics")
    elsewhere = kt.experiments.DisagreementModel.from_dict(
        json.loads(model.to_json().replace('"topic": "1', '"topic": "9'))
    )
    far = kt.queue(WORLD.runs, None, None, replace(RULES, order="disagreement", disagreement=elsewhere), budget=100)
    assert has_note(far, "decisions.other-topics")


def test_a_model_of_votes_hears_the_crowd_so_far() -> None:
    model = kt.experiments.learn_disagreement(None, WORLD.judgments, features="votes", trials=5, rng=0)
    rules = replace(RULES, order="disagreement", disagreement=model, expert_share=1.0)
    first = kt.queue(WORLD.runs, WORLD.judgments, None, rules, budget=100)
    pool = kt.read_judgments(WORLD.judgments.to_frame())
    chance = kt.experiments.predict_disagreement(model, None, pool, same_topics=True)
    frame = pool.to_frame().unique(["topic", "document"], keep="first", maintain_order=True)
    best = frame.select("topic", "document").with_columns(chance=chance).sort("chance", descending=True)
    retrieved = {(t, d) for t, d, c in best.iter_rows() if c >= np.quantile(chance, 0.8)}
    assert items(first.items) <= retrieved


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "dept"}, "'depth'"),
        ({"measure": "nDGC@10"}, "'nDCG'"),
        ({"expert_share": 1.2}, r"budget.*\b1\.2\b"),
        ({"indifference": -0.1}, r"-0\.1"),
        ({"indifference": float("nan")}, "nan"),
        ({"risk": 0.0}, r"risk.*\b0\b"),
        ({"risk": 0.5}, r"\b0\.5\b"),
        ({"prices": "A"}, "kt.JudgingPrices"),
        ({"depth": 2.5}, r"\b2\.5\b"),
        ({"seed": -1}, "seed"),
        ({"measure": "Judged@10"}, "counts"),
        ({"best": 3, "systems": ("a", "b")}, None),
        ({"approach": "nb"}, "gold"),
        ({"approach": "nonsense"}, "approach"),
    ],
)
def test_rules_that_cannot_be_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises((OptionError, UnknownNameError), match=message):
        replace(RULES, **options)


def test_what_cannot_be_queued_is_refused() -> None:
    with pytest.raises(OptionError, match=r"budget.*\b0\b"):
        kt.queue(WORLD.runs, None, None, RULES, budget=0)
    with pytest.raises(OptionError, match=r"\b0\.5\b"):
        kt.queue(WORLD.runs, None, None, RULES, budget="0.5")
    with pytest.raises(DataError, match="system"):
        kt.queue(WORLD.runs.only([WORLD.runs.systems[0]]), None, None, RULES, budget=100)
    with pytest.raises(DataError, match=r"\b1\b.*document"):
        kt.queue(WORLD.runs, None, kt.read_gold({"no topic": {"x": 1}}), RULES, budget=100)
    with pytest.raises(DataError, match="topics"):
        kt.queue(WORLD.runs, None, kt.read_gold({"item": ["x"], "grade": [1]}), RULES, budget=100)
    with pytest.raises(DataError, match="weighted"):
        kt.queue(WORLD.runs, None, None, replace(RULES, measure="AP", order="effect"), budget=100)


def test_the_crowd_unchecked_is_a_doubt() -> None:
    assert has_note(kt.queue(WORLD.runs, CROWD, None, RULES, budget=50), "decisions.checked-few")
    checked = kt.queue(WORLD.runs, CROWD, EXPERTS, RULES, budget=50)
    assert not has_note(checked, "decisions.checked-few")
    assert "EXPERT" not in checked._repr_html_()
    assert checked.sentence.split(".")[0] in repr(checked)


def test_batches_drawn_are_numbered_on() -> None:
    first = kt.queue(WORLD.runs, None, None, replace(RULES, expert_share=1.0), budget=100)
    gold = WORLD.gold.to_frame().select("topic", "document", "grade")
    judged = first.queue.drop("grade").join(gold, on=["topic", "document"], how="left")
    second = kt.queue(WORLD.runs, None, kt.read_gold(judged), replace(RULES, expert_share=1.0), budget=100)
    assert (first.batch, second.batch) == (1, 2)


def test_what_the_crowd_said_guides_the_crowd() -> None:
    """Runs take turns in front, but the one whose documents the crowd found wanting waits behind the other."""
    crowd = kt.read_judgments({name: {"1": {"a1": 0, "a2": 0, "b1": 1, "b2": 1}} for name in "xyz"})
    rules = replace(RULES, order="move-to-front", measure="AP", expert_share=0.0, indifference=0.0, risk=1e-6)
    found = kt.queue(PAIR, crowd, None, rules, budget=2)
    assert found.items["document"].to_list() == ["b3", "b4"]


def test_a_document_goes_to_one_side_also_where_the_money_would_buy_more() -> None:
    rules = replace(RULES, order="depth", measure="AP", expert_share=0.001)
    found = kt.queue(PAIR, None, None, rules, budget=10_000)
    assert dict(found.items.group_by("to").len().iter_rows()) == {"expert": 1, "crowd": 15}


@pytest.mark.parametrize(("budget", "rest"), [(40, None), ("40.5", None), (41, "1"), (1000, "960")])
def test_money_that_nothing_is_left_for_is_told(budget: int | str, rest: str | None) -> None:
    """Only the first two documents of each run count; whatever is below need not be judged."""
    found = kt.queue(PAIR, None, None, replace(RULES, measure="P@2", expert_share=1.0), budget=budget)
    assert sorted(found.items["document"]) == ["a1", "a2", "b1", "b2"]
    told = [note.facts["rest"] for note in found.notes if note.kind == "decisions.budget-left"]
    assert told == ([] if rest is None else [rest])


@pytest.mark.parametrize("checked", [19, 20])
def test_twenty_documents_check_the_crowd(checked: int) -> None:
    listed = CROWD.to_frame().select("topic", "document").unique(maintain_order=True)
    gold = WORLD.gold.to_frame().join(listed, on=["topic", "document"], maintain_order="left", how="inner")
    experts = kt.read_gold(gold.head(checked).select("topic", "document", "grade"))
    rules = replace(RULES, depth=30)
    found = kt.queue(WORLD.runs, CROWD, experts, rules, budget=50)
    assert has_note(found, "decisions.checked-few") == (checked < 20)


def test_judged_documents_of_the_pool_are_counted() -> None:
    found = kt.queue(WORLD.runs, CROWD, EXPERTS, RULES, budget=50)
    pool = items(kt.queue(WORLD.runs, None, None, replace(RULES, order="depth", expert_share=0.0), budget=10_000).items)
    by_experts, by_crowd = items(EXPERTS.to_frame()) & pool, items(CROWD.to_frame()) & pool
    assert by_experts & by_crowd
    assert found.pool == len(pool)
    assert found.by_experts == len(by_experts)
    assert found.by_crowd == len(by_crowd - by_experts)
