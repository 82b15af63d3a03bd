"""Whether judges and gold grade on one scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from karatage.data.judgments import Judgments
from karatage.text import counted

UNLIKELY = 1e-6  # for all judges together; a topic's grades are alike, so that chances of single grades promise much


def find_short_scales(judgments: Judgments) -> dict[int, int]:
    """Judges who never use the upper grades, though by all judges' habits they should have: {judge: highest grade}.

    A judge who only ever says 0, or whose few grades happen to be low, is on no other scale.
    """
    judge, grade = judgments.judge, judgments.grade
    if not len(grade):
        return {}
    judges = len(judgments.judges)
    items = np.bincount(judge, minlength=judges)
    top = np.full(judges, -1)
    np.maximum.at(top, judge, grade)
    below = np.cumsum(np.bincount(grade)) / len(grade)
    odd = (below[top] ** items < UNLIKELY / judges) & (top > 0)
    return {int(j): int(top[j]) for j in np.flatnonzero(odd)}


def count_short_scales(short: Mapping[int, int]) -> str:
    """How many judges stay below which grade.

    >>> count_short_scales({0: 1, 4: 1, 5: 2})
    '2 judges up to 1, 1 judge up to 2'
    """
    return ", ".join(f"{counted(n, 'judge')} up to {top}" for top, n in sorted(Counter(short.values()).items()))


def tell_scales(judgments: Judgments, gold: Judgments | None = None) -> Iterator[str]:
    """Doubts about scales, in the same words for all who use judgments: judges' among themselves, and gold's."""
    short = find_short_scales(judgments)
    if short:
        shown = count_short_scales(short)
        yield f"judges who never use the upper grades ({shown}): if their scales differ, map them first"
    if gold is not None and gold.top_grade != judgments.top_grade:
        above = int((judgments.grade > gold.top_grade).sum())
        beyond = f" ({counted(above, 'grade')} above that)" if above else ""
        tops = f"judges grade up to {judgments.top_grade}, gold up to {gold.top_grade}{beyond}"
        yield f"{tops}: if scales differ, map them first"
