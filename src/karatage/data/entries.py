"""Reading back what was written down as JSON: each entry is there and is what it should be, or is refused by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from karatage.errors import DataError
from karatage.wording import shorten

Value = object  # anything that JSON can say


@dataclass(frozen=True)
class Entries:
    """An object of a JSON text; `place` is where it stands, for messages."""

    found: Value
    place: str = ""

    def get(self, name: str) -> Value:
        """Any entry, which has to be there."""
        if not isinstance(self.found, Mapping):
            raise DataError(f"{self.place or 'the whole'} is {_show(self.found)}, not an object")
        if name not in self.found:
            raise DataError(f"{self._name(name)} is missing")
        return self.found[name]

    def text(self, name: str) -> str:
        """A string."""
        value = self.get(name)
        if not isinstance(value, str):
            raise self._refusal(name, value, "text")
        return value

    def number(self, name: str, low: float = -math.inf, high: float = math.inf) -> float:
        """A finite number in a range, bounds included."""
        return self._check_number(name, self.get(name), low, high)

    def number_or_nan(self, name: str, low: float, high: float) -> float:
        """The same; null stands for a number that is not known."""
        value = self.get(name)
        return math.nan if value is None else self._check_number(name, value, low, high)

    def whole(self, name: str, low: int = 0) -> int:
        """A whole number from `low` on."""
        value = self.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or value < low:
            raise self._refusal(name, value, f"a whole number from {low}")
        return value

    def numbers(self, name: str, size: int) -> tuple[float, ...]:
        """So many finite numbers."""
        values = self.several(name)
        if len(values) != size:
            raise DataError(f"{self._name(name)} has {len(values)} entries, not {size}")
        return tuple(self._check_number(f"{name}[{k}]", v, -math.inf, math.inf) for k, v in enumerate(values))

    def texts(self, name: str) -> tuple[str, ...]:
        """Strings."""
        values = self.several(name)
        for k, value in enumerate(values):
            if not isinstance(value, str):
                raise self._refusal(f"{name}[{k}]", value, "text")
        return tuple(str(value) for value in values)

    def several(self, name: str) -> list[Value]:
        """A list."""
        value = self.get(name)
        if not isinstance(value, list | tuple):
            raise self._refusal(name, value, "a list")
        return list(value)

    def objects(self, name: str) -> list[Entries]:
        """A list of objects."""
        return [Entries(value, self._name(f"{name}[{k}]")) for k, value in enumerate(self.several(name))]

    def object(self, name: str) -> Entries:
        """An object within this one."""
        return Entries(self.get(name), self._name(name))

    def all_texts(self) -> dict[str, str]:
        """An object of strings under any names."""
        if not isinstance(self.found, Mapping):
            raise DataError(f"{self.place} is {_show(self.found)}, not an object")
        return {str(name): self.text(name) for name in self.found}

    def _check_number(self, name: str, value: Value, low: float, high: float) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise self._refusal(name, value, "a finite number")
        if not low <= value <= high:
            raise self._refusal(name, value, f"a number from {low:g} to {high:g}")
        return float(value)

    def _name(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name

    def _refusal(self, name: str, value: Value, wanted: str) -> DataError:
        return DataError(f"{self._name(name)} is {_show(value)}, not {wanted}")


def _show(value: Value) -> str:
    return "null" if value is None else shorten(repr(value))
