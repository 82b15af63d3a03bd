"""Files that are read survive; files that are written are whole, durable and keep what they were."""

import errno
import os
import re
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

import karatage as kt
from karatage.errors import DataError, OptionError
from karatage.io import files
from karatage.io.files import (
    claim_output,
    hold_folder,
    make_folder,
    name_file,
    note_input,
    replace_file,
    start_over,
    write_file,
)
from karatage.io.writing import write_bytes
from tests.notes import gives

pytestmark = pytest.mark.usefixtures("nothing_read")
CROWD = "judge,topic,document,grade\nann,1,d1,1\nbob,1,d1,0\n"


@pytest.fixture
def nothing_read():
    start_over()
    yield
    start_over()


@pytest.fixture
def crowd(tmp_path):
    path = tmp_path / "crowd.csv"
    path.write_text(CROWD)
    return path


@pytest.mark.parametrize("spelling", ["crowd.csv", "sub/../crowd.csv", "link.csv", "hard.csv"])
def test_what_the_library_has_read_it_does_not_write_over(crowd, tmp_path, spelling, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    Path("link.csv").symlink_to(crowd)
    os.link(crowd, "hard.csv")
    judgments = kt.read_judgments(crowd)
    with pytest.raises(OptionError, match=rf"^{spelling}\b.*\bread\b"):
        kt.write_judgments(judgments, spelling)
    assert crowd.read_text() == CROWD
    kt.write_judgments(judgments, "other.csv")
    assert Path("other.csv").is_file()


def test_a_folder_is_refused_before_its_first_file_is_written(tmp_path):
    (tmp_path / "in").mkdir()
    for judge in "abc":
        (tmp_path / "in" / f"{judge}.qrels").write_text("1 0 d1 1\n")
    judgments = kt.read_judgments(tmp_path / "in")
    (tmp_path / "in" / "a.qrels").unlink()
    with pytest.raises(OptionError, match=r"b\.qrels"):
        kt.write_judgments(judgments, f"{tmp_path}/in/")
    assert not (tmp_path / "in" / "a.qrels").exists()


def test_files_without_access_are_inputs_all_the_same(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("a\nb\n\x00")
    with pytest.raises(kt.KaratageError, match="binary"):
        kt.read_judgments(path)
    with pytest.raises(OptionError, match=r"\bread\b"):
        write_file(path, b"")


def test_standard_input_from_a_file_is_protected(crowd):
    program = "import karatage as kt; kt.write_judgments(kt.read_judgments('-'), 'crowd.csv')"
    with crowd.open() as stream:
        done = subprocess.run(
            [sys.executable, "-c", program], stdin=stream, cwd=crowd.parent, capture_output=True, text=True, check=False
        )
    assert gives(done.stderr, "crowd.csv", "standard input")
    assert crowd.read_text() == CROWD


def test_a_new_file_with_an_old_inode_is_no_input(tmp_path, monkeypatch):
    """File systems give the number of a deleted file to the next one."""
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("old")
    note_input(old)
    old.unlink()
    new.write_text("newer")
    monkeypatch.setattr(files, "_identify", lambda _: (0, 0))
    write_file(new, b"newest")
    assert new.read_text() == "newest"


def test_an_input_that_was_renamed_is_still_one(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("old")
    note_input(old)
    old.rename(new)
    with pytest.raises(OptionError, match=r"\bread\b"):
        write_file(new, b"new")


def test_an_input_named_from_another_folder_is_still_one(crowd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    note_input("crowd.csv")
    crowd.write_text(CROWD + "ann,1,d9,0\n")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir("sub")
    with pytest.raises(OptionError, match=r"\bread\b"):
        write_file(crowd, b"")


def test_devices_are_no_inputs():
    """A terminal is read and written."""
    note_input("/dev/null")
    claim_output("/dev/null", "--output")
    write_file("/dev/null", b"gone")
    assert not files._ledger.inputs
    assert Path("/dev/null").is_char_device()


def test_claims_come_before_or_after_inputs(crowd):
    claim_output(crowd, "--output")
    with pytest.raises(OptionError, match=r"\bread\b"):
        note_input(crowd)
    start_over()
    note_input(crowd)
    with pytest.raises(OptionError, match=r"\bread\b"):
        claim_output(crowd, "--output")


def test_a_file_that_is_read_often_is_noted_once(crowd):
    for _ in range(5):
        note_input(crowd)
        crowd.write_text(crowd.read_text() + "ann,1,d9,0\n")
    assert [len(noted) for noted in files._ledger.inputs.values()] == [1]
    with pytest.raises(OptionError, match=r"\bread\b"):
        write_file(crowd, b"")


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_lock_is_no_other_file(crowd, link):
    link(crowd, crowd.parent / ".lock")
    with pytest.raises(DataError, match=r"\.lock\b.*\blink\b"), hold_folder(crowd.parent):
        pass
    assert crowd.read_text() == CROWD


def test_where_the_disk_knows_no_locks_there_is_none(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with hold_folder(tmp_path), hold_folder(tmp_path):
        assert (tmp_path / ".lock").read_text() == ""  # nobody holds it


def test_a_folder_that_can_only_be_read_has_no_lock(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "open", refuse)
    with hold_folder(tmp_path):
        assert not list(tmp_path.iterdir())


def test_a_lock_names_its_last_holder_alone(tmp_path):
    (tmp_path / ".lock").write_text("process 4194304 on a machine with a long name, which has ended\n" * 2)
    with hold_folder(tmp_path):
        assert re.fullmatch(rf"process {os.getpid()} on \S+\n", (tmp_path / ".lock").read_text())


def test_two_outputs_have_two_names(tmp_path):
    claim_output(tmp_path / "a", "--output")
    claim_output(tmp_path / "a", "--output")  # the same option, asked twice
    with pytest.raises(OptionError, match=r"--output\b.*--chart\b"):
        claim_output(tmp_path / "." / "a", "--chart")
    claim_output(tmp_path / "b", "--figures", "folder")
    claim_output(tmp_path / "b", "--tables", "folder")
    with pytest.raises(OptionError, match=r"--tables\b.*--output\b"):
        claim_output(tmp_path / "b", "--output")
    claim_output("-", "--output")
    claim_output("-", "--judges", "store")  # one after the other


def test_what_lies_beside_a_folder_of_ones_own_may_be_read(tmp_path):
    (tmp_path / "out2").mkdir()
    (tmp_path / "out2" / "file").write_text("")
    claim_output(tmp_path / "out", "--output", "own folder")
    note_input(tmp_path / "out2" / "file")
    assert len(files._ledger.inputs) == 1


def test_what_lies_in_a_folder_of_ones_own_may_not_be_read(crowd, tmp_path):
    """Under whatever name, and though it came later."""
    (tmp_path / "out").mkdir()
    os.link(crowd, tmp_path / "out" / "hard.csv")
    claim_output(tmp_path / "out", "--output", "own folder")
    (tmp_path / "out" / "real.csv").write_text(CROWD)
    (tmp_path / "link.csv").symlink_to(tmp_path / "out" / "real.csv")
    (tmp_path / "other.csv").write_text(CROWD)
    (tmp_path / "out" / "link.csv").symlink_to(tmp_path / "other.csv")
    for name in ("crowd.csv", "out/real.csv", "link.csv", "out/link.csv"):
        with pytest.raises(OptionError, match=rf"{name}\b.*\bread\b.*--output\b.*\bout\b"):
            note_input(tmp_path / name)
    note_input(crowd.parent / "out" / "real.csv", store=True)


def test_stores_extend_stores_only(crowd):
    note_input(crowd, store=True)
    claim_output(crowd, "--judges", "store")
    with pytest.raises(OptionError, match=r"\bread\b"):
        write_file(crowd, b"")
    write_file(crowd, b"more", store=True)
    start_over()
    note_input(crowd)
    with pytest.raises(OptionError, match=r"\bread\b"):
        write_file(crowd, b"less", store=True)
    with pytest.raises(OptionError, match=r"\bread\b"):
        claim_output(crowd, "--judges", "store")
    note_input(crowd, store=True)  # both
    with pytest.raises(OptionError, match=r"\bread\b"):
        write_file(crowd, b"less", store=True)
    start_over()
    note_input(crowd, store=True)
    with pytest.raises(OptionError, match=r"\bread\b"):
        claim_output(crowd, "--output")


@pytest.mark.parametrize("mode", [0o640, 0o2750])
def test_mode_and_owner_stay(tmp_path, mode):
    path = tmp_path / "private.csv"
    path.write_text("old")
    if os.geteuid() == 0:
        os.chown(path, 1, 2)
    path.chmod(mode)
    write_file(path, b"new")
    found = path.stat()
    assert (found.st_mode & 0o7777, path.read_text()) == (mode, "new")
    assert os.geteuid() != 0 or (found.st_uid, found.st_gid) == (1, 2)


def test_a_file_of_somebody_else_is_written_by_whoever_may(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "geteuid", lambda: -1)
    monkeypatch.setattr(os, "fchown", refuse)
    (tmp_path / "out").write_text("old")
    write_file(tmp_path / "out", b"new")
    assert (tmp_path / "out").read_bytes() == b"new"


def test_new_files_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "new", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


def test_a_draft_of_a_private_file_is_private(tmp_path, monkeypatch):
    path, seen = tmp_path / "private", []
    path.write_text("old")
    path.chmod(0o600)
    monkeypatch.setattr(files, "_keep_owner_and_mode", lambda file, _: seen.append(os.fstat(file).st_mode & 0o777))
    write_file(path, b"new")
    assert seen == [0o600]


def test_content_and_name_are_on_the_disk_in_turn(tmp_path, monkeypatch):
    """The content is synced before it takes the name, the folder after, and new folders with their own."""
    done = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(
        os, "fsync", lambda file: done.append(str(Path(f"/proc/self/fd/{file}").readlink())) or sync(file)
    )
    monkeypatch.setattr(os, "replace", lambda a, b: done.append("replace") or replace(a, b))
    write_file(tmp_path / "a" / "b" / "file", b"new")
    folders = [str(tmp_path), str(tmp_path / "a")]
    assert re.fullmatch(rf"\.file\.{os.getpid()}\.[0-9a-f]{{8}}\.part", Path(done[2]).name)
    assert [*done[:2], *done[3:]] == [*folders, "replace", str(tmp_path / "a" / "b")]


def test_folders_that_cannot_be_synced_are_left_to_the_system(tmp_path, monkeypatch):
    def sync(file):
        if Path(f"/proc/self/fd/{file}").is_dir():
            raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", sync)
    write_file(tmp_path / "a" / "file", b"new")
    assert (tmp_path / "a" / "file").read_bytes() == b"new"


def test_nothing_stays_open(tmp_path):
    before = len(list(Path("/proc/self/fd").iterdir()))
    write_file(tmp_path / "a" / "file", b"new")
    with hold_folder(tmp_path):
        for _ in range(3):
            with pytest.raises(DataError, match=rf"\b{os.getpid()}\b"), hold_folder(tmp_path):
                pass
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_link_stays_one_and_a_dangling_one_is_named(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_file(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    (tmp_path / "lost").symlink_to("nowhere/at/all")
    with pytest.raises(DataError, match=r"\blost\b.*\blink\b.* nowhere/at/all\b"):
        write_file(tmp_path / "lost", b"new")
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(DataError, match=r"\bround\b.*\blink\b.*\bround\b"):
        write_file(tmp_path / "round", b"new")


def test_a_link_that_is_swapped_in_late_is_replaced_and_not_followed(tmp_path, monkeypatch):
    """Between the last look and the renaming: the link goes, what it leads to stays."""
    gold, target = tmp_path / "gold", tmp_path / "out"
    gold.write_text("gold")
    note_input(gold)
    replace = Path.replace

    def swap(draft, to):
        Path(to).symlink_to(gold)
        return replace(draft, to)

    monkeypatch.setattr(Path, "replace", swap)
    write_file(target, b"new")
    assert (gold.read_text(), target.read_text(), target.is_symlink()) == ("gold", "new", False)


def test_a_link_that_is_swapped_in_early_is_seen(tmp_path, monkeypatch):
    gold, target = tmp_path / "gold", tmp_path / "out"
    gold.write_text("gold")
    note_input(gold)
    monkeypatch.setattr(os, "fsync", lambda _: target.symlink_to(gold))
    with pytest.raises(OptionError, match=r"\bread\b"):
        replace_file(target, b"new")
    assert gold.read_text() == "gold"


def test_a_link_in_the_place_of_a_draft_is_not_followed(tmp_path, monkeypatch):
    gold = tmp_path / "gold"
    gold.write_text("gold")
    monkeypatch.setattr(files.secrets, "token_hex", lambda _: "0" * 8)
    (tmp_path / f".out.{os.getpid()}.00000000.part").symlink_to(gold)
    with pytest.raises(DataError, match=r"\bout\b.*File exists"):
        write_file(tmp_path / "out", b"new")
    assert gold.read_text() == "gold"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everything")
def test_write_protected_files_stay_as_a_user(tmp_path):
    path = tmp_path / "gold"
    path.write_text("gold")
    path.chmod(0o444)
    with pytest.raises(DataError, match="write-protected"):
        write_file(path, b"new")


def test_write_protected_files_stay(tmp_path, monkeypatch):
    path = tmp_path / "gold"
    path.write_text("gold")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(DataError, match=r"\bgold\b.*write-protected"):
        write_file(path, b"new")
    assert path.read_text() == "gold"


def test_a_full_disk_leaves_the_old_file_and_no_draft(tmp_path):
    path = tmp_path / "out"
    path.write_text("old")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
    try:
        with pytest.raises(DataError, match=r"\bout\b.*File too large"):
            write_file(path, bytes(5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("out", "old")]


def test_devices_and_pipes_are_written_to(tmp_path):
    write_file("/dev/null", b"gone")
    with pytest.raises(DataError, match=r"/dev/full\b.*No space left"):
        write_file("/dev/full", b"gone")


def test_drafts_of_dead_processes_are_removed_and_those_of_live_ones_stay(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    word, pid = f"{7:08x}", ended.pid
    dead = [f".out.{pid}.{word}.part", f".out.9999999999.{word}.part"]  # the second is not a number of a process at all
    others = [
        f".else.{pid}.{word}.part",
        f"my.out.{pid}.{word}.part",
        f".out.{pid}.{word}.part.csv",
        f".out.{pid}.part",
    ]
    others += [f".out.1.{word}.part", recovered := f".out.{pid}.{8:08x}.part"]
    for name in (*dead, *others):
        (tmp_path / name).write_text("half")
    note_input(tmp_path / recovered)
    write_file(tmp_path / "out", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*others, "out"])


def test_threads_do_not_share_drafts(tmp_path):
    names = [tmp_path / f"{'x' * 130}{k}" for k in range(2)]

    def write(k):
        for n in range(40):
            write_file(names[k % 2], bytes([k]) * (1000 + n))
            assert set(names[k % 2].read_bytes()) <= {k, (k + 2) % 4}

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert len(list(tmp_path.iterdir())) == 2


def test_an_input_that_an_editor_saved_anew_is_still_one(crowd):
    """Many editors write a new file and give it the old one's name."""
    judgments = kt.read_judgments(crowd)
    other = crowd.with_name("new")
    other.write_text(f"{CROWD}cat,1,d1,1\n")
    other.replace(crowd)
    with pytest.raises(OptionError, match=r"\bread\b"):
        kt.write_judgments(judgments, crowd)


def test_an_output_that_is_a_folder_holds_no_input(tmp_path):
    (tmp_path / "judges").mkdir()
    (tmp_path / "judges" / "a.qrels").write_text("1 0 d1 1\n")
    claim_output(f"{tmp_path}/judges/", "--output")
    with pytest.raises(OptionError, match=r"a\.qrels\b.*\bread\b.*--output\b.*judges"):
        note_input(tmp_path / "judges" / "a.qrels")


def test_drafts_of_other_users_stay(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    (tmp_path / f".out.1.{7:08x}.part").write_text("half")
    write_file(tmp_path / "out", b"new")
    assert (tmp_path / f".out.1.{7:08x}.part").exists()


def test_long_names_have_drafts_too(tmp_path):
    write_file(tmp_path / ("é" * 127), b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["é" * 127]


def test_a_folder_that_cannot_be_listed_is_written_to(tmp_path, monkeypatch):
    def refuse(_):
        raise PermissionError

    monkeypatch.setattr(Path, "iterdir", refuse)
    write_file(tmp_path / "out", b"new")
    assert (tmp_path / "out").read_bytes() == b"new"


def test_a_name_that_no_system_takes_is_told(tmp_path):
    with pytest.raises(DataError, match="null"):
        write_file(tmp_path / "a\0b", b"new")


def test_only_one_makes_a_new_file(tmp_path):
    write_file(tmp_path / "out", b"first", new=True)
    with pytest.raises(FileExistsError):
        write_file(tmp_path / "out", b"second", new=True)
    assert (tmp_path / "out").read_bytes() == b"first"
    with pytest.raises(DataError, match=r"\bbelow\b"):
        write_file(tmp_path / "out" / "below", b"third", new=True)


def test_packed_files_are_made_the_same_way(crowd):
    path = crowd.with_suffix(".gz")
    write_bytes(path, b"first", new=True)
    assert path.read_bytes()[4:8] == bytes(4)  # no time
    with pytest.raises(FileExistsError):
        write_bytes(path, b"second", new=True)
    note_input(path, store=True)
    write_bytes(path, b"more", store=True)


def test_folders_are_made_and_no_more(tmp_path):
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/passwd",
        "..",
        ".",
        "",
        "a/b",
        "a\\b",
        "\x00",
        "\x1b[31m",
        "\u202e",
        "x" * 5000,
        "é" * 300,
        "x" + "é" * 300,
        " . ",
        "\ud800",
    ],
)
def test_names_from_data_stay_in_their_folder(name, tmp_path):
    made = name_file(name)
    assert made == Path(made).name
    assert made.isprintable()
    assert made.strip(" .")
    assert len(os.fsencode(made)) <= files.LONGEST_NAME
    assert not made.startswith(".")
    assert not made.endswith((" ", "."))  # which some systems take away
    write_bytes(tmp_path / f"{made}.csv", b"x")
    assert len(list(tmp_path.iterdir())) == 1


def test_judges_whose_files_some_systems_cannot_tell_apart_share_none(tmp_path):
    rows = {"judge": ["Ann", "ann"], "topic": ["1", "1"], "document": ["d", "d"], "grade": [0, 1]}
    with pytest.raises(DataError, match="judge"):
        kt.write_judgments(kt.read_judgments(pl.DataFrame(rows)), f"{tmp_path}/")


HOSTILE = ["=1+1", "+1", "-1", "@x", "'=1", "''@", "plain", "it's", "'quoted'", "-", "'"]


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_names_that_look_like_formulas_come_back(tmp_path, ending, raw):
    rows = {"judge": "ann", "topic": "1", "document": HOSTILE, "grade": 1}
    judgments = kt.read_judgments(pl.DataFrame(rows))
    kt.write_judgments(judgments, tmp_path / f"out.{ending}", raw=raw)
    if not raw:
        found = kt.read_judgments(tmp_path / f"out.{ending}")
        assert found.to_frame().equals(judgments.to_frame())
    if ending == "csv":
        cells = re.findall(r"^ann,1,(.*),1$", (tmp_path / "out.csv").read_text(), re.MULTILINE)
        guarded = ["'" + name if re.match("'*[=+@-]", name) else name for name in HOSTILE]
        assert sorted(cells) == sorted(HOSTILE if raw else guarded)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_looks_like_a_formula_comes_back_alone(tmp_path, name):
    rows = {"judge": [name], "topic": ["1"], "document": [name], "grade": [1]}
    judgments = kt.read_judgments(pl.DataFrame(rows))
    for path in (tmp_path / "out.csv", tmp_path / "out.tsv"):
        kt.write_judgments(judgments, path)
        assert kt.read_judgments(path).to_frame().equals(judgments.to_frame())


def test_a_guarded_table_that_a_spreadsheet_saved_with_semicolons(tmp_path):
    (tmp_path / "in.csv").write_text("judge;topic;document;grade\nann;1;'=1;1\n")
    assert kt.read_judgments(tmp_path / "in.csv").to_frame()["document"].to_list() == ["=1"]


def test_white_space_before_a_formula_is_guarded_in_csv_alone():
    from karatage.io.writing import encode_table

    frame = pl.DataFrame({"x": ["\t=a", "\r=b"]})
    assert encode_table(frame, ".csv").replace(b'"', b"") == b"x\n'\t=a\n'\r=b\n"
    assert encode_table(pl.DataFrame({"x": ["=a"]}), ".tsv") == b"x\n=a\n"


def test_numbers_are_not_guarded(tmp_path):
    from karatage.io.writing import encode_table

    assert encode_table(pl.DataFrame({"x": [-0.5, 1.0], "name": ["a", "=b"]}), ".csv") == b"x,name\n-0.5,a\n1.0,'=b\n"


def test_names_of_columns_are_guarded_too(tmp_path):
    from karatage.io.writing import encode_table

    frame = pl.DataFrame({"judge": ["a"], "item": ["d"], "=grade": [1]})
    assert encode_table(frame, ".csv").startswith(b"judge,item,'=grade\n")
    (tmp_path / "out.csv").write_bytes(encode_table(frame, ".csv"))
    assert len(kt.read_judgments(tmp_path / "out.csv", columns={"grade": "=grade"}).grade) == 1
