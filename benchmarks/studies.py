"""Studies on real collections whose figures stand in docs/theory/aware.md: `python -m benchmarks.studies STUDY`.

`least`: how often a judge who knows nothing weighs least, or most by closeness, over many seeds. `panel`: the LLM
judges of TREC DL 2021 on one binary scale, as a folder of qrels, for `karatage experiment aware`. `topics`: on that
panel, how far differences between approaches vary with the topics, by a bootstrap.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import karatage as kt
from karatage.aggregation.registry import parse_model
from karatage.experiments.tuples import merge_grades_of, merge_panels, rate_leaderboards, sample_tuples
from karatage.merging.estimators import ESTIMATORS, OWN

GOOD = 5
BoolArray = NDArray[np.bool_]
LastJudge = Callable[[BoolArray, np.random.Generator], BoolArray]
KINDS: dict[str, LastJudge] = {
    "random, 50 %": lambda relevant, rng: rng.random(relevant.size) < 0.5,
    "random, 30 %": lambda relevant, rng: rng.random(relevant.size) < 0.3,
    "random, 5 %": lambda relevant, rng: rng.random(relevant.size) < 0.05,
    "inverted": lambda relevant, _: ~relevant,
}
WHOLE = 0.99
OTHERS = ("{}(random=0.3)", "{}(random=hcb)")  # classes of random judges beside the paper's
CLOSENESS = "{}(closeness=True)"
CLOSE = CLOSENESS.format("tpc_tau_msd")
T08_BEST, DL_BEST = "tpc_rmse_msd(random=0.2/0.5/0.8)", "tpc_tau_msd(random=0.01/0.5/0.99)"
TRIED = (
    "uniform",
    "tpc_tau_msd",
    "sgl_tau_msd",
    "tpc_tau_own4",
    "sgl_rmse_own4",
    "tpc_rmse_msd",
    CLOSE,
    T08_BEST,
    DL_BEST,
)
DIFFERENCES = (
    ("uniform", "mv"),
    ("tpc_tau_msd", "mv"),
    ("tpc_tau_own4", "mv"),
    ("tpc_tau_own4", "tpc_tau_msd"),
    ("sgl_rmse_own4", "tpc_tau_msd"),
    (CLOSE, "tpc_tau_msd"),
    (T08_BEST, "tpc_rmse_msd"),
    (DL_BEST, "tpc_tau_msd"),
)
RESAMPLES, ALL = 500, 10_000


def main() -> None:
    """Run a study."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies", description=__doc__)
    parser.add_argument("study", choices=["least", "panel", "topics"])
    parser.add_argument("--data", type=Path, required=True, help="folder with the collections")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--output", type=Path, default=Path("llm-panel"), help="where `panel` writes")
    options = parser.parse_args()
    pl.Config.set_tbl_rows(-1)
    if options.study == "least":
        print(count_least(options.data / "trec8-adhoc-10topics", options.seeds))
    else:
        write_panel(options.data / "trec-dl-2021-passage", options.output)
    if options.study == "topics":
        print(resample_topics(options.data / "trec-dl-2021-passage" / "runs", options.output))


def count_least(folder: Path, seeds: int) -> pl.DataFrame:
    """For each estimator, the share of panels in which the last judge weighs less than each of five good ones.

    For closeness it is the share in which it weighs more than each of them.
    """
    (qrels,) = folder.glob("*qrels*")
    runs, gold = kt.read_runs(folder / "runs"), kt.read_gold(qrels)
    closeness = [CLOSENESS.format(name) for name in ESTIMATORS]
    tried = [*ESTIMATORS, *OWN, *(form.format(name) for form in OTHERS for name in ESTIMATORS), *closeness]
    columns: dict[str, list[str] | list[float]] = {"approach": tried}
    for kind, last in KINDS.items():
        found: Counter[str] = Counter()
        for seed in range(seeds):
            judgments = _simulate(gold, last, seed)
            for weights in kt.evaluate(runs, judgments, "AP", approach=tried, rng=seed).weights:
                own, good = weights.mean[GOOD], weights.mean[:GOOD]
                apart = own > good.max() if weights.approach in closeness else own < good.min()
                found[weights.approach] += bool(apart)
        columns[kind] = [found[name] / seeds for name in tried]
    return pl.DataFrame(columns)


