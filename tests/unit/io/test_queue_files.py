"""Queues that come back from experts."""

from __future__ import annotations

import gzip
from types import SimpleNamespace

import polars as pl
import pytest

import karatage as kt
from karatage.errors import DataError, InputFileError
from karatage.io.queues import read_asked, write_judged
from karatage.io.writing import encode_table, write_bytes
from tests.notes import has_note

HEAD = "topic,document,grade,to,judgments,priority,pi,cost,batch,order,seed\n"
ROWS = [("a", "yes", "expert"), ("b", "", "expert"), ("c", "", "crowd")]


def write(folder, rows):
    path = folder / "queue.csv"
    path.write_text(HEAD + "\n".join(rows) + "\n")
    return path


def test_rows_to_the_crowd_are_no_gold(tmp_path):
    gold = kt.read_gold(write(tmp_path, ["1,a,1,expert,1,1,,10,1,depth,0", "1,b,,crowd,5,2,,1,1,depth,0"]))
    assert gold.to_frame().select("document", "grade").rows() == [("a", 1)]
    assert gold.draw is None


def test_what_experts_have_not_judged_yet_is_told(tmp_path):
    gold = kt.read_gold(write(tmp_path, ["1,a,1,expert,1,1,,10,1,depth,0", "1,b,,Expert,1,2,,10,1,depth,0"]))
    assert len(gold.grade) == 1
    assert has_note(gold, "io.experts-open", documents=1)


def test_drawn_documents_keep_their_chances_and_batches_stay_whole(tmp_path):
    rows = ["1,a,1,expert,1,1,0.5,10,1,effect,0", "1,b,,crowd,5,2,,1,1,effect,0"]
    gold = kt.read_gold(write(tmp_path, rows))
    assert gold.draw is not None
    assert gold.draw.pi.tolist() == [0.5]
    with pytest.raises(InputFileError, match=r"queue\.csv:4"):
        kt.read_gold(write(tmp_path, [*rows, "1,c,,expert,1,3,0.2,10,1,effect,0"]))


def test_lines_are_counted_in_the_whole_file(tmp_path):
    rows = ["1,b,,crowd,5,2,,1,1,depth,0", "1,a,no,expert,1,1,,10,1,depth,0"]
    with pytest.raises(InputFileError, match=r"queue\.csv:3"):
        kt.read_gold(write(tmp_path, rows))


def test_a_queue_without_experts_or_grades_is_refused(tmp_path):
    with pytest.raises((DataError, InputFileError), match="expert"):
        kt.read_gold(write(tmp_path, ["1,b,,crowd,5,2,,1,1,depth,0"]))
    with pytest.raises((DataError, InputFileError), match="expert"):
        kt.read_gold(write(tmp_path, ["1,b,,expert,5,2,,1,1,depth,0"]))


@pytest.fixture(scope="module")
def plans():
    """Two plans of one collection."""
    world = kt.simulation.simulate_collection(systems=3, topics=6, depth=10, rng=3)
    return [kt.plan(world.runs, world.judgments, kt.Question(measure="P@5", seed=seed), budget=8) for seed in (1, 2)]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "csv.gz"])
def test_grades_that_judges_filled_in_are_not_written_over(plans, tmp_path, ending):
    path = tmp_path / f"queue.{ending}"
    kt.write_queue(plans[0], path)
    kt.write_queue(plans[1], path)  # nobody has begun: a new plan may take its place
    empty = path.read_bytes()
    kt.write_queue(plans[0], path)
    assert path.read_bytes() != empty
    graded = plans[0].queue.with_columns(grade=pl.when(pl.int_range(pl.len()) == 3).then(1))
    write_bytes(path, encode_table(graded, f".{ending.removesuffix('.gz')}"))
    before = path.read_bytes()
    for plan in plans:
        with pytest.raises(DataError, match="queue"):
            kt.write_queue(plan, path)
    assert path.read_bytes() == before


