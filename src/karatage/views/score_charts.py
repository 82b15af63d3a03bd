"""Charts of scores: judges by systems, and what chance in the grades makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.text import counted, percent
from karatage.views.charts import CORRECTED, PLAIN
from karatage.views.choosing import WIDEST, choose, let_choose, measure_names, measure_rows, name_rows
from karatage.views.row_charts import GAP, WHOLE, Across, Mark, Rows

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.draws import Draws
    from karatage.data.scores import Scores

MOST = 40  # judges with a column each
BEST = 120  # pixels
CONTENDER, BEHIND = "may be the best", "hardly the best"
CHANCES = {CONTENDER: Mark(CORRECTED, "circle"), BEHIND: Mark(PLAIN, "diamond")}


def draw_draws(draws: Draws) -> alt.HConcatChart:
    """Systems by mean score over draws with the middle of their scores; beside them, the chance to be the best."""
    frame = draws.to_frame().rename({"draw_mean": "value", "draw_low": "low", "draw_high": "high"})
    behind = pl.col("p_best") < (1 - draws.level) / 2
    frame = frame.with_columns(mark=pl.when(behind).then(pl.lit(BEHIND)).otherwise(pl.lit(CONTENDER)))
    rows = Rows(frame, "system", CHANCES, orders={"chance to be the best": "p_best"}, natural="score")
    told = [f"{name}:Q" for name in ("value", "low", "high", "rank_low", "rank_high", "p_best")]
    panels = [
        rows.draw_dots(Across(draws.measure), rows.room - BEST - GAP, told),
        rows.draw_bars("p_best", Across("P(best)", WHOLE), BEST, told),
    ]
    said = [
        f"lines: the middle {percent(draws.level)} of {counted(len(draws.value), 'draw')}",
        f"hardly the best: in more than {percent((1 + draws.level) / 2)} of draws another one is",
    ]
    return rows.put_together(panels, f"{draws.measure} with grades drawn from {draws.approach}", said)


def frame_systems(scores: Scores) -> pl.DataFrame:
    """One row per system, best first: system, value (median over judges), low, high, best (judges who rank it first).

    With a single judge low and high are a standard error away.
    """
    mean = scores.mean
    known = np.isfinite(mean)
    if len(scores.judges) == 1:
        spread = scores.standard_error[0]
        value, low, high = mean[0], mean[0] - spread, mean[0] + spread
    else:
        some = np.where(known.any(axis=0), mean, 0.0)  # a system that nobody scores is undone below
        value, low, high = (edge(some, axis=0) for edge in (np.nanmedian, np.nanmin, np.nanmax))
        value, low, high = (np.where(known.any(axis=0), edge, np.nan) for edge in (value, low, high))
    top = np.where(known, mean, -np.inf)
    best = ((top == top.max(axis=1, keepdims=True)) & known).sum(axis=0)
    frame = pl.DataFrame(
        {
            "system": pl.Series(scores.systems, dtype=pl.String),
            "value": value,
            "low": low,
            "high": high,
            "best": best,
        }
    ).fill_nan(None)
    return frame.sort("value", "system", descending=[True, False], nulls_last=True)


def draw_systems(scores: Scores) -> alt.HConcatChart:
    """Systems from best to worst, with all that judges make of them."""
    rows = Rows(frame_systems(scores), "system", orders={"judges who rank it first": "best"}, natural="score")
    alone = len(scores.judges) == 1
    line = "± a standard error over topics" if alone else "from the lowest judge to the highest, dot: the median"
    panel = rows.draw_dots(Across(scores.measure), rows.room, ["value:Q", "low:Q", "high:Q", "best:Q"])
    title = f"{scores.measure} by {counted(len(scores.judges), 'judge')} on {counted(len(scores.topics), 'topic')}"
    return rows.put_together([panel], title, [f"lines: {line}"])


def draw_score_map(scores: Scores) -> alt.LayerChart:
    """Means over topics, a row for each system and a column for each judge, both from best to worst."""
    import altair as alt

    systems = frame_systems(scores)["system"].to_list()
    mean = scores.mean
    height = [float(np.nanmean(row)) if np.isfinite(row).any() else -np.inf for row in mean]
    order = sorted(range(len(scores.judges)), key=lambda j: (-height[j], scores.judges[j]))
    at = [scores.systems.index(system) for system in systems]
    values = mean[np.ix_(order, at)]
    column, row = np.indices(values.shape).reshape(2, -1)
    judges = [scores.judges[j] for j in order]
    frame = pl.DataFrame(
        {
            "row": row,
            "column": column,
            "system": pl.Series(systems, dtype=pl.String).gather(row),
            "judge": pl.Series(judges, dtype=pl.String).gather(column),
            "score": pl.Series(values.ravel()).fill_nan(None),
        }
    )
    across, down = name_rows(judges), name_rows(systems)
    across.labelAngle, across.labelLimit, across.grid, down.grid = -60, 110, False, False
    shade = alt.Color("score:Q", title=scores.measure, scale=alt.Scale(scheme="cividis"))
    cells = (
        alt.Chart(frame)
        .mark_rect()
        .encode(
            alt.X("column:O", title=None, axis=across),
            alt.Y("row:O", title=None, axis=down),
            shade,
            opacity=alt.when(choose("system")).then(alt.value(1)).otherwise(alt.value(0.2)),
            tooltip=["judge:N", "system:N", "score:Q"],
        )
    )
    chart: alt.LayerChart = alt.LayerChart(
        layer=[cells.properties(name="cells")],
        width=min(WIDEST - 60 - measure_names(systems), 26 * len(judges)),
        height=measure_rows(len(systems)),
        title=alt.TitleParams(
            f"{scores.measure} by judge and system", subtitle="both from the highest scores on", anchor="start"
        ),
    )
    return let_choose(chart, "system")
