"""Panels as the AWARE papers have them: binary grades of whole judges, over gold's pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from karatage.data.alignment import find_items
from karatage.data.axes import GradeArray
from karatage.data.judgments import Judgments
from karatage.data.note import Note
from karatage.errors import DataError, OptionError
from karatage.text import counted, shorten

Level = int | Literal["middle"]
MOST_NAMED = 30
MIDDLE: Literal["middle"] = "middle"
WHOLE = 0.99  # the least share of gold's items that a whole judge has graded


def parse_level(text: str) -> Level:
    """Read a lowest relevant grade, or `middle`."""
    if text.strip() == MIDDLE:
        return MIDDLE
    if not text.strip().isdecimal():
        raise OptionError(f"the lowest relevant grade is a whole number from 1, or middle, not '{shorten(text)}'")
    return int(text)


@dataclass(frozen=True, kw_only=True)
class PanelRules:
    """What counts as relevant, and which judges may stay.

    Relevant is a grade of at least `level`, of at least 1 for a judge whose top grade is 1, and of at least
    `gold_level` (default: `level`) for gold. Level `middle` is for judges on different scales: relevant is a grade in
    the upper half of a judge's own. With `whole_only`, as in the papers, judges stay who graded 99 % of gold's items
    and found something relevant in every topic; without it, all who graded any of them.
    """

    level: Level = 1
    gold_level: Level | None = None
    whole_only: bool = True

    def __post_init__(self) -> None:
        """Check the levels."""
        for level in (self.level, self.gold_level):
            if level is not None and level != MIDDLE and (isinstance(level, str) or level < 1):
                raise OptionError(f"the lowest relevant grade is a whole number from 1, or middle, not '{level}'")


@dataclass(frozen=True, eq=False)
class Fitted:
    """Panels over one pool with the same judges in each, and what was done to make them so."""

    panels: dict[str, Judgments]
    notes: tuple[str, ...]


def binarise(judgments: Judgments, level: Level = 1) -> Judgments:
    """Grades 0 and 1, where 1 is at least `level`; or at least 1 for a judge whose own top grade is 1.

    With level `middle`, 1 is what lies above half of the highest grade that a judge gave.

    Of repeated grades only the last is kept.
    """
    settled = judgments.settle()
    top = _find_tops(settled)
    least = np.where(top <= 1, 1, top // 2 + 1 if level == MIDDLE else level)
    grade = (settled.grade >= least[settled.judge]).astype(np.int8)
    return replace(settled, grade=grade, top_grade=1, with_repeats=None)


def prepare_gold(gold: Judgments, rules: PanelRules) -> Judgments:
    """Binary gold on the topics where it has anything relevant, without which nothing can be measured."""
    binary = binarise(gold, rules.level if rules.gold_level is None else rules.gold_level)
    relevant = np.bincount(binary.item_topic[binary.item], weights=binary.grade, minlength=len(binary.topics))
    if not relevant.any():
        raise DataError("gold calls nothing relevant; lower the level from which a grade counts as relevant")
    if relevant.all():
        return binary
    lost = [binary.topics[t] for t in np.flatnonzero(relevant == 0)]
    note = f"topics without anything relevant in gold, left out: {_name_all(lost)}"
    named = [topic for topic, count in zip(binary.topics, relevant, strict=True) if count]
    return replace(binary.only_topics(named), notes=(*binary.notes, Note.of(note)))


def fit_panels(panels: Mapping[str, Judgments], gold: Judgments, rules: PanelRules) -> Fitted:
    """Bring panels onto gold's items, with binary grades; a judge who fails in one panel leaves all of them."""
    notes: dict[str, None] = {}
    placed = {}
    for name, given in panels.items():
        notes |= dict.fromkeys(map(str, given.notes))
        if given.with_repeats is not None:
            notes["of a judge's repeated grades of an item only the last is used here, also by merging"] = None
        placed[name] = _place(binarise(given, rules.level), gold)
        outside = len(given.settle().grade) - len(placed[name].grade)
        if outside:
            notes[f"{counted(outside, 'grade')} of documents outside gold's pool, left out"] = None
    everybody = set[str]().union(*(panel.judges for panel in placed.values()))
    kept = set(everybody)
    for reason, names in _find_failing(placed, gold, rules.whole_only).items():
        if names & kept:
            notes[f"{reason}, left out: {_name_all(sorted(names & kept))}"] = None
        kept -= names
    if len(kept) < 2:
        why = "".join(f"; {note}" for note in notes)
        raise DataError(f"a panel takes two judges at least, and {len(kept)} of {len(everybody)} can stay{why}")
    notes |= dict.fromkeys(_tell_scales(panels.values(), kept, rules.level))
    return Fitted({name: _keep_judges(panel, kept) for name, panel in placed.items()}, tuple(notes))


