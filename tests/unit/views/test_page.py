"""Pages: whole HTML that needs nothing from elsewhere, and names that stay names."""

import base64
import hashlib
import json
import re
from functools import partial
from html.parser import HTMLParser

import altair as alt
import polars as pl
import pytest

from karatage.errors import DataError, OptionError
from karatage.views.html import adapt_svg, clean_chart, render_page, write_page
from karatage.views.page import Figure, Page, Section
from karatage.views.pictures import render_picture
from karatage.views.table import Table, mark_best

HOSTILE = """</svg></title><script>alert("1'&")</script>"""
ENDLESS = {"meta", "link", "br", "img", "hr", "input"}


class Reader(HTMLParser):
    """Collects tags and texts, and checks that every tag is closed in its turn."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.texts, self.cells, self.scripts = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ENDLESS:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append((self.tags[-1][1].get("type"), data))
            return
        self.texts.append(data)
        if "td" in self.open or "th" in self.open:
            self.cells.append((data, "b" in self.open))


def make_chart(name=HOSTILE):
    frame = pl.DataFrame({"x": [1, 2], "y": [1.0, 3.0], name: [name, "plain"]})
    marks = alt.Chart(frame, title=name).mark_line(point=True, clip=True)
    colour = alt.Color("shade:N", title=name, legend=alt.Legend(labelLimit=0))
    return marks.transform_calculate(shade=f"datum[{name!r}]").encode(x="x:Q", y="y:Q", color=colour)


def make_page(name=HOSTILE):
    frame = pl.DataFrame({name: [name, "mv"], "tau": [0.5, 0.75], "p": [1e-9, None], "n": [1234, -5]})
    table = Table(frame, name, digits={"tau": 2}, mark=mark_best(frame, ["tau"]))
    sections = [
        Section(name, f"one {name}\n\ntwo", [table], [Figure(partial(make_chart, name), name)]) for _ in range(3)
    ]
    return Page(name, name, sections, [name])


def test_a_page_is_whole_and_needs_nothing_from_elsewhere(tmp_path):
    write_page(tmp_path / "page.html", make_page("AP"))
    text = (tmp_path / "page.html").read_text()
    found = Reader(text)
    names = {tag for tag, _ in found.tags}
    assert {"table", "svg", "figcaption", "nav"} <= names
    assert not names & {"link", "img", "iframe", "object", "base", "form"}
    for _, attributes in found.tags:
        assert not any(key.startswith("on") for key in attributes)
        assert attributes.get("href", "#").startswith("#")
        assert "src" not in attributes
    beside = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    assert not re.search(r"https?:|//|@import|url\((?!#)", beside)
    assert found.texts.count("two") == 3


def test_only_scripts_of_the_page_itself_can_run():
    found = Reader(render_page(make_page()))
    (rule,) = (a["content"] for tag, a in found.tags if a.get("http-equiv") == "Content-Security-Policy")
    allowed = re.findall(r"'sha256-(.+?)'", rule)
    run = [text for kind, text in found.scripts if kind is None]
    assert allowed == [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run]
    assert len(run) == 2
    assert rule.startswith("default-src 'none';")
    assert "unsafe" not in rule.replace("style-src 'unsafe-inline'", "")
    specs = [json.loads(text) for kind, text in found.scripts if kind == "application/json"]
    assert [spec["title"] for spec in specs] == [HOSTILE] * 3


def test_a_page_without_charts_carries_no_library_to_draw_them():
    table = Table(pl.DataFrame({"system": ["a"]}), "t")
    assert len(render_page(Page("p", "s", [Section("one", tables=[table])]))) < 40_000


def test_rows_tell_which_system_they_are_about():
    table = Table(pl.DataFrame({"system": ["x" * 1000, HOSTILE], "score": [1.0, 2.0]}), "t", about="system")
    found = Reader(render_page(Page("p", "s", [Section("one", tables=[table])])))
    assert [a["data-system"] for tag, a in found.tags if "data-system" in a] == ["x" * 1000, HOSTILE]
    assert max(len(text) for text, _ in found.cells) == 200


def test_how_it_was_computed_is_told():
    page = Page("p", "s", [Section("one")], facts=[("command", f"karatage compare {HOSTILE}"), ("seed", "7")])
    found = Reader(render_page(page))
    assert f"karatage compare {HOSTILE}" in found.texts
    assert found.texts[found.texts.index("seed") :].count("7") == 1


def test_hostile_names_stay_text_also_inside_charts():
    text = render_page(make_page())
    found = Reader(text)
    assert {kind for kind, _ in found.scripts} == {None, "application/json"}
    assert "<script>alert" not in text
    words = "".join(found.texts)
    assert words.count(HOSTILE) >= 3 + 3 * 6  # title, sentence, note; heading, text, caption, cell, header, chart
    labels = [attributes["aria-label"] for tag, attributes in found.tags if tag == "svg"]
    assert labels == [HOSTILE] * 3


@pytest.mark.parametrize("name", ["a\x0bb", "a\x00b", "a\ufffeb", "\x1b[31m"])
def test_what_xml_cannot_hold_is_replaced(tmp_path, name):
    write_page(tmp_path / "page.html", make_page(name))
    text = (tmp_path / "page.html").read_text()
    Reader(text)
    assert not re.search("[\x00\x0b\x1b\ufffe]", text)
    assert "\N{REPLACEMENT CHARACTER}" in text


def test_same_page_same_bytes():
    first = render_page(make_page())
    render_picture(clean_chart(make_chart()), "svg").result()  # the converter counts on
    assert render_page(make_page()) == first


def test_names_inside_charts_do_not_clash():
    found = Reader(render_page(make_page("AP")))
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    used = {name for _, a in found.tags for value in a.values() for name in re.findall(r"url\(#(.+?)\)", value or "")}
    assert len(ids) == len(set(ids))
    assert used
    assert used <= set(ids)


def test_numbers_have_the_digits_asked_for_and_the_best_is_bold():
    frame = pl.DataFrame(
        {"approach": ["mv", "ds", "x"], "tau": [0.12345, 0.5, float("nan")], "gap": [-1e-9, -0.25, float("-inf")]}
        | {"p": [1e-7, 0.0, None], "size": [1234567, -1, None], "ok": [True, False, None]}
    )
    table = Table(frame, "t", digits=3, mark=mark_best(frame, ["tau"]) | mark_best(frame, ["gap"], lowest=True))
    cells = Reader(render_page(Page("p", "s", [Section("one", tables=[table])]))).cells
    assert cells[: len(frame.columns)] == [(name, False) for name in frame.columns]
    assert [text for text, _ in cells[6:]] == [
        *("mv", "0.123", "0.000", "<0.001", "1,234,567", "yes"),
        *("ds", "0.500", "−0.250", "0.000", "−1", "no"),
        *("x", "–", "−∞", "–", "–", "–"),
    ]
    assert [k for k, (_, bold) in enumerate(cells[6:]) if bold] == [7, 14]
    four = Reader(render_page(Page("p", "s", [Section("one", tables=[Table(frame, "t", {"gap": 1})])]))).cells
    assert [text for text, _ in four[7:9]] == ["0.1235", "0.0"]  # 4 where the mapping is silent


def test_the_best_of_each_group_is_marked():
    frame = pl.DataFrame({"g": ["a", "a", "b", "b"], "v": [1.0, 2.0, None, 0.5], "w": [3, 3, 1, 2]})
    assert mark_best(frame, ["v", "w"], within="g") == {
        "v": [False, True, False, True],
        "w": [True, True, False, True],
    }
    assert mark_best(frame, ["v"]) == {"v": [False, True, False, False]}
    assert mark_best(frame, ["v"], within=["g"], lowest=True) == {"v": [True, False, False, True]}


def test_wrong_marks_and_links_are_refused():
    frame = pl.DataFrame({"v": [1.0, 2.0]})
    for mark in ({"w": [True, False]}, {"v": [True]}):
        with pytest.raises(OptionError, match=r"columns.*\b2\b"):
            render_page(Page("p", "s", [Section("one", tables=[Table(frame, "t", mark=mark)])]))
    linked = alt.Chart(frame.with_columns(u=pl.lit("https://example.org/"))).mark_point().encode(x="v:Q", href="u:N")
    with pytest.raises(DataError):
        adapt_svg(render_picture(clean_chart(linked), "svg").result(), "figure-1", "")


def test_an_empty_page_and_an_empty_table_are_whole():
    bare = Reader(render_page(Page("nothing", "nothing")))
    assert "h1" in [tag for tag, _ in bare.tags]
    assert bare.cells == []
    empty = Table(pl.DataFrame({"a": []}), "none")
    assert Reader(render_page(Page("p", "s", [Section("one", tables=[empty])]))).cells == [("a", False)]
