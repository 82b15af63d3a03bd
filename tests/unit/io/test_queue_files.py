"""Queues that come back from experts."""

from __future__ import annotations

import pytest

import karatage as kt
from karatage.errors import DataError, InputFileError

HEAD = "topic,document,grade,to,judgments,priority,pi,cost,batch,order,seed\n"


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
    assert "1 document that went to experts have no grade yet" in gold.notes


def test_drawn_documents_keep_their_chances_and_batches_stay_whole(tmp_path):
    rows = ["1,a,1,expert,1,1,0.5,10,1,effect,0", "1,b,,crowd,5,2,,1,1,effect,0"]
    gold = kt.read_gold(write(tmp_path, rows))
    assert gold.draw is not None
    assert gold.draw.pi.tolist() == [0.5]
    with pytest.raises(InputFileError, match=r"queue.csv:4: no grade yet"):
        kt.read_gold(write(tmp_path, [*rows, "1,c,,expert,1,3,0.2,10,1,effect,0"]))


def test_lines_are_counted_in_the_whole_file(tmp_path):
    rows = ["1,b,,crowd,5,2,,1,1,depth,0", "1,a,no,expert,1,1,,10,1,depth,0"]
    with pytest.raises(InputFileError, match=r"queue.csv:3: "):
        kt.read_gold(write(tmp_path, rows))


def test_a_queue_without_experts_or_grades_is_refused(tmp_path):
    with pytest.raises((DataError, InputFileError), match="no row has gone to an expert"):
        kt.read_gold(write(tmp_path, ["1,b,,crowd,5,2,,1,1,depth,0"]))
    with pytest.raises((DataError, InputFileError), match="no expert's row has a grade yet"):
        kt.read_gold(write(tmp_path, ["1,b,,expert,5,2,,1,1,depth,0"]))
