"""Simulated crowds and collections as text."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

from karatage.cli.output import (
    STANDARD_OUTPUT,
    WIDTH,
    choose_style,
    emit,
    emit_result,
    encode_frame,
    render,
    say,
    show_table,
    tell,
)
from karatage.text import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karatage.cli.options import Style
    from karatage.cli.simulate_request import Request
    from karatage.data.asked import AskedQueue
    from karatage.data.crowd import CrowdModel
    from karatage.data.crowd_summary import CrowdSummary
    from karatage.data.judgments import Judgments
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


def print_crowd(crowd: Crowd, request: Request, steps: Sequence[NextStep], notes: Sequence[str] = ()) -> None:
    """A crowd: who judged, how well, and where the judgments are."""
    chosen = "table" if request.style is None else request.style.value
    summary = crowd.summary
    notes = [*notes, *crowd.list_notes(request)]
    if chosen == "json":
        found = {**summary.to_dict(), "notes": notes, "seed": request.seed}
        emit_result({**found, "written": _list_written(steps)}, STANDARD_OUTPUT)
    elif chosen == "tsv":
        emit(encode_frame(crowd.judgments.to_frame(), "tsv"), STANDARD_OUTPUT)
    else:
        written = [fill(step.line, WIDTH) for step in steps]
        emit(render(*_show_crowd(crowd), "", fill(summary.sentence, WIDTH), *written), STANDARD_OUTPUT)
    _tell(notes, summary.sentence, request, chosen)


def print_experts(queue: AskedQueue, answers: Answers, request: Request, steps: Sequence[NextStep]) -> None:
    """A queue of which nothing goes to the crowd."""
    import polars as pl

    relevant = int((answers.grade > 0).sum())
    sentence = (
        f"Experts gave gold's grades to {counted(len(answers.grade), 'document')}, of which {relevant:,} relevant."
    )
    chosen = "table" if request.style is None else request.style.value
    if chosen == "json":
        found = {"experts": len(answers.grade), "relevant": relevant, "notes": answers.notes, "sentence": sentence}
        emit_result({**found, "written": _list_written(steps)}, STANDARD_OUTPUT)
    elif chosen == "tsv":
        table = {"topic": queue.topic, "document": queue.document, "grade": answers.grade}
        emit(encode_frame(pl.DataFrame(table), "tsv"), STANDARD_OUTPUT)
    else:
        emit(render(fill(sentence, WIDTH), *(fill(step.line, WIDTH) for step in steps)), STANDARD_OUTPUT)
    _tell(answers.notes, sentence, request, chosen)


def print_collection(world: World, crowd: Crowd, request: Request) -> None:
    """A collection: what is in it, who judged it, and what to do next."""
    summary, notes = crowd.summary, crowd.list_notes(request)
    assert request.collection is not None
    home = request.collection.rstrip("/")
    counts = f"{counted(len(world.runs.systems), 'system')}, {counted(len(world.gold.topics), 'topic')}"
    sentence = f"Wrote a collection of {counts} and {counted(len(world.pool.grade), 'judged document')} to {home}. "
    chosen = "table" if request.style is None else request.style.value
    if chosen == "json":
        truth = {"systems": world.systems.to_dicts(), "topics": world.topics.to_dicts()}
        told = {"folder": home, "truth": truth, "crowd": summary.to_dict(), "notes": notes, "seed": request.seed}
        emit_result(told, STANDARD_OUTPUT)
    elif chosen == "tsv":
        emit(encode_frame(world.systems, "tsv"), STANDARD_OUTPUT)
    else:
        from karatage.views.crowd import tabulate_collection

        parts: list[RenderableType] = [show_table(tabulate_collection(world)), "", *_show_crowd(crowd), ""]
        parts.append(fill(sentence + summary.sentence, WIDTH))
        parts.append(fill("The truth is in its folder truth. Next:", WIDTH))
        files = shlex.join([f"{home}/runs", "-j", f"{home}/judgments.csv", "-g", f"{home}/gold.qrels"])
        emit(render(*parts) + f"$ karatage evaluate {files} -a mv\n", STANDARD_OUTPUT)
    _tell(notes, sentence + summary.sentence, request, chosen)


def print_model(model: CrowdModel, request: Request) -> None:
    """A model that was kept or drawn."""
    from karatage.views.crowd import tabulate_model

    tables = [show_table(table) for table in tabulate_model(model)]
    written = [path for path in (request.save, request.chart) if path is not None]
    emit(render(*tables, fill(model.sentence, WIDTH), f"Written to {' and '.join(written)}."), STANDARD_OUTPUT)
    if not request.quiet:
        tell(model.notes)


def print_models(style: Style | None, output: str) -> None:
    """The crowds that come with the library, a line each."""
    import polars as pl

    import karatage as kt

    models = [kt.load_crowd(name) for name in kt.list_crowds()]
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
    chosen = choose_style(style, output)
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


def _tell(notes: Sequence[str], sentence: str, request: Request, chosen: str) -> None:
    if request.quiet:
        return
    tell(notes)
    if chosen != "table":
        say(sentence)
