"""`karatage audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from karatage.cli import options
from karatage.cli.completing import complete_models
from karatage.cli.output import (
    STANDARD_OUTPUT,
    choose_style,
    emit,
    emit_result,
    encode_frame,
    fit_columns,
    render,
    say,
    show_table,
    tell,
    tell_rest,
)
from karatage.cli.terminal import progress
from karatage.text import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karatage.data.audit import Audit
    from karatage.views.table import Table

MOST_ACROSS = 80  # judges, whose square might fit on a page


def audit(
    judgment_files: options.JudgmentArguments = None,
    *,
    judgments: options.SomeJudgmentFiles = None,
    gold: options.GoldFiles = None,
    families: options.Families = None,
    approach: Annotated[
        list[str] | None,
        typer.Option(
            "--approach",
            "-a",
            help="Merges to hold against the best judge; may be repeated.",
            autocompletion=complete_models,
        ),
    ] = None,
    grades: options.Grades = None,
    gold_grades: options.GoldGrades = None,
    columns: options.Columns = None,
    gold_columns: options.GoldColumns = None,
    repeats: options.Repeats = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Judges two by two, instead of one by one.")] = False,
    top: options.Top = 20,
    seed: options.Seed = 0,
    style: options.Format = None,
    output: options.Output = STANDARD_OUTPUT,
    raw: options.Raw = False,
    most_memory: options.MostMemory = None,
    quiet: options.Quiet = False,
) -> None:
    """Say which judges to keep, which to drop, and when to spend on gold.

    Example, on the files that `karatage demo` writes:

        karatage audit demo/judgments.csv -g demo/gold.qrels
    """
    from karatage.decisions.audit import audit as audit_judges
    from karatage.io.families import read_families

    chosen = choose_style(style, output)
    family_of = None if families is None else read_families(families)
    graded, trusted = options.read_both(
        options.require_judgments(judgment_files, judgments, "audit"),
        gold,
        grades=(grades, gold_grades),
        columns=(columns, gold_columns),
        repeats=repeats,
        quiet=quiet,
    )
    with progress("Auditing", quiet=quiet):
        result = audit_judges(graded, gold=trusted, families=family_of, approaches=approach, rng=seed)
    if chosen == "json":
        emit_result(result.tell_facts(pairs=pairs), output)
    elif chosen == "table":
        emit(_render(result, top, pairs=pairs), output)
    else:
        emit(encode_frame(result.pairs if pairs else result.to_frame(), chosen, raw=raw), output)
    if not quiet:
        tell(result.notes)
        if chosen != "table" or output != STANDARD_OUTPUT:
            say(result.sentence)


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
