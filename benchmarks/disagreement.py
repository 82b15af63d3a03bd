"""Is disagreement between judges predicted, on real ones? Figures of docs/theory/disagreement.md.

`python -m benchmarks.disagreement --data FOLDER`: from other judges' grades on TREC RF 2010 and TREC Crowdsourcing
2011, from rankings on TREC DL 2021; within topics, and carried over from half of the topics to the other half. Each
against the same with outcomes shuffled within topics.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import karatage as kt
from karatage.data.disagreement import THRESHOLD, HeldOut
from karatage.orders.control import control_disagreement
from karatage.orders.disagreement import (
    FeatureTable,
    Outcome,
    find_auc,
    find_disagreement,
    find_obstacle,
    learn_from_features,
    rate_chances,
    split_votes,
    tabulate,
    transfer,
)
from karatage.random_streams import stream

FloatArray = NDArray[np.float64]
LongArray = NDArray[np.int64]
FIXED = (3, 12)  # votes to look at, whatever there are
HALVES = 10
UMBRELA = ("gpt-4o_umbrela", "gpt-4_umbrela.M", "llama3.2_umbrela")
BINARY = ("gpt-4o_binary", "gpt-4_binary.M", "llama3.2_binary")


@dataclass(frozen=True, eq=False)
class Case:
    """Features of items, and whether their judges disagree."""

    name: str
    table: FeatureTable
    outcome: Outcome


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.disagreement", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the collections")
    parser.add_argument("--trials", type=int, default=5, help="splits behind each figure of the control")
    parser.add_argument("--shuffles", type=int, default=99)
    options = parser.parse_args()
    pl.Config.set_tbl_rows(-1)
    pl.Config.set_tbl_cols(-1)
    pl.Config.set_tbl_width_chars(200)
    pl.Config.set_float_precision(3)
    votes, rankings = list(vote_cases(options.data)), list(ranking_cases(options.data))
    rows = []
    for case in [*votes, *rankings]:
        print(f"{case.name} ...", file=sys.stderr)
        rows.append(control(case, options.trials, options.shuffles))
    print("Held-out rates over all topics that can be tried; the same with outcomes shuffled within topics")
    print(pl.DataFrame(rows))
    print("Models: topics kept, held-out rates over them; standard deviations over topics, and over splits within one")
    print(pl.concat([learn(case) for case in [*votes, *rankings]]))
    print(f"Carried over from half of the topics to the other half, {HALVES} random halves")
    print(pl.DataFrame([carry_over(case) for case in [*votes, *rankings]]))
    print("The first feature by itself: its AUC on all items of a topic, and on how many topics it points down or up")
    print(pl.DataFrame([point(case) for case in rankings]))
    print("Carried over to the topics of another collection that the first does not have")
    print(pl.DataFrame([carry_across(votes[0], votes[1]), carry_across(votes[1], votes[0])]))


def vote_cases(data: Path) -> Iterator[Case]:
    """Whether two judges of an item differ, from what the others said; 0 is not relevant, all else is."""
    yield _from_votes("RF 2010", read_feedback(data / "trec-rf10-crowd"))
    crowd = read_crowd_track(data / "trec-crowd-2011", "labels.tsv.gz", "worker")
    yield _from_votes("Crowdsourcing 2011", crowd)
    for votes in FIXED:
        yield _from_votes(f"Crowdsourcing 2011, {votes} votes", crowd, most=votes)
    yield _count_votes("Crowdsourcing 2011, how many", crowd)
    yield _from_votes(
        "Crowdsourcing 2011, teams", read_crowd_track(data / "trec-crowd-2011", "team_labels.tsv.gz", "team")
    )


def ranking_cases(data: Path) -> Iterator[Case]:
    """Whether three judges of DL 2021 are unanimous, from how 63 runs rank the document."""
    folder = data / "trec-dl-2021-passage"
    runs = kt.read_runs(folder / "runs")
    for name, judgments in read_panels(folder).items():
        yield Case(f"DL 2021, {name}", tabulate("runs", runs, judgments), find_disagreement(judgments))


def read_feedback(folder: Path) -> kt.Judgments:
    """TREC 2010 Relevance Feedback's crowd; -2 stands for broken links."""
    rows = pl.read_csv(folder / "trec-rf10-data.txt.gz", separator="\t", infer_schema=False)
    rows = rows.filter(pl.col("label") != "-2")
    return kt.read_judgments(
        rows.select(topic="topicID", document="docID", judge="workerID", grade=(pl.col("label") != "0").cast(pl.Int8))
    )


