"""`karatage benchmark`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from karatage.cli.options import (
    FLAT,
    Fresh,
    GoldFile,
    InputFiles,
    JudgmentFiles,
    ModelNames,
    OwnFolder,
    Printing,
    Reading,
    Seed,
    Workers,
    parse_columns,
)
from karatage.cli.output import encode_result, hold_output, put, write_folder
from karatage.cli.parsing import STANDARD_OUTPUT
from karatage.cli.terminal import progress, progress_cells, wants_colour
from karatage.errors import DataError, OptionError
from karatage.experiments.plans import list_presets
from karatage.experiments.square.plan import KIND, Folds
from karatage.text import counted, shorten

Preset = Annotated[str | None, Parameter(choices=list_presets(KIND))]

if TYPE_CHECKING:
    from karatage.experiments.square.data_sets import DataSets
    from karatage.experiments.square.findings import Benchmark


def benchmark(
    folders: InputFiles = (),
    /,
    *,
    judgments: JudgmentFiles = (),
    gold: GoldFile = None,
    approach: ModelNames = (),
    amounts: str | None = None,
    preset: Preset = None,
    gold_items_only: bool = False,
    folds: Folds | None = None,
    per_data_set: bool = False,
    workers: Workers = 1,
    fresh: Fresh = False,
    seed: Seed = 0,
    output: OwnFolder = None,
    reading: Annotated[Reading, FLAT] = Reading(),
    to: Annotated[Printing, FLAT] = Printing(),
) -> None:
    """Try models.

    Args:
        folders: Folders with a labels* and a gold* table, or folders of such.
        approach: E.g. mv, ds(prior=none); may be repeated.
        amounts: Percent of gold for training; none: no training; default: 10,20,50,80,90.
        preset: A plan that comes with karatage; other options override it.
        gold_items_only: Leave out items without gold, as SQUARE does.
        folds: Score every item once (pooled, default), or every fold, and take the mean (averaged).
        per_data_set: Also show a table for each data set.
        output: A folder for results, tables and charts; a run there can be resumed.
    """
    from karatage.experiments.engine import Execution
    from karatage.experiments.square.cells import benchmark as try_models
    from karatage.views.benchmark import view_benchmark
    from karatage.views.text import render_page

    asked = None if amounts is None else _parse_amounts(amounts)
    data = _read(folders, judgments, gold, reading, quiet=to.quiet)
    with hold_output(output):
        with progress_cells(quiet=to.quiet) as watch:
            execution = Execution(workers=workers, fresh=fresh, progress=watch)
            result = try_models(
                data,
                approach=approach,
                amounts=asked,
                preset=preset,
                gold_items_only=gold_items_only,
                folds=folds,
                output=output,
                execution=execution,
                rng=seed,
            )
        if output is not None:
            with progress("Writing tables and charts", quiet=to.quiet):
                _write_folder(result, Path(output))
    put(
        result,
        to,
        lambda: render_page(view_benchmark(result, per_data_set=per_data_set), colour=wants_colour(sys.stdout)),
        frame=result.to_frame,
        facts=result.to_dict,
    )
    if result.failed:
        where = "" if output is None else f" (the reasons are in {output}/scores.tsv)"
        raise DataError(
            f"{counted(len(result.failed), 'cell')} of {len(result.cells):,} failed{where}; run again to retry"
        )


def _parse_amounts(text: str) -> tuple[int, ...]:
    if text.strip() == "none":
        return ()
    parts = [part.strip().removesuffix("%").strip() for part in text.split(",")]
    wrong = next((part for part in parts if not part.isdecimal()), None)
    if wrong is not None:
        raise OptionError(
            f"amounts '{shorten(wrong)}' is not a percentage; write them like 10,50, or none alone: models are always "
            "tried without gold"
        )
    return tuple(int(part) for part in parts)


def _read(
    folders: tuple[str, ...], judgments: tuple[str, ...], gold: str | None, reading: Reading, *, quiet: bool
) -> DataSets:
    """Data sets from folders, and the one from two tables, with the name of the folder of its judgments."""
    from karatage.experiments.square.data_sets import DataSet, DataSets, Scales, check_names, read_folders
    from karatage.io.judgments import read_gold, read_judgments

    if bool(judgments) != (gold is not None):
        raise OptionError("a data set of two tables needs both --judgments and --gold")
    if not judgments and not folders:
        example = "karatage benchmark FOLDER, or -j crowd.csv -g gold.csv"
        raise OptionError(f"no data sets were given; name folders with a labels* and a gold* table: {example}")
    scales = Scales.of(reading.grades, reading.gold_grades)
    columns, gold_columns = parse_columns(reading.columns), parse_columns(reading.gold_columns)
    own = [_name(judgments[0])] if judgments else []
    with progress("Reading", quiet=quiet):
        found = read_folders(folders, scales, columns, gold_columns, reading.repeats, own)
        if not own:
            return found
        labels, trusted = scales.find(own[0])
        graded = read_judgments(list(judgments), grades=labels, columns=columns, repeats=reading.repeats)
        known = read_gold(str(gold), grades=trusted, columns=gold_columns, repeats=reading.repeats)
    members = (*found, DataSet.of(own[0], graded, known))
    check_names([member.name for member in members])
    return DataSets(members, found.notes)


def _name(path: str) -> str:
    """The name of a data set of two tables."""
    return "standard input" if path == STANDARD_OUTPUT else shorten(Path(path).resolve().parent.name, 80) or "data"


def _write_folder(result: Benchmark, home: Path) -> None:
    """All tables in two formats, the printed ones as text, and the charts."""
    from karatage.views.benchmark import view_benchmark
    from karatage.views.text import render_page

    frames = {
        "crowds": result.crowds(),
        "judges": result.frame_judges(),
        "scores": result.to_frame(),
        "averages": result.averages(),
        "race": result.race(),
        "leaders": result.leaders(),
        "relative": result.relative(),
    }
    tables = {f"{name}.{ending}": frame for name, frame in frames.items() for ending in ("tsv", "parquet")}
    page = view_benchmark(result, per_data_set=True)
    texts = {"benchmark.json": encode_result(result.to_dict()), "tables.txt": render_page(page, detail=True).encode()}
    write_folder(home, tables, texts, dict(page.figures))
