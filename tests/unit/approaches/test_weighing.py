"""Approaches that weigh judges: coverage, doubts, explanations, training topics, random gold."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.data.scores import label_class
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.measures.expected import randomise, score_expected
from karatage.views.reading import restore
from tests.notes import gives, has_note, list_facts

FEW = "(replicates=25)"


@pytest.fixture(scope="module")
def world():
    return kt.simulation.simulate_collection(systems=9, topics=6, depth=20, rng=12)


def weigh(world, approach, judgments=None, **options):
    found = kt.evaluate(world.runs, judgments or world.judgments, "AP", approach=approach, **options)
    return found, found.weights[0]


def without(world, judge, topics):
    frame = world.judgments.to_frame()
    return kt.read_judgments(frame.filter(~((pl.col("judge") == judge) & pl.col("topic").is_in(topics))))


@pytest.mark.parametrize("approach", ["sgl_rmse_md" + FEW, "tpc_rmse_own2" + FEW, "sup_tau"])
def test_shares_sum_to_one_over_the_judges_present(world, approach):
    judgments = without(world, "careful-2", ["101", "104"])
    _, weights = weigh(world, approach, judgments, gold=world.gold, rng=1)
    np.testing.assert_allclose(weights.share.sum(axis=0), 1)
    absent = [weights.topics.index("101"), weights.topics.index("104")]
    careful = weights.judges.index("careful-2")
    assert (weights.share[careful, absent] == 0).all()
    assert (np.delete(weights.share[careful], absent) > 0).all()
    assert weights.to_frame().filter(pl.col("judge") == "careful-2")["topics"].item() == 4


def test_replicates_and_seed_matter(world):
    shares = [weigh(world, f"sgl_rmse_md(replicates={n})", rng=s)[1].share for n, s in [(8, 1), (9, 1), (8, 2), (8, 1)]]
    assert (shares[0] != shares[1]).any()
    assert (shares[0] != shares[2]).any()
    np.testing.assert_array_equal(shares[0], shares[3])


def test_a_judge_under_whom_all_systems_are_equal_has_no_weight_in_that_topic(world):
    frame = world.judgments.to_frame().with_columns(
        pl.when((pl.col("judge") == "crowd-1") & (pl.col("topic") == "102")).then(0).otherwise("grade").alias("grade")
    )
    found, weights = weigh(world, "tpc_tau_md" + FEW, kt.read_judgments(frame))
    assert weights.share[weights.judges.index("crowd-1"), weights.topics.index("102")] == 0
    assert has_note(found, "approaches.same-scores", times=1, judges=("crowd-1",))
    _, single = weigh(world, "sgl_tau_md" + FEW, kt.read_judgments(frame))
    own = single.share[single.judges.index("crowd-1")]
    assert own[single.topics.index("102")] == 0
    assert (np.delete(own, single.topics.index("102")) > 0).all()


def test_where_nobody_weighs_anything_judges_count_alike(world):
    frame = world.judgments.to_frame().with_columns(
        pl.when(pl.col("topic") == "103").then(0).otherwise("grade").alias("grade")
    )
    found, weights = weigh(world, "tpc_tau_md" + FEW, kt.read_judgments(frame))
    np.testing.assert_allclose(weights.share[:, weights.topics.index("103")], 1 / 9)
    assert has_note(found, "approaches.weights-zero", topics=("103",))


def test_topics_where_one_of_several_measures_weighs_nothing_are_told(world):
    frame = world.judgments.to_frame().with_columns(
        pl.when(pl.col("topic") == "103").then(pl.col("grade").clip(0, 1)).otherwise("grade").alias("grade")
    )
    approach = "multi(AP,P(rel=3)@10):tpc_rmse_md" + FEW
    found = kt.evaluate(world.runs, kt.read_judgments(frame), "AP", approach=approach)
    (told,) = [note.facts["topics"] for note in found.notes if note.kind == "approaches.weights-zero"]
    assert told == ("103",)
    share = found.weights[0].share[:, found.weights[0].topics.index("103")]
    assert share.sum() == pytest.approx(1)
    assert np.ptp(share) > 0


def test_weights_that_hardly_differ_are_told():
    world = kt.simulation.simulate_collection(systems=12, topics=30, depth=20, rng=1)
    found, _ = weigh(world, "sgl_tau_md")
    assert has_note(found, "approaches.uniform", approaches=("sgl_tau_md",))
    found, _ = weigh(world, "sgl_rmse_own4" + FEW)
    assert not has_note(found, "approaches.uniform")


def test_the_spammer_is_last_and_the_reason_is_said(world):
    _, weights = weigh(world, "sgl_rmse_own4" + FEW)
    frame = weights.to_frame()
    assert frame["judge"][-1] == "spammer"
    assert frame["weight"].is_sorted(descending=True)
    last = weights.explain()[-1]
    assert last.startswith("spammer: weight 0.00")
    assert gives(last, "rmse", f"{frame['rmse_own'][-1]:.3f}")


def test_explanations_name_the_nearest_class_and_all_gaps(world):
    _, weights = weigh(world, "tpc_fro_md" + FEW)
    row = weights.to_frame().row(0, named=True)
    gaps = {name: row[f"fro_{name}"] for name in ("und", "uni", "ovr")}
    assert row["nearest"] == min(gaps, key=gaps.get)
    first = weights.explain()[0]
    assert f"({row['lowest']:.3f}-{row['highest']:.3f} by topic)" in first
    assert all(f"{gap:.3f}" in first for gap in gaps.values())
    assert gives(first, "nearest to", label_class(row["nearest"]), f"{min(gaps.values()):.3f}")


@pytest.mark.parametrize("gap", ["tau", "kld"])
def test_by_closeness_the_farthest_class_decides(world, gap):
    _, weights = weigh(world, f"sgl_{gap}_md(replicates=25,closeness=True)")
    farthest = []
    for row, line in zip(weights.to_frame().iter_rows(named=True), weights.explain(), strict=True):
        gaps = {name: row[f"{gap}_{name}"] for name in ("und", "uni", "ovr")}
        name = max(gaps, key=gaps.get)
        assert gives(line, "farthest from", label_class(name), f"{gaps[name]:.3f}")
        farthest.append(1 - gaps[name])
    np.testing.assert_allclose(weights.to_frame()["weight"], np.array(farthest) / sum(farthest), atol=1e-12)


@pytest.mark.parametrize("options", ["", ",closeness=True"])
def test_the_sum_of_gaps_decides_under_med(world, options):
    _, weights = weigh(world, f"sgl_fro_med(replicates=25{options})")
    rows = zip(weights.to_frame().iter_rows(named=True), weights.explain(), strict=True)
    for row, line in rows:
        gaps = [row[f"fro_{name}"] for name in ("und", "uni", "ovr")]
        assert gives(line, f"{sum(gaps):.3f}", *(f"{gap:.3f}" for gap in gaps))
        assert "nearest" not in line
        assert "farthest" not in line


def test_an_unseen_judge_gets_the_mean_weight(world):
    judgments = without(world, "crowd-2", ["101", "102"])
    gold = kt.Gold(world.gold, training=("101", "102"))
    found, weights = weigh(world, "sup_tau", judgments, gold=gold)
    others = [k for k, judge in enumerate(weights.judges) if judge != "crowd-2"]
    unseen, topic = weights.judges.index("crowd-2"), weights.topics.index("105")
    np.testing.assert_allclose(weights.share[unseen, topic], weights.share[others, topic].mean())
    assert has_note(found, "approaches.unseen", judges=("crowd-2",))
    assert any(gives(line, "crowd-2", 0.111) for line in weights.explain())


def test_training_topics_teach_and_are_not_evaluated(world):
    gold = kt.Gold(world.gold, training=("101", "102", "103"))
    found, weights = weigh(world, "sup_rmse", gold=gold)
    assert found.scores["AP"].topics == ("104", "105", "106") == found.gold["AP"].topics
    assert found.fidelity[0].topics == 3
    turned = world.gold.to_frame().with_columns(
        pl.when(pl.col("topic") > "103").then(3 - pl.col("grade")).otherwise("grade").alias("grade")
    )
    again = kt.Gold(kt.read_gold(turned, grades="0-3"), training=gold.training)
    np.testing.assert_array_equal(weigh(world, "sup_rmse", gold=again)[1].share, weights.share)
    np.testing.assert_allclose(np.ptp(weights.share, axis=1), 0, atol=1e-15)
    assert len(list_facts(found)["approaches.training-topics"]["topics"]) == 3


def test_models_learn_from_training_topics_too(world):
    def scores(training):
        gold = kt.Gold(world.gold, training=training)
        return kt.evaluate(world.runs, world.judgments, "AP", approach="nb", gold=gold, rng=1).scores["AP"]

    one, two = scores(("101",)), scores(("101", "102"))
    assert one.topics == ("102", "103", "104", "105", "106")
    assert (one.value[0, 1:] != two.value[0]).any()


def test_a_share_of_topics_for_training():
    world = kt.simulation.simulate_collection(systems=2, topics=10, depth=5, rng=1)
    drawn = {kt.Gold.split(world.gold, 0.3, rng=seed).training for seed in range(30)}
    assert all(len(topics) == 3 for topics in drawn)
    assert len(drawn) > 20
    assert len(kt.Gold.split(world.gold, 0.01, rng=1).training) == 1
    assert len(kt.Gold.split(world.gold, 0.99, rng=1).training) == 9


def test_random_gold_is_scored_by_expectation(world):
    certain, doubtful = (
        kt.evaluate(world.runs, world.judgments, "RBP(p=0.8)", gold=kt.Gold(world.gold, certainty=c)) for c in (1, 0.9)
    )
    probability = randomise(world.gold, relevant=0.9, other=0.1)
    (expected,) = score_expected(kt.stats.align(world.runs, world.gold), probability, ["RBP(p=0.8)"]).values()
    np.testing.assert_allclose(doubtful.gold["RBP(p=0.8)"].value, expected.value)
    assert doubtful.fidelity[0].rmse != certain.fidelity[0].rmse
    assert has_note(doubtful, "approaches.gold-random", certainty=0.9)


def test_gold_that_cannot_be_used_so_is_refused(world):
    with pytest.raises(DataError, match=r"\b1\b.*'999'"):
        kt.Gold(world.gold, training=("101", "999"))
    with pytest.raises(DataError, match=r"^all topics.*training"):
        kt.Gold(world.gold, training=world.gold.topics)
    for certainty in 0.5, 1.1, float("nan"):
        with pytest.raises(OptionError, match=r"certainty.*\b0\.5\b"):
            kt.Gold(world.gold, certainty=certainty)
    with pytest.raises(OptionError):
        kt.Gold.split(world.gold, 1.0)
    elsewhere = without(world, "nobody", [])
    frame = elsewhere.to_frame().filter(pl.col("topic") > "102")
    with pytest.raises(DataError):
        weigh(world, "sup_tau", kt.read_judgments(frame), gold=kt.Gold(world.gold, training=("101", "102")))


def test_people_who_are_whole_judges_weigh_as_such(world):
    plain, _ = weigh(world, "sup_tau", gold=world.gold, rng=3)
    people, _ = weigh(world, "sup_tau(sub=True)", gold=world.gold, rng=3)
    np.testing.assert_allclose(people.scores["AP"].value, plain.scores["AP"].value, rtol=1e-12)


def test_people_are_put_together_and_weigh_by_their_part():
    """Two slots; in one, a good and a bad person share each topic: its weight is the mean of theirs."""
    world = kt.simulation.simulate_collection(systems=8, topics=4, depth=20, rng=2)
    frame = world.judgments.to_frame().filter(pl.col("judge").is_in(["careful-1", "crowd-1", "spammer"]))
    half = pl.col("document").str.slice(-1).cast(int) % 2 == 0
    kept = (pl.col("judge") == "careful-1") | ((pl.col("judge") == "crowd-1") & half)
    frame = frame.filter(kept | ((pl.col("judge") == "spammer") & ~half))
    gold = kt.Gold(world.gold, training=("101", "102"))
    found, weights = weigh(world, "sup_rmse_cubed(sub=True)", kt.read_judgments(frame), gold=gold)
    share = dict(zip(weights.judges, weights.share[:, 1], strict=True))
    near = dict(zip(weights.judges, weights.distance["gold"] ** 3, strict=True))
    mixed = (near["crowd-1"] + near["spammer"]) / 2
    assert share["careful-1"] == pytest.approx(near["careful-1"] / (near["careful-1"] + mixed))
    assert share["crowd-1"] == pytest.approx(share["spammer"]) == pytest.approx((1 - share["careful-1"]) / 2)
    assert near["spammer"] != near["crowd-1"]
    assert np.isfinite(found.scores["AP"].value).all()


def test_a_person_weighs_as_much_as_it_graded():
    """The same, where the one has graded three documents in four, or so."""
    world = kt.simulation.simulate_collection(systems=8, topics=4, depth=20, rng=2)
    frame = world.judgments.to_frame().filter(pl.col("judge").is_in(["careful-1", "crowd-1", "spammer"]))
    most = pl.col("document").str.slice(-1).cast(int) % 4 > 0
    kept = (pl.col("judge") == "careful-1") | ((pl.col("judge") == "crowd-1") & most)
    frame = frame.filter(kept | ((pl.col("judge") == "spammer") & ~most))
    gold = kt.Gold(world.gold, training=("101", "102"))
    _, weights = weigh(world, "sup_rmse(sub=True)", kt.read_judgments(frame), gold=gold)
    share = dict(zip(weights.judges, weights.share[:, weights.topics.index("104")], strict=True))
    near = dict(zip(weights.judges, weights.distance["gold"], strict=True))
    given = dict(frame.filter(topic="104").group_by("judge").len().iter_rows())
    assert given["crowd-1"] > 2 * given["spammer"]
    mixed = sum(given[who] * near[who] for who in ("crowd-1", "spammer")) / given["careful-1"]
    assert share["careful-1"] == pytest.approx(near["careful-1"] / (near["careful-1"] + mixed))
    assert share["crowd-1"] / share["spammer"] == pytest.approx(given["crowd-1"] / given["spammer"])


def test_a_training_topic_that_no_run_has_teaches_nothing(world):
    frames = [given.to_frame() for given in (world.judgments, world.gold)]
    more = [frame.filter(topic="101").with_columns(topic=pl.lit("unheard of")) for frame in frames]
    said, told = (pl.concat(pair) for pair in zip(frames, more, strict=True))
    judgments, grades = kt.read_judgments(said), kt.read_gold(told)
    for name in ("sup_rmse", "sup_fro", "sup_rmse(sub=True)"):
        found = [
            weigh(world, name, judgments, gold=kt.Gold(grades, training=training))
            for training in (("102", "103"), ("102", "103", "unheard of"))
        ]
        np.testing.assert_array_equal(found[0][1].distance["gold"], found[1][1].distance["gold"])
        assert all(has_note(board, "approaches.weighted-by-training", topics=2) for board, _ in found)


def test_a_person_is_compared_with_gold_on_its_own_documents():
    """Who grades half of the documents as gold does is as near to gold as can be."""
    world = kt.simulation.simulate_collection(systems=8, topics=3, depth=20, rng=2)
    half = pl.col("document").str.slice(-1).cast(int) % 2 == 0
    mine = world.gold.to_frame().filter(half).with_columns(pl.lit("half").alias("judge"))
    other = world.judgments.to_frame().filter(pl.col("judge") == "crowd-1")
    judgments = kt.read_judgments(pl.concat([mine, other], how="vertical_relaxed"))
    gold = kt.Gold(world.gold, training=("101", "102"))
    _, weights = weigh(world, "sup_rmse(sub=True)", judgments, gold=gold)
    assert weights.distance["gold"][weights.judges.index("half")] == pytest.approx(1)
    _, plain = weigh(world, "sup_rmse", judgments, gold=gold)
    assert plain.distance["gold"][plain.judges.index("half")] < 0.9


def test_a_judge_alone_has_scores_where_it_has_grades_with_and_without_doubt(world):
    names = ["judge:crowd-2", "expected:judge:crowd-2"]
    found = kt.evaluate(world.runs, without(world, "crowd-2", ["101", "104"]), "AP", approach=names, gold=world.gold)
    scores = found.scores["AP"]
    for k in range(2):
        assert np.isnan(scores.value[k]).any(axis=1).tolist() == [t in ("101", "104") for t in scores.topics]
        assert found.fidelity[k].topics == 4


def test_groups_are_all_estimators_of_a_kind(world):
    found = kt.evaluate(world.runs, world.judgments, "P@5", approach=["sup", "uniform"], gold=world.gold)
    assert len(found.approaches) == 16
    assert found.approaches[-1] == "uniform"


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("sgl_tau_mdd", UnknownNameError, "sgl_tau_md"),
        ("multi(AP):sgl_tau_md", OptionError, "measures"),
        ("multi(AP,nDCG@20):mv", UnknownNameError, "'mv'"),
        ("multi(AP,MMM@20):sgl_tau_md", UnknownNameError, "'MMM'"),
        ("expected:dss", UnknownNameError, "dss"),
        ("sup_tau", OptionError, "sup_tau"),
    ],
)
def test_names_that_cannot_be_are_refused(world, name, error, message):
    with pytest.raises(error, match=message):
        kt.evaluate(world.runs, world.judgments, "AP", approach=name)


def test_weights_are_in_json_where_asked_for(world):
    found, weights = weigh(world, "sgl_rmse_md" + FEW)
    assert "weight_rows" not in json.loads(found.to_json())
    rows = json.loads(found.to_json(weights=True))["weight_rows"]
    assert [row["judge"] for row in rows] == weights.to_frame()["judge"].to_list()


def test_a_discounted_gain_beyond_one_is_scaled(world):
    """A gap of 1 is the largest possible one, for measures without an upper bound too."""
    found = kt.evaluate(world.runs, world.judgments, "DCG@10", approach="sgl_rmse_md" + FEW)
    assert found.scores["DCG@10"].value.max() > 1
    highest = 3 * (1 / np.log2(np.arange(10) + 2)).sum()
    value = kt.score(world.runs, world.judgments, "DCG@10").value / highest
    assert value.max() <= 1
    distances = np.stack(list(found.weights[0].distance.values()))
    assert ((distances > 0) & (distances < 1)).all()


@pytest.mark.parametrize("approach", ["sup_rmse", "sup_fro_cubed", "sup_kld_squared", "sup_rmse(sub=True)"])
def test_gold_as_a_judge_is_as_near_to_gold_as_can_be_where_scores_exceed_one(world, approach):
    alike = world.gold.to_frame().with_columns(pl.lit("alike").alias("judge"))
    other = world.judgments.to_frame().filter(pl.col("judge").is_in(["careful-1", "spammer"]))
    judgments = kt.read_judgments(pl.concat([alike, other], how="vertical_relaxed"))
    found = kt.evaluate(world.runs, judgments, "DCG@10", approach=approach, gold=world.gold, rng=1)
    assert found.gold["DCG@10"].value.max() > 1
    near = dict(zip(found.weights[0].judges, found.weights[0].distance["gold"], strict=True))
    assert near["alike"] == pytest.approx(1)
    assert 0 < near["spammer"] < near["alike"]


def test_judges_of_parts_of_a_pool_are_told(world):
    frame = world.judgments.to_frame()
    odd = pl.col("document").str.slice(-1).cast(int) % 3 == 0
    judgments = kt.read_judgments(frame.filter((pl.col("judge") != "crowd-1") | odd))
    found, _ = weigh(world, "sgl_rmse_md" + FEW, judgments)
    assert has_note(found, "approaches.less-than-half", judges=("crowd-1",))
    most = kt.read_judgments(frame.filter((pl.col("judge") != "crowd-1") | ~odd))
    found, _ = weigh(world, "sgl_rmse_md" + FEW, most)
    assert not has_note(found, "approaches.less-than-half")
    found, _ = weigh(world, "sgl_rmse_own" + FEW, judgments)
    assert not has_note(found, "approaches.less-than-half")


@pytest.mark.parametrize("approach", ["sup_rmse", "sup_fro_squared", "sup_kld", "sup_rmse(sub=True)"])
def test_gold_on_a_longer_scale_leaves_closeness_between_0_and_1(world, approach):
    """A discounted gain of grades 0-3 is not divided by what grades 0-1 can gain."""
    binary = kt.read_judgments(world.judgments.to_frame().with_columns(pl.col("grade").clip(0, 1)))
    generous = kt.read_gold(world.gold.to_frame().with_columns(grade=pl.lit(3)))
    for gold in world.gold, generous:
        found = kt.evaluate(world.runs, binary, "DCG@10", approach=approach, gold=gold, rng=1)
        closeness = found.weights[0].distance["gold"]
        assert ((closeness >= 0) & (closeness <= 1)).all()
        assert (found.weights[0].share >= 0).all()


@pytest.mark.parametrize(
    "approach", ["sgl_tau_msd", "sgl_apc_own", "sgl_rmse_med", "tpc_kld_md", "multi(AP,P@5):sgl_tau_md"]
)
def test_a_judge_who_tells_no_systems_apart_has_no_weight(world, approach):
    """By tau and apc it would be as far from random judges as can be."""
    frame = world.judgments.to_frame().with_columns(
        pl.when(pl.col("judge") == "careful-1").then(0).otherwise("grade").alias("grade")
    )
    found, weights = weigh(world, approach, kt.read_judgments(frame))
    assert (weights.share[weights.judges.index("careful-1")] == 0).all()
    assert any(line.startswith("careful-1: no weight") for line in weights.explain())
    assert has_note(found, "approaches.same-scores")


def test_the_papers_classes_by_their_rates_are_the_default(world):
    plain, _ = weigh(world, "sgl_tau_msd" + FEW, rng=3)
    named, weights = weigh(world, "sgl_tau_msd(replicates=25,random=0.95/0.05/0.5)", rng=3)
    np.testing.assert_array_equal(named.scores["AP"].value, plain.scores["AP"].value)
    assert tuple(weights.distance) == ("und", "uni", "ovr")


def test_a_class_is_the_same_beside_any_others(world):
    """Distances depend on the distribution and the seed, not on which approaches ask for it."""
    alone = weigh(world, "sgl_rmse_md(replicates=25,random=hcb)", rng=3)[1].distance["hcb"]
    names = [f"{name}(replicates=25{options})" for name, options in BESIDE]
    found = kt.evaluate(world.runs, world.judgments, "AP", approach=names, rng=3)
    for weights in found.weights[:2]:
        np.testing.assert_array_equal(weights.distance["hcb"], alone)
    for weights, name in zip(found.weights, names, strict=True):
        same = kt.evaluate(world.runs, world.judgments, "AP", approach=name, rng=3).weights[0]
        np.testing.assert_array_equal(weights.share, same.share)
    assert (found.weights[2].share != found.weights[3].share).any()


BESIDE = [
    ("sgl_rmse_md", ",random=0.3/hcb"),
    ("sgl_rmse_med", ",random=hcb/careful"),
    ("sgl_rmse_md", ""),
    ("sgl_rmse_md", ",closeness=True"),
    ("tpc_kld_md", ",closeness=True,random=0.3"),
    ("sgl_tau_own", ""),
]


def test_closeness_is_told(world):
    found, weights = weigh(world, "sgl_rmse_md(replicates=25,closeness=True)")
    assert has_note(found, "approaches.closeness", approach=weights.approach)
    assert not has_note(weigh(world, "sgl_rmse_md" + FEW)[0], "approaches.closeness")


def test_reasons_and_files_name_the_classes(world):
    approach = "multi(AP,P@5):sgl_rmse_md(replicates=25,random=0.3/hcb)"
    _, weights = weigh(world, approach, rng=2)
    assert weights.to_frame().columns[-2:] == ["rmse_0.3", "rmse_hcb"]
    assert all("30% relevant at random" in line or "the rates of hcb" in line for line in weights.explain())
    again = restore(json.loads(weights.to_json())).result
    assert again.to_json() == weights.to_json()
    with pytest.raises(DataError, match=r"0\.4"):
        replace(weights, distance={"0.4": weights.distance["0.3"], "hcb": weights.distance["hcb"]})


def test_a_weight_of_0_counts_in_the_mean(world):
    frame = world.judgments.to_frame().with_columns(
        pl.when((pl.col("judge") == "crowd-1") & (pl.col("topic") < "104")).then(0).otherwise("grade").alias("grade")
    )
    _, weights = weigh(world, "tpc_rmse_md" + FEW, kt.read_judgments(frame))
    row = weights.to_frame().filter(judge="crowd-1").row(0, named=True)
    own = weights.share[weights.judges.index("crowd-1")]
    assert (row["topics"], row["lowest"], row["weight"]) == (6, 0.0, own.mean())
    assert weights.mean.sum() == pytest.approx(1)


def test_equal_scores_are_equal_whatever_they_were_summed_from():
    """Means over judges of 0.2, 0.4, ... differ in the sixteenth digit, which must not order systems."""
    world = kt.simulation.simulate_collection(systems=12, topics=1, depth=20, rng=7)
    found = kt.evaluate(world.runs, world.judgments, "P@5", approach=["uniform", "binmv"], gold=world.gold)
    exact = np.rint(kt.score(world.runs, world.judgments, "P@5").value.sum(axis=0)[0] * 5)
    assert len(np.unique(exact)) < len(np.unique(found.scores["P@5"].value[0, 0]))
    target = kt.score(world.runs, world.gold, "P@5").value[0, 0]
    for near in found.fidelity:
        assert near.tau == pytest.approx(kt.stats.kendall_tau(exact, target))
        assert near.tau_ap == pytest.approx(kt.stats.tau_ap(target, exact))
    ranks = found.leaderboard("P@5", "uniform")["rank"]
    assert ranks.n_unique() == len(np.unique(exact))


def test_how_gold_is_used_can_be_said_by_name(world):
    def scores(**options):
        return kt.evaluate(world.runs, world.judgments, "AP", approach="sup_tau", **options).to_dict()

    assert scores(gold=world.gold, train="101, 102") == scores(gold=kt.Gold(world.gold, training=("101", "102")))
    assert scores(gold=world.gold, train=["101", "102"]) == scores(gold=world.gold, train="101,102")
    share = kt.Gold.split(world.gold, 0.3, certainty=0.9, rng=5)
    assert scores(gold=world.gold, train="30%", gold_certainty=0.9, rng=5) == scores(gold=share, rng=5)
    with pytest.raises(OptionError, match="train and gold_certainty"):
        kt.evaluate(world.runs, world.judgments, "AP", train="30%")
    with pytest.raises(OptionError, match="options"):
        scores(gold=share, train="30%")
    with pytest.raises(OptionError, match="'130%'"):
        scores(gold=world.gold, train="130%")


def test_draws_can_be_asked_for_at_once(world):
    found = kt.evaluate(world.runs, world.judgments, "AP", approach="mv", draws=20, rng=3)
    plain = kt.evaluate(world.runs, world.judgments, "AP", approach="mv", rng=3)
    assert found.to_dict() == kt.stats.draw_evaluation(world.runs, plain, draws=20).to_dict()
