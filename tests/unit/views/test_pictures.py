"""Still pictures: drawn by another process, which may die, and ends with the one that asks."""

import json
import resource
import signal
import struct
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from concurrent.futures import Future
from pathlib import Path

import altair as alt
import polars as pl
import pytest

from karatage.errors import DataError, OptionError, PictureError
from karatage.progress import take_remarks
from karatage.views import charts, html, pictures
from karatage.views.charts import write_chart, write_charts
from karatage.views.html import render_page
from karatage.views.page import Figure, Page, Section
from karatage.views.pictures import render_picture
from tests.notes import gives

SPEC = '{"mark": "point", "title": "Größe", "data": {"values": [{"a": 1}]}, "encoding": {"x": {"field": "a"}}}'
FETCHED = '{"mark": "point", "data": {"url": "http://127.0.0.1:1/a.csv"}}'


@pytest.fixture
def painter():
    """One that nobody else talks to."""
    made = pictures._Painter()
    yield made
    if made._process is not None:
        pictures._end(made._process)


def ask(painter, spec=SPEC, kind="svg", **options):
    return painter.render(json.dumps([kind, spec, options]).encode()).result()


def make_chart():
    return alt.Chart(pl.DataFrame({"x": [1, 2]})).mark_point().encode(x="x:Q")


def is_running(process):
    """Whether there is such a process; one that nobody has buried counts as gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_pictures_are_whole():
    assert "Größe" in "".join(ET.fromstring(render_picture(SPEC, "svg").result()).itertext())
    plain, fine = (render_picture(SPEC, "png", ppi=ppi).result() for ppi in (72, 144))
    assert plain.startswith(b"\x89PNG")
    assert [2 * side for side in struct.unpack(">II", plain[16:24])] == list(struct.unpack(">II", fine[16:24]))


def test_a_chart_that_is_wrong_is_refused_and_the_next_is_drawn(painter):
    for wrong in ("nonsense", '{"mark": 3}'):
        with pytest.raises(DataError, match="picture"):
            ask(painter, wrong)
    with pytest.raises(DataError):
        ask(painter, FETCHED, allowed_base_urls=[])
    first = painter._process
    assert ask(painter).startswith(b"<svg")
    assert painter._process is first


def test_where_the_process_dies_one_picture_is_lost(painter):
    ask(painter)
    painter._process.kill()
    with pytest.raises(PictureError, match="SIGKILL"):
        ask(painter)
    assert ask(painter).startswith(b"<svg")


def test_what_cannot_start_is_not_tried_again(painter, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/program")
    with pytest.raises(PictureError, match="file"):
        ask(painter)
    monkeypatch.undo()
    with pytest.raises(PictureError):
        ask(painter)


def test_what_cannot_draw_the_smallest_picture_is_not_tried_again(painter, monkeypatch):
    monkeypatch.setattr(sys, "path", ["/no/such/folder"])
    with pytest.raises(PictureError, match=r"\b1\b"):
        ask(painter)
    monkeypatch.undo()
    started = time.perf_counter()
    with pytest.raises(PictureError, match=r"\b1\b"):
        ask(painter)
    assert time.perf_counter() - started < 0.05


def test_a_thread_that_cannot_be_started_is_no_traceback(painter, monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(painter._thread, "submit", refuse)
    painter.prepare()
    with pytest.raises(PictureError, match="thread"):
        ask(painter)


STUCK = """
import time, vl_convert
from karatage.views import pictures
vl_convert.vegalite_to_svg = lambda *_, **__: time.sleep(60)
pictures.PATIENCE = 1
pictures.serve()
"""


def test_a_picture_that_takes_too_long_ends_the_process():
    program = [sys.executable, "-c", STUCK]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        pictures._send(process.stdin, True, json.dumps(["svg", SPEC, {}]).encode())
        assert pictures._receive(process.stdout) is None
        process.stdin.close()
        assert process.wait(20) == -signal.SIGALRM
    assert gives(pictures._explain(process.returncode), 120)


ENDING = """
import os, signal, sys
from karatage.views import pictures
assert pictures.render_picture({spec!r}, "svg").result()
print(pictures._painter(os.getpid())._process.pid, flush=True)
{end}
"""


@pytest.mark.parametrize("end", ["pass", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_the_process_ends_with_the_one_that_asks(end):
    program = [sys.executable, "-W", "error", "-X", "dev", "-c", ENDING.format(spec=SPEC, end=end)]
    ended = subprocess.run(program, capture_output=True, text=True, check=False)
    if end == "pass":
        assert (ended.returncode, ended.stderr) == (0, "")
    deadline = time.monotonic() + 10
    while is_running(int(ended.stdout)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(int(ended.stdout))


FORKED = """
import os, sys
from karatage.views import pictures
assert pictures.render_picture({spec!r}, "svg").result()
child = os.fork()
if child == 0:
    drawn = pictures.render_picture({spec!r}, "svg").result()
    os._exit(0 if drawn.startswith(b"<svg") else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), pictures.render_picture({spec!r}, "svg").result()[:4])
