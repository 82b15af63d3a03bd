"""The part of `karatage plan` that works from figures: how many topics and gold items."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

from karatage.cli.output import (
    STANDARD_OUTPUT,
    WIDTH,
    choose_style,
    emit,
    emit_result,
    encode_frame,
    render,
    say,
    show_table,
    tell,
)

if TYPE_CHECKING:
    from karatage.cli.options import Style
    from karatage.data.sizing import SizePlan

PRICES_FORM = "judgment,gold-relevant,gold-other, e.g. 0.1,2,2"
SPLIT_FORM = "shares of topics, gold-relevant and other gold items, e.g. 0.5,0.25,0.25"
NEEDED = "figures need all of --figures-a, --figures-b and --rates"


class SizeOptions(NamedTuple):
    """What was typed; the names are the options'."""

    figures_a: str | None
    figures_b: str | None
    rates: str | None
    rates_b: str | None
    paired: float | None
    level: float | None
    power: float | None
    difference: float | None
    split: str | None
    prices: str | None
    depth: int | None

    @property
    def given(self) -> list[str]:
        """Options that were used."""
        return [f"--{name.replace('_', '-')}" for name, value in self._asdict().items() if value is not None]


def find_sizes(options: SizeOptions, budget: float | None) -> SizePlan:
    """Parse the figures and plan."""
    import karatage as kt
    from karatage.cli.figures import parse_figures, parse_numbers, parse_rates
    from karatage.errors import OptionError

    if options.figures_a is None or options.figures_b is None or options.rates is None:
        raise OptionError(f"{options.given[0]} alone is not enough: {NEEDED}")
    if options.prices is None and (budget is not None or options.depth is not None):
        raise OptionError(f"what a budget buys depends on prices; add --prices {PRICES_FORM}")
    rates = parse_rates(options.rates, "--rates")
    level = {} if options.level is None else {"level": options.level}
    split = None if options.split is None else parse_numbers(options.split, "--split", SPLIT_FORM)
    prices = None
    if options.prices is not None:
        paid = parse_numbers(options.prices, "--prices", PRICES_FORM)
        prices = kt.Prices(*paid, depth=options.depth or 1, budget=budget)
    return kt.plan_sizes(
        parse_figures(options.figures_a, "--figures-a"),
        parse_figures(options.figures_b, "--figures-b"),
        rates if options.rates_b is None else (rates, parse_rates(options.rates_b, "--rates-b")),
        paired=options.paired,
        goal=kt.Goal(power=options.power, difference=options.difference, split=split, **level),
        prices=prices,
    )


def print_sizes(found: SizePlan, style: Style | None, output: str, *, raw: bool, quiet: bool) -> None:
    """In the format asked for."""
    chosen = choose_style(style, output)
    if chosen == "json":
        emit_result(found.to_dict(), output)
    elif chosen == "table":
        emit(_render(found), output)
    else:
        emit(encode_frame(found.to_frame(), chosen, raw=raw), output)
    if not quiet:
        tell(found.notes)
        if chosen != "table" or output != STANDARD_OUTPUT:
            say(found.sentence)


def _render(found: SizePlan) -> str:
    from karatage.views.sizes import explain_sizes, tabulate_sizes

    return render(
        show_table(tabulate_sizes(found)),
        *(fill(line, WIDTH) for line in explain_sizes(found)),
        "",
        fill(found.sentence, WIDTH),
    )
