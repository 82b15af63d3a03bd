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
from karatage.cli.evaluate import evaluate
from karatage.cli.experiment.aware import aware
from karatage.cli.experiment.collaborative import collaborative
from karatage.cli.experiment.noisy import noisy
from karatage.cli.experiment.random_relevance import random_relevance
from karatage.cli.experiment.supervised import supervised
from karatage.cli.plan import plan
from karatage.cli.queue import queue
from karatage.cli.simulate import simulate
from karatage.errors import KaratageError

app = typer.Typer(
    name="karatage",
    help="Which search system is better, when the judges are noisy?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(evaluate)
app.command()(aggregate)
app.command()(audit)
app.command()(compare)
app.command()(plan)
app.command()(queue)
app.command()(simulate)
app.command()(benchmark)
app.command()(demo)

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
app.add_typer(experiments, name="experiment")


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"karatage {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    pass


def main() -> None:
    """Run a command; bad input ends in one message on standard error and exit code 2."""
    try:
        app()
    except KaratageError as problem:
        typer.echo(f"error: {problem}", err=True)
        sys.exit(2)
    except BrokenPipeError:  # the reader, e.g. `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
