"""`karatage experiment noisy`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from karatage.cli.experiment import shared
from karatage.cli.options import FLAT
from karatage.experiments.noisy.plan import NoisyPlan
from karatage.experiments.plans import list_presets, make_plan

if TYPE_CHECKING:
    from karatage.experiments.noisy.findings import NoisyFindings

KIND = "noisy"
Options = shared.make_plan_options(NoisyPlan, studies=Parameter(name=("--study", "-s")))


def noisy(
    *,
    options: Annotated[Options, FLAT] = Options(),  # type: ignore[valid-type]
    preset: Annotated[str | None, Parameter(choices=list_presets(KIND))] = None,
    to: Annotated[shared.RunOptions, FLAT] = shared.RunOptions(),
) -> None:
    """Run the TOIS 2018 design.

    Args:
        preset: paper: its simulation; small: a bit of everything; ebay, trec, dcg: its examples; power: sizes and power
            of tests; coverage: intervals in 300 worlds.
    """
    from karatage.experiments.noisy.findings import experiment_noisy

    asked = make_plan(NoisyPlan, KIND, preset=preset, path=to.plan, given=vars(options))
    shared.perform(asked, to, lambda how: experiment_noisy(asked.options, output=to.output, execution=how), _make_view)


def _make_view(found: NoisyFindings) -> shared.View:
    from karatage.cli.experiment.noisy_tables import list_tables, render_noisy
    from karatage.views.noisy import view_noisy
    from karatage.views.noisy_charts import draw_all

    return shared.View(
        text=render_noisy(found),
        tables=list_tables(found),
        draw=lambda: draw_all(found),
        lay_out=lambda _: view_noisy(found),
    )
