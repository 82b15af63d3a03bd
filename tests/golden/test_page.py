"""What the demo's page says, to the letter. KARATAGE_UPDATE_GOLDEN=1 writes it anew."""

import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import karatage as kt
from karatage.simulation.collection import simulate_story

GOLDEN = Path(__file__).parent / "report-page.txt"
UNSEEN = {"script", "style", "svg", "select", "button"}
LINES = {"h1", "h2", "p", "li", "figcaption", "tr", "dt", "dd", "summary", "title", "footer"}
VERSION = re.compile(r"(karatage|python|numpy|numba|polars|scipy) [\d.]+\w*")


class Words(HTMLParser):
    """The text that readers see, a line for each paragraph, caption and row."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.unseen, self.lines = [], [""]
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag in UNSEEN:
            self.unseen.append(tag)
        elif tag in LINES:
            self.lines.append("")
        elif tag in {"td", "th"} and self.lines[-1]:
            self.lines[-1] += " | "

    def handle_endtag(self, tag):
        if self.unseen and tag == self.unseen[-1]:
            self.unseen.pop()

    def handle_data(self, data):
        if not self.unseen:
            self.lines[-1] += " ".join(data.split())


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    world = simulate_story(7)
    queue = kt.plan(world.runs, world.judgments, "P@10", budget=300).queue
    known = world.pool.to_frame().select("topic", "document", "grade")
    gold = kt.read_gold(queue.drop("grade").join(known, on=["topic", "document"], maintain_order="left"))
    path = tmp_path_factory.mktemp("page") / "report.html"
    found = kt.report(world.runs, world.judgments, gold, "P@10", a="old", b="new")
    kt.write_report(path, found, command="karatage report ...")
    return path.read_text()


def test_the_page_says(page):
    text = VERSION.sub(r"\1 *", "\n".join(line for line in Words(page).lines if line)) + "\n"
    if os.environ.get("KARATAGE_UPDATE_GOLDEN"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()
