"""Names with options."""

import pytest

from karatage.errors import OptionError
from karatage.notation import parse_notation, print_word


def test_names_options_and_depth():
    assert parse_notation("a", "thing", "b") == ("a", {}, None)
    assert parse_notation("a(x=1, y='q', z=w)@7", "thing", "b") == ("a", {"x": 1, "y": "q", "z": "w"}, 7)
    assert parse_notation("a(x=(0.5, 2))", "thing", "b").options == {"x": (0.5, 2)}


@pytest.mark.parametrize("text", ["", "a b", "a(1)", "a(x=1,x=2)", "a@0", "a.b", "(", "a" + "(" * 500])
def test_what_cannot_be_read(text):
    with pytest.raises(OptionError, match="thing"):
        parse_notation(text, "thing", "b")


def test_words_print_as_they_are_read():
    assert [print_word(value) for value in ("jk", "exp-log2", 3)] == ["jk", "'exp-log2'", "3"]
