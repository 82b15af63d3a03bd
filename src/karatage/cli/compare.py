"""`karatage compare`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from karatage.cli import options
from karatage.cli.completing import CORRECTIONS, complete_corrections
from karatage.cli.output import STANDARD_OUTPUT, choose_style, emit, emit_result, encode_frame, say, tell
from karatage.cli.terminal import progress

if TYPE_CHECKING:
    from karatage.data.board import Board
    from karatage.data.comparison import Comparison
    from karatage.data.runs import Runs

NOT_SIGNIFICANT = 1  # exit code


class Claim(StrEnum):
    """Which topics a claim is about."""

    new = "new"
    these = "these"


class JudgeKind(StrEnum):
    """Whose errors the gold sample tells of."""

    shared = "shared"
    independent = "independent"


class TestKind(StrEnum):
    """The test on the judges' own scores."""

    t = "t"
    wilcoxon = "wilcoxon"
    permutation = "permutation"
    bootstrap = "bootstrap"


class Adjustment(StrEnum):
    """How p-values of many pairs are adjusted."""

    holm = "holm"
    bh = "bh"
    none = "none"


CLAIM_HELP = "Claim it of new topics, or of these only"
CONFIDENCE_HELP = "Of intervals; tests are at the rest"
Correction = Annotated[
    str,
    typer.Option(
        "--correction",
        metavar=f"[{'|'.join(CORRECTIONS)}]",
        help="How errors are undone; auto: as the gold's design allows.",
        autocompletion=complete_corrections,
    ),
]
JudgesShared = Annotated[
    JudgeKind, typer.Option("--judges", help="One gold sample tells of both systems' judges, or each has its own.")
]


def compare(
    run_files: options.RunFiles = None,
    *,
    judgments: options.SomeJudgmentFiles = None,
    runs: options.MoreRunFiles = None,
    gold: options.GoldFiles = None,
    measure: options.MeasureName = "P@10",
    a: options.SystemA = None,
    b: options.SystemB = None,
    approach: options.Approach = None,
    topics: Annotated[Claim, typer.Option("--topics", help=f"{CLAIM_HELP}.")] = Claim.new,
    judges: JudgesShared = JudgeKind.shared,
    correction: Correction = CORRECTIONS[0],
    unpaired: Annotated[bool, typer.Option("--unpaired", help="Do not pair the systems' topics.")] = False,
    test: Annotated[TestKind, typer.Option("--test", help="Test on the judges' own scores.")] = TestKind.t,
    undo_bias: Annotated[bool, typer.Option("--undo-bias", help="Subtract the small bias of error rates.")] = False,
    resamples: Annotated[int, typer.Option("--resamples", min=0, help="Bootstrap for a second opinion, so often.")] = 0,
    confidence: Annotated[float, typer.Option("--confidence", help=f"{CONFIDENCE_HELP}.")] = 0.95,
    adjust: Annotated[
        Adjustment, typer.Option("--adjust", help="For many pairs: Holm, Benjamini-Hochberg, or not at all.")
    ] = Adjustment.holm,
    figures_a: options.FiguresA = None,
    figures_b: options.FiguresB = None,
    rates: options.Rates = None,
    rates_b: options.RatesB = None,
    fail_unless_significant: Annotated[
        bool, typer.Option("--fail-unless-significant", help="Exit with 1 unless a difference may be claimed.")
    ] = False,
    top: options.Top = 20,
    chart: options.Chart = None,
    grades: options.Grades = None,
    gold_grades: options.GoldGrades = None,
    columns: options.Columns = None,
    gold_columns: options.GoldColumns = None,
    repeats: options.Repeats = None,
    seed: options.Seed = 0,
    style: options.Format = None,
    output: options.Output = "-",
    raw: options.Raw = False,
    most_memory: options.MostMemory = None,
    quiet: options.Quiet = False,
) -> None:
    """Is one system better than another, once the judges' errors are undone?

    Name two systems with --a and --b, or give two runs; otherwise all systems are compared with each other.

    Example, on the files that `karatage demo` writes:

        karatage compare demo/runs -j demo/judgments.csv -g demo/gold.qrels
    """
    import karatage as kt
    from karatage.errors import OptionError

    chosen = choose_style(style, output)
    paths = [*(run_files or []), *(runs or [])]
    by_figures = any(option is not None for option in (figures_a, figures_b, rates, rates_b))
    if by_figures:
        if paths or judgments or gold or a is not None or b is not None:
            raise OptionError("figures and files or systems at once; give --figures-a, --figures-b and --rates alone")
        found: Comparison | Board = _compare_figures((figures_a, figures_b), (rates, rates_b), judges, confidence)
    else:
        if not paths or not judgments:
            lacking = "judgments" if paths else "runs"
            raise OptionError(f"no {lacking} were given, e.g. karatage compare a.run b.run -j crowd.csv -g gold.qrels")
        with progress("Reading", quiet=quiet):
            retrieved = kt.read_runs(paths)
        graded, trusted = options.read_both(
            judgments,
            gold,
            grades=(grades, gold_grades),
            columns=(columns, gold_columns),
            repeats=repeats,
            quiet=quiet,
        )
        question = kt.Question(
            measure=measure,
            approach=approach,
            topics=topics.value,
            judges=judges.value,
            correction=correction,
            paired=not unpaired,
            test=test.value,
            undo_bias=undo_bias,
            resamples=resamples,
            confidence=confidence,
            seed=seed,
        )
        pair = choose_pair(order_as_named(retrieved, paths), a, b)
        with progress("Comparing", quiet=quiet):
            if pair is None:
                found = kt.compare_all(retrieved, graded, trusted, question, adjust=adjust.value)
            else:
                found = kt.compare(retrieved, graded, trusted, question, a=pair[0], b=pair[1])
    if chart is not None:
        _draw(found, chart)
    _print(found, chosen, output, top=top, raw=raw, quiet=quiet)
    if fail_unless_significant and not found.significant:
        raise typer.Exit(NOT_SIGNIFICANT)


