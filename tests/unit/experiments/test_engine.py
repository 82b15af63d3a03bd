"""The runner: order, resuming, interruption, failures, several workers."""

import errno
import os
import re
import stat
import time
from functools import partial

import numpy as np
import polars as pl
import pytest

from karatage.errors import DataError, OptionError
from karatage.experiments import engine
from karatage.experiments.engine import Cell, Execution, Finding, run_cells, tell_outcomes
from karatage.io.judgments import parse_scale


def make_works():
    """Functions that travel by value, since other processes cannot import this file."""

    def find(k, context):
        return Finding(pl.DataFrame({"k": [k]}), {"k": k, "sum": None if context is None else float(context.sum())})

    def find_slowly(k, context):
        time.sleep(0.05 * (k > 2))  # some are still at it when the disk is full
        return find(k, context)

    def divide(_):
        return 1 / 0

    return find, find_slowly, divide


find, find_slowly, divide = make_works()


class Counter:
    """Work that counts how often it is done."""

    def __init__(self):
        self.calls = []

    def cell(self, k, **key):
        def work(_):
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
    def interrupt(_):
        raise KeyboardInterrupt

    cells = [counter.cell(1), counter.cell(2), Cell(name="set/x", key={}, work=interrupt), counter.cell(3)]
    with pytest.raises(KeyboardInterrupt):
        run_cells(cells, folder=tmp_path)
    assert counter.calls == [1, 2]
    run_cells([counter.cell(1), counter.cell(2), counter.cell(3)], folder=tmp_path)
    assert counter.calls == [1, 2, 3]
    assert [path.name for path in tmp_path.glob(".*")] == [".lock"]  # no half-written file


def test_a_failure_is_recorded_stops_nothing_and_is_tried_again(counter, tmp_path):
    broken = Cell(name="set/broken", key={}, work=divide)
    cells = [broken, counter.cell(1)]
    for _ in range(2):
        outcomes = run_cells(cells, folder=tmp_path)
        assert [o.status for o in outcomes] == ["failed", "done"]
        assert outcomes[0].reason == "ZeroDivisionError: division by zero"
        assert not outcomes[0].kept
    (note,) = tell_outcomes(outcomes)
    assert note.facts == {"cells": 1, "reason": "ZeroDivisionError: division by zero", "first": "set/broken"}
    assert counter.calls == [1]


def test_what_cannot_be_done_is_skipped_with_its_reason_and_not_tried_again(tmp_path):
    cell = Cell(name="set/impossible", key={}, work=lambda _: parse_scale("nonsense"))
    first, again = (run_cells([cell], folder=tmp_path)[0] for _ in range(2))
    assert (first.status, first.kept) == ("skipped", False)
    assert (again.status, again.kept) == ("skipped", True)
    assert first.reason == again.reason == "grades 'nonsense' is neither a scale like 0-3 nor a mapping like yes=1"
    assert list(tell_outcomes([first])) == []


def test_two_workers_find_the_same(tmp_path):
    cells = [Cell(name=f"set/{k}", key={}, work=partial(find, k)) for k in range(5)]
    cells.append(Cell(name="set/broken", key={}, work=divide))
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
    cells = [Cell(name=name, key={}, work=partial(find, name)) for name in ("a/b", "a_b", "a b", "é")]
    run_cells(cells, folder=tmp_path)
    assert [o.table["k"][0] for o in run_cells(cells, folder=tmp_path)] == ["a/b", "a_b", "a b", "é"]


def test_workers_from_one():
    with pytest.raises(OptionError, match=r"\b0\b.*\b1\b"):
        Execution(workers=0)


def test_a_process_that_dies_is_told(tmp_path):
    cells = [Cell(name=f"set/{k}", key={}, work=lambda _: os._exit(3)) for k in range(2)]
    with pytest.raises(DataError, match="fewer workers"):
        run_cells(cells, folder=tmp_path, execution=Execution(workers=2))


