"""Results of many small and odd collections: they pass their own checks, and come back from JSON.

A check that is too strict would refuse what karatage itself computes. A verb may refuse what it is asked; a result may
not refuse itself, which is told by where the refusal comes from.
"""

import json
import os
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

import karatage as kt
from karatage.errors import KaratageError
from karatage.views.reading import restore

SECONDS = float(os.environ.get("KARATAGE_SOAK_SECONDS", "600")) / 4
SEED = os.environ.get("KARATAGE_SOAK_SEED", "karatage")
MEASURES = ("P@5", "AP", "nDCG@10", "DCG@5", "RBP(p=0.8)", "P(rel=2)@3", "ERR@10")
MODELS = ("mv", "ds", "glad", "wawa", "zc", "mace", "emgz", "ds(scope=topic)")
PRICES = kt.parse_prices("A")


def list_results(rng: random.Random) -> dict[str, Callable[[], object]]:
    """What can be asked of a collection of a few systems, topics, judges and gold items."""
    size = {
        "systems": rng.choice((2, 3, 5, 12)),
        "topics": rng.choice((1, 2, 3, 6, 12, 30)),
        "depth": rng.choice((3, 10)),
    }
    seed = rng.randrange(10**6)
    world, draw = kt.simulation.simulate_collection(**size, rng=seed), np.random.default_rng(seed)
    runs, judgments, gold = world.runs, world.judgments, world.gold
    kept = rng.choice((1.0, 0.5, 0.1))
    gold = gold.keep_rows(draw.random(len(gold.grade)) < kept)
    judgments = judgments.keep_rows(draw.random(len(judgments.grade)) < rng.choice((1.0, 0.3)))
    measure, topics = rng.choice(MEASURES), rng.choice(("new", "these"))
    question = kt.Question(measure=measure, claim=topics, confidence=rng.choice((0.95, 0.5, 0.999)))
    trusted, model, adjust = rng.choice((gold, None)), rng.choice(MODELS), rng.choice(("holm", "bh", "none"))
    rules = kt.QueueRules(prices=PRICES, measure="P@5")
    a, b = runs.systems[:2]
    return {
        "board": lambda: kt.compare_all(runs, judgments, trusted, question, adjust=adjust),
        "comparison": lambda: kt.compare(runs, judgments, trusted, question, a=a, b=b),
        "evaluation": lambda: kt.evaluate(runs, judgments, measure, approach=["mv", "sgl_tau_msd"], gold=trusted),
        "audit": lambda: kt.audit(judgments, gold=trusted, approach=["mv", "ds"]),
        "calibration": lambda: kt.calibrate(judgments, gold, approach=model, rng=1),
        "crowd": lambda: kt.simulation.summarise_crowd(judgments, gold),
        "diagnosis": lambda: kt.doctor(runs, judgments, gold, measure),
        "plan": lambda: kt.plan(runs, judgments, question, budget=rng.choice((1, (2, 3), 50))),
        "posterior": lambda: kt.aggregate(judgments, model, rng=1),
        "queue": lambda: kt.queue(runs, None, trusted, rules, budget=10),
    }


@pytest.mark.soak
def test_what_is_computed_passes_its_checks_and_comes_back():
    rng, end, made, refused = random.Random(SEED), time.monotonic() + SECONDS, Counter(), Counter()
    while time.monotonic() < end:
        for name, ask in list_results(rng).items():
            try:
                result = ask()
            except KaratageError as problem:
                if is_check(problem):
                    raise
                refused[name] += 1
            else:
                assert restore(json.loads(result.to_json())).result.to_dict() == result.to_dict()
                made[name] += 1
    for name, count in made.items():
        sys.stdout.write(f"{name}: {count:,} made and read back, {refused[name]:,} refused by the verb\n")
    assert made.total() > refused.total()


def is_check(problem: KaratageError) -> bool:
    frames = traceback.extract_tb(problem.__traceback__)
    return any(frame.name == "__post_init__" and "/karatage/data/" in frame.filename for frame in frames)
