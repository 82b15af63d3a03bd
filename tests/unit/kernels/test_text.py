from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from karatage.errors import InputFileError
from karatage.io.fields import Fields, Interner, split
from karatage.io.sources import Source
from karatage.kernels import text


def as_fields(words: list[str]) -> Fields:
    """One word to a line."""
    return split(Source("words"), "\n".join(words).encode(), columns=1)


def parse_numbers(words: list[str]) -> np.ndarray:
    fields, value = as_fields(words), np.empty(len(words))
    text.parse_numbers(np.frombuffer(fields.content, np.uint8), fields.start[0], fields.end[0], value)
    return value


DIGITS = st.text("0123456789", max_size=20)
DECIMALS = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(["", "-", "+"]),
    DIGITS,
    st.sampled_from(["", "."]),
    DIGITS,
    st.just("") | st.builds("{}{}".format, st.sampled_from(["e", "E", "e-", "e+"]), st.integers(0, 400)),
)
ORDINARY = st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.integers(-(10**15), 10**15).map(str)


@given(words=st.lists(DECIMALS.filter(bool) | ORDINARY, min_size=1, max_size=20))
@example(words=["9007199254740993", "9007199254740992", "1e22", "1e23", "1e-22", "1e-23"])
@example(words=["0.1", ".5", "5.", "-0", "+7", "1E5", "1e+05", "1.7976931348623157e308"])
@settings(max_examples=300)
def test_a_number_is_read_as_python_does_or_left_to_it(words: list[str]) -> None:
    for word, value in zip(words, parse_numbers(words), strict=True):
        if not np.isnan(value):
            expected = float(word)
            assert (value, np.signbit(value)) == (expected, np.signbit(expected)), word


@given(
    mantissa=st.integers(0, 10**14),
    places=st.integers(0, 8),
    sign=st.sampled_from(["", "-"]),
)
def test_ordinary_scores_are_read_without_help(mantissa: int, places: int, sign: str) -> None:
    word = sign + (f"{mantissa // 10**places}.{mantissa % 10**places:0{places}}" if places else f"{mantissa}")
    assert parse_numbers([word])[0] == float(word)


@pytest.mark.parametrize(
    "word",
    [
        "nan",
        "inf",
        "-inf",
        "-",
        "+",
        ".",
        "-.",
        "e5",
        "1e",
        "1e+",
        "1e-",
        "1.2.3",
        "--1",
        "1x",
        "0x1",
        "1_0",
        "1,5",
        "٣",
    ],
)
def test_what_is_no_plain_number_is_left_to_python(word: str) -> None:
    assert np.isnan(parse_numbers([word])[0])


@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=10))
def test_columns_of_numbers_round_trip(values: list[float]) -> None:
    assert as_fields([repr(value) for value in values]).numbers(0, "score").tolist() == values


@pytest.mark.parametrize("word", ["nan", "inf", "1_000", "1e999", "abc", "1e"])
def test_a_column_that_is_no_number_names_its_line(word: str) -> None:
    with pytest.raises(InputFileError, match=f"words:3: score '{word}' is not a (finite )?number"):
        split(Source("words"), f"1\n\n{word}\n".encode(), columns=1).numbers(0, "score")


LINES = st.lists(
    st.lists(
        st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_characters="\x7f"), min_size=1), max_size=3
    ),
    max_size=8,
)
BREAKS = st.sampled_from([" ", "\t", "  \t ", "\x00", "\x0b"])


@given(lines=LINES, gap=BREAKS, end=st.sampled_from(["\n", "\r\n", " \n"]), last=st.booleans())
def test_fields_are_split_as_python_splits_them(lines: list[list[str]], gap: str, end: str, last: bool) -> None:
    content = (end.join(gap.join(words) for words in lines) + (end if last else "")).encode()
    start, stop = (np.full((2, len(lines) + 2), -1, np.int32) for _ in range(2))
    number = np.full(len(lines) + 2, -1, np.int32)
    rows, problem, at, found = text.split_fields(np.frombuffer(content, np.uint8), 2, start, stop, number)
    wrong = next((k for k, words in enumerate(lines) if len(words) not in (0, 2)), None)
    if wrong is not None:
        assert (problem, at, found) == (text.WRONG_COLUMNS, wrong + 1, len(lines[wrong]))
        lines = lines[:wrong]
    else:
        assert (problem, at, found) == (text.FINE, 0, 0)
    expected = [(k + 1, words) for k, words in enumerate(lines) if words]
    assert [
        (number[r], [content[start[c, r] : stop[c, r]].decode() for c in range(2)]) for r in range(rows)
    ] == expected


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a b\rc d\n", text.LONE_RETURN),
        (b"a b\r\rc d\n", text.LONE_RETURN),
        (b"a b\r\nc d\r\n", text.FINE),
        (b"a b\r", text.FINE),
    ],
)
def test_a_carriage_return_must_end_the_line(content: bytes, problem: int) -> None:
    start, stop, line = np.empty((2, 3), np.int32), np.empty((2, 3), np.int32), np.empty(3, np.int32)
    found = text.split_fields(np.frombuffer(content, np.uint8), 2, start, stop, line)
    assert found[1] == problem


NAMES = st.text(st.characters(min_codepoint=33, exclude_categories=["C", "Z"]), min_size=1, max_size=20)


@given(
    parts=st.lists(st.lists(NAMES | st.sampled_from(["a", "b", '"', "#", "null"]), min_size=1), min_size=1, max_size=4),
    hashed=st.booleans(),
)
@example(parts=[["abcdefgh", "abcdefghi", "abcdefg", "abcdefgh"], ["", "\ufeffa", "a"][1:]], hashed=True)
def test_interning_numbers_names_as_a_dict_would(parts: list[list[str]], hashed: bool) -> None:
    check_interning(parts, hashed=hashed)


@pytest.mark.parametrize("hashed", [True, False])
def test_interning_grows_with_its_names(hashed: bool) -> None:
    rng = np.random.default_rng(0)
    check_interning([[f"document-{k}" for k in rng.integers(0, 20_000, 5_000)] for _ in range(6)], hashed=hashed)


def test_names_that_share_a_hash_are_told_apart() -> None:
    words = ["abc", "ab", "abcd", "a", "abcdefgh", "abcdefghi", "abc", "a", "b", "abcdefgh"]
    fields, interner = as_fields(words), Interner()
    fields.hash_column(0)
    fields.hashed(0)[:] = 0
    names = list(dict.fromkeys(words))
    assert interner.add(fields, 0).tolist() == [names.index(word) for word in words]


def check_interning(parts: list[list[str]], *, hashed: bool) -> None:
    interner, known = Interner(), {}
    for words in parts:
        fields = as_fields(words)
        if hashed:
            fields.hash_column(0)
        expected = [known.setdefault(word, len(known)) for word in words]
        assert interner.add(fields, 0).tolist() == expected
    assert interner.names().to_list() == list(known)


def test_hashes_are_equal_for_equal_fields_only() -> None:
    words = [f"{'x' * (k % 20)}{k}" for k in range(5000)]
    fields = as_fields([*words, *words])
    fields.hash_column(0)
    first, again = np.split(fields.hashed(0), 2)
    np.testing.assert_array_equal(first, again)
    assert len(np.unique(first)) == len(words)


def test_coded_names_are_sorted_and_rows_keep_theirs() -> None:
    interner, words = Interner(), ["b", "é", "a", "B", "b", "文"]
    coded = interner.coded(interner.add(as_fields(words), 0))
    assert coded.names.to_list() == sorted(set(words), key=str.encode)
    assert [coded.names[int(code)] for code in coded.code] == words
