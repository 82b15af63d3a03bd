"""Charts as SVG that can stand inside a page: no clashing names, no scripts, the same bytes each time."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from karatage.errors import DataError

if TYPE_CHECKING:
    import altair as alt

# What XML cannot hold, with which the converter would take the whole process down; and marks that turn text around, for
# a name must not reverse the sentence it stands in.
UNHEARD = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u202a-\u202e\u2066-\u2069]")
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
APART = 6  # pixels
ACTIVE = frozenset({"script", "foreignObject", "a", "image", "use", "style"})
OWN_NAME = re.compile(r"url\(#([^)]+)\)")
LONG_NUMBER = re.compile(r"-?\d+\.\d{4,}(e-?\d+)?")
DRAWN = frozenset({"d", "transform", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height", "points"})


def clean(text: str) -> str:
    """Text that HTML and XML can hold."""
    return UNHEARD.sub(REPLACEMENT, text)


def clean_chart(chart: alt.TopLevelMixin) -> str:
    """A chart as Vega-Lite: nothing in its names that a converter chokes on, and labels of an axis that keep apart."""
    spec = json.loads(chart.to_json())
    spec.setdefault("config", {}).setdefault("axis", {}).setdefault("labelSeparation", APART)
    return json.dumps(_clean_all(spec))


def adapt_svg(picture: bytes, name: str, caption: str) -> str:
    """A picture as an SVG element for HTML; its parts are called after `name`, readers hear the caption."""
    drawn = ET.fromstring(picture)
    numbers: dict[str, str] = {}
    for part in drawn.iter():
        part.tag = part.tag.rpartition("}")[2]
        if part.tag in ACTIVE or any(key.startswith("on") or "href" in key for key in part.attrib):
            raise DataError(
                f"a chart for a page may hold no links, pictures or scripts, and '{name}' holds <{part.tag}>"
            )
        for key in [key for key in part.attrib if key.startswith(("aria-", "role", "class"))]:
            del part.attrib[key]  # one caption is heard, not every point
        for key, value in part.attrib.items():
            placed = LONG_NUMBER.sub(_round, value) if key in DRAWN else value
            part.attrib[key] = _rename(key, placed, name, numbers)
    drawn.attrib.pop("version", None)
    width = float(drawn.attrib["width"])  # the page's style may shrink it, within reason
    drawn.attrib |= {"role": "img", "aria-label": clean(caption), "style": f"--width:{width:g}px"}
    return ET.tostring(drawn, encoding="unicode")


def _rename(key: str, value: str, name: str, numbers: dict[str, str]) -> str:
    """Names inside a chart count on from chart to chart and would clash with those of others."""

    def give(old: str) -> str:
        return numbers.setdefault(old, f"{name}-{len(numbers) + 1}")

    return give(value) if key == "id" else OWN_NAME.sub(lambda found: f"url(#{give(found[1])})", value)


def _round(number: re.Match[str]) -> str:
    """A thousandth of a pixel will do."""
    return str(round(float(number[0]), 3))


def _clean_all(spec: object) -> object:
    if isinstance(spec, str):
        return clean(spec)
    if isinstance(spec, list):
        return [_clean_all(part) for part in spec]
    if isinstance(spec, dict):
        return {clean(key): _clean_all(part) for key, part in spec.items()}
    return spec
