"""Data of the experiments with panels: systems, judges and gold."""

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
from karatage.experiments.notes import tell
from karatage.io.files import PathLike
from karatage.io.judgments import read_gold, read_judgments
from karatage.io.runs import read_runs
from karatage.random_streams import settle_seed, stream
from karatage.simulation.collection import World, simulate_collection
from karatage.simulation.panel import simulate_panel
from karatage.text import shorten

Level = int | Literal["middle"]
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
    """Which grades are relevant, and which judges are used.

    A grade is relevant if it is at least `level`; at least 1 for a judge whose top grade is 1; at least `gold_level`
    (default: `level`) for gold. Level `middle` is for judges on different scales: a grade in the upper half of the
    judge's scale is relevant. With `whole_only`, as in the papers, judges are used who graded 99% of gold's items and
    found a relevant document in every topic; without it, all who graded any of them.
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
    """Panels over one pool with the same judges, and notes on the grades and judges that were left out."""

    panels: dict[str, Judgments]
    notes: tuple[Note, ...]


def binarise(judgments: Judgments, level: Level = 1) -> Judgments:
    """Grades 0 and 1, where 1 is at least `level`; or at least 1 for a judge whose own top grade is 1.

    With level `middle`, 1 is a grade above half of the highest grade that the judge gave. Of repeated grades only the
    last is kept.
    """
    settled = judgments.settle()
    top = _find_tops(settled)
    least = np.where(top <= 1, 1, top // 2 + 1 if level == MIDDLE else level)
    grade = (settled.grade >= least[settled.judge]).astype(np.int8)
    return replace(settled, grade=grade, top_grade=1, with_repeats=None)


def prepare_gold(gold: Judgments, rules: PanelRules) -> Judgments:
    """Binary gold on the topics with a relevant document; the others cannot be measured."""
    binary = binarise(gold, rules.level if rules.gold_level is None else rules.gold_level)
    relevant = np.bincount(binary.item_topic[binary.item], weights=binary.grade, minlength=len(binary.topics))
    if not relevant.any():
        raise DataError("gold has no relevant document; lower the level from which a grade counts as relevant")
    if relevant.all():
        return binary
    lost = tuple(binary.topics[t] for t in np.flatnonzero(relevant == 0))
    named = [topic for topic, count in zip(binary.topics, relevant, strict=True) if count]
    return replace(binary.only_topics(named), notes=(*binary.notes, tell("topics-without-relevant", topics=lost)))


def fit_panels(panels: Mapping[str, Judgments], gold: Judgments, rules: PanelRules) -> Fitted:
    """Panels on gold's items, with binary grades; a judge who is left out of one panel is left out of all."""
    notes: list[Note] = []
    placed = {}
    for name, given in panels.items():
        notes += (*given.notes, *tell.when(given.with_repeats is not None, "last-grades"))
        placed[name] = _place(binarise(given, rules.level), gold)
        outside = len(given.settle().grade) - len(placed[name].grade)
        notes += tell.when(outside, "outside-gold", grades=outside)
    every = set[str]().union(*(panel.judges for panel in placed.values()))
    idle, partial, fruitless = _find_failing(placed, gold, rules.whole_only)
    notes += tell.when(idle, "judged-none", judges=idle)
    notes += tell.when(partial, "judged-part", least=WHOLE, judges=partial)
    notes += tell.when(fruitless, "found-none", judges=fruitless)
    kept = every - {*idle, *partial, *fruitless}
    if len(kept) < 2:
        why = "".join(f"; {note}" for note in dict.fromkeys(notes))
        raise DataError(f"a panel needs at least two judges, and {len(kept)} of {len(every)} can be used{why}")
    notes += _tell_scales(panels.values(), kept, rules.level)
    return Fitted({name: _keep_judges(panel, kept) for name, panel in placed.items()}, tuple(dict.fromkeys(notes)))


def _find_failing(panels: Mapping[str, Judgments], gold: Judgments, whole_only: bool) -> tuple[tuple[str, ...], ...]:
    """Judges who are left out: they graded no item, or not all, or found no relevant document in some topic."""
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
    reasons = (idle, partial - idle, fruitless - partial - idle) if whole_only else (idle, (), ())
    return tuple(tuple(sorted(names)) for names in reasons)


def _place(panel: Judgments, gold: Judgments) -> Judgments:
    """The same grades on gold's items, with gold's numbers; other items are removed."""
    item = find_items(panel, gold)[panel.item]
    if not (item >= 0).any():
        raise DataError("judges and gold share no item: check that topics and documents have the same names in both")
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


def _tell_scales(panels: Iterable[Judgments], kept: set[str], level: Level) -> Iterator[Note]:
    """Which grades are relevant, if that differs between judges."""
    if level == MIDDLE:
        yield tell("level-middle")
    elif level > 1:
        for given in panels:
            tops = zip(given.judges, _find_tops(given), strict=True)
            binary = tuple(name for name, top in tops if top <= 1 and name in kept)
            yield from tell.when(binary, "level-binary", level=level, judges=binary)


def _find_tops(judgments: Judgments) -> GradeArray:
    """The highest grade that each judge gave, (judge,)."""
    top = np.zeros(len(judgments.judges), np.int8)
    np.maximum.at(top, judgments.judge, judgments.grade)
    return top


