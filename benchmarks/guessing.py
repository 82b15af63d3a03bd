"""Does the best guess keep its promises on real judges? The table of docs/theory/guess.md.

`python -m benchmarks.guessing --data FOLDER`: boards of all runs that differ, again and again with other gold, by
`kt.compare_all` as users call it. The table of usual judges is learned anew for each cell, without the judge that is
used, or without all judges of its model or prompt. Finished boards are kept in a file, one for each state of the code.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

import karatage as kt
from benchmarks.bias import Seen, learn, name_judge, observe_all, show_items, use_table
from benchmarks.decision_cells import Collection, World, make_world
from benchmarks.decisions import COLLECTION, cut_torn_line, find_paths
from karatage.data.board import Differences

Design = Literal["drawn", "even"]
Left = Literal["judge", "model", "prompt"]
JUDGES = (
    "gpt-4o_umbrela",
    "gpt-4_umbrela.M",
    "gpt-4o_binary(0=0,1=2)",
    "gpt-4_exam-selfrate_graded-max.M",
    "gpt-4o_nuggets-weighted(0=0,1=2)",
    "llama3.2_binary(0=0,1=2)",
    "llama3.2_umbrela",
)
LOOKED_AT = ("P(rel=2)@10", "P@10", "DCG@10")  # while the guess was developed
HELD_OUT = ("nDCG@10", "RBP(p=0.8)@10", "P@5")
SIZES = (100, 200, 400, 800)
PROMPTS = ("umbrela", "binary", "nuggets", "exam")
DRAWS = 12
BEST = 30
SETS = ("all", "best")  # pairs of all systems, and of the best
FORMS = ("corrected", "guess", "usual")
GOOD = 0.8  # of gains' variance: judges with more that is unexplained are not called good
NEAR = 1e-9
HEAD = (
    "pairs",
    "judges",
    "labels",
    "cells",
    "RMSE: judges alone",
    "guess",
    "to the better one, at most",
    "half-width: by gold, usual",
    "covers: corrected, by gold, usual",
    "separated",
    "wrong sign",
)
FLOOR, LEVEL = 0.93, 0.05  # of coverage, and level of the test against it
MOST_RMSE, WORST_RMSE, SHARE = 1.15, 1.5, 0.95  # times the better of judges alone and corrected; share of cells
MOST_HALF = {"guess": 0.75, "usual": 0.65}  # of corrected half-widths, at `HALF_SIZE` labels
HALF_SIZE, LEAST_SEPARATED, MOST_WRONG = 200, 1.5, 0.005

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The settings of one line."""

    collection: str
    judge: str
    measure: str
    design: Design
    size: int
    claim: str
    resampled: bool
    left_out: Left
    seed: int


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute what is missing, then print the table and the verdicts."""
    options = _parse_options(arguments)
    collection = Collection.read(*find_paths(options))
    seen = observe_all(collection, options.seen)
    cells = list_cells(options, collection)
    tasks = [(cell, draw) for draw in range(options.draws) for cell in cells]
    if not options.only_tables:
        run(collection, seen, tasks, options.results)
    found, unexplained = read_results(options.results), find_unexplained(seen)
    lines = [line for cell in cells if (line := summarise(cell, found, unexplained)) is not None]
    for name, measures in (("looked at", LOOKED_AT), ("held out", HELD_OUT)):
        own = [line for line in lines if line.cell.measure in measures]
        if own:
            print(f"\n{name}", *judge_lines(own), "", *tabulate(own), sep="\n")
    if options.full:
        print(*(str(line) for line in lines), sep="\n")


def list_cells(options: argparse.Namespace, collection: Collection) -> list[Cell]:
    """All combinations asked for."""
    return [
        Cell(
            collection=collection.name,
            judge=judge,
            measure=str(kt.parse_measure(measure)),
            design=design,
            size=size,
            claim="new" if options.resampled_topics else "these",
            resampled=options.resampled_topics,
            left_out=left,
            seed=options.seed,
        )
        for size, measure, design, left, judge in product(
            options.sizes, options.measures, options.designs, options.left_out, options.judges
        )
    ]


def run(collection: Collection, seen: Sequence[Seen], tasks: Sequence[tuple[Cell, int]], results: Path) -> None:
    """Compute what the file of results lacks; the first draw of each cell before the second of any."""
    done = read_results(results)
    cut_torn_line(results)
    with results.open("a") as file:
        for number, (cell, draw) in enumerate(tasks, start=1):
            if draw not in done.get(cell, {}):
                row = {"cell": asdict(cell), "draw": draw, "found": compare_once(collection, tuple(seen), cell, draw)}
                file.write(json.dumps(row) + "\n")
                file.flush()
            if sys.stderr.isatty():
                print(f"\r{number:,} of {len(tasks):,} boards ", end="", file=sys.stderr)


def read_results(path: Path) -> dict[Cell, dict[int, dict[str, Any]]]:
    """What was found in each draw of a cell; a last line that was not written to its end is nothing."""
    found: dict[Cell, dict[int, dict[str, Any]]] = {}
    if path.exists():
        *whole, _torn = path.read_text().split("\n")
        for row in map(json.loads, whole):
            found.setdefault(Cell(**row["cell"]), {})[row["draw"]] = row["found"]
    return found


@lru_cache
def learn_without(seen: tuple[Seen, ...], judge: str, left_out: Left) -> list[dict[str, Any]]:
    """The table without this judge, or without its model or prompt."""
    who = name_judge(judge)
    patterns = {
        "judge": f"^{re.escape(who)}$",
        "model": f"^{re.escape(who.split('_')[0])}_",
        "prompt": next((prompt for prompt in PROMPTS if prompt in who), re.escape(who)),
    }
    return learn([found for found in seen if not re.search(patterns[left_out], found.who)])


@lru_cache(maxsize=64)
def list_systems(world: World, measure: str) -> tuple[tuple[str, ...], FloatArray]:
    """Systems that the measure can tell apart, and their scores by all of gold."""
    shown = world.show(measure)
    if kt.parse_measure(measure).name == "P":
        shown = np.sort(shown, axis=2)
    _, first = np.unique(shown.transpose(1, 0, 2).reshape(shown.shape[1], -1), axis=0, return_index=True)
    kept = sorted(first.tolist())
    scores = np.asarray(kt.score(world.runs, kt.read_gold(world.gold), measure).value[0].mean(axis=0))
    return tuple(world.runs.systems[s] for s in kept), scores[kept]


def compare_once(collection: Collection, seen: tuple[Seen, ...], cell: Cell, draw: int) -> dict[str, Any]:
    """Draw gold, compare all systems, and measure how far results are from the truth; a refusal is a finding."""
    world = make_world(collection, cell.judge)
    systems, truth = list_systems(world, cell.measure)
    name = zlib.crc32(f"{cell.measure} {cell.design} {cell.size} {cell.resampled}".encode())
    rng = np.random.default_rng([cell.seed, name, draw])
    world = replace(world, runs=world.runs.only(systems))
    if cell.resampled:
        world = world.resample(rng)
    question = kt.Question(measure=cell.measure, claim=cell.claim, seed=int(rng.integers(2**31)))  # type: ignore[arg-type]
    try:
        with use_table(learn_without(seen, cell.judge, cell.left_out)):
            gold = draw_gold(world, cell, question, rng)
            board = kt.compare_all(world.runs, world.judgments, gold, question, adjust="none")
    except kt.KaratageError as problem:
        return {"refusal": str(problem)}
    if board.corrected_pairs is None or board.guess is None:
        return {"refusal": board.refusal or "no guess"}
    true = truth[[systems.index(system) for system in board.systems]]
    gap = true[board.b] - true[board.a]
    best = np.argsort(np.argsort(-true, kind="stable")) < BEST
    forms = dict(zip(FORMS, (board.corrected_pairs, board.guess.pairs, board.guess.usual), strict=True))
    found: dict[str, Any] = {}
    for pairs, chosen in (("all", np.ones(len(gap), bool)), ("best", best[board.a] & best[board.b])):
        found[pairs] = {
            "alone": float(((board.naive_pairs.value - gap)[chosen] ** 2).mean()),
            **{form: measure_form(value, gap, chosen) for form, value in forms.items()},
        }
    return found


def draw_gold(world: World, cell: Cell, question: kt.Question, rng: np.random.Generator) -> kt.Judgments:
    """By `kt.plan` for the board, or evenly from the first ranks."""
    if cell.design == "drawn":
        return world.grade(kt.plan(world.runs, world.judgments, question, budget=cell.size).queue.drop("grade"))
    items = show_items(world, cell.measure)
    return world.grade(items[np.sort(rng.choice(len(items), cell.size, replace=False))])


def measure_form(found: Differences, truth: FloatArray, chosen: NDArray[np.bool_]) -> list[float]:
    """Mean squared error, median half-width, and shares of pairs: covered, separated, of the wrong sign."""
    value, low, high, true = (column[chosen] for column in (found.value, found.low, found.high, truth))
    covered = (low - NEAR <= true) & (true <= high + NEAR)
    apart = (low > 0) | (high < 0)
    wrong = apart & (np.sign(value) != np.sign(np.where(np.abs(true) < NEAR, 0.0, true)))
    figures = ((value - true) ** 2).mean(), np.median(high - low) / 2, covered.mean(), apart.mean(), wrong.mean()
    return [round(float(figure), 9) for figure in figures]


@dataclass(frozen=True, eq=False)
class Line:
    """A cell's figures over its draws."""

    cell: Cell
    refused: int
    unexplained: float
    alone: dict[str, float]  # RMSE
    form: dict[tuple[str, str], FloatArray]  # of pairs and form: (draw, figure)

    @property
    def good(self) -> bool:
        """Whether the judge is called good, by all of gold."""
        return self.unexplained <= GOOD

    @property
    def draws(self) -> int:
        """Boards with a guess."""
        return len(self.form["all", "guess"])

    def rmse(self, pairs: str, form: str) -> float:
        """Over all draws."""
        return math.sqrt(self.form[pairs, form][:, 0].mean())

    def rmse_ratio(self, pairs: str) -> float:
        """To the better of judges alone and corrected."""
        return self.rmse(pairs, "guess") / min(self.alone[pairs], self.rmse(pairs, "corrected"))

    def half_ratio(self, pairs: str, form: str) -> float:
        """To corrected intervals."""
        return self._ratio(pairs, form, 1)

    def separated_ratio(self, pairs: str, form: str) -> float:
        """To corrected pairs."""
        return self._ratio(pairs, form, 3)

    def _ratio(self, pairs: str, form: str, figure: int) -> float:
        ours, theirs = (self.form[pairs, name][:, figure].mean() for name in (form, "corrected"))
        return float(ours / theirs) if theirs else np.inf

    def cover(self, pairs: str, form: str) -> float:
        """The share of pairs with the truth inside."""
        return float(self.form[pairs, form][:, 2].mean())

    def wrong(self, pairs: str, form: str) -> float:
        """The share of pairs that are separated the wrong way."""
        return float(self.form[pairs, form][:, 4].mean())

    def covers_too_little(self, pairs: str, form: str) -> bool:
        """Significantly below the floor, by a t test with draws as units."""
        cover = self.form[pairs, form][:, 2]
        error = cover.std(ddof=1) / len(cover) ** 0.5 if len(cover) > 1 else np.inf
        if error == 0:
            return bool(cover.mean() < FLOOR)
        return bool(student.cdf((cover.mean() - FLOOR) / error, len(cover) - 1) < LEVEL)

    def __str__(self) -> str:
        cell = self.cell
        shown = [cell.judge, cell.measure, cell.design, f"{cell.size}", cell.claim, f"without {cell.left_out}"]
        shown += [f"{self.draws}", f"{self.unexplained:.2f}"]
        for pairs in SETS:
            shown.append("/".join(f"{x:.3f}" for x in (self.alone[pairs], *(self.rmse(pairs, f) for f in FORMS[:2]))))
            for form in FORMS:
                half, cover, apart, wrong = self.form[pairs, form][:, 1:].mean(axis=0)
                shown.append(f"{half:.3f} {cover:.3f} {apart:.2f} {wrong:.4f}")
        return " | ".join(shown)


