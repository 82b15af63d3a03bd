"""Do the intervals of `compare` cover on real judges? Figures of docs/theory/correction.md.

`python -m benchmarks.decisions --data FOLDER`: TREC DL 2021, LLM judges against NIST's grades. Gold is a plain random
sample of the judged documents; all pairs of systems are corrected by error rates and as an even sample, and compared
with the difference that all gold shows.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import karatage as kt
from karatage.deciding.case import Case, make_case
from karatage.deciding.choosing import CORRECTIONS
from karatage.deciding.corrected import Corrected, find_gap
from karatage.errors import DataError

JUDGES = ("gpt-4o_umbrela", "gpt-4_umbrela.M")
MEASURE = "P(rel=2)@10"
SIZES = (200, 400, 1000, 3000)

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Collection:
    """What is compared."""

    runs: kt.Runs
    judgments: kt.Judgments
    gold: kt.Judgments

    def make(self, gold: kt.Judgments, question: kt.Question) -> Case:
        """All systems with this gold."""
        return make_case(self.runs, self.judgments, gold, question, systems=self.runs.systems, seed=0)


def main() -> None:
    """Print coverages."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decisions", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the collections")
    parser.add_argument("--draws", type=int, default=30)
    options = parser.parse_args()
    folder = options.data / "trec-dl-2021-passage"
    collection = Collection(
        runs=kt.read_runs(folder / "runs"),
        judgments=kt.read_judgments(folder / "llm_labels.tsv.gz"),
        gold=kt.read_gold(folder / "gold.qrels"),
    )
    pl.Config.set_tbl_rows(-1)
    pl.Config.set_tbl_cols(-1)
    rows = [study(collection, judge, size, options.draws) for judge in JUDGES for size in SIZES]
    print(pl.DataFrame(rows))


def study(collection: Collection, judge: str, size: int, draws: int) -> dict[str, object]:
    """Coverage of 95 % intervals of all pairs, over draws of gold."""
    question = kt.Question(measure=MEASURE, approach=f"judge:{judge}")
    every = collection.make(collection.gold, question)
    upper = np.triu_indices(len(every.systems), 1)
    truth = _differences(every.gold_scores)[upper]
    naive = _differences(every.scores)[upper]
    grades = collection.gold.to_frame().drop("judge")
    rng = np.random.default_rng(0)
    found: dict[str, list[float]] = {}
    refused = 0
    for _ in range(draws):
        chosen = np.sort(rng.choice(len(grades), size, replace=False))
        case = collection.make(kt.read_gold(grades[chosen]), question)
        try:
            rates, even = CORRECTIONS["rates"](case), CORRECTIONS["even"](case)
        except DataError:
            refused += 1
            continue
        alarm = find_gap(rates, even).wide[upper]
        covered = _cover(rates, truth, upper)
        figures = {
            "rates": covered.mean(),
            "rates, no alarm": covered[~alarm].mean(),
            "even": _cover(even, truth, upper).mean(),
            "alarm": alarm.mean(),
            "rmse rates": np.sqrt(np.mean((rates.pairs.value[upper] - truth) ** 2)),
            "rmse even": np.sqrt(np.mean((even.pairs.value[upper] - truth) ** 2)),
        }
        for name, value in figures.items():
            found.setdefault(name, []).append(float(value))
    row: dict[str, object] = {"judge": judge, "gold": size, "refused": refused / draws}
    row |= {name: round(float(np.mean(values)), 3) for name, values in found.items()}
    row["rmse naive"] = round(float(np.sqrt(np.mean((naive - truth) ** 2))), 3)
    return row


def _differences(scores: FloatArray) -> FloatArray:
    mean = scores.mean(axis=0)
    return np.asarray(mean[None, :] - mean[:, None])


def _cover(found: Corrected, truth: FloatArray, upper: tuple[NDArray[np.intp], ...]) -> NDArray[np.bool_]:
    """Whether each pair's 95 % interval holds the truth of these topics; that of new topics is wider."""
    from scipy.special import stdtrit

    half = stdtrit(np.minimum(found.pairs.degrees, 1e9), 0.975) * np.sqrt(found.pairs.variance)
    return np.asarray(np.abs(found.pairs.value[upper] - truth) <= half[upper])


if __name__ == "__main__":
    main()
