"""`karatage aggregate`."""

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
)
from karatage.cli.terminal import progress_steps
from karatage.text import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karatage.aggregation.registry import Model
    from karatage.data.judgments import Judgments
    from karatage.data.posterior import Posterior
    from karatage.data.record import JudgeRecord
    from karatage.views.table import Table

QRELS_ENDINGS = (".qrels", ".qrel")


def aggregate(
    judgment_files: options.JudgmentArguments = None,
    *,
    judgments: options.SomeJudgmentFiles = None,
    gold: options.GoldFiles = None,
    approach: Annotated[
        str,
        typer.Option(
            "--approach",
            "-a",
            help="mv, ds, glad, ...; options in brackets: 'ds(prior=none)'.",
            autocompletion=complete_models,
        ),
    ] = "ds",
    supervision: options.Supervision = None,
    with_gold: Annotated[
        bool, typer.Option("--with-gold", help="Write gold's grades of items that no judge has graded, too.")
    ] = False,
    judges: Annotated[
        str | None,
        options.writes(
            "--judges", kind="store", help="Write what the model found about each judge here; - shows it instead."
        ),
    ] = None,
    history: Annotated[
        str | None,
        options.reads(
            "--history",
            store=True,
            help="What --judges wrote for an earlier batch (.csv, .tsv, .parquet); ds and emgz.",
        ),
    ] = None,
    grades: options.Grades = None,
    gold_grades: options.GoldGrades = None,
    columns: options.Columns = None,
    gold_columns: options.GoldColumns = None,
    repeats: options.Repeats = None,
    top: options.Top = 20,
    seed: options.Seed = 0,
    style: options.Format = None,
    output: Annotated[
        str,
        options.writes("--output", "-o", help="Write here (.qrels; .csv, .tsv, .json, .parquet with probabilities)."),
    ] = STANDARD_OUTPUT,
    raw: options.Raw = False,
    most_memory: options.MostMemory = None,
    quiet: options.Quiet = False,
) -> None:
    """Merge many judges' grades into one grade for each item, as qrels or with probabilities.

    Example, on the files that `karatage demo` writes:

        karatage aggregate demo/judgments.csv -a ds -o merged.qrels
    """
    import karatage as kt
    from karatage.errors import OptionError

    model, record = (approach, None) if history is None else _recall(approach, history)
    as_qrels = style is None and output.removesuffix(".gz").removesuffix(".zst").endswith(QRELS_ENDINGS)
    chosen = "qrels" if as_qrels else choose_style(style, output)
    judges_style = None if judges is None else choose_style(style if judges == STANDARD_OUTPUT else None, judges)
    if with_gold and not gold:
        raise OptionError("--with-gold adds gold's own items, so it needs gold: name its file with -g")
    graded, trusted = options.read_both(
        options.require_judgments(judgment_files, judgments, "aggregate"),
        gold,
        grades=(grades, gold_grades),
        columns=(columns, gold_columns),
        repeats=repeats,
        quiet=quiet,
    )
    with progress_steps(approach, quiet=quiet) as step:
        merged = kt.aggregate(
            graded,
            model,
            gold=None if with_gold and not _share_items(graded, trusted) else trusted,
            supervision=None if supervision is None else supervision.value,
            rng=seed,
            progress=step,
        )
    sentence = f"{merged.sentence}{_say_accuracy(merged, trusted)}"
    added = trusted if with_gold else None
    if judges is not None and judges_style is not None:
        _write_judges(merged, record, judges_style, judges, top, raw=raw)
    if judges != STANDARD_OUTPUT or output != STANDARD_OUTPUT:
        _write_grades(merged, added, chosen, output, top, sentence, raw=raw)
    if not quiet:
        gold_notes = () if trusted is None else tuple(f"gold: {note}" for note in trusted.notes)
        tell((*graded.notes, *gold_notes, *merged.notes))
        if chosen != "table" or output != STANDARD_OUTPUT or judges == STANDARD_OUTPUT:
            say(sentence)


def _recall(approach: str, history: str) -> tuple[Model, JudgeRecord]:
    """The model asked for, and the record of its judges."""
    from dataclasses import replace

    from karatage.aggregation.dawid_skene import DawidSkene
    from karatage.aggregation.history import JudgeHistory
    from karatage.aggregation.registry import parse_model
    from karatage.errors import OptionError
    from karatage.io.records import read_record

    model = parse_model(approach).model
    if not isinstance(model, DawidSkene | JudgeHistory):
        raise OptionError(f"--history is for ds and emgz, which keep a record of their judges, not for '{approach}'")
    record = read_record(history)
    return replace(model, history=record), record


def _write_grades(
    merged: Posterior, added: Judgments | None, chosen: str, output: str, top: int, sentence: str, *, raw: bool
) -> None:
    if chosen == "qrels":
        from karatage.io.judgments import read_gold
        from karatage.io.writing import write_judgments

        both = merged.as_judgments() if added is None else read_gold(merged.to_frame(added))
        write_judgments(both, output)
    elif chosen == "json":
        emit_result(merged.to_dict(added), output)
    elif chosen == "table":
        from karatage.views.posterior import tabulate_grades

        emit(render(*_show(tabulate_grades(merged, added), top), "", sentence), output)
    else:
        emit(encode_frame(merged.to_frame(added), chosen, raw=raw), output)


def _write_judges(
    merged: Posterior, record: JudgeRecord | None, chosen: str, path: str, top: int, *, raw: bool
) -> None:
    """What the model found about each judge, and what was known of those who graded nothing this time."""
    frame = merged.judges if record is None else record.extend(merged.judges)
    if chosen == "table":
        from karatage.views.posterior import tabulate_record

        emit(render(*_show(tabulate_record(merged), top)), path)
    elif chosen == "json":
        emit(f"{frame.write_json()}\n".encode(), path)
    else:
        emit(encode_frame(frame, chosen, raw=raw), path, store=True)


def _show(table: Table, top: int) -> list[RenderableType]:
    """The first rows and columns, as far as a page carries them."""
    shown = fit_columns(table, top=top)
    rows, columns = len(table.frame) - top if top else 0, len(table.columns) - len(shown.columns)
    left_out = [
        *([counted(rows, "more row")] if rows > 0 else []),
        *([counted(columns, "more column")] if columns else []),
    ]
    rest = [f"… {' and '.join(left_out)}; write to a .tsv for all."] if left_out else []
    return [show_table(shown, top=top), *rest]


def _share_items(graded: Judgments, gold: Judgments | None) -> bool:
    """Whether gold can teach anything about the judges."""
    from karatage.data.alignment import match_gold

    return gold is not None and bool((match_gold(graded, gold) >= 0).any())


def _say_accuracy(merged: Posterior, gold: Judgments | None) -> str:
    """How often the merged grades are gold's, where the model has not been told."""
    if gold is None:
        return ""
    if any(note.startswith("gold is known") for note in merged.notes):
        return " Gold was learnt from, so it cannot say how good this is; --supervision none can."
    from karatage.data.alignment import match_gold

    if not (match_gold(merged.judgments, gold) >= 0).any():
        return " Gold and judgments share no item, so gold says nothing of this."
    return f" Of the items with gold {merged.accuracy(gold):.1%} got gold's grade."
