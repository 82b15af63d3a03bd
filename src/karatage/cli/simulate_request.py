"""What was asked of `karatage simulate`, and whether it can be."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from karatage.cli.figures import parse_number
from karatage.cli.options import Style
from karatage.cli.output import STANDARD_OUTPUT
from karatage.errors import OptionError
from karatage.text import counted, shorten

if TYPE_CHECKING:
    from karatage.simulation.collection import World

ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")
QUALITY_FORM = "worst,best, e.g. 0.8,1.6"


@dataclass(frozen=True)
class ShapeOptions:
    """Options of a collection, called as on the command line; None where not given."""

    systems: int | None
    topics: int | None
    depth: int | None
    documents: int | None
    pool: int | None
    relevant: float | None
    quality: str | None
    difficulty: float | None

    @property
    def given(self) -> list[str]:
        """The options that were given."""
        return [f"--{field.name}" for field in fields(self) if getattr(self, field.name) is not None]

    def simulate(self, seed: int) -> World:
        """The collection asked for."""
        import karatage as kt
        from karatage.simulation.shape import USUAL

        shape = kt.CollectionShape(
            documents=self.documents,
            pool=self.pool,
            relevant=self.relevant,
            quality=USUAL.quality if self.quality is None else _parse_quality(self.quality),
            difficulty=USUAL.difficulty if self.difficulty is None else self.difficulty,
        )
        return kt.simulate_collection(
            systems=self.systems or 12, topics=self.topics or 40, depth=self.depth or 50, shape=shape, rng=seed
        )


@dataclass(frozen=True, kw_only=True)
class Request:
    """Options of the command that more than one of its jobs needs."""

    gold: str | None
    model: str | None
    like: list[str]
    like_gold: str | None
    families: str | None
    save: str | None
    per_item: int
    judges: int | None
    queue: str | None
    judged: str | None
    collection: str | None
    shape: ShapeOptions
    chart: str | None
    seed: int
    style: Style | None
    output: str
    raw: bool
    quiet: bool

    @property
    def only_learns(self) -> bool:
        """Whether a model is to be saved, or without gold to be drawn, and nothing else."""
        asked = self.collection or self.queue or self.style or self.output != STANDARD_OUTPUT
        return not asked and (self.save is not None or (self.chart is not None and self.gold is None))

    def check(self) -> None:
        """Refuse what contradicts itself before any file is read."""
        self._check_model()
        self._check_job()
        self._check_numbers()
        self._check_files()

    def _check_model(self) -> None:
        if self.model is not None and self.like:
            raise OptionError("--model names a crowd and --like asks for one to be learned; give one of them")
        if not self.like:
            for name, value in ("--like-gold", self.like_gold), ("--families", self.families):
                if value is not None:
                    raise OptionError(f"{name} is about judgments to learn from; name them with --like")
        elif self.gold is None and self.like_gold is None:
            raise OptionError("a crowd is learned from judgments and gold; name gold first, or give --like-gold")

    def _check_job(self) -> None:
        if self.judged is not None and self.queue is None:
            raise OptionError("--judged is for the experts' part of a queue; name the queue with --queue")
        if self.collection is None and self.shape.given:
            raise OptionError(f"{self.shape.given[0]} is about whole collections; name a folder with --collection")
        if self.collection is not None:
            others = {"GOLD": self.gold, "--queue": self.queue}
            others["--output"] = None if self.output == STANDARD_OUTPUT else self.output
            for name, value in others.items():
                if value is not None:
                    raise OptionError(f"--collection makes gold and judgments of its own; leave out {name}")
        elif self.gold is None and not self.only_learns:
            raise OptionError(
                "no gold was given, e.g. karatage simulate gold.qrels -o crowd.csv; without any, --collection FOLDER "
                "makes a whole collection"
            )

    def _check_numbers(self) -> None:
        if self.judges is not None and self.judges < self.per_item:
            raise OptionError(
                f"{counted(self.judges, 'judge')} cannot give {self.per_item} judgments of an item, each one; raise "
                "--judges or lower --per-item"
            )

    def _check_files(self) -> None:
        """Names that cannot be written are told before the work."""
        is_folder = self.output.endswith("/") or Path(self.output).is_dir()
        if self.output != STANDARD_OUTPUT and not is_folder and _find_ending(self.output) not in ENDINGS:
            raise OptionError(f"{shorten(self.output, 200)}: cannot tell the format; use {', '.join(ENDINGS)}")
        if self.save is not None and _find_ending(self.save) != ".json":
            raise OptionError(f"{shorten(self.save, 200)}: a crowd model is written as .json")
        if self.judged is not None:
            from karatage.io.queues import find_ending

            find_ending(self.judged)
        if self.chart is not None:
            from karatage.views.charts import ENDINGS as CHART_ENDINGS

            if Path(self.chart).suffix.lower() not in CHART_ENDINGS:
                formats = ", ".join(CHART_ENDINGS)
                raise OptionError(f"{shorten(self.chart, 200)}: cannot tell the format of the chart; use {formats}")


def _find_ending(path: str) -> str:
    return Path(path.removesuffix(".gz").removesuffix(".zst")).suffix.lower()


def _parse_quality(text: str) -> tuple[float, float]:
    parts = text.split(",")
    if len(parts) != 2:
        raise OptionError(f"--quality '{shorten(text)}' has {counted(len(parts), 'part')}; write it as {QUALITY_FORM}")
    worst, best = (parse_number(part, "--quality", text, QUALITY_FORM) for part in parts)
    return worst, best
