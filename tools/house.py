"""Print the figures by which the structure of the code is judged: `python tools/house.py [SRC]`.

SRC is the folder that holds the package, by default the one of this tree. All rules are the same for every tree, so
that two of them can be compared. An import is any import that runs, at the top of a module or inside a function; those
under TYPE_CHECKING do not count. Strings count as module names where they name a module of a layer above their own.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = "karatage"
METHOD = (
    "kernels",
    "aggregation",
    "agreement",
    "measures",
    "merging",
    "correction",
    "comparison",
    "simulation",
    "orders",
    "judging",  # what `orders` was called before
)
ONE_PAIR = ("--a", "system-01", "--b", "system-02")
PLANNED = ("--a", "system-12", "--b", "system-11")  # for which the demo's gold queue was drawn
PROFILE = """
import dataclasses, json, sys
source, arguments = sys.argv[1], sys.argv[2:]
WORK = {
    ("data/alignment.py", "align"): "alignments",
    ("aggregation/registry.py", "merge"): "merges",
    ("measures/scoring.py", "_score_pieces"): "scorings",
}
files, kinds, imported, work = set(), set(), [set(), set()], dict.fromkeys(WORK.values(), 0)
importing = 0  # modules whose top level runs at the moment
def watch(frame, event, _):
    global importing
    if frame.f_code.co_name == "<module>" and event in ("call", "return"):
        importing += 1 if event == "call" else -1
    if event != "call" or frame.f_code.co_name == "<module>":
        return
    seen, made = imported if importing else (files, kinds)
    code = frame.f_code
    if code.co_filename.startswith(source):
        name = code.co_filename[len(source):]
        seen.add(name)
        if (name, code.co_name) in WORK:
            work[WORK[name, code.co_name]] += 1
    if code.co_name == "__init__" and "self" in frame.f_locals:
        kind = type(frame.f_locals["self"])
        if kind.__module__.startswith("karatage") and dataclasses.is_dataclass(kind):
            made.add(kind)
import karatage.cli.app as app
sys.argv = ["karatage", *arguments]
sys.setprofile(watch)
try:
    app.main()
except SystemExit:
    pass
finally:
    sys.setprofile(None)
