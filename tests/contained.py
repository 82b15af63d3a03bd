"""A process as in a strict container: nothing can be written but one folder, no home, 2 GB of addresses."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NOT_ALLOWED = 77
SETUP = f"""
mount --make-rprivate / && mount --bind "$OUT" "$OUT" || exit {NOT_ALLOWED}
awk '{{print $5}}' /proc/self/mountinfo | while read -r place; do
  case "$place" in "$OUT" | /proc* | /sys*) ;; *) mount -o remount,ro,bind "$place" || exit {NOT_ALLOWED} ;; esac
done || exit {NOT_ALLOWED}
cd "$OUT" && ulimit -v 2097152 || exit {NOT_ALLOWED}
! touch /tmp/written /dev/shm/written "$HOME"/written 2>/dev/null || exit {NOT_ALLOWED}
exec env -i PATH=/usr/bin:/bin PYTHONPATH="$PYTHONPATH" "$@"
"""


def run_contained(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python in `folder`, the only one that it can write to; skip the test where that is not possible.

    Mounts are read-only in a name space of their own, which ends with the process.
    """
    if sys.platform != "linux" or shutil.which("unshare") is None:
        pytest.skip("needs unshare")
    rights = [] if os.geteuid() == 0 else ["--map-root-user"]
    program = ["unshare", "--mount", *rights, "sh", "-c", SETUP, "sh", sys.executable, *command]
    source = str(Path(__file__).parents[1] / "src")
    settings = {**os.environ, "OUT": str(folder.resolve()), "PYTHONPATH": source}
    ended = subprocess.run(program, env=settings, capture_output=True, text=True, check=False)
    if ended.returncode == NOT_ALLOWED or "unshare failed" in ended.stderr:
        pytest.skip(f"file systems cannot be mounted here: {ended.stderr}")
    return ended
