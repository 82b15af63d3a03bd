"""Options that commands share, with the same help everywhere.

Annotations are evaluated here, as classes of other modules inherit them.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.completion import CompletionContext
from cyclopts.validators import Number

from karatage.cli.parsing import (
    STANDARD_OUTPUT,
    Reads,
    Writes,
    make_options,
    name_option,
    parse_figures,
    parse_rates,
    read_word,
)
from karatage.cli.terminal import progress, remember_quiet
from karatage.data.options import Figures, RateCounts, Repeats
from karatage.decisions.estimators.registry import list_names
from karatage.decisions.question import Question
from karatage.errors import OptionError
from karatage.text import counted, shorten

if TYPE_CHECKING:
    from karatage.data.judgments import Judgments
    from karatage.data.records import Study, StudyRecord
    from karatage.data.runs import Runs

FLAT = Parameter(name="*")  # the fields of a dataclass, each an option
PATH, FILE, FOLDER = (Parameter(metavar=name) for name in ("PATH", "FILE", "FOLDER"))
InputFile = Annotated[str | None, PATH, Reads()]
InputFiles = Annotated[tuple[str, ...], PATH, Reads()]
OutputFile = Annotated[str | None, FILE, Writes()]
OutputName = Annotated[str, FILE, Writes()]
OutputFolder = Annotated[str | None, FOLDER, Writes("folder")]
OwnFolder = Annotated[str | None, FOLDER, Writes("own folder")]


def complete(list_names: Callable[[], list[str]]) -> Parameter:
    """Names that the shell completes."""

    def offer(context: CompletionContext) -> list[str]:
        return [name for name in list_names() if name.startswith(context.incomplete)]

    return Parameter(completer=offer)


def list_measures() -> list[str]:
    """An example of each measure that needs no quotes in a shell."""
    from karatage.measures.registry import FAMILIES

    return sorted(family.example for family in FAMILIES.values())


def list_models() -> list[str]:
    """Models that merge grades."""
    from karatage.aggregation.registry import MODELS

    return sorted(MODELS)


def list_approaches() -> list[str]:
    """Approaches of `evaluate` that are plain names."""
    from karatage.approaches.registry import APPROACHES

    return sorted(APPROACHES)


def list_crowds() -> list[str]:
    """The crowds that come with the library."""
    from karatage.simulation.crowd import list_crowds as list_shipped

    return list(list_shipped())


def list_orders() -> list[str]:
    """Orders of documents to judge."""
    from karatage.orders.orders import list_orders as list_known

    return list(list_known())


def _remember(_: object, quiet: bool) -> None:
    remember_quiet(quiet)


def _limit_memory(_: object, size: str | None) -> None:
    from karatage.io.sources import VARIABLE, parse_size

    if size is not None:
        parse_size(size, "--most-memory")
        os.environ[VARIABLE] = size  # also for workers


AT_LEAST_0, AT_LEAST_1 = Parameter(validator=Number(gte=0)), Parameter(validator=Number(gte=1))
MEASURE_HELP = "E.g. P@10, DCG@10, nDCG@20, AP, RBP(p=0.8)"
JUDGMENTS_HELP = "The judges' grades: tables, or a folder with one qrels file per judge"
GOLD_HELP = "Trusted grades: qrels, a table, or a judged queue"

RunFiles = Annotated[InputFiles, Parameter(help="TREC runs: files, folders, globs, or - for stdin.")]
JudgmentFiles = Annotated[InputFiles, Parameter(help=f"{JUDGMENTS_HELP}; may be repeated.")]
GoldFile = Annotated[InputFile, Parameter(help=f"{GOLD_HELP}.")]
GoldFiles = Annotated[InputFiles, Parameter(help=f"{GOLD_HELP}; may be repeated.")]
MeasureName = Annotated[str, complete(list_measures), Parameter(help=f"{MEASURE_HELP}.")]
Measures = Annotated[tuple[str, ...], complete(list_measures), Parameter(help=f"{MEASURE_HELP}; may be repeated.")]
ModelName = Annotated[str, complete(list_models)]
ModelNames = Annotated[tuple[str, ...], complete(list_models)]
ApproachNames = Annotated[tuple[str, ...], complete(list_approaches)]
Families = Annotated[
    InputFile, Parameter(help="File of judges whose errors may be correlated; a line has judge, tab, family.")
]
Chart = Annotated[OutputFile, Parameter(help="Write a chart to this file: .svg, .png, .html or .json.")]
Top = Annotated[int, AT_LEAST_0, Parameter(help="Rows shown in tables; 0 = all.")]
PerItem = Annotated[int, AT_LEAST_1, Parameter(help="Crowd judges of each document.")]
Seed = Annotated[int, AT_LEAST_0, Parameter(help="Seed of all random numbers.")]
Workers = Annotated[int, AT_LEAST_1, Parameter(help="Number of processes.")]
Fresh = Annotated[bool, Parameter(help="Compute again what an earlier run stored in --output.")]
Quiet = Annotated[bool, Parameter(validator=_remember, help="Print no notes and no progress.")]
MostMemory = Annotated[
    str | None,
    Parameter(
        metavar="SIZE",
        validator=_limit_memory,
        help="Memory limit for reading one file, e.g. 8G; default: half of the free memory.",
    ),
]
Format = Literal["table", "tsv", "json"]
NEEDED = "a comparison by figures needs all of --figures-a, --figures-b and --rates"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How files are read.

    Args:
        grades: What labels mean: a scale (0-3), a mapping (no=0,yes=1,broken=drop), or both.
        gold_grades: The same for gold; default: --grades.
        columns: Names of the columns as role=NAME, e.g. judge=team,grade=score.
        gold_columns: Names of the columns of gold as role=NAME, e.g. grade=score.
        repeats: Which of a judge's grades of an item counts; default: all in merging, else (and for gold) the last.
    """

    grades: str | None = None
    gold_grades: str | None = None
    columns: str | None = None
    gold_columns: str | None = None
    repeats: Repeats | None = None
    most_memory: MostMemory = None

    def read_all(
        self, runs: tuple[str, ...], judgments: tuple[str, ...], gold: tuple[str, ...], *, quiet: bool
    ) -> "tuple[Runs, Judgments, Judgments | None]":
        """Runs, judgments, and gold where there is any."""
        from karatage.io.runs import read_runs

        with progress("Reading", quiet=quiet):
            retrieved = read_runs(list(runs))
        return retrieved, *self.read_both(judgments, gold, quiet=quiet)

    def read_both(
        self, judgments: tuple[str, ...], gold: str | tuple[str, ...] | None, *, quiet: bool
    ) -> "tuple[Judgments, Judgments | None]":
        """Judgments, and gold where there is any."""
        with progress("Reading", quiet=quiet):
            return self.read_judgments(judgments), self.read_gold(gold) if gold else None

    def read_judgments(self, paths: tuple[str, ...]) -> "Judgments":
        """The judges' grades in these files."""
        from karatage.io.judgments import read_judgments

        columns = parse_columns(self.columns)
        return read_judgments(list(paths), grades=self.grades, columns=columns, repeats=self.repeats)

    def read_gold(self, paths: str | tuple[str, ...]) -> "Judgments":
        """The gold in these files."""
        from karatage.io.judgments import read_gold

        scale = self.grades if self.gold_grades is None else self.gold_grades
        named = paths if isinstance(paths, str) else list(paths)
        return read_gold(named, grades=scale, columns=parse_columns(self.gold_columns), repeats=self.repeats)


