"""The command `karatage`: its commands with their help, and how it ends.

A command's module is imported when the command is called, so that help is quick.
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
from karatage.kernels.threads import count_threads
from karatage.text import shorten

if TYPE_CHECKING:
    from cyclopts.field_info import FieldInfo

ON_THE_DEMO = "Example, on the files that `karatage demo` writes:"
ON_A_SIMULATION = "Example, on a simulated collection:"
CLAIM = "--topics is now called --claim: write --claim new or --claim these; --topics is kept for files of topics"
DOCUMENTS = "--documents is kept for files of documents, which no command reads yet; documents are named by runs and -j"
# Options that had another name, or will mean something else.
REFUSED = {
    **{f"{command} --topics": CLAIM for command in ("compare", "report", "plan")},
    **{f"{command} --documents": DOCUMENTS for command in ("compare", "report", "plan")},
    "queue --margin": "--margin is now called --indifference; write --indifference 0.02",
    "plan --batches": "--batches is now called --looks; write --looks 4",
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

    Which approach comes nearest to gold? On your files or on simulated ones.
    """,
    group_commands="Experiments",
)


def _add(parent: App, name: str, group: Group | str | None, line: str, text: str = "", example: str = "") -> None:
    """A command in the function of its name; the first line of its help is also shown in the list of commands."""
    function = name.replace("-", "_")
    package = "karatage.cli" if parent is app else "karatage.cli.experiment"
    command = " ".join(("karatage", *(() if parent is app else parent.name), name, example)).strip()
    about = "\n\n".join(part for part in (line, text, f"  {command}") if part)
    order = len(list(parent))
    parent.command(f"{package}.{function}:{function}", name=name, group=group, help=about, sort_key=order)


_add(
    app,
    "doctor",
    DECIDE,
    "Check files: what can be concluded from them?",
    "Any of runs, judgments and gold may be given. For a file that cannot be read, the line is named and the others "
    f"are checked without it; the exit code is then 2.\n\n{ON_THE_DEMO}",
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
    f"With gold, it says how near each approach comes to it.\n\n{ON_THE_DEMO}",
    "demo/runs -j demo/judgments.csv -g demo/gold.qrels",
)
_add(
    app,
    "audit",
    JUDGES,
    "Which judges to keep, which to drop?",
    f"Also says when it is worth to buy gold.\n\n{ON_THE_DEMO}",
    "demo/judgments.csv -g demo/gold.qrels",
)
_add(
    app,
    "aggregate",
    JUDGES,
    "Merge many judges' grades into one for each item.",
    f"As qrels, or with probabilities.\n\n{ON_THE_DEMO}",
    "demo/judgments.csv -a ds -o merged.qrels",
)
_add(
    app,
    "plan",
    PLAN,
    "Which documents should gold judge, or how many?",
    "From files: the documents, drawn with known chances. From figures: numbers of topics and gold items.\n\n"
    f"{ON_THE_DEMO}",
    "demo/runs -j demo/judgments.csv --budget 200 -o queue.csv",
)
_add(
    app,
    "queue",
    PLAN,
    "What should be judged next, or is it enough?",
    f"Says which documents go to experts and which to the crowd.\n\n{ON_THE_DEMO}",
    "demo/runs --budget 500 --prices A -o queue.csv",
)
_add(
    app,
    "simulate",
    STUDY,
    "Make a crowd, or a whole collection.",
    f"A crowd that judges your gold, or one like your own judges.\n\n{ON_THE_DEMO}",
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
    "Everything on one page.",
    "The decision, the leaderboard, the judges and all notes. From runs, judgments and gold, or from results that "
    f"other commands wrote with -o RESULT.json.\n\n{ON_THE_DEMO}",
    "demo/runs -j demo/judgments.csv -g demo/gold.qrels",
)
_add(
    app,
    "demo",
    SHOW,
    "Try it without files of your own.",
    "Writes simulated collections as ordinary files, and shows on them that what judges like is not always better.\n\n"
    "Example, in the current folder:",
)
_add(
    experiments,
    "aware",
    None,
    "Merge grades or merge scores? The AWARE paper's experiment.",
    f"Approaches on k judges out of many, against gold.\n\n{ON_A_SIMULATION}",
    "--preset small",
)
_add(
    experiments,
    "supervised",
    None,
    "Does gold on a few topics tell which judges to trust? The s-AWARE paper.",
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
    "Do intervals and tests hold what they promise? The TOIS 2018 design.",
    "With judges that err and little gold.\n\nExample, the paper's simulation:",
)
_add(
    experiments,
    "collaborative",
    None,
    "When does a crowd beside experts beat experts alone at the same cost?",
    f"Chapter 3 of the SQUARE thesis.\n\n{ON_THE_DEMO}",
    "demo/runs -g demo/gold.qrels --preset small",
)
app.register_install_completion_command(help="Install completion for the current shell.")


@app.command(name="--show-completion")
def _show_completion() -> None:
    """Show the completion script of the current shell."""
    sys.stdout.write(app.generate_completion())


def call(words: Sequence[str]) -> None:
    """Run a command; what is wrong with its options or files is a KaratageError."""
    from rich.console import Console

    start_over()
    try:
        app(words, console=Console(force_terminal=wants_colour(sys.stdout)))
    except CycloptsError as problem:
        raise OptionError(_explain(problem, words)) from None
    finally:
        start_over()


def _explain(problem: CycloptsError, words: Sequence[str]) -> str:
    """What is wrong with the command line, and where an option has gone."""
    token = getattr(problem, "token", None)
    if isinstance(problem.__cause__, KaratageError):
        return f"{token.keyword} {problem.__cause__}" if token is not None else str(problem.__cause__)
    if isinstance(problem, UnusedCliTokensError):
        extra = " ".join(problem.unused_tokens or ())
        return f"'{shorten(extra)}' is too much: name files behind the command, or by an option, not both"
    option = (token.keyword or token.value).partition("=")[0] if token is not None else ""
    return REFUSED.get(f"{words[0]} {option}", str(problem))


def main() -> None:
    """Run a command; bad input, or too much of it, ends in one message on standard error and exit code 2."""
    try:
        count_threads()  # what is wrong with the environment is told before the work
        call(sys.argv[1:])
    except KaratageError as problem:
        say(f"error: {problem}")
        sys.exit(2)
    except MemoryError as problem:
        why = f" ({problem})" if str(problem) else ""
        say(f"error: memory is used up{why}; give smaller files, or run this where there is more memory")
        sys.exit(2)
    except BrokenPipeError:  # the reader, e.g. `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        tell_remarks()
    sys.exit(0)
