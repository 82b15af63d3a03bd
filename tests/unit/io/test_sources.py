"""Finding, opening and unpacking files."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest
import zstandard

import karatage as kt
from karatage.io.sources import Source, expand
from tests.notes import gives

RUN = b"1 Q0 d1 1 2 alpha\n1 Q0 d2 2 1 alpha\n"
QRELS = b"1 0 d1 1\n1 0 d2 0\n"


def listed(runs: kt.Runs) -> list[str]:
    return runs.documents.gather(runs.listed).to_list()


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("runs/input.alpha.gz", "input.alpha"),
        ("alpha.run.zst", "alpha"),
        ("gpt-4.M.qrels", "gpt-4.M"),
        ("gpt-4.1", "gpt-4.1"),
        ("JUDGE.TXT", "JUDGE"),
        (".hidden", ".hidden"),
    ],
)
def test_stem_drops_only_what_tells_the_format(name: str, stem: str) -> None:
    assert Source(name).stem == stem


def test_folders_and_globs_give_sorted_files_each_once(tmp_path: Path) -> None:
    for name in ("b.run", "a.run", ".hidden", "c.txt"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "d.run").write_bytes(b"x")
    names = [Path(s.path).name for s in expand(tmp_path)]
    assert names == ["a.run", "b.run", "c.txt"]
    names = [Path(s.path).name for s in expand([tmp_path / "b.run", str(tmp_path / "*.run"), tmp_path])]
    assert names == ["b.run", "a.run", "c.txt"]
    assert [Path(s.path).name for s in expand(str(tmp_path / "**" / "*.run"))] == ["a.run", "b.run", "d.run"]


def test_a_file_whose_name_looks_like_a_glob_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "a[1].run").write_bytes(RUN)
    (tmp_path / "a1.run").write_bytes(RUN.replace(b"alpha", b"beta"))
    assert kt.read_runs(tmp_path / "a[1].run").systems == ("alpha",)


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".anything"])
def test_packing_is_told_by_content(suffix: str, tmp_path: Path) -> None:
    for n, content in enumerate((RUN, gzip.compress(RUN), zstandard.compress(RUN))):
        path = tmp_path / f"{n}.run{suffix}"
        path.write_bytes(content)
        assert listed(kt.read_runs(path)) == ["d1", "d2"]


def test_several_members_and_frames_are_one_file(tmp_path: Path) -> None:
    more = b"1 Q0 d3 3 0.5 alpha\n"
    (tmp_path / "a.gz").write_bytes(gzip.compress(RUN) + gzip.compress(more))
    (tmp_path / "a.zst").write_bytes(zstandard.compress(RUN) + zstandard.compress(more))
    for name in ("a.gz", "a.zst"):
        assert listed(kt.read_runs(tmp_path / name)) == ["d1", "d2", "d3"]


def test_zst_without_a_content_size(tmp_path: Path) -> None:
    packed = zstandard.ZstdCompressor(write_content_size=False).compress(RUN * 1)
    (tmp_path / "a.zst").write_bytes(packed)
    assert listed(kt.read_runs(tmp_path / "a.zst")) == ["d1", "d2"]


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_is_a_source_packed_or_not(packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def feed(content: bytes) -> None:
        content = gzip.compress(content) if packed else content
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    feed(RUN)
    assert listed(kt.read_runs("-")) == ["d1", "d2"]
    feed(QRELS)
    assert kt.read_gold("-").grade.tolist() == [1, 0]
    feed(b"judge,topic,doc,rel\nann,1,d1,3\n")
    assert kt.read_judgments("-").to_frame().rows() == [("ann", "1", "d1", 3)]
    feed(b"1 Q0 d1 1 two alpha\n")
    with pytest.raises(kt.KaratageError, match=r"input:1.*'two'"):
        kt.read_runs("-")


def test_what_is_no_path_is_refused() -> None:
    for wrong in (42, None, [42], []):
        with pytest.raises(kt.KaratageError):
            kt.read_runs(wrong)


@pytest.mark.parametrize(
    ("asked", "there", "near"),
    [
        ("crwd.csv", "crowd.csv", True),
        ("crowd.csv", "crowd.csv.gz", True),
        ("gold.qrel", "gold.qrels", True),
        ("rusn", "runs", True),
        ("report.json", "report.html", False),
        ("judgments.csv", "judged.csv", False),
        ("gold.qrels", "gold", False),
        ("llm.csv", "queue.csv", False),
    ],
)
def test_only_names_very_near_are_proposed(asked: str, there: str, near: bool, tmp_path: Path) -> None:
    (tmp_path / there).write_bytes(QRELS)
    with pytest.raises(kt.KaratageError, match="file") as problem:
        kt.read_gold(tmp_path / asked)
    assert gives(problem.value, asked, there) == near
