"""How something was computed, so that it can be done again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Recorded(Protocol):
    """A result that remembers what it was made with."""

    @property
    def seed(self) -> int:
        """Of all that was drawn at random."""
        ...

    @property
    def versions(self) -> Mapping[str, str]:
        """Of the software."""
        ...


def list_facts(result: Recorded, **options: object) -> list[tuple[str, str]]:
    """What was asked, the seed and the versions."""
    return [*list_options(**options), ("seed", str(result.seed)), ("versions", spell_versions(result.versions))]


def list_options(**options: object) -> list[tuple[str, str]]:
    """What was asked; options that say nothing are left out."""
    return [(name.replace("_", " "), str(value)) for name, value in options.items() if value not in (None, "", ())]


def spell_versions(versions: Mapping[str, str]) -> str:
    """The software on a line."""
    return ", ".join(f"{name} {number}" for name, number in versions.items())
