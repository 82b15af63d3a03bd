"""Unit tests of what run files say beside the order of documents."""

import pytest

from karatage.io.runs import read_listing
from karatage.io.sources import Source


@pytest.fixture
def look(tmp_path):
    def call(lines, depth=None):
        (tmp_path / "a.run").write_text("".join(f"{line}\n" for line in lines))
        return read_listing(Source(str(tmp_path / "a.run")), depth)

    return call


def test_a_plain_run_has_neither_ties_nor_contradictions(look):
    found = look(["1 Q0 a 1 3.0 x", "1 Q0 b 2 2.0 x", "2 Q0 a 1 2.0 x"])
    assert (found.system, found.shown, found.tied, found.rises, found.line) == ("x", 3, 0, 0, None)


def test_ties_count_within_a_topic_and_to_the_depth(look):
    lines = ["1 Q0 a 1 3.0 x", "1 Q0 b 2 2.0 x", "1 Q0 c 3 2.0 x", "1 Q0 d 4 1.0 x", "2 Q0 a 1 1.0 x"]
    assert (look(lines).shown, look(lines).tied) == (5, 2)
    assert (look(lines, 2).shown, look(lines, 2).tied) == (3, 1)  # b ties with c, which the cut leaves out
    assert look(lines, 1).tied == 0


def test_ties_are_those_of_single_precision(look):
    assert look(["1 Q0 a 1 1.00000000001 x", "1 Q0 b 2 1.0 x"]).tied == 2


def test_ranks_that_contradict_scores_are_found_whatever_the_order_of_lines(look):
    found = look(["1 Q0 c 3 1.0 x", "1 Q0 a 1 2.0 x", "1 Q0 b 2 3.0 x", "2 Q0 z 1 9.0 x"])
    assert (found.rises, found.line) == (1, 3)


def test_equal_ranks_and_ranks_that_are_no_numbers_say_nothing(look):
    assert look(["1 Q0 a 0 1.0 x", "1 Q0 b 0 2.0 x"]).rises == 0
    assert look(["1 Q0 a first 1.0 x", "1 Q0 b second 2.0 x"]).rises == 0
