"""The pages that tests look at."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

import karatage as kt
from karatage.views.choosing import choose, fade
from karatage.views.html import write_page
from karatage.views.page import Figure, Page, Section
from karatage.views.showing import lay_out
from karatage.views.table import Table

MEASURE = "P(rel=2)@10"
LONG = "long " * 2000
HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "\"quoted\" 'twice' `thrice` &amp; \\\\",
    "\N{RIGHT-TO-LEFT OVERRIDE}evil\N{HEBREW LETTER SHIN}\N{HEBREW LETTER LAMED}",
    LONG,
    "x" * 10_000,
    "\N{PILE OF POO}\N{FAMILY}",
    "two\nlines\tand a tab",
    "]]></style><!--",
    "datum.score + ${alert(4)} {{ 7 * 7 }}",
    *("constructor", "toString", "__proto__"),  # all objects of JavaScript have these
)


def write_pages(folder: Path, name: str) -> Path:
    """The file of a page, written when first asked for."""
    path = folder / f"{name}.html"
    if not path.exists():
        write_page(path, PAGES[name]())
    return path


@cache
def make_world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(rng=7)


def lay_out_numbers() -> Page:
    """Numbers that do not sort as text, and two charts of the same systems and judges."""
    numbers = pl.DataFrame(
        {
            "system": ["a", "b", "c", "d", "e", "f", "g"],
            "difference": [-0.5, 0.25, None, -1.25, 1234.5, 10.0, 9.0],
            "p": [1e-9, 0.5, 0.04, None, 0.00011, 1.0, 0.0],
            "judges": [3, 20, 100, None, -4, 1000, 0],
            "verdict": ["better", "worse", "–", "Worse", "item 10", "item 9", ""],
        }
    )
    graded = pl.DataFrame({"judge": ["j1", "j2", "j3"], "kappa": [0.3, -0.1, 0.7]})
    tables = [
        Table(numbers, "Numbers", name="numbers", about="system"),
        Table(numbers.head(3).select("system", "p"), "Few", name="few", about="system"),
        Table(graded, "Judges", name="judges", about="judge"),
    ]
    behind = Table(numbers, "What is drawn", name="drawn", about="system")
    charts = [
        Figure(
            partial(draw_points, numbers.fill_null(0), "system", "difference"), "Differences", "differences", behind
        ),
        Figure(partial(draw_points, numbers.fill_null(0), "system", "p"), "p-values", "p-values"),
        Figure(partial(draw_points, graded, "judge", "kappa"), "Agreement", "agreement"),
    ]
    sections = [
        Section("Charts", "Some charts.", charts=charts),
        Section("Tables", "Some tables.", tables),
        Section("End"),
    ]
    return Page("Numbers", "d is best.", sections, ["A doubt."], [("command", "karatage compare"), ("seed", "7")])


def draw_points(frame: pl.DataFrame, kind: str, value: str) -> alt.Chart:
    chosen = choose(kind)
    drawn = alt.Chart(frame, width=300, title=value).mark_point(size=200, filled=True)
    return drawn.encode(x=f"{value}:Q", y=f"{kind}:N", tooltip=[kind, value], opacity=fade(chosen)).add_params(chosen)


def lay_out_survey() -> Page:
    world = make_world()
    return lay_out(kt.report(world.runs, world.judgments, world.gold, MEASURE))


def lay_out_pair() -> Page:
    world = make_world()
    return lay_out(kt.report(world.runs, world.judgments, world.gold, MEASURE, a="system-12", b="system-11"))


def lay_out_hostile() -> Page:
    """Systems, judges, topics and documents all called what an attacker would call them."""
    systems, judges = (
        [make(name) for name in HOSTILE] for make in (kt.simulation.SystemProfile, kt.simulation.JudgeProfile)
    )
    world = kt.simulation.simulate_collection(systems=systems, judges=judges, topics=20, depth=20, rng=7)
    return lay_out(kt.report(*map(rename, (world.runs, world.judgments, world.gold)), MEASURE))


def rename(part: Any) -> Any:
    """Other names of topics and documents."""
    topics = tuple(f"{HOSTILE[int(name) % len(HOSTILE)]}{name}" for name in part.topics)
    documents = pl.Series([f"{HOSTILE[int(name[-2:]) % len(HOSTILE)][:300]}{name}" for name in part.documents])
    return replace(part, topics=topics, documents=documents)


def lay_out_large() -> Page:
    shape = kt.simulation.CollectionShape(documents=60)
    judges = [kt.simulation.JudgeProfile(f"judge-{k:02d}") for k in range(27)]
    world = kt.simulation.simulate_collection(systems=63, topics=53, judges=judges, depth=20, shape=shape, rng=1)
    return lay_out(kt.report(world.runs, world.judgments, world.gold, "P@10"))


def lay_out_experiment() -> Page:
    plan = kt.experiments.NoisyPlan(
        studies=("intervals", "tests"), gold_sizes=(50, 250), topics=(20, 30), simulations=100
    )
    return lay_out(kt.experiments.experiment_noisy(plan))


PAGES = {
    "numbers": lay_out_numbers,
    "survey": lay_out_survey,
    "pair": lay_out_pair,
    "hostile": lay_out_hostile,
    "large": lay_out_large,
    "experiment": lay_out_experiment,
}
