"""Where cells are run: a cluster finds what one process finds; what is wrong with a cluster is told, not waited for."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import polars as pl
import pytest

from karatage.errors import DataError, OptionError
from karatage.experiments import engines
from karatage.experiments.engine import Cell, Execution, Finding, run_cells
from karatage.experiments.engines import _Parcel


def make_works():
    """Functions that travel by value, since workers cannot import this file."""

    def find(k, context):
        noise = np.random.default_rng(k).normal(size=300)
        value = np.sort(context["grades"][:300] * noise)
        return Finding(pl.DataFrame({"k": k, "value": value}), {"mean": float(value.mean()), "k": k})

    def fail(_):
        return {}["missing"]

    def die(_):
        os._exit(3)

    def sleep(_):
        time.sleep(30)

    return find, fail, die, sleep


find, fail, die, sleep = make_works()
CONTEXT = {"grades": np.linspace(0, 1, 100_000), "names": ["a", "b"]}
CELLS = [Cell(name=f"set/{k}", key={"k": k}, work=partial(find, k)) for k in range(12)]
CELLS.append(Cell(name="set/broken", key={}, work=fail))


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes of one thread."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address.replace("tcp://", "dask://")


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(engines, "PATIENCE", 0.5)


def listing(outcomes):
    return [(o.name, o.status, o.reason, dict(o.facts), o.table.to_dict(as_series=False)) for o in outcomes]


def test_a_cluster_and_processes_find_what_one_process_finds(cluster, tmp_path):
    alone = run_cells(CELLS, context=CONTEXT)
    assert [o.status for o in alone] == ["done"] * 12 + ["failed"]
    told = []
    how = {
        "processes": Execution(workers=2),
        "cluster": Execution(engine=cluster, progress=lambda *step: told.append(step)),
    }
    for name, execution in how.items():
        found = run_cells(CELLS, folder=tmp_path / name, execution=execution, context=CONTEXT)
        assert listing(found) == listing(alone)
        assert len(list((tmp_path / name).glob("*.parquet"))) == 13
    assert [step[:2] for step in told] == [(k, 13) for k in range(1, 14)]
    assert {step[2] for step in told} == {cell.name for cell in CELLS}
    # What one engine began another goes on with.
    for path in sorted((tmp_path / "cluster").glob("*.parquet"))[::2]:
        path.unlink()
    found = run_cells(CELLS, folder=tmp_path / "cluster", context=CONTEXT)
    assert listing(found) == listing(alone)
    assert sum(o.kept for o in found) in {5, 6}


def test_a_finished_run_asks_no_cluster(tmp_path):
    run_cells(CELLS[:2], folder=tmp_path, context=CONTEXT)
    again = run_cells(CELLS[:2], folder=tmp_path, execution=Execution(engine="dask://nowhere.invalid:1"))
    assert all(o.kept for o in again)


def test_workers_with_other_versions_are_refused(cluster, monkeypatch):
    here = engines.list_versions()
    monkeypatch.setattr(engines, "list_versions", lambda: {**here, "karatage": "99.0"})
    expected = (
        rf"worker tcp://\S+ has karatage {here['karatage']}, but here is karatage 99.0; install the same versions"
    )
    with pytest.raises(DataError, match=expected):
        run_cells(CELLS, execution=Execution(engine=cluster), context=CONTEXT)
    monkeypatch.setattr(engines, "_PYTHON", "3.99")
    with pytest.raises(DataError, match=r"\b3\b.*here.*\b3\.99\b"):
        run_cells(CELLS, execution=Execution(engine=cluster), context=CONTEXT)


def test_workers_without_karatage_are_refused(cluster, monkeypatch):
    monkeypatch.setattr(engines, "_DECISIVE", ("karatage-elsewhere",))
    monkeypatch.setattr(engines, "list_versions", lambda: {"karatage-elsewhere": "1.0"})
    with pytest.raises(DataError, match=r"\b1\.0\b"):
        run_cells(CELLS, execution=Execution(engine=cluster), context=CONTEXT)


def test_an_address_where_nobody_listens_is_told_soon(hasty):
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        port = line.getsockname()[1]
    for host, reason in (("127.0.0.1", "Connection refused"), ("nowhere.invalid", ".+"), ("[::1]", ".+")):
        with pytest.raises(DataError, match=rf"cannot be reached \({reason}\); start it with: dask scheduler --port"):
            run_cells(CELLS, execution=Execution(engine=f"dask://{host}:{port}"))


@pytest.mark.parametrize("greeting", [None, b"", b"SSH-2.0-OpenSSH_9.6\r\n"])
def test_another_service_at_the_address_is_told_soon(hasty, greeting):
    with socket.create_server(("127.0.0.1", 0)) as line:

        def serve():
            talk, _ = line.accept()
            with talk:
                if greeting is None:
                    talk.recv(1)
                else:
                    talk.sendall(greeting)

        server = threading.Thread(target=serve)
        server.start()
        expected = "no answer" if greeting is None else "is not a Dask scheduler; start one with: dask scheduler"
        with pytest.raises(DataError, match=expected):
            run_cells(CELLS, execution=Execution(engine=f"dask://127.0.0.1:{line.getsockname()[1]}"))
        server.join()


def test_without_dask_there_is_advice(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(OptionError, match="dask://h:1"):
        run_cells(CELLS, execution=Execution(engine="dask://h:1"))


@pytest.mark.parametrize(
    "engine", ["", "dask", "dask://", "dask://host", "dask://host:0", "dask://host:99999", "dask://a b:1", "tcp://h:1"]
)
def test_engines_that_are_none_are_refused(engine):
    with pytest.raises(OptionError, match="dask://host:8786"):
        Execution(engine=engine)


def test_a_cluster_has_its_own_workers():
    with pytest.raises(OptionError, match=r"\b2\b.*dask://host:8786"):
        Execution(engine="dask://host:8786", workers=2)


@pytest.fixture
def scheduler():
    """A scheduler process of its own, without workers."""
    code = "from distributed.cli.dask_scheduler import main; main()"
    command = [sys.executable, "-c", code, "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-jupyter"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        line = next(line for line in process.stderr if "Scheduler at" in line)
        yield process, line.split()[-1].replace("tcp://", "dask://")
        process.kill()


def test_a_cluster_without_workers_and_one_that_goes_away(scheduler, hasty, monkeypatch, tmp_path):
    process, engine = scheduler
    with pytest.raises(DataError, match=r"\b127\.0\.0\.1\b"):
        run_cells(CELLS, execution=Execution(engine=engine))
    code = "from distributed.cli.dask_worker import main; main()"
    command = [sys.executable, "-c", code, engine[7:], "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    monkeypatch.setattr(engines, "PATIENCE", 20.0)
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as worker:
        cells = [*CELLS[:3], Cell(name="slow", key={}, work=sleep)]
        how = Execution(engine=engine, progress=lambda done, *_: done == 3 and process.send_signal(signal.SIGKILL))
        with pytest.raises(DataError, match="scheduler"):
            run_cells(cells, folder=tmp_path, execution=how, context=CONTEXT)
        worker.kill()
    assert [o.kept for o in run_cells(CELLS[:3], folder=tmp_path, context=CONTEXT)] == [True] * 3


def test_a_cell_that_kills_workers_is_told(cluster):
    cells = [Cell(name="deadly", key={}, work=die)]
    with pytest.raises(DataError, match="scheduler"):
        run_cells(cells, execution=Execution(engine=cluster))


def test_a_parcel_holds_arrays_apart_and_is_unpacked_once():
    context = {
        "big": np.arange(100_000),
        "empty": np.empty((0, 3)),
        "turned": np.arange(6.0).reshape(2, 3).T,
        "text": "x",
    }
    parcel = _Parcel.of(context)
    assert parcel.content.nbytes < 1000
    found = parcel.unpack()
    assert parcel.unpack() is found
    assert found["text"] == "x"
    for name in ("big", "empty", "turned"):
        np.testing.assert_array_equal(found[name], context[name])
        assert found[name].dtype == context[name].dtype
    assert np.shares_memory(found["big"], context["big"])
    assert _Parcel.of({}).unpack() == {}
