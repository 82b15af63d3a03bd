"""The runner: order, resuming, interruption, failures, several workers."""

import operator
import os
from functools import partial

import polars as pl
import pytest

from karatage.errors import DataError, OptionError
from karatage.experiments import engine
from karatage.experiments.engine import Cell, Execution, Finding, run_cells, tell_failures
from karatage.io.grades import parse_scale


class Counter:
    """Work that counts how often it is done."""

    def __init__(self):
        self.calls = []

    def cell(self, k, **key):
        def work():
            self.calls.append(k)
            return Finding(pl.DataFrame({"k": [k, k]}), {"square": k * k, "name": f"no {k}", "none": None})

        return Cell(name=f"set/{k}", key={"k": k, **key}, work=work)


@pytest.fixture
def counter():
    return Counter()


def test_outcomes_come_in_order_with_table_and_facts(counter):
    outcomes = run_cells([counter.cell(k) for k in (3, 1, 2)])
    assert [o.name for o in outcomes] == ["set/3", "set/1", "set/2"]
    assert [o.table["k"].to_list() for o in outcomes] == [[3, 3], [1, 1], [2, 2]]
    assert outcomes[0].facts == {"square": 9, "name": "no 3", "none": None}
    assert {o.status for o in outcomes} == {"done"}


def test_what_is_done_is_not_done_again(counter, tmp_path):
    first = run_cells([counter.cell(1), counter.cell(2)], folder=tmp_path)
    again = run_cells([counter.cell(k) for k in (2, 3, 1)], folder=tmp_path)
    assert counter.calls == [1, 2, 3]
    assert [o.kept for o in again] == [True, False, True]
    kept = again[2]
    assert (kept.name, kept.facts, kept.seconds) == (first[0].name, first[0].facts, first[0].seconds)
    assert kept.table.equals(first[0].table)


def test_fresh_or_another_key_or_another_version_is_done_again(counter, tmp_path, monkeypatch):
    run_cells([counter.cell(1, seed=0)], folder=tmp_path)
    run_cells([counter.cell(1, seed=1)], folder=tmp_path)
    run_cells([counter.cell(1, seed=0)], folder=tmp_path)
    assert counter.calls == [1, 1]
    run_cells([counter.cell(1, seed=0)], folder=tmp_path, execution=Execution(fresh=True))
    assert counter.calls == [1, 1, 1]
    monkeypatch.setattr(engine, "version", lambda _: "99.0")
    run_cells([counter.cell(1, seed=0)], folder=tmp_path)
    assert counter.calls == [1, 1, 1, 1]


def test_an_interrupted_run_loses_nothing(counter, tmp_path):
    def interrupt():
        raise KeyboardInterrupt

    cells = [counter.cell(1), counter.cell(2), Cell(name="set/x", key={}, work=interrupt), counter.cell(3)]
    with pytest.raises(KeyboardInterrupt):
        run_cells(cells, folder=tmp_path)
    assert counter.calls == [1, 2]
    run_cells([counter.cell(1), counter.cell(2), counter.cell(3)], folder=tmp_path)
    assert counter.calls == [1, 2, 3]
    assert not list(tmp_path.glob(".*"))  # no half-written file


@pytest.mark.parametrize("damage", [b"", b"PAR1 nonsense PAR1", None])
def test_a_damaged_result_is_done_again(counter, tmp_path, damage):
    run_cells([counter.cell(1)], folder=tmp_path)
    (path,) = tmp_path.iterdir()
    if damage is None:
        pl.DataFrame({"a": [1]}).write_parquet(path)  # no metadata
    else:
        path.write_bytes(damage)
    assert run_cells([counter.cell(1)], folder=tmp_path)[0].facts["square"] == 1
    assert counter.calls == [1, 1]


def test_a_result_of_other_work_does_not_count(counter, tmp_path):
    run_cells([counter.cell(1)], folder=tmp_path)
    (path,) = tmp_path.iterdir()
    path.rename(counter.cell(2).path(tmp_path))
    assert run_cells([counter.cell(2)], folder=tmp_path)[0].facts["square"] == 4
    assert counter.calls == [1, 2]


def test_a_failure_is_recorded_stops_nothing_and_is_tried_again(counter, tmp_path):
    broken = Cell(name="set/broken", key={}, work=partial(operator.truediv, 1, 0))
    cells = [broken, counter.cell(1)]
    for _ in range(2):
        outcomes = run_cells(cells, folder=tmp_path)
        assert [o.status for o in outcomes] == ["failed", "done"]
        assert outcomes[0].reason == "ZeroDivisionError: division by zero"
        assert not outcomes[0].kept
    note = "1 cell failed with ZeroDivisionError: division by zero, the first 'set/broken'; run again to retry"
    assert tell_failures(outcomes) == (note,)
    assert counter.calls == [1]


def test_what_cannot_be_done_is_skipped_with_its_reason_and_not_tried_again(tmp_path):
    cell = Cell(name="set/impossible", key={}, work=partial(parse_scale, "nonsense"))
    first, again = (run_cells([cell], folder=tmp_path)[0] for _ in range(2))
    assert (first.status, first.kept) == ("skipped", False)
    assert (again.status, again.kept) == ("skipped", True)
    assert first.reason == again.reason == "grades 'nonsense' is neither a scale like 0-3 nor a mapping like yes=1"
    assert tell_failures([first]) == ()


def test_two_workers_find_the_same(tmp_path):
    cells = [Cell(name=f"set/{k}", key={}, work=partial(Finding, pl.DataFrame({"k": [k]}), {"k": k})) for k in range(5)]
    cells.append(Cell(name="set/broken", key={}, work=partial(operator.truediv, 1, 0)))
    alone = run_cells(cells)
    together = run_cells(cells, folder=tmp_path, execution=Execution(workers=2))
    assert [(o.name, o.status, o.reason, o.facts) for o in together] == [
        (o.name, o.status, o.reason, o.facts) for o in alone
    ]
    assert len(list(tmp_path.glob("*.parquet"))) == 6


def test_progress_counts_every_cell(counter, tmp_path):
    told = []
    run_cells([counter.cell(2)], folder=tmp_path)
    how = Execution(progress=lambda *step: told.append(step))
    run_cells([counter.cell(k) for k in (1, 2)], folder=tmp_path, execution=how)
    assert told == [(1, 2, "set/2"), (2, 2, "set/1")]


def test_names_that_look_alike_in_a_file_system_do_not_meet(tmp_path):
    cells = [
        Cell(name=name, key={}, work=partial(Finding, pl.DataFrame({"n": [name]})))
        for name in ("a/b", "a_b", "a b", "é")
    ]
    run_cells(cells, folder=tmp_path)
    assert [o.table["n"][0] for o in run_cells(cells, folder=tmp_path)] == ["a/b", "a_b", "a b", "é"]


def test_workers_from_one():
    with pytest.raises(OptionError, match="workers 0 must be at least 1"):
        Execution(workers=0)


def test_a_process_that_dies_is_told(tmp_path):
    cells = [Cell(name=f"set/{k}", key={}, work=partial(os._exit, 3)) for k in range(2)]
    with pytest.raises(DataError, match=r"a process died.*run again with fewer workers"):
        run_cells(cells, folder=tmp_path, execution=Execution(workers=2))
