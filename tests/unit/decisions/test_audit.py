"""Unit tests of the audit as a whole."""

import json
from dataclasses import replace
from html import unescape

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.aggregation.registry import MODELS
from karatage.agreement.habits import Panel
from karatage.data.audit import BEST_JUDGE, BEST_MERGE, ItemCount
from karatage.data.judgments import Judgments
from karatage.decisions.audit import audit
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.views.audit import chart_agreement, view_audit
from tests.notes import gives, has_note, list_facts

QUICK = ("mv", "ds")


def judge(table, *, top_grade=None):
    """Judgments from a table (judge, item), -1 = no grade."""
    judge, item = np.nonzero(np.asarray(table) >= 0)
    return Judgments.from_codes(
        judge=judge.astype(np.int32),
        item=item.astype(np.int32),
        grade=np.asarray(table, np.int8)[judge, item],
        top_grade=top_grade,
    )


def simulate(accuracy, items=200, grades=2, seed=1):
    source = np.random.default_rng(seed)
    truth = source.integers(0, grades, items)
    right = source.random((len(accuracy), items)) < np.array(accuracy)[:, None]
    wrong = (truth + source.integers(1, grades, right.shape)) % grades
    return truth, np.where(right, truth, wrong)


@pytest.fixture(scope="module")
def found():
    """Three good judges, a random one and one who copies the first; all binary, with gold."""
    truth, table = simulate([0.85, 0.8, 0.75, 0.5, 0.8])
    table[4] = table[0]
    families = {"0": "x", "4": "x", "1": "y", "stranger": "z"}
    return audit(judge(table), gold=judge([truth]), families=families, approach=QUICK, rng=3)


def test_each_judge_has_a_row(found):
    frame = found.to_frame()
    assert frame["judge"].to_list() == list("01234")
    assert frame["family"].to_list() == ["x", "y", None, None, "x"]
    assert frame["items"].to_list() == [200] * 5
    assert frame["coverage"].to_list() == [1.0] * 5
    np.testing.assert_allclose(frame["share_0"] + frame["share_1"], 1)
    assert (frame["accuracy_low"] < frame["accuracy"]).all()
    assert (frame["accuracy"] < frame["accuracy_high"]).all()
    np.testing.assert_allclose(frame["reliability"], frame["accuracy"], atol=0.12)
    for name in ("tpr", "tnr", "ppv", "gold_kappa", "leniency", "gold_leniency", "kappa", "percent"):
        assert frame[name].null_count() == 0
    assert frame["flags"].to_list() == ["copied", "", "", "random", "copied"]
    assert gives(frame["why"][3], "kappa", f"{frame['gold_kappa'][3]:.2f}")


def test_the_panel_and_its_pairs(found):
    names = found.panel["statistic"].to_list()
    assert names[:6] == ["percent", "cohen", "fleiss", "alpha_nominal", "alpha_ordinal", "alpha_interval"]
    bounded = found.panel.filter(pl.col("low").is_not_null())
    assert {"cohen", "error_correlation", "error_correlation_within", "effective_votes"} <= set(bounded["statistic"])
    assert (bounded["low"] <= bounded["value"]).all()
    assert (bounded["value"] <= bounded["high"]).all()
    assert len(found.pairs) == 10
    matrix = found.matrix("kappa")
    assert matrix["0"][4] == matrix["4"][0] == 1.0
    assert matrix["0"][0] is None
    assert found.matrix("error_correlation")["0"][4] == pytest.approx(1.0)
    with pytest.raises(OptionError, match="'tau'"):
        found.matrix("tau")
    assert found.statistic("nonsense") is None


def test_families_and_merges(found):
    assert found.families["family"].to_list() == ["x", "y", "(one of each family)"]
    assert found.families["effective_votes"][0] == pytest.approx(1.0)
    assert found.merges["name"].to_list() == [*QUICK, BEST_MERGE, BEST_JUDGE]
    merge = found.merges.row(0, named=True)
    assert merge["low"] < merge["accuracy"] < merge["high"]
    assert merge["shared"] == 200
    single = found.merges.row(3, named=True)
    assert single["picked"] in {"0", "4"}
    assert merge["gain"] == pytest.approx(merge["accuracy"] - single["accuracy"])


