"""Unit tests of reading families."""

import pytest

from karatage.errors import InputFileError
from karatage.io.models import read_families


@pytest.mark.parametrize("header", ["", "judge\tfamily\n", "Worker_ID\tFamily\n"])
def test_families_with_or_without_a_header(tmp_path, header):
    path = tmp_path / "f.tsv"
    path.write_text(f"{header}gpt-4 a\topenai\r\n\n llama\tmeta \n")
    assert read_families(path) == {"gpt-4 a": "openai", "llama": "meta"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tx\nb\n", r"f\.tsv:2.*'b'"),
        ("a\tx\tz\n", r"f\.tsv:1"),
        ("a\tx\n\na\ty\n", r"f\.tsv:3.*'a'.*\b1\b"),
        ("judge\tfamily\n", r"f\.tsv"),
        ("", r"f\.tsv"),
        ("a\tx\0\n", r"f\.tsv:1"),
    ],
)
def test_what_cannot_be_read_names_file_and_line(tmp_path, text, message):
    path = tmp_path / "f.tsv"
    path.write_text(text)
    with pytest.raises(InputFileError, match=message):
        read_families(path)


def test_a_missing_file(tmp_path):
    with pytest.raises(InputFileError, match=r"f\.tsv: "):
        read_families(tmp_path / "f.tsv")
