"""Reading back what was written down as JSON: each entry is there and is what it should be, or is refused by name."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, TypeGuard

from karatage.data.as_json import INFINITE
from karatage.errors import DataError
from karatage.text import shorten

MOST: Final = sys.float_info.max
Value = object  # anything that JSON can say


@dataclass(frozen=True)
class Entries:
    """An object of a JSON text; `place` is where it stands, for messages."""

    found: Value
    place: str = ""

    def get(self, name: str) -> Value:
        """Any entry, which has to be there."""
        if not isinstance(self.found, Mapping):
            raise DataError(f"{self.place or 'the whole'} is {show(self.found)}, not an object")
        if name not in self.found:
            raise DataError(f"{self.name(name)} is missing")
        return self.found[name]

    def text(self, name: str) -> str:
        """A string."""
        value = self.get(name)
        if not isinstance(value, str):
            raise self._refusal(name, value, "text")
        return value

    def text_or_none(self, name: str) -> str | None:
        """A string, or null."""
        return None if self.get(name) is None else self.text(name)

    def choice(self, name: str, offered: Collection[str]) -> str:
        """One of some words."""
        value = self.text(name)
        if value not in offered:
            raise self._refusal(name, value, f"one of {', '.join(offered)}")
        return value

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self.get(name)
        if not isinstance(value, bool):
            raise self._refusal(name, value, "true or false")
        return value

    def number(self, name: str, low: float = -math.inf, high: float = math.inf) -> float:
        """A finite number in a range, bounds included."""
        return self._check_number(name, self.get(name), low, high)

    def number_or_nan(self, name: str, low: float, high: float) -> float:
        """The same; null stands for a number that is not known."""
        value = self.get(name)
        return math.nan if value is None else self._check_number(name, value, low, high)

    def number_or_none(self, name: str) -> float | None:
        """A finite number, or null."""
        return None if self.get(name) is None else self.number(name)

    def real(self, name: str) -> float:
        """Any number: null is one that is not known, and "infinite" one without bound."""
        value = self.get(name)
        if isinstance(value, str) and value in INFINITE:
            return INFINITE[value]
        return self.number_or_nan(name, -math.inf, math.inf)

    def whole(self, name: str, low: int = 0, below: int = 2**63) -> int:
        """A whole number from `low` on, which a machine can hold."""
        value = self.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value < below:
            raise self._refusal(name, value, f"a whole number from {low}")
        return value

    def numbers(self, name: str, size: int) -> tuple[float, ...]:
        """So many finite numbers."""
        values = self.several(name)
        if len(values) != size:
            raise DataError(f"{self.name(name)} has {len(values)} entries, not {size}")
        return tuple(self._check_number(f"{name}[{k}]", v, -math.inf, math.inf) for k, v in enumerate(values))

    def texts(self, name: str) -> tuple[str, ...]:
        """Strings."""
        values = self.several(name)
        for k, value in enumerate(values):
            if not isinstance(value, str):
                raise self._refusal(f"{name}[{k}]", value, "text")
        return tuple(str(value) for value in values)

    def names(self, name: str) -> tuple[str, ...]:
        """Strings, none of them twice."""
        values = self.texts(name)
        if len(set(values)) < len(values):
            twice = next(value for value in values if values.count(value) > 1)
            raise DataError(f"{self.name(name)} has '{shorten(twice)}' twice")
        return values

    def several(self, name: str) -> list[Value]:
        """A list."""
        value = self.get(name)
        if not isinstance(value, list | tuple):
            raise self._refusal(name, value, "a list")
        return list(value)

    def objects(self, name: str) -> list[Entries]:
        """A list of objects."""
        return [Entries(value, self.name(f"{name}[{k}]")) for k, value in enumerate(self.several(name))]

    def object(self, name: str) -> Entries:
        """An object within this one."""
        return Entries(self.get(name), self.name(name))

    def object_or_none(self, name: str) -> Entries | None:
        """An object within this one, or null."""
        return None if self.get(name) is None else self.object(name)

    def has(self, name: str) -> bool:
        """Whether there is such an entry."""
        return name in self.all_names()

    def all_names(self) -> tuple[str, ...]:
        """The names of all entries."""
        if not isinstance(self.found, Mapping):
            raise DataError(f"{self.place or 'the whole'} is {show(self.found)}, not an object")
        return tuple(map(str, self.found))

    def all_texts(self) -> dict[str, str]:
        """An object of strings under any names."""
        return {name: self.text(name) for name in self.all_names()}

    def _check_number(self, name: str, value: Value, low: float, high: float) -> float:
        if not is_number(value) or not -MOST <= value <= MOST:
            raise self._refusal(name, value, "a finite number")
        if not low <= value <= high:
            raise self._refusal(name, value, f"a number from {low:g} to {high:g}")
        return float(value)

    def name(self, name: str) -> str:
        """Where an entry stands."""
        return f"{self.place}.{shorten(name)}" if self.place else shorten(name)

    def _refusal(self, name: str, value: Value, wanted: str) -> DataError:
        return DataError(f"{self.name(name)} is {show(value)}, not {wanted}")


def is_number(value: Value) -> TypeGuard[int | float]:
    """Whether JSON would call this a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def show(value: Value) -> str:
    """A value in a message."""
    return "null" if value is None else shorten(repr(value))
