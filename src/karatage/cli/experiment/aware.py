"""`karatage experiment aware`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from karatage.cli.experiment import shared
from karatage.cli.options import FLAT
from karatage.experiments.aware.plan import AwarePlan
from karatage.experiments.plans import list_presets, make_plan, narrow_options

KIND = "aware"
CHARTS = "charts"  # a folder of their own: there are many
Options = shared.make_plan_options(AwarePlan)


@dataclass(frozen=True, kw_only=True)
class CommandPlan(shared.Source, AwarePlan):
    """What to do, and on what."""


def aware(
    runs: shared.RunFolders = (),
    /,
    *,
    source: Annotated[shared.SourceOptions, FLAT] = shared.SourceOptions(),
    options: Annotated[Options, FLAT] = Options(),  # type: ignore[valid-type]
    preset: Annotated[str | None, Parameter(choices=list_presets(KIND))] = None,
    to: Annotated[shared.FileRunOptions, FLAT] = shared.FileRunOptions(),
) -> None:
    """Run the AWARE paper's experiment.

    Args:
        preset: small: seconds, for a try; paper: the paper's full size.
    """
    from karatage.cli.experiment.aware_tables import render_aware
    from karatage.experiments.aware.findings import AwareFindings, experiment_aware
    from karatage.views.aware import view_aware
    from karatage.views.aware_charts import draw_all

    def make_view(found: AwareFindings) -> shared.View:
        return shared.View(
            text=render_aware(found),
            long_text=render_aware(found, everything=True),
            tables=found.tables,
            draw=lambda: {f"{CHARTS}/{name}": chart for name, chart in draw_all(found).items()},
            lay_out=lambda _: view_aware(found),
            still="tau_ap-|rmse-",
        )

    given = shared.list_given(runs, source, options)
    asked = make_plan(CommandPlan, KIND, preset=preset, path=to.plan, given=given)
    collection = asked.options.read(asked.options.seed, quiet=to.quiet)
    design = narrow_options(AwarePlan, asked.options)
    shared.perform(
        asked, to, lambda how: experiment_aware(collection, design, output=to.output, execution=how), make_view
    )
