"""Differences from sampled gold: unbiased, and their intervals cover as often as they promise."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

import karatage as kt
from karatage.correction.sampled import (
    Drawn,
    choose_sizes,
    draw_batches,
    expected_variance,
    find_reach,
    learn_gains,
    match_uniform,
    sum_topics,
)
from karatage.data.alignment import align
from karatage.data.judgments import match_gold
from karatage.kernels.sampling import find_chances
from karatage.measures.registry import as_weighted_sum, parse_measure


class Frame(NamedTuple):
    """The items that some systems rank differently, with their gold, all of which only the simulation knows."""

    weight: np.ndarray  # (item, system)
    said: np.ndarray
    gold: np.ndarray
    topic: np.ndarray
    topics: int

    @property
    def truth(self):
        """Gold's difference: second system minus first."""
        return float(((self.weight[:, 1] - self.weight[:, 0]) * self.gold).sum()) / self.topics

    def pairs(self):
        """A frame per pair of systems."""
        for a, b in combinations(range(self.weight.shape[1]), 2):
            differs = np.flatnonzero(self.weight[:, a] != self.weight[:, b])
            yield Frame(
                self.weight[differs][:, [a, b]],
                self.said[differs],
                self.gold[differs],
                self.topic[differs],
                self.topics,
            )

    def resample(self, rng):
        """As many topics, drawn with replacement."""
        picked = rng.integers(0, self.topics, self.topics)
        start = np.searchsorted(self.topic, np.arange(self.topics + 1))
        length = start[picked + 1] - start[picked]
        topic = np.repeat(np.arange(self.topics), length)
        item = np.arange(len(topic)) - np.repeat(np.cumsum(length) - length, length) + np.repeat(start[picked], length)
        return Frame(self.weight[item], self.said[item], self.gold[item], topic, self.topics)


def make_frame(runs, gold, judgments, measure, best):
    """The best systems by gold, no two with the same documents in the same ranks."""
    ranked = align(runs, gold).ranked[:, :, :10]
    discount = as_weighted_sum(parse_measure(measure), ranked.shape[2], 1).weight
    grade = match_gold(gold, gold).astype(float)
    weight = np.zeros((len(grade), ranked.shape[1]))
    for s in range(ranked.shape[1]):
        topic, rank = np.nonzero(ranked[:, s] >= 0)
        weight[ranked[topic, s, rank], s] = discount[rank]
    _, first = np.unique(weight, axis=1, return_index=True)
    kept = sorted(first, key=lambda s: -weight[:, s] @ grade)[:best]
    said = match_gold(gold, judgments).astype(np.int64)
    return Frame(weight[:, kept], said, grade, gold.item_topic.astype(np.int64), len(gold.topics))


@pytest.fixture(scope="module")
def passages(shared_data):
    """DCG@10 of the 12 best systems of TREC DL 2021, graded by one language model."""
    folder = shared_data / "trec-dl-2021-passage"
    judgments = kt.read_judgments(folder / "llm_labels.tsv.gz")
    judgments = judgments.keep_rows(judgments.judge == judgments.judges.index("gpt-4o_umbrela"))
    runs = kt.read_runs(str(folder / "runs" / "*.gz"))
    return make_frame(runs, kt.read_gold(folder / "gold.qrels"), judgments, "DCG@10", 12)


@pytest.fixture(scope="module")
def simulated():
    """Five systems, and a judge who is lenient and partly random."""
    world = kt.simulation.simulate_collection(systems=5, topics=40, depth=20, rng=3)
    judgments = world.judgments.keep_rows(world.judgments.judge == world.judgments.judges.index("llm-small"))
    return make_frame(world.runs, world.gold, judgments, "DCG@10", 5)


class Trial(NamedTuple):
    """What came of each draw."""

    error: np.ndarray
    variance: np.ndarray
    degrees: np.ndarray

    @property
    def coverage(self):
        half = stats.t.ppf(0.975, self.degrees) * np.sqrt(self.variance)
        return float((np.abs(self.error) <= half + 1e-9).mean())  # a census is no miss by rounding

    @property
    def covers(self):
        """Within half a point of 95 %, and what chance allows for so many draws."""
        return abs(self.coverage - 0.95) < 0.005 + 3.3 * np.sqrt(0.95 * 0.05 / len(self.error))

    @property
    def bias(self):
        """In standard errors of the simulation."""
        return float(self.error.mean() / (self.error.std() / np.sqrt(len(self.error))))


