"""What the best guess needs of drawn gold: written out, and against many draws from items whose gold is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

from karatage.correction.gathering import (
    FEW,
    LEAST_UNEXPLAINED,
    MOST_TOPICS,
    Sample,
    gather_corrections,
    gather_topics,
    spread_topics,
)
from karatage.correction.sampled import Drawn, choose_sizes, draw_batches, sum_topics
from karatage.correction.shrinkage import Corrections, spread_pairs
from karatage.data.axes import FloatArray, LongArray
from karatage.kernels.sampling import FLOOR, find_chances, mean_positive

TOPICS, PER_TOPIC, SYSTEMS = 10, 20, 5
GAIN = np.array([0.0, 0.5, 1.0])
DISCOUNT = 1 / np.log2(np.arange(2, 8))


class Items(NamedTuple):
    weight: FloatArray
    said: LongArray
    gold: FloatArray
    topic: LongArray


def make_items(seed: int = 0) -> Items:
    """Systems that each show six of a topic's documents, judges who err and skip some, and gold."""
    rng = np.random.default_rng(seed)
    topic = np.repeat(np.arange(TOPICS), PER_TOPIC)
    weight = np.zeros((len(topic), SYSTEMS))
    for t in range(TOPICS):
        for s in range(SYSTEMS):
            weight[t * PER_TOPIC + rng.permutation(PER_TOPIC)[:6], s] = DISCOUNT
    grade = rng.integers(0, 3, len(topic))
    said = np.where(rng.random(len(topic)) < 0.6, grade, rng.integers(-1, 3, len(topic)))
    return Items(weight, said.astype(np.int64), GAIN[grade], topic)


def draw(items: Items, pi: FloatArray, chosen: LongArray, batch: LongArray | None = None) -> Sample:
    """The draw of these items; `pi` (draw,)."""
    weight, said, gold, topic = items
    number = np.ones(len(chosen), np.int64) if batch is None else batch
    drawn = Drawn(chosen, gold[chosen], pi, number)
    return Sample(weight, said, topic, drawn, sum_topics(weight, said, topic, TOPICS, drawn))


def draw_by_weight(items: Items, counts: list[int], seed: int = 1) -> Sample:
    found = draw_batches(choose_sizes(items.weight), counts, np.random.default_rng(seed))
    return draw(items, found.pi, found.item, found.batch)


def draw_evenly(items: Items, count: int, seed: int = 1) -> Sample:
    chosen = np.sort(np.random.default_rng(seed).permutation(len(items.gold))[:count])
    return draw(items, np.full(count, count / len(items.gold)), chosen)


def gather(sample: Sample) -> Corrections:
    found = gather_corrections(sample, GAIN, same_grades=True)
    assert found is not None
    return found


def test_sums_over_documents_written_out() -> None:
    items = make_items()
    sample = draw_by_weight(items, [60])
    found, (weight, said, _, _) = gather(sample), items
    for a in range(SYSTEMS):
        own = sum(weight[i, a] * GAIN[said[i]] for i in range(len(said)) if said[i] >= 0)
        assert found.judged[a] == pytest.approx(own / TOPICS)
        for step in (1, 2):
            whole = sum(weight[i, a] for i in range(len(said)) if said[i] >= step)
            assert found.steps[step - 1, a] == pytest.approx(whole / TOPICS)
        for b in range(SYSTEMS):
            assert found.mass[a, b] == pytest.approx(np.abs(weight[:, a] - weight[:, b]).sum() / TOPICS, abs=1e-12)
    assert_allclose(found.corrected, sample.found.term[:, :-1].mean(axis=0))
    drawn, residual = sample.drawn, sample.found.residual
    random = drawn.pi < 1
    gains = drawn.gain[random]
    total = ((gains - gains.mean()) ** 2).sum() / (len(gains) - 1) * (1 + 1 / len(gains))
    assert found.scatter == pytest.approx(total**0.5)
    share = (residual**2).mean() / total
    assert found.unexplained == pytest.approx(min(max(share, LEAST_UNEXPLAINED), 1))
    assert LEAST_UNEXPLAINED < share < 1
    scatter = {}
    for grade in (-1, 0, 1, 2):
        own = residual[said[drawn.item[random]] == grade] ** 2
        scatter[grade] = (own.sum() + FEW * (residual**2).mean()) / (len(own) + FEW)
    items_by_hand = sum(scatter[s] * np.outer(w, w) for s, w in zip(said, weight, strict=True)) / TOPICS**2
    assert_allclose(found.items, items_by_hand)


