"""A page as a reader's browser shows it, and all that may not happen while it does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# A browser that runs as root has no sandbox; the others keep it from calling home.
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--force-color-profile=srgb"),
)

WIDE, PHONE = (1280, 900), (390, 844)
THEMES = ("light", "dark")
MEASURING = Path(__file__).with_name("measuring.js").read_text()


def find_browser() -> str | None:
    """The first that is installed."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def open_browser(program: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@dataclass
class Complaints:
    """What a browser complains of, and what a page asks for that is not in it."""

    found: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("console", self.note_message)
        page.on("pageerror", lambda error: self.found.append(f"error: {error}"))
        page.on("crash", lambda _: self.found.append("the page crashed"))
        page.on("dialog", self.note_dialog)
        page.on("request", self.note_request)

    def note_message(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.found.append(f"console: {message.text}")

    def note_dialog(self, dialog: Dialog) -> None:
        self.found.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def note_request(self, request: Request) -> None:
        if not request.is_navigation_request() and not request.url.startswith("data:"):
            self.found.append(f"request: {request.url}")


def visit(browser: Browser, path: Path, complaints: Complaints, **options: Any) -> Page:
    """Open a page without a network, and wait until all its charts are drawn."""
    width, height = options.pop("size", WIDE)
    context = browser.new_context(offline=True, viewport={"width": width, "height": height}, **options)
    context.set_default_timeout(15_000)
    page = context.new_page()
    complaints.watch(page)
    page.goto(path.resolve().as_uri())
    if options.get("java_script_enabled", True):
        wait_until_drawn(page)
    return page


def wait_until_drawn(page: Page) -> None:
    page.wait_for_selector("html[data-ready]")


def settle(page: Page) -> None:
    """Wait for what charts are still drawing."""
    page.evaluate(
        "() => Promise.all(Object.values(karatage.views).map(({ view }) => view.runAsync())).then(() => null)"
    )


def texts(page: Page, selector: str) -> list[str]:
    return [text.strip() for text in page.locator(selector).all_text_contents()]


def read_column(page: Page, table: str, column: int) -> list[str]:
    """The cells of a column, as shown from top to bottom."""
    return texts(page, f"figure:not(.chart) table[data-name='{table}'] tbody tr > :nth-child({column})")


def find_chosen(page: Page, chart: str, field: str = "system") -> list[str]:
    """Whose marks stand out in a chart, those of others being pale."""
    settle(page)
    marks = page.evaluate(
        """([chart, field]) => Array.from(
          document.querySelectorAll(`figure[data-name="${chart}"] .drawn svg .mark-symbol path`),
          (mark) => [mark.__data__.datum?.[field], Number(mark.getAttribute("opacity") ?? 1)],
        ).filter(([name]) => name !== undefined)""",
        [chart, field],
    )
    strongest = max(opacity for _, opacity in marks)
    return sorted({name for name, opacity in marks if opacity == strongest})


def find_mark(page: Page, chart: str, name: str, field: str = "system") -> tuple[float, float]:
    """The middle of a mark of something in a chart, brought into view."""
    page.locator(f"figure[data-name='{chart}'] .drawn").scroll_into_view_if_needed()
    x, y = page.evaluate(
        """([chart, field, name]) => {
          const marks = document.querySelectorAll(`figure[data-name="${chart}"] .drawn svg .mark-symbol path`);
          const mark = Array.from(marks).find((mark) => mark.__data__.datum?.[field] === name);
          mark.scrollIntoView({ block: "center", inline: "center" });
          const box = mark.getBoundingClientRect();
          return [box.x + box.width / 2, box.y + box.height / 2];
        }""",
        [chart, field, name],
    )
    return x, y
