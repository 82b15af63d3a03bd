"""`karatage experiment noisy`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from karatage.cli import options
from karatage.cli.experiment import shared

KIND = "noisy"


class NoisyPreset(StrEnum):
    """What is studied."""

    paper = "paper"
    small = "small"
    ebay = "ebay"
    trec = "trec"
    dcg = "dcg"
    power = "power"
    coverage = "coverage"


def noisy(
    *,
    study: Annotated[
        list[str] | None,
        typer.Option("--study", "-s", help="intervals, tests, ebay, trec or dcg; may be repeated. Default: intervals."),
    ] = None,
    right_relevant: Annotated[
        str | None,
        typer.Option("--right-relevant", help="How often judges are right about relevant documents; 0.9, or 0.9,0.7."),
    ] = None,
    right_other: Annotated[
        str | None, typer.Option("--right-other", help="The same for other documents, one for each of the former.")
    ] = None,
    gold_sizes: Annotated[
        str | None, typer.Option("--gold-sizes", help="Gold items of each of these two kinds: 250, or 50,100.")
    ] = None,
    topics: Annotated[str | None, typer.Option("--topics", help="How many: 50, or 25,50.")] = None,
    precision: Annotated[
        str | None, typer.Option("--precision", help="True P@k, of the worse system in tests: 0.4, or 0.2,0.4.")
    ] = None,
    differences: Annotated[
        str | None, typer.Option("--differences", help="What the better system has more, in tests: 0,0.05,0.1.")
    ] = None,
    topic_spread: Annotated[
        float | None, typer.Option("--topic-spread", help="How far topics are from the mean at most; default 0.")
    ] = None,
    depth: Annotated[int | None, typer.Option("--depth", min=1, help="Ranks looked at; default 10.")] = None,
    simulations: Annotated[
        int | None, typer.Option("--simulations", min=1, help="Of each world; default 10,000.")
    ] = None,
    preset: Annotated[
        NoisyPreset | None,
        typer.Option(
            "--preset",
            help="paper: its simulation; small: a bit of everything; ebay, trec, dcg: its examples; "
            "power: sizes and power of tests; coverage: intervals in 300 worlds.",
        ),
    ] = None,
    plan: shared.PlanFile = None,
    engine: shared.Engine = "local",
    workers: options.Workers = 1,
    fresh: options.Fresh = False,
    seed: shared.Seed = None,
    style: shared.Format = options.Style.table,
    output: shared.OutputFolder = None,
    quiet: options.Quiet = False,
) -> None:
    """Do intervals and tests hold what they promise, when judges err and gold is little? The TOIS 2018 design.

    Example, the paper's simulation:

        karatage experiment noisy
    """
    from karatage.cli.experiment.noisy_tables import list_tables, render_noisy
    from karatage.experiments.engine import Execution
    from karatage.experiments.noisy.plan import NoisyPlan
    from karatage.experiments.noisy.running import experiment_noisy
    from karatage.experiments.plans import make_plan, write_plan
    from karatage.views.noisy import view_noisy
    from karatage.views.noisy_charts import draw_all

    given = {
        "studies": study or None,
        "right_relevant": shared.parse_numbers(right_relevant),
        "right_other": shared.parse_numbers(right_other),
        "gold_sizes": shared.parse_sizes(gold_sizes),
        "topics": shared.parse_sizes(topics),
        "precision": shared.parse_numbers(precision),
        "differences": shared.parse_numbers(differences),
        "topic_spread": topic_spread,
        "depth": depth,
        "simulations": simulations,
        "seed": seed,
    }
    chosen = None if preset is None else preset.value
    asked = make_plan(NoisyPlan, KIND, preset=chosen, path=plan, given=given)
    with shared.hold_output(output):
        with shared.watch_over(output, quiet=quiet) as watch:
            log = () if output is None else write_plan(asked, output)
            execution = Execution(workers=workers, fresh=fresh, progress=watch, engine=engine)
            found = experiment_noisy(asked.options, output=output, execution=execution)
        view = shared.View(
            text=render_noisy(found),
            tables=list_tables(found),
            draw=lambda: draw_all(found),
            lay_out=lambda _: view_noisy(found),
            log=(*log, *found.log),
        )
        shared.show(found, view, output=output, style=style, quiet=quiet)
