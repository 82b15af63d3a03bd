"""`karatage experiment collaborative`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from karatage.cli.experiment import shared
from karatage.cli.options import (
    FLAT,
    PATH,
    InputFiles,
    complete,
    list_crowds,
    list_measures,
    list_models,
    list_orders,
    parse_columns,
)
from karatage.cli.parsing import Reads, make_options
from karatage.cli.terminal import progress
from karatage.errors import OptionError
from karatage.experiments.collaborative.plan import CollaborativePlan
from karatage.experiments.plans import list_presets, make_plan, narrow_options

if TYPE_CHECKING:
    from karatage.data.judgments import Judgments
    from karatage.data.runs import Runs
    from karatage.experiments.collaborative.findings import CollaborativeFindings

KIND = "collaborative"


@dataclass(frozen=True, kw_only=True)
class Files:
    """What the experiment is to run on.

    Args:
        gold: Trusted grades: qrels, a table, or a judged queue.
        gold_grades: What gold's labels mean: 0-3, or no=0,yes=1,broken=drop.
        gold_columns: The same for gold.
    """

    runs: tuple[str, ...] = ()
    gold: str | None = None
    gold_grades: str | None = None
    gold_columns: str | None = None


@dataclass(frozen=True, kw_only=True)
class CommandPlan(Files, CollaborativePlan):
    """What to do, and on what."""


FileOptions = make_options(Files, skip=("runs",), optional=True, gold=(PATH, Reads()))
Options = shared.make_plan_options(
    CollaborativePlan,
    studies=Parameter(name=("--study", "-s")),
    orders=(Parameter(name="--order"), complete(list_orders)),
    crowds=(PATH, Reads(), Parameter(name="--crowd"), complete(list_crowds)),
    table_crowds=(PATH, Reads(), Parameter(name="--table-crowd"), complete(list_crowds)),
    approach=complete(list_models),
    approaches=(Parameter(name="--compare"), complete(list_models)),
    ratios=Parameter(name="--ratio"),
    measure=complete(list_measures),
    disagreement=(PATH, Reads()),
)


def collaborative(
    runs: Annotated[InputFiles, Parameter(help="TREC runs: files, folders, globs; none: a simulated collection.")] = (),
    /,
    *,
    files: Annotated[FileOptions, FLAT] = FileOptions(),  # type: ignore[valid-type]
    options: Annotated[Options, FLAT] = Options(),  # type: ignore[valid-type]
    preset: Annotated[str | None, Parameter(choices=list_presets(KIND))] = None,
    to: Annotated[shared.FileRunOptions, FLAT] = shared.FileRunOptions(),
) -> None:
    """Run chapter 3 of the SQUARE thesis.

    Args:
        preset: small: seconds, for a try; paper: the paper's full size.
    """
    from karatage.experiments.collaborative.findings import experiment_collaborative

    given = shared.list_given(runs, files, options)
    given |= {name: _locate_crowds(given[name]) for name in ("crowds", "table_crowds")}
    given["disagreement"] = shared.locate(given["disagreement"])
    asked = make_plan(CommandPlan, KIND, preset=preset, path=to.plan, given=given)
    with progress("Reading", quiet=to.quiet):
        systems, trusted = _read(asked.options)
    design = narrow_options(CollaborativePlan, asked.options)
    shared.perform(
        asked,
        to,
        lambda how: experiment_collaborative(systems, trusted, design, output=to.output, execution=how),
        _make_view,
    )


def _make_view(found: CollaborativeFindings) -> shared.View:
    from karatage.cli.experiment.collaborative_tables import render_collaborative
    from karatage.views.collaborative import view_collaborative
    from karatage.views.collaborative_charts import draw_all

    return shared.View(
        text=render_collaborative(found),
        long_text=render_collaborative(found, everything=True),
        tables=found.tables,
        draw=lambda: draw_all(found),
        lay_out=lambda _: view_collaborative(found),
    )


def _locate_crowds(names: tuple[str, ...] | None) -> list[str] | None:
    """Files by their whole path; names of crowds stay as they are, whatever lies in this folder."""
    from karatage.experiments.collaborative.plan import FILE_ENDINGS, INDEPENDENT

    found = []
    for name in names or ():
        file = name.removesuffix(INDEPENDENT)
        is_file = file.endswith(FILE_ENDINGS)
        found.append(f"{shared.locate(file)}{name.removeprefix(file)}" if is_file else name)
    return found or None


def _read(asked: CommandPlan) -> tuple[Runs, Judgments]:
    """What was named, or a simulated collection."""
    from karatage.io.judgments import read_gold
    from karatage.io.runs import read_runs
    from karatage.random_streams import stream
    from karatage.simulation.collection import simulate_collection

    if not asked.runs:
        if asked.gold is not None:
            raise OptionError("gold needs runs; name their folder, or leave gold out for a simulated collection")
        world = simulate_collection(rng=stream(asked.seed, "collection"))
        return world.runs, world.gold
    if asked.gold is None:
        raise OptionError("gold plays the experts; name its qrels file with --gold")
    columns = parse_columns(asked.gold_columns)
    return read_runs(list(asked.runs)), read_gold(asked.gold, grades=asked.gold_grades, columns=columns)
