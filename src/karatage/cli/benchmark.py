"""`karatage benchmark`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karatage.cli import options
from karatage.cli.completing import complete_models
from karatage.cli.experiment.shared import hold_output
from karatage.cli.output import STANDARD_OUTPUT, emit, emit_result, encode_frame, encode_result, say, tell
from karatage.cli.terminal import progress, progress_cells
from karatage.text import counted, shorten

if TYPE_CHECKING:
    from karatage.experiments.square.data_sets import DataSets
    from karatage.experiments.square.findings import Benchmark

TABLE_ENDINGS, CHART_ENDINGS = ("tsv", "parquet"), ("html", "svg", "png")


def benchmark(
    folders: Annotated[
        list[str] | None,
        options.reads_arguments("FOLDERS...", "Folders with a labels* and a gold* table, or folders of such."),
    ] = None,
    *,
    judgments: options.SomeJudgmentFiles = None,
    gold: options.GoldFile = None,
    approach: Annotated[
        list[str] | None,
        typer.Option(
            "--approach", "-a", help="E.g. mv, ds(prior=none); may be repeated.", autocompletion=complete_models
        ),
    ] = None,
    amounts: Annotated[
        str, typer.Option("--amounts", help="Percent of gold to train on; none: no training.")
    ] = "10,20,50,80,90",
    grades: options.Grades = None,
    gold_grades: options.GoldGrades = None,
    columns: options.Columns = None,
    gold_columns: options.GoldColumns = None,
    repeats: options.Repeats = None,
    per_data_set: Annotated[
        bool, typer.Option("--per-data-set", help="Also a table of all supervision for each data set.")
    ] = False,
    workers: options.Workers = 1,
    fresh: options.Fresh = False,
    seed: options.Seed = 0,
    style: Annotated[
        options.Style, typer.Option("--format", "-f", help=f"{options.FORMAT_HELP}.")
    ] = options.Style.table,
    output: Annotated[
        str | None,
        options.writes(
            "--output",
            "-o",
            kind="own folder",
            help="A folder for results, tables and charts; a run there can be resumed.",
        ),
    ] = None,
    most_memory: options.MostMemory = None,
    quiet: options.Quiet = False,
) -> None:
    """Which model merges grades best? Accuracy and F1 against gold, as in the SQUARE benchmark.

    Example, on the files that `karatage demo` writes:

        karatage benchmark -j demo/judgments.csv -g demo/gold.qrels --amounts 50
    """
    from karatage.cli.benchmark_tables import render_benchmark
    from karatage.errors import DataError
    from karatage.experiments.engine import Execution
    from karatage.experiments.square.running import benchmark as try_models

    asked = _parse_amounts(amounts)
    data = _read(
        folders or [],
        (judgments or [], gold),
        grades=(grades, gold_grades),
        columns=(columns, gold_columns),
        repeats=repeats,
        quiet=quiet,
    )
    with hold_output(output):
        with progress_cells(quiet=quiet) as watch:
            execution = Execution(workers=workers, fresh=fresh, progress=watch)
            result = try_models(data, approaches=approach, amounts=asked, output=output, execution=execution, rng=seed)
        if output is not None:
            with progress("Writing tables and charts", quiet=quiet):
                _write_folder(result, Path(output))
    if style == options.Style.json:
        emit_result(result.to_dict(), STANDARD_OUTPUT)
    elif style == options.Style.tsv:
        emit(encode_frame(result.to_frame(), "tsv"), STANDARD_OUTPUT)
    else:
        emit(render_benchmark(result, per_data_set=per_data_set), STANDARD_OUTPUT)
    if not quiet:
        tell(result.notes)
        if style != options.Style.table:
            say(result.sentence)
    if result.failed:
        where = "" if output is None else f" (see reason in {output}/scores.tsv)"
        raise DataError(
            f"{counted(len(result.failed), 'cell')} of {len(result.cells):,} failed{where}; run again to retry"
        )


def _parse_amounts(text: str) -> list[int]:
    from karatage.errors import OptionError

    if text.strip() == "none":
        return []
    parts = [part.strip().removesuffix("%").strip() for part in text.split(",")]
    wrong = next((part for part in parts if not part.isdecimal()), None)
    if wrong is not None:
        raise OptionError(f"amounts '{shorten(wrong)}' is no percentage; write them like 10,50 or write none")
    return [int(part) for part in parts]


def _read(
    folders: list[str],
    pair: tuple[list[str], str | None],
    *,
    grades: tuple[str | None, str | None],
    columns: tuple[str | None, str | None],
    repeats: options.RepeatRule | None,
    quiet: bool,
) -> DataSets:
    """Data sets from folders, and the one from two tables, named after the folder its judgments are in."""
    from karatage.errors import OptionError
    from karatage.experiments.square.data_sets import DataSet, DataSets, check_names, read_data_sets

    judgments, gold = pair
    if bool(judgments) != (gold is not None):
        raise OptionError("a data set of two tables needs both --judgments and --gold")
    if not judgments and not folders:
        example = "karatage benchmark FOLDER, or -j crowd.csv -g gold.csv"
        raise OptionError(f"no data sets were given; name folders with a labels* and a gold* table: {example}")
    found = DataSets(())
    if folders:
        with progress("Reading", quiet=quiet):
            found = read_data_sets(
                folders,
                grades=grades[0],
                gold_grades=grades[1],
                columns=options.parse_columns(columns[0]),
                gold_columns=options.parse_columns(columns[1]),
                repeats=None if repeats is None else repeats.value,
            )
    if not judgments:
        return found
    graded, trusted = options.read_both(judgments, gold, grades=grades, columns=columns, repeats=repeats, quiet=quiet)
    assert trusted is not None
    members = (*found, DataSet.of(_name(judgments[0]), graded, trusted))
    check_names([member.name for member in members])
    return DataSets(members, found.notes)


def _name(path: str) -> str:
    """What a data set of two tables is called."""
    return "standard input" if path == STANDARD_OUTPUT else shorten(Path(path).resolve().parent.name, 80) or "data"


def _write_folder(result: Benchmark, home: Path) -> None:
    """All tables in three formats, the printed ones as text, and the charts."""
    from karatage.cli.benchmark_tables import render_benchmark
    from karatage.experiments.square.findings import QUALITIES
    from karatage.io.files import refuse_replacing
    from karatage.io.writing import write_bytes
    from karatage.views.benchmark_charts import draw_benchmark
    from karatage.views.charts import write_charts

    tables = {
        "scores": result.to_frame(),
        "averages": result.averages(),
        "race": result.race(),
        "leaders": result.leaders(),
        "relative": result.relative(),
    }
    relative = result.relative()
    charts = {
        f"{quality}-{supervision}": draw_benchmark(result, supervision=supervision, quality=quality)
        for supervision in relative["supervision"].unique(maintain_order=True)
        for quality in QUALITIES
        if not set(relative.filter(supervision=supervision, quality=quality)["approach"]) <= {result.baseline}
    }
    written = {home / f"{name}.{ending}": (frame, ending) for name, frame in tables.items() for ending in TABLE_ENDINGS}
    facts, text = home / "benchmark.json", home / "tables.txt"
    drawn = {home / f"{name}.{ending}": chart for name, chart in charts.items() for ending in CHART_ENDINGS}
    refuse_replacing([*written, facts, text, *drawn])
    for path, (frame, ending) in written.items():
        write_bytes(path, encode_frame(frame, ending))
    write_bytes(facts, encode_result(result.to_dict()))
    write_bytes(text, render_benchmark(result, per_data_set=True).encode())
    write_charts((chart, path) for path, chart in drawn.items())
