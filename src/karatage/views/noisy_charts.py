"""Charts of the noisy experiment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from karatage.data.estimate import CONFIDENCE
from karatage.errors import OptionError
from karatage.experiments.noisy.cells import CORRECTED, GOLD_SAMPLES, NAIVE, ONE, TESTS, TWO
from karatage.experiments.noisy.findings import BAND, WORLD, NoisyFindings
from karatage.views import marks
from karatage.views.marks import (
    DASH,
    PLAIN,
    Axis,
    Key,
    cycle,
    lay_panel,
    lay_panels,
    mark,
    mark_level,
    mark_lines,
    tell_apart,
)

if TYPE_CHECKING:
    import altair as alt

FEW_WORLDS = 6  # that have histograms
ACROSS = 3
SHADES = {NAIVE: marks.JUDGES, CORRECTED: marks.CORRECTED}  # red and blue, as in the paper's figure 2
TEST_SHADES = ("#BBBBBB", "#777777", "#D55E00", "#56B4E9", "#0072B2")
TEST_WIDTHS = (5, 1.2, 2, 4, 1.5)  # what lies below is wide, so that lines on top of each other can be told
TEST_DASHES = ([1, 0], [2, 3], [1, 0], [1, 0], [6, 3])
WHO = {ONE: "One gold sample for both systems", TWO: "Separate judges and gold"}
PERCENT = {"format": "%", "tickCount": 5}


def draw_histogram(findings: NoisyFindings) -> alt.ConcatChart:
    """[NOISY18] figure 2: naive and corrected estimates, and the true value."""
    if not 0 < len(findings.intervals) <= FEW_WORLDS:
        raise OptionError(f"histograms are for 1 to {FEW_WORLDS} worlds, not {len(findings.intervals)}")
    alone = len(findings.intervals) == 1
    panels = []
    for row in findings.intervals.iter_rows(named=True):
        here = findings.histogram.join(pl.DataFrame([row]).select(WORLD), on=WORLD)
        ends = here.filter(pl.col("simulations") > 0).select(low=pl.min("low"), high=pl.max("high")).row(0)
        scale = {"domain": list(ends), "nice": True, "zero": False}
        across = Axis("low:Q", f"{findings.measure}, mean over {row['topics']} topics", scale, {"tickCount": 8})
        up = Axis("simulations:Q", "simulations", {"zero": True})
        looks = {"color": Key("estimate", SHADES, legend={})}
        told = ["estimate", "low", "high", "simulations"]
        style = {"opacity": 0.55, "stroke": "white", "strokeWidth": 0.3}
        true = pl.DataFrame({"true": [row["precision"]], "label": [f"true: {row['precision']:g}"]})
        left = row["naive"] > row["precision"]  # the label stands where naive estimates do not
        label: dict[str, object] = {"align": "right", "dx": -5} if left else {"align": "left", "dx": 5}
        where = across.of("true:Q")
        layers = [
            mark(here, "rect", across, up, to=("high:Q", 0), looks=looks, told=told, style=style),
            mark(true, "rule", where, style={"color": PLAIN, "strokeDash": DASH, "strokeWidth": 1.5}),
            mark(true, "text", where, encodings={"text": "label"}, style={"y": 10, **label}),
        ]
        rates = f"{row['right_relevant']:.0%} of relevant, {row['right_other']:.0%} of others"
        title = f"right about {rates}; {row['gold_size']} gold items of each kind"
        small = f"right {spell_rates(row)}, gold {row['gold_size']}"
        panels.append(lay_panel(layers, (460, 260), title) if alone else lay_panel(layers, (270, 170), small))
    title = f"{findings.measure} in {findings.plan.simulations:,} simulations: by the judges, and corrected"
    return lay_panels(panels, title, ACROSS)


def draw_coverage(findings: NoisyFindings) -> alt.ConcatChart:
    """How often corrected intervals (t) cover, by gold; one panel for each number of topics and true P@k."""
    if not len(findings.intervals):
        raise OptionError("intervals were not studied, so there is no coverage to draw")
    found = findings.intervals.drop_nulls("covered").with_columns(
        rates=pl.struct("right_relevant", "right_other").map_elements(spell_rates, return_dtype=pl.String)
    )
    names = list(dict.fromkeys(found["rates"]))
    looks = tell_apart("rates", names, {}, "right")
    edge = min(float(found["covered_t"].to_numpy().min(initial=1.0)), CONFIDENCE - 2 * BAND)
    across = Axis("gold_size:O", "gold items of each kind", axis={"labelAngle": 0})
    up = Axis("covered_t:Q", "covered", {"domain": [math.floor(edge * 20) / 20, 1], "zero": False}, PERCENT)
    told = ["rates", "gold_size", "covered_t", "covered", "refused", "outside"]
    aim = pl.DataFrame({"low": [CONFIDENCE - BAND], "high": [CONFIDENCE + BAND]})
    band = mark(aim, "rect", None, up.of("low:Q"), to=(None, "high:Q"), style={"color": "#009E73", "opacity": 0.15})
    panels = []
    for (topics, precision), here in found.group_by("topics", "precision", maintain_order=True):
        lines = mark_lines(here, across, up, looks, told=told, points=34, width=2)
        panels.append(lay_panel([band, *lines], (140, 130), f"{topics} topics, {findings.measure} = {precision:g}"))
    title = "How often corrected 95 % intervals (t) cover; green: 94 to 96 %"
    return lay_panels(panels, title, found["precision"].n_unique())


def draw_power(findings: NoisyFindings, *, samples: str, topics: int) -> alt.ConcatChart:
    """How often each test rejects, against the true difference; a row for rates and P@k, a column for each gold."""
    found = findings.tests.filter(gold_samples=samples, topics=topics) if len(findings.tests) else findings.tests
    if not len(found):
        raise OptionError(f"there is no result for tests with '{samples}' gold samples and {topics} topics")
    styles = {"color": TEST_SHADES, "strokeWidth": TEST_WIDTHS, "strokeDash": TEST_DASHES}
    looks = {name: cycle("test", TESTS, values, title="test", legend={}) for name, values in styles.items()}
    across = Axis("difference:Q", "true difference", axis={"format": "~g", "tickCount": 4, "grid": False})
    up = Axis("rejected:Q", "rejected", {"domain": [0, 1]}, PERCENT)
    told = ["test", "difference", "rejected", "wrong", "covered", "refused"]
    panels = {}
    for key, here in found.group_by("right_relevant", "right_other", "precision", "gold_size", maintain_order=True):
        rows, ordered = here.drop_nulls("rejected"), {"order": "difference:Q"}
        lines = mark_lines(rows, across, up, looks, told=told, width=None, encodings=ordered)
        rates = spell_rates(here.row(0, named=True))
        told_here = [f"right {rates}, {findings.measure} = {key[2]:g}", f"gold {key[3]}"]
        panels[key] = lay_panel([mark_level(1 - CONFIDENCE, dash=(2, 2)), *lines], (165, 130), told_here)
    order = sorted(panels, key=lambda key: (findings.plan.rates.index(key[:2]), *key[2:]))
    title = f"{WHO[samples]}, {topics} topics: how often tests reject"
    return lay_panels([panels[key] for key in order], title, found["gold_size"].n_unique())


def draw_all(findings: NoisyFindings) -> dict[str, alt.ConcatChart]:
    """All charts, by the names of their files."""
    found = {}
    if 0 < len(findings.intervals) <= FEW_WORLDS:
        found["histogram"] = draw_histogram(findings)
    if len(findings.intervals) > 1:
        found["coverage"] = draw_coverage(findings)
    if len(findings.tests):
        for samples in GOLD_SAMPLES:
            for topics in findings.plan.topics:
                found[f"power-{samples}-{topics}"] = draw_power(findings, samples=samples, topics=topics)
    return found


def spell_rates(row: Mapping[str, float]) -> str:
    """`.9/.8`: right about so many relevant and other documents."""
    return "/".join(f"{row[name]:g}".removeprefix("0") for name in ("right_relevant", "right_other"))
