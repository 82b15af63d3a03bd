"""Names of models, and what merging tells."""

import numpy as np
import pytest

import karatage as kt
from karatage.aggregation.registry import MODELS, parse_model
from karatage.errors import DataError, OptionError, UnknownNameError, WrongTypeError
from tests.notes import has_note, list_facts


def test_options_are_part_of_the_name():
    named = parse_model("ds( prior=(1, 4), scope='topic', supervision=light )")
    assert named.name == "ds(prior=(1,4),scope=topic,supervision=light)"
    assert named.supervision == "light"
    assert named.model == kt.stats.DawidSkene(prior=(1.0, 4.0), scope="topic")
    assert parse_model(named.name) == named


@pytest.mark.parametrize("name", MODELS)
def test_names_read_back(name):
    assert parse_model(parse_model(name).name).name == name


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("dss", UnknownNameError, "'ds'"),
        ("ds(start=5)", OptionError, r"share.*\b5\b"),
        ("ds(max_steps=1.5)", OptionError, r"max_steps.*\b1\.5\b"),
        ("ds(tolerance=small)", OptionError, "tolerance"),
        ("ds(history=x)", OptionError, "'history'"),
        ("ds(supervision=some)", OptionError, "supervision must.* some"),
        ("mv(min=True)", OptionError, "number"),
        ("ds(", OptionError, "approach"),
    ],
)
def test_names_that_mean_nothing(text, error, message):
    with pytest.raises(error, match=message):
        parse_model(text)


def test_a_posterior_is_called_as_it_was_asked_for():
    crowd = kt.read_judgments({"judge": list("abab"), "item": list("xxyy"), "grade": [0, 0, 1, 1]})
    assert kt.aggregate(crowd, "ds(prior=none)").model == "ds(prior=none)"
    assert kt.aggregate(crowd, kt.stats.DawidSkene()).model == "ds"


@pytest.mark.parametrize("name", [name for name in MODELS if not parse_model(name).needs_gold])
def test_judges_who_never_meet_are_taken_at_their_word(name):
    crowd = kt.read_judgments({"judge": list("aabb"), "item": list("wxyz"), "grade": [0, 1, 1, 0]})
    posterior = kt.aggregate(crowd, name, rng=0)
    assert posterior.grades.tolist() == [0, 1, 1, 0]
    counts = name in {"binmv", "mv", "qbinmv"}  # these have nothing to learn
    assert has_note(posterior, "aggregation.alone") != counts


def test_overruling_the_vote_is_told():
    world = kt.simulation.simulate_collection(rng=7)
    facts = list_facts(kt.aggregate(world.judgments, "ds"))["aggregation.far-from-votes"]
    assert facts == {"model": "ds", "share": pytest.approx(0.2, abs=0.005)}
    assert not has_note(kt.aggregate(world.judgments, "mv"), "aggregation.far-from-votes")


def test_tables_must_be_read_first():
    table = {"judge": ["a"], "item": ["x"], "grade": [1]}
    for call in (kt.aggregate, kt.audit):
        with pytest.raises(WrongTypeError, match="judgments"):
            call(table)
    with pytest.raises(OptionError, match=r"\b0\b.*-1"):
        kt.aggregate(kt.read_judgments({**table, "judge": ["b"]}), "mv", rng=-1)


def test_supervision_follows_gold():
    crowd = kt.read_judgments({"judge": list("abcabc"), "item": list("xxxyyy"), "grade": [0, 1, 1, 1, 1, 0]})
    gold = kt.read_gold({"item": ["x"], "grade": [0]})
    assert kt.aggregate(crowd, "mv", gold=gold).grades.tolist() == [0, 1]
    assert kt.aggregate(crowd, "mv(supervision=none)", gold=gold).grades.tolist() == [1, 1]
    with pytest.raises(OptionError):
        kt.aggregate(crowd, "mv(supervision=full)", gold=gold, supervision="none")
    with pytest.raises(DataError, match="share"):
        kt.aggregate(crowd, "mv", gold=kt.read_gold({"item": ["z"], "grade": [0]}))
    np.testing.assert_allclose(kt.aggregate(crowd, "mv", gold=gold).probability[0], [1, 0])


def test_a_history_is_heard_where_judges_do_not_meet():
    early = kt.read_judgments(
        {"judge": list("abc") * 8, "item": [i for i in "ABCDEFGH" for _ in range(3)], "grade": [0, 0, 1, 1, 1, 0] * 4}
    )
    late = kt.read_judgments({"judge": list("cc"), "item": list("xy"), "grade": [0, 1]})
    past = kt.aggregate(early, "ds")
    assert kt.aggregate(late, kt.stats.DawidSkene(history=past)).grades.tolist() == [1, 0]
    assert kt.aggregate(late, "ds").grades.tolist() == [0, 1]


def test_a_vote_keeps_its_options_where_judges_do_not_meet():
    lone = kt.read_judgments({"judge": list("aabb"), "item": list("wxyz"), "grade": [0, 1, 1, 0]})
    assert kt.aggregate(lone, "mv(min=2)").grades.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("name", [name for name in MODELS if "max_steps" in str(parse_model(name).model)])
def test_steps_are_counted_from_one(name):
    crowd = kt.read_judgments({"judge": list("abab"), "item": list("xxyy"), "grade": [0, 0, 1, 1]})
    gold = kt.read_gold({"item": ["x"], "grade": [0]}) if parse_model(name).needs_gold else None
    with pytest.raises(OptionError, match="max_steps"):
        kt.aggregate(crowd, f"{name}(max_steps=0)", gold=gold)


@pytest.mark.parametrize(
    "text", ["zc(classes=1e999)", "glad(ability=1e999)", "ordinal(even=1e308)", "ds(prior=(1e999,1))"]
)
def test_numbers_beyond_measure_are_refused(text):
    with pytest.raises(OptionError, match="number"):
        parse_model(text)


def test_the_record_of_a_lightly_taught_model_has_gold_answers_too():
    crowd = kt.read_judgments({"judge": list("abab"), "item": list("xxyy"), "grade": [0, 1, 1, 1]})
    gold = kt.read_gold({"item": ["x"], "grade": [0]})
    for supervision in ("none", "light", "full"):
        taught = kt.aggregate(crowd, "ds", gold=gold, supervision=supervision)
        assert taught.parameters["answers"].sum() == pytest.approx(4)
