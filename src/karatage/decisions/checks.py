"""Checks of files before anything is decided: runs, the pool, judges and gold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import polars as pl

from karatage.agreement.gold import INDEPENDENT_GOLD, find_copies_of_gold, find_inversion, tell_copies
from karatage.agreement.habits import Panel
from karatage.agreement.independence import LEAST_SHARED
from karatage.agreement.suspicion import ENOUGH, REPEATED, can_find_copies, choose_likely, find_suspects
from karatage.agreement.tables import tell_likely
from karatage.data.alignment import Alignment, count_short_scales, find_short_scales
from karatage.data.axes import BoolArray, FloatArray, LongArray
from karatage.data.checks import find_schema
from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.data.survey import SYSTEMS, Check
from karatage.decisions.reading import Checkup, fail, ok, warn
from karatage.text import count_names, counted, list_names, shorten

MANY_TIES = 0.05  # of the documents that count
ENOUGH_JUDGED = 0.95  # of the documents that count
UNEVEN = 0.05  # by which systems' judged shares may differ
FEW_SHARED = 0.5  # of the items, graded by two judges
MAP_ONE_BY_ONE = (
    "map each judge to the scale of gold before you read all judges together, because --grades maps all of them in "
    "the same way. Run karatage aggregate on the file of each judge, with --grades and -o mapped/NAME.qrels; then use "
    "-j mapped"
)
KINDS = {
    "constant": "leave them out: one grade for everything contains no information",
    "random": "leave them out, or look at how they worked: karatage audit has details",
    "inverted": "invert their grades in a separate file, or leave them out",
    "copied": "count them as one judge: karatage audit lists their groups",
}
LONGEST_MAPPED = 10  # the highest grade of a scale that is mapped grade by grade


def check_runs(checkup: Checkup) -> Iterator[Check]:
    """Checks of runs that need no judgments."""
    runs = checkup.runs
    if runs is None:
        return
    size = f"{counted(len(runs.systems), 'system')}, {counted(len(runs.topics), 'topic')}, "
    yield ok("runs.size", f"{size}rankings of up to {counted(runs.depth, 'document')}")
    if len(runs.systems) == 1:
        yield warn(
            "runs.one-system", "there is only one system, and a comparison needs two", "add another system's run"
        )
    yield from _check_lengths(runs, checkup.depth)
    yield from _check_twins(runs, checkup.depth)
    yield from _check_ties(checkup)
    yield from _check_ranks(checkup)


def find_lengths(runs: Runs) -> LongArray:
    """Documents in each ranking, (topic, system)."""
    return np.asarray(runs.bounds[..., 1] - runs.bounds[..., 0])


def _check_lengths(runs: Runs, depth: int | None) -> Iterator[Check]:
    length = find_lengths(runs)
    lacking = (length == 0).sum(axis=0)
    if lacking.any():
        names = [runs.systems[s] for s in np.argsort(-lacking, kind="stable")[: (lacking > 0).sum()]]
        most = f"'{shorten(names[0], 24)}' lacks {lacking.max():,} of {len(runs.topics):,}"
        yield warn(
            "runs.lacking-topics",
            f"systems without documents for topics that others have, which score 0 there: {count_names(names)}; {most}",
            "run them on all topics, or leave out topics that are not in all runs",
        )
    if depth is None:
        return
    short = (length > 0) & (length < depth)
    if short.any():
        names = [runs.systems[s] for s in np.flatnonzero(short.any(axis=0))]
        yield warn(
            "runs.short",
            f"rankings that end before rank {depth} and score 0 on the missing ranks: {short.sum():,} of "
            f"{(length > 0).sum():,}; systems: {count_names(names)}",
            "retrieve more documents with these systems, or use a measure of a smaller depth",
        )


def _check_twins(runs: Runs, depth: int | None) -> Iterator[Check]:
    """Systems with the same score by every measure of this depth."""
    groups: dict[bytes, list[str]] = {}
    for s, name in enumerate(runs.systems):
        seen = hashlib.sha256()
        for start, end in runs.bounds[:, s]:
            stop = end if depth is None else min(end, start + depth)
            seen.update(runs.listed[start:stop].tobytes() + b"|")
        groups.setdefault(seen.digest(), []).append(name)
    where = "" if depth is None else f" to rank {depth}"
    for names in groups.values():
        if len(names) > 1:
            yield warn(
                "runs.twins",
                f"identical rankings{where}: {list_names(names)}",
                "keep one of them: they have the same scores by every measure of this depth",
            )


def _check_ties(checkup: Checkup) -> Iterator[Check]:
    tied = [found for found in checkup.listings if found.shown and found.tied > MANY_TIES * found.shown]
    if not tied:
        return
    worst = max(tied, key=lambda found: found.tied / found.shown)
    yield warn(
        "runs.ties",
        f"tied scores, which are ordered by document id: {count_names([found.system for found in tied])}; in "
        f"{worst.source} {worst.tied / worst.shown:.0%} of the documents that count",
        "write scores with more digits, or scores that decrease with rank",
    )


def _check_ranks(checkup: Checkup) -> Iterator[Check]:
    wrong = [found for found in checkup.listings if found.rises]
    if wrong:
        first = wrong[0]
        places = counted(sum(found.rises for found in wrong), "place")
        yield warn(
            "runs.ranks",
            f"ranks contradict scores, and only scores are used, as in trec_eval: {counted(len(wrong), 'file')}, "
            f"{places}, the first at {first.source}:{first.line}",
            "if the ranks are correct, write scores that decrease with rank",
        )


def check_pool(checkup: Checkup) -> Iterator[Check]:
    """Whether judgments are about the documents that the systems retrieved."""
    runs, judgments = checkup.runs, checkup.judgments
    if runs is None or judgments is None:
        return
    if not judgments.has_topics:
        yield fail(
            "pool.no-topics",
            "judgments have items but no topics, so they cannot be matched with runs",
            "give them a topic and a document column",
        )
        return
    both = set(runs.topics) & set(judgments.topics)
    if not both:
        found = f"runs have {list_names(runs.topics)}, judgments {list_names(judgments.topics)}"
        yield fail(
            "pool.no-common-topic",
            f"runs and judgments share no topic: {found}",
            "write topics in the same way in both",
        )
        return
    alone = [topic for topic in runs.topics if topic not in both]
    if alone:
        yield warn(
            "pool.unjudged-topics",
            f"topics of the runs without judgments, which are not used: {count_names(alone)}",
            "have them judged, or leave them out",
        )
    unused = [topic for topic in judgments.topics if topic not in both]
    if unused:
        yield ok("pool.unused-topics", f"judged topics that are in no run, not used: {count_names(unused)}")
    if not checkup.meets:
        yield fail(
            "pool.nothing-judged",
            f"no retrieved document was judged: runs have {list_names(runs.documents.head(2).to_list())}, judgments "
            f"{list_names(judgments.documents.head(2).to_list())}",
            "write documents in the same way in both",
        )
        return
    assert checkup.alignment is not None
    yield _check_judged(checkup.alignment, checkup.depth)


def _check_judged(alignment: Alignment, depth: int | None) -> Check:
    share = find_judged(alignment, depth)
    seen = np.flatnonzero(np.isfinite(share))
    least, most = seen[np.argmin(share[seen])], seen[np.argmax(share[seen])]
    where = "of what systems retrieved" if depth is None else f"of the documents in the first {depth} ranks"
    if share[least] == share[most]:
        found = f"{_percent(share[least])} {where} were judged, for all systems"
    else:
        low, high = (shorten(alignment.systems[s], 24) for s in (least, most))
        found = f"{_percent(share[least])} ('{low}') to {_percent(share[most])} ('{high}') {where} were judged"
    if share[least] >= ENOUGH_JUDGED and share[most] - share[least] <= UNEVEN:
        return ok("pool.judged", found)
    uneven = share[most] - share[least] > UNEVEN
    verdict = "which lowers the scores of some systems more than others" if uneven else "which lowers scores"
    return warn(
        "pool.unjudged",
        f"{found}; the rest counts as not relevant, {verdict}",
        "have the missing documents judged: karatage queue lists them",
    )


def find_judged(alignment: Alignment, depth: int | None) -> FloatArray:
    """The judged share of each system's first ranks, (system,); NaN where it retrieved nothing."""
    length = alignment.length if depth is None else np.minimum(alignment.length, depth)
    ranked = alignment.ranked if depth is None else alignment.ranked[:, :, :depth]
    with np.errstate(invalid="ignore"):
        return np.asarray((ranked >= 0).sum(axis=(0, 2)) / length.sum(axis=0))


