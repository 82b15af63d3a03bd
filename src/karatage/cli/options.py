"""Options that commands share, so that they read alike everywhere."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from karatage.data.judgments import Judgments
    from karatage.data.judgments import Repeats as RepeatsName


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


RunFiles = Annotated[
    list[str] | None,
    typer.Argument(metavar="RUNS...", help="TREC runs: files, folders, globs, or - for stdin."),
]
MoreRunFiles = Annotated[list[str] | None, typer.Option("--runs", help="The same as RUNS; may be repeated.")]
JudgmentFiles = Annotated[
    list[str],
    typer.Option("--judgments", "-j", help="The judges' grades: tables, or a folder with one qrels file per judge."),
]
JudgmentArguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="JUDGMENTS...", help="The judges' grades: tables, or a folder with one qrels file per judge."
    ),
]
MoreJudgmentFiles = Annotated[
    list[str] | None, typer.Option("--judgments", "-j", help="The same as JUDGMENTS; may be repeated.")
]
GoldFile = Annotated[str | None, typer.Option("--gold", "-g", help="Trusted grades: qrels or a table.")]
GoldFiles = Annotated[
    list[str] | None, typer.Option("--gold", "-g", help="Trusted grades: qrels or a table; may be repeated.")
]
Measures = Annotated[list[str], typer.Option("--measure", "-m", help="E.g. AP, nDCG@20, RBP(p=0.8); may be repeated.")]
Approaches = Annotated[
    list[str],
    typer.Option(
        "--approach",
        "-a",
        help="uniform, sgl_tau_msd, sup_tau, mv, ds, binmv, ..., judge:NAME, judge:* (all); may be repeated.",
    ),
]
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
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything that is drawn at random.")]
Format = Annotated[Style | None, typer.Option("--format", "-f", help="Default: table, or by the ending of --output.")]
Output = Annotated[
    str,
    typer.Option("--output", "-o", help="Write here (.txt, .csv, .tsv, .json, .parquet; also .gz) instead of stdout."),
]
FiguresA = Annotated[
    str | None, typer.Option("--figures-a", help="Instead of files: topics,mean,deviation of a's P@k.")
]
FiguresB = Annotated[str | None, typer.Option("--figures-b", help="The same for b.")]
Rates = Annotated[
    str | None, typer.Option("--rates", help="Judges right about relevant, other gold items: 43/59,67/84.")
]
RatesB = Annotated[str | None, typer.Option("--rates-b", help="The same for b, had it other judges.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress.")]


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
    from karatage.cli.output import progress

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
    from karatage.wording import shorten

    if text is None:
        return None
    pairs = {}
    for part in text.split(","):
        role, equals, name = part.partition("=")
        if not equals or not role.strip() or not name.strip():
            raise OptionError(f"columns '{shorten(part)}' is not of the form role=column")
        pairs[role.strip()] = name.strip()
    return pairs
