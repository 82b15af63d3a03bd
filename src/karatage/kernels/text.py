"""Splitting white-space separated text into fields, and fields into integers and numbers, byte by byte.

Any control character separates fields, as white space does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import FloatArray, IntArray, LongArray, kernel

ByteArray = NDArray[np.uint8]
OffsetArray = NDArray[np.int32] | NDArray[np.int64]

NEWLINE, RETURN, SPACE = 10, 13, 32
FINE, WRONG_COLUMNS, LONE_RETURN = 0, 1, 2
_POWER_OF_TEN = 10.0 ** np.arange(23)  # exactly representable, so one division or product rounds once
_EXACT_INTEGERS = 2**53


@kernel
def split_fields(
    text: ByteArray, columns: int, start: OffsetArray, end: OffsetArray, line: OffsetArray
) -> tuple[int, int, int, int]:
    """Fill `start` and `end` (column, row) and `line` (row,), skipping blank lines.

    Returns (rows, problem, line of the problem, columns found there). The arrays must have room for all rows.
    """
    row, column, number, at, size = 0, 0, 1, 0, text.size
    while at <= size:
        byte = text[at] if at < size else NEWLINE
        if byte > SPACE:
            first = at
            at += 1
            while at < size and text[at] > SPACE:
                at += 1
            if column < columns:
                start[column, row] = first
                end[column, row] = at
            column += 1
            continue
        if byte == NEWLINE:
            if column == columns:
                line[row] = number
                row += 1
            elif column > 0:
                return row, WRONG_COLUMNS, number, column
            column = 0
            number += 1
        elif byte == RETURN and at + 1 < size and text[at + 1] != NEWLINE:
            return row, LONE_RETURN, number, column
        at += 1
    return row, FINE, 0, 0


@kernel
def _word(text: ByteArray, at: int) -> np.uint64:
    """Eight bytes as one number; the compiler turns the shifts into one load."""
    word = np.uint64(0)
    for k in range(8):
        word |= np.uint64(text[at + k]) << np.uint64(8 * k)
    return word


@kernel
def _hash(text: ByteArray, start: int, end: int) -> np.int64:
    """Multiply and fold, eight bytes at a time."""
    code = np.uint64(end - start)
    at = start
    while at + 8 <= end:
        code = (code ^ _word(text, at)) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
        at += 8
    rest = np.uint64(0)
    while at < end:
        rest = (rest << np.uint64(8)) | np.uint64(text[at])
        at += 1
    code = (code ^ rest) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((code ^ (code >> np.uint64(32))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@kernel
def hash_fields(text: ByteArray, start: OffsetArray, end: OffsetArray, out: LongArray) -> None:
    """A number for each field, equal for equal fields."""
    for row in range(start.size):
        out[row] = _hash(text, start[row], end[row])


@kernel
def _same(text: ByteArray, a: int, other: ByteArray, b: int, length: int) -> bool:
    k = 0
    while k + 8 <= length:
        if _word(text, a + k) != _word(other, b + k):
            return False
        k += 8
    while k < length:
        if text[a + k] != other[b + k]:
            return False
        k += 1
    return True


@kernel
def intern_fields(
    text: ByteArray,
    start: OffsetArray,
    end: OffsetArray,
    hashed: LongArray,
    table: IntArray,
    pool: ByteArray,
    offset: LongArray,
    known: int,
    code: IntArray,
) -> int:
    """Give equal fields equal numbers, in order of first appearance; returns how many are now known.

    Name k is in `pool` from `offset[k]`, followed by a newline. `table` is a power of two in size,
    holds names by open addressing (-1 = free) and must keep free places; `pool` and `offset` must have room.
    `hashed` has the fields' hashes, or is empty.
    """
    mask = table.size - 1
    before, before_length = 0, -1
    for row in range(start.size):
        a, length = start[row], end[row] - start[row]
        if hashed.size == 0:  # few names, mostly the same as in the row before
            if length == before_length and _same(text, a, text, before, length):
                code[row] = code[row - 1]
                continue
            before, before_length = a, length
        place = (hashed[row] if hashed.size else _hash(text, a, a + length)) & mask
        name = table[place]
        while name >= 0:
            at = offset[name]
            if pool[at + length] == NEWLINE and _same(text, a, pool, at, length):
                break
            place = (place + 1) & mask
            name = table[place]
        if name < 0:
            name = known
            table[place] = name
            at = offset[known]
            for k in range(length):
                pool[at + k] = text[a + k]
            pool[at + length] = NEWLINE
            offset[name + 1] = at + length + 1
            known += 1
        code[row] = name
    return known


@kernel
def rebuild_table(pool: ByteArray, offset: LongArray, known: int, table: IntArray) -> None:
    """Enter all known names into a larger, empty `table`."""
    mask = table.size - 1
    for name in range(known):
        place = _hash(pool, offset[name], offset[name + 1] - 1) & mask
        while table[place] >= 0:
            place = (place + 1) & mask
        table[place] = name


@kernel
def parse_numbers(text: ByteArray, start: OffsetArray, end: OffsetArray, value: FloatArray) -> None:
    """Decimal numbers, rounded once; NaN where a field is long, huge, or not a number, and must be parsed otherwise."""
    for row in range(start.size):
        value[row] = np.nan
        at, stop = start[row], end[row]
        negative = text[at] == 45
        if negative or text[at] == 43:
            at += 1
        mantissa, digits, scale, point = 0, 0, 0, False
        while at < stop and digits < 18:
            byte = text[at]
            if 48 <= byte <= 57:
                mantissa = mantissa * 10 + (byte - 48)
                digits += 1
                scale -= 1 if point else 0
            elif byte == 46 and not point:
                point = True
            else:
                break
            at += 1
        if digits == 0:
            continue
        if at < stop - 1 and (text[at] == 101 or text[at] == 69):
            at += 1
            down = text[at] == 45
            if down or text[at] == 43:
                at += 1
            exponent, width = 0, 0
            while at < stop and width < 4 and 48 <= text[at] <= 57:
                exponent = exponent * 10 + (text[at] - 48)
                width += 1
                at += 1
            if width == 0:
                continue
            scale += -exponent if down else exponent
        if at < stop or mantissa > _EXACT_INTEGERS or abs(scale) > 22:
            continue
        number = mantissa / _POWER_OF_TEN[-scale] if scale < 0 else mantissa * _POWER_OF_TEN[scale]
        value[row] = -number if negative else number
