"""Parquet as several writers make it, and page headers that contradict themselves."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

import karatage as kt
from karatage.errors import KaratageError

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
    with pytest.raises(
        KaratageError, match=r"j\.parquet: is not a readable Parquet file: a page has an impossible size"
    ):
        kt.read_judgments(path)