def test_confusion_has_rows_that_sum_to_one(found):
    shares = found.confusion.group_by("judge", "gold").agg(pl.col("share").sum())["share"]
    np.testing.assert_allclose(shares, 1)
    assert (found.confusion["share_low"] <= found.confusion["share"]).all()


def test_the_sentence_tells_what_to_do(found):
    assert found.drop == ("3",)
    assert found.alike == (("0", "4"),)
    assert gives(found.sentence, 1, 5, "'3'", "random", "'0'", "'4'", 5, f"{found.statistic('effective_votes'):.1f}")
    assert not gives(found.sentence, "alpha")  # there is enough gold
    assert has_note(found, "decisions.families-strange", judges=("stranger",))
    assert has_note(found, "decisions.families-alone", judges=("2", "3"))


def test_json_holds_the_same(found):
    loaded = json.loads(found.to_json())
    assert loaded["sentence"] == found.sentence
    assert loaded["drop"] == ["3"]
    assert loaded["judges"][3]["flags"] == "random"
    assert len(loaded["pairs"]) == 10
    assert loaded["seed"] == 3
    assert found.sentence.split(".")[0] in unescape(found._repr_html_())


def test_without_gold_shared_errors_are_not_guessed():
    _, table = simulate([0.85, 0.8, 0.75])
    found = audit(judge(table), approach=QUICK, rng=1)
    assert found.regime == "unknown"
    assert found.statistic("effective_votes") is None
    assert "accuracy" not in found.judges.columns
    assert len(found.merges) == 0
    assert found.drop == ()
    assert gives(found.sentence, 3, "alpha", f"{found.statistic('alpha_ordinal'):.2f}", 200)
    assert has_note(found, "decisions.no-gold")


def test_judges_who_share_no_item_are_not_called_honest():
    """Without gold and without shared items, only constant judges can be found."""
    _, table = simulate([0.9, 0.9, 0.1])
    apart = np.where(np.arange(table.shape[1]) % 3 == np.arange(3)[:, None], table, -1)
    told = audit(judge(apart), approach=QUICK, rng=1).sentence
    assert gives(told, "None of 3 judges is constant.", "random", "inverted", "without gold")


@pytest.mark.parametrize(("hard", "regime"), [(0.5, "shared"), (0.42, "mixed"), (0.1, "independent")])
def test_the_regime_is_told(hard, regime):
    """Errors are shared when some items are hard for all; habits that depend on the grade alone are not shared."""
    source = np.random.default_rng(2)
    truth = source.integers(0, 2, 800)
    chance = np.where(source.random(800) < 0.3, hard, 0.1) + 0.25 * truth
    table = np.where(source.random((6, 800)) < chance, 1 - truth, truth)
    found = audit(judge(table), gold=judge([truth]), approach=QUICK, rng=1)
    assert found.regime == regime
    assert found.statistic("error_correlation") > found.statistic("error_correlation_within")
    assert not found.has_topics
    assert "scores" not in found.sentence  # there are no topics, so no scores


def test_scores_are_recommended_where_there_are_topics():
    source = np.random.default_rng(3)
    truth = source.integers(0, 2, (30, 20))
    hard = np.where(source.random(truth.shape) < 0.3, 0.5, 0.05)
    names = [(f"t{t}", f"d{d}") for t in range(30) for d in range(20)]
    table = {"judge": [], "topic": [], "document": [], "grade": []}
    for j in range(6):
        said = np.where(source.random(truth.shape) < hard, 1 - truth, truth).ravel()
        for (topic, document), grade in zip(names, said, strict=True):
            for column, value in zip(table, (f"j{j}", topic, document, int(grade)), strict=True):
                table[column].append(value)
    gold = {f"t{t}": {f"d{d}": int(truth[t, d]) for d in range(20)} for t in range(30)}
    found = audit(kt.read_judgments(table), gold=kt.read_gold(gold), approach=QUICK, rng=1)
    assert found.regime == "shared"
    assert found.has_topics
    assert "scores" in found.sentence


def get_merge(found, name):
    return found.merges.row(by_predicate=pl.col("name") == name, named=True)


