"""`karatage aggregate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from karatage.cli import options
from karatage.cli.output import (
    STANDARD_OUTPUT,
    choose_style,
    emit,
    encode_frame,
    fits,
    make_table,
    progress_steps,
    render,
    say,
    tell,
)
from karatage.wording import counted

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from karatage.aggregation.registry import Model
    from karatage.data.judgments import Judgments
    from karatage.data.posterior import Posterior

QRELS_ENDINGS = (".qrels", ".qrel")


def aggregate(
    judgment_files: options.JudgmentArguments = None,
    *,
    judgments: options.MoreJudgmentFiles = None,
    gold: options.GoldFiles = None,
    approach: Annotated[
        str, typer.Option("--approach", "-a", help="mv, ds, glad, ...; options in brackets: 'ds(prior=none)'.")
    ] = "ds",
    supervision: options.Supervision = None,
    with_gold: Annotated[
        bool, typer.Option("--with-gold", help="Write gold's grades of items that no judge has graded, too.")
    ] = False,
    judges: Annotated[
        str | None,
        typer.Option("--judges", help="Write what the model found about each judge here; - shows it instead."),
    ] = None,
    history: Annotated[
        str | None,
        typer.Option("--history", help="What --judges wrote for an earlier batch (.csv, .tsv, .parquet); ds and emgz."),
    ] = None,
    grades: options.Grades = None,
    gold_grades: options.GoldGrades = None,
    columns: options.Columns = None,
    gold_columns: options.GoldColumns = None,
    repeats: options.Repeats = None,
    top: Annotated[int, typer.Option("--top", min=0, help="Rows shown in tables; 0 = all.")] = 20,
    seed: options.Seed = 0,
    style: options.Format = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="Write here (.qrels; .csv, .tsv, .json, .parquet with probabilities)."),
    ] = STANDARD_OUTPUT,
    quiet: options.Quiet = False,
) -> None:
    """Merge many judges' grades into one grade for each item, as qrels or with probabilities.

    Example, on the files that `karatage demo` writes:

        karatage aggregate demo/judgments.csv -a ds -o merged.qrels
    """
    import karatage as kt
    from karatage.errors import OptionError

    model = _recall(approach, history)
    as_qrels = style is None and output.removesuffix(".gz").removesuffix(".zst").endswith(QRELS_ENDINGS)
    chosen = "qrels" if as_qrels else choose_style(style, output)
    judges_style = None if judges is None else choose_style(style if judges == STANDARD_OUTPUT else None, judges)
    if judges is not None and judges == output != STANDARD_OUTPUT:
        raise OptionError(f"--judges and --output both name {output}; give them different files")
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
        _write_judges(merged, judges_style, judges, top)
    if judges != STANDARD_OUTPUT or output != STANDARD_OUTPUT:
        _write_grades(merged, added, chosen, output, top, sentence)
    if not quiet:
        gold_notes = () if trusted is None else tuple(f"gold: {note}" for note in trusted.notes)
        tell((*graded.notes, *gold_notes, *merged.notes))
        if chosen != "table" or output != STANDARD_OUTPUT or judges == STANDARD_OUTPUT:
            say(sentence)


def _recall(approach: str, history: str | None) -> str | Model:
    """The model asked for, with the record of its judges where there is one."""
    if history is None:
        return approach
    from dataclasses import replace

    import karatage as kt
    from karatage.aggregation.dawid_skene import DawidSkene
    from karatage.aggregation.history import JudgeHistory
    from karatage.aggregation.registry import parse_model
    from karatage.errors import OptionError

    model = parse_model(approach).model
    if not isinstance(model, DawidSkene | JudgeHistory):
        raise OptionError(f"--history is for ds and emgz, which keep a record of their judges, not for '{approach}'")
    return replace(model, history=kt.read_record(history))


def _write_grades(
    merged: Posterior, added: Judgments | None, chosen: str, output: str, top: int, sentence: str
) -> None:
    if chosen == "qrels":
        from karatage.io.judgments import read_gold
        from karatage.io.writing import write_judgments

        both = merged.as_judgments() if added is None else read_gold(merged.to_frame(added))
        write_judgments(both, output)
    elif chosen == "json":
        emit(merged.to_json(added) + "\n", output)
    elif chosen == "table":
        frame = merged.to_frame(added)
        names = [name for name in frame.columns if not name.startswith("p") and name != "expected"]
        ordered = frame.select([*names, "expected", *(name for name in frame.columns if name.startswith("p"))])
        emit(render(*_show(f"Merged by {merged.model}", ordered, top), "", sentence), output)
    else:
        emit(encode_frame(merged.to_frame(added), chosen), output)


def _write_judges(merged: Posterior, chosen: str, path: str, top: int) -> None:
    frame = merged.judges
    if chosen == "table":
        emit(render(*_show(f"Judges, as {merged.model} sees them", frame, top)), path)
    elif chosen == "json":
        emit(frame.write_json() + "\n", path)
    else:
        emit(encode_frame(frame, chosen), path)


def _show(title: str, frame: pl.DataFrame, top: int) -> list[Table | str]:
    """The first rows and columns, as far as a page carries them."""
    import polars as pl

    names = [name for name, kind in frame.schema.items() if kind == pl.String]
    shown_names = list(names)
    for name in frame.columns:
        if name not in names and not fits([*shown_names, name]):
            break
        shown_names += [name] if name not in names else []
    shown = frame.select(shown_names)
    rows = [[_cell(value) for value in row] for row in shown.head(top or len(shown)).iter_rows()]
    parts: list[Table | str] = [make_table(title, shown.columns, rows, text_columns=len(names))]
    left_out = [
        *([counted(len(frame) - top, "more row")] if top and len(frame) > top else []),
        *([counted(frame.width - shown.width, "more column")] if frame.width > shown.width else []),
    ]
    if left_out:
        parts.append(f"… {' and '.join(left_out)}; write to a .tsv for all.")
    return parts


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "-" if value is None else str(value)


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
