"""Options that commands share, so that they read alike everywhere."""

from __future__ import annotations

import os
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karatage.cli.completing import complete_approaches, complete_measures, complete_models
from karatage.cli.terminal import remember_quiet

if TYPE_CHECKING:
    from karatage.data.judgments import Judgments
    from karatage.data.judgments import Repeats as RepeatsName
    from karatage.io.files import OutputKind


class Style(StrEnum):
    """How results are printed."""

    table = "table"
    tsv = "tsv"
    json = "json"


class RepeatRule(StrEnum):
    """Which grade counts when a judge graded an item more than once."""

    last = "last"
    first = "first"
    majority = "majority"
    all = "all"
    error = "error"


class SupervisionKind(StrEnum):
    """What gold is used for."""

    none = "none"
    light = "light"
    full = "full"


READ, WRITTEN, FOLDER = "PATH", "FILE", "FOLDER"  # what options that name files show in place of a value


def reads(*names: str, help: str, store: bool = False, **more: Any) -> Any:  # noqa: A002 as typer calls it
    """An option that names input, which no output may replace; unless both are of a store."""
    note = partial(_note, store=store)
    return typer.Option(*names, metavar=READ, callback=lambda value: note(value), help=help, **more)


def reads_arguments(metavar: str, help: str) -> Any:  # noqa: A002
    """Arguments that name input."""
    return typer.Argument(metavar=metavar, callback=lambda value: _note(value), help=help)


def _note(value: list[str] | str | None, *, store: bool = False) -> list[str] | str | None:
    from karatage.io.files import note_input
    from karatage.io.sources import find_files

    for path in [value] if isinstance(value, str) else value or []:
        for name in find_files(path):
            note_input(name, store=store)
    return value


def writes(*names: str, help: str, kind: OutputKind = "file") -> Any:  # noqa: A002
    """An option that names output; what it names is claimed before the command begins, so that it is never read."""

    def claim(context: typer.Context, param: typer.CallbackParam, value: str | None) -> str | None:
        from karatage.io.files import claim_output, start_over

        if value is not None:
            context.call_on_close(start_over)
            claim_output(value, param.opts[0], kind)
        return value

    return typer.Option(*names, metavar=FOLDER if "folder" in kind else WRITTEN, callback=claim, help=help)


def _set_most_memory(value: str | None) -> str | None:
    if value is not None:
        from karatage.io.unpacking import VARIABLE, parse_size

        parse_size(value, "--most-memory")
        os.environ[VARIABLE] = value  # for workers, too
    return value


RunFiles = Annotated[
    list[str] | None,
    reads_arguments("RUNS...", "TREC runs: files, folders, globs, or - for stdin."),
]
MoreRunFiles = Annotated[list[str] | None, reads("--runs", help="The same as RUNS; may be repeated.")]

JUDGMENTS_HELP = "The judges' grades: tables, or a folder with one qrels file per judge"
JudgmentFiles = Annotated[list[str], reads("--judgments", "-j", help=f"{JUDGMENTS_HELP}; may be repeated.")]
SomeJudgmentFiles = Annotated[list[str] | None, reads("--judgments", "-j", help=f"{JUDGMENTS_HELP}; may be repeated.")]
JudgmentArguments = Annotated[list[str] | None, reads_arguments("JUDGMENTS...", f"{JUDGMENTS_HELP}.")]

GOLD_HELP = "Trusted grades: qrels, a table, or a judged queue"
GoldFile = Annotated[str | None, reads("--gold", "-g", help=f"{GOLD_HELP}.")]
GoldFiles = Annotated[list[str] | None, reads("--gold", "-g", help=f"{GOLD_HELP}; may be repeated.")]

MEASURE_HELP = "E.g. P@10, DCG@10, nDCG@20, AP, RBP(p=0.8)"
MeasureName = Annotated[str, typer.Option("--measure", "-m", help=f"{MEASURE_HELP}.", autocompletion=complete_measures)]
SomeMeasureName = Annotated[
    str | None,
    typer.Option("--measure", "-m", help=f"{MEASURE_HELP}; default P@10.", autocompletion=complete_measures),
]
Measures = Annotated[
    list[str],
    typer.Option("--measure", "-m", help=f"{MEASURE_HELP}; may be repeated.", autocompletion=complete_measures),
]

