"""No output of any command replaces an input; the table of cases comes from the commands' own options."""

import hashlib
import os
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cyclopts.annotations import resolve_optional

import karatage as kt
from karatage.cli.app import call
from karatage.cli.parsing import Reads, Writes, find_marks
from karatage.data.records import StudyRecord
from karatage.errors import OptionError
from karatage.experiments.noisy.plan import NoisyPlan
from karatage.experiments.plans import Plan
from karatage.io.files import start_over
from karatage.io.records import encode_record
from tests.invoking import list_commands

COMMANDS = list_commands()
# Options whose value is text that names no file.
TEXTS = [
    "--a",
    "--b",
    "--amounts",
    "--compare",
    "--ratio",
    "--approach",
    "--budget",
    "--columns",
    "--configuration",
    "--correlation",
    "--crowd-shares",
    "--differences",
    "--engine",
    "--expert-shares",
    "--figures-a",
    "--figures-b",
    "--gold-columns",
    "--gold-grades",
    "--gold-relevant",
    "--gold-sizes",
    "--grades",
    "--measure",
    "--most-memory",
    "--order",
    "--people",
    "--precision",
    "--prices",
    "--quality",
    "--rates",
    "--rates-b",
    "--relevant",
    "--right-other",
    "--right-relevant",
    "--sizes",
    "--split",
    "--correction",
    "--study",
    "--topics",
    "--train",
]
CONTENT = {
    "FOLDERS": "judgments.csv",
    "GOLD": "gold.qrels",
    "JUDGMENTS": "judgments.csv",
    "RUNS": "runs/one",
    "--crowd": "crowd.json",
    "--disagreement": "disagreement.json",
    "--families": "families.tsv",
    "--gold": "gold.qrels",
    "--history": "record.csv",
    "--judged": "judged.csv",
    "--judgments": "judgments.csv",
    "--learn-from": "judgments.csv",
    "--learn-gold": "gold.qrels",
    "--learn-runs": "runs/one",
    "--like": "judgments.csv",
    "--like-gold": "gold.qrels",
    "--model": "crowd.json",
    "--plan": "plan.toml",
    "--queue": "judged.csv",
    "--record": "studies.json",
    "--runs": "runs/one",
    "--table-crowd": "crowd.json",
}
# How an output has to end for the command to take it; .csv where nothing is said.
ENDINGS = {"--chart": ".svg", "--save": ".json", "--save-disagreement": ".json"}
# Stores of ours, which a command may read, extend and replace.
STORES = {
    ("aggregate", "--judges", "--history"),
    ("compare", "--record", "--record"),
    ("report", "--record", "--record"),
} | {(name, "--output", "--plan") for name in COMMANDS if name.startswith("experiment ")}
ALIASES = ("same", "link", "hard link", "folder", "glob")


def name_option(argument):
    return next((name for name in argument.names if name.startswith("--")), argument.name)


def find_files(arguments, kind):
    """Arguments that name files, each with what marks it as such."""
    for argument in arguments:
        yield from ((argument, mark) for mark in find_marks(argument.field_info.annotation) if isinstance(mark, kind))


def list_cases():
    """All of (command, output, is it a folder, input)."""
    for name, arguments in COMMANDS.items():
        inputs = [name_option(argument) for argument, _ in find_files(arguments, Reads)]
        inputs += [argument.name.lstrip("-").upper() for argument, _ in find_files(arguments[:1], Reads)]
        for argument, mark in find_files(arguments, Writes):
            folder = "folder" in mark.kind
            yield from ((name, name_option(argument), folder, given) for given in dict.fromkeys(inputs))


