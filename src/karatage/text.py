"""Words for messages: names that fit on a line, suggestions, plurals."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Sequence

ROUNDING = 1e-9  # differences that are not more than this are 0


def make_printable(text: str, keep: str = "") -> str:
    """`text` with a replacement sign for each character that a terminal does not print, except for those in `keep`.

    >>> make_printable("a" + chr(27) + "[31mb")
    'a�[31mb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else "\N{REPLACEMENT CHARACTER}" for c in text)


def shorten(text: str, width: int = 40) -> str:
    """`text` fit for a message: printable, on one line, at most `width` characters."""
    clean = make_printable(text[: width + 1])
    return clean if len(clean) <= width else clean[: width - 1] + "…"


def list_names(names: Sequence[str], most: int = 4, width: int = 24) -> str:
    """The first few names, and how many more there are.

    >>> list_names(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(f"'{shorten(name, width)}'" for name in names[:most])
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")


def count_names(names: Sequence[str]) -> str:
    """How many names there are, and the first few of them.

    >>> count_names(["a", "b"])
    "2 ('a', 'b')"
    """
    return f"{len(names):,} ({list_names(names)})"


def counted(number: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "judge"), counted(1200, "approach"), counted(2, "study")
    ('1 judge', '1,200 approaches', '2 studies')
    """
    if number != 1 and noun.endswith("dy"):
        noun = noun.removesuffix("y") + "ie"
    ending = "" if number == 1 else "es" if noun.endswith(("s", "ch")) else "s"
    return f"{number:,} {noun}{ending}"


def nearest(name: str, known: Iterable[str], *, likeness: float = 0.5) -> str | None:
    """The member of `known` most like `name`, whatever its case; None when nothing is near.

    >>> nearest("gold", ["old", "demo"]), nearest("gold", ["old", "demo"], likeness=0.9)
    ('old', None)
    """
    by_lower = {k.lower(): k for k in known}
    found = difflib.get_close_matches(name.lower()[:100], by_lower, n=1, cutoff=likeness)
    return by_lower[found[0]] if found else None


def hint_decimal(text: str) -> str:
    """What to do about a number with a comma in it, after a message; nothing for any other text.

    >>> hint_decimal("0,25"), hint_decimal("maybe")
    ('; write decimals with a point: 0.25', '')
    """
    found = re.fullmatch(r"([+-]?[0-9]{1,30}),([0-9]{1,30})", text.strip())
    return f"; write decimals with a point: {found[1]}.{found[2]}" if found else ""


def percent(share: float) -> str:
    """A share in as many digits as it has.

    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * share:.6g}%"


def end_sentence(text: str) -> str:
    """With a full stop, unless it ends in a question mark or full stop.

    >>> end_sentence("are items written alike?"), end_sentence("get more gold")
    ('are items written alike?', 'get more gold.')
    """
    return text if text.endswith(("?", ".")) else f"{text}."


def short(value: float) -> str:
    """Three decimals without the zero before the point.

    >>> short(0.8436), short(1.0), short(-0.02)
    ('.844', '1.000', '-.020')
    """
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 0.9995 else f"{value:.3f}"


def tell_difference(value: float) -> str:
    """Four decimals, or as many as show on which side of 0 it is; rounding errors are 0.

    >>> tell_difference(-0.25), tell_difference(-0.000012), tell_difference(-1e-17)
    ('-0.2500', '-0.00001', '0.0000')
    """
    size = abs(value)
    return f"{value:.{max(4, math.ceil(-math.log10(size)))}f}" if size > ROUNDING else f"{0:.4f}"


def list_ranges(numbers: Sequence[int]) -> str:
    """Sorted numbers, three or more in a row as a range.

    >>> list_ranges([1, 2, 3, 5, 6])
    '1-3, 5, 6'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