def find_unexplained(seen: Sequence[Seen]) -> dict[tuple[str, str], float]:
    """The share of gains' variance that a judge's grades leave, by all of gold; by judge and measure."""
    return {(found.who, found.measure): found.unexplained for found in seen}


def summarise(
    cell: Cell, results: dict[Cell, dict[int, dict[str, Any]]], unexplained: dict[tuple[str, str], float]
) -> Line | None:
    """A cell's line; None without any board."""
    rows = list(results.get(cell, {}).values())
    known = [row for row in rows if "refusal" not in row]
    if not known:
        return None
    return Line(
        cell=cell,
        refused=len(rows) - len(known),
        unexplained=unexplained[name_judge(cell.judge), cell.measure],
        alone={pairs: float(np.mean([row[pairs]["alone"] for row in known])) ** 0.5 for pairs in SETS},
        form={(p, f): np.array([row[p][f] for row in known], float) for p, f in product(SETS, FORMS)},
    )


def judge_lines(lines: Sequence[Line]) -> Iterator[str]:
    """What was promised, and what holds."""
    draws = sorted({line.draws for line in lines})
    yield f"{len(lines)} cells of {draws[0]} to {draws[-1]} boards, {sum(line.refused for line in lines)} refused"
    for pairs in SETS:
        ratios = np.array([line.rmse_ratio(pairs) for line in lines])
        yield (
            f"  {pairs}: RMSE at most {MOST_RMSE} times the better one in {np.mean(ratios <= MOST_RMSE):.1%} of cells "
            f"(promised: {SHARE:.0%}), at most {ratios.max():.2f} times ({WORST_RMSE}), {_name(lines, ratios)}"
        )
        for form in FORMS:
            covers = np.array([line.cover(pairs, form) for line in lines])
            low = [line for line in lines if line.covers_too_little(pairs, form)]
            yield (
                f"  {pairs}, {form}: covers {covers.mean():.3f}, at least {covers.min():.3f}, {_name(lines, -covers)}; "
                f"significantly below {FLOOR} in {len(low)} cells; wrong signs at most "
                f"{max(line.wrong(pairs, form) for line in lines):.2%} of pairs"
            )
        good = [line for line in lines if line.good and line.cell.size == HALF_SIZE]
        for form, most in MOST_HALF.items() if good else ():
            halves = [line.half_ratio(pairs, form) for line in good]
            apart = [line.separated_ratio(pairs, form) for line in good]
            yield (
                f"  {pairs}, {form}, {len(good)} cells of {HALF_SIZE} labels with good judges: half-width "
                f"{np.mean(halves):.2f} of the corrected one (promised: {most}; at most {max(halves):.2f}), "
                f"{np.mean(apart):.1f} times as many pairs separated (at least {min(apart):.1f})"
            )


