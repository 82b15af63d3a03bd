"""Starting up, the interpreter included: commands in processes of their own, as a shell would start them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring import Contender, Trial

if TYPE_CHECKING:
    from benchmarks.setting import Setting


def import_karatage(_: Setting) -> Trial:
    return _command([sys.executable, "-c", "import karatage"])


def __getattr__(name: str) -> Contender:
    """`help`, and `help compare` for the help of a command."""
    what, *command = name.split()
    if what != "help":
        raise AttributeError(name)
    return lambda _: _command([str(Path(sys.executable).with_name("karatage")), *command, "--help"])


def _command(command: list[str]) -> Trial:
    there = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return Trial(lambda: subprocess.run(command, check=True, capture_output=True, env=there), lambda _: {})
