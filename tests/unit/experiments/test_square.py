"""The benchmark: pooled predictions, shared folds, skipped and failed cells, resuming and workers."""

import json
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.aggregation import registry
from karatage.aggregation.majority import MajorityVote
from karatage.comparison.classification import permutation_test
from karatage.errors import OptionError, UnknownNameError
from karatage.experiments.engine import Execution
from karatage.experiments.square.cells import _list_winners, benchmark
from karatage.experiments.square.data_sets import DataSet, make_folds, read_data_sets
from karatage.experiments.square.findings import read_credits
from karatage.experiments.square.plan import APPROACHES
from karatage.random_streams import stream
from tests.notes import gives, has_note


def make_set(name="made", items=40, judges=5, grades=2, seed=0):
    """Judges who are right three times in four."""
    source = np.random.default_rng(seed)
    truth = source.integers(0, grades, items)
    rows = [(j, i) for i in range(items) for j in range(judges)]
    said = [int(truth[i]) if source.random() < 0.75 else int(source.integers(grades)) for _, i in rows]
    columns = {"judge": [f"j{j}" for j, _ in rows], "item": [f"{i:03}" for _, i in rows], "grade": said}
    gold = kt.read_gold({"item": [f"{i:03}" for i in range(items)], "grade": truth.tolist()})
    return DataSet.of(name, kt.read_judgments(columns), gold)


@dataclass(frozen=True, kw_only=True)
class Fake:
    """Right on the items whose gold it is given, else grade 0; or whatever `behaviour` says."""

    behaviour: Literal["learn", "crash", "binary", "gold"] = "learn"

    def fit(self, judgments, *, gold=None, **_):
        if self.behaviour == "crash":
            raise RuntimeError("it broke")
        if self.behaviour == "binary" and judgments.top_grade > 1:
            raise OptionError("fake knows two grades only, here are three")
        if self.behaviour == "gold" and gold is None:
            raise OptionError("fake needs gold")
        posterior = MajorityVote(ties="lowest").fit(judgments)
        probability = np.zeros_like(posterior.probability)
        probability[:, 0] = 1.0
        if gold is not None:
            at = [f"{i:03}" for i in range(len(probability))].index
            for item, grade in gold.to_frame().select("item", "grade").iter_rows():
                probability[at(item)] = np.eye(probability.shape[1])[grade]
        return kt.Posterior(
            model="fake",
            judgments=judgments,
            probability=probability,
            grades=probability.argmax(axis=1).astype(np.int8),
        )


@pytest.fixture
def fakes(monkeypatch):
    monkeypatch.setattr(registry, "MODELS", {**registry.MODELS, "fake": Fake})


def test_predictions_are_pooled_one_for_each_item_and_never_from_its_own_fold(fakes):
    member = make_set(items=43)
    result = benchmark([member], approach=["fake"], rng=1)
    share = (member.gold == 0).mean()
    for row in result.to_frame().iter_rows(named=True):
        # Fake knows every item it is trained on: seen again in its own fold, it would beat grade 0's share.
        assert row["accuracy"] == pytest.approx(share)
        setting = f"{row['supervision']} {row['amount']}" if row["amount"] else "none"
        table = result.predictions("made", "fake", setting)
        assert table["item"].to_list() == [f"{i:03}" for i in range(43)]
        assert table["fold"].n_unique() == row["folds"]
    folds = result.to_frame().filter(supervision="full")["folds"].to_list()
    assert folds == [10, 5, 2, 5, 10]


def test_folds_are_the_same_for_all_models_and_differ_between_seeds():
    first, other = (benchmark([make_set()], approach=["ds", "emmv"], amounts=[20], rng=seed) for seed in (1, 2))
    fold = first.predictions("made", "ds", "light 20")["fold"].to_list()
    assert fold == first.predictions("made", "emmv", "full 20")["fold"].to_list()
    assert fold != other.predictions("made", "ds", "light 20")["fold"].to_list()


