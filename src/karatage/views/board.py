"""A leaderboard: scores with intervals and tied groups, all differences, and the basis of the correction."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.data.board import ADJUSTMENTS, Board, find_flips
from karatage.errors import DataError
from karatage.text import counted, percent, shorten
from karatage.views.choosing import NAME, let_choose, place_values, tell
from karatage.views.comparison import (
    FORMS,
    ON_AVERAGE,
    SHADES,
    USUAL,
    explain_correction,
    list_decision,
    tabulate_rates,
)
from karatage.views.marks import CORRECTED, GAP, GREY_TOP, Axis, Key, Rows, lay_panel, mark, mark_diagonal
from karatage.views.page import Figure, Page, Section, shows
from karatage.views.table import Table, keep_finite

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair as alt

    from karatage.data.estimate import Bounded

LUCK = """The best system is best partly by chance, so its estimated lead is too large on average. Intervals are not
adjusted for the number of systems or differences."""
FLIPS = {
    "falls": "significant only without correction",
    "arises": "significant only when corrected",
    "turns": "reversed",
}
WAYS = {"judges": "naive", "corrected": "corrected", "guess": "guess"}  # to score a system, as in a board's frame
COLUMN, ALL_COLUMNS = 9, 110  # pixels, for each group and for all of them
SIGNIFICANT, OPEN, DOUBTED = "significant", "not significant", "contradicted by gold"
RING = "M0,-1A1,1,0,0,1,0,1A1,1,0,0,1,0,-1ZM0,-0.5A0.5,0.5,0,0,0,0,0.5A0.5,0.5,0,0,0,0,-0.5Z"
VERDICTS = Key(
    "verdict",
    {
        SIGNIFICANT: "circle",
        OPEN: RING,
        FLIPS["falls"]: "cross",
        FLIPS["arises"]: "triangle-up",
        FLIPS["turns"]: "diamond",
        DOUBTED: "square",
    },
    legend={**GREY_TOP, "columns": 3},
)
SIDE = 330  # pixels of a square panel
MARGIN = 0.04  # of a scale, so that its first and last mark are seen whole


@shows(Board)
def view_board(board: Board) -> Page:
    """The leaderboard, and the differences."""
    facts = list_decision(board, confidence=percent(board.confidence), adjust=board.adjust)
    sections = [view_leaderboard(board), view_differences(board)]
    about = f"{board.measure}, {counted(board.topics, 'topic')}, {shorten(board.approach, NAME)}"
    return Page(f"Leaderboard: {about}", board.sentence, sections, board.notes, facts)


def view_leaderboard(board: Board) -> Section:
    """Scores with intervals and tied groups."""
    if board.corrected is not None:
        shown = f"{board.naive.method.about} {board.corrected.method.about}".strip()
    elif board.refusal is not None:
        shown = f"Only the judges' scores are shown. Correction was refused: {board.refusal}."
    else:
        shown = "Only the judges' scores are shown: without gold their errors are not corrected."
    caption = "Scores with intervals, and groups of systems that are not significantly different"
    chart = Figure(partial(chart_board, board), caption, "leaderboard")
    return Section("Leaderboard", explain_letters(board), [tabulate_leaderboard(board)], [chart], background=shown)


def view_differences(board: Board) -> Section:
    """All differences to the best system, which verdicts change, and the basis of the correction."""
    corrected = "" if board.corrected is None else " and corrected"
    corrected = corrected if board.guess is None else ", corrected, and by the best guess"
    caption = f"Difference of each system from the best one, by the judges{corrected}"
    forest = Figure(partial(chart_differences, board), caption, "differences", tabulate_forest(board))
    turned = tabulate_turned(board)
    tables = [tabulate_verdicts(board), *([] if turned is None else [turned]), *tabulate_rates(board)]
    return Section("Differences", "\n\n".join(explain_board(board)), tables, [forest], background=LUCK)


def tabulate_leaderboard(board: Board) -> Table:
    """Scores by each way; the rank and the interval are those of the last, which gives the order."""
    ways = _list_ways(board)
    last = WAYS[ways[-1]]
    groups = pl.Series("groups", [spell_letters(text) for text in board.letters], dtype=pl.String)
    frame = board.to_frame().with_columns(groups)
    columns = {f"{last}_rank": "#", "system": "system"}
    columns |= {"naive_rank": "judges #"} if ways[-1] == "corrected" else {}
    columns["naive_score"] = "judges"
    caption, low, high, signed = "Leaderboard", f"{last}_low", f"{last}_high", [f"from_{way}" for way in ways[1:]]
    if board.corrected is not None and np.isnan(board.corrected.value).all():  # only differences are known
        for way, name in zip(ways[1:], signed, strict=True):
            best = frame_forest(board).filter(by=way).select("system", "low", "high", pl.col("difference").alias(name))
            kept = frame.drop("low", "high", strict=False)
            frame = kept.join(best, on="system", how="left", maintain_order="left")
            columns[name] = way if len(ways) > 2 else "from the best"
        low, high = "low", "high"
        signed += [low, high]
        caption += f"; {' and '.join(ways[1:])}: difference from the first" if len(ways) > 2 else ""
    else:
        columns |= {f"{WAYS[way]}_score": way for way in ways[1:]}
    columns |= {low: f"{percent(board.confidence)} from", high: "to", "groups": "letters"}
    return Table(keep_finite(frame), caption, name="leaderboard", about="system", signed=signed, columns=columns)


def spell_letters(letters: str) -> str:
    """Consecutive letters as a span.

    >>> spell_letters("abcde"), spell_letters("yza2")
    ('a-e', 'y-a2')
    """
    spans: list[list[str]] = []
    last = None
    for letter, number in re.findall(r"([a-z])(\d*)", letters):
        place = ord(letter) + 26 * int(number or 1)
        if last is None or place != last + 1:
            spans.append([])
        spans[-1].append(letter + number)
        last = place
    return ",".join(span[0] + (f"-{span[-1]}" if len(span) > 1 else "") for span in spans)


def explain_letters(board: Board) -> str:
    """What the letters of a leaderboard mean, and its order."""
    shared = "Systems that share a letter are not significantly different"
    if board.corrected_pairs is not None and board.corrected_pairs.doubted.any():
        shared += ", or gold contradicts the correction of their difference"
    if board.guess is None:
        asked = board.corrected is not None and board.corrected.method.on_average
        return f"{shared}. {ON_AVERAGE}" if asked else f"{shared}."
    return (
        f"The order and the intervals are those of the best guess. {ON_AVERAGE} Claims about a chosen pair use "
        f"corrected differences, and so do the letters. {shared}."
    )


def tabulate_verdicts(board: Board) -> Table:
    """How many differences are significant, and how many verdicts change."""
    counts = {"significant by the judges": board.naive_pairs.count}
    if board.corrected_pairs is not None:
        counts |= {"significant when corrected": board.corrected_pairs.count}
        counts |= {FLIPS[kind]: count for kind, count in board.count_flips().items()}
        if board.corrected_pairs.doubted.any():
            counts["gold contradicts the correction"] = int(board.corrected_pairs.doubted.sum())
    if board.guess is not None:
        counts["separated by the best guess, on average over pairs"] = board.guess.pairs.count
        counts["the same, if the judges are biased as usual"] = board.guess.usual.count
    pairs = len(board.a)
    frame = pl.DataFrame({"verdict": list(counts), "pairs": list(counts.values())}).with_columns(
        share=pl.col("pairs") / pairs
    )
    level = f"{ADJUSTMENTS[board.adjust]}, {100 * (1 - board.confidence):.3g}%"
    return Table(
        frame,
        f"{counted(pairs, 'pair')} ({level})",
        digits=0,
        shares=("share",),
        name="verdicts",
        columns={"verdict": "", "pairs": "pairs", "share": "of all"},
    )


def tabulate_turned(board: Board) -> Table | None:
    """The pairs that judges and gold rank in opposite orders, lowest p-values of the judges first; None if none."""
    if not board.count_flips().get("turns"):
        return None
    columns = {"a": "a", "b": "b", "naive_difference": "judges", "corrected_difference": "corrected"}
    frame = board.flips().filter(flip="turns")
    signed = ("naive_difference", "corrected_difference")
    return Table(frame, "Reversed verdicts", signed=signed, name="turned", columns=columns, noun="pair")


def tabulate_forest(board: Board) -> Table:
    """Every system against the best, by the judges and corrected."""
    frame = frame_forest(board)
    level = f"{percent(board.confidence)} from"
    shown, columns = frame.filter(by="judges").select("system"), {"system": "system"}
    for by in _list_ways(board):
        headers = {"difference": "", "low": level, "high": "to", "p": "p", "verdict": "verdict"}
        if by == "guess":  # its intervals are not adjusted, since they hold on average
            del headers["p"]
        own = {name: f"{by}_{name}" for name in headers}
        columns |= {own[name]: header or by for name, header in headers.items()}
        part = frame.filter(by=by).select("system", *headers).rename(own)
        shown = shown.join(part, on="system", how="left", maintain_order="left")
    caption = f"Differences in {board.measure} from {shorten(board.systems[0], NAME)}; p: {ADJUSTMENTS[board.adjust]}"
    signed = [name for name in shown.columns if shown[name].dtype.is_float() and not name.endswith("_p")]
    return Table(shown, caption, signed=signed, columns=columns, name="differences", about="system")


def explain_board(board: Board) -> Iterator[str]:
    """Paragraphs on the judges' order, and on the basis of the correction."""
    if board.corrected is not None and board.corrected.method.same_order:
        yield board.corrected.method.same_order
    else:
        yield from _explain_order(board)
    yield from explain_correction(board)
    if board.guess is not None:
        yield f"{board.guess.sentence[0].upper()}{board.guess.sentence[1:]}. {USUAL}"


