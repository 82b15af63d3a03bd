"""`karatage experiment random-relevance`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

import typer

from karatage.cli import options
from karatage.cli.experiment import shared
from karatage.cli.output import GAP, NUMBER_WIDTH, WIDTH, make_table, render
from karatage.wording import shorten

if TYPE_CHECKING:
    from rich.table import Table

    from karatage.experiments.random_relevance.findings import RandomRelevanceFindings

KIND = "random-relevance"
CONTROLS = "Controls, tau_ap: a judge who calls nothing relevant, to DGS and RGS; RGS to DGS"
WIDEST = 24  # of approaches' names in a table


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
    workers: shared.Workers = 1,
    fresh: shared.Fresh = False,
    seed: shared.Seed = None,
    style: shared.Format = options.Style.table,
    output: shared.OutputFolder = None,
    quiet: options.Quiet = False,
) -> None:
    """Do doubts about single grades help, and merging judges by probabilities? The ECIR 2019 design.

    Example, on a simulated collection:

        karatage experiment random-relevance --preset small
    """
    from karatage.experiments.engine import Execution
    from karatage.experiments.plans import make_plan, write_plan
    from karatage.experiments.random_relevance.plan import RandomRelevancePlan
    from karatage.experiments.random_relevance.running import experiment_random_relevance
    from karatage.report.random_relevance import draw_all, lay_out_random_relevance

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
    design = RandomRelevancePlan(**{f.name: getattr(asked.options, f.name) for f in fields(RandomRelevancePlan)})
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
        lay_out=lambda charts: lay_out_random_relevance(found, charts),
        log=(*log, *found.log),
    )
    shared.show(found, view, output=output, style=style, quiet=quiet)


def render_random_relevance(found: RandomRelevanceFindings) -> str:
    """[RANDREL19] tables 1 and 2 as text, 80 columns wide; the controls, the check, and the closing sentence."""
    parts: list[Table | str] = []
    for systems, panel in found.places:
        title = f"{_name(systems, panel)}: {len(found.judges)} judges alone, mean and 95 % interval"
        parts += [title, _alone(found, systems, panel)]
    for systems, panel in found.places:
        for measure in found.labels.values():
            parts += _merged(found, systems, panel, measure)
    parts += [CONTROLS, _controls(found)]
    parts += [*_check(found), found.sentence]
    return render(*parts)


def _name(systems: str, panel: str) -> str:
    return f"{shorten(systems, 20)}, {shorten(panel, 20)}"


def _alone(found: RandomRelevanceFindings, systems: str, panel: str) -> Table:
    rows = [
        [row["gold"], row["measure"], *(_interval(row[name], row[f"{name} ±"]) for name in ("tau", "tau_ap"))]
        for row in found.table1.filter(systems=systems, panel=panel).iter_rows(named=True)
    ]
    return make_table("", ["gold", "measure", "tau", "tau_ap"], rows, text_columns=2)


def _interval(value: float, half: float | None) -> str:
    return f"{value:.4f}" + ("" if half is None else f" ± {half:.4f}")


def _merged(found: RandomRelevanceFindings, systems: str, panel: str, measure: str) -> Iterator[Table | str]:
    """Table 2 for one measure, as many sizes side by side as fit."""
    frame = found.table2().filter(systems=systems, panel=panel)
    shown = [row for row in frame.iter_rows(named=True) if row["measure"] in {measure, f"eR{measure}"}]
    width = min(max(len(row["approach"]) for row in shown), WIDEST)
    most = max((WIDTH - len("DGS") - width - 2 * GAP) // (NUMBER_WIDTH + GAP), 1)
    yield f"{_name(systems, panel)}: judges merged, mean tau_ap by {measure}"
    for first in range(0, len(found.sizes), most):
        names = [f"M = {size}" for size in found.sizes[first : first + most]]
        rows = [[row["gold"], row["approach"], *(f"{row[name]:.4f}" for name in names)] for row in shown]
        yield make_table("", ["", "approach", *names], rows, text_columns=2)


def _controls(found: RandomRelevanceFindings) -> Table:
    names = found.controls.columns
    rows = [[*row[:2], *(f"{value:.4f}" for value in row[2:])] for row in found.controls.iter_rows()]
    return make_table("", names, rows, text_columns=2)


def _check(found: RandomRelevanceFindings) -> Iterator[Table | str]:
    """Where formula and simulation differ most, by measure."""
    if not len(found.check):
        return
    several = [len(set(names)) > 1 for names in zip(*found.places, strict=True)]
    rows = []
    for measure in found.labels:
        differing = found.check.filter(measure=measure).iter_rows(named=True)
        worst = max(differing, key=lambda row: abs(row["difference"]))
        where = [worst[name] for name, told in zip(("systems", "panel"), several, strict=True) if told]
        numbers = [f"{worst['difference']:+.5f}", f"{worst['standard_error']:.5f}", f"{worst['tau_ap']:.4f}"]
        rows.append([found.name_measure(measure, expected=True), ", ".join([*where, worst["of"]]), *numbers])
    yield f"Formulas less simulation ({found.plan.draws:,} draws), where a system's score differs most"
    yield make_table("", ["measure", "grades of", "difference", "error", "tau_ap"], rows, text_columns=2)
