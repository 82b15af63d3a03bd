"""`karatage plan`: which documents need gold, from files; or how many topics and gold items, from figures."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from karatage.cli.options import (
    AT_LEAST_1,
    FLAT,
    NEEDED,
    InputFiles,
    JudgmentFiles,
    Pair,
    QueueOutput,
    Reading,
    RunFiles,
    TypedFigures,
    make_question_options,
    require_files,
)
from karatage.cli.output import put, write_page
from karatage.cli.parsing import (
    PRICES_FORM,
    SHORT,
    STANDARD_OUTPUT,
    find_changed,
    make_options,
    name_option,
    parse_prices,
    read_word,
)
from karatage.cli.terminal import progress
from karatage.data.options import Goal, Prices
from karatage.errors import OptionError

if TYPE_CHECKING:
    from karatage.data.plan import GoldPlan, SizePlan

Asked = make_question_options("judges", "correction", "paired", "test", "undo_bias", "resamples")
GoalOptions = make_options(Goal)


@dataclass(frozen=True, kw_only=True)
class SizeOptions(TypedFigures):
    """Figures, and what gold and judgments cost.

    Args:
        paired: Standard deviation of the differences, if the topics are the same.
        prices: Prices of a judgment, of a relevant and of another gold item.
        depth: Documents judged per topic; default 1.
    """

    paired: float | None = None
    prices: Annotated[tuple[float, float, float] | None, read_word(parse_prices)] = None
    depth: Annotated[int | None, AT_LEAST_1] = None


def plan(
    runs: RunFiles = (),
    *,
    judgments: JudgmentFiles = (),
    budget: float | None = None,
    looks: Annotated[int, AT_LEAST_1] = 1,
    judged: InputFiles = (),
    pair: Annotated[Pair, FLAT] = Pair(),
    asked: Annotated[Asked, FLAT] = Asked(),  # type: ignore[valid-type]
    sizes: Annotated[SizeOptions, FLAT] = SizeOptions(),
    goal: Annotated[GoalOptions, FLAT] = GoalOptions(),  # type: ignore[valid-type]
    reading: Annotated[Reading, FLAT] = Reading(),
    to: Annotated[QueueOutput, FLAT] = QueueOutput(),
) -> None:
    """Plan gold.

    Args:
        budget: Number of gold labels; with --prices, money.
        looks: Number of batches of the budget; a decision can be made after each.
        judged: Judged queues of this plan, to continue it; may be repeated.
    """
    from karatage.decisions.plan import plan as plan_gold
    from karatage.decisions.question import Question
    from karatage.io.queues import write_queue
    from karatage.io.rows import find_ending

    given = {
        "measure": None,
        **vars(pair),
        **_find_differences(asked, Asked()),
        **_find_differences(reading, Reading()),
    }
    from_figures = [*sizes.given, *map(name_option, find_changed(goal, GoalOptions()))]
    if from_figures:
        others = {**given, "looks": looks - 1, "judged": judged, "judgments": judgments}
        files = [*(["RUNS"] if runs else []), *(name_option(name) for name, value in others.items() if value)]
        if files:
            raise OptionError(
                f"{files[0]} selects documents from files, and {from_figures[0]} computes numbers from figures; "
                "use one of them"
            )
        found = _find_sizes(sizes, goal, budget, from_figures[0])
        put(found, to, output=to.output)
        return
    more = "; or figures, e.g. --figures-a 50,0.527,0.240 --figures-b 50,0.513,0.260 --rates 17/38,216/262"
    require_files("plan runs/ -j crowd.csv --budget 200 -o queue.csv", runs, judgments, more)
    labels = _count_labels(budget, looks)
    if to.output != STANDARD_OUTPUT:
        find_ending(to.output)  # refuse a wrong name before the work
    retrieved, graded, known = reading.read_all(runs, judgments, judged, quiet=to.quiet)
    question = Question(**vars(asked))
    with progress("Planning", quiet=to.quiet):
        drawn = plan_gold(retrieved, graded, question, budget=labels, looks=looks, **vars(pair), judged=known)
    if to.output != STANDARD_OUTPUT and drawn.labels:
        write_queue(drawn, to.output, raw=to.raw)
    queue = "queue.csv" if to.output == STANDARD_OUTPUT else to.output
    then = ["karatage", "compare", *runs, *_repeat("-j", judgments), *_repeat("-g", (*judged, queue))]
    given |= {"measure": drawn.measure} | ({"claim": "these"} if drawn.new is None else {})
    then += [word for name, value in given.items() if value is not None for word in (_name(name), str(value))]
    put(
        drawn,
        to,
        lambda: _render(drawn, to.output, shlex.join(then)),
        frame=lambda: drawn.queue,
    )


def _name(option: str) -> str:
    return SHORT.get(option, name_option(option))


def _repeat(option: str, values: tuple[str, ...]) -> list[str]:
    return [part for value in values for part in (option, value)]


def _find_differences(given: Any, usual: Any) -> dict[str, object]:
    return {name: getattr(given, name) for name in find_changed(given, usual)}


def _count_labels(budget: float | None, looks: int) -> int:
    if budget is None:
        raise OptionError("the number of gold labels is missing: give it with --budget, e.g. --budget 200")
    if not (budget >= 1 and budget == int(budget)):
        raise OptionError(f"--budget {budget:g} is not a number of gold labels; give a whole number from 1")
    if looks > budget:
        raise OptionError(
            f"--budget {budget:g} is fewer labels than {looks} batches; give fewer --looks or a larger budget"
        )
    return int(budget)


def _find_sizes(sizes: SizeOptions, goal: Any, budget: float | None, first: str) -> SizePlan:
    """Parse the figures and plan."""
    from karatage.correction.planning import plan_sizes

    a, b, rates = sizes.require(f"{first} alone is not enough: {NEEDED}")
    if sizes.prices is None and (budget is not None or sizes.depth is not None):
        raise OptionError(f"a budget needs prices; add --prices {PRICES_FORM}")
    prices = None if sizes.prices is None else Prices(*sizes.prices, depth=sizes.depth or 1, budget=budget)
    return plan_sizes(
        a,
        b,
        rates if sizes.rates_b is None else (rates, sizes.rates_b),
        paired=sizes.paired,
        goal=Goal(**vars(goal)),
        prices=prices,
    )


def _render(found: GoldPlan, output: str, then: str) -> str:
    """The page, and the next command."""
    from karatage.views.plan import view_plan

    page = view_plan(found)
    if not found.labels:
        return write_page(page, *(["No queue was written."] if output != STANDARD_OUTPUT else []))
    where = "Write the queue with -o queue.csv" if output == STANDARD_OUTPUT else f"The queue is in {output}"
    return write_page(page, f"{where}. Add the grades of gold to it; then:", f"$ {then}")