@pytest.mark.parametrize("setting", ["none", "light 20", "full 20", "full 80"])
@pytest.mark.parametrize("approach", ["ds", "mv(ties=highest)", "mv(ties=prior)"])
def test_averaged_folds_are_means_of_what_aggregate_finds(setting, approach):
    member = make_set(items=43)
    how, _, amount = setting.partition(" ")
    if approach == "mv(ties=highest)" and amount:
        return
    result = benchmark([member], approach=[approach], amounts=[20, 80], folds="averaged", rng=4)
    found, names = [], [f"{i:03}" for i in range(43)]
    votes, beliefs = ({name: [] for name in names} for _ in range(2))
    source = stream(4, "square/folds/made")
    for fold in make_folds(member.items, int(amount or 0), source, "averaged"):
        seen = member.judgments.to_frame().filter(~pl.col("item").is_in([names[i] for i in fold.hidden]))
        gold = member.training_gold(fold.training) if amount else None
        frame = kt.aggregate(kt.read_judgments(seen), approach, gold=gold, supervision=how).to_frame()
        said, belief = (dict(frame.select("item", what).iter_rows()) for what in ("grade", "p1"))
        found.append(np.mean([said[names[i]] == member.gold[i] for i in fold.kept]))
        for i in fold.kept:
            votes[names[i]].append(said[names[i]])
            beliefs[names[i]].append(belief[names[i]])
    row = result.to_frame().filter(supervision=how, amount=int(amount or 0))
    assert row["accuracy"].item() == pytest.approx(np.mean(found))
    means = [np.mean(beliefs[name]) for name in names]
    np.testing.assert_allclose(result.predictions("made", approach, setting)["p1"], means)
    assert row["folds"].item() == len(found)
    table = result.predictions("made", approach, setting)
    assert table["fits"].to_list() == [len(votes[name]) for name in names]
    for name, winners in table.select("item", "winners").iter_rows():
        assert winners.count(1) / len(winners) == pytest.approx(np.mean(votes[name]))


@pytest.mark.parametrize("quality", ["accuracy", "f1"])
def test_means_of_folds_are_compared_by_their_shares(quality):
    """A mean of five decisions is fifths of a credit; the test must not round them to ties."""
    source = np.random.default_rng(2)
    gold = source.integers(0, 2, 12).astype(np.int8)
    first, second = ((share := source.choice([0, 2, 3, 5], 12) / 5, np.c_[share, 1 - share])[1] for _ in range(2))
    signs = (np.arange(2**12)[:, None] >> np.arange(12)) & 1 > 0

    def measure(credit):
        hits, said = credit[..., gold == 1, 1].sum(axis=-1), credit[..., 1].sum(axis=-1)
        right = credit[..., np.arange(12), gold].mean(axis=-1)
        return right if quality == "accuracy" else 2 * hits / (said + (gold == 1).sum())

    swapped = np.where(signs[..., None], second, first), np.where(signs[..., None], first, second)
    gaps = np.abs(measure(swapped[0]) - measure(swapped[1]))
    expected = (gaps >= abs(measure(first) - measure(second)) - 1e-12).mean()
    assert permutation_test(first, second, gold, quality=quality) == pytest.approx(expected)


def test_shares_of_folds_survive_the_table():
    shares = np.array([[7.5, 1.5, 0], [3, 3, 3], [0, 0, 9], [4 / 3, 4 / 3, 19 / 3]])
    table = pl.DataFrame({"winners": _list_winners(shares, np.array([1, 2, 5])), "gold": [1, 2, 5, 1]})
    assert table["winners"].to_list()[1:3] == [[1, 2, 5], [5]]
    np.testing.assert_allclose(read_credits(table, (1, 2, 5))[0], shares / 9)