def test_graded_data_have_weighted_kappa_and_the_ordinal_model():
    truth, table = simulate([0.8, 0.7, 0.7, 0.6], items=150, grades=4)
    found = audit(judge(table), gold=judge([truth]), rng=1)
    left_out = {"nb", "emsemi", "cubam", "binmv", "qbinmv"}
    assert set(found.merges["name"]) == {*MODELS, BEST_MERGE, BEST_JUDGE} - left_out
    assert {"weighted_kappa", "gold_weighted_kappa"} <= set(found.judges.columns)
    assert "tpr" not in found.judges.columns
    assert found.merges["weighted_kappa"].null_count() == 0
    assert gives(found.sentence, "quadratic", f"{get_merge(found, BEST_MERGE)['weighted_kappa']:.2f}")


def test_the_best_judge_is_recommended_where_it_beats_the_merge():
    truth, table = simulate([0.99, 0.55, 0.55, 0.55, 0.55], items=400, seed=5)
    found = audit(judge(table), gold=judge([truth]), approach=("mv",), rng=1)
    merge = get_merge(found, BEST_MERGE)
    assert get_merge(found, BEST_JUDGE)["picked"] == "0"
    assert merge["gain_high"] < 0
    assert gives(
        found.sentence, "mv", "(0)", *(f"{100 * merge[name]:+.1f}" for name in ("gain", "gain_low", "gain_high"))
    )


def test_merging_is_recommended_where_it_gains():
    truth, table = simulate([0.7] * 9, items=400)
    found = audit(judge(table), gold=judge([truth]), approach=("mv",), rng=1)
    merge = get_merge(found, BEST_MERGE)
    assert 0 < merge["gain_low"] < merge["gain"]


def test_a_judge_who_graded_little_cannot_replace_the_others():
    truth, table = simulate([0.9] * 6, items=300)
    table[np.arange(300) % 3 != np.arange(6)[:, None] % 3] = -1  # two judges to an item
    found = audit(judge(table), gold=judge([truth]), approach=("mv",), rng=1)
    items = dict(found.merges.select("name", "items").rows())
    assert items[BEST_JUDGE] < items[BEST_MERGE] / 2
    assert gives(found.sentence, items[BEST_MERGE], items[BEST_JUDGE], "2.0")
    assert found.statistic("grades_per_item") == pytest.approx(2, abs=0.05)


def test_a_judge_of_few_items_does_not_stand_for_the_best():
    truth = np.tile([0, 1], 60)
    table = np.stack(
        [np.where(np.arange(120) % 5 == 0, 1 - truth, truth), np.where(np.arange(120) % 4 == 0, 1 - truth, truth)]
    )
    few = np.where(np.arange(120) < 20, truth, -1)
    gold = kt.read_gold({"item": [str(i) for i in range(120)], "grade": truth})
    found = audit(judge(np.vstack([table, few])), gold=gold, approach=QUICK, rng=0)
    best = found.merges.filter(pl.col("name") == BEST_JUDGE)
    assert best["picked"][0] == "0"
    assert best["items"][0] == 120


def test_one_judge_alone_is_measured_by_gold_only():
    truth, table = simulate([0.8], items=60)
    alone = audit(judge(table), approach=QUICK, rng=1)
    assert gives(alone.sentence, "0", 60)  # items to grade
    assert has_note(alone, "decisions.alone")
    assert len(alone.panel) == 0
    with pytest.raises(DataError, match="share"):
        alone.matrix()
    trusted = audit(judge(table), gold=judge([truth]), approach=QUICK, rng=1)
    right = (table[0] == truth).mean()
    assert trusted.judges["accuracy"][0] == pytest.approx(right)
    assert gives(trusted.sentence, "0", f"{right:.1%}", 60, 13)  # gold items, and how near they place it
    assert len(trusted.merges) == 0  # all of them would be the judge
    assert not has_note(trusted, "decisions.pairs-unshared")
    constant = audit(judge(np.ones((1, 60), int)), gold=judge([truth]), approach=QUICK, rng=1)
    assert constant.drop == ("0",)
    assert gives(constant.sentence, "constant")


