"""`karatage demo`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from karatage.cli.options import Quiet, Seed
from karatage.cli.output import emit, write_paragraphs
from karatage.cli.parsing import STANDARD_OUTPUT, Writes
from karatage.cli.terminal import progress

if TYPE_CHECKING:
    from karatage.data.comparison import Comparison
    from karatage.data.judgments import Judgments
    from karatage.views.report import Story

INDENT = " \\\n    "
OWN_FILES = """
On your own files:

  karatage doctor runs/ -j llm-grades.csv
      which conclusions they allow
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
    from karatage.views.report import write_demo

    with progress("Simulating", quiet=quiet):
        story = _Telling(write_demo(Path(output), seed))
    emit(write_paragraphs(*story.tell()), STANDARD_OUTPUT)
    with progress("Drawing", quiet=quiet):
        drawn = story.draw()
    emit(write_paragraphs(drawn, OWN_FILES), STANDARD_OUTPUT)


@dataclass(frozen=True)
class _Telling:
    """The text of the demo, command by command."""

    story: Story

    @property
    def _report(self) -> str:
        story = self.story
        runs, judgments, gold, page = map(_quote, (story.runs, story.judgments, story.gold, story.page))
        return f"karatage report {runs} -j {judgments}{INDENT}-g {gold} --a old --b new -o {page}"

    def tell(self) -> list[str]:
        """What the judges conclude, and what remains after correction with gold."""
        from karatage.io.judgments import read_gold
        from karatage.views.report import STORY_LABELS

        judges, gold = f"{len(self.story.world.judgments.judges)} LLM judges", read_gold(self.story.gold)
        return [
            "Wrote two simulated collections, as ordinary files:",
            f"  {self.story.home}: 12 runs, judgments.csv by 9 judges, gold.qrels, judged-queue.csv;\n"
            f"    the examples of all commands use them",
            f"  {self.story.home / 'story'}: runs of old, new and newer, three versions of a search;\n"
            f"    judgments.csv by {judges}; gold.csv, {STORY_LABELS} documents that `plan` chose\n",
            f"1. Is new better than old? Ask the {judges}:\n",
            self._ask("new", None),
            "\n2. Ask again, with gold to correct the judges' errors:\n",
            self._ask("new", gold),
            f"\nThis world is simulated, so the truth is known: {self._reveal('new')}. Old and new rank "
            "equally well, but the judges share an error, and new retrieves documents that they overrate.\n",
            "3. Is newer better than old? By construction it is:\n",
            self._ask("newer", gold),
            f"\nThe truth: {self._reveal('newer')}.\n",
            f"4. Everything on one page:\n\n$ {self._report}",
        ]

    def draw(self) -> str:
        """The page, and where it is."""
        from karatage.views.report import write_report

        page = self.story.page
        write_report(page, self.story.survey(), command=self._report.replace(INDENT, " "))
        return f"…\nOpen {page} in a browser: the decision, and below it all three systems and the judges."

    def _ask(self, b: str, gold: Judgments | None) -> str:
        """The command, and the last sentence of its result."""
        trusted = "" if gold is None else f"-g {_quote(self.story.gold)} "
        files = f"{_quote(self.story.runs)} -j {_quote(self.story.judgments)}{INDENT}{trusted}"
        command = f"$ karatage compare {files}--a old --b {b}"
        return f"{command}\n…\n{self._compare(b, self.story.world.judgments, gold).sentence}"

    def _reveal(self, b: str) -> str:
        truth = self._compare(b, self.story.world.pool, None).naive.difference.value
        return f"{b} {truth:+.3f} against old"

    def _compare(self, b: str, judgments: Judgments, gold: Judgments | None) -> Comparison:
        from karatage.decisions.compare import compare
        from karatage.views.report import STORY_MEASURE

        return compare(self.story.world.runs, judgments, gold, STORY_MEASURE, a="old", b=b)


def _quote(path: Path) -> str:
    return shlex.quote(str(path))
