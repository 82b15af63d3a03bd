"""`python -m benchmarks.crowds`: the crowd models that come with the library, made again from the data they came from.

With `--table`, what the majority of their judges is worth: of five on gold of WebTrack 2011's balance, beside table 3.2
of [COLLAB14]; and of as many as there were on the gold they were learned from, beside that of the real judges. With
`--merges`, recall and precision of other merges on that gold, as in table 3.3. With `--recovery`, how well a simulated
crowd gives its model back.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

import karatage as kt
from karatage.data.axes import Coded, FloatArray
from karatage.data.crowd import Contribution, CrowdModel
from karatage.data.judgments import match_gold
from karatage.data.note import Note

SEED = 6
TOP = 3  # grade to which LLM judges' scales are stretched
Data = tuple[kt.Judgments, kt.Judgments]
# [COLLAB14] table 3.2: recall, precision, specificity, negative predictive value of the majority of five, in percent.
THESIS: Mapping[str, tuple[float, float, float, float]] = {
    "bm": (67.2, 96.7, 99.6, 94.0),
    "hcb": (94.2, 31.0, 59.1, 98.1),
    "rte": (98.0, 66.1, 90.2, 99.6),
    "temp": (94.7, 63.1, 89.2, 98.9),
    "bluebird": (74.7, 70.1, 93.8, 95.0),
    "wvscm": (93.2, 49.2, 81.2, 98.4),
    "careful": (98.2, 96.0, 99.2, 99.6),
}
RELEVANT = 0.163  # of WebTrack 2011's documents, as table 3.2's rows imply
TOPICS, PER_TOPIC = 50, 388
REPEATS = 10
MERGES = ("mv", "ds", "ry", "zc")
NOISE: tuple[Literal["removed", "kept"], ...] = ("removed", "kept")


def main() -> None:
    """Make the models, or show what their majority is worth."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crowds", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the data sets")
    parser.add_argument("--output", type=Path, help="folder to write the models to")
    parser.add_argument("--table", action="store_true", help="show the majority's figures")
    parser.add_argument("--merges", action="store_true", help="show other merges on the gold of WebTrack's balance")
    parser.add_argument("--recovery", action="store_true", help="show what comes back of simulated crowds")
    options = parser.parse_args()
    if options.recovery:
        show_recovery()
    elif options.merges:
        show_merges()
    elif options.data is None:
        parser.error("say where the data sets are: --data FOLDER")
    if options.output is not None:
        for name in (*SOURCES, "careful"):
            model = make_crowd(name, options.data)
            kt.simulation.write_crowd(model, options.output / f"{name}.json")
            print(f"{name}: {model.sentence}")
    if options.table:
        show_table(options.data)
        print()
        show_own(options.data)


def make_crowd(name: str, data: Path, noise: Literal["removed", "kept"] = "removed") -> CrowdModel:
    """One of the models."""
    if name == "careful":
        return make_careful()
    folder, read, what = SOURCES[name]
    judgments, gold = read(data / folder)
    families = {judge: judge.split("_")[0] for judge in judgments.judges} if name.startswith("llm") else None
    model = kt.simulation.learn_crowd(judgments, gold, name=name, families=families, noise=noise, rng=SEED)
    return replace(model, source=f"{what}, {model.judges:,} judges")