def _explain_order(board: Board) -> Iterator[str]:
    if board.tau is not None and board.tau_ap is not None:
        taus = f"tau {_range(board.tau)}, tau_ap {_range(board.tau_ap)}"
        yield f"Judges' order compared with the corrected order: {taus}."
    if board.slope is not None:
        yield (
            f"Slope of the judges' differences on gold's: {_range(board.slope)}. Below 1, judges understate "
            "differences; above 1, they exaggerate them."
        )


def _range(found: Bounded) -> str:
    if math.isnan(found.low):
        return f"{found.value:.3f}"
    low, high = (f"{end:.3f}" if math.isfinite(end) else "no bound" for end in found[1:])
    return f"{found.value:.3f} [{low}, {high}]"


def chart_board(board: Board) -> alt.HConcatChart:
    """Systems best first, by each way with intervals; beside them, a line for each tied group.

    Systems with dots on a common line are not significantly different; systems worse than the best are pale.
    """
    ways, groups = _list_ways(board), [group for group in board.groups if len(group) > 1]
    frame = _lay_out(board)
    scored = [way for way in ways if frame.filter(by=way)["score"].count()]  # others have only differences
    rows = Rows(
        frame.filter(pl.col("by").is_in(scored)),
        "system",
        tell("system:N", "by:N", "score:Q", "low:Q", "high:Q", "rank:Q", "letters:N"),
        {"color": SHADES.only(scored), "shape": FORMS.only(scored)},
        natural=ways[-1],
        orders={way: f"at_{way}" for way in ways[:-1]},
        apart=scored,
        pale="!datum.top",
    )
    width = max(min(COLUMN * len(board.groups), ALL_COLUMNS), COLUMN)
    panels = [
        rows.chart_dots(Axis("score:Q", board.measure), rows.width - width - GAP, size=34),
        rows.chart_letters([[board.systems[s] for s in group] for group in groups], width),
    ]
    said = [f"{percent(board.confidence)} intervals, not adjusted for the number of systems"]
    if scored != ways:
        said.append(f"of {' and '.join(way for way in ways if way not in scored)} results only differences are known")
    if groups:
        said.append("systems with dots on a common line are not significantly different; pale: worse than the best")
    title = f"{board.measure}, {counted(board.topics, 'topic')}: {counted(len(board.systems), 'system')}"
    return rows.put_together(panels, title, said)