def test_gold_of_other_folds_does_not_decide_who_is_an_adversary():
    member = make_set(judges=6)
    turned = np.array([j in {"j4", "j5"} for j in member.judgments.judges])[member.judgments.judge]
    grade = np.where(turned, 1 - member.judgments.grade, member.judgments.grade)
    member = replace(member, judgments=replace(member.judgments, grade=grade))
    ask = {"approach": ["mv(adversaries=flip)"], "amounts": [50], "rng": 0}
    first = benchmark([member], **ask)
    before = first.predictions("made", "mv(adversaries=flip)", "light 50")
    part = before["fold"].to_numpy() == 0
    other = benchmark([replace(member, gold=np.where(part, 1 - member.gold, member.gold))], **ask)
    after = other.predictions("made", "mv(adversaries=flip)", "light 50")
    columns = ["grade", "winners", "p0", "p1"]
    assert before.filter(part).select(columns).equals(after.filter(part).select(columns))  # its own gold has no effect
    assert not before.filter(~part).select(columns).equals(after.filter(~part).select(columns))
    (note,) = [note for note in first.notes if note.kind == "experiments.adversaries"]
    assert gives(note, "mv(adversaries=flip)", "made")
    assert str(note).count("2.0") == 2  # without gold, and with it: no range from 2.0 to 2.0
    told = [cell.outcome.facts["adversaries"] for cell in first.cells]
    assert told[0] == 2.0


def test_a_name_with_a_supervision_is_tried_with_that_one_only():
    result = benchmark([make_set()], approach=["ds(supervision=none)", "ds(supervision=full)"], amounts=[50], rng=0)
    assert result.to_frame()["status"].to_list() == ["done", "skipped", "skipped", "skipped", "skipped", "done"]


def test_the_preset_is_squares_setting():
    result = benchmark([make_set(items=30)], preset="square", amounts=[50], rng=0)
    assert [name.partition("(")[0] for name in result.approaches] == list(APPROACHES)
    frame = result.to_frame().filter(status="done")
    folds = dict(frame.select("supervision", "folds").unique().iter_rows())
    assert folds == {"none": 10, "light": 2, "full": 2}
    assert frame.filter(approach="cubam(supervision=none)")["supervision"].to_list() == ["none"]
    with pytest.raises(UnknownNameError, match=r"'squares'.*'square'"):
        benchmark([make_set()], preset="squares")


def test_the_table_of_data_sets_counts_pairs_and_judges():
    columns = {"judge": list("xxyxyzww"), "item": list("aaabbcab"), "grade": [0, 1, 1, 0, 1, 1, 1, 0]}
    member = DataSet.of("few", kt.read_judgments(columns), kt.read_gold({"item": list("ab"), "grade": [1, 1]}))
    result = benchmark([member], approach=["mv"], amounts=[])
    (row,) = result.crowds().iter_rows(named=True)
    expected = {"data_set": "few", "grades": 2, "items": 3, "gold": 2, "judges": 4, "labels": 7, "below": 1}
    expected["accuracy"] = (0.25 + 1.0 + 0.5) / 3
    assert row == {**expected, "per_item": 7 / 3, "per_judge": 7 / 4}
    (row,) = benchmark([member], approach=["mv"], amounts=[], gold_items_only=True).crowds().iter_rows(named=True)
    assert row == {**expected, "items": 2, "judges": 3, "labels": 6, "per_item": 3, "per_judge": 2}


