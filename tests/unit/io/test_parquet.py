"""Parquet as several writers make it, and page headers that contradict themselves."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

import karatage as kt
from karatage.errors import KaratageError
from karatage.io import sources
from karatage.io.parquet import _BLANK, _check_seal, encode_parquet

COUNT = 3000
FRAME = pl.DataFrame(
    {
        "judge": [f"w{k % 7}" for k in range(COUNT)],
        "item": [f"d{k:05}" for k in range(COUNT)],
        "grade": [k % 4 for k in range(COUNT)],
        "meta": [[k] * (k % 3) for k in range(COUNT)],
        "more": [None if k % 5 else {"a": k, "b": [1.5]} for k in range(COUNT)],
    }
)
EXPECTED = FRAME.select("judge", "item", "grade").rows()


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "lz4"])
@pytest.mark.parametrize("fine", [False, True])
def test_pyarrow_writes_it(version: str, compression: str, fine: bool, tmp_path: Path) -> None:
    pq.write_table(
        FRAME.to_arrow(),
        tmp_path / "j.parquet",
        compression=compression,
        data_page_version=version,
        use_dictionary=not fine,
        write_page_checksum=fine,
        write_page_index=fine,
        data_page_size=500 if fine else None,
        row_group_size=700 if fine else None,
    )
    assert kt.read_judgments(tmp_path / "j.parquet").to_frame().rows() == EXPECTED


@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "zstd"])
@pytest.mark.parametrize("statistics", [False, True, "full"])
def test_polars_writes_it(compression: str, statistics: bool | str, tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "j.parquet", compression=compression, statistics=statistics, row_group_size=999)
    assert kt.read_judgments(tmp_path / "j.parquet").to_frame().rows() == EXPECTED


def test_a_negative_number_of_values_is_refused(tmp_path: Path) -> None:
    """18 values are the byte 0x24, -22 are 0x2b: polars would ask for 2^61 bytes and end the process."""
    frame = pl.DataFrame({"judge": ["a"] * 18, "item": [f"{k}" for k in range(18)], "grade": [1] * 18})
    out = io.BytesIO()
    frame.write_parquet(out, compression="uncompressed", statistics=False)
    page = b",\x15\x24\x15"  # data_page_header { 1: num_values = 18, 2: encoding ...
    assert out.getvalue().count(page) == 3
    path = tmp_path / "j.parquet"
    path.write_bytes(out.getvalue().replace(page, b",\x15\x2b\x15"))
    with pytest.raises(KaratageError, match=r"j\.parquet"):
        kt.read_judgments(path)


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    """A file of ours."""
    path = tmp_path_factory.mktemp("sealed") / "crowd.parquet"
    world = kt.simulation.simulate_collection(systems=2, topics=3, depth=5, rng=3)
    kt.write_judgments(world.judgments, path)
    return path


def test_a_file_of_ours_has_a_seal_and_reads_as_any_other(sealed):
    assert kt.read_judgments(sealed).to_frame().equals(kt.read_judgments(pl.read_parquet(sealed)).to_frame())
    assert len(pl.read_parquet_metadata(sealed)["karatage_seal"]) == 77


def test_a_name_that_looks_like_an_empty_seal_stays():
    frame = pl.DataFrame({_BLANK: ["ann"]})
    content = encode_parquet(frame)
    assert pl.read_parquet_metadata(io.BytesIO(content))["karatage_seal"] != _BLANK
    assert pl.read_parquet(io.BytesIO(content)).equals(frame)
    _check_seal(content)


def test_no_altered_bit_of_a_file_of_ours_is_believed(sealed, tmp_path):
    """All but those that take the seal itself away; then nothing else has changed."""
    content, path = bytearray(sealed.read_bytes()), tmp_path / "altered.parquet"
    whole = kt.read_judgments(sealed).to_frame()
    believed = []
    for at in range(len(content)):
        content[at] ^= 1 << at % 8
        try:
            _check_seal(bytes(content))
        except ValueError:
            pass
        else:
            believed.append(bytes(content))
        content[at] ^= 1 << at % 8
    assert len(believed) <= 100
    for altered in believed:
        path.write_bytes(altered)
        with contextlib.suppress(KaratageError):
            assert kt.read_judgments(path).to_frame().equals(whole)


def test_damage_is_told(sealed, tmp_path):
    content = bytearray(sealed.read_bytes())
    content[len(content) // 3] ^= 8
    path = tmp_path / "altered.parquet"
    path.write_bytes(content)
    with pytest.raises(KaratageError, match=r"altered\.parquet"):
        kt.read_judgments(path)


def test_what_another_program_has_written_anew_is_not_taken_for_damaged(sealed, tmp_path):
    table = pq.read_table(sealed).replace_schema_metadata(pq.ParquetFile(sealed).metadata.metadata)
    assert b"karatage_seal" in table.schema.metadata
    pq.write_table(table.slice(0, 20), tmp_path / "again.parquet")
    assert len(kt.read_judgments(tmp_path / "again.parquet").grade) == 20


def test_many_judges_of_the_same_documents_are_read(tmp_path, monkeypatch):
    """Each judge and document is in the file once, so tables of judgments have larger ratios than text."""
    monkeypatch.setattr(sources, "HARMLESS", 1 << 16)
    judges, items = 200, 500
    kept = np.random.default_rng(1).random(judges * items) < 0.01
    frame = pl.DataFrame(
        {
            "judge": [f"judge-{k}" for k in range(judges)] * items,
            "item": np.repeat([f"document-{k}" for k in range(items)], judges),
            "grade": kept.astype(np.int8),
        }
    )
    frame.write_parquet(tmp_path / "judgments.parquet")
    size = (tmp_path / "judgments.parquet").stat().st_size
    assert 3 * 16 * len(frame) > sources.RATIO * size
    assert len(kt.read_judgments(tmp_path / "judgments.parquet").grade) == judges * items
