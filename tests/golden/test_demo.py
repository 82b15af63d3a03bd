"""The demo's story, and the commands that it and the README show: each says what is claimed of it."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from karatage.cli.app import main

README = (Path(__file__).parents[2] / "README.md").read_text()
COMMANDS = re.findall(r"(?<=karatage )\w+ [^`\n]*demo/[^`\n]*", README)


def call(command, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["karatage", *shlex.split(command)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    return capsys.readouterr().out


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture
def told(demo_folder, monkeypatch, capsys):
    """What the demo printed; it is told once."""
    monkeypatch.chdir(demo_folder)
    kept = demo_folder / "told.txt"
    if not kept.exists():
        kept.write_text(call("demo -q", capsys, monkeypatch))
    return kept.read_text()


def test_its_commands_end_as_it_says(told, capsys, monkeypatch):
    shown = re.findall(r"^\$ karatage (compare .*?)\n…\n(.*?)\n\n", told.replace(" \\\n   ", ""), re.S | re.M)
    assert len(shown) == 3
    for command, sentence in shown:
        out = call(command, capsys, monkeypatch)
        assert " ".join(out.split()).endswith(" ".join(sentence.split()))


def test_judges_claim_what_gold_does_not_and_the_truth_agrees_with_gold(told):
    naive, corrected, survivor, _ = re.findall(r"\n…\n(.*?)\n\n", told, re.S)
    assert "(p < 0.001)" in naive
    assert "is better" not in " ".join(corrected.split())
    assert "newer is better" in " ".join(survivor.split())
    new, newer = map(float, re.findall(r"newe?r? ([+-]\d\.\d+) against old\.", " ".join(told.split())))
    assert abs(new) < 0.01 < 0.09 < newer


def test_it_ends_with_the_page_and_three_commands_for_own_files(told, demo_folder):
    assert "<html" in (demo_folder / "demo" / "report.html").read_text()[:200]
    assert re.findall(r"^  karatage (\w+) runs/ -j", told, re.M) == ["doctor", "plan", "report"]
    assert max(map(len, told.splitlines())) <= 80
    assert len(told.splitlines()) < 60


def test_the_readme_shows_all_jobs():
    shown = {command.split()[0] for command in COMMANDS}
    assert shown == {"compare", "evaluate", "audit", "plan", "benchmark", "report", "doctor"}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("told")
def test_the_readmes_commands_run_as_written(command, capsys, monkeypatch):
    assert call(command, capsys, monkeypatch)