Approaches = Annotated[
    list[str],
    typer.Option(
        "--approach",
        "-a",
        help="uniform, sgl_tau_msd, sup_tau, mv, ds, binmv, ..., judge:NAME, judge:* (all); may be repeated.",
        autocompletion=complete_approaches,
    ),
]
Approach = Annotated[
    str | None,
    typer.Option(
        "--approach",
        "-a",
        help="How judges become one: mv, ds, judge:NAME; default: the only one, or mv.",
        autocompletion=complete_models,
    ),
]
SystemA = Annotated[str | None, typer.Option("--a", help="One of two systems; default: all, or the two there are.")]
SystemB = Annotated[str | None, typer.Option("--b", help="The other; differences are b - a.")]
Families = Annotated[
    str | None, reads("--families", help="Judges that may err alike: judge, tab and family in each line.")
]
Chart = Annotated[str | None, writes("--chart", help="Draw a chart here: .svg, .png, .html or .json.")]
Top = Annotated[int, typer.Option("--top", min=0, help="Rows shown in tables; 0 = all.")]
PER_ITEM_HELP = "Crowd judges of each document"
PerItem = Annotated[int, typer.Option("--per-item", help=f"{PER_ITEM_HELP}.")]
ORDER_HELP = "effect, meta-ap, average-rank, depth, disagreement, move-to-front, thompson"
DISAGREEMENT_HELP = "A model (.json) for the order disagreement"
Grades = Annotated[
    str | None, typer.Option("--grades", help="What labels mean: 0-3, or no=0,yes=1,broken=drop, or both.")
]
GoldGrades = Annotated[str | None, typer.Option("--gold-grades", help="The same for gold; default: as --grades.")]
Columns = Annotated[str | None, typer.Option("--columns", help="Which column is what, e.g. judge=team,grade=score.")]
GoldColumns = Annotated[str | None, typer.Option("--gold-columns", help="The same for gold.")]
Repeats = Annotated[
    RepeatRule | None,
    typer.Option("--repeats", help="Which grade counts when a judge graded again; default: merging hears all."),
]
Supervision = Annotated[
    SupervisionKind | None,
    typer.Option("--supervision", help="What gold is used for; default: full where gold is given."),
]
Workers = Annotated[int, typer.Option("--workers", "-w", min=1, help="Processes that share the work.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Compute anew what an earlier run left in --output.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything that is drawn at random.")]

FORMAT_HELP = "How results are printed"
Format = Annotated[Style | None, typer.Option("--format", "-f", help=f"{FORMAT_HELP}; default: table.")]
Output = Annotated[
    str,
    writes("--output", "-o", help="Write here instead; .txt, .csv, .tsv, .json, .parquet or .gz tell how."),
]
QueueOutput = Annotated[
    str, writes("--output", "-o", help="Write the queue here: .csv, .tsv, .jsonl, .parquet; also .gz.")
]
FiguresA = Annotated[
    str | None, typer.Option("--figures-a", help="Instead of files: topics,mean,deviation of a's P@k.")
]
FiguresB = Annotated[str | None, typer.Option("--figures-b", help="The same for b.")]
Rates = Annotated[
    str | None, typer.Option("--rates", help="Judges right about relevant, other gold items: 43/59,67/84.")
]
RatesB = Annotated[str | None, typer.Option("--rates-b", help="The same for b, had it other judges.")]
Raw = Annotated[
    bool, typer.Option("--raw", help="In .csv, no ' before names that a spreadsheet would take for a formula.")
]
MostMemory = Annotated[
    str | None,
    typer.Option(
        "--most-memory",
        metavar="SIZE",
        callback=_set_most_memory,
        help="Memory that reading one file may take, e.g. 8G; default: half of what is free.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress.", callback=remember_quiet)]


def require_judgments(arguments: list[str] | None, options: list[str] | None, command: str) -> list[str]:
    """The files named, in either way."""
    from karatage.errors import OptionError

    paths = [*(arguments or []), *(options or [])]
    if not paths:
        raise OptionError(f"no judgments were given; name their files, e.g. karatage {command} crowd.csv")
    return paths


def read_both(
    judgments: list[str],
    gold: str | list[str] | None,
    *,
    grades: tuple[str | None, str | None],
    columns: tuple[str | None, str | None],
    repeats: RepeatRule | None,
    quiet: bool,
) -> tuple[Judgments, Judgments | None]:
    """Judgments and gold; what `grades` and `columns` say of judgments comes first, of gold second."""
    import karatage as kt
    from karatage.cli.terminal import progress

    rule: RepeatsName | None = None if repeats is None else repeats.value
    with progress("Reading", quiet=quiet):
        graded = kt.read_judgments(judgments, grades=grades[0], columns=parse_columns(columns[0]), repeats=rule)
        if not gold:
            return graded, None
        scale = grades[1] if grades[1] is not None else grades[0]
        return graded, kt.read_gold(gold, grades=scale, columns=parse_columns(columns[1]), repeats=rule)


def parse_columns(text: str | None) -> dict[str, str] | None:
    """Read `role=column,role=column`."""
    from karatage.errors import OptionError
    from karatage.text import shorten

    if text is None:
        return None
    pairs = {}
    for part in text.split(","):
        role, equals, name = part.partition("=")
        if not equals or not role.strip() or not name.strip():
            raise OptionError(f"columns '{shorten(part)}' is not of the form role=column")
        pairs[role.strip()] = name.strip()
    return pairs
