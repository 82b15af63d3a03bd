"""What readers do with a page: sort its tables, order its charts, and follow one system or judge through all of it."""

from __future__ import annotations

from tests.browser.visiting import find_chosen, find_mark, read_column, settle, texts

ALL = list("abcdefg")


def header(page, table, number):
    return page.locator(f"figure:not(.chart) table[data-name={table}] thead th").nth(number - 1)


def rows_chosen(page, kind="system"):
    return page.locator("tr.chosen").evaluate_all(f"rows => rows.map(row => row.dataset.{kind})")


def test_numbers_sort_as_numbers_by_a_click(show):
    page = show("numbers")
    assert texts(page, "th[aria-sort]") == []
    button = header(page, "numbers", 2).locator("button")
    button.click()
    assert header(page, "numbers", 2).get_attribute("aria-sort") == "descending"
    falling = ["1,234.5000", "10.0000", "9.0000", "0.2500", "−0.5000", "−1.2500", "–"]
    assert read_column(page, "numbers", 2) == falling
    button.click()
    assert header(page, "numbers", 2).get_attribute("aria-sort") == "ascending"
    assert read_column(page, "numbers", 2) == [*reversed(falling[:-1]), "–"]
    assert read_column(page, "numbers", 1) == ["d", "a", "b", "g", "f", "e", "c"]
    header(page, "numbers", 3).locator("button").click()
    assert read_column(page, "numbers", 3) == ["1.0000", "0.5000", "0.0400", "0.0001", "<0.0001", "0.0000", "–"]
    header(page, "numbers", 4).locator("button").click()
    assert read_column(page, "numbers", 4) == ["1,000", "100", "20", "3", "0", "−4", "–"]
    assert header(page, "numbers", 2).get_attribute("aria-sort") is None
    assert read_column(page, "few", 1) == ["a", "b", "c"]


def test_text_sorts_by_the_keyboard(show):
    page = show("numbers")
    button = header(page, "numbers", 5).locator("button")
    button.focus()
    page.keyboard.press("Enter")
    assert header(page, "numbers", 5).get_attribute("aria-sort") == "ascending"
    rising = read_column(page, "numbers", 5)
    assert rising[:5] == ["better", "item 9", "item 10", "worse", "Worse"]
    assert sorted(rising[5:]) == ["", "–"]
    page.keyboard.press("Space")
    assert header(page, "numbers", 5).get_attribute("aria-sort") == "descending"
    assert read_column(page, "numbers", 5)[:5] == ["Worse", "worse", "item 10", "item 9", "better"]
    assert page.evaluate("document.activeElement.textContent") == "verdict"


def test_a_system_is_followed_from_the_list_to_charts_and_tables(show):
    page = show("numbers")
    assert texts(page, "#system option") == ["all", *ALL]
    assert find_chosen(page, "differences") == ALL
    page.locator("#system").select_option("b")
    assert find_chosen(page, "differences") == ["b"]
    assert find_chosen(page, "p-values") == ["b"]
    assert find_chosen(page, "agreement", "judge") == ["j1", "j2", "j3"]
    assert rows_chosen(page) == ["b"] * 3
    page.locator("#judge").select_option("j2")
    assert find_chosen(page, "agreement", "judge") == ["j2"]
    assert find_chosen(page, "p-values") == ["b"]
    page.locator("#system").select_option("")
    assert find_chosen(page, "p-values") == ALL
    assert rows_chosen(page, "judge") == ["j2"]


def test_a_system_is_followed_from_a_chart_to_the_others_and_the_tables(show):
    page = show("numbers")
    page.mouse.click(*find_mark(page, "differences", "e"))
    assert find_chosen(page, "differences") == ["e"]
    assert find_chosen(page, "p-values") == ["e"]
    assert page.locator("#system").input_value() == "e"
    assert rows_chosen(page) == ["e"] * 2
    page.mouse.click(*find_mark(page, "p-values", "a"))
    assert find_chosen(page, "differences") == ["a"]
    page.mouse.dblclick(*find_mark(page, "p-values", "a"))  # lets go
    assert find_chosen(page, "differences") == ALL
    assert page.locator("#system").input_value() == ""


def test_a_system_is_followed_from_a_row_to_the_charts(show):
    page = show("numbers")
    row = page.locator("table[data-name=few] tr[data-system=c]")
    row.click()
    assert find_chosen(page, "differences") == ["c"]
    assert page.locator("#system").input_value() == "c"
    header(page, "numbers", 2).locator("button").click()
    assert rows_chosen(page) == ["c"] * 3  # sorting changes nothing
    row.click()
    assert find_chosen(page, "p-values") == ALL
    assert rows_chosen(page) == []


def test_a_mark_tells_its_numbers(show):
    page = show("numbers")
    page.mouse.move(*find_mark(page, "differences", "b"))
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    assert tip.inner_text().split() == ["system", "b", "difference", "0.25"]


def test_rows_of_the_leaderboard_chart_can_be_ordered(show):
    page = show("survey")
    listed = page.locator("figure[data-name=leaderboard] .vega-bindings select")
    orders = listed.locator("option").all_text_contents()
    assert orders == ["corrected", "judges", "name"]
    natural = name_rows(page, "leaderboard")
    assert natural == read_column(page, "leaderboard", 2)
    listed.select_option("name")
    settle(page)
    assert name_rows(page, "leaderboard") == sorted(natural)
    listed.select_option("judges")
    settle(page)
    header(page, "leaderboard", 3).locator("button").click()  # rank by the judges
    header(page, "leaderboard", 3).locator("button").click()
    ranked = list(zip(read_column(page, "leaderboard", 2), map(int, read_column(page, "leaderboard", 3)), strict=True))
    place = dict(ranked)
    assert [place[name] for name in name_rows(page, "leaderboard")] == [rank for _, rank in ranked]


def name_rows(page, chart):
    """The names on a chart's axis from top to bottom."""
    named = page.evaluate(
        """(chart) => Array.from(
          document.querySelectorAll(`figure[data-name="${chart}"] .drawn svg .role-axis-label text`),
          (text) => [text.getBoundingClientRect().y, text.textContent],
        )""",
        chart,
    )
    return [name for _, name in sorted(named) if name.startswith("system-")]


def test_a_system_is_followed_through_the_whole_page(show):
    page = show("survey")
    page.locator("#system").select_option("system-05")
    settle(page)
    following = page.evaluate(
        """() => Object.entries(karatage.views).filter(([, { stores }]) => stores.has("chosen_store"))
          .map(([name, { view }]) => [name, view.data("chosen_store").map((held) => held.values)])"""
    )
    assert len(following) >= 2
    assert {name: held for name, held in following if held != [["system-05"]]} == {}
    assert {"leaderboard", "differences"} <= {name for name, _ in following}
    assert find_chosen(page, "leaderboard") == ["system-05"]
    page.mouse.click(*find_mark(page, "leaderboard", "system-01"))
    assert page.locator("#system").input_value() == "system-01"
    assert set(rows_chosen(page)) == {"system-01"}