def test_the_same_judged_queue_may_be_written_again(plans, tmp_path):
    path = tmp_path / "queue.csv"
    kt.write_queue(plans[0], path)
    queue = read_asked(path)
    grade = pl.Series([1] * len(queue.expert))
    write_judged(queue, grade, tmp_path / "judged.csv")
    write_judged(queue, grade, tmp_path / "judged.csv")
    with pytest.raises(DataError):
        write_judged(queue, 1 - grade, tmp_path / "judged.csv")


def test_what_is_no_queue_holds_no_grades(plans, tmp_path):
    path = tmp_path / "queue.csv"
    path.write_text("")
    kt.write_queue(plans[0], path)
    assert path.read_bytes() == encode_table(plans[0].queue, ".csv")


def test_experts_fill_in_what_is_empty_and_no_more(tmp_path):
    rows = [f"1,{document},{grade},{to},1,1,,10,1,depth,0" for document, grade, to in ROWS]
    asked = read_asked(write(tmp_path, rows))
    write_judged(asked, pl.Series([0, 0, 0]), tmp_path / "judged.csv")
    assert [line.split(",")[1:3] for line in (tmp_path / "judged.csv").read_text().splitlines()[1:]] == [
        ["a", "yes"],
        ["b", "0"],
    ]


@pytest.mark.parametrize(("raw", "written"), [(False, "1,'=a,"), (True, "1,=a,")])
def test_formulas_are_guarded_unless_the_queue_is_to_be_raw(tmp_path, raw, written):
    asked = read_asked(write(tmp_path, ["1,=a,,expert,1,1,,10,1,depth,0"]))
    write_judged(asked, pl.Series([1]), tmp_path / "judged.csv", raw=raw)
    kt.write_queue(SimpleNamespace(queue=asked.frame), tmp_path / "again.csv", raw=raw)
    for name in ("judged.csv", "again.csv"):
        assert (tmp_path / name).read_text().splitlines()[1].startswith(written)


def test_of_two_that_make_a_file_at_once_the_second_looks_again(plans, tmp_path, monkeypatch):
    path, make = tmp_path / "queue.csv", write_bytes

    def lose(name, content, *, new=False):
        if new:
            make(name, encode_table(plans[1].queue.with_columns(grade=1), ".csv"))
            raise FileExistsError
        make(name, content)

    monkeypatch.setattr("karatage.io.queues.write_bytes", lose)
    with pytest.raises(DataError):
        kt.write_queue(plans[0], path)


FILLED = "topic,document,grade,note\n1,a,1,x\n1,b,,\n"


@pytest.mark.parametrize(
    "content",
    [
        FILLED.replace("x", "\xe9").encode("cp1252"),
        FILLED.replace(",", "\t").encode("utf-16"),
        FILLED.replace("\n", "\r").encode(),
        b"sep=;\n" + FILLED.replace(",", ";").encode(),
        FILLED.encode() + b"1,c,0,unsure,really\n",
        b"Our queue\n" + FILLED.encode(),
        FILLED.partition("\n")[2].encode(),
        FILLED.replace("grade", "my grade").encode(),
        b"1 0 a 1\n1 0 b 0\n",
        b"PK\x03\x04" + bytes(range(256)),
        gzip.compress(FILLED.encode(), mtime=0)[:-9],
    ],
)
def test_what_cannot_be_told_to_be_empty_is_not_written_over(plans, tmp_path, content):
    """As judges may save it: in another encoding, with other line ends, names or rows."""
    path = tmp_path / "queue.csv"
    path.write_bytes(content)
    with pytest.raises(DataError):
        kt.write_queue(plans[0], path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [b"", b"\n", HEAD.encode()])
def test_queues_without_rows_may_be_written_over(plans, tmp_path, content):
    path = tmp_path / "queue.csv"
    path.write_bytes(content)
    kt.write_queue(plans[0], path)
    assert path.read_bytes() != content
