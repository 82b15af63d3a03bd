"""What `make soak` adds to pytest: proofs that were done are not done again, and no new one begins after a time limit.

What was done counts for the same sources only. `KARATAGE_SOAK_MINUTES` is the limit (default 90); each fuzzer takes
`KARATAGE_SOAK_SECONDS` (default 600). Remove build/soak to begin afresh.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOME = ROOT / "build" / "soak"


class Soak:
    """One session, which may take up an earlier one."""

    def __init__(self) -> None:
        sources = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")])
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
        self.done = HOME / f"{digest[:16]}.txt"
        self.end = time.monotonic() + 60 * float(os.environ.get("KARATAGE_SOAK_MINUTES", "90"))
        self.left: set[str] = set()

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        known = set(self.done.read_text().splitlines()) if self.done.is_file() else set()
        again = [item for item in items if item.nodeid in known]
        config.hook.pytest_deselected(items=again)
        items[:] = [item for item in items if item.nodeid not in known]
        self.left = {item.nodeid for item in items if item.get_closest_marker("soak")}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.left.discard(report.nodeid)
            HOME.mkdir(parents=True, exist_ok=True)
            with self.done.open("a") as file:
                file.write(f"{report.nodeid}\n")

    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        if time.monotonic() > self.end:
            item.session.shouldstop = f"the time is up; {len(self.left)} proofs are left for the next make soak"

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK  # all was done before


def pytest_configure(config: pytest.Config) -> None:
    """Called by `-p tests.soaking`."""
    config.pluginmanager.register(Soak(), "soak")