def tabulate(lines: Sequence[Line]) -> Iterator[str]:
    """Means over cells of one size, for a page; with judges who are good and others."""
    yield f"| {' | '.join(HEAD)} |"
    yield f"| {' | '.join(['---'] * len(HEAD))} |"
    for pairs, good, size in product(SETS, (True, False), sorted({line.cell.size for line in lines})):
        own = [line for line in lines if line.cell.size == size and line.good == good]
        if own:
            yield f"| {' | '.join(_list_figures(own, pairs))} |"


def _list_figures(lines: Sequence[Line], pairs: str) -> Iterator[str]:
    ratios = [line.rmse_ratio(pairs) for line in lines]
    yield from (pairs, "good" if lines[0].good else "others", f"{lines[0].cell.size}", f"{len(lines)}")
    for form in ("alone", "guess"):
        to_corrected = [
            (line.alone[pairs] if form == "alone" else line.rmse(pairs, form)) / line.rmse(pairs, "corrected")
            for line in lines
        ]
        yield f"{np.mean(to_corrected):.2f}"
    yield f"{max(ratios):.2f}"
    yield ", ".join(f"{np.mean([line.half_ratio(pairs, form) for line in lines]):.2f}" for form in FORMS[1:])
    for figure, digits in ((2, 3), (3, 2), (4, 4)):
        means = [np.mean([line.form[pairs, form][:, figure].mean() for line in lines]) for form in FORMS]
        yield ", ".join(f"{mean:.{digits}f}".removeprefix("0") for mean in means)


