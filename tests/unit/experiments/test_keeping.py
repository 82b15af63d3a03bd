"""Files of results: damage is noticed before Parquet is read, told, and computed again; one process at a time."""

import os
import random
import shutil
import subprocess
import sys
from functools import partial

import polars as pl
import pytest

from karatage.errors import DataError
from karatage.experiments import engine
from karatage.experiments.engine import Cell, Execution, Finding, Record, open_store, run_cells, tell_outcomes
from karatage.io.files import hold_folder


def find(k, _):
    return Finding(pl.DataFrame({"k": [k] * 50, "text": [f"row {k}"] * 50}), {"k": k})


CELLS = [Cell(name=f"set/{k}", key={"k": k}, work=partial(find, k)) for k in range(2)]


@pytest.fixture
def files(tmp_path):
    run_cells(CELLS, folder=tmp_path)
    return sorted(tmp_path.glob("*.parquet"))


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= 1 << place % 8
    path.write_bytes(content)


def damages():
    source = random.Random(4)
    for _ in range(20):
        place = source.randrange(10**6)
        yield pytest.param(lambda path, _, place=place: flip(path, place), id=f"byte {place}")
    yield pytest.param(lambda path, _: path.write_bytes(b""), id="empty")
    yield pytest.param(lambda path, _: path.write_bytes(path.read_bytes()[:-1]), id="one byte short")
    yield pytest.param(lambda path, _: path.write_bytes(path.read_bytes()[:300]), id="cut short")
    yield pytest.param(lambda path, _: path.write_bytes(path.read_bytes() + b"x"), id="too long")
    yield pytest.param(lambda path, _: path.write_bytes(b"PAR1 nonsense PAR1"), id="nonsense")
    yield pytest.param(lambda path, other: shutil.copyfile(other, path), id="another cell's content")


@pytest.mark.parametrize("damage", list(damages()))
def test_damage_is_noticed_told_and_computed_again(files, tmp_path, monkeypatch, damage):
    bad, good = files
    damage(bad, good)
    read = pl.read_parquet_metadata
    seen = []
    monkeypatch.setattr(
        engine.pl, "read_parquet_metadata", lambda source: seen.append(source.getvalue()) or read(source)
    )
    outcomes = run_cells(CELLS, folder=tmp_path)
    assert seen == [good.read_bytes()]  # what is damaged never gets to the reader
    assert [o.kept for o in outcomes] == [False, True]
    assert outcomes[0].table.equals(find(0, None).table)
    (note,) = tell_outcomes(outcomes)
    assert note.facts == {"file": bad.name}
    again = run_cells(CELLS, folder=tmp_path)
    assert [o.kept for o in again] == [True, True]
    assert list(tell_outcomes(again)) == []
    assert len(list(tmp_path.glob("*.parquet"))) == 2


def test_a_sound_file_of_another_cell_is_noticed(files, tmp_path):
    first, second = files
    digest = second.name.split(".")[-2]
    first.unlink()
    second.rename(tmp_path / f"{CELLS[0].stem}.{digest}.parquet")
    outcomes = run_cells(CELLS, folder=tmp_path)
    assert [o.facts["k"] for o in outcomes] == [0, 1]
    assert [bool(o.damaged) for o in outcomes] == [True, False]


def test_a_sound_parquet_of_nobody_is_noticed(tmp_path, files):
    for path in files:
        path.unlink()
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "x")
    content = (tmp_path / "x").read_bytes()
    (tmp_path / f"{CELLS[0].stem}.{engine._digest(content)}.parquet").write_bytes(content)
    assert [len(o.damaged) for o in run_cells(CELLS, folder=tmp_path)] == [1, 0]


def test_many_damaged_files_are_one_note(files, tmp_path):
    for path in files:
        path.write_bytes(b"")
    (note,) = tell_outcomes(run_cells(CELLS, folder=tmp_path))
    assert note.facts == {"files": 2, "first": files[0].name}


def test_the_newest_of_two_results_counts(tmp_path):
    """A run that is killed between writing a result and removing the one before it leaves both."""
    about = {"fingerprint": "f", "status": "failed"}
    for number in range(6):
        home = tmp_path / str(number)
        with open_store(home) as store:
            store.keep("a.0123456789ab", Record({**about, "n": number}, pl.DataFrame()))
        (old,) = home.glob("*.parquet")
        saved = old.read_bytes()
        with open_store(home) as store:
            store.keep("a.0123456789ab", Record({**about, "status": "done"}, pl.DataFrame()))
            assert not old.exists()
        old.write_bytes(saved)
        os.utime(old, (1, 1))
        with open_store(home) as store:
            search = store.look_up("a.0123456789ab", "f")
        assert search.record.about["status"] == "done"
        assert search.damaged == ()
        assert len(list(home.glob("*.parquet"))) == 1


def test_what_a_killed_run_left_half_written_is_removed_and_nothing_else(files, tmp_path):
    half = tmp_path / f".{files[0].name}.4711.{42:08x}.part"
    others = [tmp_path / name for name in (".mine.part", "notes.txt", "old.parquet", f"{files[0].name}.part")]
    for path in (half, *others):
        path.write_bytes(b"x")
    run_cells(CELLS, folder=tmp_path)
    assert not half.exists()
    assert all(path.exists() for path in others)


def test_fresh_replaces_what_is_there(files, tmp_path):
    outcomes = run_cells(CELLS, folder=tmp_path, execution=Execution(fresh=True))
    assert not any(o.kept for o in outcomes)
    assert len(list(tmp_path.glob("*.parquet"))) == 2


def test_a_second_run_in_the_same_folder_is_refused(tmp_path):
    with (
        hold_folder(tmp_path),
        pytest.raises(DataError, match=rf"\(process {os.getpid()}"),
    ):
        run_cells(CELLS, folder=tmp_path)
    run_cells(CELLS, folder=tmp_path)


def test_a_killed_process_keeps_nobody_out(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from karatage.io.files import hold_folder\n"
        "with hold_folder(Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(DataError, match=rf"\(process {other.pid} on"):
            run_cells(CELLS, folder=tmp_path)
        other.kill()
    assert len(run_cells(CELLS, folder=tmp_path)) == 2
