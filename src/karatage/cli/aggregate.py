"""`karatage aggregate`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from karatage.cli.options import (
    FILE,
    FLAT,
    PATH,
    GoldFiles,
    JudgmentFiles,
    ModelName,
    OutputName,
    Reading,
    Seed,
    Top,
    Writing,
)
from karatage.cli.output import choose_style, emit, emit_result, encode_frame, say, tell, write_page
from karatage.cli.parsing import STANDARD_OUTPUT, Reads, Writes
from karatage.cli.terminal import progress_steps
from karatage.data.options import Supervision
from karatage.errors import OptionError

if TYPE_CHECKING:
    from karatage.data.judgments import Judgments
    from karatage.data.posterior import JudgeRecord, Posterior

QRELS_ENDINGS = (".qrels", ".qrel")
ALL_ROWS = "write a .tsv to get all"


def aggregate(
    judgments: JudgmentFiles = (),
    *,
    gold: GoldFiles = (),
    approach: ModelName = "ds",
    supervision: Supervision | None = None,
    with_gold: bool = False,
    judges: Annotated[str | None, FILE, Writes("store")] = None,
    history: Annotated[str | None, PATH, Reads(store=True)] = None,
    top: Top = 20,
    seed: Seed = 0,
    output: OutputName = STANDARD_OUTPUT,
    reading: Annotated[Reading, FLAT] = Reading(),
    to: Annotated[Writing, FLAT] = Writing(),
) -> None:
    """Merge grades.

    Args:
        approach: mv, ds, glad, ...; options in parentheses: 'ds(prior=none)'.
        supervision: How gold is used; default: full if gold is given.
        with_gold: Also write gold's grades of items without judgments.
        judges: Write the model's estimates of each judge to this file; - prints them.
        history: The file of --judges from an earlier batch (.csv, .tsv, .parquet), for ds and emgz.
        output: Write here (.qrels; .csv, .tsv, .json, .parquet with probabilities).
    """
    from karatage.aggregation.registry import aggregate as merge_grades
    from karatage.io.models import read_record

    record = None if history is None else read_record(history)
    as_qrels = to.format is None and output.removesuffix(".gz").removesuffix(".zst").endswith(QRELS_ENDINGS)
    chosen = "qrels" if as_qrels else choose_style(to.format, output)
    judges_style = None if judges is None else choose_style(to.format if judges == STANDARD_OUTPUT else None, judges)
    if with_gold and not gold:
        raise OptionError("--with-gold needs gold; give its file with -g")
    if not judgments:
        raise OptionError("no judgments were given; name their files, e.g. karatage aggregate crowd.csv")
    graded, trusted = reading.read_both(judgments, gold, quiet=to.quiet)
    with progress_steps(approach, quiet=to.quiet) as step:
        merged = merge_grades(
            graded,
            approach,
            gold=None if with_gold and not _share_items(graded, trusted) else trusted,
            supervision=supervision,
            history=record,
            rng=seed,
            progress=step,
        )
    sentence = f"{merged.sentence}{_say_accuracy(merged, trusted)}"
    added = trusted if with_gold else None
    if judges is not None and judges_style is not None:
        _write_judges(merged, record, judges_style, judges, top, sentence, raw=to.raw)
    if judges != STANDARD_OUTPUT or output != STANDARD_OUTPUT:
        _write_grades(merged, added, chosen, output, top, sentence, raw=to.raw)
    if not to.quiet:
        gold_notes = () if trusted is None else tuple(note.about("gold") for note in trusted.notes)
        tell((*graded.notes, *gold_notes, *merged.notes))
        printed = judges_style if judges == STANDARD_OUTPUT else chosen if output == STANDARD_OUTPUT else None
        if printed != "table":
            say(sentence)


def _write_grades(
    merged: Posterior, added: Judgments | None, chosen: str, output: str, top: int, sentence: str, *, raw: bool
) -> None:
    if chosen == "qrels":
        from karatage.io.judgments import read_gold
        from karatage.io.writing import write_judgments

        both = merged.as_judgments() if added is None else read_gold(merged.to_frame(added))
        write_judgments(both, output)
    elif chosen == "json":
        emit_result(merged.to_dict(gold=added), output)
    elif chosen == "table":
        from karatage.views.posterior import view_grades

        page = replace(view_grades(merged, added), sentence=sentence)
        emit(write_page(page, top=top, all_rows=ALL_ROWS), output)
    else:
        emit(encode_frame(merged.to_frame(added), chosen, raw=raw), output)


def _write_judges(
    merged: Posterior, record: JudgeRecord | None, chosen: str, path: str, top: int, sentence: str, *, raw: bool
) -> None:
    """The model's estimates of each judge, with the history of judges who graded nothing this time."""
    frame = merged.judges if record is None else record.extend(merged.judges)
    if chosen == "table":
        from karatage.views.posterior import view_record

        page = replace(view_record(merged), sentence=sentence)
        emit(write_page(page, top=top, all_rows=ALL_ROWS), path)
    elif chosen == "json":
        emit(f"{frame.write_json()}\n".encode(), path)
    else:
        emit(encode_frame(frame, chosen, raw=raw), path, store=True)


def _share_items(graded: Judgments, gold: Judgments | None) -> bool:
    """Whether gold and judgments have items in common."""
    from karatage.data.judgments import match_gold

    return gold is not None and bool((match_gold(graded, gold) >= 0).any())


def _say_accuracy(merged: Posterior, gold: Judgments | None) -> str:
    """How often merged grades agree with gold, if the model has not used it."""
    if gold is None:
        return ""
    if any(note.kind == "aggregation.gold-known" for note in merged.notes):
        return (
            " The model was trained on gold, so its accuracy cannot be measured with this gold; use --supervision "
            "none to measure it."
        )
    from karatage.data.judgments import match_gold

    if not (match_gold(merged.judgments, gold) >= 0).any():
        return (
            " Gold and judgments have no item in common, so the accuracy is not known; check that items are "
            "written in the same way in both."
        )
    return f" Of the items with gold, {merged.accuracy(gold):.1%} have the grade of gold."
