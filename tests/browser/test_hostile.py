"""Systems, judges, topics and documents called what an attacker would call them are shown as text, everywhere."""

from __future__ import annotations

import pytest

from karatage.views.table import clean
from tests.browser.pages import HOSTILE
from tests.browser.visiting import MEASURING, PHONE, WIDE, find_chosen, find_mark, texts

NAMES = set(map(clean, HOSTILE))
MADE_BY_NAMES = "script:not([type='application/json'], body > script), img, b:empty, iframe, style:not(head > style)"


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_names_are_text_and_fit(show, size):
    page = show("hostile", size=size)
    page.evaluate(MEASURING)
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    assert page.locator(MADE_BY_NAMES).count() == 0
    assert page.locator("body > script").count() == 2
    assert page.evaluate("measuring.findOverflow()") == []
    named = page.locator("figure:not(.chart) table[data-name=leaderboard] tbody tr").evaluate_all(
        "rows => rows.map((row) => [row.dataset.system, row.querySelector('th, td:nth-child(2)').textContent])"
    )
    assert {whole for whole, _ in named} == NAMES
    for whole, shown in named:
        assert shown.strip() == whole if len(whole) <= 200 else whole.startswith(shown.strip("…"))


def test_each_of_them_can_be_followed_and_its_marks_tell_its_name(show):
    page = show("hostile")
    tip = page.locator("#vg-tooltip-element.visible")
    for name in NAMES:
        page.locator("#system").select_option(name)
        assert find_chosen(page, "leaderboard") == [name]
        page.mouse.move(*find_mark(page, "leaderboard", name))
        tip.wait_for()
        assert " ".join(name[:200].split()) in " ".join(tip.inner_text().split())
        assert tip.locator("script, img, style").count() == 0
        page.mouse.move(0, 0)
        tip.wait_for(state="detached")
    assert max(map(len, texts(page, "option"))) <= 61
    assert {"constructor", "toString", "__proto__"} <= set(texts(page, ".drawn svg .role-axis-label text"))


def test_on_paper_they_fit_too(show):
    page = show("hostile", size=(718, 1000))
    page.emulate_media(media="print")
    page.evaluate(MEASURING)
    assert page.evaluate("measuring.findCut()") == []
    assert page.pdf().startswith(b"%PDF-")
