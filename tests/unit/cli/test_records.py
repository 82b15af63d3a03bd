"""`--record` and `--update-record`."""

import json
import shutil

import pytest

import karatage as kt
from karatage.errors import OptionError
from karatage.io.records import read_studies
from tests.invoking import invoke
from tests.notes import gives
from tests.unit.decisions.test_records import fill_queue, make_world


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Two collections as files."""
    folder = tmp_path_factory.mktemp("originals")
    for seed in (1, 2):
        world = make_world(seed)
        for system in world.runs.systems:
            kt.write_run(world.runs, system, folder / f"runs-{seed}" / f"{system}.run")
        kt.write_judgments(world.judgments, folder / f"judged-{seed}.csv")
        fill_queue(seed).write_csv(folder / f"gold-{seed}.csv")
    return folder


@pytest.fixture
def home(originals, tmp_path, monkeypatch):
    shutil.copytree(originals, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ask(command, seed, *words):
    files = [] if command == "audit" else [f"runs-{seed}"]
    return invoke([command, *files, "-j", f"judged-{seed}.csv", "-g", f"gold-{seed}.csv", *words])


def test_studies_are_added_on_request_and_used_afterwards(home, monkeypatch):
    monkeypatch.setattr("karatage.views.report.write_report", lambda *_, **__: None)  # slow
    assert ask("compare", 1, "--record", "r.json").exit_code == 2  # there is none, and none is asked for
    assert ask("compare", 1, "--update-record").exit_code == 2
    first = ask("compare", 1, "--record", "r.json", "--update-record")
    assert first.exit_code == 0, first.stderr
    assert gives(first.stderr, "r.json", 1, "judge:llm@1")
    before = (home / "r.json").read_bytes()
    second = ask("compare", 2, "--record", "r.json")
    assert gives(second.stderr, "judge:llm@1", 1, 150)
    assert (home / "r.json").read_bytes() == before
    assert gives(ask("compare", 2, "--a", "s0", "--b", "s5", "--record", "r.json").stderr, "judge:llm@1", 1, 150)
    third = ask("report", 2, "--record", "r.json", "--update-record", "-o", "page.html")
    assert third.exit_code == 0, third.stderr
    assert len(read_studies("r.json").studies) == 2
    audit = ask("audit", 1, "--record", "r.json", "--format", "json")
    assert json.loads(audit.stdout)["record"][0]["labels"] == 300
    assert gives(ask("audit", 1, "--record", "r.json").stdout, "judge:llm@1", 2, 300)


def test_an_audit_with_a_record_is_read_back(home):
    ask("compare", 1, "--record", "r.json", "--update-record", "-q")
    ask("audit", 2, "--record", "r.json", "-o", "audit.json", "-q")
    found = kt.read_result("audit.json").result
    assert found.record[0].judge == "judge:llm@1"
    content = json.loads((home / "audit.json").read_text())
    content["record"][0]["accuracy"] = 1.2
    (home / "audit.json").write_text(json.dumps(content))
    with pytest.raises(kt.KaratageError, match="record"):
        kt.read_result("audit.json")


def test_nothing_to_add_is_said(home):
    world = make_world(1)
    kt.write_judgments(world.gold, home / "gold-1.csv")  # all documents: nothing was drawn
    told = ask("compare", 1, "--record", "r.json", "--update-record")
    assert told.exit_code == 0
    assert gives(told.stderr, "r.json")
    assert not (home / "r.json").exists()


def test_options_without_effect_are_refused(home):
    figures = ["--figures-a", "50,0.5,0.2", "--figures-b", "50,0.6,0.2", "--rates", "43/59,67/84"]
    assert invoke(["compare", *figures, "--record", "r.json", "--update-record"]).exit_code == 2
    ask("audit", 1, "-o", "audit.json", "-q")
    told = invoke(["report", "audit.json", "--record", "r.json", "--update-record"])
    assert told.exit_code == 2
    assert isinstance(told.exception, OptionError)


def test_a_damaged_record_stops_the_command_before_it_computes(home):
    (home / "r.json").write_text('{"format": "something else"}')
    for command in ("compare", "report", "audit"):
        told = ask(command, 1, "--record", "r.json")
        assert told.exit_code == 2
        assert gives(told.exception, "r.json")


@pytest.mark.parametrize("output", ["judged-1.csv", "gold-1.csv"])
def test_a_record_replaces_no_input(home, output):
    before = (home / output).read_bytes()
    assert ask("compare", 1, "--record", output, "--update-record").exit_code == 2
    assert (home / output).read_bytes() == before
    assert ask("compare", 1, "--record", "new.json", "--update-record", "-o", "new.json").exit_code == 2