def make_careful() -> CrowdModel:
    """A made-up crowd whose majority of five comes out as MediaEval's row in table 3.2 when errors are independent."""
    from scipy.stats import beta

    edge = np.linspace(0, 1, 11)
    fine = (np.arange(2000) + 0.5) / 2000
    parts = []
    for mean in (0.876, 0.904):  # the majority of five such judges is right in 98.2 % and 99.2 %
        density = beta.pdf(fine, 22 * mean, 22 * (1 - mean)).reshape(10, -1)
        point, mass = fine.reshape(10, -1), density / density.sum()
        share = mass.sum(axis=1)
        centre = (mass * point).sum(axis=1) / np.maximum(share, 1e-300)
        spread = (mass * (point - centre[:, None]) ** 2).sum(axis=1) / np.maximum(share, 1e-300)
        parts.append((share, np.clip(centre, edge[:-1], edge[1:]), spread))
    (hit, hit_mean, hit_spread), (rejection, rejection_mean, rejection_spread) = parts
    share = hit[:, None] * rejection
    at = np.argwhere(share > 1e-4)
    a, b = at.T
    covariance = np.zeros((len(at), 3, 3))
    covariance[:, 0, 0], covariance[:, 1, 1], covariance[:, 2, 2] = hit_spread[a], rejection_spread[b], 0.8
    return CrowdModel(
        name="careful",
        source="rates like MediaEval's in table 3.2 of [COLLAB14], without data of judges",
        judges=0,
        judgments=0,
        balance=np.array([0.8, 0.2]),
        voxel=np.column_stack([at, np.zeros(len(at))]).astype(np.int32),
        share=share[a, b] / share[a, b].sum(),
        mean=np.column_stack([hit_mean[a], rejection_mean[b], np.full(len(at), np.log(0.02))]),
        covariance=covariance,
        contribution=Contribution(0.005, np.nan, np.nan),
        notes=(Note.of("simulated: two Beta distributions of rates, independent errors, no data behind it"),),
    )


def read_square(folder: Path, codes: str | None = None) -> Data:
    judgments = kt.read_judgments(folder / "labels.tsv.gz", grades=codes)
    return judgments, kt.read_gold(folder / "gold.tsv", grades=codes)


def read_temp(folder: Path) -> Data:
    return read_square(folder, "1=0,2=1")


def read_relevance_feedback(folder: Path) -> Data:
    """Grades -2 are broken links, not judgments; 1 and 2 are relevant; gold is known for one item in six."""
    rows = pl.read_csv(folder / "trec-rf10-data.txt.gz", separator="\t", infer_schema=False)
    rows = rows.with_columns(pl.col("label", "gold").cast(int)).rename({"topicID": "topic", "docID": "document"})
    said = rows.filter(pl.col("label") != -2)
    known = rows.filter(pl.col("gold") >= 0).unique(["topic", "document"])
    return (
        kt.read_judgments(
            said.select("topic", "document", judge="workerID", grade=(pl.col("label") > 0).cast(int)),
        ),
        kt.read_gold(known.select("topic", "document", grade=(pl.col("gold") > 0).cast(int))),
    )


def read_crowd_2011(folder: Path) -> Data:
    """Items are called topic_document; gold is NIST's, for one item in nine."""
    split = pl.col("item").str.splitn("_", 2)
    named = {"topic": split.struct.field("field_0"), "document": split.struct.field("field_1")}
    said = pl.read_csv(folder / "labels.tsv.gz", separator="\t", infer_schema=False)
    known = pl.read_csv(folder / "gold.tsv", separator="\t", infer_schema=False).drop_nulls("gold_binary")
    return (
        kt.read_judgments(said.select(**named, judge="worker", grade="label")),
        kt.read_gold(known.select(**named, grade="gold_binary")),
    )


def read_llm(folder: Path) -> Data:
    """27 prompts of three models; what they say is stretched from their scale to 0-3 and rounded, halves up."""
    tops = {"graded 0/1/2/3": 3.0, "graded 0/1/2/3/4/5": 5.0, "graded 0/2/3/4/5": 5.0}
    about = pl.read_csv(folder / "judges.tsv", separator="\t", infer_schema=False).select("judge", "scale")
    means = pl.col("judge").str.contains("graded-mean") & (pl.col("scale") == "real")
    plain = pl.col("scale").replace_strict(tops, default=1.0)
    about = about.with_columns(top=pl.when(means).then(5.0).otherwise(plain))
    gold = kt.read_gold(folder / "gold.qrels")
    pooled = gold.to_frame().select("topic", "document")
    said = (
        pl.read_csv(folder / "llm_labels.tsv.gz", separator="\t", infer_schema=False)
        .rename({"doc": "document"})
        .join(about, on="judge")
        .join(pooled, on=["topic", "document"], how="semi")
        .with_columns(share=(pl.col("label").cast(float) / pl.col("top")).clip(0, 1))
    )
    grade = (pl.col("share") * TOP + 0.5).floor().cast(int)
    return kt.read_judgments(said.select("judge", "topic", "document", grade=grade), grades=f"0-{TOP}"), gold


