"""`karatage experiment random-relevance`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from karatage.cli import options
from karatage.cli.experiment import shared
from karatage.cli.output import render, show_table, split_columns

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karatage.experiments.random_relevance.findings import RandomRelevanceFindings

KIND = "random-relevance"


def random_relevance(
    runs: shared.RunFolders = None,
    *,
    judges: shared.Judges = None,
    gold: options.GoldFile = None,
    correlation: shared.Correlation = None,
    relevant: shared.Relevant = None,
    gold_relevant: shared.GoldRelevant = None,
    grades: options.Grades = None,
    gold_grades: options.GoldGrades = None,
    columns: options.Columns = None,
    gold_columns: options.GoldColumns = None,
    measure: shared.Measures = None,
    approach: shared.Approaches = None,
    sizes: shared.Sizes = None,
    samples: shared.Samples = None,
    certainty: Annotated[
        float | None, typer.Option("--certainty", help="How certain a single grade is; default 0.95.")
    ] = None,
    draws: Annotated[
        int | None, typer.Option("--draws", min=0, help="Simulated grades that check expected measures; 0: none.")
    ] = None,
    preset: shared.PresetName = None,
    plan: shared.PlanFile = None,
    engine: shared.Engine = "local",
    workers: options.Workers = 1,
    fresh: options.Fresh = False,
    seed: shared.Seed = None,
    style: shared.Format = options.Style.table,
    output: shared.OutputFolder = None,
    most_memory: options.MostMemory = None,
    quiet: options.Quiet = False,
) -> None:
    """Do doubts about single grades help, and merging judges by probabilities? The ECIR 2019 design.

    Example, on a simulated collection:

        karatage experiment random-relevance --preset small
    """
    from karatage.experiments.engine import Execution
    from karatage.experiments.plans import make_plan, narrow_options, write_plan
    from karatage.experiments.random_relevance.plan import RandomRelevancePlan
    from karatage.experiments.random_relevance.running import experiment_random_relevance
    from karatage.views.random_relevance import draw_all, view_random_relevance

    @dataclass(frozen=True, kw_only=True)
    class CommandPlan(shared.Source, RandomRelevancePlan):
        """What to do, and on what."""

    given = {
        "runs": shared.locate(runs),
        "judges": shared.locate(judges),
        "gold": shared.locate(gold),
        "correlations": shared.parse_numbers(correlation),
        "relevant": relevant,
        "gold_relevant": gold_relevant,
        "grades": grades,
        "gold_grades": gold_grades,
        "columns": columns,
        "gold_columns": gold_columns,
        "measures": measure or None,
        "approaches": approach or None,
        "sizes": shared.parse_sizes(sizes),
        "samples": samples,
        "certainty": certainty,
        "draws": draws,
        "seed": seed,
    }
    chosen = None if preset is None else preset.value
    asked = make_plan(CommandPlan, KIND, preset=chosen, path=plan, given=given)
    collection = asked.options.read(asked.options.seed, quiet=quiet)
    design = narrow_options(RandomRelevancePlan, asked.options)
    with shared.hold_output(output):
        with shared.watch_over(output, quiet=quiet) as watch:
            log = () if output is None else write_plan(asked, output)
            execution = Execution(workers=workers, fresh=fresh, progress=watch, engine=engine)
            found = experiment_random_relevance(collection, design, output=output, execution=execution)
        tables = {
            "table1": found.table1,
            "table2": found.table2(),
            "table2-tau": found.table2("tau"),
            "means": found.summary,
            "controls": found.controls,
            "tuples": found.tuples,
        }
        view = shared.View(
            text=render_random_relevance(found),
            tables={**tables, "check": found.check} if len(found.check) else tables,
            draw=lambda: draw_all(found),
            lay_out=lambda _: view_random_relevance(found),
            log=(*log, *found.log),
        )
        shared.show(found, view, output=output, style=style, quiet=quiet)


def render_random_relevance(found: RandomRelevanceFindings) -> str:
    """[RANDREL19] tables 1 and 2 as text, 80 columns wide; the controls, the check, and the closing sentence."""
    from karatage.views import random_relevance as tabulating

    parts: list[RenderableType] = [show_table(tabulating.tabulate_alone(found, *place)) for place in found.places]
    for place in found.places:
        for measure in found.labels.values():
            table = tabulating.tabulate_merged(found, *place, measure=measure)
            parts += [show_table(part) for part in split_columns(table, 2)]
    parts.append(show_table(tabulating.tabulate_controls(found)))
    if len(found.check):
        parts.append(show_table(tabulating.tabulate_check(found, worst=True)))
    return render(*parts, found.sentence)