def order_as_named(runs: Runs, paths: list[str]) -> tuple[str, ...]:
    """The systems; of two files, that of the first comes first, whatever their names."""
    import karatage as kt

    if len(paths) != 2 or len(runs.systems) != 2 or STANDARD_OUTPUT in paths:
        return runs.systems
    first = kt.read_runs(paths[0]).systems[0]
    if first not in runs.systems:  # both files carry the same tag, so that systems are called after files
        first = next((name for name in runs.systems if name in paths[0]), runs.systems[0])
    return tuple(sorted(runs.systems, key=lambda name: name != first))


def choose_pair(systems: tuple[str, ...], a: str | None, b: str | None) -> tuple[str, str] | None:
    """The two systems to compare; None: all of them."""
    from karatage.errors import OptionError

    if a is not None and b is not None:
        return a, b
    if len(systems) == 1:
        raise OptionError(f"'{systems[0]}' is the only system; give runs of two at least")
    if len(systems) == 2:
        first = a if a is not None else next(s for s in systems if s != b)
        return first, next(s for s in systems if s != first) if b is None else b
    if a is None and b is None:
        return None
    raise OptionError("one of --a and --b is missing; name both systems, or none to compare all with each other")


def _compare_figures(
    figures: tuple[str | None, str | None], rates: tuple[str | None, str | None], judges: JudgeKind, confidence: float
) -> Comparison:
    import karatage as kt
    from karatage.cli.figures import parse_figures, parse_rates
    from karatage.errors import OptionError

    if figures[0] is None or figures[1] is None or rates[0] is None:
        raise OptionError("figures need all of --figures-a, --figures-b and --rates")
    return kt.compare_figures(
        parse_figures(figures[0], "--figures-a"),
        parse_figures(figures[1], "--figures-b"),
        parse_rates(rates[0], "--rates"),
        rates_b=None if rates[1] is None else parse_rates(rates[1], "--rates-b"),
        judges=judges.value,
        confidence=confidence,
    )


def _draw(found: Comparison | Board, path: str) -> None:
    from karatage.data.comparison import Comparison
    from karatage.views.charts import write_chart
    from karatage.views.decisions import draw_board, draw_comparison

    write_chart(draw_comparison(found) if isinstance(found, Comparison) else draw_board(found), path)


def _print(found: Comparison | Board, chosen: str, output: str, *, top: int, raw: bool, quiet: bool) -> None:
    from karatage.cli.comparison import render_comparison
    from karatage.data.comparison import Comparison

    if chosen == "json":
        emit_result(found.to_dict(), output)
    elif chosen == "table":
        if isinstance(found, Comparison):
            emit(render_comparison(found), output)
        else:
            from karatage.cli.board import render_board

            emit(render_board(found, top=top), output)
    else:
        emit(encode_frame(found.to_frame(), chosen, raw=raw), output)
    if not quiet:
        tell(found.notes)
        if chosen != "table":
            say(found.sentence)
