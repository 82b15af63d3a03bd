"""The s-AWARE experiment's plan: names, refusals, and splits of gold that never leak."""

import numpy as np
import pytest

from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.experiments.plans import list_presets, make_plan, read_plan, write_plan
from karatage.experiments.supervised.plan import SupervisedPlan, draw_split, find_family, read_way
from karatage.merging.estimators import ESTIMATORS, OWN, SUPERVISED

TABLE1 = (
    "sup_rmse sup_tau sup_rmse_squared sup_tau_squared sup_rmse_cubed sup_tau_cubed unsup_rmse_tpc unsup_tau_tpc "
    "uniform mv emmv emGZ emsemi"
)


def split(topics=10, documents=20, share=0.3, seed=0, pool=None):
    item_topic = np.repeat(np.arange(topics, dtype=np.int32), documents)
    inside = np.ones(len(item_topic), bool) if pool is None else pool
    return item_topic, draw_split(item_topic, inside, np.arange(topics), share, np.random.default_rng(seed))


def test_the_default_is_the_papers_design():
    plan = SupervisedPlan()
    assert " ".join(plan.names) == TABLE1
    assert plan.sizes == (2, 3, 4, 5, 6, 7)
    assert (plan.samples, plan.training, plan.measures) == (100, 0.3, ("AP",))
    assert make_plan(SupervisedPlan, "supervised", preset="paper").options == plan


def test_presets_can_be_read():
    assert list_presets("supervised") == ["paper", "small"]
    small = make_plan(SupervisedPlan, "supervised", preset="small").options
    assert small.samples < 10
    assert small.teams == "kept"


def test_a_plan_from_before_teams_were_an_option_draws_them_again_in_each_topic(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text('[experiment]\nkind = "supervised"\nsizes = [2]\n')
    old = read_plan(path, SupervisedPlan, "supervised")
    assert old.options == SupervisedPlan(sizes=(2,), teams="redrawn")
    assert make_plan(SupervisedPlan, "supervised", path=path, given={"teams": "kept"}).options.teams == "kept"
    path.write_text(make_plan(SupervisedPlan, "supervised").to_toml())
    assert read_plan(path, SupervisedPlan, "supervised").options.teams == "kept"


def test_the_folder_of_a_plan_from_before_teams_were_an_option_has_the_same_plan(tmp_path):
    path = tmp_path / "plan.toml"
    text = make_plan(SupervisedPlan, "supervised", given={"teams": "redrawn"}).to_toml()
    path.write_text("".join(line for line in text.splitlines(keepends=True) if not line.startswith("teams")))
    assert write_plan(make_plan(SupervisedPlan, "supervised", given={"teams": "redrawn"}), tmp_path) == ()
    (note,) = write_plan(make_plan(SupervisedPlan, "supervised"), tmp_path)
    assert list(note.facts["options"]) == ["teams"]


def test_the_papers_names_mean_our_approaches():
    assert read_way("unsup_tau_tpc") == ESTIMATORS["tpc_tau_msd"]
    assert read_way("unsup_rmse_tpc") == ESTIMATORS["tpc_rmse_msd"]
    assert read_way("emGZ").supervision == "full"
    assert read_way("emgz").supervision is None
    assert read_way("sup_tau_cubed(sub=True)").sub


def test_groups_are_taken_apart_and_each_approach_comes_once():
    plan = SupervisedPlan(approaches=("uniform", "table1", "sup", "own"))
    assert len(plan.names) == 13 + (15 - 6) + 30
    assert plan.names[0] == "uniform"
    assert set(plan.names) >= {*SUPERVISED, *OWN}


def test_families_are_the_colours_of_table_1():
    families = {name: find_family(name) for name in SupervisedPlan().names}
    assert [n for n, f in families.items() if f == "merged grades"] == ["mv", "emmv", "emGZ", "emsemi"]
    assert [n for n, f in families.items() if f == "u-AWARE"] == ["unsup_rmse_tpc", "unsup_tau_tpc", "uniform"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"measures": ()}, "no measure"),
        ({"measures": ("AP", "AP")}, "measure"),
        ({"measures": ("nDCG@10", "ndcg@10")}, "measure"),
        ({"approaches": ()}, "approach"),
        ({"approaches": ("sup_tua",)}, "sup_tau"),
        ({"approaches": ("binmv",)}, "measures"),
        ({"approaches": ("sgl_tau_md(replicates=3)",)}, "'sgl_tau_md"),
        ({"configurations": ("partioned",)}, "partitioned"),
        ({"sizes": (2, 2)}, "2, 2"),
        ({"sizes": (0,)}, "from 1"),
        ({"samples": 0}, "from 1"),
        ({"replicates": 0}, "from 1"),
        ({"training": 1.0}, r"\b0\b.*\b1\b"),
        ({"people": (3, 2)}, "people"),
        ({"people": (0, 3)}, r"people 0-3.*\b1 or more"),
        ({"teams": "keep"}, "kept"),
        ({"seed": -1}, "seed"),
    ],
)
def test_a_plan_that_cannot_be_done_is_refused(options, told):
    with pytest.raises((OptionError, UnknownNameError), match=told):
        SupervisedPlan(**options)


@pytest.mark.parametrize(("topics", "teaching"), [(10, 3), (50, 15), (2, 1), (3, 1), (5, 2)])
def test_splits_have_the_sizes_asked_for(topics, teaching):
    item_topic, found = split(topics, documents=10)
    assert found.topics.sum() == teaching
    assert np.bincount(item_topic[found.documents], minlength=topics).tolist() == [3] * topics
    assert found.evaluated.sum() == (topics - teaching) * 7


@pytest.mark.parametrize(("share", "topics", "documents"), [(0.01, 1, 1), (0.99, 9, 19)])
def test_one_at_least_teaches_and_one_at_least_does_not(share, topics, documents):
    _, found = split(share=share)
    assert found.topics.sum() == topics
    assert found.documents.sum() == 10 * documents


@pytest.mark.parametrize("seed", range(20))
def test_nothing_that_teaches_is_evaluated(seed):
    pool = np.random.default_rng(99).random(200) < 0.8
    item_topic, found = split(seed=seed, pool=pool)
    assert not (found.evaluated & found.documents).any()
    assert not found.topics[item_topic[found.evaluated]].any()
    assert not (found.documents & ~pool).any()
    # What is left is the whole intersection of the two test sets.
    assert np.array_equal(found.evaluated, pool & ~found.documents & ~found.topics[item_topic])


def test_splits_follow_from_the_seed():
    first, again, other = (split(seed=seed)[1] for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first.documents, other.documents)
    assert len({tuple(split(seed=seed)[1].topics) for seed in range(30)}) > 15


def test_a_topic_with_one_document_teaches_nothing_by_documents():
    _, found = split(topics=4, documents=1)
    assert not found.documents.any()
    assert found.evaluated.sum() == 3


def test_a_single_topic_cannot_be_split():
    with pytest.raises(DataError, match=r"two topics.*\b1\b"):
        split(topics=1)


def test_of_two_documents_one_teaches_and_of_one_none():
    item_topic = np.array([0, 0, 1, 1, 2], np.int32)
    for seed in range(10):
        drawn = draw_split(item_topic, np.ones(5, bool), np.arange(3), 0.3, np.random.default_rng(seed))
        assert np.bincount(item_topic, weights=drawn.documents).tolist() == [1, 1, 0]
