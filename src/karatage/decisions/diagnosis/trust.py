"""Gold looked at: whether it meets the judgments, its scale and its size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from karatage.agreement.gold import INDEPENDENT_GOLD, find_copies_of_gold, find_inversion, tell_copies
from karatage.data.axes import BoolArray
from karatage.data.diagnosis import Check
from karatage.data.judgments import Judgments
from karatage.data.scales import find_short_scales
from karatage.decisions.diagnosis.evidence import Evidence
from karatage.decisions.diagnosis.judges import MAP_ONE_BY_ONE
from karatage.text import counted, list_names, shorten

ABOUT = "gold"
LONGEST_MAPPED = 10  # the highest grade of a scale that is mapped grade by grade


def check_gold(evidence: Evidence) -> Iterator[Check]:
    """All that can be seen before anything is corrected."""
    gold, judgments = evidence.gold, evidence.judgments
    if gold is None:
        if judgments is not None and "gold" not in evidence.unread:
            yield Check(
                about=ABOUT,
                state="warning",
                finding="there is no gold, so that judges' errors are neither known nor undone",
                advice="let karatage plan draw documents, and have them graded by someone you trust",
            )
        return
    drawn = "" if gold.draw is None else ", drawn with known chances"
    if gold.draw is not None and gold.draw.measure is not None:
        drawn += f" for {shorten(gold.draw.measure)}"
    topics = f" of {counted(_count_topics(gold), 'topic')}" if gold.has_topics else ""
    yield Check(
        about=ABOUT,
        state="ok",
        finding=f"{counted(len(gold.grade), 'gold item')}{topics}, grades 0-{gold.top_grade}{drawn}",
    )
    yield from _check_grades(evidence, gold)
    if judgments is not None:
        yield from _check_meeting(evidence, gold, judgments)


def _count_topics(gold: Judgments) -> int:
    return len(np.unique(gold.item_topic[gold.item]))


def _check_grades(evidence: Evidence, gold: Judgments) -> Iterator[Check]:
    level = evidence.question.parsed.level
    relevant: BoolArray = gold.grade >= level
    if relevant.all() or not relevant.any():
        which = "every gold item is" if relevant.all() else "no gold item is"
        yield Check(
            about=ABOUT,
            state="warning",
            finding=f"{which} relevant by {evidence.question.parsed} (grade {level} or more): nothing is told apart",
            advice="grade some of the other kind, or ask for another rel, e.g. P(rel=2)@10",
        )


def _check_meeting(evidence: Evidence, gold: Judgments, judgments: Judgments) -> Iterator[Check]:
    if gold.has_topics != judgments.has_topics:
        yield Check(
            about=ABOUT,
            state="wrong",
            finding="of gold and judgments one has topics and documents, the other names items only",
            advice="write both alike",
        )
        return
    shared = int(evidence.shared.sum())
    if not shared:
        names = (gold.documents.head(2).to_list(), judgments.documents.head(2).to_list())
        yield Check(
            about=ABOUT,
            state="wrong",
            finding=f"judges and gold graded no item in common: gold has {list_names(names[0])}, judges "
            f"{list_names(names[1])}",
            advice="write topics and documents alike in both",
        )
        return
    outside = len(np.unique(gold.item)) - shared
    told = f"; the other {outside:,} tell nothing of the judges" if outside else ""
    yield Check(about=ABOUT, state="ok", finding=f"judges graded {counted(shared, 'item')} of those with gold{told}")
    yield from _check_guards(evidence, judgments)
    if gold.top_grade != judgments.top_grade:
        yield Check(
            about=ABOUT,
            state="warning",
            finding=f"judges grade 0-{judgments.top_grade}, gold 0-{gold.top_grade}, as if a 1 meant the same to both",
            advice=_advise_scales(gold, judgments),
        )


def _check_guards(evidence: Evidence, judgments: Judgments) -> Iterator[Check]:
    """Gold that no decision may rest on."""
    copies = find_copies_of_gold(judgments, evidence.known)
    if copies:
        yield Check(about=ABOUT, state="warning", finding=tell_copies(copies, judgments), advice=INDEPENDENT_GOLD)
    inversion = find_inversion(judgments.grade, evidence.known[judgments.item], judgments, evidence.known)
    if inversion is not None:
        yield Check(about=ABOUT, state="wrong", finding=inversion.finding, advice=inversion.advice)


def _advise_scales(gold: Judgments, judgments: Judgments) -> str:
    """An option that maps the longer scale to the shorter, where one for all judges will do."""
    low, high = sorted([gold.top_grade, judgments.top_grade])
    if high > LONGEST_MAPPED or find_short_scales(judgments):
        return f"if the scales differ, {MAP_ONE_BY_ONE}"
    mapping = ",".join(f"{grade}={round(grade * low / high)}" for grade in range(1, high + 1))
    wide = f"--gold-grades {mapping}"
    if judgments.top_grade > gold.top_grade:  # which would be read as gold's too, were nothing said of it
        wide = f"--grades {mapping} --gold-grades 0-{gold.top_grade}"
    return f"if the scales differ, say what grades mean, e.g. {wide}"