def simulate(frames, draws, counts, claim="these topics", *, uniform=False, stop=None):
    """Draw gold for each frame many times, in batches of `counts`; judge `stop` batches of them."""
    source = np.random.default_rng(5)
    found = []
    for frame in frames:
        truth, whole = frame.truth, choose_sizes(frame.weight)
        for _ in range(draws):
            if claim == "these topics":
                seen, size = frame, whole
            else:
                seen = frame.resample(source)
                size = choose_sizes(seen.weight)
            chosen = draw_batches((size > 0).astype(float) if uniform else size, counts, source)
            item, pi, batch = (column[chosen.batch <= (stop or len(counts))] for column in chosen)
            drawn = Drawn(item, seen.gold[item], pi, batch)
            pair = sum_topics(seen.weight, seen.said, seen.topic, seen.topics, drawn).differences(claim)
            found.append((pair.value[0, 1] - truth, pair.variance[0, 1], pair.degrees[0, 1]))
    return Trial(*np.array(found).T)


@pytest.mark.parametrize(
    ("count", "error"),
    [
        (50, 0.600),
        (400, 0.120),
        *(pytest.param(*more, marks=pytest.mark.soak) for more in ((100, 0.391), (200, 0.241))),
    ],
)
def test_intervals_cover_these_topics(passages, count, error, thin):
    """10,032 draws in full: all 66 pairs, gold by |w|. One pair differs in 30 items, so its gold is a census."""
    trial = simulate(passages.pairs(), thin(152), [count])
    chance = 1 / np.sqrt(len(trial.error))
    assert trial.covers
    assert abs(trial.bias) < 3
    assert np.sqrt(trial.variance).mean() == pytest.approx(error, rel=chance)
    assert np.sqrt(np.square(trial.error).mean()) == pytest.approx(np.sqrt(trial.variance.mean()), rel=3 * chance)


def test_items_chosen_by_weight_need_less_gold(passages):
    pairs = list(passages.pairs())
    alike, chosen = (simulate(pairs, 12, [200], uniform=uniform) for uniform in (True, False))
    assert np.sqrt(alike.variance).mean() == pytest.approx(0.288, abs=0.005)
    assert np.sqrt(chosen.variance).mean() == pytest.approx(0.240, abs=0.005)
    assert chosen.variance.mean() < 0.75 * alike.variance.mean()


def test_the_gold_that_choosing_saves_is_forecast(passages, thin):
    """Drawn alike, as many items as `match_uniform` says give the standard error that 200 chosen ones give."""
    pairs = [frame for frame in passages.pairs() if len(frame.said) > 400]
    for frame in pairs[::9]:
        gap = frame.weight[:, 1] - frame.weight[:, 0]
        chances = find_chances(choose_sizes(frame.weight), 200)
        needed = round(match_uniform(gap, chances))
        assert needed > 220
        alike = simulate([frame], thin(150), [needed], uniform=True)
        chosen = simulate([frame], thin(150), [200])
        assert np.sqrt(alike.variance).mean() == pytest.approx(np.sqrt(chosen.variance).mean(), rel=0.06)
        assert np.sqrt(expected_variance(gap, chances, residual_variance(frame), frame.topics)) == pytest.approx(
            np.sqrt(chosen.variance).mean(), rel=0.06
        )


def residual_variance(frame):
    """How far gold scatters around what the judge leads one to expect, with all gold known."""
    items = np.arange(len(frame.gold))
    everything = Drawn(items, frame.gold.copy(), np.ones(len(items)), np.ones(len(items), np.int64))
    return float(np.square(frame.gold - learn_gains(frame.said, frame.topic, everything)).mean())


@pytest.mark.parametrize("counts", [[100, 100], [25, 75]])
def test_batches_cover_and_cost_nothing(passages, counts, thin):
    trial = simulate(passages.pairs(), thin(40), counts)
    whole = simulate(passages.pairs(), 10, [sum(counts)])
    assert trial.covers
    assert abs(trial.bias) < 3
    assert np.sqrt(trial.variance).mean() == pytest.approx(np.sqrt(whole.variance).mean(), rel=0.02)


@pytest.mark.parametrize("counts", [[100], [400], [100, 100]])
def test_intervals_cover_new_topics(passages, counts, thin):
    """The 53 topics as the population; without the pair that differs in four topics, where no t interval can cover."""
    pairs = [frame for frame in passages.pairs() if len(frame.said) > 100]
    trial = simulate(pairs, thin(40), counts, "new topics")
    assert trial.degrees.max() == 52
    assert (trial.degrees == 52).all() or counts == [400]  # of which some frames leave fewer than 53 to chance
    assert trial.covers
    assert abs(trial.bias) < 3


