"""Names that are imported when first used, so that importing a module is fast.

The stub beside a module (`.pyi`) says which names it has and where they come from; type checkers read the same file.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path


@cache
def list_names(file: str) -> dict[str, tuple[str, str]]:
    """Each public name of the module in `file`, with the module that defines it and its name there."""
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name: (str(node.module), alias.name) for node in imports for alias in node.names}


def attach(
    module: str, file: str, moved: Callable[[], dict[str, str]] = dict
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a module.

    Args:
        module: Its name.
        file: Its file, with a stub beside it.
        moved: Names of earlier versions, and their new places.
    """
    names = list_names(file)

    def find(name: str) -> object:
        if name not in names:
            place = moved().get(name)
            told = f"kt.{name} is now {place}" if place else f"module '{module}' has no attribute '{name}'"
            raise AttributeError(told, name=name, obj=sys.modules[module])
        home, inner = names[name]
        value = import_module(f"{home}.{inner}") if home == module else getattr(import_module(home), inner)
        setattr(sys.modules[module], name, value)
        return value

    def list_all() -> list[str]:
        return sorted({*names, *(name for name in vars(sys.modules[module]) if name.startswith("__"))})

    return find, list_all, sorted(names)
