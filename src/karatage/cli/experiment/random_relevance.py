"""`karatage experiment random-relevance`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from karatage.cli.experiment import shared
from karatage.cli.options import FLAT
from karatage.cli.output import render, show_table, split_columns
from karatage.experiments.plans import list_presets, make_plan, narrow_options
from karatage.experiments.random_relevance.plan import RandomRelevancePlan

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karatage.experiments.random_relevance.findings import RandomRelevanceFindings

KIND = "random-relevance"
Options = shared.make_plan_options(RandomRelevancePlan)


@dataclass(frozen=True, kw_only=True)
class CommandPlan(shared.Source, RandomRelevancePlan):
    """What to do, and on what."""


def random_relevance(
    runs: shared.RunFolders = (),
    /,
    *,
    source: Annotated[shared.SourceOptions, FLAT] = shared.SourceOptions(),
    options: Annotated[Options, FLAT] = Options(),  # type: ignore[valid-type]
    preset: Annotated[str | None, Parameter(choices=list_presets(KIND))] = None,
    to: Annotated[shared.FileRunOptions, FLAT] = shared.FileRunOptions(),
) -> None:
    """Run the ECIR 2019 design.

    Args:
        preset: small: seconds, for a try; paper: the paper's full size.
    """
    from karatage.experiments.random_relevance.findings import experiment_random_relevance

    given = shared.list_given(runs, source, options)
    asked = make_plan(CommandPlan, KIND, preset=preset, path=to.plan, given=given)
    collection = asked.options.read(asked.options.seed, quiet=to.quiet)
    design = narrow_options(RandomRelevancePlan, asked.options)
    shared.perform(
        asked,
        to,
        lambda how: experiment_random_relevance(collection, design, output=to.output, execution=how),
        _make_view,
    )


def _make_view(found: RandomRelevanceFindings) -> shared.View:
    from karatage.views.random_relevance import draw_all, view_random_relevance

    tables = {
        "table1": found.table1,
        "table2": found.table2(),
        "table2-tau": found.table2("tau"),
        "means": found.summary,
        "controls": found.controls,
        "tuples": found.tuples,
    }
    return shared.View(
        text=render_random_relevance(found),
        tables={**tables, "check": found.check} if len(found.check) else tables,
        draw=lambda: draw_all(found),
        lay_out=lambda _: view_random_relevance(found),
    )


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
