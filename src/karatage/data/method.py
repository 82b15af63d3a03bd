"""How scores were found, in the words that a result carries wherever it is shown, saved and read back."""

from __future__ import annotations

from dataclasses import dataclass

from karatage.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to find scores and differences, in words."""

    name: str
    label: str  # short, in tables
    about: str = ""  # what is right under which assumption
    undone: str = "with their errors corrected"  # what it does to the judges' verdicts
    same_order: str = ""  # why the judges' order and the corrected one agree by construction, where they do

    def __post_init__(self) -> None:
        """Refuse what cannot be shown."""
        for what, text in (("name", self.name), ("label", self.label), ("effect", self.undone)):
            if not text.strip():
                raise DataError(f"a way to find scores has no {what}")


JUDGES = Method(
    name="judges",
    label="judges",
    about="The judges' scores are precise, and may be wrong in a way that no interval of theirs shows.",
)
