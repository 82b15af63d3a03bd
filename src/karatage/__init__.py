"""Which search system is better, when the judges are noisy?"""

from __future__ import annotations

from pathlib import Path

from karatage.data.display import Display, provide_display
from karatage.lazy import attach, list_names
from karatage.memory import spare_addresses

__version__ = "0.1.0"
spare_addresses()  # before libraries take address space


def _find_display() -> Display:
    from karatage.views import showing

    return showing


provide_display(_find_display)

_HOMES = {
    "charts": "charts.py",
    "experiments": "experiments/__init__.py",
    "simulation": "simulation/__init__.py",
    "stats": "stats.py",
}
_CHARTS = ("benchmark", "board", "comparison", "crowd", "interaction", "main_effects", "tukey")
_RENAMED = {
    "SurveyRules": "arguments of kt.report",
    "diagnose": "kt.doctor",
    "survey": "kt.report",
    **{f"draw_{name}": f"kt.charts.chart_{name}" for name in _CHARTS},
}


def _find_moved() -> dict[str, str]:
    """Names of earlier versions, and their new places."""
    found = dict(_RENAMED)
    for home, file in _HOMES.items():
        found |= {name: f"kt.{home}.{name}" for name in list_names(str(Path(__file__).parent / file))}
    return found


__getattr__, __dir__, __all__ = attach(__name__, __file__, _find_moved)