def tabulate_systems(checkup: Checkup) -> pl.DataFrame:
    """One row per system; the share is of judged documents among those that count."""
    runs = checkup.runs
    if runs is None:
        return pl.DataFrame(schema=find_schema(SYSTEMS))
    length = find_lengths(runs)
    short = (length > 0) & (length < (checkup.depth or 0))
    share = np.full(len(runs.systems), np.nan)
    if checkup.alignment is not None:
        share = find_judged(checkup.alignment, checkup.depth)
    columns = {"system": runs.systems, "topics": (length > 0).sum(axis=0), "short": short.sum(axis=0), "judged": share}
    return pl.DataFrame(columns, schema=find_schema(SYSTEMS)).with_columns(pl.col("judged").fill_nan(None))


def _percent(share: float) -> str:
    """Rounded down, so that 100% means all."""
    return f"{np.floor(100 * share):.0f}%"


def check_judges(checkup: Checkup) -> Iterator[Check]:
    """Checks of judges, against each other and against gold."""
    judgments = checkup.judgments
    if judgments is None:
        return
    rows = np.bincount(judgments.judge, minlength=len(judgments.judges))
    graded = int((np.diff(judgments.row_start) > 0).sum())
    yield ok(
        "judges.size",
        f"{counted(len(judgments.judges), 'judge')}, {counted(len(judgments.grade), 'grade')} 0-"
        f"{judgments.top_grade} of {counted(graded, 'item')}, {len(judgments.grade) / max(graded, 1):.1f} an item"
        f"{judgments.tell_heard()}",
    )
    if judgments.every is not judgments:
        yield warn(
            "judges.repeats",
            f"{judgments.every.tell_repeats()}: each grade is a vote, so judges who graded again have more votes there",
            "use --repeats last to give each judge one vote per item",
        )
    few = _name(judgments, rows < ENOUGH)
    if few:
        yield warn(
            "judges.few-items",
            f"judges with fewer than {ENOUGH} items, too few to assess: {count_names(few)}",
            "merge them into one judge, or ask them for more grades",
        )
    yield from _check_topics(judgments)
    yield from _check_habits(checkup.panel, rows, checkup.question.seed)
    yield from _check_scales(checkup.panel)
    if len(judgments.judges) > 1:
        yield _check_overlap(judgments)