def _list_ways(board: Board) -> list[str]:
    """The order is that of the last one."""
    return ["judges", *(way for way in ("corrected", "guess") if getattr(board, way) is not None)]


def _lay_out(board: Board) -> pl.DataFrame:
    """A row for each system and way to score it."""
    frame, ways = board.to_frame(), _list_ways(board)
    places = {f"at_{way}": place_values(frame[f"{WAYS[way]}_rank"], lowest_first=True) for way in ways}
    frame = frame.with_columns(
        pl.col("system").is_in(board.top).alias("top"), **{k: pl.Series(v) for k, v in places.items()}
    )
    facts = ("score", "low", "high", "rank")
    found = [
        frame.select("system", "letters", "top", *places, by=pl.lit(way), **{f: f"{WAYS[way]}_{f}" for f in facts})
        for way in ways
    ]
    return keep_finite(pl.concat(found))


def chart_differences(board: Board) -> alt.HConcatChart:
    """Differences to the best system, with the judges' interval and the corrected one.

    Marks show the verdict on each pair after adjustment for all pairs of the board; intervals are not adjusted.
    """
    ways, verdicts, best = _list_ways(board), _find_verdicts(board), shorten(board.systems[0], NAME)
    frame = frame_forest(board).with_columns(pl.col("pair").replace_strict(verdicts).alias("verdict"))
    others = {way: f"at_{way}" for way in ways[:-1]}
    places = _lay_out(board).select("system", *others.values()).unique()
    rows = Rows(
        frame.drop("pair").join(places, on="system", how="left", maintain_order="left"),
        "system",
        tell("system:N", "by:N", "difference:Q", "low:Q", "high:Q", "p:Q", "verdict:N"),
        {"color": SHADES.only(ways), "shape": VERDICTS.only(frame["verdict"].to_list())},
        natural=ways[-1],
        orders=others,
        apart=ways,
    )
    panel = rows.chart_dots(Axis("difference:Q", f"difference in {board.measure} from {best}"), rows.width, line=0.0)
    said = (
        f"{percent(board.confidence)} intervals, not adjusted; marks: verdicts by "
        f"{'the judges' if board.corrected is None else 'corrected differences'}, "
        f"{'' if board.adjust == 'none' else 'adjusted for all pairs: '}{ADJUSTMENTS[board.adjust]}"
    )
    return rows.put_together([panel], f"Every system against {best}", [said])


