"""Expected measures: what they refuse, what they tell, and how single judgments become probabilities."""

import numpy as np
import pytest

import karatage as kt
from karatage.errors import DataError, OptionError
from karatage.measures.expected import randomise, score_expected
from tests.notes import has_note, list_facts

RUNS = {
    "full": {"1": {"a": 3.0, "b": 2.0, "new": 1.0}, "2": {"a": 3.0, "d": 2.0}},
    "half": {"1": {"c": 3.0, "b": 2.0}},
}
JUDGMENTS = {"ann": {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 0, "d": 2}, "3": {"a": 1}}}
EVERY = ["AP", "DCG@3", "ERR@3", "P@2", "R@2", "RBP", "RR", "nDCG@3"]


@pytest.fixture
def alignment():
    return kt.stats.align(kt.read_runs(RUNS), kt.read_judgments(JUDGMENTS))


def chances(*relevant, sets=1):
    """Probabilities of two grades for the six items."""
    p = np.array(relevant, float)
    return np.tile(np.stack([1 - p, p], axis=1), (sets, 1, 1))


@pytest.mark.parametrize("measure", ["Bpref", "Rprec", "Judged@5"])
def test_a_measure_without_expected_form_names_those_with_one(alignment, measure):
    offered = "AP, DCG, ERR, P, R, RBP, RR, nDCG"
    with pytest.raises(OptionError, match=rf"^{measure.split('@')[0]}\b.*\b{offered}\b.*--draws 1000"):
        score_expected(alignment, chances(0, 0, 0, 0, 0, 0), ["AP", measure])


def test_axes_names_and_keys(alignment):
    found = score_expected(alignment, chances(0.5, 0.25, 0.2, 0, 0.3, 1, sets=2), ["MAP", "P@1"], names=("x", "y"))
    assert list(found) == ["MAP", "P@1"]
    assert found["MAP"].measure == "AP"
    scores = found["P@1"]
    assert (scores.judges, scores.topics, scores.systems) == (("x", "y"), ("1", "2", "3"), ("full", "half"))
    assert scores.value[0].tolist() == [[0.5, 0.2], [0.0, 0.0], [0.0, 0.0]]
    assert scores.judged.all()
    assert score_expected(alignment, chances(0, 0, 0, 0, 0, 0), ["P@1"])["P@1"].judges == ("0",)


def test_what_the_runs_lack_and_nobody_judged_is_told(alignment):
    notes = score_expected(alignment, chances(1, 1, 1, 1, 1, 1), ["P@3"])["P@3"].notes
    assert has_note(notes, "data.topics-in-no-run", topics=("3",))
    assert has_note(notes, "measures.unjudged", missing=1, shown=7, where="the first 3 ranks", systems=2)


@pytest.mark.parametrize("measure", ["AP", "R@2", "nDCG@3"])
def test_nothing_relevant_scores_0_and_says_so(alignment, measure):
    scores = score_expected(alignment, chances(0, 0, 0, 0.5, 0.7, 0), [measure], names=["bob"])[measure]
    assert scores.value[0, 0].tolist() == [0, 0]
    assert scores.value[0, 1, 0] > 0
    assert list_facts(scores)["measures.nothing-relevant"] == {
        "times": 1,
        "outcome": "score 0",
        "where": "'bob' for topic '1'",
    }


@pytest.mark.parametrize("measure", ["DCG@3", "ERR@3", "P@2", "RBP", "RR"])
def test_other_measures_are_0_without_a_word(alignment, measure):
    scores = score_expected(alignment, chances(0, 0, 0, 0.5, 0.7, 0), [measure])[measure]
    assert scores.value[0, 0].tolist() == [0, 0]
    assert not {"measures.nothing-relevant", "measures.few-expected"} & list_facts(scores).keys()


