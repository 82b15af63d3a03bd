"""Is the demo's story the luck of a seed? `python -m benchmarks.story`: the figures of docs/howto/demo.md."""

from __future__ import annotations

import argparse

import polars as pl

import karatage as kt
from karatage.simulation.collection import simulate_story
from karatage.views.report import STORY_LABELS, STORY_MEASURE

LEVEL = 0.05


def main() -> None:
    """Tell the story with many seeds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.story", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000)
    rows = [row for seed in range(parser.parse_args().seeds) for row in tell(seed)]
    pl.Config.set_tbl_cols(-1)
    pl.Config.set_tbl_width_chars(160)
    print(pl.DataFrame(rows).group_by("b", maintain_order=True).agg(pl.all().mean()))


def tell(seed: int) -> list[dict[str, str | float]]:
    """Both comparisons in one world: by judges, by gold as drawn for them, and by error rates from a plain sample."""
    world = simulate_story(seed)
    queue = kt.plan(world.runs, world.judgments, STORY_MEASURE, budget=STORY_LABELS).queue
    graded = world.pool.to_frame().drop("judge")
    drawn = kt.read_gold(queue.drop("grade").join(graded, on=["topic", "document"]))
    plain = kt.read_gold(graded.sample(STORY_LABELS, seed=seed))
    by_rates = kt.Question(measure=STORY_MEASURE, correction="rates")
    truth = dict(zip(world.runs.systems, kt.score(world.runs, world.pool, STORY_MEASURE).mean[0], strict=True))
    rows: list[dict[str, str | float]] = []
    for b in ("new", "newer"):
        found = kt.compare(world.runs, world.judgments, drawn, STORY_MEASURE, a="old", b=b)
        rated = kt.compare(world.runs, world.judgments, plain, by_rates, a="old", b=b)
        assert found.corrected is not None
        assert rated.corrected is not None
        rows.append(
            {
                "b": b,
                "truth": float(truth[b] - truth["old"]),
                "judges": found.naive.difference.value,
                "corrected": found.corrected.difference.value,
                "rates": rated.corrected.difference.value,
                "judges claim": found.naive.p_value < LEVEL,
                "corrected claim": found.significant,
                "rates claim": rated.significant,
                "rates p < 0.05": rated.corrected.p_value < LEVEL,
            }
        )
    return rows


if __name__ == "__main__":
    main()
