"""Ten grades per judge: a model with a matrix per judge must not fall behind the plain vote."""

import numpy as np
import pytest

import karatage as kt

PER_JUDGE = 10
ITEMS = 1000
SEEDS = 5
POINT = 0.01


def skilful(rng, judges, grades):
    return np.repeat(rng.beta(8, 2, (judges, 1)), grades, axis=1)


def mixed(rng, judges, grades):
    """Three in ten guess."""
    return np.repeat(np.where(rng.random((judges, 1)) < 0.3, 1 / grades, 0.85), grades, axis=1)


def poor(rng, judges, grades):
    return np.repeat(rng.beta(6, 4, (judges, 1)), grades, axis=1)


def leaning(rng, judges, grades):
    """As good as their grade: each judge has a skill for each grade."""
    return rng.beta(7, 3, (judges, grades))


def simulate(seed, grades, per_item, skill, shares):
    rng = np.random.default_rng(seed)
    rows = ITEMS * per_item
    truth = rng.choice(grades, ITEMS, p=shares)
    judge = rng.permutation(np.repeat(np.arange(rows // PER_JUDGE), PER_JUDGE))
    item = np.repeat(np.arange(ITEMS), per_item)
    right = rng.random(rows) < skill(rng, rows // PER_JUDGE, grades)[judge, truth[item]]
    wrong = (truth[item] + rng.integers(1, grades, rows)) % grades
    said = np.where(right, truth[item], wrong)
    return kt.Judgments.from_codes(judge=judge, item=item, grade=said, top_grade=grades - 1), truth


def accuracy(posterior, truth):
    winners = posterior.winners
    return float((winners[np.arange(len(truth)), truth] / winners.sum(axis=1)).mean())


def gain(model, grades, per_item, skill, shares):
    """Mean gain on the majority vote over several crowds."""
    gains = []
    for seed in range(SEEDS):
        judgments, truth = simulate(seed, grades, per_item, skill, shares)
        gains.append(
            accuracy(kt.aggregate(judgments, model), truth) - accuracy(kt.aggregate(judgments, "mv", rng=0), truth)
        )
    return float(np.mean(gains))


def settings():
    for grades in 2, 5:
        for shares in None, [0.8, *[0.2 / (grades - 1)] * (grades - 1)]:
            for per_item in 3, 5, 9:
                for skill in skilful, mixed, poor, leaning:
                    name = f"{grades}-{'even' if shares is None else 'uneven'}-{per_item}-{skill.__name__}"
                    marks = () if per_item == 3 and shares is None else pytest.mark.soak
                    yield pytest.param(grades, per_item, skill, shares, id=name, marks=marks)


@pytest.mark.parametrize(("grades", "per_item", "skill", "shares"), [*settings()])
def test_default_ds_is_at_most_a_point_below_the_vote(grades, per_item, skill, shares):
    assert gain("ds", grades, per_item, skill, shares) >= -POINT


def test_a_weaker_prior_falls_behind():
    assert gain("ds(prior=(0.5,2))", 2, 3, leaning, None) < -POINT


def test_without_its_prior_ds_falls_far_behind():
    assert gain("ds(prior=none)", 5, 5, skilful, None) < -POINT