def read_crowd_track(folder: Path, file: str, judge: str) -> kt.Judgments:
    """TREC 2011 Crowdsourcing, whose items are called TOPIC_DOCUMENT."""
    rows = pl.read_csv(folder / file, separator="\t", infer_schema=False)
    part = pl.col("item").str.splitn("_", 2).struct
    grade = (pl.col("label").cast(pl.Float64) >= 0.5).cast(pl.Int8)
    return kt.read_judgments(
        rows.select(topic=part.field("field_0"), document=part.field("field_1"), judge=judge, grade=grade)
    )


def read_panels(folder: Path) -> dict[str, kt.Judgments]:
    """Three judges each, as in [COLLAB14]; 27 with scales of their own would hardly ever be unanimous.

    Grades from 2 on count as relevant, as the track has it; judges who say yes or no do so themselves.
    """
    said = pl.read_csv(folder / "llm_labels.tsv.gz", separator="\t", infer_schema=False)
    said = said.select("judge", "topic", document="doc", grade=pl.col("label").cast(pl.Float64))
    gold = kt.read_gold(folder / "gold.qrels").to_frame()
    gold = gold.select(pl.lit("NIST").alias("judge"), "topic", "document", pl.col("grade").cast(pl.Float64))

    def read(names: tuple[str, ...], level: int) -> kt.Judgments:
        rows = pl.concat([said, gold]).filter(pl.col("judge").is_in(names))
        return kt.read_judgments(rows.with_columns((pl.col("grade") >= level).cast(pl.Int8)))

    return {
        "NIST and two GPT": read(("NIST", *UMBRELA[:2]), 2),
        "three LLM, graded": read(UMBRELA, 2),
        "three LLM, yes or no": read(BINARY, 1),
    }


def control(case: Case, trials: int, shuffles: int) -> dict[str, object]:
    """One row: rates, and what shuffled outcomes give."""
    found = control_disagreement(case.table, case.outcome, trials=trials, shuffles=shuffles, rng=0)
    auc = found.shuffled[:, HeldOut._fields.index("auc")]
    return {
        "case": case.name,
        "topics": found.topics,
        "items": found.items,
        "disagree": float(case.outcome.disagree[case.outcome.known].mean()),
        **found.found._asdict(),
        "shuffled auc": f"{auc.mean():.3f} ± {auc.std(ddof=1):.3f}",
        "p": found.p_value(),
        "tpr - fpr": found.gain,
        "shuffled": f"{found.shuffled_gain.mean():.3f} ± {found.shuffled_gain.std(ddof=1):.3f}",
        "p (tpr - fpr)": found.gain_p_value,
    }


def learn(case: Case, trials: int = 100) -> pl.DataFrame:
    """Rates of the topics that a model keeps."""
    model = learn_from_features(case.table, case.outcome, trials=trials, rng=0)
    cells = {
        str(row["rate"]): f"{row['mean']:.2f} ({row['over_topics']:.2f}, {row['over_splits']:.2f})"
        for row in model.rates.iter_rows(named=True)
    }
    kept = f"{len(model.topics)} of {len(model.topics) + len(model.dropped)}"
    return pl.DataFrame([{"case": case.name, "kept": kept, **cells}])


