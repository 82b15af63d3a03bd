"""What is written reads back equal."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import karatage as kt
from karatage.errors import DataError, KaratageError
from karatage.io.writing import write_bytes
from tests.notes import gives

SMALL = {"ann": {"1": {"d1": 2, "d2": 0}, "10": {"d1": 1}}, "bob": {"1": {"d1": 3}}}
ODD_NAMES = {"a, b": {'say "hi"': {"d\n1": 1, "é": 0}}, "x\ty": {" q": {"{d}": 2}}}


def rows(judgments: kt.Judgments) -> list[tuple[object, ...]]:
    return judgments.to_frame().rows()


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("kind", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_tables_read_back(kind: str, packing: str, tmp_path: Path) -> None:
    judgments = kt.read_judgments(SMALL)
    path = tmp_path / f"j{kind}{packing}"
    kt.write_judgments(judgments, path)
    magic = {"": b"", ".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}[packing]
    assert path.read_bytes().startswith(magic)
    assert rows(kt.read_judgments(path)) == rows(judgments)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("kind", [".csv", ".jsonl", ".parquet"])
def test_odd_names_read_back(kind: str, tmp_path: Path) -> None:
    judgments = kt.read_judgments(ODD_NAMES)
    kt.write_judgments(judgments, tmp_path / f"j{kind}")
    assert rows(kt.read_judgments(tmp_path / f"j{kind}")) == rows(judgments)


@pytest.mark.parametrize("kind", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_items_and_probabilities_read_back(kind: str, tmp_path: Path) -> None:
    judgments = kt.read_judgments({"judge": ["a", "b"], "item": ["i", "i"], "grade": [1, 2], "pi": [0.1, 1.0]})
    kt.write_judgments(judgments, tmp_path / f"j{kind}")
    back = kt.read_judgments(tmp_path / f"j{kind}")
    assert rows(back) == rows(judgments) == [("a", "i", 1, 0.1), ("b", "i", 2, 1.0)]
    assert not back.has_topics


def test_a_folder_of_qrels_reads_back(tmp_path: Path) -> None:
    judgments = kt.read_judgments(SMALL)
    kt.write_judgments(judgments, f"{tmp_path}/new/")
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["ann.qrels", "bob.qrels"]
    assert (tmp_path / "new" / "ann.qrels").read_text() == "1 0 d1 2\n1 0 d2 0\n10 0 d1 1\n"
    assert rows(kt.read_judgments(tmp_path / "new")) == rows(judgments)
    (tmp_path / "there").mkdir()
    kt.write_judgments(judgments, tmp_path / "there")
    assert rows(kt.read_judgments(tmp_path / "there")) == rows(judgments)


@pytest.mark.parametrize("name", ["g.qrels", "g.txt", "g.qrels.gz", "g.qrels.zst"])
def test_qrels_read_back(name: str, tmp_path: Path) -> None:
    gold = kt.read_gold({"1": {"d1": 2, "d2": 0}})
    kt.write_judgments(gold, tmp_path / name)
    assert rows(kt.read_gold(tmp_path / name)) == rows(gold)


def test_same_judgments_same_file(tmp_path: Path) -> None:
    for name in ("a.csv.gz", "b.csv.gz"):
        kt.write_judgments(kt.read_judgments(SMALL), tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


@pytest.mark.parametrize(
    ("source", "name", "facts"),
    [
        (SMALL, "j.qrels", ["qrels", "judge"]),
        (SMALL, "j.xls", ["j.xls", ".qrels", ".csv"]),
        (SMALL, "j", ["j", ".qrels", ".csv"]),
        ({"a": {"1": {"d 1": 1}}}, "j.qrels", ["qrels", "document", "'d 1'"]),
        ({"judge": ["a"], "item": ["i"], "grade": [1]}, "j.qrels", ["qrels", "topics"]),
        (ODD_NAMES, "j.tsv", ["tabs"]),
        ({"a/b": SMALL["ann"], "a_b": SMALL["bob"]}, "folder/", ["judge", "'a/b'"]),
        (SMALL, "file/j.csv", ["file/j.csv", os.strerror(errno.EEXIST)]),
    ],
)
def test_what_cannot_be_written_is_refused(
    source: dict[str, object], name: str, facts: list[object], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(KaratageError) as refused:
        kt.write_judgments(kt.read_judgments(source), f"{tmp_path}/{name}")
    assert gives(refused.value, *facts)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_judges_whose_names_are_no_file_names(tmp_path: Path) -> None:
    kt.write_judgments(kt.read_judgments({"meta/llama": SMALL["ann"], ".dot": SMALL["bob"]}), f"{tmp_path}/j/")
    assert kt.read_judgments(tmp_path / "j").judges == ("_dot", "meta_llama")


def test_an_unknown_system_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(KaratageError, match=r"'alpa'.*'alpha'"):
        kt.write_run(kt.read_runs({"alpha": {"1": {"d": 1}}}), "alpa", tmp_path / "a.run")


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "real.tsv").write_text("old")
    (tmp_path / "link.tsv").symlink_to(tmp_path / "there" / "real.tsv")
    write_bytes(tmp_path / "link.tsv", b"new")
    assert (tmp_path / "link.tsv").is_symlink()
    assert (tmp_path / "there" / "real.tsv").read_text() == "new"


def test_a_pipe_is_written_into_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_bytes(pipe, b"through")
    assert os.read(reader, 99) == b"through"
    os.close(reader)
    assert pipe.is_fifo()


def test_an_output_needs_a_name():
    with pytest.raises(DataError, match="name"):
        write_bytes("", b"x")


def test_a_full_disk_leaves_no_draft_and_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.csv"
    write_bytes(path, b"old")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(DataError, match=r"table\.csv"):
        write_bytes(path, b"new")
    assert [(left.name, left.read_bytes()) for left in tmp_path.iterdir()] == [("table.csv", b"old")]
