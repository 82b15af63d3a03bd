"""Options of Dawid and Skene's model: each must matter."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.data.judgments import find_items
from karatage.data.posterior import decide
from karatage.errors import OptionError
from tests.notes import has_note


def simulate(items, judges, per_item, accuracy, *, grades=2, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(grades, size=items)
    item = np.repeat(np.arange(items), per_item)
    judge = np.concatenate([rng.choice(judges, per_item, replace=False) for _ in range(items)])
    right = rng.random(len(item)) < np.asarray(accuracy)[judge]
    wrong = (truth[item] + rng.integers(1, grades, size=len(item))) % grades
    grade = np.where(right, truth[item], wrong).astype(np.int8)
    return kt.Judgments.from_codes(judge=judge, item=item, grade=grade), truth


@pytest.fixture(scope="module")
def crowd():
    return simulate(600, 8, 5, [0.95, 0.9, 0.85, 0.8, 0.75, 0.6, 0.55, 0.2])


def test_judges_are_found_out_even_the_contrary_one(crowd):
    judgments, truth = crowd
    posterior = kt.stats.DawidSkene().fit(judgments)
    majority = kt.stats.MajorityVote().fit(judgments, rng=0)
    assert (posterior.grades == truth).mean() > (majority.grades == truth).mean() + 0.03
    np.testing.assert_allclose(
        posterior.parameters["accuracy"], [0.95, 0.9, 0.85, 0.8, 0.75, 0.6, 0.55, 0.2], atol=0.06
    )
    assert posterior.converged
    assert (np.diff(posterior.trace) >= -1e-9 * np.abs(posterior.trace[1:])).all()


def test_confusion_matrices_are_proper_and_counts_add_up(crowd):
    posterior = kt.stats.DawidSkene().fit(crowd[0])
    np.testing.assert_allclose(posterior.parameters["confusion"].sum(axis=2), 1)
    np.testing.assert_allclose(
        posterior.parameters["answers"].sum(axis=(1, 2)), np.bincount(crowd[0].judge), rtol=1e-12
    )
    frame = posterior.judges
    assert frame.columns[:4] == ["judge", "grades", "accuracy", "confusion_0_0"]
    assert frame["confusion_1_0"][7] == posterior.parameters["confusion"][7, 1, 0]


def count_answers(posterior):
    """How often each judge, on items of each grade, said what, by the definition."""
    source, grades = posterior.judgments, posterior.probability.shape[1]
    answers = np.zeros((len(source.judges), grades, grades))
    np.add.at(answers.transpose(0, 2, 1), (source.judge, source.grade), posterior.probability[source.item])
    return answers


def test_answers_are_counted_by_grade_then_by_what_was_said(crowd):
    past = kt.stats.DawidSkene().fit(crowd[0])
    np.testing.assert_allclose(past.parameters["answers"], count_answers(past), atol=1e-9)
    later = kt.stats.DawidSkene(history=past).fit(simulate(30, 8, 3, [0.7] * 8, seed=5)[0])
    expected = past.parameters["answers"] + count_answers(later)
    np.testing.assert_allclose(later.parameters["answers"], expected, atol=1e-9)


def test_the_prior_draws_matrices_to_the_diagonal():
    judgments, _ = simulate(30, 6, 2, [0.7] * 6, seed=4)
    free, drawn = (kt.stats.DawidSkene(prior=prior).fit(judgments) for prior in (None, (0.5, 20.0)))
    assert drawn.parameters["accuracy"].mean() > free.parameters["accuracy"].mean()
    assert has_note(kt.stats.DawidSkene().fit(judgments), "aggregation.prior-decides")


def test_an_answer_in_use_is_never_ruled_out():
    """Two judges who always agree, without a prior: from a zero EM could not come back."""
    judge, item, grade = np.array([0, 1] * 4), np.repeat(np.arange(4), 2), np.repeat([0, 1, 0, 1], 2)
    crowd = kt.Judgments.from_codes(judge=judge, item=item, grade=grade, top_grade=2)
    confusion = kt.stats.DawidSkene(prior=None, start="mv").fit(crowd).parameters["confusion"]
    assert 1e-12 < confusion[0, 0, 1] < 1e-9
    assert confusion[0, 0, 2] < 1e-200


def test_without_tolerance_every_step_is_taken(crowd):
    assert kt.stats.DawidSkene(tolerance=0, max_steps=400, start="mv").fit(crowd[0]).iterations == 400


@pytest.mark.parametrize("start", ["share", "mv", "neutral"])
def test_all_starts_come_to_rest_at_the_same_place(crowd, start):
    found = kt.stats.DawidSkene(start=start, tolerance=1e-9, max_steps=5000).fit(crowd[0])
    np.testing.assert_allclose(
        found.probability, kt.stats.DawidSkene(tolerance=1e-9, max_steps=5000).fit(crowd[0]).probability, atol=1e-5
    )


def test_the_first_step_depends_on_the_start(crowd):
    first = {start: kt.stats.DawidSkene(start=start, max_steps=1).fit(crowd[0]) for start in ("share", "mv", "neutral")}
    assert len({float(posterior.trace[0]) for posterior in first.values()}) == 3
    assert has_note(first["mv"], "aggregation.not-converged", steps=1)


def test_a_warm_start_rests_at_once(crowd):
    cold = kt.stats.DawidSkene(tolerance=1e-6).fit(crowd[0])
    warm = kt.stats.DawidSkene(tolerance=1e-6, start=cold).fit(crowd[0])
    assert warm.iterations < cold.iterations / 3
    np.testing.assert_allclose(warm.probability, cold.probability, atol=1e-4)


def test_a_warm_start_goes_by_items(crowd):
    """An earlier posterior of the last items, under other numbers; the first ones start from the share of votes."""
    judgments, _ = crowd
    shares = kt.stats.MajorityVote(ties="lowest").fit(judgments)
    cold = kt.stats.DawidSkene().fit(judgments)
    part = kt.read_judgments(judgments.to_frame().filter(pl.col("item").cast(pl.Int64) >= 200))
    place = find_items(judgments, part)
    own = np.empty((len(part.item_topic), 2))
    own[place[place >= 0]] = cold.probability[place >= 0]
    mixed = np.where(place[:, None] >= 0, cold.probability, shares.probability)
    from_part = replace(cold, judgments=part, probability=own, grades=decide(own))
    one, two = (
        kt.stats.DawidSkene(start=start, max_steps=1).fit(judgments)
        for start in (from_part, replace(cold, probability=mixed, grades=decide(mixed)))
    )
    np.testing.assert_array_equal(one.probability, two.probability)


def test_history_enters_every_step():
    early, _ = simulate(400, 5, 5, [0.95, 0.9, 0.9, 0.9, 0.05], seed=1)
    late, truth = simulate(40, 5, 2, [0.95, 0.9, 0.9, 0.9, 0.05], seed=2)
    past = kt.stats.DawidSkene().fit(early)
    alone, remembering = kt.stats.DawidSkene().fit(late), kt.stats.DawidSkene(history=past).fit(late)
    assert (remembering.grades == truth).sum() > (alone.grades == truth).sum()
    assert remembering.parameters["accuracy"][4] < 0.15
    np.testing.assert_allclose(
        remembering.parameters["answers"].sum(), past.parameters["answers"].sum() + len(late.grade)
    )


def test_history_is_evidence_and_not_part_of_the_prior():
    late, _ = simulate(30, 6, 2, [0.7] * 6, seed=4)
    past = kt.stats.DawidSkene().fit(simulate(400, 6, 5, [0.7] * 6)[0])
    assert has_note(kt.stats.DawidSkene().fit(late), "aggregation.prior-decides")
    assert not has_note(kt.stats.DawidSkene(history=past).fit(late), "aggregation.prior-decides")


def test_history_goes_by_names():
    past = kt.stats.DawidSkene().fit(simulate(200, 3, 3, [0.95, 0.9, 0.1], seed=1)[0])
    swapped = replace(past, judge_names=("2", "1", "0"))
    late = simulate(6, 3, 3, [0.9, 0.9, 0.9], seed=2)[0]
    assert kt.stats.DawidSkene(history=swapped).fit(late).parameters["accuracy"][0] < 0.3
    strangers = replace(past, judge_names=("a", "b", "c"))
    np.testing.assert_array_equal(
        kt.stats.DawidSkene(history=strangers).fit(late).probability, kt.stats.DawidSkene().fit(late).probability
    )


def test_scope_topic_equals_fitting_each_topic_alone():
    world = kt.simulation.simulate_collection(systems=2, topics=3, depth=10, rng=5)
    whole = kt.aggregate(world.judgments, "ds(scope=topic,prior=none,tolerance=0,max_steps=20)")
    frame = world.judgments.to_frame()
    for topic, part in frame.partition_by("topic", as_dict=True).items():
        alone = kt.aggregate(kt.read_judgments(part, grades="0-3"), "ds(prior=none,tolerance=0,max_steps=20)")
        own = whole.judgments.item_topic == whole.judgments.topics.index(topic[0])
        np.testing.assert_allclose(whole.probability[own], alone.probability, atol=1e-12)
    assert whole.judges.columns[:2] == ["judge", "topic"]


def test_full_gold_teaches_what_the_judges_are():
    judgments, truth = simulate(300, 3, 3, [0.25, 0.25, 0.7], seed=3)
    gold = kt.read_gold({"item": [str(i) for i in range(150)], "grade": truth[:150].tolist()})
    rest = truth[150:]
    blind = kt.aggregate(judgments, "ds")
    taught = kt.aggregate(judgments, "ds", gold=gold)
    assert (blind.grades[150:] == rest).mean() < 0.5 < 0.7 < (taught.grades[150:] == rest).mean()
    assert (taught.grades[:150] == truth[:150]).all()
    light = kt.aggregate(judgments, "ds", gold=gold, supervision="light")
    assert (light.grades[:150] == truth[:150]).all()
    assert not np.allclose(light.probability[150:], taught.probability[150:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": "cold"}, "share"),
        ({"prior": (1.0,)}, "counts"),
        ({"prior": (-1.0, 2.0)}, "counts"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        kt.stats.DawidSkene(**options)


def test_history_must_have_counts():
    with pytest.raises(OptionError, match=r"mv.*ds.*emgz"):
        kt.stats.DawidSkene(history=kt.aggregate(simulate(9, 3, 2, [0.9] * 3)[0], "mv"))