@pytest.mark.parametrize("counts", [[200], [200, 200]])
def test_one_draw_serves_a_leaderboard(passages, counts, thin):
    """Every pair is covered, also two systems so alike that a draw may miss every item that tells them apart."""
    source = np.random.default_rng(8)
    size, score = choose_sizes(passages.weight), passages.gold @ passages.weight / passages.topics
    hits = []
    for _ in range(thin(250)):
        chosen = draw_batches(size, counts, source)
        drawn = Drawn(chosen.item, passages.gold[chosen.item], chosen.pi, chosen.batch)
        sampled = sum_topics(passages.weight, passages.said, passages.topic, passages.topics, drawn)
        value, variance, degrees = sampled.differences("these topics")
        half = stats.t.ppf(0.975, degrees) * np.sqrt(variance)
        hits.append((np.abs(value - (score - score[:, None])) <= half + 1e-9)[np.triu_indices(len(score), 1)])
    chance = np.sqrt(0.95 * 0.05 / len(hits))  # of one pair; those of a draw are not independent
    assert np.mean(hits) == pytest.approx(0.95, abs=chance)
    assert np.mean(hits, axis=0).min() > 0.95 - 4.5 * chance


@pytest.mark.parametrize("wrong", [0.01, 0.03])
def test_good_judges_are_not_trusted_blindly(simulated, wrong):
    """With 50 gold, half the time no error of such a judge is seen; the plain formula would then promise certainty."""
    source = np.random.default_rng(10)
    gold = (simulated.gold >= 2).astype(float)
    said = np.where(source.random(len(gold)) < wrong, 1 - gold, gold).astype(np.int64)
    trial = simulate(
        Frame((simulated.weight > 0) / 10, said, gold, simulated.topic, simulated.topics).pairs(), 60, [50]
    )
    assert trial.coverage > 0.94
    assert (trial.variance > 0).all()


def test_gold_drawn_for_others_is_found_out(passages):
    """200 items drawn for one pair say little of another."""
    source = np.random.default_rng(9)
    chosen = draw_batches(choose_sizes(passages.weight[:, [0, 7]]), [200], source)
    drawn = Drawn(chosen.item, passages.gold[chosen.item], chosen.pi, chosen.batch)
    for pair, low, high in (([0, 7], 0.9, 1.1), ([4, 9], 0.0, 0.8)):
        gap = np.abs(passages.weight[:, pair[1]] - passages.weight[:, pair[0]])
        reach = find_reach(gap, drawn, fixed=False)
        assert low < reach.share[0] < high
        assert (reach.evidence[0] < np.log(1000)) == (pair == [0, 7])


@pytest.mark.parametrize("counts", [[40], [150], [60, 60]])
def test_a_simulated_judge_is_corrected(simulated, counts, thin):
    trial = simulate(simulated.pairs(), thin(250), counts)
    assert trial.covers
    assert abs(trial.bias) < 3
    naive = [Frame(f.weight, f.said, f.said, f.topic, f.topics).truth - f.truth for f in simulated.pairs()]
    assert np.abs(naive).max() > 0.1  # what would be claimed without gold


def test_work_may_stop_after_any_batch(simulated, thin):
    planned = [40, 40, 40]
    errors = []
    for stop in (1, 2, 3):
        trial = simulate(simulated.pairs(), thin(120), planned, stop=stop)
        assert trial.covers
        errors.append(np.sqrt(trial.variance).mean())
    assert errors[0] > 1.2 * errors[1] > 1.2**2 * errors[2]


def test_a_batch_may_be_planned_on_what_the_first_one_showed(simulated, thin):
    """Twice as likely to be drawn: items of the classes where the first batch found the judge wrong."""
    source = np.random.default_rng(21)
    found = []
    for frame in simulated.pairs():
        size = choose_sizes(frame.weight)
        for _ in range(thin(150)):
            first = draw_batches(size, [40], source)
            wrong = np.unique(frame.said[first.item][frame.gold[first.item] != frame.said[first.item]])
            second = draw_batches(size * (1 + np.isin(frame.said, wrong)), [60], source, taken=first.item)
            item = np.r_[first.item, second.item]
            drawn = Drawn(item, frame.gold[item], np.r_[first.pi, second.pi], np.r_[first.batch, second.batch + 1])
            pair = sum_topics(frame.weight, frame.said, frame.topic, frame.topics, drawn).differences("these topics")
            found.append((pair.value[0, 1] - frame.truth, pair.variance[0, 1], pair.degrees[0, 1]))
    trial = Trial(*np.array(found).T)
    assert trial.covers
    assert abs(trial.bias) < 3
