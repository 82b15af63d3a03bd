"""Input is unpacked under a ceiling, and packed files that are damaged are told."""

import gzip
import io
import os
import resource
import subprocess
import sys

import polars as pl
import pytest
import zstandard

import karatage as kt
from karatage.errors import DataError, OptionError
from karatage.io import sources as unpacking
from karatage.io.sources import DamagedError, parse_size, read_unpacked
from tests.notes import gives

TEXT = b"".join(b"ann,%d,doc-%d,1\n" % (n % 7, n * n) for n in range(5000))
PACKED = {"gzip": gzip.compress(TEXT), "zstandard": zstandard.ZstdCompressor(write_checksum=True).compress(TEXT)}


@pytest.fixture(autouse=True)
def no_ceiling_of_ones_own(monkeypatch):
    monkeypatch.delenv(unpacking.VARIABLE, raising=False)


def read(content):
    return read_unpacked(io.BytesIO(content))


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize(("piece", "part"), [(1 << 24, 1 << 12), (1000, 7)])
def test_members_and_frames_are_joined_whatever_the_pieces(kind, piece, part, monkeypatch):
    monkeypatch.setattr(unpacking, "_PIECE", piece)
    monkeypatch.setattr(unpacking, "_SLICE", part)
    assert read(PACKED[kind]) == TEXT
    assert read(PACKED[kind] * 3) == TEXT * 3
    assert read(TEXT) == TEXT
    assert read(b"") == b""


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_small_members_and_frames_are_joined(pack):
    assert read(pack(b"ann") + pack(b"bob") + pack(b"eve")) == b"annbobeve"


def test_padding_behind_gzip_is_no_damage():
    assert read(PACKED["gzip"] + bytes(512)) == TEXT


def test_a_packed_nothing_is_nothing():
    assert read(gzip.compress(b"")) == b""
    assert read(zstandard.compress(b"")) == b""


@pytest.mark.parametrize("kind", PACKED)
def test_every_cut_is_told(kind):
    packed = PACKED[kind]
    for end in [*range(5, 40), *range(100, len(packed), 97), len(packed) - 1]:
        with pytest.raises(DamagedError):
            read(packed[:end])


@pytest.mark.parametrize("kind", PACKED)
def test_every_altered_byte_is_told(kind):
    """Both formats end in a checksum; ours have one."""
    packed = bytearray(PACKED[kind])
    for at in range(20, len(packed), 61):
        packed[at] ^= 1
        with pytest.raises(DataError):
            read(bytes(packed))
        packed[at] ^= 1


def test_what_we_pack_has_a_checksum(tmp_path):
    from karatage.io.writing import write_bytes

    write_bytes(tmp_path / "a.zst", TEXT)
    assert zstandard.get_frame_parameters((tmp_path / "a.zst").read_bytes()).has_checksum


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_small_file_that_unpacks_to_much_is_refused(pack, monkeypatch):
    monkeypatch.setattr(unpacking, "HARMLESS", 1 << 16)
    bomb = pack(bytes(1 << 24))
    with pytest.raises(DataError, match=rf"\b200\b.*\b{len(bomb):,}\b.*--most-memory\b.*\bKARATAGE_MOST"):
        read(bomb)
    monkeypatch.setenv(unpacking.VARIABLE, "20M")  # whoever says how much, trusts it
    assert len(read(bomb)) == 1 << 24
    monkeypatch.setenv(unpacking.VARIABLE, "15M")
    with pytest.raises(DataError, match=r"\b15\b.*file"):
        read(bomb)


def test_little_may_be_unpacked_at_any_ratio():
    assert read(gzip.compress(bytes(1 << 20))) == bytes(1 << 20)


def test_no_more_is_unpacked_than_is_needed_to_refuse(monkeypatch):
    monkeypatch.setattr(unpacking, "HARMLESS", 1 << 20)
    seen = []
    unpack = unpacking._unpack_zstandard

    def watch(packed):
        for piece in unpack(packed):
            seen.append(len(piece))
            yield piece

    monkeypatch.setitem(unpacking._UNPACK, unpacking._ZSTANDARD, watch)
    with pytest.raises(DataError):
        read(zstandard.compress(bytes(1 << 30)))
    assert sum(seen) < 1 << 28


