"""`karatage audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from karatage.cli.options import FLAT, Families, GoldFiles, JudgmentFiles, ModelNames, Output, Reading, Seed, Top
from karatage.cli.output import choose_style, fit_columns, put, render, show_table, tell_rest
from karatage.cli.terminal import progress
from karatage.errors import OptionError
from karatage.text import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karatage.data.audit import Audit
    from karatage.views.table import Table

MOST_ACROSS = 80  # judges, whose square might fit on a page


def audit(
    judgments: JudgmentFiles = (),
    *,
    gold: GoldFiles = (),
    families: Families = None,
    approach: ModelNames = (),
    pairs: bool = False,
    top: Top = 20,
    seed: Seed = 0,
    reading: Annotated[Reading, FLAT] = Reading(),
    to: Annotated[Output, FLAT] = Output(),
) -> None:
    """Audit judges.

    Args:
        approach: Merges to hold against the best judge; may be repeated.
        pairs: Judges two by two, instead of one by one.
    """
    from karatage.decisions.audit import audit as audit_judges
    from karatage.io.models import read_families

    choose_style(to.format, to.output)
    if not judgments:
        raise OptionError("no judgments were given; name their files, e.g. karatage audit crowd.csv")
    family_of = None if families is None else read_families(families)
    graded, trusted = reading.read_both(judgments, gold, quiet=to.quiet)
    with progress("Auditing", quiet=to.quiet):
        found = audit_judges(graded, gold=trusted, families=family_of, approach=approach, rng=seed)
    put(
        found,
        to,
        lambda: _render(found, top, pairs=pairs),
        frame=lambda: found.pairs if pairs else found.to_frame(),
        facts=lambda: found.tell_facts(pairs=pairs),
        output=to.output,
    )


def _render(result: Audit, top: int, *, pairs: bool) -> str:
    from karatage.views.audit import tabulate_families, tabulate_panel

    parts: list[RenderableType] = _show_pairs(result, top) if pairs else _show_judges(result, top)
    if len(result.panel):
        parts += ["", show_table(tabulate_panel(result))]
    if len(result.families):
        parts += ["", show_table(tabulate_families(result))]
    if len(result.merges):
        parts += ["", *_show_merges(result)]
    return render(*parts, "", result.sentence)


def _show_judges(result: Audit, top: int) -> list[RenderableType]:
    """As much of them as fits; why each is suspected below."""
    from karatage.views.audit import explain_suspicions, tabulate_judges

    table = tabulate_judges(result)
    shown = fit_columns(table, top=top)
    parts: list[RenderableType] = [show_table(shown, top=top), *tell_rest(table, top, "judge")]
    return [*parts, *_tell_columns(table, shown, "tsv"), *explain_suspicions(result, top)]


def _show_merges(result: Audit) -> list[RenderableType]:
    """Whole names, since they say how the best were chosen."""
    from karatage.views.audit import tabulate_merges

    table = tabulate_merges(result)
    shown = fit_columns(table)
    return [show_table(shown, wrap=["merge"]), *_tell_columns(table, shown, "json")]


def _tell_columns(table: Table, shown: Table, style: str) -> list[str]:
    rest = len(table.columns) - len(shown.columns)
    return [f"… {counted(rest, 'more column')}; --format {style} shows all."] if rest else []


def _show_pairs(result: Audit, top: int) -> list[RenderableType]:
    """A square where the page is wide enough, else the pairs that agree most."""
    from karatage.views.audit import tabulate_agreement, tabulate_pairs

    if result.pairs.is_empty():
        return ["No two judges share an item."]
    if len(result.judges) <= MOST_ACROSS:
        square = tabulate_agreement(result)
        if len(fit_columns(square).columns) == len(square.columns):
            return [show_table(square)]
    table = tabulate_pairs(result)
    return [show_table(table, top=top), *tell_rest(table, top, "pair")]