def _simulate(gold: kt.Judgments, last: LastJudge, seed: int) -> kt.Judgments:
    """Five good judges who err apart, and the last one."""
    rng, relevant = np.random.default_rng(seed), gold.grade > 0
    said = []
    for _ in range(GOOD):
        found, passed = rng.uniform(0.6, 0.9), rng.uniform(0.9, 0.98)
        said.append(np.where(relevant, rng.random(relevant.size) < found, rng.random(relevant.size) > passed))
    said.append(last(relevant, rng))
    return replace(
        gold,
        judges=tuple(f"judge-{k}" for k in range(GOOD + 1)),
        judge=np.tile(np.arange(GOOD + 1, dtype=np.int32), relevant.size),
        item=np.repeat(gold.item, GOOD + 1),
        grade=np.array(said, np.int8).T.ravel(),
        top_grade=1,
    )


def write_panel(folder: Path, output: Path) -> None:
    """One binary qrels file per judge: relevant is what lies above the middle of a judge's scale, fractions and all."""
    gold = pl.read_csv(
        folder / "gold.qrels", separator=" ", has_header=False, new_columns=["topic", "_", "document", "grade"]
    ).with_columns(pl.col("topic").cast(pl.String))
    labels = pl.read_csv(folder / "llm_labels.tsv.gz", separator="\t", infer_schema_length=0).select(
        "judge", "topic", pl.col("doc").alias("document"), pl.col("label").cast(pl.Float64)
    )
    labels = labels.unique(["judge", "topic", "document"], keep="last", maintain_order=True)
    labels = labels.join(gold.select("topic", "document"), on=["topic", "document"], how="inner")
    (output / "judges").mkdir(parents=True, exist_ok=True)
    for (judge,), own in labels.group_by(["judge"], maintain_order=True):
        if len(own) >= WHOLE * len(gold):
            above = own.select("topic", "document", (pl.col("label") > pl.col("label").max() / 2).cast(pl.Int8))
            _write(above, output / "judges" / f"{judge}.qrels")
    _write(gold.select("topic", "document", (pl.col("grade") >= 2).cast(pl.Int8)), output / "gold.qrels")
    print(f"karatage experiment aware {folder / 'runs'} -j {output / 'judges'} -g {output / 'gold.qrels'}")


def _write(frame: pl.DataFrame, path: Path) -> None:
    topic, document, grade = frame.columns
    frame.select(topic, pl.lit("0"), document, grade).write_csv(path, separator=" ", include_header=False)


def resample_topics(runs: Path, panel: Path) -> pl.DataFrame:
    """Differences of mean tau_ap over all k-tuples, with 95 % intervals over topics drawn again and again."""
    collection = kt.experiments.read_collection(runs, panel / "judges", panel / "gold.qrels")
    (systems,), (judgments,) = collection.runs.values(), collection.panels.values()
    alignment = kt.stats.align(systems, judgments)
    value = kt.score(systems, judgments, "AP").value
    gold = kt.score(systems, collection.gold, "AP").value[0]
    found = kt.evaluate(systems, judgments, "AP", approach=list(TRIED), rng=1)
    shares = {"uniform": np.ones(value.shape[:2])} | {w.approach: w.share for w in found.weights}
    rng, rows = np.random.default_rng(1), []
    draws = [np.arange(len(gold)), *rng.integers(len(gold), size=(RESAMPLES, len(gold)))]
    for size in (3, 5, 7):
        members = sample_tuples(len(judgments.judges), size, ALL)
        voted = kt.stats.score_grades(
            alignment, merge_grades_of(members, judgments, [parse_model("mv")], seed=1)["mv"], ["AP"], top_grade=1
        )["AP"].value
        near = {name: np.empty(len(draws)) for name in ("mv", *TRIED)}
        for b, topics in enumerate(draws):
            target = gold[topics].mean(axis=0)
            near["mv"][b] = rate_leaderboards(voted[:, topics].mean(axis=1), target).tau_ap.mean()
            for name, share in shares.items():
                merged = merge_panels(value[:, topics], share[:, topics], members)
                near[name][b] = rate_leaderboards(merged, target).tau_ap.mean()
        for first, second in DIFFERENCES:
            gap = near[first] - near[second]
            low, high = np.quantile(gap[1:], [0.025, 0.975])
            rows.append((size, first, second, *(round(float(x), 3) for x in (gap[0], low, high))))
    return pl.DataFrame(rows, schema=["judges", "first", "second", "difference", "low", "high"], orient="row")


if __name__ == "__main__":
    main()