def test_parquet_of_equal_values_is_refused_before_it_is_read(tmp_path, monkeypatch):
    count = 1_500_000
    path = tmp_path / "crowd.parquet"
    frame = pl.select(judge=pl.repeat("ann", count), item=pl.repeat("d", count), grade=pl.repeat(1, count))
    frame.write_parquet(path)
    with pytest.raises(kt.KaratageError, match=r"crowd\.parquet.*\b5,000\b.*--most-memory"):
        kt.read_judgments(path)
    monkeypatch.setenv(unpacking.VARIABLE, "1M")
    with pytest.raises(kt.KaratageError, match=r"crowd\.parquet.*\b1\b"):
        kt.read_judgments(path)
    monkeypatch.setenv(unpacking.VARIABLE, "1G")
    assert len(kt.read_judgments(path, repeats="all").every.grade) == count


def test_plain_files_have_the_same_ceiling(monkeypatch, tmp_path):
    monkeypatch.setenv(unpacking.VARIABLE, "1K")
    path = tmp_path / "crowd.csv"
    path.write_bytes(b"judge,topic,document,grade\n" + TEXT)
    with pytest.raises(kt.KaratageError, match=r"crowd\.csv.*\b1,024\b"):
        kt.read_judgments(path)


def test_free_memory_is_the_ceiling_where_nothing_is_said(monkeypatch):
    monkeypatch.setattr(unpacking, "count_free_memory", lambda: 2 * len(TEXT) - 2)
    with pytest.raises(DataError):
        read(TEXT)
    monkeypatch.setattr(unpacking, "count_free_memory", lambda: 2 * len(TEXT))
    assert read(TEXT) == TEXT


def test_free_memory_knows_the_limit_of_the_process():
    program = "from karatage.memory import count_free_memory; print(count_free_memory())"
    limit = 1 << 30
    done = subprocess.run(
        [sys.executable, "-c", program],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert 0 < int(done.stdout) < limit


@pytest.mark.parametrize(
    ("text", "size"), [("1", 1), ("2k", 2048), ("1.5 GiB", 3 << 29), ("3MB", 3 << 20), ("1T", 1 << 40)]
)
def test_sizes_are_read_with_their_units(text, size):
    assert parse_size(text, "--most-memory") == size


@pytest.mark.parametrize("text", ["", "0", "-1", "much", "1X", "1e9", "9" * 400])
def test_sizes_that_are_none(text):
    with pytest.raises(OptionError, match="--most-memory"):
        parse_size(text, "--most-memory")


def run(*words, **more):
    environment = {**os.environ, **more.pop("environment", {})}
    command = [sys.executable, "-m", "karatage", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, **more)


def test_a_bomb_ends_in_one_line(tmp_path):
    (tmp_path / "bomb.zst").write_bytes(
        zstandard.compress(b"judge,topic,document,grade\n" + b"ann,1,d,1\n" * (1 << 24))
    )
    done = run("aggregate", "bomb.zst", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert gives(done.stderr, "error: bomb.zst", 200)
    done = run("aggregate", "bomb.zst", "--most-memory", "100M", cwd=tmp_path)
    assert gives(done.stderr, "error: bomb.zst", "100 MB")
    done = run("aggregate", "bomb.zst", "--most-memory", "much", cwd=tmp_path)
    assert "--most-memory 'much'" in done.stderr
    done = run("aggregate", "bomb.zst", cwd=tmp_path, environment={unpacking.VARIABLE: "some"})
    assert gives(done.stderr, "KARATAGE_MOST_MEMORY", "'some'")


def test_memory_that_is_used_up_ends_in_one_line(tmp_path):
    """Whatever the work: the command line turns a MemoryError into a message."""
    program = (
        "import sys; from karatage.cli import app; import karatage.cli.demo as demo;"
        "app.start_over = lambda: bytearray(1 << 60); sys.argv = ['karatage', 'demo']; app.main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert gives(done.stderr, "error", "memory")
