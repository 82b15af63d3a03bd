"""`karatage queue`."""

from __future__ import annotations

import shlex
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from karatage.cli import options
from karatage.cli.completing import complete_models, complete_orders
from karatage.cli.output import (
    STANDARD_OUTPUT,
    WIDTH,
    emit,
    emit_result,
    encode_frame,
    render,
    say,
    show_table,
    tell,
    tell_rest,
)
from karatage.cli.terminal import progress

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karatage.data.disagreement import DisagreementModel
    from karatage.data.judgments import Judgments
    from karatage.data.judgments import Repeats as RepeatsName
    from karatage.data.queue import JudgingQueue
    from karatage.data.runs import Runs

SHOWN = 10  # systems of the leaderboard


def queue(
    run_files: options.RunFiles = None,
    *,
    runs: options.MoreRunFiles = None,
    judgments: options.SomeJudgmentFiles = None,
    gold: options.GoldFiles = None,
    budget: Annotated[str | None, typer.Option("--budget", help="Money for this batch, e.g. 500.")] = None,
    prices: Annotated[
        str | None, typer.Option("--prices", help="A (10:1), B (5:2), a ratio, or expert=4,crowd=0.05.")
    ] = None,
    per_item: options.PerItem = 5,
    expert_share: Annotated[
        float, typer.Option("--expert-share", help="Of the budget; the rest is the crowd's.")
    ] = 0.5,
    order: Annotated[
        str | None, typer.Option("--order", help=f"{options.ORDER_HELP}.", autocompletion=complete_orders)
    ] = None,
    disagreement: Annotated[
        str | None, options.reads("--disagreement", help=f"{options.DISAGREEMENT_HELP}; default: learnt from -j.")
    ] = None,
    save_disagreement: Annotated[
        str | None, options.writes("--save-disagreement", help="Write the model learnt from -j here (.json).")
    ] = None,
    measure: options.MeasureName = "P@10",
    depth: Annotated[int, typer.Option("--depth", help="Of the pool.")] = 100,
    approach: Annotated[
        str,
        typer.Option(
            "--approach", "-a", help="How the crowd's grades are merged: mv, ds, ...", autocompletion=complete_models
        ),
    ] = "mv",
    margin: Annotated[float, typer.Option("--margin", help="A difference that does not matter.")] = 0.01,
    risk: Annotated[
        float, typer.Option("--risk", help="Probability of a wrong order at which judging may stop.")
    ] = 0.05,
    best: Annotated[
        int | None, typer.Option("--best", help="Only pairs with one of so many best systems matter.")
    ] = None,
    a: options.SystemA = None,
    b: options.SystemB = None,
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
    """Which documents should be judged next, by experts or the crowd, or is it enough?

    Example, on the files that `karatage demo` writes:

        karatage queue demo/runs --budget 500 --prices A -o queue.csv
    """
    from dataclasses import replace

    import karatage as kt
    from karatage.errors import OptionError

    paths = [*(run_files or []), *(runs or [])]
    if not paths:
        raise OptionError("no runs were given, e.g. karatage queue runs/ --budget 500 --prices A -o queue.csv")
    if budget is None:
        raise OptionError("how much may this batch cost? Say so with --budget, e.g. --budget 500")
    if prices is None:
        raise OptionError(
            "what do judgments cost? Say so with --prices: A (an expert costs as much as 10 crowd labels), B (5:2), a "
            "ratio such as 8:1, or expert=4,crowd=0.05"
        )
    if (a is None) != (b is None):
        raise OptionError("one of --a and --b is missing; name both systems, or none for a leaderboard of all")
    if disagreement is not None and order != "disagreement":
        raise OptionError("--disagreement is a model for --order disagreement; ask for that order, or leave it out")
    cost = kt.parse_prices(prices, per_item)
    if output != STANDARD_OUTPUT:
        from karatage.io.queues import find_ending

        find_ending(output)  # a name that cannot be written is told before the work
    with progress("Reading", quiet=quiet):
        retrieved = kt.read_runs(paths)
    crowd, experts = _read(
        judgments, gold, (grades, gold_grades), (columns, gold_columns), repeats=repeats, quiet=quiet
    )
    model = _find_model(order, disagreement, save_disagreement, retrieved, crowd, seed, quiet=quiet)
    rules = kt.QueueRules(
        prices=cost,
        measure=measure,
        order=order,
        expert_share=expert_share,
        depth=depth,
        approach=approach,
        disagreement=model,
        margin=margin,
        risk=risk,
        best=best,
        systems=None if a is None or b is None else (a, b),
        seed=seed,
    )
    with progress("Planning", quiet=quiet):
        found = kt.queue(retrieved, rules, budget=budget, crowd=crowd, experts=experts)
    # Chances count from the first batch that was drawn; else files are all that tells how many batches there were.
    if found.frame is None and (experts is None or experts.draw is None):
        found = replace(found, batch=max(len(gold or []), len(judgments or [])) + 1)
    _print(found, style, output, raw=raw, quiet=quiet)


def _read(
    judgments: list[str] | None,
    gold: list[str] | None,
    grades: tuple[str | None, str | None],
    columns: tuple[str | None, str | None],
    *,
    repeats: options.RepeatRule | None,
    quiet: bool,
) -> tuple[Judgments | None, Judgments | None]:
    """The crowd's judgments and the experts', as far as there are any."""
    import karatage as kt

    crowd = experts = None
    with progress("Reading", quiet=quiet):
        rule: RepeatsName | None = None if repeats is None else repeats.value
        if judgments:
            crowd = kt.read_judgments(
                judgments, grades=grades[0], columns=options.parse_columns(columns[0]), repeats=rule
            )
        if gold:
            scale = grades[1] if grades[1] is not None else grades[0]
            experts = kt.read_gold(gold, grades=scale, columns=options.parse_columns(columns[1]), repeats=rule)
    return crowd, experts


def _find_model(
    order: str | None,
    path: str | None,
    save: str | None,
    runs: Runs,
    crowd: Judgments | None,
    seed: int,
    *,
    quiet: bool,
) -> DisagreementModel | None:
    """The model that was given, or one learnt from the crowd where the order asks for it."""
    import karatage as kt
    from karatage.errors import OptionError

    if path is not None:
        if save is not None:
            raise OptionError("--save-disagreement writes what is learnt from -j, and --disagreement gives a model")
        return kt.read_disagreement(path)
    if order != "disagreement" and save is None:
        return None
    if crowd is None:
        raise OptionError(
            "where judges disagree must be learnt from somewhere: give a model with --disagreement model.json, or "
            "judgments by several judges with -j"
        )
    with progress("Learning where judges disagree", quiet=quiet):
        model = kt.learn_disagreement(runs, crowd, rng=seed)
    if save is not None:
        kt.write_disagreement(model, save)
    if not quiet:
        tell(model.notes)
        say(model.sentence)
    return model


def _print(found: JudgingQueue, style: options.Style | None, output: str, *, raw: bool, quiet: bool) -> None:
    from karatage.io.asked import write_queue

    chosen = "table" if style is None else style.value
    if output != STANDARD_OUTPUT:
        write_queue(found, output, raw=raw)
    if chosen == "json":
        emit_result(found.to_dict(), STANDARD_OUTPUT)
    elif chosen == "tsv":
        emit(encode_frame(found.queue, "tsv"), STANDARD_OUTPUT)
    else:
        emit(_render(found, output), STANDARD_OUTPUT)
    if not quiet:
        tell(found.notes)
        if chosen != "table":
            say(found.sentence)


def _render(found: JudgingQueue, output: str) -> str:
    from karatage.views.queue import entitle_queue, explain_settling, tabulate_batch, tabulate_settling

    systems = tabulate_settling(found.settling)
    parts: list[RenderableType] = [fill(entitle_queue(found), WIDTH), "", show_table(systems, top=SHOWN)]
    parts += tell_rest(systems, SHOWN, "system", "-f json has all")
    parts += [*(fill(text, WIDTH) for text in explain_settling(found.settling)), ""]
    if not found.stop:
        parts.append(show_table(tabulate_batch(found)))
    parts.append(fill(found.sentence, WIDTH))
    if output != STANDARD_OUTPUT:
        parts.append(f"The queue is in {shlex.quote(output)}{', without rows' if found.stop else ''}.")
    elif not found.stop:
        parts.append("Write the queue with -o queue.csv.")
    return render(*parts)