def _name(lines: Sequence[Line], size: FloatArray) -> str:
    """The cell with the largest."""
    cell = lines[int(size.argmax())].cell
    return f"{cell.judge} {cell.measure} {cell.design} {cell.size} without {cell.left_out}"


def _parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guessing", description=__doc__)
    add = parser.add_argument
    add("--data", type=Path, metavar="FOLDER", help=f"holds {COLLECTION}, or runs/, judgments.* and gold.* itself")
    add("--runs", type=Path, help="folder of run files")
    add("--judgments", type=Path, help="file of all judges' grades")
    add("--gold", type=Path, help="file of all gold")
    add("--results", type=Path, default=Path("guessing.jsonl"), help="where boards are kept; default: %(default)s")
    add("--seen", type=Path, default=Path("bias.jsonl"), help="as --results of benchmarks.bias; default: %(default)s")
    add("--judges", nargs="+", default=JUDGES, help="names, or name(0=0,1=2) to rename grades")
    add("--measures", nargs="+", default=(*LOOKED_AT, *HELD_OUT))
    add("--designs", nargs="+", choices=get_args(Design), default=("drawn",))
    add("--sizes", nargs="+", type=int, default=SIZES, help="gold labels")
    add("--left-out", nargs="+", choices=get_args(Left), default=("judge",), help="what the table is learned without")
    add("--resampled-topics", action="store_true", help="claims about new topics, drawn anew with replacement")
    add("--draws", type=int, default=DRAWS, help="boards in a cell")
    add("--seed", type=int, default=1000)
    add("--only-tables", action="store_true", help="compute nothing")
    add("--full", action="store_true", help="print all cells")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
