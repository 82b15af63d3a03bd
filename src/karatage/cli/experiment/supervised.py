"""`karatage experiment supervised`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from karatage.cli.experiment import shared
from karatage.cli.options import FLAT
from karatage.experiments.plans import list_presets, make_plan, narrow_options
from karatage.experiments.supervised.plan import SupervisedPlan

if TYPE_CHECKING:
    from karatage.experiments.collection import PanelRules

KIND = "supervised"
Options = shared.make_plan_options(SupervisedPlan, configurations=Parameter(name=("--configuration", "-c")))


@dataclass(frozen=True, kw_only=True)
class CommandPlan(shared.Source, SupervisedPlan):
    """What to do, and on what."""

    def make_rules(self) -> PanelRules:
        """Judges who graded parts may stay where only partitioned ones are tried."""
        return replace(super().make_rules(), whole_only="whole" in self.configurations)


def supervised(
    runs: shared.RunFolders = (),
    /,
    *,
    source: Annotated[shared.SourceOptions, FLAT] = shared.SourceOptions(),
    options: Annotated[Options, FLAT] = Options(),  # type: ignore[valid-type]
    preset: Annotated[str | None, Parameter(choices=list_presets(KIND))] = None,
    to: Annotated[shared.FileRunOptions, FLAT] = shared.FileRunOptions(),
) -> None:
    """Run the s-AWARE paper's experiment.

    Args:
        preset: small: seconds, for a try; paper: the paper's full size.
    """
    from karatage.cli.experiment.supervised_tables import render_supervised
    from karatage.experiments.supervised.findings import SupervisedFindings, experiment_supervised
    from karatage.views.supervised import draw_all, view_supervised

    def make_view(found: SupervisedFindings) -> shared.View:
        return shared.View(
            text=render_supervised(found),
            long_text=render_supervised(found, everything=True),
            tables=found.tables,
            draw=lambda: draw_all(found),
            lay_out=lambda _: view_supervised(found),
        )

    given = shared.list_given(runs, source, options)
    asked = make_plan(CommandPlan, KIND, preset=preset, path=to.plan, given=given)
    collection = asked.options.read(asked.options.seed, quiet=to.quiet)
    design = narrow_options(SupervisedPlan, asked.options)
    shared.perform(
        asked, to, lambda how: experiment_supervised(collection, design, output=to.output, execution=how), make_view
    )