SOURCES: Mapping[str, tuple[str, Callable[[Path], Data], str]] = {
    "bluebird": ("agg-bluebird", read_square, "bluebirds in photographs (WB)"),
    "bm": ("gal-tweets-bm", read_square, "sentiment of tweets (BM)"),
    "crowd-2011": ("trec-crowd-2011", read_crowd_2011, "TREC 2011 crowdsourcing track, task 1"),
    "hcb": ("trec-rf10-crowd", read_relevance_feedback, "TREC 2010 relevance feedback track (HCB)"),
    "llm-dl-2021": ("trec-dl-2021-passage", read_llm, "LLM judges of TREC DL 2021 passages"),
    "rte": ("snow-rte", read_square, "textual entailment (RTE)"),
    "temp": ("snow-temp", read_temp, "order of events in time (TEMP)"),
    "wvscm": ("duchenne-wvscm", read_square, "Duchenne smiles (WVSCM)"),
}


def show_table(data: Path) -> None:
    """Each crowd's majority of five, under the ways to learn and to draw judges."""
    gold = make_gold()
    print(f"{'':11}{'judges':34}{'R':>6}{'P':>6}{'SPC':>6}{'NPV':>6}")
    for name in (*THESIS, "crowd-2011"):
        if name in THESIS:
            print(f"{name:11}{'[COLLAB14] table 3.2':34}" + "".join(f"{value:6.1f}" for value in THESIS[name]))
        kept, removed = (make_crowd(name, data, noise) for noise in ("kept", "removed"))
        ways = {
            "kept, independent, equal shares": equalise(kept.independent()),
            "kept, independent": kept.independent(),
            "removed, independent, equal shares": equalise(removed.independent()),
            "removed, independent": removed.independent(),
            "removed, as learned": removed,
        }
        for way, model in ways.items():
            if name != "careful" or way == "removed, as learned":
                print(f"{name:11}{way:34}" + "".join(f"{100 * value:6.1f}" for value in rate_majority(gold, model)))


def show_merges() -> None:
    """[COLLAB14] table 3.3 for four merges: recall and precision of five judges with independent errors, in percent."""
    gold = make_gold()
    print(f"{'':11}{''.join(f'{name:>12}' for name in MERGES)}")
    for name in THESIS:
        crowd = kt.simulation.simulate_crowd(gold, kt.simulation.load_crowd(name).independent(), per_item=5, rng=SEED)
        cells = []
        for merge in MERGES:
            said, truth = kt.aggregate(crowd, merge, rng=SEED).grades > 0, gold.grade > 0
            right = float((said & truth).sum())
            cells.append(f"{100 * right / truth.sum():.1f} {100 * right / max(said.sum(), 1):.1f}")
        print(f"{name:11}" + "".join(f"{cell:>12}" for cell in cells))


def show_recovery() -> None:
    """Total variation between the shares of voxels in a model and in the one learned again from 2,000 judges."""
    gold = make_gold(topics=1, each=5000, relevant=0.5)
    print(f"{'':8}{'per item':>9}{'of each kind':>13}{'removed':>9}{'kept':>7}{'mean rates off by':>19}")
    for name in ("hcb", "rte", "careful"):
        model = kt.simulation.load_crowd(name)
        for per_item in (5, 10, 20, 40, 100, 200):
            crowd = kt.simulation.simulate_crowd(gold, model, per_item=per_item, judges=2000, rng=SEED)
            seen = np.bincount(crowd.judge[gold.grade[crowd.item] > 0], minlength=2000)
            found = [kt.simulation.learn_crowd(crowd, gold, noise=noise, rng=SEED) for noise in NOISE]
            far = [0.5 * float(np.abs(again.shares - model.shares).sum()) for again in found]
            off = "  ".join(f"{gap:+.3f}" for gap in found[0].rates - model.rates)
            print(f"{name:8}{per_item:9}{np.median(seen):13.0f}{far[0]:9.3f}{far[1]:7.3f}{off:>19}")


