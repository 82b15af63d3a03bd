"""Where addresses are limited: fewer threads, and no arena for each of them."""

import os
import resource
import subprocess
import sys

import pytest

from karatage import memory
from karatage.kernels.threads import count_threads

GIGABYTE = 2**30
ARENAS = """
import threading, karatage
def work():
    kept = [bytearray(20_000) for _ in range(10)]  # too large for Python's own pools
    ready.wait()
ready = threading.Barrier(17)
for _ in range(16):
    threading.Thread(target=work, daemon=True).start()
ready.wait()
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmPeak")))
"""


def test_without_a_limit_nothing_changes(monkeypatch):
    monkeypatch.setattr(memory, "find_limit", lambda: None)
    before = dict(os.environ)
    memory.spare_addresses()
    assert dict(os.environ) == before
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))
    assert memory.count_cores() == 64


@pytest.mark.parametrize(("limit", "threads"), [(2 * GIGABYTE, 4), (GIGABYTE // 4, 1), (500 * GIGABYTE, 64)])
def test_threads_are_as_many_as_there_are_addresses_for(monkeypatch, limit, threads):
    monkeypatch.setattr(memory, "find_limit", lambda: limit)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))
    monkeypatch.delenv("KARATAGE_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")  # what the user says stands
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    memory.spare_addresses()
    assert os.environ["POLARS_MAX_THREADS"] == str(threads)
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert memory.count_cores() == count_threads() == threads


def limit_addresses():
    resource.setrlimit(resource.RLIMIT_AS, (4 * GIGABYTE, 4 * GIGABYTE))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_threads_share_their_arenas_under_a_limit():
    run = [sys.executable, "-c", ARENAS]
    free, limited = (
        int(subprocess.run(run, preexec_fn=limit, capture_output=True, text=True, check=True).stdout)
        for limit in (None, limit_addresses)
    )
    assert free - limited > 4 * 64 * 1024  # kB: an arena reserves 64 MB, and there are eight at least


def test_the_limit_is_found(monkeypatch):
    for soft, found in ((2 * GIGABYTE, 2 * GIGABYTE), (resource.RLIM_INFINITY, None)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, soft=soft: (soft, resource.RLIM_INFINITY))
        assert memory.find_limit() == found


@pytest.mark.parametrize("least", ["_count_machine", "_count_container", "_count_addresses"])
def test_free_memory_is_the_least_of_three_and_never_negative(monkeypatch, least):
    for name in ("_count_machine", "_count_container", "_count_addresses"):
        monkeypatch.setattr(memory, name, lambda: memory.ENDLESS)
    for found, free in ((5, 5), (-5, 0)):
        monkeypatch.setattr(memory, least, lambda found=found: found)
        assert memory.count_free_memory() == free


@pytest.mark.parametrize(
    ("limit", "used"),
    [("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes")],
)
def test_a_container_leaves_what_it_does_not_use(monkeypatch, tmp_path, limit, used):
    monkeypatch.setattr(memory, "Path", lambda _: tmp_path)
    assert memory._count_container() == memory.ENDLESS
    (tmp_path / "memory").mkdir()
    (tmp_path / limit).write_text("1000\n")
    (tmp_path / used).write_text("400\n")
    assert memory._count_container() == 600
    (tmp_path / limit).write_text("max\n")
    assert memory._count_container() == memory.ENDLESS
