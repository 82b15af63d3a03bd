"""JSON in one file."""

from __future__ import annotations

import pytest

from karatage.errors import InputFileError, OptionError
from karatage.io.models import find_document, load_document


def load(content: bytes, home):
    path = home / "a.json"
    path.write_bytes(content)
    return load_document(find_document(path, "a thing"), "a thing")


def test_what_the_file_says(tmp_path):
    assert load(b'\xef\xbb\xbf{"a": [1, null, "x"]}\n', tmp_path) == {"a": [1, None, "x"]}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"a":\n', r"a\.json:2: is no JSON, or cut short, so it is not a thing \(Expecting value, column 1\)"),
        (b'{"a": 1}\n{', r"a\.json:2: is no JSON"),
        (b'{"a": {"b": 1, "b": 2}}', r"a\.json: is no JSON: 'b' stands twice in one object"),
        (b'{"a": -Infinity}', r"a\.json: is no JSON: -Infinity is not a JSON number"),
        (b" ", r"a\.json: is empty"),
        (b"[" * 100_000, r"a\.json: is nested too deeply to be a thing"),
        (b"9" * 5000, r"a\.json: is no JSON: Exceeds the limit"),
    ],
)
def test_what_is_none_is_told_with_its_line(content, told, tmp_path):
    with pytest.raises(InputFileError, match=told):
        load(content, tmp_path)


def test_one_file_at_a_time(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("{}")
    with pytest.raises(OptionError, match="a thing comes in one file, not 2"):
        find_document(tmp_path, "a thing")