@pytest.mark.parametrize("count", [30, 60, 120])
def test_the_noise_is_expected_over_draws_by_weight(count: int) -> None:
    """The chances of documents that were not drawn are those of `plan`; the size is that of the squared residuals."""
    items = make_items()
    size = choose_sizes(items.weight)
    pi = find_chances(size, count)
    assert size[size > 0].min() > FLOOR * mean_positive(size)
    require_noise(items, draw_by_weight(items, [count]), np.where(pi > 0, pi, 1.0))


def test_the_noise_is_expected_over_even_draws() -> None:
    items = make_items()
    require_noise(items, draw_evenly(items, 70), np.full(len(items.gold), 70 / len(items.gold)))


def test_other_chances_follow_a_power_of_the_size() -> None:
    """Documents that were drawn have their own chance, others that of the regression over these."""
    items, rng = make_items(), np.random.default_rng(8)
    size = choose_sizes(items.weight)
    chosen = np.sort(rng.choice(np.flatnonzero(size), 50, replace=False))
    own = np.clip(0.4 * (size[chosen] / size.max()) ** 0.6 * rng.uniform(0.7, 1.4, 50), 0, 0.9)
    power, constant = np.polyfit(np.log(size[chosen]), np.log(own), 1)
    pi = np.where(size > 0, np.exp(constant) * np.maximum(size, 1e-300) ** power, 1.0)
    pi[chosen] = own
    require_noise(items, draw(items, own, chosen), pi)


def require_noise(items: Items, sample: Sample, pi: FloatArray) -> None:
    residual, drawn = sample.found.residual, sample.drawn
    random = drawn.pi < 1
    grade, square = items.said[drawn.item[random]], residual**2
    expected, seen = np.zeros((2, SYSTEMS, SYSTEMS))
    for s, w, p in zip(items.said, items.weight, pi, strict=True):
        if np.ptp(w) > 0:
            scatter = (square[grade == s].sum() + FEW * square.mean()) / ((grade == s).sum() + FEW)
            expected += scatter * (1 - p) / p * np.outer(w, w)
    for i, p, r in zip(drawn.item[random], drawn.pi[random], residual, strict=True):
        seen += (1 - p) / p**2 * r**2 * np.outer(items.weight[i], items.weight[i]) / TOPICS**2
    noise = gather(sample).noise
    assert_allclose(noise / noise[0, 0], expected / expected[0, 0], rtol=1e-9)
    assert spread_pairs(noise).sum() == pytest.approx(spread_pairs(seen).sum())


@pytest.mark.parametrize("way", ["by weight", "evenly", "two batches"])
def test_corrections_scatter_as_the_noise_says_in_all_directions(way: str) -> None:
    """Over many draws of gold, the squared error is the expected noise along each axis that this noise has."""
    items, draws = make_items(3), 400
    truth = items.gold @ items.weight / TOPICS
    ways = {
        "by weight": lambda seed: draw_by_weight(items, [60], seed),
        "evenly": lambda seed: draw_evenly(items, 80, seed),
        "two batches": lambda seed: draw_by_weight(items, [30, 30], seed),
    }
    samples = [ways[way](seed) for seed in range(draws)]
    found = [gather(sample) for sample in samples]
    centre = np.eye(SYSTEMS) - 1 / SYSTEMS
    value, axis = np.linalg.eigh(centre @ np.mean([one.noise for one in found], axis=0) @ centre)
    error = np.array([one.corrected - truth for one in found]) @ axis[:, 1:]
    ratio = (error**2).mean(axis=0) / value[1:]
    assert_allclose(ratio, 1, atol=4 * (2 / draws) ** 0.5 + 0.1)


