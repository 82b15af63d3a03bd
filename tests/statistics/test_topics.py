"""Intervals from gold on some topics cover as often as they promise, on simulated scores and on real systems.

10,000 simulations each. Grid: correlation of judge and gold 0, .5, .9; 5 to 50 topics with gold and 50 or 200 without;
normal scores, and differences of P@10 (45 % zeros, skewness .7). Real: pairs of DL 2021's 63 systems.
"""

import numpy as np
import pytest
from scipy.special import stdtrit

import karatage as kt
from karatage.correction.topics import LEAST_DIFFERING, TopicEstimated, estimate_topics
from karatage.data.alignment import align
from karatage.data.judgments import find_items
from karatage.measures.scoring import score_grades

TRIALS = 10_000
NOISE = 4 * np.sqrt(0.95 * 0.05 / TRIALS)  # four standard errors
MEASURES = ("AP(rel=2)", "nDCG@10", "ERR@10")


def coverage(estimated, truth):
    half = stdtrit(estimated.degrees, 0.975) * np.sqrt(estimated.variance)
    return np.mean(np.abs(estimated.value - truth) <= half + 1e-12)


def check(estimated, truth, n):
    """What is promised: .92 and .93 at least with gold on 10 and 15 topics, and .94 to .96 with 25 and more.

    With fewer than 10 it is .935 to .975: there lam is not estimated.
    """
    low, high = {10: (0.92, 0.98), 15: (0.93, 0.98)}.get(n, (0.94, 0.96) if n > 15 else (0.935, 0.975))
    noise = NOISE / 2 if n > 15 else 0.0
    assert low - noise <= coverage(estimated, truth) <= high + noise


def draw_normal(source, correlation, topics):
    gold, other = source.standard_normal((2, TRIALS, topics))
    return gold, correlation * gold + np.sqrt(1 - correlation**2) * other


def draw_sparse(source, correlation, topics):
    """Differences of P@10: none in many topics; the judge says the same as gold, or anything."""
    gold, other = (
        (source.poisson(2.0, (TRIALS, topics)) - source.poisson(1.0, (TRIALS, topics)))
        * (source.random((TRIALS, topics)) < 0.7)
        / 10
        for _ in range(2)
    )
    return gold, np.where(source.random((TRIALS, topics)) < correlation, gold, other)


@pytest.mark.parametrize("correlation", [0, 0.5, 0.9])
@pytest.mark.parametrize("others", [50, pytest.param(200, marks=pytest.mark.soak)])
@pytest.mark.parametrize("n", [5, 10, 25, *(pytest.param(n, marks=pytest.mark.soak) for n in (9, 15, 50))])
def test_simulated_topics(n, others, correlation):
    source = np.random.default_rng([n, others, int(10 * correlation)])
    for draw, truth in ((draw_normal, 0.0), (draw_sparse, 0.07)):
        gold, judge = draw(source, correlation, n + others)
        scores = gold[:, :n], judge[:, :n], judge[:, n:]
        check(estimate_topics(*scores), truth, n)
        if draw is draw_normal or correlation < 0.9:
            check(estimate_topics(*scores, claim="these"), gold.mean(axis=1), n)


def test_errors_must_be_seen_to_be_counted():
    """A judge who is right on nine topics of ten and says anything on the tenth: gold may have met no such topic."""
    source = np.random.default_rng(3)
    gold, judge = draw_sparse(source, 0.9, 100)
    found = estimate_topics(gold[:, :50], judge[:, :50], judge[:, 50:], claim="these")
    few, truth = found.differing < LEAST_DIFFERING, gold.mean(axis=1)
    assert coverage(TopicEstimated(*(part[few] for part in found)), truth[few]) < 0.90
    assert coverage(TopicEstimated(*(part[~few] for part in found)), truth[~few]) > 0.94


def test_the_usual_form_covers_too_little():
    """Why there is more to it: the same value with the plain variance and the normal distribution."""
    source = np.random.default_rng(1)
    gold, judge = draw_normal(source, 0.5, 210)
    found = estimate_topics(gold[:, :10], judge[:, :10], judge[:, 10:])
    residual = gold[:, :10] - found.lam[:, None] * judge[:, :10]
    variance = residual.var(axis=1, ddof=1) / 10 + found.lam**2 * judge[:, 10:].var(axis=1, ddof=1) / 200
    assert np.mean(np.abs(found.value) <= 1.96 * np.sqrt(variance)) == pytest.approx(0.88, abs=0.015)


