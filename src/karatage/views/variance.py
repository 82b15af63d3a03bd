"""Analyses of variance, and comparisons of all levels of a factor."""

from __future__ import annotations

from functools import partial

from karatage.comparison.anova import Anova
from karatage.comparison.tukey import Tukey
from karatage.text import counted, shorten
from karatage.views.effects import draw_interaction, draw_main_effects, draw_sources, draw_tukey
from karatage.views.page import Figure, Page, Section, list_options
from karatage.views.showing import shows
from karatage.views.table import Table, label_columns

OMEGA = "From 0.01 an omega squared is called small, from 0.06 medium, from 0.14 large."
FOLLOWED = ("system", "judge")  # through all charts
TITLE = 60  # characters of a name
MOST_PAIRS = 500  # rows


@shows(Anova)
def view_anova(result: Anova) -> Page:
    """What explains the response, and the means of every level."""
    name = shorten(result.design.name, TITLE)
    caption = f"How much of the variance of {name} each source explains"
    sources = Figure(partial(draw_sources, result), caption, "sources")
    sections = [Section("Sources", OMEGA, [tabulate_sources(result)], [sources])]
    for number, factor in enumerate(result.design.factors, 1):
        caption = f"Marginal means by {shorten(factor, TITLE)}, with 95 % intervals"
        draw = partial(draw_main_effects, result, [factor])
        means = Figure(draw, caption, f"means-{number}", tabulate_means(result, factor))
        sections.append(Section(shorten(factor, TITLE), charts=[means]))
    for pair in result.design.interactions:
        second, first = sorted(pair, key=lambda name: len(result.design.factor(name).levels))  # few lines are readable
        caption = f"{shorten(first, TITLE)} and {shorten(second, TITLE)}: where lines are not parallel, they interact"
        figure = Figure(partial(draw_interaction, result, first, second), caption)
        sections.append(Section(f"{shorten(first, TITLE)} by {shorten(second, TITLE)}", charts=[figure]))
    balanced = "yes" if result.balanced else "no, type III sums of squares"
    facts = list_options(response=name, rows=f"{result.rows:,}", balanced=balanced)
    return Page(f"Analysis of variance of {name}", result.sentence, sections, result.notes, facts)


@shows(Tukey)
def view_tukey(test: Tukey) -> Page:
    """Levels from best to worst, and which of them differ."""
    caption = "Levels, best first; where intervals do not overlap, they differ"
    figure = Figure(partial(draw_tukey, test), caption, "levels")
    sections = [Section("Levels", "", [tabulate_levels(test)], [figure])]
    pairs = tabulate_level_pairs(test)
    if len(pairs.frame) <= MOST_PAIRS:
        sections.append(Section("Pairs", "", [pairs]))
    facts = list_options(response=test.response, level=f"{test.level:g}", freedom=f"{test.df:g}")
    title = f"{shorten(test.response, TITLE)} by {shorten(test.factor, TITLE)}: {counted(len(test.levels), 'level')}"
    return Page(title, test.sentence, sections, test.notes, facts)


def tabulate_sources(result: Anova) -> Table:
    """The table of an analysis of variance."""
    frame = result.to_frame()
    columns = label_columns(frame, p_value="p", omega_squared="omega squared")
    return Table(frame, f"Analysis of variance of {result.design.name}", {"f": 2}, name="anova", columns=columns)


def tabulate_means(result: Anova, factor: str) -> Table:
    """Marginal means of a factor."""
    frame, about = result.means(factor), factor if factor in FOLLOWED else ""
    headers = {"level": factor, "size": "rows", "low": "95% from", "high": "to"}
    if about:
        frame = frame.rename({"level": factor})
    return Table(
        frame, f"Marginal means by {factor}", name="means", about=about, columns=label_columns(frame, **headers)
    )


def tabulate_levels(test: Tukey) -> Table:
    """Levels from best to worst; those that share a letter cannot be told apart."""
    frame, about = test.to_frame(), test.factor if test.factor in FOLLOWED else ""
    headers = {"level": test.factor, "size": "rows", "low": "from", "high": "to"}
    if about:
        frame = frame.rename({"level": about})
    columns = {name: header for name, header in label_columns(frame, **headers).items() if name != "top"}
    caption = f"{test.response} by {test.factor}; no letter in common: different at level {test.level:g}"
    return Table(frame, caption, name="levels", about=about, columns=columns)


def tabulate_level_pairs(test: Tukey) -> Table:
    """Pairs of levels, the better first, surest differences first."""
    frame = test.pairs().sort("p_value", "first", "second")
    columns = label_columns(frame, low="from", high="to", p_value="p", differs="different")
    caption = "Pairs, with simultaneous intervals"
    return Table(frame, caption, signed=("difference", "low", "high"), name="pairs", noun="pair", columns=columns)
