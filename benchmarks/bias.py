"""How biased are judges? Learns the table of usual judges that the best guess rests on.

`python -m benchmarks.bias --data FOLDER` takes every judge who graded enough of gold's items, by measures of two
families, and asks all of gold which spreads of bias are likely. The logarithm of the spread is a line in the logarithm
of the share of gains' variance that the judge's grades leave, give or take a doubt. With `--write`, level, slope and
doubt become the table of the package. What was seen of judges is kept in a file; a second run only adds to it.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import karatage as kt
from benchmarks.decision_cells import COVERED, ITEM, MAPPED, Collection, World, make_world
from benchmarks.decisions import COLLECTION, cut_torn_line
from karatage.correction.gathering import gather_complete
from karatage.correction.shrinkage import GRID, Corrections, measure_likelihood
from karatage.decisions import bias
from karatage.decisions.case import make_case
from karatage.decisions.estimators.drawn import DRAWN, fit_sample
from karatage.decisions.question import Question
from karatage.io.files import write_file

MEASURES = {
    "binary": ("P@5", "P@10", "P@20", "P(rel=2)@10", "RBP(p=0.8)@10"),
    "graded": ("DCG@5", "DCG@10", "nDCG@10"),
}
DEGREES = 4.0  # of Student's t: judges elsewhere may be unlike all that were seen
LEAST_DOUBT = 0.1  # about the distance of two spreads of the grid
TABLE = Path(bias.__file__).with_name(bias.FILE)
LEAST_BETWEEN = 0.35  # standard deviation of collections: a factor of 1.4
DIGITS = 4

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What all of gold shows of a judge's bias by a measure."""

    collection: str
    judge: str  # with the mapping of grades, if there is one
    measure: str
    family: str  # of measures
    systems: int
    topics: int
    unexplained: float  # share of gains' variance
    alone: float  # root of squared errors of the judge's own differences over squares of mass, as a share of the gains
    likelihood: tuple[float, ...]  # logarithms, of the spreads of `GRID`

    @property
    def who(self) -> str:
        """The judge without the mapping."""
        return name_judge(self.judge)

    @property
    def model(self) -> str:
        """The family of models: judges of one family may err alike."""
        return self.who.split("_")[0]


def name_judge(judge: str) -> str:
    """The name without a mapping of grades."""
    found = MAPPED.fullmatch(judge)
    return judge if found is None else found["name"]


@dataclass(frozen=True, kw_only=True)
class Line:
    """The line of a family of measures."""

    level: float
    slope: float
    seen_doubt: float  # of the judges that were seen
    alone_level: float
    seen_alone_doubt: float
    observations: int
    judges: int
    models: int
    collections: int
    between: float  # standard deviation of the collections' mean distance from the line

    def widen(self, doubt: float) -> float:
        """The doubt about a judge of another collection.

        Judges of one family of models count once for the error of the level. Collections may differ by as much as
        judges within a collection do, or by more; one collection cannot show that, so `LEAST_BETWEEN` is assumed.
        """
        other = max(doubt, self.between, LEAST_BETWEEN)
        return math.sqrt(doubt**2 * (1 + 1 / self.models) + other**2 * (1 + 1 / self.collections))

    def to_row(self, family: str) -> dict[str, Any]:
        """As in the table."""
        numbers = {
            "level": self.level,
            "slope": self.slope,
            "doubt": self.widen(self.seen_doubt),
            "degrees": DEGREES,
            "alone_level": self.alone_level,
            "alone_doubt": self.widen(self.seen_alone_doubt),
            "seen_doubt": self.seen_doubt,
            "seen_alone_doubt": self.seen_alone_doubt,
        }
        counts = {name: getattr(self, name) for name in ("observations", "judges", "models", "collections")}
        return {"family": family, **{name: round(number, DIGITS) for name, number in numbers.items()}, **counts}


def main(arguments: Sequence[str] | None = None) -> None:
    """Look at judges who were not seen yet, then learn and print the table."""
    options = _parse_options(arguments)
    collections = [Collection.read(*paths) for paths in find_all_paths(options)]
    seen = [found for c in collections for found in observe_all(c, options.results)]
    if options.leave_out is not None:
        seen = [found for found in seen if not re.search(options.leave_out, found.who)]
    rows = learn(seen)
    for row in rows:
        print(json.dumps(row))
    if options.write:
        command = " ".join(["python -m benchmarks.bias", *(arguments or sys.argv[1:])])
        table = {"format": bias.FORMAT, "families": rows, "provenance": _tell_provenance(seen, command)}
        write_file(TABLE, (json.dumps(table, indent=2) + "\n").encode())
        bias.read_usual_biases(TABLE.read_text(encoding="utf-8"), str(TABLE))
        print(f"wrote {TABLE.name}")


