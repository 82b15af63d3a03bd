"""`karatage experiment aware`."""

from __future__ import annotations

from dataclasses import dataclass

from karatage.cli import options
from karatage.cli.experiment import shared

CHARTS = "charts"  # a folder of their own: there are many


def aware(
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
    """Merge grades or merge scores? Approaches on k judges out of many, against gold: the AWARE paper's experiment.

    Example, on a simulated collection:

        karatage experiment aware --preset small
    """
    from karatage.cli.experiment.aware_tables import render_aware
    from karatage.experiments.aware.plan import AwarePlan
    from karatage.experiments.aware.running import experiment_aware
    from karatage.experiments.engine import Execution
    from karatage.experiments.plans import make_plan, narrow_options, write_plan
    from karatage.views.aware import view_aware
    from karatage.views.aware_charts import draw_all

    @dataclass(frozen=True, kw_only=True)
    class CommandPlan(shared.Source, AwarePlan):
        """What to do, and on what."""

    asked = make_plan(
        CommandPlan,
        "aware",
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
            "sizes": shared.parse_sizes(sizes),
            "samples": samples,
            "replicates": replicates,
            "seed": seed,
        },
    )
    collection = asked.options.read(asked.options.seed, quiet=quiet)
    design = narrow_options(AwarePlan, asked.options)
    with shared.hold_output(output):
        with shared.watch_over(output, quiet=quiet) as watch:
            log = () if output is None else write_plan(asked, output)
            execution = Execution(workers=workers, fresh=fresh, progress=watch, engine=engine)
            findings = experiment_aware(collection, design, output=output, execution=execution)
        view = shared.View(
            text=render_aware(findings),
            long_text=render_aware(findings, everything=True),
            tables=findings.tables,
            draw=lambda: {f"{CHARTS}/{name}": chart for name, chart in draw_all(findings).items()},
            lay_out=lambda _: view_aware(findings),
            still="tau_ap-|rmse-",
            log=(*log, *findings.log),
        )
        shared.show(findings, view, output=output, style=style, quiet=quiet)
