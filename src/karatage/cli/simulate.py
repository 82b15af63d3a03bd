"""`karatage simulate`: a crowd on gold or on a queue, a whole collection, or the model of a crowd."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

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
from karatage.cli.output import choose_style, emit, encode_frame, put, write_page, write_paragraphs
from karatage.cli.output import tell as print_notes
from karatage.cli.parsing import STANDARD_OUTPUT, Reads, find_changed, make_options, name_option
from karatage.cli.terminal import progress
from karatage.errors import DataError, OptionError
from karatage.simulation.notes import tell
from karatage.simulation.profiles import CollectionShape
from karatage.text import counted, shorten

if TYPE_CHECKING:
    import polars as pl

    from karatage.cli.options import Printing
    from karatage.data.crowd import CrowdModel, CrowdSummary
    from karatage.data.judgments import Judgments
    from karatage.data.note import Note
    from karatage.data.queue import AskedQueue
    from karatage.simulation.answering import Answers
    from karatage.simulation.collection import World

DEFAULT = "hcb"
ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")
OPTION = {"crowd": ("-o", "crowd.csv"), "experts": ("--judged", "judged.csv")}
INDEPENDENT = ":independent"  # how experiments ask for it, as they take several crowds
Shape = make_options(CollectionShape, skip=("shared",))


@dataclass(frozen=True, kw_only=True)
class Request(Writing):
    """What is simulated, and what is written.

    Args:
        model: A shipped crowd (see --list), or a file of --save; default: hcb.
        like: Judgments to learn a crowd from; may be repeated.
        like_gold: Gold for the judgments of --like; default: GOLD.
        save: Write the crowd's model here (.json); without -o, only this is done.
        judges: Number of judges in the crowd; default: that of the model.
        independent: Give the judges independent errors.
        queue: Judge the documents of this queue.
        judged: Write the experts' rows of the queue here, with the grades of gold.
        collection: Write a whole collection to this folder; needs no GOLD.
        systems: Systems of the collection.
        topics: Topics of the collection.
        depth: Depth of the collection's runs.
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
        """Whether only a model is to be written or charted."""
        asked = self.collection or self.queue or self.format or self.output != STANDARD_OUTPUT
        return not asked and (self.save is not None or self.chart is not None)

    def check(self, gold: str | None, shape: list[str]) -> None:
        """Refuse contradictory options before any file is read."""
        self._check_model(gold)
        self._check_job(gold, shape)
        if self.judges is not None and self.judges < self.per_item:
            raise OptionError(
                f"{counted(self.judges, 'judge')} cannot give {self.per_item} judgments of an item, because each "
                f"judge gives one; increase --judges or decrease --per-item"
            )
        self._check_files()

    def _check_model(self, gold: str | None) -> None:
        if self.model is not None and self.model.endswith(INDEPENDENT) and not Path(self.model).exists():
            name = shorten(self.model.removesuffix(INDEPENDENT))
            raise OptionError(f"for a crowd with independent errors use --model {name} --independent")
        if self.model is not None and self.like:
            raise OptionError("--model names a crowd and --like learns one; give one of them")
        if not self.like:
            for name, value in ("--like-gold", self.like_gold), ("--families", self.families):
                if value is not None:
                    raise OptionError(
                        f"{name} is only for a crowd that is learned from judgments; name the judgments with --like"
                    )
        elif gold is None and self.like_gold is None:
            raise OptionError(
                "--like needs gold to learn a crowd from judgments; give gold as the first argument, or "
                "with --like-gold"
            )

    def _check_job(self, gold: str | None, shape: list[str]) -> None:
        if self.judged is not None and self.queue is None:
            raise OptionError("--judged is for the experts' part of a queue; name the queue with --queue")
        usual = Request()
        shape = [name for name in ("systems", "topics", "depth") if getattr(self, name) != getattr(usual, name)] + shape
        if self.collection is None and shape:
            raise OptionError(f"{name_option(shape[0])} is only for whole collections; name a folder with --collection")
        if self.collection is not None:
            others = {"GOLD": gold, "--queue": self.queue}
            others["--output"] = None if self.output == STANDARD_OUTPUT else self.output
            for name, value in others.items():
                if value is not None:
                    raise OptionError(f"--collection makes its own gold and judgments; leave out {name}")
        elif gold is None and not self.only_learns:
            raise OptionError(
                "no gold was given, e.g. karatage simulate gold.qrels -o crowd.csv; --collection FOLDER needs none"
            )

    def _check_files(self) -> None:
        """Refuse names that cannot be written before the work."""
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
        list_all: List the shipped crowds.
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
    """Gold with relevant items."""
    found = reading.read_gold(path)
    if not (found.grade > 0).any():
        raise DataError(f"{path}: no item is relevant (all grades are 0), so a crowd cannot be simulated")
    return found


