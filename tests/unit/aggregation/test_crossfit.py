"""Each topic is merged with gold of the others."""

from dataclasses import replace

import numpy as np

import karatage as kt
from karatage.aggregation.registry import NamedModel, fit_across_topics
from karatage.data.judgments import deal_topics
from karatage.data.note import Note

TOPICS = "1234"
CROWD = {judge: {topic: {"a": 0, "b": 0} for topic in TOPICS} for judge in "xy"}
GOLD = {topic: {"a": 1} for topic in TOPICS}


class Recorder:
    """Says what gold says, and remembers the gold it was given; comes to rest at first, but not again."""

    def __init__(self):
        self.given = []

    def fit(self, judgments, *, gold, supervision, rng):
        posterior = kt.stats.MajorityVote().fit(judgments, gold=gold, supervision=supervision, rng=rng)
        self.given.append(set(gold.to_frame()["topic"]))
        return replace(posterior, converged=len(self.given) == 1, notes=(Note.of(f"fit {len(self.given)}"),))


def test_every_topic_is_merged_once_without_its_gold():
    model = Recorder()
    found = fit_across_topics(NamedModel("m", model), kt.read_judgments(CROWD), kt.read_gold(GOLD), "full", seed=0)
    assert sorted("".join(set(TOPICS) - given) for given in model.given) == list(TOPICS)
    assert not found.grades.any()
    assert not found.converged
    assert [str(note) for note in found.notes[1:]] == ["fit 1", "fit 2", "fit 3", "fit 4"]


def test_topics_with_gold_are_dealt_evenly():
    fold, folds = deal_topics("nb", 60, np.arange(3, 25), 0)
    assert folds == 5
    assert sorted(np.bincount(fold[3:25])) == [4, 4, 4, 5, 5]
    assert set(fold.tolist()) == set(range(5))