def test_the_context_is_passed_as_it_is_within_a_process():
    context, got = {"a": np.arange(3)}, []
    cells = [Cell(name=str(k), key={}, work=lambda given: got.append(given) or Finding(pl.DataFrame())) for k in "ab"]
    run_cells(cells, context=context)
    assert got[0] is context
    assert got[1] is context


def test_the_context_reaches_other_processes():
    context = np.arange(200_000) / 7
    cells = [Cell(name=f"set/{k}", key={}, work=partial(find, k)) for k in range(4)]
    alone, together = (run_cells(cells, context=context, execution=Execution(workers=w)) for w in (1, 2))
    assert [o.facts["sum"] for o in alone] == [o.facts["sum"] for o in together] == [float(context.sum())] * 4


def test_a_lost_result_of_several_workers_does_not_come_twice(tmp_path):
    cells = [Cell(name=f"set/{k}", key={}, work=partial(find, k)) for k in range(6)]
    run_cells(cells, folder=tmp_path)
    for path in sorted(tmp_path.glob("*.parquet"))[::2]:
        path.unlink()
    told = []
    how = Execution(workers=2, progress=lambda *step: told.append(step[:2]))
    outcomes = run_cells(cells, folder=tmp_path, execution=how)
    assert [o.kept for o in outcomes] == [False, True] * 3
    assert told == [(3, 6), (4, 6), (5, 6), (6, 6)]
    assert [o.facts["k"] for o in outcomes] == list(range(6))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk_stops_the_run_which_goes_on_later(tmp_path, monkeypatch, workers):
    cells = [Cell(name=f"set/{k}", key={}, work=partial(find_slowly, k)) for k in range(5)]
    room = [None, None, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))]

    def sync(file):
        if not stat.S_ISDIR(os.fstat(file).st_mode) and (problem := room.pop(0)) is not None:
            raise problem

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", sync)
        told = rf"{re.escape(str(tmp_path))}: .*No space left on device.* 2 of 5 cells"
        with pytest.raises(DataError, match=told):
            run_cells(cells, folder=tmp_path, execution=Execution(workers=workers))
    assert len(list(tmp_path.iterdir())) == 3  # with the lock
    outcomes = run_cells(cells, folder=tmp_path)
    assert [o.facts["k"] for o in outcomes] == list(range(5))
    assert sum(o.kept for o in outcomes) == 2


def test_a_folder_that_is_none_is_told(counter, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="file: cannot hold"):
        run_cells([counter.cell(1)], folder=tmp_path / "file")


def test_a_finished_run_can_be_read_where_nothing_can_be_written(counter, tmp_path, monkeypatch):
    run_cells([counter.cell(1)], folder=tmp_path)

    def refuse(*_):
        raise PermissionError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "open", refuse)
    assert run_cells([counter.cell(1)], folder=tmp_path)[0].kept


def test_a_cell_may_lack_a_package(tmp_path):
    def work(_):
        raise ImportError("no module named 'x'")

    assert run_cells([Cell(name="a", key={}, work=work)])[0].reason == "ImportError: no module named 'x'"


def test_what_comes_back_from_a_file_is_what_was_found(tmp_path):
    facts = {"a": 0.1 + 0.2, "b": float("inf"), "c": -0.0, "d": 2**60, "e": True, "f": None, "g": "é\n"}
    columns = {"x": [0.1, None, float("nan")], "s": ["é", "", None], "l": [[1], [], None], "b": [True, False, None]}
    table = pl.DataFrame(columns).with_columns(pl.Series("i", [1, 2, 3], pl.Int8), pl.lit(1.5, pl.Float32).alias("f"))
    cell = Cell(name="a", key={}, work=lambda _: Finding(table, facts))
    first, again = (run_cells([cell], folder=tmp_path)[0] for _ in range(2))
    assert (first.kept, again.kept) == (False, True)
    assert again.table.schema == first.table.schema
    assert again.table.equals(first.table)
    assert repr(again.facts) == repr(first.facts)
