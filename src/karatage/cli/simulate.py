"""`karatage simulate`: its options, whether they go together, and the crowd that they ask for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from karatage.cli.options import (
    AT_LEAST_1,
    FLAT,
    GOLD_HELP,
    PATH,
    Chart,
    Families,
    InputFile,
    InputFiles,
    OutputFile,
    OutputName,
    OwnFolder,
    PerItem,
    Reading,
    Seed,
    Writing,
    complete,
    list_crowds,
)
from karatage.cli.parsing import STANDARD_OUTPUT, Reads, find_changed, make_options, name_option
from karatage.cli.simulate_jobs import judge_gold, judge_queue, make_collection, print_model, print_models
from karatage.cli.terminal import progress
from karatage.errors import DataError, OptionError
from karatage.simulation.profiles import CollectionShape
from karatage.text import counted, shorten

if TYPE_CHECKING:
    from karatage.data.crowd import CrowdModel
    from karatage.data.judgments import Judgments

DEFAULT = "hcb"
ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")
Shape = make_options(CollectionShape, skip=("shared",))


@dataclass(frozen=True, kw_only=True)
class Request(Writing):
    """What is to be simulated, and what is to be written.

    Args:
        model: A shipped crowd (see --list), or a file of --save; default hcb.
        like: Judgments to learn a crowd from; may be repeated.
        like_gold: Gold for them; default: GOLD.
        save: Write the crowd's model here (.json); without -o, do nothing else.
        judges: Size of the crowd; default: as the model has it.
        independent: No shared errors.
        queue: Judge what this queue asks for.
        judged: Its rows to experts with gold's grades, written here.
        collection: Make a whole collection in this folder; needs no GOLD.
        systems: Systems of the collection.
        topics: Topics of the collection.
        depth: Depth of its runs.
        output: Write the judgments here: .csv, .tsv, .jsonl, .parquet; also .gz.
    """

    model: Annotated[str | None, PATH, Reads(), complete(list_crowds)] = None
    like: InputFiles = ()
    like_gold: InputFile = None
    families: Families = None
    save: OutputFile = None
    per_item: PerItem = 5
    judges: Annotated[int | None, AT_LEAST_1] = None
    independent: bool = False
    queue: InputFile = None
    judged: OutputFile = None
    collection: OwnFolder = None
    systems: Annotated[int, AT_LEAST_1] = 12
    topics: Annotated[int, AT_LEAST_1] = 40
    depth: Annotated[int, AT_LEAST_1] = 50
    chart: Chart = None
    seed: Seed = 0
    output: OutputName = STANDARD_OUTPUT

    @property
    def only_learns(self) -> bool:
        """Whether a model is to be saved or drawn, and nothing else is asked for."""
        asked = self.collection or self.queue or self.format or self.output != STANDARD_OUTPUT
        return not asked and (self.save is not None or self.chart is not None)

    def check(self, gold: str | None, shape: list[str]) -> None:
        """Refuse what contradicts itself before any file is read."""
        self._check_model(gold)
        self._check_job(gold, shape)
        if self.judges is not None and self.judges < self.per_item:
            raise OptionError(
                f"{counted(self.judges, 'judge')} cannot give {self.per_item} judgments of an item, each one; raise "
                "--judges or lower --per-item"
            )
        self._check_files()

    def _check_model(self, gold: str | None) -> None:
        if self.model is not None and self.like:
            raise OptionError("--model names a crowd and --like asks for one to be learned; give one of them")
        if not self.like:
            for name, value in ("--like-gold", self.like_gold), ("--families", self.families):
                if value is not None:
                    raise OptionError(f"{name} is about judgments to learn from; name them with --like")
        elif gold is None and self.like_gold is None:
            raise OptionError("a crowd is learned from judgments and gold; name gold first, or give --like-gold")

    def _check_job(self, gold: str | None, shape: list[str]) -> None:
        if self.judged is not None and self.queue is None:
            raise OptionError("--judged is for the experts' part of a queue; name the queue with --queue")
        usual = Request()
        shape = [name for name in ("systems", "topics", "depth") if getattr(self, name) != getattr(usual, name)] + shape
        if self.collection is None and shape:
            raise OptionError(f"{name_option(shape[0])} is about whole collections; name a folder with --collection")
        if self.collection is not None:
            others = {"GOLD": gold, "--queue": self.queue}
            others["--output"] = None if self.output == STANDARD_OUTPUT else self.output
            for name, value in others.items():
                if value is not None:
                    raise OptionError(f"--collection makes its own gold and judgments; leave out {name}")
        elif gold is None and not self.only_learns:
            raise OptionError(
                "no gold was given, e.g. karatage simulate gold.qrels -o crowd.csv; without any, --collection FOLDER "
                "makes a whole collection"
            )

    def _check_files(self) -> None:
        """Names that cannot be written are told before the work."""
        is_folder = self.output.endswith("/") or Path(self.output).is_dir()
        if self.output != STANDARD_OUTPUT and not is_folder and _find_ending(self.output) not in ENDINGS:
            raise OptionError(f"{shorten(self.output, 200)}: cannot tell the format; use {', '.join(ENDINGS)}")
        if self.save is not None and _find_ending(self.save) != ".json":
            raise OptionError(f"{shorten(self.save, 200)}: a crowd model is written as .json")
        if self.judged is not None:
            from karatage.io.rows import find_ending

            find_ending(self.judged)
        if self.chart is not None:
            from karatage.views.charts import ENDINGS as CHART_ENDINGS

            if Path(self.chart).suffix.lower() not in CHART_ENDINGS:
                formats = ", ".join(CHART_ENDINGS)
                raise OptionError(f"{shorten(self.chart, 200)}: cannot tell the format of the chart; use {formats}")


def simulate(
    gold: Annotated[InputFile, Parameter(help=f"{GOLD_HELP}; the crowd judges its items.")] = None,
    *,
    list_all: Annotated[bool, Parameter(name="--list")] = False,
    request: Annotated[Request, FLAT] = Request(),
    shape: Annotated[Shape, FLAT] = Shape(),  # type: ignore[valid-type]
    reading: Annotated[Reading, FLAT] = Reading(),
) -> None:
    """Simulate a crowd or a collection.

    Args:
        list_all: Show the shipped crowds.
    """
    if list_all:
        print_models(request, request.output)
        return
    request.check(gold, find_changed(shape, Shape()))
    with progress("Reading", quiet=request.quiet):
        trusted = None if gold is None else _read_gold(reading, gold)
    crowd = _find_crowd(request, trusted, reading)
    crowd = crowd.independent() if request.independent else crowd
    _keep(crowd, request)
    if request.collection is not None:
        make_collection(crowd, request, CollectionShape(**vars(shape)))
    elif trusted is None or (request.only_learns and request.save is not None):
        print_model(crowd, request)
    elif request.queue is not None:
        judge_queue(crowd, trusted, request)
    else:
        judge_gold(crowd, trusted, request)


def _read_gold(reading: Reading, path: str) -> Judgments:
    """Gold with something to find in it."""
    found = reading.read_gold(path)
    if not (found.grade > 0).any():
        raise DataError(f"{path}: no item is relevant (all grades are 0), so there is nothing a crowd could find")
    return found


def _find_crowd(request: Request, trusted: Judgments | None, reading: Reading) -> CrowdModel:
    """The crowd that was named, or one like the user's judges."""
    import karatage as kt

    if not request.like:
        name = request.model or DEFAULT
        is_file = name.endswith((".json", ".json.gz", ".json.zst")) or Path(name).is_file()
        return kt.simulation.read_crowd(name) if is_file else kt.simulation.load_crowd(name)
    with progress("Learning", quiet=request.quiet):
        known = trusted if request.like_gold is None else _read_gold(reading, request.like_gold)
        assert known is not None
        families = None if request.families is None else kt.read_families(request.families)
        judgments = reading.read_judgments(request.like)
        return kt.simulation.learn_crowd(judgments, known, name=_name_model(request), families=families)


def _name_model(request: Request) -> str:
    """After the file that it is kept in, or that it was learned from."""
    from karatage.io.sources import Source

    return Source(request.save or request.like[0]).stem


def _keep(crowd: CrowdModel, request: Request) -> None:
    import karatage as kt

    if request.save is not None:
        kt.simulation.write_crowd(crowd, request.save)
    if request.chart is not None:
        kt.charts.write_chart(crowd.plot(), request.chart)


def _find_ending(path: str) -> str:
    return Path(path.removesuffix(".gz").removesuffix(".zst")).suffix.lower()
