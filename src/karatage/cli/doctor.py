"""`karatage doctor`."""

from __future__ import annotations

import sys
from typing import Annotated

from karatage.cli.options import (
    FLAT,
    GoldFiles,
    JudgmentFiles,
    MeasureName,
    Output,
    Pair,
    Reading,
    RunFiles,
    Seed,
    Top,
    parse_columns,
)
from karatage.cli.output import choose_style, put
from karatage.cli.terminal import progress
from karatage.errors import OptionError

BAD_FILES = 2  # exit code


def doctor(
    runs: RunFiles = (),
    *,
    judgments: JudgmentFiles = (),
    gold: GoldFiles = (),
    measure: MeasureName = "P@10",
    pair: Annotated[Pair, FLAT] = Pair(),
    top: Top = 5,
    seed: Seed = 0,
    reading: Annotated[Reading, FLAT] = Reading(),
    to: Annotated[Output, FLAT] = Output(),
) -> None:
    """Check files."""
    from karatage.decisions.diagnose import examine
    from karatage.decisions.question import Question
    from karatage.decisions.reading import Sources

    choose_style(to.format, to.output)
    if not (runs or judgments or gold):
        raise OptionError("no files were given, e.g. karatage doctor runs/ -j crowd.csv -g gold.qrels")
    sources = Sources(
        runs=list(runs) or None,
        judgments=list(judgments) or None,
        gold=list(gold) or None,
        grades=(reading.grades, reading.gold_grades),
        columns=(parse_columns(reading.columns), parse_columns(reading.gold_columns)),
        repeats=reading.repeats,
    )
    with progress("Examining", quiet=to.quiet):
        found = examine(sources, Question(measure=measure, seed=seed), a=pair.a, b=pair.b)
    put(found, to, top=top, output=to.output)
    if found.state == "wrong":
        sys.exit(BAD_FILES)