def _find_crowd(request: Request, trusted: Judgments | None, reading: Reading) -> CrowdModel:
    """The named crowd, or one that is learned from the user's judges."""
    from karatage.io.models import read_crowd, read_families
    from karatage.simulation.crowd import load_crowd
    from karatage.simulation.learning import learn_crowd

    if not request.like:
        name = request.model or DEFAULT
        is_file = name.endswith((".json", ".json.gz", ".json.zst")) or Path(name).is_file()
        return read_crowd(name) if is_file else load_crowd(name)
    with progress("Learning", quiet=request.quiet):
        known = trusted if request.like_gold is None else _read_gold(reading, request.like_gold)
        assert known is not None
        families = None if request.families is None else read_families(request.families)
        judgments = reading.read_judgments(request.like)
        return learn_crowd(judgments, known, name=_name_model(request), families=families)


def _name_model(request: Request) -> str:
    """The name of the file that the model is written to, or learned from."""
    from karatage.io.sources import Source

    return Source(request.save or request.like[0]).stem


def _keep(crowd: CrowdModel, request: Request) -> None:
    if request.save is not None:
        from karatage.io.models import write_crowd

        write_crowd(crowd, request.save)
    if request.chart is not None:
        from karatage.views.charts import write_chart

        write_chart(crowd.plot(), request.chart)


def _find_ending(path: str) -> str:
    return Path(path.removesuffix(".gz").removesuffix(".zst")).suffix.lower()


class NextStep(NamedTuple):
    """Whose judgments there are, how many, and where they were written."""

    whose: str
    judgments: int
    path: str | None

    @property
    def line(self) -> str:
        """For people."""
        what = f"{counted(self.judgments, 'judgment')} of the {self.whose}"
        if self.path is None:
            option, example = OPTION[self.whose]
            return f"{what} not written: name a file, e.g. {option} {example}."
        return f"{what} written to {self.path}."


class Crowd(NamedTuple):
    """A crowd that has judged."""

    model: CrowdModel
    judgments: Judgments
    summary: CrowdSummary

    def list_notes(self, request: Request) -> list[Note]:
        """Notes on the crowd, and on its model if that was learned."""
        learned = self.model.notes if request.like else ()
        return [*learned, *self.judgments.notes, *self.summary.notes]


@dataclass(frozen=True)
class Told:
    """What is printed about a simulation."""

    notes: Sequence[Note]
    sentence: str
    to_frame: Callable[[], pl.DataFrame]
    to_dict: Callable[[], Mapping[str, object]]


def judge_gold(crowd: CrowdModel, gold: Judgments, request: Request) -> None:
    """Let the crowd judge the user's gold."""
    with progress("Simulating", quiet=request.quiet):
        found = _simulate_crowd(crowd, gold, gold, request)
    print_crowd(found, request, [_write_crowd(found.judgments, request)])