@pytest.mark.parametrize("claim", ["new", "these"])
def test_few_topics_do_not_tell_whether_the_judge_helps(claim):
    """Why lam is fixed whatever they show: gold alone where it looks narrower covers less, and gains little."""
    source = np.random.default_rng(4)
    gold, judge = draw_normal(source, 0.3, 54)
    scores = gold[:, :6], judge[:, :6], judge[:, 6:]
    truth = 0.0 if claim == "new" else gold.mean(axis=1)
    fixed, alone = estimate_topics(*scores, claim=claim), estimate_topics(*scores, claim=claim, lam=0)
    wider = fixed.variance > alone.variance
    chosen = TopicEstimated(*(np.where(wider, one, other) for one, other in zip(alone, fixed, strict=True)))
    assert coverage(fixed, truth) == pytest.approx(0.95, abs=0.01)
    assert coverage(chosen, truth) < 0.93


def test_labelled_topics_must_not_be_among_the_others():
    """With the gold topics counted among the others too, the same formula misstates the variance."""
    source = np.random.default_rng(2)
    gold, judge = draw_normal(source, 0.9, 80)
    apart = estimate_topics(gold[:, :40], judge[:, :40], judge[:, 40:], lam=0.5)
    mixed = estimate_topics(gold[:, :40], judge[:, :40], judge, lam=0.5)
    assert np.var(apart.value) == pytest.approx(np.mean(apart.variance), rel=0.05)
    assert np.var(mixed.value) > 1.2 * np.mean(mixed.variance)


@pytest.fixture(scope="module")
def differences(shared_data):
    """Per measure, gold's and the judge's differences (pair, topic) of all systems that differ at all."""
    folder = shared_data / "trec-dl-2021-passage"
    gold, labels = kt.read_gold(folder / "gold.qrels"), kt.read_judgments(folder / "llm_labels.tsv.gz")
    chosen = labels.judge == labels.judges.index("gpt-4o_umbrela")
    item = find_items(labels, gold)[labels.item[chosen]]
    grade = np.zeros((len(gold.item_topic), 2), np.int8)
    grade[gold.item, 0] = gold.grade
    grade[item[item >= 0], 1] = labels.grade[chosen][item >= 0]
    scores = score_grades(align(kt.read_runs(folder / "runs" / "*"), gold), grade, MEASURES, top_grade=3)
    a, b = np.triu_indices(63, 1)
    found = {}
    for name, scored in scores.items():
        pairs = (scored.value[:, :, b] - scored.value[:, :, a]).transpose(0, 2, 1)
        found[name] = pairs[:, np.abs(pairs[0]).max(axis=1) > 1e-12]
    return found


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("n", [5, 6, 8, 9, 10, 15, 25])
def test_real_systems(differences, measure, n):
    """These topics: gold on n of the 53 at random. New topics: n and 50 others drawn from the 53 with replacement."""
    gold, judge = differences[measure]
    source = np.random.default_rng([n, len(measure)])
    pair = source.integers(0, len(gold), TRIALS)[:, None]
    truth = gold.mean(axis=1)[pair[:, 0]]
    these = source.permuted(np.tile(np.arange(53), (TRIALS, 1)), axis=1)
    new = source.integers(0, 53, (TRIALS, n + 50))
    for claim, topic in (("these", these), ("new", new)):
        found = estimate_topics(
            gold[pair, topic[:, :n]], judge[pair, topic[:, :n]], judge[pair, topic[:, n:]], claim=claim
        )
        check(found, truth, n)
        assert np.mean(found.lam) > 0.2


@pytest.mark.parametrize("n", [5, 9])
def test_few_topics_of_real_systems_are_helped_by_a_good_judge(differences, n):
    gold, judge = differences["nDCG@10"]
    source = np.random.default_rng(n)
    pair, topic = source.integers(0, len(gold), TRIALS)[:, None], source.integers(0, 53, (TRIALS, n + 48))
    scores = gold[pair, topic[:, :n]], judge[pair, topic[:, :n]], judge[pair, topic[:, n:]]
    widths = [
        np.mean(stdtrit(e.degrees, 0.975) * np.sqrt(e.variance))
        for e in (estimate_topics(*scores), estimate_topics(*scores, lam=0))
    ]
    assert 0.55 < widths[0] / widths[1] < 0.7