def frame_forest(board: Board) -> pl.DataFrame:
    """Every other system minus the best, by each way.

    Columns: system, by (judges, corrected or guess), difference, low, high, p (adjusted as the board is; none for the
    guess), verdict (better, worse, not significant or contradicted by gold), pair (its number).
    """
    there = np.flatnonzero((board.a == 0) | (board.b == 0))
    other = (board.a + board.b)[there]
    there, other = there[np.argsort(other)], np.sort(other)
    sign = np.where(board.b[there] == 0, -1.0, 1.0)  # pairs are b - a
    frames = []
    guess = None if board.guess is None else board.guess.pairs
    for by, pairs in (("judges", board.naive_pairs), ("corrected", board.corrected_pairs), ("guess", guess)):
        if pairs is not None:
            ends = np.stack([sign * pairs.low[there], sign * pairs.high[there]])
            claimed = sign * pairs.sign[there]
            words = np.select([pairs.doubted[there], claimed > 0, claimed < 0], [DOUBTED, "better", "worse"], OPEN)
            p = {"holm": pairs.holm, "bh": pairs.bh, "none": pairs.p_value}[board.adjust][there]
            p = np.full(len(p), np.nan) if by == "guess" else p
            columns = {
                "system": pl.Series(board.systems, dtype=pl.String).gather(other),
                "by": pl.Series([by] * len(there), dtype=pl.String),
                "difference": sign * pairs.value[there],
                "low": ends.min(axis=0),
                "high": ends.max(axis=0),
                "p": p,
                "verdict": pl.Series(words.tolist(), dtype=pl.String),
                "pair": there,
            }
            frames.append(pl.DataFrame(columns))
    return keep_finite(pl.concat(frames))


def _find_verdicts(board: Board) -> dict[int, str]:
    """How correction changes the judges' verdict on each pair; without a correction, the verdict itself."""
    found = board.corrected_pairs or board.naive_pairs
    verdict = np.where(found.claimed, SIGNIFICANT, OPEN).astype(object)
    if board.corrected_pairs is not None and board.comparable:
        for kind, flips in find_flips(board.naive_pairs, board.corrected_pairs).items():
            verdict[flips] = FLIPS[kind]
    verdict[found.doubted] = DOUBTED
    return dict(enumerate(verdict))


def chart_attenuation(board: Board) -> alt.LayerChart:
    """Every system's score by the judges over its corrected one; on the diagonal both are equal."""
    if board.corrected is None:
        raise DataError(f"nothing was corrected: {board.refusal or 'there is no gold'}")
    ends = {"low": "corrected_low", "high": "corrected_high"}
    frame = keep_finite(board.to_frame().select("system", judges="naive_score", corrected="corrected_score", **ends))
    scores = pl.concat([frame["judges"], frame["corrected"]]).drop_nulls().to_list()
    low, high = min(scores), max(scores)
    margin = MARGIN * (high - low or 1)
    scale = {"domain": [low - margin, high + margin], "nice": True, "zero": False}
    across = Axis("corrected:Q", f"{board.measure}, corrected", scale)
    up = Axis("judges:Q", f"{board.measure}, by the judges", scale)
    told = tell("system:N", "judges:Q", "corrected:Q", "low:Q", "high:Q")
    style = {"color": CORRECTED, "filled": True, "size": 48}
    points = mark(frame, "point", across, up, told=told, follow="system", shown=0.85, style=style)
    layers = [mark_diagonal(across, up, (low - margin, high + margin)), points.properties(name="systems")]
    chart = lay_panel(layers, (SIDE + 60, SIDE), "Judges' scores against corrected ones", _tell_slope(board))
    return let_choose(chart, "system")


def _tell_slope(board: Board) -> list[str]:
    """What the slope of the judges' differences means."""
    said = ["on the dashed line both are equal"]
    if board.slope is None or not np.isfinite(board.slope).all():
        return said
    slope, low, high = board.slope
    meaning = "judges understate differences" if high < 1 else "judges exaggerate differences"
    meaning = "this may be due to chance" if low <= 1 <= high else meaning
    return [
        *said,
        f"a difference of 0.100 is {slope / 10:.3f} by the judges ({low / 10:.3f} to {high / 10:.3f})",
        meaning,
    ]
