"""`karatage plan`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from karatage.cli import options
from karatage.cli.compare import CLAIM_HELP, CONFIDENCE_HELP, Claim
from karatage.cli.output import STANDARD_OUTPUT, emit, emit_result, encode_frame, say, tell
from karatage.cli.plan_sizes import SizeOptions, find_sizes, print_sizes
from karatage.cli.terminal import progress

if TYPE_CHECKING:
    from karatage.data.plan import GoldPlan


def plan(
    run_files: options.RunFiles = None,
    *,
    judgments: options.SomeJudgmentFiles = None,
    runs: options.MoreRunFiles = None,
    budget: Annotated[
        float | None, typer.Option("--budget", help="Gold labels to ask for; with --prices, money to spend.")
    ] = None,
    measure: options.SomeMeasureName = None,
    a: options.SystemA = None,
    b: options.SystemB = None,
    batches: Annotated[int | None, typer.Option("--batches", min=1, help="Cut the budget into batches.")] = None,
    judged: Annotated[
        list[str] | None,
        options.reads("--judged", help="Judged queues of this plan: go on from there; may be repeated."),
    ] = None,
    approach: options.Approach = None,
    topics: Annotated[Claim | None, typer.Option("--topics", help=f"{CLAIM_HELP}; default: new.")] = None,
    confidence: Annotated[float | None, typer.Option("--confidence", help=f"{CONFIDENCE_HELP}; default 0.95.")] = None,
    figures_a: options.FiguresA = None,
    figures_b: options.FiguresB = None,
    rates: options.Rates = None,
    rates_b: options.RatesB = None,
    paired: Annotated[
        float | None, typer.Option("--paired", help="Same topics: deviation of the difference over them.")
    ] = None,
    level: Annotated[float | None, typer.Option("--level", help="Of the test, two-sided; default 0.05.")] = None,
    power: Annotated[
        float | None, typer.Option("--power", help="Chance to show it, e.g. 0.8; default: a half.")
    ] = None,
    difference: Annotated[
        float | None, typer.Option("--difference", help="To be shown; default: what the figures show.")
    ] = None,
    split: Annotated[
        str | None, typer.Option("--split", help="Of the error: topics, gold-relevant, other; sums to 1.")
    ] = None,
    prices: Annotated[
        str | None, typer.Option("--prices", help="Of a judgment, a gold-relevant and another gold item.")
    ] = None,
    depth: Annotated[int | None, typer.Option("--depth", min=1, help="Documents judged per topic; default 1.")] = None,
    grades: options.Grades = None,
    gold_grades: options.GoldGrades = None,
    columns: options.Columns = None,
    gold_columns: options.GoldColumns = None,
    repeats: options.Repeats = None,
    seed: options.Seed = 0,
    style: options.Format = None,
    output: options.QueueOutput = STANDARD_OUTPUT,
    raw: options.Raw = False,
    most_memory: options.MostMemory = None,
    quiet: options.Quiet = False,
) -> None:
    """Which documents should gold judge, or how many, to tell systems apart?

    From files: the documents, drawn with known chances. From figures: numbers of topics and gold items.

    Example, on the files that `karatage demo` writes:

        karatage plan demo/runs -j demo/judgments.csv --budget 200 -o queue.csv
    """
    from karatage.errors import OptionError

    paths = [*(run_files or []), *(runs or [])]
    sizes = SizeOptions(figures_a, figures_b, rates, rates_b, paired, level, power, difference, split, prices, depth)
    for_files = {
        "RUNS": paths or None,
        "--judgments": judgments or None,
        "--measure": measure,
        "--a": a,
        "--b": b,
        "--batches": batches,
        "--judged": judged or None,
        "--approach": approach,
        "--topics": topics,
        "--confidence": confidence,
        "--grades": grades,
        "--gold-grades": gold_grades,
        "--columns": columns,
        "--gold-columns": gold_columns,
        "--repeats": repeats,
    }
    files = [name for name, value in for_files.items() if value is not None]
    if sizes.given:
        if files:
            raise OptionError(
                f"{files[0]} is for choosing documents from files, {sizes.given[0]} for numbers from figures; plan one "
                "at a time"
            )
        print_sizes(find_sizes(sizes, budget), style, output, raw=raw, quiet=quiet)
        return
    if not paths or not judgments:
        lacking = "judgments" if paths else "runs"
        raise OptionError(
            f"no {lacking} were given, e.g. karatage plan runs/ -j crowd.csv --budget 200 -o queue.csv; or figures, "
            "e.g. --figures-a 50,0.527,0.240 --figures-b 50,0.513,0.260 --rates 17/38,216/262"
        )
    import karatage as kt

    counts = _cut_budget(budget, batches)
    pair = _name_pair(a, b)
    if output != STANDARD_OUTPUT:
        from karatage.io.queues import find_ending

        find_ending(output)  # a name that cannot be written is told before the work
    with progress("Reading", quiet=quiet):
        retrieved = kt.read_runs(paths)
    graded, known = options.read_both(
        judgments, judged, grades=(grades, gold_grades), columns=(columns, gold_columns), repeats=repeats, quiet=quiet
    )
    question = kt.Question(
        measure=measure or "P@10",
        approach=approach,
        topics=(topics or Claim.new).value,
        confidence=0.95 if confidence is None else confidence,
        seed=seed,
    )
    with progress("Planning", quiet=quiet):
        found = kt.plan(retrieved, graded, question, budget=counts, systems=pair, judged=known)
    then = ["karatage", "compare", *paths, *_repeat("-j", judgments), *_repeat("-g", judged or [])]
    then += ["-g", "queue.csv" if output == STANDARD_OUTPUT else output, "-m", found.measure]
    claim = Claim.these if found.new is None else topics
    then += [*_maybe("--a", a), *_maybe("--b", b), *_maybe("-a", approach), *_maybe("--topics", claim)]
    then += [*_maybe("--confidence", confidence), *_maybe("--grades", grades), *_maybe("--gold-grades", gold_grades)]
    then += [*_maybe("--columns", columns), *_maybe("--gold-columns", gold_columns), *_maybe("--repeats", repeats)]
    then += _maybe("--seed", seed or None)
    _print_documents(found, style, output, shlex.join(then), raw=raw, quiet=quiet)


def _cut_budget(budget: float | None, batches: int | None) -> list[int]:
    """Batches as even as can be."""
    from karatage.errors import OptionError

    if budget is None:
        raise OptionError("how many gold labels can be had? Say so with --budget, e.g. --budget 200")
    if not (budget >= 1 and budget == int(budget)):
        raise OptionError(f"--budget {budget:g} is no number of gold labels; give a whole number from 1")
    parts = batches or 1
    if parts > budget:
        raise OptionError(f"--budget {budget:g} does not fill {parts} batches; ask for fewer")
    return [int(budget) // parts + (n < int(budget) % parts) for n in range(parts)]


def _name_pair(a: str | None, b: str | None) -> tuple[str, str] | None:
    from karatage.errors import OptionError

    if a is None and b is None:
        return None
    if a is None or b is None:
        raise OptionError("one of --a and --b is missing; name both systems, or none for a leaderboard of all")
    return a, b


def _repeat(option: str, values: list[str]) -> list[str]:
    return [part for value in values for part in (option, value)]


def _maybe(option: str, value: float | str | None) -> list[str]:
    return [] if value is None else [option, str(value)]


def _print_documents(
    found: GoldPlan, style: options.Style | None, output: str, then: str, *, raw: bool, quiet: bool
) -> None:
    from karatage.cli.plan_tables import render_documents
    from karatage.io.asked import write_queue

    chosen = "table" if style is None else style.value
    if output != STANDARD_OUTPUT and found.labels:
        write_queue(found, output, raw=raw)
    if chosen == "json":
        emit_result(found.to_dict(), STANDARD_OUTPUT)
    elif chosen == "tsv":
        emit(encode_frame(found.queue, "tsv"), STANDARD_OUTPUT)
    else:
        emit(render_documents(found, output, then), STANDARD_OUTPUT)
    if not quiet:
        tell(found.notes)
        if chosen != "table":
            say(found.sentence)
