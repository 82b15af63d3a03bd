"""`karatage experiment supervised`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from karatage.cli import options
from karatage.cli.experiment import shared

if TYPE_CHECKING:
    from karatage.experiments.panels import PanelRules

KIND = "supervised"


def supervised(
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
    configuration: Annotated[
        list[str] | None,
        typer.Option("--configuration", "-c", help="whole or partitioned judges; may be repeated. Default: both."),
    ] = None,
    sizes: shared.Sizes = None,
    samples: shared.Samples = None,
    training: Annotated[
        float | None, typer.Option("--training", help="The share of topics whose gold teaches; default: 0.3.")
    ] = None,
    people: Annotated[
        str | None, typer.Option("--people", help="Behind a partitioned judge of a topic, at least and at most: 2-4.")
    ] = None,
    replicates: shared.Replicates = None,
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
    """Does gold on a few topics tell which judges to trust on the others? The s-AWARE paper's experiment.

    Example, on a simulated collection:

        karatage experiment supervised --preset small
    """
    from karatage.cli.experiment.supervised_tables import render_supervised
    from karatage.experiments.engine import Execution
    from karatage.experiments.plans import make_plan, narrow_options, write_plan
    from karatage.experiments.supervised.plan import SupervisedPlan
    from karatage.experiments.supervised.running import experiment_supervised
    from karatage.views.supervised import draw_all, view_supervised

    @dataclass(frozen=True, kw_only=True)
    class CommandPlan(shared.Source, SupervisedPlan):
        """What to do, and on what."""

        def make_rules(self) -> PanelRules:
            """Judges who graded parts may stay where only partitioned ones are tried."""
            from dataclasses import replace

            return replace(super().make_rules(), whole_only="whole" in self.configurations)

    asked = make_plan(
        CommandPlan,
        KIND,
        preset=preset,
        path=plan,
        given={
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
            "configurations": configuration or None,
            "sizes": shared.parse_sizes(sizes),
            "samples": samples,
            "training": training,
            "people": _parse_people(people),
            "replicates": replicates,
            "seed": seed,
        },
    )
    collection = asked.options.read(asked.options.seed, quiet=quiet)
    design = narrow_options(SupervisedPlan, asked.options)
    with shared.hold_output(output):
        with shared.watch_over(output, quiet=quiet) as watch:
            log = () if output is None else write_plan(asked, output)
            execution = Execution(workers=workers, fresh=fresh, progress=watch, engine=engine)
            findings = experiment_supervised(collection, design, output=output, execution=execution)
        view = shared.View(
            text=render_supervised(findings),
            long_text=render_supervised(findings, everything=True),
            tables=findings.tables,
            draw=lambda: draw_all(findings),
            lay_out=lambda _: view_supervised(findings),
            log=(*log, *findings.log),
        )
        shared.show(findings, view, output=output, style=style, quiet=quiet)


def _parse_people(text: str | None) -> tuple[int, ...] | None:
    """Read `2-4`, or `3` for teams of three; None stays None."""
    sizes = shared.parse_sizes(text)
    return None if sizes is None else (sizes[0], sizes[-1])
