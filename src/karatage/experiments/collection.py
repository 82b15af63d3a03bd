"""What the experiments with panels run on: systems, judges, gold."""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from karatage.data.alignment import Alignment, align
from karatage.data.axes import GradeArray
from karatage.data.judgments import Judgments, find_items
from karatage.data.note import Note
from karatage.data.runs import Runs
from karatage.errors import DataError, OptionError
from karatage.io.files import PathLike
from karatage.io.judgments import read_gold, read_judgments
from karatage.io.runs import read_runs
from karatage.random_streams import settle_seed, stream
from karatage.simulation.collection import simulate_collection
from karatage.simulation.panel import simulate_panel
from karatage.text import counted, shorten

Level = int | Literal["middle"]
MOST_NAMED = 30
MIDDLE: Literal["middle"] = "middle"
WHOLE = 0.99  # the least share of gold's items that a whole judge has graded
SIMULATED = "simulated"
GIVEN = "given"
RunsPaths = PathLike | Iterable[PathLike] | Mapping[str, PathLike]


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


@dataclass(frozen=True, eq=False, kw_only=True)
class Collection:
    """Sets of systems, panels of judges, and gold.

    Grades are binary. All panels have gold's items, numbered as in gold, and judges of the same names.
    """

    name: str
    runs: Mapping[str, Runs]
    panels: Mapping[str, Judgments]
    gold: Judgments
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(
        runs: Mapping[str, Runs],
        panels: Mapping[str, Judgments],
        gold: Judgments,
        *,
        rules: PanelRules | None = None,
    ) -> Collection:
        """Bring together what was read or simulated; what `rules` leave out is told in the notes."""
        if not runs or not panels:
            raise OptionError("a collection needs a set of runs and a panel at least")
        asked = rules or PanelRules()
        prepared = prepare_gold(gold, asked)
        fitted = fit_panels(panels, prepared, asked)
        told = dict.fromkeys([*map(str, prepared.notes), *fitted.notes])
        return Collection(
            name=" + ".join(runs), runs=dict(runs), panels=fitted.panels, gold=prepared, notes=tuple(told)
        )

    @property
    def judges(self) -> tuple[str, ...]:
        """Who is in the panels."""
        return next(iter(self.panels.values())).judges


def read_collection(
    runs: RunsPaths,
    judges: PathLike | Iterable[PathLike] | Judgments = SIMULATED,
    gold: PathLike | Judgments | None = None,
    *,
    correlations: Sequence[float] | None = None,
    rules: PanelRules | None = None,
    rng: int | np.random.Generator | None = None,
) -> Collection:
    """Read a collection, or simulate what is not given.

    Args:
        runs: Folders of TREC runs, each a set of systems called by its folder (or by the mapping's key); or
            `simulated`, for a collection without any file.
        judges: A folder with one qrels file per judge, or any table that `read_judgments` takes, or what it returned;
            or `simulated:31` for so many simulated judges of gold's pool.
        gold: Gold's qrels, or what `read_gold` returned; none for simulated runs.
        correlations: Of simulated judges' errors; one panel for each, of the same judges. Default: 0.
        rules: What is relevant, and which judges stay.
        rng: Seed or generator, of what is simulated.
    """
    asked, seed = rules or PanelRules(), settle_seed(rng)
    count = _count_simulated(judges)
    if runs == SIMULATED:
        if gold is not None or count is None:
            raise OptionError("simulated runs have their own gold and simulated judges; give no others")
        world = simulate_collection(rng=stream(seed, "collection"))
        read, trusted = {SIMULATED: world.runs}, world.gold
    elif gold is None:
        raise OptionError("runs need gold; name its qrels file")
    else:
        read = {name: read_runs(path) for name, path in _name_runs(runs).items()}
        trusted = gold if isinstance(gold, Judgments) else read_gold(gold)
    if count is None:
        if correlations is not None:
            raise OptionError("correlations are for simulated judges; given judges have their own")
        given = judges if isinstance(judges, Judgments) else read_judgments(judges, repeats="last")
        return Collection.of(read, {GIVEN: given}, trusted, rules=asked)
    prepared = prepare_gold(trusted, asked)
    panels = {
        f"correlation {correlation:g}": simulate_panel(prepared, judges=count, correlation=correlation, rng=seed)
        for correlation in ((0.0,) if correlations is None else correlations)
    }
    return Collection.of(read, panels, prepared, rules=replace(asked, level=1, gold_level=None))


def align_runs(collection: Collection) -> dict[str, Alignment]:
    """Each set of systems beside gold; a ranking takes two systems."""
    found = {name: align(runs, collection.gold) for name, runs in collection.runs.items()}
    few = next((name for name, alignment in found.items() if len(alignment.systems) < 2), None)
    if few is not None:
        raise DataError(f"'{few}' has one system only, and a ranking takes two")
    return found


def fingerprint(collection: Collection) -> str:
    """A digest of runs, panels and gold with their names: the same for the same content."""
    found = hashlib.sha256()

    def add(*parts: Iterable[str] | NDArray[np.generic]) -> None:
        for part in parts:
            content = part.tobytes() if isinstance(part, np.ndarray) else "\n".join(part).encode()
            found.update(f"{len(content)}:".encode() + content)

    for name, runs in collection.runs.items():
        add((name,), runs.systems, runs.topics, runs.documents.to_list(), runs.listed, runs.bounds)
    for name, judgments in {**collection.panels, "gold": collection.gold}.items():
        add((name,), judgments.judges, judgments.topics, judgments.documents.to_list())
        add(judgments.item_topic, judgments.item_document, judgments.judge, judgments.item, judgments.grade)
    return found.hexdigest()


def is_simulated(judges: object) -> bool:
    """Whether judges are to be simulated."""
    return isinstance(judges, str) and re.match(rf"{SIMULATED}(:|$)", judges) is not None


def _count_simulated(judges: object) -> int | None:
    """How many judges to simulate; None when they are given."""
    if not isinstance(judges, str) or not is_simulated(judges):
        return None
    _, _, number = judges.partition(":")
    if not re.fullmatch(r"\d{1,4}|", number) or number == "0":
        raise OptionError(f"judges '{shorten(judges)}' is not like {SIMULATED}:31")
    return int(number or 31)


def _name_runs(runs: RunsPaths) -> dict[str, PathLike]:
    if isinstance(runs, Mapping):
        return dict(runs)
    paths = [runs] if isinstance(runs, str | os.PathLike) else list(runs)
    named: dict[str, PathLike] = {}
    for path in paths:
        name = _name_folder(Path(path))
        if name in named:
            raise OptionError(f"two sets of runs are called '{shorten(name)}'; rename a folder")
        named[name] = path
    return named


def _name_folder(path: Path) -> str:
    """The last part of a path that says something: `t08/runs` and `t08/runs/*.gz` are called t08."""
    telling = [part for part in path.absolute().parts if part != "runs" and not glob.has_magic(part)]
    return shorten(telling[-1], 80)