def judge_queue(crowd: CrowdModel, gold: Judgments, request: Request) -> None:
    """Judge a queue: experts' rows get the grades of gold, the others the crowd's."""
    from karatage.io.queues import read_asked, write_judged
    from karatage.simulation.answering import answer_queue, summarise_crowd

    assert request.queue is not None
    queue = read_asked(request.queue)
    experts = int(queue.expert.sum())
    unwritten = []  # a queue may have no rows of one kind, which is not an error
    if request.judged is not None and not experts:
        unwritten.append(tell("no-expert-rows", queue=str(queue.source), path=str(request.judged)))
    if request.output != STANDARD_OUTPUT and experts == len(queue.expert):
        unwritten.append(tell("no-crowd-rows", queue=str(queue.source), path=str(request.output)))
    with progress("Judging", quiet=request.quiet):
        answers = answer_queue(queue, gold, crowd, per_item=request.per_item, judges=request.judges, rng=request.seed)
    answers = replace(answers, notes=(*answers.notes, *unwritten))
    steps = []
    if experts:
        if request.judged is not None:
            write_judged(queue, answers.grade, request.judged, raw=request.raw)
        steps.append(NextStep("experts", experts, request.judged))
    if answers.crowd is None or answers.asked is None:
        print_experts(queue, answers, request, steps)
        return
    summary = summarise_crowd(answers.crowd, answers.asked, name=crowd.name)
    steps.append(_write_crowd(answers.crowd, request))
    print_crowd(Crowd(crowd, answers.crowd, summary), request, steps, answers.notes)


def make_collection(crowd: CrowdModel, request: Request, shape: CollectionShape) -> None:
    """Write runs, gold, truth and a crowd's judgments as ordinary files."""
    from karatage.io.writing import encode_table, refuse_other_collection, write_bytes, write_judgments, write_run
    from karatage.simulation.collection import simulate_collection

    assert request.collection is not None
    home = Path(request.collection)
    with progress("Simulating", quiet=request.quiet):
        world = simulate_collection(
            systems=request.systems, topics=request.topics, depth=request.depth, shape=shape, rng=request.seed
        )
        refuse_other_collection(home, world.runs.systems, world.pool)
        found = _simulate_crowd(crowd, _limit_grades(world.pool, crowd), world.pool, request)
        for system in world.runs.systems:
            write_run(world.runs, system, home / "runs" / f"{system}.gz")
        write_judgments(world.pool, home / "gold.qrels")
        write_judgments(found.judgments, home / "judgments.csv", raw=request.raw)
        write_judgments(world.gold, home / "truth" / "gold.qrels")
        write_bytes(home / "truth" / "systems.tsv", encode_table(world.systems, ".tsv"))
        write_bytes(home / "truth" / "topics.tsv", encode_table(world.topics, ".tsv"))
    print_collection(world, found, request)


def _simulate_crowd(crowd: CrowdModel, judged: Judgments, gold: Judgments, request: Request) -> Crowd:
    """The crowd's judgments of `judged`, compared with gold."""
    from karatage.simulation.answering import summarise_crowd
    from karatage.simulation.crowd import simulate_crowd

    judgments = simulate_crowd(judged, crowd, per_item=request.per_item, judges=request.judges, rng=request.seed)
    return Crowd(crowd, judgments, summarise_crowd(judgments, gold, name=crowd.name))


def _write_crowd(judgments: Judgments, request: Request) -> NextStep:
    from karatage.io.writing import write_judgments

    if request.output != STANDARD_OUTPUT:
        write_judgments(judgments, request.output, raw=request.raw)
    return NextStep("crowd", len(judgments.grade), None if request.output == STANDARD_OUTPUT else request.output)


def _limit_grades(gold: Judgments, crowd: CrowdModel) -> Judgments:
    """Gold on the judges' scale: higher grades become its top grade."""
    import numpy as np

    top = crowd.grades - 1
    if crowd.confusion is None or gold.top_grade <= top:
        return gold
    note = tell("grades-limited", crowd=crowd.name, top=top)
    return replace(gold, grade=np.minimum(gold.grade, top).astype(np.int8), top_grade=top, notes=(*gold.notes, note))