def _find_failing(panels: Mapping[str, Judgments], gold: Judgments, whole_only: bool) -> dict[str, set[str]]:
    """Judges who cannot stay, by reason; a judge may have several."""
    idle, partial, fruitless = set[str](), set[str](), set[str]()
    for panel in panels.values():
        judges, topics = len(panel.judges), len(gold.topics)
        graded = np.bincount(panel.judge, minlength=judges)
        place = panel.judge.astype(np.int64) * topics + gold.item_topic[panel.item]
        relevant = np.bincount(place, weights=panel.grade, minlength=judges * topics).reshape(judges, topics)
        idle |= {judge for other in panels.values() for judge in other.judges} - set(panel.judges)
        idle |= {panel.judges[k] for k in np.flatnonzero(graded == 0)}
        partial |= {panel.judges[k] for k in np.flatnonzero(graded < WHOLE * len(gold.item_topic))}
        fruitless |= {panel.judges[k] for k in np.flatnonzero((relevant == 0).any(axis=1))}
    found = {"judges of none of gold's items": idle}
    if whole_only:
        found[f"judges of less than {WHOLE:.0%} of gold's items"] = partial
        found["judges who found nothing relevant in some topic"] = fruitless
    return found


def _place(panel: Judgments, gold: Judgments) -> Judgments:
    """The same grades on gold's items, numbered as there; other items are gone."""
    item = find_items(panel, gold)[panel.item]
    if not (item >= 0).any():
        raise DataError("judges and gold share no item: check that topics and documents are written alike in both")
    rows = np.flatnonzero(item >= 0)
    rows = rows[np.lexsort((panel.judge[rows], item[rows]))]
    return replace(
        gold,
        judges=panel.judges,
        judge=panel.judge[rows],
        item=item[rows].astype(np.int32),
        grade=panel.grade[rows],
        draw=None,
        notes=(),
    )


def _keep_judges(panel: Judgments, kept: set[str]) -> Judgments:
    number = {judge: k for k, judge in enumerate(judge for judge in panel.judges if judge in kept)}
    code = np.array([number.get(judge, -1) for judge in panel.judges], np.int32)[panel.judge]
    rows = code >= 0
    return replace(
        panel, judges=tuple(number), judge=code[rows], item=panel.item[rows], grade=panel.grade[rows], notes=()
    )


def _tell_scales(panels: Iterable[Judgments], kept: set[str], level: Level) -> Iterator[str]:
    """What is relevant for whom, where it is not the same for all."""
    if level == MIDDLE:
        yield "relevant is what lies above the middle of a judge's own scale"
    elif level > 1:
        for given in panels:
            binary = [name for name, top in zip(given.judges, _find_tops(given), strict=True) if top <= 1]
            if kept.intersection(binary):
                named = _name_all([name for name in binary if name in kept])
                yield f"relevant from grade {level}, but from 1 for judges who never go above 1: {named}"


def _find_tops(judgments: Judgments) -> GradeArray:
    """The highest grade that each judge gave, (judge,)."""
    top = np.zeros(len(judgments.judges), np.int8)
    np.maximum.at(top, judgments.judge, judgments.grade)
    return top


def _name_all(names: Sequence[str]) -> str:
    """Who is in the panel and who is not must be told, as far as anybody would read it."""
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(f"'{shorten(name, 80)}'" for name in names[:MOST_NAMED]) + more
