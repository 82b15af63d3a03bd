"""The tables' layout on results made up by hand."""

import polars as pl
import pytest

from karatage.errors import OptionError
from karatage.experiments.engine import Outcome
from karatage.experiments.square.findings import Benchmark, CellResult, DataSetFacts, read_credits
from tests.notes import gives

ITEMS = 60
RIGHT = {  # items of 60 that are right: by data set, approach, supervision
    "easy": {("mv", "none"): 50, ("ds", "none"): 51, ("ds", "light"): 52, ("ds", "full"): 59, ("nb", "full"): 30},
    "hard": {("mv", "none"): 40, ("ds", "none"): 30, ("ds", "light"): 30, ("ds", "full"): 41, ("nb", "full"): 40},
    "many": {("mv", "none"): 10, ("ds", "none"): 10, ("ds", "light"): 10, ("ds", "full"): 10},
}


def make_cell(data_set, approach, supervision, right):
    amount = 0 if supervision == "none" else 50
    if right is None:
        outcome = Outcome(name="", status="skipped", reason="cannot")
        return CellResult(data_set, approach, supervision, amount, outcome)
    gold = [k % 2 for k in range(ITEMS)]
    grade = [g if k < right else 1 - g for k, g in enumerate(gold)]
    table = pl.DataFrame({"gold": gold, "grade": grade, "winners": [[g] for g in grade]})
    facts = {"accuracy": right / ITEMS, "f1": right / ITEMS, "items": ITEMS, "folds": 1}
    outcome = Outcome(name="", status="done", facts=facts, table=table)
    return CellResult(data_set, approach, supervision, amount, outcome)


@pytest.fixture
def result():
    cells = tuple(
        make_cell(name, approach, supervision, right.get((approach, supervision)))
        for name, right in RIGHT.items()
        for approach in ("mv", "ds", "nb")
        for supervision in ("none", "light", "full")
    )
    facts = tuple(DataSetFacts(name, 600, 10, ITEMS, ITEMS, (0, 1), ()) for name in RIGHT)
    return Benchmark(cells=cells, data_sets=facts, seed=0)


def test_averages_are_over_the_sets_all_could_do(result):
    assert result.common_sets == ("easy", "hard")
    table = result.averages()
    assert table.columns == ["approach", "quality", "none", "light 50", "full 50", "maxima"]
    accuracy = table.filter(quality="accuracy")
    assert accuracy["approach"].to_list() == ["mv", "ds", "nb"]
    assert accuracy["none"].to_list() == pytest.approx([90 / 120, 81 / 120, None])
    assert accuracy["light 50"].to_list() == pytest.approx([None, 82 / 120, None])
    assert accuracy["full 50"].to_list() == pytest.approx([None, 100 / 120, 70 / 120])
    assert accuracy["maxima"].to_list() == [1, 2, 0]


def test_rounding_does_not_decide_who_has_the_maximum():
    def cell(approach, value):
        outcome = Outcome(name="", status="done", facts={"accuracy": value, "f1": None})
        return CellResult("set", approach, "none", 0, outcome)

    facts = DataSetFacts("set", 1, 1, 1, 1, (0, 1), ())
    table = Benchmark(cells=(cell("a", 0.1 + 0.2), cell("b", 0.3)), data_sets=(facts,), seed=0).averages()
    assert table.filter(quality="accuracy")["maxima"].to_list() == [1, 1]


def test_a_set_has_the_same_table(result):
    table = result.table(("many",)).filter(quality="accuracy")
    assert table["none"].to_list() == pytest.approx([1 / 6, 1 / 6, None])
    assert table["maxima"].to_list() == [1, 3, 0]


def test_no_mean_over_sets_of_which_one_is_missing(result):
    table = result.table(("easy", "many")).filter(quality="accuracy")
    assert table["full 50"].to_list() == pytest.approx([None, 69 / 120, None])


