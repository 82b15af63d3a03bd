"""By what a result was made."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version


def list_versions() -> dict[str, str]:
    """Of karatage and Python."""
    return {"karatage": _find_own(), "python": platform.python_version()}


@cache
def _find_own() -> str:
    return version("karatage")
