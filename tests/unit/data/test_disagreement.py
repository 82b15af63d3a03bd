"""Disagreement models: what they say, and that nothing gets lost or slips in on the way through JSON."""

import json
import math

import pytest

import karatage as kt
from karatage.data.disagreement import DroppedTopic, HeldOut, TopicModel
from karatage.data.note import Note
from karatage.errors import DataError
from tests.notes import gives

RATES = HeldOut(0.6, 0.3, 0.8, 0.9, 0.75)
SPREAD = HeldOut(0.1, 0.1, 0.1, math.nan, 0.05)


def make_model(**options):
    topics = tuple(
        TopicModel(
            topic=name,
            items=100,
            disagreed=20,
            intercept=-1.5,
            coefficients=(0.5, k * 0.25),
            mean=RATES._replace(tpr=0.6 + 0.1 * k),
            spread=SPREAD,
        )
        for k, name in enumerate(("201", "202"))
    )
    dropped = (DroppedTopic(topic="203", items=4, disagreed=1, reason="4 items with enough judges, fewer than 10"),)
    given = {"topics": topics, "dropped": dropped, "feature_set": "runs", "features": ("meta_ap", "mean_retrieval")}
    return kt.experiments.DisagreementModel(
        **given | {"trials": 100, "seed": 7, "versions": {"karatage": "0"}} | options
    )


def test_the_sentence_counts_topics_and_gives_the_rates():
    rates = ("TPR 0.65", "PPV 0.30", "TNR 0.80", "NPV 0.90", "AUC 0.75")
    assert gives(make_model().sentence, "meta ap", "mean retrieval", 2, 3, *rates)
    assert gives(make_model(dropped=()).sentence, 2, *rates)
    assert not gives(make_model(dropped=()).sentence, 2, 3, *rates)
    assert gives(make_model(topics=()).sentence, 1)
    assert gives(make_model()._repr_html_(), 2, 3)
    assert repr(make_model()).startswith(f"DisagreementModel({make_model().sentence[:20]}")


def test_rates_over_topics_and_splits():
    rates = {row["rate"]: row for row in make_model().rates.iter_rows(named=True)}
    assert rates["tpr"]["mean"] == pytest.approx(0.65)
    assert rates["tpr"]["over_topics"] == pytest.approx(math.sqrt(2 * 0.05**2))
    assert rates["tpr"]["over_splits"] == pytest.approx(0.1)
    assert rates["npv"]["over_splits"] is None
    assert make_model(topics=()).rates["mean"].to_list() == [None] * 5


def test_frame_has_dropped_topics_with_the_reason():
    frame = make_model().to_frame()
    assert frame["topic"].to_list() == ["201", "202", "203"]
    assert frame["mean_retrieval"].to_list() == [0, 0.25, None]
    assert frame["dropped"].to_list() == [None, None, "4 items with enough judges, fewer than 10"]
    assert frame["npv_spread"].to_list() == [None] * 3
    assert make_model(topics=(), dropped=()).to_frame().shape == (0, 17)


def test_through_json_and_back():
    model = make_model(notes=(Note.of("a doubt"),), threshold=0.4, prior=(2.0, 3.0))
    again = kt.experiments.DisagreementModel.from_dict(json.loads(model.to_json()))
    assert again.to_json() == model.to_json()
    assert again.topics[1].coefficients == (0.5, 0.25)
    assert math.isnan(again.topics[0].spread.npv)
    assert (again.threshold, again.prior, again.notes, again.seed) == (0.4, (2, 3), model.notes, 7)
    own = make_model(feature_set="own", features=("length", "age"))
    assert kt.experiments.DisagreementModel.from_dict(json.loads(own.to_json())).features == ("length", "age")


def change(path, value):
    found = json.loads(make_model().to_json())
    at = found
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return found


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("topics", 1, "intercept"), math.nan, "nan"),
        (("topics", 0, "coefficients"), [1.0, math.inf], "inf"),
        (("topics", 0, "coefficients"), [1.0], r"\b2\b.*features"),
        (("topics", 0, "coefficients"), "12", "coefficients.*'12'"),
        (("topics", 0, "mean", "tpr"), 1.5, "'201'.*mean"),
        (("topics", 0, "mean"), None, "topics"),
        (("topics", 0, "disagreed"), 100, "'201'.*disagreed"),
        (("topics", 0, "items"), True, r"topics.*\b0\b"),
        (("topics", 0), 3, r"topics.*\b3\b"),
        (("topics", 1, "topic"), "201", "topics.*'201'"),
        (("dropped", 0, "topic"), "201", "topics.*'201'"),
        (("dropped", 0, "reason"), 5, r"reason.*\b5\b"),
        (("features",), ["meta_ap", "weighted_retrieval"], "'meta_ap'.*mean_retr"),
        (("features",), ["meta_ap", 3], r"features.*\b3\b"),
        (("feature_set",), "guesses", "feature_set.*'guesses'"),
        (("prior",), [0, 4], r"\b0\b.*\b4\b"),
        (("prior",), [1.4], r"prior.*\b1\b.*\b2\b"),
        (("threshold",), "high", "threshold.*'high'"),
        (("trials",), 0, r"trials.*\b0\b.*\b1\b"),
        (("seed",), -1, r"seed.*-1.*\b0\b"),
        (("versions",), [], "object"),
        (("versions", "karatage"), 3, r"versions\.karatage.*\b3\b"),
    ],
)
def test_what_is_no_model_is_refused(path, value, message):
    with pytest.raises(DataError, match=message):
        kt.experiments.DisagreementModel.from_dict(change(path, value))


@pytest.mark.parametrize("name", ["features", "threshold", "prior", "trials", "topics", "dropped", "seed", "notes"])
def test_what_is_missing_is_named(name):
    found = json.loads(make_model().to_json())
    del found[name]
    with pytest.raises(DataError, match=rf"\b{name}\b"):
        kt.experiments.DisagreementModel.from_dict(found)
    with pytest.raises(DataError, match=r"whole.*\b3\b"):
        kt.experiments.DisagreementModel.from_dict(3)
