"""What a shell may offer at a press of the tab key.

Importing the registries takes too long for that. So measures are read from the text of their declarations, and the
names of models and others stand here again; a contract test compares both. Names that a shell would have to quote are
left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib.resources import files

Complete = Callable[[str], list[str]]

MODELS = (
    "binmv",
    "cubam",
    "ds",
    "emgz",
    "emmv",
    "emneu",
    "emsemi",
    "glad",
    "ibcc",
    "mace",
    "mv",
    "nb",
    "onecoin",
    "ordinal",
    "qbinmv",
    "ry",
    "wawa",
    "zc",
)
ORDERS = ("average-rank", "depth", "disagreement", "effect", "meta-ap", "move-to-front", "thompson")
CORRECTIONS = ("auto", "rates", "sampled", "even", "census", "topics", "gold-topics")
GAPS = ("apc", "fro", "kld", "rmse", "tau")
WEIGHTS = ("md", "med", "msd", "own", "own2", "own4")
POWERS = ("", "_squared", "_cubed")


def list_measures() -> list[str]:
    """An example of each measure, read from the text of the declarations."""
    text = (files("karatage.measures") / "registry.py").read_text(encoding="utf-8")
    return re.findall(r'^ +example="(.+)",$', text, re.M)


def list_approaches() -> list[str]:
    """Everything that `evaluate` takes by a plain name."""
    estimators = [f"{span}_{gap}_{weight}" for span in ("sgl", "tpc") for gap in GAPS for weight in WEIGHTS]
    supervised = [f"sup_{gap}{power}" for gap in GAPS for power in POWERS]
    return sorted([*MODELS, "uniform", *estimators, *supervised])


def list_crowds() -> list[str]:
    """The crowds that come with the library, by their files."""
    names = [path.name for path in (files("karatage.simulation") / "archetypes").iterdir()]
    return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))


def _complete(names: Callable[[], Iterable[str]]) -> Complete:
    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


complete_measures = _complete(list_measures)
complete_models = _complete(lambda: MODELS)
complete_orders = _complete(lambda: ORDERS)
complete_corrections = _complete(lambda: CORRECTIONS)
complete_approaches = _complete(list_approaches)
complete_crowds = _complete(list_crowds)
