"""The public interface: names, laziness, documentation, and functions that agree with the commands."""

import inspect
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import karatage as kt
from karatage.decisions.question import QuestionOptions, QueueOptions
from karatage.errors import OptionError, WrongTypeError
from tests.invoking import list_commands

COMMANDS = list_commands()

MODULES = {"kt": kt} | {f"kt.{name}": getattr(kt, name) for name in ("stats", "charts", "experiments", "simulation")}
PUBLIC = [
    (module, name)
    for module, home in MODULES.items()
    for name in home.__all__
    if not inspect.ismodule(getattr(home, name))
]
FUNCTIONS = [
    pytest.param(getattr(MODULES[module], name), id=f"{module}.{name}")
    for module, name in PUBLIC
    if inspect.isfunction(getattr(MODULES[module], name))
]
# Every name of the interface when it was one module, and where it is now.
MOVED = dict(line.split() for line in (Path(__file__).parent / "moved_names.txt").read_text("utf-8").splitlines())

# Options about files, and about what is printed and written: Python has other means.
OF_THE_COMMAND = frozenset(
    [
        "runs",
        "judgments",
        "gold",
        "folders",
        "like",
        "like_gold",
        "queue",
        "judged",
        "history",
        "disagreement",
        "families",
        "grades",
        "gold_grades",
        "columns",
        "gold_columns",
        "repeats",
        "most_memory",
        "format",
        "output",
        "raw",
        "quiet",
        "top",
        "chart",
        "figures",
        "tables",
        "save",
        "save_disagreement",
        "collection",
        "judges",
    ]
)
# Options of one command that belong to it alone, or to another function.
ELSEWHERE = {
    "compare": {
        "adjust": "kt.compare_all",
        **dict.fromkeys(("figures_a", "figures_b", "rates", "rates_b"), "kt.compare_figures"),
        "fail_unless_significant": "the exit code",
        "update_record": "kt.stats.add_studies",
    },
    "report": {"update_record": "kt.stats.add_studies"},
    "plan": dict.fromkeys(
        [
            "figures_a",
            "figures_b",
            "rates",
            "rates_b",
            "paired",
            "prices",
            "depth",
            "level",
            "power",
            "difference",
            "split",
        ],
        "kt.plan_sizes",
    ),
    "evaluate": dict.fromkeys(("per_topic", "weights", "explain"), "what is printed of the result"),
    "audit": {"pairs": "what is printed of the result"},
    "aggregate": {"with_gold": "Posterior.to_frame"},
    "simulate": {
        "list_all": "kt.simulation.list_crowds",
        **dict.fromkeys(
            ["systems", "topics", "depth", "documents", "pool", "relevant", "quality", "difficulty"],
            "kt.simulation.simulate_collection",
        ),
    },
    "benchmark": {
        "per_data_set": "what is printed of the result",
        **dict.fromkeys(("workers", "fresh"), "kt.experiments.Execution"),
    },
}
# The same option in other words: the command's default, and what it is in Python.
IN_OTHER_WORDS = {
    ("compare", "unpaired"): ("paired", True),
    ("evaluate", "measure"): ("measure", "nDCG@10"),
}
NEEDED = {("plan", "budget"), ("queue", "budget")}  # the command says what is missing, Python too


def test_at_most_sixty_names():
    assert len(kt.__all__) <= 60


def test_public_names_are_sorted_and_resolve():
    for home in MODULES.values():
        assert list(home.__all__) == sorted(home.__all__)
        assert {name for name in dir(home) if not name.startswith("__")} == set(home.__all__)
        for name in home.__all__:
            assert getattr(home, name) is getattr(home, name)
    assert len({name for _, name in PUBLIC}) == len(PUBLIC)


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_public_names_are_documented(module, name):
    assert inspect.getdoc(getattr(MODULES[module], name))


@pytest.mark.parametrize("name", MOVED)
def test_a_name_that_moved_is_found_or_says_where_it_is(name):
    place = MOVED[name]
    home, _, new = place.rpartition(".")
    assert new in MODULES[home].__all__
    if place == f"kt.{name}":
        assert getattr(kt, name)
    else:
        with pytest.raises(AttributeError, match=rf"^kt\.{name} is now (arguments of )?{place}$"):
            getattr(kt, name)


def test_unknown_attribute():
    with pytest.raises(AttributeError, match=r"'karatage'.*'evaluete'"):
        _ = kt.evaluete
    with pytest.raises(AttributeError, match=r"'karatage\.stats'.*'evaluate'"):
        _ = kt.stats.evaluate


@pytest.mark.parametrize(
    "statement",
    [
        "import karatage",
        "import karatage.cli.app",
        "import karatage as kt; kt.stats, kt.charts, kt.experiments, kt.simulation",
        "from karatage import stats; dir(stats)",
    ],
)
def test_importing_loads_nothing_heavy(statement):
    code = f"import sys; {statement}; print(sorted({{'numpy', 'numba', 'polars', 'scipy'}} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


