"""Colour and progress, as a terminal sees them."""

import os
import pty
import select
import sys
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import pytest

import karatage as kt
from karatage.cli.app import main
from karatage.cli.output import emit
from karatage.cli.terminal import _make_console, remove_colour, tell_remarks, wants_colour
from karatage.progress import remark, take_remarks

ESCAPE = "\x1b"
FIGURES = ["compare", "--figures-a", "50,0.5,0.24", "--figures-b", "50,0.6,0.26", "--rates", "43/59,67/84"]
UNSET = ("NO_COLOR", "FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "COLUMNS", "_TYPER_FORCE_DISABLE_TERMINAL")
EVALUATE = ["evaluate", "runs", "-j", "crowd.csv", "-a", "mv", "-a", "uniform", "-a", "sgl_tau_own4"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("terminal")
    world = kt.simulation.simulate_collection(systems=3, topics=6, depth=10, rng=7)
    for system in world.runs.systems:
        kt.write_run(world.runs, system, home / "runs" / f"{system}.gz")
    kt.write_judgments(world.judgments, home / "crowd.csv")
    return home


def look(folder, command, *, out=True, err=True, **settings):
    """What a command sends to its output and to standard error; a terminal each, where asked for."""
    environment = {name: value for name, value in os.environ.items() if name not in UNSET}
    environment |= {"TERM": "xterm-256color", **settings}
    ends = [pty.openpty() if terminal else os.pipe() for terminal in (out, err)]
    with (
        ThreadPoolExecutor(1) as reader,
        pytest.MonkeyPatch.context() as patch,
        mock.patch.dict(os.environ, environment, clear=True),
    ):
        told = reader.submit(_drain, [outer for outer, _ in ends])
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["karatage", *command])
        with open(ends[0][1], "w") as stdout, open(ends[1][1], "w") as stderr:  # noqa: PTH123 (not by their paths)
            patch.setattr(sys, "stdout", stdout)
            patch.setattr(sys, "stderr", stderr)
            with pytest.raises(SystemExit) as ended:
                main()
        assert not ended.value.code, told.result()
        return told.result()


def _drain(handles):
    told = dict.fromkeys(handles, b"")
    left = set(handles)
    while left:
        for handle in select.select(list(left), [], [], 120)[0]:
            try:
                content = os.read(handle, 65536)
            except OSError:  # how a terminal says that nobody writes any more
                content = b""
            told[handle] += content
            if not content:
                left.discard(handle)
                os.close(handle)
    return [told[handle].decode() for handle in handles]


def test_progress_with_the_time_left_is_on_standard_error_only(folder):
    out, err = look(folder, EVALUATE, out=False)
    assert "judges weighted" in err
    assert "0:00:" in err
    assert ESCAPE not in out
    assert "judges weighted" not in out


def test_a_terminal_gets_colour(folder):
    out, _ = look(folder, FIGURES)
    assert ESCAPE in out


@pytest.mark.parametrize("settings", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}])
@pytest.mark.parametrize("command", [FIGURES, ["compare", "--help"]], ids=["tables", "help"])
def test_no_colour_where_it_is_not_wanted(folder, settings, command):
    out, _ = look(folder, command, **settings)
    assert ESCAPE not in out


@pytest.mark.parametrize("command", [FIGURES, ["--help"]], ids=["tables", "help"])
def test_pipes_get_colour_where_it_is_forced_only(folder, command):
    out, err = look(folder, command, out=False, err=False, GITHUB_ACTIONS="true")
    assert ESCAPE not in out + err
    out, _ = look(folder, command, out=False, err=False, FORCE_COLOR="1")
    assert ESCAPE in out


def test_files_have_no_colour(folder):
    look(folder, [*FIGURES, "-o", "answer.txt"])
    assert ESCAPE not in (folder / "answer.txt").read_text()


def test_progress_is_for_terminals_that_can_show_it(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert _make_console(quiet=False) is not None
    assert _make_console(quiet=True) is None
    monkeypatch.setenv("TERM", "dumb")
    assert _make_console(quiet=False) is None


def test_colour_is_removed_from_text_only(tmp_path):
    assert remove_colour(f"{ESCAPE}[1;31mred{ESCAPE}[0m and [1m") == "red and [1m"
    emit(f"{ESCAPE}[1mbold{ESCAPE}[0m\n", str(tmp_path / "x.txt"))
    assert (tmp_path / "x.txt").read_text() == "bold\n"


def test_colour_is_wanted_by_terminal_and_environment(monkeypatch, capsys):
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    assert not wants_colour(sys.stdout)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert wants_colour(sys.stdout)
    monkeypatch.setenv("NO_COLOR", "")
    assert wants_colour(sys.stdout)
    monkeypatch.setenv("NO_COLOR", "0")
    assert not wants_colour(sys.stdout)


@pytest.mark.parametrize(("options", "told"), [([], "note: the disk is slow\n"), (["--quiet"], "")])
def test_how_the_process_ran_is_told_once_and_last(monkeypatch, capsys, options, told):
    take_remarks()
    remark("the disk is slow")
    remark("the disk is slow")
    monkeypatch.setattr(sys, "argv", ["karatage", *FIGURES, *options])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    told_there = capsys.readouterr().err
    assert told_there.endswith(told)
    assert told_there.count("slow") == told.count("slow")
    tell_remarks()
    assert capsys.readouterr().err == ""
