"""Real crowds: the majority's figures exactly, and what the default model must reach without tuning."""

import gzip

import polars as pl
import pytest

import karatage as kt

MAJORITY = {  # the folder's README; ties credited fractionally
    "snow-rte": 0.897,
    "snow-temp": 0.936,
    "snow-wsd": 0.994,
    "gal-tweets-bm": 0.696,
    "gal-hitspam-crowdflower": 0.660,
    "duchenne-wvscm": 0.720,
    "agg-bluebird": 0.759,
    "agg-adult-s5": 0.760,
    "trec-crowd-2011": 0.800,
    "trec-rf10-crowd": 0.640,
    "square-hcb": 0.640,
}
AT_LEAST = {
    "snow-rte": 0.925,
    "snow-temp": 0.940,
    "agg-bluebird": 0.88,
    "square-hcb": 0.68,
    "gal-tweets-bm": 0.70,
    "duchenne-wvscm": 0.77,
    "trec-crowd-2011": 0.805,
    "agg-adult-s5": 0.75,
}
CODES = {"gal-hitspam-crowdflower": "no=0,yes=1", "snow-temp": "1=0,2=1", "snow-wsd": "1=0,2=1,3=2"}


def read(folder):
    """Judgments and gold of one of the sets."""
    name = folder.name
    if name == "square-hcb":
        return tuple(f(folder / n, grades="1=0,2=1") for f, n in SQUARE_FILES)
    if name == "trec-rf10-crowd":
        return read_relevance_feedback(folder)
    if name == "trec-crowd-2011":
        gold = pl.read_csv(folder / "gold.tsv", separator="\t", infer_schema=False).drop_nulls("gold_binary")
        return kt.read_judgments(folder / "labels.tsv.gz"), kt.read_gold(gold.select("item", grade="gold_binary"))
    codes = CODES.get(name)
    return kt.read_judgments(folder / "labels.tsv.gz", grades=codes), kt.read_gold(folder / "gold.tsv", grades=codes)


SQUARE_FILES = (kt.read_judgments, "responses.txt"), (kt.read_gold, "gold.txt")


def read_relevance_feedback(folder):
    """Grades -2 are broken links; 1 and 2 are relevant."""
    with gzip.open(folder / "trec-rf10-data.txt.gz") as file:
        rows = pl.read_csv(file.read(), separator="\t", infer_schema=False)
    rows = rows.with_columns(pl.col("label", "gold").cast(int)).rename({"topicID": "topic", "docID": "document"})
    grades = rows.filter(pl.col("label") != -2).select(
        "topic", "document", judge="workerID", grade=(pl.col("label") > 0).cast(int)
    )
    gold = rows.filter(pl.col("gold") >= 0).select("topic", "document", grade=(pl.col("gold") > 0).cast(int)).unique()
    return kt.read_judgments(grades), kt.read_gold(gold)


@pytest.mark.parametrize("name", MAJORITY)
def test_majority_vote(shared_data, name):
    judgments, gold = read(shared_data / name)
    accuracy = kt.aggregate(judgments, "mv", rng=0).accuracy(gold)
    assert accuracy == pytest.approx(MAJORITY[name], abs=0.00051)
    assert accuracy == kt.aggregate(judgments, "mv", rng=1).accuracy(gold)


@pytest.mark.parametrize("name", AT_LEAST)
def test_dawid_skene(shared_data, name):
    judgments, gold = read(shared_data / name)
    assert kt.aggregate(judgments, "ds").accuracy(gold) >= AT_LEAST[name]


@pytest.mark.parametrize("model", ["ry", "ibcc", "emgz", "mace"])
@pytest.mark.parametrize("name", ["snow-rte", "gal-tweets-bm", "duchenne-wvscm", "agg-bluebird", "square-hcb"])
def test_models_that_know_leaning_beat_the_majority(shared_data, name, model):
    judgments, gold = read(shared_data / name)
    assert kt.aggregate(judgments, model, rng=0).accuracy(gold) > MAJORITY[name]
