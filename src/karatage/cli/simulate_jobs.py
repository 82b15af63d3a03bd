"""The jobs of `karatage simulate`: judge gold, judge a queue, make a collection."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from karatage.cli.output import choose_style, emit, encode_frame, put, write_page, write_paragraphs
from karatage.cli.output import tell as print_notes
from karatage.cli.parsing import STANDARD_OUTPUT
from karatage.cli.terminal import progress
from karatage.simulation.notes import tell
from karatage.text import counted

if TYPE_CHECKING:
    import polars as pl

    from karatage.cli.options import Printing
    from karatage.cli.simulate import Request
    from karatage.data.crowd import CrowdModel, CrowdSummary
    from karatage.data.judgments import Judgments
    from karatage.data.note import Note
    from karatage.data.queue import AskedQueue
    from karatage.simulation.answering import Answers
    from karatage.simulation.collection import World
    from karatage.simulation.profiles import CollectionShape

OPTION = {"crowd": ("-o", "crowd.csv"), "experts": ("--judged", "judged.csv")}


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
        """Doubts about the crowd, and about a model that was learned for it."""
        learned = self.model.notes if request.like else ()
        return [*learned, *self.judgments.notes, *self.summary.notes]


@dataclass(frozen=True)
class Told:
    """What is told of a simulation."""

    notes: Sequence[Note]
    sentence: str
    to_frame: Callable[[], pl.DataFrame]
    to_dict: Callable[[], Mapping[str, object]]


def judge_gold(crowd: CrowdModel, gold: Judgments, request: Request) -> None:
    """A crowd on the user's gold."""
    import karatage as kt
    from karatage.simulation.answering import summarise_crowd

    with progress("Simulating", quiet=request.quiet):
        judgments = kt.simulation.simulate_crowd(
            gold, crowd, per_item=request.per_item, judges=request.judges, rng=request.seed
        )
        summary = summarise_crowd(judgments, gold, name=crowd.name)
    print_crowd(Crowd(crowd, judgments, summary), request, [_write_crowd(judgments, request)])


def judge_queue(crowd: CrowdModel, gold: Judgments, request: Request) -> None:
    """What a queue asks for: experts' rows from gold, the others from the crowd."""
    from karatage.io.queues import read_asked, write_judged
    from karatage.simulation.answering import answer_queue, summarise_crowd

    assert request.queue is not None
    queue = read_asked(request.queue)
    experts = int(queue.expert.sum())
    unwritten = []  # in a loop of judging either side may have nothing to do, which is no reason to stop it
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
    """Runs, gold, truth and a crowd's judgments, as ordinary files."""
    import karatage as kt
    from karatage.io.writing import encode_table, refuse_other_collection, write_bytes
    from karatage.simulation.answering import summarise_crowd

    assert request.collection is not None
    home = Path(request.collection)
    with progress("Simulating", quiet=request.quiet):
        world = kt.simulation.simulate_collection(
            systems=request.systems, topics=request.topics, depth=request.depth, shape=shape, rng=request.seed
        )
        refuse_other_collection(home, world.runs.systems, world.pool)
        gold = _limit_grades(world.pool, crowd)
        judgments = kt.simulation.simulate_crowd(
            gold, crowd, per_item=request.per_item, judges=request.judges, rng=request.seed
        )
        for system in world.runs.systems:
            kt.write_run(world.runs, system, home / "runs" / f"{system}.gz")
        kt.write_judgments(world.pool, home / "gold.qrels")
        kt.write_judgments(judgments, home / "judgments.csv", raw=request.raw)
        kt.write_judgments(world.gold, home / "truth" / "gold.qrels")
        write_bytes(home / "truth" / "systems.tsv", encode_table(world.systems, ".tsv"))
        write_bytes(home / "truth" / "topics.tsv", encode_table(world.topics, ".tsv"))
        summary = summarise_crowd(judgments, world.pool, name=crowd.name)
    print_collection(world, Crowd(crowd, judgments, summary), request)


def _write_crowd(judgments: Judgments, request: Request) -> NextStep:
    from karatage.io.writing import write_judgments

    if request.output != STANDARD_OUTPUT:
        write_judgments(judgments, request.output, raw=request.raw)
    return NextStep("crowd", len(judgments.grade), None if request.output == STANDARD_OUTPUT else request.output)


def _limit_grades(gold: Judgments, crowd: CrowdModel) -> Judgments:
    """Gold as far as the judges' scale goes: what is above it is its top grade."""
    import numpy as np

    top = crowd.grades - 1
    if crowd.confusion is None or gold.top_grade <= top:
        return gold
    note = tell("grades-limited", crowd=crowd.name, top=top)
    return replace(gold, grade=np.minimum(gold.grade, top).astype(np.int8), top_grade=top, notes=(*gold.notes, note))


def print_crowd(crowd: Crowd, request: Request, steps: Sequence[NextStep], notes: Sequence[Note] = ()) -> None:
    """A crowd: who judged, how well, and where the judgments are."""
    from karatage.data.codec import unstructure
    from karatage.views.crowd import view_summary

    summary, doubts = crowd.summary, [*notes, *crowd.list_notes(request)]
    found = {"notes": unstructure(doubts), "seed": request.seed, "written": _list_written(steps)}
    told = Told(doubts, summary.sentence, crowd.judgments.to_frame, lambda: {**summary.to_dict(), **found})
    put(told, request, lambda: write_page(view_summary(summary, crowd.model), *(step.line for step in steps)))


def print_experts(queue: AskedQueue, answers: Answers, request: Request, steps: Sequence[NextStep]) -> None:
    """A queue of which nothing goes to the crowd."""
    import polars as pl

    from karatage.data.codec import unstructure

    count, relevant = len(answers.grade), int((answers.grade > 0).sum())
    sentence = f"Experts gave gold's grades to {counted(count, 'document')}, of which {relevant:,} relevant."
    found = {"experts": count, "relevant": relevant, "notes": unstructure(list(answers.notes)), "sentence": sentence}
    told = Told(
        answers.notes,
        sentence,
        lambda: pl.DataFrame({"topic": queue.topic, "document": queue.document, "grade": answers.grade}),
        lambda: {**found, "written": _list_written(steps)},
    )
    put(told, request, lambda: write_paragraphs(sentence, *(step.line for step in steps)))


def print_collection(world: World, crowd: Crowd, request: Request) -> None:
    """A collection: what is in it, who judged it, and what to do next."""
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
    then = "The truth is in its folder truth. Next:", f"$ karatage evaluate {files} -a mv"
    put(
        Told(notes, sentence, lambda: world.systems, lambda: found),
        request,
        lambda: write_page(replace(view_collection(world, summary, crowd.model), sentence=sentence), *then),
    )


def print_model(model: CrowdModel, request: Request) -> None:
    """A model that was kept or drawn."""
    from karatage.views.crowd import view_crowd

    written = [path for path in (request.save, request.chart) if path is not None]
    emit(write_page(view_crowd(model), f"Written to {' and '.join(written)}."), STANDARD_OUTPUT)
    if not request.quiet:
        print_notes(model.notes)


def print_models(to: Printing, output: str) -> None:
    """The crowds that come with the library, a line each."""
    import polars as pl

    import karatage as kt

    models = [kt.simulation.load_crowd(name) for name in kt.simulation.list_crowds()]
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
