"""Results show and draw themselves."""

from __future__ import annotations

import altair as alt
import pytest

import karatage as kt
from karatage.data.display import Shown


@pytest.fixture(scope="module")
def board():
    world = kt.simulation.simulate_collection(systems=3, topics=12, depth=10, rng=1)
    return kt.compare_all(world.runs, world.judgments, None, "P@5")


def test_a_notebook_shows_the_sentence(board):
    assert board.sentence.split(",")[0] in board._repr_html_()


def test_a_chart_can_be_drawn_and_saved(board, tmp_path):
    chart = board.plot()
    assert isinstance(chart, alt.TopLevelMixin)
    chart.save(tmp_path / "board.svg")
    assert (tmp_path / "board.svg").read_text("utf-8").startswith("<svg")


def test_every_public_result_shows_itself():
    public = [getattr(home, name) for home in (kt, kt.stats, kt.experiments, kt.simulation) for name in home.__all__]
    shown = {kind.__name__ for kind in public if isinstance(kind, type) and hasattr(kind, "plot")}
    assert shown >= {"Audit", "Board", "Comparison", "Evaluation", "Posterior", "JudgingQueue", "SizePlan", "Weights"}
    written = [kind for kind in public if hasattr(kind, "to_json")]
    assert [kind.__name__ for kind in written if not issubclass(kind, Shown)] == []
