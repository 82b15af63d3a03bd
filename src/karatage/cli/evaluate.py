"""`karatage evaluate`."""

from __future__ import annotations

import re
from textwrap import fill
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

    import polars as pl
    from rich.table import Table

    from karatage.data.draws import Draws
    from karatage.data.evaluation import Evaluation
    from karatage.data.gold import Gold
    from karatage.data.judgments import Judgments
    from karatage.data.weights import Weights

WIDEST_HEADER = 24


def evaluate(
    run_files: options.RunFiles = None,
    *,
    judgments: options.JudgmentFiles,
    runs: options.MoreRunFiles = None,
    gold: options.GoldFiles = None,
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
    top: Annotated[int, typer.Option("--top", min=0, help="Systems and judges shown in tables; 0 = all.")] = 20,
    weights: Annotated[
        bool, typer.Option("--weights", help="What each judge weighs, for approaches that weigh.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Why each judge weighs what it does, a line each.")
    ] = False,
    train: Annotated[
        str | None,
        typer.Option("--train", help="Topics whose gold only teaches: 401,402 or a share like 30%."),
    ] = None,
    gold_certainty: Annotated[
        float, typer.Option("--gold-certainty", help="Below 1, gold is random: 0.95 is the papers' choice.")
    ] = 1.0,
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
    used = _use_gold(trusted, train, gold_certainty, seed)
    with progress("Scoring", quiet=quiet):
        result = kt.evaluate(retrieved, graded, measure, approach=approach, gold=used, rng=seed)
    if (weights or explain) and not result.weights:
        raise OptionError("no approach asked for weighs judges; name one such as sgl_tau_msd, tpc_tau_own4 or sup_tau")
    if draws:
        with progress("Drawing", quiet=quiet):
            result = kt.draw_evaluation(retrieved, result, draws=draws)
    if chosen == "json":
        emit(result.to_json(per_topic=per_topic, weights=weights or explain) + "\n", output)
    elif chosen == "table":
        emit(_render(result, top, weights=weights, explain=explain), output)
    else:
        emit(encode_frame(_choose_frame(result, per_topic=per_topic, weights=weights or explain), chosen), output)
    if not quiet:
        tell(result.notes)
        if chosen != "table" or output != STANDARD_OUTPUT:
            say(result.sentence)


def _use_gold(gold: Judgments | None, train: str | None, certainty: float, seed: int) -> Gold | None:
    """Gold with what the options say of it."""
    from karatage.data.gold import Gold
    from karatage.errors import OptionError

    if gold is None:
        if train is not None or certainty != 1:
            raise OptionError("--train and --gold-certainty say how gold is used, and there is none; add --gold")
        return None
    if train is None:
        return Gold(gold, certainty=certainty)
    if re.fullmatch(r"0?\.\d+", train.strip()) and train.strip() not in gold.topics:
        return Gold.split(gold, float(train), certainty=certainty, rng=seed)
    if not train.strip().endswith("%"):
        return Gold(gold, tuple(part.strip() for part in train.split(",")), certainty)
    share = train.strip().removesuffix("%")
    if not share.isdecimal() or not 0 < int(share) < 100:
        raise OptionError(f"--train '{shorten(train)}' is no share of the topics; write it like 30%")
    return Gold.split(gold, int(share) / 100, certainty=certainty, rng=seed)


def _choose_frame(result: Evaluation, *, per_topic: bool, weights: bool) -> pl.DataFrame:
    """The one table that a file without structure holds."""
    import polars as pl

    from karatage.errors import OptionError

    if not weights:
        return result.per_topic() if per_topic else result.to_frame()
    if per_topic:
        raise OptionError("--per-topic and --weights are two tables; ask for one, or for both with --format json")
    return pl.concat([found.to_frame() for found in result.weights], how="diagonal")


def _render(result: Evaluation, top: int, *, weights: bool, explain: bool) -> str:
    parts: list[Table | str] = []
    for measure in result.measures:
        parts += _leaderboard(result, measure, top)
    for drawn in result.draws:
        parts += ["", _draws(drawn, top)]
    if result.fidelity:
        parts += ["", _fidelity(result)]
    for found in result.weights:
        parts += ["", *_weights(found, top)] if weights else []
        parts += [f"\nWhy judges weigh what they do, {found.approach} on {found.measure}:"] if explain else []
        parts += [fill(line, 80, initial_indent="  ", subsequent_indent="    ") for line in found.explain() if explain]
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


def _weights(found: Weights, top: int) -> list[Table | str]:
    """Judges from the heaviest to the lightest, with the distances their weights come from."""
    frame = found.to_frame()
    kinds = list(found.distance)
    rows = [
        [row["judge"], _number(row["weight"]), _number(row["lowest"]), _number(row["highest"])]
        + [_number(row[f"{found.gap}_{kind}"]) for kind in kinds]
        for row in frame.head(top or len(frame)).iter_rows(named=True)
    ]
    headers = ["judge", "weight", "lowest", "highest", *(f"{found.gap} {kind}" for kind in kinds)]
    parts: list[Table | str] = [
        make_table(f"Weights by {found.approach}, {found.measure}", headers, rows, text_columns=1)
    ]
    if len(rows) < len(frame):
        parts.append(f"… {counted(len(frame) - len(rows), 'more judge')}; --top 0 shows all.")
    return parts


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
