"""Starting up, the interpreter included: commands in processes of their own, as a shell would start them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring import Trial

if TYPE_CHECKING:
    from benchmarks.setting import Setting


def import_karatage(_: Setting) -> Trial:
    return _command([sys.executable, "-c", "import karatage"])


def show_help(_: Setting) -> Trial:
    return _command([str(Path(sys.executable).with_name("karatage")), "--help"])


def _command(command: list[str]) -> Trial:
    return Trial(lambda: subprocess.run(command, check=True, capture_output=True), lambda _: {})
