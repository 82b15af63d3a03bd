"""Draw the pictures of the README and the documentation, from the files of `karatage demo` in the current folder."""

import io
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.browser.visiting import Complaints, find_browser, open_browser, visit

HERE = Path(__file__).parent
COMMAND = "karatage evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels -a uniform -a mv -a 'judge:*' --top 5"
PAGE = Path("demo/report.html")
VIEWS = {
    "report": {"size": (1100, 1200), "color_scheme": "light"},
    "report-dark": {"size": (1100, 1200), "color_scheme": "dark"},
    "report-phone": {"size": (390, 844), "color_scheme": "light"},
}


def main() -> None:
    """Draw all of them."""
    draw_terminal()
    draw_page()


def draw_terminal() -> None:
    """Run the command and keep what it prints."""
    shown = subprocess.run(f"{COMMAND} -q", shell=True, capture_output=True, text=True, check=True).stdout
    console = Console(record=True, width=82, file=io.StringIO())
    console.print(Text(f"$ {COMMAND}\n", style="bold"))
    console.print(Text(shown.rstrip()))
    svg = console.export_svg(title="karatage evaluate")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)  # no request to the network
    (HERE / "evaluate.svg").write_text(svg)


def draw_page() -> None:
    """The first screen of the page: wide, dark, and on a phone."""
    program = find_browser()
    if program is None:
        sys.exit("no browser to draw the page with; `make browser` installs one")
    with open_browser(program) as browser:
        for name, options in VIEWS.items():
            page = visit(browser, PAGE, Complaints(), **options)
            page.screenshot(path=HERE / f"{name}.png")


if __name__ == "__main__":
    main()
