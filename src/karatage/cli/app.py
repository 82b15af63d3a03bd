"""The program `karatage`: its commands with their help, and its exit codes.

A command's module is imported when the command is used, so that help is fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cyclopts import App, CycloptsError, Group, Parameter, UnusedCliTokensError

from karatage import __version__
from karatage.cli.output import say
from karatage.cli.parsing import SHORT, guard_files, show_default
from karatage.cli.terminal import tell_remarks, wants_colour
from karatage.errors import KaratageError, OptionError
from karatage.io.files import start_over
from karatage.memory import count_threads
from karatage.text import shorten

if TYPE_CHECKING:
    from cyclopts.field_info import FieldInfo

ON_THE_DEMO = "Example, on the files that `karatage demo` writes:"
ON_A_SIMULATION = "Example, on a simulated collection:"
CLAIM = "--topics is now called --claim: write --claim new or --claim these; --topics is reserved for files of topics"
DOCUMENTS = (
    "--documents is reserved for files of documents, which no command reads yet; omit it: runs and judgments (-j) "
    "name the documents"
)
# Options that were renamed, or are reserved.
REFUSED = {
    **{f"{command} --topics": CLAIM for command in ("compare", "report", "plan")},
    **{f"{command} --documents": DOCUMENTS for command in ("compare", "report", "plan")},
    "queue --margin": "--margin is now called --indifference; write e.g. --indifference 0.02",
    "plan --batches": "--batches is now called --looks; write e.g. --looks 4 for four batches",
}


def _find_short(field: FieldInfo, taken: frozenset[str]) -> str | None:
    return SHORT.get(field.name)


OPTIONS, DECIDE, JUDGES, PLAN, STUDY, SHOW = map(
    Group.create_ordered, ("Options", "Decide", "Judges", "Plan", "Study", "Show")
)
app = App(
    name="karatage",
    help="Which search system is better, when the judges are noisy?",
    version=f"karatage {__version__}",
    version_flags="--version",
    help_flags=["--help", "-h"],
    help_format="plaintext",
    group_commands=OPTIONS,
    group_parameters=OPTIONS,
    config=guard_files,
    default_parameter=Parameter(
        negative=(),
        allow_leading_hyphen=True,
        allow_repeating=True,
        show_default=show_default,
        short_alias=_find_short,
    ),
    result_action="return_value",
    print_error=False,
    exit_on_error=False,
    suppress_keyboard_interrupt=False,
)
experiments = App(
    name="experiment",
    group=STUDY,
    sort_key=100,
    help="""The papers' experiments, on your files.

    Which approach agrees best with gold? They use your files or simulated ones.
    """,
    group_commands="Experiments",
)


def _add(parent: App, name: str, group: Group | str | None, line: str, text: str = "", example: str = "") -> None:
    """Add the command of the function `name`; the first line of its help is also in the list of commands."""
    function = name.replace("-", "_")
    module = function if parent is app else "experiment"
    command = " ".join(("karatage", *(() if parent is app else parent.name), name, example)).strip()
    about = "\n\n".join(part for part in (line, text, f"  {command}") if part)
    order = len(list(parent))
    parent.command(f"karatage.cli.{module}:{function}", name=name, group=group, help=about, sort_key=order)


_add(
    app,
    "doctor",
    DECIDE,
    "Check files: which conclusions do they allow?",
    f"Any of runs, judgments and gold may be given. If a file cannot be read, the message names the line with the "
    f"error, the other files are checked, and the exit code is 2.\n\n{ON_THE_DEMO}",
    "demo/runs -j demo/judgments.csv -g demo/gold.qrels",
)
_add(
    app,
    "compare",
    DECIDE,
    "Is one system better, with judges' errors corrected?",
    "Name two systems with --a and --b, or give two runs; otherwise all systems are compared with each other.\n\n"
    f"{ON_THE_DEMO}",
    "demo/runs -j demo/judgments.csv -g demo/gold.qrels",
)
_add(
    app,
    "evaluate",
    DECIDE,
    "Rank systems under noisy judges.",
    f"With gold, it also shows how well each approach agrees with gold.\n\n{ON_THE_DEMO}",
    "demo/runs -j demo/judgments.csv -g demo/gold.qrels",
)
_add(
    app,
    "audit",
    JUDGES,
    "Which judges to keep, which to drop?",
    f"It also shows how accurate the judges are by gold, and whether more gold is needed.\n\n{ON_THE_DEMO}",
    "demo/judgments.csv -g demo/gold.qrels",
)
_add(
    app,
    "aggregate",
    JUDGES,
    "Merge many judges' grades into one for each item.",
    f"The result is written as qrels, or as a table with probabilities.\n\n{ON_THE_DEMO}",
    "demo/judgments.csv -a ds -o merged.qrels",
)
_add(
    app,
    "plan",
    PLAN,
    "Which documents need gold, or how many?",
    "From files: a random sample of documents with known sampling probabilities. From figures: how many topics and "
    "gold items are needed.\n\n"
    f"{ON_THE_DEMO}",
    "demo/runs -j demo/judgments.csv --budget 200 -o queue.csv",
)
_add(
    app,
    "queue",
    PLAN,
    "Which documents to judge next, or can judging stop?",
    f"It selects documents for experts and documents for the crowd.\n\n{ON_THE_DEMO}",
    "demo/runs --budget 500 --prices A -o queue.csv",
)
_add(
    app,
    "simulate",
    STUDY,
    "Simulate a crowd, or a whole collection.",
    "The crowd judges the items of your gold. Its model is a shipped one, or learned from your own judges."
    f"\n\n{ON_THE_DEMO}",
    "demo/gold.qrels --model hcb -o crowd.csv",
)
_add(
    app,
    "benchmark",
    STUDY,
    "Which model merges grades best?",
    f"Accuracy and F1 against gold, as in the SQUARE benchmark.\n\n{ON_THE_DEMO}",
    "-j demo/judgments.csv -g demo/gold.qrels --amounts 50",
)
app.command(experiments)
_add(
    app,
    "report",
    SHOW,
    "Write all results to one page.",
    "It contains the decision, the leaderboard, the judges and all notes. It is made from runs, judgments and gold, "
    "or from results that "
    f"other commands wrote with -o RESULT.json.\n\n{ON_THE_DEMO}",
    "demo/runs -j demo/judgments.csv -g demo/gold.qrels",
)
_add(
    app,
    "demo",
    SHOW,
    "Try karatage without your own files.",
    "It writes simulated collections as ordinary files, and shows how judges' errors change a decision.\n\n"
    "Example, in the current folder:",
)
_add(
    experiments,
    "aware",
    None,
    "Merge grades or merge scores? The AWARE paper's experiment.",
    f"Approaches on samples of k judges are compared with gold.\n\n{ON_A_SIMULATION}",
    "--preset small",
)
_add(
    experiments,
    "supervised",
    None,
    "Does gold on a few topics improve the judges' weights? The s-AWARE paper.",
    ON_A_SIMULATION,
    "--preset small",
)
_add(
    experiments,
    "random-relevance",
    None,
    "Does it help to merge judges by probabilities? The ECIR 2019 design.",
    ON_A_SIMULATION,
    "--preset small",
)
_add(
    experiments,
    "noisy",
    None,
    "Are intervals and tests valid? The TOIS 2018 design.",
    "The judges make errors, and there is little gold.\n\nExample, the paper's simulation:",
)
_add(
    experiments,
    "collaborative",
    None,
    "When are experts and a crowd better than experts alone at the same cost?",
    f"The design is that of chapter 3 of the SQUARE thesis.\n\n{ON_THE_DEMO}",
    "demo/runs -g demo/gold.qrels --preset small",
)
app.register_install_completion_command(help="Install completion for the current shell.")


@app.command(name="--show-completion")
def _show_completion() -> None:
    """Show the completion script of the current shell."""
    sys.stdout.write(app.generate_completion())


def call(words: Sequence[str]) -> None:
    """Run a command; errors in its options or files raise a KaratageError."""
    from rich.console import Console

    start_over()
    try:
        app(words, console=Console(force_terminal=wants_colour(sys.stdout)))
    except CycloptsError as problem:
        raise OptionError(_explain(problem, words)) from None
    finally:
        start_over()


def _explain(problem: CycloptsError, words: Sequence[str]) -> str:
    """What is wrong with the command line, and the new name of an option."""
    token = getattr(problem, "token", None)
    if isinstance(problem.__cause__, KaratageError):
        return f"{token.keyword} {problem.__cause__}" if token is not None else str(problem.__cause__)
    if isinstance(problem, UnusedCliTokensError):
        extra = " ".join(problem.unused_tokens or ())
        return f"'{shorten(extra)}' cannot be used: give files after the command or by an option, not both"
    option = (token.keyword or token.value).partition("=")[0] if token is not None else ""
    return REFUSED.get(f"{words[0]} {option}", str(problem))


def main() -> None:
    """Run a command; bad or too much input gives one message on standard error and exit code 2."""
    try:
        count_threads()  # report a wrong environment before the work
        call(sys.argv[1:])
    except KaratageError as problem:
        say(f"error: {problem}")
        sys.exit(2)
    except MemoryError as problem:
        why = f" ({problem})" if str(problem) else ""
        say(f"error: out of memory{why}; give smaller files, or use a machine with more memory")
        sys.exit(2)
    except BrokenPipeError:  # the reader, e.g. `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        tell_remarks()
    sys.exit(0)
