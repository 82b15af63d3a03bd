"""`demo`: two simulated collections as ordinary files, and a page about one of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from karatage.data.survey import Survey
from karatage.decisions.plan import plan
from karatage.io.files import PathLike
from karatage.io.judgments import read_gold, read_judgments
from karatage.io.runs import read_runs
from karatage.io.writing import encode_table, refuse_other_collection, write_bytes, write_judgments, write_run
from karatage.random_streams import settle_seed
from karatage.simulation.collection import World, simulate_collection, simulate_story
from karatage.views.report import report, write_report

PAIR = ("system-12", "system-11")
MEASURE, LABELS = "DCG@10", 200
STORY_MEASURE, STORY_LABELS = "P@10", 300


def demo(output: PathLike = "demo", *, rng: int | np.random.Generator | None = 7) -> Survey:
    """Write two simulated collections as ordinary files, and a page about the second; give what the page shows.

    The first has 12 runs, 9 judges, gold and a judged queue, on which the examples of all commands run. The second has
    three versions of a search and judges who share a taste.

    Args:
        output: The folder; the page is `report.html` in it.
        rng: Seed.
    """
    story = write_demo(Path(output), settle_seed(rng))
    found = story.survey()
    write_report(story.page, found)
    return found


@dataclass(frozen=True)
class Story:
    """Three systems, judges with a taste, and gold on the documents that `plan` chose."""

    home: Path
    world: World

    @property
    def runs(self) -> Path:
        """A folder."""
        return self.home / "story" / "runs"

    @property
    def judgments(self) -> Path:
        """A table."""
        return self.home / "story" / "judgments.csv"

    @property
    def gold(self) -> Path:
        """A judged queue."""
        return self.home / "story" / "gold.csv"

    @property
    def page(self) -> Path:
        """Where the page is written."""
        return self.home / "report.html"

    def write(self) -> None:
        """All files, and what only a simulation has: gold on the whole pool."""
        _write_runs(self.world, self.runs)
        write_judgments(self.world.judgments, self.judgments)
        queue = plan(self.world.runs, self.world.judgments, STORY_MEASURE, budget=STORY_LABELS).queue
        _write_judged(queue, self.world, self.gold)
        write_judgments(self.world.pool, self.home / "story" / "truth" / "gold.qrels")

    def survey(self) -> Survey:
        """Is new better than old? From the files."""
        runs, judgments, gold = read_runs(self.runs), read_judgments(self.judgments), read_gold(self.gold)
        return report(runs, judgments, gold, STORY_MEASURE, a="old", b="new")


def write_demo(home: Path, seed: int) -> Story:
    """The files of both collections."""
    world = simulate_collection(rng=seed)
    refuse_other_collection(home, world.runs.systems, world.gold)
    _write_runs(world, home / "runs")
    write_judgments(world.judgments, home / "judgments.csv")
    write_judgments(world.gold, home / "gold.qrels")
    queue = plan(world.runs, world.judgments, MEASURE, budget=LABELS, a=PAIR[0], b=PAIR[1]).queue
    _write_judged(queue, world, home / "judged-queue.csv")
    story = Story(home, simulate_story(seed))
    story.write()
    return story


def _write_runs(world: World, folder: Path) -> None:
    for system in world.runs.systems:
        write_run(world.runs, system, folder / f"{system}.gz")


def _write_judged(queue: pl.DataFrame, world: World, path: Path) -> None:
    """What `karatage plan` drew, as it comes back from the gold judges."""
    gold = world.gold.to_frame().select("topic", "document", "grade")
    judged = queue.drop("grade").join(gold, on=["topic", "document"], how="left", maintain_order="left")
    write_bytes(path, encode_table(judged, ".csv"))
