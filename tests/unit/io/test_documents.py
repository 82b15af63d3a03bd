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
        (b'{"a":\n', r"a\.json:2.*\b1\b"),
        (b'{"a": 1}\n{', r"a\.json:2"),
        (b'{"a": {"b": 1, "b": 2}}', r"a\.json.*'b'"),
        (b'{"a": -Infinity}', r"a\.json"),
        (b" ", r"a\.json"),
        (b"[" * 100_000, r"a\.json"),
        (b"9" * 5000, r"a\.json"),
    ],
)
def test_what_is_none_is_told_with_its_line(content, told, tmp_path):
    with pytest.raises(InputFileError, match=told):
        load(content, tmp_path)


def test_one_file_at_a_time(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("{}")
    with pytest.raises(OptionError, match=r"file.*\b2\b"):
        find_document(tmp_path, "a thing")