def carry_over(case: Case, halves: int = HALVES, trials: int = 20, shuffles: int = 999) -> dict[str, object]:
    """Rates on topics that were not learned from, mean over halves; outcomes are shuffled within the new topics."""
    rates, p_values, kept = [], [], []
    for half in range(halves):
        rng = stream(half, "halves of topics")
        order = rng.permutation(len(case.table.topics))
        learned, new = order[: len(order) // 2], order[len(order) // 2 :]
        known = case.outcome.known & np.isin(case.table.item_topic, learned)
        model = learn_from_features(case.table, Outcome(known, case.outcome.disagree & known), trials=trials, rng=half)
        chance = transfer(model, case.table).chance
        found, p_value = _try_new(case, chance, new, shuffles, rng)
        rates.append(found)
        p_values.append(p_value)
        kept.append(len(model.topics))
    mean = HeldOut(*np.mean(rates, axis=0).tolist())
    auc = np.array(rates)[:, HeldOut._fields.index("auc")]
    return {
        "case": case.name,
        "models": float(np.mean(kept)),
        **mean._asdict(),
        "tpr - fpr": mean.tpr + mean.tnr - 1,
        "auc, lowest to highest": f"{auc.min():.3f} to {auc.max():.3f}",
        "halves with p <= .05": sum(p <= 0.05 for p in p_values),
    }


def point(case: Case) -> dict[str, object]:
    """Whether a feature speaks for disagreement or against it, topic by topic."""
    topics = [(case.table.item_topic == t) & case.outcome.known for t in range(len(case.table.topics))]
    found = np.array([find_auc(case.table.value[rows, 0], case.outcome.disagree[rows]) for rows in topics])
    found = found[~np.isnan(found)]
    below, above = float((found < 0.45).mean()), float((found > 0.55).mean())
    return {"case": case.name, "auc": float(found.mean()), "below .45": below, "above .55": above}


def carry_across(case: Case, to: Case) -> dict[str, object]:
    """Rates on the topics of another collection; those that both have are left out of the one with more."""
    shared = set(case.table.topics) & set(to.table.topics)
    ours, theirs = (np.array([name not in shared for name in c.table.topics]) for c in (case, to))
    larger = len(case.table.topics) > len(to.table.topics)
    known = case.outcome.known & (ours[case.table.item_topic] if larger else True)
    model = learn_from_features(case.table, Outcome(known, case.outcome.disagree & known), trials=20, rng=0)
    new = np.arange(len(to.table.topics)) if larger else np.flatnonzero(theirs)
    found, p_value = _try_new(to, transfer(model, to.table).chance, new, 999, stream(0, "another collection"))
    rates = HeldOut(*found.tolist())
    return {
        "learned on": f"{case.name}, {int(ours.sum()) if larger else len(ours)} topics",
        "tried on": f"{to.name}, {len(new)} topics",
        "models": len(model.topics),
        **rates._asdict(),
        "tpr - fpr": rates.tpr + rates.tnr - 1,
        "p (auc)": p_value,
    }


def _try_new(
    case: Case, chance: FloatArray, new: LongArray, shuffles: int, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    rates, shuffled = [], np.zeros(shuffles)
    for topic in new:
        rows = (case.table.item_topic == topic) & case.outcome.known
        disagree = case.outcome.disagree[rows]
        if find_obstacle(disagree) is not None:
            continue
        rates.append(rate_chances(chance[rows], disagree, THRESHOLD))
        for k in range(shuffles):
            shuffled[k] += find_auc(chance[rows], rng.permutation(disagree))
    mean = np.nanmean(np.array(rates), axis=0)
    hits = int((shuffled / len(rates) >= mean[-1] - 1e-12).sum())
    return mean, (1 + hits) / (1 + shuffles)


def _from_votes(name: str, judgments: kt.Judgments, most: int | None = None) -> Case:
    others, outcome = split_votes(judgments, 0)
    if most is not None:
        place = np.arange(len(others.item)) - others.row_start[others.item]
        enough = np.diff(others.row_start) >= most
        rng = stream(0, "votes looked at")
        order = np.lexsort((rng.random(len(others.item)), others.item))
        kept = np.zeros(len(others.item), bool)
        kept[order[place < most]] = True
        others = others.keep_rows(kept)
        known = outcome.known & enough
        outcome = Outcome(known, outcome.disagree & known)
    return Case(name, tabulate("votes", None, others), outcome)


def _count_votes(name: str, judgments: kt.Judgments) -> Case:
    """The number of other votes alone: some items were given more because judges disagreed."""
    others, outcome = split_votes(judgments, 0)
    table = FeatureTable(
        value=np.log1p(np.diff(others.row_start))[:, None],
        topics=judgments.topics,
        item_topic=judgments.item_topic,
        features=("log_votes",),
    )
    return Case(name, table, outcome)


if __name__ == "__main__":
    main()