"""


def test_a_forked_process_has_its_own():
    program = [sys.executable, "-c", FORKED.format(spec=SPEC)]
    assert subprocess.run(program, capture_output=True, text=True, check=True, timeout=60).stdout == "0 b'<svg'\n"


LIMITED = """
import sys
from pathlib import Path
from tests.unit.views import test_pictures as tests
from karatage.errors import PictureError
from karatage.views.charts import write_chart, write_charts
from karatage.views.html import write_page
from karatage.views.page import Figure, Page, Section
from karatage.progress import take_remarks
home, chart = Path(sys.argv[1]), tests.make_chart()
charts = [Figure(lambda: chart, "c"), Figure(lambda: chart, "d")]
write_page(home / "page.html", Page("t", "s", [Section("one", charts=charts)]))
write_chart(chart, home / "chart.html")
write_charts([(chart, home / name) for name in ("a.svg", "a.png", "a.json")])
try:
    write_chart(chart, home / "b.svg")
except PictureError as problem:
    print(problem)
print(*take_remarks(), sep="\\n")
"""


def limit_addresses():
    resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))


@pytest.mark.skipif(sys.platform != "linux", reason="limits of addresses are Linux'")
def test_where_addresses_are_limited_pages_and_folders_do_without(tmp_path):
    program = [sys.executable, "-c", LIMITED, str(tmp_path)]
    root = str(Path(__file__).parents[3])
    ended = subprocess.run(program, preexec_fn=limit_addresses, capture_output=True, text=True, check=False, cwd=root)
    assert ended.stderr == ""
    refused, on_page, in_folder = ended.stdout.splitlines()
    assert refused.startswith(f"{tmp_path}/b.svg: ")
    assert gives(refused[len(f"{tmp_path}/b.svg: ") :], 2, "ulimit", ".html", ".json")
    assert gives(in_folder, 2)
    assert {path.name for path in tmp_path.iterdir()} == {"page.html", "chart.html", "a.json"}
    text = (tmp_path / "page.html").read_text()
    assert on_page in text
    assert text.count('<script type="application/json" class="spec">') == 2
    assert 'class="still"' not in text
    assert "vegaEmbed" in (tmp_path / "chart.html").read_text()


def fail_at(monkeypatch, module, number, problem):
    """One of the pictures that a module asks for fails."""
    asked = []

    def draw(*arguments, **options):
        asked.append(arguments)
        if len(asked) != number:
            return render_picture(*arguments, **options)
        failed = Future()
        failed.set_exception(problem)
        return failed

    monkeypatch.setattr(module, "render_picture", draw)


def test_a_page_goes_without_the_one_picture_that_fails(monkeypatch):
    take_remarks()
    fail_at(monkeypatch, html, 2, PictureError("it died"))
    figures = [Figure(make_chart, "c") for _ in range(3)]
    text = render_page(Page("t", "s", [Section("one", charts=figures)], notes=["first"]))
    assert text.count('<div class="still">') == 2
    (note,) = take_remarks()
    assert "it died" in note
    assert text.index("<li>first</li>") < text.index(f"<li>{note}</li>")
    fail_at(monkeypatch, html, 2, DataError("it is wrong"))
    with pytest.raises(DataError):
        render_page(Page("t", "s", [Section("one", charts=figures)]))


def test_folders_go_without_the_one_picture_that_fails(monkeypatch, tmp_path):
    take_remarks()
    fail_at(monkeypatch, charts, 1, PictureError("it died"))
    write_charts([(make_chart(), tmp_path / name) for name in ("a.svg", "b.svg")])
    assert [path.name for path in tmp_path.iterdir()] == ["b.svg"]
    (note,) = take_remarks()
    assert gives(note, "it died", 1)
    with pytest.raises(OptionError, match="format"):
        write_charts([(make_chart(), tmp_path / "a.bmp")])
    fail_at(monkeypatch, charts, 1, PictureError("it died"))
    with pytest.raises(PictureError, match=r"a\.svg"):
        write_chart(make_chart(), tmp_path / "a.svg")


def test_the_reason_names_the_limit(monkeypatch):
    monkeypatch.setattr(pictures, "find_limit", lambda: None)
    unlimited = pictures._explain(-signal.SIGTRAP)
    assert gives(unlimited, "SIGTRAP")
    assert "ulimit" not in unlimited
    monkeypatch.setattr(pictures, "find_limit", lambda: 3 * 2**29)
    assert gives(pictures._explain(-signal.SIGTRAP), "SIGTRAP", 1.5, "ulimit")
