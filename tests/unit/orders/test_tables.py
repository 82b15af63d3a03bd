"""What a model looks at and what it learns: per run or summed, unanimous or not, and who is asked."""

import numpy as np
import pytest

import karatage as kt
from karatage.errors import DataError, OptionError
from karatage.orders.disagreement import FeatureTable, find_disagreement, split_votes, tabulate
from karatage.orders.state import find_features

GRADES = {
    "a": {"1": {"x": 1, "y": 0, "z": 2}, "2": {"x": 1}},
    "b": {"1": {"x": 1, "y": 1}, "2": {"x": 0}},
    "c": {"1": {"x": 1, "y": 0}},
}
RUNS = {name: {"1": {"x": 3.0, "y": 2.0}, "2": {"x": 1.0}} for name in ("s", "t", "u")}


@pytest.fixture
def judgments():
    return kt.read_judgments(GRADES)


def test_unanimous_or_not(judgments):
    """Items in order: (1, x), (1, y), (1, z), (2, x); z has one judge only."""
    found = find_disagreement(judgments)
    assert found.known.tolist() == [True, True, False, True]
    assert found.disagree.tolist() == [False, True, False, True]


def test_without_judgments_no_disagreement_is_known(judgments):
    found = find_disagreement(judgments.keep_rows(np.zeros(len(judgments.grade), bool)))
    assert not found.known.any()
    assert not found.disagree.any()


def test_only_the_sum_grows_with_the_runs(judgments):
    runs = kt.read_runs(RUNS)
    per_run, summed = tabulate("runs", runs, judgments), tabulate("sums", runs, judgments)
    ranked = kt.stats.align(runs, judgments).ranked
    features = find_features(ranked, 4)
    assert per_run.features == ("meta_ap", "mean_retrieval")
    assert summed.features == ("meta_ap", "weighted_retrieval")
    assert per_run.value[:, 0].tolist() == summed.value[:, 0].tolist() == features.meta_ap.tolist()
    assert summed.value[:, 1].tolist() == [30, 30, 0, 30]
    assert per_run.value[:, 1].tolist() == [10, 10, 0, 10]


def test_runs_are_needed_unless_votes_are_looked_at(judgments):
    with pytest.raises(OptionError, match="'sums'"):
        tabulate("sums", None, judgments)
    assert tabulate("votes", None, judgments).value.shape == (4, 2)
    with pytest.raises(OptionError, match="'own'"):
        tabulate("own", None, judgments)


def make_crowd(judges=5, items=400, topics=2, seed=0):
    rng = np.random.default_rng(seed)
    grade = rng.integers(0, 2, (judges, topics, items))
    return kt.read_judgments(
        {
            f"j{j}": {str(t): {f"d{i:03d}": int(grade[j, t, i]) for i in range(items)} for t in range(topics)}
            for j in range(judges)
        }
    )


def test_two_judges_are_asked_and_the_others_seen():
    crowd = make_crowd()
    others, outcome = split_votes(crowd, 3)
    assert (np.diff(others.row_start) == 3).all()
    assert outcome.known.all()
    total = np.bincount(crowd.item, crowd.grade) - np.bincount(others.item, others.grade)
    assert (outcome.disagree == (total == 1)).all()


def test_all_judges_are_asked_alike_often():
    crowd = make_crowd()
    others, _ = split_votes(crowd, 3)
    seen = np.bincount(others.judge) / len(crowd.item_topic)
    assert seen == pytest.approx(np.full(5, 0.6), abs=4 * np.sqrt(0.24 / 800))


def test_who_is_asked_depends_on_the_seed_and_not_on_other_topics():
    crowd = make_crowd()
    first = split_votes(crowd, 1)[1].disagree
    assert (first == split_votes(crowd, 1)[1].disagree).all()
    assert (first != split_votes(crowd, 2)[1].disagree).any()
    rows = crowd.to_frame()
    alone = kt.read_judgments(rows.filter(rows["topic"] == "1"))
    assert (split_votes(alone, 1)[1].disagree == first[400:]).all()


def test_fewer_than_three_judges_tell_nothing(judgments):
    assert split_votes(judgments, 0)[1].known.tolist() == [True, True, False, False]


def test_tables_that_do_not_fit():
    def make(value, features=("f",)):
        return FeatureTable(value=value, topics=("1",), item_topic=np.zeros(2, np.int32), features=features)

    with pytest.raises(DataError, match=r"\b2\b.*\b1\b"):
        make(np.zeros((2, 1)), ("f", "g"))
    with pytest.raises(DataError, match=r"\b1\b.*nan"):
        make(np.array([[0.0], [np.nan]]))
    assert not make(np.zeros((2, 1))).value.flags.writeable