told = {"files": sorted(files), "kinds": sorted(k.__qualname__ for k in kinds)}
told |= {"files_with_imports": len(files | imported[0]), "kinds_with_imports": len(kinds | imported[1])}
print(json.dumps(told | work), file=sys.stderr)
"""


def main() -> None:
    """Print the table."""
    source = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "src").resolve()
    if not (source / PACKAGE).is_dir():
        sys.exit(f"no package {PACKAGE} in {source}\n\n{__doc__}")
    for name, figure in measure(source):
        sys.stdout.write(f"{name:<76} {figure}\n")


def measure(source: Path) -> Iterator[tuple[str, str]]:
    """Name and value of every figure."""
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sorted(source.rglob("*.py"))}
    total = sum(lines.values())
    method = sum(n for path, n in lines.items() if path.relative_to(source / PACKAGE).parts[0] in METHOD)
    yield "modules / lines in src", f"{len(lines)} / {total:,}"
    yield "share of lines that is method", f"{method / total:.0%}"
    imports = find_imports(source)
    users = {name: sum(name in used for used in imports.values()) for name in imports}
    yield "modules imported by exactly one other module", f"{sum(count == 1 for count in users.values())}"
    yield "longest import chain", f"{find_longest_chain(imports)}"
    with tempfile.TemporaryDirectory() as folder:
        run_command(source, folder, "demo")
        files = ("demo/runs", "-j", "demo/judgments.csv")
        gold, queue = ("-g", "demo/gold.qrels"), ("-g", "demo/judged-queue.csv", "-m", "DCG@10")
        compared = profile(source, folder, "compare", *files, *gold)
        yield "files visited by compare / dataclass kinds made", f"{len(compared.files)} / {len(compared.kinds)}"
        declared = f"{compared.files_with_imports} / {compared.kinds_with_imports}"
        yield "the same with what modules declare when they are imported", declared
        commands = {
            "compare": compared,
            "compare --a --b": profile(source, folder, "compare", *files, *gold, *ONE_PAIR),
            "compare, a gold queue": profile(source, folder, "compare", *files, *queue),
            "compare --a --b, the gold queue of the pair": profile(source, folder, "compare", *files, *queue, *PLANNED),
            "plan": profile(source, folder, "plan", *files, "--budget", "100"),
            "queue": profile(source, folder, "queue", *files, "--budget", "50", "--prices", "A"),
            "doctor": profile(source, folder, "doctor", *files, *gold),
            "report": profile(source, folder, "report", *files, *gold, "-o", "report.html"),
        }
        for command, found in commands.items():
            figures = f"{found.alignments}, {found.merges}, {found.scorings}"
            yield f"alignments, merges, scorings in {command}", figures
    names = run_python(source, f"import {PACKAGE}; print(len({PACKAGE}.__all__))").strip()
    yield f"public names in `import {PACKAGE}`", names
    named = list(find_named(source, imports))
    above = sum(is_above for _, is_above in named)
    yield (
        "strings that name modules / those above / modules with such strings",
        (f"{len(named)} / {above} / {len({path for path, _ in named})}"),
    )


def find_imports(source: Path) -> dict[str, set[str]]:
    """What each module imports; packages that are documentation only are left out."""
    sys.path.insert(0, str(source))
    import grimp

    graph = grimp.build_graph(PACKAGE, exclude_type_checking_imports=True, cache_dir=None)
    sys.path.pop(0)
    return {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}


def find_longest_chain(imports: dict[str, set[str]]) -> int:
    """Modules on the longest way along imports; modules that import each other in a circle all count."""
    reached = {name: _reach(imports, name) for name in imports}
    circle = {name: frozenset([name, *(n for n in reached[name] if name in reached[n])]) for name in imports}
    known: dict[frozenset[str], int] = {}

    def measure_chain(own: frozenset[str]) -> int:
        if own not in known:
            below = {circle[used] for name in own for used in imports[name]} - {own}
            known[own] = len(own) + max(map(measure_chain, below), default=0)
        return known[own]

    return max(map(measure_chain, circle.values()))


def _reach(imports: dict[str, set[str]], name: str) -> set[str]:
    found: set[str] = set()
    left = [name]
    while left:
        new = imports[left.pop()] - found
        found |= new
        left += new
    return found


def find_named(source: Path, imports: dict[str, set[str]]) -> Iterator[tuple[Path, bool]]:
    """Modules that hold a string which names a module, and whether that is of a higher layer.

    The public interface is lazy on purpose and does not count.
    """
    settings = tomllib.loads((source.parent / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = [c["layers"] for c in settings["tool"]["importlinter"]["contracts"] if c["type"] == "layers"]
    height = {name.strip(): len(layers) - n for n, layer in enumerate(layers) for name in re.split(r"[|:]", layer)}

    def find_height(name: str) -> int:
        return next((h for layer, h in height.items() if name == layer or name.startswith(f"{layer}.")), 0)

    packages = {".".join(path.parent.relative_to(source).parts) for path in source.rglob("__init__.py")}
    for path in sorted((source / PACKAGE).rglob("*.py")):
        own = ".".join(path.relative_to(source).with_suffix("").parts)
        if own == f"{PACKAGE}.__init__":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                name = node.value.partition(":")[0]
                if name in imports and name not in packages:
                    yield path, find_height(name) > find_height(own)


def run_command(source: Path, folder: str, *arguments: str) -> None:
    """Run the command line of a tree in a folder."""
    subprocess.run(
        [sys.executable, "-m", PACKAGE, *arguments],
        cwd=folder,
        env=_find_there(source),
        check=True,
        capture_output=True,
    )


def run_python(source: Path, code: str, *arguments: str, folder: str | None = None, stderr: bool = False) -> str:
    """What a few lines print."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=_find_there(source),
        check=False,
        capture_output=True,
        text=True,
    )
    return done.stderr if stderr else done.stdout


class Profile(NamedTuple):
    """What a command did."""

    files: list[str]  # visited
    kinds: list[str]  # of dataclasses made
    files_with_imports: int  # the same with what runs at the top of modules, such as classes and declarations
    kinds_with_imports: int
    alignments: int
    merges: int
    scorings: int


def profile(source: Path, folder: str, *arguments: str) -> Profile:
    """Files visited, kinds of dataclasses made, and how often runs and judgments were aligned, merged and scored."""
    prefix = f"{source / PACKAGE}{os.sep}"
    told = run_python(source, PROFILE, prefix, *arguments, folder=folder, stderr=True)
    return Profile(**json.loads(told.splitlines()[-1]))


def _find_there(source: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(source), "COLUMNS": "80"}


if __name__ == "__main__":
    main()
