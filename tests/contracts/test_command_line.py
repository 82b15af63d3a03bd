"""Manners of the command line, for every command: examples that run, options that agree, completion, helpful errors."""

import json
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from karatage.cli.app import app, main
from tests.invoking import invoke, list_commands

COMMANDS = list_commands()
SHOWS = {
    "aggregate": "",
    "audit": "effective votes",
    "benchmark": "not significantly worse",
    "compare": "significant when corrected",
    "demo": "karatage report",
    "doctor": "Ready to compare",
    "evaluate": "nDCG@10",
    "experiment aware": "tau_ap",
    "experiment collaborative": "cost",
    "experiment noisy": "intervals",
    "experiment random-relevance": "tau_ap",
    "experiment supervised": "tau_ap",
    "plan": "200 documents",
    "queue": "documents",
    "report": "(Holm",
    "simulate": "the majority vote has recall",
}
# Options whose meaning is the command's own; all others mean the same, and say so in the same words.
OWN_MEANING = {
    "--approach",  # one that decides, several to compare, models that merge
    "--budget",  # labels or money
    "--depth",
    "--draws",
    "--gold-grades",  # where there is no --grades to be like
    "--judged",
    "--judges",
    "--output",  # a result, a queue, judgments, a page or a folder
    "--preset",
    "--prices",
    "--relevant",
    "--resamples",
    "--samples",
    "--topics",
}
PRINTS_A_STORY = {"demo"}


@pytest.fixture(scope="module")
def demo(demo_files, tmp_path_factory):
    home = tmp_path_factory.mktemp("examples")
    shutil.copytree(demo_files, home / "demo")
    return home


@pytest.fixture
def run(monkeypatch, capsys):
    def call(words, folder=None):
        if folder is not None:
            monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["karatage", *words])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code or 0, *capsys.readouterr()

    return call


def list_examples(help_text):
    """Lines of the help that are commands, as they are shown in 80 columns."""
    return [line.strip() for line in help_text.splitlines() if re.match(r"\s*karatage \S", line)]


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_in_help_run_as_written(run, demo, command):
    code, shown, _ = run([*command.split(), "--help"])
    examples = list_examples(shown)
    assert code == 0
    assert examples
    for example in examples:
        assert example.startswith(f"karatage {command}")
        if command == "demo":
            assert example == "karatage demo"  # which the other examples are run after
            continue
        code, out, err = run(shlex.split(example)[1:], demo)
        assert code == 0, err
        assert SHOWS[command] in out


def test_help_is_one_screen_of_commands_by_purpose(run):
    code, shown, _ = run(["--help"])
    assert code == 0
    assert len(shown.splitlines()) <= 40
    assert max(map(len, shown.splitlines())) <= 80
    assert re.findall(r"^╭─ (\w+) ─", shown, re.M) == ["Options", "Decide", "Judges", "Plan", "Study", "Show"]
    rows = [line.strip("│ ").split("  ")[0] for line in shown.splitlines() if line.startswith("│ ")]
    assert {name.split()[0] for name in COMMANDS} <= set(rows)
    assert run([])[1].strip() == shown.strip()  # nothing asked for: the same


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_what_all_take(command):
    taken = {option for argument in COMMANDS[command] for option in argument.names}
    assert {"--seed", "--output", "-o", "--quiet", "-q"} <= taken
    assert command in PRINTS_A_STORY or {"--format", "-f"} <= taken


def list_uses():
    """{option: {command: argument}}."""
    uses = defaultdict(dict)
    for command, arguments in COMMANDS.items():
        for argument in arguments:
            if argument.name.startswith("--"):
                uses[argument.name][command] = argument
    return uses


@pytest.mark.parametrize("option", sorted(set(list_uses()) - OWN_MEANING))
def test_the_same_option_says_the_same_everywhere(option):
    """Up to whether it may be repeated, and what its default is."""
    said = {re.split(r"[;.](?: |$)", argument.parameter.help)[0] for argument in list_uses()[option].values()}
    assert len(said) == 1, said


def test_options_with_a_meaning_of_their_own_have_several():
    uses = list_uses()
    for option in OWN_MEANING:
        assert len({argument.parameter.help for argument in uses[option].values()}) > 1, option


def test_short_options_are_the_same_everywhere():
    long_of, short_of = defaultdict(set), defaultdict(set)
    for option, uses in list_uses().items():
        for argument in uses.values():
            shorts = [name for name in argument.names if re.fullmatch("-[a-z]", name)]
            short_of[option].add(tuple(shorts))
            for name in shorts:
                long_of[name].add(option)
    assert {name: options for name, options in long_of.items() if len(options) > 1} == {}
    assert {option: shorts for option, shorts in short_of.items() if len(shorts) > 1} == {}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_sentence_of_help(command):
    for argument in COMMANDS[command]:
        assert argument.parameter.help.endswith("."), argument.name


