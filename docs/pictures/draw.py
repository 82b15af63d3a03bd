"""Draw `evaluate.svg`, the picture in the README, from the files of `karatage demo` in the current folder."""

import io
import re
import subprocess
from pathlib import Path

from rich.console import Console
from rich.text import Text

COMMAND = "karatage evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels -a uniform -a mv -a 'judge:*' --top 5"


def main() -> None:
    """Run the command and keep what it prints."""
    shown = subprocess.run(f"{COMMAND} -q", shell=True, capture_output=True, text=True, check=True).stdout
    console = Console(record=True, width=82, file=io.StringIO())
    console.print(Text(f"$ {COMMAND}\n", style="bold"))
    console.print(Text(shown.rstrip()))
    svg = console.export_svg(title="karatage evaluate")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)  # no request to the network
    (Path(__file__).parent / "evaluate.svg").write_text(svg)


if __name__ == "__main__":
    main()