def test_gold_that_left_nothing_to_chance_gives_no_guess() -> None:
    items = make_items()
    whole = np.arange(len(items.gold))
    assert gather_corrections(draw(items, np.ones(len(whole)), whole), GAIN, same_grades=True) is None
    alike = items._replace(gold=np.ones(len(whole)))
    assert gather_corrections(draw_evenly(alike, 50), GAIN, same_grades=True) is None
    assert gather_corrections(draw(items, np.array([1.0, 0.5]), whole[:2]), GAIN, same_grades=True) is None


def test_good_judges_leave_a_least_share_unexplained() -> None:
    items = make_items()
    grade = np.searchsorted(GAIN, items.gold)
    grade[::15] = 0
    assert gather(draw_by_weight(items._replace(said=grade), [80])).unexplained == LEAST_UNEXPLAINED


def test_topics_written_out() -> None:
    items = make_items()
    sample = draw_by_weight(items, [60])
    found = gather(sample)
    terms, drawn = gather_topics(sample, found, GAIN), sample.drawn
    mean = {}
    for grade in (-1, 0, 1, 2):
        own = items.said[drawn.item] == grade
        mean[grade] = np.average(drawn.gain[own], weights=1 / drawn.pi[own])
    for t in range(TOPICS):
        for s in range(SYSTEMS):
            rows = np.flatnonzero(items.topic == t)
            said, weight = items.said[rows], items.weight[rows, s]
            assert terms.judged[t, s] == pytest.approx(weight @ [0.0 if g < 0 else GAIN[g] for g in said])
            assert terms.calibrated[t, s] == pytest.approx(weight @ [mean[g] for g in said])
    assert_allclose(terms.judged.mean(axis=0), found.judged)
    by_gold = by_grades = 0.0
    for a in range(SYSTEMS):
        for b in range(SYSTEMS):
            by_gold += np.var(terms.corrected[:, a] - terms.corrected[:, b], ddof=1) / TOPICS
            by_gold -= spread_pairs(found.noise)[a, b]
            by_grades += np.var(terms.calibrated[:, a] - terms.calibrated[:, b], ddof=1) / TOPICS
            by_grades += spread_pairs(found.items)[a, b]
    assert terms.ratio == pytest.approx(min(max(by_gold / by_grades, 1.0), MOST_TOPICS))


def test_a_grade_without_gold_counts_the_overall_mean() -> None:
    items = make_items()
    chosen = np.flatnonzero((items.said < 2) & (items.weight.max(axis=1) > 0))[::3]
    sample = draw(items, np.linspace(0.2, 0.6, len(chosen)), chosen)
    terms = gather_topics(sample, gather(sample), GAIN)
    overall = np.average(sample.drawn.gain, weights=1 / sample.drawn.pi)
    only = items._replace(said=np.where(items.said < 2, items.said, 2))
    t = int(items.topic[np.flatnonzero(only.said == 2)[0]])
    rows = np.flatnonzero(items.topic == t)
    means = {g: np.average(*_pick(items, sample, g)) for g in (-1, 0, 1)} | {2: overall}
    assert_allclose(terms.calibrated[t], items.weight[rows].T @ [means[g] for g in items.said[rows]])


def _pick(items: Items, sample: Sample, grade: int) -> tuple[FloatArray, None, FloatArray]:
    own = items.said[sample.drawn.item] == grade
    return sample.drawn.gain[own], None, 1 / sample.drawn.pi[own]


def test_the_ratio_of_topics_shows_what_gold_varies_more() -> None:
    """With gold on nearly all documents, it is the variance of true differences over that of calibrated ones."""
    items = make_items()
    unseen = np.random.default_rng(2).normal(0, 0.5, (TOPICS, SYSTEMS))  # by the judges
    moved = items._replace(gold=items.gold + (items.weight * unseen[items.topic]).sum(axis=1))
    sample = draw_by_weight(moved, [150])
    found = gather(sample)
    terms = gather_topics(sample, found, GAIN)
    truth = np.zeros((TOPICS, SYSTEMS))
    np.add.at(truth, moved.topic, moved.weight * moved.gold[:, None])
    square = TOPICS * (TOPICS - 1)
    true = spread_topics(truth).sum() / square
    model = terms.ratio * (spread_topics(terms.calibrated).sum() / square + spread_pairs(found.items).sum())
    assert terms.ratio > 1
    assert model == pytest.approx(true, rel=0.2)