class TestCompletion:
    """By the protocol that the scripts of `--install-completion` speak."""

    @pytest.fixture
    def complete(self, run):
        def call(line):
            code, out, _ = run(["__complete", *line.split(" ")[1:]])
            assert code == 0
            return out.partition("\x1fbegin\n")[2].splitlines()

        return call

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_scripts_know_commands_options_and_choices(self, shell):
        script = app.generate_completion(shell=shell)
        for word in ("compare", "random-relevance", "fail-unless-significant", "permutation"):
            assert word in script

    @pytest.mark.parametrize(
        ("line", "offered"),
        [
            ("karatage evaluate -m n", ["nDCG@10"]),
            ("karatage compare --measure A", ["AP"]),
            ("karatage evaluate -a sgl_tau_ow", ["sgl_tau_own", "sgl_tau_own2", "sgl_tau_own4"]),
            ("karatage aggregate -a em", ["emgz", "emmv", "emneu", "emsemi"]),
            ("karatage audit -a d", ["ds"]),
            ("karatage queue --order m", ["meta-ap", "move-to-front"]),
            ("karatage simulate --model c", ["careful", "crowd-2011"]),
            ("karatage experiment collaborative --crowd h", ["hcb"]),
        ],
    )
    def test_names(self, complete, line, offered):
        assert complete(line) == offered


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("compare a b -j c --topics these", "--claim these"),
        ("report a b -j c --topics=new", "--claim new"),
        ("plan a b -j c --topics these", "--claim these"),
        ("plan a b -j c --batches 3", "--looks"),
        ("queue a --margin 0.1", "--indifference"),
        ("compare a b -j c --documents d.jsonl", "-j"),
    ],
)
def test_old_names_lead_to_the_new_ones(run, line, told, tmp_path):
    code, out, err = run(line.split(), tmp_path)
    assert (code, out) == (2, "")
    assert told in err


ASK_FOR_HELP = """
import json, os, sys
from karatage.cli.app import main

found = {}
for command in sys.argv[1:]:
    told, tell = os.pipe()
    if not os.fork():  # a process for each, after what all of them import
        sys.argv, sys.stdout = ["karatage", *command.split(), "--help"], open(os.devnull, "w")
        try:
            main()
        finally:
            with open(tell, "w") as out:
                out.write(" ".join(sys.modules))
            os._exit(0)
    os.close(tell)
    with open(told) as lines:
        found[command] = lines.read().split()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def imported():
    """The modules that each command's help imports."""
    words = [sys.executable, "-c", ASK_FOR_HELP, "", "experiment", *COMMANDS]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("command", ["", "experiment", *COMMANDS])
def test_help_imports_nothing_heavy(imported, command):
    """Nor other commands than the one that is asked about."""
    loaded = set(imported[command])
    assert "cyclopts" in loaded
    assert loaded & {"altair", "numba", "numpy", "polars", "rich.markdown", "scipy", "sklearn"} == set()
    own = command.split(" ")[0].replace("-", "_")
    others = {f"karatage.cli.{name.split()[0]}" for name in COMMANDS} - {f"karatage.cli.{own}"}
    assert loaded & others == set()


def test_help_of_every_command_is_timed():
    races = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "races.py"))
    assert set(races["COMMANDS"]) == {"", *COMMANDS}


class TestErrors:
    """One message, on standard error, that says what to do; exit code 2."""

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ("compre", 'Unknown command "compre". Did you mean "compare"?'),
            ("experiment awar", 'Unknown command "awar". Did you mean "aware"?'),
            ("compare --mesure AP", "Unknown option: --mesure. Did you mean --measure?"),
            ("audit pyproject.tml", "pyproject.tml: no such file"),
            ("evaluate runs", "name their files with --judgments or -j"),
            ("audit x.csv --seed -1", "Must be >= 0"),
            ("compare a b -j c -m nCDG@10", "a: no such file"),
        ],
    )
    def test_mistyped(self, run, line, told, tmp_path):
        code, out, err = run(line.split(), tmp_path)
        assert (code, out) == (2, "")
        assert told in " ".join(err.replace("│", " ").split())

    @pytest.mark.parametrize("threads", ["x", "0", "-1", "1.5", "9999999"])
    def test_threads_that_are_no_number(self, run, monkeypatch, threads):
        monkeypatch.setenv("KARATAGE_THREADS", threads)
        code, out, err = run(["simulate", "--list"])
        assert (code, out) == (2, "")
        assert err.startswith(
            f"error: the environment variable KARATAGE_THREADS is '{threads}'; set it to a whole number"
        )

    def test_threads_that_are_one(self, run, monkeypatch):
        monkeypatch.setenv("KARATAGE_THREADS", "1")
        assert run(["simulate", "--list"])[0] == 0

    @pytest.mark.parametrize(
        ("name", "content", "told"),
        [
            (
                "a.csv",
                "judge,topic,document,grade\nx,1,d,1\n".encode("utf-16"),
                "a.csv: looks like UTF-16; save it as UTF-8",
            ),
            (
                "b.csv",
                "judge,topic,document,grade\nx,1,d,1\n".encode("utf-16-be"),
                "b.csv: looks like UTF-16; save it as UTF-8",
            ),
            (
                "c.csv",
                b"judge;topic;document;grade\nx;1;d;0,5\n",
                "c.csv:2: grade '0,5' is not a number; write decimals with a point: 0.5",
            ),
            (
                "d.csv",
                b"judge,topic,document,grade\nx,1,d,0,5\n",
                "d.csv:2: expected 4 columns, got 5; a comma inside a field",
            ),
            ("e.csv", b"\x00\x01\x02\x03\x04", "e.csv:1: "),
        ],
    )
    def test_files_saved_in_another_way(self, run, tmp_path, name, content, told):
        (tmp_path / name).write_bytes(content)
        code, _, err = run(["audit", name], tmp_path)
        assert code == 2
        assert err.startswith(f"error: {told}")


@pytest.mark.parametrize("option", ["--sizes", "--samples"])
def test_of_an_option_with_one_value_the_last_counts(option):
    def run(*values):
        given = [word for value in values for word in (option, value)]
        short = ["-m", "AP", "-a", "mv", "-a", "uniform", "--replicates", 2, "--preset", "small", "-f", "json", "-q"]
        return json.loads(invoke(["experiment", "aware", *short, *given]).stdout)

    assert run("3", "2") == run("2") != run("3")
