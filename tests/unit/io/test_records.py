"""The file of a record: read back, refused if damaged, and never torn, by many processes or by one that is killed."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from karatage.data.records import StudyRecord
from karatage.errors import InputFileError, KaratageError, OptionError
from karatage.io.records import add_studies, encode_record, read_studies
from tests.unit.data.test_records import GRADED, make_study

HOSTILE = ["=1+1", "../../x", "\x1b[31mred", "{path}", "</script>", "ju\ndge", '"quoted"', "\u202eright", "a" * 5000]


def test_a_record_is_read_back(tmp_path):
    path = tmp_path / "studies.json"
    added = [make_study(), make_study("judge:b"), make_study(gains=GRADED)]
    for study in added:
        whole = add_studies(path, study)
    assert read_studies(path) == whole == StudyRecord().merge(added)
    assert add_studies(path, *added) == whole
    assert path.read_bytes() == encode_record(whole)
    assert [line.split(":")[0].strip() for line in path.read_text().splitlines() if "judge:b" in line] == ['"judge"']


@pytest.mark.parametrize("ending", [".json", ".json.gz", ".json.zst"])
def test_packed_and_linked_files(tmp_path, ending):
    real, link = tmp_path / "kept" / f"r{ending}", tmp_path / f"link{ending}"
    add_studies(real, make_study())
    link.symlink_to(real)
    add_studies(link, make_study("judge:b"))
    assert link.is_symlink()
    assert len(read_studies(real).studies) == 2


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_data(tmp_path, name):
    study = make_study(f"judge:{name}")
    add_studies(tmp_path / "r.json", study, make_study())
    found = read_studies(tmp_path / "r.json")
    assert found.select(f"judge:{name}") == (study,)
    assert {path.name for path in tmp_path.iterdir()} == {"r.json", ".r.json.lock"}


def change(path, entry, value):
    content = json.loads(path.read_text())
    content["studies"][1][entry] = value
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("unexplained", 0.51),
        ("unexplained", 7),
        ("labels", "many"),
        ("labels", 101),
        ("judge", "judge:c"),
        ("judge", None),
        ("date", "2026-13-01"),
        ("confusion", [[1, 2], [3]]),
        ("confusion", [[1, -2], [3, 4]]),
        ("likelihood", [0.0]),
        ("digest", "0" * 16),
        ("digest", None),
        ("note", "mine"),
    ],
)
def test_changed_studies_are_refused_by_number(tmp_path, entry, value):
    path = tmp_path / "r.json"
    add_studies(path, make_study(), make_study("judge:b"))
    change(path, entry, value)
    before = path.read_bytes()
    for read in (read_studies, lambda path: add_studies(path, make_study("judge:z"))):
        with pytest.raises(InputFileError) as caught:
            read(path)
        assert str(path) in str(caught.value)
        assert "study 2" in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [
        "judge,answers_0_0\na,3\n",
        "[]",
        "{}",
        '{"format": "karatage record of judges"}',
        '{"format": "karatage record of judges", "version": 2, "studies": []}',
        '{"format": "karatage record of judges", "version": 1, "studies": {}}',
        '{"format": "karatage record of judges", "version": 1, "studies": [3]}',
        '{"format": "karatage record of judges", "version": 1, "studies": [{}]}',
        '{"format": "karatage record of judges", "version": 1, "studies": [',
        '{"format": "karatage record of judges", "version": 1, "studies": [], "studies": []}',
        '{"format": "karatage record of judges", "version": NaN, "studies": []}',
        "[" * 100_000,
        "",
        "\x00",
    ],
)
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_text(content)
    for read in (read_studies, lambda path: add_studies(path, make_study())):
        with pytest.raises(InputFileError, match="other"):
            read(path)
    assert path.read_text() == content


def test_a_study_that_is_there_twice_is_refused(tmp_path):
    path = tmp_path / "r.json"
    add_studies(path, make_study())
    content = json.loads(path.read_text())
    content["studies"] *= 2
    path.write_text(json.dumps(content))
    with pytest.raises(InputFileError, match="study 2"):
        read_studies(path)


def test_standard_output_is_no_store():
    with pytest.raises(OptionError):
        add_studies("-", make_study())


def test_a_write_protected_record_is_kept(tmp_path):
    path = tmp_path / "r.json"
    add_studies(path, make_study())
    before = path.read_bytes()
    path.unlink()
    path.mkdir()
    with pytest.raises(KaratageError):
        add_studies(path, make_study("judge:b"))
    path.rmdir()
    path.write_bytes(before)
    assert len(read_studies(path).studies) == 1


ADD = """
import sys
from karatage.io.records import add_studies
from tests.unit.data.test_records import make_study

for n in range(int(sys.argv[2])):
    add_studies("r.json", make_study(f"judge:{sys.argv[1]}", f"c{n}"))
    print(n, flush=True)
"""


def start(folder, name, times):
    words = [sys.executable, "-c", ADD, name, str(times)]
    path = os.pathsep.join([str(Path.cwd()), *sys.path])
    return subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": path})


def test_processes_at_once_lose_nothing(tmp_path):
    process = start(tmp_path, "a", 20)
    with ThreadPoolExecutor(3) as pool:  # locks are not the process's, but the writer's
        assert process.stdout.readline() == "0\n"  # both are at it
        futures = [pool.submit(add_studies, tmp_path / "r.json", make_study("judge:c", f"c{n}")) for n in range(20)]
        assert all(future.result() for future in futures)
    process.communicate()
    assert process.returncode == 0
    assert len(read_studies(tmp_path / "r.json").studies) == 40
    assert {path.name for path in tmp_path.iterdir()} == {"r.json", ".r.json.lock"}


@pytest.mark.parametrize("kills", [1, pytest.param(60, marks=pytest.mark.soak)])
def test_a_killed_process_loses_nothing_that_it_had_added(tmp_path, kills):
    source, path = random.Random(5), tmp_path / "r.json"
    kept = 0
    for n in range(kills):
        process = start(tmp_path, f"j{n}", 10_000)
        added = -1
        for _ in range(source.randrange(1, 8)):
            added = int(process.stdout.readline())
        time.sleep(source.uniform(0, 0.01))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        found = read_studies(path).studies
        assert len(found) >= kept + added + 1
        kept = len(found)
    add_studies(path, make_study("judge:last"))  # no stale lock
    assert len(read_studies(path).studies) == kept + 1
    assert {path.name for path in tmp_path.iterdir()} == {"r.json", ".r.json.lock"}
