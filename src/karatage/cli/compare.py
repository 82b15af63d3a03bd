"""`karatage compare`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from karatage.cli.options import (
    FLAT,
    Chart,
    GoldFiles,
    JudgmentFiles,
    Output,
    Pair,
    Reading,
    Recorded,
    RunFiles,
    Top,
    TypedFigures,
    make_question_options,
    require_files,
)
from karatage.cli.output import choose_style, put
from karatage.cli.parsing import find_changed, name_option
from karatage.cli.terminal import progress
from karatage.data.options import Adjust
from karatage.errors import OptionError

if TYPE_CHECKING:
    from karatage.data.board import Board
    from karatage.data.comparison import Comparison

NOT_SIGNIFICANT = 1  # exit code
ADJUST: Adjust = "holm"
OF_FIGURES = ("judges", "correction", "confidence")  # parts of a question that a comparison by figures answers
Asked = make_question_options("paired")


def compare(
    runs: RunFiles = (),
    *,
    judgments: JudgmentFiles = (),
    gold: GoldFiles = (),
    pair: Annotated[Pair, FLAT] = Pair(),
    asked: Annotated[Asked, FLAT] = Asked(),  # type: ignore[valid-type]
    unpaired: bool = False,
    adjust: Adjust = ADJUST,
    figures: Annotated[TypedFigures, FLAT] = TypedFigures(),
    fail_unless_significant: bool = False,
    top: Top = 20,
    chart: Chart = None,
    recorded: Annotated[Recorded, FLAT] = Recorded(),
    reading: Annotated[Reading, FLAT] = Reading(),
    to: Annotated[Output, FLAT] = Output(),
) -> None:
    """Compare systems.

    Args:
        unpaired: Treat the systems' topics as separate, not paired.
        adjust: Correction for many pairs: Holm, Benjamini-Hochberg (bh), or none.
        fail_unless_significant: Exit with code 1 if no difference is significant.
    """
    from karatage.decisions.compare import compare as compare_two
    from karatage.decisions.compare import compare_all
    from karatage.decisions.estimators.registry import AUTO, find
    from karatage.decisions.figures import compare_figures
    from karatage.decisions.question import Question, choose_pair
    from karatage.views.charts import write_chart

    choose_style(to.format, to.output)
    if figures.given:
        if runs or judgments or gold or pair != Pair():
            raise OptionError(
                "figures cannot be combined with files or systems; give only --figures-a, --figures-b and --rates"
            )
        usual = [(asked, Asked()), (reading, Reading()), (recorded, Recorded())]
        unused = [name for given, default in usual for name in find_changed(given, default) if name not in OF_FIGURES]
        unused += [name for name, given in (("unpaired", unpaired), ("adjust", adjust != ADJUST)) if given]
        if unused:
            raise OptionError(f"{name_option(unused[0])} has no effect on a comparison by figures; leave it out")
        a, b, rates = figures.require()
        question = Question(**vars(asked))
        if question.correction != AUTO and not find(question.correction).one_process:
            raise OptionError(f"correction '{question.correction}' needs files: figures give only rates")
        found: Comparison | Board = compare_figures(
            a, b, rates, rates_b=figures.rates_b, judges=question.judges, confidence=question.confidence
        )
    else:
        require_files("compare a.run b.run -j crowd.csv -g gold.qrels", runs, judgments)
        record = recorded.read()
        retrieved, graded, trusted = reading.read_all(runs, judgments, gold, quiet=to.quiet)
        question = Question(**vars(asked), paired=not unpaired)
        named = choose_pair(retrieved, pair.a, pair.b)
        with progress("Comparing", quiet=to.quiet):
            if named is None:
                found = compare_all(retrieved, graded, trusted, question, adjust=adjust, record=record)
            else:
                found = compare_two(retrieved, graded, trusted, question, a=named[0], b=named[1], record=record)
    if chart is not None:
        write_chart(found.plot(), chart)
    put(found, to, top=top, output=to.output)
    recorded.update(found.study, quiet=to.quiet)
    if fail_unless_significant and not found.significant:
        sys.exit(NOT_SIGNIFICANT)