def test_ties_of_a_coin_count_by_expectation_and_of_a_rule_as_decided():
    columns = {"judge": list("xyxyxy"), "item": list("aabbcc"), "grade": [0, 1, 0, 1, 1, 1]}
    gold = kt.read_gold({"item": list("abc"), "grade": [0, 1, 1]})
    member = DataSet.of("ties", kt.read_judgments(columns), gold)
    names = ["mv", "mv(ties=highest)", "mv(ties=lowest)"]
    result = benchmark([member], approach=names, amounts=[])
    assert result.to_frame()["accuracy"].to_list() == pytest.approx([2 / 3, 2 / 3, 2 / 3])
    assert result.predictions("ties", "mv")["winners"].to_list() == [[0, 1], [0, 1], [1]]
    assert result.predictions("ties", "mv(ties=highest)")["winners"].to_list() == [[1], [1], [1]]
    assert result.predictions("ties", "mv(ties=lowest)")["winners"].to_list() == [[0], [0], [1]]
    # b is hit or not, a is a false alarm or not: 2 (1 + b) / (3 + a + b)
    assert result.to_frame()["f1"][0] == pytest.approx((2 / 3 + 1 + 2 / 4 + 4 / 5) / 4)


def test_grades_are_written_as_they_were_given():
    columns = {"judge": list("xy"), "item": list("ab"), "grade": [2, 5]}
    member = DataSet.of("odd", kt.read_judgments(columns), kt.read_gold({"item": list("ab"), "grade": [2, 2]}))
    table = benchmark([member], approach=["mv"], amounts=[]).predictions("odd", "mv")
    assert table.columns == ["item", "gold", "grade", "winners", "fold", "p2", "p5"]
    assert table["grade"].to_list() == [2, 5]
    assert table["gold"].to_list() == [2, 2]


def test_fits_that_did_not_come_to_rest_are_counted():
    frame = benchmark([make_set()], approach=["ds(max_steps=1)", "ds"], amounts=[20], rng=0).to_frame()
    assert frame["not_converged"].to_list() == [1, 5, 5, 0, 0, 0]


def test_what_a_model_cannot_do_is_recorded_with_its_reason(fakes):
    sets = [make_set("two"), make_set("three", grades=3)]
    result = benchmark(sets, approach=["mv", "fake(behaviour=binary)", "fake(behaviour=gold)"], amounts=[50], rng=0)
    frame = result.to_frame()
    binary = frame.filter(approach="fake(behaviour=binary)")
    assert binary["status"].to_list() == ["done"] * 3 + ["skipped"] * 3
    assert binary["reason"][3] == "fake knows two grades only, here are three"
    needy = frame.filter(approach="fake(behaviour=gold)", data_set="two")
    assert needy["status"].to_list() == ["skipped", "done", "done"]
    assert frame.filter(approach="mv")["status"].to_list() == ["done", "skipped", "skipped"] * 2
    assert result.common_sets == ("two",)
    reason = "fake knows two grades only, here are three"
    facts = {"data_sets": ("three",), "supervision": "none, light and full", "reason": reason}
    assert has_note(result, "experiments.skipped-on", approach="fake(behaviour=binary)", **facts)
    assert not result.failed


def test_majority_vote_is_tried_with_gold_where_gold_breaks_ties():
    result = benchmark([make_set()], approach=["mv(ties=prior)", "mv(ties=lowest)"], amounts=[50], rng=0)
    assert result.to_frame()["status"].to_list() == ["done"] * 3 + ["done", "skipped", "skipped"]


def test_a_broken_model_does_not_stop_the_others(fakes):
    result = benchmark([make_set()], approach=["fake(behaviour=crash)", "mv"], amounts=[], rng=0)
    assert result.to_frame()["status"].to_list() == ["failed", "done"]
    assert result.to_frame()["reason"][0] == "RuntimeError: it broke"
    assert [outcome.name for outcome in result.failed] == ["made/fake(behaviour=crash)/none"]
    assert has_note(result, "experiments.cells-failed", cells=1, reason="RuntimeError: it broke")
    assert gives(result.sentence, "mv", "accuracy")