def print_crowd(crowd: Crowd, request: Request, steps: Sequence[NextStep], notes: Sequence[Note] = ()) -> None:
    """Print a crowd: its judges, their accuracy, and the file of the judgments."""
    from karatage.data.codec import unstructure
    from karatage.views.crowd import view_summary

    summary, doubts = crowd.summary, [*notes, *crowd.list_notes(request)]
    found = {"notes": unstructure(doubts), "seed": request.seed, "written": _list_written(steps)}
    told = Told(doubts, summary.sentence, crowd.judgments.to_frame, lambda: {**summary.to_dict(), **found})
    put(told, request, lambda: write_page(view_summary(summary, crowd.model), *(step.line for step in steps)))


def print_experts(queue: AskedQueue, answers: Answers, request: Request, steps: Sequence[NextStep]) -> None:
    """Print a queue without rows for the crowd."""
    import polars as pl

    from karatage.data.codec import unstructure

    count, relevant = len(answers.grade), int((answers.grade > 0).sum())
    sentence = f"Experts gave gold's grades to {counted(count, 'document')}, of which {relevant:,} are relevant."
    found = {"experts": count, "relevant": relevant, "notes": unstructure(list(answers.notes)), "sentence": sentence}
    told = Told(
        answers.notes,
        sentence,
        lambda: pl.DataFrame({"topic": queue.topic, "document": queue.document, "grade": answers.grade}),
        lambda: {**found, "written": _list_written(steps)},
    )
    put(told, request, lambda: write_paragraphs(sentence, *(step.line for step in steps)))


def print_collection(world: World, crowd: Crowd, request: Request) -> None:
    """Print a collection: its contents, its judges, and the next command."""
    from karatage.data.codec import unstructure
    from karatage.views.crowd import view_collection

    assert request.collection is not None
    summary, home = crowd.summary, request.collection.rstrip("/")
    counts = f"{counted(len(world.runs.systems), 'system')}, {counted(len(world.gold.topics), 'topic')}"
    sentence = f"Wrote a collection of {counts} and {counted(len(world.pool.grade), 'judged document')} to {home}. "
    sentence += summary.sentence
    notes = crowd.list_notes(request)
    truth = {"systems": world.systems.to_dicts(), "topics": world.topics.to_dicts()}
    found = {
        "folder": home,
        "truth": truth,
        "crowd": summary.to_dict(),
        "notes": unstructure(notes),
        "seed": request.seed,
    }
    files = shlex.join([f"{home}/runs", "-j", f"{home}/judgments.csv", "-g", f"{home}/gold.qrels"])
    then = "The folder truth contains the truth. Next:", f"$ karatage evaluate {files} -a mv"
    put(
        Told(notes, sentence, lambda: world.systems, lambda: found),
        request,
        lambda: write_page(replace(view_collection(world, summary, crowd.model), sentence=sentence), *then),
    )


def print_model(model: CrowdModel, request: Request) -> None:
    """Print a model that was written or charted."""
    from karatage.views.crowd import view_crowd

    written = [path for path in (request.save, request.chart) if path is not None]
    emit(write_page(view_crowd(model), f"Written to {' and '.join(written)}."), STANDARD_OUTPUT)
    if not request.quiet:
        print_notes(model.notes)


def print_models(to: Printing, output: str) -> None:
    """Print the crowds that come with the library, one in each line."""
    import polars as pl

    from karatage.simulation.crowd import list_crowds, load_crowd

    models = [load_crowd(name) for name in list_crowds()]
    frame = pl.DataFrame(
        {
            "model": [model.name for model in models],
            "source": [model.source for model in models],
            "judges": [model.judges for model in models],
            "grades": [model.grades for model in models],
            "tpr": [float(model.rates[0]) for model in models],
            "tnr": [float(model.rates[1]) for model in models],
            "shared": [float(sum(model.correlation)) for model in models],
        }
    )
    chosen = choose_style(to.format, output)
    if chosen == "json":
        emit(f"{json.dumps(frame.to_dicts(), ensure_ascii=False, indent=2)}\n".encode(), output)
    elif chosen != "table":
        emit(encode_frame(frame, chosen), output)
    else:
        from karatage.views.crowd import view_models

        emit(write_page(view_models(models)), output)


def _list_written(steps: Sequence[NextStep]) -> dict[str, str]:
    return {step.whose: step.path for step in steps if step.path is not None}
