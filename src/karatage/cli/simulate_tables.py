"""Simulated crowds and collections as text."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

from karatage.cli.output import STANDARD_OUTPUT, WIDTH, choose_style, emit, encode_frame, make_table, render, say, tell
from karatage.wording import counted, shorten

if TYPE_CHECKING:
    from rich.table import Table

    from karatage.cli.options import Style
    from karatage.cli.simulate_request import Request
    from karatage.data.asked import AskedQueue
    from karatage.data.crowd import CrowdModel
    from karatage.data.crowd_summary import CrowdSummary
    from karatage.data.judgments import Judgments
    from karatage.simulation.answering import Answers
    from karatage.simulation.collection import World

SHARED = {
    "item": "part of errors shared by all judges of an item",
    "family": "part shared within families",
    "topic": "part shared over a topic",
}
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
        _emit_json({**summary.to_dict(), "notes": notes, "seed": request.seed, "written": _list_written(steps)})
    elif chosen == "tsv":
        emit(encode_frame(crowd.judgments.to_frame(), "tsv"), STANDARD_OUTPUT)
    else:
        written = [fill(step.line, WIDTH) for step in steps]
        emit(render(*_crowd_parts(crowd), "", fill(summary.sentence, WIDTH), *written), STANDARD_OUTPUT)
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
        _emit_json({**found, "written": _list_written(steps)})
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
        _emit_json({"folder": home, "truth": truth, "crowd": summary.to_dict(), "notes": notes, "seed": request.seed})
    elif chosen == "tsv":
        emit(encode_frame(world.systems, "tsv"), STANDARD_OUTPUT)
    else:
        parts = [_collection(world), "", *_crowd_parts(crowd), "", fill(sentence + summary.sentence, WIDTH)]
        parts.append(fill("The truth is in its folder truth. Next:", WIDTH))
        files = shlex.join([f"{home}/runs", "-j", f"{home}/judgments.csv", "-g", f"{home}/gold.qrels"])
        emit(render(*parts) + f"$ karatage evaluate {files} -a mv\n", STANDARD_OUTPUT)
    _tell(notes, sentence + summary.sentence, request, chosen)


def print_model(model: CrowdModel, request: Request) -> None:
    """A model that was kept or drawn."""
    rows = [
        ["judges it was learned from", f"{model.judges:,}"],
        ["their judgments", f"{model.judgments:,}"],
        ["grades", f"{model.grades}"],
        ["kinds of judges (of 400)", f"{len(model.share)}"],
        ["TPR, mean over judges", f"{model.rates[0]:.3f}"],
        ["TNR, mean over judges", f"{model.rates[1]:.3f}"],
        *([SHARED[name], f"{value:.3f}"] for name, value in model.correlation._asdict().items()),
    ]
    table = make_table(f"Crowd model {shorten(model.name, 40)}", ["what", "value"], rows, text_columns=1)
    written = [path for path in (request.save, request.chart) if path is not None]
    emit(render(table, fill(model.sentence, WIDTH), f"Written to {' and '.join(written)}."), STANDARD_OUTPUT)
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
        emit(json.dumps(frame.to_dicts(), ensure_ascii=False, indent=2) + "\n", output)
    elif chosen != "table":
        emit(encode_frame(frame, chosen), output)
    else:
        rows = [
            [name, f"{judges:,}" if judges else "-", str(grades), *(f"{rate:.2f}" for rate in rates)]
            for name, _, judges, grades, *rates in frame.iter_rows()
        ]
        table = make_table("Crowds", ["model", "judges", "grades", "TPR", "TNR", "shared"], rows, text_columns=1)
        text = "TPR and TNR are means over judges; shared is the part of errors that is not the judge's own."
        sources = [fill(f"{model.name}: {model.source}", WIDTH) for model in models]
        emit(render(table, fill(text, WIDTH), "", "Learned from:", *sources), output)


def _crowd_parts(crowd: Crowd) -> list[Table | str]:
    """Judges by quality, and the crowd against gold."""
    import polars as pl

    from karatage.data.crowd_summary import BANDS, name_bands

    model, summary = crowd.model, crowd.summary
    kinds = pl.DataFrame({"tpr": model.mean[:, 0], "tnr": model.mean[:, 1], "share": model.share})
    kinds = kinds.group_by(quality=name_bands(pl.col("tpr"), pl.col("tnr"))).agg(pl.col("share").sum())
    bands = summary.bands.join(kinds, on="quality", how="left", maintain_order="left").fill_null(0)
    rows = [
        [
            str(row["quality"]),
            _limit(row["quality"], row["from"]),
            f"{row['share']:.1%}" if row["quality"] in BANDS else "-",
            f"{row['judges']:,}",
            f"{row['judges'] / len(summary.judges):.1%}",
            f"{row['grades']:,}",
            f"{row['grades'] / summary.grades:.1%}",
        ]
        for row in bands.iter_rows(named=True)
        if row["judges"] or row["share"]
    ]
    headers = ["judges", "TPR+TNR-1", "in model", "here", "share", "grades", "share"]
    title = f"Crowd after {shorten(summary.name, 30)}: {counted(summary.items, 'item')}, {summary.relevant:,} relevant"
    values = {
        "TPR, mean over judges": summary.tpr,
        "TNR, mean over judges": summary.tnr,
        "recall of the majority": summary.recall,
        "precision of the majority": summary.precision,
        "correlation of two judges' errors": summary.correlation,
    }
    measured = [[name, "-" if value is None else f"{value:.3f}"] for name, value in values.items()]
    return [
        make_table(title, headers, rows, text_columns=1),
        "In model: by true rates. Here: by what was said, mostly chance for few items.",
        "",
        make_table("Against gold", ["statistic", "value"], measured, text_columns=1),
    ]


def _limit(quality: str, low: float) -> str:
    """Where a band begins; the lowest has an end instead."""
    from karatage.data.crowd_summary import BANDS

    if quality not in BANDS:
        return "-"
    *_, above, lowest = BANDS
    return f"below {BANDS[above]:.1f}" if quality == lowest else f"from {low:.1f}"


def _collection(world: World) -> Table:
    topics = world.topics
    documents, relevant, pooled, found = (int(topics[name].sum()) for name in topics.columns[2:])
    rows = [
        ["systems", f"quality {world.quality.min():.2f} to {world.quality.max():.2f}", f"{len(world.quality):,}"],
        ["topics", f"difficulty {world.difficulty.min():.2f} to {world.difficulty.max():.2f}", f"{len(topics):,}"],
        ["documents", f"{relevant:,} relevant ({relevant / documents:.1%})", f"{documents:,}"],
        ["pool", f"{found:,} relevant ({found / max(relevant, 1):.1%} of all)", f"{pooled:,}"],
    ]
    return make_table("Collection", ["what", "of which", "number"], rows, text_columns=2)


def _list_written(steps: Sequence[NextStep]) -> dict[str, str]:
    return {step.whose: step.path for step in steps if step.path is not None}


def _emit_json(found: dict[str, object]) -> None:
    emit(json.dumps(found, ensure_ascii=False, indent=2) + "\n", STANDARD_OUTPUT)


def _tell(notes: Sequence[str], sentence: str, request: Request, chosen: str) -> None:
    if request.quiet:
        return
    tell(notes)
    if chosen != "table":
        say(sentence)
