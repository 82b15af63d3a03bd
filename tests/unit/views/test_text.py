"""Pages as text: what the terminal shows of them, and what it leaves out."""

from __future__ import annotations

from functools import cache

import polars as pl
import pytest

import karatage as kt
from karatage.views.audit import view_pairs
from karatage.views.crowd import view_collection, view_models, view_summary
from karatage.views.evaluation import view_evaluation
from karatage.views.page import Figure, Page, Section
from karatage.views.posterior import view_grades
from karatage.views.showing import lay_out
from karatage.views.table import Table
from karatage.views.text import break_command, render_page


@cache
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(systems=5, topics=6, depth=12, rng=3)


def make_page() -> Page:
    table = Table(pl.DataFrame({"system": list("abc"), "score": [3.0, 2.0, 1.0]}), "Systems", about="system")
    figure = Figure(lambda: pytest.fail("drawn"), "A chart", "chart", Table(table.frame, "Behind"))
    return Page(
        "Title",
        "The sentence.",
        [
            Section("Leaderboard", "Some text.", [table], [figure], background="Only on the page."),
            Section("Conclusions", f"- {'word ' * 30}\n\n- next"),
            Section("Next", commands=["karatage compare 'a b' --top 3"]),
            Section("Details", "Long.", [table], detail=True),
            Section("Empty", charts=[figure]),
        ],
        ["A note."],
    )


def test_tables_come_before_text_and_the_sentence_last() -> None:
    lines = render_page(make_page()).splitlines()
    assert lines[:3] == ["Title", "", "Systems"]
    assert lines[lines.index("Some text.") - 1] == ""
    assert lines[-1] == "The sentence."
    text = "\n".join(lines)
    for left_out in ("Only on the page", "Behind", "A chart", "Details", "Long.", "A note", "Leaderboard", "Empty"):
        assert left_out not in text


def test_details_are_shown_when_they_are_asked_for() -> None:
    text = render_page(make_page(), detail=True)
    assert "Long." in text
    assert text.count("Systems") == 2


def test_few_rows_are_shown_and_the_others_are_counted() -> None:
    text = render_page(make_page(), top=1)
    assert "… 2 more systems; --top 0 shows all." in text
    assert " b " not in text
    assert "… 2 more systems; -f json has all." in render_page(make_page(), top=1, all_rows="-f json has all")
    assert "more" not in render_page(make_page(), top=3)


def test_items_of_a_list_are_indented_and_sections_without_tables_have_their_title() -> None:
    lines = render_page(make_page()).splitlines()
    start = lines.index("Conclusions")
    assert lines[start + 1].startswith("- word")
    assert lines[start + 2].startswith("  word")
    assert "- next" in lines
    assert lines[lines.index("Next") + 1] == "  karatage compare 'a b' --top 3"


def test_colour_only_on_request() -> None:
    assert "\x1b[" not in render_page(make_page())
    assert "\x1b[" in render_page(make_page(), colour=True)


def test_a_long_command_is_broken_between_options() -> None:
    lines = break_command("karatage report " + " ".join(f"-j file-{k:02}.csv" for k in range(12))).split(" \\\n")
    assert max(map(len, lines)) <= 78
    assert all(line.strip().startswith(("karatage", "-j")) for line in lines)


def test_weights_and_their_reasons_on_request() -> None:
    found = kt.evaluate(world().runs, world().judgments, "AP", approach=["sgl_tau_msd", "mv"], gold=world().gold, rng=0)
    assert "Weights by" not in render_page(lay_out(found))
    shown = render_page(view_evaluation(found, weights=True, explain=True), top=2)
    assert "Weights by sgl_tau_msd, AP" in shown
    assert "more judges; --top 0 shows all." in shown
    for line in found.weights[0].explain():
        assert f"- {line}"[:40] in shown


def test_pairs_of_judges_instead_of_judges() -> None:
    found = kt.audit(world().judgments, gold=world().gold, rng=0, approach=["mv"])
    text = render_page(view_pairs(found))
    assert "\nPairs\n" in text  # a square of nine judges is too wide
    three = world().judgments.to_frame().filter(pl.col("judge").is_in(world().judgments.judges[:3]))
    few = kt.audit(kt.read_judgments(three), rng=0, approach=["mv"])
    assert "\nCohen's kappa\n" in render_page(view_pairs(few))
    assert "Fleiss" in text
    assert "suspicion" not in text
    assert text.endswith(render_page(lay_out(found))[-100:])


def test_merged_grades_are_listed_in_their_order() -> None:
    merged = kt.aggregate(world().judgments, "mv", rng=0)
    text = render_page(view_grades(merged), top=3)
    assert [line.split()[1] for line in text.splitlines()[6:9]] == merged.to_frame()["document"].head(3).to_list()
    assert f"{len(merged.grades) - 3:,} more items" in text


def test_crowds_beside_their_model_and_in_a_collection() -> None:
    model = kt.simulation.load_crowd("careful")
    summary = kt.simulation.summarise_crowd(world().judgments, world().gold)
    assert "in model" not in render_page(lay_out(summary))
    assert "in model" in render_page(view_summary(summary, model))
    text = render_page(view_collection(world(), summary, model))
    assert "Collection" in text
    assert "in model" in text
    listed = render_page(view_models([model]))
    assert model.source.split(".")[0][:30] in listed
