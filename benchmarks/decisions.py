"""Do the answers of `compare` hold on real judges? The tables of docs/theory/correction.md.

`python -m benchmarks.decisions --data FOLDER`: two systems are compared with `kt.compare`, as users call it, again and
again with other gold, and the answers are held against the difference that all gold shows. Finished comparisons are
kept in a file, one for each state of the code; a second run does only what is missing there and prints the table anew.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import Any

import polars as pl

import karatage as kt
from benchmarks.decision_cells import BLOCK, DESIGNS, FRAMES, SCHEMA, Cell, Collection, Design, Frame, run_block
from benchmarks.decision_tables import Line, judge_lines, print_table, summarise
from karatage.decisions.estimators.registry import list_names

COLLECTION = "trec-dl-2021-passage"
JUDGES = ("gpt-4o_umbrela", "gpt-4_umbrela.M", "gpt-4o_binary", "llama3.2_binary")  # from good to bad
MEASURES = ("P(rel=2)@10", "DCG@10", "nDCG@10")
SIZES = (100, 200, 400)
TOPIC_SIZES = (8, 15, 25)
CORE_DRAWS, DRAWS = 1000, 200
Paths = tuple[Path, Path, Path]
Task = tuple[Cell, int]

_loaded: list[Collection] = []  # in each process: what its blocks are computed on


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute what is missing, then print the table."""
    options = _parse_options(arguments)
    paths = find_paths(options)
    collection = Collection.read(*paths)
    cells = list_cells(options, collection)
    run(paths, collection, _list_tasks(cells, options.draws), options.results, options.workers)
    lines = summarise_all(cells, options.results, options.draws)
    notes = [f"{collection.name}; seed {options.seed}; {_tell_counts(lines)}", *judge_lines(lines)]
    print_table(lines, notes, markdown=options.markdown)


def find_paths(options: argparse.Namespace) -> Paths:
    """Runs, judgments and gold: as named, or as they are called in the folder."""
    found = {name: getattr(options, name) for name in ("runs", "judgments", "gold")}
    if options.data is not None:
        folder = options.data / COLLECTION if (options.data / COLLECTION).is_dir() else options.data
        for name, patterns in {"runs": ["runs"], "judgments": ["judgments*", "llm_labels*"], "gold": ["gold*"]}.items():
            there = [path for pattern in patterns for path in sorted(folder.glob(pattern))]
            found[name] = found[name] or next(iter(there), None)
    missing = [f"--{name}" for name, path in found.items() if path is None]
    if missing:
        raise SystemExit(f"no {', '.join(missing)}: name the files, or with --data a folder that holds them")
    return found["runs"], found["judgments"], found["gold"]


def list_cells(options: argparse.Namespace, collection: Collection) -> list[Cell]:
    """All combinations asked for, in the order of the table."""
    offered = collection.list_judges()
    judges = options.judges or [name for name in JUDGES if name in offered] or offered
    gold: list[tuple[Design, Frame | None, int]] = []
    for design in options.designs:
        frames = options.frames if design == "even" else [None]
        sizes = options.topic_sizes if design == "topics" else options.sizes
        gold += [(design, frame, size) for frame in frames for size in sizes]
    return [
        Cell(
            collection=collection.name,
            judge=judge,
            measure=str(kt.parse_measure(measure)),
            design=design,
            frame=frame,
            size=size,
            claim=claim,
            correction=correction,
            resampled=options.resampled_topics,
            best=options.best,
            others=options.others,
            seed=options.seed,
        )
        for judge, measure, claim, correction, (design, frame, size) in product(
            judges, options.measures, options.claims, options.corrections, gold
        )
        if design != "no-pi" or kt.parse_measure(measure).name != "P"  # whose pi is constant, so that nothing is lost
    ]


def run(paths: Paths, collection: Collection, tasks: Sequence[Task], results: Path, workers: int) -> int:
    """Compute blocks that the file of results lacks and append each as it is done; returns how many."""
    done = read_results(results)
    left = [task for task in tasks if task not in done]
    start = monotonic()
    cut_torn_line(results)
    with results.open("a") as file:
        for number, (task, found) in enumerate(_compute(paths, collection, left, workers), start=1):
            file.write(json.dumps({"cell": asdict(task[0]), "block": task[1], **found}) + "\n")
            file.flush()
            minutes = (monotonic() - start) / number * (len(left) - number) / 60
            if sys.stderr.isatty():
                print(f"\r{number:,} of {len(left):,} blocks, {minutes:.0f} min left ", end="", file=sys.stderr)
    return len(left)


def read_results(path: Path) -> dict[Task, dict[str, Any]]:
    """Finished blocks; a last line that was not written to its end is none."""
    if not path.exists():
        return {}
    *whole, _torn = path.read_text().split("\n")
    lines = map(json.loads, whole)
    return {(Cell(**line["cell"]), line["block"]): line for line in lines}


