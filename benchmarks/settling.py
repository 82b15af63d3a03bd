"""Is the probability of a wrong order borne out on real collections? Figures of docs/theory/settling.md.

`python -m benchmarks.settling --data FOLDER`: T08 and TREC DL 2021. Part of gold's pool goes to experts, in some order
or at random, and for some rows another part to a crowd; then every pair of systems is compared with the order that all
gold shows.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import karatage as kt
from karatage.data.queue import Settling
from karatage.decisions.belief import combine_judgments, form_belief, settle
from karatage.orders.orders import list_all, parse_order

MARGIN = 0.01
SHARES = (0.02, 0.05, 0.1, 0.2, 0.4)
BINS = (0.0, 0.01, 0.05, 0.15, 0.5)
CROWD_SHARE = 0.3
LongArray = NDArray[np.int64]


@dataclass(frozen=True)
class Study:
    """A collection, and how much of it is judged by whom."""

    name: str
    runs: kt.Runs
    gold: kt.Judgments  # binary or graded, on the whole pool
    judge: kt.Judgments | None  # a crowd that has judged everything

    def order(self, name: str) -> LongArray:
        """All items of the pool."""
        items = len(self.gold.item_topic)
        if name == "random":
            return np.random.default_rng(0).permutation(items)
        alignment = kt.stats.align(self.runs, self.gold)
        state = kt.experiments.JudgingState(
            ranked=alignment.ranked,
            item_start=alignment.item_start,
            grade=np.full(items, -1, np.int8),
            open=np.ones(items, bool),
        )
        answer = np.empty(items, np.int8)
        answer[self.gold.item] = self.gold.grade
        return list_all(parse_order(name), state, answer)


def main() -> None:
    """Print how often orders were wrong, by how often they were said to be."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.settling", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the collections")
    options = parser.parse_args()
    pl.Config.set_tbl_rows(-1)
    pl.Config.set_tbl_cols(-1)
    pl.Config.set_tbl_width_chars(200)
    rows = [row for study in read_studies(options.data) for row in try_study(study)]
    print(pl.DataFrame(rows))


def read_studies(data: Path) -> Iterator[Study]:
    t08, dl = data / "trec8-adhoc-10topics", data / "trec-dl-2021-passage"
    yield Study("T08", kt.read_runs(t08 / "runs"), kt.read_gold(t08 / "gold.qrels"), None)
    judges = kt.read_judgments(dl / "llm_labels.tsv.gz")
    one = judges.keep_rows(judges.judge == judges.judges.index("llama3.2_binary"))
    yield Study("DL 2021", kt.read_runs(dl / "runs"), kt.read_gold(dl / "gold.qrels"), one)


def try_study(study: Study) -> Iterator[dict[str, object]]:
    for measure in ("P@10", "AP"):
        for order in ("meta-ap", "random"):
            for share in SHARES:
                for crowd in (False, True):
                    yield try_once(study, measure, order, share, crowd=crowd)


def try_once(study: Study, measure: str, order: str, share: float, *, crowd: bool) -> dict[str, object]:
    items = study.order(order)
    count = round(share * len(items))
    experts = _keep(study.gold, items[:count])
    if not crowd:
        helpers = None
    elif study.judge is None:  # the crowd judges what experts do, and as much again and more
        helpers = kt.simulation.simulate_crowd(
            _keep(study.gold, items[: count + round(CROWD_SHARE * len(items))]), "hcb", rng=1
        )
    else:
        helpers = study.judge
    pool = replace(study.gold, judge=study.gold.judge[:0], item=study.gold.item[:0], grade=study.gold.grade[:0])
    alignment = kt.stats.align(study.runs, pool)
    belief = form_belief(alignment, combine_judgments(pool, helpers, experts))
    rng = np.random.default_rng(2)
    found = settle(alignment, belief, kt.parse_measure(measure), indifference=MARGIN, risk=0.05, rng=rng)
    truth = kt.score(study.runs, study.gold, measure).value[0].mean(axis=0)
    wrong = found.counts & (truth[None, :] - truth[:, None] > MARGIN)
    return {
        "data": study.name,
        "measure": measure,
        "order": order,
        "experts": share,
        "crowd": crowd,
        "undecided": found.undecided,
        "expected": round(found.expected_wrong, 1),
        "wrong": int(wrong.sum()),
        "tau": round(float(kt.stats.kendall_tau(found.score, truth)), 3),
        **{f"{low:g}-{high:g}": _rate(found, wrong, low, high) for low, high in itertools.pairwise(BINS)},
    }


def _keep(gold: kt.Judgments, items: LongArray) -> kt.Judgments:
    chosen = np.zeros(len(gold.item_topic), bool)
    chosen[items] = True
    return gold.keep_rows(chosen[gold.item])


def _rate(found: Settling, wrong: NDArray[np.bool_], low: float, high: float) -> str:
    """Share of wrong pairs among those said to be so with such a probability, and how many these are."""
    inside = found.counts & (found.wrong >= low) & (found.wrong < high)
    return f"{wrong[inside].mean():.3f} ({int(inside.sum())})" if inside.any() else "-"


if __name__ == "__main__":
    main()
