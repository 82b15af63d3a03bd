"""Queues that come back from the gold judges."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import karatage as kt
from karatage.errors import DataError, InputFileError, OptionError
from karatage.io.rows import find_ending
from tests.notes import gives

HEADER = "topic,document,grade,pi,batch,measure,frame,seed\n"
ROWS = {
    1: "1,d1,2,0.5,1,P@10,abc,7\n2,d2,0,0.25,1,P@10,abc,7\n",
    2: "1,d3,1,0.125,2,P@10,abc,7\n2,d4,3,1,2,P@10,abc,7\n",
    3: "2,d5,0,0.1,3,P@10,abc,7\n",
}
Save = Callable[..., Path]


def blank(rows: str) -> str:
    return "".join(",".join([*line.split(",")[:2], "", *line.split(",")[3:]]) for line in rows.splitlines(True))


@pytest.fixture
def save(tmp_path: Path) -> Save:
    def write(*rows: str, header: str = HEADER, name: str = "queue.csv") -> Path:
        path = tmp_path / name
        path.write_text(header + "".join(rows))
        return path

    return write


def test_a_judged_queue(save: Save) -> None:
    gold = kt.read_gold(save(ROWS[1], ROWS[2]))
    assert gold.draw is not None
    by_document = dict(zip(gold.to_frame()["document"], zip(gold.draw.pi, gold.draw.batch, strict=True), strict=True))
    assert by_document == {"d1": (0.5, 1), "d2": (0.25, 1), "d3": (0.125, 2), "d4": (1.0, 2)}
    assert (gold.draw.measure, gold.draw.frame) == ("P@10", "abc")


def test_pi_alone_is_one_batch_of_unknown_origin(save: Save) -> None:
    gold = kt.read_gold(save("1,d1,2,0.5\n1,d2,0,0.5\n", header="topic,document,grade,pi\n"))
    assert gold.draw is not None
    assert gold.draw.batch.tolist() == [1, 1]
    assert (gold.draw.measure, gold.draw.frame) == (None, None)


def test_without_pi_nothing_is_known_of_the_draw(save: Save) -> None:
    assert kt.read_gold(save("1,d1,2\n", header="topic,document,grade\n")).draw is None


@pytest.mark.parametrize("cell", ["", " "])
def test_batches_that_wait_are_left_out(save: Save, cell: str) -> None:
    waiting = blank(ROWS[2] + ROWS[3]).replace(",,", f",{cell},")
    gold = kt.read_gold(save(ROWS[1], waiting))
    assert gold.to_frame()["document"].to_list() == ["d1", "d2"]
    assert gold.draw is not None
    assert gold.draw.batch.tolist() == [1, 1]


def test_rows_may_stand_in_any_order(save: Save) -> None:
    mixed = (ROWS[2] + blank(ROWS[3]) + ROWS[1]).splitlines(True)
    first, second = kt.read_gold(save(*mixed)), kt.read_gold(save(ROWS[1], ROWS[2]))
    assert first.to_frame().equals(second.to_frame())
    assert first.draw is not None
    assert second.draw is not None
    assert first.draw.pi.tolist() == second.draw.pi.tolist()
    assert first.draw.batch.tolist() == second.draw.batch.tolist()


def test_batches_may_stand_in_several_files(save: Save) -> None:
    files = [save(ROWS[1], name="one.csv"), save(ROWS[2], name="two.csv")]
    gold = kt.read_gold(files)
    assert gold.draw is not None
    assert sorted(gold.draw.batch.tolist()) == [1, 1, 2, 2]
    with pytest.raises(DataError, match=r"two\.csv.*\b1\b.*\b2\b"):
        kt.read_gold(files[1])


def test_frames_are_read_like_files() -> None:
    frame = pl.DataFrame({"topic": ["1", "1"], "document": ["d1", "d2"], "grade": [1, None], "pi": [0.5, 0.5]})
    gold = kt.read_gold(frame.with_columns(batch=pl.Series([1, 2])))
    assert gold.to_frame()["document"].to_list() == ["d1"]
    with pytest.raises(InputFileError, match=r"\b2\b.*\b1\b"):
        kt.read_gold(frame)


LATER = blank(ROWS[2])
REFUSED: dict[str, tuple[list[str], int | None, list[object]]] = {
    "blank in the middle": ([ROWS[1], ROWS[2].replace(",1,0.125", ",,0.125")], 4, [1, 2, "batch 2"]),
    "the last one blank": ([ROWS[1], ROWS[2].replace(",3,1,2", ",,1,2")], 5, ["batches"]),
    "batch 3 before batch 2": ([ROWS[1], LATER, ROWS[3]], 4, ["batch 2", "grades"]),
    "batch 2 before batch 1": ([blank(ROWS[1]), ROWS[2]], 2, ["batch 1", "grades"]),
    "batch 2 not there": ([ROWS[1], ROWS[3]], None, ["batch 2", "missing", "batch 3"]),
    "two measures": ([ROWS[1], ROWS[2].replace("P@10", "DCG@10")], None, ["'measure'", 2]),
    "two frames": ([ROWS[1], ROWS[2].replace("abc", "abd")], None, ["queues", "'frame'"]),
    "batch in words": ([ROWS[1], ROWS[2].replace("2,P@10", "two,P@10")], 4, ["batch 'two'", 1]),
    "batch 0": ([ROWS[1].replace("1,P@10", "0,P@10")], 2, ["batch '0'", 1]),
    "batch 1.5": ([ROWS[1].replace("1,P@10", "1.5,P@10")], 2, ["batch '1.5'", 1]),
    "no batch": ([ROWS[1], ROWS[2].replace(",2,P@10", ",,P@10")], 4, ["batch 'None'", 1]),
    "nothing judged": ([blank(ROWS[1])], None, ["'grade'"]),
    "pi above 1": ([ROWS[1], ROWS[2].replace("0.125", "1.25")], 4, ["pi '1.25'"]),
    "pi in a batch after one that waits": (
        [ROWS[1].replace("0.25", "0"), blank(ROWS[2])],
        3,
        ["pi '0'", 0, 1],
    ),
    "a grade that is none, after a blank batch": (
        [blank(ROWS[2]), ROWS[1].replace("d2,0", "d2,good")],
        5,
        ["grade 'good'"],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_queues_that_are_refused(name: str, save: Save) -> None:
    rows, line, facts = REFUSED[name]
    path = save(*rows)
    with pytest.raises(kt.KaratageError) as refused:
        kt.read_gold(path)
    message = str(refused.value)
    assert gives(message, *facts)
    assert str(path) in message
    if line is not None:
        assert message.startswith(f"{path}:{line}: ")


def test_files_of_different_queues_are_not_mixed(save: Save) -> None:
    files = [save(ROWS[1], name="one.csv"), save(ROWS[2].replace("abc", "xyz"), name="two.csv")]
    with pytest.raises(DataError, match="queue"):
        kt.read_gold(files)
    plain = save("1,d9,2\n", header="topic,document,grade\n", name="plain.csv")
    with pytest.raises(DataError, match=r"plain\.csv"):
        kt.read_gold([files[0], plain])


def test_repeated_rows_keep_the_draw_of_the_grade_that_counts(save: Save) -> None:
    gold = kt.read_gold(save("1,d1,2,0.5\n1,d2,0,0.25\n1,d1,1,0.125\n", header="topic,document,grade,pi\n"))
    assert gold.draw is not None
    rows = zip(gold.to_frame()["document"], gold.grade.tolist(), gold.draw.pi.tolist(), strict=True)
    assert list(rows) == [("d1", 1, 0.125), ("d2", 0, 0.25)]


@pytest.mark.parametrize("name", ["queue.csv", "queue.TSV.gz", "q.jsonl.zst", "q.parquet"])
def test_the_ending_of_a_name_is_found(name: str) -> None:
    assert find_ending(name).lstrip(".") in name.lower()


@pytest.mark.parametrize("name", ["queue", "queue.txt", "queue.gz", "-"])
def test_endings_that_tell_nothing(name: str) -> None:
    with pytest.raises(OptionError, match="queue"):
        find_ending(name)


def test_drawn_items_must_not_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "queue.csv"
    path.write_text("topic,document,grade,pi\n1,a,1,0.5\n1,b,broken,0.5\n")
    with pytest.raises(InputFileError, match=r"queue\.csv:3"):
        kt.read_gold(path, grades="broken=drop")


def test_a_judged_queue_is_written_as_it_was_read(tmp_path: Path) -> None:
    path, again = tmp_path / "queue.csv", tmp_path / "again.csv"
    path.write_text("topic,document,grade,pi,batch,measure,frame\n1,a,1,0.5,1,P@10,f00\n1,b,0,0.25,2,P@10,f00\n")
    gold = kt.read_gold(path)
    kt.write_judgments(gold, again)
    draw, copy = gold.draw, kt.read_gold(again).draw
    assert draw is not None
    assert copy is not None
    assert (draw.measure, draw.frame) == (copy.measure, copy.frame) == ("P@10", "f00")
    assert draw.pi.tolist() == copy.pi.tolist() == [0.5, 0.25]
    assert draw.batch.tolist() == copy.batch.tolist() == [1, 2]


def test_a_batch_from_which_rows_were_removed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "queue.csv"
    head = "topic,document,grade,pi,batch,batch_size\n"
    path.write_text(head + "1,a,1,0.5,1,2\n1,b,0,0.5,1,2\n1,c,0,0.5,2,1\n")
    assert len(kt.read_gold(path).grade) == 3
    path.write_text(head + "1,a,1,0.5,1,2\n1,c,0,0.5,2,1\n")
    with pytest.raises(DataError, match=r"queue\.csv.*\b1\b.*\b2\b"):
        kt.read_gold(path)
    path.write_text(head + "1,a,1,0.5,1,2\n1,a,1,0.5,1,2\n")  # a repeat is no second document
    with pytest.raises(DataError, match=r"\b1\b.*\b2\b"):
        kt.read_gold(path)
    path.write_text(head + "1,a,1,0.5,1,none\n")
    with pytest.raises(InputFileError, match="'none'"):
        kt.read_gold(path)


def test_a_batch_may_stand_in_two_files(tmp_path: Path) -> None:
    head = "topic,document,grade,pi,batch,batch_size\n"
    (tmp_path / "one.csv").write_text(head + "1,a,1,0.5,1,2\n")
    (tmp_path / "two.csv").write_text(head + "1,b,0,0.5,1,2\n")
    assert len(kt.read_gold([tmp_path / "one.csv", tmp_path / "two.csv"]).grade) == 2
    with pytest.raises(DataError, match=r"\b1\b.*\b2\b"):
        kt.read_gold(tmp_path / "one.csv")


def test_a_batch_is_judged_as_a_whole_also_where_later_ones_wait(save: Save) -> None:
    half = ROWS[2].splitlines(keepends=True)
    with pytest.raises(InputFileError, match=r"\b1\b.*\b2\b"):
        kt.read_gold(save(ROWS[1], half[0], blank(half[1]), blank(ROWS[3])))