def cut_torn_line(path: Path) -> None:
    """Leave whole lines only, so that the next one starts on its own."""
    if path.exists():
        whole = path.read_bytes().rfind(b"\n") + 1
        os.truncate(path, whole)


def summarise_all(cells: Sequence[Cell], results: Path, draws: int | None) -> list[Line]:
    """Lines of the table; cells for which no pair is left have none."""
    done = read_results(results)
    lines = []
    for cell in cells:
        blocks = [done[task] for task in _list_tasks([cell], draws)]
        rows = pl.concat([pl.DataFrame(block["rows"], schema=SCHEMA) for block in blocks])
        if len(rows):
            lines.append(summarise(cell, rows, pairs=blocks[0]["pairs"], left_out=blocks[0]["left_out"]))
        else:
            print(f"no pair is left for {cell.size:,} {cell.design} by {cell.measure}", file=sys.stderr)
    return lines


def _list_tasks(cells: Sequence[Cell], draws: int | None) -> list[Task]:
    """Blocks of all cells, the first of each before the second of any: a run that is cut short shows something."""
    tasks = [(cell, b) for cell in cells for b in range(-(-(draws or count_draws(cell)) // BLOCK))]
    return sorted(tasks, key=lambda task: task[1])


def count_draws(cell: Cell) -> int:
    """More for the defaults that users meet than for what is asked for by name."""
    core = cell.correction == "auto" and cell.design != "topics" and cell.claim == "new" and not cell.resampled
    return CORE_DRAWS if core else DRAWS


def _compute(
    paths: Paths, collection: Collection, tasks: Sequence[Task], workers: int
) -> Iterator[tuple[Task, dict[str, Any]]]:
    if workers == 1 or len(tasks) < 2:
        for task in tasks:
            yield task, run_block(collection, *task)
        return
    # Not forked: the threads of libraries would not survive that.
    with ProcessPoolExecutor(workers, get_context("spawn"), _load, (paths,)) as pool:
        waiting = {pool.submit(_run_loaded, task): task for task in tasks}
        for done in as_completed(waiting):
            yield waiting[done], done.result()


def _load(paths: Paths) -> None:
    for name in ("KARATAGE_THREADS", "POLARS_MAX_THREADS"):  # processes share the cores already
        os.environ.setdefault(name, "1")
    _loaded.append(Collection.read(*paths))


def _run_loaded(task: Task) -> dict[str, Any]:
    return run_block(_loaded[0], *task)


def _tell_counts(lines: Sequence[Line]) -> str:
    counts = sorted({line.count for line in lines})
    return f"{' or '.join(f'{count:,}' for count in counts)} comparisons in each cell"


def _parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decisions", description=__doc__)
    add = parser.add_argument
    add("--data", type=Path, metavar="FOLDER", help=f"holds {COLLECTION}, or runs/, judgments.* and gold.* itself")
    add("--runs", type=Path, help="folder of run files")
    add("--judgments", type=Path, help="file of all judges' grades")
    add("--gold", type=Path, help="file of all gold")
    add(
        "--results", type=Path, default=Path("decisions.jsonl"), help="where comparisons are kept; default: %(default)s"
    )
    add(
        "--judges",
        nargs="+",
        help="names, or name(0=0,1=2) to rename grades; default: the four of the core table, "
        "or all who graded 80%% of gold",
    )
    add("--measures", nargs="+", default=MEASURES)
    add(
        "--designs",
        nargs="+",
        choices=DESIGNS,
        default=("even", "drawn"),
        help="how gold is drawn: a plain random sample, by kt.plan for the two systems, or whole topics. What must be "
        "refused: one system's first ranks, what the judge calls not relevant, or a queue without pi",
    )
    add(
        "--frames",
        nargs="+",
        choices=FRAMES,
        default=("top",),
        help="what even samples are drawn from: everything "
        "judged, the first ranks of all runs, or what the two systems weigh differently; default: top",
    )
    add("--sizes", nargs="+", type=int, default=SIZES, help="gold labels")
    add("--topic-sizes", nargs="+", type=int, default=TOPIC_SIZES, help="gold topics, for the design topics")
    add("--claims", nargs="+", choices=("new", "these"), default=("new",), help="topics that are spoken of")
    add("--corrections", nargs="+", choices=list_names(), default=("auto",))
    add("--resampled-topics", action="store_true", help="draw topics anew with replacement; truth is all topics")
    add("--best", type=int, default=30, help="compare all pairs of so many systems, the best by gold")
    add("--others", type=int, default=150, help="compare so many random pairs of the others beside")
    add(
        "--draws",
        type=int,
        help=f"comparisons in a cell, in steps of {BLOCK}; default: {CORE_DRAWS} for default "
        f"settings, otherwise {DRAWS}",
    )
    add("--seed", type=int, default=0)
    add("--workers", type=int, default=1, help="processes")
    add("--markdown", action="store_true", help="print the table for a page")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