@dataclass(frozen=True, eq=False, kw_only=True)
class Collection:
    """Sets of systems, panels of judges, and gold.

    Grades are binary. All panels have gold's items, numbered as in gold, and judges of the same names.
    """

    name: str
    runs: Mapping[str, Runs]
    panels: Mapping[str, Judgments]
    gold: Judgments
    notes: tuple[Note, ...] = ()

    @staticmethod
    def of(
        runs: Mapping[str, Runs],
        panels: Mapping[str, Judgments],
        gold: Judgments,
        *,
        rules: PanelRules | None = None,
    ) -> Collection:
        """Align data that were read or simulated; notes say what `rules` leave out."""
        if not runs or not panels:
            raise OptionError("a collection needs at least a set of runs and a panel")
        asked = rules or PanelRules()
        prepared = prepare_gold(gold, asked)
        fitted = fit_panels(panels, prepared, asked)
        told = dict.fromkeys([*prepared.notes, *fitted.notes])
        return Collection(
            name=" + ".join(runs), runs=dict(runs), panels=fitted.panels, gold=prepared, notes=tuple(told)
        )

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges of every panel."""
        return next(iter(self.panels.values())).judges


def read_collection(
    runs: RunsPaths | World,
    judges: PathLike | Iterable[PathLike] | Judgments = SIMULATED,
    gold: PathLike | Judgments | None = None,
    *,
    correlations: Sequence[float] | None = None,
    rules: PanelRules | None = None,
    rng: int | np.random.Generator | None = None,
) -> Collection:
    """Read a collection, or simulate the parts that are not given.

    Args:
        runs: Folders of TREC runs, each a set of systems with the name of the folder (or the mapping's key); or
            `simulated`, for a collection without any file; or a simulated collection, of which runs and pool are used.
        judges: A folder with one qrels file per judge, any table that `read_judgments` reads, or its result; or
            `simulated:31` for 31 simulated judges of gold's pool.
        gold: Gold's qrels, or the result of `read_gold`; none for simulated runs.
        correlations: Of simulated judges' errors; one panel for each, of the same judges. Default: 0.
        rules: Which grades are relevant, and which judges are used.
        rng: Seed or generator of simulations.
    """
    asked, seed = rules or PanelRules(), settle_seed(rng)
    count = _count_simulated(judges)
    if runs == SIMULATED or isinstance(runs, World):
        if gold is not None or count is None:
            raise OptionError("simulated runs have their own gold and simulated judges; give no others")
        world = runs if isinstance(runs, World) else simulate_collection(rng=stream(seed, "collection"))
        read, trusted = {SIMULATED: world.runs}, world.pool
    elif gold is None:
        raise OptionError("runs need gold; name its qrels file")
    else:
        read = {name: read_runs(path) for name, path in _name_runs(runs).items()}
        trusted = gold if isinstance(gold, Judgments) else read_gold(gold)
    if count is None:
        if correlations is not None:
            raise OptionError("correlations are for simulated judges; leave them out if judges are given")
        given = judges if isinstance(judges, Judgments) else read_judgments(judges, repeats="last")
        return Collection.of(read, {GIVEN: given}, trusted, rules=asked)
    prepared = prepare_gold(trusted, asked)
    panels = {
        f"correlation {correlation:g}": simulate_panel(prepared, judges=count, correlation=correlation, rng=seed)
        for correlation in ((0.0,) if correlations is None else correlations)
    }
    return Collection.of(read, panels, prepared, rules=replace(asked, level=1, gold_level=None))


def align_runs(collection: Collection) -> dict[str, Alignment]:
    """Each set of systems aligned with gold; a ranking needs two systems."""
    found = {name: align(runs, collection.gold) for name, runs in collection.runs.items()}
    few = next((name for name, alignment in found.items() if len(alignment.systems) < 2), None)
    if few is not None:
        raise DataError(f"'{few}' has only one system, and a ranking needs two")
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
    """Whether judges are simulated."""
    return isinstance(judges, str) and re.match(rf"{SIMULATED}(:|$)", judges) is not None


def _count_simulated(judges: object) -> int | None:
    """How many judges to simulate; None if they are given."""
    if not isinstance(judges, str) or not is_simulated(judges):
        return None
    _, _, number = judges.partition(":")
    if not re.fullmatch(r"\d{1,4}|", number) or number == "0":
        raise OptionError(f"judges '{shorten(judges)}' does not have the form {SIMULATED}:31")
    return int(number or 31)


def _name_runs(runs: RunsPaths) -> dict[str, PathLike]:
    if isinstance(runs, Mapping):
        return dict(runs)
    paths = [runs] if isinstance(runs, str | os.PathLike) else list(runs)
    named: dict[str, PathLike] = {}
    for path in paths:
        name = _name_folder(Path(path))
        if name in named:
            raise OptionError(f"two sets of runs have the name '{shorten(name)}'; rename a folder")
        named[name] = path
    return named


def _name_folder(path: Path) -> str:
    """The last specific part of a path: `t08/runs` and `t08/runs/*.gz` have the name t08."""
    specific = [part for part in path.absolute().parts if part != "runs" and not glob.has_magic(part)]
    return shorten(specific[-1], 80)