def in_topics(table, each):
    """Judgments of items that lie in topics, `each` to a topic."""
    judge, item = np.nonzero(np.asarray(table) >= 0)
    columns = {"judge": judge, "topic": item // each, "document": item}
    return kt.read_judgments({k: v.astype(str) for k, v in columns.items()} | {"grade": np.asarray(table)[judge, item]})


@pytest.mark.parametrize("each", [10, 100])
def test_the_verdict_is_shown_with_what_it_rests_on(each):
    """Whole topics are hard for all but the first judge, so that items say more than there is to know."""
    source = np.random.default_rng(4)
    truth = source.integers(0, 2, 400)
    hard = np.repeat(source.random(400 // each) < 0.3, each)
    chance = np.where(hard, 0.5, 0.05) * np.ones((5, 1))
    chance[0] = 0.12
    table = np.where(source.random((5, 400)) < chance, 1 - truth, truth)
    found = audit(in_topics(table, each), gold=in_topics([truth], each), approach=("mv",), rng=1)
    plain = audit(judge(table), gold=judge([truth]), approach=("mv",), rng=1)
    merge = get_merge(found, BEST_MERGE)
    assert gives(found.sentence, *(f"{100 * merge[name]:+.1f}" for name in ("gain", "gain_low", "gain_high")))
    wide, narrow = ((a.judges["accuracy_high"] - a.judges["accuracy_low"])[1] for a in (found, plain))
    if each == 10:
        assert merge["topics"] == 40
        assert wide > 1.2 * narrow
        assert not has_note(found, "agreement.few-topics")
    else:
        assert not merge["topics"]
        assert wide == pytest.approx(narrow)
        assert has_note(found, "agreement.few-topics", least=5)


def test_judges_with_few_gold_items_are_named():
    truth, table = simulate([0.8] * 4, items=400)
    table[3, 19:] = -1
    found = audit(judge(table), gold=judge([truth]), approach=QUICK, rng=1)
    assert has_note(found, "agreement.few-gold", least=0.05, judges=("3",))
    table[1:, 19:] = -1  # of a crowd in which most grade little, that says nothing
    found = audit(judge(table), gold=judge([truth]), approach=QUICK, rng=1)
    assert not has_note(found, "agreement.few-gold")


def test_where_nobody_can_stand_for_all_the_merge_is_still_told():
    truth, table = simulate([0.9] * 4, items=200)
    topic = np.arange(200) // 50
    table[topic != np.arange(4)[:, None]] = -1  # a topic a judge, so that no other fold knows it
    found = audit(in_topics(table, 50), gold=in_topics([truth], 50), approach=("mv",), rng=1)
    assert BEST_MERGE in found.merges["name"].to_list()
    assert (found.merges["items"] > 0).all()
    assert gives(found.sentence, "mv", found.merges["items"][0])


def test_no_overlap_among_judges():
    truth, table = simulate([0.8, 0.8], items=80)
    table[0, :40], table[1, 40:] = -1, -1
    found = audit(judge(table), gold=judge([truth]), approach=QUICK, rng=1)
    assert found.judges["kappa"].null_count() == 2
    assert found.judges["leniency"].null_count() == 2
    assert found.judges["accuracy"].null_count() == 0
    assert found.statistic("effective_votes") is None
    assert has_note(found, "decisions.pairs-unshared")


def test_a_judge_with_one_grade():
    truth, table = simulate([0.8, 0.8, 0.8], items=80)
    table[2, 1:] = -1
    found = audit(judge(table), gold=judge([truth]), approach=QUICK, rng=1)
    last = found.judges.row(2, named=True)
    assert last["items"] == 1
    assert last["leniency_low"] is None
    assert last["flags"] == ""
    assert has_note(found, "decisions.few-items", least=20, judges=("2",))


def test_gold_that_meets_nothing_is_told():
    _, table = simulate([0.8, 0.8], items=40)
    gold = kt.read_gold({"item": ["elsewhere"], "grade": [1]})
    found = audit(judge(table), gold=gold, approach=QUICK, rng=1)
    assert found.gold_items == 0
    assert has_note(found, "decisions.no-gold-shared")
    assert gives(found.sentence, 40)  # items to grade


def test_gold_beyond_the_judges_scale():
    truth, table = simulate([0.8, 0.8, 0.8], items=60)
    truth[:5] = 3
    found = audit(judge(table), gold=judge([truth]), approach=QUICK, rng=1)
    assert has_note(found, "agreement.below-gold", below=3, judges=3, top=3, counts="3 judges up to 1")
    assert found.merges["accuracy"][0] < 0.95
    assert found.confusion.filter((pl.col("gold") == 3) & (pl.col("grade") == 3))["share"].to_list() == [0.0] * 3


def test_repeated_grades_tell_how_steady_a_judge_is():
    table = {"judge": [], "item": [], "grade": []}
    for item in range(30):
        for judge_name, grades in {"ann": [1, 1], "bob": [0, item % 2], "cat": [item % 2]}.items():
            for grade in grades:
                for column, value in zip(table, (judge_name, f"i{item}", grade), strict=True):
                    table[column].append(value)
    found = audit(kt.read_judgments(table, repeats="all"), approach=QUICK, rng=1)
    assert found.judges["repeats"].to_list() == [30, 30, 0]
    assert found.judges["self_agreement"].to_list() == [1.0, 0.5, None]
    assert found.judges["items"].to_list() == [30, 30, 30]


def test_many_grades_skip_the_search_for_copies():
    source = np.random.default_rng(1)
    found = audit(judge(source.integers(0, 101, (3, 60))), approach=("mv",), rng=1)
    assert has_note(found, "decisions.many-grades")


def few_pairs(monkeypatch, draws=90):
    """As if 30 judges were many."""
    monkeypatch.setattr("karatage.agreement.intervals.MOST_PAIRS", 100)
    monkeypatch.setattr("karatage.agreement.intervals.DRAWS", draws)


def test_of_too_many_pairs_a_sample_is_compared_and_a_note_says_so(monkeypatch):
    truth, table = simulate([0.8] * 28 + [0.6, 0.9])
    table[20] = table[3]
    exact = audit(judge(table), gold=judge([truth]), approach=QUICK, rng=1)
    few_pairs(monkeypatch)
    found = audit(judge(table), gold=judge([truth]), approach=QUICK, rng=1)
    facts = list_facts(found)["agreement.pairs-drawn"]
    assert (facts["judges"], facts["pairs"], facts["drawn"]) == (30, pytest.approx(435), len(found.pairs))
    assert gives(list_facts(found)["decisions.copies-sampled"]["finding"], 435)
    assert 60 < len(found.pairs) <= 90
    assert found.statistic("pairs_compared") == len(found.pairs)
    assert found.statistic("pairs_of_judges") == pytest.approx(435)
    told = json.loads(found.to_json(pairs=True))
    assert {"agreement.pairs-drawn", "decisions.copies-sampled"} <= {note["kind"] for note in told["notes"]}
    assert len(told["pairs"]) == len(found.pairs)
    assert found.alike == exact.alike == (("20", "3"),)
    assert found.judges["percent"].equals(exact.judges["percent"])
    assert found.judges["kappa"].null_count() == 0
    for name in ("cohen", "error_correlation", "error_correlation_within"):
        assert found.statistic(name) == pytest.approx(exact.statistic(name), abs=0.04)
        assert found.statistic(name) != exact.statistic(name)
    values = found.pairs.join(exact.pairs, on=["judge", "other"], how="left")
    for name in ("shared", "kappa", "error_correlation"):
        np.testing.assert_allclose(values[name], values[f"{name}_right"])
    assert not exact.panel["statistic"].is_in(["pairs_compared"]).any()


def test_the_order_of_rows_does_not_change_a_sample(monkeypatch):
    few_pairs(monkeypatch)
    _, table = simulate([0.8] * 30, items=40)
    rows = judge(table).to_frame()
    one, other = (
        audit(kt.read_judgments(frame), approach=QUICK, rng=1)
        for frame in (rows, rows.sample(fraction=1.0, shuffle=True, seed=5))
    )
    assert one.to_json(pairs=True) == other.to_json(pairs=True)
    assert not one.pairs.equals(audit(kt.read_judgments(rows), approach=QUICK, rng=2).pairs)


def test_thousands_of_judges_are_compared_by_a_sample():
    source = np.random.default_rng(1)
    truth = source.integers(0, 2, 40)
    table = np.where(source.random((3_000, 40)) < 0.8, truth, 1 - truth)
    found = audit(judge(table), gold=judge([truth]), approach=("mv",), rng=1)
    assert len(found.pairs) <= 300_000  # of 4,498,500
    assert found.statistic("pairs_of_judges") == pytest.approx(4_498_500)
    assert found.statistic("cohen") == pytest.approx(0.36, abs=0.05)
    apart = found.pairs.head(100).with_columns(
        judge=pl.int_range(100).cast(pl.String), other=pl.int_range(1500, 1600).cast(pl.String)
    )
    with pytest.raises(DataError, match=r"\b60\b.*judges"):
        chart_agreement(replace(found, pairs=apart))


def test_merges_that_cost_much_are_left_out_unless_they_are_named(monkeypatch):
    truth, table = simulate([0.8] * 4)
    monkeypatch.setattr("karatage.decisions.audit.MANY_GRADES", 799)
    monkeypatch.setattr("karatage.decisions.audit.MANY_CELLS", 15)
    found = audit(judge(table), gold=judge([truth]), rng=1)
    assert not found.merges["name"].is_in(["cubam", "mace", "emmv", "emneu"]).any()
    assert "ds" in found.merges["name"]
    assert has_note(found, "decisions.merges-costly", merges="cubam, emmv, emneu, mace")
    asked = audit(judge(table), gold=judge([truth]), approach=("mace",), rng=1)
    assert "mace" in asked.merges["name"]
    assert not has_note(asked, "decisions.merges-costly")


def test_a_square_of_too_many_judges_is_refused(monkeypatch, found):
    monkeypatch.setattr("karatage.data.audit.MOST_SQUARED", 4)
    with pytest.raises(OptionError, match=r"\b5\b.*judges"):
        found.matrix()


def test_copies_of_copies_are_one_group():
    found = audit(judge(simulate([0.8] * 8)[1]), approach=("mv",))
    name = dict(zip("abcdefgh", sorted(found.judges["judge"]), strict=True))
    flags = pl.DataFrame(
        [(name[a], "copied", name[b], "") for a, b in ["ab", "cd", "ef", "bc", "gh", "ag"]],
        schema=["judge", "flag", "other", "why"],
        orient="row",
    )
    groups = (tuple(name[k] for k in "abcdgh"), tuple(name[k] for k in "ef"))
    assert replace(found, flags=flags).alike == groups


def test_the_seed_decides_and_is_recorded():
    truth, table = simulate([0.8, 0.7, 0.6])
    one, same, other = (audit(judge(table), gold=judge([truth]), approach=QUICK, rng=seed) for seed in (1, 1, 2))
    assert one.to_json() == same.to_json()
    assert not one.panel.equals(other.panel)
    assert other.seed == 2


def test_the_seed_makes_the_folds():
    truth, table = simulate([0.75] * 8)
    picks = {audit(judge(table), gold=judge([truth]), approach=("mv",), rng=s).merges[2, "accuracy"] for s in range(6)}
    assert len(picks) > 1


def test_errors_on_few_shared_gold_items_are_not_correlated():
    truth, table = simulate([0.6, 0.6, 0.6], items=100)
    gold = np.where(np.arange(100) < 30, truth, -1)
    table[2, 5:30] = -1
    found = audit(judge(table), gold=judge([gold]), approach=("mv",), rng=1)
    chosen = found.pairs.select("judge", "other", "gold_shared", "error_correlation").rows()
    by_pair = {(one, other): (shared, r) for one, other, shared, r in chosen}
    assert by_pair["0", "1"][0] == 30
    assert by_pair["0", "1"][1] is not None
    assert by_pair["0", "2"] == (5, None)
    assert found.statistic("judges_compared") == 2


def test_names_and_order_of_rows_change_nothing():
    truth, table = simulate([0.85, 0.8, 0.75, 0.5], items=120)
    rows = [(f"{j}", f"{i:03}", int(table[j, i])) for j in range(4) for i in range(120)]
    source = np.random.default_rng(1)
    gold = kt.read_gold({"item": [f"{i:03}" for i in range(120)], "grade": truth.tolist()})

    def run(rows):
        columns = dict(zip(("judge", "item", "grade"), map(list, zip(*rows, strict=True)), strict=True))
        return audit(kt.read_judgments(columns), gold=gold, approach=QUICK, rng=1)

    plain, shuffled = run(rows), run([rows[k] for k in source.permutation(len(rows))])
    assert plain.to_json() == shuffled.to_json()
    renamed = run([(f"judge {9 - int(j)}", i, g) for j, i, g in rows])
    numbers = [name for name, kind in plain.judges.schema.items() if kind in (pl.Float64, pl.Int64)]
    for name in numbers:
        np.testing.assert_allclose(renamed.judges[name].reverse(), plain.judges[name], atol=1e-6)


def test_unknown_approaches_suggest_the_nearest():
    _, table = simulate([0.8, 0.8])
    with pytest.raises(UnknownNameError, match="'dz'"):
        audit(judge(table), approach=("dz",))


def test_real_judges_carry_few_votes(shared_data):
    folder = shared_data / "trec-dl-2021-passage"
    judgments, gold = kt.read_judgments(folder / "llm_labels.tsv.gz"), kt.read_gold(folder / "gold.qrels")
    found = audit(judgments, gold=gold, approach=("mv",), rng=1)
    assert found.statistic("effective_votes") == pytest.approx(2.4, abs=0.1)
    assert found.regime == "shared"


@pytest.mark.parametrize(
    ("name", "drop"),
    [
        ("snow-rte", {"w00088", "w00008", "w00009", "w00010", "w00016"}),
        ("agg-bluebird", {"w00002", "w00019", "w00030"}),
    ],
)
def test_real_crowds_have_their_known_bad_judges(shared_data, name, drop):
    judgments = kt.read_judgments(shared_data / name / "labels.tsv.gz")
    found = audit(judgments, gold=kt.read_gold(shared_data / name / "gold.tsv"), approach=("mv", "ds"), rng=1)
    assert set(found.drop) == drop
    assert found.merges["accuracy"][1] > found.merges["accuracy"][0]


def count_by_hand(rows):
    """(judges, items, items on which all agree) from (judge, item, grade), a judge's last grade of an item counting."""
    last = {(judge, item): grade for judge, item, grade in rows}
    grades = {}
    for (_, item), grade in last.items():
        grades.setdefault(item, []).append(grade)
    sizes = sorted({len(said) for said in grades.values()})
    of = {size: [said for said in grades.values() if len(said) == size] for size in sizes}
    return [(k, len(of[k]), sum(len(set(said)) == 1 for said in of[k]) if k > 1 else None) for k in sizes]


@pytest.mark.parametrize("seed", range(5))
def test_items_are_counted_by_the_number_of_their_judges(seed, tmp_path):
    source = np.random.default_rng(seed)
    rows = list(zip(*(source.integers(0, most, 200).tolist() for most in (6, 60, 3)), strict=True))
    table = pl.DataFrame(rows, schema=["judge", "item", "grade"], orient="row").cast({"judge": str, "item": str})
    found = audit(kt.read_judgments(table, repeats="last"), approach=("mv",))
    assert [tuple(count) for count in found.counts] == count_by_hand(rows)
    (tmp_path / "audit.json").write_text(found.to_json())
    assert kt.read_result(tmp_path / "audit.json").result.counts == found.counts


def test_statistics_of_the_initial_sampling_are_those_of_the_paper():
    """[NOISY18] table 3: pairs by the number of their judges, and whether these agree."""
    sizes, agree = {1: 251, 2: 1330, 3: 18_900}, {2: 1034, 3: 13_707}
    rows = np.full((3, sum(sizes.values())), -1)
    start = 0
    for judges, items in sizes.items():
        rows[:judges, start : start + items] = 1
        rows[0, start + agree.get(judges, items) : start + items] = 0
        start += items
    counts = Panel.of(judge(rows), np.full(rows.shape[1], -1, np.int8)).count_items()
    assert counts == ((1, 251, None), (2, 1330, 1034), (3, 18_900, 13_707))
    assert [count.items - count.agree for count in counts[1:]] == [296, 5193]


def test_counts_are_in_the_table_of_the_panel(found):
    (table,) = (table for section in view_audit(found).sections for table in section.tables if table.name == "counts")
    ((judges, items, agreed),) = found.counts
    assert table.frame.row(0) == (5, 200, agreed, 200 - agreed) == (judges, items, agreed, items - agreed)
    with pytest.raises(DataError, match="counts"):
        replace(found, counts=(ItemCount(5, 199, agreed),))


@pytest.mark.parametrize(
    ("name", "sizes"), [("snow-rte", {10: 800}), ("trec-crowd-2011", None), ("duchenne-wvscm", None)]
)
def test_items_of_real_crowds_are_counted(shared_data, name, sizes):
    path = shared_data / name / "labels.tsv.gz"
    rows = pl.read_csv(path, separator="\t", infer_schema=False).rows()
    found = audit(kt.read_judgments(path), approach=("mv",))
    expected = count_by_hand((judge, item, grade) for item, judge, grade, *_ in rows)
    assert [tuple(count) for count in found.counts] == expected
    assert sizes is None or {count.judges: count.items for count in found.counts} == sizes
