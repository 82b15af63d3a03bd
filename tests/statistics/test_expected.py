"""Expected measures against the mean over many draws of grades."""

from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from karatage.measures.expected import randomise, score_expected
from karatage.measures.registry import WITH_EXPECTATION, find_family
from tests.notes import has_note

DRAWS = 1000
MEASURES = ["AP", "AP(rel=3)", "DCG@10", "ERR@10", "P@10", "R@20", "RBP", "RR", "nDCG@10"]


@pytest.fixture(scope="module")
def differences():
    """By model and measure: expected minus mean over draws, in scores and in standard errors, (system,)."""
    world = kt.simulation.simulate_collection(rng=7)
    alignment = kt.stats.align(world.runs, world.judgments)
    found = {}
    for model in "binmv", "ds":
        merged = kt.aggregate(world.judgments, model)
        expected = score_expected(alignment, merged.probability[None], MEASURES)
        source = np.random.default_rng(1)
        drawn = [
            kt.stats.score_grades(alignment, merged.draw(250, source), MEASURES, top_grade=3)
            for _ in range(DRAWS // 250)
        ]
        for measure in MEASURES:
            value = np.concatenate([scores[measure].value.mean(axis=1) for scores in drawn])
            gap = expected[measure].mean[0] - value.mean(axis=0)
            found[model, measure] = gap, gap / (value.std(axis=0) / np.sqrt(DRAWS)), expected[measure].notes
    return found


@pytest.mark.parametrize("measure", [m for m in MEASURES if not find_family(m).ratio])
def test_exact_measures_are_the_mean_over_draws(differences, measure):
    for model in "binmv", "ds":
        assert np.abs(differences[model, measure][1]).max() < 4


@pytest.mark.parametrize("measure", ["AP", "R@20", "nDCG@10"])
def test_ratios_are_near_it_where_much_is_relevant(differences, measure):
    """Measured with 4,000 draws: at most .0018 (AP), .0033 (R@20), .0011 (nDCG@10) for binmv."""
    gap, standard, _ = differences["binmv", measure]
    assert np.abs(gap).max() < 0.005
    assert measure == "nDCG@10" or np.abs(standard).min() > 1.5  # it is a difference, not chance


def test_ratios_are_far_from_it_where_hardly_anything_is(differences):
    """Measured with 4,000 draws: up to .082 for ds, of a mean score of .40; the notes tell."""
    gap, _, notes = differences["ds", "AP(rel=3)"]
    assert 0.05 < gap.max() < 0.12
    assert has_note(notes, "measures.few-expected")


def test_every_expected_measure_is_tried():
    assert {kt.parse_measure(measure).name for measure in MEASURES} == set(WITH_EXPECTATION)


def test_randomised_gold_flatters_even_a_judge_who_knows_nothing(shared_data):
    """[RANDREL19], table 1, on T08: randomising judge and gold raises tau, and for shuffled grades most of all."""
    folder = shared_data / "trec8-adhoc-10topics"
    runs, gold = kt.read_runs(folder / "runs"), kt.read_gold(folder / "gold.qrels")
    alignment = kt.stats.align(runs, gold)
    measures = ["AP", "DCG(dcg=jk,base=10)", "RBP"]

    def means(judge):
        plain = kt.stats.score_grades(alignment, judge.grade[:, None], measures, top_grade=1)
        randomised = score_expected(alignment, randomise(judge), measures)
        return np.array([[scored[m].mean[0] for m in measures] for scored in (plain, randomised)])

    trusted, source, gain = means(gold), np.random.default_rng(0), {}
    for _ in range(6):
        right = source.random(len(gold.grade)) < np.where(gold.grade > 0, 0.7, 0.95)
        order = np.lexsort((source.random(len(gold.grade)), gold.item_topic))
        judges = {"skilled": np.where(right, gold.grade, 1 - gold.grade).astype(np.int8), "shuffled": gold.grade[order]}
        for name, grade in judges.items():
            own = means(replace(gold, grade=grade))
            tau = np.array(
                [
                    [kt.stats.kendall_tau(t, o) for t, o in zip(*kind, strict=True)]
                    for kind in zip(trusted, own, strict=True)
                ]
            )
            gain.setdefault(name, []).append(tau[1] - tau[0])
    skilled, shuffled = (np.mean(gain[name], axis=0) for name in ("skilled", "shuffled"))
    assert (skilled[:2] > 0.02).all()
    assert (shuffled[:2] > skilled[:2] + 0.03).all()
    assert abs(skilled[2]) < 0.01