@dataclass(frozen=True, kw_only=True)
class Printing:
    """How results are shown.

    Args:
        format: How results are printed; default: table.
    """

    format: Format | None = None
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class Writing(Printing):
    """How results are shown and written.

    Args:
        raw: In .csv, no ' before names that a spreadsheet would read as a formula.
    """

    raw: bool = False


@dataclass(frozen=True, kw_only=True)
class Output(Writing):
    """How results are shown, and where.

    Args:
        output: Write to this file; the ending sets the format: .txt, .csv, .tsv, .json, .parquet; also .gz.
    """

    output: OutputName = STANDARD_OUTPUT


@dataclass(frozen=True, kw_only=True)
class QueueOutput(Writing):
    """How a queue is shown, and where it is written.

    Args:
        output: Write the queue here: .csv, .tsv, .jsonl, .parquet; also .gz.
    """

    output: OutputName = STANDARD_OUTPUT


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two systems.

    Args:
        a: The first of two systems; default: all systems, or the only two.
        b: The second; differences are b - a.
    """

    a: str | None = None
    b: str | None = None


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """Earlier studies of the judges.

    Args:
        record: Earlier studies of these judges; a file that --update-record writes.
        update_record: Add this study to the file of --record, which is made if there is none.
    """

    record: Annotated[str | None, FILE, Reads(store=True), Writes("store")] = None
    update_record: bool = False

    def read(self) -> "StudyRecord | None":
        """The record, if there is one."""
        from karatage.io.records import read_studies

        if self.record is None:
            if self.update_record:
                raise OptionError("--update-record needs the file of --record")
            return None
        if self.update_record and not Path(self.record).exists():
            return None
        return read_studies(self.record)

    def update(self, study: "Study | None", *, quiet: bool) -> None:
        """Add a study, if this was asked for."""
        if not self.update_record or self.record is None:
            return
        from karatage.cli.output import say
        from karatage.io.records import add_studies

        path = shorten(self.record, 200)
        if study is None:
            told = (
                f"no study was added to {path}, as the judges' bias was not measured: this needs gold on single "
                "documents, not copied from a judge, runs of five systems or more, and a measure that is a weighted sum"
            )
        else:
            own = add_studies(self.record, study).select(study.judge)
            told = f"{path} has {counted(len(own), 'study')} of {shorten(study.judge)}, with this one"
        if not quiet:
            say(told)


def parse_columns(text: str | None) -> dict[str, str] | None:
    """Read `role=column,role=column`."""
    if text is None:
        return None
    pairs = {}
    for part in text.split(","):
        role, equals, name = part.partition("=")
        if not equals or not role.strip() or not name.strip():
            raise OptionError(
                f"columns '{shorten(part)}' is not of the form role=column; write e.g. judge=team,grade=score"
            )
        pairs[role.strip()] = name.strip()
    return pairs


def make_question_options(*skip: str) -> Any:
    """The options of a question, without those in `skip`."""
    return make_options(
        Question,
        skip=skip,
        measure=Annotated[str, complete(list_measures)],
        approach=complete(list_models),
        correction=(
            complete(lambda: list(list_names())),
            Parameter(help=f"How errors are corrected: {', '.join(list_names())}; auto: by the design of the gold."),
        ),
        seed=AT_LEAST_0,
    )


@dataclass(frozen=True, kw_only=True)
class TypedFigures:
    """Figures instead of files.

    Args:
        figures_a: Instead of files: topics,mean,standard deviation of a's P@k.
        figures_b: The same for b.
        rates: Correct judgments of relevant and of other gold items, e.g. 43/59,67/84.
        rates_b: The same for b, if it had other judges.
    """

    figures_a: Annotated[Figures | None, read_word(parse_figures)] = None
    figures_b: Annotated[Figures | None, read_word(parse_figures)] = None
    rates: Annotated[RateCounts | None, read_word(parse_rates)] = None
    rates_b: Annotated[RateCounts | None, read_word(parse_rates)] = None

    @property
    def given(self) -> list[str]:
        """Options that were used."""
        return [name_option(field.name) for field in fields(self) if getattr(self, field.name) is not None]

    def require(self, need: str = NEEDED) -> tuple[Figures, Figures, RateCounts]:
        """Figures of both systems, and how often their judges are right; or an error that says what is needed."""
        if self.figures_a is None or self.figures_b is None or self.rates is None:
            raise OptionError(need)
        return self.figures_a, self.figures_b, self.rates


def require_files(command: str, runs: tuple[str, ...], judgments: tuple[str, ...], more: str = "") -> None:
    """Refuse to compare systems without runs or without judgments."""
    if not runs or not judgments:
        lacking = "judgments" if runs else "runs"
        raise OptionError(f"no {lacking} were given, e.g. karatage {command}{more}")