def test_a_second_run_computes_only_what_is_new(monkeypatch, tmp_path):
    calls = []
    fit = MajorityVote.fit
    monkeypatch.setattr(MajorityVote, "fit", lambda self, *args, **more: calls.append(self) or fit(self, *args, **more))
    first = benchmark([make_set("a")], approach=["mv"], amounts=[], output=tmp_path, rng=0)
    again = benchmark([make_set("a"), make_set("b")], approach=["mv"], amounts=[], output=tmp_path, rng=0)
    assert len(calls) == 2
    assert again.to_frame()["accuracy"][0] == first.to_frame()["accuracy"][0]
    assert has_note(again, "experiments.cells-kept", kept=1, cells=2)
    for changed in ({"rng": 1}, {"approach": ["mv(min=2)"]}, {"data": [make_set("a", seed=9)]}):
        plan = {"data": [make_set("a")], "approach": ["mv"], "amounts": [], "output": tmp_path, "rng": 0, **changed}
        before = len(calls)
        benchmark(plan.pop("data"), **plan)
        assert len(calls) == before + 1, changed


def test_results_do_not_depend_on_the_number_of_workers(tmp_path):
    sets = [make_set("a"), make_set("b", grades=3, seed=4)]
    plan = {"approach": ["mv", "ds"], "amounts": [50], "rng": 5}
    alone = benchmark(sets, **plan)
    together = benchmark(sets, **plan, output=tmp_path, execution=Execution(workers=2))
    assert alone.to_frame().drop("seconds").equals(together.to_frame().drop("seconds"))
    assert alone.race().equals(together.race())
    for cell in together.cells:
        if cell.outcome.status == "done":
            assert alone.predictions(*cell[:2], cell.setting).equals(cell.outcome.table)


def test_too_little_gold_for_the_folds_is_a_reason_not_an_end():
    result = benchmark([make_set(items=4)], approach=["ds"], amounts=[10, 50], rng=0)
    assert result.to_frame()["status"].to_list() == ["done", "skipped", "done", "skipped", "done"]
    assert any(gives(note, "10", "folds", "4", "items") for note in result.notes if note.kind == "experiments.skipped")


def test_the_default_is_the_thesis_as_far_as_it_is_there():
    result = benchmark([make_set()], amounts=[], rng=0)
    assert result.approaches == APPROACHES


def test_everything_goes_to_json():
    result = benchmark([make_set()], approach=["mv", "ds"], amounts=[50], rng=0)
    found = json.loads(result.to_json())
    assert found["cells"][0]["outcome"]["facts"]["accuracy"] == result.to_frame()["accuracy"][0]
    assert found["seed"] == 0
    assert found["sentence"] == result.sentence
    assert found["leaders"] == result.leaders().to_dicts()


def test_bad_requests_are_told():
    with pytest.raises(OptionError, match="no data sets"):
        benchmark([])
    with pytest.raises(OptionError, match=r"\b30\b"):
        benchmark([make_set()], amounts=[30])
    with pytest.raises(OptionError, match="folders or data sets"):
        benchmark([make_set(), "folder"])
    with pytest.raises(OptionError, match="'made'"):
        benchmark([make_set(), make_set()])
    with pytest.raises(OptionError, match="'x'"):
        benchmark([make_set()], approach=["mv"], amounts=[]).predictions("x", "mv")


MV = {  # accuracy of mv in the shared data's README, ties by expectation
    "snow-rte": 0.8969,
    "snow-temp": 0.936,
    "snow-wsd": 0.994,
    "gal-tweets-bm": 0.696,
    "gal-hitspam-crowdflower": 0.660,
    "duchenne-wvscm": 0.720,
    "agg-bluebird": 0.759,
    "agg-adult-s5": 0.760,
}


def test_majority_vote_on_the_real_sets(shared_data):
    sets = read_data_sets([shared_data / name for name in MV], grades="no=0,yes=1")
    frame = benchmark(sets, approach=["mv"], amounts=[], rng=0).to_frame()
    found = dict(frame.select("data_set", "accuracy").iter_rows())
    assert found == {name: pytest.approx(value, abs=6e-4) for name, value in MV.items()}