def find_all_paths(options: argparse.Namespace) -> Iterator[tuple[Path, Path, Path]]:
    """Runs, judgments and gold of all collections."""
    for data in options.data:
        folder = data / COLLECTION if (data / COLLECTION).is_dir() else data
        yield _find(folder, "runs"), _find(folder, "judgments*", "llm_labels*"), _find(folder, "gold*")
    named = options.runs, options.judgments, options.gold
    if len({len(files) for files in named}) > 1:
        raise SystemExit("name as many --runs as --judgments and --gold")
    yield from zip(*named, strict=True)
    if not options.data and not options.runs:
        raise SystemExit("name --runs, --judgments and --gold, or with --data a folder that holds them")


def _find(folder: Path, *patterns: str) -> Path:
    found = [path for pattern in patterns for path in sorted(folder.glob(pattern))]
    if not found:
        raise SystemExit(f"{folder}: there is no {patterns[0]}")
    return found[0]


def observe_all(collection: Collection, results: Path) -> list[Seen]:
    """All judges and measures of a collection; what is in the file of results already is not computed again."""
    done = {(found.collection, found.judge, found.measure): found for found in read_seen(results)}
    seen = []
    cut_torn_line(results)
    with results.open("a") as file:
        for judge, family, measure in list_forms(collection):
            found = done.get((collection.name, judge, measure))
            if found is None:
                found = observe(collection, judge, family, measure)
                file.write(json.dumps(asdict(found)) + "\n")
                file.flush()
            seen.append(found)
    return seen


def read_seen(results: Path) -> list[Seen]:
    """What was seen before; a last line that was not written to its end is nothing."""
    if not results.exists():
        return []
    *whole, _torn = results.read_text().split("\n")
    rows = map(json.loads, whole)
    return [Seen(**row | {"likelihood": tuple(row["likelihood"])}) for row in rows]


def list_forms(collection: Collection) -> Iterator[tuple[str, str, str]]:
    """Judges as they are read and, if they say only yes or no, with gold's lowest relevant grade for yes.

    Measures of documents that gold did not grade are left out.
    """
    relevant = 2 if collection.gold.top_grade > 2 else 1
    for judge in collection.list_judges():
        grade = make_world(collection, judge).judgments.top_grade
        mapped = f"{judge}(0=0,1={relevant})"
        for family, measures in MEASURES.items():
            for measure in filter(lambda name: _is_graded(collection, name), measures):
                least = 2 if "rel=2" in measure else 1
                if grade >= least:
                    yield judge, family, measure
                if grade == 1 < relevant and (family == "graded" or least > grade):
                    yield mapped, family, measure


@lru_cache
def _is_graded(collection: Collection, measure: str) -> bool:
    gold = collection.gold.to_frame()
    items = show_items(World(collection.runs, collection.gold, gold), measure)
    return len(items.join(gold, on=ITEM, how="semi")) >= COVERED * len(items)


def show_items(world: World, measure: str) -> pl.DataFrame:
    """All documents that the measure looks at."""
    shown = world.show(measure)
    topic = np.broadcast_to(np.arange(len(shown))[:, None, None], shown.shape)
    return world.name_items(topic.ravel(), shown.ravel())


def observe(collection: Collection, judge: str, family: str, measure: str) -> Seen:
    """What all of gold shows of one judge's bias by one measure, over all runs that differ."""
    world = make_world(collection, judge)
    found, span = gather_all(world, measure)
    apart = (found.corrected - found.judged)[None, :] - (found.corrected - found.judged)[:, None]
    return Seen(
        collection=collection.name,
        judge=judge,
        measure=measure,
        family=family,
        systems=len(found.judged),
        topics=len(world.topics),
        unexplained=found.unexplained,
        alone=math.sqrt(float((apart**2).sum() / (found.mass**2).sum())) / span,
        likelihood=tuple(np.round(measure_likelihood(found), DIGITS).tolist()),
    )


def gather_all(world: World, measure: str) -> tuple[Corrections, float]:
    """The corrections by all of gold, and the range of gains; unjudged documents are not relevant."""
    shown = world.show(measure)
    items = pl.concat([show_items(world, measure), world.pool, world.gold.select(ITEM)])
    rows = world.grade(items.unique(maintain_order=True)).to_frame().drop("judge").with_columns(pi=pl.lit(1.0))
    _, first = np.unique(shown.transpose(1, 0, 2).reshape(shown.shape[1], -1), axis=0, return_index=True)
    systems = [world.runs.systems[s] for s in sorted(first.tolist())]
    question = Question.of(measure, claim="these")
    case = make_case(world.runs, world.judgments, kt.read_gold(rows), question, systems=systems, seed=0)
    assert case.linear is not None
    assert case.gold is not None
    same = case.pool.top_grade == case.gold.top_grade
    found = gather_complete(fit_sample(case, DRAWN.method).sample, case.linear.gain, same_grades=same)
    if found is None:
        raise SystemExit(f"{measure}: all of gold has the same gain")
    return found, float(np.ptp(case.linear.gain))