def test_ratios_that_expect_less_than_one_relevant_document_are_doubted(alignment):
    (scores,) = score_expected(alignment, chances(0.2, 0.2, 0.3, 1, 0.7, 0), ["AP"], names=["m"]).values()
    assert has_note(scores, "measures.few-expected", times=1, measure="AP", where="'m' for topic '1'")


def test_gains_that_are_all_0_have_no_ideal(alignment):
    (scores,) = score_expected(alignment, chances(1, 1, 1, 1, 1, 1), ["nDCG(gains={1:0})@3"]).values()
    assert not scores.value.any()
    assert has_note(scores, "measures.nothing-relevant")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.ones((1, 6)), r"float64.* \(sets, 6, grades\).* float64 \(1, 6\)"),
        (np.ones((1, 5, 1)), r" \(sets, 6, grades\).* float64 \(1, 5, 1\)"),
        (np.ones((1, 6, 1), np.float32), r"float64.* float32 \(1, 6, 1\)"),
        (np.full((2, 6, 2), 0.4), "'0'"),
        (np.tile([1.5, -0.5], (1, 6, 1)), r"\b0\b"),
        (np.full((1, 6, 2), np.nan), "'0'"),
    ],
)
def test_what_is_no_distribution_is_refused(alignment, wrong, message):
    with pytest.raises(DataError, match=message):
        score_expected(alignment, wrong, ["AP"])


def test_one_name_for_each_set(alignment):
    with pytest.raises(DataError, match=r"\b1\b.*\b2\b"):
        score_expected(alignment, chances(0, 0, 0, 0, 0, 0, sets=2), ["AP"], names=["m"])


def test_blocks_and_threads_change_nothing(monkeypatch):
    world = kt.simulation.simulate_collection(systems=4, topics=5, depth=8, rng=1)
    alignment = kt.stats.align(world.runs, world.judgments)
    probability = np.random.default_rng(0).dirichlet(np.full(4, 0.3), (7, len(world.judgments.item_topic)))
    before = probability.copy()
    monkeypatch.setenv("KARATAGE_THREADS", "1")
    one = score_expected(alignment, probability, EVERY)
    monkeypatch.setattr("karatage.measures.expected.SETS_PER_BLOCK", 3)
    monkeypatch.setenv("KARATAGE_THREADS", "2")
    two = score_expected(alignment, probability, EVERY)
    for name in EVERY:
        np.testing.assert_array_equal(one[name].value, two[name].value)
        assert len(np.unique(one[name].value[:, 0, 0])) == 7
    np.testing.assert_array_equal(before, probability)


def test_a_binary_judgment_becomes_two_chances():
    judgments = kt.read_judgments({"ann": {"1": {"a": 1, "b": 0}}, "bob": {"1": {"b": 1}}})
    expected = [[[0.05, 0.95], [0.95, 0.05]], [[1, 0], [0.05, 0.95]]]
    np.testing.assert_allclose(randomise(judgments), expected)
    np.testing.assert_allclose(randomise(judgments, relevant=0.8, other=0.3)[0], [[0.2, 0.8], [0.7, 0.3]])


def test_a_graded_judgment_is_binary_at_every_level():
    judgments = kt.read_judgments({"ann": {"1": dict(zip("abcd", range(4), strict=True))}})
    found = randomise(judgments)[0]
    tail = np.cumsum(found[:, ::-1], axis=1)[:, ::-1]
    np.testing.assert_allclose(tail[:, 0], 1)
    np.testing.assert_allclose(tail[:, 1:], np.where(np.arange(4)[:, None] >= np.arange(1, 4), 0.95, 0.05))
    assert (found >= 0).all()


@pytest.mark.parametrize("options", [{"relevant": 1.2}, {"other": -0.1}, {"relevant": 0.2, "other": 0.3}])
def test_chances_that_make_no_distribution_are_refused(options):
    with pytest.raises(OptionError, match=r"\b0\b.*\b1\b"):
        randomise(kt.read_judgments(JUDGMENTS), **options)
