"""`karatage queue`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from karatage.cli.options import (
    AT_LEAST_0,
    FLAT,
    GoldFiles,
    InputFile,
    JudgmentFiles,
    OutputFile,
    Pair,
    PerItem,
    QueueOutput,
    Reading,
    RunFiles,
    complete,
    list_measures,
    list_models,
    list_orders,
)
from karatage.cli.output import put, say, tell, write_page
from karatage.cli.parsing import STANDARD_OUTPUT, make_options
from karatage.cli.terminal import progress
from karatage.data.options import parse_prices
from karatage.decisions.question import QueueRules
from karatage.errors import OptionError

if TYPE_CHECKING:
    from karatage.data.disagreement import DisagreementModel
    from karatage.data.judgments import Judgments
    from karatage.data.queue import JudgingQueue
    from karatage.data.runs import Runs

SHOWN = 10  # systems of the leaderboard
Rules = make_options(
    QueueRules,
    skip=("prices", "disagreement", "systems"),
    measure=Annotated[str, complete(list_measures)],
    order=(
        complete(list_orders),
        Parameter(
            help="effect, meta-ap, average-rank, depth, disagreement, move-to-front, thompson; default: effect for "
            "measures that are weighted sums of grades, else thompson."
        ),
    ),
    approach=complete(list_models),
    seed=AT_LEAST_0,
)


def queue(
    runs: RunFiles = (),
    *,
    judgments: JudgmentFiles = (),
    gold: GoldFiles = (),
    budget: str | None = None,
    prices: str | None = None,
    per_item: PerItem = 5,
    rules: Annotated[Rules, FLAT] = Rules(),  # type: ignore[valid-type]
    disagreement: InputFile = None,
    save_disagreement: OutputFile = None,
    pair: Annotated[Pair, FLAT] = Pair(),
    reading: Annotated[Reading, FLAT] = Reading(),
    to: Annotated[QueueOutput, FLAT] = QueueOutput(),
) -> None:
    """Choose what to judge next.

    Args:
        budget: Money for this batch, e.g. 500.
        prices: A (10:1), B (5:2), a ratio, or expert=4,crowd=0.05.
        disagreement: A model (.json) for the order disagreement; default: learned from -j.
        save_disagreement: Write the model learned from -j here (.json).
    """
    from dataclasses import replace

    from karatage.decisions.queue import queue as choose_documents
    from karatage.io.queues import write_queue
    from karatage.io.rows import find_ending
    from karatage.io.runs import read_runs

    order, seed = vars(rules)["order"], vars(rules)["seed"]
    if not runs:
        raise OptionError("no runs were given, e.g. karatage queue runs/ --budget 500 --prices A -o queue.csv")
    if budget is None:
        raise OptionError("the budget of this batch is missing: give it with --budget, e.g. --budget 500")
    if prices is None:
        raise OptionError(
            "prices are missing: give them with --prices: A (an expert costs as much as 10 crowd labels), B (5:2), a "
            "ratio such as 8:1, or expert=4,crowd=0.05"
        )
    if disagreement is not None and order != "disagreement":
        raise OptionError("--disagreement is a model for --order disagreement; choose that order, or omit the model")
    cost = parse_prices(prices, per_item)
    if to.output != STANDARD_OUTPUT:
        find_ending(to.output)  # refuse a wrong name before the work
    with progress("Reading", quiet=to.quiet):
        retrieved = read_runs(list(runs))
        crowd = reading.read_judgments(judgments) if judgments else None
        experts = reading.read_gold(gold) if gold else None
    model = _find_model(order, disagreement, save_disagreement, retrieved, crowd, seed, quiet=to.quiet)
    asked = QueueRules(**vars(rules), prices=cost, disagreement=model)
    with progress("Planning", quiet=to.quiet):
        found = choose_documents(retrieved, crowd, experts, asked, budget=budget, a=pair.a, b=pair.b)
    # Gold with sampling probabilities contains the batch; otherwise the number of files is an estimate of it.
    if found.frame is None and (experts is None or experts.draw is None):
        found = replace(found, batch=max(len(gold), len(judgments)) + 1)
    if to.output != STANDARD_OUTPUT:
        write_queue(found, to.output, raw=to.raw)
    put(found, to, lambda: _render(found, to.output), frame=lambda: found.queue)


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
    """The given model, or one learned from the crowd if the order needs it."""
    from karatage.io.models import read_disagreement, write_disagreement
    from karatage.orders.disagreement import learn_disagreement

    if path is not None:
        if save is not None:
            raise OptionError(
                "--save-disagreement writes a model that is learned from -j; it cannot be combined with --disagreement"
            )
        return read_disagreement(path)
    if order != "disagreement" and save is None:
        return None
    if crowd is None:
        raise OptionError(
            "--order disagreement needs a model: give one with --disagreement model.json, or judgments by several "
            "judges with -j"
        )
    with progress("Learning where judges disagree", quiet=quiet):
        model = learn_disagreement(runs, crowd, rng=seed)
    if save is not None:
        write_disagreement(model, save)
    if not quiet:
        tell(model.notes)
        say(model.sentence)
    return model


def _render(found: JudgingQueue, output: str) -> str:
    from karatage.views.queue import view_queue

    if output != STANDARD_OUTPUT:
        then = [f"The queue is in {shlex.quote(output)}{', without rows' if found.stop else ''}."]
    else:
        then = [] if found.stop else ["Write the queue with -o queue.csv."]
    return write_page(view_queue(found), *then, top=SHOWN, all_rows="-f json prints all")
