"""E-steps against enumeration: every assignment of grades to all items of a tiny crowd, weighed one by one."""

from itertools import product
from math import exp, log

import numpy as np
import pytest

import karatage as kt
from karatage.aggregation.reliability import toss
from karatage.aggregation.votes import Tables, Votes
from karatage.kernels.voting import expect

ROWS = [
    ("a", "x", 1),
    ("b", "x", 0),
    ("c", "x", 1),
    ("a", "y", 0),
    ("b", "y", 0),
    ("c", "z", 2),
    ("b", "z", 1),
    ("b", "z", 2),
]
SHARES = [0.5, 0.3, 0.2]


def build(rows):
    table = {"judge": [r[0] for r in rows], "item": [r[1] for r in rows], "grade": [r[2] for r in rows]}
    return kt.read_judgments(table)


def enumerate_beliefs(rows, chance, shares, known=None):
    """p(grade | grades given) of each item, and log p(grades given): a sum over all assignments."""
    items = sorted({row[1] for row in rows})
    belief = np.zeros((len(items), len(shares)))
    for assignment in product(range(len(shares)), repeat=len(items)):
        truth = dict(zip(items, assignment, strict=True))
        if any(truth[item] != grade for item, grade in (known or {}).items()):
            continue
        mass = 1.0
        for item in items:
            mass *= shares[truth[item]]
        for judge, item, said in rows:
            mass *= chance(judge, said, truth[item])
        for i, item in enumerate(items):
            belief[i, truth[item]] += mass
    total = belief[0].sum()
    return belief / total, log(total)


def run_e_step(rows, answer, shares, known=None):
    """The E-step of the library with the same tables."""
    gold = None if known is None else build([("gold", *pair) for pair in known.items()])
    votes = Votes.prepare(build(rows), gold, "none" if gold is None else "full")
    tables = Tables(np.log([shares]), answer)
    probability = np.zeros((votes.items, votes.grades))
    found = expect(votes.rows, tables.prior, tables.answer, False, probability)
    return probability, found.log_likelihood


@pytest.mark.parametrize("known", [None, {"y": 1}])
@pytest.mark.parametrize("grades", [2, 3])
def test_confusion_matrices(grades, known):
    """ds and ry."""
    rows = [(j, i, min(g, grades - 1)) for j, i, g in ROWS]
    shares = np.array(SHARES[:grades]) / sum(SHARES[:grades])
    confusion = np.random.default_rng(grades).dirichlet(np.ones(grades), (3, grades))  # (judge, grade, said)
    belief, likelihood = enumerate_beliefs(rows, lambda j, s, k: confusion["abc".index(j), k, s], shares, known)
    ours, log_likelihood = run_e_step(rows, np.log(confusion).transpose(0, 2, 1), shares, known)
    np.testing.assert_allclose(ours, belief, atol=1e-12)
    assert log_likelihood == pytest.approx(likelihood)


@pytest.mark.parametrize("grades", [2, 3])
def test_one_coin(grades):
    """zc and onecoin."""
    rows = [(j, i, min(g, grades - 1)) for j, i, g in ROWS]
    shares = np.array(SHARES[:grades]) / sum(SHARES[:grades])
    right = {"a": 0.8, "b": 0.55, "c": 0.3}
    belief, likelihood = enumerate_beliefs(
        rows, lambda j, s, k: right[j] if s == k else (1 - right[j]) / (grades - 1), shares
    )
    ours, log_likelihood = run_e_step(rows, toss(np.array(list(right.values())), grades), shares)
    np.testing.assert_allclose(ours, belief, atol=1e-12)
    assert log_likelihood == pytest.approx(likelihood)


@pytest.mark.parametrize("model", ["ds", "ds(prior=none)", "zc", "onecoin", "ry", "emsemi"])
def test_where_em_ends_the_posterior_is_that_of_its_parameters(model):
    """The whole model: with the parameters it reports, enumeration gives the probabilities it reports."""
    gold = build([("gold", "y", 0)])
    judgments = build(ROWS)
    tight = model.replace(")", ",tolerance=1e-13)") if "(" in model else f"{model}(tolerance=1e-13)"
    posterior = kt.aggregate(judgments, tight, gold=gold if model == "emsemi" else None)
    found = posterior.parameters
    confusion = found["confusion"] if "confusion" in found else np.exp(toss(found["reliability"], 3)).transpose(0, 2, 1)
    shares = posterior.probability.sum(axis=0) + (1.0 if model in {"zc", "ry"} else 0.0)
    known = {"y": 0} if model == "emsemi" else None
    belief, likelihood = enumerate_beliefs(
        ROWS, lambda j, s, k: confusion["abc".index(j), k, s], shares / shares.sum(), known
    )
    np.testing.assert_allclose(posterior.probability, belief, atol=1e-6)
    if model == "ds(prior=none)":
        assert exp(posterior.trace[-1]) == pytest.approx(exp(likelihood), rel=1e-6)
