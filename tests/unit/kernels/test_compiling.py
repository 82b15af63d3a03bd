"""Where compiled kernels are kept: never where others could have put something, nowhere if nothing can be written."""

import os
import tempfile
from pathlib import Path

import numba
import pytest

from karatage.kernels import compiling
from karatage.progress import take_remarks


@pytest.fixture(autouse=True)
def _fresh(monkeypatch, tmp_path):
    """Nothing decided or remarked yet; temporary files are in a guarded folder."""
    (tmp_path / "tmp").mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    decision = compiling.find_cache
    decision.cache_clear()
    take_remarks()
    yield
    decision.cache_clear()
    take_remarks()


def allow(monkeypatch, *folders):
    """Only these can be written."""
    allowed = {Path(folder) for folder in folders}
    monkeypatch.setattr(compiling, "_can_write", lambda folder: folder in allowed)


BESIDE = Path(compiling.__file__).parent / "__pycache__"


def test_the_first_folder_that_can_be_written_is_taken(monkeypatch, tmp_path):
    asked, home = tmp_path / "asked", tmp_path / "home" / "numba"
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(asked))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home.parent))
    for allowed, taken in [((asked, BESIDE, home), str(asked)), ((BESIDE, home), ""), ((home,), str(home))]:
        compiling.find_cache.cache_clear()
        allow(monkeypatch, *allowed)
        assert compiling.find_cache() == taken
    assert take_remarks() == []


def test_without_any_a_private_temporary_folder_is_taken_and_told(monkeypatch, tmp_path):
    private = compiling._make_private()
    assert private is not None
    assert private.parent == tmp_path / "tmp"
    assert private.stat().st_mode & 0o777 == 0o700
    allow(monkeypatch, private)
    assert compiling.find_cache() == str(private)
    (note,) = take_remarks()
    assert str(private) in note
    assert "NUMBA_CACHE_DIR" in note


def test_where_nothing_can_be_written_nothing_is_kept_and_that_is_told(monkeypatch):
    allow(monkeypatch)
    assert compiling.find_cache() is None
    (note,) = take_remarks()
    assert "/" not in note  # no folder is named


def test_a_home_that_is_nowhere_is_no_place(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", "~/.cache")  # what it is without HOME and without an entry in passwd
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compiling, "_can_write", lambda folder: folder != BESIDE)
    assert compiling.find_cache() == str(compiling._make_private())
    assert not (tmp_path / "~").exists()


def plant_link(folder):
    folder.with_name("elsewhere").mkdir(mode=0o700)
    folder.symlink_to(folder.with_name("elsewhere"))


def plant_open(folder):
    folder.mkdir()
    folder.chmod(0o770)


def plant_file(folder):
    folder.write_text("")


def plant_foreign(folder):
    folder.mkdir(mode=0o700)
    if os.geteuid():
        pytest.skip("only root can give a folder away")
    os.chown(folder, 65534, 65534)


@pytest.mark.parametrize("plant", [plant_link, plant_open, plant_file, plant_foreign])
def test_a_folder_that_somebody_else_could_have_filled_is_not_used(plant):
    folder = compiling._make_private()
    folder.rmdir()
    plant(folder)
    assert compiling._make_private() is None


def test_a_folder_that_somebody_else_could_replace_is_not_used(tmp_path):
    assert compiling._make_private() is not None
    (tmp_path / "tmp").chmod(0o777)
    assert compiling._make_private() is None
    (tmp_path / "tmp").chmod(0o1777)
    assert compiling._make_private() is not None


def test_the_working_folder_is_no_temporary_one(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path / "tmp")
    assert compiling._make_private() is None
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_folder_must_have_room(monkeypatch, tmp_path):
    assert compiling._can_write(tmp_path / "new" / "folder")
    (tmp_path / "file").write_text("")
    assert not compiling._can_write(tmp_path / "file")
    with Path("/dev/full").open("wb", buffering=0) as full:
        monkeypatch.setattr(compiling.tempfile, "TemporaryFile", lambda **_: full)
        assert not compiling._can_write(tmp_path)


@pytest.mark.parametrize("kept", [True, False])
def test_kernels_are_compiled_with_and_without_a_cache(monkeypatch, tmp_path, kept):
    folder = tmp_path / "cache"
    monkeypatch.setattr(compiling, "find_cache", lambda: str(folder) if kept else None)
    before = numba.config.CACHE_DIR

    @compiling.kernel
    def double(x: int) -> int:
        return 2 * x

    assert double(21) == 42
    assert bool(list(folder.glob("*/*double*.nbc"))) == kept
    assert before == numba.config.CACHE_DIR
