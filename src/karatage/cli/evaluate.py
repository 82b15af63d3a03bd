"""`karatage evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from karatage.cli import options
from karatage.cli.output import (
    STANDARD_OUTPUT,
    choose_style,
    emit,
    encode_frame,
    fits,
    make_table,
    progress,
    render,
    say,
    tell,
)
from karatage.wording import counted, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

    from karatage.data.draws import Draws
    from karatage.data.evaluation import Evaluation

WIDEST_HEADER = 24


def evaluate(
    run_files: options.RunFiles = None,
    *,
    judgments: options.JudgmentFiles,
    runs: options.MoreRunFiles = None,
    gold: options.GoldFile = None,
    measure: options.Measures = ["nDCG@10"],  # noqa: B006 typer copies it
    approach: options.Approaches = ["uniform", "mv"],  # noqa: B006
    grades: options.Grades = None,
    gold_grades: options.GoldGrades = None,
    columns: options.Columns = None,
    gold_columns: options.GoldColumns = None,
    repeats: options.Repeats = None,
    per_topic: Annotated[
        bool, typer.Option("--per-topic", help="Scores for every topic (tsv, json, parquet).")
    ] = False,
    top: Annotated[int, typer.Option("--top", min=0, help="Systems shown in tables; 0 = all.")] = 20,
    draws: Annotated[
        int,
        typer.Option("--draws", min=0, help="Draw grades so many times from merged ones: intervals, P(A beats B)."),
    ] = 0,
    seed: options.Seed = 0,
    style: options.Format = None,
    output: options.Output = "-",
    quiet: options.Quiet = False,
) -> None:
    """Rank systems under noisy judges, and say how near each approach comes to gold.

    Example, on the files that `karatage demo` writes:

        karatage evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels
    """
    import karatage as kt
    from karatage.errors import OptionError

    chosen = choose_style(style, output)
    paths = [*(run_files or []), *(runs or [])]
    if not paths:
        raise OptionError("no runs were given; name run files or a folder, e.g. karatage evaluate runs/ -j crowd.csv")
    if per_topic and chosen == "table":
        chosen = "tsv"
    with progress("Reading", quiet=quiet):
        retrieved = kt.read_runs(paths)
    graded, trusted = options.read_both(
        judgments,
        gold,
        grades=(grades, gold_grades),
        columns=(columns, gold_columns),
        repeats=repeats,
        quiet=quiet,
    )
    with progress("Scoring", quiet=quiet):
        result = kt.evaluate(retrieved, graded, measure, approach=approach, gold=trusted, rng=seed)
    if draws:
        with progress("Drawing", quiet=quiet):
            result = kt.draw_evaluation(retrieved, result, draws=draws)
    if chosen == "json":
        emit(result.to_json(per_topic=per_topic) + "\n", output)
    elif chosen == "table":
        emit(_render(result, top), output)
    else:
        emit(encode_frame(result.per_topic() if per_topic else result.to_frame(), chosen), output)
    if not quiet:
        tell(result.notes)
        if chosen != "table" or output != STANDARD_OUTPUT:
            say(result.sentence)


def _render(result: Evaluation, top: int) -> str:
    parts: list[Table | str] = []
    for measure in result.measures:
        parts += _leaderboard(result, measure, top)
    for drawn in result.draws:
        parts += ["", _draws(drawn, top)]
    if result.fidelity:
        parts += ["", _fidelity(result)]
    return render(*parts, "", result.sentence)


def _draws(drawn: Draws, top: int) -> Table:
    """Systems by their mean over draws, with the interval of scores and of ranks, and the chance to beat the next."""
    frame = drawn.to_frame()
    place = [drawn.systems.index(system) for system in frame["system"]]
    beats = drawn.beats
    rows = []
    for n, row in enumerate(frame.head(top or len(frame)).iter_rows(named=True)):
        ahead = f"{beats[place[n], place[n + 1]]:.3f}" if n + 1 < len(place) else "-"
        scores = f"{row['draw_low']:.4f}-{row['draw_high']:.4f}"
        ranks = f"{row['rank_low']:.3g}-{row['rank_high']:.3g}"
        rows.append([row["system"], _number(row["draw_mean"]), scores, ranks, f"{row['p_best']:.3f}", ahead])
    title = f"{drawn.measure}, {len(drawn.value):,} draws from {drawn.approach}"
    headers = ["system", "mean", "95% of scores", "of ranks", "P(best)", "P(beats next)"]
    return make_table(title, headers, rows, text_columns=1)


def _leaderboard(result: Evaluation, measure: str, top: int) -> list[Table | str]:
    """Systems in the order of the first approach, with its standard error; then gold, and other approaches as fit."""
    first, *others = result.approaches
    board = result.leaderboard(measure, first)
    headers = ["system", "#", shorten(first, WIDEST_HEADER), "± s.e."]
    columns = [
        board["system"].to_list(),
        [str(rank or "-") for rank in board["rank"]],
        _numbers(board["score"]),
        _numbers(board["standard_error"]),
    ]
    if result.gold is not None:
        headers.append("gold")
        columns.append(_numbers(board["gold_score"]))
    shown = 0
    while shown < len(others) and fits([*headers, shorten(others[shown], WIDEST_HEADER)]):
        score = dict(result.leaderboard(measure, others[shown]).select("system", "score").iter_rows())
        headers.append(shorten(others[shown], WIDEST_HEADER))
        columns.append(_numbers(score[system] for system in board["system"]))
        shown += 1
    rows = list(zip(*columns, strict=True))
    parts: list[Table | str] = [make_table(measure, headers, rows[: top or None], text_columns=1)]
    if top and len(rows) > top:
        parts.append(f"… {counted(len(rows) - top, 'more system')}; --top 0 shows all.")
    if shown < len(others):
        parts.append(f"… {counted(len(others) - shown, 'more approach')}; --format tsv shows all.")
    return parts


def _fidelity(result: Evaluation) -> Table:
    rows = [
        [
            near.approach,
            near.measure,
            _number(near.tau),
            _number(near.tau_ap),
            _number(near.rmse),
            str(near.topics),
        ]
        for near in result.fidelity
    ]
    headers = ["approach", "measure", "tau", "tau_ap", "RMSE", "topics"]
    return make_table("Distance to gold", headers, rows, text_columns=2)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _numbers(values: Iterable[float | None]) -> list[str]:
    return [_number(value) for value in values]
