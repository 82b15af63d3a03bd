"""The browser of these tests, and a page for each of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.pages import write_pages
from tests.browser.visiting import Complaints, visit

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# A browser that runs as root has no sandbox; the others keep it from calling home.
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--force-color-profile=srgb"),
)


@pytest.fixture(scope="module")  # a session's would leave its event loop running under the tests of others
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        told = f"no browser: none of {', '.join(NAMES)} is installed"
        if os.environ.get("KARATAGE_BROWSER") == "required":
            pytest.fail(told)
        pytest.skip(told)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The file of a page, by the name of the function that makes it."""
    return partial(write_pages, tmp_path_factory.mktemp("pages"))


@pytest.fixture
def complaints() -> Complaints:
    """What a test may look at, and has to empty where it provoked it."""
    return Complaints()


@pytest.fixture
def show(browser: Browser, pages: Callable[[str], Path], complaints: Complaints) -> Iterator[Callable[..., Page]]:
    """Open pages by name; in the end nothing may have gone wrong in any of them."""
    yield lambda name, **options: visit(browser, pages(name), complaints, **options)
    for context in browser.contexts:
        context.close()
    assert complaints.found == []
