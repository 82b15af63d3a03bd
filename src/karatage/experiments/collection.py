"""What the experiments with panels run on: systems, judges, gold."""

from __future__ import annotations

import glob
import hashlib
import itertools
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from karatage.data.axes import LongArray
from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.errors import OptionError
from karatage.experiments.panels import PanelRules, fit_panels, prepare_gold
from karatage.io.files import PathLike
from karatage.io.judgments import read_gold, read_judgments
from karatage.io.runs import read_runs
from karatage.random_streams import generator, settle_seed, stream
from karatage.simulation.collection import simulate_collection
from karatage.simulation.panel import simulate_panel
from karatage.text import shorten

SIMULATED = "simulated"
GIVEN = "given"
RunsPaths = PathLike | Iterable[PathLike] | Mapping[str, PathLike]
ENUMERATED = 4  # times as many k-tuples as are drawn may be listed; beyond, repeated draws are rare


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


def sample_tuples(judges: int, k: int, samples: int, rng: int | np.random.Generator | None = None) -> LongArray:
    """Distinct sets of `k` out of `judges` judges, each in rising order, (sample, k).

    Each set is as likely as any other. Where there are no more than `samples` of them, all come, in order, so the rows
    may be fewer than asked for.
    """
    if not 1 <= k <= judges or samples < 1:
        raise OptionError(f"{samples} samples of {k} out of {judges} judges cannot be drawn")
    there = math.comb(judges, k)
    if there <= ENUMERATED * samples:
        every = np.array(list(itertools.combinations(range(judges), k)), np.int64)
        if there <= samples:
            return every
        chosen: LongArray = every[generator(rng).choice(there, samples, replace=False)]
        return chosen
    source = generator(rng)
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < samples:
        batch = np.sort(np.argsort(source.random((samples, judges)), axis=1)[:, :k], axis=1)
        drawn |= dict.fromkeys(map(tuple, batch.tolist()))
    return np.array(list(drawn)[:samples], np.int64)


def draw_tuples(judges: int, sizes: Iterable[int], samples: int, seed: int) -> dict[int, LongArray]:
    """The k-tuples of each size; the same for all panels, systems, measures and approaches, which are so paired."""
    return {size: sample_tuples(judges, size, samples, stream(seed, f"k-tuples of {size}")) for size in sizes}


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
