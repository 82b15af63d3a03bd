"""Analyses of variance and comparisons of levels as pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.text import counted, shorten
from karatage.views.effects import draw_interaction, draw_main_effects, draw_sources, draw_tukey
from karatage.views.layout.facts import list_options
from karatage.views.page import Figure, Page, Section
from karatage.views.tabulating.effects import tabulate_level_pairs, tabulate_levels, tabulate_means, tabulate_sources

if TYPE_CHECKING:
    from karatage.comparison.anova import Anova
    from karatage.comparison.tukey import Tukey

OMEGA = "From 0.01 an omega squared is called small, from 0.06 medium, from 0.14 large."
TITLE = 60  # characters of a name
MOST_PAIRS = 500  # rows


def lay_out_anova(result: Anova) -> Page:
    """What explains the response, and the means of every level."""
    name = shorten(result.design.name, TITLE)
    sources = Figure(draw_sources(result), f"How much of the variance of {name} each source explains", "sources")
    sections = [Section("Sources", OMEGA, [tabulate_sources(result)], [sources])]
    for number, factor in enumerate(result.design.factors, 1):
        caption = f"Marginal means by {shorten(factor, TITLE)}, with 95 % intervals"
        means = Figure(draw_main_effects(result, [factor]), caption, f"means-{number}", tabulate_means(result, factor))
        sections.append(Section(shorten(factor, TITLE), "", (), [means]))
    for pair in result.design.interactions:
        second, first = sorted(pair, key=lambda name: len(result.design.factor(name).levels))  # few lines are readable
        caption = f"{shorten(first, TITLE)} and {shorten(second, TITLE)}: where lines are not parallel, they interact"
        sections.append(
            Section(
                f"{shorten(first, TITLE)} by {shorten(second, TITLE)}",
                "",
                (),
                [Figure(draw_interaction(result, first, second), caption)],
            )
        )
    facts = list_options(
        response=name, rows=f"{result.rows:,}", balanced="yes" if result.balanced else "no, type III sums of squares"
    )
    return Page(f"Analysis of variance of {name}", result.sentence, sections, result.notes, facts)


def lay_out_tukey(test: Tukey) -> Page:
    """Levels from best to worst, and which of them differ."""
    figure = Figure(draw_tukey(test), "Levels, best first; where intervals do not overlap, they differ", "levels")
    sections = [Section("Levels", "", [tabulate_levels(test)], [figure])]
    pairs = tabulate_level_pairs(test)
    if len(pairs.frame) <= MOST_PAIRS:
        sections.append(Section("Pairs", "", [pairs]))
    facts = list_options(response=test.response, level=f"{test.level:g}", freedom=f"{test.df:g}")
    title = f"{shorten(test.response, TITLE)} by {shorten(test.factor, TITLE)}: {counted(len(test.levels), 'level')}"
    return Page(title, test.sentence, sections, test.notes, facts)
