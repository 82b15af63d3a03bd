"""Unit tests of progress as the library tells it."""

import karatage as kt
from karatage.progress import follow, watch


def listen():
    told = []
    return told, lambda done, total, name: told.append((done, total, name))


def test_parts_pass_unchanged_whether_or_not_somebody_watches():
    told, watcher = listen()
    assert list(follow(iter("abc"), 3, "letters")) == ["a", "b", "c"]
    with watch(watcher):
        assert list(follow(iter("abc"), 3, "letters")) == ["a", "b", "c"]
    assert told == [(0, 3, "letters"), (1, 3, "letters"), (2, 3, "letters"), (3, 3, "letters")]


def test_a_single_part_is_not_told_and_nobody_is_told_afterwards():
    told, watcher = listen()
    with watch(watcher):
        list(follow([1], 1, "one"))
    list(follow([1, 2], 2, "later"))
    assert told == []


def test_inner_watchers_come_first_and_outer_ones_come_back():
    outer, first = listen()
    inner, second = listen()
    with watch(first):
        with watch(second):
            list(follow([1, 2], 2, "inner"))
        list(follow([1, 2], 2, "outer"))
    assert {name for *_, name in inner} == {"inner"}
    assert {name for *_, name in outer} == {"outer"}


def test_long_work_tells_its_parts_and_finds_the_same(tmp_path):
    world = kt.simulation.simulate_collection(systems=3, topics=12, depth=10, rng=7)
    for system in world.runs.systems:
        kt.write_run(world.runs, system, tmp_path / f"{system}.gz")

    def work():
        runs = kt.read_runs(tmp_path)
        board = kt.evaluate(runs, world.judgments, "AP", approach=["sgl_tau_own4", "sgl_tau_msd"], rng=1)
        audit = kt.audit(world.judgments, gold=world.gold, rng=1, approach=["mv", "zc"])
        answer = kt.compare_all(runs, world.judgments, world.gold, "P@5")
        return board.to_json(), audit.to_json(), answer.to_json()

    alone = work()
    told, watcher = listen()
    with kt.watch(watcher):
        assert work() == alone
    ends = {name: total for done, total, name in told if done == total}
    assert ends["files of runs"] == 3
    assert ends["judges weighted"] == len(world.judgments.judges)
    assert ends["merges"] == 3
    assert {"approaches", "groups of random judges", "resampled leaderboards"} <= ends.keys()
