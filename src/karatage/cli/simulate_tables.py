"""Simulated crowds and collections as text."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

from karatage.cli.output import WIDTH, choose_style, emit, encode_frame, put, render, show_table, tell
from karatage.cli.parsing import STANDARD_OUTPUT
from karatage.text import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karatage.cli.options import Printing
    from karatage.cli.simulate import Request
    from karatage.data.crowd import CrowdModel
    from karatage.data.crowd_summary import CrowdSummary
    from karatage.data.judgments import Judgments
    from karatage.data.queue import AskedQueue
    from karatage.simulation.answering import Answers
    from karatage.simulation.collection import World

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

    def list_notes(self, request: Request) -> list[str]:
        """Doubts about the crowd, and about a model that was learned for it."""
        learned = self.model.notes if request.like else ()
        return [*learned, *self.judgments.notes, *self.summary.notes]


class Told(NamedTuple):
    """What is told of a simulation."""

    notes: Sequence[str]
    sentence: str


def print_crowd(crowd: Crowd, request: Request, steps: Sequence[NextStep], notes: Sequence[str] = ()) -> None:
    """A crowd: who judged, how well, and where the judgments are."""
    summary, told = crowd.summary, Told([*notes, *crowd.list_notes(request)], crowd.summary.sentence)
    found = {"notes": told.notes, "seed": request.seed, "written": _list_written(steps)}
    lines = [fill(line, WIDTH) for line in (told.sentence, *(step.line for step in steps))]
    put(
        told,
        request,
        lambda: render(*_show_crowd(crowd), "", *lines),
        frame=crowd.judgments.to_frame,
        facts=lambda: {**summary.to_dict(), **found},
    )


def print_experts(queue: AskedQueue, answers: Answers, request: Request, steps: Sequence[NextStep]) -> None:
    """A queue of which nothing goes to the crowd."""
    import polars as pl

    count, relevant = len(answers.grade), int((answers.grade > 0).sum())
    sentence = f"Experts gave gold's grades to {counted(count, 'document')}, of which {relevant:,} relevant."
    found = {"experts": count, "relevant": relevant, "notes": answers.notes, "sentence": sentence}
    put(
        Told(answers.notes, sentence),
        request,
        lambda: render(*(fill(line, WIDTH) for line in (sentence, *(step.line for step in steps)))),
        frame=lambda: pl.DataFrame({"topic": queue.topic, "document": queue.document, "grade": answers.grade}),
        facts=lambda: {**found, "written": _list_written(steps)},
    )


def print_collection(world: World, crowd: Crowd, request: Request) -> None:
    """A collection: what is in it, who judged it, and what to do next."""
    assert request.collection is not None
    summary, home = crowd.summary, request.collection.rstrip("/")
    counts = f"{counted(len(world.runs.systems), 'system')}, {counted(len(world.gold.topics), 'topic')}"
    sentence = f"Wrote a collection of {counts} and {counted(len(world.pool.grade), 'judged document')} to {home}. "
    told = Told(crowd.list_notes(request), sentence + summary.sentence)
    truth = {"systems": world.systems.to_dicts(), "topics": world.topics.to_dicts()}
    put(
        told,
        request,
        lambda: _show_collection(world, crowd, told.sentence, home),
        frame=lambda: world.systems,
        facts=lambda: {
            "folder": home,
            "truth": truth,
            "crowd": summary.to_dict(),
            "notes": told.notes,
            "seed": request.seed,
        },
    )


def _show_collection(world: World, crowd: Crowd, sentence: str, home: str) -> str:
    from karatage.views.crowd import tabulate_collection

    parts: list[RenderableType] = [show_table(tabulate_collection(world)), "", *_show_crowd(crowd), ""]
    parts += [fill(sentence, WIDTH), fill("The truth is in its folder truth. Next:", WIDTH)]
    files = shlex.join([f"{home}/runs", "-j", f"{home}/judgments.csv", "-g", f"{home}/gold.qrels"])
    return render(*parts) + f"$ karatage evaluate {files} -a mv\n"


def print_model(model: CrowdModel, request: Request) -> None:
    """A model that was kept or drawn."""
    from karatage.views.crowd import tabulate_model

    tables = [show_table(table) for table in tabulate_model(model)]
    written = [path for path in (request.save, request.chart) if path is not None]
    emit(render(*tables, fill(model.sentence, WIDTH), f"Written to {' and '.join(written)}."), STANDARD_OUTPUT)
    if not request.quiet:
        tell(model.notes)


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
        from karatage.views.crowd import MODELS_TEXT, tabulate_models

        table = show_table(tabulate_models(models))
        sources = [fill(f"{model.name}: {model.source}", WIDTH) for model in models]
        emit(render(table, fill(MODELS_TEXT, WIDTH), "", "Learned from:", *sources), output)


def _show_crowd(crowd: Crowd) -> list[RenderableType]:
    """Judges by quality, and the crowd against gold."""
    from karatage.views.crowd import BANDS_TEXT, tabulate_bands, tabulate_crowd

    bands = tabulate_bands(crowd.summary, crowd.model)
    return [show_table(bands), BANDS_TEXT, "", show_table(tabulate_crowd(crowd.summary))]


def _list_written(steps: Sequence[NextStep]) -> dict[str, str]:
    return {step.whose: step.path for step in steps if step.path is not None}
