"""`karatage demo`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from karatage.cli.options import Quiet, Seed
from karatage.cli.output import emit, render
from karatage.cli.parsing import STANDARD_OUTPUT, Writes
from karatage.cli.terminal import progress

if TYPE_CHECKING:
    import polars as pl

    from karatage.data.comparison import Comparison
    from karatage.data.judgments import Judgments
    from karatage.simulation.collection import World

PAIR = ("system-12", "system-11")
MEASURE, LABELS = "DCG@10", 200
STORY_MEASURE, STORY_LABELS = "P@10", 300
INDENT = " \\\n    "
OWN_FILES = """
On your own files:

  karatage doctor runs/ -j llm-grades.csv
      what can and what cannot be concluded from them
  karatage plan runs/ -j llm-grades.csv --budget 300 -o queue.csv
      which documents a trusted person should grade, in the column `grade`
  karatage report runs/ -j llm-grades.csv -g queue.csv -o report.html
      the decision, on one page"""


def demo(
    *,
    output: Annotated[str, Parameter(alias=("--folder", "-o"), metavar="FOLDER"), Writes("folder")] = "demo",
    seed: Seed = 7,
    quiet: Quiet = False,
) -> None:
    """Write the demo's files.

    Args:
        output: Where to write the files.
    """
    import karatage as kt
    from karatage.cli.simulate_jobs import refuse_other_collection
    from karatage.simulation.collection import simulate_story

    home = Path(output)
    with progress("Simulating", quiet=quiet):
        world = kt.simulation.simulate_collection(rng=seed)
        refuse_other_collection(home, world.runs.systems, world.gold)
        _write_collection(world, home)
        story = _Story(home, simulate_story(seed))
        story.write()
    emit(render(*story.tell()), STANDARD_OUTPUT)
    with progress("Drawing", quiet=quiet):
        drawn = story.draw()
    emit(render(drawn, OWN_FILES), STANDARD_OUTPUT)


@dataclass(frozen=True)
class _Story:
    """Three systems, judges with a taste, and gold where it tells most."""

    home: Path
    world: World

    @property
    def runs(self) -> Path:
        return self.home / "story" / "runs"

    @property
    def judgments(self) -> Path:
        return self.home / "story" / "judgments.csv"

    @property
    def gold(self) -> Path:
        return self.home / "story" / "gold.csv"

    @property
    def page(self) -> Path:
        return self.home / "report.html"

    @property
    def _report(self) -> str:
        runs, judgments, gold, page = map(_quote, (self.runs, self.judgments, self.gold, self.page))
        return f"karatage report {runs} -j {judgments}{INDENT}-g {gold} --a old --b new -o {page}"

    def write(self) -> None:
        """All files, and what only a simulation has: gold on the whole pool."""
        import karatage as kt

        _write_runs(self.world, self.runs)
        kt.write_judgments(self.world.judgments, self.judgments)
        queue = kt.plan(self.world.runs, self.world.judgments, STORY_MEASURE, budget=STORY_LABELS).queue
        _write_judged(queue, self.world, self.gold)
        kt.write_judgments(self.world.pool, self.home / "story" / "truth" / "gold.qrels")

    def tell(self) -> list[str]:
        """What the judges say, what gold leaves of it, and what survives."""
        import karatage as kt

        judges, gold = f"{len(self.world.judgments.judges)} LLM judges", kt.read_gold(self.gold)
        return [
            "Wrote two simulated collections, as ordinary files:",
            f"  {self.home}: 12 runs, judgments.csv by 9 judges, gold.qrels, judged-queue.csv;\n"
            f"    the examples of all commands use them",
            f"  {self.home / 'story'}: runs of old, new and newer, three versions of a search;\n"
            f"    judgments.csv by {judges}; gold.csv, {STORY_LABELS} documents that `plan` chose\n",
            f"1. Is new better than old? Ask the {judges}:\n",
            self._ask("new", None),
            "\n2. Ask again, with gold to correct the judges' errors:\n",
            self._ask("new", gold),
            f"\nThis world is simulated, so the truth is known: {self._reveal('new')}. Old and new were made to rank "
            "equally well, but the judges share a taste, and new finds what they like.\n",
            "3. Is newer better than old? It was made to be:\n",
            self._ask("newer", gold),
            f"\nThe truth: {self._reveal('newer')}.\n",
            f"4. Everything on one page:\n\n$ {self._report}",
        ]

    def draw(self) -> str:
        """The page, and where it is."""
        import karatage as kt

        runs, judgments, gold = kt.read_runs(self.runs), kt.read_judgments(self.judgments), kt.read_gold(self.gold)
        found = kt.report(runs, judgments, gold, STORY_MEASURE, a="old", b="new")
        kt.write_report(str(self.page), found, command=self._report.replace(INDENT, " "))
        return f"…\nOpen {self.page} in a browser: the decision, and below it all three systems and the judges."

    def _ask(self, b: str, gold: Judgments | None) -> str:
        """The command, and how its answer ends."""
        trusted = "" if gold is None else f"-g {_quote(self.gold)} "
        command = f"$ karatage compare {_quote(self.runs)} -j {_quote(self.judgments)}{INDENT}{trusted}--a old --b {b}"
        return f"{command}\n…\n{self._compare(b, self.world.judgments, gold).sentence}"

    def _reveal(self, b: str) -> str:
        truth = self._compare(b, self.world.pool, None).naive.difference.value
        return f"{b} {truth:+.3f} against old"

    def _compare(self, b: str, judgments: Judgments, gold: Judgments | None) -> Comparison:
        import karatage as kt

        return kt.compare(self.world.runs, judgments, gold, STORY_MEASURE, a="old", b=b)


def _quote(path: Path) -> str:
    return shlex.quote(str(path))


def _write_collection(world: World, home: Path) -> None:
    import karatage as kt

    _write_runs(world, home / "runs")
    kt.write_judgments(world.judgments, home / "judgments.csv")
    kt.write_judgments(world.gold, home / "gold.qrels")
    queue = kt.plan(world.runs, world.judgments, MEASURE, budget=LABELS, a=PAIR[0], b=PAIR[1]).queue
    _write_judged(queue, world, home / "judged-queue.csv")


def _write_runs(world: World, folder: Path) -> None:
    import karatage as kt

    for system in world.runs.systems:
        kt.write_run(world.runs, system, folder / f"{system}.gz")


def _write_judged(queue: pl.DataFrame, world: World, path: Path) -> None:
    """What `karatage plan` drew, as it comes back from the gold judges."""
    from karatage.io.writing import encode_table, write_bytes

    gold = world.gold.to_frame().select("topic", "document", "grade")
    judged = queue.drop("grade").join(gold, on=["topic", "document"], how="left", maintain_order="left")
    write_bytes(path, encode_table(judged, ".csv"))
