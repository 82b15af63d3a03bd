"""Reading runs: names, order, frames and dicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import karatage as kt
from karatage.errors import KaratageError
from tests.notes import gives, list_facts


def rankings(runs: kt.Runs) -> dict[str, dict[str, list[str]]]:
    """{system: {topic: documents, best first}}, of non-empty rankings."""
    found: dict[str, dict[str, list[str]]] = {system: {} for system in runs.systems}
    for t, topic in enumerate(runs.topics):
        for s, system in enumerate(runs.systems):
            low, high = runs.bounds[t, s]
            if high > low:
                found[system][topic] = runs.documents.gather(runs.listed[low:high]).to_list()
    return found


def write(path: Path, *rows: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def test_the_tag_names_the_system(tmp_path: Path) -> None:
    write(tmp_path / "x.run", "1 Q0 d1 1 5 alpha", "1 Q0 d2 2 4 alpha")
    write(tmp_path / "y.run", "1 Q0 d2 1 5 beta", "2 Q0 d9 1 1 beta")
    assert rankings(kt.read_runs(tmp_path)) == {
        "alpha": {"1": ["d1", "d2"]},
        "beta": {"1": ["d2"], "2": ["d9"]},
    }


def test_one_file_may_hold_several_systems(tmp_path: Path) -> None:
    path = write(tmp_path / "all.run", "1 Q0 d1 1 5 alpha", "1 Q0 d1 1 5 beta", "2 Q0 d2 1 1 alpha")
    assert rankings(kt.read_runs(path)) == {"alpha": {"1": ["d1"], "2": ["d2"]}, "beta": {"1": ["d1"]}}


def test_files_that_share_a_tag_are_called_by_their_names(tmp_path: Path) -> None:
    write(tmp_path / "first.run", "1 Q0 d1 1 5 same")
    write(tmp_path / "second.run.gz", "1 Q0 d2 1 5 same")
    write(tmp_path / "third", "1 Q0 d3 1 5 own")
    assert rankings(kt.read_runs(tmp_path)) == {
        "first": {"1": ["d1"]},
        "own": {"1": ["d3"]},
        "second": {"1": ["d2"]},
    }


def test_a_shared_tag_beside_another_in_one_file(tmp_path: Path) -> None:
    write(tmp_path / "one.run", "1 Q0 d1 1 5 same", "1 Q0 d2 1 5 other")
    write(tmp_path / "two.run", "1 Q0 d3 1 5 same")
    assert rankings(kt.read_runs(tmp_path)) == {
        "one:same": {"1": ["d1"]},
        "other": {"1": ["d2"]},
        "two": {"1": ["d3"]},
    }


def test_score_decides_and_rank_does_not(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "1 Q0 low 1 -1.5 a", "1 Q0 high 2 1e1 a", "1 Q0 middle 3 +0.25 a")
    assert rankings(kt.read_runs(path))["a"]["1"] == ["high", "middle", "low"]


def test_ties_go_by_document_descending_in_bytes(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "1 Q0 a 1 1 s", "1 Q0 é 1 1 s", "1 Q0 Z 1 1 s", "1 Q0 b 1 1 s")
    assert rankings(kt.read_runs(path))["s"]["1"] == ["é", "b", "a", "Z"]


def test_scores_tie_in_single_precision(tmp_path: Path) -> None:
    """1 + 1e-9 and 1 are the same float32, so b goes first although its score is lower; 1 + 1e-6 is not."""
    path = write(tmp_path / "a", "1 Q0 a 1 1.000000001 s", "1 Q0 b 2 1.0 s", "1 Q0 A 3 1.000001 s")
    runs = kt.read_runs(path)
    assert rankings(runs)["s"]["1"] == ["A", "b", "a"]
    assert list_facts(runs) == {"data.single-precision": {"pairs": 1}}


@pytest.mark.parametrize(
    "score", ["0.1", "1e-320", "123456789012345678901234567890", "1E5", "-.5", "5.", "1e22", "1e23"]
)
def test_scores_are_read_as_python_reads_them(score: str, tmp_path: Path) -> None:
    near = np.nextafter(np.float32(float(score)), np.float32(np.inf))
    path = write(tmp_path / "a", f"1 Q0 exact 1 {score} s", f"1 Q0 above 2 {float(near)!r} s")
    assert rankings(kt.read_runs(path))["s"]["1"] == ["above", "exact"]


def test_topics_count_as_people_do(tmp_path: Path) -> None:
    assert kt.read_runs(write(tmp_path / "a", "10 Q0 d 1 1 s", "9 Q0 d 1 1 s")).topics == ("9", "10")
    assert kt.read_runs(write(tmp_path / "b", "q10 Q0 d 1 1 s", "q9 Q0 d 1 1 s")).topics == ("q10", "q9")


def test_many_files_and_names(tmp_path: Path) -> None:
    """More files than are read ahead, and more names than the first table holds."""
    for k in range(20):
        rows = [f"1 Q0 doc{(k * 37 + d) % 5000} {d} {3000 - d} s{k:02}" for d in range(3000)]
        write(tmp_path / f"{k:02}.run", *rows)
    found = rankings(kt.read_runs(tmp_path))
    assert list(found) == [f"s{k:02}" for k in range(20)]
    for k in range(20):
        assert found[f"s{k:02}"]["1"] == [f"doc{(k * 37 + d) % 5000}" for d in range(3000)]


def test_a_name_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("\ufeff\ufeff1 Q0 d1 1 2 s\n1 Q0 \ufeff 1 1 s\n".encode())
    assert kt.read_runs(tmp_path / "a").topics == ("1", "\ufeff1")
    assert kt.read_runs(tmp_path / "a").documents.to_list() == ["d1", "\ufeff"]


COLUMNS = {
    "run": ["a", "a", "b"],
    "query_id": [1, 1, 2],
    "docno": ["d1", "d2", "d1"],
    "score": [1.0, 2.0, 0.5],
}
EXPECTED = {"a": {"1": ["d2", "d1"]}, "b": {"2": ["d1"]}}


@pytest.mark.parametrize(
    "table",
    [COLUMNS, pl.DataFrame(COLUMNS), pd.DataFrame(COLUMNS), pa.table(COLUMNS)],
    ids=["dict", "polars", "pandas", "pyarrow"],
)
def test_tables_in_memory(table: object) -> None:
    assert rankings(kt.read_runs(table)) == EXPECTED


def test_nested_dicts_are_runs() -> None:
    nested = {"a": {"1": {"d1": 1.0, "d2": 2}}, "b": {2: {"d1": np.float32(0.5)}}}
    assert rankings(kt.read_runs(nested)) == EXPECTED


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        ({"score": [1.0, None, 2.0]}, [2, "score 'None'"]),
        ({"score": ["1", "2", "high"]}, [3, "score 'high'"]),
        ({"score": [1.0, float("inf"), 2.0]}, [2, "score 'inf'"]),
        ({"docno": ["d1", None, "d2"]}, [2, "document", "missing"]),
        ({"docno": ["d1", "d1", "d2"]}, [2, "'d1'", "twice", "'1'"]),
        ({"run": [["a"], ["a"], ["b"]]}, [1, "'run'", "list"]),
    ],
)
def test_bad_tables_name_the_row(change: dict[str, list[object]], facts: list[object]) -> None:
    with pytest.raises(KaratageError) as refused:
        kt.read_runs(COLUMNS | change)
    assert gives(refused.value, "row", *facts)


def test_nested_dicts_of_the_wrong_depth() -> None:
    with pytest.raises(KaratageError, match="score"):
        kt.read_runs({"1": {"d1": 1.0}})


def test_a_written_run_reads_back(tmp_path: Path) -> None:
    runs = kt.read_runs({"a": {"1": {"x": 1, "y": 3, "z": 2}, "2": {"x": 0}}, "b": {"1": {"y": 1}}})
    for name in ("a.run", "a.run.gz", "a.run.zst"):
        kt.write_run(runs, "a", tmp_path / name)
        assert rankings(kt.read_runs(tmp_path / name)) == {"a": {"1": ["y", "z", "x"], "2": ["x"]}}
    assert (tmp_path / "a.run").read_text().splitlines()[0] == "1 Q0 y 1 3 a"
