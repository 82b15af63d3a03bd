"""`karatage experiment collaborative`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from karatage.cli import options
from karatage.cli.completing import complete_crowds, complete_measures, complete_models, complete_orders
from karatage.cli.experiment import shared
from karatage.cli.terminal import progress

if TYPE_CHECKING:
    from karatage.data.judgments import Judgments
    from karatage.data.runs import Runs

KIND = "collaborative"


def collaborative(
    runs: Annotated[
        list[str] | None,
        options.reads_arguments("RUNS...", "TREC runs: files, folders, globs; none: a simulated collection."),
    ] = None,
    *,
    gold: options.GoldFile = None,
    gold_grades: Annotated[
        str | None, typer.Option("--gold-grades", help="What gold's labels mean: 0-3, or no=0,yes=1,broken=drop.")
    ] = None,
    gold_columns: options.GoldColumns = None,
    relevant: Annotated[
        int | None, typer.Option("--relevant", min=1, help="The lowest relevant grade; default 1.")
    ] = None,
    depth: Annotated[
        int | None, typer.Option("--depth", min=1, help="Pool: documents in so many first ranks; default: gold's.")
    ] = None,
    study: Annotated[
        list[str] | None,
        typer.Option("--study", "-s", help="orders, finding, consensus or shares; may be repeated. Default: all."),
    ] = None,
    order: Annotated[
        list[str] | None,
        typer.Option("--order", help=f"{options.ORDER_HELP}; may be repeated.", autocompletion=complete_orders),
    ] = None,
    disagreement: Annotated[str | None, options.reads("--disagreement", help=f"{options.DISAGREEMENT_HELP}.")] = None,
    crowd: Annotated[
        list[str] | None,
        options.reads(
            "--crowd",
            help="E.g. hcb, careful, hcb:independent, own.json; may be repeated.",
            autocompletion=complete_crowds,
        ),
    ] = None,
    table_crowd: Annotated[
        list[str] | None,
        options.reads(
            "--table-crowd", help="Crowds of table 3.3; default: as --crowd.", autocompletion=complete_crowds
        ),
    ] = None,
    approach: Annotated[
        str | None,
        typer.Option(
            "--approach",
            "-a",
            help="Merges the crowd where shares are varied; default ry.",
            autocompletion=complete_models,
        ),
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            "--compare",
            help="An approach to compare, at a fixed share; may be repeated.",
            autocompletion=complete_models,
        ),
    ] = None,
    expert_shares: Annotated[
        str | None, typer.Option("--expert-shares", help="% of the pool: 0,2,4,8,16,32,64 unless you say otherwise.")
    ] = None,
    crowd_shares: Annotated[str | None, typer.Option("--crowd-shares", help="The same for the crowd.")] = None,
    fixed_share: Annotated[
        float | None, typer.Option("--fixed-share", help="The crowd's share where approaches are compared; default 32.")
    ] = None,
    ratio: Annotated[
        list[str] | None,
        typer.Option("--ratio", help="A (10:1), B (5:2), 4:1, or expert=4,crowd=0.05; may be repeated."),
    ] = None,
    per_item: Annotated[
        int | None, typer.Option("--per-item", min=1, help=f"{options.PER_ITEM_HELP}; default 5.")
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure", "-m", help=f"{options.MEASURE_HELP}; default Bpref.", autocompletion=complete_measures
        ),
    ] = None,
    samples: Annotated[int | None, typer.Option("--samples", min=1, help="Crowds drawn; default 5.")] = None,
    resamples: Annotated[
        int | None, typer.Option("--resamples", min=0, help="Sets of topics drawn, for intervals; default 200.")
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
    """When does a crowd beside experts beat experts alone at the same cost? Chapter 3 of the SQUARE thesis.

    Example, on the files that `karatage demo` writes:

        karatage experiment collaborative demo/runs -g demo/gold.qrels --preset small
    """
    from karatage.cli.experiment.collaborative_tables import render_collaborative
    from karatage.experiments.collaborative.plan import CollaborativePlan
    from karatage.experiments.collaborative.running import experiment_collaborative
    from karatage.experiments.engine import Execution
    from karatage.experiments.plans import make_plan, narrow_options, write_plan
    from karatage.views.collaborative import view_collaborative
    from karatage.views.collaborative_charts import draw_all

    @dataclass(frozen=True, kw_only=True)
    class CommandPlan(CollaborativePlan):
        """What to do, and on what."""

        runs: tuple[str, ...] = ()
        gold: str | None = None
        gold_grades: str | None = None
        gold_columns: str | None = None

    given = {
        "runs": shared.locate(runs),
        "gold": shared.locate(gold),
        "gold_grades": gold_grades,
        "gold_columns": gold_columns,
        "relevant": relevant,
        "depth": depth,
        "studies": study or None,
        "orders": order or None,
        "disagreement": shared.locate(disagreement),
        "crowds": _locate_crowds(crowd),
        "table_crowds": _locate_crowds(table_crowd),
        "approach": approach,
        "approaches": compare or None,
        "expert_shares": shared.parse_numbers(expert_shares),
        "crowd_shares": shared.parse_numbers(crowd_shares),
        "fixed_share": fixed_share,
        "ratios": ratio or None,
        "per_item": per_item,
        "measure": measure,
        "samples": samples,
        "resamples": resamples,
        "seed": seed,
    }
    asked = make_plan(CommandPlan, KIND, preset=preset, path=plan, given=given)
    chosen = asked.options
    with progress("Reading", quiet=quiet):
        columns = options.parse_columns(chosen.gold_columns)
        systems, trusted = _read(chosen.runs, chosen.gold, chosen.gold_grades, columns, chosen.seed)
    design = narrow_options(CollaborativePlan, chosen)
    with shared.hold_output(output):
        with shared.watch_over(output, quiet=quiet) as watch:
            log = () if output is None else write_plan(asked, output)
            execution = Execution(workers=workers, fresh=fresh, progress=watch, engine=engine)
            found = experiment_collaborative(systems, trusted, design, output=output, execution=execution)
        view = shared.View(
            text=render_collaborative(found),
            long_text=render_collaborative(found, everything=True),
            tables=found.tables,
            draw=lambda: draw_all(found),
            lay_out=lambda _: view_collaborative(found),
            log=(*log, *found.log),
        )
        shared.show(found, view, output=output, style=style, quiet=quiet)


def _locate_crowds(names: list[str] | None) -> list[str] | None:
    """Files by their whole path; names of crowds stay as they are, whatever lies in this folder."""
    from karatage.experiments.collaborative.plan import FILE_ENDINGS, INDEPENDENT

    found = []
    for name in names or ():
        file = name.removesuffix(INDEPENDENT)
        is_file = file.endswith(FILE_ENDINGS)
        found.append(f"{shared.locate(file)}{name.removeprefix(file)}" if is_file else name)
    return found or None


def _read(
    runs: tuple[str, ...], gold: str | None, grades: str | None, columns: dict[str, str] | None, seed: int
) -> tuple[Runs, Judgments]:
    """What was named, or a simulated collection."""
    from karatage.errors import OptionError
    from karatage.io.judgments import read_gold
    from karatage.io.runs import read_runs
    from karatage.random_streams import stream
    from karatage.simulation.collection import simulate_collection

    if not runs:
        if gold is not None:
            raise OptionError("gold needs runs; name their folder, or leave gold out for a simulated collection")
        world = simulate_collection(rng=stream(seed, "collection"))
        return world.runs, world.gold
    if gold is None:
        raise OptionError("gold plays the experts; name its qrels file with --gold")
    return read_runs(list(runs)), read_gold(gold, grades=grades, columns=columns)