def test_leaders_stand_best_first_then_by_number(result):
    rows = result.leaders().filter(quality="accuracy").rows()
    assert [row[0] for row in rows] == ["easy", "hard", "many"]
    assert rows[0][2:] == (pytest.approx(59 / 60), "2f", "2")
    # 41 against 30 of the same items: 11 discordant items all one way, p = 2 / 2^11
    assert rows[1][2:] == (pytest.approx(41 / 60), "2f, 1u, 3f", "1-3")
    assert rows[2][3:] == ("1u, 2ulf", "1, 2")


def test_the_race_holds_the_p_values(result):
    race = result.race().filter(data_set="hard", quality="accuracy")
    p_value = {(row["approach"], row["supervision"]): row["p_value"] for row in race.iter_rows(named=True)}
    assert p_value["ds", "none"] == pytest.approx(2 / 2**11)
    assert p_value["mv", "none"] == 1.0
    assert race.filter("best")["supervision"].to_list() == ["full"]
    assert race["value"].is_sorted(descending=True)


def test_the_level_decides_who_leads(result):
    strict = result.leaders(level=1e-6).filter(data_set="hard", quality="accuracy")
    assert strict["leaders"][0] == "2f, 1u, 2ul, 3f"
    with pytest.raises(OptionError, match=r"\b20\b.*\b50\b"):
        result.leaders(amount=20)


def test_relative_is_to_majority_vote_without_gold(result):
    relative = result.relative().filter(quality="accuracy", data_set="easy")
    gap = {(row["approach"], row["supervision"]): row["gap"] for row in relative.iter_rows(named=True)}
    assert gap["mv", "none"] == 0
    assert gap["ds", "full"] == pytest.approx(9 / 60)
    assert gap["nb", "full"] == pytest.approx(-20 / 60)


def test_the_sentence_gives_the_best_with_and_without_gold(result):
    assert gives(result.sentence, 2, "mv", ".750", "50%", "full", "ds", ".833", "ds", 3, 3)


def test_no_common_set_is_said(result):
    cells = tuple(cell for cell in result.cells if (cell.data_set == "easy") == (cell.approach == "mv"))
    alone = Benchmark(cells=cells, data_sets=result.data_sets, seed=0)
    assert alone.common_sets == ()
    assert alone.averages()["maxima"].sum() == 0


def test_credits_come_back_from_a_table():
    table = pl.DataFrame({"gold": [2, 7, 5], "winners": [[2], [2, 7], [2, 5, 7]]})
    credit, gold = read_credits(table, (2, 5, 7))
    assert credit.tolist() == [[1, 0, 0], [0.5, 0, 0.5], [pytest.approx(1 / 3)] * 3]
    assert gold.tolist() == [0, 2, 1]


def test_gold_that_does_not_help_is_said(result):
    cells = tuple(cell for cell in result.cells if cell.data_set == "hard" and cell.supervision != "full")
    alone = Benchmark(cells=cells, data_sets=result.data_sets[1:2], seed=0)
    assert gives(alone.sentence, "hard", "mv", ".667", "50%", "light", "ds", ".500")


def test_a_set_without_positive_gold_does_not_take_the_others_f1_away(result):
    facts = {"accuracy": 0.5, "f1": None}
    cells = tuple(
        cell._replace(outcome=Outcome(name="", status="done", facts=facts, table=cell.outcome.table))
        if cell.data_set == "hard" and cell.outcome.status == "done"
        else cell
        for cell in result.cells
    )
    table = Benchmark(cells=cells, data_sets=result.data_sets, seed=0).averages()
    assert table.filter(approach="mv", quality="f1")["none"][0] == pytest.approx(50 / 60)
    assert table.filter(approach="mv", quality="accuracy")["none"][0] == pytest.approx((50 / 60 + 0.5) / 2)


def test_one_approach_is_compared_with_nothing(result):
    cells = tuple(cell for cell in result.cells if cell.approach == "mv" and cell.data_set != "many")
    alone = Benchmark(cells=cells, data_sets=result.data_sets[:2], seed=0)
    assert gives(alone.sentence, 2, "mv", ".750")
