"""What tests of charts share: a collection with hostile names, and what a chart says."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import cached_property

import numpy as np
import polars as pl
import pytest
import vl_convert

import karatage as kt
from karatage.data.estimate import wilson_interval
from karatage.views.html import clean_chart

MEASURE = "P(rel=2)@10"
HOSTILE = (
    "</script><script>alert('x')</script>",
    "\u202eright to left\u0000\n\t",
    "x" * 10_000,
    "x" * 9_999 + "y",
    """😀 "double" 'single' \\ back & <b>""",
    "judge",
)


class Hostile:
    """A small collection whose systems and judges have the names one fears."""

    measure = MEASURE
    names = HOSTILE

    @cached_property
    def world(self) -> kt.simulation.World:
        found = kt.simulation.simulate_collection(systems=8, topics=12, rng=7)
        systems = (*HOSTILE, *found.runs.systems[len(HOSTILE) :])
        judges = (*HOSTILE, *found.judgments.judges[len(HOSTILE) :])
        return replace(
            found, runs=replace(found.runs, systems=systems), judgments=replace(found.judgments, judges=judges)
        )

    @cached_property
    def board(self) -> kt.Board:
        return kt.compare_all(self.world.runs, self.world.judgments, self.world.gold, MEASURE)

    @cached_property
    def naive_board(self) -> kt.Board:
        return kt.compare_all(self.world.runs, self.world.judgments, None, MEASURE)

    @cached_property
    def evaluation(self) -> kt.Evaluation:
        approaches = ["mv", "uniform", "sgl_tau_msd"]
        found, gold = self.world, self.world.gold
        return kt.evaluate(found.runs, found.judgments, [MEASURE, "AP"], approach=approaches, gold=gold, rng=1)

    @cached_property
    def audit(self) -> kt.Audit:
        families = {name: f"family {k % 3}" for k, name in enumerate(self.world.judgments.judges)}
        return kt.audit(self.world.judgments, gold=self.world.gold, families=families, rng=1, approach=("mv",))


def make_many(audit: kt.Audit, judges: int) -> kt.Audit:
    """So many judges, each right about one gold item more than the one before."""
    names, items = pl.Series([f"j{k}" for k in range(judges)]), np.arange(1, judges + 1)
    low, high = wilson_interval(items, items)
    zeros, ones = np.zeros(judges, np.int64), np.ones(judges)
    cells = {"judge": names, "gold": zeros, "grade": zeros, "items": items, "share": ones}
    own = {"judge": names, "gold_items": items, "accuracy": ones, "accuracy_high": ones}
    own |= {f"gold_leniency{end}": np.zeros(judges) for end in ("", "_low", "_high")}
    return replace(
        audit,
        judges=pl.concat([audit.judges.head(1)] * judges).with_columns(**{k: pl.Series(v) for k, v in own.items()}),
        confusion=pl.DataFrame(cells | {"share_low": low, "share_high": high}),
        pairs=audit.pairs.clear(),
        flags=audit.flags.clear(),
        counts=(),
    )


class Chart:
    """What a chart says once it is drawn."""

    def __init__(self, chart, **params: object) -> None:
        self.data = json.loads(chart.to_json())["datasets"]  # names as they are
        self.spec = json.loads(clean_chart(chart))
        for param in self.spec.get("params", []):
            if param["name"] in params:
                param["value"] = params[param["name"]]

    @cached_property
    def svg(self) -> ET.Element:
        """Drawn for real."""
        return ET.fromstring(vl_convert.vegalite_to_svg(json.dumps(self.spec)))

    @property
    def texts(self) -> list[str]:
        return [text for text in self.svg.itertext() if text.strip()]

    @property
    def size(self) -> tuple[float, float]:
        return float(self.svg.attrib["width"]), float(self.svg.attrib["height"])

    @property
    def params(self) -> dict[str, dict]:
        return {param["name"]: param for param in self.spec.get("params", [])}

    def rows(self, key: str) -> list[dict]:
        return [row for table in self.data.values() for row in table if key in row]


@pytest.fixture(scope="session")
def hostile() -> Hostile:
    return Hostile()


@pytest.fixture(scope="session")
def read_chart() -> type[Chart]:
    return Chart