def _check_topics(judgments: Judgments) -> Iterator[Check]:
    """The strictness of a judge with one topic cannot be separated from that topic."""
    topics = len(judgments.topics)
    key = judgments.judge * np.int64(topics) + judgments.item_topic[judgments.item]
    seen = np.bincount(np.unique(key) // topics, minlength=len(judgments.judges))
    alone = _name(judgments, seen == 1)
    if topics > 1 and alone:
        state = f"judges who graded only one topic of {topics:,}: {count_names(alone)}"
        yield warn(
            "judges.one-topic",
            state,
            "do not weight them by topic: a strict judge and a hard topic cannot be distinguished",
        )


def _check_habits(panel: Panel, rows: LongArray, seed: int) -> Iterator[Check]:
    """Suspicions, each from a test with a stated error rate; a single judge is compared with gold only."""
    chosen = choose_likely(panel, seed)
    judgments, found = panel.judgments, find_suspects(panel, chosen)
    for kind, advice in KINDS.items():
        flags = [flag for flag in found if flag.kind == kind]
        if flags:
            names = [judgments.judges[flag.judge] for flag in flags]
            first = f"'{shorten(names[0], 24)}' {flags[0].why}" if kind != "copied" else flags[0].why
            yield warn(f"judges.{kind}", f"{kind}: {count_names(names)}; {first}", advice)
    told = {flag.judge for flag in found if flag.kind == "constant"}
    lowest, highest = np.full(len(rows), 127), np.full(len(rows), -1)
    np.minimum.at(lowest, judgments.judge, judgments.grade)
    np.maximum.at(highest, judgments.judge, judgments.grade)
    flat = (lowest == highest) & (rows >= REPEATED)
    more = [name for j, name in enumerate(judgments.judges) if flat[j] and j not in told]
    if more:
        yield warn(
            "judges.same-grade",
            f"the same grade for every item, which may be correct or by chance: {count_names(more)}",
            "inspect more of their grades",
        )
    if not can_find_copies(panel):
        yield warn("judges.copies-untested", "too many grades to look for copies", "map them to fewer with --grades")
    if chosen is not None:
        yield warn(
            "judges.copies-sampled", tell_likely(panel, chosen), "to test all pairs, check fewer judges at a time"
        )


def _check_scales(panel: Panel) -> Iterator[Check]:
    short = find_short_scales(panel.judgments)
    if short:
        yield warn(
            "judges.scales-short",
            f"judges who never use the upper grades ({count_short_scales(short)}, of 0-{panel.judgments.top_grade})",
            f"if their scales differ, {MAP_ONE_BY_ONE}",
        )


def _check_overlap(judgments: Judgments) -> Check:
    """What can be measured depends on how many items the judges have in common."""
    graded = np.diff(judgments.row_start)
    several = int((graded > 1).sum())
    share = several / max(int((graded > 0).sum()), 1)
    if not several:
        return warn(
            "judges.no-overlap",
            "no item was graded by two judges, so neither agreement nor reliability can be measured",
            "have some items graded by several judges",
        )
    found = f"{share:.0%} of the items were graded by two judges or more"
    if share < FEW_SHARED or several < LEAST_SHARED:
        return warn(
            "judges.little-overlap",
            f"{found}: agreement is known only for those, and the results on copies, pairs and effective votes are "
            f"uncertain",
            "have more items graded by several judges",
        )
    return ok("judges.overlap", f"{found}, so that agreement can be measured")


def _name(judgments: Judgments, chosen: np.ndarray) -> list[str]:
    return [judgments.judges[j] for j in np.flatnonzero(chosen)]


def check_gold(checkup: Checkup) -> Iterator[Check]:
    """Checks of gold before anything is corrected."""
    gold, judgments = checkup.gold, checkup.judgments
    if gold is None:
        if judgments is not None and "gold" not in checkup.unread:
            yield warn(
                "gold.none",
                "there is no gold, so judges' errors are neither known nor corrected",
                "draw documents with karatage plan, and have them graded by someone you trust",
            )
        return
    drawn = "" if gold.draw is None else ", drawn with known probabilities"
    if gold.draw is not None and gold.draw.measure is not None:
        drawn += f" for {shorten(gold.draw.measure)}"
    topics = f" of {counted(_count_topics(gold), 'topic')}" if gold.has_topics else ""
    yield ok("gold.size", f"{counted(len(gold.grade), 'gold item')}{topics}, grades 0-{gold.top_grade}{drawn}")
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
        yield warn(
            "gold.one-kind",
            f"{which} relevant by {checkup.question.parsed} (grade {level} or more): no differences can be measured",
            "add gold items of the other kind, or use another rel, e.g. P(rel=2)@10",
        )


def _check_meeting(checkup: Checkup, gold: Judgments, judgments: Judgments) -> Iterator[Check]:
    if gold.has_topics != judgments.has_topics:
        yield fail(
            "gold.other-items",
            "one of gold and judgments has topics and documents, the other only items",
            "write both in the same way",
        )
        return
    shared = int(checkup.shared.sum())
    if not shared:
        names = (gold.documents.head(2).to_list(), judgments.documents.head(2).to_list())
        yield fail(
            "gold.no-common-item",
            f"judges and gold graded no item in common: gold has {list_names(names[0])}, judges {list_names(names[1])}",
            "write topics and documents in the same way in both",
        )
        return
    outside = len(np.unique(gold.item)) - shared
    told = f"; the other {outside:,} contain no information about the judges' errors" if outside else ""
    yield ok("gold.shared", f"judges graded {counted(shared, 'item')} with gold{told}")
    yield from _check_guards(checkup, judgments)
    if gold.top_grade != judgments.top_grade:
        yield warn(
            "gold.scales-differ",
            f"judges grade 0-{judgments.top_grade}, gold 0-{gold.top_grade}; equal grades are taken as the same",
            _advise_scales(gold, judgments),
        )


def _check_guards(checkup: Checkup, judgments: Judgments) -> Iterator[Check]:
    """Gold that cannot be used for decisions."""
    copies = find_copies_of_gold(judgments, checkup.known)
    if copies:
        yield warn("gold.copy", tell_copies(copies, judgments), INDEPENDENT_GOLD)
    inversion = find_inversion(judgments.grade, checkup.known[judgments.item], judgments, checkup.known)
    if inversion is not None:
        yield fail("gold.inverted", inversion.finding, inversion.advice)


def _advise_scales(gold: Judgments, judgments: Judgments) -> str:
    """An option that maps the longer scale to the shorter one, where the same works for all judges."""
    low, high = sorted([gold.top_grade, judgments.top_grade])
    if high > LONGEST_MAPPED or find_short_scales(judgments):
        return f"if the scales differ, {MAP_ONE_BY_ONE}"
    mapping = ",".join(f"{grade}={round(grade * low / high)}" for grade in range(1, high + 1))
    wide = f"--gold-grades {mapping}"
    if judgments.top_grade > gold.top_grade:  # without --gold-grades, --grades would apply to gold too
        wide = f"--grades {mapping} --gold-grades 0-{gold.top_grade}"
    return f"if the scales differ, say how grades map, e.g. {wide}"