def learn(seen: Sequence[Seen]) -> list[dict[str, Any]]:
    """The rows of the table."""
    rows = []
    for family in MEASURES:
        own = [found for found in seen if found.family == family]
        if len({found.who for found in own}) < 3:
            raise SystemExit(f"{len({found.who for found in own})} judges are too few for {family} measures")
        rows.append(fit_line(own).to_row(family))
    return rows


def fit_line(seen: Sequence[Seen]) -> Line:
    """Maximum marginal likelihood; each judge of a collection counts once, however many measures there are."""
    from scipy.optimize import minimize

    likelihood = np.array([found.likelihood for found in seen])
    x, alone = np.log([found.unexplained for found in seen]), np.log([found.alone for found in seen])
    judges = [(found.collection, found.who) for found in seen]
    share = np.array([1 / judges.count(judge) for judge in judges])
    step = math.log(GRID[1] / GRID[0])

    def integrate(line: FloatArray) -> FloatArray:
        doubt = max(math.exp(line[2]), LEAST_DOUBT)
        off = (np.log(GRID) - line[0] - line[1] * x[:, None]) / doubt
        marginal: FloatArray = np.log((np.exp(likelihood - off**2 / 2) * step / doubt).sum(axis=1) + 1e-300)
        return marginal

    likely = np.exp(likelihood)
    start = (likely * np.log(GRID)).sum(axis=1) / likely.sum(axis=1)
    centre = start - 2.0 * x
    first = [float((share * centre).sum() / share.sum()), 2.0, math.log(0.4)]
    best = minimize(lambda line: -(share * integrate(line)).sum(), first, method="Nelder-Mead", options={"xatol": 1e-4})
    level, slope, doubt = float(best.x[0]), float(best.x[1]), max(math.exp(best.x[2]), LEAST_DOUBT)
    mean = float((share * alone).sum() / share.sum())
    names = sorted({found.collection for found in seen})
    off = start - level - slope * x
    offsets = [np.average(off[own], weights=share[own]) for own in ([f.collection == n for f in seen] for n in names)]
    return Line(
        level=level,
        slope=slope,
        seen_doubt=doubt,
        alone_level=mean,
        seen_alone_doubt=math.sqrt(float((share * (alone - mean) ** 2).sum() / share.sum())),
        observations=len(seen),
        judges=len(set(judges)),
        models=len({found.model for found in seen}),
        collections=len(names),
        between=float(np.std(offsets, ddof=1)) if len(names) > 1 else 0.0,
    )


@contextmanager
def use_table(rows: Sequence[Mapping[str, Any]]) -> Iterator[None]:
    """Replace the table of the package, for example by one without the judge at hand."""
    shipped = bias.load_usual_biases
    table = bias.make_usual_biases(rows)
    bias.load_usual_biases = lambda: table  # type: ignore[assignment]
    try:
        yield
    finally:
        bias.load_usual_biases = shipped


def _tell_provenance(seen: Sequence[Seen], command: str) -> dict[str, Any]:
    """Counts, and names of collections."""
    names = sorted({found.collection for found in seen})
    return {
        "command": re.sub(r"\S*/", "", command),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {name: version(name) for name in ("karatage", "numpy", "scipy")},
        "collections": [
            {
                "name": name,
                "systems": max(found.systems for found in seen if found.collection == name),
                "topics": max(found.topics for found in seen if found.collection == name),
                "judges": len({found.who for found in seen if found.collection == name}),
                "models": len({found.model for found in seen if found.collection == name}),
            }
            for name in names
        ],
        "measures": {
            family: [name for name in measures if name in {found.measure for found in seen}]
            for family, measures in MEASURES.items()
        },
    }


def _parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bias", description=__doc__)
    add = parser.add_argument
    several: dict[str, Any] = {"type": Path, "action": "append", "default": []}
    add("--data", **several, metavar="FOLDER", help=f"holds {COLLECTION}, or runs/, judgments.* and gold.*; repeatable")
    add("--runs", **several, help="folder of run files; repeatable, as are the next two")
    add("--judgments", **several, help="file of all judges' grades")
    add("--gold", **several, help="file of all gold")
    add("--results", type=Path, default=Path("bias.jsonl"), help="where likelihoods are kept; default: %(default)s")
    add("--leave-out", metavar="PATTERN", help="learn without judges whose name has this regular expression")
    add("--write", action="store_true", help="replace the table of the package")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
