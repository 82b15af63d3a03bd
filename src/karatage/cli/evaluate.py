"""`karatage evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from karatage.cli import options
from karatage.cli.output import choose_style, emit, encode_frame, make_table, progress, render, tell

if TYPE_CHECKING:
    from rich.table import Table

    from karatage.data.evaluation import Evaluation

MOST_COLUMNS = 5


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
    repeats: options.Repeats = options.RepeatRule.last,
    per_topic: Annotated[bool, typer.Option("--per-topic", help="Scores for every topic (tsv, json, parquet).")] = False,
    top: Annotated[int, typer.Option("--top", min=0, help="Systems shown in tables; 0 = all.")] = 20,
    seed: options.Seed = 0,
    style: options.Format = None,
    output: options.Output = "-",
    quiet: options.Quiet = False,
) -> None:
    """Rank systems under noisy judges, and say how near each approach comes to gold.

    Example, on the files that `karatage demo` writes:

        karatage evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels -m nDCG@10 -m AP
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
        graded = kt.read_judgments(
            judgments, grades=grades, columns=options.parse_columns(columns), repeats=repeats.value
        )
        trusted = None
        if gold is not None:
            trusted = kt.read_gold(
                gold,
                grades=gold_grades if gold_grades is not None else grades,
                columns=options.parse_columns(gold_columns),
                repeats=repeats.value,
            )
    with progress("Scoring", quiet=quiet):
        result = kt.evaluate(retrieved, graded, measure, approach=approach, gold=trusted, rng=seed)
    if chosen == "json":
        emit(result.to_json(per_topic=per_topic) + "\n", output)
    elif chosen == "table":
        emit(_render(result, top), output)
    else:
        emit(encode_frame(result.per_topic() if per_topic else result.to_frame(), chosen), output)
    if not quiet:
        tell(result.notes)


def _render(result: Evaluation, top: int) -> str:
    parts: list[Table | str] = []
    for measure in result.measures:
        parts.append(_leaderboard(result, measure, top))
        hidden = len(result.systems) - top if top else 0
        if hidden > 0:
            parts.append(f"… {hidden} more systems; --top 0 shows all.")
        if len(result.approaches) > MOST_COLUMNS:
            parts.append(f"… {len(result.approaches) - MOST_COLUMNS} more approaches; --format tsv shows all.")
    if result.fidelity:
        parts.append(_fidelity(result))
    return render(*parts, "", result.sentence)


def _leaderboard(result: Evaluation, measure: str, top: int) -> Table:
    """Systems in the order of the first approach, with its standard error; then the other approaches and gold."""
    first, *others = result.approaches[:MOST_COLUMNS]
    board = result.leaderboard(measure, first)
    columns = [
        dict(zip(b["system"], b["score"], strict=True)) for b in (result.leaderboard(measure, a) for a in others)
    ]
    headers = ["system", "", first, "± s.e.", *others]
    if result.gold is not None:
        headers.append("gold")
    rows = []
    for row in board.head(top or len(board)).iter_rows(named=True):
        cells = [row["system"], str(row["rank"] or "-"), _number(row["score"]), _number(row["standard_error"])]
        cells += [_number(column[row["system"]]) for column in columns]
        if result.gold is not None:
            cells.append(_number(row["gold_score"]))
        rows.append(cells)
    return make_table(measure, [h if len(h) <= 14 else h[:13] + "…" for h in headers], rows, text_columns=1)


def _fidelity(result: Evaluation) -> Table:
    rows = [
        [near.approach, near.measure, _number(near.tau), _number(near.tau_ap), _number(near.rmse), str(near.topics)]
        for near in result.fidelity
    ]
    headers = ["approach", "measure", "tau", "tau_ap", "RMSE", "topics"]
    return make_table("Distance to gold", headers, rows, text_columns=2)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
