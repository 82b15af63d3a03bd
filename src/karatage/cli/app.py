"""The command `karatage`."""

from __future__ import annotations

import os
import sys

import typer

from karatage import __version__
from karatage.cli.aggregate import aggregate
from karatage.cli.audit import audit
from karatage.cli.benchmark import benchmark
from karatage.cli.compare import compare
from karatage.cli.demo import demo
from karatage.cli.doctor import doctor
from karatage.cli.evaluate import evaluate
from karatage.cli.experiment.aware import aware
from karatage.cli.experiment.collaborative import collaborative
from karatage.cli.experiment.noisy import noisy
from karatage.cli.experiment.random_relevance import random_relevance
from karatage.cli.experiment.supervised import supervised
from karatage.cli.output import say
from karatage.cli.plan import plan
from karatage.cli.queue import queue
from karatage.cli.report import report
from karatage.cli.simulate import simulate
from karatage.cli.terminal import settle_colour, tell_remarks
from karatage.errors import KaratageError
from karatage.io.files import start_over
from karatage.kernels.threads import count_threads

app = typer.Typer(
    name="karatage",
    help="Which search system is better, when the judges are noisy?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
experiments = typer.Typer(
    help="Which approach comes nearest to gold? The papers' experiments, on your files or on simulated ones.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
experiments.command()(aware)
experiments.command()(supervised)
experiments.command(name="random-relevance")(random_relevance)
experiments.command()(noisy)
experiments.command()(collaborative)

# Commands by what they are for, each with a line that fits beside its name.
DECIDE, JUDGES, PLAN, STUDY, SHOW = "Decide", "Judges", "Plan", "Study", "Show"
app.command(rich_help_panel=DECIDE, short_help="Check files: what can be concluded from them?")(doctor)
app.command(rich_help_panel=DECIDE, short_help="Is one system better, judges' errors undone?")(compare)
app.command(rich_help_panel=DECIDE, short_help="Rank systems under noisy judges.")(evaluate)
app.command(rich_help_panel=JUDGES, short_help="Which judges to keep, which to drop?")(audit)
app.command(rich_help_panel=JUDGES, short_help="Merge many judges' grades into one for each item.")(aggregate)
app.command(rich_help_panel=PLAN, short_help="Which documents should gold judge, or how many?")(plan)
app.command(rich_help_panel=PLAN, short_help="What should be judged next, or is it enough?")(queue)
app.command(rich_help_panel=STUDY, short_help="Make a crowd, or a whole collection.")(simulate)
app.command(rich_help_panel=STUDY, short_help="Which model merges grades best?")(benchmark)
app.add_typer(
    experiments, name="experiment", rich_help_panel=STUDY, short_help="The papers' experiments, on your files."
)
app.command(rich_help_panel=SHOW, short_help="Everything on one page.")(report)
app.command(rich_help_panel=SHOW, short_help="Try it without files of your own.")(demo)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"karatage {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    start_over()


def main() -> None:
    """Run a command; bad input, or too much of it, ends in one message on standard error and exit code 2."""
    settle_colour()
    try:
        count_threads()  # what is wrong with the environment is told before the work
        app()
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
    finally:
        tell_remarks()
