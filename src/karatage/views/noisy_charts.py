"""Charts of the noisy experiment."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from karatage.data.estimate import CONFIDENCE
from karatage.errors import OptionError
from karatage.experiments.noisy.findings import BAND, WORLD, NoisyFindings
from karatage.experiments.noisy.intervals import CORRECTED, NAIVE
from karatage.experiments.noisy.testing import GOLD_SAMPLES, ONE, TESTS, TWO
from karatage.views.charts import COLOURS, SHAPES

if TYPE_CHECKING:
    import altair as alt

FEW_WORLDS = 6  # that have histograms
ACROSS = 3
SHADES = {NAIVE: "#D55E00", CORRECTED: "#0072B2"}  # red and blue, as in the paper's figure 2
TEST_SHADES = ("#BBBBBB", "#777777", "#D55E00", "#56B4E9", "#0072B2")
TEST_WIDTHS = (5, 1.2, 2, 4, 1.5)  # what lies below is wide, so that lines on top of each other can be told
TEST_DASHES = ([1, 0], [2, 3], [1, 0], [1, 0], [6, 3])
WHO = {ONE: "One gold sample for both systems", TWO: "Judges and gold of their own"}


def draw_histogram(findings: NoisyFindings) -> alt.ConcatChart:
    """[NOISY18] figure 2: naive and corrected estimates, and the true value."""
    import altair as alt

    if not 0 < len(findings.intervals) <= FEW_WORLDS:
        raise OptionError(f"histograms are for 1 to {FEW_WORLDS} worlds, not {len(findings.intervals)}")
    shade = alt.Scale(domain=list(SHADES), range=list(SHADES.values()))
    panels = []
    for row in findings.intervals.iter_rows(named=True):
        here = findings.histogram.join(pl.DataFrame([row]).select(WORLD), on=WORLD)
        bars = (
            alt.Chart(here)
            .mark_rect(opacity=0.55, stroke="white", strokeWidth=0.3)
            .encode(
                x=alt.X(
                    "low:Q",
                    title=f"{findings.measure}, mean over {row['topics']} topics",
                    scale=_wide(here),
                    axis=alt.Axis(tickCount=8),
                ),
                x2="high:Q",
                y=alt.Y("simulations:Q", title="simulations", scale=alt.Scale(zero=True)),
                y2=alt.Y2Datum(0),
                color=alt.Color("estimate:N", title=None, scale=shade, sort=list(SHADES)),
                tooltip=["estimate", "low", "high", "simulations"],
            )
        )
        true = pl.DataFrame({"true": [row["precision"]], "label": [f"true: {row['precision']:g}"]})
        rule = alt.Chart(true).mark_rule(color="#888888", strokeDash=[4, 3], strokeWidth=1.5).encode(x="true:Q")
        blank = alt.Chart(true)  # the label stands where naive estimates do not
        left = row["naive"] > row["precision"]
        label = blank.mark_text(align="right", dx=-5, y=10) if left else blank.mark_text(align="left", dx=5, y=10)
        text = label.encode(x="true:Q", text="label")
        rates = f"{row['right_relevant']:.0%} of relevant, {row['right_other']:.0%} of others"
        title = f"right about {rates}; {row['gold_size']} gold items of each kind"
        size = (460, 260)
        if len(findings.intervals) > 1:
            title, size = f"right {spell_rates(row)}, gold {row['gold_size']}", (270, 170)
        panels.append(_layer([bars, rule, text], [title], size))
    title = f"{findings.measure} in {findings.plan.simulations:,} simulations: by the judges, and corrected"
    return _finish(panels, title, ACROSS)


def draw_coverage(findings: NoisyFindings) -> alt.ConcatChart:
    """How often corrected intervals (t) cover, by gold; one panel for each number of topics and true P@k."""
    import altair as alt

    if not len(findings.intervals):
        raise OptionError("intervals were not studied, so there is no coverage to draw")
    found = findings.intervals.drop_nulls("covered").with_columns(
        rates=pl.struct("right_relevant", "right_other").map_elements(spell_rates, return_dtype=pl.String)
    )
    names = list(dict.fromkeys(found["rates"]))
    cycle = range(len(names))
    shade = alt.Scale(domain=names, range=[COLOURS[k % len(COLOURS)] for k in cycle])
    mark = alt.Scale(domain=names, range=[SHAPES[k % len(SHAPES)] for k in cycle])
    edge = min(float(found["covered_t"].to_numpy().min(initial=1.0)), CONFIDENCE - 2 * BAND)
    reach = alt.Scale(domain=[math.floor(edge * 20) / 20, 1], zero=False)
    aim = pl.DataFrame({"low": [CONFIDENCE - BAND], "high": [CONFIDENCE + BAND]})
    panels = []
    for (topics, precision), here in found.group_by("topics", "precision", maintain_order=True):
        band = (
            alt.Chart(aim)
            .mark_rect(color="#009E73", opacity=0.15)
            .encode(y=alt.Y("low:Q", title="covered", axis=_percent(), scale=reach), y2="high:Q")
        )
        lines = (
            alt.Chart(here)
            .mark_line(point=alt.OverlayMarkDef(size=34, filled=True))
            .encode(
                x=alt.X("gold_size:O", title="gold items of each kind", axis=alt.Axis(labelAngle=0)),
                y=alt.Y("covered_t:Q", title="covered", axis=_percent(), scale=reach),
                color=alt.Color("rates:N", title="right", scale=shade, sort=names),
                shape=alt.Shape("rates:N", title="right", scale=mark, sort=names),
                tooltip=["rates", "gold_size", "covered_t", "covered", "refused", "outside"],
            )
        )
        panels.append(_layer([band, lines], [f"{topics} topics, {findings.measure} = {precision:g}"], (140, 130)))
    across = len(found["precision"].unique())
    return _finish(panels, "How often corrected 95 % intervals (t) cover; green: 94 to 96 %", max(across, 1))


def draw_power(findings: NoisyFindings, *, samples: str, topics: int) -> alt.ConcatChart:
    """How often each test rejects, against the true difference; a row for rates and P@k, a column for each gold."""
    import altair as alt

    found = findings.tests.filter(gold_samples=samples, topics=topics) if len(findings.tests) else findings.tests
    if not len(found):
        raise OptionError(f"there is no result for tests with '{samples}' gold samples and {topics} topics")
    names = list(TESTS)
    level = pl.DataFrame({"level": [1 - CONFIDENCE]})
    panels = {}
    for key, here in found.group_by("right_relevant", "right_other", "precision", "gold_size", maintain_order=True):
        rates = spell_rates(here.row(0, named=True))
        rule = alt.Chart(level).mark_rule(color="#777777", strokeDash=[2, 2]).encode(y=alt.Y("level:Q", title=None))
        shade = alt.Scale(domain=names, range=list(TEST_SHADES))
        wide = alt.Scale(domain=names, range=list(TEST_WIDTHS))
        dash = alt.Scale(domain=names, range=list(TEST_DASHES))
        lines = (
            alt.Chart(here.drop_nulls("rejected"))
            .mark_line()
            .encode(
                x=alt.X("difference:Q", title="true difference", axis=alt.Axis(format="~g", tickCount=4, grid=False)),
                y=alt.Y("rejected:Q", title="rejected", axis=_percent(), scale=alt.Scale(domain=[0, 1])),
                color=alt.Color("test:N", scale=shade, sort=names),
                strokeWidth=alt.StrokeWidth("test:N", scale=wide, sort=names),
                strokeDash=alt.StrokeDash("test:N", scale=dash, sort=names),
                order=alt.Order("difference:Q"),
                tooltip=["test", "difference", "rejected", "wrong", "covered", "refused"],
            )
        )
        told = [f"right {rates}, {findings.measure} = {key[2]:g}", f"gold {key[3]}"]
        panels[key] = _layer([rule, lines], told, (165, 130))
    across = len(found["gold_size"].unique())
    title = f"{WHO[samples]}, {topics} topics: how often tests reject"
    order = sorted(panels, key=lambda key: (findings.plan.rates.index(key[:2]), *key[2:]))
    return _finish([panels[key] for key in order], title, across)


def draw_all(findings: NoisyFindings) -> dict[str, alt.ConcatChart]:
    """All charts, by the names of their files."""
    return dict(_draw_all(findings))


def _draw_all(findings: NoisyFindings) -> Iterator[tuple[str, alt.ConcatChart]]:
    if 0 < len(findings.intervals) <= FEW_WORLDS:
        yield "histogram", draw_histogram(findings)
    if len(findings.intervals) > 1:
        yield "coverage", draw_coverage(findings)
    if len(findings.tests):
        for samples in GOLD_SAMPLES:
            for topics in findings.plan.topics:
                yield f"power-{samples}-{topics}", draw_power(findings, samples=samples, topics=topics)


def spell_rates(row: Mapping[str, float]) -> str:
    """`.9/.8`: right about so many relevant and other documents."""
    return "/".join(f"{row[name]:g}".removeprefix("0") for name in ("right_relevant", "right_other"))


def _wide(here: pl.DataFrame) -> alt.Scale:
    import altair as alt

    filled = here.filter(pl.col("simulations") > 0).select(low=pl.min("low"), high=pl.max("high")).row(0)
    return alt.Scale(domain=list(filled), nice=True, zero=False)


def _percent() -> alt.Axis:
    import altair as alt

    return alt.Axis(format="%", tickCount=5)


def _layer(layers: list[alt.Chart], title: list[str], size: tuple[int, int]) -> alt.LayerChart:
    import altair as alt

    told = alt.TitleParams(title, fontSize=11)
    chart: alt.LayerChart = alt.LayerChart(layer=layers, width=size[0], height=size[1], title=told)
    return chart


def _finish(panels: Sequence[alt.LayerChart], title: str, across: int) -> alt.ConcatChart:
    import altair as alt

    chart: alt.ConcatChart = alt.concat(*panels, columns=across, title=title)
    return chart
