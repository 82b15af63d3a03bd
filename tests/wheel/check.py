"""Tries the wheel where only it and its dependencies are installed: is it whole, are they all named, does it run?

Usage: python check.py SOURCE, in an empty folder; SOURCE is the project's.
"""

import ast
import importlib
import importlib.metadata
import importlib.util
import pkgutil
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pandas as pd

import karatage as kt

HOME = Path(kt.__file__).parent


def name_packages(requirements):
    """The names of what is required, as the index spells them."""
    return {re.split(r"[^\w.-]", line)[0].lower().replace("_", "-") for line in requirements}


def list_files(folder):
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts}


def list_imports(node):
    """The top-level modules that are imported anywhere in a file, unless only for types."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.module.partition(".")[0]
    for child in ast.iter_child_nodes(node):
        yield from list_imports(child)


def check_contents(source):
    assert HOME.is_relative_to(sysconfig.get_path("purelib")), f"{HOME} is not the wheel"
    assert list_files(HOME) == list_files(source / "src" / "karatage")
    strangers = [name for name in ("pyarrow", "pytest", "dask", "statsmodels") if importlib.util.find_spec(name)]
    assert not strangers, f"{strangers} are installed, which the wheel must do without"


def check_dependencies(source):
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    told = importlib.metadata.requires("karatage")
    assert name_packages(line for line in told if "extra ==" not in line) == name_packages(project["dependencies"])
    optional = {name for lines in project["optional-dependencies"].values() for name in name_packages(lines)}
    declared = name_packages(project["dependencies"]) | optional | {"karatage"}
    providers = importlib.metadata.packages_distributions()
    imported = {name for path in HOME.rglob("*.py") for name in list_imports(ast.parse(path.read_bytes()))}
    for module in imported - sys.stdlib_module_names:
        found = {name.lower().replace("_", "-") for name in providers.get(module, [module])}
        assert found & declared, f"karatage imports {module}, which pyproject.toml does not name"
    for module in pkgutil.walk_packages(kt.__path__, "karatage."):
        if module.name != "karatage.__main__":
            importlib.import_module(module.name)


def check_demo():
    program = Path(sys.executable).with_name("karatage")
    told = subprocess.run([program, "demo"], capture_output=True, text=True, check=True)
    assert "note:" not in told.stderr, told.stderr
    page = Path("demo/report.html").read_text()
    assert page.count('class="still"') == page.count('class="spec"') > 0


def check_frames():
    """What is read from pandas is what is read from files."""
    runs, gold = kt.read_runs("demo/story/runs"), kt.read_gold("demo/story/gold.csv")
    frame = pd.read_csv("demo/story/judgments.csv", dtype={"topic": str})
    answers = [
        kt.compare(runs, kt.read_judgments(given), gold, "P@10", a="old", b="new").sentence
        for given in ("demo/story/judgments.csv", frame, frame.astype("category"))
    ]
    assert len(set(answers)) == 1, answers


if __name__ == "__main__":
    check_contents(Path(sys.argv[1]))
    check_dependencies(Path(sys.argv[1]))
    check_demo()
    check_frames()
    sys.stdout.write(f"The wheel of karatage {kt.__version__} works alone on Python {sys.version.split()[0]}.\n")