@pytest.mark.parametrize("command", [name for name in COMMANDS if " " not in name])
def test_a_command_is_a_function_with_the_same_options_and_defaults(command):
    parameters = inspect.signature(getattr(kt, command)).parameters
    used = 0
    for argument in COMMANDS[command]:
        option, default = argument.field_info.name, argument.field_info.default
        if option in ELSEWHERE.get(command, ()) or (option in OF_THE_COMMAND and option not in parameters):
            continue
        name, default = IN_OTHER_WORDS.get((command, option), (option, default))
        if name == "seed" and name not in parameters:
            name = "rng"  # a seed, or a generator
        assert name in parameters, option
        used += 1
        if option in OF_THE_COMMAND and default in ((), "-", "report.html"):  # no files, or files by themselves
            default = None
        found = parameters[name].default
        if (command, option) in NEEDED:
            assert found is inspect.Parameter.empty
        elif name not in ("runs", "judgments", "gold") or found is not inspect.Parameter.empty:
            assert found == default, option
    assert used


@pytest.mark.parametrize(("declared", "schema"), [(QuestionOptions, kt.Question), (QueueOptions, kt.QueueRules)])
def test_types_of_options_are_those_of_the_dataclass(declared, schema):
    types = {field.name: field.type for field in fields(schema)}
    found = {name: hint.__forward_arg__ for name, hint in declared.__annotations__.items()}
    assert found == {name: types[name] for name in found}
    apart = {"measure", "prices", "systems"}  # arguments of their own
    assert set(types) - apart == set(found) - apart


@pytest.mark.parametrize("function", FUNCTIONS)
def test_at_most_six_parameters_and_options_by_keyword(function):
    """Not counted: keywords that are options of the command of the same name, or of the question it asks."""
    arguments = COMMANDS.get(function.__name__.removesuffix("_all"), [])
    options = {argument.field_info.name for argument in arguments} | {field.name for field in fields(kt.Question)}
    parameters = inspect.signature(function).parameters.values()
    counted = [p for p in parameters if p.kind is not p.KEYWORD_ONLY or p.name not in options]
    assert len(counted) <= 6


READ = frozenset({"read_collection", "parse_prices"})  # take paths, or a number under the same name


@pytest.mark.parametrize("function", FUNCTIONS)
def test_wrong_types_are_told_in_words(function):
    """Whatever the other arguments are: data are looked at first."""
    parameters = inspect.signature(function).parameters
    data = [name for name in ("runs", "judgments", "gold") if name in parameters]
    if not data or function.__name__ in READ:
        assert function.__name__ in READ or not {"runs", "judgments"} & set(parameters)
        return
    judgments = kt.read_judgments({"judge": ["x"], "topic": ["1"], "document": ["d"], "grade": [1]})
    runs = kt.read_runs({"s": {"1": {"d": 1.0}}})
    right = {"runs": runs, "judgments": judgments, "gold": judgments}
    required = [p.name for p in parameters.values() if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    for name in data:
        given = dict.fromkeys(required, "anything") | {part: right[part] for part in data}
        wrong = judgments if name == "runs" else runs
        with pytest.raises(WrongTypeError, match=rf"^expected {name}, got {type(wrong).__name__}[:;] "):
            function(**given | {name: wrong})
        if function.__name__ != "doctor":  # which reads tables and files itself
            with pytest.raises(
                WrongTypeError, match=rf"^expected {name}, got dict; give what kt\.read_{name} returns$"
            ):
                function(**given | {name: {}})


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda runs, judgments: kt.evaluate(runs, judgments, measures="AP"), "'measure'"),
        (lambda _, judgments: kt.aggregate(judgments, model="zz"), "approach"),
        (lambda _, judgments: kt.audit(judgments, 3), "gold=..."),
        (lambda runs, judgments: kt.compare(runs, judgments, confidence="high"), "'high'"),
    ],
)
def test_wrong_arguments_are_refused_in_words(ask, says):
    judgments = kt.read_judgments({"judge": ["x"], "topic": ["1"], "document": ["d"], "grade": [1]})
    runs = kt.read_runs({"s": {"1": {"d": 1.0}}, "t": {"1": {"d": 1.0}}})
    with pytest.raises(kt.KaratageError) as refused:
        ask(runs, judgments)
    assert says in str(refused.value)


def test_the_order_of_arguments_is_told():
    judgments = kt.read_judgments({"judge": ["x"], "topic": ["1"], "document": ["d"], "grade": [1]})
    runs = kt.read_runs({"s": {"1": {"d": 1.0}}})
    with pytest.raises(TypeError, match="runs"):
        kt.compare(judgments, runs)
    with pytest.raises(kt.KaratageError, match="read_judgments"):
        kt.compare(runs, None)


@pytest.mark.parametrize(
    ("function", "old", "new"),
    [(kt.compare, "topics", "claim"), (kt.plan, "batches", "looks"), (kt.queue, "margin", "indifference")],
)
def test_an_option_by_its_old_name_is_refused_with_the_new_one(function, old, new):
    with pytest.raises(OptionError, match=rf"^{function.__name__}: .* {old} .* {new}$"):
        function(**{old: 1})


def test_a_misspelt_option_is_refused_with_the_nearest():
    with pytest.raises(TypeError, match=r"option of plan 'confidense'; did you mean 'confidence'"):
        kt.plan(confidense=0.9)
