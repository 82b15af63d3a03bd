"""The browser of these tests, and a page for each of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.pages import write_pages
from tests.browser.visiting import PROGRAMS, Complaints, find_browser, open_browser, visit


@pytest.fixture(scope="module")  # a session's would leave its event loop running under the tests of others
def browser() -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        told = f"no browser: none of {', '.join(PROGRAMS)} is installed"
        if os.environ.get("KARATAGE_BROWSER") == "required":
            pytest.fail(told)
        pytest.skip(told)
    with open_browser(program) as opened:
        yield opened


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