CASES = [
    case
    for case in list_cases()
    if case[1] not in ("--figures", "--tables")  # below: what they are filled with is known later
    and (case[0], case[1], case[3]) not in STORES
]


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Small files of every kind that a command reads."""
    home = tmp_path_factory.mktemp("originals")
    world = kt.simulation.simulate_collection(systems=2, topics=3, depth=5, rng=3)
    (home / "runs").mkdir()
    for system in world.runs.systems:
        kt.write_run(world.runs, system, home / "runs" / system)
    (home / "runs" / world.runs.systems[0]).rename(home / "runs" / "one")
    kt.write_judgments(world.judgments, home / "judgments.csv")
    kt.write_judgments(world.pool, home / "gold.qrels")
    kt.simulation.write_crowd(kt.simulation.load_crowd("hcb"), home / "crowd.json")
    kt.experiments.write_disagreement(
        kt.experiments.learn_disagreement(world.runs, world.judgments, rng=1), home / "disagreement.json"
    )
    (home / "studies.json").write_bytes(encode_record(StudyRecord()))
    (home / "families.tsv").write_text("".join(f"{judge}\tall\n" for judge in world.judgments.judges))
    merged = kt.aggregate(world.judgments, "emgz")
    merged.judges.write_csv(home / "record.csv")
    queue = kt.plan(world.runs, world.judgments, "P@5", budget=4).queue
    queue.with_columns(grade=1).write_csv(home / "judged.csv")
    (home / "plan.toml").write_text(Plan("noisy", NoisyPlan()).to_toml())
    return home


@pytest.fixture
def home(originals, tmp_path, monkeypatch):
    """A folder of one's own with all of them, and the current one."""
    shutil.copytree(originals, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def take_sums(home):
    """Every file by its content and inode, links by where they lead."""
    return {
        path.relative_to(home).as_posix(): (
            str(path.readlink())
            if path.is_symlink()
            else (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_ino)
        )
        for path in sorted(home.rglob("*"))
        if (path.is_file() or path.is_symlink()) and path.name != ".lock"
    }


def make_alias(home, content, alias, ending):
    """An input in a folder of its own, as the command is given it, and a path that would write over it."""
    real = home / "kept" / f"input{ending}"
    real.parent.mkdir()
    real.write_bytes((home / content).read_bytes())
    other = home / f"alias{ending}"
    if alias == "link":
        other.symlink_to(real)
    elif alias == "hard link":
        os.link(real, other)
    else:
        other = Path("kept", "..", "kept", real.name)
    return {"folder": "kept", "glob": "ke*/in*"}.get(alias, str(real)), str(other)


def move_into_folder(home, other, alias):
    """For a command that fills a folder: one in which the input lies, or another name of it."""
    if alias == "hard link":
        (home / "filled").mkdir()
        (home / other).rename(home / "filled" / "results.csv")
        return "filled"
    if alias == "link":
        (home / "filled").symlink_to(home / "kept")
        return "filled"
    return "kept"


def test_every_option_says_whether_it_names_a_file():
    stray = {
        (name, option)
        for name, arguments in COMMANDS.items()
        for argument in arguments
        if (option := name_option(argument)) not in TEXTS
        and not list(find_marks(argument.field_info.annotation))
        and not argument.get_choices()
        and not argument.parameter.metavar
        and resolve_optional(argument.hint) in (str, tuple[str, ...])
    }
    assert not stray, "mark it with Reads or Writes, or add it to TEXTS"
    assert {given for *_, given in CASES} <= set(CONTENT), "say what such an input holds"


@pytest.mark.parametrize("alias", ALIASES)
@pytest.mark.parametrize(("name", "output", "folder", "given"), CASES)
def test_no_output_replaces_an_input(home, name, output, folder, given, alias):
    ending = ENDINGS.get(output, ".html" if name == "report" else ".csv")
    path, target = make_alias(home, CONTENT[given], alias, ending)
    target = move_into_folder(home, target, alias) if folder else target
    before = take_sums(home)
    inputs = [given, path] if given.startswith("--") else [path]
    with pytest.raises(OptionError, match="is read"):
        call([*name.split(), *inputs, output, target])
    assert take_sums(home) == before


def test_the_table_is_large_enough():
    """Commands by output and input, each under five aliases."""
    assert (
        len({name for name, *_ in CASES}) == len(COMMANDS) - 2
    )  # `demo` reads nothing, `experiment noisy` its own plan
    assert len(CASES) * len(ALIASES) >= 480


@pytest.mark.parametrize("alias", ["same", "link", "hard link"])
@pytest.mark.parametrize(("option", "name"), [("--figures", "comparison.svg"), ("--tables", "checks.md")])
def test_pictures_and_tables_of_a_page_replace_no_input(home, monkeypatch, option, name, alias):
    """Their folder may hold inputs, but no file of theirs may be one; nothing else is written either."""
    monkeypatch.setattr("karatage.views.report.write_page", fail)
    (home / "filled").mkdir()
    real = home / "filled" / name if alias == "same" else home / "judged.csv"
    if alias == "link":
        (home / "filled" / name).symlink_to(real)
    elif alias == "hard link":
        os.link(real, home / "filled" / name)
    else:
        (home / "judged.csv").rename(real)
    before = take_sums(home)
    line = ["report", "runs", "-j", "judgments.csv", "-g", str(real), "-m", "P@5", option, "filled", "-q"]
    with pytest.raises(OptionError, match="is read"):
        call(line)
    assert take_sums(home) == before


def fail(*_):
    raise AssertionError("written, though another output is refused")


def test_what_one_command_wrote_the_next_may_read(home):
    for _ in range(2):
        call(["aggregate", "judgments.csv", "-a", "mv", "-o", "merged.csv", "-q"])
        assert kt.read_gold("merged.csv")
        start_over()


@pytest.mark.parametrize("alias", ["same", "link", "hard link"])
def test_a_record_of_judges_may_be_extended(home, alias):
    path, target = make_alias(home, "record.csv", alias, ".csv")
    record = kt.read_record("record.csv")
    graded = kt.read_judgments("judgments.csv").to_frame()
    graded.filter(pl.col("judge") != record.judges[1]).write_csv("next.csv")
    line = ["aggregate", "next.csv", "-a", "emgz", "--history", path, "--judges", target, "-o", "merged.csv", "-q"]
    call(line)
    extended = kt.read_record(target)
    answers = extended.answers[[extended.judges.index(judge) for judge in record.judges]]
    assert answers[1] == pytest.approx(record.answers[1])  # graded nothing this time
    more = answers.sum((1, 2)) > record.answers.sum((1, 2))
    assert np.flatnonzero(~more).tolist() == [1]
    with pytest.raises(OptionError, match="is read"):
        call([*line[:-5], "-o", path, "-q"])