def show_own(data: Path) -> None:
    """Recall, specificity and accuracy of the majority on the crowd's own gold, of real and of simulated judges."""
    print(f"{'':12}{'judges':>8}{'real':>20}{'as learned':>20}{'independent':>20}")
    for name, (folder, read, _) in SOURCES.items():
        judgments, gold = read(data / folder)
        model = make_crowd(name, data)
        each = count_judges(judgments, gold)
        figures = [rate_votes(judgments, gold)]
        for crowd in (model, model.independent()):
            drawn = [
                kt.simulation.simulate_crowd(gold, crowd, per_item=each, judges=model.judges, rng=k)
                for k in range(REPEATS)
            ]
            figures.append(np.mean([rate_votes(judged, gold) for judged in drawn], axis=0))
        print(f"{name:12}{each:8}" + "".join(f"{'  '.join(f'{100 * x:.1f}' for x in row):>20}" for row in figures))


def count_judges(judgments: kt.Judgments, gold: kt.Judgments) -> int:
    """How many judges an item with gold has, on average."""
    graded = np.bincount(judgments.item, minlength=len(judgments.item_topic))
    return round(float(graded[(match_gold(judgments, gold) >= 0) & (graded > 0)].mean()))


def rate_votes(judgments: kt.Judgments, gold: kt.Judgments) -> FloatArray:
    """Recall, specificity and accuracy of the majority; a tie is half right."""
    known = match_gold(judgments, gold)
    votes = np.bincount(judgments.item, minlength=len(known))
    share = np.bincount(judgments.item, weights=judgments.grade > 0, minlength=len(known)) / np.maximum(votes, 1)
    said = np.where(share == 0.5, 0.5, share > 0.5)
    here, relevant = (known >= 0) & (votes > 0), known > 0
    right = np.where(relevant, said, 1 - said)
    return np.array([right[here & relevant].mean(), right[here & ~relevant].mean(), right[here].mean()])


def make_gold(topics: int = TOPICS, each: int = PER_TOPIC, relevant: float = RELEVANT) -> kt.Judgments:
    """As many topics and documents as WebTrack 2011, as many of them relevant."""
    count = topics * each
    number = np.arange(count)
    grade = np.floor((number + 1) * relevant) > np.floor(number * relevant)
    return kt.Judgments.build(
        judge=Coded.constant("gold", count),
        topic=Coded.of([f"{k % topics + 101}" for k in range(count)]),
        document=Coded.of([f"doc-{k:05d}" for k in range(count)]),
        grade=grade.astype(np.int8),
        top_grade=1,
    )


def equalise(model: CrowdModel) -> CrowdModel:
    """The same judges, who all do the same share of the work."""
    mean, covariance, voxel = model.mean.copy(), model.covariance.copy(), model.voxel.copy()
    mean[:, 2], voxel[:, 2] = np.log(0.05), 0
    covariance[:, 2, :] = covariance[:, :, 2] = 0
    return replace(
        model, mean=mean, covariance=covariance, voxel=voxel, contribution=Contribution(0.04, np.nan, np.nan)
    )


def rate_majority(gold: kt.Judgments, model: CrowdModel) -> tuple[float, float, float, float]:
    """Recall, precision, specificity and negative predictive value of the majority of five."""
    crowd = kt.simulation.simulate_crowd(gold, model, per_item=5, rng=SEED)
    voted = np.bincount(crowd.item, weights=crowd.grade > 0) > 2.5
    truth = gold.grade > 0
    return (
        float(voted[truth].mean()),
        float(truth[voted].mean()),
        float(1 - voted[~truth].mean()),
        float(1 - truth[~voted].mean()),
    )


if __name__ == "__main__":
    main()
