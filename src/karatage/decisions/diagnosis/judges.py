"""Judges and gold looked at: how much they graded, whether they can be compared, and who looks like no judge."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from karatage.agreement.doubts import tell_likely
from karatage.agreement.gold import INDEPENDENT_GOLD, find_copies_of_gold, find_inversion, tell_copies
from karatage.agreement.habits import Panel
from karatage.agreement.independence import LEAST_SHARED
from karatage.agreement.likeness import ENOUGH, can_find_copies, choose_likely
from karatage.agreement.suspicion import REPEATED, find_suspects
from karatage.data.axes import BoolArray, LongArray
from karatage.data.diagnosis import Check
from karatage.data.judgments import Judgments
from karatage.data.scales import count_short_scales, find_short_scales
from karatage.decisions.diagnosis.reading import Checkup
from karatage.text import count_names, counted, list_names, shorten

JUDGES = "judges"
FEW_SHARED = 0.5  # of the items, graded by two judges
MAP_ONE_BY_ONE = (
    "map the judges one by one to one scale, gold's, before they are read together (--grades is for all alike): a file "
    "for each, through karatage aggregate with its own --grades and -o mapped/NAME.qrels, and then -j mapped; or by a "
    "script of your own"
)
KINDS = {
    "constant": "leave them out: one grade for everything tells nothing",
    "random": "leave them out, or look at how they worked: karatage audit tells more",
    "inverted": "turn their grades round in a file of their own, or leave them out",
    "copied": "count them as one judge: karatage audit names their groups",
}
GOLD = "gold"
LONGEST_MAPPED = 10  # the highest grade of a scale that is mapped grade by grade


def check_judges(checkup: Checkup) -> Iterator[Check]:
    """All that can be seen of judges, against each other and gold."""
    judgments = checkup.judgments
    if judgments is None:
        return
    rows = np.bincount(judgments.judge, minlength=len(judgments.judges))
    graded = int((np.diff(judgments.row_start) > 0).sum())
    yield Check(
        about=JUDGES,
        state="ok",
        finding=f"{counted(len(judgments.judges), 'judge')}, {counted(len(judgments.grade), 'grade')} 0-"
        f"{judgments.top_grade} of {counted(graded, 'item')}, {len(judgments.grade) / max(graded, 1):.1f} an item"
        f"{judgments.tell_heard()}",
    )
    if judgments.every is not judgments:
        yield _warn(
            f"{judgments.every.tell_repeats()}: each grade is a vote, so that who graded again counts for more there",
            "--repeats last gives a judge one vote for an item",
        )
    few = _name(judgments, rows < ENOUGH)
    if few:
        yield _warn(
            f"judges with fewer than {ENOUGH} items, too few to say how they judge: {count_names(few)}",
            "take them together as a team, or ask them for more",
        )
    yield from _check_topics(judgments)
    yield from _check_habits(checkup.panel, rows, checkup.question.seed)
    yield from _check_scales(checkup.panel)
    if len(judgments.judges) > 1:
        yield _check_overlap(judgments)


def _check_topics(judgments: Judgments) -> Iterator[Check]:
    """A judge who saw one topic is mistaken for its topic."""
    topics = len(judgments.topics)
    key = judgments.judge * np.int64(topics) + judgments.item_topic[judgments.item]
    seen = np.bincount(np.unique(key) // topics, minlength=len(judgments.judges))
    alone = _name(judgments, seen == 1)
    if topics > 1 and alone:
        state = f"judges who graded one topic only, out of {topics:,}: {count_names(alone)}"
        yield _warn(state, "do not weigh them by topic: a strict judge and a hard topic look alike")


def _check_habits(panel: Panel, rows: LongArray, seed: int) -> Iterator[Check]:
    """Suspicions, each a test with a stated error rate; a panel of one has none to be held against but gold."""
    chosen = choose_likely(panel, seed)
    judgments, found = panel.judgments, find_suspects(panel, chosen)
    for kind, advice in KINDS.items():
        flags = [flag for flag in found if flag.kind == kind]
        if flags:
            names = [judgments.judges[flag.judge] for flag in flags]
            first = f"'{shorten(names[0], 24)}' {flags[0].why}" if kind != "copied" else flags[0].why
            yield _warn(f"{kind}: {count_names(names)}; {first}", advice)
    told = {flag.judge for flag in found if flag.kind == "constant"}
    lowest, highest = np.full(len(rows), 127), np.full(len(rows), -1)
    np.minimum.at(lowest, judgments.judge, judgments.grade)
    np.maximum.at(highest, judgments.judge, judgments.grade)
    flat = (lowest == highest) & (rows >= REPEATED)
    more = [name for j, name in enumerate(judgments.judges) if flat[j] and j not in told]
    if more:
        yield _warn(
            f"one grade for everything, which may be right, or chance: {count_names(more)}",
            "look at more of their grades",
        )
    if not can_find_copies(panel):
        yield _warn("too many grades to look for copies", "map them to fewer with --grades")
    if chosen is not None:
        yield _warn(tell_likely(panel, chosen), "to test all pairs, look at fewer judges at a time")


def _check_scales(panel: Panel) -> Iterator[Check]:
    short = find_short_scales(panel.judgments)
    if short:
        yield _warn(
            f"judges who never use the upper grades ({count_short_scales(short)}, of 0-{panel.judgments.top_grade})",
            f"if their scales differ, {MAP_ONE_BY_ONE}",
        )


def _check_overlap(judgments: Judgments) -> Check:
    """What can be said of a panel depends on how much its judges graded in common."""
    graded = np.diff(judgments.row_start)
    several = int((graded > 1).sum())
    share = several / max(int((graded > 0).sum()), 1)
    if not several:
        return _warn(
            "no item was graded by two judges: neither agreement nor who is reliable can be told",
            "have some items graded by several judges",
        )
    found = f"{share:.0%} of the items were graded by two judges or more"
    if share < FEW_SHARED or several < LEAST_SHARED:
        return _warn(
            f"{found}: agreement is known on those only, and copies, pairs and effective votes hardly",
            "have more items graded by several judges",
        )
    return Check(about=JUDGES, state="ok", finding=f"{found}, so that agreement can be measured")


def _name(judgments: Judgments, chosen: np.ndarray) -> list[str]:
    return [judgments.judges[j] for j in np.flatnonzero(chosen)]


def _warn(finding: str, advice: str) -> Check:
    return Check(about=JUDGES, state="warning", finding=finding, advice=advice)


def check_gold(checkup: Checkup) -> Iterator[Check]:
    """All that can be seen before anything is corrected."""
    gold, judgments = checkup.gold, checkup.judgments
    if gold is None:
        if judgments is not None and "gold" not in checkup.unread:
            yield Check(
                about=GOLD,
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
        about=GOLD,
        state="ok",
        finding=f"{counted(len(gold.grade), 'gold item')}{topics}, grades 0-{gold.top_grade}{drawn}",
    )
    yield from _check_grades(checkup, gold)
    if judgments is not None:
        yield from _check_meeting(checkup, gold, judgments)


def _count_topics(gold: Judgments) -> int:
    return len(np.unique(gold.item_topic[gold.item]))


def _check_grades(checkup: Checkup, gold: Judgments) -> Iterator[Check]:
    level = checkup.question.parsed.level
    relevant: BoolArray = gold.grade >= level
    if relevant.all() or not relevant.any():
        which = "every gold item is" if relevant.all() else "no gold item is"
        yield Check(
            about=GOLD,
            state="warning",
            finding=f"{which} relevant by {checkup.question.parsed} (grade {level} or more): nothing is told apart",
            advice="grade some of the other kind, or ask for another rel, e.g. P(rel=2)@10",
        )


def _check_meeting(checkup: Checkup, gold: Judgments, judgments: Judgments) -> Iterator[Check]:
    if gold.has_topics != judgments.has_topics:
        yield Check(
            about=GOLD,
            state="wrong",
            finding="of gold and judgments one has topics and documents, the other names items only",
            advice="write both alike",
        )
        return
    shared = int(checkup.shared.sum())
    if not shared:
        names = (gold.documents.head(2).to_list(), judgments.documents.head(2).to_list())
        yield Check(
            about=GOLD,
            state="wrong",
            finding=f"judges and gold graded no item in common: gold has {list_names(names[0])}, judges "
            f"{list_names(names[1])}",
            advice="write topics and documents alike in both",
        )
        return
    outside = len(np.unique(gold.item)) - shared
    told = f"; the other {outside:,} tell nothing of the judges" if outside else ""
    yield Check(about=GOLD, state="ok", finding=f"judges graded {counted(shared, 'item')} of those with gold{told}")
    yield from _check_guards(checkup, judgments)
    if gold.top_grade != judgments.top_grade:
        yield Check(
            about=GOLD,
            state="warning",
            finding=f"judges grade 0-{judgments.top_grade}, gold 0-{gold.top_grade}, as if a 1 meant the same to both",
            advice=_advise_scales(gold, judgments),
        )


def _check_guards(checkup: Checkup, judgments: Judgments) -> Iterator[Check]:
    """Gold that no decision may rest on."""
    copies = find_copies_of_gold(judgments, checkup.known)
    if copies:
        yield Check(about=GOLD, state="warning", finding=tell_copies(copies, judgments), advice=INDEPENDENT_GOLD)
    inversion = find_inversion(judgments.grade, checkup.known[judgments.item], judgments, checkup.known)
    if inversion is not None:
        yield Check(about=GOLD, state="wrong", finding=inversion.finding, advice=inversion.advice)


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
