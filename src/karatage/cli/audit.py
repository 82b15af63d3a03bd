"""`karatage audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from karatage.cli import options
from karatage.cli.output import (
    GAP,
    NAME_WIDTH,
    STANDARD_OUTPUT,
    WIDTH,
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
    import polars as pl
    from rich.table import Table

    from karatage.data.audit import Audit

# Columns of the table of judges in the order in which they get room; what is not there is passed over.
COLUMNS = {
    "items": "items",
    "kappa": "kappa",
    "leniency": "lenient",
    "accuracy": "right",
    "tpr": "TPR",
    "tnr": "TNR",
    "gold_weighted_kappa": "qkappa",
    "reliability": "ds",
    "self_agreement": "steady",
}
STATISTICS = {
    "percent": "percent agreement",
    "cohen": "Cohen's kappa, mean over pairs",
    "fleiss": "Fleiss' kappa",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
    "error_correlation": "error correlation",
    "error_correlation_within": "error correlation within a gold grade",
    "effective_votes": "effective votes, all judges",
    "effective_votes_per_item": "effective votes, grades of an item",
}


def audit(
    judgment_files: options.JudgmentArguments = None,
    *,
    judgments: options.MoreJudgmentFiles = None,
    gold: options.GoldFiles = None,
    families: Annotated[
        str | None,
        typer.Option("--families", help="Judges that may err alike: judge, tab and family in each line."),
    ] = None,
    approach: Annotated[
        list[str] | None,
        typer.Option("--approach", "-a", help="Merges to hold against the best judge; may be repeated."),
    ] = None,
    grades: options.Grades = None,
    gold_grades: options.GoldGrades = None,
    columns: options.Columns = None,
    gold_columns: options.GoldColumns = None,
    repeats: options.Repeats = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Judges two by two, instead of one by one.")] = False,
    top: Annotated[int, typer.Option("--top", min=0, help="Rows shown in tables; 0 = all.")] = 20,
    seed: options.Seed = 0,
    style: options.Format = None,
    output: options.Output = STANDARD_OUTPUT,
    quiet: options.Quiet = False,
) -> None:
    """Say which judges to keep, which to drop, and when to spend on gold.

    Example, on the files that `karatage demo` writes:

        karatage audit demo/judgments.csv -g demo/gold.qrels
    """
    from karatage.auditing import audit as audit_judges
    from karatage.io.families import read_families

    chosen = choose_style(style, output)
    family_of = None if families is None else read_families(families)
    graded, trusted = options.read_both(
        options.require_judgments(judgment_files, judgments, "audit"),
        gold,
        grades=(grades, gold_grades),
        columns=(columns, gold_columns),
        repeats=repeats,
        quiet=quiet,
    )
    with progress("Auditing", quiet=quiet):
        result = audit_judges(graded, gold=trusted, families=family_of, approaches=approach, rng=seed)
    if chosen == "json":
        emit(result.to_json(pairs=pairs) + "\n", output)
    elif chosen == "table":
        emit(_render(result, top, pairs=pairs), output)
    else:
        emit(encode_frame(result.pairs if pairs else result.to_frame(), chosen), output)
    if not quiet:
        tell(result.notes)
        if chosen != "table" or output != STANDARD_OUTPUT:
            say(result.sentence)


def _render(result: Audit, top: int, *, pairs: bool) -> str:
    parts: list[Table | str] = _pairs(result, top) if pairs else _judges(result, top)
    if len(result.panel):
        parts += ["", _panel(result)]
    if len(result.families):
        parts += ["", _families(result)]
    if len(result.merges):
        parts += ["", _merges(result)]
    return render(*parts, "", result.sentence)


def _judges(result: Audit, top: int) -> list[Table | str]:
    """Suspects first, then the best; why each is suspected below."""
    import polars as pl

    frame = result.to_frame()
    best = "accuracy" if "accuracy" in frame.columns else "reliability"
    frame = frame.sort(pl.col("flags") == "", best, descending=[False, True], nulls_last=True, maintain_order=True)
    shown = frame.head(top or len(frame))
    filled = [name for name in COLUMNS if name in frame.columns and frame[name].null_count() < len(frame)]
    cells = {name: [_cell(value) for value in shown[name]] for name in ["judge", "flags", *filled]}
    titles = {"judge": "judge", "flags": "suspicion", **{name: COLUMNS[name] for name in filled}}
    room, names = WIDTH, []
    for name, column in cells.items():
        width = max(len(titles[name]), *map(len, column)) + GAP
        room -= min(width, NAME_WIDTH) if name == "judge" else width
        if room < 0:
            break
        names.append(name)
    rows = list(zip(*(cells[name] for name in names), strict=True))
    table = make_table("Judges", [titles[name] for name in names], rows, text_columns=2)
    parts: list[Table | str] = [table, *_more(frame, top, "judge")]
    if len(names) < len(cells):
        parts.append(f"… {counted(len(cells) - len(names), 'more column')}; --format tsv shows all.")
    return parts + [f"{shorten(row[0])}: {row[1]}" for row in shown.select("judge", "why").iter_rows() if row[1]]


def _pairs(result: Audit, top: int) -> list[Table | str]:
    """A square where the page is wide enough, else the pairs that agree most."""
    frame = result.pairs
    names = result.judges["judge"].to_list()
    if not len(frame):
        return ["No two judges share an item."]
    if fits(["judge", *names]):
        rows = [[_cell(value) for value in row] for row in result.matrix().iter_rows()]
        return [make_table("Cohen's kappa", ["judge", *names], rows, text_columns=1)]
    headers = {"judge": "judge", "other": "other", "shared": "shared", "percent": "alike", "kappa": "kappa"}
    headers |= {"error_correlation": "errors"} if "error_correlation" in frame.columns else {}
    ordered = frame.sort("kappa", descending=True, nulls_last=True, maintain_order=True).select(list(headers))
    rows = [[_cell(value) for value in row] for row in ordered.head(top or len(frame)).iter_rows()]
    return [make_table("Pairs", list(headers.values()), rows, text_columns=2), *_more(frame, top, "pair")]


def _more(frame: pl.DataFrame, top: int, noun: str) -> list[str]:
    return [f"… {counted(len(frame) - top, f'more {noun}')}; --top 0 shows all."] if top and len(frame) > top else []


def _panel(result: Audit) -> Table:
    rows = [
        [STATISTICS[name], *map(_cell, values)]
        for name, *values in result.panel.select("statistic", "value", "low", "high").iter_rows()
        if name in STATISTICS
    ]
    return make_table("The panel", ["statistic", "value", "95% from", "to"], rows, text_columns=1)


def _families(result: Audit) -> Table:
    rows = [[_cell(value) for value in row] for row in result.families.iter_rows()]
    return make_table("Families", ["family", "judges", "error correlation", "effective votes"], rows, text_columns=1)


def _merges(result: Audit) -> Table:
    """Each merge against gold, and what it gains over the best judge on the items that this one graded."""
    headers = {"name": "merge", "items": "items", "accuracy": "right", "low": "95% from", "high": "to"}
    graded = result.merges["weighted_kappa"].null_count() < len(result.merges)
    headers |= {"weighted_kappa": "qkappa"} if graded else {"kappa": "kappa"}
    headers["gain"] = "gain"
    rows = []
    for row in result.merges.iter_rows(named=True):
        name = f"{row['name']} ({row['picked']})" if row["picked"] else row["name"]
        rows.append([name, *(_cell(row[column]) for column in list(headers)[1:])])
    return make_table("Against gold", list(headers.values()), rows, text_columns=1)


def _cell(value: object) -> str:
    return "-" if value is None else f"{value:.3f}" if isinstance(value, float) else f"{value}"
